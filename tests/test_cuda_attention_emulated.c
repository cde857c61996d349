/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 50 s; needs: cuda threads; sanitize: no
 *
 * Attention of the GPU library without a GPU: the whole library with a driver that runs kernels on the CPU (emulated_cuda.c).
 * It has the host's side, rotation, biases and attend_simt; attend_hopper needs its instructions. */
#define _POSIX_C_SOURCE 200809L
#include "cuda_attention_case.h"

static void case_ready(void)
{
    char path[1000];
    const char *build = getenv("POSENC_BUILD"), *compiler = getenv("CXX");
    snprintf(path, sizeof path, "%s --version >/dev/null 2>&1", compiler ? compiler : "c++");
    emulated = true;
    if (gpu)
        return;
    if (system(path))
        test_skip("there is no C++ compiler (CXX or c++)");
    snprintf(path, sizeof path, "%s/tests/libemulated_cuda.so", build ? build : "build");
    assert_ok(pe_cuda_new(&gpu, &PE_MAKE(pe_cuda_options, .cache = "", .driver = path, .compiler = path), &err));
    arena_open();
}
