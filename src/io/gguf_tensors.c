/* SPDX-License-Identifier: MIT
 *
 * What the type numbers of GGUF stand for: values (gguf.h of ggml) and tensors (ggml.h, blocks of ggml-common.h).
 */
#include "gguf.h"

#include "checked.h"

#include <stdio.h>
#include <stdlib.h>

static const io_gguf_value_row value_rows[IO_GGUF_TYPE_COUNT] = {
    [IO_GGUF_U8] = { "u8", 1, IO_U8, IO_GGUF_WHOLE },
    [IO_GGUF_I8] = { "i8", 1, IO_I8, IO_GGUF_WHOLE },
    [IO_GGUF_U16] = { "u16", 2, IO_U16, IO_GGUF_WHOLE },
    [IO_GGUF_I16] = { "i16", 2, IO_I16, IO_GGUF_WHOLE },
    [IO_GGUF_U32] = { "u32", 4, IO_U32, IO_GGUF_WHOLE },
    [IO_GGUF_I32] = { "i32", 4, IO_I32, IO_GGUF_WHOLE },
    [IO_GGUF_F32] = { "f32", 4, IO_F32, IO_GGUF_REAL },
    [IO_GGUF_BOOL] = { "bool", 1, IO_BOOL, IO_GGUF_TRUTH },
    [IO_GGUF_STRING] = { "string", 0, IO_TYPE_COUNT, IO_GGUF_TEXT },
    [IO_GGUF_ARRAY] = { "array", 0, IO_TYPE_COUNT, IO_GGUF_LIST },
    [IO_GGUF_U64] = { "u64", 8, IO_U64, IO_GGUF_WHOLE },
    [IO_GGUF_I64] = { "i64", 8, IO_I64, IO_GGUF_WHOLE },
    [IO_GGUF_F64] = { "f64", 8, IO_F64, IO_GGUF_REAL },
};

#define PLAIN(size) 1, size, IO_TYPE_COUNT
#define BLOCK(count, size) count, size, IO_TYPE_COUNT

/* Left out: 4, 5, 31 to 33, 36 to 38, which ggml has removed. */
static const io_gguf_tensor_row tensor_rows[] = {
    [0] = { "F32", 1, 4, IO_F32 },
    [1] = { "F16", 1, 2, IO_F16 },
    [2] = { "Q4_0", BLOCK(32, 18) },
    [3] = { "Q4_1", BLOCK(32, 20) },
    [6] = { "Q5_0", BLOCK(32, 22) },
    [7] = { "Q5_1", BLOCK(32, 24) },
    [8] = { "Q8_0", BLOCK(32, 34) },
    [9] = { "Q8_1", BLOCK(32, 36) },
    [10] = { "Q2_K", BLOCK(256, 84) },
    [11] = { "Q3_K", BLOCK(256, 110) },
    [12] = { "Q4_K", BLOCK(256, 144) },
    [13] = { "Q5_K", BLOCK(256, 176) },
    [14] = { "Q6_K", BLOCK(256, 210) },
    [15] = { "Q8_K", BLOCK(256, 292) },
    [16] = { "IQ2_XXS", BLOCK(256, 66) },
    [17] = { "IQ2_XS", BLOCK(256, 74) },
    [18] = { "IQ3_XXS", BLOCK(256, 98) },
    [19] = { "IQ1_S", BLOCK(256, 50) },
    [20] = { "IQ4_NL", BLOCK(32, 18) },
    [21] = { "IQ3_S", BLOCK(256, 110) },
    [22] = { "IQ2_S", BLOCK(256, 82) },
    [23] = { "IQ4_XS", BLOCK(256, 136) },
    [24] = { "I8", PLAIN(1) },
    [25] = { "I16", PLAIN(2) },
    [26] = { "I32", PLAIN(4) },
    [27] = { "I64", PLAIN(8) },
    [28] = { "F64", 1, 8, IO_F64 },
    [29] = { "IQ1_M", BLOCK(256, 56) },
    [30] = { "BF16", 1, 2, IO_BF16 },
    [34] = { "TQ1_0", BLOCK(256, 54) },
    [35] = { "TQ2_0", BLOCK(256, 66) },
    [39] = { "MXFP4", BLOCK(32, 17) },
    [40] = { "NVFP4", BLOCK(64, 36) },
    [41] = { "Q1_0", BLOCK(128, 18) },
    [42] = { "Q2_0", BLOCK(64, 18) },
};

const io_gguf_value_row *io_gguf_value_type(uint32_t type)
{
    return type < IO_GGUF_TYPE_COUNT ? &value_rows[type] : NULL;
}

/* NULL if unknown */
static const io_gguf_tensor_row *io_gguf_tensor_type(uint32_t type)
{
    bool known = type < sizeof tensor_rows / sizeof tensor_rows[0] && tensor_rows[type].name;
    return known ? &tensor_rows[type] : NULL;
}

const char *io_gguf_type_name(io_gguf_type t)
{
    const io_gguf_value_row *row = io_gguf_value_type((uint32_t)t);
    return row ? row->name : "?";
}

/* ---------------------------------------------------------------- tensors */

/* The tensors of a GGUF file. They lie one after the other in the order of their infos, each padded to the alignment:
 * no hole, no overlap, nothing after the last, all of it inside the file. */

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

/* Of a tensor whose name was taken already, all but its offset, which is next then. */
static pe_status io_gguf_take_info(io_gguf_tensor *t, const io_gguf_tensor_row **row, io_gguf_cursor *c)
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
static pe_status place_tensor(reach *r, const io_gguf_tensor *t, uint64_t offset, const io_gguf *g,
                              const io_gguf_cursor *c)
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
    return s == PE_OK ? place_tensor(r, &t, offset, g, c) : s;
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

/* ---------------------------------------------------------------- tensor get */

/* The tensors of an open GGUF file: what and where they are, and the values of small ones. */

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

bool io_gguf_tensor_find(io_gguf_tensor *out, const io_gguf *g, const char *name)
{
    const char *found = io_gguf_search(g->tensors, g->tensor_count, name);
    *out = (io_gguf_tensor){ 0 };
    return found && decode(out, g, found);
}

/* From the file again, unless the piece that was read for the metadata holds it. */
static pe_status fetch(const uint8_t **bytes, uint8_t **owned, const io_gguf *g, const io_gguf_tensor *t, pe_error *err)
{
    io_file f;
    int64_t have = (int64_t)g->file.size;
    if (t->offset <= have && t->bytes <= have - t->offset) {
        *bytes = g->file.data + t->offset;
        return PE_OK;
    }
    pe_status s = io_file_open(&f, g->name, err);
    if (s != PE_OK)
        return s;
    *bytes = *owned = malloc(t->bytes ? (size_t)t->bytes : 1);
    if (f.size != (uint64_t)g->file_size)
        s = io_fail(err, PE_ERR_IO, "%s: has %lld bytes now; it had %lld when it was opened", g->name,
                    (long long)f.size, (long long)g->file_size);
    else if (!*owned)
        s = io_fail(err, PE_ERR_NOMEM, "%s: no memory for %lld bytes", g->name, (long long)t->bytes);
    else
        s = io_file_read(*owned, &f, (uint64_t)t->offset, (size_t)t->bytes, err);
    io_file_close(&f);
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
