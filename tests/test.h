/* SPDX-License-Identifier: MIT
 *
 * A test program: TEST(claim) { ... } is a test, and main runs all of them in the order of the file; an argument runs
 * those that match it. Include it last: from here on `err` is the error of every call. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include "common.h"

static pe_error err;

/* Before a call whose words are looked at: none of an earlier one are left. */
static inline void forget_error(void)
{
    err = (pe_error){ 0 };
}

static inline void test_refused(const char *code, pe_status got, pe_status wanted, const char *said, bool whole)
{
    if (got != wanted || err.status != got || !strstr(err.text, said) || (whole && strcmp(err.text, said)))
        fail_msg("%s: %s: '%s', should be %s: '%s'", code, pe_status_name(got), err.text, pe_status_name(wanted), said);
}

/* Asserts that the call, which tells &err, has this status and says these words; or exactly this sentence. */
#define assert_refused(call, wanted, words) (forget_error(), test_refused(#call, call, wanted, words, false))
#define assert_says(call, wanted, sentence) (forget_error(), test_refused(#call, call, wanted, sentence, true))

/* What the file has to do around its tests: AROUND(before_each) { ... } */
static struct {
    void (*before_all)(void), (*after_all)(void), (*before_each)(void), (*after_each)(void);
} test_around;

#define AROUND(when)                                                                                                   \
    static void when(void);                                                                                            \
    __attribute__((constructor)) static void set_##when(void)                                                          \
    {                                                                                                                  \
        test_around.when = when;                                                                                       \
    }                                                                                                                  \
    static void when(void)

static inline int test_do(void (*f)(void))
{
    if (f)
        f();
    return 0;
}

/* ------------------------------------------------ what a test takes is given back at its end */

typedef enum test_kind { TEST_MEMORY, TEST_ENCODING, TEST_POOL, TEST_PLAN } test_kind;

static struct test_taken {
    test_kind kind;
    void *at;
} *test_pile;
static int test_pile_count, test_pile_room;

static inline void *test_piled(test_kind kind, void *p)
{
    if (test_pile_count == test_pile_room) {
        test_pile_room = 2 * test_pile_room + 64;
        test_pile = realloc(test_pile, (size_t)test_pile_room * sizeof *test_pile);
    }
    if (!p || !test_pile)
        fail_msg("no memory");
    test_pile[test_pile_count++] = (struct test_taken){ kind, p };
    return p;
}

/* Zeros. */
static inline void *take(int64_t count, size_t size)
{
    return test_piled(TEST_MEMORY, calloc(count > 0 ? (size_t)count : 1, size));
}

/* Inputs per token where the encoding takes them: a few numbers that all tokens share. */
#define TEST_INPUTS(e, to, queries, keys) \
    do { \
        (to)->q_gates = test_input(e, queries, pe_encoding_inputs(e).gates); \
        (to)->k_gates = test_input(e, keys, pe_encoding_inputs(e).gates); \
        (to)->relative = test_input(e, queries, pe_encoding_inputs(e).relative); \
    } while (0)
static inline pe_view test_input(const pe_encoding *e, int64_t each, int64_t dim)
{
    static const double x[4096] = { 0.25, -0.5, 1, 0.125, -2, 0.75 };
    pe_view v = pe_view_of((void *)(uintptr_t)x, PE_F64, 1, each, pe_encoding_shape(e).heads, dim);
    v.token_stride = 0;
    return dim ? v : (pe_view){ 0 };
}

/* An encoding that must exist. */
static inline pe_encoding *encoding_of(const char *spec, pe_shape shape)
{
    return test_piled(TEST_ENCODING, test_encoding(spec, shape));
}

/* NULL where this shape does not suit the spec. */
static inline pe_encoding *encoding_if_any(const char *spec, pe_shape shape)
{
    pe_encoding *e;
    return pe_encoding_new(&e, spec, shape, NULL) ? NULL : test_piled(TEST_ENCODING, e);
}

static inline pe_pool *pool_of(int workers)
{
    pe_pool *pool;
    assert_ok(pe_pool_new(&pool, workers, &err));
    return test_piled(TEST_POOL, pool);
}

/* A loop over many cases gives back what each took: int mark = taken(); ... give_back_to(mark); */
static inline int taken(void)
{
    return test_pile_count;
}

static inline void give_back_to(int mark)
{
    while (test_pile_count > mark) {
        struct test_taken t = test_pile[--test_pile_count];
        switch (t.kind) {
        case TEST_ENCODING: pe_encoding_free(t.at); break;
        case TEST_POOL: pe_pool_free(t.at); break;
        case TEST_PLAN: pe_plan_free(t.at); break;
        default: free(t.at);
        }
    }
}

/* Calls f with every example of every row, and with the specs of a list; gives back what each took. */
static inline void each_spec(void (*f)(const char *spec), const char *const *more, int count)
{
    int mark = taken();
    for (int i = 0; i < pe_info_count(); i++)
        for (int n = 0; n < pe_info_at(i)->example_count; n++) {
            f(pe_info_at(i)->examples[n]);
            give_back_to(mark);
        }
    for (int n = 0; n < count; n++) {
        f(more[n]);
        give_back_to(mark);
    }
}

static inline void each_example(void (*f)(const char *spec))
{
    each_spec(f, NULL, 0);
}

/* A pool that does its jobs from the last to the first. */
static inline void test_run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    (void)self;
    for (int64_t n = count - 1; n >= 0; n--)
        job(arg, n, (int)(n % 5));
}

static const pe_pool reversed_pool = { NULL, 5, test_run_backwards };

/* ------------------------------------------------ around tests */

static inline int test_first(void **state)
{
    (void)state;
    return test_do(test_around.before_all);
}

static inline int test_last(void **state)
{
    (void)state;
    return test_do(test_around.after_all);
}

static inline int test_begin(void **state)
{
    (void)state;
    forget_error();
    return test_do(test_around.before_each);
}

static inline int test_end(void **state)
{
    (void)state;
    test_do(test_around.after_each);
    give_back_to(0);
    free(test_pile);
    test_pile = NULL;
    test_pile_room = 0;
    return 0;
}

/* ------------------------------------------------ the list of tests */

static struct CMUnitTest test_list[64];
static int test_lines[COUNT(test_list)], test_count;

static inline void test_add(const char *claim, void (*f)(void **), int line)
{
    int at = test_count++;
    if (at == COUNT(test_list))
        abort();
    for (; at > 0 && test_lines[at - 1] > line; at--) {
        test_list[at] = test_list[at - 1];
        test_lines[at] = test_lines[at - 1];
    }
    test_list[at] = (struct CMUnitTest){
        .name = claim, .test_func = f, .setup_func = test_begin, .teardown_func = test_end
    };
    test_lines[at] = line;
}

#define TEST(claim)                                                                                                    \
    static void claim(void **);                                                                                        \
    __attribute__((constructor)) static void list_##claim(void)                                                        \
    {                                                                                                                  \
        test_add(#claim, claim, __LINE__);                                                                             \
    }                                                                                                                  \
    static void claim(__attribute__((unused)) void **test_state)

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("tests", test_list, (size_t)test_count, test_first, test_last);
}

#endif
