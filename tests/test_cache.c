/* labels: core; needs: threads */
/* SPDX-License-Identifier: MIT
 *
 * Caches: keys that are turned on equal keys turned afresh. Truth is pe_rotate, which test_rotate.c and
 * test_exact.c prove. Errors are counted in u, half an ulp of 1 in the type that stores, times the length of the pair: a
 * bare ulp bound would not hold where x*c and y*s cancel. */
#include "common.h"
#include "base/num.h" /* conversions of 16-bit numbers, which test_numbers.c proves */

#define T 7 /* tokens */
#define H 4
#define D 64
#define BYTES (T * H * D * 8)
#define PAIRS_MAX 64

static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
static const double unit[] = { [PE_F32] = 0x1p-24, [PE_F16] = 0x1p-11, [PE_BF16] = 0x1p-8, [PE_F64] = 0x1p-53 };
static _Alignas(8) unsigned char space[8][BYTES];

static pe_view view(int s, pe_dtype type)
{
    return (pe_view){ space[s], type, 1, T, H, D, 0, H * D, D };
}

static void fill(pe_view v, uint64_t *seed)
{
    for (int64_t n = 0; n < v.tokens * v.heads * v.dim; n++)
        num_store(v.data, v.dtype, n, test_uniform(seed) * 4);
}

static double get(pe_view v, int64_t t, int64_t h, int64_t d)
{
    return num_load(v.data, v.dtype, t * v.token_stride + h * v.head_stride + d);
}

/* Calls f with every example that rotates. */
static void each_rotation(void (*f)(const pe_info *, const char *))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i), pe_info_at(i)->examples[k]);
}

/* Positions within 200 of 100, where xpos's keys stay normal numbers of every type. */
static pe_positions near_positions(const pe_encoding *e, int64_t *at, uint64_t *seed)
{
    int64_t axes = pe_encoding_axes(e);
    for (int64_t n = 0; n < T * axes; n++)
        at[n] = test_range(seed, -100, 300);
    return pe_positions_of(at, PE_I64, 1, T, axes);
}

/* No element is further from what it should be than so many u times the length of its pair; the rest has its bits. */
static void assert_close(const pe_encoding *e, pe_view got, pe_view want, double bound, const char *what)
{
    pe_pair pair[PAIRS_MAX];
    pe_error err = { 0 };
    int64_t P = pe_encoding_pair_count(e);
    assert_ok(pe_encoding_pairs(e, pair, P, &err));
    for (int64_t row = 0; row < got.tokens * got.heads; row++) {
        bool turns[D] = { false };
        int64_t t = row / got.heads, h = row % got.heads;
        for (int64_t n = 0; n < P; n++) {
            int64_t x = pair[n].x_out, y = pair[n].y_out;
            double most = bound * unit[got.dtype] * hypot(get(want, t, h, x), get(want, t, h, y));
            turns[x] = turns[y] = true;
            if (!(fabs(get(got, t, h, x) - get(want, t, h, x)) <= most && fabs(get(got, t, h, y) - get(want, t, h, y)) <= most))
                fail_msg("%s, type %d: token %d, head %d, pair %d is %.17g %.17g; needs %.17g %.17g within %g u", what, (int)got.dtype,
                         (int)t, (int)h, (int)n, get(got, t, h, x), get(got, t, h, y), get(want, t, h, x), get(want, t, h, y), bound);
        }
        for (int64_t d = 0; d < got.dim; d++)
            if (!turns[d] && get(got, t, h, d) != get(want, t, h, d))
                fail_msg("%s: element %d does not turn and was changed", what, (int)d);
    }
}

/* A turn in float32 errs by a rounding each of the table, of the products and of their sum, at most 3 u of the pair's
 * length per element, 3 sqrt 2 as a vector; the cache went through two turns and the fresh keys through one: 10.3 u. A
 * 16-bit type rounds the float32 result, which is good: 1 u each. float64 tables are within 4 u, differences of two such
 * within 10 u, and xpos's exponents of up to 4 within 8 u more. */
static const double afresh[] = { [PE_F32] = 11, [PE_F16] = 3.01, [PE_BF16] = 3.01, [PE_F64] = 60 };

/* ------------------------------------------------ shift */

static void check_shift(const pe_info *row, const char *spec)
{
    (void)row;
    uint64_t seed = 1;
    pe_error err = { 0 };
    int64_t at[2][T * PE_AXES_MAX];
    pe_encoding *e = test_encoding(spec, test_shape);
    for (int k = 0; k < COUNT(types); k++) {
        pe_view raw = view(0, types[k]), cache = view(1, types[k]), want = view(2, types[k]);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        memcpy(&at[1][2 * to.axes], &at[0][2 * to.axes], (size_t)to.axes * 8); /* token 2 stays */
        fill(raw, &seed);
        assert_ok(pe_rotate(e, PE_KEY, cache, raw, from, test_run(e), &err));
        assert_ok(pe_rotate(e, PE_KEY, want, raw, to, test_run(e), &err));
        memcpy(space[3], space[1], BYTES);
        assert_ok(pe_cache_shift(e, cache, NULL, from, to, test_run(e), &err));
        assert_close(e, cache, want, afresh[types[k]], spec);
        size_t stays = 2 * H * D * pe_dtype_size(types[k]);
        assert_memory_equal(space[1] + stays, space[3] + stays, stays / 2);
        assert_memory_not_equal(space[1], space[3], stays);
    }
    pe_encoding_free(e);
}

static void a_shift_equals_turning_afresh(void **state)
{
    (void)state;
    each_rotation(check_shift);
}

