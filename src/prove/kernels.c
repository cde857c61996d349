/* SPDX-License-Identifier: MIT
 *
 * Claims on kernels: which fast attentions and which uses of a KV cache an encoding allows. */
#include "prove/measure.h"
#include "prove/scores.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    measure_encoding m, plain;  /* plain: no encoding, the same shape */
    int64_t tokens, axes, size; /* size: T H D */
    int64_t *at;
    double *q, *k, *v, *out, *other; /* (T, H, D) */
    double *bias;                    /* (T, H, T) */
} trial;

/* Some random queries, keys and values, and attention over them by the definition, with an encoding or without. */

static void trial_close(trial *t)
{
    measure_close(&t->m);
    measure_close(&t->plain);
    free(t->at), free(t->q), free(t->k), free(t->v), free(t->out), free(t->other), free(t->bias);
}

static pe_status trial_open(trial *t, const char *spec, const prove_given *g, pe_error *err)
{
    *t = (trial){ .tokens = g->length };
    TRY(measure_open(&t->m, spec, g, err));
    TRY(measure_open(&t->plain, zoo_look_plain(), g, err));
    int64_t T = t->tokens, H = g->heads;
    t->axes = pe_encoding_axes(t->m.e);
    t->size = T * H * g->head_dim;
    double **all[] = { &t->q, &t->k, &t->v, &t->out, &t->other };
    for (int n = 0; n < 5; n++) {
        if (!(*all[n] = measure_memory(t->size, 1, err)))
            return PE_ERR_NOMEM;
        measure_normals(*all[n], t->size, 1, g->seed + (uint64_t)n);
    }
    t->bias = measure_memory(T * H, T, err);
    t->at = calloc((size_t)(T * t->axes), sizeof *t->at);
    if (!t->bias || !t->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld tokens", (long long)T);
    measure_place(t->at, T, t->axes);
    return PE_OK;
}

/* (T, H, D) */
static pe_view trial_view(const trial *t, double *x)
{
    return pe_view_of(x, PE_F64, 1, t->tokens, t->m.shape.heads, t->m.shape.head_dim);
}

static pe_positions trial_places(const trial *t)
{
    return pe_positions_of(t->at, PE_I64, 1, t->tokens, t->axes);
}

/* to (T, H, D): attention by the definition, causal, with m one of the two; scale and bias from a. */
static pe_status trial_attend(const trial *t, const measure_encoding *m, pe_attention a, double *to, pe_error *err)
{
    pe_positions one_place = { .batch = 1, .tokens = t->tokens };
    a.out = trial_view(t, to);
    a.q = trial_view(t, t->q);
    a.k = trial_view(t, t->k);
    a.v = trial_view(t, t->v);
    a.q_at = a.k_at = m == &t->m ? trial_places(t) : one_place;
    a.mask.causal = true;
    return zoo_look(m->e, a, m->w, err);
}

/* Which fast attentions an encoding allows, by trying: plain attention on rotated queries and keys, plain
 * attention with a bias, a cache whose oldest tokens are dropped. */

/* bias (T, H, T): the scores of zero queries and keys, which is what the encoding adds to every score. */
static pe_status bare_bias(trial *t, pe_error *err)
{
    int64_t T = t->tokens;
    double *none = measure_memory(t->size, 1, err);
    pe_attention a = PE_MAKE(pe_attention, .q = trial_view(t, none), .k = trial_view(t, none), .q_at = trial_places(t),
                             .k_at = trial_places(t), .mask.causal = true,
                             .scores = pe_view_of(t->bias, PE_F64, 1, T, t->m.shape.heads, T));
    pe_status status = none ? zoo_look(t->m.e, a, t->m.w, err) : PE_ERR_NOMEM;
    free(none);
    return status;
}

typedef enum kernel { ANY_KERNEL = 0, BIASED_KERNEL, OWN_KERNEL, KERNELS } kernel;

/* The simplest kind of attention that computes this encoding exactly; *apart: the last difference. */
static pe_status plainest(kernel *is, double *apart, trial *t, pe_error *err)
{
    pe_attention bare = { .size = sizeof bare }, a = bare;
    a.scale = pe_encoding_scale(t->m.e);
    TRY(trial_attend(t, &t->m, bare, t->out, err));
    double *rotated[] = { t->q, t->k, t->v };
    for (int side = PE_QUERY; side <= PE_VALUE; side++)
        TRY(pe_rotate(t->m.e, (pe_side)side, trial_view(t, rotated[side]), trial_view(t, rotated[side]),
                      trial_places(t), &PE_MAKE(pe_run, .params = t->m.w), err));
    for (*is = ANY_KERNEL; *is < OWN_KERNEL; ++*is) {
        TRY(trial_attend(t, &t->plain, a, t->other, err));
        TRY(pe_rotate(t->m.e, PE_OUTPUT, trial_view(t, t->other), trial_view(t, t->other), trial_places(t),
                      &PE_MAKE(pe_run, .params = t->m.w), err));
        *apart = measure_difference(t->out, t->other, t->size);
        if (*apart < PROVE_ROUNDING)
            break;
        TRY(bare_bias(t, err));
        a.mask.additive = pe_view_of(t->bias, PE_F64, 1, t->tokens, t->m.shape.heads, t->tokens);
    }
    return PE_OK;
}

/* What one row shows in every seed. */
typedef struct row_run {
    const char *spec;
    const prove_given *g;
    kernel is[MEASURE_RUNS];
    double apart[MEASURE_RUNS];
} row_run;

static pe_status kernel_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    row_run *r = with;
    trial t;
    prove_given g = measure_sized(r->g, n);
    g.seed = seed;
    pe_status status = trial_open(&t, r->spec, &g, err);
    status = status ? status : plainest(&r->is[n], &r->apart[n], &t, err);
    trial_close(&t);
    return status;
}

