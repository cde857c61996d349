/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, and how wide text is. */
#include "draw/list.h"

#include "io/json_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n in at least so many digits; their end. */
static char *put_digits(char *out, unsigned long long n, int least)
{
    char digits[24];
    int count = 0;
    for (; n || count < least; n /= 10)
        digits[count++] = (char)('0' + n % 10);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}

/* By hand: a picture has thousands of numbers, and a page draws many pictures a second. */
void draw_fixed(char out[40], double x, int decimals, bool is_short)
{
    long long scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    long long n = llround(x * (double)scale), whole = llabs(n) / scale, part = llabs(n) % scale;
    char *end = out;
    if (n < 0)
        *end++ = '-';
    end = put_digits(end, (unsigned long long)whole, 1);
    if (decimals > 0 && (part || !is_short)) {
        *end++ = '.';
        end = put_digits(end, (unsigned long long)part, decimals);
    }
    while (is_short && part && end[-1] == '0')
        end--;
    *end = 0;
}

int draw_next_code(const char *text, unsigned *code)
{
    int n = out_character(text, code);
    if (n == 0 || out_is_order(*code))
        *code = 0xFFFD;
    return n ? n : 1;
}

typedef struct range {
    unsigned first, last;
} range;

static bool is_in(const range *r, size_t count, unsigned code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= r[i].first && code <= r[i].last)
            return true;
    return false;
}

int draw_code_columns(unsigned code)
{
    static const range none[] = { { 0x300, 0x36F }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } };
    static const range two[] = { { 0x1100, 0x115F },   { 0x2E80, 0xA4CF },   { 0xAC00, 0xD7A3 },  { 0xF900, 0xFAFF },
                                 { 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },  { 0x1F300, 0x1F64F },
                                 { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1FAFF }, { 0x20000, 0x3FFFD } };
    if (code < 0x300)
        return 1;
    return is_in(none, sizeof none / sizeof none[0], code) ? 0 : is_in(two, sizeof two / sizeof two[0], code) ? 2 : 1;
}

int draw_text_columns(const char *text)
{
    int columns = 0;
    for (unsigned code; *text && columns < 100000; columns += draw_code_columns(code))
        text += draw_next_code(text, &code);
    return columns;
}

/* Of an em, in the order of the classes below. */
static double code_width(unsigned code)
{
    static const char *const classes[] = { "ijl'|", "!,./:;I[]\\ftr ()-`", "cksvxyzJ\"*^{}", "mM%@W", "wCDGHNOQRU&" };
    static const double widths[] = { 0.25, 0.32, 0.5, 0.92, 0.74 };
    if (code >= 0x80)
        return draw_code_columns(code) == 2 ? 1 : draw_code_columns(code) * 0.6;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (strchr(classes[i], (int)code))
            return widths[i];
    return code >= 'A' && code <= 'Z' ? 0.66 : 0.57;
}

double draw_text_width(const char *text, double size)
{
    double width = 0;
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        width += code_width(code);
    }
    return width * size * 1.06;
}
