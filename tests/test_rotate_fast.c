/* SPDX-License-Identifier: MIT
 * labels: core; needs: threads
 *
 * Every rung of kernels gives the bits of the scalar one, which test_rotate.c and test_exact.c hold to the header: tables,
 * rotations in every layout and type, q and k in one call, any pool. */
#include "common.h"
#include "kernels/exact.h"
#include "kernels/kernels.h"
#include "kernels/num.h"

enum { T = 37, H = 3, D = 64, ROW = D + 5 };

static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };

typedef pe_status turn_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, pe_error *);
static turn_call *const calls[] = { pe_encoding_rotate, pe_encoding_unrotate, pe_encoding_rotate_back };

/* Besides the examples: odd counts, both ends, blocks, everything that moves. */
static const char *const more[] = {
    "rope:dims=2",
    "rope:dims=6,pairs=adjacent",
    "rope:dims=10,pairs=adjacent-half,range=trailing,magnitude=1.5",
    "rope:dims=14,range=trailing",
    "rope:dims=46,pairs=adjacent,magnitude=0.3",
    "rope:dims=58",
    "rope:dims=62,pairs=adjacent-half",
    "rope:dims=0,temperature=0.1,floor=4",
    "rope:dims=24,temperature=0.2,floor=16,range=trailing",
    "rope:pairs=adjacent,temperature=0.2,floor=16",
    "rope:axes=2,split=blocks,pairs=adjacent",
    "rope:axes=2,split=blocks,pairs=adjacent-half,dims=48",
    "rope:axes=2,split=blocks,sections=5/18,dims=46",
    "rope:theta=1e15",
    "rope:theta=1e15,sign=negative,magnitude=3",
    "rope:scaling=proportional,turning=0.5,sign=negative,magnitude=2",
    "rope:turn=qkvo,pairs=adjacent-half,dims=48,magnitude=0.7",
};

static void each_rotation(void (*f)(const char *))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(more); i++)
        f(more[i]);
}

/* The n-th rung above scalar that this CPU has, on an encoding of its own; NULL: no more. */
static pe_encoding *next_rung(const char *spec, pe_shape shape, int *n)
{
    const char *name;
    while ((name = ladder_name(++*n))) {
        pe_encoding *e = test_encoding(spec, shape);
        if (!pe_encoding_set_kernels(e, name, NULL))
            return e;
        pe_encoding_free(e);
    }
    return NULL;
}

static pe_encoding *scalar(const char *spec, pe_shape shape)
{
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape);
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
static void assert_same(pe_dtype type, const char *spec, const char *what)
{
    size_t size = pe_dtype_size(type);
    for (size_t n = 0; n < sizeof memory[0] / size; n++) {
        double a = num_load(memory[1], type, (int64_t)n), b = num_load(memory[2], type, (int64_t)n);
        if (memcmp(memory[1] + n * size, memory[2] + n * size, size) && !(isnan(a) && isnan(b)))
            fail_msg("%s, %s, type %d: element %zu is %.9g; the scalar kernels give %.9g", spec, what, (int)type, n, b, a);
    }
}

/* Token-major and head-major, both with gaps, at an odd offset. */
static pe_view view(void *data, pe_dtype type, int layout)
{
    pe_view v = { (char *)data + pe_dtype_size(type) * 3, type, T, H, D, H * ROW, ROW };
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
    pe_error err;
    char what[100];
    const pe_encoding *both[] = { c, e };
    for (int i = 0; i < 2; i++) {
        pe_view y = view(memory[1 + i], type, layout), x = in_place ? y : view(memory[0], type, layout);
        assert_ok(calls[call](both[i], side, y, x, at, &err));
    }
    snprintf(what, sizeof what, "%s, call %d, side %d, layout %d%s", pe_encoding_kernels(e), call, (int)side, layout,
             in_place ? ", in place" : "");
    assert_same(type, spec, what);
}

static void check_rotations(const char *spec)
{
    uint64_t seed = 31;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *c = scalar(spec, test_shape), *e;
    pe_positions where = { at, T, pe_encoding_axes(c), 0, 0 };
    for (int n = 0; (e = next_rung(spec, test_shape, &n)); pe_encoding_free(e))
        for (int round = 0; round < COUNT(types) * COUNT(calls) * 2 * 2 * 2; round++) {
            pe_dtype type = types[round % 3];
            int call = round / 3 % 3, layout = round / 9 % 2;
            pe_side side = !strstr(spec, "qkv") || round % 5 < 2 ? (pe_side)(round / 18 % 2) : (pe_side)(2 + round / 18 % 2);
            at_positions(at, T * where.axes, strstr(spec, "xpos") != NULL, &seed);
            fill(type, &seed);
            try_call(spec, e, c, call, side, type, layout, round / 36 % 2, where);
        }
    pe_encoding_free(c);
}

