/* SPDX-License-Identifier: MIT
 *
 * Claims: numbers. */
#include "prove/prove.h"

const prove_group prove_group_numbers = { .name = "numbers", .title = { "numbers", "numbers" } };
