/* SPDX-License-Identifier: MIT
 *
 * Claims: relative. */
#include "prove/prove.h"

const prove_group prove_group_relative = { .name = "relative", .title = { "relative", "relative" } };
