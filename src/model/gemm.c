/* SPDX-License-Identifier: MIT
 *
 * The BLAS is loaded when a model is made, not when the tool starts: other verbs do without it, and it can be told
 * beforehand to start no threads. What it is given at load time stays in the environment of this process. */
#include "model/gemm.h"

#include "model/lanes.h"

#include <stdlib.h>
#include <string.h>

/* cblas.h, as far as it is used: enum CBLAS_ORDER and CBLAS_TRANSPOSE have these numbers everywhere. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
typedef void (*gemm_function)(int order, int ta, int tb, int m, int n, int k, real alpha, const real *a, int lda,
                              const real *b, int ldb, real beta, real *c, int ldc);

#ifdef MODEL_DOUBLE
#define GEMM_SYMBOL "cblas_dgemm"
#else
#define GEMM_SYMBOL "cblas_sgemm"
#endif

static gemm_function blas; /* NULL: plain loops */
static char name[160] = "plain loops: no BLAS was found";
static bool missing; /* it was looked for, and is not there */

#ifndef __wasi__ /* a page can load no library */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function's address out of a data pointer, as POSIX has it. */
static void look_up(void *out, void *library, const char *symbol)
{
    void *found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
}

static const char *text_of(void *library, const char *symbol)
{
    char *(*get)(void);
    look_up(&get, library, symbol);
    return get ? get() : NULL;
}

/* What OpenBLAS calls the kernels that this CPU can run at least; NULL: what it finds by itself will do. */
static const char *least_core(void)
{
#if defined __x86_64__ && defined __GNUC__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

/* OpenBLAS takes a CPU that is newer than itself for the oldest there is, and is five times slower than need be. */
static void *load_openblas(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const char *core = library ? text_of(library, "openblas_get_corename") : NULL;
    const char *better = least_core();
    if (!core || strcmp(core, "Prescott") || !better || getenv("OPENBLAS_CORETYPE"))
        return library;
    setenv("OPENBLAS_CORETYPE", better, 1);
    dlclose(library);
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static bool take_blas(void *library, const char *file)
{
    if (library)
        look_up(&blas, library, GEMM_SYMBOL);
    if (!blas)
        return false;
    const char *config = text_of(library, "openblas_get_config"), *core = text_of(library, "openblas_get_corename");
    char words[2][40] = { "", "" }; /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    if (config && core && sscanf(config, "%39s %39s", words[0], words[1]) == 2)
        snprintf(name, sizeof name, "%s %s, %s kernels", words[0], words[1], core);
    else
        snprintf(name, sizeof name, "%s", file);
    return true;
}

static void load(void)
{
    static const char *const file[] = { "libopenblas.so.0", "libopenblas.so",    "libblis.so.4",
                                        "libcblas.so.3",    "libopenblas.dylib", "libblas.dylib" };
    const char *wanted = getenv("POSENC_BLAS"); /* a file, or "none" */
    if (wanted && !strcmp(wanted, "none")) {
        snprintf(name, sizeof name, "plain loops: POSENC_BLAS is none");
        return;
    }
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("BLIS_NUM_THREADS", "1", 1);
    if (wanted && !take_blas(load_openblas(wanted), wanted))
        snprintf(name, sizeof name, "plain loops: POSENC_BLAS is %.60s, which has no " GEMM_SYMBOL, wanted);
    if (wanted)
        return;
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
        if (take_blas(load_openblas(file[i]), file[i]))
            return;
    missing = true;
}

void gemm_start(void)
{
    pthread_once(&once, load);
}
#else
void gemm_start(void) {}
#endif

bool gemm_is_fast(void)
{
    gemm_start();
    return blas;
}

const char *gemm_name(void)
{
    gemm_start();
    return name;
}

const char *gemm_missing(void)
{
    gemm_start();
    return missing ? "OpenBLAS is missing: matrix products are plain loops, several times slower. To install it: "
                     "scripts/setup.sh run, or the package libopenblas0-pthread (Debian, Ubuntu) or openblas (others)"
                   : NULL;
}

/* ---------------------------------------------------------------- the definition, and what there is without a BLAS */

/* y = keep y, where 0 forgets what was there, a NaN too. */
static void scale(matrix y, int64_t rows, int64_t columns, real keep)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            y.at[i * y.stride + j] = keep == 0 ? 0 : keep * y.at[i * y.stride + j];
}

/* y += a x, the inner loop of two of them. */
static void add_scaled(real *y, real a, const real *x, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        y[j] += a * x[j];
}

static void forward_c(matrix y, matrix x, matrix w, int64_t n, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            y.at[i * y.stride + j] += lanes_dot(x.at + i * x.stride, w.at + j * w.stride, k);
}

static void input_c(matrix dx, matrix dy, matrix w, int64_t n, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            add_scaled(dx.at + i * dx.stride, dy.at[i * dy.stride + j], w.at + j * w.stride, k);
}

static void weight_c(matrix dw, matrix dy, matrix x, int64_t n, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            add_scaled(dw.at + j * dw.stride, dy.at[i * dy.stride + j], x.at + i * x.stride, k);
}

/* ---------------------------------------------------------------- the three products */

/* c (m, n) = a b + keep c by the BLAS, a (m, k) and b (k, n) or their transposes; false: there is none, or nothing to
 * do. Widths are below 2^24 and rows are those of a piece, so they fit an int. */
static bool multiply(matrix c, int ta, matrix a, int tb, matrix b, int64_t m, int64_t n, int64_t k, real keep)
{
    if (!blas || !m || !n)
        return false;
    blas(ROW_MAJOR, ta, tb, (int)m, (int)n, (int)k, 1, a.at, (int)a.stride, b.at, (int)b.stride, keep, c.at,
         (int)c.stride);
    return true;
}

void gemm_forward(matrix y, matrix x, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    if (multiply(y, AS_IT_IS, x, TRANSPOSED, w, n, m, k, keep))
        return;
    scale(y, n, m, keep);
    forward_c(y, x, w, n, m, k);
}

void gemm_input(matrix dx, matrix dy, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    if (multiply(dx, AS_IT_IS, dy, AS_IT_IS, w, n, k, m, keep))
        return;
    scale(dx, n, k, keep);
    input_c(dx, dy, w, n, m, k);
}

void gemm_weight(matrix dw, matrix dy, matrix x, int64_t n, int64_t m, int64_t k, real keep)
{
    if (multiply(dw, TRANSPOSED, dy, AS_IT_IS, x, m, k, n, keep))
        return;
    scale(dw, m, k, keep);
    weight_c(dw, dy, x, n, m, k);
}
