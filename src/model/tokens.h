/* SPDX-License-Identifier: MIT
 *
 * Text as tokens and back, by the tokenizer of a llama2.c model (github.com/karpathy/llama2.c, tokenizer.py): a .bin of
 *     longest:int32, then for each token score:float32 size:int32 bytes
 * Token 1 begins a text; tokens 3 .. 258 are the bytes, written "<0x00>" .. "<0xFF>". The file is untrusted.
 *
 *     tokens *t;
 *     tokens_parse(&t, &file, &err);
 *     tokens_encode(&token, &count, t, text, size, &err);           free(token);
 *     tokens_piece(&size, t, before, token)                         what the second of two tokens prints
 *     tokens_free(t);
 */
#ifndef POSENC_MODEL_TOKENS_H
#define POSENC_MODEL_TOKENS_H

#include "io/io.h"

#define TOKENS_BEGIN 1
#define TOKENS_BYTE_0 3

typedef struct tokens tokens;

/* Takes file->data over, whatever comes of it: *file is empty afterwards. */
pe_status tokens_parse(tokens **out, io_bytes *file, pe_error *err);
/* No tokenizer: tokens 0 .. 255 are the bytes of a text. A text begins with its own first byte, and none ends it. */
pe_status tokens_of_bytes(tokens **out, pe_error *err);
void tokens_free(tokens *t); /* NULL is fine */
int64_t tokens_count(const tokens *t);
int32_t tokens_begin(const tokens *t); /* TOKENS_BEGIN, which also ends a text; -1: there is none */

/* Of bytes: the bytes. Else TOKENS_BEGIN, then the text as sentencepiece cuts it: a space in front, characters, then of
 * all neighbours that make a token those with the largest score are joined, the leftmost first. A character that is no
 * token becomes its bytes. *out is malloc'ed, the caller's to free. */
pe_status tokens_encode(int32_t **out, int64_t *count, const tokens *t, const void *text, size_t size, pe_error *err);

/* The bytes of a token after another: no space at the beginning of a text, bytes as bytes. They live as long as t
 * (those of a byte: for ever). A token out of range has none. */
const uint8_t *tokens_piece(size_t *size, const tokens *t, int32_t before, int32_t token);

#endif
