/* SPDX-License-Identifier: MIT
 *
 * JSON strings, decoded in place: every escape is longer than the UTF-8 it stands for, so the text only shrinks and no
 * hostile string costs memory.
 */
#include "scan.h"

#include "base/text.h"
#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Four hex digits; -1 if they are not. */
static int32_t take_hex4(io_scan *s)
{
    int32_t v = 0;
    if (s->end - s->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *d = memchr(digits, *s->at++, 32);
        if (!d)
            return -1;
        v = v << 4 | (int32_t)((d - digits) & 15);
    }
    return v;
}

/* What follows \u: a code point, from one escape or from a surrogate pair; -1: none, or U+0000, which would end a name
 * early for us and not for others. */
static int32_t take_code_point(io_scan *s)
{
    int32_t high = take_hex4(s);
    if (high <= 0 || (high >= 0xDC00 && high <= 0xDFFF))
        return -1;
    if (high < 0xD800 || high > 0xDFFF)
        return high;
    if (s->end - s->at < 2 || *s->at++ != '\\' || *s->at++ != 'u')
        return -1;
    int32_t low = take_hex4(s);
    if (low < 0xDC00 || low > 0xDFFF)
        return -1;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static char *put_utf8(char *to, int32_t c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int lead[] = { 0x00, 0xC0, 0xE0, 0xF0 };
    *to++ = (char)(lead[more] | c >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return to;
}

static char *take_escape(io_scan *s, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    if (s->at == s->end)
        return NULL;
    char c = *s->at++;
    const char *known = memchr(from, c, sizeof from - 1);
    if (known) {
        *to++ = into[known - from];
        return to;
    }
    int32_t code = c == 'u' ? take_code_point(s) : -1;
    return code < 0 ? NULL : put_utf8(to, code);
}

size_t io_utf8_length(const char *at, const char *end)
{
    unsigned char c = (unsigned char)*at, low = 0x80, high = 0xBF;
    int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    if ((c >= 0x80 && c < 0xC2) || c > 0xF4 || end - at <= more)
        return 0;
    if (c == 0xE0)
        low = 0xA0;
    if (c == 0xED)
        high = 0x9F;
    if (c == 0xF0)
        low = 0x90;
    if (c == 0xF4)
        high = 0x8F;
    for (int i = 1; i <= more; i++, low = 0x80, high = 0xBF)
        if ((unsigned char)at[i] < low || (unsigned char)at[i] > high)
            return 0;
    return (size_t)more + 1;
}

/* One character that stands for itself. */
static char *take_plain(io_scan *s, char *to)
{
    size_t length = (unsigned char)*s->at < 0x20 ? 0 : io_utf8_length(s->at, s->end);
    for (size_t i = 0; i < length; i++)
        *to++ = *s->at++;
    return length ? to : NULL;
}

bool io_scan_string(io_scan *s, char **out)
{
    if (!io_scan_char(s, '"'))
        return false;
    char *to = *out = s->at;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\') {
            s->at++;
            to = take_escape(s, to);
        } else {
            to = take_plain(s, to);
        }
        if (!to)
            return false;
    }
    if (s->at == s->end)
        return false;
    s->at++;
    memset(to, 0, (size_t)(s->at - to));
    return true;
}

/* ---------------------------------------------------------------- numbers */

/* Numbers as text, by the rules that specs follow. */

void io_print_real(char *out, size_t cap, double x)
{
    text_print(out, cap, x);
}

void io_print_float(char *out, size_t cap, double x)
{
    double back;
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(out, cap, "%.*g", precision, x);
        for (char *c = out; *c; c++)
            if (!strchr("0123456789+-einfa", *c))
                *c = '.';
        if (!isfinite(x) || (text_number(out, strlen(out), &back) && (float)back == (float)x))
            return;
    }
}
