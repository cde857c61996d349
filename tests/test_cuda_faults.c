/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: cuda wrap wrapio
 *
 * The GPU library when memory runs out and when the cache's disk fails: each allocation fails once, and so does each read,
 * write, close and rename. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "faults.h"
#include "gpu/fake_case.h"

/* Without memory for it the compiler's log is empty and a file of the cache is not read; all else is told. */
TEST(each_allocation_fails_once_and_nothing_leaks)
{
    long reached = 0;
    pe_encoding *e = encoding_of("rope+t5", (pe_shape){ .heads = 2, .head_dim = 8 });
    for (int cached = 0; cached < 2; cached++) {
        bool over = false;
        for (long n = 1; !over; n++) {
            faults_reset();
            if (!cached)
                empty_cache();
            size_t live = heap.live;
            heap.made = 0;
            heap.fail = n;
            forget_error();
            pe_status s = scenario(e);
            over = heap.made < n;
            heap.fail = 0;
            if (s && (s != PE_ERR_NOMEM || err.status != s || !strstr(err.text, "no memory")))
                fail_msg("allocation %ld fails: %s: '%s'", n, pe_status_name(s), err.text);
            if (heap.live != live)
                fail_msg("allocation %ld fails: %zu bytes leak", n, heap.live - live);
            reached += s == PE_ERR_NOMEM;
            assert_true(balanced("an allocation that failed"));
        }
    }
    printf("%ld refusals\n", reached);
    assert_true(reached >= 10);
}

/* How many compilations a kernel takes. */
static int compilations(void)
{
    kernel k;
    int before = compiler_side->compiles;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
    pe_cuda_free(gpu);
    return compiler_side->compiles - before;
}

TEST(a_disk_that_fails_costs_a_compilation)
{
    static const call calls[] = { CALL_READ, CALL_WRITE, CALL_CLOSE, CALL_RENAME };
    for (int c = 0; c < COUNT(calls); c++)
        for (long n = 1; n <= 4; n++)
            for (int errors = 0; errors < 2; errors++) {
                faults_reset();
                empty_cache();
                play.error = errors ? EIO : EINTR;
                play.fail_call[calls[c]] = n;
                assert_int_equal(compilations(), 1);
                compilations(); /* from a file or not: a kernel */
                faults_reset();
                assert_true(compilations() <= 1);
                assert_int_equal(compilations(), 0);
            }
    empty_cache();
    faults_reset();
    play.slow = 7; /* in pieces, interrupted */
    assert_int_equal(compilations(), 1);
    assert_int_equal(compilations(), 0);
    faults_reset();
}
