/* labels: core; tier: quick; cost: 1 s; needs: threads */
/* SPDX-License-Identifier: MIT
 *
 * Caches: keys that are rotated further equal keys rotated again. Truth is pe_rotate, which test_rotate.c and
 * test_exact.c prove. Errors are counted in u, half an ulp of 1 in the type that stores, times the length of the pair: a
 * bare ulp bound would not hold where x*c and y*s cancel. */
#include "views.h"

#define T 7 /* tokens */
#define H 4
#define D 64
#define BYTES (T * H * D * 8)
#define PAIRS_MAX 64

static const double unit[] = { [PE_F32] = 0x1p-24, [PE_F16] = 0x1p-11, [PE_BF16] = 0x1p-8, [PE_F64] = 0x1p-53 };
static _Alignas(8) unsigned char space[BYTES];

static pe_view random_keys(pe_dtype type, uint64_t *seed)
{
    return drawn(type, 1, T, H, D, seed);
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
static void assert_close(const pe_encoding *e, pe_view got, pe_view want, double bound, const char *name)
{
    pe_pair pair[PAIRS_MAX];
    int64_t P = pe_encoding_pair_count(e);
    assert_ok(pe_encoding_pairs(e, pair, P, &err));
    for (int64_t n_row = 0; n_row < got.tokens * got.heads; n_row++) {
        bool turns[D] = { false };
        int64_t t = n_row / got.heads, h = n_row % got.heads;
        for (int64_t n = 0; n < P; n++) {
            int64_t x = pair[n].x_out, y = pair[n].y_out;
            double most = bound * unit[got.dtype] * hypot(get(want, 0, t, h, x), get(want, 0, t, h, y));
            turns[x] = turns[y] = true;
            if (!(fabs(get(got, 0, t, h, x) - get(want, 0, t, h, x)) <= most &&
                  fabs(get(got, 0, t, h, y) - get(want, 0, t, h, y)) <= most))
                fail_msg("%s, type %d: token %d, head %d, pair %d is %.17g %.17g; needs %.17g %.17g within %g u", name,
                         (int)got.dtype, (int)t, (int)h, (int)n, get(got, 0, t, h, x), get(got, 0, t, h, y),
                         get(want, 0, t, h, x), get(want, 0, t, h, y), bound);
        }
        for (int64_t d = 0; d < got.dim; d++)
            if (!turns[d] && get(got, 0, t, h, d) != get(want, 0, t, h, d))
                fail_msg("%s: element %d does not turn and was changed", name, (int)d);
    }
}

/* A turn in float32 errs by a rounding each of the table, of the products and of their sum, at most 3 u of the pair's
 * length per element, 3 sqrt 2 as a vector; the cache went through two turns and the fresh keys through one: 10.3 u. A
 * 16-bit type rounds the float32 result, which is good: 1 u each. float64 tables are within 4 u, differences of two such
 * within 10 u, and xpos's exponents of up to 4 within 8 u more. */
static const double afresh[] = { [PE_F32] = 11, [PE_F16] = 3.01, [PE_BF16] = 3.01, [PE_F64] = 60 };

/* ------------------------------------------------ shift */

static void check_shift(const char *spec)
{
    uint64_t seed = 1;
    int64_t at[2][T * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, test_shape);
    for (int k = 0; k < FLOAT_TYPES; k++) {
        pe_view raw = random_keys(float_types[k], &seed), cache = fresh_like(raw), want = fresh_like(raw);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        memcpy(&at[1][2 * to.axes], &at[0][2 * to.axes], (size_t)to.axes * 8); /* token 2 stays */
        assert_ok(pe_rotate(e, PE_KEY, cache, raw, from, test_run(e), &err));
        assert_ok(pe_rotate(e, PE_KEY, want, raw, to, test_run(e), &err));
        pe_view before = copied(cache);
        if (strstr(spec, "fope")) { /* its keys may be near 0 at one position and not at the other */
            assert_int_equal(pe_cache_shift(e, cache, NULL, from, to, test_run(e), &err), PE_ERR_UNSUITED);
            same(spec, cache, before);
            continue;
        }
        assert_ok(pe_cache_shift(e, cache, NULL, from, to, test_run(e), &err));
        assert_close(e, cache, want, afresh[float_types[k]], spec);
        same("token 2", cut(cache, 0, 2, 1), cut(before, 0, 2, 1));
        assert_memory_not_equal(cache.data, before.data, 2 * H * D * pe_dtype_size(float_types[k]));
    }
}

TEST(a_shift_equals_rotating_afresh)
{
    each_rotation(check_shift);
}

TEST(shifts_across_all_positions_are_as_good)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent-half,dims=48,range=trailing,magnitude=1.5",
                                         "rope:axes=2,split=axial,coords=normalised,extent=14/15,theta=100",
                                         "rope:sections=8/12/12", "rope:precision=hf" };
    static const int64_t ends[] = { -PE_POSITION_MAX, PE_POSITION_MAX, -PE_POSITION_MAX + 1, 0, 1000000007, -1, PE_POSITION_MAX - 3 };
    uint64_t seed = 2;
    for (int n = 0; n < COUNT(specs); n++)
        for (int k = 0; k < FLOAT_TYPES; k++) {
            int64_t at[2][T * PE_AXES_MAX], axes;
            pe_encoding *e = encoding_of(specs[n], test_shape);
            axes = pe_encoding_axes(e);
            for (int64_t i = 0; i < T * axes; i++) {
                at[0][i] = ends[i % COUNT(ends)];
                at[1][i] = ends[(i + 1 + i / COUNT(ends)) % COUNT(ends)];
            }
            pe_positions from = pe_positions_of(at[0], PE_I64, 1, T, axes), to = pe_positions_of(at[1], PE_I64, 1, T, axes);
            pe_view raw = random_keys(float_types[k], &seed), cache = fresh_like(raw), want = fresh_like(raw);
            assert_ok(pe_rotate(e, PE_KEY, cache, raw, from, NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, want, raw, to, NULL, &err));
            assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
            assert_close(e, cache, want, afresh[float_types[k]], specs[n]);
            assert_ok(pe_cache_shift(e, cache, NULL, to, from, NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, want, raw, from, NULL, &err));
            assert_close(e, cache, want, afresh[float_types[k]] * 5 / 3, "back again"); /* one turn more */
        }
}

