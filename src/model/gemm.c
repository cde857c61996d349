/* SPDX-License-Identifier: MIT */
#include "model/gemm.h"

#ifdef POSENC_HAS_BLAS
#include <cblas.h>

#ifdef MODEL_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

#if defined __GNUC__ && defined __ELF__ /* the names of two BLAS; which one is linked is known at run time */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));
extern void bli_thread_set_num_threads(int64_t count) __attribute__((weak));
#define HAS(function) ((function) != NULL)
#else
#define HAS(function) false
#define openblas_set_num_threads(n) ((void)0)
#define openblas_get_config() ""
#define bli_thread_set_num_threads(n) ((void)0)
#endif

void gemm_start(void)
{
    if (HAS(openblas_set_num_threads))
        openblas_set_num_threads(1);
    if (HAS(bli_thread_set_num_threads))
        bli_thread_set_num_threads(1);
}

const char *gemm_name(void)
{
    if (HAS(openblas_get_config))
        return openblas_get_config();
    return HAS(bli_thread_set_num_threads) ? "BLIS" : "a BLAS";
}

/* c (m, n) = a b + keep c; a is (m, k) or, transposed, (k, m); b (k, n) or (n, k). */
static void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, matrix c, matrix a, matrix b, int64_t m, int64_t n,
                     int64_t k, real keep)
{
    if (m && n)
        GEMM(CblasRowMajor, ta, tb, (int)m, (int)n, (int)k, 1, a.at, (int)a.stride, b.at, (int)b.stride, keep, c.at,
             (int)c.stride);
}

void gemm_forward(matrix y, matrix x, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    multiply(CblasNoTrans, CblasTrans, y, x, w, n, m, k, keep);
}

void gemm_input(matrix dx, matrix dy, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    multiply(CblasNoTrans, CblasNoTrans, dx, dy, w, n, k, m, keep);
}

void gemm_weight(matrix dw, matrix dy, matrix x, int64_t n, int64_t m, int64_t k, real keep)
{
    multiply(CblasTrans, CblasNoTrans, dw, dy, x, m, k, n, keep);
}

#else

void gemm_start(void)
{
}

const char *gemm_name(void)
{
    return "plain loops";
}

/* y = keep y, where 0 forgets what was there, a NaN too. */
static void scale(matrix y, int64_t rows, int64_t columns, real keep)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            y.at[i * y.stride + j] = keep == 0 ? 0 : keep * y.at[i * y.stride + j];
}

/* y += a x, the inner loop of all three. */
static void add(real *y, real a, const real *x, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        y[j] += a * x[j];
}

void gemm_forward(matrix y, matrix x, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    scale(y, n, m, keep);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            real sum = 0;
            for (int64_t t = 0; t < k; t++)
                sum += x.at[i * x.stride + t] * w.at[j * w.stride + t];
            y.at[i * y.stride + j] += sum;
        }
}

void gemm_input(matrix dx, matrix dy, matrix w, int64_t n, int64_t m, int64_t k, real keep)
{
    scale(dx, n, k, keep);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            add(dx.at + i * dx.stride, dy.at[i * dy.stride + j], w.at + j * w.stride, k);
}

void gemm_weight(matrix dw, matrix dy, matrix x, int64_t n, int64_t m, int64_t k, real keep)
{
    scale(dw, m, k, keep);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            add(dw.at + j * dw.stride, dy.at[i * dy.stride + j], x.at + i * x.stride, k);
}
#endif
