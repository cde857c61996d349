/* SPDX-License-Identifier: MIT
 *
 * The tensors of an open GGUF file: what and where they are, and the values of small ones.
 */
#include "checked.h"
#include "file.h"
#include "gguf.h"

#include <stdlib.h>
#include <unistd.h>

size_t io_gguf_tensor_count(const io_gguf *g)
{
    return g->tensor_count;
}

/* What was checked at open is read again; it cannot fail. */
static const io_gguf_tensor_row *decode(io_gguf_tensor *out, const io_gguf *g, const char *name)
{
    const io_gguf_tensor_row *row = NULL;
    uint64_t offset = 0;
    size_t after = (size_t)((const uint8_t *)name - g->file.data) + io_gguf_length(name) + 1;
    io_gguf_cursor c = { g->file.data, after, g->file.size, g->file_size, 0, g->name, NULL };
    *out = (io_gguf_tensor){ .name = name };
    io_gguf_take_info(out, &row, &c);
    io_gguf_take_u64(&offset, &c, name);
    io_add_i64(&out->offset, g->data, (int64_t)offset);
    return row;
}

bool io_gguf_tensor_at(io_gguf_tensor *out, const io_gguf *g, size_t index)
{
    *out = (io_gguf_tensor){ 0 };
    return index < g->tensor_count && decode(out, g, g->tensors[index]);
}

bool io_gguf_tensor_find(io_gguf_tensor *out, const io_gguf *g, const char *name)
{
    const char *found = io_gguf_search(g->tensors, g->tensor_count, name);
    *out = (io_gguf_tensor){ 0 };
    return found && decode(out, g, found);
}

/* From the file again, unless the piece that was read for the metadata holds it. */
static pe_status fetch(const uint8_t **bytes, uint8_t **owned, const io_gguf *g, const io_gguf_tensor *t, pe_error *err)
{
    int fd;
    int64_t size, have = (int64_t)g->file.size;
    if (t->offset <= have && t->bytes <= have - t->offset) {
        *bytes = g->file.data + t->offset;
        return PE_OK;
    }
    pe_status s = io_open_file(&fd, &size, g->name, err);
    if (s != PE_OK)
        return s;
    *bytes = *owned = malloc(t->bytes ? (size_t)t->bytes : 1);
    if (size != g->file_size)
        s = io_fail(err, PE_ERR_IO, "%s: has %lld bytes now; it had %lld when it was opened", g->name, (long long)size,
                    (long long)g->file_size);
    else if (!*owned)
        s = io_fail(err, PE_ERR_NOMEM, "%s: no memory for %lld bytes", g->name, (long long)t->bytes);
    else
        s = io_read_at(*owned, (size_t)t->bytes, t->offset, fd, g->name, err);
    close(fd);
    return s;
}

pe_status io_gguf_tensor_read_f32(float **out, const io_gguf *g, const io_gguf_tensor *t, pe_error *err)
{
    io_gguf_tensor own;
    *out = NULL;
    const char *found = io_gguf_search(g->tensors, g->tensor_count, t->name); /* not the caller's numbers, the file's */
    const io_gguf_tensor_row *row = found ? decode(&own, g, found) : NULL;
    if (!row)
        return io_fail(err, PE_ERR_FORMAT, "%s: no tensor is named %s", g->name, t->name);
    if (row->type == IO_TYPE_COUNT)
        return io_fail(err, PE_ERR_DTYPE, "%s: tensor %s is %s; needs F32, F16, BF16 or F64", g->name, own.name,
                       row->name);
    if (own.bytes > (int64_t)IO_GGUF_READ_MAX)
        return io_fail(err, PE_ERR_RANGE, "%s: tensor %s has %lld bytes; at most %zu are read", g->name, own.name,
                       (long long)own.bytes, IO_GGUF_READ_MAX);
    uint8_t *owned = NULL;
    io_tensor flat = { .name = own.name, .type = row->type, .count = own.count };
    pe_status s = fetch(&flat.bytes, &owned, g, &own, err);
    if (s == PE_OK)
        s = io_tensor_to_f32(out, &flat, err);
    free(owned);
    return s;
}
