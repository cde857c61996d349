/* SPDX-License-Identifier: MIT
 *
 * Ledgers, one per item of work, added up in a fixed order into the caller's gradients: same bits for any pool. */
#include "attention/fused.h"

void back_cut(fused *f, char *memory, int64_t *used)
{
    int64_t rows = f->H * f->Tq, items = f->back.splits * f->G * f->tiles * BK;
    f->back.dO = fused_take(memory, used, rows, sizeof(float) * (size_t)f->Dw);
    f->back.mean = fused_take(memory, used, rows, sizeof(float));
    f->back.lse = fused_take(memory, used, rows, sizeof(float));
    f->back.lse_low = fused_take(memory, used, rows, sizeof(float));
    f->back.dk = fused_take(memory, used, items, sizeof(float) * (size_t)f->Dp);
    f->back.dv = fused_take(memory, used, items, sizeof(float) * (size_t)f->Dw);
    int64_t each = trained_ledger(f->p.rotating);
    int64_t blocks = f->p.a.rotated ? 0 : up_to(f->Tk, LOAD) / LOAD;
    f->back.dfrequency_q = fused_take(memory, used, f->back.splits * f->H * each, sizeof(double));
    f->back.dfrequency_k = fused_take(memory, used, blocks * f->G * each, sizeof(double));
    f->back.dphase = fused_take(memory, used, f->polar ? f->back.splits * f->H * f->raw : 0, sizeof(double));
}

void back_clear(fused *f)
{
    int64_t each = trained_ledger(f->p.rotating);
    clear_doubles(f->back.dfrequency_q, f->back.splits * f->H * each);
    clear_doubles(f->back.dfrequency_k, up_to(f->Tk, LOAD) / LOAD * f->G * each);
    clear_doubles(f->back.dphase, f->polar ? f->back.splits * f->H * f->raw : 0);
}

double back_over(const float *x, int64_t copies, int64_t apart)
{
    double sum = 0;
    for (int64_t c = 0; c < copies; c++)
        sum += (double)x[c * apart];
    return sum;
}

static void sum_sinks(const fused *f)
{
    const pe_params sinks = f->p.a.sinks, to = f->p.g.dsinks;
    for (int64_t h = 0; h < f->H; h++) {
        double sink = num_load(sinks.data, sinks.dtype, h), sum = 0;
        for (int64_t i = 0; i < f->Tq && sink != -INFINITY; i++)
            sum -= exp(sink - (double)f->back.lse[h * f->Tq + i]) * (double)f->back.mean[h * f->Tq + i];
        num_add(to.data, to.dtype, h, sum);
    }
}

/* ------------------------------------------------ keys and values */

void fused_store(const fused *f, pe_view to, int64_t t, int64_t h, float *x)
{
    char *row_at = (char *)to.data + dtype_bytes(to.dtype, row_vec(to, t, h).at);
    if (f->p.g.accumulate)
        for (int64_t d = 0; d < to.dim; d++)
            x[d] = (float)((double)x[d] + num_load(row_at, to.dtype, d));
    f->k->narrow(row_at, to.dtype, x, to.dim);
}

typedef struct token_grad {
    fused *f;
    const float *from; /* (items, tiles BK, padded) */
    int64_t dim, padded;
    pe_view to;
    pe_side side;
    bool rotate;
    float scale; /* that its sums lack */
} token_grad;

/* Of frequencies that are trained: the ledger of these keys; x (count, G, D) has their gradients, still rotated. */
static void frequencies_of_keys(const fused *f, float *x, int64_t t, int64_t count)
{
    const part *p = f->p.rotating;
    float raw[PE_HEAD_DIM_MAX];
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < f->G; k++) {
            spot at;
            spot_find(&at, f->p.a.k_at, t + i);
            if (trained_wants_x(p))
                ready_raw(f, raw, PE_KEY, t + i, k);
            trained_grad(p, &at, (vec){ raw, PE_F32, 0 },
                         (vec){ f->ready.kr, PE_F32, (k * f->tiles * BK + t + i) * f->Dp },
                         (vec){ x, PE_F32, (i * f->G + k) * f->D },
                         f->back.dfrequency_k + (t / LOAD * f->G + k) * trained_ledger(p));
        }
}

static void sum_frequencies(const fused *f)
{
    const part *p = f->p.rotating;
    int64_t each = trained_ledger(p);
    for (int64_t n = 0; n < f->back.splits * f->H; n++)
        trained_store(p, f->p.g.dparams, trained_head(p, f->H, n % f->H), f->back.dfrequency_q + n * each);
    for (int64_t n = 0; f->back.dfrequency_k && n < up_to(f->Tk, LOAD) / LOAD * f->G; n++)
        trained_store(p, f->p.g.dparams, trained_head(p, f->G, n % f->G), f->back.dfrequency_k + n * each);
}

/* LOAD tokens, all heads: added up, rotated back, stored. */
static void sum_tokens(void *arg, int64_t n, int worker)
{
    const token_grad *g = arg;
    const fused *f = g->f;
    float *x = f->scratch[worker].load;
    int64_t t = n * LOAD, count = f->Tk - t < LOAD ? f->Tk - t : LOAD, all = f->tiles * BK * g->padded;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < f->G; k++) {
            const float *from = g->from + k * all + (t + i) * g->padded;
            float *to = x + (i * f->G + k) * g->dim;
            f->k->widen(to, from, PE_F32, g->dim);
            for (int64_t c = 1; c < f->back.splits; c++)
                f->k->add(to, from + c * f->G * all, g->dim);
        }
    if (g->scale != 1)
        f->k->scale(x, g->scale, count * f->G * g->dim);
    if (g->side == PE_KEY && f->back.dfrequency_k && f->p.g.dparams.data)
        frequencies_of_keys(f, x, t, count);
    if (g->side == PE_KEY && f->polar)
        polar_back(f, PE_KEY, x, 0, f->G, f->p.a.k_at, t, count);
    if (g->rotate)
        ready_rotate(f, g->side, (rotation_mode){ true, false }, x, 0, f->G, g->dim, f->p.a.k_at, t, count,
                     g->side == PE_KEY ? f->ready.k_shift[t / BK] : 0);
    for (int64_t i = 0; g->to.data && i < count; i++)
        for (int64_t k = 0; k < f->G; k++)
            fused_store(f, g->to, t + i, k, x + (i * f->G + k) * g->dim);
}

static void sum_keys(fused *f)
{
    const part *rotating = f->p.a.rotated ? NULL : f->p.rotating;
    token_grad k = { f, f->back.dk, f->D, f->Dp, f->p.g.dk, PE_KEY, rotating != NULL, f->s_scale };
    token_grad v = { f, f->back.dv, f->Dv, f->Dw, f->p.g.dv, PE_VALUE, rotating && rotating->rotates_value, 1 };
    int64_t blocks = up_to(f->Tk, LOAD) / LOAD;
    if (k.to.data || f->back.dfrequency_k)
        pool_run(f->p.pool, sum_tokens, &k, blocks);
    if (v.to.data)
        pool_run(f->p.pool, sum_tokens, &v, blocks);
}

void back_sum(fused *f)
{
    sum_keys(f);
    if (f->p.g.dsinks.data && f->p.a.sinks.data)
        sum_sinks(f);
    if (f->p.g.dparams.data && f->back.dfrequency_q)
        sum_frequencies(f);
    if (f->p.g.dparams.data && f->back.dphase)
        polar_phases_sum(f);
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->sum(f);
}
