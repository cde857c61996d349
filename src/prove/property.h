/* SPDX-License-Identifier: MIT
 *
 * What an ideal encoding would do, measured: one predicate per PE_CLAIM_, the same code for every row, in float64.
 *
 *     property_subject.c   an encoding with parameters and contents, where its positions end, its code
 *     property_code.c      the predicates of codes
 *     property.c           those of pairs of tokens and of vectors, and the list
 */
#ifndef POSENC_PROPERTY_H
#define POSENC_PROPERTY_H

#include "prove/measure.h"

#define PROPERTY_SEED UINT64_C(0x706f73656e63)

typedef struct property_verdict {
    property_outcome is;
    double number; /* what was measured */
} property_verdict;

typedef struct property_room property_room;
typedef struct property_subject property_subject;
typedef pe_status property_code(property_subject *s, const int64_t *at, int64_t n, double *out); /* out (n, size) */
typedef pe_status property_undo(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *,
                                pe_error *);

/* An encoding with parameters and contents, and the range of each coordinate that it serves. */
struct property_subject {
    char spec[1200];
    pe_encoding *e;
    pe_shape shape;
    pe_params w;
    double *q, *k; /* (H, D), (Hkv, D): contents, the same for every token; k is what q's group of heads shares */
    int64_t axes, size;
    int64_t low[PE_AXES_MAX], high[PE_AXES_MAX];
    property_code *code;
    property_undo *undo;
    uint64_t randomness;
    property_room *room; /* of the call at hand */
    pe_error err;        /* the first error: later results are meaningless */
};

pe_status property_open(property_subject *s, const char *spec, pe_shape shape, uint64_t seed, pe_error *err);
void property_close(property_subject *s); /* zeroed or half-built: fine */
/* The narrowest heads that the spec accepts: fewer unknowns, better conditioned, tables that cost little. */
pe_shape property_narrow_shape(const property_subject *s);

/* n zeroed numbers that live until they are released; NULL: no memory, and s->err says so. */
double *property_doubles(property_subject *s, int64_t n);
void property_release(property_subject *s, property_room *mark); /* what was taken since s->room was mark */

/* ---------------------------------------------------------------- positions */

pe_positions property_positions(const property_subject *s, const int64_t *at, int64_t n);
bool property_endless_axes(const property_subject *s);
bool property_serves(const property_subject *s, const int64_t *at);
int64_t property_clamp(int64_t x, int64_t low, int64_t high);
int64_t property_wide(property_subject *s, int64_t low, int64_t high); /* any magnitude is as likely as any other */
void property_random(property_subject *s, int64_t limit, int64_t *at);

/* ---------------------------------------------------------------- codes and pairs */

int64_t property_embed_size(const property_subject *s);
/* out (n, size) at positions inside the range; false: s->err says why. */
bool property_codes(property_subject *s, const int64_t *at, int64_t n, double *out);
/* The terms of one tile of packed contents: score (n, H, keys) becomes (score + terms) * scale + terms. */
pe_status property_terms(const property_subject *s, double *score, pe_view q, pe_view k, const int64_t *q_at,
                         const int64_t *k_at, double scale);

/* ---------------------------------------------------------------- predicates, in the order of the claim bits */

typedef property_verdict property_predicate(property_subject *s);
property_predicate property_unique, property_any_length, property_bounded, property_linear,
    property_axes; /* property_code.c */
/* One of them, by the number of its bit; what it took is released. */
pe_status property_ask(property_verdict *out, property_subject *s, int bit, pe_error *err);

#define PROPERTY_NOTHING ((property_verdict){ PROPERTY_NO_MEANING, (double)NAN })

#endif
