/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 7 s; needs: threads inside
 *
 * Every rung of kernels gives the bits of the scalar one, which test_rotate.c and test_exact.c hold to the header: tables,
 * rotations in every layout and type, q and k in one call, any pool. */
#include "kernels/turn.h"
#include "views.h"

enum { T = 37, H = 3, D = 64, ROW = D + 5 };

/* Besides the examples: odd counts, both ends, blocks, everything that moves. */
static const char *const more[] = {
    "rope:dims=2", "rope:dims=6,pairs=adjacent", "rope:dims=10,pairs=adjacent-half,range=trailing,magnitude=1.5",
    "rope:dims=14,range=trailing", "rope:dims=46,pairs=adjacent,magnitude=0.3", "rope:dims=58",
    "rope:dims=62,pairs=adjacent-half", "rope:dims=0,temperature=0.1,floor=4",
    "rope:dims=24,temperature=0.2,floor=16,range=trailing", "rope:pairs=adjacent,temperature=0.2,floor=16",
    "rope:axes=2,split=blocks,pairs=adjacent", "rope:axes=2,split=blocks,pairs=adjacent-half,dims=48",
    "rope:axes=2,split=blocks,sections=5/18,dims=46", "rope:theta=1e15", "rope:theta=1e15,sign=negative,magnitude=3",
    "rope:scaling=proportional,turning=0.5,sign=negative,magnitude=2",
    "rope:turn=qkvo,pairs=adjacent-half,dims=48,magnitude=0.7",
};

static void each_rotation_and_more(void (*f)(const char *))
{
    each_rotation(f);
    for (int i = 0, mark = taken(); i < COUNT(more); i++, give_back_to(mark))
        f(more[i]);
}

/* The n-th rung above scalar that this CPU has, on an encoding of its own; NULL: no more. */
static pe_encoding *next_rung(const char *spec, pe_shape shape, int *n)
{
    const char *name;
    while ((name = pe_kernels_name(++*n))) {
        pe_encoding *e = encoding_of(spec, shape);
        if (!pe_encoding_set_kernels(e, name, NULL))
            return e;
    }
    return NULL;
}

static pe_encoding *scalar(const char *spec, pe_shape shape)
{
    pe_encoding *e = encoding_of(spec, shape);
    assert_ok(pe_encoding_set_kernels(e, "scalar", &err));
    return e;
}

/* ------------------------------------------------ rotations */

static _Alignas(8) unsigned char memory[3][T * H * ROW * 4 + 64];

/* Everything a type has: common numbers, denormals, zeros of both signs, infinities, the largest. */
static void fill(pe_dtype type, uint64_t *seed)
{
    int64_t size = (int64_t)pe_dtype_size(type);
    for (int64_t n = 0; n < (int64_t)sizeof memory[0] / size; n++) {
        double x = test_uniform(seed) * 8;
        switch (test_random(seed) % 24) {
        case 0: x *= 0x1p-14; break;
        case 1: x *= 0x1p-24; break;
        case 2: x *= 0x1p-130; break;
        case 3: x *= 0x1p-148; break;
        case 4: x *= 0x1p12; break;
        case 5: x *= 0x1p124; break;
        case 6: x = x < 0 ? -0.0 : 0; break;
        case 7: x = n % 50 ? x : x < 0 ? -INFINITY : INFINITY; break;
        case 8: x = n % 70 ? x : NAN; break;
        default: break;
        }
        num_store(memory[0], type, n, x);
    }
    memcpy(memory[1], memory[0], sizeof memory[0]);
    memcpy(memory[2], memory[0], sizeof memory[0]);
}

/* Bits, but a NaN is a NaN; what lies between the elements counts too. */
static void assert_same(pe_dtype type, const char *spec, const char *how)
{
    size_t size = pe_dtype_size(type);
    for (size_t n = 0; n < sizeof memory[0] / size; n++) {
        double a = num_load(memory[1], type, (int64_t)n), b = num_load(memory[2], type, (int64_t)n);
        if (memcmp(memory[1] + n * size, memory[2] + n * size, size) && !(isnan(a) && isnan(b)))
            fail_msg("%s, %s, type %d: element %zu is %.9g; the scalar kernels give %.9g", spec, how, (int)type, n, b,
                     a);
    }
}

