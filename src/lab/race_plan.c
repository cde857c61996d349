/* SPDX-License-Identifier: MIT
 *
 * Who trains what: a training for each trained spec and seed, and what identifies it. */
#include "lab/race.h"

#include "lab/specs.h"

#include <inttypes.h>
#include <math.h>
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

static bool is_new(const lab_setup *s, int entry)
{
    for (int i = 0; i < entry; i++)
        if (!strcmp(s->entry[i].trained, s->entry[entry].trained))
            return false;
    return true;
}

/* Seed by seed, so that the first has a full table early. */
pe_status race_plan(race *r, pe_error *err)
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
