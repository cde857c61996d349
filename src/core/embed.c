/* SPDX-License-Identifier: MIT
 *
 * The embed hook: y = x + code, or [x, code]. Pieces of tokens, whatever sequence they are of, in ranges of elements,
 * so that what a range needs stays in the cache. */
#include "core/door.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/rotation.h"
#include "core/waves.h"

#include <inttypes.h>
#include <string.h>

int64_t pe_embed_width(const pe_encoding *e, int64_t x_width)
{
    for (int i = 0; e && i < e->parts; i++)
        if (e->part[i].row->embed && e->part[i].concat && !checked_add(&x_width, x_width, e->part[i].width))
            return -1;
    return x_width < 0 ? -1 : x_width;
}

/* Added codes span the width of x; a part that joins starts where the part before ended. */
static pe_status check_widths(const pe_encoding *e, int64_t x_width, pe_error *err)
{
    if (x_width < 0)
        return pe_fail(err, PE_ERR_SHAPE, "x is %" PRId64 " wide; needs 0 or more, without the codes that join it",
                       x_width);
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        if (p->row->embed && !p->concat && p->width != x_width)
            return pe_fail(err, PE_ERR_SHAPE, "x is %" PRId64 " wide; %s adds a code of %" PRId64 " (model_dim)",
                           x_width, p->row->info.name, p->width);
    }
    return PE_OK;
}

static pe_status check_served(const pe_encoding *e, pe_positions where, pe_error *err)
{
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->embed)
            TRY(check_rotation(&e->part[i], PE_QUERY, PE_F64, where, err));
    return PE_OK;
}

/* Whether all that embeds takes fractions. */
static bool takes_fractions(const pe_encoding *e)
{
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->embed && !e->part[i].row->fractional)
            return false;
    return true;
}

/* ------------------------------------------------ rows of numbers */

#define RANGE WAVES /* elements at a time */

static void *element_at(pe_view v, int64_t i)
{
    return (char *)v.data + i * (int64_t)pe_dtype_size(v.dtype);
}

#define PIECE 64 /* tokens of one job */

/* Where a token stands: its coordinates, and its rows of x and y in elements. */
typedef struct token_place {
    double at[PE_AXES_MAX];
    int64_t x, y;
} token_place;

/* What a piece has on the stack. */
typedef struct embed_room {
    token_place token[PIECE];
    _Alignas(64) float x[RANGE], y[RANGE], none[RANGE]; /* none: what leaves a number as it is, -0 */
    _Alignas(64) double code[RANGE], sum[RANGE];
    wave_maker waves;
} embed_room;

static void row_fill(float *y, float x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x;
}

static void row_load(embed_room *o, const kernels *k, double *y, const void *x, pe_dtype type, int64_t n)
{
    if (type == PE_F64) {
        memcpy(y, x, (size_t)n * sizeof *y);
        return;
    }
    k->widen(o->x, x, type, n);
    num_loads(y, o->x, PE_F32, 0, n);
}

/* Each number rounded once. */
static void row_store(embed_room *o, const kernels *k, void *y, pe_dtype type, const double *x, int64_t n)
{
    if (type == PE_F64) {
        memcpy(y, x, (size_t)n * sizeof *x);
        return;
    }
    k->add_code(o->y, o->none, x, type != PE_F32, n);
    k->narrow(y, type, o->y, n);
}

/* ------------------------------------------------ codes that meet */

/* Parts whose codes are added to x, or one that joins it: elements first .. first + width - 1 of y. */
typedef struct code_group {
    const part *part[PARTS_MAX];
    int parts;
    int64_t first, width;
    bool joins;
} code_group;

typedef struct embed_call {
    const pe_encoding *e;
    pe_params w;
    pe_view y, x; /* x.data NULL: 0 */
    pe_positions where;
    bool shared;                     /* sequences stand at the same places: their tokens are taken together */
    code_group group[PARTS_MAX + 1]; /* what is added, then all that join */
    int groups;
} embed_call;

