/* SPDX-License-Identifier: MIT
 * max_len: 8192
 *
 * Models in one file: as they come, and with their seal made good, so that what lies behind it is reached. What is
 * taken has finite weights. */
#include "harness.h"
#include "io/safetensors.h"
#include "model/file.h"
#include "model/gemm.h"

#include <math.h>

static void try_file(io_bytes file)
{
    pe_error err = { 0 };
    model *m;
    pe_status bad = model_parse(&m, NULL, &file, NULL, &err);
    if (file.data)
        harness_fail("the file was not taken over");
    if (bad && (m || !err.text[0]))
        harness_fail("refused without a word, or with a model");
    if (bad)
        return;
    for (int i = 0; i < model_tensor_count(m); i++) {
        const model_tensor *t = model_tensor_at(m, i);
        for (int64_t n = 0; n < t->count; n++)
            if (!isfinite(model_weights(m)[t->offset + n]))
                harness_fail("%s has a number that is not finite", t->name);
    }
    model_free(m);
}

static void work(const uint8_t *data, size_t size)
{
    try_file(harness_bytes(data, size));
    io_bytes file = harness_bytes(data, size);
    io_safetensors_seal(&file, NULL, 0);
    try_file(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gemm_start(); /* the BLAS stays until the process ends: it is no input's */
    return harness_run(&harness_reader, work, data, size);
}
