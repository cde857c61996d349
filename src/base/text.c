/* SPDX-License-Identifier: MIT
 *
 * Own code because strtod and printf follow the locale, and a spec must not. */
#include "base/exact.h"
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The significant digits of a numeral, and the power of ten of the last one. */
typedef struct numeral {
    char digits[TEXT_DIGITS_MAX];
    int count;
    int64_t exponent;
} numeral;

/* A decimal numeral as the nearest double, exactly: digits x 10^exponent is a fraction a / b of whole numbers, 2^s a /
 * b is divided out to 63 bits or more with a remainder, and that is rounded once, ties to even. */
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

/* digits[0] to digits[count - 1], the first of them not 0, times 10^exponent: the nearest double; infinity past the
 * largest. */
static double decimal_value(const char *digits, int count, int64_t exponent)
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

/* digits [. digits]; NULL where there is no digit, or too many. */
static const char *take_digits(const char *s, const char *end, numeral *out)
{
    bool point = false, seen = false;
    for (; s < end && ((*s >= '0' && *s <= '9') || (*s == '.' && !point)); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        seen = true;
        out->exponent -= point;
        if (!out->count && *s == '0')
            continue;
        if (out->count == TEXT_DIGITS_MAX)
            return NULL;
        out->digits[out->count++] = *s;
    }
    return seen ? s : NULL;
}

/* e [sign] digits, if there; NULL where the digits are missing. */
static const char *take_exponent(const char *s, const char *end, numeral *out)
{
    if (s == end || (*s != 'e' && *s != 'E'))
        return s;
    int64_t e = 0;
    bool down = ++s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+');
    const char *first = s;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        e = e < 100000 ? e * 10 + (*s - '0') : e; /* beyond any double already */
    out->exponent += down ? -e : e;
    return s > first ? s : NULL;
}

bool text_number(const char *s, size_t n, double *out)
{
    numeral number = { .count = 0 };
    const char *end = s + n;
    bool negative = n && *s == '-';
    s = take_digits(s + (n && (*s == '-' || *s == '+')), end, &number);
    s = s ? take_exponent(s, end, &number) : NULL;
    double x = s && s == end ? decimal_value(number.digits, number.count, number.exponent) : INFINITY;
    if (!isfinite(x))
        return false;
    *out = negative && x != 0 ? -x : x; /* there is one zero */
    return true;
}

int text_unit(char c)
{
    return c == 'k' || c == 'K' ? 10 : c == 'M' ? 20 : c == 'G' ? 30 : 0;
}

/* The locale's decimal point may be several bytes. */
int text_plain_point(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++)
        if (strchr("0123456789+-einfa", *c))
            *to++ = *c;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    *to = 0;
    return (int)(to - text);
}

int text_print(char *out, size_t cap, double x)
{
    int n = 0;
    for (int precision = 15; precision <= 17; precision++) {
        double back;
        n = snprintf(out, cap, "%.*g", precision, x);
        if (n < 0 || (size_t)n >= cap)
            return n;
        n = text_plain_point(out);
        if (!isfinite(x) || (text_number(out, strlen(out), &back) && back == x))
            break;
    }
    return n;
}

number_text text_show(double x)
{
    number_text s;
    text_print(s.text, sizeof s.text, x);
    return s;
}

/* Letters to change, add, drop or swap with their neighbour, for words up to 31 letters. */
static int distance(const char *a, size_t n, const char *b)
{
    int line[33][33];
    size_t m = strlen(b);
    if (n > 31 || m > 31)
        return 99;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            int best = (int)(i + j);
            if (i && j) {
                best = line[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                best = line[i - 1][j] + 1 < best ? line[i - 1][j] + 1 : best;
                best = line[i][j - 1] + 1 < best ? line[i][j - 1] + 1 : best;
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && line[i - 2][j - 2] + 1 < best)
                best = line[i - 2][j - 2] + 1;
            line[i][j] = best;
        }
    return line[n][m];
}

/* One letter in three may be wrong; a word may also be the beginning of a longer one. */
const char *text_nearest(const char *word, size_t n, const char *const *list, int count)
{
    const char *best = NULL;
    int least = n < 6 ? 2 : (int)(n / 3) + 1;
    for (int i = 0; n > 1 && i < count; i++) {
        int d = distance(word, n, list[i]);
        if (n >= 3 && strlen(list[i]) > n && !strncmp(word, list[i], n))
            d = 1;
        if (d < least) {
            least = d;
            best = list[i];
        }
    }
    return best;
}
