/* SPDX-License-Identifier: MIT
 *
 * Claims on precision: which positions can be distinguished in low precision, and whether low-precision scores still
 * depend only on the distance. */
#include "base/block.h"
#include "base/num.h"
#include "prove/measure.h"
#include "zoo/look.h"
#include "zoo/rotation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_BLOCK 32 /* numbers that share a scale where the type has one */
typedef void round_fn(double x[ROUND_BLOCK]);

enum { RUN = ROUND_BLOCK, RUNS = 32, PLACES = RUN * RUNS }; /* runs of neighbours, evenly spread up to the length */

/* What an encoding makes of a position: the vector that it adds, cos and sin of its angles, what it adds to scores. */
typedef struct codes {
    measure_encoding m;
    int64_t length, axes;
    int64_t *at;          /* (PLACES, axes) */
    double *q, *k;        /* (1, H, D), (PLACES, H, D) */
    double *exact, *kept; /* (size), as they are and as they are kept */
    int64_t step, size;   /* from an element to the same of the next place; numbers in all */
} codes;

_Static_assert(ROUND_BLOCK == BLOCK_WIDTH, "the library's blocks");

static void round_each(double *x, pe_dtype type)
{
    uint16_t stored;
    for (int i = 0; i < BLOCK_WIDTH; i++) {
        num_store(&stored, type, 0, x[i]);
        x[i] = num_load(&stored, type, 0);
    }
}

static void round_bf16(double *x)
{
    round_each(x, PE_BF16);
}

static void round_f16(double *x)
{
    round_each(x, PE_F16);
}

static void round_f32(double *x)
{
    for (int i = 0; i < BLOCK_WIDTH; i++)
        x[i] = (double)(float)x[i];
}

static void round_block(double *x, pe_dtype kind)
{
    float f[BLOCK_WIDTH];
    unsigned char block[64];
    for (int i = 0; i < BLOCK_WIDTH; i++)
        f[i] = (float)x[i];
    block_store(block, f, kind);
    block_load(f, block, kind);
    for (int i = 0; i < BLOCK_WIDTH; i++)
        x[i] = (double)f[i];
}

static void round_q8(double *x)
{
    round_block(x, PE_Q8_0);
}

static void round_q4(double *x)
{
    round_block(x, PE_Q4_0);
}

/* n numbers, block by block; the last is filled up with zeros. */
static void round_all(double *x, int64_t n, round_fn *round)
{
    for (int64_t from = 0; from < n; from += BLOCK_WIDTH) {
        size_t count = (size_t)(n - from < BLOCK_WIDTH ? n - from : BLOCK_WIDTH);
        double block[BLOCK_WIDTH] = { 0 };
        memcpy(block, x + from, count * sizeof *x);
        round(block);
        memcpy(x + from, block, count * sizeof *x);
    }
}

/* What an encoding makes of a position, whichever way it enters. */

static void codes_close(codes *c)
{
    measure_close(&c->m);
    free(c->at), free(c->q), free(c->k), free(c->exact), free(c->kept);
}

/* Place n of all; terms that count keys get neighbours only. */
static int64_t place_of(const codes *c, int64_t n)
{
    int64_t apart = pe_encoding_carries(c->m.e) ? RUN : (c->length - RUN) / (RUNS - 1);
    return n / RUN * apart + n % RUN;
}

static void place_all(const codes *c)
{
    for (int64_t n = 0; n < PLACES; n++)
        measure_place_one(c->at + n * c->axes, place_of(c, n), c->length, c->axes);
}

static pe_status codes_open(codes *c, const char *spec, const prove_given *g, int64_t length, pe_error *err)
{
    *c = (codes){ .length = length };
    TRY(measure_open(&c->m, spec, g, err));
    int64_t H = g->heads, D = g->head_dim, P = pe_encoding_pair_count(c->m.e);
    bool adds = pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED;
    c->axes = pe_encoding_axes(c->m.e);
    c->step = adds ? measure_width(&c->m) : P ? 2 * P : 1;
    c->size = adds || P ? PLACES * c->step : H * PLACES;
    c->at = calloc((size_t)(PLACES * c->axes), sizeof *c->at);
    c->q = measure_memory(H, D, err);
    c->k = measure_memory(PLACES, H * D, err);
    c->exact = measure_memory(c->size, 1, err);
    c->kept = measure_memory(c->size, 1, err);
    if (!c->at || !c->q || !c->k || !c->exact || !c->kept)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the codes of %d places", PLACES);
    measure_normals(c->q, H * D, 1, g->seed);
    for (int64_t n = 0; n < PLACES * H * D; n++)
        c->k[n] = c->q[n % (H * D)] / 2;
    place_all(c);
    return PE_OK;
}