TEST(values_that_rotate_are_shifted_as_keys)
{
    uint64_t seed = 18;
    int64_t at[2][T];
    pe_encoding *e = encoding_of("rope:turn=qkv,magnitude=0.8,temperature=0.1,floor=64", test_shape);
    pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
    pe_view raw = random_keys(PE_F32, &seed), cache = fresh_like(raw), want = fresh_like(raw);
    assert_ok(pe_rotate(e, PE_VALUE, cache, raw, from, NULL, &err));
    assert_ok(pe_rotate(e, PE_VALUE, want, raw, to, NULL, &err));
    assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
    assert_close(e, cache, want, afresh[PE_F32], "values");
}

/* Of three axes the second moves: its section's pairs turn, the others' elements keep their bits. */
TEST(an_axis_that_stays_keeps_its_bits)
{
    uint64_t seed = 3;
    pe_pair pair[32];
    int64_t from[T * 3], to[T * 3], changed[3] = { 0 };
    pe_encoding *e = encoding_of("rope:sections=8/12/12", test_shape);
    assert_ok(pe_encoding_pairs(e, pair, 32, &err));
    for (int i = 0; i < T * 3; i++)
        from[i] = to[i] = test_range(&seed, 0, 100);
    for (int t = 0; t < T; t++)
        to[3 * t + 1] += t + 1;
    pe_view k = random_keys(PE_F32, &seed), before = copied(k);
    assert_ok(pe_cache_shift(e, k, NULL, pe_positions_of(from, PE_I64, 1, T, 3), pe_positions_of(to, PE_I64, 1, T, 3), NULL, &err));
    for (int64_t row = 0; row < T * H; row++)
        for (int64_t n = 0; n < 32; n++)
            changed[pair[n].axis] +=
                get(k, 0, row / H, row % H, pair[n].x_out) != get(before, 0, row / H, row % H, pair[n].x_out);
    assert_int_equal(changed[0], 0);
    assert_int_equal(changed[2], 0);
    assert_true(changed[1] > T * H * 12 * 9 / 10);
}

