/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 18 s; needs: check wrap; sanitize: all
 *
 * check names the bug that was planted, and no other. The engine here rotates in plain double, written anew, with a
 * switch for every bug. */
#define _POSIX_C_SOURCE 200809L /* popen, mkdtemp */
#include "heap.h"

#include "base/num.h"
#include "check/findings.h"
#include "io/io.h"

#include <sys/wait.h>

#include "test.h"

#define TOKENS 96
#define HEADS 2
#define WIDEST 128
#define NUMBERS (TOKENS * HEADS * WIDEST)

/* ------------------------------------------------ an engine with a switch for every bug */

typedef enum kind { DOUBLE, FLOAT, HALF, BRAIN } kind; /* what a number is rounded to */
typedef enum scale { PLAIN, LINEAR, YARN, LLAMA } scale;

typedef struct engine {
    const char *spec;
    int64_t D, dims, axes;
    double theta, denominator; /* 0: dims */
    double steps;              /* 0: 1 */
    scale scale;
    double factor, trained, low, high; /* of a scaling; low and high: llama3's, or YaRN's beta_fast and beta_slow */
    double magnitude;
    bool adjacent_in, adjacent_out, tile_other, trailing, interleaved, index, still, back;
    bool plain_cos, plain_sin, swapped, twice, by_head;
    double sign;
    int64_t section[3], shift, zero, restart; /* restart: positions start again after so many tokens */
    int axis[3];
    kind freq, pos, angle, table, data;
    int64_t stride, start; /* positions start, start + stride, ... */
} engine;

static double round_to(double x, kind k)
{
    static const int bits[] = { 53, 24, 11, 8 };
    int e, least = k == HALF ? -13 : -125;
    if (k == DOUBLE || x == 0 || !isfinite(x))
        return x;
    frexp(x, &e);
    double unit = ldexp(1, (e < least ? least : e) - bits[k]);
    return nearbyint(x / unit) * unit;
}

static double scaled(const engine *p, double f)
{
    const double two_pi = 6.283185307179586;
    if (p->scale == LINEAR)
        return f / p->factor;
    if (p->scale == LLAMA) {
        double turns = p->trained * f / two_pi, mix = (turns - p->low) / (p->high - p->low), slow = f / p->factor;
        return turns < p->low ? slow : turns > p->high ? f : (1 - mix) * slow + mix * f;
    }
    return f;
}

/* YaRN: ends rounded outwards. */
static double yarn(const engine *p, double f, int64_t i)
{
    double d = (double)p->dims, end[2], beta[] = { p->low, p->high };
    for (int k = 0; k < 2; k++)
        end[k] = d * log(p->trained / (beta[k] * 6.283185307179586)) / (2 * log(p->theta));
    double low = fmax(floor(end[0]), 0), high = fmin(ceil(end[1]), d - 1), ramp = ((double)i - low) / (high - low);
    ramp = fmin(fmax(ramp, 0), 1);
    return f / p->factor * ramp + f * (1 - ramp);
}

static double frequency(const engine *p, int64_t i)
{
    double d = p->denominator > 0 ? p->denominator : (double)p->dims, f = pow(p->theta, -2.0 * (double)i / d);
    return p->scale == YARN ? yarn(p, f, i) : scaled(p, f);
}

static int axis_of(const engine *p, int64_t i)
{
    int a = 0;
    if (p->axes == 1)
        return 0;
    if (p->interleaved)
        return i < 3 * p->section[i % 3] ? (int)(i % 3) : 0;
    for (int64_t end = p->section[0]; i >= end; end += p->section[a])
        a++;
    return a;
}

static int64_t head_at; /* the head that is rotated */

static void cos_sin(const engine *p, const int64_t *at, int64_t token, int64_t i, double *c, double *s)
{
    int64_t steps = at[p->axis[axis_of(p, i)]] + p->shift;
    if (p->index)
        steps = token;
    if (p->restart)
        steps -= p->start + token / p->restart * p->restart * p->stride;
    if (p->by_head)
        steps = head_at;
    double f = round_to(frequency(p, i), p->freq), t = round_to((double)(p->zero ? 0 : steps), p->pos);
    double angle = round_to(t * f * (p->steps > 0 ? p->steps : 1), p->angle) * p->sign;
    double value[] = { cos(angle) * (p->plain_cos ? 1 : p->magnitude), sin(angle) * (p->plain_sin ? 1 : p->magnitude) };
    *c = round_to(value[p->swapped], p->table);
    *s = round_to(value[!p->swapped], p->table);
}

static int64_t first(const engine *p)
{
    return p->trailing ? p->D - p->dims : 0;
}

/* The pair of element e, and which of its two it is. */
static int64_t pair_of(const engine *p, bool adjacent, int64_t e, int64_t *which)
{
    int64_t half = p->dims / 2;
    *which = adjacent ? e % 2 : e / half;
    return adjacent ? e / 2 : e % half;
}

static int64_t element_of(const engine *p, bool adjacent, int64_t pair, int64_t which)
{
    return adjacent ? 2 * pair + which : pair + which * (p->dims / 2);
}

static void rotate(const engine *p, double *y, const double *x, const int64_t *at, int64_t token)
{
    memcpy(y, x, (size_t)p->D * sizeof *x);
    for (int64_t e = 0; e < p->dims && !p->still; e++) {
        int64_t which, other, n = pair_of(p, p->adjacent_out, e, &which);
        int64_t tile = p->tile_other ? pair_of(p, !p->adjacent_out, e, &other) : n;
        double c, s, a = x[first(p) + element_of(p, p->adjacent_in, n, 0)];
        double b = x[first(p) + element_of(p, p->adjacent_in, n, 1)];
        cos_sin(p, at, token, tile, &c, &s);
        if (p->back) {
            c /= p->magnitude * p->magnitude;
            s /= -p->magnitude * p->magnitude;
        }
        double value = which ? a * s + b * c : a * c - b * s;
        y[first(p) + e] = value;
    }
}

