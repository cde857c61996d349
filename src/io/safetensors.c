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

#define HEADER_CAP 100000000u /* MAX_HEADER_SIZE of the reference */

static int by_place(const void *a, const void *b)
{
    const io_tensor *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size); /* an empty one goes before what starts there */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const io_tensor *)a)->name, ((const io_tensor *)b)->name);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const io_pair *)a)->key, ((const io_pair *)b)->key);
}

static pe_status split(io_safetensors *st, size_t *header, pe_error *err)
{
    const uint8_t *p = st->file.data;
    uint64_t length = 0;
    if (st->file.size < 8)
        return io_fail(err, PE_ERR_FORMAT, "%s: has %zu bytes; a .safetensors file has 8 or more", st->file.name,
                       st->file.size);
    for (int i = 8; i-- > 0;)
        length = length << 8 | p[i];
    size_t left = st->file.size - 8;
    if (length > HEADER_CAP || length > left)
        return io_fail(err, PE_ERR_FORMAT, "%s: header of %llu bytes; the file has %zu left and %u are allowed",
                       st->file.name, (unsigned long long)length, left, HEADER_CAP);
    if (length == 0 || p[8] != '{')
        return io_fail(err, PE_ERR_FORMAT, "%s: header does not begin with {", st->file.name);
    *header = (size_t)length;
    st->data = p + 8 + *header;
    st->data_size = left - *header;
    return PE_OK;
}

static pe_status check_cover(io_safetensors *st, pe_error *err)
{
    const uint8_t *at = st->data;
    io_sort(st->tensors, st->count, sizeof *st->tensors, by_place);
    for (size_t i = 0; i < st->count; i++) {
        const io_tensor *t = &st->tensors[i];
        if (t->bytes != at)
            return io_fail(err, PE_ERR_FORMAT, "%s: %s before tensor %s", st->file.name,
                           t->bytes < at ? "tensors overlap" : "a hole", t->name);
        at += t->size;
    }
    size_t covered = (size_t)(at - st->data);
    if (covered != st->data_size)
        return io_fail(err, PE_ERR_FORMAT, "%s: %zu bytes after the last tensor", st->file.name,
                       st->data_size - covered);
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

pe_status io_safetensors_parse(io_safetensors **out, io_bytes *file, pe_error *err)
{
    *out = NULL;
    io_safetensors *st = calloc(1, sizeof *st);
    if (!st) {
        pe_status s = io_fail(err, PE_ERR_NOMEM, "%s: no memory", file->name);
        io_bytes_free(file);
        return s;
    }
    st->file = *file;
    *file = (io_bytes){ 0 };
    size_t header = 0;
    pe_status s = split(st, &header, err);
    if (s == PE_OK)
        s = io_safetensors_header(st, st->file.data + 8, header, err);
    if (s == PE_OK)
        s = check_cover(st, err);
    if (s == PE_OK)
        s = check_names(st, err);
    st->file.name = NULL; /* the caller's; not ours to keep */
    if (s == PE_OK)
        *out = st;
    else
        io_safetensors_free(st);
    return s;
}

pe_status io_safetensors_load(io_safetensors **out, const char *path, pe_error *err)
{
    *out = NULL;
    io_bytes file;
    pe_status s = io_read_file(&file, path, IO_CAP_DATA, err);
    return s == PE_OK ? io_safetensors_parse(out, &file, err) : s;
}

void io_safetensors_free(io_safetensors *st)
{
    if (!st)
        return;
    free(st->meta);
    free(st->tensors);
    io_bytes_free(&st->file);
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
