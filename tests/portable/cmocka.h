/* SPDX-License-Identifier: MIT
 *
 * The part of cmocka that the tests use, for builds where there is no cmocka: 32 bits, musl (tests/CMakeLists.txt,
 * POSENC_PORTABLE_TESTS). It prints the same lines. A test of a crash is not caught: the program ends. */
#ifndef TESTS_PORTABLE_CMOCKA_H
#define TESTS_PORTABLE_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state), (*teardown_func)(void **state);
} CMUnitTest;

enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED };
static jmp_buf cmocka_out;
static const char *cmocka_filter;

#define cmocka_unit_test(f) { #f, f, NULL, NULL }
#define cmocka_unit_test_setup(f, s) { #f, f, s, NULL }
#define cmocka_unit_test_teardown(f, t) { #f, f, NULL, t }
#define cmocka_unit_test_setup_teardown(f, s, t) { #f, f, s, t }
#define cmocka_set_test_filter(pattern) (cmocka_filter = (pattern))

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define skip() longjmp(cmocka_out, CMOCKA_SKIPPED)
#define fail() cmocka_fail(__FILE__, __LINE__)
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), print_error("\n"), fail())

static inline _Noreturn void cmocka_fail(const char *file, int line)
{
    fprintf(stderr, "%s:%d: error: Failure!\n", file, line);
    longjmp(cmocka_out, CMOCKA_FAILED);
}

static inline void cmocka_hold(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    cmocka_fail(file, line);
}

static inline void cmocka_hold_equal(uintmax_t a, uintmax_t b, int equal, const char *what, const char *file, int line)
{
    if ((a == b) == equal)
        return;
    fprintf(stderr, "%#jx and %#jx: ", a, b);
    cmocka_hold(0, what, file, line);
}

#define CMOCKA_HOLD(condition, what) cmocka_hold((condition) ? 1 : 0, what, __FILE__, __LINE__)
#define assert_true(x) CMOCKA_HOLD(x, #x)
#define assert_false(x) CMOCKA_HOLD(!(x), "not " #x)
#define assert_null(x) CMOCKA_HOLD((x) == NULL, #x " is NULL")
#define assert_non_null(x) CMOCKA_HOLD((x) != NULL, #x " is not NULL")
#define assert_ptr_equal(a, b) CMOCKA_HOLD((const void *)(a) == (const void *)(b), #a " is " #b)
#define assert_int_equal(a, b) cmocka_hold_equal((uintmax_t)(a), (uintmax_t)(b), 1, #a " is " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
    cmocka_hold_equal((uintmax_t)(a), (uintmax_t)(b), 0, #a " is not " #b, __FILE__, __LINE__)
#define assert_in_range(x, low, high) \
    CMOCKA_HOLD((uintmax_t)(x) >= (uintmax_t)(low) && (uintmax_t)(x) <= (uintmax_t)(high), #x " from " #low " to " #high)
#define assert_string_equal(a, b) CMOCKA_HOLD(!strcmp(a, b), #a " is " #b)
#define assert_string_not_equal(a, b) CMOCKA_HOLD(strcmp(a, b), #a " is not " #b)
#define assert_memory_equal(a, b, size) CMOCKA_HOLD(!memcmp(a, b, size), #a " has the bytes of " #b)
#define assert_memory_not_equal(a, b, size) CMOCKA_HOLD(memcmp(a, b, size), #a " has other bytes than " #b)

/* Does the name match the pattern, in which * is any text? */
static inline int cmocka_match(const char *name, const char *pattern)
{
    if (*pattern == '*')
        return cmocka_match(name, pattern + 1) || (*name && cmocka_match(name + 1, pattern));
    return *name == *pattern && (!*name || cmocka_match(name + 1, pattern + 1));
}

/* 0, CMOCKA_FAILED or CMOCKA_SKIPPED. */
static inline int cmocka_run_one(const CMUnitTest *t, void *group)
{
    void *volatile state = group;
    volatile int end = setjmp(cmocka_out);
    if (!end) {
        void *at = state;
        if (t->setup_func && t->setup_func(&at))
            cmocka_fail(t->name, 0);
        state = at;
        t->test_func(&at);
        state = at;
    }
    void *at = state;
    if (t->teardown_func && t->teardown_func(&at) && !end)
        end = CMOCKA_FAILED;
    return end;
}

static inline int _cmocka_run_group_tests(const char *name, const CMUnitTest *test, size_t count, int (*setup)(void **),
                                          int (*teardown)(void **))
{
    static const char *const endings[] = { "       OK ", "  FAILED  ", "  SKIPPED " };
    int ends[3] = { 0 };
    void *group = NULL;
    (void)name;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (setup && setup(&group))
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (cmocka_filter && !cmocka_match(test[i].name, cmocka_filter))
            continue;
        printf("[ RUN      ] %s\n", test[i].name);
        int end = cmocka_run_one(&test[i], group);
        ends[end]++;
        printf("[%s] %s\n", endings[end], test[i].name);
    }
    if (teardown)
        teardown(&group);
    printf("%d passed, %d failed, %d skipped\n", ends[0], ends[1], ends[2]);
    return ends[1];
}
#define cmocka_run_group_tests(tests, setup, teardown) \
    _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

#endif
