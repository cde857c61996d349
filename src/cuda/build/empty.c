/* SPDX-License-Identifier: MIT
 *
 * No kernel is built in: a library that was built without a compiler, and the program that makes the bundle. */
#include "cuda/bundle.h"

const bundle_head cuda_bundle = { BUNDLE_MAGIC, 0, 0 };
