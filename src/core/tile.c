/* SPDX-License-Identifier: MIT
 *
 * The score and value hooks' public face: checks, then the loops of score.c. */
#include "core/door.h"
#include "core/score.h"

#include <inttypes.h>
#include <stdio.h>

static bool seen_by_any(const pe_encoding *e, const pe_tile *t, int64_t i, int64_t j)
{
    for (int64_t h = 0; t->seen && h < (t->seen_head_stride ? e->shape.heads : 1); h++)
        if (t->seen[h * t->seen_head_stride + i * t->k_at.tokens + j])
            return true;
    return !t->seen;
}

/* "3", or "3, 0" of two axes. */
static void write_place(char *out, size_t cap, const int64_t *at, int64_t axes)
{
    size_t used = 0;
    for (int64_t a = 0; a < axes && used < cap; a++)
        used += (size_t)snprintf(out + used, cap - used, "%s%" PRId64, a ? ", " : "", at[a]);
}

pe_status fail_reach(const part *p, const int64_t *q, const int64_t *k, pe_error *err)
{
    char query[24 * PE_AXES_MAX] = "", key[24 * PE_AXES_MAX] = "";
    write_place(query, sizeof query, q, p->axes);
    write_place(key, sizeof key, k, p->axes);
    return pe_fail(err, PE_ERR_POSITION,
                   "%s: query at %s and key at %s are further apart than its table reaches; make the table larger or "
                   "hide the pair",
                   p->row->info.name, query, key);
}

pe_status check_reach(const pe_encoding *e, unsigned hooks, int stage, const pe_tile *t, pe_error *err)
{
    for (int n = 0; n < e->parts; n++) {
        const part *p = &e->part[n];
        bool limited = p->row->reaches && p->hooks & hooks && (stage < 0 || stage == (int)p->stage);
        for (int64_t i = 0; limited && i < t->q_at.tokens; i++)
            for (int64_t j = 0; j < t->k_at.tokens; j++) {
                int64_t q[PE_AXES_MAX], k[PE_AXES_MAX];
                if (!seen_by_any(e, t, i, j) || p->row->reaches(p, position(t->q_at, i, q), position(t->k_at, j, k)))
                    continue;
                return fail_reach(p, q, k, err);
            }
    }
    return PE_OK;
}

/* Bytes of seen: one packed (Tq, Tk), or one per head; what the door let through fits. */
static int64_t seen_bytes(const pe_encoding *e, const pe_tile *t)
{
    return t->seen_head_stride * (e->shape.heads - 1) + t->q_at.tokens * t->k_at.tokens;
}

static pe_status check_seen(const pe_encoding *e, pe_tile *t, pe_error *err)
{
    int64_t one, far;
    if (!t->seen)
        t->seen_head_stride = 0;
    if (t->seen && !checked_mul(&one, t->q_at.tokens, t->k_at.tokens))
        return pe_fail(err, PE_ERR_OVERFLOW, "seen: queries and keys span more than memory can hold");
    if (t->seen_head_stride && t->seen_head_stride < one)
        return pe_fail(err, PE_ERR_RANGE,
                       "seen_head_stride is %" PRId64 "; needs 0 (one for all heads) or %" PRId64 " and more",
                       t->seen_head_stride, one);
    if (t->seen_head_stride && (!checked_mul(&far, t->seen_head_stride, e->shape.heads) || far > PTRDIFF_MAX / 8))
        return pe_fail(err, PE_ERR_OVERFLOW, "seen_head_stride times heads spans more than memory can hold");
    return PE_OK;
}

unsigned pe_encoding_hooks_at(const pe_encoding *e, pe_stage stage)
{
    unsigned hooks = 0;
    for (int n = 0; e && n < e->parts; n++)
        if (e->part[n].stage == stage)
            hooks |= e->part[n].hooks & (PE_HOOK_CONTENT | PE_HOOK_BIAS);
    return hooks;
}

pe_inputs pe_encoding_inputs(const pe_encoding *e)
{
    pe_inputs in = { false, e ? e->relative : 0 };
    for (int n = 0; e && n < e->parts; n++)
        in.gates = in.gates || e->part[n].gates;
    return in;
}

/* Inputs that an encoding takes must be given, and those that it does not take must not. */
pe_status check_input(pe_view *v, const char *name, bool taken, extent size, pe_error *err)
{
    if (taken && !v->data)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL; the encoding takes it (pe_encoding_inputs)", name);
    if (!taken && v->data)
        return pe_fail(err, PE_ERR_UNSUITED, "%s is given; the encoding takes none", name);
    return taken ? check_view(v, name, size, READS, err) : PE_OK;
}

static pe_status check_input_grad(pe_view *v, const char *name, bool taken, extent size, pe_error *err)
{
    if (!v->data)
        *v = (pe_view){ 0 };
    else if (!taken)
        return pe_fail(err, PE_ERR_UNSUITED, "%s is given; the encoding takes no such input", name);
    return v->data ? check_view(v, name, size, WRITES, err) : PE_OK;
}