/* Token-major and head-major, both with gaps, at an odd offset. */
static pe_view view(void *data, pe_dtype type, int layout)
{
    pe_view v = (pe_view){ (char *)data + pe_dtype_size(type) * 3, type, 1, T, H, D, 0, H * ROW, ROW };
    if (layout) {
        v.token_stride = ROW;
        v.head_stride = T * ROW;
    }
    return v;
}

static void at_positions(int64_t *at, int64_t count, bool near, uint64_t *seed)
{
    int64_t start = near ? test_range(seed, -100, 100) : test_range(seed, -1000000000, 1000000000);
    for (int64_t n = 0; n < count; n++)
        at[n] = test_random(seed) % 8 ? start + n : test_range(seed, -600, 900);
}

static void try_call(const char *spec, const pe_encoding *e, const pe_encoding *c, int call, pe_side side, pe_dtype type,
                     int layout, bool in_place, pe_positions at)
{
    const pe_encoding *both[] = { c, e };
    for (int i = 0; i < 2; i++) {
        pe_view y = view(memory[1 + i], type, layout), x = in_place ? y : view(memory[0], type, layout);
        assert_ok(rotate_calls[call](both[i], side, y, x, at, test_run(both[i]), &err));
    }
    CASE("%s, call %d, side %d, layout %d%s", pe_encoding_kernels(e), call, (int)side, layout,
             in_place ? ", in place" : "");
    assert_same(type, spec, case_text);
}

static void check_rotations(const char *spec)
{
    uint64_t seed = 31;
    int64_t at[T * PE_AXES_MAX];
    const pe_shape shape = { H, H, D, 0 };
    pe_encoding *c = scalar(spec, shape), *e;
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, pe_encoding_axes(c));
    for (int n = 0; (e = next_rung(spec, shape, &n));)
        for (int round = 0; round < 3 * ROTATE_CALLS * 2 * 2 * 2; round++) {
            pe_dtype type = float_types[round % 3];
            int call = round / 3 % 3, layout = round / 9 % 2;
            pe_side side = !strstr(spec, "qkv") || round % 5 < 2 ? (pe_side)(round / 18 % 2) : (pe_side)(2 + round / 18 % 2);
            at_positions(at, T * where.axes, strstr(spec, "xpos") != NULL, &seed);
            fill(type, &seed);
            try_call(spec, e, c, call, side, type, layout, round / 36 % 2, where);
        }
}

TEST(every_rung_rotates_alike)
{
    each_rotation_and_more(check_rotations);
}

/* float16 in and float32 out is float32 throughout; the other way it is rounded once. */
TEST(types_may_differ)
{
    static float wide_in[T * H * D], wide_out[T * H * D], out[T * H * D];
    static uint16_t in[T * H * D], narrow_out[T * H * D];
    uint64_t seed = 34;
    int64_t at[T];
    pe_encoding *e = encoding_of("rope:pairs=adjacent-half,dims=40,temperature=0.3,floor=3", test_shape);
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, 1);
    at_positions(at, T, true, &seed);
    for (int n = 0; n < T * H * D; n++) {
        in[n] = num_to_f16(test_uniform(&seed));
        wide_in[n] = (float)num_from_f16(in[n]);
    }
    pe_view x16 = pe_view_of(in, PE_F16, 1, T, H, D), x32 = pe_view_of(wide_in, PE_F32, 1, T, H, D);
    assert_ok(pe_rotate(e, PE_QUERY, pe_view_of(wide_out, PE_F32, 1, T, H, D), x32, where, NULL, &err));
    assert_ok(pe_rotate(e, PE_QUERY, pe_view_of(out, PE_F32, 1, T, H, D), x16, where, NULL, &err));
    assert_memory_equal(out, wide_out, sizeof out);
    assert_ok(pe_rotate(e, PE_QUERY, pe_view_of(narrow_out, PE_BF16, 1, T, H, D), x32, where, NULL, &err));
    for (int n = 0; n < T * H * D; n++)
        assert_int_equal(narrow_out[n], num_to_bf16(wide_out[n]));
}

/* ------------------------------------------------ tables */

enum { N = 200 };

