/* SPDX-License-Identifier: MIT
 *
 * A run's log, line by line. */
#include "lab/results_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Room for one more behind count elements: doubles at powers of two, so that no capacity is kept. */
static void *grow(void *list, int count, size_t size)
{
    size_t wanted = count ? (size_t)count * 2 : 1;
    if (count & (count - 1))
        return list;
    return count < 1 << 28 ? realloc(list, wanted * size) : NULL;
}

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

static pe_status no_memory(pe_error *err)
{
    return io_fail(err, PE_ERR_NOMEM, "no memory for the results");
}

static pe_status add_train(lab_run *run, const io_node *line, pe_error *err)
{
    lab_train_line l = { 0 };
    pe_status s = fields_read(&l, words_train.field, words_train.count, line, err);
    if (s)
        return s;
    lab_train_line *more = grow(run->train, run->trains, sizeof *more);
    if (!more)
        return no_memory(err);
    run->train = more;
    run->train[run->trains++] = l;
    return PE_OK;
}

/* What no writer of ours writes, though each number is within its range. */
static pe_status check_test(const lab_setup *s, const lab_test_line *l, const io_node *line, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    if (!has_seed(s, l->seed))
        return io_fail(err, PE_ERR_FORMAT, "%s has seed %" PRIu64 ", which race.json has not",
                       io_json_place(place, line), l->seed);
    for (int i = 0; i < LAB_DISTANCES; i++)
        if (l->right[i] > l->asked[i])
            return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                           io_json_place(place, line), l->right[i], l->asked[i]);
    if (l->right_all > l->asked_all)
        return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                       io_json_place(place, line), l->right_all, l->asked_all);
    return PE_OK;
}

static lab_test_line *find_test(lab_results *r, const lab_test_line *l)
{
    for (int i = 0; i < r->tests; i++)
        if (r->test[i].entry == l->entry && r->test[i].seed == l->seed && r->test[i].length == l->length)
            return &r->test[i];
    return NULL;
}

static pe_status add_test(lab_results *r, const io_node *line, pe_error *err)
{
    lab_test_line l = { 0 };
    const char *name;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&name, line, "entry", IO_REQUIRED, err);
    if (!s)
        s = fields_read(&l, words_test.field, words_test.count, line, err);
    if (s)
        return s;
    l.entry = results_entry(&r->setup, name);
    if (l.entry < 0)
        return io_fail(err, PE_ERR_FORMAT, "%s has entry %s, which race.json has not", io_json_place(place, line),
                       name);
    if ((s = check_test(&r->setup, &l, line, err)))
        return s;
    lab_test_line *same = find_test(r, &l);
    if (same) {
        *same = l;
        return PE_OK;
    }
    lab_test_line *more = grow(r->test, r->tests, sizeof *more);
    if (!more)
        return no_memory(err);
    r->test = more;
    r->test[r->tests++] = l;
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
    if (run >= 0 && !strcmp(kind, "run")) {
        r->run[run].ended = true;
        return fields_read(&r->run[run].end, words_run.field, words_run.count, line, err);
    }
    return PE_OK;
}

pe_status results_read_log(lab_results *r, int run, const char *path, pe_error *err)
{
    struct stat there;
    io_bytes file;
    char name[1300];
    if (stat(path, &there))
        return PE_OK;
    pe_status s = io_read_file(&file, path, IO_CAP_TEXT, err);
    if (s)
        return s;
    const char *at = (const char *)file.data, *end = at + file.size, *stop;
    for (int n = 1; !s && at < end && (stop = memchr(at, '\n', (size_t)(end - at))); n++, at = stop + 1) {
        io_node line;
        snprintf(name, sizeof name, "%s:%d", path, n);
        s = io_json_parse(&line, name, at, (size_t)(stop - at), err);
        if (s)
            continue;
        s = add_line(r, run, &line, err);
        io_json_free(&line);
    }
    io_bytes_free(&file);
    return s;
}
