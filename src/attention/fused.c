/* SPDX-License-Identifier: MIT
 *
 * Opening a fused call: checks, sizes, memory, and its sequences one by one or side by side. */
#include "attention/fused.h"

#include <assert.h>
#include <inttypes.h>

/* Kinds of terms: a new one is a file and a row here. */
static const term_kind *const kinds[] = { &kind_distance, &kind_levels, &kind_lookups, &kind_counts };

static size_t place_of(const term_kind *kind)
{
    size_t at = 0;
    for (int n = 0; kinds[n] != kind; n++)
        at += (kinds[n]->bytes + 15) / 16 * 16;
    assert(at + kind->bytes <= KIND_BYTES);
    return at;
}

void *kind_of(const fused *f, const term_kind *kind)
{
    return (char *)(uintptr_t)f->kind + place_of(kind);
}

void *kind_worker(const scratch *s, const term_kind *kind)
{
    int n = 0;
    while (kinds[n] != kind)
        n++;
    return s->kind[n];
}

const term_kind *kind_next(const fused *f, int *n)
{
    while (*n < COUNT_OF(kinds) && !(f->kinds >> *n & 1))
        ++*n;
    return *n < COUNT_OF(kinds) ? kinds[(*n)++] : NULL;
}

void kinds_find(fused *f, const fused *plan)
{
    const term_kind *kind;
    for (int n = 0; n < COUNT_OF(kinds); n++)
        if (kinds[n]->find(f))
            f->kinds |= 1u << n;
    f->plan = plan;
    spacings_plan(f);
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->size(f);
}

void kinds_cut(fused *f, char *memory, int64_t *used)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->cut(f, memory, used);
}

void kinds_fill(fused *f)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->fill(f);
}

#define STRUCT_UNIT 512 /* of structs in the work memory, so that its size does not tell how wide pointers are */

void *fused_take(char *memory, int64_t *used, int64_t count, size_t size)
{
    int64_t at = up_to(*used, 64), bytes;
    if (*used < 0 || *used > INT64_MAX / 4 || !checked_mul(&bytes, count, (int64_t)size) ||
        !checked_add(used, at, bytes))
        *used = -1; /* too large: stays so */
    return memory && count ? memory + at : NULL;
}

int64_t fused_queries(const fused *f)
{
    return up_to(f->Tq, BQ) / BQ;
}

static void cut_tokens(fused *f, char *memory, int64_t *used)
{
    int64_t packed = f->direct ? 0 : f->G * f->tiles * BK, D = f->D, rows = f->backward ? packed : 0;
    f->ready.q = fused_take(memory, used, f->H * f->Tq, sizeof(float) * (size_t)D);
    f->ready.phase = fused_take(memory, used, f->polar ? 2 * f->G * f->raw : 0, sizeof(double));
    f->ready.relative = fused_take(memory, used, f->H * f->Tq * f->R, sizeof(float));
    f->ready.kt = fused_take(memory, used, packed, sizeof(float) * (size_t)D);
    f->ready.kr = fused_take(memory, used, rows, sizeof(float) * (size_t)f->Dp);
    f->ready.v = fused_take(memory, used, packed, sizeof(float) * (size_t)f->Dw);
    f->ready.vt = fused_take(memory, used, rows, sizeof(float) * (size_t)f->Dv);
    f->ready.v_odd = fused_take(memory, used, packed / LOAD, 1);
    f->ready.k_odd = fused_take(memory, used, packed / LOAD, 1);
}

static void cut_back(const fused *f, scratch *s, char *memory, int64_t *used)
{
    s->dP = fused_take(memory, used, BQ * BK, sizeof(float));
    s->capped = fused_take(memory, used, f->p.a.soft_cap > 0 ? BQ * BK : 0, sizeof(float));
    s->dO = fused_take(memory, used, BQ * f->Dw, sizeof(float));
    s->dqs = fused_take(memory, used, BQ * f->Dp, sizeof(float));
    s->dq = fused_take(memory, used, BQ * f->Dp, sizeof(float));
    s->dqt = fused_take(memory, used, BQ * (f->Rp > f->Dp ? f->Rp : f->Dp), sizeof(float));
    s->drelative = fused_take(memory, used, BQ * f->Rp, sizeof(float));
    s->dO_along = fused_take(memory, used, BQ / 2 * f->Dw, sizeof(float));
    s->dO_down = fused_take(memory, used, BQ / 2 * f->Dw, sizeof(float));
    s->q_down = fused_take(memory, used, BQ / 2 * f->Dp, sizeof(float));
    s->carries = fused_take(memory, used, f->carries ? f->tiles * BQ : 0, sizeof(double));
}

