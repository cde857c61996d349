/* SPDX-License-Identifier: MIT
 *
 * Rotation on a device has the bits of the CPU: the cases of test_cuda_rotate (on a GPU) and of
 * test_cuda_rotate_emulated (its kernel as C++). The CPU works on the arena of the host, the device on its own, and
 * every byte of both must be the same afterwards, those outside the views too. Where the device has an exp of its own,
 * encodings that decay are compared up to rounding. */
#ifndef TESTS_GPU_ROTATE_CASE_H
#define TESTS_GPU_ROTATE_CASE_H

#include "base/num.h"
#include "cuda/rotation.h"
#include "test.h"
#include "gpu/memory.h"

static uint64_t seed = 16;

/* ------------------------------------------------ the arena */

/* Random bytes, also around it: a NaN that is rotated by mistake would keep its bits. */
static void *arena_room(int64_t bytes, int64_t past)
{
    unsigned char *p = arena_take(past + bytes, 1);
    for (unsigned char *at = p; at < (unsigned char *)arena.host + arena.used; at++)
        *at = (unsigned char)test_random(&seed);
    return p + past;
}

static pe_view view_there(pe_view v)
{
    v.data = arena_there(v.data);
    return v;
}

static pe_positions positions_there(pe_positions p)
{
    p.data = arena_there(p.data);
    return p;
}

/* How a view lies: the order of (batch, token, head) from the nearest, elements left free between rows, elements that
 * the first is past an aligned place, and which of the three go backwards or repeat. */
typedef struct lie {
    int order[3];
    int64_t gap, past;
    unsigned backwards, repeats;
} lie;

static const lie plain = { { 2, 1, 0 }, 0, 0, 0, 0 };

static void view_fill(pe_view v)
{
    for (int64_t b = 0; b < v.batch; b++)
        for (int64_t t = 0; t < v.tokens; t++)
            for (int64_t h = 0; h < v.heads; h++)
                for (int64_t d = 0; d < v.dim; d++)
                    num_store(v.data, v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride + d,
                              test_random(&seed) % 8 ? 4 * test_uniform(&seed) : -0.0);
}

static pe_view view_take(pe_dtype type, const lie *l, int64_t batch, int64_t tokens, int64_t heads, int64_t dim)
{
    int64_t count[3] = { batch, tokens, heads }, stride[3], line = dim + l->gap, first = 0;
    int64_t size = (int64_t)pe_dtype_size(type);
    for (int i = 0; i < 3; i++) {
        stride[l->order[i]] = line;
        line *= count[l->order[i]];
    }
    pe_view v = { arena_room(line * size, l->past * size), type, batch, tokens, heads, dim, 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        stride[i] = l->repeats >> i & 1 ? 0 : stride[i];
        first += l->backwards >> i & 1 ? (count[i] - 1) * stride[i] : 0;
        stride[i] = l->backwards >> i & 1 ? -stride[i] : stride[i];
    }
    v.data = (char *)v.data + first * size;
    v.batch_stride = stride[0];
    v.token_stride = stride[1];
    v.head_stride = stride[2];
    view_fill(v);
    return v;
}

typedef enum where { RUN, WHOLE64, WHOLE32, REAL, FRACTION, BATCH_ONLY, WHERES } where;

static pe_positions positions_take(where how, int64_t batch, int64_t tokens, int64_t axes, int64_t most)
{
    static const pe_dtype types[WHERES] = { PE_I64, PE_I64, PE_I32, PE_F64, PE_F64, PE_I64 };
    pe_positions p = pe_positions_run(batch, tokens, most / 3);
    p.step = how == RUN ? -3 : how == BATCH_ONLY ? 1 : 0;
    if (how == RUN)
        return p;
    int64_t count = batch * (tokens + 1) * axes, limit = how == WHOLE32 && most > INT32_MAX ? INT32_MAX : most;
    p.dtype = types[how];
    p.start = how == BATCH_ONLY ? -5 : how == REAL ? 3 : 0;
    p.data = arena_room(count * (p.dtype == PE_I32 ? 4 : 8), 0);
    p.axes = axes;
    p.batch_stride = (tokens + 1) * axes;
    p.token_stride = how == BATCH_ONLY ? 0 : 1;
    p.axis_stride = how == BATCH_ONLY ? 1 : tokens;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = test_range(&seed, -limit + 9, limit - 9);
        void *to = (char *)(uintptr_t)p.data + i * (p.dtype == PE_I32 ? 4 : 8);
        if (p.dtype == PE_I64)
            memcpy(to, &at, 8);
        else if (p.dtype == PE_I32)
            memcpy(to, &(int32_t){ (int32_t)at }, 4);
        else
            memcpy(to, &(double){ (double)at + (how == FRACTION ? 0.5 * test_uniform(&seed) : 0) }, 8);
    }
    return p;
}

/* ------------------------------------------------ comparing */

static bool decays; /* what is compared */