static void every_rung_rotates_alike(void **state)
{
    (void)state;
    each_rotation(check_rotations);
}

/* ------------------------------------------------ tables */

enum { N = 200 };

static void try_table(const char *spec, const pe_encoding *e, const pe_encoding *c, pe_side side, pe_positions at)
{
    static float value[2][2][N * 32];
    pe_error err;
    int64_t P = pe_encoding_pair_count(c);
    const pe_encoding *both[] = { c, e };
    for (int i = 0; i < 2; i++)
        assert_ok(pe_encoding_table(both[i], side, pe_view_packed(value[i][0], PE_F32, at.tokens, 1, P),
                                    pe_view_packed(value[i][1], PE_F32, at.tokens, 1, P), at, &err));
    for (int k = 0; k < 2; k++)
        for (int64_t n = 0; n < at.tokens * P; n++)
            if (memcmp(&value[0][k][n], &value[1][k][n], 4))
                fail_msg("%s, %s: %s of pair %d at %" PRId64 " is %.9g; the scalar kernels give %.9g", spec,
                         pe_encoding_kernels(e), k ? "sine" : "cosine", (int)(n % P), at.at[n / P * at.token_stride],
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
    pe_positions where = { at, N, axes, axes, 1 };
    for (int n = 0; (e = next_rung(spec, test_shape, &n)); pe_encoding_free(e))
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
    pe_encoding_free(c);
}

static void every_rung_makes_the_same_tables(void **state)
{
    (void)state;
    each_rotation(check_tables);
}

/* The product of two angles never shows: what pe_encoding_table makes of many positions is what turn_cos_sin makes of
 * each, over millions of values. The scalar kernels go through the same product, so truth is made here. */
static void check_truth(const char *spec, int64_t start, int64_t count, turn_call *back, double power)
{
    static float value[2][N * 32], x[N * D], y[N * D];
    static int64_t at[N];
    pe_error err;
    pe_encoding *e = test_encoding(spec, test_shape);
    pe_pair pairs[32];
    int64_t P = pe_encoding_pair_count(e);
    double m = pe_encoding_magnitude(e), size = power < 0 ? 1 / m : m;
    assert_ok(pe_encoding_pairs(e, pairs, P, &err));
    for (int64_t from = start; from < start + count; from += N) {
        for (int64_t t = 0; t < N; t++)
            at[t] = from + t;
        pe_positions where = { at, N, 1, 0, 0 };
        if (!back)
            assert_ok(pe_encoding_table(e, PE_KEY, pe_view_packed(value[0], PE_F32, N, 1, P),
                                        pe_view_packed(value[1], PE_F32, N, 1, P), where, &err));
        else { /* (1, 0) turned back is (cos, -sin) */
            for (int64_t n = 0; n < N * D; n++)
                x[n] = n % D < P;
            assert_ok(back(e, PE_KEY, pe_view_packed(y, PE_F32, N, 1, D), pe_view_packed(x, PE_F32, N, 1, D), where, &err));
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
    pe_encoding_free(e);
}

static void a_table_is_made_of_single_turns(void **state)
{
    (void)state;
    check_truth("rope", 0, 60000, NULL, 1);
    check_truth("rope:theta=500000", -3000, 60000, NULL, 1);
    check_truth("rope:theta=1e15,magnitude=1.1", 5, 3000, NULL, 1);
    check_truth("rope:magnitude=1.2345", 1000000000, 30000, NULL, 1);
    check_truth("rope:magnitude=1.2345", PE_POSITION_MAX - 20000, 20000, NULL, 1);
    check_truth("rope:magnitude=1.2345,dims=60", 0, 3000, NULL, 1);
    check_truth("rope:magnitude=0.71", -100, 20000, pe_encoding_rotate_back, 1);
    check_truth("rope:magnitude=0.71", -100, 20000, pe_encoding_unrotate, -1);
    check_truth("rope:scaling=proportional,turning=0.25,magnitude=3", -500, 5000, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung_rotates_alike),
        cmocka_unit_test(every_rung_makes_the_same_tables),
        cmocka_unit_test(a_table_is_made_of_single_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