static pe_positions places(const codes *c)
{
    return pe_positions_of(c->at, PE_I64, 1, PLACES, c->axes);
}

/* out (H, PLACES): what the query behind all places adds to its scores. */
static pe_status score_codes(double *out, const codes *c, pe_error *err)
{
    int64_t H = c->m.shape.heads, D = c->m.shape.head_dim, last[PE_AXES_MAX];
    memcpy(last, c->at + (PLACES - 1) * c->axes, (size_t)c->axes * sizeof *last);
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(out, PE_F64, 1, 1, H, PLACES),
                  .q = pe_view_of(c->q, PE_F64, 1, 1, H, D),
                  .k = pe_view_of(c->k, PE_F64, 1, PLACES, H, D),
                  .q_at = pe_positions_of(last, PE_I64, 1, 1, c->axes),
                  .k_at = places(c) };
    memset(out, 0, (size_t)c->size * sizeof *out);
    return zoo_look_terms(c->m.e, &t, c->m.w, 1, err);
}

/* out (size) */
static pe_status codes_make(double *out, const codes *c, pe_error *err)
{
    int64_t P = pe_encoding_pair_count(c->m.e);
    if (pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED) {
        pe_view y = pe_view_of(out, PE_F64, 1, PLACES, 1, c->step);
        pe_view x = pe_view_of(NULL, PE_F64, 1, PLACES, 1, c->m.shape.model_dim);
        return pe_embed(c->m.e, y, x, places(c), &PE_MAKE(pe_run, .params = c->m.w), err);
    }
    if (!P)
        return score_codes(out, c, err);
    pe_view cosine = pe_view_of(out, PE_F64, 1, PLACES, 1, P), sine;
    cosine.token_stride = 2 * P;
    sine = cosine;
    sine.data = out + P;
    return zoo_rotate_table(cosine, sine, c->m.e, c->m.w, 0, PE_KEY, places(c), err);
}

/* How much of an encoding survives rounding. What an encoding makes of a position is its code: the vector that
 * it adds, cos and sin of its angles, what it adds to scores. The signal is the step of the code from one
 * position to the next, the noise what the code loses by being stored in few bits (with its parameters, where it
 * has some): below 0 dB neighbours can no longer be told apart. */

#define PARAMETERS_MAX (1 << 20) /* rows with larger tables are left out at that length */
#define NEAR 4096                /* positions of the first ranking */

/* ------------------------------------------------ signal and noise */

/* The ratio of the step to the noise in dB, INFINITY if there is no noise; or the share that overflowed. */
typedef struct left {
    double db, overflow;
} left;

static left ratio(const codes *c)
{
    double signal = 0, noise = 0, steps = 0, none = 0;
    bool lines = c->step == 1; /* (H, PLACES) */
    for (int64_t n = 0; n < c->size; n++) {
        int64_t place = lines ? n % PLACES : n / c->step;
        double off = c->kept[n] - c->exact[n];
        none += !isfinite(off);
        noise += off * off / (double)c->size;
        if (place % RUN == RUN - 1)
            continue;
        double step = c->exact[n + c->step] - c->exact[n];
        signal += step * step;
        steps++;
    }
    if (none > 0)
        return (left){ .db = -INFINITY, .overflow = none / (double)c->size };
    return (left){ .db = noise > 0 ? 10 * log10(signal / steps / noise) : INFINITY };
}

/* A block does not span two tensors. */
static void round_parameters(measure_encoding *m, round_fn *round)
{
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(m->e, n);
        round_all((double *)m->w.data + t->offset, t->count, round);
    }
}

static pe_status weigh(left *is, codes *c, round_fn *round, pe_error *err)
{
    TRY(codes_make(c->exact, c, err));
    round_parameters(&c->m, round);
    pe_status status = codes_make(c->kept, c, err);
    if (status == PE_ERR_RANGE || status == PE_ERR_POSITION) { /* rounding made the parameters invalid */
        *is = (left){ .db = -INFINITY, .overflow = 1 };
        return PE_OK;
    }
    TRY(status);
    round_all(c->kept, c->size, round);
    *is = ratio(c);
    return PE_OK;
}