static void arena_send(void)
{
    device_write(arena.device, arena.host, arena.used);
}

static double arena_number(const char *from, size_t byte, pe_dtype type)
{
    return num_load(from, type, (int64_t)(byte / pe_dtype_size(type)));
}

static bool close_enough(double a, double b, pe_dtype type)
{
    return fabs(a - b) <= (type == PE_F32 ? 0x1p-20 : 0x1p-6) * (fabs(a) > 1 ? fabs(a) : 1);
}

static void arena_compare(const char *what, pe_dtype type)
{
    device_read(arena.after, arena.device, arena.used);
    if (!memcmp(arena.host, arena.after, arena.used))
        return;
    for (size_t i = 0; i < arena.used; i++) {
        double a = arena_number(arena.host, i, type), b = arena_number(arena.after, i, type);
        if (arena.host[i] != arena.after[i] && !(decays && !emulated && close_enough(a, b, type)))
            fail_msg("%s: byte %zu of the arena is %02x on the CPU and %02x on the device (numbers: %g, %g)", what, i,
                     (unsigned char)arena.host[i], (unsigned char)arena.after[i], a, b);
    }
}

static pe_cuda_plan *plan_of(const pe_encoding *e)
{
    pe_cuda_plan *plan;
    case_ready();
    assert_ok(pe_cuda_plan_new(&plan, gpu, e, 64, 64, &err));
    return plan;
}

typedef enum turn { FORWARD, UNDO, BACK, TURNS } turn;

typedef struct rotation_case {
    turn how;
    pe_side side;
    pe_dtype from, to;
    lie x, y;
    bool in_place;
    where at;
    int64_t most, batch, tokens, heads;
} rotation_case;

/* Positions as far as this encoding and type go. */
static int64_t farthest(const pe_encoding *e, int64_t wanted)
{
    int64_t n = pe_encoding_pair_count(e);
    pe_pair *pairs = take(n, sizeof *pairs);
    assert_ok(pe_encoding_pairs(e, pairs, n, &err));
    decays = n && pairs[0].decay != 0;
    return decays && wanted > 300 ? 300 : wanted;
}

static void same_rotation(const pe_encoding *e, const pe_cuda_plan *plan, const rotation_case *c)
{
    int64_t dim = pe_encoding_shape(e).head_dim;
    char what[400];
    arena_reset();
    pe_positions at = positions_take(c->at, c->batch, c->tokens, pe_encoding_axes(e), farthest(e, c->most));
    pe_view x = view_take(c->from, &c->x, c->batch, c->tokens, c->heads, dim);
    pe_view y = c->in_place ? x : view_take(c->to, &c->y, c->batch, c->tokens, c->heads, dim);
    static pe_status (*const on_cpu[TURNS])(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions,
                                            const pe_run *, pe_error *) = { pe_rotate, pe_unrotate, pe_rotate_back };
    static pe_status (*const there[TURNS])(const pe_cuda_plan *, pe_side, pe_view, pe_view, pe_positions,
                                           const pe_run *, void *,
                                           pe_error *) = { pe_cuda_rotate, pe_cuda_unrotate, pe_cuda_rotate_back };
    snprintf(what, sizeof what, "%.200s D %d: turn %d side %d types %d %d in place %d at %d", pe_encoding_spec(e),
             (int)dim, c->how, c->side, c->from, c->to, c->in_place, c->at);
    arena_send();
    assert_ok(on_cpu[c->how](e, c->side, y, x, at, NULL, &err));
    assert_ok(there[c->how](plan, c->side, view_there(y), view_there(x), positions_there(at), NULL, NULL, &err));
    arena_compare(what, c->to);
}

static const char *const more[] = {
    "rope:pairs=adjacent,dims=16",
    "rope:pairs=adjacent-half,dims=48",
    "rope:dims=0,temperature=0.1,floor=16",
    "rope:dims=30,temperature=0.3,floor=3,shift=1",
    "rope:dims=32,range=trailing,pairs=adjacent,temperature=0.2,floor=1,shift=1",
    "rope:theta=100,axes=2,split=axial,coords=normalised,extent=15/8",
    "rope:theta=100,axes=2,split=axial,coords=normalised,extent=1/7,pairs=adjacent-half",
    "rope:scaling=proportional,turning=0.25,coords=normalised,extent=9",
    "rope:turn=qkvo,pairs=adjacent-half,magnitude=3",
    "rope:turn=qkvo,temperature=0.5,floor=8",
    "alibi+rope:dims=20",
};

/* Angles that a device does not make. */
static bool refused(const pe_encoding *e, const char *spec)
{
    return strstr(spec, "precision=") || test_rotates_by_params(e);
}

