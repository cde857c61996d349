/* SPDX-License-Identifier: MIT
 *
 * NEON needs no leave: every 64-bit ARM has it, and half floats. */
#include "kernels/rung_begin.h"
