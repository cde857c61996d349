/* SPDX-License-Identifier: MIT
 *
 * Claims: rope. */
#include "prove/prove.h"

const prove_group prove_group_rope = { .name = "rope", .title = { "rope", "rope" } };