static void turn_every_way(const char *spec)
{
    pe_encoding *e = encoding_of(spec, (pe_shape){ .heads = 8, .kv_heads = 4, .head_dim = 64 });
    if (!(pe_encoding_hooks(e) & PE_HOOK_ROTATE) || refused(e, spec))
        return;
    pe_cuda_plan *plan = plan_of(e);
    bool gains = pe_encoding_gain(e, PE_QUERY, PE_POSITION_MAX) != 1;
    for (int n = 0; n < 3 * 3 * 2 * 4; n++) {
        rotation_case c = { .how = (turn)(n % 3),
                            .from = (pe_dtype)(n / 3 % 3),
                            .to = (pe_dtype)(n / 3 % 3),
                            .in_place = n / 9 % 2,
                            .side = (pe_side)(n / 18),
                            .x = plain,
                            .y = plain,
                            .at = (where)(n % WHERES),
                            .most = n % 5 == 0   ? 100
                                    : n % 5 == 1 ? PE_POSITION_MAX
                                                 : 1 << 20,
                            .batch = 1 + n % 2,
                            .tokens = 1 + n % 7,
                            .heads = 1 + n % 9 };
        if (gains && c.at == FRACTION)
            c.at = REAL;
        if (gains && c.most > 40000)
            c.most = 40000; /* within the steps that a device has from the CPU */
        same_rotation(e, plan, &c);
    }
    pe_cuda_plan_free(plan);
}

TEST(rotation_has_the_bits_of_the_cpu_for_every_example)
{
    each_spec(turn_every_way, more, COUNT(more));
}

static const char *const angles[] = { "rope", "rope:theta=500000,axes=2,split=axial",
                                      "rope:theta=100,axes=2,split=axial,coords=normalised,extent=15/8" };

/* Near and far, whole and not. */
static double angle_position(int n)
{
    double x = (n % 3 == 0 ? (double)PE_POSITION_MAX : n % 3 == 1 ? 1000 : 4) * test_uniform(&seed);
    return n % 2 ? x : rint(x);
}

typedef void angle_function(const rotate_pair *pair, double at, double *out);

/* cos and sin of a pair as the kernel makes them, before they are sized and rounded. */
static angle_function *angle_of(const char *spec)
{
    void **address = dlsym(gpu->driver.library, "emulated_angle");
    angle_function *angle = NULL;
    turn_every_way(spec); /* loads it */
    assert_true(address && *address);
    memcpy(&angle, address, sizeof angle);
    return angle;
}

/* In float32 a fault below 2^-24 would rarely be seen. */
TEST(angles_have_the_bits_of_the_cpu_in_float64)
{
    case_ready();
    if (!emulated)
        test_skip("a GPU does not tell its angles in float64");
    for (int i = 0; i < COUNT(angles); i++) {
        pe_encoding *e = encoding_of(angles[i], (pe_shape){ .heads = 1, .head_dim = 64 });
        angle_function *angle = angle_of(angles[i]);
        pe_cuda_plan *plan = plan_of(e);
        const rotate_pair *pairs = (const void *)(uintptr_t)plan->rotation->pair;
        double at[2], c[32], s[32], there[2];
        for (int n = 0; n < 4000; n++) {
            for (int axis = 0; axis < 2; axis++)
                at[axis] = angle_position(n);
            assert_ok(pe_rotate_table(e, PE_KEY, pe_view_of(c, PE_F64, 1, 1, 1, 32), pe_view_of(s, PE_F64, 1, 1, 1, 32),
                                      pe_positions_of(at, PE_F64, 1, 1, pe_encoding_axes(e)), NULL, &err));
            for (int p = 0; p < 32; p++) {
                angle(&pairs[p], at[pairs[p].axis], there);
                if (memcmp(&there[0], &c[p], 8) || memcmp(&there[1], &s[p], 8))
                    fail_msg("%s: pair %d at %.17g %.17g: %a %a, on the CPU %a %a", angles[i], p, at[0], at[1],
                             there[0], there[1], c[p], s[p]);
            }
        }
        pe_cuda_plan_free(plan);
    }
}

/* (1, 0) becomes cos and sin. */
TEST(angles_have_the_bits_of_the_cpu_at_many_positions)
{
    enum { MANY = 4000 };
    for (int i = 0; i < COUNT(angles); i++) {
        pe_encoding *e = encoding_of(angles[i], (pe_shape){ .heads = 1, .head_dim = 64 });
        pe_cuda_plan *plan = plan_of(e);
        arena_reset();
        double *at = arena_room(MANY * 2 * 8, 0);
        for (int n = 0; n < MANY * 2; n++)
            at[n] = angle_position(n / 2);
        pe_view v = view_take(PE_F32, &plain, 1, MANY, 1, 64);
        for (int n = 0; n < MANY * 64; n++)
            ((float *)v.data)[n] = n % 64 < 32;
        pe_positions p = pe_positions_of(at, PE_F64, 1, MANY, pe_encoding_axes(e));
        arena_send();
        assert_ok(pe_rotate(e, PE_KEY, v, v, p, NULL, &err));
        assert_ok(pe_cuda_rotate(plan, PE_KEY, view_there(v), view_there(v), positions_there(p), NULL, NULL, &err));
        arena_compare(angles[i], PE_F32);
        pe_cuda_plan_free(plan);
    }
}