/* ------------------------------------------------ what it dumps */

static const pe_dtype dtype_of[] = { PE_F64, PE_F32, PE_F16, PE_BF16 };

/* An array of the dump: numbers rounded to a type, which check and the tool read. */
typedef struct dump {
    check_array a;
    double room[2 * NUMBERS];
} dump;

static dump before, after;               /* or cos and sin */
static double x[NUMBERS], y[NUMBERS];    /* before and after, as doubles */
static int64_t positions[TOKENS * 3];    /* (TOKENS, axes) */
static check_input in;

static void dump_put(dump *to, kind k, int rank, const int64_t *shape, const double *from)
{
    int64_t count = 1;
    to->a = (check_array){ to->room, dtype_of[k], rank, { 0 } };
    for (int i = 0; i < rank; i++)
        count *= to->a.shape[i] = shape[i];
    for (int64_t i = 0; i < count; i++)
        num_store(to->room, dtype_of[k], i, from[i]);
}

static void dump_vectors(kind k, int rank, const int64_t *shape, const double *u, const double *v)
{
    dump_put(&before, k, rank, shape, u);
    dump_put(&after, k, rank, shape, v);
    in.array[0] = before.a;
    in.array[1] = after.a;
}

/* The input of check, without its arrays. */
static void start_input(const engine *p, bool tables)
{
    for (int64_t t = 0; t < TOKENS; t++) {
        int64_t at[3] = { p->start + t * p->stride, 40 + t % 11, 7 + t / 3 };
        memcpy(positions + t * p->axes, at, (size_t)p->axes * sizeof *at);
    }
    in = (check_input){ .spec = p->spec, .tables = tables, .at = pe_positions_of(positions, PE_I64, 1, TOKENS, p->axes),
                        .head_dim = tables && p->D != p->dims ? p->D : 0, .name = { "q.npy", "y.npy", "p.npy" } };
}

static void make_vectors(const engine *p)
{
    uint64_t seed = 7;
    start_input(p, false);
    for (int64_t r = 0; r < TOKENS * HEADS; r++) {
        for (int64_t d = 0; d < p->D; d++)
            x[r * p->D + d] = round_to(test_uniform(&seed), p->data);
        head_at = r % HEADS;
        rotate(p, y + r * p->D, x + r * p->D, positions + r / HEADS * p->axes, r / HEADS);
        for (int64_t d = 0; p->twice && d < p->D; d++)
            before.room[d] = y[r * p->D + d];
        if (p->twice)
            rotate(p, y + r * p->D, before.room, positions + r / HEADS * p->axes, r / HEADS);
    }
    dump_vectors(p->data, 3, (int64_t[]){ TOKENS, HEADS, p->D }, x, y);
}

/* tiled: as wide as dims, else as pairs */
static void make_tables(const engine *p, bool tiled)
{
    int64_t width = tiled ? p->dims : p->dims / 2, which;
    start_input(p, true);
    for (int64_t t = 0; t < TOKENS; t++)
        for (int64_t e = 0; e < width; e++)
            cos_sin(p, positions + t * p->axes, t, tiled ? pair_of(p, p->adjacent_out, e, &which) : e,
                    &x[t * width + e], &y[t * width + e]);
    dump_vectors(p->data, 2, (int64_t[]){ TOKENS, width }, x, y);
}

/* ------------------------------------------------ what check finds in it */

static int failures;

static check_findings *find(void)
{
    check_findings *f = NULL;
    assert_ok(check_run(&f, &in, &err));
    return f;
}

/* The bugs' names, "a and b"; "" for none. */
static const char *names_of(const check_findings *f)
{
    static char names[120];
    snprintf(names, sizeof names, "%s%s%s", f->bugs ? f->bug[0].id : "", f->bugs > 1 ? " and " : "",
             f->bugs > 1 ? f->bug[1].id : "");
    return names;
}

/* bug "": the data is good. Nothing else fits as well. */
static void expect(const engine *p, const char *bug)
{
    check_findings *f = find();
    bool right = f->verdict == (*bug ? CHECK_MISMATCH : CHECK_OK) && !strcmp(names_of(f), bug) && !f->also_count;
    if (!right)
        printf("%s (%s): verdict %d, '%s', and %d more; should be '%s'\n", p->spec, in.tables ? "tables" : "vectors",
               f->verdict, names_of(f), f->also_count, bug);
    failures += !right;
    check_findings_free(f);
}

static void expect_vectors(const engine *p, const char *bug)
{
    make_vectors(p);
    expect(p, bug);
}

static void expect_tables(const engine *p, bool tiled, const char *bug)
{
    make_tables(p, tiled);
    expect(p, bug);
}

static void expect_verdict(check_verdict verdict, const char *fits)
{
    check_findings *f = find();
    assert_int_equal(f->verdict, verdict);
    assert_true(fits ? f->fits && !strcmp(f->fits, fits) : !f->fits);
    check_findings_free(f);
}

/* ------------------------------------------------ specs and bugs */

