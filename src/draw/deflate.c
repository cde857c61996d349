/* SPDX-License-Identifier: MIT
 *
 * Blocks of RFC 1951. */
#include "draw/deflate.h"

#include "io/checked.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 32768
#define MATCH_LEAST 3
#define MATCH_MOST 258
#define CHAIN_MOST 48 /* places that are looked at for a match */
#define HASHES 32768
#define TOKENS 32768 /* of a block */
#define LITERALS 286
#define DISTANCES 30
#define END 256

/* ---------------------------------------------------------------- bytes and bits */

void sink_put(byte_sink *s, const void *bytes, size_t size)
{
    size_t need, room;
    if (s->failed || !io_add(&need, s->size, size)) {
        s->failed = true;
        return;
    }
    if (need > s->room) {
        uint8_t *more = io_mul(&room, need, 2) && io_add(&room, room, 64) ? realloc(s->at, room) : NULL;
        if (!more) {
            s->failed = true;
            return;
        }
        s->at = more;
        s->room = room;
    }
    memcpy(s->at + s->size, bytes, size);
    s->size = need;
}

void sink_byte(byte_sink *s, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    sink_put(s, &b, 1);
}

void sink_big32(byte_sink *s, uint32_t n)
{
    uint8_t b[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
    sink_put(s, b, 4);
}

typedef struct bit_sink {
    byte_sink *to;
    uint32_t held;
    int count;
} bit_sink;

/* At most 16 bits, the lowest first. */
static void put_bits(bit_sink *b, unsigned value, int count)
{
    b->held |= (uint32_t)value << b->count;
    for (b->count += count; b->count >= 8; b->count -= 8, b->held >>= 8)
        sink_byte(b->to, b->held & 255);
}

static void end_bits(bit_sink *b)
{
    if (b->count > 0)
        sink_byte(b->to, b->held & 255);
    b->count = 0;
    b->held = 0;
}

/* ---------------------------------------------------------------- tokens */

/* A literal (distance 0), or a match. */
typedef struct token {
    uint16_t length, distance;
} token;

typedef struct packer {
    const uint8_t *in;
    size_t size;
    int64_t head[HASHES]; /* the last place of a hash; -1: none */
    int64_t chain[WINDOW];
    token tokens[TOKENS];
    int count;
    bit_sink bits;
} packer;

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
    if (length == MATCH_MOST) {
        row = 28;
        at = MATCH_MOST;
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

static unsigned hash_at(const packer *p, size_t i)
{
    uint32_t v = (uint32_t)p->in[i] << 16 | (uint32_t)p->in[i + 1] << 8 | p->in[i + 2];
    return (v * 2654435761u) >> 17;
}

static void remember(packer *p, size_t i)
{
    if (i + MATCH_LEAST > p->size)
        return;
    unsigned h = hash_at(p, i);
    p->chain[i % WINDOW] = p->head[h];
    p->head[h] = (int64_t)i;
}

static int common(const packer *p, size_t a, size_t b)
{
    int n = 0;
    size_t most = p->size - b < MATCH_MOST ? p->size - b : MATCH_MOST;
    while ((size_t)n < most && p->in[a + (size_t)n] == p->in[b + (size_t)n])
        n++;
    return n;
}

/* The longest match of what stands at i; length 0: none. */
static token best_match(const packer *p, size_t i)
{
    token best = { 0, 0 };
    if (i + MATCH_LEAST > p->size)
        return best;
    int64_t at = p->head[hash_at(p, i)];
    for (int tries = 0; tries < CHAIN_MOST && at >= 0 && i - (size_t)at < WINDOW; tries++) {
        int n = common(p, (size_t)at, i);
        if (n >= MATCH_LEAST && n > best.length)
            best = (token){ (uint16_t)n, (uint16_t)(i - (size_t)at) };
        if (n == MATCH_MOST)
            break;
        int64_t before = p->chain[at % WINDOW];
        at = before < at ? before : -1;
    }
    return best;
}

/* ---------------------------------------------------------------- a block */

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

static void put_block(packer *p, bool is_last)
{
    block b;
    weigh(&b, p->tokens, p->count);
    shorten(&b);
    put_bits(&p->bits, is_last, 1);
    put_bits(&p->bits, 2, 2);
    put_codes(&p->bits, &b);
    for (int i = 0; i < p->count; i++)
        put_token(&p->bits, &b, p->tokens[i]);
    put_bits(&p->bits, b.literal_code[END], b.literal[END]);
    p->count = 0;
}

static void put(packer *p, token t)
{
    if (p->count == TOKENS)
        put_block(p, false);
    p->tokens[p->count++] = t;
}

/* ---------------------------------------------------------------- the stream */

/* A match waits for its neighbour: where that is longer, a literal takes its place. */
static void pack_all(packer *p)
{
    for (size_t i = 0; i < p->size;) {
        token t = best_match(p, i);
        remember(p, i);
        if (t.length && t.length < 64 && best_match(p, i + 1).length > t.length)
            t.length = 0;
        if (!t.length) {
            put(p, (token){ p->in[i++], 0 });
            continue;
        }
        put(p, t);
        for (size_t k = 1; k < t.length; k++)
            remember(p, i + k);
        i += t.length;
    }
    put_block(p, true);
    end_bits(&p->bits);
}

uint32_t zlib_adler(const uint8_t *in, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + in[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void zlib_pack(byte_sink *out, const uint8_t *in, size_t size)
{
    packer *p = malloc(sizeof *p);
    if (!p) {
        out->failed = true;
        return;
    }
    p->in = in;
    p->size = size;
    p->count = 0;
    p->bits = (bit_sink){ .to = out };
    for (int i = 0; i < HASHES; i++)
        p->head[i] = -1;
    sink_byte(out, 0x78); /* a window of 32 KiB */
    sink_byte(out, 0x9C); /* the default effort; the two are a multiple of 31 */
    pack_all(p);
    sink_big32(out, zlib_adler(in, size));
    free(p);
}