static const char *const layouts[] = { "rope",
                                       "rope:pairs=adjacent",
                                       "rope:pairs=adjacent-half",
                                       "rope:dims=4",
                                       "rope:dims=6,range=trailing,pairs=adjacent-half",
                                       "rope:axes=2,split=blocks",
                                       "rope:dims=8,temperature=0.1,floor=4" };
static const int64_t widths[] = { 8, 12, 24, 72, 80, 96, 128, 256, 1536, 2048 };

TEST(every_width_and_layout_rotates)
{
    for (int s = 0; s < COUNT(layouts); s++)
        for (int w = 0; w < COUNT(widths); w++) {
            int mark = taken();
            pe_encoding *e = encoding_of(layouts[s], (pe_shape){ .heads = 4, .head_dim = widths[w] });
            pe_cuda_plan *plan = plan_of(e);
            for (int n = 0; n < 12; n++) {
                rotation_case c = { .how = (turn)(n % 3),
                                    .from = (pe_dtype)(n / 3 % 3),
                                    .to = (pe_dtype)(n / 3 % 3),
                                    .in_place = (n + s) % 2,
                                    .x = { { 2, 1, 0 }, 0, n % 4 ? 0 : 1, 0, 0 },
                                    .y = plain,
                                    .at = WHOLE64,
                                    .most = 5000,
                                    .batch = 2,
                                    .tokens = widths[w] < 200 ? 9 : 2,
                                    .heads = widths[w] < 200 ? 11 : 2 };
                same_rotation(e, plan, &c);
            }
            pe_cuda_plan_free(plan);
            give_back_to(mark);
        }
}

TEST(views_may_lie_in_any_order_and_types_may_differ)
{
    static const lie lies[] = { { { 2, 1, 0 }, 0, 0, 0, 0 }, { { 1, 2, 0 }, 8, 0, 0, 0 }, { { 0, 1, 2 }, 4, 2, 0, 0 },
                                { { 1, 0, 2 }, 1, 3, 0, 0 }, { { 2, 0, 1 }, 0, 4, 0, 0 }, { { 2, 1, 0 }, 4, 0, 0, 0 },
                                { { 1, 2, 0 }, 2, 0, 0, 0 }, { { 2, 1, 0 }, 1, 0, 0, 0 } };
    for (int s = 0; s < COUNT(layouts); s++) {
        int mark = taken();
        pe_encoding *e = encoding_of(layouts[s], (pe_shape){ .heads = 4, .head_dim = 64 });
        pe_cuda_plan *plan = plan_of(e);
        for (int n = 0; n < 180; n++) {
            rotation_case c = { .how = (turn)(n % 3),
                                .from = (pe_dtype)(n / 3 % 3),
                                .to = (pe_dtype)(n / 9 % 3),
                                .x = lies[n % COUNT(lies)],
                                .y = lies[n / 7 % COUNT(lies)],
                                .at = (where)(n % 4),
                                .most = 30000,
                                .batch = 2,
                                .tokens = 5,
                                .heads = 3 };
            c.in_place = c.from == c.to && n % 2;
            if (!c.in_place) {
                c.x.backwards = (unsigned)n / 5 % 8;
                c.x.repeats = (unsigned)n / 11 % 8;
            }
            same_rotation(e, plan, &c);
        }
        pe_cuda_plan_free(plan);
        give_back_to(mark);
    }
}

TEST(an_encoding_that_does_not_rotate_copies)
{
    pe_encoding *e = encoding_of("alibi", (pe_shape){ .heads = 4, .head_dim = 20 });
    pe_cuda_plan *plan = plan_of(e);
    for (int n = 0; n < 9; n++) {
        arena_reset();
        pe_positions at = pe_positions_run(2, 3, 0);
        pe_view x = view_take((pe_dtype)(n % 3), &plain, 2, 3, 4, 1 + 7 * n),
                y = view_take((pe_dtype)(n / 3), &plain, 2, 3, 4, 1 + 7 * n);
        arena_send();
        assert_ok(pe_rotate(e, PE_VALUE, y, x, at, NULL, &err));
        assert_ok(pe_cuda_rotate(plan, PE_VALUE, view_there(y), view_there(x), at, NULL, NULL, &err));
        arena_compare("copy", y.dtype);
    }
    pe_cuda_plan_free(plan);
}

/* ------------------------------------------------ q and k */

static pe_table table_there(pe_table t)
{
    return (pe_table){ view_there(t.cosine), view_there(t.sine), arena_there(t.row) };
}