static int64_t parameters(const char *spec, const prove_given *g)
{
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    if (pe_encoding_new(&e, spec, shape, NULL))
        return 0;
    int64_t count = pe_encoding_param_count(e);
    pe_encoding_free(e);
    return count;
}

/* ------------------------------------------------ the ranking */

/* What each seed leaves of one row at one length and size. */
typedef struct ranked {
    char spec[80];
    left is[PROVE_SEEDS];
    int seeds; /* 1: nothing of it is drawn at random */
} ranked;

enum { RANKED_MAX = 64, EXACT_DB = 999 }; /* where there is no rounding error at all */

typedef struct ranking {
    ranked row[RANKED_MAX];
    prove_given g; /* of one size */
    int count, left_out;
    int64_t length;
    round_fn *round;
} ranking;

/* One row, for all seeds. */
typedef struct weighing {
    const ranking *r;
    const char *far; /* the spec, made to reach */
    ranked *to;
} weighing;

/* Sizes that are tried where the claim is given none: the width of the first Transformer last. */
static const pe_shape rank_sizes[] = { { .heads = 2, .head_dim = 32 }, { .heads = 8, .head_dim = 64 } };
enum { RANK_SIZES = sizeof rank_sizes / sizeof *rank_sizes };

static pe_status weigh_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    const weighing *w = with;
    prove_given g = w->r->g;
    codes c;
    g.seed = seed;
    pe_status status = codes_open(&c, w->far, &g, w->r->length, err);
    status = status ? status : weigh(&w->to->is[n], &c, w->r->round, err);
    codes_close(&c);
    return status;
}

static double ranked_db(left l)
{
    return l.overflow > 0 ? -EXACT_DB : fmin(l.db, EXACT_DB);
}

static int ranked_lost(const ranked *x)
{
    int lost = 0;
    for (int n = 0; n < x->seeds; n++)
        lost += ranked_db(x->is[n]) <= 0;
    return lost;
}

static measure_spread ranked_spread(const ranked *x)
{
    double db[PROVE_SEEDS];
    for (int n = 0; n < x->seeds; n++)
        db[n] = ranked_db(x->is[n]);
    return measure_spread_of(db, x->seeds);
}

static void ranking_add(ranking *r, const ranked *x)
{
    int n = r->count < RANKED_MAX - 1 ? r->count++ : RANKED_MAX - 1;
    for (; n > 0 && ranked_spread(&r->row[n - 1]).median < ranked_spread(x).median; n--)
        r->row[n] = r->row[n - 1];
    r->row[n] = *x;
}

/* The row with its defaults, or with the key that makes it serve such positions if the defaults do not. */
static pe_status rank_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    ranking *r = with;
    ranked x = { .seeds = 1 };
    pe_encoding *e;
    pe_shape shape = { .heads = r->g.heads, .head_dim = r->g.head_dim, .model_dim = r->g.model_dim };
    TRY(pe_encoding_new(&e, spec, shape, err));
    unsigned hooks = pe_encoding_hooks(e);
    bool drawn = pe_encoding_param_count(e) || hooks & PE_HOOK_CONTENT;
    pe_encoding_free(e);
    if (!hooks)
        return PE_OK;
    measure_text far = measure_reaching(spec, &r->g, r->length);
    if (parameters(far.is, &r->g) > PARAMETERS_MAX) {
        r->left_out++;
        return PE_OK;
    }
    x.seeds = drawn ? PROVE_SEEDS : 1;
    snprintf(x.spec, sizeof x.spec, "%.79s", spec);
    weighing w = { r, far.is, &x };
    TRY(measure_each_seed(weigh_seed, &w, x.seeds, g, err));
    ranking_add(r, &x);
    return PE_OK;
}