/* float16 bits that are no number would not survive a conversion: what does not turn is not even read. */
TEST(elements_that_do_not_rotate_keep_their_bits)
{
    static const struct {
        const char *spec;
        int64_t first, last; /* what turns */
    } cases[] = { { "rope:dims=32", 0, 32 }, { "rope:dims=24,range=trailing,pairs=adjacent,magnitude=3", 40, 64 },
                  { "rope:dims=0", 0, 0 } };
    uint64_t seed = 4;
    for (int n = 0; n < COUNT(cases); n++)
        for (int k = 0; k < FLOAT_TYPES; k++) {
            size_t size = pe_dtype_size(float_types[k]);
            int64_t at[2][T];
            pe_encoding *e = encoding_of(cases[n].spec, test_shape);
            pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
            memset(space, 0xff, BYTES);
            for (int64_t i = 0; i < T * H; i++)
                for (int64_t d = cases[n].first; d < cases[n].last; d++)
                    num_store(space, float_types[k], i * D + d, test_uniform(&seed));
            assert_ok(pe_cache_shift(e, pe_view_of(space, float_types[k], 1, T, H, D), NULL, from, to, NULL, &err));
            for (size_t b = 0; b < T * H * D * size; b++) {
                int64_t d = (int64_t)(b / size) % D;
                if ((d < cases[n].first || d >= cases[n].last) && space[b] != 0xff)
                    fail_msg("%s, type %d: element %d was changed", cases[n].spec, (int)float_types[k], (int)d);
            }
        }
}

TEST(a_cache_without_rotation_stays_as_it_is)
{
    static const char *const specs[] = { "none", "alibi", "t5", "shaw:left=4,right=4", "sinusoidal", "rope:dims=0" };
    uint64_t seed = 5;
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[2][T * PE_AXES_MAX];
        pe_encoding *e = encoding_of(specs[n], test_shape),
                    *other = encoding_of(n < 5 ? "kerple" : "rope:dims=0", test_shape);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        pe_view k = random_keys(PE_F32, &seed), before = copied(k);
        assert_ok(pe_cache_shift(e, k, NULL, from, to, NULL, &err));
        assert_ok(pe_cache_rebase(e, other, k, NULL, from, NULL, &err));
        same("the cache", k, before);
    }
}

/* Axes in any order with gaps, positions in (axes, tokens) order: the bits of packed ones, and nothing between. */
TEST(strided_caches_equal_packed_ones)
{
    uint64_t seed = 6;
    pe_encoding *e = encoding_of("rope:sections=8/12/12,pairs=adjacent,magnitude=1.25", test_shape);
    for (int n = 0; n < FLOAT_TYPES * COUNT(orders); n++) {
        int64_t at[2][T * 3], across[2][T * 3];
        pe_positions where[2] = { near_positions(e, at[0], &seed), near_positions(e, at[1], &seed) }, other[2];
        for (int p = 0; n % 3 && p < T * 3; p++) /* all alike but the fourth token */
            at[1][p] = at[0][p] + (p / 3 == 3 ? 1 : 9);
        for (int s = 0; s < 2; s++) {
            for (int p = 0; p < T * 3; p++)
                across[s][p % 3 * T + p / 3] = at[s][p];
            other[s] = (pe_positions){ across[s], PE_I64, 1, T, 3, 0, 1, T, 0, 0 };
        }
        pe_view k = random_keys(float_types[n % FLOAT_TYPES], &seed), v = laid(k, orders[n / FLOAT_TYPES]);
        assert_ok(pe_cache_shift(e, k, NULL, where[0], where[1], NULL, &err));
        assert_ok(pe_cache_shift(e, v, NULL, other[0], other[1], NULL, &err));
        same("the cache", v, k);
        pe_view expected = laid(k, orders[n / FLOAT_TYPES]); /* and what lies between the rows */
        assert_memory_equal(v.data, expected.data, (size_t)laid_bytes(k, orders[n / FLOAT_TYPES]));
    }
}

/* ------------------------------------------------ xpos */

