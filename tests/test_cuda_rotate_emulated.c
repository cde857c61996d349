/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 8 s; needs: cuda threads
 *
 * The cases of test_cuda_rotate without a GPU (gpu/emulated_cuda.c). */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#define EMULATED
#include "gpu/rotate_case.h"
