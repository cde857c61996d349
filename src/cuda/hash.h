/* SPDX-License-Identifier: MIT
 *
 * 128 bits that name a text: kernels are told apart by them. Not for secrets. */
#ifndef PE_CUDA_HASH_H
#define PE_CUDA_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct hash128 {
    uint64_t a, b;
} hash128;

static inline hash128 hash_word(hash128 h, uint64_t word)
{
    h.a = (h.a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    h.a ^= h.a >> 32;
    h.b = (h.b + (word << 31 | word >> 33)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    h.b ^= h.b >> 29;
    return h;
}

/* The length is part of it: "ab", "c" is not "a", "bc". */
static inline hash128 hash_bytes(hash128 h, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    h = hash_word(h, bytes);
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        h = hash_word(h, word);
    }
    uint64_t last = 0;
    if (bytes)
        memcpy(&last, at, bytes);
    h = hash_word(h, last);
    h.a ^= h.b >> 31;
    return h;
}

static inline hash128 hash_text(hash128 h, const char *text)
{
    return hash_bytes(h, text, strlen(text));
}

static inline bool hash_same(hash128 x, hash128 y)
{
    return x.a == y.a && x.b == y.b;
}

#endif
