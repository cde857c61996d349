/* SPDX-License-Identifier: MIT
 *
 * Taking pieces of a GGUF file one after the other, none of them past its end.
 */
#include "checked.h"

#include "gguf.h"
#include "scan.h"
#include "sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 7 /* of a string that was taken; see gguf.h */

static uint64_t little_endian(const uint8_t *at, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | at[i];
    return v;
}

uint32_t io_gguf_u32(const uint8_t *at)
{
    return (uint32_t)little_endian(at, 4);
}

uint64_t io_gguf_u64(const uint8_t *at)
{
    return little_endian(at, 8);
}

size_t io_gguf_length(const char *text)
{
    return (size_t)little_endian((const uint8_t *)text - LENGTH_BYTES, LENGTH_BYTES);
}

/* bytes of the file after the cursor */
static int64_t io_gguf_left(const io_gguf_cursor *c)
{
    return c->file_size - (int64_t)c->at; /* at <= have <= file_size */
}

/* *out are the next size bytes. what is for the message: "FILE: ends inside WHAT". */
static pe_status io_gguf_take(const uint8_t **out, io_gguf_cursor *c, uint64_t size, const char *what)
{
    size_t end;
    if (size > (uint64_t)io_gguf_left(c))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: ends inside %s: it needs %llu bytes, the file has %lld left",
                       c->name, what, (unsigned long long)size, (long long)io_gguf_left(c));
    if (size > IO_CAP_GGUF || !io_add(&end, c->at, (size_t)size) || end > IO_CAP_GGUF)
        return io_fail(c->err, PE_ERR_RANGE, "%s: has more than %zu bytes of metadata, the most that is read", c->name,
                       IO_CAP_GGUF);
    if (end > c->have) {
        c->more = end;
        return PE_ERR_FORMAT;
    }
    *out = c->base + c->at;
    c->at = end;
    return PE_OK;
}

pe_status io_gguf_take_u32(uint32_t *out, io_gguf_cursor *c, const char *what)
{
    const uint8_t *at;
    pe_status s = io_gguf_take(&at, c, 4, what);
    *out = s == PE_OK ? io_gguf_u32(at) : 0;
    return s;
}

pe_status io_gguf_take_u64(uint64_t *out, io_gguf_cursor *c, const char *what)
{
    const uint8_t *at;
    pe_status s = io_gguf_take(&at, c, 8, what);
    *out = s == PE_OK ? io_gguf_u64(at) : 0;
    return s;
}

/* Ends it by 0. Any bytes; at most max of them. */
static pe_status io_gguf_take_string(const char **out, io_gguf_cursor *c, uint64_t max, const char *what)
{
    uint64_t length;
    const uint8_t *text;
    pe_status s = io_gguf_take_u64(&length, c, what);
    if (s != PE_OK)
        return s;
    if (length > max && length <= (uint64_t)io_gguf_left(c))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s has %llu bytes; at most %llu", c->name, what,
                       (unsigned long long)length, (unsigned long long)max);
    s = io_gguf_take(&text, c, length, what);
    if (s != PE_OK)
        return s;
    uint8_t *to = c->base + (text - c->base) - 1; /* the highest byte of the length, which is 0 */
    memmove(to, text, (size_t)length);
    to[length] = 0;
    *out = (const char *)to;
    return PE_OK;
}

/* C0, DEL and C1 (0xC2 0x80..0x9F) are controls. */
static bool is_name(const char *text, const char *end)
{
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = io_utf8_length(text, end);
        if (!length || c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)text[1] < 0xA0))
            return false;
        text += length;
    }
    return true;
}

