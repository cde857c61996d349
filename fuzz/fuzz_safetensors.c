/* SPDX-License-Identifier: MIT
 * max_len: 8192
 *
 * .safetensors: every tensor lies in the file, is found by its name, and is counted right. */
#include "harness.h"

#include <stdlib.h>

#define CONVERTED_MAX 4096 /* elements: the copies made on request are outside the reader's bound */

static void convert(const io_tensor *t)
{
    pe_error err;
    float *f32 = NULL;
    double *f64 = NULL;
    int64_t *i64 = NULL;
    if (t->count > CONVERTED_MAX)
        return;
    io_tensor_to_f32(&f32, t, &err);
    io_tensor_to_f64(&f64, t, &err);
    io_tensor_to_i64(&i64, t, &err);
    free(f32);
    free(f64);
    free(i64);
}

/* The sum keeps the reads. */
static void check_tensor(const io_safetensors *st, const io_tensor *t)
{
    volatile unsigned sum = 0;
    if (t->size != (size_t)t->count * io_type_size(t->type))
        harness_fail("a tensor of %lld elements has %zu bytes", (long long)t->count, t->size);
    for (size_t i = 0; i < t->size; i++)
        sum += t->bytes[i];
    (void)sum;
    if (io_safetensors_find(st, t->name) != t)
        harness_fail("a tensor is not found by its name");
    convert(t);
}

static void work(const uint8_t *data, size_t size)
{
    pe_error err;
    io_safetensors *st;
    io_bytes file = harness_bytes(data, size);
    size_t total = 0;
    if (io_safetensors_parse(&st, &file, &err))
        return;
    for (size_t i = 0; i < io_safetensors_count(st); i++) {
        check_tensor(st, io_safetensors_at(st, i));
        total += io_safetensors_at(st, i)->size;
    }
    if (total > size || io_safetensors_at(st, io_safetensors_count(st)))
        harness_fail("%zu bytes of tensors in %zu bytes", total, size);
    io_safetensors_meta(st, "format");
    io_safetensors_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