/* axes, magnitude, stride: 0 stands for 1 */
static const engine engines[] = {
    { .spec = "rope", .D = 64, .dims = 64, .theta = 10000 },
    { .spec = "rope:theta=500000", .D = 128, .dims = 128, .theta = 500000, .stride = 37, .start = 3 },
    { .spec = "rope:theta=1000000,pairs=adjacent", .D = 64, .dims = 64, .theta = 1e6, .adjacent_in = true,
      .adjacent_out = true },
    { .spec = "rope:pairs=adjacent-half,theta=50000", .D = 64, .dims = 64, .theta = 50000, .adjacent_in = true },
    { .spec = "rope:scaling=linear,factor=4", .D = 96, .dims = 96, .theta = 10000, .scale = LINEAR, .factor = 4 },
    { .spec = "rope:scaling=yarn,factor=4,trained=2048", .D = 64, .dims = 64, .theta = 10000, .scale = YARN,
      .factor = 4, .trained = 2048, .low = 32, .high = 1, .magnitude = 1.138629436111989 },
    { .spec = "rope:theta=500000,scaling=llama3,factor=8,trained=8192", .D = 128, .dims = 128, .theta = 500000,
      .scale = LLAMA, .factor = 8, .trained = 8192, .low = 1, .high = 4, .stride = 40 },
    { .spec = "rope:dims=32", .D = 64, .dims = 32, .theta = 10000 },
    { .spec = "rope:dims=64,range=trailing,theta=500000", .D = 128, .dims = 64, .theta = 500000, .stride = 11,
      .trailing = true },
    { .spec = "rope:sections=8/12/12,theta=1000000", .D = 64, .dims = 64, .theta = 1e6, .axes = 3,
      .section = { 8, 12, 12 }, .start = 3, .stride = 2 },
    { .spec = "rope:sections=12/10/10,split=interleaved", .D = 64, .dims = 64, .theta = 10000, .axes = 3,
      .section = { 12, 10, 10 }, .start = 3, .stride = 40, .interleaved = true },
    { .spec = "rope+alibi", .D = 64, .dims = 64, .theta = 10000 },
};

static engine engine_of(int i)
{
    engine p = engines[i];
    p.axes += !p.axes;
    p.stride += !p.stride;
    p.magnitude = p.magnitude > 0 ? p.magnitude : 1;
    p.sign = 1;
    p.data = FLOAT;
    for (int a = 0; a < 3; a++)
        p.axis[a] = a;
    return p;
}

#define NO_TABLE 1u /* cos and sin do not show it */
#define TILED 2u    /* only tables as wide as dims do */
#define COARSE 4u   /* seen in 16 bits too */
#define FEW 8u      /* every third engine will do */

#define SCALED (p->scale != PLAIN)
#define RAMPED (p->scale == YARN || p->scale == LLAMA)
#define HAS_FACTOR (p->magnitude != 1)
#define ROUND_ALL(k) p->stride = 100, p->freq = p->pos = p->angle = (k) /* further away, where roundings show */
#define SWAP(type, a, b) type was = (a); (a) = (b); (b) = was

