/* SPDX-License-Identifier: MIT
 *
 * Biases by distance of the GPU library against the definition: the cases of test_cuda_bias (on a GPU) and of
 * test_cuda_bias_emulated (the rows' functions as text and the kernels of bias.cu, as C++). */
#ifndef TESTS_GPU_BIAS_CASE_H
#define TESTS_GPU_BIAS_CASE_H

#include "base/num.h"
#include "base/random.h"
#include "cuda/cuda.h"
#include "test.h"
#include "gpu/memory.h"

enum { HEADS = 3, SLOTS = 3 };

/* ------------------------------------------------ a plan and its parameters */

typedef struct bias_case {
    const char *spec;
    pe_encoding *e;
    pe_cuda_plan *plan;
    pe_params host, params; /* the same numbers here and on the device */
    device_pointer filled;
    bias_piece piece[BIAS_PIECES_MAX];
    float *table[BIAS_PIECES_MAX], *slope[BIAS_PIECES_MAX], *level[BIAS_PIECES_MAX], *knot[BIAS_PIECES_MAX],
        *share[BIAS_PIECES_MAX];
} bias_case;

/* Of the arena, until its reset; its bytes are 0xFF. */
static device_pointer case_memory(size_t bytes)
{
    device_pointer p = (uintptr_t)arena_there(arena_take((int64_t)bytes, 1));
    device_poison(p, bytes);
    return p;
}

static pe_params case_params(pe_dtype type, const double *from, int64_t count, pe_params *host)
{
    size_t bytes = (size_t)count * (type == PE_F64 ? 8 : 4);
    *host = (pe_params){ take(count, 8), type, count };
    for (int64_t i = 0; i < count; i++)
        num_store(host->data, type, i, from[i]);
    device_pointer to = case_memory(bytes);
    device_write(to, host->data, bytes);
    return (pe_params){ (void *)(uintptr_t)to, type, count };
}

/* False: it has no bias by distance, or the definition's bias has other things in it. */
static bool case_open(bias_case *c, const char *spec, pe_dtype type, int64_t behind, int64_t ahead)
{
    *c = (bias_case){ .spec = spec };
    case_ready();
    arena_reset();
    c->e = encoding_if_any(spec, (pe_shape){ .heads = HEADS, .kv_heads = HEADS, .head_dim = 16, .model_dim = 48 });
    if (!c->e)
        return false;
    int64_t count = pe_encoding_param_count(c->e);
    double *start = take(count, sizeof *start);
    if (count)
        assert_ok(pe_encoding_init(c->e, (pe_params){ start, PE_F64, count }, 7, &err));
    c->params = case_params(type, start, count, &c->host);
    assert_ok(pe_cuda_plan_new(&c->plan, gpu, c->e, behind, ahead, &err));
    const pe_lowered *l = pe_plan_lowered(c->plan->host);
    return l->biases && !l->levels;
}

static float *case_floats(device_pointer from, int64_t count)
{
    float *to = take(count, sizeof *to);
    if (count)
        device_read(to, from, (size_t)count * sizeof *to);
    return to;
}

static void case_fill(bias_case *c)
{
    c->filled = case_memory(bias_work(c->plan) + 1);
    assert_ok(bias_fill(c->plan, c->params, c->filled, NULL, c->piece, &err));
    for (int n = 0; n < bias_pieces(c->plan); n++) {
        const bias_piece *p = &c->piece[n];
        c->table[n] = case_floats(p->table, 2 * (p->knots ? 1 : HEADS) * p->row);
        if (!p->knots)
            continue;
        c->slope[n] = case_floats(p->slope, HEADS * (p->knot_count + 1));
        c->level[n] = case_floats(p->level, HEADS * (p->knot_count + 1));
        c->knot[n] = case_floats(p->knot, p->knot_count);
        c->share[n] = case_floats(p->share, p->shares);
    }
}

/* ------------------------------------------------ what attention would read */

static int64_t case_entry(const bias_piece *p, const int64_t *q, const int64_t *k)
{
    int64_t d = 0;
    for (int a = 0; a < PE_AXES_MAX; a++)
        d += p->weight[a] * (q[a] - k[a]);
    if (d < p->low || d > p->high)
        fail_msg("distance %lld is outside %lld .. %lld", (long long)d, (long long)p->low, (long long)p->high);
    return p->zero - d;
}

