/* SPDX-License-Identifier: MIT
 *
 * Fused attention: tiles of BQ queries meet tiles of BK keys; a tile of scores is made, given its position terms,
 * made into weights and mixed into the output before the next one. Everything is float32; queries, keys and values
 * are made ready once per call, whatever their type. What depends on positions is kept by distance, so that memory
 * grows with Tq + Tk and no row has code of its own here.
 *
 * Where q, k and v are bfloat16 and the CPU multiplies it, products take bfloat16: what is multiplied lies two by two
 * in the places of float32 numbers, along the sum, so that layouts below have half as many there. Queries and keys
 * that are rotated, weights and gradients of scores are rounded once for it. Scores, softmax and sums are float32.
 *
 *   fused.c    a call: its checks and sizes, its sequences one by one or side by side
 *   plan.c     tables by distance that outlive a call, and the lowered form
 *   spacing.c  distances: where queries and keys stand, what range of distances is seen
 *   distance_bias.c, levels.c, lookups*.c, counts.c   kinds of terms: bias by distance, differences of two levels,
 * tables that queries, keys or weights meet, counts of keys mask.c     which keys a query sees ready.c    queries, keys
 * and values rotated, in float32, packed fused_tile.c  the scores of one tile finish.c   from sums to outputs; pieces
 * of the keys merged back_sum.c gradients: an item of work has a ledger of its own, ledgers are added up in a fixed
 * order
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
    LOAD = 32,         /* tokens made ready at a time                                           */
    CHUNK = 1024,      /* keys of a piece, or 256 for each query, where these are split over the keys */
    BANDS_MAX = 16,    /* ranges of distances with a table each                                 */
    KIND_BYTES = 4352, /* of what all kinds of terms keep of a call                          */
    KINDS_MAX = 8
};

/* A range of distances in the tables: PAD, then high down to low, then PAD. */
typedef struct band {
    int64_t low, high, start;
} band;

/* The positions of queries and keys along one axis, and the distances between them. */
typedef struct spacing {
    const int64_t *weight; /* (axes) of coordinates: a place is their sum; NULL: the first coordinate */
    int64_t *q, *k;        /* (Tq), (Tk); k NULL: key j stands at first + j */
    int64_t first, keys;
    bool counted;         /* keys count up by one */
    bool planned;         /* its bands are a plan's */
    int32_t *run;         /* (Tk) consecutive places from here on, BK at most */
    int64_t low, high;    /* distances of pairs that are seen lie between */
    band band[BANDS_MAX]; /* falling; places with gaps have several */
    int bands;
    int64_t total;     /* length of a table by falling distance, pads and all; 0: scattered */
    pe_distances told; /* the same as others read it: one band */
    bool q_rises;      /* from query to query                         */
    bool between;      /* some stand between whole positions         */
    bool scattered;    /* so, or too far between: no table           */
} spacing;

/* Which keys queries see: what mask.c works out once. */
typedef struct sights {
    int64_t offset;    /* query i stands at key i + offset */
    bool by_range;     /* causal and window leave each query a range of keys, */
    bool plain_ranges; /* and nothing beside it          */
    bool plain_views;  /* the mask has no views           */
} sights;

/* Queries, keys and values in float32: what ready.c makes. */
typedef struct tokens {
    float *q;                        /* (H, Tq, D)  rotated               */
    double *phase;                   /* (2, G, raw) cos and sin of a polar term's phases; NULL: none */
    float *relative;                 /* (H, Tq, R)  the caller's vectors, times the queries' gain */
    float *kt;                       /* (G, tiles, BK / PANEL, D, PANEL) */
    float *kr;                       /* (G, tiles BK, Dp); NULL: not wanted */
    float *v;                        /* (G, tiles BK, Dw)                */
    float *vt;                       /* (G, tiles, BK / PANEL, Dv, PANEL); NULL: not wanted */
    uint8_t *v_odd, *k_odd;          /* (G, tiles, BK / LOAD) holds a NaN or infinity */
    bool keys_meet;                  /* a term multiplies keys by something of its own, in float32 */
    bool load_k, load_v, load_panel; /* direct: what must be loaded first, for some tiles as panels, and */
    bool rotate_k, rotate_v;         /* what must be rotated             */
    int64_t *q_shift, *k_shift;      /* (q tiles), (tiles) where a rotation is centred, if it is */
} tokens;

/* Sums of pieces of the keys, where few queries are split over them (fused_forward.c). */
typedef struct pieces {
    float *O, *max;      /* (count, H, Tq, Dw), (count, H, Tq) */
    double *sum, *carry; /* (count, H, Tq) */
    int64_t count, keys; /* pieces, keys of one */
} pieces;