static void try_table(const char *spec, const pe_encoding *e, const pe_encoding *c, pe_side side, pe_positions at)
{
    static float value[2][2][N * 32];
    int64_t P = pe_encoding_pair_count(c);
    const pe_encoding *both[] = { c, e };
    for (int i = 0; i < 2; i++)
        assert_ok(test_table(both[i], side, pe_view_of(value[i][0], PE_F32, 1, at.tokens, 1, P), pe_view_of(value[i][1], PE_F32, 1, at.tokens, 1, P), at, &err));
    for (int k = 0; k < 2; k++)
        for (int64_t n = 0; n < at.tokens * P; n++)
            if (memcmp(&value[0][k][n], &value[1][k][n], 4))
                fail_msg("%s, %s: %s of pair %d at %" PRId64 " is %.9g; the scalar kernels give %.9g", spec,
                         pe_encoding_kernels(e), k ? "sine" : "cosine", (int)(n % P), ((const int64_t *)at.data)[n / P * at.token_stride],
                         (double)value[1][k][n], (double)value[0][k][n]);
}

/* The definition, which no kernel has a part in: turn_cos_sin by the row's own hook, one position at a time. */
static void check_tables(const char *spec)
{
    static const int64_t start[] = { 0, -70, 100000, 1000000, 1000000000, PE_POSITION_MAX - N, -PE_POSITION_MAX };
    uint64_t seed = 32;
    static int64_t at[N * PE_AXES_MAX];
    pe_encoding *c = scalar(spec, test_shape), *e;
    int64_t axes = pe_encoding_axes(c), most = strstr(spec, "xpos") ? 600 : PE_POSITION_MAX;
    pe_positions where = pe_positions_of(at, PE_I64, 1, N, axes);
    for (int n = 0; (e = next_rung(spec, test_shape, &n));)
        for (int round = 0; round < COUNT(start) + 8; round++) {
            int64_t from = round < COUNT(start) ? start[round] : 0;
            if (llabs(from) > most)
                continue;
            for (int64_t t = 0; t < N; t++)
                for (int64_t a = 0; a < axes; a++)
                    at[t * axes + a] = round < COUNT(start)       ? from + t
                                       : round < COUNT(start) + 4 ? test_range(&seed, -most, most)
                                                                  : test_range(&seed, -most, most) >> test_range(&seed, 0, 40);
            try_table(spec, e, c, (pe_side)(round % 2), where);
        }
}

TEST(every_rung_makes_the_same_tables)
{
    each_rotation_and_more(check_tables);
}

/* The product of two angles never shows: what pe_rotate_table makes of many positions is what turn_cos_sin makes of
 * each, over millions of values. The scalar kernels go through the same product, so truth is made here. */
static void check_truth(const char *spec, int64_t start, int64_t count, rotate_call *back, double power)
{
    static float value[2][N * 32], x[N * D], y[N * D];
    static int64_t at[N];
    pe_encoding *e = encoding_of(spec, test_shape);
    pe_pair pairs[32];
    int64_t P = pe_encoding_pair_count(e);
    double m = pe_encoding_magnitude(e), size = power < 0 ? 1 / m : m;
    assert_ok(pe_encoding_pairs(e, pairs, P, &err));
    for (int64_t from = start; from < start + count; from += N) {
        for (int64_t t = 0; t < N; t++)
            at[t] = from + t;
        pe_positions where = pe_positions_of(at, PE_I64, 1, N, 1);
        if (!back)
            assert_ok(pe_rotate_table(e, PE_KEY, pe_view_of(value[0], PE_F32, 1, N, 1, P), pe_view_of(value[1], PE_F32, 1, N, 1, P), where, NULL, &err));
        else { /* (1, 0) rotated back is (cos, -sin) */
            for (int64_t n = 0; n < N * D; n++)
                x[n] = n % D < P;
            assert_ok(back(e, PE_KEY, pe_view_of(y, PE_F32, 1, N, 1, D), pe_view_of(x, PE_F32, 1, N, 1, D), where, NULL, &err));
            for (int64_t n = 0; n < N * P; n++) {
                value[0][n] = y[n / P * D + n % P];
                value[1][n] = -y[n / P * D + P + n % P];
            }
        }
        for (int64_t n = 0; n < N * P; n++) {
            double c, s;
            const pe_pair *p = &pairs[n % P];
            turn_cos_sin((double)at[n / P], (wide){ { p->turns[0], p->turns[1], p->turns[2] } }, &c, &s);
            float cosine = (float)(power < 0 ? c / m : c * size), sine = (float)(power < 0 ? s / m : s * size);
            if (value[0][n] != cosine || value[1][n] != sine)
                fail_msg("%s: pair %d at %" PRId64 " is (%.9g, %.9g); needs (%.9g, %.9g)", spec, (int)(n % P), at[n / P],
                         (double)value[0][n], (double)value[1][n], (double)cosine, (double)sine);
        }
    }
}