/* name, the bug it is, flags; which engines can have it; what it changes */
#define BUGS(X) \
    X(adjacent, "pair-layout", TILED | COARSE, !(p->adjacent_in && p->adjacent_out), \
      p->adjacent_in = p->adjacent_out = true) \
    X(half, "pair-layout", TILED | COARSE, p->adjacent_in || p->adjacent_out, \
      p->adjacent_in = p->adjacent_out = false) \
    X(adjacent_half, "pair-layout", NO_TABLE, !(p->adjacent_in && !p->adjacent_out), \
      p->adjacent_in = true, p->adjacent_out = false) \
    X(mixed, "mixed-layout", NO_TABLE | COARSE, p->adjacent_in == p->adjacent_out, p->tile_other = true) \
    X(negative, "opposite-sign", COARSE, true, p->sign = -1) \
    X(swapped, "tables-swapped", COARSE, true, p->swapped = true) \
    X(inverse, "inverse", NO_TABLE, HAS_FACTOR, p->back = true) \
    X(one_more, "off-by-one", COARSE, true, p->shift = 1) \
    X(one_less, "off-by-one", COARSE, true, p->shift = -1) \
    X(five_more, "position-offset", COARSE, true, p->shift = 5) \
    X(sixteen_more, "position-offset", COARSE, true, p->shift = 16) \
    X(sixty_four_less, "position-offset", FEW, true, p->shift = -64) \
    X(thousand_more, "position-offset", COARSE | FEW, true, p->shift = 1000) \
    X(hundred_thousand_more, "position-offset", FEW, true, p->shift = 100003) \
    X(reset, "position-offset", COARSE, p->axes == 1, p->start = 1000, p->shift = -1000) \
    X(by_index, "positions-ignored", COARSE, p->stride > 1 || p->axes > 1, p->index = true) \
    X(restarted, "positions-restarted", NO_TABLE | COARSE, p->axes == 1, p->restart = 40) \
    X(rotated_twice, "rotated-twice", NO_TABLE | COARSE, p->scale != LINEAR && p->adjacent_in == p->adjacent_out, \
      p->twice = true) \
    X(by_head, "wrong-axis", NO_TABLE | COARSE, p->axes == 1, p->by_head = true) \
    X(still, "not-rotated", NO_TABLE, true, p->still = true) \
    X(zero, "positions-zero", NO_TABLE, HAS_FACTOR || p->adjacent_in != p->adjacent_out, p->zero = 1) \
    X(unscaled, "scaling-ignored", COARSE, SCALED, p->scale = PLAIN, p->magnitude = 1) \
    X(divided, "scaling-wrong", COARSE, p->scale == YARN, p->scale = LINEAR, p->magnitude = 1) \
    X(factor_doubled, "scaling-wrong", 0, SCALED, p->factor *= 2, \
      p->magnitude = p->scale == YARN ? 0.1 * log(8) + 1 : 1) \
    X(factor_doubled_only, "scaling-wrong", 0, SCALED && HAS_FACTOR, p->factor *= 2) \
    X(factor_doubled_bare, "scaling-wrong", 0, SCALED && HAS_FACTOR, p->magnitude = 1, p->factor *= 2) \
    X(factor_quadrupled, "scaling-wrong", 0, p->scale == LLAMA, p->factor *= 4) \
    X(factor_halved, "scaling-wrong", 0, SCALED && !HAS_FACTOR, p->factor *= 0.5) \
    X(factor_odd, "scaling-wrong", 0, SCALED && !HAS_FACTOR, p->factor *= 1.3125) \
    X(trained_elsewhere, "scaling-wrong", 0, RAMPED, p->trained = 131072) \
    X(trained_served, "scaling-wrong", 0, RAMPED, p->trained *= p->factor) \
    X(betas_swapped, "scaling-wrong", 0, p->scale == YARN, SWAP(double, p->low, p->high)) \
    X(cut_low, "scaling-wrong", 0, p->scale == LLAMA, p->high = p->low) \
    X(cut_high, "scaling-wrong", 0, p->scale == LLAMA, p->low = p->high) \
    X(scaled_by_three, "scaling-extra", 0, !strcmp(p->spec, "rope"), p->scale = LINEAR, p->factor = 3) \
    X(scaled_anyway, "scaling-extra", COARSE, !SCALED, p->scale = LINEAR, p->factor = 4) \
    X(theta_default, "base-defaulted", COARSE, p->theta != 10000, p->theta = 10000) \
    X(theta_known, "base-wrong", COARSE, p->theta != 1e6, p->theta = 1e6) \
    X(theta_strange, "base-wrong", 0, true, p->theta = 34567) \
    X(factor_missing, "attention-factor-missing", COARSE, HAS_FACTOR, p->magnitude = 1) \
    X(factor_squared, "attention-factor-squared", COARSE, HAS_FACTOR, p->magnitude *= p->magnitude) \
    X(factor_on_cos, "attention-factor-half", COARSE, HAS_FACTOR, p->plain_sin = true) \
    X(factor_on_sin, "attention-factor-half", COARSE, HAS_FACTOR, p->plain_cos = true) \
    X(factor_extra, "attention-factor-extra", COARSE, !HAS_FACTOR, p->magnitude = 1.138629436111989) \
    X(factor_wrong, "attention-factor-wrong", COARSE, HAS_FACTOR, p->magnitude = 1.2) \
    X(full_width, "rotary-width", COARSE, p->dims < p->D, p->dims = p->D, p->trailing = false) \
    X(half_width, "rotary-width", COARSE, p->axes == 1, p->dims /= 2) \
    X(half_width_kept, "rotary-width", COARSE, p->axes == 1 && !SCALED, p->denominator = (double)p->dims, p->dims /= 2) \
    X(head_denominator, "rotary-denominator", 0, p->dims < p->D, p->denominator = (double)p->D) \
    X(less_denominator, "rotary-denominator", 0, !SCALED, p->denominator = (double)p->dims - 2) \
    X(other_end, "rotary-range", NO_TABLE | COARSE, p->dims < p->D, p->trailing = !p->trailing) \
    X(axes_swapped, "mrope-sections", COARSE, p->axes > 1, p->axis[1] = 2, p->axis[2] = 1) \
    X(axes_turned, "mrope-sections", COARSE, p->axes > 1, p->axis[0] = 1, p->axis[1] = 2, p->axis[2] = 0) \
    X(sections_moved, "mrope-sections", 0, p->axes > 1, SWAP(int64_t, p->section[0], p->section[1])) \
    X(other_split, "mrope-split", COARSE, p->axes > 1, p->interleaved = !p->interleaved) \
    X(one_axis, "mrope-ignored", COARSE, p->axes > 1, p->axis[1] = p->axis[2] = 0) \
    X(angles_bf16, "angles-bfloat16", COARSE, true, ROUND_ALL(BRAIN)) \
    X(angles_bf16_tables, "angles-bfloat16", COARSE, true, ROUND_ALL(BRAIN), p->table = BRAIN) \
    X(products_bf16, "angles-bfloat16", 0, true, p->angle = BRAIN) \
    X(angles_f16, "angles-float16", 0, true, ROUND_ALL(HALF)) \
    X(freq_bf16, "frequencies-bfloat16", 0, true, p->freq = BRAIN) \
    X(freq_f16, "frequencies-float16", 0, true, p->freq = HALF) \
    X(tables_bf16, "tables-bfloat16", 0, true, p->table = BRAIN) \
    X(tables_f16, "tables-float16", 0, true, p->table = HALF) \
    X(angles_f32, "angles-float32", 0, true, p->stride = 5000, p->freq = p->pos = p->angle = FLOAT)

/* Plants a bug; false: this engine cannot have it. */
#define BUG_FUNCTION(name, id, flags, when, ...) \
    static bool name(engine *p) \
    { \
        bool can = (when); \
        __VA_ARGS__; \
        return can; \
    }
#define BUG_ROW(name, id, flags, when, ...) { id, name, flags },
BUGS(BUG_FUNCTION)

static const struct {
    const char *id;
    bool (*plant)(engine *p);
    unsigned flags;
} bugs[] = { BUGS(BUG_ROW) };

/* ------------------------------------------------ claims of the numbers */

TEST(good_data_is_ok)
{
    failures = 0;
    for (int i = 0; i < COUNT(engines); i++)
        for (int k = DOUBLE; k <= BRAIN; k++) {
            engine p = engine_of(i);
            p.data = (kind)k;
            expect_vectors(&p, "");
            expect_tables(&p, true, "");
            expect_tables(&p, false, "");
        }
    assert_int_equal(failures, 0);
}

TEST(float32_angles_are_ok_below_4096)
{
    failures = 0;
    for (int i = 0; i < COUNT(engines); i++)
        for (int k = FLOAT; k <= BRAIN; k++) {
            engine p = engine_of(i);
            p.freq = p.pos = p.angle = FLOAT;
            p.table = p.data = (kind)k;
            p.stride = 42;
            expect_vectors(&p, "");
            expect_tables(&p, true, "");
        }
    assert_int_equal(failures, 0);
}