static double case_read(const bias_case *c, int n, int64_t h, const int64_t *q, const int64_t *k)
{
    const bias_piece *p = &c->piece[n];
    int64_t e = case_entry(p, q, k), s = 0;
    double factor = p->stage == PE_AFTER_SCALE ? 1 / pe_encoding_scale(c->e) : 1;
    if (!p->knots)
        return c->table[n][h * p->row + e] / factor;
    float x = c->table[n][e] * c->share[n][q[0]];
    while (s < p->knot_count && c->knot[n][s] <= x)
        s++;
    s += h * (p->knot_count + 1);
    return ((double)c->slope[n][s] * x + c->level[n][s]) / factor;
}

/* The definition's bias of one pair, per head; false: its tables do not reach so far. */
static bool case_truth(const bias_case *c, pe_stage stage, const int64_t *q, const int64_t *k, double *bias)
{
    int64_t axes = pe_encoding_axes(c->e);
    pe_tile t = PE_MAKE(pe_tile, .score = pe_view_of(bias, PE_F64, 1, 1, HEADS, 1),
                        .q_at = pe_positions_of(q, PE_I64, 1, 1, axes), .k_at = pe_positions_of(k, PE_I64, 1, 1, axes));
    for (int h = 0; h < HEADS; h++)
        bias[h] = 0;
    return !pe_encoding_bias(c->e, stage, c->host, &t, NULL);
}

/* One rounding of each part's numbers to float32, one of their sum; of a network the line's two numbers. */
static void case_compare(const bias_case *c, const int64_t *q, const int64_t *k)
{
    for (pe_stage stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
        double truth[HEADS];
        if (!case_truth(c, stage, q, k, truth))
            continue;
        for (int64_t h = 0; h < HEADS; h++) {
            double got = 0;
            for (int n = 0; n < bias_pieces(c->plan); n++)
                got += c->piece[n].stage == stage ? case_read(c, n, h, q, k) : 0;
            if (!(fabs(got - truth[h]) <= 0x1p-22 * (fabs(truth[h]) + 1)))
                fail_msg("%s: head %d, query %d, key %d: %.9g, should be %.9g", c->spec, (int)h, (int)q[0], (int)k[0],
                         got, truth[h]);
        }
    }
}

/* Cells of a cube where there are several axes: digits of n, to the base 8. */
static void case_cell(int64_t axes, int64_t n, int64_t *at)
{
    for (int a = 0; a < PE_AXES_MAX; a++, n /= 8)
        at[a] = a < axes ? n % 8 : 0;
}

static void case_pairs(const bias_case *c, int64_t behind, int64_t ahead)
{
    int64_t axes = pe_encoding_axes(c->e), cells = 1;
    for (int64_t a = 0; a < axes; a++)
        cells *= 8;
    if (axes == 1)
        for (int64_t q = 0; q <= behind; q += q < 3 ? 1 : 41)
            for (int64_t k = 0; k <= q + ahead; k++)
                case_compare(c, (int64_t[PE_AXES_MAX]){ q }, (int64_t[PE_AXES_MAX]){ k });
    for (int64_t i = 0; axes > 1 && i < cells; i += 13)
        for (int64_t j = 0; j < cells; j++) {
            int64_t q[PE_AXES_MAX], k[PE_AXES_MAX];
            case_cell(axes, i, q);
            case_cell(axes, j, k);
            case_compare(c, q, k);
        }
}

/* Pads are numbers, and the copy is the table one entry on. */
static void case_layout(const bias_case *c)
{
    for (int n = 0; n < bias_pieces(c->plan); n++) {
        const bias_piece *p = &c->piece[n];
        int64_t all = (p->knots ? 1 : HEADS) * p->row;
        assert_true(p->row % 4 == 0 && p->table % 16 == 0 && p->count == p->high - p->low + 1);
        assert_true(p->zero - p->high >= 512 && p->row - 1 - (p->zero - p->low) >= 512);
        for (int64_t i = 0; i < 2 * all; i++)
            assert_true(isfinite(c->table[n][i]));
        for (int64_t i = 0; p->knots && i < HEADS * (p->knot_count + 1); i++)
            assert_true(isfinite(c->slope[n][i]) && isfinite(c->level[n][i]));
        for (int64_t i = 0; i < all; i++)
            if (i % p->row != p->row - 1 && c->table[n][all + i] != c->table[n][i + 1])
                fail_msg("%s: entry %d of the copy is not the next of the table", c->spec, (int)i);
    }
}

