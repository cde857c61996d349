/* SPDX-License-Identifier: MIT
 *
 * The folder, its files, the report. */
#if !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* dirent */
#endif
#include "conformance.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static const char help[] =
    "posenc-conformance tests/golden\n"
    "posenc-conformance --json FOLDER | jq '.cases[] | select(.result == \"failed\")'\n"
    "\n"
    "Holds the library against the golden vectors of a folder (the format: tests/golden/README.md). Prints a line per\n"
    "case that fails or is skipped and ends with 'N passed, N failed, N skipped'; with --json one object instead.\n"
    "Exit: 0 nothing failed, 1 a case failed, 2 the folder or the arguments are no good.\n";

static const struct {
    const char *name;
    golden_run *run; /* NULL: skipped */
} files[] = { { "rope_types", run_rope_types },
              { "rope_layouts", run_rope_layouts },
              { "sinusoidal", run_sinusoidal },
              { "biases", run_biases },
              { "relative_attention", run_relative_attention },
              { "rope_census", NULL } };

typedef enum result { PASSED, FAILED, SKIPPED, RESULTS } result;
static const char *const result_names[] = { "passed", "failed", "skipped" };

typedef struct report {
    int64_t count[RESULTS];
    json_t *cases; /* NULL: lines instead */
} report;

/* ---------------------------------------------------------------- reporting */

static void add_case(report *r, result what, int64_t cases, const char *file, const char *name, const golden *c,
                     const char *why)
{
    r->count[what] += cases;
    if (r->cases) {
        json_t *o = json_object();
        json_object_set_new(o, "file", json_string(file));
        if (name)
            json_object_set_new(o, "case", json_string(name));
        json_object_set_new(o, "cases", json_integer(cases));
        json_object_set_new(o, "result", json_string(result_names[what]));
        if (*why)
            json_object_set_new(o, "why", json_string(why));
        if (c && c->compared) {
            json_object_set_new(o, "compared", json_integer(c->compared));
            json_object_set_new(o, "worst_at", json_string(c->worst.where));
            json_object_set_new(o, "got", json_real(c->worst.got)); /* not a number: left out */
            json_object_set_new(o, "want", json_real(c->worst.want));
            json_object_set_new(o, "tolerance", json_real(c->worst.tolerance));
        }
        json_array_append_new(r->cases, o);
    } else if (what == FAILED)
        printf("FAIL: %s%s%s: %s\n", file, name ? "/" : "", name ? name : "", why);
    else if (what == SKIPPED)
        printf("SKIP: %s%s%s (%s)\n", file, name ? "/" : "", name ? name : "", why);
}

static void judge(report *r, const golden *c, pe_status s)
{
    const golden_worst *w = &c->worst;
    char why[600] = "";
    result what = PASSED;
    if (s) {
        what = FAILED;
        snprintf(why, sizeof why, "%s", c->err.text);
    } else if (*c->skip) {
        what = SKIPPED;
        snprintf(why, sizeof why, "%s", c->skip);
    } else if (!c->compared) {
        what = SKIPPED;
        snprintf(why, sizeof why, "it holds nothing to compare with");
    } else if (!(w->used <= 1)) {
        what = FAILED;
        snprintf(why, sizeof why, "%s is %.9g; the file has %.9g: %.3g apart, tolerance %.3g", w->where, w->got,
                 w->want, fabs(w->got - w->want), w->tolerance);
    }
    add_case(r, what, 1, c->file, c->name, c, why);
}

static int finish(const report *r, bool json)
{
    if (json) {
        json_t *o = json_object();
        for (int n = 0; n < RESULTS; n++)
            json_object_set_new(o, result_names[n], json_integer(r->count[n]));
        json_object_set_new(o, "cases", r->cases);
        json_dumpf(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        putchar('\n');
        json_decref(o);
    } else
        printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", r->count[PASSED], r->count[FAILED],
               r->count[SKIPPED]);
    return r->count[FAILED] ? 1 : 0;
}

/* ---------------------------------------------------------------- a file */