TEST(a_table_is_made_of_single_turns)
{
    check_truth("rope", 0, 60000, NULL, 1);
    check_truth("rope:theta=500000", -3000, 60000, NULL, 1);
    check_truth("rope:theta=1e15,magnitude=1.1", 5, 3000, NULL, 1);
    check_truth("rope:magnitude=1.2345", 1000000000, 30000, NULL, 1);
    check_truth("rope:magnitude=1.2345", PE_POSITION_MAX - 20000, 20000, NULL, 1);
    check_truth("rope:magnitude=1.2345,dims=60", 0, 3000, NULL, 1);
    check_truth("rope:magnitude=0.71", -100, 20000, pe_rotate_back, 1);
    check_truth("rope:magnitude=0.71", -100, 20000, pe_unrotate, -1);
    check_truth("rope:scaling=proportional,turning=0.25,magnitude=3", -500, 5000, NULL, 1);
}

/* ------------------------------------------------ q and k in one call */

enum { Q = 1000, KV = 2, LONG = 600 }; /* more tokens than one job has */

typedef struct pair_of_views {
    pe_view q, k;
} pair_of_views;

static pair_of_views views(void *q, void *k, pe_dtype type, int64_t tokens, bool by_head)
{
    pair_of_views v = { { q, type, 1, tokens, H, D, 0, H * ROW, ROW }, { k, type, 1, tokens, KV, D, 0, KV * ROW, ROW } };
    if (by_head) {
        v.q.token_stride = v.k.token_stride = ROW;
        v.q.head_stride = v.k.head_stride = tokens * ROW;
    }
    return v;
}

static void fill_all(void *data, pe_dtype type, int64_t count, uint64_t *seed)
{
    for (int64_t n = 0; n < count; n++)
        num_store(data, type, n, 4 * test_uniform(seed));
}

#define SPACE (LONG * H * ROW * 8)
static _Alignas(64) unsigned char block[6][SPACE];
static _Alignas(64) unsigned char table_space[4][Q * 32 * 8];

/* Tables of Q positions, and which row each token has: a cache by position. */
static pe_table cached(const pe_encoding *e, pe_side side, pe_dtype type, const int64_t *row)
{
    static int64_t at[Q * PE_AXES_MAX];
    int64_t P = pe_encoding_pair_count(e), axes = pe_encoding_axes(e);
    pe_table t = { pe_view_of(table_space[2 * side], type, 1, Q, 1, P),
                   pe_view_of(table_space[2 * side + 1], type, 1, Q, 1, P), row };
    for (int64_t n = 0; n < Q * axes; n++)
        at[n] = n / axes;
    assert_ok(test_table(e, side, t.cosine, t.sine, pe_positions_of(at, PE_I64, 1, Q, axes), &err));
    return t;
}

/* Jobs backwards, each by another worker: nothing may depend on the order. */
static void run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    *(int64_t *)self += count;
    for (int64_t n = count - 1; n >= 0; n--)
        job(arg, n, (int)(n % 3));
}

static void try_both(const char *spec, const pe_encoding *e, pe_dtype type, int way, const pe_pool *pool, uint64_t *seed)
{
    static int64_t at[LONG * PE_AXES_MAX], row[LONG];
    int64_t axes = pe_encoding_axes(e), tokens = way % 2 ? LONG : 7;
    bool tables = way & 2, in_place = way & 4, by_head = way & 8, alike = !strstr(spec, "xpos") && !strstr(spec, "temp");
    for (int64_t t = 0; t < tokens; t++) {
        row[t] = t % 5 ? t : test_range(seed, 0, Q - 1);
        for (int64_t a = 0; a < axes; a++)
            at[t * axes + a] = row[t];
    }
    fill_all(block[0], type, LONG * H * ROW, seed);
    fill_all(block[1], type, LONG * H * ROW, seed);
    pair_of_views in = views(block[0], block[1], type, tokens, by_head);
    pair_of_views want = views(block[2], block[3], type, tokens, by_head);
    pair_of_views out = views(block[4], block[5], type, tokens, by_head);
    for (int i = 2; i < 6; i++)
        memcpy(block[i], block[i % 2], SPACE);
    pe_positions where = pe_positions_of(at, PE_I64, 1, tokens, axes);
    assert_ok(pe_rotate(e, PE_QUERY, want.q, in.q, where, test_run(e), &err));
    assert_ok(pe_rotate(e, PE_KEY, want.k, in.k, where, test_run(e), &err));
    pe_rotation r = { .size = sizeof(pe_rotation), .q = in_place ? out.q : in.q, .k = in_place ? out.k : in.k, .at = where };
    if (!in_place) {
        r.q_out = out.q;
        r.k_out = out.k;
    }
    if (tables) {
        pe_dtype in_table = type == PE_F64 ? PE_F64 : PE_F32;
        r.q_table = cached(e, PE_QUERY, in_table, row);
        if (!alike || way & 16)
            r.k_table = cached(e, PE_KEY, in_table, row);
    }
    assert_ok(pe_rotate_qk(e, &r, &PE_MAKE(pe_run, .pool = pool, .params = test_run(e)->params), &err));
    size_t bytes = LONG * H * ROW * pe_dtype_size(type);
    if (memcmp(block[2], block[4], bytes) || memcmp(block[3], block[5], bytes))
        fail_msg("%s, type %d, way %d: q and k together differ from each alone", spec, (int)type, way);
}

