/* SPDX-License-Identifier: MIT
 *
 * Claims: order. */
#include "prove/prove.h"

const prove_group prove_group_order = { .name = "order", .title = { "order", "order" } };
