/* SPDX-License-Identifier: MIT
 *
 * An eval as a folder that posenc report reads: race.json, log.jsonl, and the report itself. */
#include "lab/eval.h"

#include "lab/report.h"
#include "lab/run.h"
#include "model/gemm.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is recommended and what was measured, for the page. */
static void note_choices(eval *e)
{
    lab_setup *s = &e->results.setup;
    char words[EVAL_WORDS];
    size_t used = 0;
    *s->note = 0;
    for (int n = 0; n < e->ask.lengths && used < sizeof s->note; n++) {
        eval_choice_words(words, e, n);
        if (*words && e->choice[n].method)
            used += (size_t)snprintf(s->note + used, sizeof s->note - used, "%s%s.", used ? " " : "", words);
    }
    if (used >= sizeof s->note)
        io_end_with_dots(s->note, sizeof s->note);
}

/* FNV-1a: which tokens these were. */
static uint64_t fingerprint(const eval_ask *a)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int64_t n = 0; n < a->tokens; n++)
        hash = (hash ^ (uint64_t)a->token[n]) * UINT64_C(1099511628211);
    return hash;
}

void eval_describe(eval *e, const model *m, const char *command, const char *data, int threads)
{
    lab_setup *s = &e->results.setup;
    const model_config *c = model_settings(m);
    time_t now = time(NULL);
    struct tm utc;
    snprintf(s->command, sizeof s->command, "%s", command);
    snprintf(s->data, sizeof s->data, "%s", data);
    snprintf(s->version, sizeof s->version, "%s", pe_version());
    snprintf(s->blas, sizeof s->blas, "%s", gemm_name());
    io_cpu_name(s->cpu, sizeof s->cpu);
    if (gmtime_r(&now, &utc))
        strftime(s->date, sizeof s->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    s->threads = threads;
    s->data_fingerprint = fingerprint(&e->ask);
    s->layers = c->layers;
    s->width = c->width;
    s->heads = c->heads;
    s->kv_heads = c->kv_heads;
    s->hidden = c->hidden;
    s->vocab = c->vocab;
    note_choices(e);
}

/* ---------------------------------------------------------------- files */

typedef void writer(FILE *to, const eval *e);

static void write_setup(FILE *to, const eval *e)
{
    lab_write_setup(to, &e->results.setup);
}

static void write_lines(FILE *to, const eval *e)
{
    for (int n = 0; n < e->results.tests; n++)
        lab_write_test(to, &e->results.setup, &e->results.test[n]);
}

static pe_status write_file(const char *folder, const char *name, writer *write, const eval *e, pe_error *err)
{
    char path[1200], *text = NULL;
    size_t size = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return io_fail(err, PE_ERR_RANGE, "%.60s...: the folder's name is too long", folder);
    FILE *to = open_memstream(&text, &size);
    if (to)
        write(to, e);
    bool fine = to && !ferror(to);
    fine = to && !fclose(to) && fine;
    pe_status s = fine ? io_write_file(path, &(io_span){ text, size }, 1, err)
                       : io_fail(err, PE_ERR_NOMEM, "%s: no memory for it", path);
    free(text);
    return s;
}

pe_status eval_write(const eval *e, const char *folder, pe_error *err)
{
    pe_status s = lab_folder_new(folder, err);
    if (s == PE_OK)
        s = write_file(folder, "race.json", write_setup, e, err);
    if (s == PE_OK)
        s = write_file(folder, "log.jsonl", write_lines, e, err);
    return s == PE_OK ? lab_report_write(folder, &e->results, err) : s;
}