static void shifts_across_all_positions_are_as_good(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:pairs=adjacent-half,dims=48,range=trailing,magnitude=1.5",
                                         "rope:axes=2,split=axial,coords=normalised,extent=14/15,theta=100",
                                         "rope:sections=8/12/12", "rope:precision=hf" };
    static const int64_t ends[] = { -PE_POSITION_MAX, PE_POSITION_MAX, -PE_POSITION_MAX + 1, 0, 1000000007, -1, PE_POSITION_MAX - 3 };
    uint64_t seed = 2;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (int k = 0; k < COUNT(types); k++) {
            int64_t at[2][T * PE_AXES_MAX], axes;
            pe_encoding *e = test_encoding(specs[n], test_shape);
            axes = pe_encoding_axes(e);
            for (int64_t i = 0; i < T * axes; i++) {
                at[0][i] = ends[i % COUNT(ends)];
                at[1][i] = ends[(i + 1 + i / COUNT(ends)) % COUNT(ends)];
            }
            pe_positions from = pe_positions_of(at[0], PE_I64, 1, T, axes), to = pe_positions_of(at[1], PE_I64, 1, T, axes);
            pe_view raw = view(0, types[k]), cache = view(1, types[k]), want = view(2, types[k]);
            fill(raw, &seed);
            assert_ok(pe_rotate(e, PE_KEY, cache, raw, from, NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, want, raw, to, NULL, &err));
            assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
            assert_close(e, cache, want, afresh[types[k]], specs[n]);
            assert_ok(pe_cache_shift(e, cache, NULL, to, from, NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, want, raw, from, NULL, &err));
            assert_close(e, cache, want, afresh[types[k]] * 5 / 3, "back again"); /* one turn more */
            pe_encoding_free(e);
        }
}

static void values_that_turn_are_shifted_as_keys(void **state)
{
    (void)state;
    uint64_t seed = 18;
    pe_error err = { 0 };
    int64_t at[2][T];
    pe_encoding *e = test_encoding("rope:turn=qkv,magnitude=0.8,temperature=0.1,floor=64", test_shape);
    pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
    pe_view raw = view(0, PE_F32), cache = view(1, PE_F32), want = view(2, PE_F32);
    fill(raw, &seed);
    assert_ok(pe_rotate(e, PE_VALUE, cache, raw, from, NULL, &err));
    assert_ok(pe_rotate(e, PE_VALUE, want, raw, to, NULL, &err));
    assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
    assert_close(e, cache, want, afresh[PE_F32], "values");
    pe_encoding_free(e);
}

/* Of three axes the second moves: its section's pairs turn, the others' elements keep their bits. */
static void an_axis_that_stays_keeps_its_bits(void **state)
{
    (void)state;
    uint64_t seed = 3;
    pe_error err = { 0 };
    pe_pair pair[32];
    int64_t from[T * 3], to[T * 3], changed[3] = { 0 };
    pe_encoding *e = test_encoding("rope:sections=8/12/12", test_shape);
    assert_ok(pe_encoding_pairs(e, pair, 32, &err));
    for (int i = 0; i < T * 3; i++)
        from[i] = to[i] = test_range(&seed, 0, 100);
    for (int t = 0; t < T; t++)
        to[3 * t + 1] += t + 1;
    pe_view k = view(0, PE_F32), before = view(1, PE_F32);
    fill(k, &seed);
    memcpy(space[1], space[0], BYTES);
    assert_ok(pe_cache_shift(e, k, NULL, pe_positions_of(from, PE_I64, 1, T, 3), pe_positions_of(to, PE_I64, 1, T, 3), NULL, &err));
    for (int64_t row = 0; row < T * H; row++)
        for (int64_t n = 0; n < 32; n++)
            changed[pair[n].axis] += get(k, row / H, row % H, pair[n].x_out) != get(before, row / H, row % H, pair[n].x_out);
    assert_int_equal(changed[0], 0);
    assert_int_equal(changed[2], 0);
    assert_true(changed[1] > T * H * 12 * 9 / 10);
    pe_encoding_free(e);
}

/* float16 bits that are no number would not survive a conversion: what does not turn is not even read. */
static void elements_that_do_not_turn_keep_their_bits(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t first, last; /* what turns */
    } cases[] = { { "rope:dims=32", 0, 32 }, { "rope:dims=24,range=trailing,pairs=adjacent,magnitude=3", 40, 64 },
                  { "rope:dims=0", 0, 0 } };
    pe_error err = { 0 };
    uint64_t seed = 4;
    for (int n = 0; n < COUNT(cases); n++)
        for (int k = 0; k < COUNT(types); k++) {
            size_t size = pe_dtype_size(types[k]);
            int64_t at[2][T];
            pe_encoding *e = test_encoding(cases[n].spec, test_shape);
            pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
            memset(space[0], 0xff, BYTES);
            for (int64_t row = 0; row < T * H; row++)
                for (int64_t d = cases[n].first; d < cases[n].last; d++)
                    num_store(space[0], types[k], row * D + d, test_uniform(&seed));
            assert_ok(pe_cache_shift(e, view(0, types[k]), NULL, from, to, NULL, &err));
            for (size_t b = 0; b < T * H * D * size; b++) {
                int64_t d = (int64_t)(b / size) % D;
                if ((d < cases[n].first || d >= cases[n].last) && space[0][b] != 0xff)
                    fail_msg("%s, type %d: element %d was changed", cases[n].spec, (int)types[k], (int)d);
            }
            pe_encoding_free(e);
        }
}

static void a_cache_without_rotation_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const specs[] = { "none", "alibi", "t5", "shaw:left=4,right=4", "sinusoidal", "rope:dims=0" };
    uint64_t seed = 5;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[2][T * PE_AXES_MAX];
        pe_encoding *e = test_encoding(specs[n], test_shape), *other = test_encoding(n < 5 ? "kerple" : "rope:dims=0", test_shape);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        fill(view(0, PE_F32), &seed);
        memcpy(space[1], space[0], BYTES);
        assert_ok(pe_cache_shift(e, view(0, PE_F32), NULL, from, to, NULL, &err));
        assert_ok(pe_cache_rebase(e, other, view(0, PE_F32), NULL, from, NULL, &err));
        assert_memory_equal(space[0], space[1], BYTES);
        pe_encoding_free(e);
        pe_encoding_free(other);
    }
}

