/* SPDX-License-Identifier: MIT */
#include "io/columns.h"

#include "io/json_out.h"

#include <string.h>

/* ---------------------------------------------------------------- widths */

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

int columns_of_code(unsigned code)
{
    static const range none[] = { { 0x300, 0x36F }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } };
    static const range two[] = { { 0x1100, 0x115F },   { 0x2E80, 0xA4CF },   { 0xAC00, 0xD7A3 },  { 0xF900, 0xFAFF },
                                 { 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },  { 0x1F300, 0x1F64F },
                                 { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1FAFF }, { 0x20000, 0x3FFFD } };
    if (code < 0x300)
        return 1;
    return is_in(none, sizeof none / sizeof none[0], code) ? 0 : is_in(two, sizeof two / sizeof two[0], code) ? 2 : 1;
}

/* The character at text: its bytes, 1 or more, and its columns; what is no UTF-8 is printed as '?'. */
static int next_code(const char *text, unsigned *code)
{
    int bytes = out_character(text, code);
    if (!bytes)
        *code = '?';
    return bytes ? bytes : 1;
}

int columns_of_bytes(const char *text, int bytes)
{
    int sum = 0;
    unsigned code = 0;
    for (int n = 0; n < bytes && text[n]; sum += columns_of_code(code))
        n += next_code(text + n, &code);
    return sum;
}

int columns_of(const char *text)
{
    return columns_of_bytes(text, (int)strlen(text));
}

int columns_fit(const char *text, int columns)
{
    int bytes = 0;
    unsigned code = 0;
    while (text[bytes]) {
        int n = next_code(text + bytes, &code);
        columns -= columns_of_code(code);
        if (columns < 0)
            break;
        bytes += n;
    }
    return bytes;
}

/* ---------------------------------------------------------------- printing */

const char *columns_ascii(unsigned code)
{
    static const struct {
        unsigned code;
        const char *text;
    } plain[] = {
        { 0xA0, " " },      { 0xB0, " deg" },    { 0xB1, "+-" },   { 0xB2, "^2" },     { 0xB3, "^3" },
        { 0xB7, "*" },      { 0xD7, "x" },       { 0xF7, "/" },    { 0x3B1, "alpha" }, { 0x3B2, "beta" },
        { 0x3B8, "theta" }, { 0x3BB, "lambda" }, { 0x3C0, "pi" },  { 0x3C9, "omega" }, { 0x2013, "-" },
        { 0x2014, "-" },    { 0x2018, "'" },     { 0x2019, "'" },  { 0x201C, "\"" },   { 0x201D, "\"" },
        { 0x2026, "..." },  { 0x2190, "<-" },    { 0x2192, "->" }, { 0x2212, "-" },    { 0x221A, "sqrt" },
        { 0x221E, "inf" },  { 0x2248, "~" },     { 0x2260, "!=" }, { 0x2264, "<=" },   { 0x2265, ">=" },
        { 0x22C5, "*" },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].code == code)
            return plain[i].text;
    return NULL;
}

static int print_bytes(const columns_out *c, const char *text, int bytes)
{
    int width = 0;
    unsigned code = 0;
    for (int n = 0, length; n < bytes && text[n]; n += length) {
        length = next_code(text + n, &code);
        const char *other = c->ascii ? columns_ascii(code) : NULL;
        if (other)
            width += fprintf(c->to, "%s", other);
        else {
            out_plain(c->to, text + n, length);
            width += columns_of_code(code);
        }
    }
    return width;
}

int columns_print(const columns_out *c, const char *text)
{
    return print_bytes(c, text, (int)strlen(text));
}

void columns_pad(const columns_out *c, int count)
{
    if (count > 0)
        fprintf(c->to, "%*s", count, "");
}

/* ---------------------------------------------------------------- wrapping */

static bool is_wide_stop(unsigned code)
{
    return code == 0x3001 || code == 0x3002 || code == 0xFF0C || code == 0xFF1B || code == 0xFF1A || code == 0xFF09 ||
           code == 0xFF1F;
}

/* Bytes that stay on one line: a word, or one wide character, with the wide stops that follow. */
static int unit_of(const char *text)
{
    unsigned code = 0;
    int all = next_code(text, &code), n;
    if (columns_of_code(code) < 2)
        while (text[all] && text[all] != ' ' && text[all] != '\n') {
            n = next_code(text + all, &code);
            if (columns_of_code(code) > 1)
                break;
            all += n;
        }
    while (text[all] && (n = next_code(text + all, &code)) && is_wide_stop(code))
        all += n;
    return all;
}

/* How much of a word that is wider than its room goes on this line: up to its last comma or bar, or all of it. */
static int cut_of(const char *word, int bytes, int room)
{
    if (columns_of_bytes(word, bytes) > room)
        for (int n = room; n > 1; n--)
            if (strchr(",|", word[n - 1]))
                return n;
    return bytes;
}

void columns_wrap(const columns_out *c, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        bool space = *text == ' ', line = *text == '\n' && text[1];
        text += *text == '\n' ? 1 : (int)strspn(text, " ");
        int bytes = *text && *text != '\n' ? unit_of(text) : 0, width = columns_of_bytes(text, bytes);
        if (line || (column > indent && column + space + width > c->margin)) {
            fputc('\n', c->to);
            columns_pad(c, indent);
            column = indent;
        } else if (space && bytes && column > indent)
            column += fprintf(c->to, " ");
        for (int part; bytes && (part = cut_of(text, bytes, c->margin - column)) < bytes; text += part, bytes -= part) {
            print_bytes(c, text, part);
            fputc('\n', c->to);
            columns_pad(c, indent);
            column = indent;
        }
        column += print_bytes(c, text, bytes);
        text += bytes;
    }
    fputc('\n', c->to);
}