TEST(a_shift_that_would_overflow_is_a_sentence)
{
    pe_encoding *e = encoding_of("xpos:base=512", test_shape), *rope = encoding_of("rope:pairs=adjacent", test_shape);
    int64_t far[] = { 30000, -30000, 40000, 3000 }, near[] = { 0 }; /* e^73 at 30000 */
    pe_view all = random_keys(PE_F32, &(uint64_t){ 7 }), before = copied(all), one = cut(all, 0, 0, 1);
#define AT(p) pe_positions_of(p, PE_I64, 1, 1, 1)
    assert_refused(pe_cache_shift(e, one, NULL, AT(far), AT(far + 1), NULL, &err), PE_ERR_POSITION,
                   "smaller steps"); /* e^146 */
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(far + 2), AT(near), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far + 2), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_rebase(e, rope, one, NULL, AT(far + 2), NULL, &err), PE_ERR_POSITION);
    assert_int_equal(pe_cache_rebase(rope, e, one, NULL, AT(far + 2), NULL, &err), PE_ERR_POSITION);
    one.dtype = PE_F16;
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err), PE_ERR_POSITION);
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(near), NULL, &err));
    one.dtype = PE_Q8_0;
    assert_int_equal(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err), PE_ERR_POSITION);
    same("what was refused", all, before);
    one.dtype = PE_F32;
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(far), NULL, &err)); /* in steps it arrives, and is still a number */
    assert_ok(pe_cache_shift(e, one, NULL, AT(far), AT(near), NULL, &err));
    assert_ok(pe_cache_shift(e, one, NULL, AT(near), AT(far + 1), NULL, &err));
    for (int64_t n = 0; n < H * D; n++)
        assert_true(isfinite(((float *)one.data)[n]));
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

static void check_rebase(const char *to_spec, const char *from_spec, const int64_t *where)
{
    uint64_t seed = 8;
    pe_encoding *to = encoding_of(to_spec, test_shape), *from = encoding_of(from_spec, test_shape);
    pe_positions at = pe_positions_of(where, PE_I64, 1, T, pe_encoding_axes(to));
    for (int k = 0; k < FLOAT_TYPES; k++) {
        pe_view raw = random_keys(float_types[k], &seed), cache = fresh_like(raw), want = fresh_like(raw);
        assert_ok(pe_rotate(from, PE_KEY, cache, raw, at, NULL, &err));
        assert_ok(pe_rotate(to, PE_KEY, want, raw, at, NULL, &err));
        assert_ok(pe_cache_rebase(to, from, cache, NULL, at, NULL, &err));
        assert_close(to, cache, want, afresh[float_types[k]], to_spec);
        pe_view before = copied(cache);
        assert_ok(pe_cache_rebase(to, to, cache, NULL, at, NULL, &err));
        assert_ok(pe_cache_rebase(to, encoding_of(to_spec, test_shape), cache, NULL, at, NULL, &err));
        same("to itself: nothing turns", cache, before);
    }
}

TEST(a_rebase_equals_rotating_afresh)
{
    int64_t near[T * PE_AXES_MAX], far[T * PE_AXES_MAX];
    uint64_t seed = 9;
    for (int i = 0; i < T * PE_AXES_MAX; i++) {
        near[i] = test_range(&seed, -1000, 100000);
        far[i] = i % 3 ? test_range(&seed, -PE_POSITION_MAX, PE_POSITION_MAX) : i % 2 ? PE_POSITION_MAX : -PE_POSITION_MAX;
    }
    for (int n = 0; n < COUNT(bases); n++)
        for (int way = 0; way < 2; way++) {
            check_rebase(bases[n][way], bases[n][!way], near);
            check_rebase(bases[n][way], bases[n][!way], far);
        }
}

TEST(a_rebase_of_xpos_equals_rotating_afresh)
{
    static const char *const specs[][2] = { { "xpos", "xpos:theta=500000" },
                                            { "xpos:base=128", "xpos:base=512,centre=50" },
                                            { "xpos:gamma=0.4", "xpos:gamma=2" },
                                            { "xpos", "rope:pairs=adjacent,magnitude=2" } };
    int64_t near[T];
    uint64_t seed = 10;
    for (int i = 0; i < T; i++)
        near[i] = test_range(&seed, -100, 300);
    for (int n = 0; n < COUNT(specs); n++)
        for (int way = 0; way < 2; way++)
            check_rebase(specs[n][way], specs[n][!way], near);
}

