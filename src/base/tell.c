/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "base/tell.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tell tell_into(char *text, size_t room)
{
    *text = 0;
    return (tell){ text, room, 0 };
}

void tell_say(tell *t, const char *format, ...)
{
    static const char cut[] = " …";
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->text + t->used, t->room - t->used, format, list);
    va_end(list);
    if (n < 0)
        return;
    size_t left = t->room - t->used;
    if ((size_t)n + sizeof cut < left)
        t->used += (size_t)n;
    else if (left >= sizeof cut) { /* whole pieces only, and none after this one */
        memcpy(t->text + t->used, cut, sizeof cut);
        t->room = t->used + sizeof cut;
        t->used += sizeof cut - 1;
    }
}

static void drop_zeros(char *text)
{
    size_t n = strlen(text);
    while (n > 1 && text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    text[n] = 0;
}

number_text tell_number(double x)
{
    number_text s;
    double size = fabs(x);
    if (x == floor(x) && size < 1e15) {
        snprintf(s.text, sizeof s.text, "%.0f", x + 0); /* there is one zero */
        return s;
    }
    bool fixed = size >= 0.1 && size < 1e6;
    snprintf(s.text, sizeof s.text, fixed ? (size < 100 ? "%.4f" : "%.2f") : "%.4g", x);
    text_plain_point(s.text);
    if (fixed)
        drop_zeros(s.text);
    return s;
}

number_text tell_factor(double x)
{
    number_text s = tell_number(x), in;
    if (s.text[0] != '-')
        return s;
    snprintf(in.text, sizeof in.text, "(%.30s)", s.text);
    return in;
}

/* The unit of the last digit of what tell_number shows. */
static double last_digit(double x)
{
    double size = fabs(x);
    if (x == floor(x) && size < 1e15)
        return 0;
    return size >= 0.1 && size < 1e6 ? (size < 100 ? 1e-4 : 1e-2) : pow(10, floor(log10(size)) - 3);
}

static double to_digit(double x, double unit)
{
    return unit == 0 ? x : unit < 1 ? rint(x / unit) / rint(1 / unit) : rint(x / unit) * unit;
}

double tell_difference(double a, double b)
{
    double one = last_digit(a), other = last_digit(b);
    return to_digit(to_digit(a, one) - to_digit(b, other), fmax(one, other));
}

void tell_products(tell *t, const double *a, const double *b, int64_t count)
{
    for (int64_t d = 0; d < count; d++)
        tell_say(t, "%s%s · %s", d ? " + " : "", tell_factor(a[d]).text, tell_factor(b[d]).text);
}