static pe_status find_kernel(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const words name[KERNELS] = {
        { "any kernel, linear attention too; difference", "任何内核均可，线性注意力也可；误差" },
        { "a kernel with a bias on scores; difference", "需要支持分数偏置的内核；误差" },
        { "code of its own in the kernel; difference without", "内核需专门实现；否则误差" },
    };
    row_run r = { .spec = spec, .g = g };
    kernel is = ANY_KERNEL; /* that serves every seed */
    int runs = measure_runs(g);
    TRY(measure_each_seed(kernel_seed, &r, runs, g, err));
    for (int n = 0; n < runs; n++)
        is = r.is[n] > is ? r.is[n] : is;
    measure_add_values(((measure_tally *)with)->out, name[is], spec, r.apart, runs, "");
    measure_count(with, is == ANY_KERNEL);
    return PE_OK;
}

/* given: spec (none: every row), length; heads, head_dim, or neither. HOLDS: rotating q and k is all that any of them
 * does. */
pe_status measure_any_kernel(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "All of it is done to q and k before attention, which need not know.",
          "全部作用都在注意力之前施加到 q 和 k 上，内核无须知道。" },
        { "None of these can be had by changing q and k alone.", "这些编码都不能只靠改变 q 和 k 得到。" },
        { "It depends on where position enters: in words, q and k any kernel serves, and linear attention; a number "
          "per distance "
          "needs a bias on scores; terms of content and values need code of their own.",
          "取决于位置从何处进入：进入词向量或 q、k 的可用任何内核（包括线性注意力）；每个距离一个数的需要分数偏置；"
          "与内容相乘或进入值的需要专门实现。" },
    };
    measure_tally t = { .out = out };
    TRY(measure_each_row(find_kernel, &t, g, err));
    measure_conclude(&t, (words){ "rows that plain attention does not serve", "普通注意力不够用的编码数" }, because);
    return PE_OK;
}

/* ------------------------------------------------ a cache that moves */

#define DROPPED 4

/* Where a difference of positions does not say how far keys go, they go back and on. */
static pe_status move_keys(const pe_encoding *e, pe_view k, pe_positions old, pe_positions now, const pe_run *run,
                           pe_error *err)
{
    pe_status status = pe_cache_shift(e, k, NULL, old, now, run, err);
    if (status != PE_ERR_UNSUITED)
        return status;
    TRY(pe_unrotate(e, PE_KEY, k, k, old, run, err));
    return pe_rotate(e, PE_KEY, k, k, now, run, err);
}

/* The difference between scores of keys that were cached DROPPED positions later and shifted, and scores of newly
 * computed keys, relative to the size of a score. */
