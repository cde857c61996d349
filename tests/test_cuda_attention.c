/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 90 s; needs: cuda threads; sanitize: no
 *
 * Attention on a GPU against the definition (gpu/attend_case.h). */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "gpu/attend_case.h"
