/* SPDX-License-Identifier: MIT
 *
 * The rotate hook on a GPU: q and k in one launch of rotate.cu. */
#include "cuda/rotation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda/door.h"
#include "cuda/recipes.h"

_Static_assert(sizeof(rotate_token) % 16 == 0, "cos and sin after the tokens are read by vectors");

/* ---------------------------------------------------------------- a launch */

#define THREADS_USUAL 256
#define THREADS_MOST 1024
#define SHARED_MOST 32768 /* bytes of cos and sin of a block */
#define HEADS_AT_ONCE                                                                                                  \
    8 /* of a token, where tokens are many: each thread then has some heads with the same cos and sin */

static const char *const sources[] = { "rotate.cu", NULL };
static const kernel_source source = { "rotate", sources, true };

static void variant_defines(const rotate_variant *v, char *out, size_t room)
{
    snprintf(out, room,
             "#define X_TYPE %d\n#define Y_TYPE %d\n#define WIDTH %d\n#define X_NEXT %d\n#define Y_NEXT %d\n"
             "#define WORK %d\n#define DECAYS %d\n#define GAINS %d\n#define FRACTIONS %d\n#define MOVES %d\n"
             "#define THREADS %d\n",
             (int)v->x, (int)v->y, v->width, v->x_next, v->y_next, (int)v->work, v->decays, v->gains, v->fractions,
             v->moves, v->threads);
}

/* What most models need: whole vectors, pairs in two rows or side by side. */
bool rotate_recipes(int index, int capability, kernel_recipe *out)
{
    static const struct {
        rotate_work work;
        bool next;
    } kinds[] = {
        { ROTATE_ANGLES, false }, { ROTATE_ANGLES, true }, { ROTATE_TABLES, false }, { ROTATE_SHIFT, false }
    };
    static const pe_dtype types[] = { PE_BF16, PE_F16, PE_F32 };
    int kind = index % 4, type = index / 4;
    (void)capability;
    if (type == 3)
        return false;
    rotate_variant v = { .x = types[type],
                         .y = types[type],
                         .width = types[type] == PE_F32 ? 4 : 8,
                         .x_next = kinds[kind].next,
                         .y_next = kinds[kind].next,
                         .work = kinds[kind].work,
                         .threads = THREADS_USUAL };
    *out = (kernel_recipe){ .source = &source, .registers = 64 };
    variant_defines(&v, out->defines, sizeof out->defines);
    return true;
}

rotate_positions rotate_positions_of(pe_positions p)
{
    return (rotate_positions){ .data = (uintptr_t)p.data,
                               .type = p.dtype,
                               .batch = p.batch > 1 ? p.batch_stride : 0,
                               .token = p.token_stride,
                               .axis = p.axis_stride,
                               .start = p.start,
                               .step = p.step };
}

void rotate_add(rotate_call *c, pe_view y, pe_view x)
{
    int n = c->args.views++;
    c->x[n] = x;
    c->y[n] = y;
    c->as.x = x.dtype;
    c->as.y = y.dtype;
    c->args.view[n] = (rotate_view){ .x = (uintptr_t)x.data,
                                     .y = (uintptr_t)y.data,
                                     .heads = x.heads,
                                     .x_batch = x.batch_stride,
                                     .x_token = x.token_stride,
                                     .x_head = x.head_stride,
                                     .y_batch = y.batch_stride,
                                     .y_token = y.token_stride,
                                     .y_head = y.head_stride };
}

/* Whether vectors of so many elements can be read and written everywhere in this view. */
static bool view_aligned(pe_view v, int64_t width)
{
    int64_t bytes = width * (int64_t)pe_dtype_size(v.dtype);
    return bytes <= 16 && (uintptr_t)v.data % (uintptr_t)bytes == 0 && (v.batch == 1 || v.batch_stride % width == 0) &&
           (v.tokens == 1 || v.token_stride % width == 0) && (v.heads == 1 || v.head_stride % width == 0);
}

