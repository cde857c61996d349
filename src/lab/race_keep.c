/* SPDX-License-Identifier: MIT
 *
 * What is known so far, in memory: what the screen shows and the report is made of. */
#include "lab/race.h"

#include <stdlib.h>
#include <string.h>

void race_forget(race *r, int training, int64_t step)
{
    lab_results *a = &r->results;
    lab_run *run = &a->run[training];
    const race_training *t = &r->training[training];
    int kept = 0;
    while (run->trains && run->train[run->trains - 1].step > step)
        run->trains--;
    run->ended = false;
    for (int i = 0; i < a->tests; i++)
        if (a->test[i].seed != t->seed || !race_shares(&a->setup, a->test[i].entry, t))
            a->test[kept++] = a->test[i];
    a->tests = kept;
}

/* The lines of a folder, one after the other: rooms are powers of two here, whatever they were there. */
static pe_status take(race *r, const lab_results *from, pe_error *err)
{
    for (int i = 0; i < from->runs; i++)
        for (int k = 0; k < r->trainings; k++) {
            const lab_run *run = &from->run[i];
            if (run->entry != r->training[k].entry || run->seed != r->training[k].seed)
                continue;
            for (int n = 0; n < run->trains; n++)
                RACE_TRY(lab_keep_train(&r->results.run[k], &run->train[n], err));
            r->results.run[k].end = run->end;
            r->results.run[k].ended = run->ended;
        }
    for (int i = 0; i < from->tests; i++)
        if (!lab_find_test(&r->results, from->test[i].entry, from->test[i].seed, from->test[i].length))
            RACE_TRY(lab_keep_test(&r->results, &from->test[i], err));
    return PE_OK;
}

pe_status race_load_lines(race *r, pe_error *err)
{
    const char *folder = r->asked.folder;
    lab_results *from = calloc(1, sizeof *from);
    if (!from)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the results of %s", folder);
    pe_status status = lab_read_results(from, &folder, 1, err);
    if (!status)
        status = take(r, from, err);
    lab_results_free(from);
    free(from);
    return status;
}
