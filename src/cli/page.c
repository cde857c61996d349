/* SPDX-License-Identifier: MIT */
#include "cli/page.h"

#include "io/io.h"
#include "io/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MARGIN 98

int page_print(const char *text, int length)
{
    return page_print_to(stdout, text, length);
}

int page_print_to(FILE *to, const char *text, int length)
{
    return out_plain(to, text, length);
}

/* How much of a word that is longer than the room goes on this line: up to its last comma, or bar, within it. */
static int cut(const char *word, int length, int room)
{
    for (int n = room; n > 1 && length > room; n--)
        if (strchr(",|", word[n - 1]))
            return n;
    return length;
}

static int new_line(int indent)
{
    printf("\n%*s", indent, "");
    return indent;
}

void page_wrapped(const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > MARGIN)
            column = new_line(indent);
        if (column > indent)
            column += printf(" ");
        for (int part; n > 0 && (part = cut(text, n, MARGIN - column)) < n; text += part, n -= part) {
            page_print(text, part);
            column = new_line(indent);
        }
        column += page_print(text, n);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

void page_field(const char *label, int indent, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printf("  %-*s", indent - 2, label);
    page_wrapped(text, indent);
}

void page_title(const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    putchar('\n');
    page_print(text, (int)sizeof text);
    putchar('\n');
}

page_text page_number(double x)
{
    page_text out;
    bool whole = fabs(x) < 1e15 && x == floor(x);
    double unit = pow(10, 5 - floor(log10(fabs(x))));
    io_print_real(out.text, sizeof out.text, whole || !isfinite(unit) ? x : round(x * unit) / unit);
    return out;
}

page_list page_ranges(const bool *in, int64_t count)
{
    page_list out = { "" };
    size_t used = 0, cap = sizeof out.text;
    for (int64_t n = 0; n < count; n++) {
        int64_t last = n;
        if (!in[n])
            continue;
        while (last + 1 < count && in[last + 1])
            last++;
        if (used < cap)
            used += (size_t)snprintf(out.text + used, cap - used, "%s%" PRId64, used ? ", " : "", n);
        if (last > n && used < cap)
            used += (size_t)snprintf(out.text + used, cap - used, "-%" PRId64, last);
        n = last;
    }
    if (used >= cap)
        memcpy(out.text + cap - 5, " ...", 5);
    return out;
}
