/* SPDX-License-Identifier: MIT
 *
 * Terms by table: which rows a tile needs, and what they add. Columns of q T^t are made as tiles of keys first need
 * them and kept in a ring; T k^t is made per tile. Either costs a product per (query, row) or (row, key), never per
 * pair. Three files: the tables (lookups.c), a tile's scores and values (lookups_add.c), their gradients
 * (lookups_back.c). */
#ifndef PE_LOOKUPS_H
#define PE_LOOKUPS_H

#include "attention/fused.h"

enum { LOOKUPS_MAX = PARTS_MAX * TERMS_MAX };

/* Columns are the rows of the table in the order in which rising keys meet them. */
typedef struct lookup {
    const struct lookup *plan; /* whose tables it takes over; NULL: none */
    const part *p;
    const term *t;
    const spacing *w;
    pe_lowered_lookup form; /* what tiles read */
    double factor;          /* the scale, where it comes before it */
    bool before;
    bool meets;             /* of keys: a row that a whole tile has is added to the queries   */
    int64_t first;          /* column 0 is table row first, or the last one where flip is set */
    bool flip;              /* column = last row - row                                       */
    bool odd;               /* rows neither rise nor fall with the distance, or no table: pair by pair */
    bool finite;            /* its table                                                     */
    int32_t *column, *even; /* (total) by falling distance; even > 0: columns rise by one for so many; < 0: stay */
    float *panels;          /* (heads of the table, columns / PANEL, depth, PANEL) */
    float *rows;            /* (heads of the table, columns, width), what form points to */
    float *extra;           /* (H, width) */
    int64_t depth, width;   /* elements of a vector, and padded */
    float *drows;  /* (copies, columns, width): a copy per split and head, or per item where heads share the table */
    float *dextra; /* (splits, H, width) */
} lookup;

typedef struct lookups {
    lookup lookup[LOOKUPS_MAX];
    int count;
} lookups;

typedef struct worker_lookups {
    float *E;              /* (NEED, BK)   products or weights by column, of a tile or a panel */
    float *A[LOOKUPS_MAX]; /* (BQ, width)  queries as a term takes them, once taken    */
    bool taken[LOOKUPS_MAX];
    float *G[LOOKUPS_MAX];                  /* (BQ, ring)   q T^t                                       */
    int64_t tag[LOOKUPS_MAX][RING / PANEL]; /* which panel is in a place of the ring    */
} worker_lookups;

static inline lookups *lookups_of(const fused *f)
{
    return kind_of(f, &kind_lookups);
}

static inline worker_lookups *lookups_worker(const scratch *s)
{
    return kind_worker(s, &kind_lookups);
}

static inline bool lookups_enters(const lookup *l, moment when)
{
    return l->t->side != PE_VALUE && when == (l->before ? AT_BEFORE : AT_AFTER);
}

/* The row of the table that a column is; outside the table: nothing. */
static inline int64_t lookups_row(const lookup *l, int64_t c)
{
    return l->flip ? l->first + l->form.columns - 1 - c : l->first + c;
}

static inline int64_t lookups_column(const lookup *l, int64_t r)
{
    return l->flip ? l->first + l->form.columns - 1 - r : r - l->first;
}

/* The rows of a column on, as this head has them. */
static inline const float *lookups_rows(const lookup *l, int64_t h, int64_t column)
{
    return l->form.rows + ((l->form.heads == 1 ? 0 : h) * l->form.columns + column) * l->width;
}

static inline int64_t lookups_ring(const lookup *l)
{
    return l->form.columns < RING ? up_to(l->form.columns, PANEL) : RING;
}

/* The vector of query i that a term takes: the query, rotated, or the caller's. */
static inline const float *lookups_query(const fused *f, const lookup *l, int64_t h, int64_t i)
{
    return (l->t->input ? f->ready.relative : f->ready.q) + (h * f->Tq + i) * l->depth;
}

/* How a tile is served: by columns low .. high, pair by pair where these are too many, or not at all. */
typedef enum lookup_way { BY_NOTHING, BY_PAIRS, BY_COLUMNS } lookup_way;
lookup_way lookups_way(const lookup *l, const tile *t, int64_t *low, int64_t *high);
bool lookups_needed(const lookup *l, const tile *t, int64_t *low, int64_t *high); /* columns; false: none */
#define NO_ROW INT64_MIN
int64_t lookups_pair(const fused *f, const lookup *l, int64_t i, int64_t j); /* the table's row; NO_ROW: none */
double lookups_entry(const fused *f, const lookup *l, int64_t r, int64_t h, int64_t d);
double lookups_extra(const fused *f, const lookup *l, int64_t h, int64_t d);

/* lookups_add.c */
void lookups_begin(const fused *f, scratch *s, const tile *t);
bool lookups_panels(const fused *f, const tile *t);
const float *lookups_meet(const fused *f, scratch *s, const tile *t, const float *qs);
void lookups_add(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when);
void lookups_mix(const fused *f, scratch *s, const tile *t, float *O);
const float *lookups_take(const fused *f, scratch *s, int n, const tile *t); /* queries as the term takes them */
void lookups_columns(const fused *f, scratch *s, int n, const tile *t, int64_t low, int64_t high, const float *from);
/* W (rows, columns low .. high): what p (rows, BK) gives to each column. */
void lookups_gather(const fused *f, const lookup *l, const tile *t, const float *p, float *W, int64_t low,
                    int64_t high);
void lookups_add_columns(const fused *f, scratch *s, int n, const tile *t, float *to);

/* lookups_back.c */
void lookups_cut_back(fused *f, lookup *l, char *memory, int64_t *used);
void lookups_clear(const fused *f, lookup *l);
void lookups_back(const fused *f, scratch *s, const tile *t, int64_t item, moment when);
void lookups_mix_back(const fused *f, scratch *s, const tile *t, int64_t item);
void lookups_sum(fused *f);

#endif
