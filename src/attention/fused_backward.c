/* SPDX-License-Identifier: MIT
 *
 * Fused attention, backward. An item of work is a key/value head and a share of the queries: its heads' tiles are made
 * again from q, k and the log-sum-exp, and differentiated step by step into a ledger of its own. */
#include "attention/fused.h"

/* ------------------------------------------------ dO, its mean, the log-sum-exp */

/* An output of 0 is that of a query that sees nothing: what flows into it may be NaN. */
static double row_dot(pe_view dout, pe_view out, int64_t t, int64_t h)
{
    double sum = 0;
    for (int64_t d = 0; d < out.dim; d++) {
        double o = vec_get(row_vec(out, t, h), d);
        sum += o != 0 ? o * vec_get(row_vec(dout, t, h), d) : 0;
    }
    return sum;
}

static void ready_outputs(void *arg, int64_t n, int worker)
{
    const fused *f = arg;
    const pe_attention *a = &f->p.a;
    float *x = f->scratch[worker].load;
    int64_t t = n * LOAD, count = f->Tq - t < LOAD ? f->Tq - t : LOAD;
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t i = t; i < t + count; i++) {
            double lse = vec_get(row_vec(a->lse, i, h), 0);
            f->back.lse[h * f->Tq + i] = (float)lse;
            f->back.lse_low[h * f->Tq + i] = (float)(isfinite(lse) ? lse - (double)(float)lse : 0);
            f->back.mean[h * f->Tq + i] = lse == -INFINITY ? 0 : (float)row_dot(f->p.g.dout, a->out, i, h);
        }
    ready_load(f, x, f->p.g.dout, t, count, false);
    if (f->p.rotating && f->p.rotating->rotates_output)
        ready_rotate(f, PE_OUTPUT, (rotation_mode){ false, true }, x, 0, f->H, f->Dv, a->q_at, t, count, 0);
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t i = 0; i < count; i++)
            ready_pad(f, f->back.dO + (h * f->Tq + t + i) * f->Dw, x + (i * f->H + h) * f->Dv, f->Dv, f->Dw);
}

/* ------------------------------------------------ one tile of queries meets one of keys */

/* Weights from scores, and through values and the softmax to the gradients of scores, in dP. */
static void weights_back(const fused *f, scratch *s, const tile *t, int64_t item)
{
    int64_t n = up_to(t->n, LANES), depth = fused_places(f, f->Dv);
    const float *vt = f->ready.vt + (t->h / f->group * f->tiles * BK + t->j) * depth;
    const float *dO = f->bf16 ? s->dO_along : s->dO;
    for (int64_t r = 0; r < t->m; r++) {
        f->k->weigh(s->S + r * BK, n, s->lse[r]);
        if (s->share[r] != 1)
            f->k->scale(s->S + r * BK, s->share[r], n);
    }
    for (int64_t p = 0; p * PANEL < t->n; p++)
        f->gemm(s->dP + p * PANEL, BK, dO, fused_places(f, f->Dw), 1, vt + p * depth * PANEL, PANEL, t->m, PANEL, depth,
                false);
    const term_kind *kind;
    for (int k = 0; (kind = kind_next(f, &k));)
        if (kind->mix_back)
            kind->mix_back(f, s, t, item);
    for (int64_t r = 0; r < t->m; r++)
        f->k->score_grad(s->dP + r * BK, s->S + r * BK, s->dP + r * BK, s->mean[r], n);
}

static void additive_back(const fused *f, const scratch *s, const tile *t)
{
    pe_view to = f->p.g.dadditive;
    for (int64_t r = 0; to.data && r < t->m; r++)
        for (int64_t j = 0; j < t->n; j++)
            vec_add(mask_row(to, t->i + r, t->h), t->j + j, (double)s->dP[r * BK + j]);
}

static void cap_back(const fused *f, scratch *s, const tile *t)
{
    float cap = (float)f->p.a.soft_cap;
    for (int64_t r = 0; cap > 0 && r < t->m; r++)
        for (int64_t n = r * BK; n < r * BK + t->n; n++) {
            float x = s->capped[n] / cap;
            s->dP[n] = s->dP[n] != 0 ? s->dP[n] * (1 - x * x) : 0;
        }
}

static void terms_at(const fused *f, scratch *s, const tile *t, int64_t item, moment when)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->back(f, s, t, item, when);
}

/* From the scores back to q.k, in the order in which they were made, rotated round. */
static void terms_back(const fused *f, scratch *s, const tile *t, int64_t item)
{
    terms_at(f, s, t, item, AT_MASKED);
    additive_back(f, s, t);
    terms_at(f, s, t, item, AT_AFTER);
    cap_back(f, s, t);
    terms_at(f, s, t, item, AT_BEFORE);
    terms_at(f, s, t, item, AT_PRODUCT);
}