/* (heads, tokens, dim), gaps, positions in (axes, tokens) order: the bits of packed ones, and nothing between. */
static void strided_caches_equal_packed_ones(void **state)
{
    (void)state;
    static const struct {
        int64_t token_stride, head_stride;
    } inlays[] = { { D, T * D }, { H * (D + 3) + 5, D + 3 }, { D + 1, T * (D + 1) } };
    static _Alignas(8) unsigned char block[T * (H * (D + 3) + 5) * 8];
    uint64_t seed = 6;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("rope:sections=8/12/12,pairs=adjacent,magnitude=1.25", test_shape);
    for (int k = 0; k < COUNT(types); k++)
        for (int i = 0; i < COUNT(inlays); i++) {
            int64_t at[2][T * 3], across[2][T * 3];
            size_t size = pe_dtype_size(types[k]), written = 0;
            pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
            for (int p = 0; i != 1 && p < T * 3; p++) /* all alike but the fourth token */
                at[1][p] = at[0][p] + (p / 3 == 3 ? 1 : 9);
            for (int p = 0; p < T * 3; p++)
                for (int s = 0; s < 2; s++)
                    across[s][p % 3 * T + p / 3] = at[s][p];
            pe_view k0 = view(0, types[k]), v = { block, types[k], 1, T, H, D, 0, inlays[i].token_stride, inlays[i].head_stride };
            fill(k0, &seed);
            memset(block, 0xa5, sizeof block);
            for (int64_t row = 0; row < T * H; row++)
                memcpy(block + (size_t)(row / H * v.token_stride + row % H * v.head_stride) * size, space[0] + (size_t)(row * D) * size,
                       D * size);
            assert_ok(pe_cache_shift(e, pe_view_of(space[0], types[k], 1, T, H, D), NULL, from, to, NULL, &err));
            assert_ok(pe_cache_shift(e, v, NULL, (pe_positions){ .data = across[0], .dtype = PE_I64, .batch = 1, .tokens = T, .axes = 3, .token_stride = 1, .axis_stride = T },
                                     (pe_positions){ .data = across[1], .dtype = PE_I64, .batch = 1, .tokens = T, .axes = 3, .token_stride = 1, .axis_stride = T }, NULL, &err));
            for (int64_t row = 0; row < T * H; row++) {
                unsigned char *here = block + (size_t)(row / H * v.token_stride + row % H * v.head_stride) * size;
                assert_memory_equal(here, space[0] + (size_t)(row * D) * size, D * size);
                memset(here, 0xa5, D * size);
            }
            for (size_t b = 0; b < sizeof block; b++)
                written += block[b] != 0xa5;
            assert_int_equal(written, 0);
        }
    pe_encoding_free(e);
}

/* ------------------------------------------------ xpos */

static void a_shift_that_would_overflow_is_a_sentence(void **state)
{
    (void)state;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("xpos:base=512", test_shape), *rope = test_encoding("rope:pairs=adjacent", test_shape);
    int64_t far[] = { 30000, -30000, 40000, 3000 }, near[] = { 0 }; /* e^73 at 30000 */
    fill(view(0, PE_F32), &(uint64_t){ 7 });
    memcpy(space[1], space[0], BYTES);
    pe_view one = pe_view_of(space[0], PE_F32, 1, 1, H, D);
#define AT(p) pe_positions_of(p, PE_I64, 1, 1, 1)
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(far), AT(far + 1), NULL, &err), PE_ERR_POSITION); /* e^146 */
    assert_non_null(strstr(err.text, "smaller steps"));
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(far + 2), AT(near), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far + 2), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_rebase(e, rope, one, NULL, AT(far + 2), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_rebase(rope, e, one, NULL, AT(far + 2), NULL, &err), PE_ERR_POSITION);
    one.dtype = PE_F16;
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err), PE_ERR_POSITION);
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(near), NULL, &err));
    one.dtype = PE_Q8_0;
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err), PE_ERR_POSITION);
    assert_memory_equal(space[0], space[1], BYTES);
    one.dtype = PE_F32;
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err)); /* in steps it arrives, and is still a number */
    assert_ok(pe_cache_shift(e, one, NULL, AT(far), AT(near), NULL, &err));
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(far + 1), NULL, &err));
    for (int64_t n = 0; n < H * D; n++)
        assert_true(isfinite(((float *)(void *)space[0])[n]));
    pe_encoding_free(e);
    pe_encoding_free(rope);
}

/* ------------------------------------------------ rebase */

#define SHORT "short=1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1"
#define LONG "long=1/1/1/1/1/1/1/1/2/2/2/2/2/2/2/2/4/4/4/4/4/4/4/4/8/8/8/8/8/8/8/8"
#define LONGROPE "rope:scaling=longrope,factor=8,trained=1024," SHORT "," LONG

static const char *const bases[][2] = {
    { "rope", "rope:theta=500000" },
    { "rope", "rope:scaling=linear,factor=4" },
    { "rope:theta=500000", "rope:theta=500000,scaling=llama3,factor=8,trained=8192" },
    { "rope", "rope:scaling=yarn,factor=4,trained=2048" }, /* magnitude 1.1386 */
    { "rope:scaling=yarn,factor=4,trained=2048", "rope:scaling=yarn,factor=16,trained=2048" },
    { LONGROPE, LONGROPE ",length=5000" },
    { LONGROPE ",short_magnitude=0.8,long_magnitude=1.3", LONGROPE ",length=5000,short_magnitude=0.8,long_magnitude=1.3" },
    { "rope:scaling=dynamic,factor=2,trained=2048,length=4000", "rope:scaling=dynamic,factor=2,trained=2048,length=6000" },
    { "rope:magnitude=0.25", "rope:magnitude=3" },
    { "rope:sign=negative", "rope" },
    { "rope:pairs=adjacent,dims=48,range=trailing", "rope:pairs=adjacent,dims=48,range=trailing,theta=100" },
    { "rope:pairs=adjacent-half", "rope:pairs=adjacent-half,scaling=linear,factor=3" },
    { "rope:sections=8/12/12", "rope:sections=8/12/12,scaling=linear,factor=2" },
    { "rope:sections=8/12/12", "rope:sections=12/10/10,split=interleaved" }, /* pairs change their axis */
    { "rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14",
      "rope:theta=100,axes=2,split=axial,coords=normalised,extent=28/20" },
    { "rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14",
      "rope:theta=90,axes=2,split=axial,coords=normalised,extent=14/14" },
    { "rope:precision=hf", "rope" },
    { "rope:precision=ggml", "rope:precision=ggml,scaling=linear,factor=4" },
    { "rope+alibi", "rope:theta=500000+t5" },
};

