/* SPDX-License-Identifier: MIT
 *
 * The files of a folder of checkpoints, by their steps. */
#ifndef POSENC_LAB_CHECKPOINT_H
#define POSENC_LAB_CHECKPOINT_H

#include "io/io.h"

#define CHECKPOINT_NAME_MAX 64

/* Ignores files that cannot be removed: the run does not depend on it. */
void checkpoint_remove_old(const char *folder, int64_t step, int keep); /* but the last `keep` up to step */

#endif