TEST(a_rebase_between_other_elements_is_a_sentence)
{
    static const struct {
        const char *to, *from, *says;
    } cases[] = {
        { "rope", "alibi", "rope rotates and alibi does not" },
        { "none", "rope", "pe_unrotate" },
        { "rope", "rope:pairs=adjacent", "pair 0" },
        { "rope:pairs=adjacent-half", "rope", "pair 0" },
        { "rope:dims=32", "rope", "rotates 16 pairs of 64 elements" },
        { "rope:dims=32", "rope:dims=32,range=trailing", "elements 0 and 16" },
        { "rope", "rope:sections=8/12/12", "axes" },
        { "xpos:pairs=half", "xpos", "pair 0" },
    };
    int64_t at[3] = { 1, 2, 3 };
    for (int n = 0; n < COUNT(cases); n++) {
        pe_encoding *to = encoding_of(cases[n].to, test_shape), *from = encoding_of(cases[n].from, test_shape);
        pe_view one = pe_view_of(space, PE_F32, 1, 1, H, D);
        pe_positions where = pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(to));
        assert_refused(pe_cache_rebase(to, from, one, NULL, where, NULL, &err), PE_ERR_UNSUITED, cases[n].says);
    }
}

/* ------------------------------------------------ blocks, written down a second time */

#define Q8 34
#define Q4 18

static int64_t bytes_of(pe_dtype kind)
{
    return bytes(kind, 32);
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
TEST(shifted_blocks_are_shifted_numbers_quantised)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent,magnitude=1.5", "rope:dims=32,range=trailing",
                                         "rope:sections=8/12/12", "xpos", "rope:precision=hf" };
    static _Alignas(8) unsigned char blocks[T * H * D / 32 * Q8], want[sizeof blocks], across[sizeof blocks];
    static float x[T * H * D], fresh[T * H * D], back[T * H * D];
    uint64_t seed = 11;
    for (int n = 0; n < COUNT(specs); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            int64_t at[2][T * PE_AXES_MAX], size = bytes_of(kind) * D / 32;
            pe_encoding *e = encoding_of(specs[n], test_shape);
            pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
            pe_view k = pe_view_of(x, PE_F32, 1, T, H, D);
            draw_into(pe_view_of(x, PE_F32, 1, T, H, D), &seed);
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
        }
}

/* More rows that lie one after another than go through float32 together, without a gap and with one: the bits of one
 * token and head at a time. */
TEST(many_rows_of_blocks_shift_as_one_by_one)
{
    enum { LONG_T = 70, FEW = 3, DIM = 96, GAP = 64, ROW = (DIM + GAP) / 32 * Q8 };
    static const char *const specs[] = { "rope", "rope:dims=40,range=trailing" };
    static unsigned char all[LONG_T * FEW * ROW], single[sizeof all];
    uint64_t seed = 21;
    for (int n = 0; n < 2 * COUNT(specs); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            int64_t stride = n % 2 ? DIM + GAP : DIM, row = stride / 32 * bytes_of(kind);
            float x[32];
            pe_encoding *e = encoding_of(specs[n / 2], (pe_shape){ FEW, FEW, DIM, 0 });
            pe_positions from = pe_positions_run(1, LONG_T, 100), to = pe_positions_run(1, LONG_T, 0);
            pe_view k = { all, kind, 1, LONG_T, FEW, DIM, 0, stride, LONG_T * stride };
            for (int64_t b = 0; b < LONG_T * FEW * stride / 32; b++) {
                for (int i = 0; i < 32; i++)
                    x[i] = (float)test_uniform(&seed);
                pack_all(all + b * bytes_of(kind), kind, x, 32);
            }
            memcpy(single, all, sizeof all);
            assert_ok(pe_cache_shift(e, k, NULL, from, to, NULL, &err));
            for (int64_t r = 0; r < LONG_T * FEW; r++) {
                pe_view one = { single + r * row, kind, 1, 1, 1, DIM, 0, DIM, DIM };
                assert_ok(pe_cache_shift(e, one, NULL, pe_positions_run(1, 1, r % LONG_T + 100), pe_positions_run(1, 1, r % LONG_T), NULL, &err));
            }
            assert_memory_equal(all, single, sizeof all);
        }
}

TEST(blocks_that_do_not_rotate_keep_their_bits)
{
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
    for (int n = 0; n < COUNT(cases); n++)
        for (pe_dtype kind = PE_Q8_0; kind <= PE_Q4_0; kind++) {
            uint64_t seed = 12;
            int64_t from[3] = { 5, 6, 7 }, to[3] = { 5, 6, 7 }, size = bytes_of(kind);
            pe_encoding *e = encoding_of(cases[n].spec, (pe_shape){ 1, 1, 128, 0 });
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
        }
}

