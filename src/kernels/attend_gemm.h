/* SPDX-License-Identifier: MIT
 *
 * The product of matrices. A tile of C stays in registers while the depth goes by: B's rows come as vectors, A's
 * elements one by one, spread over a vector. */

/* C (rows, across vectors); rows and across are constants of the caller. */
INLINE void gemm_tile(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                      int64_t b_row, int64_t depth, bool add, const int rows, const int across)
{
    vf c[GEMM_ROWS][4];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < across; j++)
            c[i][j] = add ? vf_load(C + i * c_row + j * VW) : vf_set(0);
    }
    for (int64_t k = 0; k < depth; k++) {
        vf b[4];
        UNROLL
        for (int j = 0; j < across; j++)
            b[j] = vf_load(B + j * VW);
        UNROLL
        for (int i = 0; i < rows; i++) {
            vf a = vf_set(A[i * a_row]);
            UNROLL
            for (int j = 0; j < across; j++)
                c[i][j] = vf_fma(a, b[j], c[i][j]);
        }
        A += a_col, B += b_row;
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < across; j++)
            vf_store(C + i * c_row + j * VW, c[i][j]);
    }
}

/* All rows of a column of tiles: B's part of it is read again for each tile, so it comes from the first cache. */
INLINE void gemm_column(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                        int64_t b_row, int64_t rows, int64_t depth, bool add, const int across)
{
    int64_t i = 0;
    for (; i + GEMM_ROWS <= rows; i += GEMM_ROWS)
        gemm_tile(C + i * c_row, c_row, A + i * a_row, a_row, a_col, B, b_row, depth, add, GEMM_ROWS, across);
    for (; i + 4 <= rows; i += 4)
        gemm_tile(C + i * c_row, c_row, A + i * a_row, a_row, a_col, B, b_row, depth, add, 4, across);
    for (; i + 2 <= rows; i += 2)
        gemm_tile(C + i * c_row, c_row, A + i * a_row, a_row, a_col, B, b_row, depth, add, 2, across);
    for (; i < rows; i++)
        gemm_tile(C + i * c_row, c_row, A + i * a_row, a_row, a_col, B, b_row, depth, add, 1, across);
}

INLINE void gemm_any(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                     int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add)
{
    int64_t j = 0;
    for (; j + GEMM_WIDE * VW <= cols; j += GEMM_WIDE * VW)
        gemm_column(C + j, c_row, A, a_row, a_col, B + j, b_row, rows, depth, add, GEMM_WIDE);
    for (; j < cols; j += LANES)
        gemm_column(C + j, c_row, A, a_row, a_col, B + j, b_row, rows, depth, add, LANES / VW);
}

static void gemm_v(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
                   int64_t rows, int64_t cols, int64_t depth, bool add)
{
    if (a_col == 1)
        gemm_any(C, c_row, A, a_row, 1, B, b_row, rows, cols, depth, add);
    else
        gemm_any(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth, add);
}
