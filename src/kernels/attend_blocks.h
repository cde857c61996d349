/* SPDX-License-Identifier: MIT
 *
 * Numbers to blocks, several at a time, so that what is done once per block is done by vectors too: block_store's bits.
 * Blocks out of the ordinary are left to block_store itself. */

#define TOGETHER 4 /* blocks whose sums are added up in one go */
#define GROUP 32

/* Of each block the number of the largest size; a NaN where two of that size differ in sign and the first decides. A NaN
 * among the numbers may be missed here: the sum of products shows it. */
INLINE void blocks_extremes(float most[TOGETHER], const float *const x[TOGETHER], pe_dtype kind)
{
    vf high[TOGETHER], low[TOGETHER];
    float least[TOGETHER];
    UNROLL
    for (int b = 0; b < TOGETHER; b++) {
        vf a = vf_load(x[b]);
        high[b] = kind == PE_Q8_0 ? vf_abs(a) : a;
        low[b] = -a;
        UNROLL
        for (int i = VW; i < BLOCK_WIDTH; i += VW) {
            a = vf_load(x[b] + i);
            high[b] = vf_max(high[b], kind == PE_Q8_0 ? vf_abs(a) : a);
            low[b] = vf_max(low[b], -a);
        }
    }
    vf_most_four(most, high);
    if (kind == PE_Q8_0)
        return;
    vf_most_four(least, low);
    for (int b = 0; b < TOGETHER; b++)
        most[b] = most[b] > least[b] ? most[b] : most[b] < least[b] ? -least[b] : NAN;
}

/* Codes for scale 1 / inverse, less their zero. Halves go away from 0: what is added for q8_0 is the last float below
 * one half, because one half would carry that float itself to 1. */
INLINE vf block_code(vf x, vf inverse, pe_dtype kind)
{
    x *= inverse;
    if (kind == PE_Q8_0)
        return vf_trunc(x + vf_sign(vf_set(0x1.fffffep-2f), x));
    return vf_at_most(vf_trunc(x + vf_set(8.5f)), vf_set(15)) - vf_set(8);
}

INLINE void codes_store(unsigned char *code, const vf q[BLOCK_WIDTH / VW], pe_dtype kind)
{
    const int half = BLOCK_WIDTH / 2 / VW;
    const vf zero = vf_set(8);
    UNROLL
    for (int i = 0; kind == PE_Q8_0 && i < 2 * half; i++)
        vf_store_i8(code + i * VW, q[i]);
    UNROLL
    for (int i = 0; kind == PE_Q4_0 && i < half; i++)
        vf_store_i4(code + i * VW, q[i] + zero, q[i + half] + zero);
}

/* The codes of one block, and what its scale is made of: the sums of products, not yet added up, and of squares. */
INLINE void block_encode(unsigned char *block, const float *x, float inverse, pe_dtype kind, vd *products, vf *squares)
{
    vf q[BLOCK_WIDTH / VW];
    vd part[8 / VD];
    UNROLL
    for (int i = 0; i < 8 / VD; i++)
        part[i] = vd_set(0);
    *squares = vf_set(0);
    UNROLL
    for (int i = 0; i < BLOCK_WIDTH / VW; i++) {
        q[i] = block_code(vf_load(x + i * VW), vf_set(inverse), kind);
        vd *low = &part[2 * i % (8 / VD)], *high = &part[(2 * i + 1) % (8 / VD)];
        *low = vd_fma(vd_load_f32(x + i * VW), vf_double(q[i], false), *low);
        *high = vd_fma(vd_load_f32(x + i * VW + VD), vf_double(q[i], true), *high);
        *squares = vf_fma(q[i], q[i], *squares);
    }
    codes_store(block + 2, q, kind);
    *products = vd_add_eight(part);
}

/* Of several groups, so that no number is read just after it was written with others. */
typedef struct group_of_blocks {
    unsigned char *block[GROUP];
    const float *x[GROUP];
    float most[GROUP], inverse[GROUP], squares[GROUP], odd[GROUP];
    double products[GROUP];
    uint16_t scale[GROUP];
} group_of_blocks;

INLINE void blocks_encode(group_of_blocks *g, int count, pe_dtype kind)
{
    vf square[TOGETHER];
    vd product[TOGETHER];
    for (int n = 0; n < count; n += VW) {
        vf size = vf_load(g->most + n);
        vf_store(g->inverse + n, vf_set(1) / (kind == PE_Q8_0 ? size / vf_set(127) : size / vf_set(-8)));
    }
    for (int n = 0; n < count; n += TOGETHER) {
        UNROLL
        for (int b = 0; b < TOGETHER; b++)
            block_encode(g->block[n + b], g->x[n + b], g->inverse[n + b], kind, &product[b], &square[b]);
        vd_sum_four(g->products + n, product);
        vf_sum_four(g->squares + n, square);
    }
}

/* The quotients, rounded to float16 once: by way of odd floats. */
INLINE void blocks_scale(group_of_blocks *g, int count)
{
    for (int n = 0; n < count; n += VD)
        vh_store(g->odd + n, vd_float_odd(vd_load(g->products + n) / vd_load_f32(g->squares + n)));
    for (int n = 0; n < count; n += VW)
        vf_store_f16(g->scale + n, vf_load(g->odd + n));
    for (int n = 0; n < count; n++)
        memcpy(g->block[n], &g->scale[n], sizeof g->scale[n]);
}

/* Four blocks at a time, where the last of them may be repeated; whole vectors of what each block has one of. */
INLINE void group_store(unsigned char *y, pe_dtype kind, const float *x, int64_t blocks)
{
    group_of_blocks g;
    int count = (int)(blocks + TOGETHER - 1) / TOGETHER * TOGETHER;
    for (int n = 0; n < count; n++) {
        int64_t at = n < blocks ? n : blocks - 1;
        g.block[n] = y + at * block_bytes(kind);
        g.x[n] = x + at * BLOCK_WIDTH;
    }
    for (int n = count; n % LANES; n++)
        g.most[n] = g.squares[n] = g.odd[n] = 1, g.products[n] = 1;
    for (int n = 0; n < count; n += TOGETHER)
        blocks_extremes(g.most + n, g.x + n, kind);
    blocks_encode(&g, count, kind);
    blocks_scale(&g, count);
    for (int n = 0; n < blocks; n++)
        if (!(fabsf(g.most[n]) >= 0x1p-100f && fabsf(g.most[n]) <= FLT_MAX && g.products[n] == g.products[n]))
            block_store(g.block[n], g.x[n], kind);
}

INLINE void blocks_from(unsigned char *y, pe_dtype kind, const float *x, int64_t blocks)
{
    for (int64_t n = 0; n < blocks; n += GROUP)
        group_store(y + n * block_bytes(kind), kind, x + n * BLOCK_WIDTH, blocks - n < GROUP ? blocks - n : GROUP);
}
