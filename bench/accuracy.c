/* SPDX-License-Identifier: MIT
 *
 * How far cos and sin are from the truth far out, against numbers of twice a double's length that share no code with
 * the library: frequencies by square roots, the angle less its quarter turns in two doubles and pi in three. */
#include "attend.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 64, TOKENS = 512 };

typedef struct twin {
    double hi, lo;
} twin; /* hi + lo */

static twin twin_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (twin){ s, (a - (s - t)) + (b - t) };
}

static twin twin_add(twin a, twin b)
{
    twin s = twin_sum(a.hi, b.hi), t = twin_sum(a.lo, b.lo);
    s = twin_sum(s.hi, s.lo + t.hi);
    return twin_sum(s.hi, s.lo + t.lo);
}

static twin twin_mul(twin a, twin b)
{
    double p = a.hi * b.hi;
    return twin_sum(p, fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi));
}

/* One step of Newton's from the double's root. */
static twin twin_sqrt(twin a)
{
    double r = sqrt(a.hi);
    twin left = twin_add(a, twin_mul((twin){ -r, 0 }, (twin){ r, 0 }));
    return twin_sum(r, left.hi / (2 * r));
}

/* angle - quarters * pi/2, with pi/2 as three doubles */
static twin twin_reduce(twin angle, double quarters)
{
    static const double half_pi[] = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110 };
    for (int i = 0; i < 3; i++)
        angle = twin_add(angle, twin_mul((twin){ -quarters, 0 }, (twin){ half_pi[i], 0 }));
    return angle;
}

/* cos and sin of an angle; long double has 64 bits or more where it is longer than double. */
static void true_turn(twin angle, double out[2])
{
    double quarters = nearbyint(angle.hi / 1.5707963267948966);
    twin rest = twin_reduce(angle, quarters);
    long double x = (long double)rest.hi + (long double)rest.lo, c = cosl(x), s = sinl(x);
    switch ((int64_t)quarters & 3) {
    case 0: out[0] = (double)c, out[1] = (double)s; break;
    case 1: out[0] = (double)-s, out[1] = (double)c; break;
    case 2: out[0] = (double)-c, out[1] = (double)-s; break;
    default: out[0] = (double)s, out[1] = (double)-c;
    }
}

/* 10000^(-i/64): the sixth square root, multiplied up. */
static void frequencies(twin out[PAIRS])
{
    twin step = twin_sum(1e-4, 0), error = { fma(-1e-4, 1e4, 1), 0 };
    step = twin_add(step, twin_mul(error, (twin){ 1e-4, 0 }));
    for (int i = 0; i < 6; i++)
        step = twin_sqrt(step);
    out[0] = (twin){ 1, 0 };
    for (int i = 1; i < PAIRS; i++)
        out[i] = twin_mul(out[i - 1], step);
}

typedef struct worst {
    double error, ulp;
} worst;

static void compare(worst *w, float got, double truth)
{
    double error = fabs((double)got - truth);
    int exponent;
    frexp(truth, &exponent);
    double ulp = error / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
    w->error = error > w->error ? error : w->error;
    w->ulp = ulp > w->ulp ? ulp : w->ulp;
}

static worst measure(const pe_encoding *e, int64_t position)
{
    twin frequency[PAIRS];
    worst w = { 0, 0 };
    pe_error err;
    float *c = buffer(TOKENS * PAIRS * 4), *s = buffer(TOKENS * PAIRS * 4);
    frequencies(frequency);
    must(pe_rotate_table(e, PE_QUERY, pe_view_of(c, PE_F32, 1, TOKENS, 1, PAIRS),
                         pe_view_of(s, PE_F32, 1, TOKENS, 1, PAIRS), pe_positions_run(1, TOKENS, position), NULL, &err),
         &err, "rope");
    for (int64_t i = 0; i < TOKENS * PAIRS; i++) {
        double truth[2];
        true_turn(twin_mul(frequency[i % PAIRS], (twin){ (double)(position + i / PAIRS), 0 }), truth);
        compare(&w, c[i], truth[0]);
        compare(&w, s[i], truth[1]);
    }
    free(c);
    free(s);
    return w;
}

void bench_accuracy(bench *b)
{
    static const int64_t places[] = { 100000, 1000000, 1000000000 };
    say(b, "accuracy");
    for (int i = 0; i < BENCH_COUNT(places); i++)
        for (int r = 0; r < rung_count(); r++) {
            pe_encoding *e = encoding("rope:theta=10000", (pe_shape){ 1, 0, 2 * PAIRS, 0 }, rung_name(r));
            worst w = measure(e, places[i]);
            cell c = { .kind = CELL_OURS,
                       .table = "accuracy",
                       .line = "cos and sin from position",
                       .n = places[i],
                       .who = rung_name(r),
                       .unit = "ulp",
                       .value = w.ulp };
            cell_add(b, c);
            if (r == rung_count() - 1) {
                c.who = "posenc";
                c.unit = "absolute";
                c.value = w.error;
                cell_add(b, c);
            }
            pe_encoding_free(e);
        }
}
