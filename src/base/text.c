/* SPDX-License-Identifier: MIT
 *
 * Own code because strtod and printf follow the locale, and a spec must not. */
#include "base/exact.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

/* The significant digits of a numeral, and the power of ten of the last one. */
typedef struct numeral {
    char digits[TEXT_DIGITS_MAX];
    int count;
    int64_t exponent;
} numeral;

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
