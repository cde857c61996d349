/* SPDX-License-Identifier: MIT
 *
 * What a call of attention checks on the host: what attention/call.c checks of the same arguments, but for numbers in
 * device memory; and what this library does not have. */
#include <inttypes.h>
#include <math.h>

#include "cuda/attend.h"
#include "cuda/driver.h"
#include "cuda/rotation.h"

/* ------------------------------------------------ what is not there yet */

static pe_status check_encoding(const attend_call *c, pe_error *err)
{
    const pe_cuda_plan *plan = c->plan;
    const pe_lowered *form = pe_plan_lowered(plan->host);
    const struct {
        bool is;
        const char *what;
    } lacks[] = {
        { form->count != NULL, "a term that counts keys" },
        { form->inputs.relative > 0, "a relative input" },
        { form->lookups && form->lookup[0]->side == PE_VALUE, "a term on values" },
        { form->lookups > 0 || form->polar, "a content term" },
        { form->inputs.gates, "gates" },
        { form->levels > 0, "levels by position" },
        { form->biases > BIAS_PIECES_MAX, "more than 4 biases" },
    };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].is)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "%.120s has %s, which attention on a GPU does not have yet; use pe_attention_forward",
                           pe_encoding_spec(plan->e), lacks[i].what);
    TRY(bias_check_able(plan, err));
    TRY(rotate_check_able(plan, false, err));
    return PE_OK;
}

static pe_status check_type(pe_view v, const char *name, pe_error *err)
{
    if (v.dtype != PE_F64 && v.dtype != PE_Q8_0 && v.dtype != PE_Q4_0)
        return PE_OK;
    return pe_fail(err, PE_ERR_UNSUITED,
                   "%s is %s, which attention on a GPU does not take yet; needs float32, float16 or bfloat16", name,
                   v.dtype == PE_F64 ? "float64" : "quantised");
}

static pe_status check_call(const attend_call *c, pe_error *err)
{
    const pe_attention *a = &c->a;
    if (a->pages.table)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "k lies in pages, which attention on a GPU does not take yet; needs one view");
    const struct {
        pe_view v;
        const char *name;
    } typed[] = {
        { a->q, "q" }, { a->k, "k" }, { a->v, "v" }, { a->out, "out" }, { a->mask.additive, "mask.additive" }
    };
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        TRY(check_type(typed[i].v, typed[i].name, err));
    const struct {
        pe_view v;
        const char *name, *why;
    } lacks[] = { { a->scores, "scores", "attention on a GPU does not write them yet: use pe_reference_forward" },
                  { a->probabilities, "probabilities",
                    "attention on a GPU does not write them yet: use pe_reference_forward" },
                  { a->q_gates, "q_gates", "the encoding takes no such input" },
                  { a->k_gates, "k_gates", "the encoding takes no such input" },
                  { a->relative, "relative", "the encoding takes no such input" } };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].v.data)
            return pe_fail(err, PE_ERR_UNSUITED, "%s is given; %s", lacks[i].name, lacks[i].why);
    return PE_OK;
}

/* ------------------------------------------------ vectors */

static pe_status check_vectors(attend_call *c, pe_error *err)
{
    pe_attention *a = &c->a;
    const struct rotation_data *d = c->plan->rotation;
    pe_shape s = pe_encoding_shape(c->plan->e);
    bool same = d && (d->rotates_value || d->rotates_output);
    TRY(check_vector(&a->q, "q", (extent){ -1, -1, s.heads, s.head_dim }, READS, err));
    TRY(check_vector(&a->k, "k", (extent){ -1, -1, s.kv_heads, s.head_dim }, READS, err));
    TRY(check_vector(&a->v, "v", (extent){ a->k.batch, a->k.tokens, s.kv_heads, same ? s.head_dim : -1 }, READS, err));
    if (a->q.dtype != a->k.dtype || a->q.dtype != a->v.dtype)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "q, k and v have dtypes %d, %d and %d; attention on a GPU needs one for all three",
                       (int)a->q.dtype, (int)a->k.dtype, (int)a->v.dtype);
    return PE_OK;
}

static pe_status check_width(const attend_call *c, pe_error *err)
{
    const struct {
        const char *name;
        int64_t dim;
    } width[] = { { "the head", c->a.q.dim }, { "v", c->a.v.dim } };
    for (int i = 0; i < 2; i++)
        if (width[i].dim % 8 || width[i].dim < 8 || width[i].dim > 256)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "%s is %" PRId64 " wide; attention on a GPU needs a multiple of 8 up to 256", width[i].name,
                           width[i].dim);
    int64_t needed = ATTEND_SIMT_BYTES(64, 32, c->a.q.dim, c->a.v.dim);
    if (needed > c->plan->gpu->facts.shared)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "heads of %" PRId64 " and %" PRId64 " need %" PRId64
                       " bytes of shared memory; this device has %d",
                       c->a.q.dim, c->a.v.dim, needed, c->plan->gpu->facts.shared);
    return PE_OK;
}

