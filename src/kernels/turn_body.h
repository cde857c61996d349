/* SPDX-License-Identifier: MIT
 *
 * turn_cos_sin on vectors: the same operations in the same order, so the same bits. The file that includes this has
 * defined
 *   vd, W        a vector of W doubles              all(x)          x in every lane
 *   load, store                                     fused(a, b, c)  a*b + c, one rounding
 *   vn, narrow   W floats, from W doubles           nearest(x)      the nearest whole number, ties to even
 *   store_f32, differ(a, b) (a nonzero vb where bits differ), vb, any(vb)
 *   vq, quarters(x): W 64-bit integers; x's whole numbers, from -2 to 2, modulo 4, in their lowest bits
 *   bits_of(x), words(n): x's bits, and n in every lane, as vq; most(a, b), reaches(a, b): the larger of their 32-bit
 *                halves, and whether any of a's is at least b's
 *   flip(x, q)   x, negated where bit 1 of q is set
 *   choose(a, b, q)   b where bit 0 of q is set, else a */

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
    return (vdd){ hi, fused(a, b, -hi) };
}

INLINE vd series(const double *term, int count, vd z)
{
    vd sum = z * all(term[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        sum = z * (all(term[i]) + sum);
    return sum;
}

/* turn_fraction of turn.c, with the quarters still a double. */
INLINE vdd fraction(vd n, vd f0, vd f1, vd f2, vd *quarter)
{
    vdd p = exact_product(n, f0), tail = exact_product(n, f1);
    vdd r = exact_sum(p.hi - nearest(p.hi), p.lo);
    vdd low = exact_sum(r.lo, tail.hi);
    low.lo += tail.lo + n * f2;
    r = exact_sum(r.hi, low.hi);
    r.lo += low.lo;
    *quarter = nearest(all(4) * r.hi);
    return exact_sum(r.hi - *quarter * all(0.25), r.lo);
}

INLINE void turn_vector(double *c, double *s, vd n, vd f0, vd f1, vd f2)
{
    vd whole;
    vdd r = fraction(n, f0, f1, f2, &whole);
    const vd two_pi = all(0x1.921fb54442d18p+2), two_pi_low = all(0x1.1a62633145c07p-52);
    vdd y = exact_product(r.hi, two_pi);
    y.lo += fused(r.lo, two_pi, r.hi * two_pi_low);
    vd z = y.hi * y.hi;
    vd sine = y.hi + (y.hi * series(turn_sine_term, 8, z) + y.lo * (all(1) - z * all(0.5)));
    vd cosine = all(1) + (series(turn_cosine_term, 9, z) - y.lo * y.hi);
    vq q = quarters(whole), next = quarters(whole + all(1)); /* cos is negative in quarters 1 and 2, sin in 2 and 3 */
    store(c, flip(choose(cosine, sine, q), next));
    store(s, flip(choose(sine, cosine, q), q));
}

static void many(double *c, double *s, const double *n, const double *f, int64_t f_row, int64_t count)
{
    int64_t i = 0;
    for (; i + W <= count; i += W)
        turn_vector(c + i, s + i, load(n + i), load(f + i), load(f + f_row + i), load(f + 2 * f_row + i));
    if (i < count) {
        double in[4][W] = { { 0 } }, out[2][W];
        size_t left = (size_t)(count - i) * sizeof *c;
        memcpy(in[0], n + i, left);
        for (int part = 0; part < 3; part++)
            memcpy(in[1 + part], f + part * f_row + i, left);
        turn_vector(out[0], out[1], load(in[0]), load(in[1]), load(in[2]), load(in[3]));
        memcpy(c + i, out[0], left);
        memcpy(s + i, out[1], left);
    }
}

/* One vector of x, which is in doubt where x - slack and x + slack are not one float. */
INLINE vb round_once(float *y, vd x, vd slack)
{
    vn high = narrow(x + slack);
    store_f32(y, high);
    return differ(high, narrow(x - slack));
}

/* A float keeps all but the last 29 bits of a double; what lies more than 2^16 units from half of these, and is at
 * least 2^38 slack in size, so that 2^15 units exceed slack, is out of doubt at once. Its complement shows both: that
 * of bits 17 to 28 of x + 2^28 + 2^16, all of them 0 where x is near half, and that of its size. */
INLINE vq nearness(vd x)
{
    return ~(bits_of(x) + words(0x10010000)) & words(0x7fffffff1ffe0000);
}

INLINE vq nearness_limit(double slack)
{
    uint64_t least;
    double size = slack * 0x1p38;
    memcpy(&least, &size, sizeof least);
    return words((0x7ffffffe - (least >> 32)) << 32 | 0x1ffe0000);
}

static bool sums(float *c, float *s, const double *base, const double *step, int64_t row, double slack, int64_t count)
{
    const vq limit = nearness_limit(slack);
    bool certain = true;
    int64_t i = 0;
    for (; i + W <= count; i += W) {
        vd bc = load(base + i), bs = load(base + row + i), sc = load(step + i), ss = load(step + row + i);
        vd x = fused(bc, sc, -(bs * ss)), y = fused(bs, sc, bc * ss);
        store_f32(c + i, narrow(x));
        store_f32(s + i, narrow(y));
        if (reaches(most(nearness(x), nearness(y)), limit))
            certain = !any(round_once(c + i, x, all(slack)) | round_once(s + i, y, all(slack))) && certain;
    }
    return (i == count || turn_sums_c(c + i, s + i, base + i, step + i, row, slack, count - i)) && certain;
}
