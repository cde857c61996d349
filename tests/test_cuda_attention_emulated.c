/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 70 s; needs: cuda threads; sanitize: all
 *
 * The cases of test_cuda_attention without a GPU (gpu/emulated_cuda.c): the host's side, rotation, biases and the
 * kernels for GPUs before Hopper, whose own need its instructions. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#define EMULATED
#include "gpu/attend_case.h"