/* Sums over queries, into the ledgers of keys and of values; bfloat16 uses up S. */
static void ledgers_back(const fused *f, scratch *s, const tile *t, int64_t item, gemm_fn *gemm)
{
    int64_t at = item * f->tiles * BK + t->j, Dp = f->Dp, Dw = f->Dw, m = fused_places(f, t->m);
    const float *qs = f->bf16 ? s->q_down : f->p.recentres ? s->qa : s->qs; /* as the products had them */
    const float *dO = f->bf16 ? s->dO_down : s->dO, *dP = f->bf16 ? s->S : s->dP;
    if (f->bf16)
        ready_down(f, s->S, s->S, t->m, t->n, BK);
    gemm(f->back.dv + at * Dw, Dw, s->S, 1, BK, dO, Dw, t->n, Dw, m, true);
    if (f->bf16)
        ready_down(f, s->S, s->dP, t->m, t->n, BK);
    gemm(f->back.dk + at * Dp, Dp, dP, 1, BK, qs, Dp, t->n, Dp, m, true);
}

static void products_back(const fused *f, scratch *s, const tile *t, int64_t item, gemm_fn *gemm)
{
    int64_t Dp = f->Dp, at = t->h / f->group * f->tiles * BK + t->j;
    float *dqs = f->p.recentres ? s->dqt : s->dqs;
    ledgers_back(f, s, t, item, gemm);
    if (f->bf16)
        ready_along(f, s->dP, s->dP, t->m, t->n, BK);
    gemm(dqs, Dp, s->dP, BK, 1, f->ready.kr + fused_places(f, at) * Dp, Dp, t->m, Dp, fused_places(f, t->n),
         !f->p.recentres);
    if (f->p.recentres) {
        tile_recentre(f, t, s->dqt, s->dqt);
        f->k->add(s->dqs, s->dqt, t->m * Dp);
    }
}

static bool odd_keys(const fused *f, const tile *t)
{
    bool odd = false;
    int64_t at = t->h / f->group * f->tiles * BK + t->j;
    for (int64_t j = 0; j < t->n; j += LOAD)
        odd = odd || f->ready.k_odd[(at + j) / LOAD] || f->ready.v_odd[(at + j) / LOAD];
    return odd;
}

static void tile_back(const fused *f, scratch *s, const tile *t, int64_t item)
{
    sight what = mask_tile(f, t);
    state st = { s->O, s->max, s->sum, s->carry };
    if (what == SEES_NONE)
        return;
    bool odd = s->odd;
    s->odd = odd || odd_keys(f, t);
    gemm_fn *gemm = s->odd ? f->gemm_c : f->gemm;
    keys k = ready_tile(f, s, t->h / f->group, t->j, t->n);
    for (int64_t r = 0; f->carries && r < t->m; r++)
        st.carry[r] = s->carries[t->j / BK * BQ + r];
    tile_scores(f, s, t, &k, s->qs, &st, what);
    weights_back(f, s, t, item);
    terms_back(f, s, t, item);
    products_back(f, s, t, item, gemm);
    s->odd = odd;
}

/* ------------------------------------------------ one tile of queries */

static void key_tile(const fused *f, tile *t, int64_t b)
{
    t->j = b * BK;
    t->n = f->Tk - t->j < BK ? f->Tk - t->j : BK;
}

/* Float32 holds no log of a sum beside a very large score: weights are then made from the row's own max and sum, found
 * by going over the keys once more. */
#define LSE_MOST 2048

static bool lse_is_large(const scratch *s, const tile *t)
{
    bool large = false;
    for (int64_t r = 0; r < t->m; r++)
        large = large || (fabsf(s->lse[r]) > LSE_MOST && isfinite(s->lse[r]));
    return large;
}

/* A piece has no sum of its own: what float32 lost of a large log-sum-exp comes back as a factor. */
static void weigh_exactly(const fused *f, scratch *s, const tile *t)
{
    for (int64_t r = 0; r < t->m; r++) {
        float low = f->back.lse_low[t->h * f->Tq + t->i + r];
        if (fabsf(s->lse[r]) > LSE_MOST && low != 0)
            s->share[r] = expf(low > 80 ? -80 : low < -80 ? 80 : -low);
    }
}

/* max and sum with the sink: exp(s - lse) becomes exp(s - max) / sum. */
static void settle_sums(const fused *f, scratch *s, const tile *t)
{
    const pe_params sinks = f->p.a.sinks;
    for (int64_t r = 0; r < t->m; r++) {
        double sink = sinks.data ? num_load(sinks.data, sinks.dtype, t->h) : -INFINITY, max = (double)s->max[r];
        double most = sink > max ? sink : max;
        double sum = (max == -INFINITY ? 0 : s->sum[r] * exp(max - most)) + (sink == -INFINITY ? 0 : exp(sink - most));
        s->lse[r] = s->lse[r] == -INFINITY ? -INFINITY : (float)most;
        s->share[r] = sum > 0 ? (float)(1 / sum) : 1;
    }
}