static void check_rebase(const char *to_spec, const char *from_spec, const int64_t *where, double bound[])
{
    uint64_t seed = 8;
    pe_error err = { 0 };
    pe_encoding *to = test_encoding(to_spec, test_shape), *from = test_encoding(from_spec, test_shape);
    pe_positions at = pe_positions_of(where, PE_I64, 1, T, pe_encoding_axes(to));
    for (int k = 0; k < COUNT(types); k++) {
        pe_view raw = view(0, types[k]), cache = view(1, types[k]), want = view(2, types[k]);
        fill(raw, &seed);
        assert_ok(pe_rotate(from, PE_KEY, cache, raw, at, NULL, &err));
        assert_ok(pe_rotate(to, PE_KEY, want, raw, at, NULL, &err));
        assert_ok(pe_cache_rebase(to, from, cache, NULL, at, NULL, &err));
        assert_close(to, cache, want, bound[types[k]], to_spec);
        memcpy(space[3], space[1], BYTES);
        assert_ok(pe_cache_rebase(to, to, cache, NULL, at, NULL, &err));
        pe_encoding *twin = test_encoding(to_spec, test_shape);
        assert_ok(pe_cache_rebase(to, twin, cache, NULL, at, NULL, &err));
        assert_memory_equal(space[1], space[3], BYTES); /* to itself: nothing turns */
        pe_encoding_free(twin);
    }
    pe_encoding_free(to);
    pe_encoding_free(from);
}

static void a_rebase_equals_turning_afresh(void **state)
{
    (void)state;
    int64_t near[T * PE_AXES_MAX], far[T * PE_AXES_MAX];
    uint64_t seed = 9;
    double bound[FLOAT_COUNT];
    memcpy(bound, afresh, sizeof bound);
    for (int i = 0; i < T * PE_AXES_MAX; i++) {
        near[i] = test_range(&seed, -1000, 100000);
        far[i] = i % 3 ? test_range(&seed, -PE_POSITION_MAX, PE_POSITION_MAX) : i % 2 ? PE_POSITION_MAX : -PE_POSITION_MAX;
    }
    for (int n = 0; n < COUNT(bases); n++)
        for (int way = 0; way < 2; way++) {
            check_rebase(bases[n][way], bases[n][!way], near, bound);
            check_rebase(bases[n][way], bases[n][!way], far, bound);
        }
}

static void a_rebase_of_xpos_equals_turning_afresh(void **state)
{
    (void)state;
    static const char *const specs[][2] = { { "xpos", "xpos:theta=500000" },
                                            { "xpos:base=128", "xpos:base=512,centre=50" },
                                            { "xpos:gamma=0.4", "xpos:gamma=2" },
                                            { "xpos", "rope:pairs=adjacent,magnitude=2" } };
    int64_t near[T];
    uint64_t seed = 10;
    double bound[FLOAT_COUNT];
    memcpy(bound, afresh, sizeof bound);
    for (int i = 0; i < T; i++)
        near[i] = test_range(&seed, -100, 300);
    for (int n = 0; n < COUNT(specs); n++)
        for (int way = 0; way < 2; way++)
            check_rebase(specs[n][way], specs[n][!way], near, bound);
}

static void a_rebase_between_other_elements_is_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *to, *from, *says;
    } cases[] = {
        { "rope", "alibi", "rope rotates and alibi does not" },
        { "none", "rope", "pe_unrotate" },
        { "rope", "rope:pairs=adjacent", "pair 0" },
        { "rope:pairs=adjacent-half", "rope", "pair 0" },
        { "rope:dims=32", "rope", "turns 16 pairs of 64 elements" },
        { "rope:dims=32", "rope:dims=32,range=trailing", "elements 0 and 16" },
        { "rope", "rope:sections=8/12/12", "axes" },
        { "xpos:pairs=half", "xpos", "pair 0" },
    };
    pe_error err = { 0 };
    int64_t at[3] = { 1, 2, 3 };
    for (int n = 0; n < COUNT(cases); n++) {
        pe_encoding *to = test_encoding(cases[n].to, test_shape), *from = test_encoding(cases[n].from, test_shape);
        pe_view one = pe_view_of(space[0], PE_F32, 1, 1, H, D);
        assert_int_equal(pe_cache_rebase(to, from, one, NULL, pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(to)), NULL, &err), PE_ERR_UNSUITED);
        if (!strstr(err.text, cases[n].says))
            fail_msg("%s from %s: '%s' does not say '%s'", cases[n].to, cases[n].from, err.text, cases[n].says);
        pe_encoding_free(to);
        pe_encoding_free(from);
    }
}

/* ------------------------------------------------ blocks, written down a second time */

#define Q8 34
#define Q4 18

static int64_t bytes_of(pe_dtype kind)
{
    return kind == PE_Q8_0 ? Q8 : Q4;
}

static void unpack(float *x, const unsigned char *b, pe_dtype kind)
{
    double d = num_load(b, PE_F16, 0);
    for (int n = 0; n < 32; n++)
        x[n] = (float)(d * (kind == PE_Q8_0 ? (double)(int8_t)b[2 + n]
                                                  : (double)((n < 16 ? b[2 + n] & 15 : b[2 + n - 16] >> 4) - 8)));
}

static void pack(unsigned char *b, const float *x, pe_dtype kind)
{
    float most = 0;
    for (int n = 0; n < 32; n++)
        if (fabsf(x[n]) > fabsf(most))
            most = x[n];
    float d = kind == PE_Q8_0 ? fabsf(most) / 127 : most / -8, inverse = d != 0 ? 1 / d : 0;
    double above = 0, below = 0;
    memset(b, 0, (size_t)bytes_of(kind));
    for (int n = 0; n < 32; n++) {
        float q = kind == PE_Q8_0 ? roundf(x[n] * inverse) : fminf(15, truncf(x[n] * inverse + 8.5f)) - 8;
        above += (double)x[n] * (double)q;
        below += (double)q * (double)q;
        if (kind == PE_Q8_0)
            b[2 + n] = (unsigned char)(int8_t)q;
        else
            b[2 + n % 16] |= (unsigned char)((int)(q + 8) << (n < 16 ? 0 : 4));
    }
    num_store(b, PE_F16, 0, below > 0 ? above / below : (double)d);
}

static void pack_all(void *blocks, pe_dtype kind, const float *x, int64_t count)
{
    for (int64_t n = 0; n < count / 32; n++)
        pack((unsigned char *)blocks + n * bytes_of(kind), x + 32 * n, kind);
}