/* ------------------------------------------------ sequences */

static pe_status check_lengths(const pe_lengths *l, const char *name, pe_view v, pe_error *err)
{
    if ((uintptr_t)l->length % sizeof(int64_t) || (uintptr_t)l->offset % sizeof(int64_t))
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to 8 bytes", name);
    if (!l->offset)
        return PE_OK;
    return check_packed(l, name, v, err);
}

static pe_status check_sequences(attend_call *c, pe_error *err)
{
    const pe_attention *a = &c->a;
    TRY(check_lengths(&a->q_lengths, "q_lengths", a->q, err));
    TRY(check_lengths(&a->k_lengths, "k_lengths", a->k, err));
    c->sequences = a->q_lengths.offset ? a->q_lengths.sequences : a->q.batch;
    int64_t keys = a->k_lengths.offset ? a->k_lengths.sequences : a->k.batch;
    return check_as_many(c->sequences, keys, err);
}

/* Kernels count tiles, tokens and heads in 32 bits. */
static pe_status check_size(const attend_call *c, pe_error *err)
{
    const int64_t most = INT32_MAX / 2;
    if (c->a.q.tokens > most || c->a.k.tokens > most || c->sequences > most || c->a.q.heads > most)
        return pe_fail(err, PE_ERR_OVERFLOW,
                       "%" PRId64 " sequences, %" PRId64 " queries, %" PRId64 " keys, %" PRId64
                       " heads; a GPU takes 2^30 of each",
                       c->sequences, c->a.q.tokens, c->a.k.tokens, c->a.q.heads);
    if (attend_tiles(c, 64) > most)
        return pe_fail(err, PE_ERR_OVERFLOW,
                       "there are %" PRId64 " tiles of 64 queries of a head; a GPU takes 2^30 in a call: split it",
                       attend_tiles(c, 64));
    return PE_OK;
}

/* ------------------------------------------------ positions and masks */

bool attend_even(pe_positions p)
{
    return p.tokens <= 1 || (p.step == 1 && (!p.data || !p.token_stride));
}

/* Biases, masks by position and vectors that decay compare whole positions. */
static pe_status check_whole(const attend_call *c, pe_positions p, const char *name, pe_error *err)
{
    const char *user = bias_pieces(c->plan)                   ? "a bias"
                       : c->a.mask.align == PE_ALIGN_POSITION ? "the mask"
                       : c->decays                            ? "a decay with distance"
                                                              : NULL;
    if (!p.data || p.dtype != PE_F64 || !user)
        return PE_OK;
    return pe_fail(err, PE_ERR_UNSUITED,
                   "%s is float64 and %s uses it; a GPU takes PE_I64 or PE_I32 there, fractions for rotations only",
                   name, user);
}

static pe_status check_places(attend_call *c, pe_error *err)
{
    pe_attention *a = &c->a;
    int64_t axes = pe_encoding_axes(c->plan->e);
    TRY(check_positions_outside(&a->q_at, "q_at", a->q.batch, a->q.tokens, axes, err));
    TRY(check_positions_outside(&a->k_at, "k_at", a->k.batch, a->k.tokens, axes, err));
    TRY(check_whole(c, a->q_at, "q_at", err));
    return check_whole(c, a->k_at, "k_at", err);
}

static pe_status check_masks(attend_call *c, pe_error *err)
{
    static const dtypes types_bool = { TYPE_BIT(PE_BOOL), "on a GPU needs PE_BOOL" };
    const pe_mask *m = &c->a.mask;
    extent scores = { c->sequences, c->a.q.tokens, c->a.q.heads, c->a.k.tokens };
    TRY(check_mask(&c->a, scores, &types_bool, &types_vector, err));
    bool first = m->window && m->first_keys, even = attend_even(c->a.q_at) && attend_even(c->a.k_at);
    c->by_position = m->align == PE_ALIGN_POSITION && (m->causal || m->window) &&
                     (!even || (first && (c->a.k_at.data || c->a.k_at.start < 0)));
    return PE_OK;
}

/* ------------------------------------------------ distances */

