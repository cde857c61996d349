/* SPDX-License-Identifier: MIT
 *
 * The ladder: every loop that has fast variants, as a table of functions. <op>_c is the definition, in plain C; a
 * variant equals it bit for bit where it is elementwise and exact, within k eps sum|terms| where it sums or takes an
 * exponential. Kernels cannot fail, allocate nothing, know nothing of encodings. Pointers need the alignment of their
 * element only; strides count elements; outputs do not overlap inputs unless it says so. */
#ifndef PE_KERNELS_H
#define PE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/code.h"
#include "kernels/rotate.h"
#include "kernels/turn.h"
#include "kernels/wide.h"
#include "posenc.h"

#define LANES 16 /* widths of tiles are multiples of this, on every rung */

/* x, from 0 to 2^20, as a multiple of 2^-32: sums of such are the same in any order. */
static inline double count_step(double x)
{
    return (double)(x + 0x1.8p20) - 0x1.8p20; /* the cast: where sums have more digits than their type */
}

typedef struct kernels {
    const char *name; /* the highest rung that filled it */

    /* C (rows, cols) = A (rows, depth) B (depth, cols), or += with add. A has two strides, so that it may be read
     * transposed; cols is a multiple of LANES. The definition leaves out terms whose a is 0; variants want B finite. */
    void (*gemm)(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
                 int64_t rows, int64_t cols, int64_t depth, bool add);

    /* Two bfloat16 in the place of a float32, the first in its lower half: y[i] = (x[step i], z[step i]), rounded to
     * nearest even, where what is below the least normal number is 0. z NULL: zeros. step is 1 or 2; y may be x. Bit
     * for bit. */
    void (*pack_bf16)(float *y, const float *x, const float *z, int64_t step, int64_t n);
    /* As gemm, where an element of A and of B is two bfloat16, and a product the sum of their products, first with
     * first and second with second, which are exact; sums are float32. Numbers below the least normal count as 0, and
     * sums there may. */
    void (*gemm_bf16)(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                       int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add);

    /* One row of scores becomes weights exp(s - max), where *max first rises to the largest score. Returns the sum of
     * the weights; *factor: what sums made with the old max must be multiplied by (1 where there were none). Scores of
     * -inf weigh 0; NaN and +inf make the sum NaN. n is a multiple of LANES. */
    float (*soften)(float *s, int64_t n, float *max, float *factor);
    /* s = exp(s - lse), 0 where s is -inf or lse is. n is a multiple of LANES. */
    void (*weigh)(float *s, int64_t n, float lse);

    /* Rows of n elements, any n; scale to ramp bit for bit, each product and sum rounded. */
    void (*scale)(float *y, float a, int64_t n);                         /* y *= a                    */
    void (*add)(float *y, const float *x, int64_t n);                    /* y += x                    */
    void (*add_one)(float *y, float a, int64_t n);                       /* y += a                    */
    void (*axpy)(float *y, float a, const float *x, int64_t n);          /* y += a x                  */
    void (*line)(float *y, const float *x, float a, float b, int64_t n); /* y += a x + b              */
    /* y[j] += a (x - j) + b, where x - j is rounded once */
    void (*ramp)(float *y, int64_t x, float a, float b, int64_t n);
    float (*sum)(const float *x, int64_t n);
    float (*dot)(const float *x, const float *y, int64_t n);
    void (*cap)(float *y, float cap, int64_t n);                   /* y = cap tanh(y / cap)     */
    void (*sigmoid)(float *y, const float *x, float a, int64_t n); /* y = 1 / (1 + exp(-a x))   */
    /* y[j] = size(x[j]) c[j] and y[n + j] = size(x[j]) s[j], with size(x) = ln(1 + exp(x)) */
    void (*polar)(float *y, const float *x, const float *c, const float *s, int64_t n);
    void (*score_grad)(float *ds, const float *p, const float *dp, float mean,
                       int64_t n); /* p (dp - mean); 0 where p is */

    /* y (cols, rows) = x (rows, cols) transposed, or += with add. */
    void (*transpose)(float *y, int64_t y_row, const float *x, int64_t x_row, int64_t rows, int64_t cols, bool add);

    /* A row of any type to float32 and back, rounded once, blocks as block_store does it; of blocks n is a multiple of
     * their width. Bit for bit. */
    void (*widen)(float *y, const void *x, pe_dtype type, int64_t n);
    void (*narrow)(void *y, pe_dtype type, const float *x, int64_t n);

    /* Keys and values as they lie in a cache, float32, float16, bfloat16 or blocks: s (m, n) = q (m, d) . k (n, d), and
     * o (m, d) += p (m, n) v (n, d), where p of 0 leaves its v out. Any sizes; of blocks d and the stride are multiples
     * of their width. soon: memory that will be needed soon, as many bytes as n rows of d, side by side, so that it can
     * be asked for meanwhile (of blocks it is); NULL: none. */
    void (*dots)(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const void *k, pe_dtype type,
                 int64_t k_row, int64_t n, int64_t d, const void *soon);
    void (*mix)(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const void *v, pe_dtype type,
                int64_t v_row, int64_t n, int64_t d, const void *soon);

    /* Keys counted from right to left: carry grows by gate[j], and s[j] += line at min(carry, last), linear between
     * whole places; line has last + 1 elements, last >= 1. Gates and carry are 0 or more; one that is NaN, and all
     * after it, count as the end. Returns the carry, within the float32 roundings of gates summed a block at a time,
     * each sum rounded by count_step. */
    double (*count)(float *s, const float *gate, int64_t n, double carry, const float *line, int64_t last);

    /* One run of pairs of `rows` rows, by pe_dtype of both x and y: PE_F32, PE_F16, PE_BF16 (the last two are computed
     * in float32 and rounded once). Pair i of row n reads a = x[n * x_stride + from.x + i * from_step] and b at from.y,
     * and writes a c - b s at to.x and a s + b c at to.y, its c and s at c[n * table_stride + r->first + i];
     * table_stride may be 0: one table row for all. Any count, rows; no element but those of the run is touched. y may
     * be x, with the same stride, where from = to. Bit for bit, each product rounded; a NaN stays a NaN, its other bits
     * are open. */
    rotate_rows *rotate[3];

    /* c[i], s[i] = turn_cos_sin(n[i], f), f being f[i], f[f_row + i], f[2 f_row + i]. Any count. Bit for bit. */
    turn_many *turns;
    /* cos and sin of a sum of two angles, as floats. base: `count` cosines, and at base + row their sines; step alike.
     * A value x = (fma(bc, sc, -(bs ss)), fma(bs, sc, bc ss)) becomes (float)(x + slack). True where that is (float)(x
     * - slack), bit for bit, for all of them: then it is what any number within slack of x is rounded to. Any count.
     * Bit for bit where it is true, and true on all rungs alike. */
    turn_sums *turn_sums;

    /* A code added to a row: y[i] = x[i] + code[i], formed in double and rounded once. odd: where no float is the sum,
     * to the odd one of the two around it, which narrow rounds as it would the sum. y may be x. Any n. Bit for bit. */
    code_add *add_code;
    /* The same of waves. base: `n` waves, each a cos or a sin, and at base + base_row the same a quarter turn on; step:
     * n cosines, and at step + step_row sines. code[i] = base[i] step[i] + base[base_row + i] step[step_row + i], each
     * product rounded, is taken as code[i] + slack. True where code[i] - slack gives the same y, bit for bit, for all
     * of them: then it is what any number within slack of code gives. y may not be x. Bit for bit where it is true, and
     * true on all rungs alike. */
    wave_add *add_waves;
    /* Waves rotated further: to[i] = from[i] step[i] + from[row + i] step[step_row + i], and to[row + i] the same a
     * quarter turn on, from[row + i] step[i] - from[i] step[step_row + i]. Each product is rounded. Any n. Bit for bit.
     */
    wave_rotate *rotate_waves;
} kernels;