static void unpack_all(float *x, const void *blocks, pe_dtype kind, int64_t count)
{
    for (int64_t n = 0; n < count / 32; n++)
        unpack(x + 32 * n, (const unsigned char *)blocks + n * bytes_of(kind), kind);
}

/* A shift of blocks is that of their numbers, quantised again; with a cache as (heads, tokens, dim) too. */
static void shifted_blocks_are_shifted_numbers_quantised(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:pairs=adjacent,magnitude=1.5", "rope:dims=32,range=trailing",
                                         "rope:sections=8/12/12", "xpos", "rope:precision=hf" };
    static _Alignas(8) unsigned char blocks[T * H * D / 32 * Q8], want[sizeof blocks], across[sizeof blocks];
    static float x[T * H * D], fresh[T * H * D], back[T * H * D];
    uint64_t seed = 11;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            int64_t at[2][T * PE_AXES_MAX], size = bytes_of(kind) * D / 32;
            pe_encoding *e = test_encoding(specs[n], test_shape);
            pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
            pe_view k = pe_view_of(x, PE_F32, 1, T, H, D);
            fill(pe_view_of(x, PE_F32, 1, T, H, D), &seed);
            assert_ok(pe_rotate(e, PE_KEY, pe_view_of(fresh, PE_F32, 1, T, H, D), k, to, NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, k, k, from, NULL, &err));
            pack_all(blocks, kind, x, T * H * D);
            for (int64_t row = 0; row < T * H; row++)
                memcpy(across + (row % H * T + row / H) * size, blocks + row * size, (size_t)size);
            unpack_all(x, blocks, kind, T * H * D);
            assert_ok(pe_cache_shift(e, k, NULL, from, to, NULL, &err));
            pack_all(want, kind, x, T * H * D);
            assert_ok(pe_cache_shift(e, pe_view_of(blocks, kind, 1, T, H, D), NULL, from, to, NULL, &err));
            assert_memory_equal(blocks, want, (size_t)(T * H * size));
            assert_ok(pe_cache_shift(e, (pe_view){ across, kind, 1, T, H, D, 0, D, T * D }, NULL, from, to, NULL, &err));
            for (int64_t row = 0; row < T * H; row++)
                assert_memory_equal(across + (row % H * T + row / H) * size, blocks + row * size, (size_t)size);
            unpack_all(back, blocks, kind, T * H * D); /* two roundings to codes, of half a step of the largest each */
            double step = kind == PE_Q8_0 ? 1 / 127.0 : 1 / 8.0, most = 0;
            for (int i = 0; i < T * H * D; i++)
                most = fmax(most, fabs((double)fresh[i]));
            for (int i = 0; i < T * H * D; i++)
                assert_true(fabs((double)back[i] - (double)fresh[i]) <= 3 * step * most);
            pe_encoding_free(e);
        }
}

static void blocks_that_do_not_turn_keep_their_bits(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t axis;   /* that moves */
        unsigned moves; /* bit b: block b of four changes */
    } cases[] = { { "rope:dims=32", 0, 1 },
                  { "rope:dims=64,range=trailing", 0, 12 },
                  { "rope:scaling=proportional,turning=0.25", 0, 5 }, /* pairs 0 to 15 of 64 */
                  { "rope:sections=16/16/32,pairs=adjacent", 1, 2 },
                  { "rope:sections=16/16/32,pairs=adjacent", 2, 12 } };
    unsigned char blocks[4 * Q8], before[sizeof blocks];
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(cases); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            uint64_t seed = 12;
            int64_t from[3] = { 5, 6, 7 }, to[3] = { 5, 6, 7 }, size = bytes_of(kind);
            pe_encoding *e = test_encoding(cases[n].spec, (pe_shape){ 1, 1, 128, 0 });
            to[cases[n].axis] += 100;
            for (int i = 0; i < COUNT(blocks); i++) /* scales of 1 and codes that no quantiser gives back */
                blocks[i] = i % size == 0 ? 0 : i % size == 1 ? 0x3c : (unsigned char)(test_random(&seed) & 0x33);
            memcpy(before, blocks, sizeof blocks);
            assert_ok(pe_cache_shift(e, pe_view_of(blocks, kind, 1, 1, 1, 128), NULL,
                                     pe_positions_of(from, PE_I64, 1, 1, pe_encoding_axes(e)),
                                     pe_positions_of(to, PE_I64, 1, 1, pe_encoding_axes(e)), NULL, &err));
            for (int b = 0; b < 4; b++)
                if ((memcmp(blocks + b * size, before + b * size, (size_t)size) != 0) != (cases[n].moves >> b & 1))
                    fail_msg("%s, blocks of %d bytes: block %d", cases[n].spec, (int)size, b);
            pe_encoding_free(e);
        }
}

/* Values worked by hand: a turn by half a turn's worth of nothing (magnitude 2 by a rebase) writes known blocks. */
static void blocks_are_written_as_ggml_reads_them(void **state)
{
    (void)state;
    unsigned char eight[Q8] = { 0x00, 0x3c }, four[Q4] = { 0x00, 0x3c }; /* scale 1 */
    int64_t at[1] = { 0 };
    pe_error err = { 0 };
    pe_encoding *one = test_encoding("rope", (pe_shape){ 1, 1, 32, 0 }),
                *two = test_encoding("rope:magnitude=2", (pe_shape){ 1, 1, 32, 0 });
    for (int n = 0; n < 32; n++)
        eight[2 + n] = (unsigned char)(n % 2 ? -4 * n : 4 * n);
    eight[2] = 127;
    for (int n = 0; n < 16; n++)
        four[2 + n] = (unsigned char)(n | (15 - n) << 4); /* -8 .. 7, and 7 .. -8 */
    assert_ok(pe_cache_rebase(two, one, pe_view_of(eight, PE_Q8_0, 1, 1, 1, 32), NULL,
                              pe_positions_of(at, PE_I64, 1, 1, 1), NULL, &err));
    assert_ok(pe_cache_rebase(two, one, pe_view_of(four, PE_Q4_0, 1, 1, 1, 32), NULL,
                              pe_positions_of(at, PE_I64, 1, 1, 1), NULL, &err));
    assert_true(eight[0] == 0 && eight[1] == 0x40 && eight[2] == 127); /* scale 2, the same codes */
    for (int n = 1; n < 32; n++)
        assert_int_equal((int8_t)eight[2 + n], n % 2 ? -4 * n : 4 * n);
    assert_true(four[0] == 0 && four[1] == 0x40);
    for (int n = 0; n < 16; n++)
        assert_int_equal(four[2 + n], n | (15 - n) << 4);
    pe_encoding_free(one);
    pe_encoding_free(two);
}

