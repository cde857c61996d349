/* SPDX-License-Identifier: MIT
 *
 * A run's log, line by line. */
#include "lab/results_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int results_entry(const lab_setup *s, const char *name)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].name, name))
            return i;
    return -1;
}

static bool has_seed(const lab_setup *s, uint64_t seed)
{
    for (int i = 0; i < s->seeds; i++)
        if (s->seed[i] == seed)
            return true;
    return false;
}

static bool has_length(const lab_setup *s, int64_t length)
{
    for (int i = 0; i < s->tests; i++)
        if (s->test[i] == length)
            return true;
    return false;
}

static pe_status add_train(lab_run *run, const io_node *line, pe_error *err)
{
    lab_train_line l = { 0 };
    pe_status s = fields_read(&l, record_train.field, record_train.count, line, err);
    if (s)
        return s;
    return lab_keep_train(run, &l, err);
}

/* What no writer of ours writes, though each number is within its range. */
static pe_status check_test(const lab_setup *s, const lab_test_line *l, const io_node *line, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    if (!has_seed(s, l->seed))
        return io_fail(err, PE_ERR_FORMAT, "%s has seed %" PRIu64 ", which race.json has not",
                       io_json_place(place, line), l->seed);
    if (!has_length(s, l->length))
        return io_fail(err, PE_ERR_FORMAT, "%s has length %" PRId64 ", which race.json has not",
                       io_json_place(place, line), l->length);
    for (int i = 0; i < LAB_DISTANCES; i++)
        if (l->right[i] > l->asked[i])
            return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                           io_json_place(place, line), l->right[i], l->asked[i]);
    if (l->right_all > l->asked_all)
        return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                       io_json_place(place, line), l->right_all, l->asked_all);
    return PE_OK;
}

static pe_status add_test(lab_results *r, const io_node *line, pe_error *err)
{
    lab_test_line l = { 0 };
    const char *name;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&name, line, "entry", IO_REQUIRED, err);
    if (!s)
        s = fields_read(&l, record_test.field, record_test.count, line, err);
    if (s)
        return s;
    l.entry = results_entry(&r->setup, name);
    if (l.entry < 0)
        return io_fail(err, PE_ERR_FORMAT, "%s has entry %s, which race.json has not", io_json_place(place, line),
                       name);
    if ((s = check_test(&r->setup, &l, line, err)))
        return s;
    lab_test_line *same = lab_find_test(r, l.entry, l.seed, l.length);
    if (!same)
        return lab_keep_test(r, &l, err);
    *same = l;
    return PE_OK;
}

static pe_status add_line(lab_results *r, int run, const io_node *line, pe_error *err)
{
    const char *kind;
    pe_status s = io_json_string(&kind, line, "line", IO_REQUIRED, err);
    if (s)
        return s;
    if (!strcmp(kind, "test"))
        return add_test(r, line, err);
    if (run >= 0 && !strcmp(kind, "train"))
        return add_train(&r->run[run], line, err);
    if (run >= 0 && !strcmp(kind, "failure"))
        return fields_read(&r->run[run].failure, record_failure.field, record_failure.count, line, err);
    if (run >= 0 && !strcmp(kind, "run")) {
        r->run[run].ended = true;
        return fields_read(&r->run[run].end, record_run.field, record_run.count, line, err);
    }
    return PE_OK;
}

pe_status results_read_lines(lab_results *r, int run, const char *path, io_span text, pe_error *err)
{
    const char *at = text.data, *end = at + text.size, *stop;
    char name[1300];
    pe_status s = PE_OK;
    for (int n = 1; !s && at < end && (stop = memchr(at, '\n', (size_t)(end - at))); n++, at = stop + 1) {
        io_node line;
        snprintf(name, sizeof name, "%s:%d", path, n);
        s = io_json_parse(&line, name, at, (size_t)(stop - at), err);
        if (s)
            continue;
        s = add_line(r, run, &line, err);
        io_json_free(&line);
    }
    return s;
}

pe_status results_read_log(lab_results *r, int run, const char *path, pe_error *err)
{
    struct stat there;
    io_bytes file;
    if (stat(path, &there))
        return PE_OK;
    pe_status s = io_read_file(&file, path, IO_CAP_TEXT, err);
    if (!s)
        s = results_read_lines(r, run, path, (io_span){ file.data, file.size }, err);
    io_bytes_free(&file);
    return s;
}
