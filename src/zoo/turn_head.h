/* SPDX-License-Identifier: MIT
 *
 * One head of a rotation, in float64, whether its frequencies are fixed or trained, for all heads or for each. */
#ifndef POSENC_ZOO_TURN_HEAD_H
#define POSENC_ZOO_TURN_HEAD_H

#include "posenc.h"

int64_t zoo_turn_heads(const pe_encoding *e); /* key heads that rotate each in their own way; 1: all alike */

/* cosine and sine (1, tokens, 1, pairs), or y and x (1, tokens, 1, head_dim), of a query head or its key head. */
pe_status zoo_turn_table(pe_view cosine, pe_view sine, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                         pe_positions at, pe_error *err);
pe_status zoo_turn_head(pe_view y, pe_view x, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                        pe_positions at, pe_error *err);

#endif
