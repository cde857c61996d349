/* SPDX-License-Identifier: MIT
 *
 * Every score of a line of tokens, by the library's definition in float64: words get their codes, W_q and W_k make q
 * and k of them, the rest is attention. A word can be left out on either side, so that
 * only the effect of position remains there.
 */
#ifndef POSENC_SCORES_H
#define POSENC_SCORES_H

#include "prove/measure.h"

typedef struct scores {
    measure_encoding m;
    int64_t tokens, axes, width, size; /* size: T H T, of one matrix of scores */
    int64_t *at;                       /* (T, axes): 0, 1, .. along a line, or in the rows of a grid */
    double *x;                         /* (T, C), of deviation 1 */
    double *weight[2];                 /* (width, H D): W_q, W_k */
    double *y, *q, *k;
    double *bare[2]; /* (T, H D): the words, projected; of an encoding that adds nothing to them */
} scores;

/* Which words are there. */
enum { SCORES_NONE = 0, SCORES_QUERY = 1, SCORES_KEY = 2, SCORES_BOTH = 3 };

/* g->length tokens. Parameters start as the row says and are moved at random a little: some start at 0. */
pe_status scores_open(scores *s, const char *spec, const prove_given *g, pe_error *err);
void scores_close(scores *s); /* zeroed or half-built: fine */
/* out (T, H, T); 0 where a key is not seen. */
pe_status scores_make(double *out, scores *s, int words_there, pe_error *err);
/* The two steps of it: q and k in s; then the scores of what stands there. rotated: k is so already, as in a cache. */
pe_status scores_sides(scores *s, int words_there, pe_error *err);
pe_status scores_pairs(double *out, const scores *s, bool rotated, pe_error *err);
void scores_move(scores *s, int64_t by); /* every coordinate this far from where it began */
/* The same with every coordinate moved by this much. */
pe_status scores_shifted(double *out, scores *s, int words_there, int64_t by, pe_error *err);
/* The same with all tokens at one place. */
pe_status scores_alike(double *out, scores *s, int words_there, pe_error *err);
/* The size of a number of those that are seen: root of the mean square. */
double scores_rms(const double *x, const scores *s);

#endif
