/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/kernels.h"
#include "kernels/turn.h"

const wide turn_per_radian = { { 0x1.45f306dc9c883p-3, -0x1.6b01ec5417056p-57, -0x1.6447e493ad4cep-111 } };

const double turn_sine_term[8] = {
    -1.0 / 6,
    1.0 / 120,
    -1.0 / 5040,
    1.0 / 362880,
    -1.0 / 39916800.,
    1.0 / 6227020800.0,
    -1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
};
const double turn_cosine_term[9] = {
    -1.0 / 2,
    1.0 / 24,
    -1.0 / 720,
    1.0 / 40320,
    -1.0 / 3628800,
    1.0 / 479001600,
    -1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
    -1.0 / 6402373705728000.0,
};

/* sin(y)/y - 1 and (cos(y) - 1) by their series: below 2^-54 of the result for |y| <= pi/4. */
static double series(const double *term, int count, double z) /* z = y*y */
{
    double sum = 0;
    for (int i = count - 1; i >= 0; i--)
        sum = z * (term[i] + sum);
    return sum;
}

/* The fraction of a turn of n f, in -1/8 .. 1/8, and the quarter turns taken off. The product is exact in hi + lo,
 * whole turns leave without rounding, and what f's second double adds is below 2^-17 turns: nothing is lost. The third
 * counts where n f ends next to a quarter turn: some do within 2^-62 turns, where two doubles are off by 2^-74. */
static dd turn_fraction(double n, wide f, int *quarter)
{
    dd p = dd_product(n, f.part[0]), tail = dd_product(n, f.part[1]);
    dd r = dd_sum(p.hi - rint(p.hi), p.lo);
    dd low = dd_sum(r.lo, tail.hi);
    low.lo += tail.lo + n * f.part[2];
    r = dd_sum(r.hi, low.hi);
    r.lo += low.lo;
    double q = rint(4 * r.hi);
    r = dd_sum(r.hi - q / 4, r.lo);
    *quarter = (int)q & 3;
    return r;
}

void turn_cos_sin(double n, wide f, double *c, double *s)
{
    int quarter;
    dd r = turn_fraction(n, f, &quarter);
    const double two_pi = 0x1.921fb54442d18p+2, two_pi_low = 0x1.1a62633145c07p-52;
    dd y = dd_product(r.hi, two_pi);
    y.lo += dd_fma(r.lo, two_pi, r.hi * two_pi_low);
    double z = y.hi * y.hi;
    double sine = y.hi + (y.hi * series(turn_sine_term, 8, z) + y.lo * (1 - z / 2));
    double cosine = 1 + (series(turn_cosine_term, 9, z) - y.lo * y.hi);
    /* No branch, for quarters come as they like: cos is negative in 1 and 2, sin in 2 and 3. */
    double across = quarter & 1 ? sine : cosine, up = quarter & 1 ? cosine : sine;
    *c = (quarter + 1) & 2 ? -across : across;
    *s = quarter & 2 ? -up : up;
}

static void turn_many_c(double *c, double *s, const double *n, const double *f, int64_t f_row, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        turn_cos_sin(n[i], (wide){ { f[i], f[f_row + i], f[2 * f_row + i] } }, &c[i], &s[i]);
}

bool turn_sums_c(float *c, float *s, const double *base, const double *step, int64_t row, double slack, int64_t count)
{
    bool certain = true;
    for (int64_t i = 0; i < count; i++) {
        double bc = base[i], bs = base[row + i], sc = step[i], ss = step[row + i];
        double cosine = dd_fma(bc, sc, -(bs * ss)), sine = dd_fma(bs, sc, bc * ss);
        c[i] = (float)(cosine + slack);
        s[i] = (float)(sine + slack);
        certain = certain && c[i] == (float)(cosine - slack) && s[i] == (float)(sine - slack);
    }
    return certain;
}

void turn_c(kernels *k)
{
    k->turns = turn_many_c;
    k->turn_sums = turn_sums_c;
    k->add_code = add_code_c;
    k->add_waves = add_waves_c;
    k->rotate_waves = rotate_waves_c;
}
