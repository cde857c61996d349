/* SPDX-License-Identifier: MIT
 *
 * Text as tokens and back. */
#include "io/checked.h"
#include "io/sort.h"
#include "model/tokens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    const uint8_t *at; /* in the file */
    uint32_t size;
    float score;
} piece;

struct tokens {
    io_bytes file;
    piece *piece; /* by token; NULL: tokens are bytes */
    size_t count;
    size_t longest;       /* bytes of a piece */
    const piece **sorted; /* by their bytes */
    uint8_t bytes[256];   /* bytes[n] is n: what byte tokens print */
};

/* ---------------------------------------------------------------- the file of a tokenizer, and what a token prints */

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

static int compare_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* Of two that are spelled alike the first in the file counts. */
static int compare_pieces(const void *a, const void *b)
{
    const piece *p = *(const piece *const *)a, *q = *(const piece *const *)b;
    int order = compare_bytes(p->at, p->size, q->at, q->size);
    return order ? order : (p > q) - (p < q);
}

/* -1: none */
static int32_t tokens_find(const tokens *t, const uint8_t *text, size_t size)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const piece *p = t->sorted[middle];
        if (compare_bytes(p->at, p->size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->count || compare_bytes(t->sorted[low]->at, t->sorted[low]->size, text, size))
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

pe_status tokens_of_bytes(tokens **out, pe_error *err)
{
    tokens *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the bytes of a text");
    t->count = sizeof t->bytes;
    for (size_t n = 0; n < sizeof t->bytes; n++)
        t->bytes[n] = (uint8_t)n;
    return PE_OK;
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

int32_t tokens_begin(const tokens *t)
{
    return t->piece ? TOKENS_BEGIN : -1;
}

/* ---------------------------------------------------------------- what a token prints */

static int32_t tokens_of_byte(const tokens *t, uint8_t byte)
{
    char text[8];
    size_t n = TOKENS_BYTE_0 + (size_t)byte, size = (size_t)snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
    if (n >= t->count || compare_bytes(t->piece[n].at, t->piece[n].size, (const uint8_t *)text, size))
        return -1;
    return (int32_t)n;
}

const uint8_t *tokens_piece(size_t *size, const tokens *t, int32_t before, int32_t token)
{
    *size = 0;
    if (token < 0 || (size_t)token >= t->count)
        return t->bytes;
    if (!t->piece) {
        *size = 1;
        return &t->bytes[token];
    }
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

/* Text to tokens: a chain of characters whose neighbours are joined, the best pair first. A heap holds every
 * pair that would make a token; a pair of which one side has been joined since is stale and passed over. */

typedef struct link {
    int32_t token; /* -1: joined to the one before */
    int32_t before, after;
} link;

typedef struct join {
    float score;
    int32_t left;              /* link */
    int32_t first, second, to; /* tokens */
} join;

typedef struct chain {
    const tokens *t;
    link *link; /* room for a space and every byte */
    int32_t links;
    join *heap; /* room for each link's neighbours, and for two more after each join */
    size_t joins;
    uint8_t *both; /* room for the longest token */
} chain;

/* ---------------------------------------------------------------- the heap: the largest score, the leftmost */

static bool comes_first(const join *a, const join *b)
{
    return a->score > b->score || (!(a->score < b->score) && a->left < b->left);
}

static void push(chain *c, join j)
{
    size_t n = c->joins++;
    for (; n > 0 && comes_first(&j, &c->heap[(n - 1) / 2]); n = (n - 1) / 2)
        c->heap[n] = c->heap[(n - 1) / 2];
    c->heap[n] = j;
}

static join pop(chain *c)
{
    join top = c->heap[0], last = c->heap[--c->joins];
    size_t n = 0;
    for (size_t child = 1; child < c->joins; child = 2 * n + 1) {
        child += child + 1 < c->joins && comes_first(&c->heap[child + 1], &c->heap[child]);
        if (!comes_first(&c->heap[child], &last))
            break;
        c->heap[n] = c->heap[child];
        n = child;
    }
    c->heap[n] = last;
    return top;
}

/* ---------------------------------------------------------------- joining */

static void consider(chain *c, int32_t left)
{
    int32_t right = left < 0 ? -1 : c->link[left].after;
    if (right < 0)
        return;
    const piece *a = &c->t->piece[c->link[left].token], *b = &c->t->piece[c->link[right].token];
    if (a->size > c->t->longest - b->size)
        return;
    memcpy(c->both, a->at, a->size);
    memcpy(c->both + a->size, b->at, b->size);
    int32_t to = tokens_find(c->t, c->both, (size_t)a->size + b->size);
    if (to >= 0)
        push(c, (join){ c->t->piece[to].score, left, c->link[left].token, c->link[right].token, to });
}

static bool is_stale(const chain *c, const join *j)
{
    int32_t right = c->link[j->left].after;
    return c->link[j->left].token != j->first || right < 0 || c->link[right].token != j->second;
}

static void join_all(chain *c)
{
    for (int32_t n = 0; n + 1 < c->links; n++)
        consider(c, n);
    while (c->joins) {
        join j = pop(c);
        if (is_stale(c, &j))
            continue;
        link *left = &c->link[j.left], *right = &c->link[left->after];
        left->token = j.to;
        left->after = right->after;
        right->token = -1;
        if (left->after >= 0)
            c->link[left->after].before = j.left;
        consider(c, left->before);
        consider(c, j.left);
    }
}

/* ---------------------------------------------------------------- characters */

static void chain_append(chain *c, int32_t token)
{
    int32_t n = c->links++;
    c->link[n] = (link){ token, n - 1, -1 };
    if (n > 0)
        c->link[n - 1].after = n;
}

/* Bytes of the character at text: as far as they continue one, four at most. */
static size_t character(const uint8_t *text, size_t left)
{
    size_t n = 1;
    while (n < left && n < 4 && (text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static pe_status append_character(chain *c, const uint8_t *text, size_t size, pe_error *err)
{
    int32_t token = tokens_find(c->t, text, size);
    if (token >= 0) {
        chain_append(c, token);
        return PE_OK;
    }
    for (size_t n = 0; n < size; n++) {
        token = tokens_of_byte(c->t, text[n]);
        if (token < 0)
            return io_fail(err, PE_ERR_FORMAT, "%s: has no token for the byte 0x%02X of the text", c->t->file.name,
                           (unsigned)text[n]);
        chain_append(c, token);
    }
    return PE_OK;
}

static pe_status append_text(chain *c, const uint8_t *text, size_t size, pe_error *err)
{
    pe_status s = size ? append_character(c, (const uint8_t *)" ", 1, err) : PE_OK;
    for (size_t at = 0, n; s == PE_OK && at < size; at += n) {
        n = character(text + at, size - at);
        s = append_character(c, text + at, n, err);
    }
    return s;
}

/* ---------------------------------------------------------------- encoding */

static pe_status get_room(chain *c, size_t size, pe_error *err)
{
    size_t links, joins;
    if (size > INT32_MAX - 2 || !io_add(&links, size, 1) || !io_mul(&joins, links, 3))
        return io_fail(err, PE_ERR_OVERFLOW, "the text has %zu bytes; at most %d are cut into tokens", size,
                       INT32_MAX - 2);
    c->link = calloc(links, sizeof *c->link);
    c->heap = calloc(joins, sizeof *c->heap);
    c->both = malloc(c->t->longest);
    return c->link && c->heap && c->both ? PE_OK
                                         : io_fail(err, PE_ERR_NOMEM, "no memory for a text of %zu bytes", size);
}

static pe_status chain_take(int32_t **out, int64_t *count, const chain *c, pe_error *err)
{
    int64_t n = 0;
    int32_t *list = calloc((size_t)c->links + 1, sizeof *list);
    if (!list)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the tokens");
    list[n++] = TOKENS_BEGIN;
    for (int32_t i = 0; i < c->links; i++)
        if (c->link[i].token >= 0)
            list[n++] = c->link[i].token;
    *out = list;
    *count = n;
    return PE_OK;
}

static pe_status take_bytes(int32_t **out, int64_t *count, const uint8_t *text, size_t size, pe_error *err)
{
    size_t bytes, room;
    int32_t *list = io_add(&room, size, 1) && io_mul(&bytes, room, sizeof *list) ? malloc(bytes) : NULL;
    if (!list)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a text of %zu bytes", size);
    for (size_t n = 0; n < size; n++)
        list[n] = text[n];
    *out = list;
    *count = (int64_t)size;
    return PE_OK;
}

pe_status tokens_encode(int32_t **out, int64_t *count, const tokens *t, const void *text, size_t size, pe_error *err)
{
    chain c = { .t = t };
    *out = NULL;
    *count = 0;
    if (!t->piece)
        return take_bytes(out, count, text, size, err);
    pe_status s = get_room(&c, size, err);
    if (s == PE_OK)
        s = append_text(&c, text, size, err);
    if (s == PE_OK) {
        join_all(&c);
        s = chain_take(out, count, &c, err);
    }
    free(c.link);
    free(c.heap);
    free(c.both);
    return s;
}
