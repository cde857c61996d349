/* SPDX-License-Identifier: MIT
 *
 * The exact spec from what was asked for and where it is used. Keys that follow from the use (pe_info.key_*) are filled
 * in where the asker left them out:
 *
 *     asked           trained at 256                tested at 1024
 *     rope            rope                          rope
 *     learned         learned:rows=256              learned:rows=256
 *     hierarchical    learned:rows=256              hierarchical:rows=256          parameters of learned
 *     rope:scaling=yarn   rope                      rope:scaling=yarn,factor=4,trained=256
 *     transformer-xl  transformer-xl:back=256       transformer-xl:back=1024
 */
#ifndef POSENC_LAB_SPECS_H
#define POSENC_LAB_SPECS_H

#include "posenc.h"

/* malloc'ed, the caller's to free; NULL: out of memory. Whether a text is a spec is for pe_encoding_new to say; what is
 * none comes back as it is. */
char *lab_spec_trained(const char *spec, int64_t trained, bool causal);
char *lab_spec_at(const char *spec, int64_t trained, int64_t length, bool causal);

#endif