static pe_table table_take(const pe_encoding *e, pe_side side, pe_positions at, int64_t batch, bool rows)
{
    int64_t tokens = at.tokens, count = rows ? 13 : tokens;
    pe_table t = { .cosine =
                       view_take(PE_F32, &(lie){ { 2, 1, 0 }, 3, 0, 0, 0 }, batch, count, 1, pe_encoding_pair_count(e)),
                   .sine = view_take(PE_F32, &plain, batch, count, 1, pe_encoding_pair_count(e)) };
    pe_positions first = rows ? pe_positions_run(batch, 13, 5) : at;
    first.batch = batch;
    assert_ok(pe_rotate_table(e, side, t.cosine, t.sine, first, NULL, &err));
    if (rows) {
        int64_t *row = arena_room(at.batch * tokens * 8, 0);
        for (int64_t i = 0; i < at.batch * tokens; i++)
            row[i] = test_range(&seed, 0, 12);
        t.row = row;
    }
    return t;
}

static pe_rotation rotation_there(pe_rotation r)
{
    r.q = view_there(r.q);
    r.k = view_there(r.k);
    r.q_out = view_there(r.q_out);
    r.k_out = view_there(r.k_out);
    r.at = positions_there(r.at);
    r.q_table = table_there(r.q_table);
    r.k_table = table_there(r.k_table);
    return r;
}

/* So far, where that is known. */
static int launches(void)
{
    const int *count = dlsym(gpu->driver.library, "emulated_launches");
    return count ? *count : 0;
}

/* tables: 0 none, 1 of q for both, 2 of each, 3 of each with rows. */
static void same_qk(const pe_encoding *e, const pe_cuda_plan *plan, int n, int tables)
{
    int64_t dim = pe_encoding_shape(e).head_dim, batch = 1 + n % 3, tokens = 1 + n % 5;
    pe_dtype type = (pe_dtype)(n % 3);
    bool in_place = n / 3 % 2, back_too = n / 6 % 2;
    if (n % 11 == 10 && decays && !emulated) /* two types, which arena_compare does not tell apart */
        return;
    arena_reset();
    pe_positions at =
        positions_take(tables == 0 ? (where)(n % 4) : WHOLE64, batch, tokens, pe_encoding_axes(e), farthest(e, 20000));
    pe_rotation r = PE_MAKE(pe_rotation, .at = at);
    if (n % 7 != 6)
        r.q = view_take(type, &plain, batch, tokens, 8, dim);
    if (n % 7 != 5)
        r.k = view_take(n % 11 == 10 ? PE_F32 : type, &plain, batch, tokens, 2, dim);
    if (!in_place && r.q.data)
        r.q_out = view_take(type, &plain, batch, tokens, 8, dim);
    if (!in_place && r.k.data)
        r.k_out = view_take(type, &plain, batch, tokens, 2, dim);
    if (tables && r.q.data)
        r.q_table = table_take(e, PE_QUERY, at, n % 2 ? batch : tables == 3 ? 1 : batch, tables == 3);
    if (tables >= 2 && r.k.data)
        r.k_table = table_take(e, PE_KEY, at, batch, tables == 3);
    else if (tables == 1 && !r.q.data)
        r.k_table = table_take(e, PE_KEY, at, batch, false);
    arena_send();
    int before = launches();
    if (!back_too || tables) {
        assert_ok(pe_rotate_qk(e, &r, NULL, &err));
        pe_rotation there = rotation_there(r);
        assert_ok(pe_cuda_rotate_qk(plan, &there, NULL, NULL, &err));
    } else {
        pe_view q_out = r.q_out.data ? r.q_out : r.q, k_out = r.k_out.data ? r.k_out : r.k;
        if (r.q.data)
            assert_ok(pe_rotate_back(e, PE_QUERY, q_out, r.q, at, NULL, &err));
        if (r.k.data)
            assert_ok(pe_rotate_back(e, PE_KEY, k_out, r.k, at, NULL, &err));
        pe_rotation there = rotation_there(r);
        assert_ok(pe_cuda_rotate_qk_back(plan, &there, NULL, NULL, &err));
    }
    char what[300];
    snprintf(what, sizeof what, "%.200s: qk %d, tables %d", pe_encoding_spec(e), n, tables);
    arena_compare(what, type);
    if (emulated && n % 11 != 10)
        assert_int_equal(launches() - before, 1);
}

static void rotate_both(const char *spec)
{
    pe_encoding *e = encoding_of(spec, (pe_shape){ .heads = 8, .kv_heads = 2, .head_dim = 64 });
    if (!(pe_encoding_hooks(e) & PE_HOOK_ROTATE) || test_rotates_by_params(e))
        return;
    pe_cuda_plan *plan = plan_of(e);
    bool alike = pe_encoding_gain(e, PE_QUERY, PE_POSITION_MAX) == 1;
    farthest(e, 0);
    for (int n = 0; n < 22; n++) {
        if (!refused(e, spec))
            same_qk(e, plan, n, 0);
        if (alike && !decays)
            same_qk(e, plan, n, 1);
        same_qk(e, plan, n, 2);
        if (pe_encoding_axes(e) == 1)
            same_qk(e, plan, n, 3);
    }
    pe_cuda_plan_free(plan);
}

