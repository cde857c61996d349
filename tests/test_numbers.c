/* labels: core; tier: test; cost: 4 s; needs: mpfr inside; sanitize: all */
/* SPDX-License-Identifier: MIT
 *
 * The arithmetic everything stands on: wide numbers, turns, 16-bit formats, numbers in specs. Truth is MPFR at 400
 * bits, exact for the operands because a wide number is the sum of its doubles. */
#define _GNU_SOURCE
#include <float.h>
#include <locale.h>

#include "core/row.h"
#include "kernels/turn.h"
#include "real.h"
#include "test.h"

/* ------------------------------------------------ wide */

static real real_of(wide x)
{
    return add(add(number(x.part[2]), number(x.part[1])), number(x.part[0]));
}

/* log2 of |got - truth| over max(|truth|, least). */
static double lost_bits(wide got, real want, double least)
{
    real off = sub(real_of(got), want);
    return mpfr_zero_p(off) ? -INFINITY : log2(fabs(as_double(off))) - log2(fmax(fabs(as_double(want)), least));
}

/* A number of all three doubles, positive, between 2^-range and 2^range. */
static wide random_wide(uint64_t *seed, int range)
{
    double high = (1.5 + test_uniform(seed) / 2) * exp2((double)test_range(seed, -range, range - 1));
    return wide_div(wide_from(high), wide_from(1 + test_uniform(seed) / 4));
}

enum { MUL, DIV, ADD, SUB, EXP, LOG, POW };

static double error_of(int op, wide x, wide y)
{
    real a = real_of(x), b = real_of(y);
    switch (op) {
    case MUL: return lost_bits(wide_mul(x, y), mul(a, b), 0);
    case DIV: return lost_bits(wide_div(x, y), quo(a, b), 0);
    case ADD: return lost_bits(wide_add(x, y), add(a, b), 0);
    case SUB: return lost_bits(wide_sub(x, y), sub(a, b), x.part[0]); /* as good as the numbers, not as itself */
    case EXP: return lost_bits(wide_exp(x), exponential(a), 0);
    case LOG: return lost_bits(wide_log(x), ln(a), 1); /* near 1 it is small; a power needs absolute accuracy */
    default: return lost_bits(wide_pow(x, y), power(a, b), 0);
    }
}

TEST(wide_arithmetic_is_right_to_140_bits)
{
    /* 2^-140: a frequency times a position of 2^37 is then right to 2^-103 of a turn, and the closest a position gets
     * to a quarter turn without standing on it is about 2^-62: 41 bits are left, float32 needs 31 for 0.51 ulp. */
    static const struct {
        const char *name;
        int op, x_range, y_range, count;
    } ops[] = { { "mul", MUL, 200, 200, 4000 }, { "div", DIV, 200, 200, 4000 }, { "add", ADD, 60, 60, 4000 },
                { "sub", SUB, 3, 3, 4000 },     { "exp", EXP, 7, 1, 1000 },     { "log", LOG, 60, 1, 1000 },
                { "pow", POW, 50, 1, 1000 } };
    uint64_t seed = 1;
    for (int o = 0; o < COUNT(ops); o++) {
        double worst = -INFINITY;
        for (int n = 0; n < ops[o].count; n++) {
            wide x = random_wide(&seed, ops[o].x_range), y = random_wide(&seed, ops[o].y_range);
            if (n % 2 && (ops[o].op == EXP || ops[o].op == POW))
                *(ops[o].op == EXP ? &x : &y) = wide_scale(ops[o].op == EXP ? x : y, -1);
            if (n % 3 == 0 && ops[o].op == SUB)
                y = wide_add(x, wide_from(x.part[0] * 0x1p-60));
            double e = error_of(ops[o].op, x, y);
            if (e > -140)
                fail_msg("wide_%s of %a, %a is off by 2^%.1f; needs 2^-140", ops[o].name, x.part[0], y.part[0], e);
            worst = e > worst ? e : worst;
        }
        printf("wide_%s: worst 2^%.1f over %d\n", ops[o].name, worst, ops[o].count);
    }
}

