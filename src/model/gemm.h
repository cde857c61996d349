/* SPDX-License-Identifier: MIT
 *
 * Matrix products by the BLAS that the machine has, on the calling thread alone; rows.c spreads them. Without one:
 * plain loops, which also say what the products are. Shapes are (rows, columns), row by row; a stride is the distance
 * of two rows. */
#ifndef POSENC_MODEL_GEMM_H
#define POSENC_MODEL_GEMM_H

#include "model/model.h"

typedef struct matrix {
    real *at;
    int64_t stride;
} matrix;

/* y (n, m) = x (n, k) w (m, k)^T + keep y: a linear layer. */
void gemm_forward(matrix y, matrix x, matrix w, int64_t n, int64_t m, int64_t k, real keep);
/* dx (n, k) = dy (n, m) w (m, k) + keep dx. */
void gemm_input(matrix dx, matrix dy, matrix w, int64_t n, int64_t m, int64_t k, real keep);
/* dw (m, k) = dy (n, m)^T x (n, k) + keep dw. */
void gemm_weight(matrix dw, matrix dy, matrix x, int64_t n, int64_t m, int64_t k, real keep);

/* Before the first product: loads the BLAS, which starts no threads. POSENC_BLAS names another file, or "none". */
void gemm_start(void);
bool gemm_is_fast(void);     /* a BLAS was found */
const char *gemm_name(void); /* "OpenBLAS 0.3.21, Cooperlake kernels", "plain loops: ..." */
/* Where no BLAS was found: that, what it costs and what to install. NULL: there is one, or POSENC_BLAS has it
 * otherwise. */
const char *gemm_missing(void);

#endif
