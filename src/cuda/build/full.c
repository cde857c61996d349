/* SPDX-License-Identifier: MIT
 *
 * The kernels that are built in. */
#include "cuda/embed.h"

EMBED(cuda_bundle, "posenc_cuda.bundle");