/* Ledgers of gradients, one per item of work (fused_backward.c, back_sum.c). */
typedef struct ledgers {
    int64_t splits;       /* of the queries, so that there are items enough: item = split G + kv head */
    float *dO;            /* (H, Tq, Dw) rotated */
    float *mean;          /* (H, Tq)     dO . out */
    float *lse, *lse_low; /* (H, Tq) its sum is the log-sum-exp */
    float *dk, *dv;       /* (items, tiles BK, Dp), (items, tiles BK, Dw) */
    double *dfrequency_q; /* (splits, H, ledger), and */
    double *dfrequency_k; /* (blocks of LOAD keys, G, ledger): of rotations that are trained; NULL: none */
    double *dphase;       /* (splits, H, raw): of a polar term's phases; NULL: none */
} ledgers;

/* What one worker needs for a tile, and what kinds of terms keep beside it. */
typedef struct scratch {
    float *S;                     /* (BQ, BK)     scores                                   */
    float *gate;                  /* (BQ, BK)     gates of keys that are counted; 0 where they are hidden */
    float *O;                     /* (BQ, Dw)                                                 */
    float *qs, *qa;               /* (BQ, Dp)     queries times the scale; on their way; direct: qs (H Tq, Dp) */
    float *tame;                  /* (BK, Dw)     values without those that are not finite; NULL: direct */
    float *row;                   /* (BK)         a row of an additive mask                   */
    float *load, *load_v, *panel; /* tokens on their way: (LOAD, H, D); direct: (BK, G, .), (D, BK) */
    float max[BQ];
    double sum[BQ], carry[BQ];
    bool panels, loaded; /* direct: this tile's keys are in panel, in load */
    void *kind[KINDS_MAX];
    /* backward */
    float *dP, *capped;    /* (BQ, BK)     gradient of weights, then of scores; scores after the cap */
    float *dO;             /* (BQ, Dw)                                                 */
    float *dqs, *dq, *dqt; /* (BQ, Dp)     gradients: of qs, of q by its terms, of one tile */
    float *drelative;      /* (BQ, Rp)                                                 */
    float *dO_along;       /* bfloat16: (BQ, Dw / 2), and                              */
    float *dO_down, *q_down; /* (BQ / 2, Dw), (BQ / 2, Dp) with two rows in one        */
    double *carries;       /* (tiles, BQ)  keys counted right of each tile             */
    double dcarry[BQ];
    float lse[BQ], mean[BQ], share[BQ]; /* weights are exp(s - lse) share */
    bool odd;                           /* some query or output gradient of the tile is not finite  */
} scratch;

typedef void gemm_fn(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                     int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add);

typedef struct fused {
    problem p;
    const kernels *k;
    bool bf16;              /* products of q.k, of weights and values, and their gradients take bfloat16 */
    gemm_fn *gemm, *gemm_c; /* these products, and their definition */
    double q_scale;         /* the scale, or of it what bfloat16 takes without rounding; */
    float s_scale;          /* scores are multiplied by the rest                         */
    int64_t H, G, group, D, Dp, Dv, Dw, R, Rp, Tq, Tk, tiles; /* Dp, Dw, Rp: D, Dv, R padded; tiles of keys */
    const part *polar;                                        /* stands for q.k; NULL: none */
    int64_t raw; /* the caller's head_dim; D is that of the vectors that are multiplied, twice as many if polar */
    bool backward;
    bool direct;  /* keys are read where they lie     */
    bool shell;   /* a plan's: there are no tokens, only distances */
    bool carries; /* a term goes from key to key, from the right */
    sights sight;
    tokens ready;
    pieces piece;
    ledgers back;
    spacing spacing[1 + PARTS_MAX];
    int spacings;
    const struct fused *plan;           /* a plan's shell, whose tables this call may take over; NULL: none */
    unsigned kinds;                     /* which kinds of terms it has, bit by bit */
    _Alignas(16) char kind[KIND_BYTES]; /* the kinds' own, one after the other */
    scratch *scratch;                   /* (workers) */
    size_t bytes;
} fused;

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

/* ------------------------------------------------ kinds of terms */

/* When terms enter a tile's scores. */
typedef enum moment {
    AT_PRODUCT, /* q.k times the scale, nothing else yet */
    AT_BEFORE,  /* terms before the scale, which bring it with them */
    AT_AFTER,   /* after the scale and the cap */
    AT_MASKED   /* what is hidden is -inf */
} moment;

/* One way in which position enters attention: a file of its own, and a row in fused.c. What an encoding has of it is
 * kept in `bytes` of the call; hooks that it does not need are NULL. A tile's gradients go to a ledger of its item. */
