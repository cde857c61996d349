/* SPDX-License-Identifier: MIT
 *
 * The file of a tokenizer, and what a token prints. */
#include "model/tokens_inside.h"

#include "io/checked.h"
#include "io/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 8 /* bytes of a token in the file: score and size */

static uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static float load_f32(const uint8_t *at)
{
    uint32_t bits = load_u32(at);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---------------------------------------------------------------- in the order of their bytes */

static int compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* Of two that are spelled alike the first in the file counts. */
static int compare_pieces(const void *a, const void *b)
{
    const piece *p = *(const piece *const *)a, *q = *(const piece *const *)b;
    int order = compare(p->at, p->size, q->at, q->size);
    return order ? order : (p > q) - (p < q);
}

int32_t tokens_find(const tokens *t, const uint8_t *text, size_t size)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const piece *p = t->sorted[middle];
        if (compare(p->at, p->size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->count || compare(t->sorted[low]->at, t->sorted[low]->size, text, size))
        return -1;
    return (int32_t)(t->sorted[low] - t->piece);
}

/* ---------------------------------------------------------------- the file */

static pe_status read_piece(tokens *t, size_t *at, pe_error *err)
{
    const io_bytes *f = &t->file;
    size_t left = f->size - *at, n = t->count;
    if (left < LEAST)
        return io_fail(err, PE_ERR_FORMAT, "%s: ends within token %zu", f->name, n);
    float score = load_f32(f->data + *at);
    uint32_t size = load_u32(f->data + *at + 4);
    if (!isfinite(score))
        return io_fail(err, PE_ERR_FORMAT, "%s: the score of token %zu is not a finite number", f->name, n);
    if (size > t->longest || size > left - LEAST)
        return io_fail(err, PE_ERR_FORMAT, "%s: token %zu has %u bytes; the file allows %zu and has %zu left", f->name,
                       n, (unsigned)size, t->longest, left - LEAST);
    t->piece[t->count++] = (piece){ f->data + *at + LEAST, size, score };
    *at += LEAST + size;
    return PE_OK;
}

static pe_status read_pieces(tokens *t, pe_error *err)
{
    size_t most = t->file.size / LEAST, at = 4;
    pe_status s = PE_OK;
    t->piece = calloc(most, sizeof *t->piece);
    if (!t->piece)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu tokens", t->file.name, most);
    while (s == PE_OK && at < t->file.size)
        s = read_piece(t, &at, err);
    if (s == PE_OK && t->count < TOKENS_BYTE_0)
        s = io_fail(err, PE_ERR_FORMAT, "%s: has %zu tokens; needs 3 or more", t->file.name, t->count);
    return s;
}

static pe_status read_all(tokens *t, pe_error *err)
{
    if (t->file.size < 4 + LEAST)
        return io_fail(err, PE_ERR_FORMAT, "%s: has %zu bytes; a llama2.c tokenizer has 12 or more", t->file.name,
                       t->file.size);
    t->longest = load_u32(t->file.data);
    if (t->longest < 1 || t->longest > t->file.size)
        return io_fail(err, PE_ERR_FORMAT, "%s: its longest token has %zu bytes; needs 1 up to the file's %zu",
                       t->file.name, t->longest, t->file.size);
    pe_status s = read_pieces(t, err);
    if (s != PE_OK)
        return s;
    t->sorted = calloc(t->count, sizeof *t->sorted);
    if (!t->sorted)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu tokens", t->file.name, t->count);
    for (size_t n = 0; n < t->count; n++)
        t->sorted[n] = &t->piece[n];
    for (size_t n = 0; n < sizeof t->bytes; n++)
        t->bytes[n] = (uint8_t)n;
    io_sort(t->sorted, t->count, sizeof *t->sorted, compare_pieces);
    return PE_OK;
}

pe_status tokens_parse(tokens **out, io_bytes *file, pe_error *err)
{
    tokens *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t) {
        pe_status s = io_fail(err, PE_ERR_NOMEM, "%s: no memory", file->name);
        io_bytes_free(file);
        return s;
    }
    t->file = *file;
    *file = (io_bytes){ 0 };
    pe_status s = read_all(t, err);
    if (s == PE_OK)
        *out = t;
    else
        tokens_free(t);
    return s;
}

void tokens_free(tokens *t)
{
    if (!t)
        return;
    free(t->sorted);
    free(t->piece);
    io_bytes_free(&t->file);
    free(t);
}

int64_t tokens_count(const tokens *t)
{
    return (int64_t)t->count;
}

/* ---------------------------------------------------------------- what a token prints */

int32_t tokens_of_byte(const tokens *t, uint8_t byte)
{
    char text[8];
    size_t n = TOKENS_BYTE_0 + (size_t)byte, size = (size_t)snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
    if (n >= t->count || compare(t->piece[n].at, t->piece[n].size, (const uint8_t *)text, size))
        return -1;
    return (int32_t)n;
}

const uint8_t *tokens_piece(size_t *size, const tokens *t, int32_t before, int32_t token)
{
    *size = 0;
    if (token < 0 || (size_t)token >= t->count)
        return t->bytes;
    const piece *p = &t->piece[token];
    uint8_t byte = (uint8_t)(token - TOKENS_BYTE_0);
    if (tokens_of_byte(t, byte) == token) {
        *size = 1;
        return &t->bytes[byte];
    }
    bool skips = before == TOKENS_BEGIN && p->size && p->at[0] == ' ';
    *size = p->size - skips;
    return p->at + skips;
}
