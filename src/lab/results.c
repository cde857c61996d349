/* SPDX-License-Identifier: MIT
 *
 * The words of race.json and of the log's lines: one table per struct. */
#include "lab/results_records.h"

#include "io/io.h"
#include "model/gemm.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- members of a struct, by their fields */

static size_t size_of(const field *f)
{
    static const size_t size[] = {
        [FIELD_TEXT] = 1,
        [FIELD_INT] = sizeof(int64_t),
        [FIELD_COUNT] = sizeof(int),
        [FIELD_SEED] = sizeof(uint64_t),
        [FIELD_HEX] = sizeof(uint64_t),
        [FIELD_REAL] = sizeof(double),
        [FIELD_BOOL] = sizeof(bool),
    };
    return size[f->kind];
}

static void write_one(json_out *j, const char *key, const field *f, const char *at)
{
    char hex[24];
    switch (f->kind) {
    case FIELD_TEXT: out_text(j, key, at); break;
    case FIELD_INT:
    case FIELD_SEED: out_int(j, key, *(const int64_t *)(const void *)at); break;
    case FIELD_COUNT: out_int(j, key, *(const int *)(const void *)at); break;
    case FIELD_HEX:
        snprintf(hex, sizeof hex, "%016" PRIx64, *(const uint64_t *)(const void *)at);
        out_text(j, key, hex);
        break;
    case FIELD_REAL: out_real(j, key, *(const double *)(const void *)at); break;
    case FIELD_BOOL: out_bool(j, key, *(const bool *)(const void *)at); break;
    }
}

static int elements_of(const field *f, const char *from)
{
    return f->count_at ? *(const int *)(const void *)(from + f->count_at) : f->elements;
}

static void fields_write(json_out *j, const field *f, int count, const void *from)
{
    for (int i = 0; i < count; i++, f++) {
        const char *at = (const char *)from + f->at;
        if (!f->elements) {
            write_one(j, f->name, f, at);
            continue;
        }
        out_open(j, f->name, '-');
        for (int n = 0; n < elements_of(f, from); n++)
            write_one(j, NULL, f, at + (size_t)n * size_of(f));
        out_close(j, '-');
    }
}

/* ---------------------------------------------------------------- reading */

static pe_status read_text(char *to, const field *f, const io_node *at, pe_error *err)
{
    const char *text;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&text, at, NULL, IO_REQUIRED, err);
    if (s)
        return s;
    size_t length = strlen(text);
    if (length >= f->room)
        return io_fail(err, PE_ERR_FORMAT, "%s has %zu bytes; needs at most %zu", io_json_place(place, at), length,
                       f->room - 1);
    memcpy(to, text, length);
    to[length] = 0;
    return PE_OK;
}

static pe_status read_hex(uint64_t *to, const io_node *at, pe_error *err)
{
    const char *text;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&text, at, NULL, IO_REQUIRED, err);
    if (s)
        return s;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 || sscanf(text, "%" SCNx64, to) != 1)
        return io_fail(err, PE_ERR_FORMAT, "%s is %s; needs 16 hexadecimal digits", io_json_place(place, at), text);
    return PE_OK;
}

static pe_status read_number(void *to, const field *f, const io_node *at, pe_error *err)
{
    int64_t n = 0;
    pe_status s = io_json_int(&n, at, NULL, IO_REQUIRED, (io_int_range){ f->min, f->max }, err);
    if (f->kind == FIELD_COUNT)
        *(int *)to = (int)n; /* fits: the table's range */
    else
        *(int64_t *)to = n; /* uint64_t too */
    return s;
}

static pe_status read_one(void *to, const field *f, const io_node *at, pe_error *err)
{
    switch (f->kind) {
    case FIELD_TEXT: return read_text(to, f, at, err);
    case FIELD_INT:
    case FIELD_SEED:
    case FIELD_COUNT: return read_number(to, f, at, err);
    case FIELD_HEX: return read_hex(to, at, err);
    case FIELD_BOOL: return io_json_bool(to, at, NULL, IO_REQUIRED, err);
    case FIELD_REAL: break;
    }
    *(double *)to = (double)NAN;
    return io_json_kind_of(at) == IO_JSON_NULL ? PE_OK : io_json_real(to, at, NULL, IO_REQUIRED, err);
}

static pe_status read_list(char *to, const field *f, const io_node *list, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    int n = 0;
    pe_status s = PE_OK;
    for (io_node child = { 0 }; !s && n <= f->elements && io_json_next(&child, list); n++)
        if (n < f->elements)
            s = read_one(to + f->at + (size_t)n * size_of(f), f, &child, err);
    if (s)
        return s;
    if (n > f->elements || (!f->count_at && n < f->elements))
        return io_fail(err, PE_ERR_FORMAT, "%s has %zu elements; needs %s%d", io_json_place(place, list),
                       io_json_size(list), f->count_at ? "at most " : "", f->elements);
    if (f->count_at)
        *(int *)(void *)(to + f->count_at) = n;
    return PE_OK;
}

