/* SPDX-License-Identifier: MIT
 *
 * The yardsticks of one rung, for a file that says what a vector is: VEC, WIDTH (floats), SET, LOAD, STORE, FMA, ADD,
 * MUL, FIRST (its first element), TARGET, RUNG (the rung's name) and STICK (the name of what it defines). */

#define CHAINS 12 /* enough to hide the latency, few enough for the registers */

/* CHAINS multiply-adds a round; the starts differ, so that no two chains are one. */
TARGET static float peak(int64_t rounds)
{
    volatile float start = 1e-7f;
    const VEC x = SET(0.999999f), y = SET(start);
    VEC a = y, b = ADD(a, y), c = ADD(b, y), d = ADD(c, y), e = ADD(d, y), f = ADD(e, y);
    VEC g = ADD(f, y), h = ADD(g, y), i = ADD(h, y), j = ADD(i, y), k = ADD(j, y), l = ADD(k, y);
    for (int64_t n = 0; n < rounds; n++) {
        a = FMA(a, x, y);
        b = FMA(b, x, y);
        c = FMA(c, x, y);
        d = FMA(d, x, y);
        e = FMA(e, x, y);
        f = FMA(f, x, y);
        g = FMA(g, x, y);
        h = FMA(h, x, y);
        i = FMA(i, x, y);
        j = FMA(j, x, y);
        k = FMA(k, x, y);
        l = FMA(l, x, y);
    }
    a = ADD(ADD(ADD(a, b), ADD(c, d)), ADD(ADD(e, f), ADD(g, h)));
    return FIRST(ADD(a, ADD(ADD(i, j), ADD(k, l))));
}

/* y *= 1, in place: the traffic of an in-place rotation. n is a multiple of 4 WIDTH. */
TARGET static void scale(float *y, int64_t n)
{
    volatile float one = 1;
    const VEC s = SET(one);
    for (int64_t i = 0; i < n; i += 4 * WIDTH) {
        VEC a = LOAD(y + i), b = LOAD(y + i + WIDTH), c = LOAD(y + i + 2 * WIDTH), d = LOAD(y + i + 3 * WIDTH);
        STORE(y + i, MUL(a, s));
        STORE(y + i + WIDTH, MUL(b, s));
        STORE(y + i + 2 * WIDTH, MUL(c, s));
        STORE(y + i + 3 * WIDTH, MUL(d, s));
    }
}

TARGET static float read_all(const float *x, int64_t n)
{
    VEC a = SET(0), b = a, c = a, d = a;
    for (int64_t i = 0; i < n; i += 4 * WIDTH) {
        a = ADD(a, LOAD(x + i));
        b = ADD(b, LOAD(x + i + WIDTH));
        c = ADD(c, LOAD(x + i + 2 * WIDTH));
        d = ADD(d, LOAD(x + i + 3 * WIDTH));
    }
    return FIRST(ADD(ADD(a, b), ADD(c, d)));
}

const yardstick STICK = { RUNG, 2 * CHAINS *WIDTH, peak, scale, read_all };