/* The number of a row: a ratio, or the share that overflowed in any seed. */
static void add_row(prove_finding *out, const char *of, const ranked *x)
{
    double overflow[PROVE_SEEDS], most = 0;
    measure_spread s = ranked_spread(x);
    for (int n = 0; n < x->seeds; n++)
        most = fmax(most, overflow[n] = 100 * x->is[n].overflow);
    if (most > 0)
        measure_add_values(out, (words){ "numbers that overflow", "溢出的数" }, of, overflow, x->seeds, "%");
    else if (s.least >= EXACT_DB)
        prove_add(out, (words){ "exact: rounding error", "精确表示：舍入误差" }, of, 0, "");
    else if (x->seeds == 1)
        prove_add(out, (words){ "step against rounding", "相邻步长与舍入误差之比" }, of, s.median, "dB");
    else {
        double db[PROVE_SEEDS];
        for (int n = 0; n < x->seeds; n++)
            db[n] = ranked_db(x->is[n]);
        measure_add_values(out, (words){ "step against rounding", "相邻步长与舍入误差之比" }, of, db, x->seeds, "dB");
    }
}

static void add_ranking(prove_finding *out, const ranking *r)
{
    char of[128];
    for (int n = 0; n < r->count; n++) {
        snprintf(of, sizeof of, "%.60s, d = %lld, n = %lld", r->row[n].spec, (long long)r->g.model_dim,
                 (long long)r->length);
        add_row(out, of, &r->row[n]);
    }
    if (r->left_out) {
        snprintf(of, sizeof of, "d = %lld, n = %lld", (long long)r->g.model_dim, (long long)r->length);
        prove_add(out, (words){ "left out: tables of more than 2^20 numbers", "未测：表超过 2^20 个数的编码" }, of,
                  r->left_out, "");
    }
}

/* How many (row, length, size) lose their steps in every seed, in some, in none. */
typedef struct losses {
    int every, some, none;
} losses;

static void count_losses(losses *l, const ranking *r)
{
    for (int n = 0; n < r->count; n++) {
        int lost = ranked_lost(&r->row[n]);
        l->every += lost == r->row[n].seeds;
        l->some += lost && lost < r->row[n].seeds;
        l->none += !lost;
    }
}

static void conclude_rounding(prove_finding *out, losses l)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Wherever measured, in every seed, the step from a position to the next is larger than the rounding.",
          "在所有测过的情形中，每个随机种子下，从一个位置到下一个位置的步长都大于舍入误差。" },
        { "Wherever measured, in every seed, rounding is larger than the step from a position to the next.",
          "在所有测过的情形中，每个随机种子下，舍入误差都大于相邻位置之间的步长。" },
        { "It depends on the step between neighbours against the rounding of the value: rounding is a share of the "
          "value (of the largest of its block), so small steps of large values are lost, of numbers that grow as of "
          "bounded ones.",
          "取决于相邻位置的步长与数值舍入误差之比：舍入误差与数值（或所在块的最大值）成正比，数值大而步长小就会丢失，"
          "不论数值是增长的还是有界的。" },
    };
    static const words by_seed = {
        "It depends on the step between neighbours against the rounding of the value, which is a share of the value; "
        "and, of encodings whose parameters start at random, on the seed: some lose the step in some seeds only.",
        "取决于相邻位置的步长与数值舍入误差之比，舍入误差与数值成正比；参数随机初始化的编码还取决于随机种子：有些编码"
        "只在部分种子下丢失步长。"
    };
    int all = l.every + l.some + l.none;
    char of[64];
    snprintf(of, sizeof of, "/ %d", all);
    measure_add_first(out, (words){ "of them, those that lose steps in some seeds only", "其中只在部分种子下丢失的" },
                      of, l.some, "");
    measure_add_first(out, (words){ "rows at a length and size whose steps are lost", "步长被舍入淹没的（编码，长度，尺寸）组数" },
                      of, l.every + l.some, "");
    prove_verdict v = l.none == all ? PROVE_HOLDS : l.every == all ? PROVE_REFUTED : PROVE_DEPENDS;
    prove_say(out, v, v == PROVE_DEPENDS && l.some ? by_seed : because[v]);
}

static int rank_size_count(const prove_given *g)
{
    return g->heads || g->head_dim ? 1 : RANK_SIZES;
}

static pe_status rank_at(prove_finding *out, losses *l, const prove_given *g, int64_t length, round_fn *round,
                         pe_error *err)
{
    ranking *r = calloc(1, sizeof *r);
    if (!r)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a ranking");
    r->g = *g;
    r->length = length;
    r->round = round;
    pe_status status = measure_each_row(rank_row, r, g, err);
    if (!status) {
        count_losses(l, r);
        add_ranking(out, r);
    }
    free(r);
    return status;
}