pe_status fields_read(void *to, const field *f, int count, const io_node *at, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < count && !s; i++, f++) {
        io_node child;
        char place[IO_JSON_PLACE_MAX];
        bool there = io_json_get(&child, at, f->name);
        if (!there && f->late)
            continue;
        if (!there)
            return io_fail(err, PE_ERR_FORMAT, "%s has no %s", io_json_place(place, at), f->name);
        if (f->elements && io_json_kind_of(&child) != IO_JSON_ARRAY)
            return io_fail(err, PE_ERR_FORMAT, "%s is no array", io_json_place(place, &child));
        s = f->elements ? read_list(to, f, &child, err) : read_one((char *)to + f->at, f, &child, err);
    }
    return s;
}

/* ---------------------------------------------------------------- comparing */

static void show_field(char *out, size_t cap, const field *f, const char *at)
{
    switch (f->kind) {
    case FIELD_TEXT: snprintf(out, cap, "%s", at); break;
    case FIELD_INT:
    case FIELD_SEED: snprintf(out, cap, "%" PRId64, *(const int64_t *)(const void *)at); break;
    case FIELD_COUNT: snprintf(out, cap, "%d", *(const int *)(const void *)at); break;
    case FIELD_HEX: snprintf(out, cap, "%016" PRIx64, *(const uint64_t *)(const void *)at); break;
    case FIELD_BOOL: snprintf(out, cap, "%s", *(const bool *)(const void *)at ? "true" : "false"); break;
    case FIELD_REAL: io_print_real(out, cap, *(const double *)(const void *)at); break;
    }
}

const field *fields_differ(const field *f, int count, const void *first, const void *second, char *a, char *b,
                           size_t cap)
{
    for (int i = 0; i < count; i++, f++) {
        if (!f->agree)
            continue;
        show_field(a, cap, f, (const char *)first + f->at);
        show_field(b, cap, f, (const char *)second + f->at);
        if (strcmp(a, b))
            return f;
    }
    return NULL;
}

/* ---------------------------------------------------------------- the words of the files */

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define MANY INT64_MAX
/* A row each: a member, named as it is. */
#define ROW(type, kind, member, elements, count_at, min, max, agree)                                                   \
    {                                                                                                                  \
#member, kind, offsetof(type, member), sizeof((type *)0)->member, elements, count_at, min, max, agree, false   \
    }
#define TEXT(type, member) ROW(type, FIELD_TEXT, member, 0, 0, 0, 0, false)
#define ONE(type, kind, member, min, max) ROW(type, kind, member, 0, 0, min, max, false)
#define SAME(type, kind, member, min, max) ROW(type, kind, member, 0, 0, min, max, true)
#define LIST(type, kind, member, elements, count, min)                                                                 \
    ROW(type, kind, member, elements, offsetof(type, count), min, MANY, false)
#define ALL(type, kind, member, elements, min) ROW(type, kind, member, elements, 0, min, MANY, false)

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
    { "dropped", FIELD_INT, offsetof(lab_entry, dropped), sizeof(int64_t), 0, 0, 0, INT64_C(1) << 31, false, true },
};
static const field tensor_fields[] = {
    TEXT(lab_tensor, name),
    ONE(lab_tensor, FIELD_REAL, rate, 0, 0),
    ONE(lab_tensor, FIELD_REAL, decay, 0, 0),
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
const record record_tensor = { tensor_fields, COUNT(tensor_fields) };
const record record_train = { train_fields, COUNT(train_fields) };
const record record_test = { test_fields, COUNT(test_fields) };
const record record_run = { run_fields, COUNT(run_fields) };
const record record_failure = { failure_fields, COUNT(failure_fields) };

bool lab_is_eval(const lab_setup *s)
{
    return !strcmp(s->kind, "eval");
}

bool lab_trained_alike(const lab_entry *a, const lab_entry *b)
{
    bool same = !strcmp(a->trained, b->trained) && a->tensors == b->tensors && a->dropped == b->dropped;
    for (int i = 0; same && i < a->tensors; i++)
        same = !strcmp(a->tensor[i].name, b->tensor[i].name) && a->tensor[i].rate == b->tensor[i].rate &&
               a->tensor[i].decay == b->tensor[i].decay;
    return same;
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
        out_open(&j, "tensors", '[');
        for (int t = 0; t < s->entry[i].tensors; t++) {
            out_open(&j, NULL, '{');
            write_fields(&j, &record_tensor, &s->entry[i].tensor[t]);
            out_close(&j, '}');
        }
        out_close(&j, ']');
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

void lab_set_machine(lab_setup *s)
{
    time_t now = time(NULL);
    struct tm utc;
    snprintf(s->version, sizeof s->version, "%s", pe_version());
    snprintf(s->blas, sizeof s->blas, "%s", gemm_name());
    io_cpu_name(s->cpu, sizeof s->cpu);
    if (gmtime_r(&now, &utc))
        strftime(s->date, sizeof s->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
