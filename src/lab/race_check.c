/* SPDX-License-Identifier: MIT
 *
 * What was asked, looked at before anything starts; and what follows from it. */
#include "lab/race.h"

#include "io/checked.h"
#include "io/json_out.h"
#include "lab/specs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static pe_status check_axes(const race *r, const model *m, pe_error *err)
{
    int64_t axes = pe_encoding_axes(model_encoding(m)), there = lab_data_axes(r->data);
    if (axes <= 1 || axes == there)
        return PE_OK;
    return io_fail(err, PE_ERR_UNSUITED,
                   "wants %" PRId64 " coordinates of each token; %s has %" PRId64 "; try --data grid", axes,
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

/* The spec as asked, at the length of the training. */
static pe_status check_spec(const lab_setup *s, const lab_entry *e, pe_error *err)
{
    pe_shape shape = { s->heads, s->kv_heads, s->width / s->heads, s->width };
    pe_encoding *own;
    char *here = lab_spec_at(e->spec, s->train_length, s->train_length, s->causal);
    pe_status status =
        here ? pe_encoding_new(&own, here, shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory to check %s", e->name);
    free(here);
    if (!status)
        pe_encoding_free(own);
    return status;
}

/* One pass at the length of the training, with the numbers a training begins with: what cannot serve it is refused now,
 * and not after others have trained. */
static pe_status check_pass(const race *r, model *m, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    lab_batch b;
    RACE_TRY(lab_batch_new(&b, r->data, LAB_TRAIN, 1, s->train_length, err));
    lab_data_train(r->data, &b, s->seed[0], 0);
    model_init(m, s->seed[0]);
    model_batch batch = race_batch(m, &b);
    real *losses = calloc((size_t)s->train_length, sizeof *losses);
    pe_status status = losses ? model_losses(m, &batch, losses, NULL, err)
                              : io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " losses", s->train_length);
    free(losses);
    lab_batch_free(&b);
    return status;
}

/* The spec that is trained, and a model with it. */
static pe_status check_entry(race *r, lab_entry *e, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    model *m;
    RACE_TRY(check_spec(s, e, err));
    char *trained = lab_spec_trained(e->spec, s->train_length, s->causal);
    size_t size = trained ? strlen(trained) : 0;
    snprintf(e->trained, sizeof e->trained, "%s", trained ? trained : "");
    free(trained);
    if (!size || size >= sizeof e->trained)
        return io_fail(err, PE_ERR_NOMEM, "no room for the spec that %s is trained with", e->name);
    model_config c = race_model(s);
    RACE_TRY(model_new(&m, &c, e->trained, r->pool, err));
    fill_in(s, m);
    pe_status status = check_axes(r, m, err);
    if (!status)
        status = check_pass(r, m, err);
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

static int64_t tokens_of_a_step(const lab_setup *s)
{
    int64_t tokens;
    return io_mul_i64(&tokens, s->batch, s->train_length) ? tokens : INT64_MAX;
}

/* A folder to resume is a file like any other: its numbers are looked at as the command line's are. */
static pe_status check_numbers(const lab_setup *s, pe_error *err)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } numbers[] = {
        { "layers", s->layers, 1, 1024 },
        { "width", s->width, 1, 65536 },
        { "heads", s->heads, 1, 4096 },
        { "kv-heads", s->kv_heads, 0, 4096 },
        { "hidden", s->hidden, 0, 1 << 20 },
        { "train-length", s->train_length, 16, 1 << 20 },
        { "batch", s->batch, 1, 65536 },
        { "tokens of a step", tokens_of_a_step(s), 16, 1 << 26 },
        { "steps", s->steps, s->minutes > 0 ? 0 : 1, INT64_C(1) << 31 },
        { "warmup", s->warmup, 0, INT64_C(1) << 40 },
        { "test-tokens", s->test_tokens, 1, INT64_C(1) << 40 },
        { "the number of seeds", s->seeds, 1, LAB_SEEDS_MAX },
        { "the number of encodings", s->entries, 1, LAB_ENTRIES_MAX },
        { "the number of test lengths", s->tests, 1, LAB_TESTS_MAX },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < numbers[i].min || numbers[i].value > numbers[i].max)
            return io_fail(err, PE_ERR_RANGE, "%s is %" PRId64 "; needs %" PRId64 " to %" PRId64, numbers[i].name,
                           numbers[i].value, numbers[i].min, numbers[i].max);
    if (s->width % s->heads)
        return io_fail(err, PE_ERR_SHAPE,
                       "width is %" PRId64 " and heads are %" PRId64 "; needs a multiple of the heads", s->width,
                       s->heads);
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
        if (s->test[i] < 16 || s->test[i] > 1 << 20)
            return io_fail(err, PE_ERR_RANGE, "a test length is %" PRId64 "; needs 16 to 1048576", s->test[i]);
        if (lab_data_windows(r->data, length) < 1)
            return io_fail(err, PE_ERR_RANGE,
                           "there is no window of %" PRId64 " tokens to test on (%s); needs a longer text", length,
                           s->data);
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
    return PE_OK;
}

/* Which one of them is meant, if that is not said already. */
static pe_status check_one(race *r, int index, pe_error *err)
{
    lab_entry *e = &r->results.setup.entry[index];
    int line = r->asked.line[index];
    char place[300] = "";
    pe_error why = { 0 };
    pe_status status = check_name(e, &why);
    if (!status)
        status = check_entry(r, e, &why);
    if (!status)
        return PE_OK;
    if (line)
        snprintf(place, sizeof place, "%.250s: line %d: ", r->asked.sweep, line);
    bool named = !strncmp(why.text, e->name, strlen(e->name));
    return io_fail(err, status, "%s%s%s%s", place, named ? "" : e->name, named ? "" : ": ", why.text);
}

pe_status race_check(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    RACE_TRY(check_numbers(s, err));
    RACE_TRY(check_lengths(r, err));
    for (int i = 0; i < s->entries; i++)
        RACE_TRY(check_one(r, i, err));
    return PE_OK;
}
