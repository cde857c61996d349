/* SPDX-License-Identifier: MIT
 *
 * Walks over the keys of a GGUF file and everything they hold, once, before anyone asks for one.
 */
#include "checked.h"
#include "gguf.h"

#include <stdio.h>

#define KEY_MIN (8 + 1 + 4 + 1) /* length, one character, type, one byte of value */
#define KEY_LENGTH_MAX 65535
#define ALIGNMENT_KEY "general.alignment"
#define ALIGNMENT_MAX 65536

static pe_status refuse_type(const io_gguf_cursor *c, const char *key, uint32_t type)
{
    return io_fail(c->err, PE_ERR_FORMAT, "%s: %s has value type %lu; needs 0 to %d", c->name, key, (unsigned long)type,
                   IO_GGUF_TYPE_COUNT - 1);
}

/* Values of a fixed size. A bool other than 0 and 1 means different things to different readers. */
static pe_status take_plain(io_gguf_cursor *c, const char *key, const io_gguf_value_row *row, uint64_t count)
{
    const uint8_t *at;
    int64_t bytes;
    uint64_t fit = (uint64_t)io_gguf_left(c) / row->size;
    if (count > fit || !io_mul_i64(&bytes, (int64_t)count, (int64_t)row->size))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s claims %llu values of %s; the bytes left hold %llu at most",
                       c->name, key, (unsigned long long)count, row->name, (unsigned long long)fit);
    pe_status s = io_gguf_take(&at, c, (uint64_t)bytes, key);
    for (uint64_t i = 0; s == PE_OK && row->type == IO_BOOL && i < count; i++)
        if (at[i] > 1)
            return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is a bool of %d; needs 0 or 1", c->name, key, at[i]);
    return s;
}

static pe_status take_strings(io_gguf_cursor *c, const char *key, uint64_t count)
{
    uint64_t fit = (uint64_t)io_gguf_left(c) / 8;
    if (count > fit)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s claims %llu strings; the bytes left hold %llu at most", c->name,
                       key, (unsigned long long)count, (unsigned long long)fit);
    pe_status s = PE_OK;
    const char *text;
    for (uint64_t i = 0; s == PE_OK && i < count; i++)
        s = io_gguf_take_string(&text, c, UINT64_MAX, key);
    return s;
}

static pe_status take_values(io_gguf_cursor *c, const char *key, uint32_t type, uint64_t count)
{
    const io_gguf_value_row *row = io_gguf_value_type(type);
    if (!row)
        return refuse_type(c, key, type);
    if (type == IO_GGUF_ARRAY)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is an array of arrays; needs an array of plain values", c->name,
                       key);
    return row->size ? take_plain(c, key, row, count) : take_strings(c, key, count);
}

static pe_status take_key(const char **key, io_gguf_cursor *c, size_t number)
{
    char what[40];
    uint32_t type;
    uint64_t count = 1;
    snprintf(what, sizeof what, "key %zu", number);
    pe_status s = io_gguf_take_name(key, c, KEY_LENGTH_MAX, what);
    if (s == PE_OK)
        s = io_gguf_take_u32(&type, c, *key);
    if (s != PE_OK || type != IO_GGUF_ARRAY)
        return s == PE_OK ? take_values(c, *key, type, count) : s;
    s = io_gguf_take_u32(&type, c, *key);
    if (s == PE_OK)
        s = io_gguf_take_u64(&count, c, *key);
    return s == PE_OK ? take_values(c, *key, type, count) : s;
}

static pe_status read_alignment(io_gguf *g, const io_gguf_cursor *c)
{
    io_gguf_value v;
    g->alignment = 32;
    if (!io_gguf_find(&v, g, ALIGNMENT_KEY))
        return PE_OK;
    if (v.array || v.type != IO_GGUF_U32)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: " ALIGNMENT_KEY " is %s%s; needs a u32", c->name,
                       v.array ? "an array of " : "of type ", io_gguf_type_name(v.type));
    g->alignment = (int64_t)io_gguf_u32(v.at);
    if (g->alignment < 1 || g->alignment > ALIGNMENT_MAX || (g->alignment & (g->alignment - 1)) != 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: " ALIGNMENT_KEY " is %lld; needs a power of two from 1 to %d",
                       c->name, (long long)g->alignment, ALIGNMENT_MAX);
    return PE_OK;
}

pe_status io_gguf_keys(io_gguf *g, io_gguf_cursor *c, uint64_t count)
{
    pe_status s = io_gguf_table(&g->keys, c, count, KEY_MIN, "keys");
    if (s != PE_OK)
        return s;
    g->key_count = (size_t)count;
    for (size_t i = 0; s == PE_OK && i < g->key_count; i++)
        s = take_key(&g->keys[i], c, i);
    if (s == PE_OK)
        s = io_gguf_sort(g->keys, g->key_count, c, "key");
    return s == PE_OK ? read_alignment(g, c) : s;
}