static pe_status shift_cache(double *apart, scores *s, double *fresh, pe_error *err)
{
    int64_t T = s->tokens, H = s->m.shape.heads, D = s->m.shape.head_dim, n = T * H * D;
    double *cached = measure_memory(n, 1, err), *score = fresh + s->size;
    int64_t *from = calloc((size_t)(T * s->axes), sizeof *from);
    pe_status status = cached && from ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a cache");
    scores_move(s, DROPPED);
    status = status ? status : scores_sides(s, SCORES_BOTH, err);
    if (!status) {
        memcpy(cached, s->k, (size_t)n * sizeof *cached);
        memcpy(from, s->at, (size_t)(T * s->axes) * sizeof *from);
    }
    scores_move(s, 0);
    pe_view k = pe_view_of(cached, PE_F64, 1, T, H, D);
    pe_positions old = pe_positions_of(from, PE_I64, 1, T, s->axes),
                 now = pe_positions_of(s->at, PE_I64, 1, T, s->axes);
    pe_run run = PE_MAKE(pe_run, .params = s->m.w);
    status = status ? status : pe_rotate(s->m.e, PE_KEY, k, k, old, &run, err);
    status = status ? status : move_keys(s->m.e, k, old, now, &run, err);
    status = status ? status : scores_make(fresh, s, SCORES_BOTH, err);
    if (!status) {
        memcpy(s->k, cached, (size_t)n * sizeof *cached);
        status = scores_pairs(score, s, true, err);
        *apart = measure_difference(fresh, score, s->size) / scores_rms(fresh, s);
    }
    free(cached), free(from);
    return status;
}

static pe_status shift_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    row_run *r = with;
    scores s;
    prove_given g = measure_sized(r->g, n);
    g.seed = seed;
    TRY(scores_open(&s, r->spec, &g, err));
    double *fresh = measure_memory(2, s.size, err);
    pe_status status = fresh ? shift_cache(&r->apart[n], &s, fresh, err) : PE_ERR_NOMEM;
    free(fresh);
    scores_close(&s);
    return status;
}

/* A row passes if it does in every seed. */
static pe_status try_row(measure_tally *t, measure_seed_fn *each, words what, double most, const char *spec,
                         const prove_given *g, pe_error *err)
{
    row_run r = { .spec = spec, .g = g };
    TRY(measure_each_seed(each, &r, measure_runs(g), g, err));
    measure_spread s = measure_spread_of(r.apart, measure_runs(g));
    measure_add_spread(t->out, what, spec, s, "");
    measure_count(t, s.most < most);
    return PE_OK;
}

static pe_status try_shift(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    const words what = { "shifted cache against keys made afresh, of the score",
                         "平移后的缓存与重新计算的键，分数相对差" };
    return try_row(with, shift_seed, what, PROVE_ROUNDING, spec, g, err);
}

/* given: as above. HOLDS where a cache can be moved, REFUTED where it must be recomputed. */
pe_status measure_cache_shift(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Keys do not contain their position, or can be rotated to another one.",
          "键里没有位置，或者可以直接转到另一个位置。" },
        { "Keys contain the position that was added to their words: they must be computed again.",
          "键里留有加到词向量上的位置，必须重新计算。" },
        { "It depends on where position enters: rotated keys can be rotated further, keys without position can be "
          "moved as they "
          "are; codes that "
          "were added to words stay in the keys.",
          "取决于位置从何处进入：旋转过的键可以再转，不含位置的键可以直接移动；加到词向量上的编码则留在键里。" },
    };
    measure_tally t = { .out = out };
    TRY(measure_each_row(try_shift, &t, g, err));
    measure_conclude(&t, (words){ "rows whose cache cannot be moved", "缓存不能平移的编码数" }, because);
    return PE_OK;
}

/* Split keys: can independent workers compute attention over parts of the keys, to be merged? */

#define FLOAT_ROUNDING 1e-5 /* of outputs near 1, in float32 */

typedef struct halves {
    float *x[5];           /* q, k, v, whole, out: (T, H, D) */
    float *part[2], *line; /* (T, H, D) each; (4, T, H): max and sum of either half */
    double *carry;         /* (H, T) */
    zoo_alike in;
    void *work;
    size_t bytes;
} halves;

static void halves_free(halves *h)
{
    for (int n = 0; n < 5; n++)
        free(h->x[n]);
    zoo_alike_free(&h->in);
    free(h->part[0]), free(h->part[1]), free(h->line), free(h->carry), free(h->work);
}

static pe_status halves_new(halves *h, const trial *t, pe_error *err)
{
    size_t n = (size_t)t->size, lines = (size_t)(4 * t->tokens * t->m.shape.heads);
    double *from[] = { t->q, t->k, t->v };
    bool whole = true;
    for (int i = 0; i < 5; i++)
        whole = (h->x[i] = calloc(n, sizeof(float))) && whole;
    for (int i = 0; i < 2; i++)
        whole = (h->part[i] = calloc(n, sizeof(float))) && whole;
    h->line = calloc(lines, sizeof(float));
    h->carry = calloc(lines, sizeof(double));
    if (!whole || !h->line || !h->carry)
        return io_fail(err, PE_ERR_NOMEM, "no memory for keys in pieces");
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < n; j++)
            h->x[i][j] = (float)from[i][j];
    return zoo_alike_new(&h->in, t->m.e, 1, trial_places(t), trial_places(t), err);
}