/* given: spec (none: every row), length (the farther ranking); heads, head_dim, model_dim, or none of them. HOLDS: no
 * row loses its steps in any seed, REFUTED: all do in all. */
static pe_status measure_rounding(prove_finding *out, const prove_given *g, round_fn *round, pe_error *err)
{
    losses l = { 0 };
    for (int n = 0; n < 2 * rank_size_count(g); n++) {
        prove_given one = *g;
        one.heads = g->heads ? g->heads : rank_sizes[n / 2].heads;
        one.head_dim = g->head_dim ? g->head_dim : rank_sizes[n / 2].head_dim;
        one.model_dim = g->model_dim ? g->model_dim : one.heads * one.head_dim;
        TRY(rank_at(out, &l, &one, n % 2 ? g->length : NEAR, round, err));
    }
    if (!l.every && !l.some && !l.none)
        return io_fail(err, PE_ERR_UNSUITED, "%s makes nothing of a position; needs an encoding that does",
                       g->spec[0] ? g->spec[0] : "the registry");
    conclude_rounding(out, l);
    return PE_OK;
}

#define ROUNDED(name)                                                                                                  \
    pe_status measure_##name(prove_finding *out, const prove_given *g, pe_error *err)                                  \
    {                                                                                                                  \
        return measure_rounding(out, g, round_##name, err);                                                            \
    }

ROUNDED(bf16)
ROUNDED(f16)
ROUNDED(q8)
ROUNDED(q4)

/* Rotated in few bits, does a score still depend on distance alone? Queries and keys are rounded, rotated and stored in
 * a type, and both tokens are moved by the same step: how far do the scores move, of their size? Three ways to rotate:
 *   stored    the rotation is exact, its result is stored
 *   computed  cos and sin, each product and each sum are stored
 *   angles    position, frequency and angle too */

enum { STORED, COMPUTED, ANGLES, WAYS };
enum { TRIES = 64, PAIRS_MAX = MEASURE_HEAD_MAX / 2 };

typedef struct rotator {
    measure_encoding m;
    pe_pair pair[PAIRS_MAX];
    int64_t pairs;
    round_fn *round;
} rotator;

static pe_status rotator_open(rotator *t, const char *spec, const prove_given *g, round_fn *round, pe_error *err)
{
    *t = (rotator){ .round = round };
    TRY(measure_open_head(&t->m, spec, g, err));
    t->pairs = pe_encoding_pair_count(t->m.e);
    pe_status status = t->pairs ? pe_encoding_pairs(t->m.e, t->pair, t->pairs, err) : PE_OK;
    if (status)
        measure_close(&t->m);
    return status;
}

typedef struct angles {
    double c[PAIRS_MAX], s[PAIRS_MAX];
} angles;

/* cos and sin of a place, as the library has them or of angles in the type. */
static pe_status angles_of(angles *a, const rotator *t, pe_side side, int way, pe_positions at, pe_error *err)
{
    double position = (double)io_position(at, 0, 0), angle[PAIRS_MAX] = { 0 };
    if (way == ANGLES) {
        round_all(&position, 1, t->round);
        for (int64_t p = 0; p < t->pairs; p++)
            angle[p] = t->pair[p].frequency;
        round_all(angle, t->pairs, t->round);
        for (int64_t p = 0; p < t->pairs; p++)
            angle[p] *= position;
        round_all(angle, t->pairs, t->round);
        for (int64_t p = 0; p < t->pairs; p++) {
            a->c[p] = cos(angle[p]);
            a->s[p] = sin(angle[p]);
        }
    } else
        TRY(pe_rotate_table(t->m.e, side, pe_view_of(a->c, PE_F64, 1, 1, 1, t->pairs),
                            pe_view_of(a->s, PE_F64, 1, 1, 1, t->pairs), at, &PE_MAKE(pe_run, .params = t->m.w), err));
    round_all(a->c, t->pairs, t->round);
    round_all(a->s, t->pairs, t->round);
    return PE_OK;
}

/* to = x first + sign y second of every pair, rounded after each product. */
static void combine(double *to, const rotator *t, const double *x, const double *first, const double *second,
                    double sign)
{
    double a[PAIRS_MAX], b[PAIRS_MAX];
    for (int64_t p = 0; p < t->pairs; p++) {
        a[p] = x[t->pair[p].x] * first[p];
        b[p] = x[t->pair[p].y] * second[p];
    }
    round_all(a, t->pairs, t->round);
    round_all(b, t->pairs, t->round);
    for (int64_t p = 0; p < t->pairs; p++)
        to[p] = a[p] + sign * b[p];
}

static pe_status rotate_rounded(double *to, const rotator *t, pe_side side, int way, const double *x, int64_t place,
                                pe_error *err)
{
    int64_t at[PE_AXES_MAX], axes = pe_encoding_axes(t->m.e), D = t->m.shape.head_dim;
    angles a;
    double low[PAIRS_MAX], high[PAIRS_MAX];
    for (int64_t n = 0; n < axes; n++)
        at[n] = place;
    pe_positions where = pe_positions_of(at, PE_I64, 1, 1, axes);
    memcpy(to, x, (size_t)D * sizeof *to);
    pe_view y = pe_view_of(to, PE_F64, 1, 1, 1, D);
    if (way == STORED || !t->pairs)
        TRY(pe_rotate(t->m.e, side, y, y, where, &PE_MAKE(pe_run, .params = t->m.w), err));
    else {
        TRY(angles_of(&a, t, side, way, where, err));
        combine(low, t, x, a.c, a.s, -1);
        combine(high, t, x, a.s, a.c, 1);
        for (int64_t p = 0; p < t->pairs; p++) {
            to[t->pair[p].x_out] = low[p];
            to[t->pair[p].y_out] = high[p];
        }
    }
    round_all(to, D, t->round);
    return PE_OK;
}

static pe_status score(double *out, const rotator *t, int way, const double *qk, int64_t i, int64_t j, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX];
    int64_t D = t->m.shape.head_dim;
    TRY(rotate_rounded(q, t, PE_QUERY, way, qk, i, err));
    TRY(rotate_rounded(k, t, PE_KEY, way, qk + D, j, err));
    *out = measure_dot(q, k, D);
    return PE_OK;
}