static void check_tables(const char *spec)
{
    for (int i = 0; i < 2; i++) {
        bias_case c;
        if (case_open(&c, spec, i ? PE_F64 : PE_F32, 300, 70)) {
            case_fill(&c);
            case_layout(&c);
            case_pairs(&c, 300, 70);
        }
        pe_cuda_plan_free(c.plan);
    }
}

/* ------------------------------------------------ gradients */

typedef struct bias_grad {
    double *want, *size; /* (params) the gradient, and the sum of its terms' sizes */
    float *dtable[BIAS_PIECES_MAX];
} bias_grad;

/* A score's gradient goes where attention would put it (cuda.h: bias_gradients). */
static void grad_add(const bias_case *c, bias_grad *g, int n, int64_t head, const int64_t *q, const int64_t *k, float x)
{
    const bias_piece *p = &c->piece[n];
    int64_t e = case_entry(p, q, k), s = 0, h = head % HEADS;
    float *to = g->dtable[n] + head * p->gradient;
    if (!p->knots) {
        to[e] += x;
        return;
    }
    float measure = c->table[n][e], share = c->share[n][q[0]];
    while (s < p->knot_count && c->knot[n][s] <= measure * share)
        s++;
    double *line = (double *)(void *)(to + p->gradient) - 2 * (p->knot_count + 1 - s);
    float slope = c->slope[n][h * (p->knot_count + 1) + s];
    to[e] += x * slope * share;
    to[p->row + q[0]] += x * slope * measure;
    line[0] += (double)x;
    line[1] += (double)x * (double)(measure * share);
}

/* A pair that is reached puts numbers into the ledger of each piece, and the same into the definition. */
static void grad_pair(const bias_case *c, bias_grad *g, const int64_t *q, const int64_t *k, uint64_t *seed)
{
    int64_t axes = pe_encoding_axes(c->e);
    double truth[HEADS], sum[HEADS], *own = take(c->host.count, sizeof *own);
    if (!case_truth(c, PE_AFTER_SCALE, q, k, truth))
        return;
    for (int h = 0; h < HEADS; h++) {
        sum[h] = 0;
        for (int s = 0; s < SLOTS; s++) {
            float x = (float)random_normal(3, (*seed)++);
            sum[h] += x;
            for (int n = 0; n < bias_pieces(c->plan); n++)
                grad_add(c, g, n, s * HEADS + h, q, k, x);
        }
    }
    pe_tile t = PE_MAKE(pe_tile, .score = pe_view_of(truth, PE_F64, 1, 1, HEADS, 1),
                        .q_at = pe_positions_of(q, PE_I64, 1, 1, axes), .k_at = pe_positions_of(k, PE_I64, 1, 1, axes));
    pe_tile_grad tg = PE_MAKE(pe_tile_grad, .dscore = pe_view_of(sum, PE_F64, 1, 1, HEADS, 1),
                              .dparams = { own, PE_F64, c->host.count });
    assert_ok(pe_encoding_bias_back(c->e, PE_AFTER_SCALE, c->host, &t, &tg, &err));
    for (int64_t i = 0; i < c->host.count; i++) {
        g->want[i] += own[i];
        g->size[i] += fabs(own[i]);
    }
}

/* Every distance once; entries of no distance are NaN, so that one that is read shows. */
static void grad_pairs(const bias_case *c, bias_grad *g)
{
    int64_t axes = pe_encoding_axes(c->e), middle = 0, cells = 1;
    uint64_t seed = 0;
    for (int64_t a = 0; a < axes; a++, cells *= 8)
        middle = 8 * middle + 3;
    for (int64_t j = 0; j < (axes > 1 ? cells : c->plan->behind + c->plan->ahead + 1); j++) {
        int64_t q[PE_AXES_MAX] = { c->plan->behind }, k[PE_AXES_MAX] = { j };
        int mark = taken();
        if (axes > 1) {
            case_cell(axes, middle, q);
            case_cell(axes, j, k);
        }
        grad_pair(c, g, q, k, &seed);
        give_back_to(mark);
    }
}

