/* SPDX-License-Identifier: MIT
 *
 * Fused attention: tiles of BQ queries meet tiles of BK keys; a tile of scores is made, given its position terms,
 * turned into weights and mixed into the output before the next one. Everything is float32; queries, keys and values
 * are made ready once per call, whatever their type. What depends on positions is kept by distance, so that memory
 * grows with Tq + Tk and no row has code of its own here.
 *
 *   fused.c    a call: its checks and sizes, its sequences one by one or side by side
 *   plan.c     tables by distance that outlive a call
 *   walk.c     distances: where queries and keys stand, what range of distances is seen
 *   lines.c    bias: a table by distance per head
 *   lookups.c  content and value terms: q T^t or T k^t for the rows of T that a tile needs
 *   mask.c     which keys a query sees
 *   ready.c    queries, keys and values turned, in float32, packed
 *   fused_tile.c  the scores of one tile
 *   finish.c   from sums to outputs; pieces of the keys merged
 *   back_*.c   gradients: an item of work has a ledger of its own, ledgers are added up in a fixed order
 */
#ifndef PE_FUSED_H
#define PE_FUSED_H

#include "attention/query.h"

enum {
    BQ = 64,        /* queries of a tile                                                     */
    BK = 128,       /* keys of a tile                                                        */
    PANEL = 32,     /* keys, or rows of a table, of a packed panel: (D, PANEL)               */
    PAD = BK,       /* around tables by distance: hidden pairs of a tile may look so far out */
    NEED = BQ + BK, /* rows of a table that one tile of consecutive places can need          */
    RING = 1024,    /* columns of q T^t that are kept                                        */
    FEW = 8,        /* queries for which keys are read where they lie, not packed,           */
    SOME = 64,      /* and so many where there are MANY keys                                 */
    MANY = 2048,
    LOAD = 32,      /* tokens made ready at a time                                           */
    CHUNK = 1024,   /* keys of a piece, or 256 for each query, where these are split over the keys */
    BANDS_MAX = 16, /* ranges of distances with a table each                                 */
    LOOKUPS_MAX = PARTS_MAX * TERMS_MAX
};

/* A range of distances in the tables: PAD, then high down to low, then PAD. */
typedef struct band {
    int64_t low, high, start;
} band;

/* Where queries and keys stand on one line. */
typedef struct walk {
    const part *p;  /* whose place it is; NULL: first coordinates */
    int64_t *q, *k; /* (Tq), (Tk); k NULL: key j stands at first + j */
    int64_t first, keys;
    bool counted;         /* keys count up by one */
    bool planned;         /* its bands are a plan's */
    int32_t *run;         /* (Tk) consecutive places from here on, BK at most */
    int64_t low, high;    /* distances of pairs that are seen lie between */
    band band[BANDS_MAX]; /* falling; places with gaps have several */
    int bands;
    int64_t total;  /* length of a table by falling distance, pads and all; 0: scattered */
    bool q_rises;   /* from query to query                         */
    bool scattered; /* too far between for a table                */
} walk;

/* The bias of one part. */
typedef struct line {
    const struct line *plan; /* whose table it takes over; NULL: none */
    const part *p;
    const walk *w;
    double factor;       /* the scale, where it comes before it                              */
    float *table;        /* (H or 1, total) by falling distance; measures where queries have shares */
    double *key, *query; /* (H, key_row), (H, Tq): absolute; only their difference is small  */
    int64_t key_row;
    double *knot;         /* (knots) rising                                                   */
    float *slope, *level; /* (H, knots + 1): bias = slope x + level                    */
    float *share;         /* (Tq)                                                             */
    double extreme[2];    /* of the table, where it holds measures */
    double least, most;   /* x lies between */
    int64_t knots;
    /* gradients: (splits, H, total) by distance; of pieces (splits, H, knots + 1) sums of db and of db x, (items,
     * total) of measures, (items, Tq) of shares */
    float *dtable, *dmeasure, *dshare;
    double *dlevel, *dslope;
} line;