static int call_width(const rotate_call *c)
{
    int64_t width = c->data ? c->data->width : 8;
    while (!c->data && c->x[0].dim % width)
        width /= 2;
    for (int n = 0; n < c->args.views; n++)
        while (width > 1 && !(view_aligned(c->x[n], width) && view_aligned(c->y[n], width)))
            width /= 2;
    return (int)width; /* fits: 8 at most */
}

/* Which elements: all rest where there is no rotation. In place without a gain nothing happens to the rest. */
static void call_elements(rotate_call *c)
{
    const struct rotation_data *d = c->data;
    rotate_args *a = &c->args;
    bool in_place = true;
    for (int n = 0; n < a->views; n++)
        in_place = in_place && c->x[n].data == c->y[n].data;
    a->rests = d ? (int32_t)d->rests : (int32_t)c->x[0].dim;
    c->as.width = call_width(c);
    if (!d)
        return;
    if (in_place && !c->as.gains)
        a->rests = 0;
    a->pairs = (int32_t)d->count;
    a->lanes = d->lanes;
    a->rest = d->rest;
    a->pair = d->pair;
    a->gain = d->gain;
    c->as.x_next = d->next[c->as.work >= ROTATE_SHIFT || a->back];
    c->as.y_next = d->next[c->as.work >= ROTATE_SHIFT || !a->back];
}

/* How threads are divided: lanes of a head, heads of a token, tokens of a block. */
static void call_threads(rotate_call *c, int64_t all_tokens)
{
    rotate_args *a = &c->args;
    int64_t units = a->pairs / c->as.width, lanes = units + a->rests / c->as.width, heads = 1;
    int64_t row_bytes = (int64_t)sizeof(float) * 2 * a->sides * a->pairs, tokens;
    c->as.threads = c->as.moves && units > THREADS_USUAL ? THREADS_MOST : THREADS_USUAL;
    lanes = lanes < c->as.threads ? lanes : c->as.threads;
    for (int n = 0; n < a->views; n++)
        heads = c->x[n].heads > heads ? c->x[n].heads : heads;
    int64_t rows = c->as.threads / lanes, at_once = heads < HEADS_AT_ONCE ? heads : HEADS_AT_ONCE;
    tokens = rows / at_once < 1 ? 1 : rows / at_once;
    tokens = tokens < ROTATE_TOKENS ? tokens : ROTATE_TOKENS;
    while (tokens > 1 && (tokens * row_bytes > SHARED_MOST || all_tokens / tokens < 2 * cuda_processors(c->gpu)))
        tokens /= 2;
    a->lane_count = (int32_t)lanes;
    a->block_tokens = (int32_t)tokens;
    a->block_heads = (int32_t)(rows / tokens < heads ? rows / tokens : heads);
}

pe_status rotate_launch(rotate_call *c, void *stream, pe_error *err)
{
    rotate_args *a = &c->args;
    char defines[400];
    kernel k;
    int64_t all = a->batch <= INT32_MAX && a->tokens <= INT32_MAX ? a->batch * a->tokens : INT64_MAX;
    for (int n = 0; n < a->views; n++)
        if (c->x[n].heads > INT32_MAX / 4 || c->x[n].dim > INT32_MAX / 4)
            return pe_fail(err, PE_ERR_SHAPE, "%" PRId64 " heads of %" PRId64 " elements; a GPU takes 2^29 of each",
                           c->x[n].heads, c->x[n].dim);
    if (all > INT32_MAX)
        return pe_fail(err, PE_ERR_OVERFLOW, "%" PRId64 " sequences of %" PRId64 " tokens; a GPU takes 2^31 tokens",
                       a->batch, a->tokens);
    if (!all || !c->x[0].dim)
        return pe_pass(err);
    call_elements(c);
    if (!a->pairs && !a->rests)
        return pe_pass(err);
    call_threads(c, all);
    variant_defines(&c->as, defines, sizeof defines);
    TRY(cuda_kernel(c->gpu, &source, defines, &k, err));
    size_t factors = sizeof(float) * 2 * (size_t)(a->sides * a->block_tokens * a->pairs);
    grid g = { (all + a->block_tokens - 1) / a->block_tokens,
               1,
               1,
               c->as.threads,
               factors + sizeof(rotate_token) * (size_t)a->block_tokens,
               false };
    return cuda_launch(c->gpu, &k, g, stream, a, err);
}

