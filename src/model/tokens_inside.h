/* SPDX-License-Identifier: MIT
 *
 * What tokens.c and tokens_encode.c share. */
#ifndef POSENC_MODEL_TOKENS_INSIDE_H
#define POSENC_MODEL_TOKENS_INSIDE_H

#include "model/tokens.h"

typedef struct piece {
    const uint8_t *at; /* in the file */
    uint32_t size;
    float score;
} piece;

struct tokens {
    io_bytes file;
    piece *piece; /* by token */
    size_t count;
    size_t longest;       /* bytes of a piece */
    const piece **sorted; /* by their bytes */
    uint8_t bytes[256];   /* bytes[n] is n: what byte tokens print */
};

int32_t tokens_find(const tokens *t, const uint8_t *text, size_t size); /* -1: none */
int32_t tokens_of_byte(const tokens *t, uint8_t byte);                  /* -1: none */

#endif
