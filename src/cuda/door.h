/* SPDX-License-Identifier: MIT
 *
 * The door: what a call checks of its arguments on the host, before it enqueues anything: what base/door.h has, which
 * libposenc says too. Numbers in device memory are not looked at. */
#ifndef PE_CUDA_DOOR_H
#define PE_CUDA_DOOR_H

#include "base/door.h"
#include "cuda/cuda.h"

extern const dtypes types_vector; /* float32, float16 or bfloat16 */

static inline pe_status check_vector(pe_view *v, const char *name, extent size, use how, pe_error *err)
{
    return check_typed(v, name, size, &types_vector, how, err);
}

#endif
