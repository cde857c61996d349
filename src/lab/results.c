/* SPDX-License-Identifier: MIT
 *
 * The words of race.json and of the log's lines: one table per struct. */
#include "lab/results_records.h"

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define MANY INT64_MAX
/* A row each: a member, named as it is. */
#define PLACE(type, member) offsetof(type, member), sizeof((type *)0)->member
#define TEXT(type, member)                                                                                             \
    {                                                                                                                  \
#member, FIELD_TEXT, PLACE(type, member), 0, 0, 0, 0, false                                                    \
    }
#define ONE(type, kind, member, min, max)                                                                              \
    {                                                                                                                  \
#member, kind, PLACE(type, member), 0, 0, min, max, false                                                      \
    }
#define SAME(type, kind, member, min, max)                                                                             \
    {                                                                                                                  \
#member, kind, PLACE(type, member), 0, 0, min, max, true                                                       \
    }
#define LIST(type, kind, member, elements, count, min)                                                                 \
    {                                                                                                                  \
#member, kind, PLACE(type, member), elements, offsetof(type, count), min, MANY, false                          \
    }
#define ALL(type, kind, member, elements, min)                                                                         \
    {                                                                                                                  \
#member, kind, PLACE(type, member), elements, 0, min, MANY, false                                              \
    }

static const field setup_fields[] = {
    SAME(lab_setup, FIELD_TEXT, kind, 0, 0),
    SAME(lab_setup, FIELD_TEXT, model, 0, 0),
    TEXT(lab_setup, note),
    TEXT(lab_setup, command),
    TEXT(lab_setup, version),
    TEXT(lab_setup, blas),
    TEXT(lab_setup, cpu),
    TEXT(lab_setup, kernels),
    TEXT(lab_setup, date),
    ONE(lab_setup, FIELD_COUNT, threads, 0, 1 << 20),
    TEXT(lab_setup, data),
    SAME(lab_setup, FIELD_HEX, data_fingerprint, 0, 0),
    ONE(lab_setup, FIELD_INT, data_size, 0, MANY),
    SAME(lab_setup, FIELD_INT, layers, 0, MANY),
    SAME(lab_setup, FIELD_INT, width, 0, MANY),
    SAME(lab_setup, FIELD_INT, heads, 0, MANY),
    SAME(lab_setup, FIELD_INT, kv_heads, 0, MANY),
    SAME(lab_setup, FIELD_INT, hidden, 0, MANY),
    SAME(lab_setup, FIELD_INT, vocab, 0, MANY),
    SAME(lab_setup, FIELD_BOOL, causal, 0, 0),
    SAME(lab_setup, FIELD_INT, train_length, 1, PE_POSITION_MAX),
    SAME(lab_setup, FIELD_INT, batch, 0, MANY),
    SAME(lab_setup, FIELD_INT, steps, 0, MANY),
    SAME(lab_setup, FIELD_INT, warmup, 0, MANY),
    SAME(lab_setup, FIELD_REAL, rate, 0, 0),
    SAME(lab_setup, FIELD_REAL, decay, 0, 0),
    SAME(lab_setup, FIELD_REAL, clip, 0, 0),
    LIST(lab_setup, FIELD_INT, test, LAB_TESTS_MAX, tests, 1),
    SAME(lab_setup, FIELD_INT, test_tokens, 0, MANY),
    LIST(lab_setup, FIELD_SEED, seed, LAB_SEEDS_MAX, seeds, 0),
    ONE(lab_setup, FIELD_REAL, minutes, 0, 0),
    ONE(lab_setup, FIELD_REAL, step_seconds, 0, 0),
    ONE(lab_setup, FIELD_REAL, test_seconds, 0, 0),
    TEXT(lab_setup, calibration),
};
static const field entry_fields[] = {
    TEXT(lab_entry, name),
    TEXT(lab_entry, spec),
    TEXT(lab_entry, trained),
    TEXT(lab_entry, slug),
};
static const field train_fields[] = {
    ONE(lab_train_line, FIELD_INT, step, 0, MANY),  ONE(lab_train_line, FIELD_REAL, loss, 0, 0),
    ONE(lab_train_line, FIELD_REAL, rate, 0, 0),    ONE(lab_train_line, FIELD_REAL, norm, 0, 0),
    ONE(lab_train_line, FIELD_REAL, seconds, 0, 0),
};
static const field test_fields[] = {
    ONE(lab_test_line, FIELD_SEED, seed, 0, MANY),
    ONE(lab_test_line, FIELD_INT, length, 1, PE_POSITION_MAX),
    ONE(lab_test_line, FIELD_INT, windows, 0, MANY),
    ONE(lab_test_line, FIELD_REAL, bits, 0, 0),
    ONE(lab_test_line, FIELD_REAL, last_quarter, 0, 0),
    ALL(lab_test_line, FIELD_REAL, by_position, LAB_BINS, 0),
    ALL(lab_test_line, FIELD_INT, asked, LAB_DISTANCES, 0),
    ALL(lab_test_line, FIELD_INT, right, LAB_DISTANCES, 0),
    ONE(lab_test_line, FIELD_INT, asked_all, 0, MANY),
    ONE(lab_test_line, FIELD_INT, right_all, 0, MANY),
    ONE(lab_test_line, FIELD_REAL, seconds, 0, 0),
    TEXT(lab_test_line, spec),
    TEXT(lab_test_line, cannot),
};
static const field run_fields[] = {
    ONE(lab_run_line, FIELD_INT, params, 0, MANY),   ONE(lab_run_line, FIELD_INT, position_params, 0, MANY),
    ONE(lab_run_line, FIELD_INT, tokens, 0, MANY),   ONE(lab_run_line, FIELD_INT, steps, 0, MANY),
    ONE(lab_run_line, FIELD_REAL, seconds, 0, 0),    ONE(lab_run_line, FIELD_REAL, tokens_per_second, 0, 0),
    ONE(lab_run_line, FIELD_REAL, final_loss, 0, 0), ONE(lab_run_line, FIELD_BOOL, finished, 0, 0),
};

