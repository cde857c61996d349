/* SPDX-License-Identifier: MIT
 *
 * Blocks of 32 numbers with one float16 scale d, as ggml keeps them (its q8_0 and q4_0):
 *   q8_0  [d 2][q 32]   x = d q,        q the nearest to x/e, e = max|x| / 127
 *   q4_0  [d 2][q 16]   x = d (q - 8),  q the nearest to x/e + 8, at most 15, e = x of the largest size / -8;
 *                       elements n and n + 16 share byte n, the first its low half
 * ggml writes d = e. Here d is fitted to the codes, sum x q / sum q^2: a block then never gets longer by being stored,
 * where a q4_0 with d = e grows by 1 % each time it is rotated and stored again. A block with a NaN or an infinity gets
 * that as its scale, and all of it reads as NaN. */
#ifndef PE_BLOCK_H
#define PE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "posenc.h"

#define BLOCK_WIDTH 32 /* elements of a block */

static inline bool block_kind(pe_dtype type)
{
    return type == PE_Q8_0 || type == PE_Q4_0;
}

static inline int64_t block_bytes(pe_dtype kind)
{
    return 2 + (kind == PE_Q8_0 ? BLOCK_WIDTH : BLOCK_WIDTH / 2);
}

/* Bytes of so many elements; of a type in blocks, a multiple of BLOCK_WIDTH of them. */
static inline int64_t dtype_bytes(pe_dtype type, int64_t elements)
{
    return block_kind(type) ? elements / BLOCK_WIDTH * block_bytes(type) : elements * (int64_t)pe_dtype_size(type);
}

void block_load(float x[BLOCK_WIDTH], const void *block, pe_dtype kind);
void block_store(void *block, const float x[BLOCK_WIDTH], pe_dtype kind);

#endif
