/* SPDX-License-Identifier: MIT
 *
 * Writes .npy 1.0, the same bytes as numpy.save.
 */
#include "checked.h"
#include "types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PREFIX 10 /* magic, version, length */
#define ALIGN 64  /* elements start at a multiple of this */
#define GROWTH 21 /* NumPy leaves room for the first size to grow to 2^64 in place */

static int append(char *text, int at, const char *fmt, ...) IO_PRINTF(3, 4);
static int append(char *text, int at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text + at, IO_NPY_HEADER_MAX - (size_t)at, fmt, args);
    va_end(args);
    return at + n; /* eight sizes of 19 digits are far from the end */
}

static int append_dict(char *text, int at, const io_array *a, const char *descr)
{
    at = append(text, at, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    int first = 0;
    for (int i = 0; i < a->rank; i++) {
        int before = at;
        at = append(text, at, "%s%lld", i ? ", " : "", (long long)a->shape[i]);
        if (i == 0)
            first = at - before;
    }
    at = append(text, at, "%s), }", a->rank == 1 ? "," : "");
    return a->rank ? append(text, at, "%*s", GROWTH - first, "") : at;
}

pe_status io_npy_header(char header[IO_NPY_HEADER_MAX], size_t *size, const io_array *a, pe_error *err)
{
    *size = 0;
    int64_t count;
    const io_type_row *row = io_type_get(a->type == IO_BF16 ? IO_U16 : a->type);
    if (!row || !row->npy[0])
        return io_fail(err, PE_ERR_DTYPE, "npy: has no type for %s", io_type_name(a->type));
    if (a->rank < 0 || a->rank > IO_RANK_MAX)
        return io_fail(err, PE_ERR_SHAPE, "npy: rank is %d; needs 0 to %d", a->rank, IO_RANK_MAX);
    if (!io_shape_count(&count, a->shape, a->rank))
        return io_fail(err, PE_ERR_OVERFLOW, "npy: a size is negative or their product does not fit 64 bits");
    if (count != a->count)
        return io_fail(err, PE_ERR_SHAPE, "npy: count is %lld; the shape makes %lld", (long long)a->count,
                       (long long)count);
    int at = append_dict(header, PREFIX, a, row->npy);
    int end = ((at + 1) / ALIGN + 1) * ALIGN; /* a whole ALIGN where none is needed: NumPy's way */
    int length = end - PREFIX;
    memset(header + at, ' ', (size_t)(end - at));
    header[end - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(length & 0xFF);
    header[9] = (char)(length >> 8);
    *size = (size_t)end;
    return PE_OK;
}

pe_status io_npy_save(const char *path, const io_array *a, pe_error *err)
{
    char header[IO_NPY_HEADER_MAX];
    size_t size, bytes;
    pe_status s = io_npy_header(header, &size, a, err);
    if (s != PE_OK)
        return s;
    if (!io_byte_count(&bytes, a->count, io_type_size(a->type)))
        return io_fail(err, PE_ERR_OVERFLOW, "npy: %lld elements do not fit", (long long)a->count);
    if (bytes && !a->data)
        return io_fail(err, PE_ERR_NULL, "npy: data is NULL; the shape makes %zu bytes", bytes);
    io_span parts[] = { { header, size }, { a->data, bytes } };
    return io_write_file(path, parts, 2, err);
}
