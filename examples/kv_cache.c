/* SPDX-License-Identifier: MIT
 *
 * Rotates queries and keys as a decoder with a KV cache does; README.md shows the middle of it. C11 and C++. */
#include <posenc.h>
#include <stdio.h>

enum { HEADS = 32, KV_HEADS = 8, DIM = 128, CONTEXT = 64, STEP = 4 };
static float q[STEP * HEADS * DIM], k_cache[CONTEXT * KV_HEADS * DIM];

static int decode(pe_error *err)
{
    pe_encoding *rope;
    pe_shape shape = { HEADS, KV_HEADS, DIM, 0 };
    if (pe_encoding_new(&rope, "rope:theta=500000,scaling=llama3,factor=8,trained=8192", shape, err))
        return 1;
    for (int64_t n_past = 0; n_past < CONTEXT; n_past += STEP) {
        float *k = k_cache + n_past * KV_HEADS * DIM;        /* this step's keys, in the cache */
        pe_positions at = pe_positions_run(1, STEP, n_past); /* n_past, n_past + 1, ... */
        pe_view qv = pe_view_of(q, PE_F32, 1, STEP, HEADS, DIM), kv = pe_view_of(k, PE_F32, 1, STEP, KV_HEADS, DIM);
        if (pe_rotate(rope, PE_QUERY, qv, qv, at, NULL, err) || pe_rotate(rope, PE_KEY, kv, kv, at, NULL, err))
            break;
    }
    pe_encoding_free(rope);
    return err->status;
}

int main(void)
{
    pe_error err;
    for (int i = 0; i < STEP * HEADS * DIM; i++)
        q[i] = 1;
    for (int i = 0; i < CONTEXT * KV_HEADS * DIM; i++)
        k_cache[i] = 1;
    if (decode(&err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    float *last = k_cache + (CONTEXT - 1) * KV_HEADS * DIM; /* position 63: cos 63 - sin 63, sin 63 + cos 63 */
    printf("k at %d: %.9g %.9g\n", CONTEXT - 1, last[0], last[DIM / 2]);
    return 0;
}
