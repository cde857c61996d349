/* SPDX-License-Identifier: MIT */
#include "cuda/door.h"

const dtypes types_vector = { TYPE_BIT(PE_F32) | TYPE_BIT(PE_F16) | TYPE_BIT(PE_BF16),
                              "on a GPU needs PE_F32, PE_F16 or PE_BF16" };