/* ---------------------------------------------------------------- what this library refuses */

pe_status rotate_check_able(const pe_cuda_plan *plan, bool tables, pe_error *err)
{
    const struct rotation_data *d = plan->rotation;
    if (d && d->trained)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.120s: trained frequencies do not rotate on a GPU yet; use pe_rotate on the host",
                       pe_encoding_spec(plan->e));
    if (d && !d->exact && !tables)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.120s: its angles are rounded as in a float32 pipeline, which a GPU takes in tables only; "
                       "use pe_cuda_rotate_qk with tables made by pe_rotate_table",
                       pe_encoding_spec(plan->e));
    return PE_OK;
}

/* The CPU's own check, of the two ends. */
pe_status rotate_check_ends(const pe_cuda_plan *plan, pe_side side, pe_dtype type, pe_positions at, pe_error *err)
{
    const struct rotation_data *d = plan->rotation;
    float c[PE_HEAD_DIM_MAX], s[PE_HEAD_DIM_MAX];
    if (!d || !d->decays || at.data || !at.tokens || !at.batch || side > PE_KEY)
        return PE_OK;
    pe_positions ends = pe_positions_run(1, at.tokens > 1 ? 2 : 1, at.start);
    ends.step = at.step * (at.tokens - 1);
    return pe_rotate_table(plan->e, side, pe_view_of(c, type, 1, ends.tokens, 1, d->count),
                           pe_view_of(s, type, 1, ends.tokens, 1, d->count), ends, NULL, err);
}

/* ---------------------------------------------------------------- one side */

typedef struct rotate_mode {
    bool negate, reciprocal, still; /* still: pairs do not decay */
} rotate_mode;

static const struct rotation_data *rotating(const pe_cuda_plan *plan, pe_side side)
{
    const struct rotation_data *d = plan->rotation;
    return d && (side == PE_VALUE ? d->rotates_value : side == PE_OUTPUT ? d->rotates_output : true) ? d : NULL;
}

static void set_mode(rotate_call *c, rotate_mode mode)
{
    c->args.negate = c->args.back = mode.negate;
    c->args.reciprocal = mode.reciprocal;
}

/* A call with no views yet. */
static rotate_call open_call(const pe_cuda_plan *plan, const struct rotation_data *d, bool tables, pe_positions at)
{
    rotate_call c = { .gpu = plan->gpu, .data = d };
    c.args.at = rotate_positions_of(at);
    c.args.batch = at.batch;
    c.args.tokens = at.tokens;
    c.args.axes = pe_encoding_axes(plan->e);
    c.args.sides = 1;
    c.as.work = !d ? ROTATE_COPY : tables ? ROTATE_TABLES : ROTATE_ANGLES;
    if (d) {
        c.args.magnitude = d->magnitude;
        c.args.centre = (double)d->centre;
        c.as.decays = d->decays && !tables;
        c.as.fractions = !tables && d->shifted && at.data && at.dtype == PE_F64;
    }
    return c;
}

static pe_status check_plan(const pe_cuda_plan *plan, const char *name, pe_error *err)
{
    return plan ? PE_OK : pe_fail(err, PE_ERR_NULL, "%s is NULL", name);
}

