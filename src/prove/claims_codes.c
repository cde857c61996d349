/* SPDX-License-Identifier: MIT
 *
 * Claims: codes. */
#include "prove/prove.h"

const prove_group prove_group_codes = { .name = "codes", .title = { "codes", "codes" } };
