/* SPDX-License-Identifier: MIT
 *
 * An eval as a folder that posenc report reads: race.json, log.jsonl, and the report itself. */
#include "lab/eval.h"

#include "lab/report.h"
#include "lab/run.h"
#include "model/gemm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    snprintf(s->command, sizeof s->command, "%s", command);
    snprintf(s->data, sizeof s->data, "%s", data);
    lab_set_machine(s);
    snprintf(s->kernels, sizeof s->kernels, "%s", pe_encoding_kernels(model_encoding(m)));
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

static pe_status write_lines(FILE *to, const void *with, pe_error *err)
{
    const lab_results *r = with;
    (void)err;
    for (int n = 0; n < r->tests; n++)
        lab_write_test(to, &r->setup, &r->test[n]);
    return PE_OK;
}

pe_status eval_check_folder(const char *folder, pe_error *err)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/race.json", folder);
    if (access(path, F_OK)) {
        pe_status free_name = lab_folder_lacks(folder, "log.jsonl", err);
        return free_name ? free_name : lab_report_lacks(folder, err);
    }
    lab_setup *there = malloc(sizeof *there);
    pe_status s = there ? lab_read_setup(there, folder, err)
                        : io_fail(err, PE_ERR_NOMEM, "%s: no memory for what is there", folder);
    if (s == PE_OK && !lab_is_eval(there))
        s = io_fail(err, PE_ERR_SPEC, "%s has a race, which would be lost; take another folder", folder);
    free(there);
    return s;
}

pe_status eval_write(const eval *e, const char *folder, pe_error *err)
{
    pe_status s = eval_check_folder(folder, err);
    if (s == PE_OK)
        s = lab_folder_new(folder, err);
    if (s == PE_OK)
        s = lab_save_setup(folder, &e->results.setup, err);
    if (s == PE_OK)
        s = io_make_file(folder, "log.jsonl", write_lines, &e->results, err);
    return s == PE_OK ? lab_report_write(folder, &e->results, err) : s;
}