static void cut_scratch(fused *f, scratch *s, char *memory, int64_t *used)
{
    int64_t D = f->D, rows = f->direct ? f->H * f->Tq : BQ, most = LOAD * f->H * D;
    int64_t values = LOAD * (f->backward ? f->H : f->G) * f->Dv; /* backward: dout is as wide, of every head */
    most = values > most ? values : most;
    most = (f->ready.load_k || f->ready.load_panel) && BK * f->G * D > most ? BK * f->G * D : most;
    s->S = fused_take(memory, used, BQ * BK, sizeof(float));
    s->gate = fused_take(memory, used, f->carries ? BQ * BK : 0, sizeof(float));
    s->O = fused_take(memory, used, BQ * f->Dw, sizeof(float));
    s->qs = fused_take(memory, used, rows, sizeof(float) * (size_t)f->Dp);
    s->qa = fused_take(memory, used, BQ * f->Dp, sizeof(float));
    s->tame = fused_take(memory, used, f->direct ? 0 : BK * f->Dw, sizeof(float));
    s->row = fused_take(memory, used, BK, sizeof(float));
    s->load = fused_take(memory, used, most, sizeof(float));
    s->load_v = fused_take(memory, used, f->ready.load_v ? BK * f->G : 0, sizeof(float) * (size_t)f->Dv);
    s->panel = fused_take(memory, used, f->ready.load_panel ? BK : 0, sizeof(float) * (size_t)D);
    for (int n = 0; n < COUNT_OF(kinds); n++) {
        bool wanted = f->kinds >> n & 1 && kinds[n]->cut_worker;
        s->kind[n] = fused_take(memory, used, wanted ? up_to((int64_t)kinds[n]->worker_bytes, STRUCT_UNIT) : 0, 1);
        if (wanted)
            kinds[n]->cut_worker(f, s, memory, used);
    }
    if (f->backward)
        cut_back(f, s, memory, used);
}

/* Everything from one block; with memory NULL only its size. */
static bool cut_block(fused *f, char *memory)
{
    int64_t used = 0, workers = pool_workers(f->p.pool), rows = f->direct ? f->piece.count * f->H * f->Tq : 0;
    char *base = memory ? memory + (64 - (uintptr_t)memory % 64) % 64 : NULL;
    spacings_cut(f, base, &used);
    kinds_cut(f, base, &used);
    cut_tokens(f, base, &used);
    if (f->backward)
        back_cut(f, base, &used);
    f->ready.q_shift = fused_take(base, &used, fused_queries(f), sizeof(int64_t));
    f->ready.k_shift = fused_take(base, &used, f->tiles, sizeof(int64_t));
    f->piece.O = fused_take(base, &used, rows, sizeof(float) * (size_t)f->Dw);
    f->piece.max = fused_take(base, &used, rows, sizeof(float));
    f->piece.sum = fused_take(base, &used, rows, sizeof(double));
    f->piece.carry = fused_take(base, &used, f->carries ? rows : 0, sizeof(double));
    f->scratch = fused_take(base, &used, up_to(workers * (int64_t)sizeof(scratch), STRUCT_UNIT), 1);
    int64_t before = used;
    for (int64_t n = 0; n < workers && used >= 0; n++) {
        scratch none;
        cut_scratch(f, base ? &f->scratch[n] : &none, base, &used);
        if (!base) { /* all alike */
            int64_t all;
            if (used < 0 || !checked_mul(&all, up_to(used, 64) - before + 64, workers) ||
                !checked_add(&used, before, all))
                return false;
            break;
        }
    }
    f->bytes = (size_t)used + 64;
    return used >= 0 && (uint64_t)used < SIZE_MAX - 64;
}

