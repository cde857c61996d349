/* SPDX-License-Identifier: MIT
 *
 * Matches, found by chains of places with one hash. */
#include "draw/deflate.h"

#include <stdlib.h>

#define WINDOW 32768
#define MATCH_LEAST 3
#define MATCH_MOST DEFLATE_MATCH_MOST
#define CHAIN_MOST 48 /* places that are looked at for a match */
#define HASHES 32768
#define TOKENS 32768 /* of a block */

typedef struct packer {
    const uint8_t *in;
    size_t size;
    int64_t head[HASHES]; /* the last place of a hash; -1: none */
    int64_t chain[WINDOW];
    token tokens[TOKENS];
    int count;
    bit_sink bits;
} packer;

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

static void put(packer *p, token t)
{
    if (p->count == TOKENS) {
        deflate_block(&p->bits, p->tokens, p->count, false);
        p->count = 0;
    }
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
    deflate_block(&p->bits, p->tokens, p->count, true);
    deflate_end(&p->bits);
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