/* frequencies= stands for theta and all that changes it: no bug of those fits it. */
TEST(frequencies_of_their_own_fit_no_bug_of_a_base)
{
    engine p = engine_of(0);
    p.spec = "rope:frequencies=1/0.1/0.01/0.001";
    p.D = p.dims = 8;
    failures = 0;
    expect_vectors(&p, "");
    expect_tables(&p, true, "");
    p.spec = "rope:frequencies=1/0.1/0.01/0.001,dims=8";
    p.D = 16;
    expect_vectors(&p, "");
    expect_tables(&p, true, "");
    p.shift = 1;
    expect_vectors(&p, "off-by-one");
    assert_int_equal(failures, 0);
}

TEST(forgotten_steps_are_named)
{
    static const struct {
        const char *spec;
        double steps;
    } cases[] = { { "rope:steps=0.5", 0.5 }, { "rope:steps=2", 2 }, { "rope:steps=4", 4 }, { "rope:steps=0.3", 0.3 } };
    failures = 0;
    for (int i = 0; i < COUNT(cases); i++) {
        engine p = engine_of(0);
        p.spec = cases[i].spec;
        p.steps = cases[i].steps;
        expect_vectors(&p, "");
        p.steps = 1;
        expect_vectors(&p, "steps-ignored");
        expect_tables(&p, true, "steps-ignored");
        expect_verdict(CHECK_MISMATCH, "rope");
        p.adjacent_in = p.adjacent_out = true;
        expect_vectors(&p, "pair-layout and steps-ignored");
    }
    assert_int_equal(failures, 0);
}

/* In vectors, in tables of cos and sin, and, where it is coarse enough, in 16 bits. */
TEST(each_planted_bug_is_named)
{
    failures = 0;
    for (int i = 0; i < COUNT(engines); i++)
        for (int b = 0; b < COUNT(bugs); b++) {
            const char *id = bugs[b].id;
            unsigned flags = bugs[b].flags;
            engine p = engine_of(i);
            if (!bugs[b].plant(&p))
                continue;
            if (!(flags & FEW && (i + b) % 3))
                expect_vectors(&p, id);
            bool shown = !(flags & TILED && p.adjacent_out == engines[i].adjacent_out);
            if (!(flags & NO_TABLE) && (i + b) % 2 == 0 && shown)
                expect_tables(&p, b % 2 || flags & TILED, id);
            p.data = (i + b) % 2 ? HALF : BRAIN;
            if (flags & COARSE && (i + b) % 3 == 0)
                expect_vectors(&p, id);
        }
    assert_int_equal(failures, 0);
}

TEST(two_bugs_are_both_named)
{
    static const struct {
        int engine;
        bool (*plant[2])(engine *p);
        const char *names;
    } two[] = {
        { 0, { adjacent, negative }, "pair-layout and opposite-sign" },
        { 1, { theta_default, one_more }, "off-by-one and base-defaulted" },
        { 6, { unscaled, adjacent }, "pair-layout and scaling-ignored" },
    };
    failures = 0;
    for (int i = 0; i < COUNT(two); i++) {
        engine p = engine_of(two[i].engine);
        two[i].plant[0](&p);
        two[i].plant[1](&p);
        expect_vectors(&p, two[i].names);
    }
    assert_int_equal(failures, 0);
}

/* A spec that fits is reported where there is one; where none describes the bug, only how to fix it. */
TEST(what_fits_is_a_spec)
{
    bool (*const no_spec[])(engine *) = { one_more, still, angles_bf16 };
    for (int i = 0; i < COUNT(no_spec); i++) {
        engine p = engine_of(0);
        no_spec[i](&p);
        make_vectors(&p);
        expect_verdict(CHECK_MISMATCH, NULL);
    }
    engine p = engine_of(0);
    theta_known(&p);
    make_vectors(&p);
    expect_verdict(CHECK_MISMATCH, "rope:theta=1000000");
}

TEST(float32_is_what_its_spec_says)
{
    failures = 0;
    engine p = engine_of(0);
    angles_f32(&p);
    p.spec = "rope:precision=hf";
    expect_vectors(&p, "");
    p = engine_of(0);
    p.stride = 1000000;
    expect_vectors(&p, "");
    p.spec = "rope:precision=hf";
    expect_vectors(&p, "angles-exact");
    assert_int_equal(failures, 0);
}

TEST(data_that_cannot_tell_is_said_to)
{
    static const char *const also[] = { "pair-layout", "mixed-layout", "opposite-sign", "rotated-twice", "not-rotated" };
    engine p = engine_of(0);
    p.stride = 0; /* all at position 0 */
    make_vectors(&p);
    check_findings *f = find();
    assert_int_equal(f->verdict, CHECK_CANNOT_TELL);
    assert_true(f->fits_unrotated);
    for (int i = 0; i < COUNT(also); i++)
        assert_string_equal(f->also[i], also[i]);
    check_findings_free(f);
}

/* y times a factor by token and element. */
static void multiply(const engine *p, double (*factor)(int64_t token, int64_t element))
{
    for (int64_t i = 0; i < TOKENS * HEADS * p->D; i++)
        y[i] *= factor(i / (HEADS * p->D), i % p->D);
    dump_vectors(FLOAT, 3, (int64_t[]){ TOKENS, HEADS, p->D }, x, y);
}

static double temperature(int64_t token, int64_t element)
{
    (void)element;
    return 1 + 0.1 * log(1 + floor((double)token / 16));
}

TEST(a_temperature_is_missed)
{
    engine p = engine_of(0);
    p.spec = "rope:temperature=0.1,floor=16";
    failures = 0;
    expect_vectors(&p, "temperature-ignored");
    expect_verdict(CHECK_MISMATCH, "rope");
    in.side = PE_KEY;
    expect_verdict(CHECK_OK, NULL);
    in.side = PE_QUERY;
    multiply(&p, temperature);
    expect(&p, "");
    assert_int_equal(failures, 0);
}

/* xpos: queries shrink by zeta^(t/512), keys grow by as much. */
static double shrink(int64_t token, int64_t element)
{
    return pow(((double)(element % 32) / 32 + 0.4) / 1.4, (double)token / 512);
}