/* UBSan watches the conversions. */
static void blocks_without_numbers_stay_without(void **state)
{
    (void)state;
    static const uint16_t scales[] = { 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7bff, 0x0001, 0x8001, 0x0000, 0x8000 };
    pe_error err = { 0 };
    int64_t from[1] = { 0 }, to[1] = { 1 };
    pe_encoding *e = test_encoding("rope:pairs=adjacent", (pe_shape){ 1, 1, 64, 0 });
    for (int n = 0; n < COUNT(scales); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            unsigned char blocks[2 * Q8];
            float x[64];
            memset(blocks, 0x5a, sizeof blocks);
            memcpy(blocks, &scales[n], 2);
            num_store(blocks + bytes_of(kind), PE_F16, 0, 1); /* the other block holds numbers */
            assert_ok(pe_cache_shift(e, pe_view_of(blocks, kind, 1, 1, 1, 64), NULL,
                                     pe_positions_of(from, PE_I64, 1, 1, 1), pe_positions_of(to, PE_I64, 1, 1, 1), NULL, &err));
            unpack_all(x, blocks, kind, 64);
            for (int d = 0; d < 32; d++)
                assert_true(isfinite(x[d]) == (n >= 4) || scales[n] == 0x7bff);
            for (int d = 32; d < 64; d++)
                assert_true(isfinite(x[d]));
        }
    pe_encoding_free(e);
}

static void blocks_need_whole_blocks(void **state)
{
    (void)state;
    pe_error err = { 0 };
    int64_t at[1] = { 0 };
    pe_encoding *e = test_encoding("rope", (pe_shape){ 1, 1, 48, 0 });
    pe_view cache = pe_view_of(space[0], PE_Q8_0, 1, 1, 1, 48);
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_SHAPE);
    assert_string_equal(err.text, "the cache: dim is 48; blocks need a multiple of 32");
    cache = pe_view_of(space[0], PE_Q8_0, 1, 1, 1, 64);
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_SHAPE);
    pe_encoding_free(e);
    e = test_encoding("rope", (pe_shape){ 1, 1, 64, 0 });
    pe_positions two = pe_positions_run(1, 2, 0);
    cache.tokens = 2;
    cache.token_stride = INT64_MAX / 8;
    assert_int_equal(pe_cache_shift(e, cache, NULL, two, two, NULL, &err), PE_ERR_OVERFLOW);
    for (int n = 0; n < 3; n++) { /* strides count elements, and go from block to block */
        cache = pe_view_of(space[0], PE_Q8_0, 1, 1, 1, 64);
        *(n == 0 ? &cache.batch_stride : n == 1 ? &cache.token_stride : &cache.head_stride) = 80;
        assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_RANGE);
        assert_non_null(strstr(err.text, "multiples of 32"));
    }
    cache = pe_view_of(space[0], PE_Q8_0, 1, 1, 2, 64);
    cache.head_stride = 32; /* one block: rows of two overlap */
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_ALIAS);
    cache.data = space[0] + 1;
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_ALIGN);
    pe_encoding_free(e);
}

/* ------------------------------------------------ pools */

static void run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    ++*(int64_t *)self;
    for (int64_t n = count; n-- > 0;)
        job(arg, n, 0);
}

static void a_pool_that_cannot_work_is_refused(void **state)
{
    (void)state;
    pe_error err = { 0 };
    int64_t at[1] = { 0 };
    pe_pool none = { NULL, 1, NULL }, *inside = (pe_pool *)(void *)space[0];
    pe_positions where = pe_positions_of(at, PE_I64, 1, 1, 1);
    pe_encoding *e = test_encoding("rope", test_shape);
    pe_view cache = pe_view_of(space[0], PE_F32, 1, 1, H, D);
    pe_run run = PE_MAKE(pe_run, .pool = &none);
    assert_int_equal(pe_cache_shift(e, cache, NULL, where, where, &run, &err), PE_ERR_RANGE);
    assert_int_equal(pe_cache_rebase(e, e, cache, NULL, where, &run, &err), PE_ERR_RANGE);
    *inside = (pe_pool){ NULL, 1, run_backwards };
    run.pool = inside;
    assert_int_equal(pe_cache_shift(e, cache, NULL, where, where, &run, &err), PE_ERR_ALIAS);
    assert_int_equal(pe_cache_rebase(e, e, cache, NULL, where, &run, &err), PE_ERR_ALIAS);
    pe_encoding_free(e);
}

static void any_pool_gives_the_same_bits(void **state)
{
    (void)state;
    enum { N = 700 };
    static float k[4][N * H * D];
    static int64_t from[N], to[N];
    uint64_t seed = 13;
    int64_t calls = 0;
    pe_error err = { 0 };
    pe_pool backwards = { &calls, 1, run_backwards }, *threads;
    assert_ok(pe_pool_new(&threads, 3, &err));
    for (int kind = 0; kind < 4; kind++) { /* exact by one delta, exact by several, in general, rebased */
        pe_encoding *e = test_encoding(kind == 2 ? "rope:precision=hf" : "rope", test_shape),
                    *base = test_encoding("rope:theta=500", test_shape);
        for (int t = 0; t < N; t++) {
            from[t] = t + 1000;
            to[t] = kind == 1 ? test_range(&seed, 0, 3) : t;
        }
        fill(pe_view_of(k[0], PE_F32, 1, N, H, D), &seed);
        for (int p = 0; p < 3; p++) {
            pe_view c = pe_view_of(k[p + 1], PE_F32, 1, N, H, D);
            pe_run run = PE_MAKE(pe_run, .pool = p == 1 ? threads : p == 2 ? &backwards : NULL);
            memcpy(k[p + 1], k[0], sizeof k[0]);
            if (kind == 3)
                assert_ok(pe_cache_rebase(e, base, c, NULL, pe_positions_of(from, PE_I64, 1, N, 1), &run, &err));
            else
                assert_ok(pe_cache_shift(e, c, NULL, pe_positions_of(from, PE_I64, 1, N, 1), pe_positions_of(to, PE_I64, 1, N, 1), &run, &err));
        }
        assert_memory_equal(k[1], k[2], sizeof k[1]);
        assert_memory_equal(k[1], k[3], sizeof k[1]);
        assert_memory_not_equal(k[0], k[1], sizeof k[1]);
        pe_encoding_free(e);
        pe_encoding_free(base);
    }
    assert_int_equal(calls, 4);
    pe_pool_free(threads);
}