static const field failure_fields[] = {
    ONE(lab_failure_line, FIELD_INT, step, 1, MANY),
    TEXT(lab_failure_line, why),
};

const record record_setup = { setup_fields, COUNT(setup_fields) };
const record record_entry = { entry_fields, COUNT(entry_fields) };
const record record_train = { train_fields, COUNT(train_fields) };
const record record_test = { test_fields, COUNT(test_fields) };
const record record_run = { run_fields, COUNT(run_fields) };
const record record_failure = { failure_fields, COUNT(failure_fields) };

bool lab_is_eval(const lab_setup *s)
{
    return !strcmp(s->kind, "eval");
}

bool lab_in_last_quarter(int64_t at, int64_t length)
{
    return at >= length - (length + 3) / 4;
}

/* ---------------------------------------------------------------- writers */

static void write_fields(json_out *j, const record *w, const void *from)
{
    fields_write(j, w->field, w->count, from);
}

static void write_setup(json_out j, const lab_setup *s)
{
    out_open(&j, NULL, '{');
    out_text(&j, "line", "setup");
    write_fields(&j, &record_setup, s);
    out_open(&j, "entries", '[');
    for (int i = 0; i < s->entries; i++) {
        out_open(&j, NULL, '{');
        write_fields(&j, &record_entry, &s->entry[i]);
        out_close(&j, '}');
    }
    out_close(&j, ']');
    out_close(&j, '}');
}

/* entry and seed: of a line that stands among others', in a report; NULL in a run's own log. */
static void write_line(FILE *to, const char *kind, const record *w, const void *from, const char *entry,
                       const uint64_t *seed)
{
    json_out j = out_start_line(to);
    out_open(&j, NULL, '{');
    out_text(&j, "line", kind);
    if (entry)
        out_text(&j, "entry", entry);
    if (seed)
        out_int(&j, "seed", (int64_t)*seed);
    write_fields(&j, w, from);
    out_close(&j, '}');
}

void lab_write_setup(FILE *to, const lab_setup *s)
{
    write_setup(out_start(to), s);
}

static pe_status make_setup(FILE *to, const void *with, pe_error *err)
{
    (void)err;
    lab_write_setup(to, with);
    return PE_OK;
}

pe_status lab_save_setup(const char *folder, const lab_setup *s, pe_error *err)
{
    return io_make_file(folder, "race.json", make_setup, s, err);
}

void lab_write_train(FILE *to, const lab_train_line *l)
{
    write_line(to, "train", &record_train, l, NULL, NULL);
}

void lab_write_test(FILE *to, const lab_setup *s, const lab_test_line *l)
{
    write_line(to, "test", &record_test, l, s->entry[l->entry].name, NULL);
}

void lab_write_run(FILE *to, const lab_run_line *l)
{
    write_line(to, "run", &record_run, l, NULL, NULL);
}

void lab_write_failure(FILE *to, const lab_failure_line *l)
{
    write_line(to, "failure", &record_failure, l, NULL, NULL);
}

void lab_write_all(FILE *to, const lab_results *r)
{
    write_setup(out_start_line(to), &r->setup);
    for (int i = 0; i < r->runs; i++) {
        const lab_run *run = &r->run[i];
        const char *name = r->setup.entry[run->entry].name;
        for (int n = 0; n < run->trains; n++)
            write_line(to, "train", &record_train, &run->train[n], name, &run->seed);
        if (run->ended)
            write_line(to, "run", &record_run, &run->end, name, &run->seed);
        if (run->failure.step)
            write_line(to, "failure", &record_failure, &run->failure, name, &run->seed);
    }
    for (int i = 0; i < r->tests; i++)
        lab_write_test(to, &r->setup, &r->test[i]);
}
