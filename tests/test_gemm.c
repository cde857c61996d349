/* SPDX-License-Identifier: MIT
 *
 * Matrix products against their definition, by the BLAS that is there and by the plain loops.
 * labels: core; tier: quick; cost: 1 s; needs: model */
#define _GNU_SOURCE /* RTLD_NEXT; setenv */

#include "model/gemm.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { SIDE = 70, ROOM = SIDE * (SIDE + 3) };

typedef struct problem {
    int64_t n, m, k, gap; /* gap: elements between rows */
    real x[ROOM], w[ROOM], dy[ROOM], out[ROOM];
    uint64_t seed;
} problem;

static void fill(problem *p, real *x)
{
    for (int i = 0; i < ROOM; i++)
        x[i] = (real)test_uniform(&p->seed);
}

static matrix at(const problem *p, real *x, int64_t width)
{
    return (matrix){ x, width + p->gap };
}

/* |got - want| <= (terms + 2) eps sum |terms|, what any order of a sum allows. */
static bool is_sum(real got, real before, const double *term, int64_t count)
{
    double sum = (double)before, size = fabs((double)before);
    for (int64_t i = 0; i < count; i++) {
        sum += term[i];
        size += fabs(term[i]);
    }
    return fabs((double)got - sum) <= (double)(count + 2) * 0x1p-24 * size;
}

typedef enum product { FORWARD, INPUT, WEIGHT } product;

/* Term t of element (i, j). */
static double term_of(const problem *p, product what, int64_t i, int64_t j, int64_t t)
{
    int64_t k = p->k + p->gap, m = p->m + p->gap;
    switch (what) {
    case FORWARD: return (double)p->x[i * k + t] * (double)p->w[j * k + t];
    case INPUT: return (double)p->dy[i * m + t] * (double)p->w[t * k + j];
    default: return (double)p->dy[t * m + i] * (double)p->x[t * k + j];
    }
}

static bool holds(problem *p, product what, real keep)
{
    int64_t n = p->n, m = p->m, k = p->k;
    int64_t rows = what == WEIGHT ? m : n, columns = what == FORWARD ? m : k;
    int64_t terms = what == FORWARD ? k : what == INPUT ? m : n, stride = columns + p->gap;
    real before[ROOM];
    double term[SIDE];
    fill(p, p->out);
    for (int64_t i = 0; keep == 0 && i < ROOM; i++)
        p->out[i] = NAN; /* what was there is forgotten */
    memcpy(before, p->out, sizeof before);
    matrix out = at(p, p->out, columns), x = at(p, p->x, k), w = at(p, p->w, k), dy = at(p, p->dy, m);
    if (what == FORWARD)
        gemm_forward(out, x, w, n, m, k, keep);
    else if (what == INPUT)
        gemm_input(out, dy, w, n, m, k, keep);
    else
        gemm_weight(out, dy, x, n, m, k, keep);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < stride && i * stride + j < ROOM; j++) {
            for (int64_t t = 0; j < columns && t < terms; t++)
                term[t] = term_of(p, what, i, j, t);
            real got = p->out[i * stride + j], old = before[i * stride + j];
            bool same = got == old || (isnan(got) && isnan(old));
            if (j < columns ? !is_sum(got, keep == 0 ? 0 : old, term, terms) : !same)
                return false;
        }
    return true;
}

static bool all_hold(void)
{
    static problem p;
    p.seed = 5;
    gemm_start();
    for (int i = 0; i < 120 / TEST_THIN; i++) {
        p.n = test_range(&p.seed, 1, SIDE);
        p.m = test_range(&p.seed, 1, SIDE);
        p.k = test_range(&p.seed, 1, SIDE);
        p.gap = i % 3;
        fill(&p, p.x);
        fill(&p, p.w);
        fill(&p, p.dy);
        for (int what = FORWARD; what <= WEIGHT; what++)
            for (int keep = 0; keep < 2; keep++)
                if (!holds(&p, (product)what, (real)keep)) {
                    print_message("product %d of %lld %lld %lld, keep %d\n", what, (long long)p.n, (long long)p.m,
                                  (long long)p.k, keep);
                    return false;
                }
    }
    return true;
}

enum { NO_BLAS = 77 }; /* how a child ends */
static bool nothing_is_there;

/* In front of libc's: a machine without any library. */
void *dlopen(const char *file, int mode)
{
    void *found = dlsym(RTLD_NEXT, "dlopen"), *(*real_one)(const char *, int);
    memcpy(&real_one, &found, sizeof found);
    return nothing_is_there ? NULL : real_one(file, mode);
}

/* What it should be called, and whether that is told as a lack. */
static bool named(const char *name_has)
{
    bool lacks = nothing_is_there && !getenv("POSENC_BLAS");
    if (strstr(gemm_name(), name_has) && lacks == (gemm_missing() && strstr(gemm_missing(), "libopenblas0-pthread")))
        return true;
    print_message("it is called %s; missing: %s\n", gemm_name(), gemm_missing() ? gemm_missing() : "nothing");
    return false;
}

/* The BLAS is loaded once in a process: each case has its own. */
static int in_a_child(const char *blas, const char *name_has)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (blas)
            setenv("POSENC_BLAS", blas, 1);
        else
            unsetenv("POSENC_BLAS");
        if (!blas && !nothing_is_there && gemm_missing())
            _exit(NO_BLAS);
        bool ok = all_hold() && named(name_has);
        fflush(NULL);
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

TEST(the_blas_that_is_there_is_right)
{
    int end = in_a_child(NULL, "");
    if (end == NO_BLAS)
        test_skip("no BLAS here: matrix products are plain loops");
    assert_int_equal(end, 0);
}

TEST(the_plain_loops_are_right)
{
    assert_int_equal(in_a_child("none", "plain loops"), 0);
}

TEST(a_file_that_is_no_blas_is_told_and_done_without)
{
    assert_int_equal(in_a_child("/dev/null", "POSENC_BLAS is /dev/null"), 0);
    assert_int_equal(in_a_child("libm.so.6", "POSENC_BLAS is libm.so.6"), 0);
}

TEST(where_there_is_none_what_to_install_is_told)
{
    nothing_is_there = true;
    assert_int_equal(in_a_child(NULL, "no BLAS was found"), 0);
    assert_int_equal(in_a_child("none", "POSENC_BLAS is none"), 0);
    nothing_is_there = false;
}