TEST(q_and_k_rotate_in_one_launch_with_tables_or_none)
{
    each_spec(rotate_both, more, COUNT(more));
}

TEST(q_and_k_of_one_fused_block_rotate_in_place)
{
    pe_encoding *e = encoding_of("rope:pairs=adjacent-half", (pe_shape){ .heads = 8, .kv_heads = 2, .head_dim = 64 });
    pe_cuda_plan *plan = plan_of(e);
    decays = false;
    for (pe_dtype type = PE_F32; type <= PE_BF16; type++) {
        arena_reset();
        pe_view all = view_take(type, &plain, 2, 21, 12, 64), q = all, k = all;
        q.heads = 8;
        k.heads = 2;
        k.data = (char *)all.data + (size_t)(8 * 64) * pe_dtype_size(type);
        pe_rotation r = PE_MAKE(pe_rotation, .q = q, .k = k, .at = pe_positions_run(2, 21, 9));
        arena_send();
        assert_ok(pe_rotate_qk(e, &r, NULL, &err));
        pe_rotation there = rotation_there(r);
        assert_ok(pe_cuda_rotate_qk(plan, &there, NULL, NULL, &err));
        arena_compare("a fused block", type);
    }
    pe_cuda_plan_free(plan);
}

/* ------------------------------------------------ caches */

static pe_pages pages_take(int64_t batch, int64_t columns, int64_t pool)
{
    int32_t *table = arena_room(batch * columns * 4, 0);
    for (int64_t i = 0; i < batch * columns; i++)
        table[i] = (int32_t)(pool - 1 - i); /* each page once */
    return (pe_pages){ table, columns };
}

static void same_shift(const pe_encoding *e, const pe_cuda_plan *plan, int n)
{
    int64_t dim = pe_encoding_shape(e).head_dim, tokens = 11, axes = pe_encoding_axes(e), most = farthest(e, 100000);
    pe_dtype type = (pe_dtype)(n % 3);
    bool paged = n / 3 % 2;
    arena_reset();
    pe_positions from = positions_take((where)(n % 4), 2, tokens, axes, most);
    pe_positions to = n % 5 == 4 ? from : positions_take((where)(n / 2 % 4), 2, tokens, axes, most);
    if (n % 5 == 3 && to.data && to.dtype == PE_I64 && from.data && from.dtype == PE_I64) /* some tokens stay */
        for (int64_t i = 0; i < 2 * (tokens + 1) * axes; i += 1 + i % 2)
            ((int64_t *)(uintptr_t)to.data)[i] = ((const int64_t *)from.data)[i];
    pe_view k = paged ? view_take(type, &plain, 9, 4, 3, dim) : view_take(type, &plain, 2, tokens, 3, dim);
    pe_pages pages = pages_take(2, 3, 9), there = { arena_there(pages.table), pages.columns };
    arena_send();
    assert_ok(pe_cache_shift(e, k, paged ? &pages : NULL, from, to, NULL, &err));
    assert_ok(pe_cuda_cache_shift(plan, view_there(k), paged ? &there : NULL, positions_there(from),
                                  positions_there(to), NULL, NULL, &err));
    char what[300];
    snprintf(what, sizeof what, "%.200s: shift %d", pe_encoding_spec(e), n);
    arena_compare(what, type);
}

static void shift_cache(const char *spec)
{
    pe_encoding *e = encoding_of(spec, (pe_shape){ .heads = 8, .kv_heads = 4, .head_dim = 64 });
    if (!(pe_encoding_hooks(e) & PE_HOOK_ROTATE) || refused(e, spec))
        return;
    pe_cuda_plan *plan = plan_of(e);
    for (int n = 0; n < 30; n++)
        same_shift(e, plan, n);
    pe_cuda_plan_free(plan);
}

TEST(a_cache_shifts_with_the_bits_of_the_cpu)
{
    each_spec(shift_cache, more, COUNT(more));
}

