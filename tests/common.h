/* SPDX-License-Identifier: MIT
 *
 * What all tests share. A test file starts with a line such as  labels: core; needs: mpfr  (tests/CMakeLists.txt). */
#ifndef TESTS_COMMON_H
#define TESTS_COMMON_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "posenc.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* What src/io/io.h has as well. */
#ifndef CLAIM_COUNT
#define CLAIM_COUNT 11 /* claims */
#endif
#ifndef FLOAT_COUNT
#define FLOAT_COUNT 4 /* element types of vectors, PE_F32 to PE_F64 */
#endif

/* Prints why and skips; scripts/test.sh counts it, and CI fails on it in core. */
static inline void test_skip(const char *why)
{
    printf("SKIP: %s\n", why);
    fflush(stdout);
    skip();
}

/* Asserts PE_OK; the call's last argument is &err, whose sentence is shown. */
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        pe_status ok_status = (call);                                                                                  \
        if (ok_status)                                                                                                 \
            fail_msg("%s: %s: %s", #call, pe_status_name(ok_status), err.text);                                        \
    } while (0)

/* SplitMix64; tests print their seed. */
static inline uint64_t test_random(uint64_t *state)
{
    return random_next(state);
}

static inline double test_uniform(uint64_t *state) /* -1 .. 1 */
{
    return (double)(int64_t)test_random(state) * 0x1p-63;
}

static inline int64_t test_range(uint64_t *state, int64_t low, int64_t high) /* both included */
{
    return low + (int64_t)(test_random(state) % (uint64_t)(high - low + 1));
}

/* A walk over many combinations takes every so many of them: enough for each value of a dimension to meet each of another,
 * and fewer under a sanitizer, which is slow and looks for other faults. POSENC_TEST_FULL=1 takes all. */
#if defined(__SANITIZE_ADDRESS__)
enum { TEST_THIN = 3 };
#else
enum { TEST_THIN = 1 };
#endif

static inline bool test_full(void)
{
    return getenv("POSENC_TEST_FULL") != NULL;
}

static inline bool test_due(int64_t n, int64_t every)
{
    return test_full() || n % (every * TEST_THIN) == 0;
}

static const pe_shape test_shape = { 8, 4, 64, 512 };

/* An encoding that must exist. */
static inline pe_encoding *test_encoding(const char *spec, pe_shape shape)
{
    pe_error err = { 0 };
    pe_encoding *e = NULL;
    if (pe_encoding_new(&e, spec, shape, &err))
        fail_msg("%s: %s", spec, err.text);
    return e;
}

/* Heads that a table of cos and sin has: 1, or as many as have trained frequencies of their own. */
static inline int64_t test_table_heads(const pe_encoding *e)
{
    int64_t heads = 1;
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE)
            heads = pe_encoding_tensor(e, i)->shape[0];
    return heads;
}

static inline bool test_rotates_by_params(const pe_encoding *e)
{
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE)
            return true;
    return false;
}

/* What a rotation is given beside its arguments: parameters where they start, of all heads those of the first. Holds
 * until the next call. */
static inline const pe_run *test_run(const pe_encoding *e)
{
    static double w[4096];
    static pe_run run;
    pe_error err = { 0 };
    run = PE_MAKE(pe_run, .pool = NULL);
    if (test_rotates_by_params(e)) {
        run.params = (pe_params){ w, PE_F64, pe_encoding_param_count(e) };
        assert_true(run.params.count <= COUNT(w));
        assert_ok(pe_encoding_init(e, run.params, 1, &err));
    }
    for (int i = 0; run.params.data && i < pe_encoding_tensor_count(e); i++) {
        const pe_tensor *t = pe_encoding_tensor(e, i);
        int64_t each = t->count / t->shape[0];
        for (int64_t n = each; t->hooks & PE_HOOK_ROTATE && n < t->count; n++)
            w[t->offset + n] = w[t->offset + n % each];
    }
    return &run;
}

/* pe_rotate_table of one head, with these parameters. */
static inline pe_status test_table(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine, pe_positions at, pe_error *err)
{
    static double room[2][1 << 16];
    int64_t heads = test_table_heads(e), n = cosine.tokens, P = cosine.dim;
    size_t size = pe_dtype_size(cosine.dtype);
    pe_view one[2] = { cosine, sine }, all[2];
    if (heads == 1)
        return pe_rotate_table(e, side, cosine, sine, at, test_run(e), err);
    assert_true(n * heads * P <= COUNT(room[0]));
    for (int i = 0; i < 2; i++)
        all[i] = pe_view_of(room[i], cosine.dtype, 1, n, heads, P);
    pe_status s = pe_rotate_table(e, side, all[0], all[1], at, test_run(e), err);
    for (int i = 0; i < 2; i++)
        for (int64_t t = 0; !s && t < n; t++)
            memcpy((char *)one[i].data + (size_t)(t * one[i].token_stride) * size, (char *)all[i].data + (size_t)(t * heads * P) * size,
                   (size_t)P * size);
    return s;
}

/* Calls f with every example spec of every row. */
static inline void test_each_example(void (*f)(const pe_info *row, const char *spec))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i), pe_info_at(i)->examples[k]);
}

#endif
