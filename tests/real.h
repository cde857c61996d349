/* SPDX-License-Identifier: MIT
 *
 * Real numbers of 400 bits as expressions, by MPFR: mul(number(2), pi()). A result holds until some hundred others are
 * made; what must stay longer is kept in an mpfr_t of its own. */
#ifndef TESTS_REAL_H
#define TESTS_REAL_H

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>

enum { REAL_BITS = 400, REAL_ROOM = 256 };

typedef mpfr_ptr real;

static inline real real_next(void)
{
    static mpfr_t room[REAL_ROOM];
    static unsigned used;
    real x = room[used % REAL_ROOM];
    if (used++ < REAL_ROOM)
        mpfr_init2(x, REAL_BITS);
    if (used == 2 * REAL_ROOM) /* all are made, and the count stays small */
        used = REAL_ROOM;
    return x;
}

static inline real number(double x)
{
    real r = real_next();
    mpfr_set_d(r, x, MPFR_RNDN);
    return r;
}

#define REAL_OF_TWO(name, f)                                                                                           \
    static inline real name(mpfr_srcptr a, mpfr_srcptr b)                                                              \
    {                                                                                                                  \
        real r = real_next();                                                                                          \
        f(r, a, b, MPFR_RNDN);                                                                                         \
        return r;                                                                                                      \
    }
#define REAL_OF_ONE(name, f)                                                                                           \
    static inline real name(mpfr_srcptr a)                                                                             \
    {                                                                                                                  \
        real r = real_next();                                                                                          \
        f(r, a, MPFR_RNDN);                                                                                            \
        return r;                                                                                                      \
    }
REAL_OF_TWO(add, mpfr_add)
REAL_OF_TWO(sub, mpfr_sub)
REAL_OF_TWO(mul, mpfr_mul)
REAL_OF_TWO(quo, mpfr_div)
REAL_OF_TWO(power, mpfr_pow)
REAL_OF_ONE(ln, mpfr_log)
REAL_OF_ONE(root, mpfr_sqrt)
REAL_OF_ONE(exponential, mpfr_exp)
REAL_OF_ONE(sine_of, mpfr_sin)
REAL_OF_ONE(cosine_of, mpfr_cos)
REAL_OF_ONE(nearest, mpfr_rint_round)
REAL_OF_ONE(below, mpfr_rint_floor)
REAL_OF_ONE(above, mpfr_rint_ceil)

static inline real two_pi(void)
{
    real r = real_next();
    mpfr_const_pi(r, MPFR_RNDN);
    mpfr_mul_2ui(r, r, 1, MPFR_RNDN);
    return r;
}

static inline real clamped(real x, double low, double high)
{
    return mpfr_cmp_d(x, low) < 0 ? number(low) : mpfr_cmp_d(x, high) > 0 ? number(high) : x;
}

static inline double as_double(mpfr_srcptr x)
{
    return mpfr_get_d(x, MPFR_RNDN);
}

/* Rounded once to a format of so many bits, by MPFR's recipe for IEEE formats; least and most: its exponents. */
static inline double rounded_once(mpfr_srcptr x, int bits, mpfr_exp_t least, mpfr_exp_t most)
{
    mpfr_exp_t old_least = mpfr_get_emin(), old_most = mpfr_get_emax();
    mpfr_t r;
    mpfr_init2(r, bits);
    int way = mpfr_set(r, x, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    way = mpfr_check_range(r, way, MPFR_RNDN);
    mpfr_subnormalize(r, way, MPFR_RNDN);
    double y = as_double(r);
    mpfr_set_emin(old_least);
    mpfr_set_emax(old_most);
    mpfr_clear(r);
    return y;
}

#endif