static void every_rung_gives_the_same_bits(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:pairs=adjacent,dims=48,range=trailing",
                                         "rope:pairs=adjacent-half,magnitude=1.5", "rope:axes=2,split=blocks",
                                         "rope:axes=4,split=alternate,pairs=adjacent", "xpos" };
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs) * 6; n++) {
        uint64_t seed = 17;
        int64_t at[2][T * PE_AXES_MAX];
        char slower[80];
        snprintf(slower, sizeof slower, "%s%ctheta=500", specs[n / 6], strchr(specs[n / 6], ':') ? ',' : ':');
        pe_encoding *e = test_encoding(specs[n / 6], test_shape), *base = test_encoding(slower, test_shape);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        pe_dtype kind = n % 6 < 4 ? types[n % 6] : n % 6 == 4 ? PE_Q8_0 : PE_Q4_0;
        if (n % 6 >= 4)
            for (int i = 0; i < T * H * D / 32 * bytes_of(kind); i++) /* any codes; scales above 1 */
                space[0][i] = (unsigned char)(i % bytes_of(kind) == 1 ? 0x3c : test_random(&seed));
        else
            fill(view(0, kind), &seed);
        for (int r = 0; pe_kernels_name(r); r++) {
            memcpy(space[2], space[0], BYTES);
            if (pe_encoding_set_kernels(e, pe_kernels_name(r), NULL))
                continue;
            pe_view cache = pe_view_of(space[2], kind, 1, T, H, D);
            assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
            assert_ok(pe_cache_rebase(e, base, cache, NULL, to, NULL, &err));
            if (!r)
                memcpy(space[1], space[2], BYTES);
            assert_memory_equal(space[1], space[2], BYTES);
        }
        assert_memory_not_equal(space[0], space[1], BYTES);
        pe_encoding_free(e);
        pe_encoding_free(base);
    }
}

/* ------------------------------------------------ attention over a shifted cache */

static void attention_does_not_notice_a_shift(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:theta=500000,pairs=adjacent,dims=32", "rope:scaling=yarn,factor=4,trained=2048",
                                         "rope:sections=8/12/12", "rope+alibi", "rope+t5:scale=sqrt" };
    static double q[8 * D], k[T * H * D], turned[T * H * D], v[T * H * D], out[3][8 * D], lse[3][8], w[4096];
    uint64_t seed = 14;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[T * 3], later[T * 3];
        pe_encoding *e = test_encoding(specs[n], test_shape);
        int64_t axes = pe_encoding_axes(e), count = pe_encoding_param_count(e);
        pe_params params = { w, PE_F64, count };
        assert_true(count <= COUNT(w));
        assert_ok(pe_encoding_init(e, params, 15, &err));
        for (int64_t i = 0; i < T * axes; i++) {
            at[i] = 100 + i / axes * 3 + i % axes;
            later[i] = at[i] - 73;
        }
        fill(pe_view_of(q, PE_F64, 1, 1, 8, D), &seed);
        fill(pe_view_of(k, PE_F64, 1, T, H, D), &seed);
        fill(pe_view_of(v, PE_F64, 1, T, H, D), &seed);
        pe_positions old = pe_positions_of(at, PE_I64, 1, T, axes), new = pe_positions_of(later, PE_I64, 1, T, axes);
        for (int way = 0; way < 3; way++) { /* unturned keys at the old place; fresh at the new one; shifted */
            pe_view view_k = pe_view_of(way ? turned : k, PE_F64, 1, T, H, D);
            pe_positions where = way ? new : old;
            if (way)
                assert_ok(pe_rotate(e, PE_KEY, view_k, pe_view_of(k, PE_F64, 1, T, H, D), way == 1 ? new : old, NULL, &err));
            if (way == 2)
                assert_ok(pe_cache_shift(e, view_k, NULL, old, new, NULL, &err));
            pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out[way], PE_F64, 1, 1, 8, D), .lse = pe_view_of(lse[way], PE_F64, 1, 1, 8, 1),
                               .q = pe_view_of(q, PE_F64, 1, 1, 8, D), .k = view_k, .v = pe_view_of(v, PE_F64, 1, T, H, D),
                               .q_at = pe_positions_of((const int64_t *)where.data + (T - 1) * axes, PE_I64, 1, 1, axes), .k_at = where, .turned = way > 0 };
            size_t bytes;
            assert_ok(pe_reference_work(e, &a, &bytes, &err));
            void *work = malloc(bytes);
            assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = params, .work = work, .work_bytes = bytes), &err));
            free(work);
        }
        for (int i = 0; i < 8 * D; i++) /* scores of up to 100 in float64, known to 2^-44 */
            assert_true(fabs(out[2][i] - out[1][i]) < 1e-11 && fabs(out[2][i] - out[0][i]) < 1e-11);
        for (int h = 0; h < 8; h++)
            assert_true(fabs(lse[2][h] - lse[1][h]) < 1e-11 && fabs(lse[2][h] - lse[0][h]) < 1e-11);
        pe_encoding_free(e);
    }
}

/* ------------------------------------------------ a thousand shifts */

enum { N = 8, KV = 2, W = 128, SHIFTS = 1000 };

typedef struct store {
    const char *name;
    pe_dtype type;
    double each;                   /* the most that one shift can add */
    double once, forth, back, any; /* asserted: one shift by 1,000; 1,000 by +1, by -1, by -50 to 50 */
} store;

/* The error of a key as a share of its length: docs/caches.md shows what this test prints. What one shift can add: float32
 * rounds cos and sin, products and sums, (2 + sqrt 2) u; 16-bit types round once more than that, 1 u; a block rounds 32
 * elements by half a step of max/127, or by one of max/8 where the codes have no +8, and its scale by u of float16. Errors are turned and
 * added, and a block gets no longer than float16 rounds its scale up: 1,000 shifts cannot make it e^0.5 times as long. */