typedef struct term_kind {
    size_t bytes, worker_bytes;                         /* of a call, and of a worker's scratch */
    bool (*find)(fused *f);                             /* its terms and their spacings; false: none */
    void (*size)(fused *f);                             /* when it is known which distances there are */
    void (*cut)(fused *f, char *memory, int64_t *used); /* tables and ledgers */
    void (*cut_worker)(const fused *f, scratch *s, char *memory, int64_t *used);
    void (*fill)(fused *f);                        /* tables; ledgers become 0 */
    bool (*panels)(const fused *f, const tile *t); /* few queries: whether these keys are wanted as panels */
    /* Queries (rows, Dp) as these keys meet them: qs, or a copy of them in qa with more in it */
    const float *(*meet)(const fused *f, scratch *s, const tile *t, const float *qs);
    void (*begin)(const fused *f, scratch *s, const tile *t); /* a tile of queries, which keys will meet */
    void (*add)(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when);
    void (*mix)(const fused *f, scratch *s, const tile *t, float *O); /* S holds weights */
    void (*mix_back)(const fused *f, scratch *s, const tile *t, int64_t item);
    void (*back)(const fused *f, scratch *s, const tile *t, int64_t item, moment when); /* dP: gradients of scores */
    void (*end)(const fused *f, scratch *s, const tile *t, int64_t item); /* a tile of queries has met all keys */
    bool (*serial)(const fused *f);                                       /* items would add to the same numbers */
    void (*sum)(fused *f);                                                /* ledgers to the caller's gradients */
} term_kind;
extern const term_kind kind_distance, kind_levels, kind_lookups, kind_counts;

/* What a kind keeps: of a call, of a worker. */
void *kind_of(const fused *f, const term_kind *kind);
void *kind_worker(const scratch *s, const term_kind *kind);
/* The kinds that this encoding has, one after the other: for (int n = 0; (k = kind_next(f, &n));) */
const term_kind *kind_next(const fused *f, int *n);

/* Terms, spacings and sizes. plan: whose tables may be taken over, or NULL. */
void kinds_find(fused *f, const fused *plan);
void kinds_cut(fused *f, char *memory, int64_t *used);
void kinds_fill(fused *f);
/* Term n as others read it; NULL or false past the last. */
const pe_lowered_bias *distance_form(const fused *f, int n);
const pe_lowered_lookup *lookups_form(const fused *f, int n);
bool levels_form(const fused *f, int n, pe_lowered_level *out);

/* ------------------------------------------------ plan.c */
const fused *plan_shell(const pe_plan *plan, const fused *f); /* whose tables this call may take over; NULL: none */

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

/* spacing.c */
spacing *spacing_for(fused *f, const part *p); /* by the part's weights; NULL: by first coordinates */
void spacings_plan(fused *f);                  /* which of them take over the plan's distances */
void spacing_range(const fused *f, spacing *w);
bool spacing_rises(const fused *f); /* first coordinates, from query to query and from key to key */
void spacings_cut(fused *f, char *memory, int64_t *used);
void spacings_fill(fused *f);
int64_t spacing_apart(const spacing *w, int64_t i, int64_t j); /* the distance of query i and key j */
const band *spacing_band(const spacing *w, int64_t x);         /* the one that has place x of a table */
int64_t spacing_distance(const spacing *w, int64_t x);

static inline int64_t spacing_key(const spacing *w, int64_t j)
{
    return w->k ? w->k[j] : w->first + j;
}

/* Consecutive places from key j on, BK at most. */
static inline int64_t spacing_run(const spacing *w, int64_t j)
{
    return w->k ? w->run[j] : w->keys - j < BK ? w->keys - j : BK;
}

bool spacing_pads(const spacing *w, int64_t x); /* no pair that is seen looks there */
/* The stretch of consecutive places from key j of query i on, n at most. *x: where a table by falling distance has it.
 * Sets *skip to the keys of the stretch before the table begins; returns how many follow that it has. */
int64_t spacing_stretch(const spacing *w, int64_t i, int64_t j, int64_t n, int64_t *x, int64_t *skip, int64_t *length);
pe_status spacings_reach(fused *f, pe_error *err);

/* mask.c */
typedef enum sight { SEES_NONE, SEES_SOME, SEES_ALL } sight;
void mask_find(fused *f);
void mask_range(const fused *f, int64_t i, int64_t *low, int64_t *high);
sight mask_tile(const fused *f, const tile *t);
void mask_scores(const fused *f, scratch *s, const tile *t, sight what, float *gate);
bool mask_sees(const fused *f, int64_t h, int64_t i, int64_t j);