static void find_groups(embed_call *g, int64_t x_width)
{
    code_group *added = &g->group[0];
    *added = (code_group){ .width = x_width };
    g->groups = 1;
    for (int i = 0; i < g->e->parts; i++) {
        const part *p = &g->e->part[i];
        const code_group *last = &g->group[g->groups - 1];
        if (p->row->embed && p->concat)
            g->group[g->groups++] = (code_group){
                .part = { p }, .parts = 1, .first = last->first + last->width, .width = p->width, .joins = true
            };
        else if (p->row->embed)
            added->part[added->parts++] = p;
    }
}

static void make_code(const embed_call *g, const part *p, const double *at, int64_t first, int64_t count, double *code)
{
    if (p->waves.count)
        waves_code(&g->e->kernels, p, at, first, count, code);
    else
        p->row->embed(p, g->w, at, first, count, code);
}

/* A range of one group's elements, of one token. */
typedef struct embed_range {
    const code_group *group;
    int64_t first, count;    /* within the group */
    const double *at, *next; /* this token's coordinates, and the next one's; NULL: none */
    bool again, hold;        /* the code is there from the token before; it is to be there for the next */
    const void *x;           /* NULL: none */
    void *y;
} embed_range;

/* In double: several codes, or float64. */
static void add_in_double(const embed_call *g, const embed_range *r, embed_room *o)
{
    const kernels *k = &g->e->kernels;
    code_fill(o->sum, r->group->joins ? -0.0 : 0, r->count);
    if (r->x)
        row_load(o, k, o->sum, r->x, g->x.dtype, r->count);
    for (int i = 0; i < r->group->parts; i++) {
        make_code(g, r->group->part[i], r->at, r->first, r->count, o->code);
        code_sum(o->sum, o->code, r->count);
    }
    row_store(o, k, r->y, g->y.dtype, o->sum, r->count);
}

/* One code, in float32 or less on both sides. */
static void add_one(const embed_call *g, const embed_range *r, embed_room *o)
{
    const kernels *k = &g->e->kernels;
    const part *p = r->group->part[0];
    bool single = g->y.dtype == PE_F32, odd = !single;
    const float *x = r->x && r->x != r->y && g->x.dtype == PE_F32 ? r->x : r->group->joins ? o->none : o->x;
    float *y = single ? r->y : o->y;
    if (r->x && x == o->x)
        k->widen(o->x, r->x, g->x.dtype, r->count);
    else if (x == o->x)
        row_fill(o->x, 0, r->count);
    bool by_waves = p->waves.count && !r->again && !r->hold;
    if (!by_waves || !waves_add(&o->waves, y, x, odd, r->at, r->next)) {
        if (!r->again)
            make_code(g, p, r->at, r->first, r->count, o->code);
        k->add_code(y, x, o->code, odd, r->count);
    }
    if (!single)
        k->narrow(r->y, g->y.dtype, y, r->count);
}

/* ------------------------------------------------ pieces of the whole */

#define SHARING 16 /* sequences for which it pays to make waves by themselves, once */

/* Token n of all: of one sequence after the other, or of all sequences where they stand at the same places. */
static void find_token(const embed_call *g, int64_t n, token_place *to)
{
    int64_t b = g->shared ? n % g->y.batch : n / g->y.tokens, t = g->shared ? n / g->y.batch : n % g->y.tokens;
    position_real(positions_at(g->where, b), t, to->at);
    to->x = b * g->x.batch_stride + t * g->x.token_stride;
    to->y = b * g->y.batch_stride + t * g->y.token_stride;
}

static bool same_place(const embed_call *g, const token_place *a, const token_place *b)
{
    return !memcmp(a->at, b->at, (size_t)g->where.axes * sizeof *a->at);
}

