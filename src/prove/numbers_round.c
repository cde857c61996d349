/* SPDX-License-Identifier: MIT */
#include "prove/numbers.h"

#include "base/block.h"
#include "base/num.h"

#include <string.h>

_Static_assert(ROUND_BLOCK == BLOCK_WIDTH, "the library's blocks");

static void round_each(double *x, pe_dtype type)
{
    uint16_t stored;
    for (int i = 0; i < BLOCK_WIDTH; i++) {
        num_store(&stored, type, 0, x[i]);
        x[i] = num_load(&stored, type, 0);
    }
}

void round_bf16(double *x)
{
    round_each(x, PE_BF16);
}

void round_f16(double *x)
{
    round_each(x, PE_F16);
}

void round_f32(double *x)
{
    for (int i = 0; i < BLOCK_WIDTH; i++)
        x[i] = (double)(float)x[i];
}

static void round_block(double *x, pe_dtype kind)
{
    float f[BLOCK_WIDTH];
    unsigned char block[64];
    for (int i = 0; i < BLOCK_WIDTH; i++)
        f[i] = (float)x[i];
    block_store(block, f, kind);
    block_load(f, block, kind);
    for (int i = 0; i < BLOCK_WIDTH; i++)
        x[i] = (double)f[i];
}

void round_q8(double *x)
{
    round_block(x, PE_Q8_0);
}

void round_q4(double *x)
{
    round_block(x, PE_Q4_0);
}

/* n numbers, block by block; the last is filled up with zeros. */
void round_all(double *x, int64_t n, round_fn *round)
{
    for (int64_t from = 0; from < n; from += BLOCK_WIDTH) {
        size_t count = (size_t)(n - from < BLOCK_WIDTH ? n - from : BLOCK_WIDTH);
        double block[BLOCK_WIDTH] = { 0 };
        memcpy(block, x + from, count * sizeof *x);
        round(block);
        memcpy(x + from, block, count * sizeof *x);
    }
}