/* Attention over keys from .. to-1. */
static pe_attention over(const trial *t, const halves *h, int64_t from, int64_t to)
{
    int64_t T = t->tokens, H = t->m.shape.heads, D = t->m.shape.head_dim, skip = from * H * D;
    pe_view gates = h->in.k_gates;
    if (gates.data) {
        gates.data = (double *)gates.data + from * H;
        gates.tokens = to - from;
    }
    return PE_MAKE(pe_attention, .out = pe_view_of(h->x[4], PE_F32, 1, T, H, D),
                   .q = pe_view_of(h->x[0], PE_F32, 1, T, H, D),
                   .k = pe_view_of(h->x[1] + skip, PE_F32, 1, to - from, H, D),
                   .v = pe_view_of(h->x[2] + skip, PE_F32, 1, to - from, H, D), .q_at = trial_places(t),
                   .k_at = pe_positions_of(t->at + from * t->axes, PE_I64, 1, to - from, t->axes),
                   .mask = { .causal = true, .keys_after = T - to }, .q_gates = h->in.q_gates, .k_gates = gates,
                   .relative = h->in.relative);
}

static pe_status need_work(halves *h, const trial *t, pe_attention a, pe_error *err)
{
    TRY(pe_attention_work(t->m.e, &a, &PE_MAKE(pe_run, .params = t->m.w), &h->bytes, err));
    free(h->work);
    h->work = malloc(h->bytes ? h->bytes : 1);
    return h->work ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for attention's work");
}

/* Computes both halves independently, then merges them. */
static pe_status in_halves(halves *h, const trial *t, pe_error *err)
{
    int64_t T = t->tokens, lines = T * t->m.shape.heads, cut[] = { 0, T / 2, T };
    pe_partial piece[2];
    for (int n = 0; n < 2; n++) {
        pe_attention a = over(t, h, cut[n], cut[n + 1]);
        bool counts = pe_encoding_carries(t->m.e);
        piece[n] = (pe_partial){ h->part[n], h->line + 2 * n * lines, h->line + (2 * n + 1) * lines,
                                 counts ? h->carry + n * lines : NULL };
        TRY(need_work(h, t, a, err));
        TRY(pe_attention_partial(t->m.e, &a, piece[n],
                                 &PE_MAKE(pe_run, .params = t->m.w, .work = h->work, .work_bytes = h->bytes), err));
    }
    pe_attention a = over(t, h, 0, T);
    TRY(pe_attention_merge(piece[0], piece[1], lines, t->m.shape.head_dim, err));
    return pe_attention_finish(t->m.e, &a, piece[0], NULL, err);
}

static pe_status try_halves(double *apart, const trial *t, halves *h, pe_error *err)
{
    pe_attention a = over(t, h, 0, t->tokens);
    a.out.data = h->x[3];
    TRY(need_work(h, t, a, err));
    TRY(pe_attention_forward(t->m.e, &a, &PE_MAKE(pe_run, .params = t->m.w, .work = h->work, .work_bytes = h->bytes),
                             err));
    TRY(in_halves(h, t, err));
    for (int64_t n = 0; n < t->size; n++)
        *apart = fmax(*apart, fabs((double)h->x[3][n] - (double)h->x[4][n]));
    return PE_OK;
}

static pe_status split_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    row_run *r = with;
    trial t;
    halves h = { 0 };
    prove_given g = measure_sized(r->g, n);
    g.seed = seed;
    pe_status status = trial_open(&t, r->spec, &g, err);
    status = status ? status : halves_new(&h, &t, err);
    status = status ? status : try_halves(&r->apart[n], &t, &h, err);
    halves_free(&h);
    trial_close(&t);
    return status;
}

static pe_status try_split(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    const words what = { "keys in two halves against all at once", "键分两半计算与一次算完之差" };
    return try_row(with, split_seed, what, FLOAT_ROUNDING, spec, g, err);
}

/* given: as above. REFUTED where what one half adds depends on the other. */
pe_status measure_split_keys(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Halves that do not know of each other give what all keys give.", "互不知晓的两半合起来与一次算完相同。" },
        { "What one half adds depends on the keys of the other.", "一半所加的项取决于另一半的键。" },
        { "It depends on whether a term counts keys: then tiles go from the right to the left and hand on their sums.",
          "取决于是否对键计数：计数的编码必须从右到左逐块计算并传递累计值。" },
    };
    measure_tally t = { .out = out };
    TRY(measure_each_row(try_split, &t, g, err));
    measure_conclude(&t, (words){ "rows whose keys cannot be split", "键不能拆分的编码数" }, because);
    return PE_OK;
}
