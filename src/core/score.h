/* SPDX-License-Identifier: MIT
 *
 * What a part adds to scores and values: of one pair, and the loops over a tile. */
#ifndef PE_SCORE_H
#define PE_SCORE_H

#include "core/encoding.h"
#include "core/place.h"

double part_measure(const part *p, pe_params w, double distance);
int64_t part_place(const part *p, const int64_t *at);
int64_t place_by(const int64_t *weight, const int64_t *at, int64_t axes); /* wraps: hidden pairs may lie anywhere */
/* Whether what these hooks add is a function of the distance, or nothing of a position; not a row of a table. */
bool adds_between(const pe_encoding *e, unsigned hooks);
double part_entry(const part *p, pe_params w, const term *t, int64_t r, int64_t head, int64_t d); /* 0 outside */
void part_entry_grad(const part *p, pe_params dw, const term *t, int64_t r, int64_t head, int64_t d, double x);

/* One key more of a term that counts (core/score.c): what it sees of a query and head, and the count with this key. */
typedef struct step {
    const part *p;
    pe_params w, dw;
    int64_t head;
    vec q, dq;
    double sum;
} step;
double count_gate(const part *p, double dot);
double count_term(const step *s); /* the score term at s->sum */

/* A term that stands for q.k (core/polar.c); of a part that has one, or NULL. */
const part *polar_part(const pe_encoding *e);
double polar_size(double x);
double polar_slope(double x); /* of polar_size */
/* cos and sin (D) of the angle of a key this far after its query, or of a position; without the phase. */
void polar_angles(const part *p, double distance, double *c, double *s);
/* One pair of vectors with the angles of their distance. */
double polar_term(const part *p, pe_params w, int64_t kv_head, vec q, vec k, const double *c, const double *s);
void polar_content(const pe_encoding *e, const part *p, pe_params w, const pe_tile *t, const pe_tile_grad *g);

void score_content(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t);
void score_bias(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t);
void score_content_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g);
void score_bias_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g);
/* seen_stride: from one head's part of seen to the next; 0: one for all heads. */
void value_add(const pe_encoding *e, pe_params w, pe_view out, pe_view prob, pe_positions q_at, pe_positions k_at,
               const uint8_t *seen, int64_t seen_stride);
void value_back(const pe_encoding *e, pe_params w, pe_params dw, pe_view dprob, pe_view prob, pe_view dout,
                pe_positions q_at, pe_positions k_at, const uint8_t *seen, int64_t seen_stride);

/* "window: query at 0, 0 and key at 0, 7 are further apart than its table reaches; ..." */
pe_status fail_reach(const part *p, const int64_t *q, const int64_t *k, pe_error *err);
/* Every pair of the tile that a head sees (seen NULL: all) is within reach of every table that these hooks look into at
 * this pe_stage (-1: any). */
pe_status check_reach(const pe_encoding *e, unsigned hooks, int stage, const pe_tile *t, pe_error *err);

#endif