/* The same elements of tokens first .. end - 1 of a piece. */
static void embed_tokens(const embed_call *g, embed_range r, int64_t first, int64_t end, embed_room *o)
{
    bool one = r.group->parts == 1 && g->y.dtype != PE_F64 && (g->x.dtype != PE_F64 || r.group->joins || !g->x.data);
    bool holds = one && g->shared && (!r.group->part[0]->waves.count || g->y.batch >= SHARING);
    r.hold = false;
    for (const token_place *to = o->token + first; to < o->token + end; to++) {
        const token_place *next = to + 1 < o->token + end ? to + 1 : NULL;
        r.at = to->at;
        r.next = next ? next->at : NULL;
        r.again = r.hold;
        r.hold = holds && next && same_place(g, to, next);
        r.y = element_at(g->y, to->y + r.group->first + r.first);
        r.x = g->x.data && !r.group->joins ? element_at(g->x, to->x + r.first) : NULL;
        if (one)
            add_one(g, &r, o);
        else
            add_in_double(g, &r, o);
    }
}

/* All elements of one group. */
static void embed_group(const embed_call *g, const code_group *group, int64_t first, int64_t end, embed_room *o)
{
    const part *p = group->parts == 1 && group->part[0]->waves.count ? group->part[0] : NULL;
    for (embed_range r = { .group = group }; r.first < group->width; r.first += r.count) {
        int64_t left = group->width - r.first;
        r.count = left < RANGE ? left : RANGE;
        if (p)
            r.count = waves_start(&o->waves, &g->e->kernels, p, r.first, r.count);
        embed_tokens(g, r, first, end, o);
    }
}

/* Row by row, the way memory lies, unless tokens share more than that is worth: waves, or a code. */
static void embed_piece(void *arg, int64_t n, int worker)
{
    const embed_call *g = arg;
    int64_t all = g->y.batch * g->y.tokens, first = n * PIECE, tokens = all - first < PIECE ? all - first : PIECE;
    embed_room room;
    (void)worker;
    row_fill(room.none, -0.0f, RANGE);
    for (int64_t t = 0; t < tokens; t++)
        find_token(g, first + t, &room.token[t]);
    for (int i = 0; i < g->groups; i++) {
        const code_group *group = &g->group[i];
        bool together = g->shared || (group->parts == 1 && group->part[0]->waves.count);
        for (int64_t t = 0, many = together ? tokens : 1; t < tokens; t += many)
            embed_group(g, group, t, t + many, &room);
    }
}

pe_status pe_embed(const pe_encoding *e, pe_view y, pe_view x, pe_positions where, const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    bool bare = !x.data;
    if (bare && !x.batch && !x.tokens && !x.dim)
        x.batch = y.batch, x.tokens = y.tokens, x.dim = e->shape.model_dim;
    if (bare)
        x = (pe_view){ NULL, y.dtype, x.batch, x.tokens, 1, x.dim, 0, 0, 0 };
    if (!bare)
        TRY(check_view(&x, "x", (extent){ -1, -1, 1, -1 }, READS, err));
    TRY(check_widths(e, x.dim, err));
    int64_t width = pe_embed_width(e, x.dim);
    if (width < 0)
        return pe_fail(err, PE_ERR_OVERFLOW, "x: dim is %" PRId64 "; with the codes that join it does not fit 64 bits",
                       x.dim);
    TRY(check_view(&y, "y", (extent){ x.batch, x.tokens, 1, width }, WRITES, err));
    TRY(check_positions_real(&where, "positions", y.batch, y.tokens, e->axes, takes_fractions(e), err));
    TRY(check_params(e, run.params, err));
    CHECK_MEMORY(true, view_region("y", y, WRITES), view_region("x", x, READS), positions_region("positions", where),
                 params_region("params", run.params, READS));
    TRY(check_served(e, where, err));
    embed_call call = { .e = e, .w = run.params, .y = y, .x = x, .where = where };
    call.shared = y.batch > 1 && (!where.data || !where.batch_stride);
    find_groups(&call, x.dim);
    if (y.dim)
        pool_run(run.pool, embed_piece, &call, (y.batch * y.tokens + PIECE - 1) / PIECE);
    return pe_pass(err);
}

/* ------------------------------------------------ gradients */

/* Columns of one job: a parameter's gradient is one column's, so that jobs do not meet, and tokens are added in order.
 */
#define COLUMNS 64