static void grad_open(const bias_case *c, bias_grad *g)
{
    g->want = take(c->host.count, sizeof(double));
    g->size = take(c->host.count, sizeof(double));
    for (int n = 0; n < bias_pieces(c->plan); n++) {
        const bias_piece *p = &c->piece[n];
        g->dtable[n] = take(SLOTS * HEADS * p->gradient, sizeof(float));
        for (int64_t i = 0; i < SLOTS * HEADS * p->gradient; i++) {
            int64_t e = i % p->gradient;
            if (e < p->row ? p->zero - e < p->low || p->zero - e > p->high
                           : e >= p->row + p->shares && e < p->gradient - 4 * (p->knot_count + 1))
                g->dtable[n][i] = NAN;
        }
    }
}

/* dparams begin at 1: they are added to. */
static double *grad_run(const bias_case *c, const bias_grad *g, pe_dtype type)
{
    int64_t count = c->host.count;
    double *ones = take(count, sizeof *ones), *out = take(count, sizeof *out);
    pe_params back;
    bias_gradients there = { .params = c->params, .filled = c->filled, .slots = SLOTS };
    for (int64_t i = 0; i < count; i++)
        ones[i] = 1;
    there.dparams = case_params(type, ones, count, &back);
    for (int n = 0; n < bias_pieces(c->plan); n++) {
        size_t bytes = sizeof(float) * (size_t)(SLOTS * HEADS * c->piece[n].gradient);
        there.dtable[n] = case_memory(bytes);
        device_write(there.dtable[n], g->dtable[n], bytes);
    }
    assert_ok(bias_back(c->plan, &there, case_memory(bias_back_work(c->plan, SLOTS) + 1), NULL, &err));
    device_read(back.data, (device_pointer)(uintptr_t)there.dparams.data, (size_t)count * (type == PE_F64 ? 8 : 4));
    for (int64_t i = 0; i < count; i++)
        out[i] = num_load(back.data, type, i);
    return out;
}

static bool case_knots(const bias_case *c)
{
    const pe_lowered *l = pe_plan_lowered(c->plan->host);
    bool any = false;
    for (int n = 0; n < l->biases; n++)
        any = any || l->bias[n]->knots >= 0;
    return any;
}

/* float64: the order of sums and the device's log and pow; float32: one rounding of the result more. With knots measures,
 * shares and slopes are float32, and so are sums that they enter. */
static void check_gradients_at(const char *spec, int64_t behind, int64_t ahead)
{
    bias_case c;
    bias_grad g = { 0 };
    if (case_open(&c, spec, PE_F32, behind, ahead) && c.host.count) {
        double least = case_knots(&c) ? 0x1p-21 : 1e-12;
        case_fill(&c);
        grad_open(&c, &g);
        grad_pairs(&c, &g);
        for (int n = 0; n < 2; n++) {
            double *got = grad_run(&c, &g, n ? PE_F64 : PE_F32), *again = grad_run(&c, &g, n ? PE_F64 : PE_F32);
            for (int64_t i = 0; i < c.host.count; i++) {
                if (!(fabs(got[i] - 1 - g.want[i]) <= (n ? least : fmax(least, 0x1p-23)) * (g.size[i] + 1)))
                    fail_msg("%s: parameter %d: %.17g, should be %.17g", spec, (int)i, got[i] - 1, g.want[i]);
                assert_memory_equal(&got[i], &again[i], sizeof *got);
            }
        }
    }
    pe_cuda_plan_free(c.plan);
}

static void check_gradients(const char *spec)
{
    check_gradients_at(spec, 300, 70);
}

static const char *const combinations[] = { "t5+alibi",
                                            "t5+alibi:slopes=learned",
                                            "t5+t5:direction=causal,buckets=8,max=20+kerple",
                                            "alibi:convention=falcon+kerple:form=power",
                                            "fire+alibi",
                                            "rope+alibi:form=symmetric,slopes=learned",
                                            "window:window=4/6+alibi:form=symmetric" };

