/* SPDX-License-Identifier: MIT
 *
 * Does an object have a key twice? Its keys are sorted by hash, and those of one hash by text, so that keys made to
 * collide cost k log k too. 8 bytes for each key, and a key has 4 characters or more: {"":
 */
#include "checked.h"
#include "json_text.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define KEY_TEXT 4

bool io_keys_new(io_keys *out, const char *text, size_t size)
{
    size_t colons = 1, bytes;
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, ':', (size_t)(end - at))); at++)
        colons++;
    *out = (io_keys){ .text = text, .room = colons < size / KEY_TEXT ? colons : size / KEY_TEXT + 1 };
    out->all = io_mul(&bytes, out->room, sizeof *out->all) ? malloc(bytes) : NULL;
    return out->all;
}

void io_keys_free(io_keys *k)
{
    free(k->all);
    *k = (io_keys){ 0 };
}

void io_keys_add(io_keys *k, const char *key)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    if (k->count < k->room) /* always, by the count above */
        k->all[k->count++].hashed = (uint64_t)hash << 32 | (uint32_t)(key - k->text);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const io_key *)a)->hashed, y = ((const io_key *)b)->hashed;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const io_key *)a)->text, ((const io_key *)b)->text);
}

static const char *twice_among(io_key *keys, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        keys[i].text = text + (uint32_t)keys[i].hashed;
    io_sort(keys, count, sizeof *keys, by_text);
    for (size_t i = 1; i < count; i++)
        if (!by_text(&keys[i - 1], &keys[i]))
            return keys[i].text;
    return NULL;
}

const char *io_keys_close(io_keys *k, size_t first)
{
    io_key *keys = k->all + first;
    size_t count = k->count - first;
    k->count = first;
    io_sort(keys, count, sizeof *keys, by_hash);
    for (size_t from = 0, to; from < count; from = to) {
        uint64_t hash = keys[from].hashed >> 32;
        for (to = from + 1; to < count && keys[to].hashed >> 32 == hash; to++) {
        }
        const char *twice = to - from > 1 ? twice_among(keys + from, to - from, k->text) : NULL;
        if (twice)
            return twice;
    }
    return NULL;
}