/* Values worked by hand: a turn by half a turn's worth of nothing (magnitude 2 by a rebase) writes known blocks. */
TEST(blocks_are_written_as_ggml_reads_them)
{
    unsigned char eight[Q8] = { 0x00, 0x3c }, four[Q4] = { 0x00, 0x3c }; /* scale 1 */
    int64_t at[1] = { 0 };
    pe_encoding *one = encoding_of("rope", (pe_shape){ 1, 1, 32, 0 }),
                *two = encoding_of("rope:magnitude=2", (pe_shape){ 1, 1, 32, 0 });
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
}

/* UBSan watches the conversions. */
TEST(blocks_without_numbers_stay_without)
{
    static const uint16_t scales[] = { 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7bff, 0x0001, 0x8001, 0x0000, 0x8000 };
    int64_t from[1] = { 0 }, to[1] = { 1 };
    pe_encoding *e = encoding_of("rope:pairs=adjacent", (pe_shape){ 1, 1, 64, 0 });
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
}

TEST(blocks_need_whole_blocks)
{
    int64_t at[1] = { 0 };
    pe_encoding *e = encoding_of("rope", (pe_shape){ 1, 1, 48, 0 });
    pe_view cache = pe_view_of(space, PE_Q8_0, 1, 1, 1, 48);
    assert_says(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_SHAPE,
                "the cache: dim is 48; blocks need a multiple of 32");
    cache = pe_view_of(space, PE_Q8_0, 1, 1, 1, 64);
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_SHAPE);
    e = encoding_of("rope", (pe_shape){ 1, 1, 64, 0 });
    pe_positions two = pe_positions_run(1, 2, 0);
    cache.tokens = 2;
    cache.token_stride = INT64_MAX / 8;
    assert_int_equal(pe_cache_shift(e, cache, NULL, two, two, NULL, &err), PE_ERR_OVERFLOW);
    for (int n = 0; n < 3; n++) { /* strides count elements, and go from block to block */
        cache = pe_view_of(space, PE_Q8_0, 1, 1, 1, 64);
        *(n == 0 ? &cache.batch_stride : n == 1 ? &cache.token_stride : &cache.head_stride) = 80;
        assert_refused(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_RANGE, "multiples of 32");
    }
    cache = pe_view_of(space, PE_Q8_0, 1, 1, 2, 64);
    cache.head_stride = 32; /* one block: rows of two overlap */
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_ALIAS);
    cache.data = space + 1;
    assert_int_equal(pe_cache_shift(e, cache, NULL, AT(at), AT(at), NULL, &err), PE_ERR_ALIGN);
}

/* ------------------------------------------------ pools */

static void run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    ++*(int64_t *)self;
    for (int64_t n = count; n-- > 0;)
        job(arg, n, 0);
}

TEST(a_pool_that_cannot_work_is_refused)
{
    int64_t at[1] = { 0 };
    pe_pool none = { NULL, 1, NULL }, *inside = (pe_pool *)(void *)space;
    pe_positions where = pe_positions_of(at, PE_I64, 1, 1, 1);
    pe_encoding *e = encoding_of("rope", test_shape);
    pe_view cache = pe_view_of(space, PE_F32, 1, 1, H, D);
    pe_run run = PE_MAKE(pe_run, .pool = &none);
    assert_int_equal(pe_cache_shift(e, cache, NULL, where, where, &run, &err), PE_ERR_RANGE);
    assert_int_equal(pe_cache_rebase(e, e, cache, NULL, where, &run, &err), PE_ERR_RANGE);
    *inside = (pe_pool){ NULL, 1, run_backwards };
    run.pool = inside;
    assert_int_equal(pe_cache_shift(e, cache, NULL, where, where, &run, &err), PE_ERR_ALIAS);
    assert_int_equal(pe_cache_rebase(e, e, cache, NULL, where, &run, &err), PE_ERR_ALIAS);
}

TEST(any_pool_gives_the_same_bits)
{
    enum { N = 700 };
    static float k[4][N * H * D];
    static int64_t from[N], to[N];
    uint64_t seed = 13;
    int64_t calls = 0;
    pe_pool backwards = { &calls, 1, run_backwards }, *threads = pool_of(3);
    for (int kind = 0; kind < 4; kind++) { /* exact by one delta, exact by several, in general, rebased */
        pe_encoding *e = encoding_of(kind == 2 ? "rope:precision=hf" : "rope", test_shape),
                    *base = encoding_of("rope:theta=500", test_shape);
        for (int t = 0; t < N; t++) {
            from[t] = t + 1000;
            to[t] = kind == 1 ? test_range(&seed, 0, 3) : t;
        }
        draw_into(pe_view_of(k[0], PE_F32, 1, N, H, D), &seed);
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
    }
    assert_int_equal(calls, 4);
}