TEST(tables_are_the_definitions_bias)
{
    each_spec(check_tables, combinations, COUNT(combinations));
}

/* Whose gradient parameter i has; -1: no head's. */
static void mark_owners(const bias_case *c, int64_t h, int64_t key, int *owner)
{
    double *own = take(c->host.count, sizeof *own), score[HEADS] = { 0 }, dscore[HEADS] = { 0 };
    int64_t axes = pe_encoding_axes(c->e), q[PE_AXES_MAX] = { 3, 3, 3 },
            k[PE_AXES_MAX] = { 2 + key % 3, 2 + key / 3, 3 };
    pe_tile t = PE_MAKE(pe_tile, .score = pe_view_of(score, PE_F64, 1, 1, HEADS, 1),
                        .q_at = pe_positions_of(q, PE_I64, 1, 1, axes), .k_at = pe_positions_of(k, PE_I64, 1, 1, axes));
    pe_tile_grad g = PE_MAKE(pe_tile_grad, .dscore = pe_view_of(dscore, PE_F64, 1, 1, HEADS, 1),
                             .dparams = { own, PE_F64, c->host.count });
    dscore[h] = 1;
    assert_ok(pe_encoding_bias_back(c->e, PE_AFTER_SCALE, c->host, &t, &g, &err));
    for (int64_t i = 0; i < c->host.count; i++) {
        if (own[i] != 0 && owner[i] >= 0 && owner[i] != h)
            fail_msg("%s: heads %d and %d both train parameter %d", c->spec, owner[i], (int)h, (int)i);
        owner[i] = own[i] != 0 ? (int)h : owner[i];
    }
}

static void check_owners(const char *spec)
{
    bias_case c;
    if (case_open(&c, spec, PE_F64, 10, 0) && c.host.count && !case_knots(&c)) {
        int *owner = take(c.host.count, sizeof *owner);
        for (int64_t i = 0; i < c.host.count; i++)
            owner[i] = -1;
        for (int64_t h = 0; h < HEADS; h++)
            for (int64_t key = 0; key < 6; key++)
                mark_owners(&c, h, key, owner);
    }
    pe_cuda_plan_free(c.plan);
}

TEST(heads_train_parameters_of_their_own)
{
    each_example(check_owners); /* workers of different heads add to one ledger at once */
}

TEST(gradients_are_the_definitions)
{
    each_spec(check_gradients, combinations, COUNT(combinations));
    check_gradients_at("rope+alibi:form=symmetric,slopes=learned", 3, 0);
}

TEST(gradients_of_many_distances_are_the_definitions)
{
    check_gradients_at("kerple", 20000, 3);
    check_gradients_at("t5:direction=causal", 17000, 0);
    check_gradients_at("fire:hidden=70", 17000, 0);
}

TEST(what_cannot_be_done_is_refused)
{
    bias_case c;
    bias_piece pieces[BIAS_PIECES_MAX];
    assert_true(case_open(&c, "fire", PE_F32, 30, 0));
    device_pointer work = case_memory(bias_work(c.plan));
    pe_params w = c.params;
    w.dtype = PE_BF16;
    assert_refused(bias_fill(c.plan, w, work, NULL, pieces, &err), PE_ERR_DTYPE, "the GPU takes PE_F32");
    w.data = NULL;
    assert_refused(bias_fill(c.plan, w, work, NULL, pieces, &err), PE_ERR_NULL, "data is NULL");
    bias_gradients g = { .params = w, .dparams = c.params, .filled = work, .slots = 1 };
    assert_refused(bias_back(c.plan, &g, work, NULL, &err), PE_ERR_NULL, "params: data is NULL");
    g = (bias_gradients){ .params = c.params, .dparams = w, .filled = work, .slots = 1 };
    assert_ok(bias_back(c.plan, &g, work, NULL, &err)); /* nothing wanted */
    w = c.params;
    w.count--;
    assert_refused(bias_fill(c.plan, w, work, NULL, pieces, &err), PE_ERR_SHAPE, "the encoding has");
    pe_cuda_plan_free(c.plan);
}

#endif
