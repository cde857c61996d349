/* SPDX-License-Identifier: MIT */
#include "io/io.h"

int64_t io_position(pe_positions p, int64_t token, int64_t axis)
{
    int64_t at = p.start + token * p.step;
    return p.data ? at + ((const int64_t *)p.data)[token * p.token_stride + axis * p.axis_stride] : at;
}
