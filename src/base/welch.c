/* SPDX-License-Identifier: MIT
 *
 * Whether two means differ by more than chance: Student's t with the degrees of freedom of Welch and Satterthwaite. */
#include "base/welch.h"

#include <math.h>

static double away_from_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        h *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

/* I_x(a, b). The fraction converges fast for x below its mean; beyond it, 1 - I_{1-x}(b, a). */
static double beta_share(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double welch_t_probability(double t, double degrees)
{
    if (isnan(t) || !(degrees > 0))
        return (double)NAN;
    return isinf(t) ? 0 : beta_share(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double welch_probability(welch_sample x, welch_sample y)
{
    if (x.count < 2 || y.count < 2)
        return (double)NAN;
    double u = x.deviation * x.deviation / x.count, v = y.deviation * y.deviation / y.count, far = x.mean - y.mean;
    if (!(u + v > 0))
        return far == 0;
    return welch_t_probability(far / sqrt(u + v), (u + v) * (u + v) / (u * u / (x.count - 1) + v * v / (y.count - 1)));
}
