/* SPDX-License-Identifier: MIT
 *
 * The tensors of a GGUF file. They lie one after the other in the order of their infos, each padded to the alignment:
 * no hole, no overlap, nothing after the last, all of it inside the file.
 */
#include "checked.h"
#include "gguf.h"

#include <stdio.h>

#define TENSOR_MIN (8 + 1 + 4 + 4 + 8) /* length, one character, rank 0, type, offset */
#define NAME_LENGTH_MAX 63             /* what ggml has room for */

/* The least multiple of alignment, a power of two, that is at or more. */
static bool pad(int64_t *out, int64_t at, int64_t alignment)
{
    bool fits = io_add_i64(out, at, alignment - 1);
    *out &= ~(alignment - 1);
    return fits;
}

static pe_status take_shape(io_gguf_tensor *t, io_gguf_cursor *c)
{
    uint32_t rank;
    pe_status s = io_gguf_take_u32(&rank, c, t->name);
    if (s != PE_OK)
        return s;
    if (rank > IO_GGUF_RANK_MAX)
        return io_fail(c->err, PE_ERR_SHAPE, "%s: tensor %s has %lu dimensions; at most %d", c->name, t->name,
                       (unsigned long)rank, IO_GGUF_RANK_MAX);
    for (int i = 0; i < IO_GGUF_RANK_MAX; i++)
        t->shape[i] = 1;
    for (t->rank = 0; t->rank < (int)rank; t->rank++) { /* fits: IO_GGUF_RANK_MAX */
        uint64_t size;
        s = io_gguf_take_u64(&size, c, t->name);
        if (s != PE_OK)
            return s;
        if (size > INT64_MAX)
            return io_fail(c->err, PE_ERR_SHAPE, "%s: tensor %s has %llu for a size; needs 0 to 2^63 - 1", c->name,
                           t->name, (unsigned long long)size);
        t->shape[t->rank] = (int64_t)size;
    }
    return PE_OK;
}

static pe_status take_type(io_gguf_tensor *t, const io_gguf_tensor_row **row, io_gguf_cursor *c)
{
    uint32_t type;
    pe_status s = io_gguf_take_u32(&type, c, t->name);
    if (s != PE_OK)
        return s;
    *row = io_gguf_tensor_type(type);
    if (!*row)
        return io_fail(c->err, PE_ERR_DTYPE, "%s: tensor %s has type %lu, which ggml does not have", c->name, t->name,
                       (unsigned long)type);
    t->type = (*row)->name;
    return PE_OK;
}

static pe_status count_bytes(io_gguf_tensor *t, const io_gguf_tensor_row *row, const io_gguf_cursor *c)
{
    if (t->shape[0] % row->block != 0)
        return io_fail(c->err, PE_ERR_SHAPE, "%s: tensor %s has rows of %lld; %s needs a multiple of %lld", c->name,
                       t->name, (long long)t->shape[0], row->name, (long long)row->block);
    if (!io_shape_count(&t->count, t->shape, t->rank) || !io_mul_i64(&t->bytes, t->count / row->block, row->bytes))
        return io_fail(c->err, PE_ERR_OVERFLOW, "%s: the shape of tensor %s does not fit 64 bits", c->name, t->name);
    return PE_OK;
}

pe_status io_gguf_take_info(io_gguf_tensor *t, const io_gguf_tensor_row **row, io_gguf_cursor *c)
{
    pe_status s = take_shape(t, c);
    if (s == PE_OK)
        s = take_type(t, row, c);
    return s == PE_OK ? count_bytes(t, *row, c) : s;
}

/* How far the tensors so far reach, from where they begin: without and with the padding of the last. */
typedef struct reach {
    int64_t used, padded;
} reach;

/* Whether the file goes that far is told once the beginning is known, which comes after all infos; here no sum wraps,
 * and more bytes than the file has are refused. */
static pe_status place(reach *r, const io_gguf_tensor *t, uint64_t offset, const io_gguf *g, const io_gguf_cursor *c)
{
    if (offset != (uint64_t)r->padded)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: tensor %s has offset %llu; %lld is where the one before it ends",
                       c->name, t->name, (unsigned long long)offset, (long long)r->padded);
    if (!io_add_i64(&r->used, r->padded, t->bytes) || !pad(&r->padded, r->used, g->alignment) || r->used > g->file_size)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: tensor %s has %lld bytes at offset %llu; the file has %lld in all",
                       c->name, t->name, (long long)t->bytes, (unsigned long long)offset, (long long)g->file_size);
    return PE_OK;
}

static pe_status take_tensor(const char **name, reach *r, const io_gguf *g, io_gguf_cursor *c, size_t number)
{
    char what[48];
    uint64_t offset;
    io_gguf_tensor t = { 0 };
    const io_gguf_tensor_row *row;
    snprintf(what, sizeof what, "the name of tensor %zu", number);
    pe_status s = io_gguf_take_name(&t.name, c, NAME_LENGTH_MAX, what);
    if (s == PE_OK)
        s = io_gguf_take_info(&t, &row, c);
    if (s == PE_OK)
        s = io_gguf_take_u64(&offset, c, t.name);
    *name = t.name;
    return s == PE_OK ? place(r, &t, offset, g, c) : s;
}

/* The last tensor may come without its padding. */
static pe_status check_end(io_gguf *g, const io_gguf_cursor *c, int64_t used)
{
    int64_t end, padded;
    if (!pad(&g->data, (int64_t)c->at, g->alignment) ||
        !io_add_i64(&end, g->tensor_count ? g->data : (int64_t)c->at, used) || !pad(&padded, end, g->alignment))
        return io_fail(c->err, PE_ERR_OVERFLOW, "%s: its tensors end past 2^63", c->name);
    if (end > g->file_size)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: its tensors end at byte %lld; the file ends at %lld", c->name,
                       (long long)end, (long long)g->file_size);
    if (padded < g->file_size)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: has %lld bytes after its last tensor", c->name,
                       (long long)(g->file_size - padded));
    return PE_OK;
}

pe_status io_gguf_tensors(io_gguf *g, io_gguf_cursor *c, uint64_t count)
{
    reach r = { 0, 0 };
    pe_status s = io_gguf_table(&g->tensors, c, count, TENSOR_MIN, "tensors");
    if (s != PE_OK)
        return s;
    g->tensor_count = (size_t)count;
    for (size_t i = 0; s == PE_OK && i < g->tensor_count; i++)
        s = take_tensor(&g->tensors[i], &r, g, c, i);
    if (s == PE_OK)
        s = io_gguf_sort(g->tensors, g->tensor_count, c, "tensor");
    return s == PE_OK ? check_end(g, c, r.used) : s;
}
