/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/wide.h"

/* Distils n terms into three that do not overlap. Each pass carries the exact sum upwards and leaves the errors below;
 * what is dropped is below 2^-150 of the result for terms given roughly in order of size. */
static wide distil(double *term, int n)
{
    for (int pass = 0; pass < 4; pass++)
        for (int i = n - 1; i > 0; i--) {
            dd s = dd_sum(term[i - 1], term[i]);
            term[i - 1] = s.hi;
            term[i] = s.lo;
        }
    return (wide){ { term[0], term[1], term[2] } };
}

wide wide_from(double x)
{
    return (wide){ { x, 0, 0 } };
}

wide wide_add(wide a, wide b)
{
    double term[6] = { a.part[0], b.part[0], a.part[1], b.part[1], a.part[2], b.part[2] };
    return distil(term, 6);
}

wide wide_scale(wide a, double factor)
{
    return (wide){ { a.part[0] * factor, a.part[1] * factor, a.part[2] * factor } };
}

wide wide_sub(wide a, wide b)
{
    return wide_add(a, wide_scale(b, -1));
}

wide wide_mul(wide a, wide b)
{
    dd p00 = dd_product(a.part[0], b.part[0]);
    dd p01 = dd_product(a.part[0], b.part[1]), p10 = dd_product(a.part[1], b.part[0]);
    double term[9] = { p00.hi,
                       p00.lo,
                       p01.hi,
                       p10.hi,
                       p01.lo,
                       p10.lo,
                       a.part[1] * b.part[1],
                       a.part[0] * b.part[2],
                       a.part[2] * b.part[0] };
    return distil(term, 9);
}

/* Long division: each step finds the next 53 bits of the quotient. */
wide wide_div(wide a, wide b)
{
    double term[4];
    for (int i = 0; i < 4; i++) {
        term[i] = a.part[0] / b.part[0];
        a = wide_sub(a, wide_mul(b, wide_from(term[i])));
    }
    return distil(term, 4);
}

static const wide ln2 = { { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111 } };

wide wide_two_pi(void)
{
    return (wide){ { 0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52, -0x1.f1976b7ed8fbcp-108 } };
}

/* exp(x) = 2^k (1 + s), s = exp(r) - 1 with r = x - k ln 2 taken 256 times smaller and squared back eight times. */
wide wide_exp(wide x)
{
    double k = rint(x.part[0] / ln2.part[0]);
    wide r = wide_scale(wide_sub(x, wide_mul(ln2, wide_from(k))), 0x1p-8);
    double falling = 1; /* 15!/n!, a whole number below 2^53 */
    wide s = wide_from(1);
    for (int n = 14; n > 0; n--) { /* 15! (1 + r/2! + r^2/3! + ...) by Horner's rule */
        falling *= n + 1;
        s = wide_add(wide_mul(s, r), wide_from(falling));
    }
    s = wide_div(wide_mul(s, r), wide_from(falling));
    for (int i = 0; i < 8; i++)
        s = wide_add(wide_scale(s, 2), wide_mul(s, s));
    s = wide_add(wide_from(1), s);
    for (int i = 0; i < 3; i++)
        s.part[i] = ldexp(s.part[i], (int)k);
    return s;
}

/* Newton on exp(y) = x; each step doubles the good bits, from 53 to 106 to all. */
wide wide_log(wide x)
{
    wide y = wide_from(log(x.part[0]));
    for (int i = 0; i < 2; i++)
        y = wide_add(y, wide_sub(wide_mul(x, wide_exp(wide_scale(y, -1))), wide_from(1)));
    return y;
}

wide wide_pow(wide x, wide y)
{
    if (y.part[0] == 0)
        return wide_from(1);
    if (y.part[0] == 1 && y.part[1] == 0 && y.part[2] == 0)
        return x;
    return wide_exp(wide_mul(y, wide_log(x)));
}

wide wide_floor(wide x)
{
    double f = floor(x.part[0]);
    if (f == x.part[0] && x.part[1] < 0)
        f -= 1;
    return wide_from(f);
}

wide wide_clamp(wide x, double low, double high)
{
    return x.part[0] < low ? wide_from(low) : x.part[0] > high ? wide_from(high) : x;
}