/* A term by table. Columns are the rows of its table in the order in which rising keys meet them. */
typedef struct lookup {
    const struct lookup *plan; /* whose tables it takes over; NULL: none */
    const part *p;
    const term *t;
    const walk *w;
    double factor;
    bool before;            /* the scale                                                     */
    bool fold;              /* one row for all distances, added to the query                 */
    int64_t first, columns; /* table rows first .. first + columns - 1                   */
    bool flip;              /* column = last row - row                                       */
    bool odd;               /* rows neither rise nor fall with the distance, or no table: pair by pair */
    bool finite;            /* its table                                                     */
    int32_t *column;        /* (total) by falling distance                                   */
    int32_t *even;          /* > 0: columns rise by one for so many; < 0: stay for so many   */
    float *panels;          /* (heads of the table, columns / PANEL, D, PANEL)               */
    float *rows;            /* (heads of the table, columns, width)                          */
    int64_t heads, width;
    float *drows;  /* (copies, columns, width): a copy per split and head, or per item where heads share the table */
    float *dextra; /* (splits, H, Dp) */
} lookup;

typedef struct scratch {
    float *S, *gate;       /* (BQ, BK)     scores; gates of keys that are counted      */
    float *O;              /* (BQ, Dw)                                                 */
    float *qs, *qa;        /* (BQ, Dp)     queries times the scale; as a term takes them; direct: qs (H Tq, Dp) */
    float *E;              /* (NEED, BK)   products or weights by column, of a tile or a panel */
    float *tame;           /* (BK, Dw)     values without those that are not finite; NULL: direct */
    float *row;            /* (BK)         a row of an additive mask                   */
    float *counts;         /* (BQ, count_columns); direct: a place in those of all heads */
    bool counts_odd;       /* some of them is not finite */
    float *A[LOOKUPS_MAX]; /* (BQ, Dp)     queries as a term takes them, once taken    */
    bool taken[LOOKUPS_MAX];
    float *G[LOOKUPS_MAX];                  /* (BQ, ring)   q T^t                                       */
    int64_t tag[LOOKUPS_MAX][RING / PANEL]; /* which panel is in a place of the ring    */
    float *load, *load_v, *panel;           /* tokens on their way: (LOAD, H, D); direct: (BK, G, .), (D, BK) */
    float max[BQ];
    double sum[BQ], carry[BQ];
    /* backward */
    float *dP, *capped;    /* (BQ, BK)     gradient of weights, then of scores; scores after the cap */
    float *dO;             /* (BQ, Dw)                                                 */
    float *dqs, *dq, *dqt; /* (BQ, Dp)     gradients: of qs, of q by its terms, of one tile */
    float *dcounts;        /* (BQ, count_columns)                                      */
    double *carries;       /* (tiles, BQ)  keys counted right of each tile             */
    double dcarry[BQ];
    float lse[BQ], mean[BQ], share[BQ]; /* weights are exp(s - lse) share */
    bool odd;                           /* some query or output gradient of the tile is not finite  */
} scratch;

