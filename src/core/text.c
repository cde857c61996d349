/* SPDX-License-Identifier: MIT
 *
 * Numbers and words in specs. Own code because strtod and printf follow the locale, and a spec must not. */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

static wide power_of_ten(int n)
{
    wide p = wide_from(1), ten = wide_from(10);
    for (; n > 0; n--)
        p = wide_mul(p, ten);
    return p;
}

/* digits [. digits] [e [sign] digits], at most 19 significant digits: they fit a uint64 exactly, and 150 bits of
 * scaling leave the one rounding at the end. */
bool text_number(const char *s, size_t n, double *out)
{
    const char *end = s + n;
    bool negative = false, point = false;
    uint64_t digits = 0;
    int count = 0, seen = 0, exponent = 0;
    if (s < end && (*s == '-' || *s == '+'))
        negative = *s++ == '-';
    for (; s < end && ((*s >= '0' && *s <= '9') || (*s == '.' && !point)); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        seen++;
        exponent -= point;
        if (digits || *s != '0')
            count++;
        if (count > 19)
            return false;
        digits = digits * 10 + (uint64_t)(*s - '0');
    }
    if (!seen)
        return false;
    if (s < end && (*s == 'e' || *s == 'E')) {
        bool down = false;
        int e = 0, e_digits = 0;
        if (++s < end && (*s == '-' || *s == '+'))
            down = *s++ == '-';
        for (; s < end && *s >= '0' && *s <= '9' && e < 1000; s++, e_digits++)
            e = e * 10 + (*s - '0');
        if (!e_digits)
            return false;
        exponent += down ? -e : e;
    }
    if (s != end || exponent > 280 || exponent < -280)
        return false;
    wide w = wide_add(wide_from((double)(digits >> 32) * 0x1p32), wide_from((double)(digits & 0xffffffffu)));
    w = exponent < 0 ? wide_div(w, power_of_ten(-exponent)) : wide_mul(w, power_of_ten(exponent));
    *out = negative && digits ? -w.part[0] : w.part[0]; /* there is one zero */
    return true;
}

int text_unit(char c)
{
    return c == 'k' || c == 'K' ? 10 : c == 'M' ? 20 : c == 'G' ? 30 : 0;
}

/* Puts '.' where the locale's decimal point stands, which may be several bytes; the new length. */
static int plain_point(char *text)
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
        n = plain_point(out);
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