static pe_status check_types(const call *c, pe_error *err)
{
    const struct {
        const char *name;
        const pe_view *v;
    } all[] = { { "q", &c->a.q }, { "k", &c->a.k }, { "v", &c->a.v } };
    for (int i = 0; i < COUNT_OF(all); i++)
        if (all[i].v->dtype == PE_F64)
            return pe_fail(err, PE_ERR_DTYPE,
                           "%s is float64; fused attention takes float32, float16 and bfloat16, and "
                           "pe_reference_forward float64",
                           all[i].name);
    return PE_OK;
}

/* Scores, their cap and what a count takes out of the scale again are float32: none of them may overflow or vanish. */
#define FAR 0x1p60

static pe_status check_number(const char *name, double x, const char *what, pe_error *err)
{
    if (fabs(x) >= 1 / FAR && fabs(x) <= FAR)
        return PE_OK;
    return pe_fail(err, PE_ERR_RANGE,
                   "%s is %s; fused attention needs %s2^-60 to 2^60, and pe_reference_forward takes any", name,
                   text_show(x).text, what);
}

static pe_status check_numbers(const call *c, pe_error *err)
{
    if (c->a.soft_cap != 0)
        TRY(check_number("soft_cap", c->a.soft_cap, "0 (none) or ", err));
    return check_number("scale", c->scale, "0 (the encoding's own) or a size of ", err);
}

/* Into how many shares the queries are cut, whatever the number of workers. Each share of a head has a ledger, which takes
 * time to add up: there are items for many workers where each gets some tiles of queries, and for a few in any case. */
static int64_t back_splits(const fused *f)
{
    enum { FEW_ITEMS = 8, MANY_ITEMS = 16, TILES = 4 };
    int64_t tiles = fused_queries(f) ? fused_queries(f) : 1, few = (FEW_ITEMS + f->G - 1) / f->G;
    int64_t splits = (MANY_ITEMS + f->G - 1) / f->G, worth = tiles * f->group / TILES;
    splits = splits < worth ? splits : worth;
    splits = splits > few ? splits : few;
    return splits < tiles ? splits : tiles;
}

void fused_shape(fused *f)
{
    const pe_attention *a = &f->p.a;
    const pe_shape *s = &f->p.e->shape;
    f->k = &f->p.e->kernels;
    f->H = s->heads;
    f->G = s->kv_heads;
    f->group = f->H / f->G;
    f->polar = polar_part(f->p.e);
    f->raw = s->head_dim;
    f->D = f->polar ? 2 * f->raw : f->raw;
    f->Dv = a->v.dim;
    f->Dp = up_to(f->D, LANES);
    f->Dw = up_to(f->Dv, LANES);
    f->R = f->p.e->relative;
    f->Rp = up_to(f->R, LANES);
    f->Tq = f->p.Tq;
    f->Tk = f->p.Tk;
    f->tiles = up_to(f->Tk, BK) / BK;
    f->direct = (f->Tq <= FEW || (f->Tq <= SOME && f->Tk >= MANY)) && !f->backward;
    f->back.splits = back_splits(f);
}

static void find_loads(fused *f)
{
    const part *rotating = f->p.a.rotated ? NULL : f->p.rotating;
    f->piece.keys = 256 * f->Tq > CHUNK ? 256 * f->Tq : CHUNK;
    if (f->Tk <= f->piece.keys)
        f->piece.keys = f->Tk;
    f->piece.count = f->piece.keys ? up_to(f->Tk, f->piece.keys) / f->piece.keys : 1;
    f->ready.rotate_k = rotating != NULL;
    f->ready.rotate_v = rotating && rotating->rotates_value;
    f->ready.load_panel = f->ready.load_panel && f->direct;
    f->ready.load_k = f->direct && (f->ready.rotate_k || f->polar);
    f->ready.load_v = f->direct && f->ready.rotate_v;
}

/* A tile is rotated about one place: what stands further from it than this, as an exponent, has no float32 that is
 * exact enough. */
#define TILE_REACH 20
#define AHEAD_REACH 40

static pe_status check_apart(const fused *f, double steepest, const char *what, int64_t place, int64_t at,
                             pe_error *err)
{
    if (steepest * fabs((double)(at - place)) <= TILE_REACH)
        return PE_OK;
    return pe_fail(err, PE_ERR_POSITION,
                   "%s: neighbouring %s are at %" PRId64 " and %" PRId64
                   ", too far for float32; give them in rising order without gaps",
                   f->p.rotating->row->info.name, what, place, at);
}

