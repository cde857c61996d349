/* SPDX-License-Identifier: MIT
 *
 * turn_cos_sin on vectors: the same operations in the same order, so the same bits. */

typedef struct vdd {
    vd hi, lo;
} vdd;

INLINE vdd exact_sum(vd a, vd b)
{
    vd hi = a + b, t = hi - a;
    return (vdd){ hi, (a - (hi - t)) + (b - t) };
}

INLINE vdd exact_product(vd a, vd b)
{
    vd hi = a * b;
    return (vdd){ hi, vd_fma(a, b, -hi) };
}

INLINE vd series(const double *term, int count, vd z)
{
    vd sum = z * vd_set(term[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        sum = z * (vd_set(term[i]) + sum);
    return sum;
}

/* turn_fraction of turn.c, with the quarters still a double. */
INLINE vdd fraction(vd n, vd f0, vd f1, vd f2, vd *quarter)
{
    vdd p = exact_product(n, f0), tail = exact_product(n, f1);
    vdd r = exact_sum(p.hi - vd_nearest(p.hi), p.lo);
    vdd low = exact_sum(r.lo, tail.hi);
    low.lo += tail.lo + n * f2;
    r = exact_sum(r.hi, low.hi);
    r.lo += low.lo;
    *quarter = vd_nearest(vd_set(4) * r.hi);
    return exact_sum(r.hi - *quarter * vd_set(0.25), r.lo);
}

/* Whole numbers from -2 to 2 modulo 4, in the lowest bits. */
INLINE vq quarters(vd x)
{
    return vd_bits(x + vd_set(0x1.8p52));
}

/* x, negated where bit 1 of q is set. */
INLINE vd flip(vd x, vq q)
{
    return vq_double(vd_bits(x) ^ (q & vq_set(2)) << 62);
}

INLINE void turn_vector(double *c, double *s, vd n, vd f0, vd f1, vd f2)
{
    vd whole;
    vdd r = fraction(n, f0, f1, f2, &whole);
    const vd two_pi = vd_set(0x1.921fb54442d18p+2), two_pi_low = vd_set(0x1.1a62633145c07p-52);
    vdd y = exact_product(r.hi, two_pi);
    y.lo += vd_fma(r.lo, two_pi, r.hi * two_pi_low);
    vd z = y.hi * y.hi;
    vd sine = y.hi + (y.hi * series(turn_sine_term, 8, z) + y.lo * (vd_set(1) - z * vd_set(0.5)));
    vd cosine = vd_set(1) + (series(turn_cosine_term, 9, z) - y.lo * y.hi);
    vq q = quarters(whole),
       next = quarters(whole + vd_set(1)); /* cos is negative in quarters 1 and 2, sin in 2 and 3 */
    vd_store(c, flip(vd_choose(cosine, sine, q), next));
    vd_store(s, flip(vd_choose(sine, cosine, q), q));
}

static void turns_v(double *c, double *s, const double *n, const double *f, int64_t f_row, int64_t count)
{
    int64_t i = 0;
    for (; i + VD <= count; i += VD)
        turn_vector(c + i, s + i, vd_load(n + i), vd_load(f + i), vd_load(f + f_row + i), vd_load(f + 2 * f_row + i));
    if (i < count) {
        double in[4][VD] = { { 0 } }, out[2][VD];
        size_t left = (size_t)(count - i) * sizeof *c;
        memcpy(in[0], n + i, left);
        for (int part = 0; part < 3; part++)
            memcpy(in[1 + part], f + part * f_row + i, left);
        turn_vector(out[0], out[1], vd_load(in[0]), vd_load(in[1]), vd_load(in[2]), vd_load(in[3]));
        memcpy(c + i, out[0], left);
        memcpy(s + i, out[1], left);
    }
}

/* One vector of x; true where x - slack and x + slack are one float. */
INLINE bool round_both(float *y, vd x, vd slack)
{
    vh high = vd_float(x + slack);
    vh_store(y, high);
    return !vh_differ(high, vd_float(x - slack));
}

/* A float keeps all but the last 29 bits of a double; what lies more than 2^16 units from half of these, and is at
 * least 2^38 slack in size, so that 2^15 units exceed slack, is out of doubt at once. Its complement shows both: that
 * of bits 17 to 28 of x + 2^28 + 2^16, all of them 0 where x is near half, and that of its size. */
INLINE vq nearness(vd x)
{
    return ~(vd_bits(x) + vq_set(0x10010000)) & vq_set(0x7fffffff1ffe0000);
}

INLINE vq nearness_limit(double slack)
{
    uint64_t least;
    double size = slack * 0x1p38;
    memcpy(&least, &size, sizeof least);
    return vq_set((0x7ffffffe - (least >> 32)) << 32 | 0x1ffe0000);
}

static bool turn_sums_v(float *c, float *s, const double *base, const double *step, int64_t row, double slack,
                        int64_t count)
{
    const vq limit = nearness_limit(slack);
    bool certain = true;
    int64_t i = 0;
    for (; i + VD <= count; i += VD) {
        vd bc = vd_load(base + i), bs = vd_load(base + row + i), sc = vd_load(step + i), ss = vd_load(step + row + i);
        vd x = vd_fma(bc, sc, -(bs * ss)), y = vd_fma(bs, sc, bc * ss);
        vh_store(c + i, vd_float(x));
        vh_store(s + i, vd_float(y));
        if (vq_reaches(vq_max(nearness(x), nearness(y)), limit))
            certain = round_both(c + i, x, vd_set(slack)) && round_both(s + i, y, vd_set(slack)) && certain;
    }
    return (i == count || turn_sums_c(c + i, s + i, base + i, step + i, row, slack, count - i)) && certain;
}
