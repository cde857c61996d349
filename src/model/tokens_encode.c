/* SPDX-License-Identifier: MIT
 *
 * Text to tokens: a chain of characters whose neighbours are joined, the best pair first. A heap holds every pair that
 * would make a token; a pair of which one side has been joined since is stale and passed over. */
#include "model/tokens_inside.h"

#include "io/checked.h"

#include <stdlib.h>
#include <string.h>

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

static void append(chain *c, int32_t token)
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
        append(c, token);
        return PE_OK;
    }
    for (size_t n = 0; n < size; n++) {
        token = tokens_of_byte(c->t, text[n]);
        if (token < 0)
            return io_fail(err, PE_ERR_FORMAT, "%s: has no token for the byte 0x%02X of the text", c->t->file.name,
                           (unsigned)text[n]);
        append(c, token);
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

/* ---------------------------------------------------------------- */

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

static pe_status take(int32_t **out, int64_t *count, const chain *c, pe_error *err)
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

pe_status tokens_encode(int32_t **out, int64_t *count, const tokens *t, const void *text, size_t size, pe_error *err)
{
    chain c = { .t = t };
    *out = NULL;
    *count = 0;
    pe_status s = get_room(&c, size, err);
    if (s == PE_OK)
        s = append_text(&c, text, size, err);
    if (s == PE_OK) {
        join_all(&c);
        s = take(out, count, &c, err);
    }
    free(c.link);
    free(c.heap);
    free(c.both);
    return s;
}