/* Key heads repeated in the other order: 2 groups of 3 and 3 of 2 are not one another's. */
TEST(heads_that_are_mixed_up_are_named)
{
    static const struct {
        int64_t heads, groups;
    } row[] = { { 6, 2 }, { 6, 3 }, { 4, 2 }, { 6, 0 } };
    failures = 0;
    for (int i = 0; i < COUNT(row); i++) {
        engine p = engine_of(0);
        int64_t H = row[i].heads, tokens = TOKENS * HEADS / H, G = row[i].groups;
        make_vectors(&p);
        for (int64_t r = 0; r < tokens * H; r++) {
            int64_t h = r % H, from = G ? h % (H / G) * G + h / (H / G) : h;
            rotate(&p, y + r * p.D, x + (r / H * H + from) * p.D, positions + r / H, r / H);
        }
        dump_vectors(p.data, 3, (int64_t[]){ tokens, H, p.D }, x, y);
        in.at = pe_positions_of(positions, PE_I64, 1, tokens, 1);
        expect(&p, G ? "heads-mixed" : "");
    }
    assert_int_equal(failures, 0);
}

/* Sequences of a batch start at 0 each; an engine that counts tokens goes on. */
TEST(positions_that_run_on_are_named)
{
    failures = 0;
    for (int on = 0; on < 2; on++) {
        engine p = engine_of(0);
        make_vectors(&p);
        for (int64_t r = 0; r < TOKENS * HEADS; r++) {
            int64_t token = r / HEADS, at = on ? token : token % (TOKENS / 2);
            rotate(&p, y + r * p.D, x + r * p.D, &at, token);
        }
        dump_vectors(p.data, 4, (int64_t[]){ 2, TOKENS / 2, HEADS, p.D }, x, y);
        in.at = pe_positions_of(positions, PE_I64, 1, TOKENS / 2, 1);
        expect(&p, on ? "positions-restarted" : "");
    }
    assert_int_equal(failures, 0);
}

/* The positions say the length where the spec does not: past the trained length the long factors are right. */
TEST(longrope_is_right_with_the_factors_of_its_length)
{
    static const char spec[] = "rope:scaling=longrope,factor=4,trained=64,magnitude=1,short=1/1,long=4/4";
    static const struct {
        int64_t start;
        double divisor;
        const char *bug;
    } row[] = { { 0, 4, "" }, { 0, 1, "scaling-ignored" }, { -64, 1, "" }, { -64, 4, "scaling-wrong" } };
    failures = 0;
    for (int i = 0; i < COUNT(row); i++) {
        engine p = engine_of(0);
        p.spec = spec;
        p.D = p.dims = 4;
        p.start = row[i].start;
        p.scale = LINEAR;
        p.factor = row[i].divisor;
        make_vectors(&p);
        check_findings *f = find();
        bool right = f->verdict == (*row[i].bug ? CHECK_MISMATCH : CHECK_OK) && !strcmp(names_of(f), row[i].bug);
        if (!right)
            printf("start %d, divisor %g: verdict %d, '%s'\n", (int)row[i].start, row[i].divisor, f->verdict, names_of(f));
        failures += !right;
        check_findings_free(f);
    }
    assert_int_equal(failures, 0);
}

TEST(keys_rotated_as_queries_are_named)
{
    engine p = engine_of(0);
    p.spec = "xpos:pairs=half";
    failures = 0;
    make_vectors(&p);
    multiply(&p, shrink);
    expect(&p, "");
    in.side = PE_KEY;
    expect(&p, "other-side");
    assert_int_equal(failures, 0);
}

/* One pair is left, the fastest: any base fits. */
TEST(a_pair_that_tells_little_fits_more)
{
    static const char *const also[] = { "scaling-extra", "base-wrong", "rotary-denominator" };
    engine p = engine_of(0);
    make_vectors(&p);
    for (int64_t i = 0; i < TOKENS * HEADS * 64; i++)
        if (i % 32)
            x[i] = y[i] = 0;
    dump_vectors(FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, x, y);
    check_findings *f = find();
    assert_int_equal(f->verdict, CHECK_OK);
    for (int i = 0; i < COUNT(also); i++)
        assert_string_equal(f->also[i], also[i]);
    check_findings_free(f);
}

/* Two sequences, heads before or after tokens; with positions and without: then the numbers tell the order. The second
 * sequence has one number wrong at last. */
TEST(shapes_of_engines_are_read)
{
    enum { SIZE = TOKENS * HEADS * 64 };
    static double u[2 * SIZE], v[2 * SIZE];
    static const char *const name[2][2] = { { "(1, T, H, D)", "(B, T, H, D)" }, { "(1, H, T, D)", "(B, H, T, D)" } };
    engine p = engine_of(0);
    for (int c = 0; c < 16; c++) {
        bool first = c & 1, batch = c & 2, given = c & 4, wrong = c & 8;
        make_vectors(&p);
        for (int64_t s = 0; s < 2; s++)
            for (int64_t t = 0; t < TOKENS; t++)
                for (int64_t h = 0; h < HEADS; h++) {
                    int64_t to = s * SIZE + (first ? h * TOKENS + t : t * HEADS + h) * 64, from = (t * HEADS + h) * 64;
                    memcpy(u + to, x + from, 64 * sizeof *u);
                    memcpy(v + to, y + from, 64 * sizeof *v);
                }
        v[(batch ? SIZE : 0) + 5] += wrong; /* token 0, head 0 */
        dump_vectors(FLOAT, 4, (int64_t[]){ 1 + batch, first ? HEADS : TOKENS, first ? TOKENS : HEADS, 64 }, u, v);
        if (!given)
            in.at = pe_positions_run(1, 0, 0);
        check_findings *f = find();
        assert_int_equal(f->verdict, wrong ? CHECK_UNKNOWN : CHECK_OK);
        assert_string_equal(f->read_as, name[first][batch]);
        assert_true(!wrong || (f->spec_fit.first.token == 0 && f->spec_fit.first.sequence == batch));
        check_findings_free(f);
    }
}