typedef struct fused {
    problem p;
    const kernels *k;
    int64_t H, G, group, D, Dp, Dv, Dw, Tq, Tk, tiles; /* Dp, Dw: D, Dv padded to LANES; tiles of keys */
    int64_t offset;                                    /* query i stands at key i + offset */
    bool direct;                                       /* keys are read where they lie     */
    bool by_range;                                     /* causal and window leave each query a range of keys, */
    bool plain_ranges;                                 /* and nothing beside it          */
    bool plain_views;                                  /* the mask has no views           */
    float *q;                                          /* (H, Tq, D)  turned               */
    float *kt;                                         /* (G, tiles, BK / PANEL, D, PANEL) */
    float *kr;                                         /* (G, tiles BK, Dp); NULL: not wanted */
    float *v;                                          /* (G, tiles BK, Dw)                */
    float *vt;                                         /* (G, tiles, BK / PANEL, Dv, PANEL); NULL: not wanted */
    uint8_t *v_odd, *k_odd;                            /* (G, tiles, BK / LOAD) holds a NaN or infinity */
    bool load_k, load_v, load_panel;                   /* direct: what must be loaded first, and */
    bool turn_k, turn_v;                               /* what must be turned             */
    int64_t *q_shift, *k_shift;                        /* (q tiles), (tiles) where a turn is centred, if it is */
    walk walk[1 + PARTS_MAX];
    line line[PARTS_MAX];
    lookup lookup[LOOKUPS_MAX];
    int walks, lines, lookups;
    const part *count;   /* the part that counts keys, or NULL */
    float *count_rows;   /* (heads of its table, count_columns, Dp): backward */
    float *count_panels; /* (heads of its table, panels, D, PANEL) */
    float *counts;       /* (H, Tq, count_columns): direct */
    int64_t count_columns, count_last;
    bool count_finite;             /* its table */
    scratch *scratch;              /* (workers) */
    float *part_O, *part_max;      /* (chunks, H, Tq, Dw), (chunks, H, Tq): direct */
    double *part_sum, *part_carry; /* (H, Tq) */
    int64_t chunks, chunk;         /* pieces, keys of one */
    /* backward */
    int64_t splits;       /* of the queries, so that there are items enough: item = split G + kv head */
    float *dO;            /* (H, Tq, Dw) turned */
    float *mean;          /* (H, Tq)     dO . out */
    float *lse, *lse_low; /* (H, Tq) its sum is the log-sum-exp */
    float *dk, *dv;       /* (items, tiles BK, Dp), (items, tiles BK, Dw) */
    double *dturn_q;      /* (splits, H, axes, pairs), and */
    double *dturn_k;      /* (blocks of LOAD keys, G, axes, pairs): of frequencies that are trained; NULL: none */
    float *dcount;        /* (copies, count_columns, Dp) */
    bool backward;
    size_t bytes;
} fused;

typedef void gemm_fn(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                     int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add);

/* heads x m rows of scores against n keys; row r is head h + r / m, query i + r % m. */
typedef struct tile {
    int64_t h, heads, i, m, j, n;
} tile;

/* The keys and values of a tile: packed, or as they lie. */
typedef struct keys {
    const float *kt, *v;
    int64_t g, j; /* head and first key: where they lie is asked stretch by stretch */
    bool odd;     /* some value is not finite */
} keys;

/* The sums of a tile's rows. */
typedef struct state {
    float *O, *max; /* (rows, Dw), (rows) */
    double *sum, *carry;
} state;

/* plan.c */
pe_status plan_check(const pe_plan *plan, const pe_encoding *e, pe_run *run, pe_error *err); /* NULL is fine */
void plan_use(fused *f, const pe_plan *plan); /* after walks_find: what of it this problem takes over */

/* fused.c */
void fused_shape(fused *f); /* sizes of heads, tokens and tiles */
/* What a call needs, and how its sequences share the pool. */
typedef struct fused_call {
    call c;
    bool backward;
    bool spread; /* sequences side by side, each on one worker; else one after the other on all of them */
    size_t each; /* bytes of work memory that one sequence at a time needs */
    fused one;   /* the last that was measured; the only one, if there is one */
} fused_call;
pe_status fused_open(fused_call *f, const pe_encoding *e, const pe_attention *a, const pe_run *run, bool backward,
                     pe_error *err);
pe_status fused_check(fused_call *f, pe_error *err);    /* the work memory, parameters, every sequence's places */
void fused_each(fused_call *f, void (*visit)(fused *)); /* every sequence, its memory cut */
void fused_ready(fused *f);                             /* everything that tiles need; all checks are behind us */
int64_t fused_queries(const fused *f);                  /* tiles of queries */
/* Takes count x size bytes of the block at *used; with memory NULL only counts. */
void *fused_take(char *memory, int64_t *used, int64_t count, size_t size);