/* Keys that query i sees and that are too far ahead of it. */
static pe_status check_ahead(const fused *f, double steepest, int64_t i, int64_t q, pe_error *err)
{
    int64_t low, high;
    mask_range(f, i, &low, &high);
    for (int64_t j = low; j < high; j++) {
        int64_t k = coordinate(f->p.a.k_at, j, 0);
        for (int64_t h = 0; steepest * (double)(k - q) > AHEAD_REACH && h < f->H; h++)
            if (mask_sees(f, h, i, j))
                return pe_fail(err, PE_ERR_POSITION, "%s: a key %" PRId64 " ahead of its query overflows; hide it",
                               f->p.rotating->row->info.name, k - q);
    }
    return PE_OK;
}

/* Turns that attention shifts must not overflow inside a tile, nor a key ahead of its query. */
static pe_status check_tiles(const fused *f, pe_error *err)
{
    const part *p = f->p.rotating;
    const pe_positions q_at = f->p.a.q_at, k_at = f->p.a.k_at;
    const uint8_t *used = f->p.used;
    int64_t at[PE_AXES_MAX];
    for (int64_t i = 0; p && f->p.a.rotated && p->row->check && i < f->Tq; i++)
        TRY(p->row->check(p, PE_QUERY, PE_F32, position(q_at, i, at), err));
    if (!f->p.recentres)
        return PE_OK;
    double steepest = 0;
    for (int64_t n = 0; n < p->pairs; n++)
        steepest = fmax(steepest, fabs(p->decay[n]));
    spacing first_axis = { 0 };
    spacing_range(f, &first_axis);
    bool ahead = -steepest * (double)first_axis.low > AHEAD_REACH; /* some key may be */
    for (int64_t i = 0; i < f->Tq; i++) {
        int64_t q = coordinate(q_at, i, 0);
        TRY(check_apart(f, steepest, "queries", coordinate(q_at, i / BQ * BQ, 0), q, err));
        if (ahead)
            TRY(check_ahead(f, steepest, i, q, err));
    }
    for (int64_t j = 0; f->Tq && j < f->Tk; j++)
        if (!used || used[j])
            TRY(check_apart(f, steepest, "keys", ready_place(f, j / BK), coordinate(k_at, j, 0), err));
    return PE_OK;
}

/* The sizes of everything that one sequence needs, and what can be wrong with its places. */
static pe_status measure_sequence(fused *f, const call *c, int64_t sequence, bool backward, bool alone, pe_error *err)
{
    *f = (fused){ .backward = backward };
    call_sequence(c, sequence, &f->p);
    if (alone)
        f->p.pool = NULL;
    fused_shape(f);
    if (f->Tk > INT64_MAX / 65536 / PE_HEAD_DIM_MAX / 64 || f->Tq > INT64_MAX / 65536 / PE_HEAD_DIM_MAX / 64)
        return pe_fail(err, PE_ERR_OVERFLOW,
                       "there are %" PRId64 " queries and %" PRId64
                       " keys; fused attention takes fewer than 2^30 of each",
                       f->Tq, f->Tk);
    mask_find(f);
    TRY(spacings_reach(f, err));
    kinds_find(f, plan_shell(c->run.plan, f));
    find_loads(f);
    if (!cut_block(f, NULL))
        return pe_fail(err, PE_ERR_OVERFLOW, "the work memory for %" PRId64 " keys does not fit 64-bit sizes", f->Tk);
    return PE_OK;
}

static size_t bytes_of(const fused_call *f)
{
    return f->spread ? f->each * (size_t)pool_workers(f->c.run.pool) : f->each;
}

/* Sequences that are as many as the workers go side by side; gradients of parameters are one sum, in order. */
pe_status fused_open(fused_call *f, const pe_encoding *e, const pe_attention *a, const pe_run *run, bool backward,
                     pe_error *err)
{
    TRY(call_open(&f->c, e, a, run, err));
    TRY(check_types(&f->c, err));
    TRY(check_numbers(&f->c, err));
    int workers = pool_workers(f->c.run.pool);
    f->backward = backward;
    f->spread = !backward && workers > 1 && f->c.sequences >= workers;
    f->each = 0;
    for (int64_t s = 0; s < f->c.sequences; s++) {
        TRY(measure_sequence(&f->one, &f->c, s, backward, f->spread, err));
        f->each = f->one.bytes > f->each ? f->one.bytes : f->each;
    }
    if (f->c.sequences > 1)
        f->each = (size_t)up_to((int64_t)(f->each + sizeof(fused)), 64) + 64;
    if (f->each > SIZE_MAX / 2 / (size_t)workers)
        return pe_fail(err, PE_ERR_OVERFLOW, "the work memory for %d workers does not fit", workers);
    return PE_OK;
}