TEST(rounded_dumps_are_recognised)
{
    for (int k = HALF; k <= BRAIN; k++) {
        engine p = engine_of(0);
        p.data = (kind)k;
        make_vectors(&p);
        for (int64_t i = 0; i < TOKENS * HEADS * p.D; i++)
            y[i] = round_to(y[i], p.data);
        dump_vectors(FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, x, y);
        check_findings *f = find();
        assert_int_equal(f->verdict, CHECK_OK);
        assert_true(f->rounded && f->precision == dtype_of[k]);
        check_findings_free(f);
    }
}

TEST(what_no_bug_explains_is_shown)
{
    engine p = engine_of(0);
    make_vectors(&p);
    y[5 * 64] += 0.5; /* one number of all */
    dump_vectors(FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, x, y);
    expect_verdict(CHECK_UNKNOWN, NULL);
    p.denominator = 50;
    p.magnitude = 1.3;
    p.shift = 3;
    negative(&p);
    make_vectors(&p);
    check_findings *f = find();
    assert_int_equal(f->verdict, CHECK_UNKNOWN);
    assert_int_equal(f->spec_fit.out, f->spec_fit.count);
    assert_true(f->wrong_count == CHECK_PAIRS_SHOWN && f->right_count == 0);
    assert_true(f->wrong[0].x == 0 && f->wrong[0].y == 32 && fabs(f->wrong[0].factor - 1.3) < 1e-6);
    check_findings_free(f);
}

/* Allocations fail at steps that grow: nothing is kept, and findings are whole or the error says why there are none. */
TEST(memory_that_runs_out_is_an_error)
{
    engine p = engine_of(0);
    theta_strange(&p);
    make_vectors(&p);
    bool reached = true;
    for (long n = 1; reached; n += 1 + n / 4) {
        check_findings *f;
        size_t live = heap.live;
        heap.fail = n;
        pe_status s = check_run(&f, &in, &err);
        reached = heap.fail == 0;
        heap.fail = 0;
        assert_true(s ? s == PE_ERR_NOMEM && !f && *err.text : !strcmp(f->bug[0].id, "base-wrong"));
        check_findings_free(f);
        assert_int_equal(heap.live, live);
    }
}

/* ------------------------------------------------ claims of the tool */

static char folder[] = "/tmp/posenc-check-XXXXXX";

static void save_array(const char *name, const void *data, io_type type, int rank, const int64_t *shape)
{
    char path[100];
    io_array a = { .data = (void *)data, .type = type, .rank = rank, .count = 1 };
    for (int i = 0; i < rank; i++)
        a.count *= a.shape[i] = shape[i];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(io_npy_save(path, &a, &err));
}

/* What check was given, as q.npy and y.npy, or c.npy and s.npy; and p.npy. */
static void save(void)
{
    const char *const *name = in.tables ? (const char *[]){ "c.npy", "s.npy" } : (const char *[]){ "q.npy", "y.npy" };
    for (int i = 0; i < 2; i++)
        save_array(name[i], in.array[i].data, io_type_of(in.array[i].type), in.array[i].rank, in.array[i].shape);
    save_array("p.npy", positions, IO_I64, in.at.axes > 1 ? 2 : 1, (int64_t[]){ TOKENS, in.at.axes });
}

static void save_vectors(const engine *p)
{
    make_vectors(p);
    save();
}

