/* SPDX-License-Identifier: MIT
 *
 * Some of the entries of results, as if the race had had no others. */
#include "lab/results.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>

/* Names have commas: the entry with the longest name or spec that `at` begins with, to a comma or the end. */
static int choice_entry(const lab_setup *s, const char *at, size_t *length)
{
    int found = -1;
    *length = 0;
    for (int i = 0; i < s->entries; i++)
        for (int n = 0; n < 2; n++) {
            const char *word = n ? s->entry[i].spec : s->entry[i].name;
            size_t size = strlen(word);
            if (size > *length && !strncmp(at, word, size) && (!at[size] || at[size] == ',')) {
                found = i;
                *length = size;
            }
        }
    return found;
}

static pe_status choice_read(bool chosen[LAB_ENTRIES_MAX], const lab_setup *s, const char *names, pe_error *err)
{
    memset(chosen, 0, LAB_ENTRIES_MAX * sizeof *chosen);
    for (const char *at = names;;) {
        size_t length;
        int entry = choice_entry(s, at, &length);
        if (entry < 0)
            return io_fail(err, PE_ERR_SPEC, "--only has %.60s, which is not in the results; needs their encodings",
                           at);
        chosen[entry] = true;
        at += length;
        if (!*at)
            return PE_OK;
        at++;
    }
}

/* Runs belong to the first entry that is trained so; those of no chosen entry go. */
static void choice_keep_runs(lab_results *r, const lab_setup *before)
{
    int kept = 0;
    for (int i = 0; i < r->runs; i++) {
        lab_run run = r->run[i];
        const lab_entry *was = &before->entry[run.entry];
        for (run.entry = 0; run.entry < r->setup.entries; run.entry++)
            if (lab_trained_alike(&r->setup.entry[run.entry], was))
                break;
        if (run.entry < r->setup.entries)
            r->run[kept++] = run;
        else
            lab_run_free(&run);
    }
    r->runs = kept;
}

pe_status lab_keep_only(lab_results *r, const char *names, pe_error *err)
{
    bool chosen[LAB_ENTRIES_MAX];
    int at[LAB_ENTRIES_MAX], kept = 0;
    pe_status s = choice_read(chosen, &r->setup, names, err);
    if (s)
        return s;
    lab_setup *before = malloc(sizeof *before);
    if (!before)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a choice of entries");
    *before = r->setup;
    r->setup.entries = 0;
    for (int i = 0; i < before->entries; i++) {
        at[i] = r->setup.entries;
        if (chosen[i])
            r->setup.entry[r->setup.entries++] = before->entry[i];
    }
    for (int i = 0; i < r->tests; i++)
        if (chosen[r->test[i].entry]) {
            r->test[kept] = r->test[i];
            r->test[kept].entry = at[r->test[i].entry];
            kept++;
        }
    r->tests = kept;
    choice_keep_runs(r, before);
    free(before);
    return PE_OK;
}