/* What WebAssembly, which has no fma, computes: the same bits, out to the ends of the exponents. */
TEST(a_product_by_halves_is_the_product_by_fma)
{
    uint64_t seed = 3;
    for (int n = 0; n < 400000; n++) {
        int range = n % 4 ? 60 : 1070;
        double x = ldexp(test_uniform(&seed), (int)test_range(&seed, -range, range));
        double y = ldexp(test_uniform(&seed), (int)test_range(&seed, -range, range));
        x = n % 5 ? x : rint(x);
        dd got = dd_product_by_halves(x, y), want = { x * y, fma(x, y, -(x * y)) };
        if (memcmp(&got, &want, sizeof got) != 0 && !isnan(want.lo))
            fail_msg("%a * %a is %a + %a; needs %a + %a", x, y, got.hi, got.lo, want.hi, want.lo);
    }
}

/* Third terms of any size, those that end halfway between two doubles, and those that leave nothing. */
TEST(a_sum_by_halves_is_rounded_once)
{
    uint64_t seed = 4;
    for (int n = 0; n < 400000; n++) {
        int range = n % 4 ? 30 : 1000;
        double x = ldexp(test_uniform(&seed), (int)test_range(&seed, -range, range));
        double y = ldexp(test_uniform(&seed), (int)test_range(&seed, -range, range));
        if (n % 3 == 0) { /* few bits: exact ties are common */
            x = ldexp((double)test_range(&seed, 1, 1 << 20), -10);
            y = ldexp((double)test_range(&seed, 1, 1 << 8), 30);
        }
        double c = n % 5 ? ldexp(x * y, (int)test_range(&seed, -120, 120)) : -x * y;
        c = n % 3 ? c : c * (double)test_range(&seed, -3, 3) * 0x1p+50;
        double got = dd_fma_by_halves(x, y, c), want = fma(x, y, c);
        if (memcmp(&got, &want, sizeof got) != 0 && !isnan(want))
            fail_msg("%a * %a + %a is %a; needs %a", x, y, c, got, want);
    }
}

TEST(wide_powers_of_theta_keep_exact_cases)
{
    /* theta^0 = 1, theta^1 = theta and 1^y = 1 to the last bit: what a float pipeline gets right must be right here. */
    wide theta = wide_from(10000);
    assert_true(wide_pow(theta, wide_from(0)).part[0] == 1);
    assert_true(wide_pow(theta, wide_from(1)).part[0] == 10000);
    for (double y = -4; y <= 4; y += 0.125) {
        wide one = wide_pow(wide_from(1), wide_from(y));
        assert_true(one.part[0] == 1 && fabs(one.part[1]) < 0x1p-140);
    }
    wide square = wide_pow(theta, wide_from(2)), root = wide_pow(theta, wide_from(0.5));
    assert_true(square.part[0] == 1e8 && fabs(square.part[1]) < 1e8 * 0x1p-140);
    assert_true(root.part[0] == 100 && fabs(root.part[1]) < 100 * 0x1p-140);
}

TEST(wide_constants_are_right_to_three_doubles)
{
    assert_true(lost_bits(wide_two_pi(), two_pi(), 0) < -158); /* three times 53 bits, less a sign */
    assert_true(lost_bits(turn_per_radian, quo(number(1), two_pi()), 0) < -158);
}

TEST(wide_floor_looks_below_the_first_double)
{
    static const double parts[][3] = { { 5, 0, 0 },       { 5, 0x1p-60, 0 },     { 5, -0x1p-60, 0 }, { 5.5, -0x1p-60, 0 },
                                       { -5, 0, 0 },      { -5, -0x1p-60, 0 },   { -5, 0x1p-60, 0 }, { 0, 0, 0 },
                                       { 0.25, 0, 0 },    { -0.5, 0x1p-60, 0 },  { 31, -0x1p-100, 0 } };
    for (int n = 0; n < COUNT(parts); n++) {
        wide x = { { parts[n][0], parts[n][1], parts[n][2] } };
        assert_true(wide_floor(x).part[0] == as_double(below(real_of(x))));
    }
    assert_true(wide_clamp(wide_from(7), 0, 5).part[0] == 5 && wide_clamp(wide_from(-7), 0, 5).part[0] == 0);
    assert_true(wide_clamp(wide_from(3), 0, 5).part[0] == 3);
}

/* ------------------------------------------------ turns */

