/* SPDX-License-Identifier: MIT
 *
 * Rows become columns, a square of VW x VW at a time; what is left of rows and columns one by one. */

INLINE void transpose_edge(float *y, int64_t y_row, const float *x, int64_t x_row, int64_t rows, int64_t cols, bool add)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            y[j * y_row + i] = add ? y[j * y_row + i] + x[i * x_row + j] : x[i * x_row + j];
}

static void transpose_v(float *y, int64_t y_row, const float *x, int64_t x_row, int64_t rows, int64_t cols, bool add)
{
    int64_t i = 0, whole = cols - cols % VW;
    for (; i + VW <= rows; i += VW) {
        for (int64_t j = 0; j < whole; j += VW) {
            vf square[VW];
            vf_transpose(square, x + i * x_row + j, x_row);
            UNROLL
            for (int64_t l = 0; l < VW; l++) {
                float *to = y + (j + l) * y_row + i;
                if (add)
                    square[l] += vf_load(to);
                vf_store(to, square[l]);
            }
        }
        transpose_edge(y + whole * y_row + i, y_row, x + i * x_row + whole, x_row, VW, cols - whole, add);
    }
    transpose_edge(y + i, y_row, x + i * x_row, x_row, rows - i, cols, add);
}