static void run_case(report *r, const char *file, golden_run *run, const io_safetensors *data, const io_node *cases,
                     const char *name)
{
    golden c = { .file = file, .name = name, .data = data };
    io_node node;
    pe_status s = io_json_object(&node, cases, name, IO_REQUIRED, &c.err);
    if (!s)
        s = io_json_object(&c.meta, &node, "meta", IO_REQUIRED, &c.err);
    if (!s)
        s = io_json_object(&c.tensors, &node, "tensors", IO_REQUIRED, &c.err);
    if (!s)
        s = run(&c);
    judge(r, &c, s);
    golden_free(&c);
}

static pe_status run_cases(report *r, const char *file, golden_run *run, const char *path, const io_node *root,
                           pe_error *err)
{
    io_node cases;
    io_safetensors *data = NULL;
    const char *name;
    json_t *value;
    TRY(io_json_object(&cases, root, "cases", IO_REQUIRED, err));
    TRY(io_safetensors_load(&data, path, err));
    json_object_foreach(cases.json, name, value)
        run_case(r, file, run, data, &cases, name);
    io_safetensors_free(data);
    return PE_OK;
}

static bool join(char *out, size_t size, const char *folder, const char *name, const char *ending)
{
    int n = snprintf(out, size, "%s/%s%s", folder, name, ending);
    return n > 0 && (size_t)n < size;
}

/* A file of a later issue: only its cases are counted, if it can be read at all. */
static void skip_file(report *r, const char *file, const char *index)
{
    io_node root = { 0 };
    char why[80];
    bool readable = !io_json_load(&root, index, NULL);
    size_t cases = json_object_size(json_object_get(root.json, "cases"));
    snprintf(why, sizeof why, "%zu cases; belongs to a later issue", cases);
    add_case(r, SKIPPED, cases ? (int64_t)cases : 1, file, NULL, NULL, why);
    if (readable)
        io_json_free(&root);
}

/* Whether the file is there. */
static bool run_file(report *r, const char *folder, const char *file, golden_run *run)
{
    char index[4096], data[4096];
    struct stat is;
    io_node root;
    pe_error err = { 0 };
    if (!join(index, sizeof index, folder, file, ".json") || !join(data, sizeof data, folder, file, ".safetensors") ||
        (stat(index, &is) && errno == ENOENT))
        return false;
    if (!run) {
        skip_file(r, file, index);
        return true;
    }
    pe_status s = io_json_load(&root, index, &err);
    if (!s) {
        s = run_cases(r, file, run, data, &root, &err);
        io_json_free(&root);
    }
    if (s)
        add_case(r, FAILED, 1, file, NULL, NULL, err.text);
    return true;
}

/* "rope_types, rope_layouts, ..." */
static void list_files(char *out, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < COUNT(files) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", files[i].name);
}

/* A file of the folder that this program would pass over in silence is named. */
static void name_strangers(report *r, DIR *folder)
{
    char names[200], why[300];
    list_files(names, sizeof names);
    snprintf(why, sizeof why, "this program knows %s", names);
    for (struct dirent *d; (d = readdir(folder));) {
        size_t n = strlen(d->d_name);
        bool known = n < 6 || strcmp(d->d_name + n - 5, ".json") != 0;
        if (!known)
            d->d_name[n - 5] = 0;
        for (int i = 0; i < COUNT(files); i++)
            known |= !strcmp(d->d_name, files[i].name);
        if (!known)
            add_case(r, SKIPPED, 1, d->d_name, NULL, NULL, why);
    }
}

int main(int argc, char **argv)
{
    bool json = argc > 1 && !strcmp(argv[1], "--json"), found = false;
    const char *path = argc == 2 + json ? argv[1 + json] : NULL;
    if (path && (!strcmp(path, "--help") || !strcmp(path, "-h")))
        return fputs(help, stdout) < 0;
    if (!path || *path == '-') {
        fputs(help, stderr);
        return 2;
    }
    DIR *folder = opendir(path);
    if (!folder) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 2;
    }
    report r = { .cases = json ? json_array() : NULL };
    for (int n = 0; n < COUNT(files); n++)
        found |= run_file(&r, path, files[n].name, files[n].run);
    if (found)
        name_strangers(&r, folder);
    closedir(folder);
    if (!found) {
        char names[200];
        list_files(names, sizeof names);
        fprintf(stderr, "%s: no file NAME.json here has a name that this program knows: %s\n", path, names);
        json_decref(r.cases);
        return 2;
    }
    return finish(&r, json);
}