/* |got - truth| / |truth|, as a power of two; exact zeros must be met exactly. */
static double relative_error(double got, real want)
{
    real off = sub(want, number(got));
    return mpfr_zero_p(off) ? -INFINITY : log2(fabs(as_double(quo(off, want))));
}

static double turn_error(double n, wide f)
{
    double c, s;
    turn_cos_sin(n, f, &c, &s);
    real turns = mul(real_of(f), number(n)), angle = mul(sub(turns, nearest(turns)), two_pi());
    return fmax(relative_error(c, cosine_of(angle)), relative_error(s, sine_of(angle)));
}

TEST(turns_are_right_to_51_bits_wherever_they_end)
{
    /* kernels/turn.h: each within 2^-51 of itself. Half the cases are built to end next to a quarter turn, down to
     * 2^-60 of a turn away, where cos or sin is almost nothing and a reduction that loses bits shows. */
    uint64_t seed = 2;
    double worst = -INFINITY;
    for (int n = 0; n < 40000; n++) {
        double at = (double)test_range(&seed, -(INT64_C(1) << 37), INT64_C(1) << 37);
        wide f = random_wide(&seed, 30);
        f = wide_scale(f, 0x1p-31);
        if (n % 2) { /* (k/4 + tiny) / n */
            double k = (double)test_range(&seed, 1, INT64_C(1) << test_range(&seed, 2, 36));
            double tiny = test_uniform(&seed) * exp2((double)test_range(&seed, -60, -20));
            f = wide_div(wide_add(wide_from(k / 4), wide_from(tiny)), wide_from(at != 0 ? at : 1));
            if (fabs(f.part[0]) >= 1)
                continue;
        }
        double e = turn_error(at, f);
        if (e > -51)
            fail_msg("%.0f times %a turns: off by 2^%.1f of itself; needs 2^-51", at, f.part[0], e);
        worst = e > worst ? e : worst;
    }
    for (int n = 0; n < 20000; n++) { /* radians, as precision=hf and ggml form them: any float */
        float radians = (float)(test_uniform(&seed) * exp2((double)test_range(&seed, -20, 36)));
        double e = turn_error(radians, turn_per_radian);
        if (e > -51)
            fail_msg("%a radians: off by 2^%.1f of itself; needs 2^-51", (double)radians, e);
        worst = e > worst ? e : worst;
    }
    printf("turn_cos_sin: worst 2^%.2f of itself\n", worst);
}

TEST(whole_quarters_are_exact)
{
    static const double c_of[] = { 1, 0, -1, 0 }, s_of[] = { 0, 1, 0, -1 };
    for (int64_t n = -9; n <= 9; n++) {
        double c, s;
        turn_cos_sin((double)n, wide_from(0.25), &c, &s);
        assert_true(c == c_of[n & 3] && s == s_of[n & 3]);
        turn_cos_sin((double)n, wide_from(0), &c, &s);
        assert_true(c == 1 && s == 0);
    }
}

/* ------------------------------------------------ 16-bit formats */

typedef struct format {
    const char *name;
    uint16_t (*to)(double);
    double (*from)(uint16_t);
    mpfr_prec_t bits;         /* of a normal fraction, the leading one included */
    mpfr_exp_t least, most;   /* MPFR's: the value is 0.1xxx times 2 to this */
    uint16_t infinity;
} format;

static const format formats[] = { { "float16", num_to_f16, num_from_f16, 11, -23, 16, 0x7c00 },
                                  { "bfloat16", num_to_bf16, num_from_bf16, 8, -132, 128, 0x7f80 } };

static void check_rounding(const format *f, double x)
{
    double got = f->from(f->to(x)), want = rounded_once(number(x), (int)f->bits, f->least, f->most);
    if (memcmp(&got, &want, sizeof got))
        fail_msg("%s of %a is %a; needs %a", f->name, x, got, want);
}