TEST(a_cache_rebases_with_the_bits_of_the_cpu)
{
    static const char *const both[][2] = {
        { "rope:theta=500000", "rope" },
        { "rope:scaling=yarn,factor=4,trained=2048", "rope" },
        { "rope", "rope:scaling=linear,factor=4" },
        { "rope:scaling=proportional,turning=0.25", "rope" },
        { "rope:pairs=adjacent-half,theta=100", "rope:pairs=adjacent-half" },
        { "rope:axes=2,split=axial", "rope:axes=2,split=axial,theta=100" },
        { "rope:axes=2,split=axial,coords=normalised,extent=14/14", "rope:axes=2,split=axial" },
        { "rope:axes=2,split=axial,coords=normalised,extent=14/9",
          "rope:axes=2,split=axial,coords=normalised,extent=14/14" },
        { "rope:axes=2,split=axial,coords=normalised,extent=14/14,theta=50",
          "rope:axes=2,split=axial,coords=normalised,extent=14/14" },
        { "rope:scaling=proportional,turning=0.25,coords=normalised,extent=9", "rope:coords=normalised,extent=9" },
        { "rope:theta=10000", "rope" },
        { "xpos:pairs=half", "rope" },
        { "rope", "xpos:pairs=half,centre=40" },
        { "xpos:base=300,centre=3", "xpos" },
    };
    for (int i = 0; i < COUNT(both); i++) {
        pe_encoding *to = encoding_of(both[i][0], (pe_shape){ .heads = 4, .head_dim = 64 });
        pe_encoding *from = encoding_of(both[i][1], (pe_shape){ .heads = 4, .head_dim = 64 });
        pe_cuda_plan *to_plan = plan_of(to), *from_plan = plan_of(from);
        for (int n = 0; n < 12; n++) {
            arena_reset();
            int64_t most = farthest(from, farthest(to, 100000));
            decays = decays || strstr(both[i][0], "xpos");
            pe_positions at = positions_take((where)(n % 4), 2, 7, pe_encoding_axes(to), most);
            pe_view k = n / 3 % 2 ? view_take((pe_dtype)(n % 3), &plain, 7, 3, 5, 64)
                                  : view_take((pe_dtype)(n % 3), &(lie){ { 1, 2, 0 }, 0, 0, 0, 0 }, 2, 7, 5, 64);
            pe_pages pages = pages_take(2, 3, 7), there = { arena_there(pages.table), pages.columns };
            arena_send();
            assert_ok(pe_cache_rebase(to, from, k, n / 3 % 2 ? &pages : NULL, at, NULL, &err));
            assert_ok(pe_cuda_cache_rebase(to_plan, from_plan, view_there(k), n / 3 % 2 ? &there : NULL,
                                           positions_there(at), NULL, NULL, &err));
            arena_compare(both[i][0], k.dtype);
        }
        pe_cuda_plan_free(to_plan);
        pe_cuda_plan_free(from_plan);
    }
}

TEST(pages_and_rows_that_do_not_exist_lead_nowhere)
{
    pe_encoding *e = encoding_of("rope", (pe_shape){ .heads = 4, .head_dim = 64 });
    pe_cuda_plan *plan = plan_of(e);
    arena_reset();
    pe_view k = view_take(PE_F32, &plain, 2, 4, 3, 64);
    int32_t *table = arena_room(8, 0);
    table[0] = 2;
    table[1] = -1;
    pe_pages there = { arena_there(table), 2 };
    arena_send();
    assert_ok(pe_cuda_cache_shift(plan, view_there(k), &there, pe_positions_run(1, 8, 0), pe_positions_run(1, 8, 5),
                                  NULL, NULL, &err));
    arena_compare("pages outside the pool", PE_F32);
    pe_cuda_plan_free(plan);
}

/* ------------------------------------------------ refusals */

TEST(wrong_arguments_are_refused_as_on_the_cpu)
{
    pe_encoding *e = encoding_of("rope", (pe_shape){ .heads = 4, .head_dim = 64 });
    pe_cuda_plan *plan = plan_of(e);
    pe_positions at = pe_positions_run(2, 3, 0);
    arena_reset();
    pe_view x = view_there(view_take(PE_F16, &plain, 2, 3, 4, 64)),
            y = view_there(view_take(PE_F16, &plain, 2, 3, 4, 64)), w;
#define REFUSED(status, words, change)                                                                                 \
    (w = y, change, assert_refused(pe_cuda_rotate(plan, PE_QUERY, w, x, at, NULL, NULL, &err), status, words))
    REFUSED(PE_ERR_NULL, "the output: data is NULL", w.data = NULL);
    REFUSED(PE_ERR_DTYPE, "needs PE_F32, PE_F16 or PE_BF16", w.dtype = PE_F64);
    REFUSED(PE_ERR_SHAPE, "the output: heads is 3; needs 4", w.heads = 3);
    REFUSED(PE_ERR_RANGE, "what is written needs 0 or more", w.token_stride = -256);
    REFUSED(PE_ERR_ALIAS, "a stride of 0 repeats", w.head_stride = 0);
    REFUSED(PE_ERR_ALIAS, "a stride of 0 repeats", w.batch_stride = 128);
    REFUSED(PE_ERR_ALIGN, "2-byte elements", w.data = (char *)w.data + 1);
    REFUSED(PE_ERR_ALIAS, "overlap", w.data = (char *)x.data + 128);
    REFUSED(PE_ERR_OVERFLOW, "more than memory can hold", w.batch_stride = INT64_MAX / 2);
    w = y;
    at.axes = 2;
    assert_refused(pe_cuda_rotate(plan, PE_QUERY, w, x, at, NULL, NULL, &err), PE_ERR_SHAPE, "axes is 2");
    at = pe_positions_run(2, 3, PE_POSITION_MAX);
    assert_refused(pe_cuda_rotate(plan, PE_QUERY, w, x, at, NULL, NULL, &err), PE_ERR_POSITION, "needs -2^36 to 2^36");
    at = pe_positions_run(2, 3, 0);
    assert_refused(pe_cuda_rotate(plan, (pe_side)4, w, x, at, NULL, NULL, &err), PE_ERR_RANGE, "side is 4");
    assert_refused(pe_cuda_rotate(NULL, PE_QUERY, w, x, at, NULL, NULL, &err), PE_ERR_NULL, "the plan is NULL");
    w.dtype = PE_Q8_0;
    assert_refused(pe_cuda_cache_shift(plan, w, NULL, at, at, NULL, NULL, &err), PE_ERR_DTYPE, "quantised");
    pe_rotation r = PE_MAKE(pe_rotation, .q = x, .k = x, .at = at);
    assert_refused(pe_cuda_rotate_qk(plan, &r, NULL, NULL, &err), PE_ERR_ALIAS, "q_out and k_out overlap");
    pe_cuda_plan_free(plan);
}