/* What is counted right of each tile of keys, and where it is wanted each row's max and sum. */
static void visit_keys(const fused *f, scratch *s, tile *t, bool sums)
{
    state st = { s->O, s->max, s->sum, s->carry };
    for (int64_t r = 0; r < t->m; r++) {
        st.carry[r] = f->p.g.carry ? f->p.g.carry[t->h * f->p.carry_row + t->i + r] : 0;
        st.sum[r] = 0;
        st.max[r] = -INFINITY;
    }
    for (int64_t b = f->tiles - 1; b >= 0; b--) {
        key_tile(f, t, b);
        for (int64_t r = 0; f->carries && r < t->m; r++)
            s->carries[b * BQ + r] = st.carry[r];
        sight what = mask_tile(f, t);
        if (what == SEES_NONE)
            continue;
        keys k = ready_tile(f, s, t->h / f->group, t->j, t->n);
        tile_scores(f, s, t, &k, s->qs, &st, what);
        for (int64_t r = 0; sums && r < t->m; r++) {
            float factor, sum = f->k->soften(s->S + r * BK, up_to(t->n, LANES), &st.max[r], &factor);
            st.sum[r] = st.sum[r] * (double)factor + (double)sum;
        }
    }
    if (sums)
        settle_sums(f, s, t);
}

static void begin(const fused *f, scratch *s, const tile *t)
{
    int64_t at = t->h * f->Tq + t->i;
    f->k->widen(s->dO, f->back.dO + at * f->Dw, PE_F32, t->m * f->Dw);
    for (int64_t r = 0; r < t->m; r++) {
        s->lse[r] = f->back.lse[at + r];
        s->mean[r] = f->back.mean[at + r];
        s->share[r] = 1;
        s->dcarry[r] = f->p.g.dcarry ? f->p.g.dcarry[t->h * f->p.carry_row + t->i + r] : 0;
    }
    for (int64_t n = 0; n < t->m * f->Dp; n++)
        s->dqs[n] = s->dq[n] = 0;
    clear_floats(s->drelative, t->m * f->Rp);
    s->odd = ready_odd(f, f->ready.q + at * f->D, t->m, f->D, f->D) || ready_odd(f, s->dO, t->m, f->Dw, f->Dv);
    tile_queries(f, t, s->qs);
    if (f->bf16) {
        ready_raise(f, s->dqt, t, f->ready.q, f->D, f->Dp, NULL, f->q_scale);
        ready_down(f, s->q_down, s->dqt, t->m, f->Dp, f->Dp);
        ready_down(f, s->dO_down, s->dO, t->m, f->Dw, f->Dw);
        for (int64_t r = 0; r < t->m; r++)
            f->k->pack_bf16(s->dO_along + r * f->Dw / 2, s->dO + r * f->Dw, s->dO + r * f->Dw + 1, 2, f->Dw / 2);
    }
    tile_begin(f, s, t);
}

/* Of frequencies that are trained: the ledger of this split and head. */
static void frequencies_back(const fused *f, const scratch *s, const tile *t, int64_t item)
{
    const part *p = f->p.rotating;
    float raw[PE_HEAD_DIM_MAX];
    double *sum = f->back.dfrequency_q + (item / f->G * f->H + t->h) * trained_ledger(p);
    for (int64_t r = 0; r < t->m; r++) {
        spot at;
        spot_find(&at, f->p.a.q_at, t->i + r);
        if (trained_wants_x(p))
            ready_raw(f, raw, PE_QUERY, t->i + r, t->h);
        trained_grad(p, &at, (vec){ raw, PE_F32, 0 }, (vec){ f->ready.q, PE_F32, (t->h * f->Tq + t->i + r) * f->D },
                     (vec){ s->dqt, PE_F32, r * f->D }, sum);
    }
}