TEST(every_16_bit_number_survives_the_round_trip)
{
    for (int k = 0; k < COUNT(formats); k++)
        for (unsigned h = 0; h <= 0xffff; h++) {
            const format *f = &formats[k];
            double x = f->from((uint16_t)h);
            bool nan = (h & 0x7fff) > f->infinity;
            assert_int_equal(isnan(x) != 0, nan);
            assert_int_equal(signbit(x) != 0, h >> 15);
            if (nan)
                assert_true((f->to(x) & 0x7fff) > f->infinity && f->to(x) >> 15 == h >> 15);
            else
                assert_int_equal(f->to(x), h);
        }
    /* a few by hand: what the bits mean */
    assert_true(num_from_f16(0x3c00) == 1 && num_from_f16(0x0001) == 0x1p-24 && num_from_f16(0x7bff) == 65504);
    assert_true(num_from_bf16(0x3f80) == 1 && num_from_bf16(0x0001) == 0x1p-133 && num_from_bf16(0xc049) == -3.140625);
}

TEST(doubles_round_once_to_16_bits)
{
    uint64_t seed = 3;
    for (int k = 0; k < COUNT(formats); k++) {
        const format *f = &formats[k];
        for (unsigned h = 0; h < f->infinity; h++) { /* every midpoint, and the doubles on either side of it */
            bool last = h + 1u == f->infinity;
            double low = f->from((uint16_t)h), high = last ? ldexp(1, (int)f->most) : f->from((uint16_t)(h + 1));
            double middle = (low + high) / 2;
            double near[] = { middle, nextafter(middle, 0), nextafter(middle, INFINITY) };
            for (int n = 0; n < 3; n++) {
                check_rounding(f, near[n]);
                check_rounding(f, -near[n]);
            }
        }
        for (int n = 0; n < 200000; n++)
            check_rounding(f, test_uniform(&seed) * exp2((double)test_range(&seed, -140, 132)));
        double ends[] = { 0, -0.0, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN, 65504,
                          65519.99, 65520 };
        for (int n = 0; n < COUNT(ends); n++)
            check_rounding(f, ends[n]);
        assert_true((f->to(NAN) & 0x7fff) > f->infinity && (f->to(-NAN) & 0x7fff) > f->infinity);
    }
}

TEST(a_double_that_a_float_would_spoil_is_not_rounded_twice)
{
    /* 1 + 2^-11 is the tie between 1 and 1 + 2^-10; 2^-40 above must go up. Rounded to float32 first it is the tie. */
    double x = 1 + 0x1p-11 + 0x1p-40;
    assert_true(num_from_f16(num_to_f16(x)) == 1 + 0x1p-10);
    assert_true(num_from_f16(num_to_f16((double)(float)x)) == 1);
}

/* ------------------------------------------------ numbers in specs */

static bool reads(const char *text, double *out)
{
    return text_number(text, strlen(text), out);
}

static void check_reading(const char *text)
{
    double got;
    if (!reads(text, &got))
        fail_msg("'%s' is not read", text);
    double want = strtod(text, NULL); /* glibc's is correctly rounded */
    if (want == 0)
        want = 0; /* a spec has one zero */
    if (memcmp(&got, &want, sizeof got))
        fail_msg("'%s' reads as %a; needs %a", text, got, want);
}

/* 1 to so many digits with a point anywhere and an exponent. */
static void random_text(uint64_t *seed, char *out, int most, int exponent)
{
    int digits = (int)test_range(seed, 1, most), point = (int)test_range(seed, 0, digits);
    if (test_range(seed, 0, 3) == 0)
        *out++ = "-+"[test_range(seed, 0, 1)];
    for (int d = 0; d < digits; d++) {
        if (d == point)
            *out++ = '.';
        *out++ = (char)('0' + test_range(seed, 0, 9));
    }
    if (exponent)
        out += sprintf(out, "%c%+d", "eE"[test_range(seed, 0, 1)], (int)test_range(seed, -exponent, exponent));
    *out = 0;
}

/* Near the middle of two doubles of any size, as far as 57 digits tell: what cheap conversions get wrong. */
static void middle_text(uint64_t *seed, char *out)
{
    uint64_t bits = (uint64_t)test_range(seed, 0, 0x7feffffffffffffe);
    double low, high;
    mpfr_t middle, other;
    mpfr_inits2(1200, middle, other, (mpfr_ptr)0);
    memcpy(&low, &bits, sizeof low);
    high = nextafter(low, INFINITY);
    mpfr_set_d(middle, low, MPFR_RNDN);
    mpfr_set_d(other, high, MPFR_RNDN);
    mpfr_add(middle, middle, other, MPFR_RNDN);
    mpfr_div_ui(middle, middle, 2, MPFR_RNDN);
    mpfr_snprintf(out, 66, "%.*R*e", (int)test_range(seed, 14, 56), test_range(seed, 0, 1) ? MPFR_RNDD : MPFR_RNDU,
                  middle);
    mpfr_clears(middle, other, (mpfr_ptr)0);
}