/* The distances of pairs that are seen, as far as the host can tell: runs of positions, and no lengths. */
static bool distances_of(const attend_call *c, int64_t *nearest, int64_t *farthest)
{
    const pe_attention *a = &c->a;
    const pe_mask *m = &a->mask;
    if (a->q_at.data || a->k_at.data || !attend_even(a->q_at) || !attend_even(a->k_at) || a->q_lengths.offset ||
        a->k_lengths.offset || a->q_lengths.length || a->k_lengths.length || !a->q.tokens || !a->k.tokens)
        return false;
    int64_t apart = a->q_at.start - a->k_at.start; /* of query 0 and key 0; of query 0 and the key that it is at: */
    int64_t shift = m->align == PE_ALIGN_POSITION ? 0
                    : m->align == PE_ALIGN_START  ? apart + m->keys_before
                                                  : apart - (a->k.tokens + m->keys_after - a->q.tokens);
    *nearest = apart - (a->k.tokens - 1);
    *farthest = apart + a->q.tokens - 1;
    if (m->causal && *nearest < shift)
        *nearest = shift;
    if (m->window && !m->first_keys && m->window <= PE_POSITION_MAX) {
        *nearest = *nearest < shift - m->window + 1 ? shift - m->window + 1 : *nearest;
        *farthest = *farthest > shift + m->window - 1 ? shift + m->window - 1 : *farthest;
    }
    return *nearest <= *farthest;
}

static pe_status check_distances(const attend_call *c, pe_error *err)
{
    int64_t nearest, farthest, last = c->a.q_at.start + c->a.q.tokens - 1;
    bias_piece piece[BIAS_PIECES_MAX];
    if (!bias_pieces(c->plan) || !distances_of(c, &nearest, &farthest))
        return PE_OK;
    if (farthest > c->plan->behind || -nearest > c->plan->ahead)
        return pe_fail(err, PE_ERR_RANGE,
                       "keys lie up to %" PRId64 " positions before their query and %" PRId64
                       " after it; the plan was made for %" PRId64 " and %" PRId64,
                       farthest > 0 ? farthest : 0, nearest < 0 ? -nearest : 0, c->plan->behind, c->plan->ahead);
    bias_lay(c->plan, 0, piece);
    for (int n = 0; n < bias_pieces(c->plan); n++)
        if (piece[n].knots && last >= piece[n].shares)
            return pe_fail(err, PE_ERR_RANGE,
                           "the last query is at position %" PRId64
                           ", on which the bias depends; the plan was made for %" PRId64,
                           last, piece[n].shares - 1);
    return PE_OK;
}

/* A tile decays about one place (attention/fused.c: check_tiles): where the host knows positions, none of its vectors
 * is too far from it, nor a key too far ahead of its query. Exponents. */
#define TILE_REACH 20
#define AHEAD_REACH 40

static pe_status check_decay(const attend_call *c, pe_error *err)
{
    const struct rotation_data *d = c->plan->rotation;
    const struct {
        const char *what;
        pe_positions at;
        int64_t tile;
    } side[] = { { "queries", c->a.q_at, 64 }, { "keys", c->a.k_at, 32 } };
    double steepest = 0;
    int64_t nearest, farthest;
    for (int64_t n = 0; c->decays && n < d->count; n++)
        steepest = fmax(steepest, fabs(d->pairs[n].decay));
    for (int i = 0; i < 2; i++) {
        int64_t tokens = side[i].at.tokens < side[i].tile ? side[i].at.tokens : side[i].tile;
        bool known = !side[i].at.data || !side[i].at.token_stride;
        if (known && tokens > 1 && steepest * fabs((double)side[i].at.step) * (double)(tokens - 1) > TILE_REACH)
            return pe_fail(err, PE_ERR_POSITION,
                           "%.120s: neighbouring %s are %" PRId64 " positions apart, too far for float32; give them "
                           "in rising order without gaps",
                           pe_encoding_spec(c->plan->e), side[i].what, side[i].at.step);
    }
    if (steepest > 0 && distances_of(c, &nearest, &farthest) && -steepest * (double)nearest > AHEAD_REACH)
        return pe_fail(err, PE_ERR_POSITION, "%.120s: a key %" PRId64 " ahead of its query overflows; hide it",
                       pe_encoding_spec(c->plan->e), -nearest);
    return PE_OK;
}

/* ------------------------------------------------ numbers */

static pe_status check_sinks(const attend_call *c, pe_error *err)
{
    pe_params s = c->a.sinks;
    if (!s.data)
        return PE_OK;
    if (s.dtype != PE_F32)
        return pe_fail(err,
                       s.dtype == PE_F16 || s.dtype == PE_BF16 || s.dtype == PE_F64 ? PE_ERR_UNSUITED : PE_ERR_DTYPE,
                       "sinks: dtype is %d; attention on a GPU needs PE_F32", (int)s.dtype);
    if (s.count != c->a.q.heads)
        return pe_fail(err, PE_ERR_SHAPE, "sinks: count is %" PRId64 "; needs %" PRId64 ", one per head", s.count,
                       c->a.q.heads);
    if ((uintptr_t)s.data % sizeof(float))
        return pe_fail(err, PE_ERR_ALIGN, "sinks: data is not aligned to its 4-byte elements");
    return PE_OK;
}

static bool fits_float(double x)
{
    return fabs(x) >= 0x1p-60 && fabs(x) <= 0x1p60;
}