static const char *const turned_together[] = {
    "rope", "rope:pairs=adjacent-half,dims=48", "rope:temperature=0.1,floor=16,dims=40,range=trailing", "xpos:centre=300",
    "rope:sections=12/10/10,split=interleaved", "rope:precision=hf", "rope:dims=0", "rope:learned=shared", "none",
};

TEST(q_and_k_together_are_each_alone)
{
    uint64_t seed = 33;
    int64_t jobs = 0;
    pe_pool backwards = { &jobs, 3, run_backwards };
    const pe_pool *const pools[] = { NULL, pool_of(3), &backwards };
    for (int i = 0; i < COUNT(turned_together); i++) {
        pe_encoding *e = encoding_of(turned_together[i], (pe_shape){ H, 1, D, 0 });
        for (int way = 0; way < 32; way++)
            if (!(way & 2) || pe_encoding_pair_count(e))
                try_both(turned_together[i], e, float_types[way % 3 + (way == 6 || way == 9)], way,
                         pools[(way + i) % 3], &seed);
    }
    assert_true(jobs > 0);
}

/* Jobs of some microseconds, so that many threads find work where there is little. */
TEST(a_small_rotation_is_work_for_several)
{
    enum { HEADS_32 = 32, WIDTH = 128, MOST = 512 };
    static float x[MOST * HEADS_32 * WIDTH];
    static const struct {
        int64_t tokens, least, most;
    } cases[] = { { 16, 0, 0 }, { 64, 2, 4 }, { 512, 16, 32 } };
    pe_encoding *e = encoding_of("rope", (pe_shape){ HEADS_32, HEADS_32, WIDTH, 0 });
    for (int i = 0; i < COUNT(cases); i++) {
        int64_t jobs = 0, n = cases[i].tokens;
        pe_view v = pe_view_of(x, PE_F32, 1, n, HEADS_32, WIDTH);
        assert_ok(pe_rotate(e, PE_QUERY, v, v, pe_positions_run(1, n, 0), &PE_MAKE(pe_run, .pool = &(pe_pool){ &jobs, 16, run_backwards }), &err));
        assert_true(jobs >= cases[i].least && jobs <= cases[i].most);
    }
}

TEST(any_pool_makes_the_same_table)
{
    static float value[4][LONG * 32];
    static int64_t at[LONG];
    int64_t jobs = 0;
    pe_pool backwards = { &jobs, 3, run_backwards };
    pe_encoding *e = encoding_of("rope", test_shape);
    for (int t = 0; t < LONG; t++)
        at[t] = t - 50;
    for (int i = 0; i < 2; i++)
        assert_ok(pe_rotate_table(e, PE_KEY, pe_view_of(value[2 * i], PE_F32, 1, LONG, 1, 32), pe_view_of(value[2 * i + 1], PE_F32, 1, LONG, 1, 32), pe_positions_of(at, PE_I64, 1, LONG, 1), &PE_MAKE(pe_run, .pool = i ? &backwards : NULL), &err));
    assert_memory_equal(value[0], value[2], sizeof value[0]);
    assert_memory_equal(value[1], value[3], sizeof value[0]);
    assert_true(jobs > 1);
}

