/* SPDX-License-Identifier: MIT
 *
 * Attention on a problem small enough to look at, for whoever shows or measures its scores. */
#ifndef POSENC_ZOO_LOOK_H
#define POSENC_ZOO_LOOK_H

#include "posenc.h"

/* Inputs per token (pe_encoding_inputs) of tokens that are all alike, for whoever has no tokens: gates that forget at
 * one rate in each head, so that c is proportional to the position; one vector for all queries. What the encoding does
 * not take has no data. */
typedef struct zoo_alike {
    pe_view q_gates, k_gates, relative;
    double *memory;
} zoo_alike;
pe_status zoo_alike_new(zoo_alike *out, const pe_encoding *e, int64_t batch, pe_positions q, pe_positions k,
                        pe_error *err);
void zoo_alike_free(zoo_alike *a); /* zeroed is fine */

/* pe_reference_forward with work memory of its own. out and v may be left away where only scores or probabilities are
 * looked at; where inputs per token are left away, tokens are all alike. */
pe_status zoo_look(const pe_encoding *e, pe_attention a, pe_params w, pe_error *err);
/* What an encoding adds to scores, without q.k: tile->score becomes (score + terms before the scale) * scale + terms
 * after it. The score is float64 and packed; tokens are all alike. */
pe_status zoo_look_terms(const pe_encoding *e, const pe_tile *tile, pe_params w, double scale, pe_error *err);
const char *zoo_look_plain(void); /* the row without hooks: attention without an encoding */

#endif