static const store stores[] = {
    { "f32", PE_F32, 3.42 * 0x1p-24, 1e-7, 3e-5, 3e-5, 6e-6 },
    { "f16", PE_F16, 1.001 * 0x1p-11, 4e-4, 1e-1, 1e-1, 1.2e-2 },
    { "bf16", PE_BF16, 1.001 * 0x1p-8, 3e-3, 8e-1, 8e-1, 8e-2 },
    { "q8_0", PE_Q8_0, 5.66 / 254 + 0x1p-11, 7e-3, 1.4, 1.4, 2e-1 },
    { "q4_0", PE_Q4_0, 5.66 / 8 + 0x1p-11, 1e-1, 1.2, 1.2, 1.2 },
};

static bool in_blocks(const store *s)
{
    return s->type == PE_Q8_0 || s->type == PE_Q4_0;
}

static void save(void *to, const store *s, const float *x)
{
    if (in_blocks(s))
        pack_all(to, s->type, x, N * KV * W);
    else
        for (int i = 0; i < N * KV * W; i++)
            num_store(to, s->type, i, x[i]);
}

static void load(float *x, const store *s, const void *from)
{
    if (in_blocks(s))
        unpack_all(x, from, s->type, N * KV * W);
    else
        for (int i = 0; i < N * KV * W; i++)
            x[i] = (float)num_load(from, s->type, i);
}

/* The worst key after `times` shifts by low .. high, against the same stored numbers turned once in float64. */
static double drift(const pe_encoding *e, const store *s, int times, int64_t low, int64_t high)
{
    static _Alignas(8) unsigned char cache[N * KV * W * 4];
    static float start[N * KV * W], end[N * KV * W];
    static double exact[N * KV * W];
    uint64_t seed = 16;
    pe_error err = { 0 };
    int64_t at[2] = { 0, 0 };
    double worst = 0;
    fill(pe_view_of(start, PE_F32, 1, N, KV, W), &seed);
    save(cache, s, start);
    load(start, s, cache);
    pe_positions from = (pe_positions){ .data = at, .dtype = PE_I64, .batch = 1, .tokens = N, .axes = 1, .token_stride = 0, .axis_stride = 1 }, to = (pe_positions){ .data = at + 1, .dtype = PE_I64, .batch = 1, .tokens = N, .axes = 1, .token_stride = 0, .axis_stride = 1 };
    for (int i = 0; i < times; i++, at[0] = at[1]) {
        at[1] = at[0] + test_range(&seed, low, high);
        assert_ok(pe_cache_shift(e, pe_view_of(cache, s->type, 1, N, KV, W), NULL, from, to, NULL, &err));
    }
    load(end, s, cache);
    for (int i = 0; i < N * KV * W; i++)
        exact[i] = start[i];
    pe_view k = pe_view_of(exact, PE_F64, 1, N, KV, W);
    assert_ok(pe_rotate(e, PE_KEY, k, k, from, NULL, &err));
    for (int row = 0; row < N * KV; row++) {
        double off = 0, length = 0;
        for (int d = row * W; d < (row + 1) * W; d++) {
            off += ((double)end[d] - exact[d]) * ((double)end[d] - exact[d]);
            length += exact[d] * exact[d];
        }
        worst = fmax(worst, sqrt(off / length));
    }
    return worst;
}

static void a_thousand_shifts_err_within_bounds(void **state)
{
    (void)state;
    pe_encoding *e = test_encoding("rope:theta=500000", (pe_shape){ KV, KV, W, 0 });
    printf("| stored as | 1 shift by 1,000 | 1,000 by +1 | 1,000 by -1 | 1,000 by -50 to 50 | at most, each |\n"
           "|---|---|---|---|---|---|\n");
    for (int n = 0; n < COUNT(stores); n++) {
        const store *s = &stores[n];
        double once = drift(e, s, 1, 1000, 1000), forth = drift(e, s, SHIFTS, 1, 1), back = drift(e, s, SHIFTS, -1, -1),
               any = drift(e, s, SHIFTS, -50, 50);
        double most = fmin(in_blocks(s) ? 1 + exp(0.5) : INFINITY, SHIFTS * s->each);
        printf("| %s | %.1e | %.1e | %.1e | %.1e | %.1e |\n", s->name, once, forth, back, any, s->each);
        if (!(once < s->once && forth < s->forth && back < s->back && any < s->any))
            fail_msg("%s: an error above what it was", s->name);
        if (!(once < s->each && forth < most && back < most && any < most))
            fail_msg("%s: an error above its bound", s->name);
    }
    pe_encoding_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shift_equals_turning_afresh),
        cmocka_unit_test(shifts_across_all_positions_are_as_good),
        cmocka_unit_test(values_that_turn_are_shifted_as_keys),
        cmocka_unit_test(an_axis_that_stays_keeps_its_bits),
        cmocka_unit_test(elements_that_do_not_turn_keep_their_bits),
        cmocka_unit_test(a_cache_without_rotation_stays_as_it_is),
        cmocka_unit_test(strided_caches_equal_packed_ones),
        cmocka_unit_test(a_shift_that_would_overflow_is_a_sentence),
        cmocka_unit_test(a_rebase_equals_turning_afresh),
        cmocka_unit_test(a_rebase_of_xpos_equals_turning_afresh),
        cmocka_unit_test(a_rebase_between_other_elements_is_a_sentence),
        cmocka_unit_test(shifted_blocks_are_shifted_numbers_quantised),
        cmocka_unit_test(blocks_that_do_not_turn_keep_their_bits),
        cmocka_unit_test(blocks_are_written_as_ggml_reads_them),
        cmocka_unit_test(blocks_without_numbers_stay_without),
        cmocka_unit_test(blocks_need_whole_blocks),
        cmocka_unit_test(a_pool_that_cannot_work_is_refused),
        cmocka_unit_test(any_pool_gives_the_same_bits),
        cmocka_unit_test(every_rung_gives_the_same_bits),
        cmocka_unit_test(attention_does_not_notice_a_shift),
        cmocka_unit_test(a_thousand_shifts_err_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
