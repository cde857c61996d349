/* SPDX-License-Identifier: MIT
 *
 * The header's JSON knows one form only, so it has a grammar of its own:
 *     {"__metadata__":{"k":"v",...}, "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}
 * A general parser would build a tree of up to 70 bytes for each byte of a hostile header.
 */
#include "checked.h"

#include "safetensors.h"
#include "scan.h"
#include "sort.h"
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
static pe_status place_tensor(entry *e, const io_safetensors *st, io_scan *s)
{
    io_tensor *t = &e->t;
    uint64_t begin = (uint64_t)e->begin, end = (uint64_t)e->end; /* neither is negative: io_scan_count */
    size_t bytes;
    if (begin > end || end > st->data_size)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: %s lies at [%lld, %lld) of %llu bytes", s->name, t->name,
                       (long long)e->begin, (long long)e->end, (unsigned long long)st->data_size);
    if (!io_shape_count(&t->count, t->shape, t->rank) || !io_byte_count(&bytes, t->count, io_type_size(t->type)))
        return io_fail(s->err, PE_ERR_OVERFLOW, "%s: the shape of %s does not fit %d bits", s->name, t->name,
                       IO_SIZE_BITS);
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
    pe_status bad = place_tensor(&e, st, s);
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

/* Fills tensors and meta, in the header's order, from size bytes of JSON that begin with {. Each tensor lies inside
 * data and its size agrees with its shape; how they lie to one another is not looked at. */
static pe_status io_safetensors_header(io_safetensors *st, uint8_t *json, size_t size, pe_error *err)
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

/* ---------------------------------------------------------------- safetensors */

/* Reads .safetensors (github.com/huggingface/safetensors): 8 bytes of length, a JSON header, data. The data is covered
 * by the tensors exactly: no hole, no overlap, nothing after the last, so that nothing can hide in a file. */

static int by_place(const void *a, const void *b)
{
    const io_tensor *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1; /* an empty one goes before what starts there */
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const io_tensor *)a)->name, ((const io_tensor *)b)->name);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const io_pair *)a)->key, ((const io_pair *)b)->key);
}

/* From the first 9 bytes, as far as there are that many, and the size of the file. */
static pe_status split(io_safetensors *st, size_t *header, const uint8_t *p, uint64_t size, pe_error *err)
{
    uint64_t length = 0;
    if (size < 8)
        return io_fail(err, PE_ERR_FORMAT, "%s: has %d bytes; a .safetensors file has 8 or more", st->file.name,
                       (int)size); /* fits: below 8 */
    for (int i = 8; i-- > 0;)
        length = length << 8 | p[i];
    uint64_t left = size - 8;
    if (length > IO_SAFETENSORS_HEADER_CAP || length > left)
        return io_fail(err, PE_ERR_FORMAT, "%s: header of %llu bytes; the file has %llu left and %u are allowed",
                       st->file.name, (unsigned long long)length, (unsigned long long)left, IO_SAFETENSORS_HEADER_CAP);
    if (length == 0 || p[8] != '{')
        return io_fail(err, PE_ERR_FORMAT, "%s: header does not begin with {", st->file.name);
    *header = (size_t)length;
    st->data_at = 8 + length;
    st->data_size = left - length;
    return PE_OK;
}

static pe_status check_cover(io_safetensors *st, pe_error *err)
{
    uint64_t at = st->data_at, end = at + st->data_size;
    io_sort(st->tensors, st->count, sizeof *st->tensors, by_place);
    for (size_t i = 0; i < st->count; i++) {
        const io_tensor *t = &st->tensors[i];
        if (t->offset != at)
            return io_fail(err, PE_ERR_FORMAT, "%s: %s before tensor %s", st->file.name,
                           t->offset < at ? "tensors overlap" : "a hole", t->name);
        at += t->size;
    }
    if (at != end)
        return io_fail(err, PE_ERR_FORMAT, "%s: %llu bytes after the last tensor", st->file.name,
                       (unsigned long long)(end - at));
    return PE_OK;
}

static pe_status check_names(io_safetensors *st, pe_error *err)
{
    io_sort(st->tensors, st->count, sizeof *st->tensors, by_name);
    for (size_t i = 1; i < st->count; i++)
        if (by_name(&st->tensors[i - 1], &st->tensors[i]) == 0)
            return io_fail(err, PE_ERR_FORMAT, "%s: tensor %s comes twice", st->file.name, st->tensors[i].name);
    io_sort(st->meta, st->meta_count, sizeof *st->meta, by_key);
    for (size_t i = 1; i < st->meta_count; i++)
        if (by_key(&st->meta[i - 1], &st->meta[i]) == 0)
            return io_fail(err, PE_ERR_FORMAT, "%s: key %s of __metadata__ comes twice", st->file.name,
                           st->meta[i].key);
    return PE_OK;
}