pe_status fused_check(fused_call *f, pe_error *err)
{
    TRY(check_params(f->c.e, f->c.run.params, err));
    TRY(call_work(&f->c, bytes_of(f), f->backward ? "pe_attention_backward_work" : "pe_attention_work", err));
    f->c.run.work_bytes = bytes_of(f);
    for (int64_t s = 0; s < f->c.sequences && f->c.rotating; s++) {
        if (f->c.sequences > 1)
            TRY(measure_sequence(&f->one, &f->c, s, f->backward, f->spread, err));
        TRY(check_tiles(&f->one, err));
    }
    return PE_OK;
}

typedef struct visiting {
    fused_call *f;
    void (*visit)(fused *);
} visiting;

/* One of many sequences: it begins the worker's share of the work memory. */
static void visit_one(void *arg, int64_t s, int worker)
{
    const visiting *v = arg;
    fused_call *c = v->f;
    char *memory = (char *)c->c.run.work + (size_t)worker * c->each;
    fused *f = (fused *)(void *)memory;
    measure_sequence(f, &c->c, s, c->backward, c->spread, NULL);
    cut_block(f, memory + up_to(sizeof *f, 64));
    v->visit(f);
}

void fused_each(fused_call *f, void (*visit)(fused *))
{
    visiting v = { f, visit };
    if (f->c.sequences == 1) {
        call_sequence(&f->c, 0, &f->one.p); /* with gradients and pieces, which were not known when it was measured */
        cut_block(&f->one, f->c.run.work);
        visit(&f->one);
    } else if (f->spread)
        pool_run(f->c.run.pool, visit_one, &v, f->c.sequences);
    else
        for (int64_t s = 0; s < f->c.sequences; s++)
            visit_one(&v, s, 0);
}

static pe_status answer_size(const pe_encoding *e, const pe_attention *a, const pe_run *run, bool backward,
                             size_t *bytes, pe_error *err)
{
    fused_call f;
    CHECK_POINTER(size_t, bytes, "bytes");
    TRY(fused_open(&f, e, a, run, backward, err));
    *bytes = bytes_of(&f);
    return pe_pass(err);
}

pe_status pe_attention_work(const pe_encoding *e, const pe_attention *a, const pe_run *run, size_t *bytes,
                            pe_error *err)
{
    return answer_size(e, a, run, false, bytes, err);
}

pe_status pe_attention_backward_work(const pe_encoding *e, const pe_attention *a, const pe_run *run, size_t *bytes,
                                     pe_error *err)
{
    return answer_size(e, a, run, true, bytes, err);
}

/* Forward and backward choose alike, for backward makes again the weights of forward. What keys are multiplied with
 * beside queries, or magnitudes that change from tile to tile, would be rounded too: such rows stay float32. So do few
 * queries, whose keys are read where they lie. */
static void choose_products(fused *f)
{
    const pe_attention *a = &f->p.a;
    bool given = a->q.dtype == PE_BF16 && a->k.dtype == PE_BF16 && a->v.dtype == PE_BF16, direct = f->direct;
    bool plain = !f->polar && !f->p.recentres && !f->ready.keys_meet && !trained_ledger(f->p.rotating);
    int exponent;
    double fraction = frexp(f->p.scale, &exponent);
    f->bf16 = given && plain && !direct && f->k->gemm_bf16 != gemm_bf16_c;
    f->gemm = f->bf16 ? f->k->gemm_bf16 : f->k->gemm;
    f->gemm_c = f->bf16 ? gemm_bf16_c : gemm_c;
    f->q_scale = f->bf16 ? ldexp(0.5, exponent) : f->p.scale;
    f->s_scale = f->bf16 ? (float)(2 * fraction) : 1;
}

void fused_ready(fused *f)
{
    choose_products(f);
    spacings_fill(f);
    ready_tokens(f);
    kinds_fill(f); /* some meet the queries */
}
