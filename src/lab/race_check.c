/* SPDX-License-Identifier: MIT
 *
 * What was asked, looked at before anything starts; and what follows from it. */
#include "lab/race.h"

#include "io/json_out.h"
#include "lab/specs.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

model_config race_model(const lab_setup *s)
{
    return (model_config){ .vocab = s->vocab,
                           .embed_scale = sqrt((double)s->width), /* tokens as large as the codes added to them */
                           .layers = s->layers,
                           .width = s->width,
                           .heads = s->heads,
                           .kv_heads = s->kv_heads,
                           .hidden = s->hidden,
                           .causal = s->causal };
}

bool race_shares(const lab_setup *s, int entry, const race_training *t)
{
    return !strcmp(s->entry[entry].trained, s->entry[t->entry].trained);
}

const char *race_spec_at(char out[400], const lab_setup *s, int entry, int64_t length)
{
    char *spec = lab_spec_at(s->entry[entry].spec, s->train_length, length, s->causal);
    snprintf(out, 400, "%s", spec ? spec : "");
    free(spec);
    return spec ? out : NULL;
}

/* FNV-1a of a text that has it all. */
uint64_t race_fingerprint(const lab_setup *s, const race_training *t)
{
    char text[1200];
    uint64_t hash = 0xcbf29ce484222325u;
    snprintf(text, sizeof text,
             "%s seed %" PRIu64 " data %" PRIx64 " model %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
             " %" PRId64 " %d schedule %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %a %a %a",
             s->entry[t->entry].trained, t->seed, s->data_fingerprint, s->layers, s->width, s->heads, s->kv_heads,
             s->hidden, s->vocab, s->causal, s->train_length, s->batch, s->steps, s->warmup, s->rate, s->decay,
             s->clip);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

static pe_status check_axes(const race *r, const char *name, const model *m, pe_error *err)
{
    int64_t axes = pe_encoding_axes(model_encoding(m)), there = lab_data_axes(r->data);
    if (axes <= 1 || axes == there)
        return PE_OK;
    return io_fail(err, PE_ERR_UNSUITED,
                   "%s wants %" PRId64 " coordinates of each token; %s has %" PRId64 "; try --data grid", name, axes,
                   r->results.setup.data, there);
}

/* What follows from what was asked, as the model says. */
static void fill_in(lab_setup *s, const model *m)
{
    const model_config *c = model_settings(m);
    s->kv_heads = c->kv_heads;
    s->hidden = c->hidden;
    snprintf(s->kernels, sizeof s->kernels, "%s", pe_encoding_kernels(model_encoding(m)));
}

/* A model as it will be trained can be made, and the spec as asked is one. */
static pe_status check_entry(race *r, lab_entry *e, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    model_config c = race_model(s);
    model *m;
    pe_encoding *own;
    char *trained = lab_spec_trained(e->spec, s->train_length, s->causal);
    if (!trained)
        return io_fail(err, PE_ERR_NOMEM, "no memory to check %s", e->name);
    snprintf(e->trained, sizeof e->trained, "%s", trained);
    free(trained);
    char *here = lab_spec_at(e->spec, s->train_length, s->train_length, s->causal);
    pe_status status = here ? pe_encoding_new(&own, here,
                                              (pe_shape){ .heads = s->heads,
                                                          .kv_heads = s->kv_heads,
                                                          .head_dim = s->width / s->heads,
                                                          .model_dim = s->width },
                                              err)
                            : io_fail(err, PE_ERR_NOMEM, "no memory to check %s", e->name);
    free(here);
    RACE_TRY(status);
    pe_encoding_free(own);
    RACE_TRY(model_new(&m, &c, e->trained, r->pool, err));
    fill_in(&r->results.setup, m);
    status = check_axes(r, e->name, m, err);
    model_free(m);
    return status;
}

/* A name may come from a file, and is printed. */
static pe_status check_name(const lab_entry *e, pe_error *err)
{
    unsigned code;
    for (const char *at = e->name; *at;) {
        int n = out_character(at, &code);
        if (!n || out_is_order(code))
            return io_fail(err, PE_ERR_SPEC, "the name %s has a character that is none; needs text in UTF-8", e->name);
        at += n;
    }
    return PE_OK;
}

static pe_status check_shape(const lab_setup *s, pe_error *err)
{
    if (s->width % s->heads)
        return io_fail(err, PE_ERR_SHAPE,
                       "width is %" PRId64 " and heads are %" PRId64 "; needs a multiple of the heads", s->width,
                       s->heads);
    if (s->kv_heads && s->heads % s->kv_heads)
        return io_fail(err, PE_ERR_SHAPE, "heads are %" PRId64 " and kv-heads %" PRId64 "; heads need to be a multiple",
                       s->heads, s->kv_heads);
    if (!s->entries)
        return io_fail(err, PE_ERR_SPEC, "no encoding is listed; needs one or more, such as rope,alibi");
    return PE_OK;
}

/* Lengths that the source has, each once, in order. */
static pe_status check_lengths(race *r, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int kept = 0;
    s->train_length = lab_data_length(r->data, s->train_length);
    for (int i = 0; i < s->tests; i++) {
        int64_t length = lab_data_length(r->data, s->test[i]);
        if (lab_data_windows(r->data, length) < 1)
            return io_fail(err, PE_ERR_RANGE, "%s has no window of %" PRId64 " tokens to test on; needs a longer text",
                           s->data, length);
        int at = kept;
        while (at > 0 && s->test[at - 1] >= length)
            at--;
        if (at < kept && s->test[at] == length)
            continue;
        memmove(&s->test[at + 1], &s->test[at], (size_t)(kept - at) * sizeof s->test[0]);
        s->test[at] = length;
        kept++;
    }
    s->tests = kept;
    return kept ? PE_OK : io_fail(err, PE_ERR_SPEC, "no test length is listed; needs one or more, such as 1x,2x,4x");
}

static bool is_new(const lab_setup *s, int entry)
{
    for (int i = 0; i < entry; i++)
        if (!strcmp(s->entry[i].trained, s->entry[entry].trained))
            return false;
    return true;
}

/* Seed by seed, so that the first has a full table early. */
static pe_status list_trainings(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    size_t most = (size_t)s->entries * (size_t)s->seeds;
    r->training = calloc(most, sizeof *r->training);
    r->results.run = calloc(most, sizeof *r->results.run);
    if (!r->training || !r->results.run)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %zu trainings", most);
    for (int k = 0; k < s->seeds; k++)
        for (int i = 0; i < s->entries; i++) {
            if (!is_new(s, i))
                continue;
            race_training *t = &r->training[r->trainings];
            *t = (race_training){ .entry = i, .seed = s->seed[k] };
            snprintf(t->folder, sizeof t->folder, "%s/%s-%" PRIu64, r->asked.folder, s->entry[i].slug, s->seed[k]);
            r->results.run[r->trainings++] = (lab_run){ .entry = i, .seed = s->seed[k] };
        }
    r->results.runs = r->trainings;
    return PE_OK;
}

static pe_status make_line(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    int64_t longest = s->test[s->tests - 1] > s->train_length ? s->test[s->tests - 1] : s->train_length;
    r->line = calloc((size_t)longest, sizeof *r->line);
    if (!r->line)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " positions", longest);
    return pe_positions_offset(r->line, longest, 0, err);
}

pe_status race_check(race *r, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    RACE_TRY(check_shape(s, err));
    RACE_TRY(check_lengths(r, err));
    for (int i = 0; i < s->entries; i++) {
        RACE_TRY(check_name(&s->entry[i], err));
        RACE_TRY(check_entry(r, &s->entry[i], err));
    }
    RACE_TRY(list_trainings(r, err));
    return make_line(r, err);
}