/* walk.c */
void walks_find(fused *f); /* which walks there are; ranges */
void walk_range(const fused *f, walk *w);
bool walk_rises(const fused *f); /* first coordinates, from query to query and from key to key */
void walks_cut(fused *f, char *memory, int64_t *used);
void walks_fill(fused *f);
const band *walk_band(const walk *w, int64_t x); /* the one that has place x of a table */
int64_t walk_distance(const walk *w, int64_t x);

static inline int64_t walk_key(const walk *w, int64_t j)
{
    return w->k ? w->k[j] : w->first + j;
}

/* Consecutive places from key j on, BK at most. */
static inline int64_t walk_run(const walk *w, int64_t j)
{
    return w->k ? w->run[j] : w->keys - j < BK ? w->keys - j : BK;
}

bool walk_pads(const walk *w, int64_t x); /* no pair that is seen looks there */
/* The stretch of consecutive places from key j of query i on, n at most. *x: where a table by falling distance has it.
 * Sets *skip to the keys of the stretch before the table begins; returns how many follow that it has. */
int64_t walk_stretch(const walk *w, int64_t i, int64_t j, int64_t n, int64_t *x, int64_t *skip, int64_t *length);
pe_status walks_reach(fused *f, pe_error *err);

/* lines.c */
void lines_find(fused *f);
void lines_cut(fused *f, char *memory, int64_t *used);
void lines_fill(fused *f);
void line_points(const line *l, int64_t s, double *a, double *b); /* of a piece; gradients are linear between */
int64_t line_turn(const line *l, int64_t x, int64_t n);           /* of n measures, those before the distance 0 */
int64_t line_piece(const line *l, int64_t i, int64_t x, int64_t n, int64_t *run); /* measures of one piece: how many */
void lines_add(const fused *f, scratch *s, const tile *t, bool before);

/* lookups.c */
typedef enum lookup_way { BY_NOTHING, BY_PAIRS, BY_COLUMNS } lookup_way;
/* How a tile is served: by columns low .. high, pair by pair where these are too many, or not at all. */
lookup_way lookups_way(const lookup *l, const tile *t, int64_t *low, int64_t *high);
bool lookups_needed(const lookup *l, const tile *t, int64_t *low, int64_t *high); /* columns; false: none */
const float *lookups_take(const fused *f, scratch *s, int n, const tile *t);      /* queries as the term takes them */
void lookups_columns(const fused *f, scratch *s, int n, const tile *t, int64_t low, int64_t high, const float *from);
void lookups_gather(const fused *f, const lookup *l, const tile *t, const float *p, float *W, int64_t low,
                    int64_t high);
void lookups_add_columns(const fused *f, scratch *s, int n, const tile *t, float *to);
int64_t lookups_row(const lookup *l, int64_t column);
int64_t lookups_pair(const lookup *l, int64_t i, int64_t j); /* the table's row of a pair */
bool lookups_reaches(const fused *f, const lookup *l, int64_t i, int64_t j);
void lookups_find(fused *f);
void lookups_cut(fused *f, char *memory, int64_t *used);
void lookups_fill(fused *f);
void lookups_scratch(const fused *f, scratch *s, char *memory, int64_t *used);
void lookups_begin(const fused *f, scratch *s); /* a new tile of queries */
void lookups_add(const fused *f, scratch *s, const tile *t, const keys *k, bool before);
void lookups_mix(const fused *f, scratch *s, const tile *t, float *O);
void lookups_counts(const fused *f, scratch *s, const tile *t); /* q T^t of the part that counts; its q in qa */
void lookups_raise(const fused *f, float *to, const part *p, int extra, double factor, const tile *t);
void lookups_fold(const fused *f, float *qs, int64_t h); /* adds what is folded into the query */

/* mask.c */
typedef enum sight { SEES_NONE, SEES_SOME, SEES_ALL } sight;
void mask_range(const fused *f, int64_t i, int64_t *low, int64_t *high);
sight mask_tile(const fused *f, const tile *t);
void mask_scores(const fused *f, scratch *s, const tile *t, sight what, float *gate);
bool mask_sees(const fused *f, int64_t h, int64_t i, int64_t j);