pe_status io_gguf_take_name(const char **out, io_gguf_cursor *c, uint64_t max, const char *what)
{
    pe_status s = io_gguf_take_string(out, c, max, what);
    if (s != PE_OK)
        return s;
    size_t length = io_gguf_length(*out);
    if (length == 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is empty", c->name, what);
    if (!is_name(*out, *out + length))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is not UTF-8 or holds a control character", c->name, what);
    return PE_OK;
}

pe_status io_gguf_table(const char ***out, io_gguf_cursor *c, uint64_t count, uint64_t min, const char *what)
{
    uint64_t fit = (uint64_t)io_gguf_left(c) / min;
    size_t bytes, need;
    if (count > fit)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: claims %llu %s; its %lld bytes left hold %llu at most", c->name,
                       (unsigned long long)count, what, (long long)io_gguf_left(c), (unsigned long long)fit);
    if (count > IO_CAP_GGUF || !io_mul(&need, (size_t)count, (size_t)min) || !io_add(&need, need, c->at) ||
        !io_mul(&bytes, (size_t)count, sizeof **out))
        return io_fail(c->err, PE_ERR_RANGE, "%s: claims %llu %s; metadata of %zu bytes is the most that is read",
                       c->name, (unsigned long long)count, what, IO_CAP_GGUF);
    if (need > c->have) { /* no table for items that are not in memory yet */
        const uint8_t *all;
        return io_gguf_take(&all, c, need - c->at, what);
    }
    *out = malloc(bytes ? bytes : 1);
    return *out ? PE_OK : io_fail(c->err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", c->name, bytes);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

pe_status io_gguf_sort(const char **texts, size_t count, const io_gguf_cursor *c, const char *what)
{
    io_sort(texts, count, sizeof *texts, by_text);
    for (size_t i = 1; i < count; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            return io_fail(c->err, PE_ERR_FORMAT, "%s: %s %s comes twice", c->name, what, texts[i]);
    return PE_OK;
}

const char *io_gguf_search(const char *const *texts, size_t count, const char *text)
{
    const char *const *found = count ? bsearch(&text, texts, count, sizeof *texts, by_text) : NULL;
    return found ? *found : NULL;
}

/* ---------------------------------------------------------------- keys */

/* Walks over the keys of a GGUF file and everything they hold, once, before anyone asks for one. */

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

/* Check the count that come next, and fill keys (and alignment), tensors (and data). */
static pe_status io_gguf_keys(io_gguf *g, io_gguf_cursor *c, uint64_t count)
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

/* ---------------------------------------------------------------- gguf */

/* Opens a GGUF file: reads as much of its beginning as the metadata takes, and checks all of it. See gguf.h. */

#define FIRST_PIECE                                                                                                    \
    ((size_t)1 << 20) /* the metadata of most models without a tokenizer; else twice as much, and so on */

static pe_status check_version(uint32_t version, const io_gguf_cursor *c)
{
    if (version == 2 || version == 3)
        return PE_OK;
    if ((version & 0xFFFF) == 0 && version != 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: is a big-endian GGUF file; needs a little-endian one", c->name);
    return io_fail(c->err, PE_ERR_FORMAT, "%s: is GGUF version %lu%s; needs 2 or 3", c->name, (unsigned long)version,
                   version == 1 ? ", which no program reads any more" : "");
}

static pe_status read_metadata(io_gguf *g, io_gguf_cursor *c)
{
    const uint8_t *magic;
    uint64_t tensors = 0, keys = 0;
    pe_status s = io_gguf_take(&magic, c, 4, "the first four bytes");
    if (s != PE_OK)
        return s;
    if (memcmp(magic, "GGUF", 4) != 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: is not a GGUF file: it does not begin with GGUF", c->name);
    s = io_gguf_take_u32(&g->version, c, "the version");
    if (s == PE_OK)
        s = check_version(g->version, c);
    if (s == PE_OK)
        s = io_gguf_take_u64(&tensors, c, "the number of tensors");
    if (s == PE_OK)
        s = io_gguf_take_u64(&keys, c, "the number of keys");
    if (s == PE_OK)
        s = io_gguf_keys(g, c, keys);
    return s == PE_OK ? io_gguf_tensors(g, c, tensors) : s;
}

static pe_status make_gguf(io_gguf **out, const char *name, pe_error *err)
{
    size_t length, bytes;
    bool fits = io_add(&length, strlen(name), 1) && io_add(&bytes, length, sizeof **out);
    *out = fits ? calloc(1, bytes) : NULL;
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory", name);
    memcpy((*out)->name, name, length);
    return PE_OK;
}

/* As io_gguf_parse. *more is 0, or the bytes of the file that have to be in memory for a better answer. */
static pe_status parse(io_gguf **out, io_bytes *file, int64_t file_size, size_t *more, pe_error *err)
{
    *more = 0;
    pe_status s = make_gguf(out, file->name, err);
    if (s != PE_OK) {
        io_bytes_free(file);
        return s;
    }
    io_gguf *g = *out;
    g->file = *file;
    g->file.name = g->name;
    g->file_size = file_size;
    *file = (io_bytes){ 0 };
    io_gguf_cursor c = { g->file.data, 0, g->file.size, file_size, 0, g->name, err };
    s = read_metadata(g, &c);
    *more = c.more;
    if (s != PE_OK) {
        io_gguf_free(g);
        *out = NULL;
    }
    return s;
}

pe_status io_gguf_parse(io_gguf **out, io_bytes *file, uint64_t file_size, pe_error *err)
{
    *out = NULL;
    size_t more = 0, have = file->size;
    const char *name = file->name;
    if (file_size > INT64_MAX || file_size < have) {
        io_bytes_free(file);
        return io_fail(err, PE_ERR_RANGE, "%s: %zu bytes of a file of %llu; needs at most all of 2^63 - 1", name, have,
                       (unsigned long long)file_size);
    }
    pe_status s = parse(out, file, (int64_t)file_size, &more, err);
    return more ? io_fail(err, s, "%s: needs %zu bytes of the file in memory; there are %zu", name, more, have) : s;
}

/* Ends, for each round reads at least twice as much as the one before. Nothing is kept between them: parsing has moved
 * the strings, and two pieces at a time would be more memory. */
static pe_status open_pieces(io_gguf **out, const io_file *f, pe_error *err)
{
    const char *path = f->name;
    int64_t file_size = (int64_t)f->size;
    size_t piece = FIRST_PIECE, more;
    pe_status s;
    do {
        io_bytes file = { .name = path };
        file.size = (int64_t)piece < file_size ? piece : (size_t)file_size;
        file.data = malloc(file.size ? file.size : 1);
        s = file.data ? io_file_read(file.data, f, 0, file.size, err)
                      : io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", path, file.size);
        if (s != PE_OK) {
            io_bytes_free(&file);
            return s;
        }
        s = parse(out, &file, file_size, &more, err);
        piece = more > 2 * piece ? more : 2 * piece; /* not past 2 IO_CAP_GGUF: more is not past it */
    } while (more);
    return s;
}

pe_status io_gguf_open(io_gguf **out, const char *path, pe_error *err)
{
    io_file f;
    *out = NULL;
    pe_status s = io_file_open(&f, path, err);
    if (s != PE_OK)
        return s;
    s = open_pieces(out, &f, err);
    io_file_close(&f);
    return s;
}

void io_gguf_free(io_gguf *g)
{
    if (!g)
        return;
    free(g->keys);
    free(g->tensors);
    io_bytes_free(&g->file);
    free(g);
}
