/* SPDX-License-Identifier: MIT
 *
 * One head of attention on a sentence. */
#ifndef POSENC_SHOW_ATTEND_H
#define POSENC_SHOW_ATTEND_H

#include "show/views.h"

/* prob (T, T): what each word attends to, by the request's head, whose projections are drawn with the seed. Equal words
 * have equal contents. with: with the encoding; causal: keys after the query get 0. */
pe_status attend_words(double *prob, const show_sentence *w, const show_subject *s, const show_request *r,
                       pe_positions where, bool with, bool causal, pe_error *err);

#endif
