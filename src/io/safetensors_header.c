/* SPDX-License-Identifier: MIT
 *
 * The header's JSON knows one form only, so it has a grammar of its own:
 *     {"__metadata__":{"k":"v",...}, "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}
 * A general parser would build a tree of up to 70 bytes for each byte of a hostile header.
 */
#include "checked.h"
#include "safetensors.h"
#include "scan.h"
#include "types.h"

#include <stdlib.h>
#include <string.h>

#define TENSOR_TEXT 50 /* characters of {"dtype":"U8","shape":[],"data_offsets":[0,0]},"": */

typedef struct entry {
    io_tensor t;
    int64_t begin, end;
} entry;

/* Room is counted, not grown: growing would hold a table twice. Both counts are bounds that a hostile text cannot raise
 * with the same bytes, so that together they stay under 3 bytes for each byte of text. */

/* Tensors: braces that stand as far apart as those of tensors must. */
static size_t count_tensors(const char *at, const char *end)
{
    size_t count = 0;
    bool inside = false;
    for (const char *next = at; at < end; at++) {
        if (inside && *at == '\\')
            at += end - at > 1; /* the character after it is no quote */
        else if (*at == '"')
            inside = !inside;
        else if (!inside && *at == '{' && at >= next) {
            count++;
            next = end - at > TENSOR_TEXT ? at + TENSOR_TEXT : end;
        }
    }
    return count;
}

/* Metadata pairs: half the strings before the next brace. */
static size_t count_pairs(const char *at, const char *end)
{
    size_t strings = 0;
    bool inside = false;
    for (; at < end && (inside || (*at != '{' && *at != '}')); at++) {
        if (inside && *at == '\\')
            at += end - at > 1; /* the character after it is no quote */
        else if (*at == '"') {
            strings += !inside;
            inside = !inside;
        }
    }
    return strings / 2;
}

static pe_status make_table(void **table, size_t count, size_t size, const io_scan *s)
{
    size_t bytes;
    *table = io_mul(&bytes, count, size) ? malloc(bytes ? bytes : 1) : NULL;
    return *table ? PE_OK : io_fail(s->err, PE_ERR_NOMEM, "%s: no memory for its header", s->name);
}

static pe_status read_dtype(io_scan *s, entry *e)
{
    char *name;
    if (!io_scan_string(s, &name))
        return io_scan_fail(s, "dtype as a string");
    if (!io_type_by_name(&e->t.type, name))
        return io_fail(s->err, PE_ERR_DTYPE, "%s: dtype of %s is %s; needs F32, F16, BF16, I64 or the like", s->name,
                       e->t.name, name);
    return PE_OK;
}

static pe_status read_shape(io_scan *s, entry *e)
{
    io_tensor *t = &e->t;
    if (!io_scan_char(s, '['))
        return io_scan_fail(s, "[ of the shape");
    if (io_scan_char(s, ']'))
        return PE_OK;
    do {
        if (t->rank == IO_RANK_MAX)
            return io_fail(s->err, PE_ERR_SHAPE, "%s: %s has more than %d dimensions", s->name, t->name, IO_RANK_MAX);
        if (!io_scan_count(s, &t->shape[t->rank]))
            return io_scan_fail(s, "a size from 0 to 2^63 - 1");
        t->rank++;
    } while (io_scan_char(s, ','));
    return io_scan_char(s, ']') ? PE_OK : io_scan_fail(s, "a comma or ] in the shape");
}

static pe_status read_offsets(io_scan *s, entry *e)
{
    bool ok = io_scan_char(s, '[') && io_scan_count(s, &e->begin) && io_scan_char(s, ',') &&
              io_scan_count(s, &e->end) && io_scan_char(s, ']');
    return ok ? PE_OK : io_scan_fail(s, "data_offsets as [begin, end], each from 0 to 2^63 - 1");
}

static const struct {
    const char *name;
    pe_status (*read)(io_scan *, entry *);
} fields[] = { { "dtype", read_dtype }, { "shape", read_shape }, { "data_offsets", read_offsets } };
#define FIELDS (sizeof fields / sizeof fields[0])

static pe_status read_field(io_scan *s, entry *e, unsigned *seen)
{
    char *name;
    size_t f = 0;
    if (!io_scan_string(s, &name))
        return io_scan_fail(s, "a key");
    while (f < FIELDS && strcmp(fields[f].name, name) != 0)
        f++;
    if (f == FIELDS)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s has a key %s; needs dtype, shape, data_offsets", s->name,
                       e->t.name, name);
    if (*seen & 1u << f)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s has %s twice", s->name, e->t.name, name);
    *seen |= 1u << f;
    return io_scan_char(s, ':') ? fields[f].read(s, e) : io_scan_fail(s, "a colon after the key");
}

