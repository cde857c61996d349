/* SPDX-License-Identifier: MIT
 *
 * Folders of runs: race.json, and the logs of all it names. */
#include "lab/results_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 1200

static pe_status path_in(char out[PATH_ROOM], const char *folder, const char *name, pe_error *err)
{
    int n = snprintf(out, PATH_ROOM, "%s/%s", folder, name);
    return n < PATH_ROOM ? PE_OK : io_fail(err, PE_ERR_IO, "%s: a path of %d bytes is too long", folder, n);
}

/* ---------------------------------------------------------------- race.json */

/* The slug becomes a path. */
static pe_status check_slug(const char *slug, const io_node *at, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    bool good = slug[0] && slug[0] != '.';
    for (const char *s = slug; *s; s++)
        good = good && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *s);
    return good ? PE_OK
                : io_fail(err, PE_ERR_FORMAT, "%s: slug is %s; needs letters, digits, - _ and ., the last not first",
                          io_json_place(place, at), slug);
}

static pe_status read_entry(lab_setup *s, const io_node *at, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    if (s->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "%s is one entry too many; at most %d", io_json_place(place, at),
                       LAB_ENTRIES_MAX);
    lab_entry *e = &s->entry[s->entries];
    pe_status status = fields_read(e, words_entry.field, words_entry.count, at, err);
    if (!status)
        status = check_slug(e->slug, at, err);
    if (status)
        return status;
    if (results_entry(s, e->name) >= 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: the name %s is there before", io_json_place(place, at), e->name);
    s->entries++;
    return PE_OK;
}

static pe_status read_setup(lab_setup *out, const io_node *root, pe_error *err)
{
    io_node list;
    pe_status s = fields_read(out, words_setup.field, words_setup.count, root, err);
    if (!s && strcmp(out->kind, "race") && strcmp(out->kind, "eval"))
        s = io_fail(err, PE_ERR_FORMAT, "%s: kind is %s; needs race or eval", root->key, out->kind);
    if (!s)
        s = io_json_array(&list, root, "entries", IO_REQUIRED, err);
    for (io_node child = { 0 }; !s && io_json_next(&child, &list);)
        s = read_entry(out, &child, err);
    return s;
}

pe_status lab_read_setup(lab_setup *out, const char *folder, pe_error *err)
{
    char path[PATH_ROOM];
    io_node root = { 0 };
    memset(out, 0, sizeof *out);
    pe_status s = path_in(path, folder, "race.json", err);
    if (!s)
        s = io_json_load(&root, path, err);
    if (!s)
        s = read_setup(out, &root, err);
    io_json_free(&root);
    if (s)
        memset(out, 0, sizeof *out);
    return s;
}

/* ---------------------------------------------------------------- several folders */

static pe_status add_entry(lab_setup *all, const lab_entry *e, const char *folder, pe_error *err)
{
    int i = results_entry(all, e->name);
    if (i >= 0 && (strcmp(all->entry[i].spec, e->spec) || strcmp(all->entry[i].trained, e->trained)))
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s trained as %s, and %s trained as %s in a folder before it",
                       folder, e->name, e->spec, e->trained, all->entry[i].spec, all->entry[i].trained);
    if (i >= 0)
        return PE_OK;
    if (all->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "%s: more than %d entries in all", folder, LAB_ENTRIES_MAX);
    all->entry[all->entries++] = *e;
    return PE_OK;
}

/* Into a sorted list of numbers, each once. False: no room. */
static bool add_length(lab_setup *all, int64_t length)
{
    int i = all->tests;
    for (int n = 0; n < all->tests; n++)
        if (all->test[n] == length)
            return true;
    if (i == LAB_TESTS_MAX)
        return false;
    for (; i > 0 && all->test[i - 1] > length; i--)
        all->test[i] = all->test[i - 1];
    all->test[i] = length;
    all->tests++;
    return true;
}

static bool add_seed(lab_setup *all, uint64_t seed)
{
    for (int n = 0; n < all->seeds; n++)
        if (all->seed[n] == seed)
            return true;
    if (all->seeds == LAB_SEEDS_MAX)
        return false;
    all->seed[all->seeds++] = seed;
    return true;
}

static void add_command(lab_setup *all, const char *command)
{
    size_t used = strlen(all->command);
    int n = snprintf(all->command + used, sizeof all->command - used, "\n%s", command);
    if (n >= (int)(sizeof all->command - used))
        io_end_with_dots(all->command, sizeof all->command);
}