static pe_status rotate_side(const pe_cuda_plan *plan, pe_side side, rotate_mode mode, pe_view y, pe_view x,
                             pe_positions at, void *stream, pe_error *err)
{
    TRY(check_plan(plan, "the plan", err));
    TRY(check_side(side, PE_OUTPUT, err));
    const struct rotation_data *d = rotating(plan, side);
    int64_t dim = d ? pe_encoding_shape(plan->e).head_dim : -1;
    TRY(check_vector(&x, "the input", (extent){ -1, -1, -1, dim }, READS, err));
    TRY(check_vector(&y, "the output", (extent){ x.batch, x.tokens, x.heads, x.dim }, WRITES, err));
    TRY(check_positions_outside(&at, "positions", x.batch, x.tokens, pe_encoding_axes(plan->e), err));
    region s[] = { view_region("the output", y, WRITES), view_region("the input", x, READS),
                   positions_region("positions", at) };
    TRY(check_memory(s, 3, true, err));
    if (d)
        TRY(rotate_check_able(plan, false, err));
    if (!x.batch || !x.tokens || !x.heads || !x.dim || (!d && x.data == y.data))
        return pe_pass(err);
    if (!mode.still)
        TRY(rotate_check_ends(plan, side, y.dtype, at, err));
    if (side == PE_OUTPUT) /* the output is rotated back */
        mode = (rotate_mode){ !mode.negate, !mode.reciprocal, mode.still };
    rotate_call c = open_call(plan, d, false, at);
    set_mode(&c, mode);
    rotate_add(&c, y, x);
    c.as.decays = c.as.decays && !mode.still;
    c.as.gains = d && d->gain.count && side == PE_QUERY;
    c.as.moves = d && d->moves && x.data == y.data;
    c.args.keys = side == PE_KEY;
    return rotate_launch(&c, stream, err);
}

pe_status pe_cuda_rotate(const pe_cuda_plan *plan, pe_side side, pe_view y, pe_view x, pe_positions at,
                         const pe_run *run, void *stream, pe_error *err)
{
    (void)run;
    return rotate_side(plan, side, (rotate_mode){ false, false, false }, y, x, at, stream, err);
}

pe_status pe_cuda_unrotate(const pe_cuda_plan *plan, pe_side side, pe_view x, pe_view y, pe_positions at,
                           const pe_run *run, void *stream, pe_error *err)
{
    (void)run;
    return rotate_side(plan, side, (rotate_mode){ true, true, false }, x, y, at, stream, err);
}

pe_status pe_cuda_rotate_back(const pe_cuda_plan *plan, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                              const pe_run *run, void *stream, pe_error *err)
{
    (void)run;
    return rotate_side(plan, side, (rotate_mode){ true, false, false }, dx, dy, at, stream, err);
}

pe_status rotate_still(const pe_cuda_plan *plan, pe_side side, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                       void *stream, pe_error *err)
{
    (void)run;
    return rotate_side(plan, side, (rotate_mode){ false, false, true }, y, x, at, stream, err);
}

pe_status rotate_still_back(const pe_cuda_plan *plan, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                            const pe_run *run, void *stream, pe_error *err)
{
    (void)run;
    return rotate_side(plan, side, (rotate_mode){ true, false, true }, dx, dy, at, stream, err);
}

/* ---------------------------------------------------------------- q and k */

/* Rows of a table that lie in device memory. */
static pe_status check_rows(const qk_side *s, pe_error *err)
{
    if ((uintptr_t)s->table.row % sizeof(int64_t))
        return pe_fail(err, PE_ERR_ALIGN, "%s: row is not aligned to its 8-byte elements", s->table_name);
    if (s->table.row && !s->table.cosine.tokens && s->x.batch && s->x.tokens)
        return pe_fail(err, PE_ERR_SHAPE, "%s: it has no rows; needs those of every token", s->table_name);
    return PE_OK;
}

static pe_status check_one(const pe_cuda_plan *plan, qk_side *s, pe_positions *at, pe_error *err)
{
    const struct rotation_data *d = plan->rotation;
    TRY(qk_check_side(s, d ? pe_encoding_shape(plan->e).head_dim : -1, &types_vector, err));
    if (!s->x.data)
        return PE_OK;
    TRY(check_positions_outside(at, "positions", s->x.batch, s->x.tokens, pe_encoding_axes(plan->e), err));
    TRY(qk_check_table(s, 1, d ? d->count : -1, &types_vector, err));
    TRY(check_rows(s, err));
    TRY(rotate_check_able(plan, s->table.cosine.data != NULL, err));
    return rotate_check_ends(plan, s->side, s->y.dtype, *at, err);
}