bool pe_encoding_carries(const pe_encoding *e)
{
    for (int n = 0; e && n < e->parts; n++)
        if (e->part[n].count.on)
            return true;
    return false;
}

bool pe_encoding_replaces(const pe_encoding *e)
{
    return polar_part(e) != NULL;
}

/* Checks a tile; which fields matter depends on the hook. score is named by its use: "score" or "dscore". */
static pe_status check_tile(const pe_encoding *e, pe_stage stage, pe_params w, pe_tile *t, pe_view *score,
                            const char *name, use how, bool content, pe_error *err)
{
    const pe_shape *s = &e->shape;
    if (stage != PE_BEFORE_SCALE && stage != PE_AFTER_SCALE)
        return pe_fail(err, PE_ERR_RANGE, "stage is %d; needs PE_BEFORE_SCALE or PE_AFTER_SCALE", (int)stage);
    TRY(check_params(e, w, err));
    bool between = adds_between(e, content ? PE_HOOK_CONTENT : PE_HOOK_BIAS);
    TRY(check_positions_real(&t->q_at, "q_at", 1, t->q_at.tokens, e->axes, between, err));
    TRY(check_positions_real(&t->k_at, "k_at", 1, t->k_at.tokens, e->axes, between, err));
    TRY(check_view(score, name, (extent){ 1, t->q_at.tokens, s->heads, t->k_at.tokens }, how, err));
    if (content && pe_encoding_hooks_at(e, stage) & PE_HOOK_CONTENT) {
        TRY(check_view(&t->q, "q", (extent){ 1, t->q_at.tokens, s->heads, s->head_dim }, READS, err));
        TRY(check_view(&t->k, "k", (extent){ 1, t->k_at.tokens, s->kv_heads, s->head_dim }, READS, err));
    } else
        t->q = t->k = (pe_view){ 0 };
    pe_inputs in = pe_encoding_inputs(e);
    if (content) {
        t->q_gates = t->k_gates = (pe_view){ 0 };
        TRY(check_input(&t->relative, "relative", in.relative, (extent){ 1, t->q_at.tokens, s->heads, in.relative },
                        err));
    } else {
        t->relative = (pe_view){ 0 };
        TRY(check_input(&t->q_gates, "q_gates", in.gates, (extent){ 1, t->q_at.tokens, s->heads, 1 }, err));
        TRY(check_input(&t->k_gates, "k_gates", in.gates, (extent){ 1, t->k_at.tokens, s->heads, 1 }, err));
    }
    if ((uintptr_t)t->carry % _Alignof(double))
        return pe_fail(err, PE_ERR_ALIGN, "carry is not aligned to its 8-byte elements");
    TRY(check_seen(e, t, err));
    return check_reach(e, content ? PE_HOOK_CONTENT : PE_HOOK_BIAS, (int)stage, t, err);
}

static pe_status tile_forward(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile, bool content,
                              pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    pe_tile t;
    CHECK_STRUCT(pe_tile, &t, tile, "the tile");
    TRY(check_tile(e, stage, w, &t, &t.score, "score", WRITES, content, err));
    CHECK_MEMORY(false, view_region("score", t.score, WRITES), view_region("q", t.q, READS),
                 view_region("k", t.k, READS), positions_region("q_at", t.q_at), positions_region("k_at", t.k_at),
                 view_region("q_gates", t.q_gates, READS), view_region("k_gates", t.k_gates, READS),
                 view_region("relative", t.relative, READS), params_region("params", w, READS),
                 array_region("seen", t.seen, seen_bytes(e, &t), 1, READS),
                 array_region("carry", t.carry, t.score.tokens, (size_t)e->shape.heads * sizeof(double), WRITES));
    (content ? score_content : score_bias)(e, stage, w, &t);
    return pe_pass(err);
}

pe_status pe_encoding_content(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile, pe_error *err)
{
    return tile_forward(e, stage, w, tile, true, err);
}

pe_status pe_encoding_bias(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile, pe_error *err)
{
    return tile_forward(e, stage, w, tile, false, err);
}

