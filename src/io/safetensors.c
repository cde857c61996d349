/* SPDX-License-Identifier: MIT
 *
 * Reads .safetensors (github.com/huggingface/safetensors): 8 bytes of length, a JSON header, data. The data is covered
 * by the tensors exactly: no hole, no overlap, nothing after the last, so that nothing can hide in a file.
 */
#include "checked.h"
#include "safetensors.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

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
        return io_fail(err, PE_ERR_FORMAT, "%s: has %zu bytes; a .safetensors file has 8 or more", st->file.name, size);
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

pe_status io_safetensors_load(io_safetensors **out, const char *path, pe_error *err)
{
    *out = NULL;
    io_bytes file;
    pe_status s = io_read_file(&file, path, IO_CAP_DATA, err);
    return s == PE_OK ? io_safetensors_parse(out, &file, err) : s;
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

pe_status io_safetensors_get(const io_tensor **out, const io_safetensors *st, const char *name, pe_error *err)
{
    *out = io_safetensors_find(st, name);
    return *out ? PE_OK : io_fail(err, PE_ERR_FORMAT, "no tensor is named %s; there are %zu others", name, st->count);
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