/* The change of a score as both tokens move by `step`, root of the mean square, of the size of a score; NAN where
 * something overflowed. */
static pe_status score_change(double *change, const rotator *t, int way, const prove_given *g, int64_t step,
                              pe_error *err)
{
    double qk[2 * MEASURE_HEAD_MAX], here, there, off = 0, size = 0;
    uint64_t seed = g->seed;
    for (int n = 0; n < TRIES; n++) {
        int64_t distance = measure_range(&seed, 0, 63), from = measure_range(&seed, 0, 63);
        if (g->qk)
            memcpy(qk, g->qk + measure_range(&seed, 0, g->qks - 1) * 2 * g->head_dim,
                   (size_t)(2 * g->head_dim) * sizeof *qk);
        else
            measure_normals(qk, 2 * g->head_dim, 1, seed);
        round_all(qk, 2 * g->head_dim, t->round);
        TRY(score(&here, t, way, qk, from + distance, from, err));
        TRY(score(&there, t, way, qk, from + step + distance, from + step, err));
        off += (there - here) * (there - here);
        size += here * here;
    }
    *change = sqrt(off / size);
    return PE_OK;
}

const char measure_moved_rule[] =
    "A way to rotate breaks if scores at one distance change more at + 131072, in each of 20 seeds, than in any seed "
    "at + 256: the paper's claim is that it grows with the context. It holds if all three break, and is refuted if "
    "none does.";
const char measure_moved_rule_zh[] =
    "一种旋转方式失效的条件：等距离分数在 + 131072 处的变化，20 个随机种子下都大于任一种子在 + 256 处的变化"
    "（论文的说法是随上下文增大）。三种都失效则成立，都不失效则不成立。";

enum { STEPS = 3 };

/* One type: what every seed changes, by way and step. */
typedef struct moved {
    const char *spec, *type;
    const prove_given *g;
    round_fn *round;
    int64_t step[STEPS];
    double change[WAYS][STEPS][PROVE_SEEDS]; /* INFINITY: something overflowed */
} moved;

