/* SPDX-License-Identifier: MIT
 *
 * Claims: terms. */
#include "prove/prove.h"

const prove_group prove_group_terms = { .name = "terms", .title = { "terms", "terms" } };
