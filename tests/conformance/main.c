/* SPDX-License-Identifier: MIT
 *
 * The folder, its files, the report. */
#if !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* dirent */
#endif
#include "io/json_out.h"
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
    golden_run *run;
} files[] = { { "rope_types", run_rope_types },
              { "rope_layouts", run_rope_layouts },
              { "sinusoidal", run_sinusoidal },
              { "biases", run_biases },
              { "relative_attention", run_relative_attention },
              { "rope_census", run_rope_census },
              { "layer_census", run_layer_census },
              { "table_census", run_table_census } };

typedef enum result { PASSED, FAILED, SKIPPED, RESULTS } result;
static const char *const result_names[] = { "passed", "failed", "skipped" };

typedef struct report {
    int64_t count[RESULTS];
    bool json;    /* one object instead of lines */
    json_out out; /* begun with the first case */
} report;

/* ---------------------------------------------------------------- reporting */

static json_out *begun(report *r)
{
    if (!r->out.to) {
        r->out = out_start(stdout);
        out_open(&r->out, NULL, '{');
        out_open(&r->out, "cases", '[');
    }
    return &r->out;
}

static void write_case(json_out *j, result what, int64_t cases, const char *file, const char *name, const golden *c,
                       const char *why)
{
    out_open(j, NULL, '{');
    out_text(j, "file", file);
    if (name)
        out_text(j, "case", name);
    out_int(j, "cases", cases);
    out_text(j, "result", result_names[what]);
    if (*why)
        out_text(j, "why", why);
    if (c && c->compared) {
        out_int(j, "compared", c->compared);
        out_text(j, "worst_at", c->worst.where);
        out_real(j, "got", c->worst.got);
        out_real(j, "want", c->worst.want);
        out_real(j, "tolerance", c->worst.tolerance);
    }
    out_close(j, '}');
}

static void add_case(report *r, result what, int64_t cases, const char *file, const char *name, const golden *c,
                     const char *why)
{
    r->count[what] += cases;
    if (r->json)
        write_case(begun(r), what, cases, file, name, c, why);
    else if (what == FAILED)
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

static int finish(report *r)
{
    if (r->json) {
        json_out *j = begun(r);
        out_close(j, ']');
        for (int n = 0; n < RESULTS; n++)
            out_int(j, result_names[n], r->count[n]);
        out_close(j, '}');
    } else
        printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", r->count[PASSED], r->count[FAILED],
               r->count[SKIPPED]);
    return r->count[FAILED] ? 1 : 0;
}

/* ---------------------------------------------------------------- a file */

static void run_case(report *r, const char *file, golden_run *run, const io_safetensors *data, const io_node *one)
{
    golden c = { .file = file, .name = one->key, .data = data };
    pe_status s = io_json_object(&c.meta, one, "meta", IO_REQUIRED, &c.err);
    if (!s)
        s = io_json_object(&c.tensors, one, "tensors", IO_REQUIRED, &c.err);
    if (!s)
        s = run(&c);
    judge(r, &c, s);
    golden_free(&c);
}

static pe_status run_cases(report *r, const char *file, golden_run *run, const char *path, const io_node *root,
                           pe_error *err)
{
    io_node cases;
    io_bytes bytes;
    io_safetensors *data = NULL;
    TRY(io_json_object(&cases, root, "cases", IO_REQUIRED, err));
    TRY(io_read_file(&bytes, path, IO_CAP_DATA, err));
    TRY(io_safetensors_parse(&data, &bytes, err));
    for (io_node one = { 0 }; io_json_next(&one, &cases);)
        run_case(r, file, run, data, &one);
    io_safetensors_free(data);
    return PE_OK;
}

static bool join(char *out, size_t size, const char *folder, const char *name, const char *ending)
{
    int n = snprintf(out, size, "%s/%s%s", folder, name, ending);
    return n > 0 && (size_t)n < size;
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
    report r = { .json = json };
    for (int n = 0; n < COUNT(files); n++)
        found |= run_file(&r, path, files[n].name, files[n].run);
    if (found)
        name_strangers(&r, folder);
    closedir(folder);
    if (!found) {
        char names[200];
        list_files(names, sizeof names);
        fprintf(stderr, "%s: no file NAME.json here has a name that this program knows: %s\n", path, names);
        return 2;
    }
    return finish(&r);
}
