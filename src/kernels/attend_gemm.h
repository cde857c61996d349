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
    for (; rows >= GEMM_ROWS; rows -= GEMM_ROWS) {
        gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, GEMM_ROWS, across);
        C += GEMM_ROWS * c_row, A += GEMM_ROWS * a_row;
    }
    switch (rows) {
#if GEMM_ROWS == 8
    case 7: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 7, across); break;
    case 6: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 6, across); break;
#endif
    case 5: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 5, across); break;
    case 4: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 4, across); break;
    case 3: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 3, across); break;
    case 2: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 2, across); break;
    case 1: gemm_tile(C, c_row, A, a_row, a_col, B, b_row, depth, add, 1, across); break;
    default: break;
    }
}

/* One to three rows: wider tiles, for a sum must wait for the one before it. Returns how many columns are done. */
INLINE int64_t gemm_few(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                        int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add)
{
    int64_t j = 0;
    for (; j + 4 * VW <= cols; j += 4 * VW)
        switch (rows) {
        case 3: gemm_tile(C + j, c_row, A, a_row, a_col, B + j, b_row, depth, add, 3, 4); break;
        case 2: gemm_tile(C + j, c_row, A, a_row, a_col, B + j, b_row, depth, add, 2, 4); break;
        default: gemm_tile(C + j, c_row, A, a_row, a_col, B + j, b_row, depth, add, 1, 4); break;
        }
    return j;
}

INLINE void gemm_any(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                     int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add)
{
    int64_t j = 0;
    if (rows > 0 && rows < 4)
        j = gemm_few(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth, add);
    for (; j + GEMM_WIDE * VW <= cols; j += GEMM_WIDE * VW)
        gemm_column(C + j, c_row, A, a_row, a_col, B + j, b_row, rows, depth, add, GEMM_WIDE);
    for (; LANES < GEMM_WIDE * VW && j < cols; j += LANES)
        gemm_column(C + j, c_row, A, a_row, a_col, B + j, b_row, rows, depth, add, LANES / VW);
}

/* The elements of a row of A next to each other is the usual case, and cheaper to address. */
static void gemm_v(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
                   int64_t rows, int64_t cols, int64_t depth, bool add)
{
    if (a_col == 1)
        gemm_any(C, c_row, A, a_row, 1, B, b_row, rows, cols, depth, add);
    else
        gemm_any(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth, add);
}
