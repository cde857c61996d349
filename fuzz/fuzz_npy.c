/* SPDX-License-Identifier: MIT
 * max_len: 4096
 *
 * .npy: what is read can be written and is read again as the same. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define CONVERTED_MAX 4096 /* elements: the copies made on request are outside the reader's bound */

static void convert(const io_array *a)
{
    pe_error err;
    float *f32 = NULL;
    double *f64 = NULL;
    int64_t *i64 = NULL;
    if (a->count > CONVERTED_MAX)
        return;
    io_array_to_f32(&f32, a, &err);
    io_array_to_f64(&f64, a, &err);
    io_array_to_i64(&i64, a, &err);
    free(f32);
    free(f64);
    free(i64);
}

static void check_same(const io_array *a, const io_array *b)
{
    if (a->type != b->type || a->rank != b->rank || a->count != b->count ||
        memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) ||
        (a->count && memcmp(a->data, b->data, (size_t)a->count * io_type_size(a->type))))
        harness_fail("an array that was written is read as another");
}

static void write_and_read(const io_array *a, unsigned flags)
{
    pe_error err;
    char header[IO_NPY_HEADER_MAX];
    size_t size, bytes = (size_t)a->count * io_type_size(a->type);
    io_array again;
    if (io_npy_header(header, &size, a, &err))
        harness_fail("an array that was read cannot be written: %s", err.text);
    io_bytes file = { malloc(size + bytes + 1), size + bytes, "again" };
    if (!file.data)
        return;
    memcpy(file.data, header, size);
    if (bytes)
        memcpy(file.data + size, a->data, bytes);
    file.data[file.size] = 0;
    pe_status s = io_npy_parse(&again, &file, flags, &err);
    io_bytes_free(&file);
    if (s)
        harness_fail("an array that was written cannot be read: %s", err.text);
    check_same(a, &again);
    io_array_free(&again);
}

static void work(const uint8_t *data, size_t size)
{
    for (unsigned flags = 0; flags <= IO_NPY_BF16; flags++) {
        pe_error err;
        io_array a;
        io_bytes file = harness_bytes(data, size);
        pe_status s = io_npy_parse(&a, &file, flags, &err);
        io_bytes_free(&file);
        if (s)
            continue;
        convert(&a);
        write_and_read(&a, flags);
        io_array_free(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
