/* SPDX-License-Identifier: MIT
 *
 * Folders of runs: race.json, and the logs of all it names. */
#include "lab/results_records.h"

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
    pe_status status = fields_read(e, record_entry.field, record_entry.count, at, err);
    if (!status)
        status = check_slug(e->slug, at, err);
    if (status)
        return status;
    if (results_entry(s, e->name) >= 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: the name %s is there before", io_json_place(place, at), e->name);
    s->entries++;
    return PE_OK;
}

pe_status results_read_setup(lab_setup *out, const io_node *root, pe_error *err)
{
    io_node list;
    pe_status s = fields_read(out, record_setup.field, record_setup.count, root, err);
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
        s = results_read_setup(out, &root, err);
    io_json_free(&root);
    if (s)
        memset(out, 0, sizeof *out);
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
        if (!strcmp(s->entry[i].trained, trained))
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
        s = results_unite(&out->setup, &one[i], folder, i, err);
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