static void save_text(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

/* Lines joined, spaces squeezed: where the writer breaks a line does not matter. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!strchr(" \n", *from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = 0;
}

/* The tool is given q.npy, y.npy and p.npy unless the options name files. */
static void says(const char *spec, const char *options, int code, const char *holds)
{
    static char out[20000];
    char command[1000];
    const char *files = *options == '-' && strstr(options, ".npy") ? "" : "--before q.npy --after y.npy --pos p.npy";
    snprintf(command, sizeof command, "cd %s && '%s' check %s %s %s 2>&1", folder, getenv("POSENC"), spec, files,
             options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = 0;
    squeeze(out);
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || !strstr(out, holds))
        fail_msg("%s: status %d, exit code should be %d, or '%s' is not in:\n%s", command, status, code, holds, out);
}

typedef struct saying {
    const char *spec, *options;
    int code;
    const char *holds;
} saying;

static void says_all(const saying *s, int count)
{
    for (int i = 0; i < count; i++)
        says(s[i].spec, s[i].options, s[i].code, s[i].holds);
}

BUG_FUNCTION(good, "", 0, true, (void)p)
BUG_FUNCTION(at_zero, "", 0, true, p->stride = 0)
BUG_FUNCTION(strange, "", 0, true, p->theta = 77, p->magnitude = 1.3, p->sign = -1, p->shift = 3)
BUG_FUNCTION(not_a_number, "", 0, true, p->magnitude = NAN)

/* Each verdict in words and as JSON; a bug that is allowed is OK. */
TEST(verdicts_are_printed)
{
    static const struct {
        bool (*plant)(engine *p);
        const char *options;
        int code;
        const char *holds;
    } row[] = {
        { good, "", 0, "OK: rope " },
        { good, "--json", 0, "\"verdict\": \"ok\"" },
        { good, "--bf16", 3, "holds F32; --bf16 says" },
        { angles_f32, "", 1, "MISMATCH: angles-float32" },
        { angles_f32, "", 1, "fix: " },
        { angles_f32, "--json", 1, "\"bug\": \"angles-float32\"" },
        { angles_f32, "--allow angles-float32", 0, "OK, allowed: angles-float32" },
        { angles_f32, "--allow angles-bfloat16", 1, "MISMATCH: angles-float32" },
        { angles_f32, "--allow angles-flaot32", 2, "did you mean angles-float32?" },
        { at_zero, "", 1, "CANNOT TELL: this data fits rope, and it would if nothing" },
        { at_zero, "", 1, "fits these bugs as well: pair-layout, mixed-layout" },
        { at_zero, "", 1, "dump positions up to 64" },
        { at_zero, "--json", 1, "\"verdict\": \"cannot-tell\"" },
        { one_more, "--json", 1, "\"fits\": null" },
        { theta_known, "", 1, "fits: rope:theta=1000000 " },
        { strange, "", 1, "MISMATCH: no known bug explains it" },
        { strange, "", 1, "pair 0 (elements 0, 32): rotated by" },
        { strange, "", 1, "first error" },
        { strange, "--json", 1, "\"verdict\": \"unknown\"" },
        { not_a_number, "", 1, "MISMATCH: not-finite: token 0, head 0, element 0" },
        { not_a_number, "--json", 1, "\"bug\": \"not-finite\"" },
    };
    for (int i = 0; i < COUNT(row); i++) {
        engine p = engine_of(0);
        row[i].plant(&p);
        if (!i || row[i].plant != row[i - 1].plant)
            save_vectors(&p);
        says("rope", row[i].options, row[i].code, row[i].holds);
    }
}

TEST(specs_come_from_models)
{
    static const saying alike[] = { { "config.json", "", 0, "OK: rope:theta=500000" },
                                    { "config.json", "--layer 1", 0, "OK: rope:theta=500000" },
                                    { "config.json", "--layer 2", 2, "--layer is 2; config.json has layers 0 to 1" } },
                        mixed_layers[] = { { "config.json", "", 2, "layers 5, 11: rope:theta=500000" },
                                           { "config.json", "", 2, "say which one was dumped: --layer N" },
                                           { "config.json", "--layer 5", 0, "OK: rope:theta=500000" },
                                           { "config.json", "--layer 4", 1, "base-wrong" },
                                           { "none.json", "", 4, "none.json: cannot be opened" },
                                           { "rope", "--layer 4", 2, "--layer is for a model's file" } };
    engine p = engine_of(1);
    save_vectors(&p);
    save_text("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
                             "\"num_hidden_layers\": 2, \"max_position_embeddings\": 8192, \"rope_theta\": 500000}");
    says_all(alike, COUNT(alike));
    save_text("config.json", "{\"model_type\": \"gemma3_text\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
                             "\"num_key_value_heads\": 1, \"head_dim\": 128, \"num_hidden_layers\": 12,"
                             "\"max_position_embeddings\": 8192, \"rope_theta\": 500000,"
                             "\"rope_local_base_freq\": 10000, \"sliding_window\": 64,"
                             "\"sliding_window_pattern\": 6}");
    says_all(mixed_layers, COUNT(mixed_layers));
}

TEST(misuse_is_refused)
{
    static const saying all[] = {
        { "--spec rope", "--before q.npy --after p.npy", 3, "p.npy: holds I64; needs float32" },
        { "--spec rope", "--before q.npy", 2, "needs --after FILE" },
        { "--spec forget", "", 2, "forget has no rotation to check; compare with what posenc bias forget makes" },
        { "--spec sinusoidal", "", 2, "sinusoidal has no rotation to check; compare with what posenc table sinusoidal makes" },
        { "--spec pope", "", 2, "pope has no rotation to check: it reads q and k inside attention" },
        { "--spec none", "", 2, "none has no rotation to check" },
        { "--spec fope", "", 2, "fope rotates by trained parameters, which check does not take" },
        { "--spec alibi+rope:learned=shared", "", 2, "rope:learned=shared rotates by trained parameters" },
        { "", "", 2, "needs one spec" },
        { "rope", "--cos q.npy --after y.npy", 2, "needs --before and --after, or --cos and --sin" },
        { "rope", "--cos q.npy --sin y.npy", 3, "q.npy: shape is (96, 2, 64); needs (n, pairs)" },
        { "rope", "--cos c.npy --sin q.npy", 3, "q.npy: shape is (96, 2, 64); needs that of c.npy, (96, 64)" },
        { "rope", "--before q.npy --after c.npy", 3, "c.npy: shape is (96, 64)" },
        { "rope:fraction=0.5", "--cos c.npy --sin s.npy", 2, "needs head-dim" },
        { "rope", "--cos c.npy --sin s.npy --head-dim 64", 0, "OK: rope" },
        { "rope:dims=48", "--cos c.npy --sin s.npy", 1, "rotary-width" },
        { "rope:sections=8/12/12,theta=1000000", "", 3, "p.npy: holds 1 coordinates per token;" },
        { "rope:sections=8/12/12", "--before q.npy --after y.npy", 2, "needs positions of shape (n, 3)" },
        { "rope:sections=8/12/12", "--before z.npy --after z.npy", 2, "add up to 64 pairs" },
        { "rope", "--before z.npy --after z.npy", 3, "z.npy: holds only zeros" },
        { "rope", "--before t.npy --after t.npy --pos p.npy", 3,
          "shape is (2, 96, 64); needs (T, H, D): in numpy y.transpose(1, 0, 2)" },
        { "rope", "--before h.npy --after h.npy --pos p.npy", 3, "needs as many tokens as there are positions" },
    };
    static const double zeros[NUMBERS];
    engine p = engine_of(0);
    make_tables(&p, true);
    save();
    save_vectors(&p);
    save_array("z.npy", zeros, IO_F64, 3, (int64_t[]){ TOKENS, HEADS, 128 });
    save_array("t.npy", x, IO_F64, 3, (int64_t[]){ HEADS, TOKENS, 64 });
    save_array("h.npy", x, IO_F64, 4, (int64_t[]){ 1, TOKENS / 2, HEADS, 128 });
    says_all(all, COUNT(all));
}

AROUND(before_all)
{
    assert_non_null(mkdtemp(folder));
}

AROUND(after_all)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}
