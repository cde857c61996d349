/* SPDX-License-Identifier: MIT
 *
 * A block of RFC 1951: the lengths of its codes, then its tokens. */
#include "draw/deflate.h"

#include <string.h>

#define LITERALS 286
#define DISTANCES 30
#define END 256

/* At most 16 bits, the lowest first. */
static void put_bits(bit_sink *b, unsigned value, int count)
{
    b->held |= (uint32_t)value << b->count;
    for (b->count += count; b->count >= 8; b->count -= 8, b->held >>= 8)
        sink_byte(b->to, b->held & 255);
}

void deflate_end(bit_sink *b)
{
    if (b->count > 0)
        sink_byte(b->to, b->held & 255);
    b->count = 0;
    b->held = 0;
}

/* The rows of a match's length or distance: base, and bits that follow. */
static int length_row(int length, int *base, int *extra)
{
    int at = 3, row = 0;
    for (*extra = 0; row < 28; row++) {
        *extra = row < 8 ? 0 : row / 4 - 1;
        if (length < at + (1 << *extra))
            break;
        at += 1 << *extra;
    }
    if (length == DEFLATE_MATCH_MOST) {
        row = 28;
        at = DEFLATE_MATCH_MOST;
        *extra = 0;
    }
    *base = at;
    return row;
}

static int distance_row(int distance, int *base, int *extra)
{
    int at = 1, row = 0;
    for (;; row++) {
        *extra = row < 4 ? 0 : row / 2 - 1;
        if (distance < at + (1 << *extra))
            break;
        at += 1 << *extra;
    }
    *base = at;
    return row;
}

typedef struct block {
    uint32_t literal_weight[LITERALS], distance_weight[DISTANCES], order_weight[19];
    uint8_t literal[LITERALS], distance[DISTANCES], order[19]; /* lengths of their codes */
    uint16_t literal_code[LITERALS], distance_code[DISTANCES], order_code[19];
    uint8_t run[LITERALS + DISTANCES][2]; /* lengths as runs: symbol, and what follows it */
    int runs, literals, distances;
} block;

static void weigh(block *b, const token *t, int count)
{
    int base, extra;
    memset(b, 0, sizeof *b);
    b->literal_weight[END] = 1;
    for (int i = 0; i < count; i++) {
        if (t[i].distance == 0) {
            b->literal_weight[t[i].length]++;
            continue;
        }
        b->literal_weight[257 + length_row(t[i].length, &base, &extra)]++;
        b->distance_weight[distance_row(t[i].distance, &base, &extra)]++;
    }
    huffman_lengths(b->literal, b->literal_weight, LITERALS, 15);
    huffman_lengths(b->distance, b->distance_weight, DISTANCES, 15);
    huffman_codes(b->literal_code, b->literal, LITERALS);
    huffman_codes(b->distance_code, b->distance, DISTANCES);
    for (b->literals = LITERALS; b->literals > 257 && !b->literal[b->literals - 1];)
        b->literals--;
    for (b->distances = DISTANCES; b->distances > 1 && !b->distance[b->distances - 1];)
        b->distances--;
}

static void add_run(block *b, int symbol, int after)
{
    b->run[b->runs][0] = (uint8_t)symbol;
    b->run[b->runs++][1] = (uint8_t)after;
    b->order_weight[symbol]++;
}

/* The lengths of both codes in one line, equal ones as runs: 16 repeats the one before, 17 and 18 are zeros. */
static void shorten(block *b)
{
    uint8_t all[LITERALS + DISTANCES];
    int count = b->literals + b->distances;
    memcpy(all, b->literal, (size_t)b->literals);
    memcpy(all + b->literals, b->distance, (size_t)b->distances);
    for (int i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && all[i + n] == all[i];)
            n++;
        if (all[i] == 0 && n >= 3) {
            n = n > 138 ? 138 : n;
            add_run(b, n > 10 ? 18 : 17, n > 10 ? n - 11 : n - 3);
        } else if (i > 0 && all[i] == all[i - 1] && n >= 3) {
            n = n > 6 ? 6 : n;
            add_run(b, 16, n - 3);
        } else {
            n = 1;
            add_run(b, all[i], 0);
        }
    }
    huffman_lengths(b->order, b->order_weight, 19, 7);
    huffman_codes(b->order_code, b->order, 19);
}

static void put_codes(bit_sink *s, const block *b)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    int count = 19;
    while (count > 4 && !b->order[order[count - 1]])
        count--;
    put_bits(s, (unsigned)b->literals - 257, 5);
    put_bits(s, (unsigned)b->distances - 1, 5);
    put_bits(s, (unsigned)count - 4, 4);
    for (int i = 0; i < count; i++)
        put_bits(s, b->order[order[i]], 3);
    for (int i = 0; i < b->runs; i++) {
        int symbol = b->run[i][0];
        put_bits(s, b->order_code[symbol], b->order[symbol]);
        if (symbol >= 16)
            put_bits(s, b->run[i][1], symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
    }
}

static void put_token(bit_sink *s, const block *b, token t)
{
    int base, extra;
    if (t.distance == 0) {
        put_bits(s, b->literal_code[t.length], b->literal[t.length]);
        return;
    }
    int row = 257 + length_row(t.length, &base, &extra);
    put_bits(s, b->literal_code[row], b->literal[row]);
    put_bits(s, (unsigned)(t.length - base), extra);
    row = distance_row(t.distance, &base, &extra);
    put_bits(s, b->distance_code[row], b->distance[row]);
    put_bits(s, (unsigned)(t.distance - base), extra);
}

void deflate_block(bit_sink *to, const token *t, int count, bool is_last)
{
    block b;
    weigh(&b, t, count);
    shorten(&b);
    put_bits(to, is_last, 1);
    put_bits(to, 2, 2);
    put_codes(to, &b);
    for (int i = 0; i < count; i++)
        put_token(to, &b, t[i]);
    put_bits(to, b.literal_code[END], b.literal[END]);
}