TEST(every_rung_gives_the_same_bits)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent,dims=48,range=trailing",
                                         "rope:pairs=adjacent-half,magnitude=1.5", "rope:axes=2,split=blocks",
                                         "rope:axes=4,split=alternate,pairs=adjacent", "xpos" };
    for (int n = 0; n < COUNT(specs) * 6; n++) {
        uint64_t seed = 17;
        int64_t at[2][T * PE_AXES_MAX];
        char slower[80];
        snprintf(slower, sizeof slower, "%s%ctheta=500", specs[n / 6], strchr(specs[n / 6], ':') ? ',' : ':');
        pe_encoding *e = encoding_of(specs[n / 6], test_shape), *base = encoding_of(slower, test_shape);
        pe_positions from = near_positions(e, at[0], &seed), to = near_positions(e, at[1], &seed);
        pe_dtype kind = n % 6 < 4 ? float_types[n % 6] : n % 6 == 4 ? PE_Q8_0 : PE_Q4_0;
        pe_view before = random_keys(kind, &seed), first = { 0 };
        for (int r = 0; pe_kernels_name(r); r++) {
            pe_view cache = copied(before);
            if (pe_encoding_set_kernels(e, pe_kernels_name(r), NULL))
                continue;
            assert_ok(pe_cache_shift(e, cache, NULL, from, to, NULL, &err));
            assert_ok(pe_cache_rebase(e, base, cache, NULL, to, NULL, &err));
            first = r ? first : cache;
            same(pe_kernels_name(r), cache, first);
        }
        assert_memory_not_equal(before.data, first.data, (size_t)bytes(kind, T * H * D));
    }
}

/* ------------------------------------------------ attention over a shifted cache */

TEST(attention_does_not_notice_a_shift)
{
    static const char *const specs[] = { "rope", "rope:theta=500000,pairs=adjacent,dims=32", "rope:scaling=yarn,factor=4,trained=2048",
                                         "rope:sections=8/12/12", "rope+alibi", "rope+t5:scale=sqrt" };
    static double q[8 * D], k[T * H * D], rotated[T * H * D], v[T * H * D], out[3][8 * D], lse[3][8], w[4096];
    uint64_t seed = 14;
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[T * 3], later[T * 3];
        pe_encoding *e = encoding_of(specs[n], test_shape);
        int64_t axes = pe_encoding_axes(e), count = pe_encoding_param_count(e);
        pe_params params = { w, PE_F64, count };
        assert_true(count <= COUNT(w));
        assert_ok(pe_encoding_init(e, params, 15, &err));
        for (int64_t i = 0; i < T * axes; i++) {
            at[i] = 100 + i / axes * 3 + i % axes;
            later[i] = at[i] - 73;
        }
        draw_into(pe_view_of(q, PE_F64, 1, 1, 8, D), &seed);
        draw_into(pe_view_of(k, PE_F64, 1, T, H, D), &seed);
        draw_into(pe_view_of(v, PE_F64, 1, T, H, D), &seed);
        pe_positions old = pe_positions_of(at, PE_I64, 1, T, axes), new = pe_positions_of(later, PE_I64, 1, T, axes);
        for (int way = 0; way < 3; way++) { /* unrotated keys at the old place; fresh at the new one; shifted */
            pe_view view_k = pe_view_of(way ? rotated : k, PE_F64, 1, T, H, D);
            pe_positions where = way ? new : old;
            if (way)
                assert_ok(pe_rotate(e, PE_KEY, view_k, pe_view_of(k, PE_F64, 1, T, H, D), way == 1 ? new : old, NULL, &err));
            if (way == 2)
                assert_ok(pe_cache_shift(e, view_k, NULL, old, new, NULL, &err));
            pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out[way], PE_F64, 1, 1, 8, D), .lse = pe_view_of(lse[way], PE_F64, 1, 1, 8, 1),
                               .q = pe_view_of(q, PE_F64, 1, 1, 8, D), .k = view_k, .v = pe_view_of(v, PE_F64, 1, T, H, D),
                               .q_at = pe_positions_of((const int64_t *)where.data + (T - 1) * axes, PE_I64, 1, 1, axes), .k_at = where, .rotated = way > 0 };
            pe_run run = PE_MAKE(pe_run, .params = params);
            assert_ok(pe_reference_work(e, &a, &run.work_bytes, &err));
            run.work = take((int64_t)run.work_bytes, 1);
            assert_ok(pe_reference_forward(e, &a, &run, &err));
        }
        for (int i = 0; i < 8 * D; i++) /* scores of up to 6 in float64, known to 2^-48 */
            assert_true(fabs(out[2][i] - out[1][i]) < 1e-12 && fabs(out[2][i] - out[0][i]) < 1e-12);
        for (int h = 0; h < 8; h++)
            assert_true(fabs(lse[2][h] - lse[1][h]) < 1e-12 && fabs(lse[2][h] - lse[0][h]) < 1e-12);
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
 * elements by half a step of max/127, or by one of max/8 where the codes have no +8, and its scale by u of float16. Errors are rotated and
 * added, and a block gets no longer than float16 rounds its scale up: 1,000 shifts cannot make it e^0.5 times as long. */
