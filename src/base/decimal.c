/* SPDX-License-Identifier: MIT
 *
 * A decimal numeral as the nearest double, exactly: digits x 10^exponent is a fraction a / b of whole numbers, 2^s a /
 * b is divided out to 63 bits or more with a remainder, and that is rounded once, ties to even. */
#include "base/exact.h"

#include "base/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LIMBS = 40, PLACES_MOST = 310, PLACES_LEAST = -330 }; /* 10^310 has 1030 bits, 5^394 915; 63 for the quotient */

typedef struct big {
    uint32_t limb[LIMBS]; /* least first; zeros from limb[count] on */
    int count;
} big;

static int bit_length(uint64_t v)
{
    int n = 0;
    for (; v; v >>= 1)
        n++;
    return n;
}

static int big_bits(const big *b)
{
    return b->count ? 32 * (b->count - 1) + bit_length(b->limb[b->count - 1]) : 0;
}

static void big_mul_add(big *b, uint32_t factor, uint32_t plus)
{
    uint64_t carry = plus;
    for (int i = 0; i < b->count; i++, carry >>= 32) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
    }
    if (carry)
        b->limb[b->count++] = (uint32_t)carry;
}

static void big_mul_power_of_five(big *b, int n)
{
    for (; n >= 13; n -= 13)
        big_mul_add(b, 1220703125, 0); /* 5^13 */
    for (; n > 0; n--)
        big_mul_add(b, 5, 0);
}

static void big_shift_left(big *b, int bits)
{
    int whole = bits / 32;
    big_mul_add(b, (uint32_t)1 << bits % 32, 0);
    memmove(b->limb + whole, b->limb, (size_t)b->count * sizeof b->limb[0]);
    memset(b->limb, 0, (size_t)whole * sizeof b->limb[0]);
    b->count += whole;
}

/* a[0..n] -= q b, n limbs; what it borrowed from beyond a[n]. */
static uint32_t subtract(uint32_t *a, const big *b, uint32_t q)
{
    uint64_t product = 0, borrow = 0;
    for (int i = 0; i <= b->count; i++) {
        product += i < b->count ? (uint64_t)b->limb[i] * q : 0;
        borrow = (uint64_t)a[i] - (uint32_t)product - borrow;
        a[i] = (uint32_t)borrow;
        borrow = borrow >> 63;
        product >>= 32;
    }
    return (uint32_t)borrow;
}

/* a[0..n] += b; what it carries beyond a[n]. */
static uint32_t add_big(uint32_t *a, const big *b)
{
    uint64_t sum = 0;
    for (int i = 0; i <= b->count; i++, sum >>= 32) {
        sum += (uint64_t)a[i] + (i < b->count ? b->limb[i] : 0);
        a[i] = (uint32_t)sum;
    }
    return (uint32_t)sum;
}

/* One digit, base 2^32, of the quotient, where a[0..n] < 2^32 b and b has all 32 n bits: an estimate from the leading
 * limbs is at most 2 too large. a becomes the remainder. */
static uint32_t divide_digit(uint32_t *a, const big *b)
{
    int n = b->count;
    uint64_t q = ((uint64_t)a[n] << 32 | a[n - 1]) / b->limb[n - 1];
    q = q > UINT32_MAX ? UINT32_MAX : q;
    uint32_t below = subtract(a, b, (uint32_t)q);
    for (; below; q--)
        below -= add_big(a, b);
    return (uint32_t)q;
}

/* (q + a part of one if more) 2^exponent, rounded; q has 62 or 63 bits. Below 2^-1022 fewer bits are kept. */
static double round_once(uint64_t q, bool more, int exponent)
{
    int bits = bit_length(q), top = exponent + bits, keep = top < -1021 ? 53 + top + 1021 : 53;
    if (keep < 0)
        return 0;
    int drop = bits - keep;
    uint64_t kept = q >> drop, rest = q - (kept << drop), half = (uint64_t)1 << (drop - 1);
    kept += rest > half || (rest == half && (more || kept & 1));
    return ldexp((double)kept, exponent + drop);
}

double decimal_value(const char *digits, int count, int64_t exponent)
{
    big a = { { 0 }, 0 }, b = { { 1 }, 1 };
    if (!count || count + exponent < PLACES_LEAST)
        return 0;
    if (count + exponent > PLACES_MOST)
        return INFINITY;
    for (int i = 0; i < count; i++)
        big_mul_add(&a, 10, (uint32_t)(digits[i] - '0'));
    big_mul_power_of_five(exponent < 0 ? &b : &a, abs((int)exponent));
    int a_bits = big_bits(&a), b_bits = big_bits(&b), least = b_bits > a_bits - 63 ? b_bits : a_bits - 63;
    int room = (least + 31) / 32 * 32; /* bits of b from now on, and of a less 63: the quotient has 63 or 64 */
    big_shift_left(&a, room + 63 - a_bits);
    big_shift_left(&b, room - b_bits);
    uint64_t q = (uint64_t)divide_digit(a.limb + 1, &b) << 32;
    q |= divide_digit(a.limb, &b);
    bool more = q & 1;
    for (int i = 0; i < b.count; i++)
        more |= a.limb[i] != 0;
    return round_once(q >> 1, more, (int)exponent + (a_bits - 63) - b_bits + 1);
}
