/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 90 s; needs: cuda threads; sanitize: no
 *
 * Attention on a GPU against the definition (cuda_attention_case.h). */
#include "cuda_attention_case.h"

static void case_ready(void)
{
    if (!gpu && pe_cuda_new(&gpu, NULL, &err))
        test_skip(err.text);
    if (!arena.host)
        arena_open();
}
