/* SPDX-License-Identifier: MIT
 *
 * zlib streams (RFC 1950, 1951): matches found by hash chains, codes by Huffman, a new code for each block. */
#ifndef POSENC_DRAW_DEFLATE_H
#define POSENC_DRAW_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. One that ran out of memory takes no more and says so. */
typedef struct byte_sink {
    uint8_t *at;
    size_t size, room;
    bool failed;
} byte_sink;

void sink_put(byte_sink *s, const void *bytes, size_t size);
void sink_byte(byte_sink *s, unsigned byte);
void sink_big32(byte_sink *s, uint32_t n); /* the greatest byte first */

/* One stream of all of in. */
void zlib_pack(byte_sink *out, const uint8_t *in, size_t size);
uint32_t zlib_adler(const uint8_t *in, size_t size);

/* ---------------------------------------------------------------- inside (deflate_block.c, huffman.c) */

typedef struct bit_sink {
    byte_sink *to;
    uint32_t held;
    int count;
} bit_sink;

/* A literal (distance 0), or a match. */
typedef struct token {
    uint16_t length, distance;
} token;

#define DEFLATE_MATCH_MOST 258
/* Tokens as one block, with a code of its own. */
void deflate_block(bit_sink *to, const token *t, int count, bool is_last);
void deflate_end(bit_sink *to); /* up to a whole byte */

/* Code lengths, of at most limit bits, for symbols that are used as often as weight says; 0: a symbol that is not. At
 * least two have a code. */
void huffman_lengths(uint8_t *length, const uint32_t *weight, int count, int limit);
/* Codes by length, first bit first (as RFC 1951 wants them: turned over). */
void huffman_codes(uint16_t *code, const uint8_t *length, int count);

#endif