static pe_status tile_backward(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile,
                               const pe_tile_grad *grads, bool content, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    pe_tile t;
    pe_tile_grad g;
    CHECK_STRUCT(pe_tile, &t, tile, "the tile");
    CHECK_STRUCT(pe_tile_grad, &g, grads, "the gradient");
    TRY(check_tile(e, stage, w, &t, &g.dscore, "dscore", READS, content, err));
    TRY(check_grads(e, g.dparams, err));
    if (t.carry && pe_encoding_carries(e))
        return pe_fail(err, PE_ERR_UNSUITED, "carry is given; the gradient wants all keys in one tile and carry NULL");
    const pe_shape *shape = &e->shape;
    pe_inputs in = pe_encoding_inputs(e);
    if (content)
        g.dq_gates = g.dk_gates = (pe_view){ 0 };
    else
        g.drelative = (pe_view){ 0 };
    TRY(check_input_grad(&g.dq_gates, "dq_gates", in.gates, (extent){ 1, t.q_at.tokens, shape->heads, 1 }, err));
    TRY(check_input_grad(&g.dk_gates, "dk_gates", in.gates, (extent){ 1, t.k_at.tokens, shape->heads, 1 }, err));
    TRY(check_input_grad(&g.drelative, "drelative", in.relative,
                         (extent){ 1, t.q_at.tokens, shape->heads, in.relative }, err));
    if (!content || !g.dq.data)
        g.dq = (pe_view){ 0 };
    if (!content || !g.dk.data)
        g.dk = (pe_view){ 0 };
    if (g.dq.data)
        TRY(check_view(&g.dq, "dq", (extent){ 1, t.q_at.tokens, e->shape.heads, e->shape.head_dim }, WRITES, err));
    if (g.dk.data)
        TRY(check_view(&g.dk, "dk", (extent){ 1, t.k_at.tokens, e->shape.kv_heads, e->shape.head_dim }, WRITES, err));
    CHECK_MEMORY(false, view_region("dq", g.dq, WRITES), view_region("dk", g.dk, WRITES),
                 view_region("dq_gates", g.dq_gates, WRITES), view_region("dk_gates", g.dk_gates, WRITES),
                 view_region("drelative", g.drelative, WRITES), view_region("q_gates", t.q_gates, READS),
                 view_region("k_gates", t.k_gates, READS), view_region("relative", t.relative, READS),
                 params_region("dparams", g.dparams, WRITES), view_region("dscore", g.dscore, READS),
                 view_region("q", t.q, READS), view_region("k", t.k, READS), positions_region("q_at", t.q_at),
                 positions_region("k_at", t.k_at), params_region("params", w, READS),
                 array_region("seen", t.seen, seen_bytes(e, &t), 1, READS));
    (content ? score_content_back : score_bias_back)(e, stage, w, &t, &g);
    return pe_pass(err);
}

pe_status pe_encoding_content_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile,
                                   const pe_tile_grad *g, pe_error *err)
{
    return tile_backward(e, stage, w, tile, g, true, err);
}

pe_status pe_encoding_bias_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *tile,
                                const pe_tile_grad *g, pe_error *err)
{
    return tile_backward(e, stage, w, tile, g, false, err);
}

static pe_status check_value(const pe_encoding *e, pe_params w, pe_view *out, use how, pe_view *prob,
                             pe_positions *q_at, pe_positions *k_at, pe_error *err)
{
    bool has = e->hooks & PE_HOOK_VALUE;
    TRY(check_params(e, w, err));
    TRY(check_positions_real(q_at, "q_at", 1, q_at->tokens, e->axes, !has, err));
    TRY(check_positions_real(k_at, "k_at", 1, k_at->tokens, e->axes, !has, err));
    TRY(check_view(out, how == WRITES ? "out" : "dout",
                   (extent){ 1, q_at->tokens, e->shape.heads, has ? e->shape.head_dim : -1 }, how, err));
    TRY(check_view(prob, "prob", (extent){ 1, q_at->tokens, e->shape.heads, k_at->tokens }, READS, err));
    return check_reach(e, PE_HOOK_VALUE, -1, &(pe_tile){ .q_at = *q_at, .k_at = *k_at }, err);
}

pe_status pe_encoding_value(const pe_encoding *e, pe_params w, pe_view out, pe_view prob, pe_positions q_at,
                            pe_positions k_at, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_value(e, w, &out, WRITES, &prob, &q_at, &k_at, err));
    CHECK_MEMORY(false, view_region("out", out, WRITES), view_region("prob", prob, READS),
                 positions_region("q_at", q_at), positions_region("k_at", k_at), params_region("params", w, READS));
    value_add(e, w, out, prob, q_at, k_at, NULL, 0);
    return pe_pass(err);
}

pe_status pe_encoding_value_back(const pe_encoding *e, pe_params w, pe_params dw, pe_view dprob, pe_view prob,
                                 pe_view dout, pe_positions q_at, pe_positions k_at, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_value(e, w, &dout, READS, &prob, &q_at, &k_at, err));
    TRY(check_grads(e, dw, err));
    if (!dprob.data)
        dprob = (pe_view){ 0 };
    else
        TRY(check_view(&dprob, "dprob", (extent){ 1, q_at.tokens, e->shape.heads, k_at.tokens }, WRITES, err));
    CHECK_MEMORY(false, view_region("dprob", dprob, WRITES), params_region("dparams", dw, WRITES),
                 view_region("prob", prob, READS), view_region("dout", dout, READS), positions_region("q_at", q_at),
                 positions_region("k_at", k_at), params_region("params", w, READS));
    value_back(e, w, dw, dprob, prob, dout, q_at, k_at, NULL, 0);
    return pe_pass(err);
}