typedef struct embed_back_call {
    embed_call to;  /* y: dy, x: dx, w: dw */
    int64_t pieces; /* of tokens, which copy dy to dx; jobs after them are columns of codes */
} embed_back_call;

static void copy_piece(const embed_call *g, int64_t n, embed_room *o)
{
    const kernels *k = &g->e->kernels;
    int64_t all = g->y.batch * g->y.tokens, end = (n + 1) * PIECE < all ? (n + 1) * PIECE : all;
    for (int64_t t = n * PIECE; t < end; t++) {
        token_place at;
        find_token(g, t, &at);
        for (int64_t c = 0; c < g->x.dim; c += RANGE) {
            int64_t count = g->x.dim - c < RANGE ? g->x.dim - c : RANGE;
            row_load(o, k, o->sum, element_at(g->y, at.y + c), g->y.dtype, count);
            row_store(o, k, element_at(g->x, at.x + c), g->x.dtype, o->sum, count);
        }
    }
}

static void code_columns(const embed_call *g, const code_group *group, int64_t first, int64_t count, embed_room *o)
{
    for (int64_t t = 0; t < g->y.batch * g->y.tokens; t++) {
        token_place at;
        find_token(g, t, &at);
        row_load(o, &g->e->kernels, o->code, element_at(g->y, at.y + group->first + first), g->y.dtype, count);
        for (int i = 0; i < group->parts; i++)
            if (group->part[i]->row->embed_back)
                group->part[i]->row->embed_back(group->part[i], g->w, at.at, first, count, o->code);
    }
}

static int64_t column_jobs(const code_group *group)
{
    bool any = false;
    for (int i = 0; i < group->parts; i++)
        any = any || group->part[i]->row->embed_back;
    return any ? (group->width + COLUMNS - 1) / COLUMNS : 0;
}

static void back_piece(void *arg, int64_t n, int worker)
{
    const embed_back_call *g = arg;
    embed_room room;
    (void)worker;
    row_fill(room.none, -0.0f, RANGE);
    if (n < g->pieces) {
        copy_piece(&g->to, n, &room);
        return;
    }
    n -= g->pieces;
    const code_group *group = g->to.group;
    for (; n >= column_jobs(group); group++)
        n -= column_jobs(group);
    int64_t first = n * COLUMNS, left = group->width - first;
    code_columns(&g->to, group, first, left < COLUMNS ? left : COLUMNS, &room);
}

pe_status pe_embed_back(const pe_encoding *e, pe_params dw, pe_view dx, pe_view dy, pe_positions where,
                        const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(check_view(&dy, "dy", (extent){ -1, -1, 1, -1 }, READS, err));
    int64_t x_dim = dy.dim - pe_embed_width(e, 0);
    TRY(check_widths(e, x_dim, err));
    if (dx.data)
        TRY(check_view(&dx, "dx", (extent){ dy.batch, dy.tokens, 1, x_dim }, WRITES, err));
    TRY(check_positions_real(&where, "positions", dy.batch, dy.tokens, e->axes, takes_fractions(e), err));
    TRY(check_params(e, run.params, err));
    TRY(check_grads(e, dw, err));
    CHECK_MEMORY(true, view_region("dx", dx, WRITES), view_region("dy", dy, READS),
                 positions_region("positions", where), params_region("params", run.params, READS),
                 params_region("dparams", dw, WRITES));
    TRY(check_served(e, where, err));
    embed_back_call call = { .to = { .e = e, .w = dw, .y = dy, .x = dx, .where = where } };
    find_groups(&call.to, x_dim);
    if (!dy.dim || !dy.batch || !dy.tokens)
        return pe_pass(err);
    call.pieces = dx.data && dx.data != dy.data ? (dy.batch * dy.tokens + PIECE - 1) / PIECE : 0;
    int64_t jobs = call.pieces;
    for (int i = 0; i < call.to.groups && dw.data; i++)
        jobs += column_jobs(&call.to.group[i]);
    pool_run(run.pool, back_piece, &call, jobs);
    return pe_pass(err);
}
