/* SPDX-License-Identifier: MIT
 *
 * Rotations, for their loops: plans, tables of cos and sin, frequencies that are trained, views to be rotated. */
#ifndef PE_ROTATION_H
#define PE_ROTATION_H

#include "core/door.h"
#include "core/encoding.h"
#include "core/place.h"

/* Pairs that one coordinate drives in the same steps, at * multiplier + shift; still: their frequency is 0. */
typedef struct rotation_span {
    int64_t first, count;
    int64_t axis, multiplier, shift;
    bool still;
} rotation_span;

/* Elements first .. first + count - 1. */
typedef struct rest_range {
    int64_t first, count;
} rest_range;

#define STEPS_MAX                                                                                                      \
    64 /* positions that share a base: n = steps b + r, cos and sin of n f are the base's rotated by r                 \
        */
#define STEP_BYTES 131072 /* of their cos and sin; fewer steps for many pairs */
#define SPANS_MAX 16

/* A rotation prepared for its loops, from the pairs and lanes that init gave (core/encoding.c). */
typedef struct rotation_plan {
    pair_run *run[2]; /* x to y, and from and to exchanged: what rotates back */
    int runs[2];
    bool moves;       /* a pair is not written where it was read */
    rest_range *rest; /* elements that do not rotate */
    int rests;
    double *frequency; /* (3, pairs); exact angles only, as all that follows */
    rotation_span *span;
    int spans;     /* 0: too many to be worth it */
    int64_t steps; /* a power of two */
    double *step;  /* (steps, 2, pairs) cos and sin of 0 .. steps - 1 steps */
} rotation_plan;

typedef struct rotation_mode {
    bool negate, reciprocal;
} rotation_mode;

static inline double gain_at(const part *p, pe_side side, const int64_t *at)
{
    return p->gains ? p->row->gain(p, side, at) : 1;
}

/* Makes rows of cos and sin, one token after another (core/table.c): what it remembers from one to the next. */
typedef struct table_maker {
    const kernels *k;
    const part *p;
    pe_side side;
    rotation_mode mode;
    struct {
        bool made;
        int64_t block;
        double size;
    } at[SPANS_MAX]; /* which base each span has */
    double *base;    /* (2, pairs) */
} table_maker;
/* base: memory for PE_HEAD_DIM_MAX numbers; NULL where only rows of float64 are made. */
void table_start(table_maker *m, double *base, const kernels *k, const part *p, pe_side side, rotation_mode mode);
void table_row_f32(table_maker *m, float *c, float *s, const spot *at); /* (pairs) */
void table_row_f64(table_maker *m, double *c, double *s, const spot *at);

/* Frequencies that are parameters (core/trained.c). */
int64_t trained_heads(const part *p);                          /* 1 where they are not */
int64_t trained_head(const part *p, int64_t heads, int64_t h); /* whose frequencies head h of a view with so many has */
/* The signed and sized cos and sin of one head's pairs. */
void trained_row(const part *p, pe_params w, int64_t head, pe_side side, rotation_mode mode, const spot *at, double *c,
                 double *s);
int64_t trained_ledger(const part *p); /* numbers of one head's parameters; 0 where nothing is trained */
bool trained_wants_x(const part *p);   /* whether their gradients are asked with x; else with y */
/* sum (ledger) += the gradient of the parameters that rotated x into y. */
void trained_grad(const part *p, const spot *at, vec x, vec y, vec dy, double *sum);
/* The same, added to the parameters' gradient at once. */
void trained_back(const part *p, pe_params dw, int64_t head, const spot *at, vec x, vec y, vec dy);
void trained_store(const part *p, pe_params dw, int64_t head, const double *sum);
void trained_angle(const part *p, pe_params w, int64_t head, const double *at, int64_t n, double *c, double *s);
region trained_region(const part *p, pe_params w); /* what a call reads of them */
/* Parameters, and a view's heads, where frequencies are trained. */
pe_status check_trained(const pe_encoding *e, const part *p, pe_params w, int64_t heads, pe_error *err);

double pair_frequency(const pair *p); /* radians per position */

/* The part that rotates this side, or NULL: the identity. */
const part *rotating_part(const pe_encoding *e, pe_side side);
pe_status check_rotation(const part *p, pe_side side, pe_dtype type, pe_positions at, pe_error *err);
bool rotates_between(const part *p); /* whether it rotates at positions between whole ones too; of NULL: it does */

/* A view to be rotated, and its table; the arguments of rotate_tokens. */
typedef struct rotation_job {
    const kernels *k;
    const part *p;
    pe_side side;
    rotation_mode mode;
    pe_view y, x;
    pe_positions at;
    pe_params w;         /* of frequencies that are trained, */
    int64_t head, heads; /* and which of so many heads the view's first is; 0 heads: the view has them all */
    int64_t shift;       /* taken from first coordinates */
    pe_table table;      /* cosine.data NULL: made on the fly */
} rotation_job;
/* Views of jobs[0 .. count-1], all with the same batch and tokens, in blocks of tokens over the pool. Those after the
 * first whose table is `shared` use the first's. */
void rotate_tokens(const rotation_job *jobs, int count, bool shared, const pe_pool *pool);
void copy_view(pe_view y, pe_view x); /* y = x, any types */

void rotate_view(const part *p, pe_params w, pe_side side, rotation_mode mode, pe_view y, pe_view x, pe_positions at,
                 int64_t shift);

#endif
