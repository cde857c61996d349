/* SPDX-License-Identifier: MIT
 *
 * Claims: sinusoids. */
#include "prove/prove.h"

const prove_group prove_group_sinusoids = { .name = "sinusoids", .title = { "sinusoids", "sinusoids" } };