/* Rungs, as bits; the ladder is filled with C, then overwritten as far up as these go. */
#define RUNG_AVX2 1u   /* with FMA and F16C */
#define RUNG_AVX512 2u /* F, BW, DQ, VL, on top of AVX2 */
#define RUNG_NEON 4u
#define RUNG_ZEN4 8u /* AVX-512, whose vectors this CPU computes in halves: AVX2 keeps what it does faster */
#define RUNG_BF16 16u /* AVX-512 with products of bfloat16 */

unsigned ladder_built(void); /* what this build has code for                            */
unsigned ladder_rungs(void); /* of these, what this CPU has                             */
void ladder_fill(kernels *k, unsigned rungs);
unsigned ladder_named(const char *name); /* the rungs up to and with this one; ~0u: no such name    */
const char *ladder_name(int index);      /* scalar, avx2, ...; NULL past the end                    */

/* Each family puts into the table what it has on a rung; ladder.c lists them. */
typedef void kernels_fill(kernels *k);
kernels_fill attend_c, attend_avx2, attend_avx512, attend_bf16, attend_neon;
kernels_fill rotate_c, rotate_avx2, rotate_avx512, rotate_zen4, rotate_neon;
kernels_fill turn_c, turn_avx2, turn_avx512, turn_neon; /* those of code too: both are vectors of doubles */

/* Whether this build computes as written, which base/exact.h asks for (exact.c). */
bool exact_arithmetic(void);

/* The definitions that exist outside the table too. */
void gemm_c(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
            int64_t rows, int64_t cols, int64_t depth, bool add);
void gemm_bf16_c(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
                  int64_t rows, int64_t cols, int64_t depth, bool add);

#endif
