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
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
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

static inline bool test_turn(int64_t n, int64_t every)
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

/* Calls f with every example spec of every row. */
static inline void test_each_example(void (*f)(const pe_info *row, const char *spec))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i), pe_info_at(i)->examples[k]);
}

#endif