/* ready.c */
void ready_tokens(fused *f);                    /* queries; keys and values where they are packed */
int64_t ready_place(const fused *f, int64_t b); /* about which keys are rotated, if they are: the first in use */
/* direct: loads and rotates where that is needed. first: of those that are read one after the other */
void ready_keys(const fused *f, scratch *s, const tile *t, bool first);
keys ready_tile(const fused *f, scratch *s, int64_t g, int64_t j, int64_t n);

void ready_load(const fused *f, float *to, pe_view from, int64_t t, int64_t n, bool cached);
/* Keys or values j .. j + *n - 1 of a tile, head g, as far as they lie in order; *n at most. */
typedef struct kv_rows {
    const void *data;
    pe_dtype type;
    int64_t stride;
    const void *soon; /* where a later tile's lie, if the whole of this one's is read: kernels.h */
} kv_rows;
kv_rows ready_rows(const fused *f, const scratch *s, bool values, const keys *k, int64_t j, int64_t *n);
/* The caller's vector of one token and head, a query or a key, in float32. */
void ready_raw(const fused *f, float *to, pe_side side, int64_t t, int64_t h);
/* Where a term stands for q.k: (n, heads, raw) to (n, heads, D) in place, magnitudes at the angles of their positions.
 */
void polar_ready(const fused *f, pe_side side, float *x, int64_t heads, pe_positions at, int64_t t, int64_t n);
void polar_phases(fused *f);
/* Gradients (n, heads, D) become those of the caller's vectors, the first raw of each. */
void polar_back(const fused *f, pe_side side, float *x, int64_t head, int64_t heads, pe_positions at, int64_t t,
                int64_t n);
/* The ledger of this split and head: x (m, D) has the gradients of a tile's queries. */
void polar_phases_back(const fused *f, const float *x, const tile *t, int64_t item);
void polar_phases_sum(const fused *f);

void ready_rotate(const fused *f, pe_side side, rotation_mode mode, float *x, int64_t head, int64_t heads, int64_t dim,
                  pe_positions at, int64_t t, int64_t n, int64_t shift); /* (n, heads, dim), packed, in place */
void ready_panel(const fused *f, float *panel, const float *x, int64_t stride, int64_t n, int64_t dim); /* transposes */
void ready_gain(const fused *f, float *x, int64_t i, int64_t n); /* x (n) *= query i's gain */
/* m rows of n elements as bfloat16, for sums over rows: (m / 2, n), the last row beside zeros; and for sums along rows:
 * (m, n / 2), where an odd n has a 0 behind it. Rows are `apart` in both; to may be x. */
void ready_down(const fused *f, float *to, const float *x, int64_t m, int64_t n, int64_t apart);
void ready_along(const fused *f, float *to, const float *x, int64_t m, int64_t n, int64_t apart);
void ready_pad(const fused *f, float *to, const float *x, int64_t dim, int64_t padded);
void ready_raise(const fused *f, float *to, const tile *t, const float *from, int64_t dim, int64_t width,
                 const float *extra, double factor);
void ready_param(const fused *f, const part *p, int table, int64_t at, int64_t h, float *to, int64_t dims);
bool ready_odd(const fused *f, const float *x, int64_t rows, int64_t stride, int64_t n); /* holds a NaN or infinity */

/* fused_tile.c */
void tile_recentre(const fused *f, const tile *t, float *y, const float *x); /* (rows, Dp) */
void tile_begin(const fused *f, scratch *s, const tile *t);                  /* terms are told of a tile of queries */
void tile_clear(const fused *f, const tile *t, state *st);                   /* sums of nothing */
void tile_queries(const fused *f, const tile *t, float *qs);
void tile_scores(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st, sight what);
void tile_step(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st);

/* back_sum.c: ledgers to the caller's gradients, in a fixed order. */
void back_cut(fused *f, char *memory, int64_t *used);
double back_over(const float *x, int64_t copies, int64_t apart); /* the sum of an element's copies */
void back_clear(fused *f);
void back_sum(fused *f);
/* A row of a gradient, in its own type, added or overwritten; x is used up. */
void fused_store(const fused *f, pe_view to, int64_t t, int64_t h, float *x);
/* Of a table's gradient: one per split and head, or per item where heads share the table. */
static inline int64_t fused_copies(const fused *f, int64_t heads)
{
    return f->back.splits * (heads == 1 ? f->G : f->H);
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

static inline bool fused_learns(const fused *f, const part *p)
{
    return p->tensors && f->p.g.dparams.data;
}

static inline void clear_floats(float *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = 0;
}

static inline void clear_doubles(double *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = 0;
}

/* Places that n numbers of a sum take. */
static inline int64_t fused_places(const fused *f, int64_t n)
{
    return f->bf16 ? (n + 1) / 2 : n;
}

static inline int64_t up_to(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