/* Numerals of up to 64 characters, over all doubles. */
TEST(numerals_of_any_size_are_read_correctly_rounded)
{
    uint64_t seed = 6;
    char text[100];
    double x;
    for (int n = 0; n < 1000000; n++) {
        random_text(&seed, text, n % 2 ? 20 : 56, n % 4 < 2 ? 345 : 40);
        if (isfinite(strtod(text, NULL)))
            check_reading(text);
        else if (reads(text, &x))
            fail_msg("'%s' is read as %g; it is past the largest double", text, x);
    }
    for (int n = 0; n < 200000; n++) {
        middle_text(&seed, text);
        check_reading(text);
    }
    for (int n = 0; n < 200000; n++) { /* all doubles, small ones too, by 17 digits */
        uint64_t bits = (uint64_t)test_range(&seed, 0, n % 2 ? 0x7fefffffffffffff : 0x001fffffffffffff);
        memcpy(&x, &bits, sizeof x);
        snprintf(text, sizeof text, "%.17g", x);
        check_reading(text);
    }
    static const char *const hard[] = { "1.7976931348623157e308", "1.7976931348623158e308", "179769313486231580e291",
                                        "4.9406564584124654e-324", "2.4703282292062328e-324", "2.4703282292062327e-324",
                                        "2.2250738585072011e-308", "2.2250738585072014e-308", "1e-400", "0e999999999999",
                                        "0.000000000000000000000000000000000000000000000000001e+99999", "1e-99999999" };
    for (int n = 0; n < COUNT(hard); n++)
        if (isfinite(strtod(hard[n], NULL)))
            check_reading(hard[n]);
}

TEST(numbers_in_specs_are_read_correctly_rounded)
{
    uint64_t seed = 4;
    char text[64];
    for (int n = 0; n < 60000; n++) {
        random_text(&seed, text, 17, n % 3 == 0 ? 0 : n % 3 == 1 ? 22 : 250);
        check_reading(text);
    }
    for (int n = 0; n < 20000; n++) { /* ties: 2^53 + odd, and halves above 2^52 */
        int64_t odd = 2 * test_range(&seed, 0, INT64_C(1) << 51) + 1;
        snprintf(text, sizeof text, "%" PRId64, (INT64_C(1) << 53) + odd);
        check_reading(text);
        snprintf(text, sizeof text, "%" PRId64 ".5", (INT64_C(1) << 52) + odd / 4);
        check_reading(text);
        snprintf(text, sizeof text, "%" PRId64 "000e-3", (INT64_C(1) << 53) + odd / 16 * 2 + 1);
        check_reading(text);
    }
    static const char *const hard[] = { "0", "-0", "0.1", "1e22", "1e23", "8.5e15", "9007199254740993", "1.5e-9",
                                        "0.0000001", "00000000000000000000000012", "9999999999999999999", "1e280",
                                        "1e-280", ".5", "5." };
    for (int n = 0; n < COUNT(hard); n++)
        check_reading(hard[n]);
}

TEST(what_is_no_number_is_not_read)
{
    static const char *const bad[] = { "", "+", "-", ".", "e5", "1e", "1e+", "1,5", "1.5.5", " 1", "1 ", "0x10", "nan",
                                       "inf", "1_0", "1e309", "1e999999999999", "1.7976931348623159e308", "--1", "1e5x",
                                       "10000000000000000000000000000000000000000000000000000000000000000" };
    double x;
    for (int n = 0; n < COUNT(bad); n++)
        if (reads(bad[n], &x))
            fail_msg("'%s' is read as %g; it is no number", bad[n], x);
}

static void check_printing(double x)
{
    char text[40];
    double back = 0;
    int n = text_print(text, sizeof text, x);
    if ((size_t)n != strlen(text) || !reads(text, &back) || back != x)
        fail_msg("%a prints as '%s', which reads as %a", x, text, back);
}

