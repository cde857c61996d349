/* SPDX-License-Identifier: MIT
 *
 * Attention on a problem small enough to look at, for whoever shows or measures its scores. */
#ifndef POSENC_ZOO_LOOK_H
#define POSENC_ZOO_LOOK_H

#include "posenc.h"

/* pe_reference_forward with work memory of its own. out and v may be left away where only scores or probabilities are
 * looked at. */
pe_status zoo_look(const pe_encoding *e, pe_attention a, pe_params w, pe_error *err);
/* What an encoding adds to scores, without q.k: tile->score becomes (score + terms before the scale) * scale + terms
 * after it. The score is float64 and packed. */
pe_status zoo_look_terms(const pe_encoding *e, const pe_tile *tile, pe_params w, double scale, pe_error *err);
const char *zoo_look_plain(void); /* the row without hooks: attention without an encoding */

#endif