/* The header's text is in st->file, the data behind it or in the file. */
static pe_status read_header(io_safetensors *st, size_t size, pe_error *err)
{
    pe_status s = io_safetensors_header(st, st->file.data + 8, size, err);
    if (s == PE_OK)
        s = check_cover(st, err);
    return s == PE_OK ? check_names(st, err) : s;
}

static pe_status hand_out(io_safetensors **out, io_safetensors *st, pe_status s)
{
    if (s == PE_OK)
        *out = st;
    else
        io_safetensors_free(st);
    return s;
}

pe_status io_safetensors_parse(io_safetensors **out, io_bytes *file, pe_error *err)
{
    *out = NULL;
    io_safetensors *st = calloc(1, sizeof *st);
    if (!st) {
        pe_status s = io_fail(err, PE_ERR_NOMEM, "%s: no memory", file->name);
        io_bytes_free(file);
        return s;
    }
    st->source.fd = -1;
    st->file = *file;
    *file = (io_bytes){ 0 };
    size_t header = 0;
    pe_status s = split(st, &header, st->file.data, st->file.size, err);
    if (s == PE_OK) {
        st->data = st->file.data + 8 + header;
        s = read_header(st, header, err);
    }
    st->file.name = NULL; /* the caller's; not ours to keep */
    return hand_out(out, st, s);
}

/* First what tells how long the header is, then the header. */
static pe_status load_head(io_safetensors *st, size_t *header, pe_error *err)
{
    uint8_t start[9] = { 0 };
    const io_file *f = &st->source;
    pe_status s = io_file_read(start, f, 0, f->size < sizeof start ? (size_t)f->size : sizeof start, err);
    if (s == PE_OK)
        s = split(st, header, start, f->size, err);
    if (s != PE_OK)
        return s;
    st->file.size = 8 + *header;
    st->file.data = malloc(st->file.size);
    if (!st->file.data)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its header of %zu bytes", f->name, *header);
    return io_file_read(st->file.data, f, 0, st->file.size, err);
}

pe_status io_safetensors_open(io_safetensors **out, const char *path, pe_error *err)
{
    *out = NULL;
    size_t room;
    io_safetensors *st = calloc(1, sizeof *st);
    if (st) {
        st->source.fd = -1;
        st->path = io_add(&room, strlen(path), 1) ? malloc(room) : NULL;
    }
    if (!st || !st->path) {
        io_safetensors_free(st);
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory", path);
    }
    st->file.name = strcpy(st->path, path);
    size_t header = 0;
    pe_status s = io_file_open(&st->source, st->path, err);
    if (s == PE_OK)
        s = load_head(st, &header, err);
    if (s == PE_OK)
        s = read_header(st, header, err);
    return hand_out(out, st, s);
}

void io_safetensors_free(io_safetensors *st)
{
    if (!st)
        return;
    free(st->meta);
    free(st->tensors);
    io_bytes_free(&st->file);
    io_file_close(&st->source);
    free(st->path);
    free(st);
}

size_t io_safetensors_count(const io_safetensors *st)
{
    return st->count;
}

const io_tensor *io_safetensors_at(const io_safetensors *st, size_t index)
{
    return index < st->count ? &st->tensors[index] : NULL;
}

const io_tensor *io_safetensors_find(const io_safetensors *st, const char *name)
{
    io_tensor wanted = { .name = name };
    return st->count ? bsearch(&wanted, st->tensors, st->count, sizeof wanted, by_name) : NULL;
}

const char *io_safetensors_meta(const io_safetensors *st, const char *key)
{
    io_pair wanted = { .key = key };
    const io_pair *p = st->meta_count ? bsearch(&wanted, st->meta, st->meta_count, sizeof wanted, by_key) : NULL;
    return p ? p->value : NULL;
}

static int by_place_of(const void *a, const void *b)
{
    return by_place(*(const io_tensor *const *)a, *(const io_tensor *const *)b);
}

pe_status io_safetensors_order(const io_tensor ***out, const io_safetensors *st, pe_error *err)
{
    size_t bytes;
    *out = io_mul(&bytes, st->count, sizeof **out) ? malloc(bytes ? bytes : 1) : NULL;
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the order of %zu tensors", st->count);
    for (size_t i = 0; i < st->count; i++)
        (*out)[i] = &st->tensors[i];
    io_sort(*out, st->count, sizeof **out, by_place_of);
    return PE_OK;
}

pe_status io_tensor_read(void *out, const io_safetensors *st, const io_tensor *t, size_t from, size_t size,
                         pe_error *err)
{
    if (from > t->size || size > t->size - from)
        return io_fail(err, PE_ERR_RANGE, "%s has %zu bytes; %zu from byte %zu on are asked for", t->name, t->size,
                       size, from);
    if (!t->bytes)
        return io_file_read(out, &st->source, t->offset + from, size, err);
    memcpy(out, t->bytes + from, size);
    return PE_OK;
}