TEST(what_a_device_cannot_rotate_is_refused_with_a_way_out)
{
    static const struct {
        const char *spec, *words;
    } cases[] = { { "rope:precision=hf", "tables made by pe_rotate_table" },
                  { "rope:precision=ggml", "tables made by pe_rotate_table" },
                  { "rope:learned=heads", "trained frequencies" },
                  { "rope:learned=shared", "trained frequencies" },
                  { "fope", "trained frequencies" } };
    for (int i = 0; i < COUNT(cases); i++) {
        pe_encoding *e = encoding_of(cases[i].spec, (pe_shape){ .heads = 4, .head_dim = 64 });
        pe_cuda_plan *plan = plan_of(e);
        arena_reset();
        pe_view x = view_there(view_take(PE_F16, &plain, 2, 3, 4, 64));
        pe_positions at = pe_positions_run(2, 3, 0);
        assert_refused(pe_cuda_rotate(plan, PE_KEY, x, x, at, NULL, NULL, &err), PE_ERR_UNSUITED, cases[i].words);
        assert_refused(pe_cuda_cache_shift(plan, x, NULL, at, at, NULL, NULL, &err), PE_ERR_UNSUITED, cases[i].words);
        pe_cuda_plan_free(plan);
    }
    pe_encoding *e = encoding_of("xpos", (pe_shape){ .heads = 4, .head_dim = 64 });
    pe_cuda_plan *plan = plan_of(e);
    pe_view x = view_there(view_take(PE_F16, &plain, 2, 3, 4, 64));
    assert_refused(pe_cuda_rotate(plan, PE_KEY, x, x, pe_positions_run(2, 3, 100000), NULL, NULL, &err),
                   PE_ERR_POSITION, "too far from centre");
    pe_cuda_plan_free(plan);
}

/* ------------------------------------------------ large memory */

/* Rows of a view spread over 10 GiB, by batch, token or head; what lies behind each keeps its bits. Of many heads a
 * thread has more than one. */
TEST(offsets_go_past_2_to_32_elements)
{
    static const int64_t counts[3][3] = { { 2, 1, 1 }, { 1, 2, 1 }, { 1, 1, 40 } };
    const int64_t far = INT64_C(5) << 30;
    pe_encoding *e = encoding_of("rope", (pe_shape){ .heads = 2, .head_dim = 128 });
    case_ready();
    device_pointer big = device_take((size_t)(far + 4096) * 2);
    if (!big)
        test_skip("no 10 GiB of device memory");
    pe_cuda_plan *plan = plan_of(e);
    for (int which = 0; which < 3; which++) {
        int64_t count = counts[which][which], stride = far / (count - 1) / 8 * 8;
        uint16_t row[40][256], there[256];
        for (int64_t i = 0; i < count; i++) {
            for (int d = 0; d < 256; d++)
                row[i][d] = (uint16_t)(0x3c00 + test_random(&seed) % 1024);
            device_write(big + (uint64_t)(2 * i * stride), row[i], sizeof row[i]);
            pe_view one = pe_view_of(row[i], PE_BF16, 1, 1, 1, 128);
            assert_ok(pe_rotate(e, PE_KEY, one, one, pe_positions_run(1, 1, 77 + (which == 1 ? i : 0)), NULL, &err));
        }
        pe_view v = { (void *)(uintptr_t)big,
                      PE_BF16,
                      counts[which][0],
                      counts[which][1],
                      counts[which][2],
                      128,
                      stride,
                      stride,
                      stride };
        assert_ok(pe_cuda_rotate(plan, PE_KEY, v, v, pe_positions_run(v.batch, v.tokens, 77), NULL, NULL, &err));
        for (int64_t i = 0; i < count; i++) {
            device_read(there, big + (uint64_t)(2 * i * stride), sizeof there);
            assert_memory_equal(there, row[i], sizeof there);
        }
    }
    pe_cuda_plan_free(plan);
    cuda_release(gpu, big);
}

#endif
