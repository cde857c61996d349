/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LAB_RELEASE_H
#define POSENC_LAB_RELEASE_H

#include "model/model.h"

/* Each training of a finished race as TO/SLUG-SEED.safetensors (model/file.h), with 8 or 32 bits; TO is made where it
 * is not there. written: after each file. A training that did not come to its end is PE_ERR_FORMAT. */
typedef void lab_released(void *with, const char *path, const model *m);
pe_status lab_release(const char *folder, const char *to, int bits, lab_released *written, void *with, pe_error *err);

#endif
