/* SPDX-License-Identifier: MIT
 * max_len: 8192
 *
 * Checkpoints: as they come, and with their seal made good, so that what lies behind it is reached. What is refused
 * leaves model and state as they were; what is taken is a state that a run can go on from. */
#include "../tests/run_case.h"
#include "harness.h"
#include "io/safetensors.h"

#include <stdlib.h>

static model *into;
static adam moments;
static real *before; /* weights, and moments of 0, as they are in front of each input */

static size_t third(void)
{
    return (size_t)model_count(into) * sizeof(real);
}

static void set_up(void)
{
    pe_error err;
    if (into)
        return;
    if (run_smallest(&into, &moments, 4, &err))
        harness_fail("%s", err.text);
    before = calloc(2, third());
    if (!before)
        harness_fail("no memory");
    memcpy(before, model_weights(into), third());
}

static void reset(void)
{
    memcpy(model_weights(into), before, third());
    memset(moments.first, 0, third());
    memset(moments.second, 0, third());
    moments.step = 0;
}

static bool as_before(const checkpoint_state *s)
{
    static const checkpoint_state none;
    int64_t n = model_count(into);
    return memcmp(model_weights(into), before, third()) == 0 && memcmp(moments.first, before + n, third()) == 0 &&
           memcmp(moments.second, before + n, third()) == 0 && moments.step == 0 && memcmp(s, &none, sizeof none) == 0;
}

static void try_file(io_bytes *file)
{
    pe_error err = { 0 };
    checkpoint_state s;
    memset(&s, 0, sizeof s);
    pe_status bad = checkpoint_parse(file, into, &moments, &s, RUN_CONFIG, &err);
    if (file->data)
        harness_fail("the file was not taken over");
    if (bad && (!as_before(&s) || !err.text[0]))
        harness_fail("refused, and something changed: %s", err.text);
    if (!bad && (s.step < 0 || s.log_size < 0 || moments.step < 0 || !isfinite(s.seconds) || s.config != RUN_CONFIG ||
                 !memchr(s.trained, 0, sizeof s.trained)))
        harness_fail("a state that no run can go on from");
    if (!bad)
        reset();
}

static void work(const uint8_t *data, size_t size)
{
    io_bytes file = harness_bytes(data, size);
    try_file(&file);
    file = harness_bytes(data, size);
    io_safetensors_seal(&file, NULL, 0);
    try_file(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    set_up();
    return harness_run(&harness_reader, work, data, size);
}