static pe_status unite(lab_setup *all, const lab_setup *one, const char *const *folder, int index, pe_error *err)
{
    char a[600], b[600];
    const field *f = fields_differ(words_setup.field, words_setup.count, all, one, a, b, sizeof a);
    if (f)
        return io_fail(err, PE_ERR_FORMAT, "%s and %s cannot be compared: %s is %s in one and %s in the other",
                       folder[0], folder[index], f->name, a, b);
    pe_status s = PE_OK;
    for (int i = 0; i < one->entries && !s; i++)
        s = add_entry(all, &one->entry[i], folder[index], err);
    bool room = true;
    for (int i = 0; i < one->tests; i++)
        room = room && add_length(all, one->test[i]);
    for (int i = 0; i < one->seeds; i++)
        room = room && add_seed(all, one->seed[i]);
    if (!s && !room)
        s = io_fail(err, PE_ERR_FORMAT, "%s: more than %d lengths or %d seeds in all", folder[index], LAB_TESTS_MAX,
                    LAB_SEEDS_MAX);
    if (!s)
        add_command(all, one->command);
    return s;
}

/* ---------------------------------------------------------------- logs */

/* Where one (trained spec, seed) is kept: made where it is new, emptied where a folder before had it. -1: no memory. */
static int place_run(lab_results *r, int entry, uint64_t seed)
{
    for (int i = 0; i < r->runs; i++) {
        lab_run *old = &r->run[i];
        if (old->entry != entry || old->seed != seed)
            continue;
        free(old->train);
        *old = (lab_run){ .entry = entry, .seed = seed };
        return i;
    }
    if (r->runs == LAB_ENTRIES_MAX * LAB_SEEDS_MAX)
        return -1;
    lab_run *more = realloc(r->run, ((size_t)r->runs + 1) * sizeof *more);
    if (!more)
        return -1;
    r->run = more;
    r->run[r->runs] = (lab_run){ .entry = entry, .seed = seed };
    return r->runs++;
}

static int first_trained(const lab_setup *s, const char *trained)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].trained, trained) && !s->entry[i].cannot[0])
            return i;
    return -1;
}

static pe_status read_runs(lab_results *r, const lab_setup *one, int entry, const char *folder, pe_error *err)
{
    char path[PATH_ROOM], name[120];
    const lab_entry *e = &one->entry[entry];
    pe_status s = PE_OK;
    for (int i = 0; i < one->seeds && !s; i++) {
        int run = place_run(r, first_trained(&r->setup, e->trained), one->seed[i]);
        if (run < 0)
            return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its runs", folder);
        snprintf(name, sizeof name, "%s-%" PRIu64 "/log.jsonl", e->slug, one->seed[i]);
        s = path_in(path, folder, name, err);
        if (!s)
            s = results_read_log(r, run, path, err);
    }
    return s;
}

static pe_status read_folder(lab_results *r, const lab_setup *one, const char *folder, pe_error *err)
{
    char path[PATH_ROOM];
    pe_status s = path_in(path, folder, "log.jsonl", err);
    if (!s)
        s = results_read_log(r, -1, path, err);
    for (int i = 0; i < one->entries && !s && !lab_is_eval(one); i++)
        if (first_trained(one, one->entry[i].trained) == i)
            s = read_runs(r, one, i, folder, err);
    return s;
}

pe_status lab_read_results(lab_results *out, const char *const *folder, int folders, pe_error *err)
{
    pe_status s = PE_OK;
    memset(out, 0, sizeof *out);
    lab_setup *one = calloc(folders > 0 ? (size_t)folders : 1, sizeof *one);
    if (!one)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %d folders", folders);
    for (int i = 0; i < folders && !s; i++)
        s = lab_read_setup(&one[i], folder[i], err);
    if (!s)
        out->setup = one[0];
    for (int i = 1; i < folders && !s; i++)
        s = unite(&out->setup, &one[i], folder, i, err);
    for (int i = 0; i < folders && !s; i++)
        s = read_folder(out, &one[i], folder[i], err);
    free(one);
    if (s)
        lab_results_free(out);
    return s;
}

void lab_results_free(lab_results *r)
{
    for (int i = 0; i < r->runs; i++)
        free(r->run[i].train);
    free(r->run);
    free(r->test);
    memset(r, 0, sizeof *r);
}