static void check_printing_many(void)
{
    uint64_t seed = 5;
    for (int n = 0; n < 30000; n++) /* keys' ranges: 2^-20 to 1e15; a little beyond */
        check_printing(test_uniform(&seed) * exp2((double)test_range(&seed, -60, 70)));
    for (int n = 0; n < 20000; n++)
        check_printing((double)test_range(&seed, -100000, 100000) / 1000);
}

TEST(numbers_print_as_text_that_reads_back)
{
    check_printing_many();
    static const struct {
        double x;
        const char *text;
    } plain[] = { { 0.1, "0.1" }, { 10000, "10000" }, { 500000, "500000" }, { 1.25, "1.25" }, { 0.0, "0" },
                  { 1e15, "1e+15" } };
    for (int n = 0; n < COUNT(plain); n++) {
        char text[40];
        text_print(text, sizeof text, plain[n].x);
        assert_string_equal(text, plain[n].text);
    }
}

/* Makes a locale whose decimal point is `point`, in a folder of its own, and switches to it. */
static bool switch_locale(const char *folder, const char *name, const char *point, const char *charmap)
{
    char path[200], command[600];
    snprintf(path, sizeof path, "%s/%s.src", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "comment_char %%\nescape_char /\nLC_NUMERIC\ndecimal_point \"%s\"\n", point);
    fprintf(f, "thousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n");
    fclose(f);
    snprintf(command, sizeof command, "localedef -c -i %s -f %s %s/%s >/dev/null 2>&1", path, charmap, folder, name);
    if (system(command) < 0)
        return false;
    return setlocale(LC_NUMERIC, name) != NULL;
}

static void check_under_this_locale(void)
{
    char text[40];
    double x;
    assert_true(reads("1.5", &x) && x == 1.5);
    assert_false(reads("1,5", &x));
    text_print(text, sizeof text, 1.5);
    assert_string_equal(text, "1.5");
    check_printing_many();
    pe_encoding *e = NULL;
    assert_ok(pe_encoding_new(&e, "rope:theta=10000.5,magnitude=0.1", test_shape, &err));
    assert_string_equal(pe_encoding_spec(e), "rope:theta=10000.5,magnitude=0.1");
    pe_encoding_free(e);
}

TEST(specs_do_not_follow_the_locale)
{
    char folder[] = "/tmp/posenc-locale-XXXXXX", command[100];
    static const char *const installed[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8", "pt_BR.UTF-8",
                                             "ru_RU.UTF-8" };
    int tried = 0;
    assert_non_null(mkdtemp(folder));
    for (int n = 0; n < COUNT(installed); n++)
        if (setlocale(LC_ALL, installed[n]) && !strcmp(localeconv()->decimal_point, ",")) {
            check_under_this_locale();
            tried++;
        }
    setenv("LOCPATH", folder, 1);
    if (switch_locale(folder, "xx_XX", ",", "ANSI_X3.4-1968") && !strcmp(localeconv()->decimal_point, ",")) {
        check_under_this_locale();
        tried++;
    }
    /* a decimal point of two bytes, as in Persian and Pashto */
    if (switch_locale(folder, "xy_XY", "<U066B>", "UTF-8") && strlen(localeconv()->decimal_point) == 2) {
        check_under_this_locale();
        tried++;
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    printf("locales with another decimal point: %d%s\n",
           tried, tried ? "" : " (none here and no localedef: nothing to try)");
}

/* However little room there is and however much is said. */
TEST(text_that_does_not_fit_is_cut_and_marked_once)
{
    for (size_t room = 5; room < 40; room++) {
        char text[64];
        memset(text, '#', sizeof text);
        tell t = tell_into(text, room);
        for (int i = 0; i < 20; i++)
            tell_say(&t, "%s%d", i ? " + " : "", i);
        assert_true(strlen(text) < room);
        assert_string_equal(text + strlen(text) - strlen(" …"), " …");
        assert_ptr_equal(strstr(text, "…"), strrchr(text, ' ') + 1);
        for (size_t i = room; i < sizeof text; i++)
            assert_int_equal(text[i], '#');
    }
}