static void store_queries(const fused *f, scratch *s, const tile *t, int64_t item)
{
    pe_view to = f->p.g.dq;
    for (int64_t r = 0; f->p.g.drelative.data && r < t->m; r++) {
        ready_gain(f, s->drelative + r * f->Rp, t->i + r, f->R);
        fused_store(f, f->p.g.drelative, t->i + r, t->h, s->drelative + r * f->Rp);
    }
    if (!to.data && !f->back.dfrequency_q && !f->back.dphase)
        return;
    f->k->axpy(s->dq, (float)f->p.scale, s->dqs, t->m * f->Dp);
    for (int64_t r = 0; r < t->m; r++) /* rows side by side, as a rotation takes them */
        for (int64_t d = 0; d < f->D; d++)
            s->dqt[r * f->D + d] = s->dq[r * f->Dp + d];
    if (f->back.dfrequency_q && f->p.g.dparams.data)
        frequencies_back(f, s, t, item);
    if (f->p.rotating)
        ready_rotate(f, PE_QUERY, (rotation_mode){ true, false }, s->dqt, t->h, 1, f->D, f->p.a.q_at, t->i, t->m,
                     f->ready.q_shift[t->i / BQ]);
    if (f->back.dphase && f->p.g.dparams.data)
        polar_phases_back(f, s->dqt, t, item);
    if (f->polar)
        polar_back(f, PE_QUERY, s->dqt, t->h, 1, f->p.a.q_at, t->i, t->m);
    for (int64_t r = 0; to.data && r < t->m; r++)
        fused_store(f, to, t->i + r, t->h, s->dqt + r * f->D);
}

static void end_terms(const fused *f, scratch *s, const tile *t, int64_t item)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        if (kind->end)
            kind->end(f, s, t, item);
}

static void one_item(void *arg, int64_t item, int worker)
{
    const fused *f = arg;
    scratch *s = &f->scratch[worker];
    int64_t g = item % f->G;
    for (int64_t n = 0; n < f->tiles * BK * f->Dp; n++)
        f->back.dk[item * f->tiles * BK * f->Dp + n] = 0;
    for (int64_t n = 0; n < f->tiles * BK * f->Dw; n++)
        f->back.dv[item * f->tiles * BK * f->Dw + n] = 0;
    for (int64_t h = g * f->group; h < (g + 1) * f->group; h++)
        for (int64_t b = item / f->G; b < fused_queries(f); b += f->back.splits) {
            tile t = { h, 1, b * BQ, f->Tq - b * BQ < BQ ? f->Tq - b * BQ : BQ, 0, 0 };
            begin(f, s, &t);
            bool large = lse_is_large(s, &t) && !f->p.g.piece;
            if (f->p.g.piece)
                weigh_exactly(f, s, &t);
            if (f->carries || large)
                visit_keys(f, s, &t, large);
            for (int64_t k = 0; k < f->tiles; k++) {
                key_tile(f, &t, k);
                tile_back(f, s, &t, item);
            }
            for (int64_t r = 0; f->p.g.dcarry && r < t.m; r++)
                f->p.g.dcarry[h * f->p.carry_row + t.i + r] = s->dcarry[r];
            end_terms(f, s, &t, item);
            store_queries(f, s, &t, item);
        }
}

/* ------------------------------------------------ the call */

static pe_status check_saved(const call *c, pe_error *err)
{
    const pe_attention *a = &c->a;
    if (!a->lse.data)
        return pe_fail(err, PE_ERR_NULL, "lse is NULL; the gradient reads what pe_attention_forward wrote there");
    if (a->lse.dtype != PE_F32 && a->lse.dtype != PE_F64)
        return pe_fail(err, PE_ERR_DTYPE,
                       "lse is %s, which has too few digits for a gradient; needs float32 or float64 in "
                       "pe_attention_forward and here",
                       a->lse.dtype == PE_F16 ? "float16" : "bfloat16");
    if (c->g.piece && pe_encoding_carries(c->e) && !c->g.dcarry)
        return pe_fail(err, PE_ERR_NULL, "dcarry is NULL; %s counts keys from piece to piece", c->e->text);
    return c->g.carry && pe_encoding_carries(c->e) ? carry_check(c, "carry", c->g.carry, err) : PE_OK;
}

/* Where items would add to the same numbers. */
static bool must_be_serial(const fused *f)
{
    pe_view d = f->p.g.dadditive;
    bool serial = d.data && ((d.heads == 1 && f->H > 1) || (d.tokens == 1 && f->Tq > 1));
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        serial = serial || (kind->serial && kind->serial(f));
    return serial;
}

static void fused_backward_pass(fused *f)
{
    fused_ready(f);
    back_clear(f);
    pool_run(f->p.pool, ready_outputs, f, up_to(f->Tq, LOAD) / LOAD);
    pool_run(must_be_serial(f) ? NULL : f->p.pool, one_item, f, f->back.splits * f->G);
    back_sum(f);
}

pe_status pe_attention_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *grads,
                                const pe_run *run, pe_error *err)
{
    fused_call f;
    TRY(fused_open(&f, e, a, run, true, err));
    TRY(fused_check(&f, err));
    TRY(call_outputs(&f.c, false, err));
    TRY(call_gradients(&f.c, grads, err));
    TRY(check_saved(&f.c, err));
    fused_each(&f, fused_backward_pass);
    for (int64_t s = 0; s < f.c.sequences; s++)
        call_clear_padding_back(&f.c, s);
    return pe_pass(err);
}