/* Shape, type, offsets and data have to tell the same story before anyone follows a pointer. */
static pe_status place(entry *e, const io_safetensors *st, io_scan *s)
{
    io_tensor *t = &e->t;
    uint64_t begin = (uint64_t)e->begin, end = (uint64_t)e->end; /* neither is negative: io_scan_count */
    size_t bytes;
    if (begin > end || end > st->data_size)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s lies at [%lld, %lld) of %llu bytes", s->name, t->name,
                       (long long)e->begin, (long long)e->end, (unsigned long long)st->data_size);
    if (!io_shape_count(&t->count, t->shape, t->rank) || !io_byte_count(&bytes, t->count, io_type_size(t->type)))
        return io_fail(s->err, PE_ERR_OVERFLOW, "%s: the shape of %s does not fit 64 bits", s->name, t->name);
    if (bytes != end - begin)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s needs %zu bytes, its offsets give %llu", s->name, t->name, bytes,
                       (unsigned long long)(end - begin));
    t->bytes = st->data ? st->data + begin : NULL;
    t->size = bytes;
    t->offset = st->data_at + begin;
    return PE_OK;
}

static pe_status read_tensor(io_safetensors *st, io_scan *s, const char *name)
{
    entry e = { .t.name = name };
    unsigned seen = 0;
    if (!io_scan_char(s, '{'))
        return io_scan_fail(s, "{ of a tensor");
    do {
        pe_status bad = read_field(s, &e, &seen);
        if (bad)
            return bad;
    } while (io_scan_char(s, ','));
    if (!io_scan_char(s, '}'))
        return io_scan_fail(s, "a comma or }");
    if (seen != (1u << FIELDS) - 1)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s lacks dtype, shape or data_offsets", s->name, name);
    pe_status bad = place(&e, st, s);
    if (bad)
        return bad;
    if (st->count == st->room)
        return io_scan_fail(s, "fewer tensors");
    st->tensors[st->count++] = e.t;
    return PE_OK;
}

static pe_status read_meta(io_safetensors *st, io_scan *s)
{
    if (!io_scan_char(s, '{'))
        return io_scan_fail(s, "{ of __metadata__");
    if (io_scan_char(s, '}'))
        return PE_OK;
    void *table;
    st->meta_room = count_pairs(s->at, s->end);
    pe_status bad = make_table(&table, st->meta_room, sizeof *st->meta, s);
    st->meta = table;
    if (bad)
        return bad;
    do {
        char *key, *value;
        if (!io_scan_string(s, &key) || !io_scan_char(s, ':') || !io_scan_string(s, &value))
            return io_scan_fail(s, "\"key\":\"value\" in __metadata__");
        if (st->meta_count == st->meta_room)
            return io_scan_fail(s, "fewer pairs");
        st->meta[st->meta_count++] = (io_pair){ key, value };
    } while (io_scan_char(s, ','));
    return io_scan_char(s, '}') ? PE_OK : io_scan_fail(s, "a comma or } in __metadata__");
}

static pe_status read_entries(io_safetensors *st, io_scan *s)
{
    bool meta_seen = false;
    do {
        char *name;
        if (!io_scan_string(s, &name) || !io_scan_char(s, ':'))
            return io_scan_fail(s, "a tensor's name and a colon");
        bool meta = strcmp(name, "__metadata__") == 0;
        if (meta && meta_seen)
            return io_fail(s->err, PE_ERR_FORMAT, "%s: __metadata__ comes twice", s->name);
        meta_seen |= meta;
        pe_status bad = meta ? read_meta(st, s) : read_tensor(st, s, name);
        if (bad)
            return bad;
    } while (io_scan_char(s, ','));
    return PE_OK;
}

pe_status io_safetensors_header(io_safetensors *st, uint8_t *json, size_t size, pe_error *err)
{
    io_scan s = io_scan_of(json, size, st->file.name, err);
    void *table;
    st->room = count_tensors(s.at, s.end);
    pe_status bad = make_table(&table, st->room, sizeof *st->tensors, &s);
    st->tensors = table;
    if (bad)
        return bad;
    s.at++; /* the { */
    if (!io_scan_char(&s, '}')) {
        bad = read_entries(st, &s);
        if (bad)
            return bad;
        if (!io_scan_char(&s, '}'))
            return io_scan_fail(&s, "a comma or }");
    }
    return io_scan_end(&s) ? PE_OK : io_scan_fail(&s, "nothing after the last }");
}
