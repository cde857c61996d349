/* SPDX-License-Identifier: MIT
 *
 * Results in memory: lists that grow, and what is found in them. */
#include "lab/results.h"

#include "io/io.h"

#include <stdlib.h>

/* Room for one more behind count elements: doubles at powers of two, so that no capacity is kept. */
static void *grow(void *list, int count, size_t size)
{
    size_t wanted = count ? (size_t)count * 2 : 1;
    if (count & (count - 1))
        return list;
    return count < 1 << 28 ? realloc(list, wanted * size) : NULL;
}

pe_status lab_keep_train(lab_run *run, const lab_train_line *l, pe_error *err)
{
    lab_train_line *more = grow(run->train, run->trains, sizeof *more);
    if (!more)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %d lines of the log", run->trains + 1);
    run->train = more;
    run->train[run->trains++] = *l;
    return PE_OK;
}

pe_status lab_keep_test(lab_results *r, const lab_test_line *l, pe_error *err)
{
    lab_test_line *more = grow(r->test, r->tests, sizeof *more);
    if (!more)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %d tests", r->tests + 1);
    r->test = more;
    r->test[r->tests++] = *l;
    return PE_OK;
}

lab_test_line *lab_find_test(const lab_results *r, int entry, uint64_t seed, int64_t length)
{
    for (int i = 0; i < r->tests; i++)
        if (r->test[i].entry == entry && r->test[i].seed == seed && r->test[i].length == length)
            return &r->test[i];
    return NULL;
}