/* A NaN of any bits, in a table or a vector, is not rounded to a number. */
TEST(a_nan_stays_a_nan)
{
    static float c[32], s[32];
    static uint16_t x[H * D], y[H * D];
    int64_t at = 0;
    for (int pairs = 0; pairs < 3; pairs++)
        for (int round = 0; round < 12; round++) {
            static const char *const spec[] = { "rope", "rope:pairs=adjacent", "rope:pairs=adjacent-half,dims=44" };
            static const uint32_t nan[] = { 0xffffffff, 0x7fffffff, 0x7f800001, 0x7fc00000, 0xffff8000, 0x7fc0ffff };
            pe_dtype type = round % 2 ? PE_BF16 : PE_F16;
            pe_encoding *e;
            for (int n = -1; (e = next_rung(spec[pairs], test_shape, &n));) {
                int64_t P = pe_encoding_pair_count(e);
                for (int i = 0; i < 32; i++) {
                    memcpy(&c[i], &nan[round / 2], 4);
                    s[i] = 0.5f;
                }
                for (int i = 0; i < H * D; i++)
                    x[i] = type == PE_BF16 ? num_to_bf16(i + 1) : num_to_f16(i + 1);
                pe_rotation r = { .size = sizeof(pe_rotation), .q = pe_view_of(x, type, 1, 1, H, D), .q_out = pe_view_of(y, type, 1, 1, H, D),
                                  .at = pe_positions_of(&at, PE_I64, 1, 1, 1),
                                  .q_table = { pe_view_of(c, PE_F32, 1, 1, 1, P), pe_view_of(s, PE_F32, 1, 1, 1, P), NULL } };
                assert_ok(pe_rotate_qk(e, &r, NULL, &err));
                for (int i = 0; i < H * D; i++)
                    if (i % D < 2 * P && !isnan(num_load(y, type, i)))
                        fail_msg("%s, %s: element %d of type %d is %g; needs NaN", spec[pairs], pe_encoding_kernels(e), i,
                                 (int)type, num_load(y, type, i));
            }
        }
}

/* What a zeroed table means, and what it cannot. */
TEST(tables_are_checked)
{
    float x[2 * D] = { 0 }, c[3 * 32] = { 0 }, s[3 * 32] = { 0 };
    int64_t at[2] = { 0, 1 }, row[2] = { 0, 2 };
    pe_encoding *rope = encoding_of("rope", test_shape), *xpos = encoding_of("xpos", test_shape),
                *none = encoding_of("none", test_shape);
    pe_rotation r = { .size = sizeof(pe_rotation), .q = pe_view_of(x, PE_F32, 1, 1, 1, D), .k = pe_view_of(x + D, PE_F32, 1, 1, 1, D),
                      .at = pe_positions_of(at, PE_I64, 1, 1, 1) };
    assert_ok(pe_rotate_qk(rope, &r, NULL, &err));
    r.q_table = (pe_table){ pe_view_of(c, PE_F32, 1, 1, 1, 32), pe_view_of(s, PE_F32, 1, 1, 1, 32), NULL };
    assert_ok(pe_rotate_qk(rope, &r, NULL, &err));
    assert_int_equal(pe_rotate_qk(xpos, &r, NULL, &err), PE_ERR_UNSUITED);
    assert_int_equal(pe_rotate_qk(none, &r, NULL, &err), PE_ERR_UNSUITED);
    r.q_table.cosine.tokens = r.q_table.sine.tokens = 3;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_SHAPE);
    r.q_table.row = row;
    assert_ok(pe_rotate_qk(rope, &r, NULL, &err));
    row[0] = 3;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_RANGE);
    row[0] = -1;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_RANGE);
    row[0] = 2;
    r.q_table.sine.data = NULL;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_NULL);
    r.q_table = (pe_table){ .row = NULL };
    r.q_out = r.k;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_ALIAS);
    r.q_out = (pe_view){ 0 };
    r.k.data = x;
    assert_int_equal(pe_rotate_qk(rope, &r, NULL, &err), PE_ERR_ALIAS);
    r.k = (pe_view){ 0 };
    assert_ok(pe_rotate_qk(rope, &r, NULL, &err));
    r.q = (pe_view){ 0 };
    assert_ok(pe_rotate_qk(rope, &r, NULL, &err));
}

TEST(the_kernels_that_there_are_are_listed)
{
    static const char *const wrong[] = { NULL, "mmx" };
    pe_encoding *e = encoding_of("rope", test_shape);
    for (int i = 0; i < COUNT(wrong); i++) {
        forget_error();
        assert_int_not_equal(pe_encoding_set_kernels(e, wrong[i], &err), PE_OK);
        for (int n = 0; pe_kernels_name(n); n++)
            assert_non_null(strstr(err.text, pe_kernels_name(n)));
    }
}