static pe_status moved_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    moved *m = with;
    prove_given g = *m->g;
    rotator t;
    g.seed = seed;
    TRY(rotator_open(&t, m->spec, &g, m->round, err));
    pe_status status = PE_OK;
    for (int i = 0; !status && i < WAYS * STEPS; i++) {
        double change = 0;
        status = score_change(&change, &t, i / STEPS, &g, m->step[i % STEPS], err);
        m->change[i / STEPS][i % STEPS][n] = isfinite(change) ? change : (double)INFINITY;
    }
    measure_close(&t.m);
    return status;
}

static void add_moved(prove_finding *out, const moved *m)
{
    static const words what[WAYS] = {
        { "change of scores at equal distance, rotated and then stored", "等距离分数的变化：旋转后存储" },
        { "change of scores at equal distance, rotated in that type", "等距离分数的变化：用该类型旋转" },
        { "change of scores at equal distance, angles in that type too", "等距离分数的变化：角度也用该类型" },
    };
    for (int i = 0; i < WAYS * STEPS; i++) {
        measure_spread s = measure_spread_of(m->change[i / STEPS][i % STEPS], PROVE_SEEDS);
        char of[96];
        snprintf(of, sizeof of, "%s, + %lld, head_dim = %lld", m->type, (long long)m->step[i % STEPS],
                 (long long)m->g->head_dim);
        if (isfinite(s.most))
            measure_add_spread(out, what[i / STEPS], of,
                               (measure_spread){ 100 * s.median, 100 * s.least, 100 * s.most, s.seeds }, "%");
        else
            prove_add(out, (words){ "positions that overflow, the last of them", "溢出的位置，最远为" }, of,
                      (double)m->step[i % STEPS], "");
    }
}

/* Whether the change grows with the position: at the farthest step, in every seed, it is more than in any seed at the
 * nearest. */
static bool grows(const moved *m, int way)
{
    return measure_spread_of(m->change[way][STEPS - 1], PROVE_SEEDS).least >
           measure_spread_of(m->change[way][0], PROVE_SEEDS).most;
}

static pe_status move_type(moved *m, const prove_given *g, round_fn *round, const char *type, pe_error *err)
{
    *m = (moved){ g->spec[0], type, g, round, { 1 << 8, 1 << 12, g->length }, { { { 0 } } } };
    return measure_each_seed(moved_seed, m, PROVE_SEEDS, g, err);
}

/* given: spec, head_dim, length (the farthest step). HOLDS: each way to rotate breaks, REFUTED: none. */
static pe_status measure_moved(prove_finding *out, const prove_given *g, round_fn *round, const char *type,
                               pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "However it is rotated, scores at one distance change the more the farther both tokens are.",
          "无论怎样旋转，两个词元离得越远，等距离分数的变化越大。" },
        { "However it is rotated, scores at one distance change by ordinary rounding, as much far away as nearby.",
          "无论怎样旋转，等距离分数的变化都只是普通的舍入误差，远处与近处一样大。" },
        { "It depends on what is in that type: where only the rotated vectors are, scores change by ordinary rounding, "
          "as much far away as nearby; where positions and angles are too, far positions share angles and the "
          "distance is lost.",
          "取决于哪些量用该类型：只有旋转后的向量用它时，变化只是普通的舍入误差，远处与近处一样大；位置和角度也用它时，"
          "远处的位置共用角度，"
          "距离就丢失了。" },
    };
    moved m;
    int broken = 0;
    TRY(move_type(&m, g, round, type, err));
    add_moved(out, &m);
    for (int way = 0; way < WAYS; way++)
        broken += grows(&m, way);
    TRY(move_type(&m, g, round_f32, "float32", err));
    add_moved(out, &m);
    measure_add_first(out,
                      (words){ "of 3 ways to rotate: those whose error grows with the position",
                               "三种旋转方式中，误差随位置增大的有" },
                      type, broken, "");
    prove_verdict v = broken == WAYS ? PROVE_HOLDS : broken ? PROVE_DEPENDS : PROVE_REFUTED;
    prove_say(out, v, because[v]);
    return PE_OK;
}

#define MOVED(name, type)                                                                                              \
    pe_status measure_moved_##name(prove_finding *out, const prove_given *g, pe_error *err)                            \
    {                                                                                                                  \
        return measure_moved(out, g, round_##name, type, err);                                                         \
    }

MOVED(bf16, "bfloat16")
MOVED(f16, "float16")