/* ready.c */
void ready_tokens(fused *f);                    /* queries; keys and values where they are packed */
int64_t ready_place(const fused *f, int64_t b); /* about which keys are turned, if they are: the first in use */
void ready_keys(const fused *f, scratch *s, int64_t j, int64_t n); /* direct: loads and turns where that is needed    */
void ready_touch(const fused *f, int64_t j, int64_t n);            /* direct: brings keys and values near */
keys ready_tile(const fused *f, scratch *s, int64_t g, int64_t j, int64_t n);

void ready_load(const fused *f, float *to, pe_view from, int64_t t, int64_t n, bool cached);
/* Keys or values j .. j + *n - 1 of a tile, head g, as far as they lie in order; *n at most. */
typedef struct kv_rows {
    const void *data;
    pe_dtype type;
    int64_t stride;
} kv_rows;
kv_rows ready_rows(const fused *f, const scratch *s, bool values, const keys *k, int64_t j, int64_t *n);
void ready_turn(const fused *f, pe_side side, turn_mode mode, float *x, int64_t head, int64_t heads, int64_t dim,
                pe_positions at, int64_t t, int64_t n, int64_t shift); /* (n, heads, dim), packed, in place */
void ready_panel(const fused *f, float *panel, const float *x, int64_t stride, int64_t n, int64_t dim); /* transposes */
void ready_pad(const fused *f, float *to, const float *x, int64_t dim, int64_t padded);
bool ready_odd(const float *x, int64_t rows, int64_t stride, int64_t n); /* holds a NaN or infinity */

/* fused_tile.c */
void tile_recentre(const fused *f, const tile *t, float *y, const float *x); /* (rows, Dp) */
void tile_begin(const fused *f, scratch *s, const tile *t, state *st);       /* sums of nothing */
void tile_queries(const fused *f, const tile *t, float *qs);
void tile_scores(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st, sight what);
void tile_step(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st);

/* back_terms.c: a tile's gradients of position terms, from the gradients of its scores in dP. */
void back_cut(fused *f, char *memory, int64_t *used);
void back_lines(const fused *f, scratch *s, const tile *t, int64_t item, bool before);
void back_lookups(const fused *f, scratch *s, const tile *t, int64_t item, bool before);
void back_values(const fused *f, scratch *s, const tile *t, int64_t item);
void back_counts(const fused *f, scratch *s, const tile *t);
void back_counts_end(const fused *f, scratch *s, const tile *t, int64_t item);
/* back_sum.c: ledgers to the caller's gradients, in a fixed order. */
void back_clear(fused *f);
void back_sum(fused *f);
/* A row of a gradient, in its own type, added or overwritten; x is used up. */
void fused_store(const fused *f, pe_view to, int64_t t, int64_t h, float *x);
/* Of a table's gradient: one per split and head, or per item where heads share the table. */
static inline int64_t fused_copies(const fused *f, int64_t heads)
{
    return f->splits * (heads == 1 ? f->G : f->H);
}

static inline float *fused_copy(const fused *f, float *all, int64_t heads, int64_t h, int64_t item, int64_t size)
{
    return all + (heads == 1 ? item : item / f->G * f->H + h) * size;
}

/* finish.c */
/* Sums of the rows of a tile, (rows, width), to out and lse; O is used up. */
void finish_rows(const problem *p, const kernels *k, const tile *t, float *O, int64_t width, const float *max,
                 const double *sum);
pe_status partial_check(const call *c, pe_partial piece, pe_error *err);
pe_status carry_check(const call *c, const char *name, const double *carry, pe_error *err);
void merge_row(float *O, float *max, double *sum, const float *from_O, float from_max, double from_sum, int64_t width);

/* What is too small to matter is 0: products of denormal numbers cost some CPUs a hundred cycles each. */
static inline float fused_small(float x)
{
    return x < 0x1p-100f && x > -0x1p-100f ? 0 : x;
}

static inline int64_t up_to(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