static void add_side(rotate_call *c, const qk_side *s)
{
    const struct rotation_data *d = c->data;
    const pe_table *t = &s->table;
    int n = c->args.views;
    rotate_add(c, s->y, s->x);
    c->args.keys |= (s->side == PE_KEY) << n;
    c->args.table[n] = (rotate_table){ .cosine = (uintptr_t)t->cosine.data,
                                       .sine = (uintptr_t)t->sine.data,
                                       .row = (uintptr_t)t->row,
                                       .rows = t->cosine.tokens,
                                       .cosine_batch = t->cosine.batch > 1 ? t->cosine.batch_stride : 0,
                                       .cosine_token = t->cosine.token_stride,
                                       .sine_batch = t->sine.batch > 1 ? t->sine.batch_stride : 0,
                                       .sine_token = t->sine.token_stride };
    c->as.gains = c->as.gains || (d && d->gain.count && s->side == PE_QUERY);
    c->as.moves = c->as.moves || (d && d->moves && s->x.data == s->y.data);
}

static bool has_work(const qk_side *s, const struct rotation_data *d)
{
    return s->x.batch && s->x.tokens && s->x.heads && s->x.dim && (d || s->x.data != s->y.data);
}

/* Whether both fit one launch. */
static bool together(const qk_side *q, const qk_side *k)
{
    return q->x.dtype == k->x.dtype && q->y.dtype == k->y.dtype && q->x.dim == k->x.dim &&
           !q->table.cosine.data == !k->table.cosine.data;
}

static pe_status rotate_both(const pe_cuda_plan *plan, const qk_side *sides, bool one_table, rotate_mode mode,
                             pe_positions at, void *stream, pe_error *err)
{
    const struct rotation_data *d = plan->rotation;
    bool work[2] = { has_work(&sides[0], d), has_work(&sides[1], d) };
    bool both = work[0] && work[1] && together(&sides[0], &sides[1]);
    for (int i = 0; i < 2; i++) {
        if (!work[i] || (both && i))
            continue;
        rotate_call c = open_call(plan, d, sides[i].table.cosine.data != NULL, at);
        set_mode(&c, mode);
        add_side(&c, &sides[i]);
        if (both) {
            add_side(&c, &sides[1]);
            c.args.sides = c.as.work == ROTATE_TABLES ? (one_table ? 1 : 2) : c.as.decays || c.as.gains ? 2 : 1;
        }
        TRY(rotate_launch(&c, stream, err));
    }
    return pe_pass(err);
}

static pe_status rotate_qk(const pe_cuda_plan *plan, const pe_rotation *given, rotate_mode mode, void *stream,
                           pe_error *err)
{
    pe_rotation r;
    TRY(check_plan(plan, "the plan", err));
    TRY(check_struct(&r, sizeof r, given, "the rotation", err));
    const struct rotation_data *d = plan->rotation;
    qk_side sides[2];
    bool one_table, alike = !d || (!d->decays && !d->gain.count);
    TRY(qk_open(sides, &r, alike, pe_encoding_spec(plan->e), &one_table, err));
    TRY(check_one(plan, &sides[0], &r.at, err));
    TRY(check_one(plan, &sides[1], &r.at, err));
    TRY(qk_check_apart(sides, r.at, (region){ 0 }, err));
    return rotate_both(plan, sides, one_table, mode, r.at, stream, err);
}

pe_status pe_cuda_rotate_qk(const pe_cuda_plan *plan, const pe_rotation *r, const pe_run *run, void *stream,
                            pe_error *err)
{
    (void)run;
    return rotate_qk(plan, r, (rotate_mode){ false, false, false }, stream, err);
}

pe_status pe_cuda_rotate_qk_back(const pe_cuda_plan *plan, const pe_rotation *r, const pe_run *run, void *stream,
                                 pe_error *err)
{
    (void)run;
    return rotate_qk(plan, r, (rotate_mode){ true, false, false }, stream, err);
}