static pe_status check_numbers(const attend_call *c, pe_error *err)
{
    if (!(c->a.soft_cap >= 0) || (c->a.soft_cap > 0 && !fits_float(c->a.soft_cap)))
        return pe_fail(err, PE_ERR_RANGE, "soft_cap is %g; needs 0 (none) or 2^-60 to 2^60", c->a.soft_cap);
    if (!fits_float(c->scale))
        return pe_fail(err, PE_ERR_RANGE, "scale is %g; needs 0 (the encoding's own) or a size of 2^-60 to 2^60",
                       c->scale);
    if (c->scale < 0)
        return pe_fail(err, PE_ERR_UNSUITED, "scale is %g; attention on a GPU needs one above 0", c->scale);
    return check_sinks(c, err);
}

/* ------------------------------------------------ the whole */

static void set_rotated(attend_call *c)
{
    const struct rotation_data *d = c->plan->rotation;
    c->rotates_q = d != NULL;
    c->rotates_k = d && !c->a.rotated;
    c->rotates_v = d && d->rotates_value && !c->a.rotated;
    c->rotates_out = d && d->rotates_output;
    c->decays = d && d->decays && !c->a.rotated;
}

pe_status attend_open(attend_call *c, const pe_cuda_plan *plan, const pe_attention *a, const pe_run *run, pe_error *err)
{
    *c = (attend_call){ .plan = plan, .run = { .size = sizeof c->run } };
    if (!plan)
        return pe_fail(err, PE_ERR_NULL, "the plan is NULL");
    TRY(check_struct(&c->a, sizeof c->a, a, "the attention problem", err));
    if (run)
        TRY(check_struct(&c->run, sizeof c->run, run, "the run", err));
    c->scale = c->a.scale != 0 ? c->a.scale : pe_encoding_scale(plan->e);
    TRY(check_encoding(c, err));
    set_rotated(c);
    TRY(check_call(c, err));
    TRY(check_vectors(c, err));
    TRY(check_width(c, err));
    TRY(check_sequences(c, err));
    TRY(check_size(c, err));
    TRY(check_places(c, err));
    TRY(check_masks(c, err));
    TRY(check_distances(c, err));
    TRY(check_decay(c, err));
    return check_numbers(c, err);
}

#define INPUTS 14

pe_status attend_apart(const attend_call *c, const region *more, int count, pe_error *err)
{
    const pe_attention *a = &c->a;
    const region read[INPUTS] = {
        view_region("q", a->q, READS),
        view_region("k", a->k, READS),
        view_region("v", a->v, READS),
        view_region("mask.keep", a->mask.keep, READS),
        view_region("mask.additive", a->mask.additive, READS),
        positions_region("q_at", a->q_at),
        positions_region("k_at", a->k_at),
        array_region("params", c->run.params.data, c->run.params.count, pe_dtype_size(c->run.params.dtype), READS),
        array_region("sinks", a->sinks.data, a->sinks.count, sizeof(float), READS),
        array_region("q_lengths.length", a->q_lengths.length, c->sequences, 8, READS),
        array_region("k_lengths.length", a->k_lengths.length, c->sequences, 8, READS),
        array_region("q_lengths.offset", a->q_lengths.offset, c->sequences + 1, 8, READS),
        array_region("k_lengths.offset", a->k_lengths.offset, c->sequences + 1, 8, READS),
        array_region("work", c->run.work, (int64_t)c->run.work_bytes, 1, WRITES),
    };
    region all[INPUTS + 16];
    for (int i = 0; i < INPUTS; i++)
        all[i] = read[i];
    for (int i = 0; i < count; i++)
        all[INPUTS + i] = more[i];
    return check_memory(all, INPUTS + count, false, err);
}

pe_status attend_outputs(attend_call *c, bool written, pe_error *err)
{
    static const dtypes types_lse = { TYPE_BIT(PE_F32) | TYPE_BIT(PE_F64), "on a GPU needs PE_F32 or PE_F64" };
    pe_attention *a = &c->a;
    use how = written ? WRITES : READS;
    extent rows = { a->q.batch, a->q.tokens, a->q.heads, a->v.dim };
    TRY(check_vector(&a->out, "out", rows, how, err));
    rows.dim = 1;
    if (a->lse.data && (a->lse.dtype == PE_F16 || a->lse.dtype == PE_BF16))
        return pe_fail(err, PE_ERR_UNSUITED,
                       "lse has 16 bits, which attention on a GPU does not write; needs float32 or float64");
    if (a->lse.data)
        TRY(check_typed(&a->lse, "lse", rows, &types_lse, how, err));
    if (!written)
        return PE_OK;
    const region s[] = { view_region("out", a->out, WRITES), view_region("lse", a->lse, WRITES) };
    return attend_apart(c, s, 2, err);
}