static const store stores[] = {
    { "f32", PE_F32, 3.42 * 0x1p-24, 1e-7, 3e-5, 3e-5, 6e-6 },
    { "f16", PE_F16, 1.001 * 0x1p-11, 4e-4, 1e-1, 1e-1, 1.2e-2 },
    { "bf16", PE_BF16, 1.001 * 0x1p-8, 3e-3, 8e-1, 8e-1, 8e-2 },
    { "q8_0", PE_Q8_0, 5.66 / 254 + 0x1p-11, 7e-3, 1.4, 1.4, 2e-1 },
    { "q4_0", PE_Q4_0, 5.66 / 8 + 0x1p-11, 1e-1, 1.2, 1.2, 1.2 },
};

static void save(void *to, const store *s, const float *x)
{
    if (in_blocks(s->type))
        pack_all(to, s->type, x, N * KV * W);
    else
        for (int i = 0; i < N * KV * W; i++)
            num_store(to, s->type, i, x[i]);
}

static void load(float *x, const store *s, const void *from)
{
    if (in_blocks(s->type))
        unpack_all(x, from, s->type, N * KV * W);
    else
        for (int i = 0; i < N * KV * W; i++)
            x[i] = (float)num_load(from, s->type, i);
}

/* The worst key after `times` shifts by low .. high, against the same stored numbers rotated once in float64. */
static double drift(const pe_encoding *e, const store *s, int times, int64_t low, int64_t high)
{
    static _Alignas(8) unsigned char cache[N * KV * W * 4];
    static float start[N * KV * W], end[N * KV * W];
    static double exact[N * KV * W];
    uint64_t seed = 16;
    int64_t at[2] = { 0, 0 };
    double worst = 0;
    draw_into(pe_view_of(start, PE_F32, 1, N, KV, W), &seed);
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

TEST(a_thousand_shifts_err_within_bounds)
{
    pe_encoding *e = encoding_of("rope:theta=500000", (pe_shape){ KV, KV, W, 0 });
    printf("| stored as | 1 shift by 1,000 | 1,000 by +1 | 1,000 by -1 | 1,000 by -50 to 50 | at most, each |\n"
           "|---|---|---|---|---|---|\n");
    for (int n = 0; n < COUNT(stores); n++) {
        const store *s = &stores[n];
        double once = drift(e, s, 1, 1000, 1000), forth = drift(e, s, SHIFTS, 1, 1), back = drift(e, s, SHIFTS, -1, -1),
               any = drift(e, s, SHIFTS, -50, 50);
        double most = fmin(in_blocks(s->type) ? 1 + exp(0.5) : INFINITY, SHIFTS * s->each);
        printf("| %s | %.1e | %.1e | %.1e | %.1e | %.1e |\n", s->name, once, forth, back, any, s->each);
        if (!(once < s->once && forth < s->forth && back < s->back && any < s->any))
            fail_msg("%s: an error above what it was", s->name);
        if (!(once < s->each && forth < most && back < most && any < most))
            fail_msg("%s: an error above its bound", s->name);
    }
}
