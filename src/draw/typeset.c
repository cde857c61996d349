/* SPDX-License-Identifier: MIT
 *
 * Text as the writers set it: numbers as text, characters and their width, lines, thin rules. */
#include "draw/typeset.h"

#include "io/columns.h"
#include "io/io.h"
#include "io/json_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- numbers */

/* Prints n in at least so many digits; returns their end. */
static char *digits_put(char *out, unsigned long long n, int least)
{
    char digits[24];
    int count = 0;
    for (; n || count < least; n /= 10)
        digits[count++] = (char)('0' + n % 10);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}

/* Printed by hand, as a picture has thousands of numbers and a page draws many pictures a second. */
void draw_fixed(char out[40], double x, int decimals, bool is_short)
{
    long long scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    long long n = llround(x * (double)scale), whole = llabs(n) / scale, part = llabs(n) % scale;
    char *end = out;
    if (n < 0)
        *end++ = '-';
    end = digits_put(end, (unsigned long long)whole, 1);
    if (decimals > 0 && (part || !is_short)) {
        *end++ = '.';
        end = digits_put(end, (unsigned long long)part, decimals);
    }
    while (is_short && part && end[-1] == '0')
        end--;
    *end = 0;
}

/* ---------------------------------------------------------------- characters */

int draw_next_code(const char *text, unsigned *code)
{
    int n = out_character(text, code);
    if (n == 0 || out_is_order(*code))
        *code = 0xFFFD;
    return n ? n : 1;
}

/* The width of a character, in parts of an em. */
static double code_width(unsigned code)
{
    static const char *const classes[] = { "ijl'|", "!,./:;I[]\\ftr ()-`", "cksvxyzJ\"*^{}", "mM%@W", "wCDGHNOQRU&" };
    static const double widths[] = { 0.25, 0.32, 0.5, 0.92, 0.74 };
    if (code >= 0x80)
        return columns_of_code(code) == 2 ? 1 : columns_of_code(code) * 0.6;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (strchr(classes[i], (int)code))
            return widths[i];
    return code >= 'A' && code <= 'Z' ? 0.66 : 0.57;
}

static double text_width(const char *text, double size)
{
    double width = 0;
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        width += code_width(code);
    }
    return width * size * 1.06;
}

/* Invalid UTF-8 and control characters become U+FFFD. */
void draw_escape(FILE *to, const char *text)
{
    while (*text) {
        unsigned code = 0;
        int n = out_character(text, &code);
        if (n == 0 || out_is_order(code))
            fputs("&#xFFFD;", to);
        else if (code == '<' || code == '>' || code == '&' || code == '"' || code == '\'')
            fprintf(to, "&#%u;", code);
        else
            fwrite(text, 1, (size_t)n, to);
        text += n ? n : 1;
    }
}

/* ---------------------------------------------------------------- faces */

const face face_paper = { .size = 12.5, .line = 17, .title_size = 17, .title_line = 23, .gap = 8, .pad = 6 };
const face face_screen = { .size = 14, .line = 16, .title_size = 14, .title_line = 16, .gap = 8, .cell = 8 };

#define LINE_MOST 400 /* bytes */
#define LINES_MOST 3
#define BOLD_WIDER 1.18

double face_width(const face *f, const char *text, double size)
{
    return f->cell > 0 ? f->cell * columns_of(text) : text_width(text, size);
}

void face_shorten(const face *f, char *text, double width)
{
    size_t n = strlen(text);
    n = n > 2 ? n - 2 : 0; /* the points stand in place of letters */
    while (n > 3 && face_width(f, text, f->size) * (f->cell > 0 ? 1 : BOLD_WIDER) > width) {
        do
            n--;
        while (n > 1 && ((unsigned char)text[n] & 0xC0) == 0x80);
        memcpy(text + n, "..", sizeof "..");
    }
}

/* ---------------------------------------------------------------- lines */

/* Chinese punctuation that must not begin a line: , . : ; ? ! ) and the like. */
static bool code_closes(unsigned code)
{
    return code == 0xFF0C || code == 0x3002 || code == 0xFF1A || code == 0xFF1B || code == 0xFF1F || code == 0xFF01 ||
           code == 0xFF09 || code == 0x3001 || code == 0x300D || code == 0x201D;
}

void face_cut(char *out, size_t room, const char *text)
{
    if ((size_t)snprintf(out, room, "%s", text) >= room)
        io_end_with_dots(out, room);
}

/* Whether a line may end before text: at a space, at the end, or beside a wide character. */
static bool line_may_break(const char *text, unsigned last)
{
    unsigned next = 0;
    if (*text == ' ' || *text == 0)
        return true;
    draw_next_code(text, &next);
    return (columns_of_code(next) == 2 || columns_of_code(last) == 2) && !code_closes(next) && next != ',';
}

/* Returns how many bytes of text fit a line of the width; at least one word. */
static size_t line_length(const face *f, const char *text, double size, double width)
{
    char part[LINE_MOST];
    size_t fits = 0;
    unsigned code = 0;
    for (size_t i = 0; text[i] && i + 4 < sizeof part;) {
        i += (size_t)draw_next_code(text + i, &code);
        if (!line_may_break(text + i, code))
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, text); /* fits: LINE_MOST at most */
        if (fits && face_width(f, part, size) * (size >= DRAW_BOLD ? BOLD_WIDER : 1) > width)
            return fits;
        fits = i;
    }
    return fits ? fits : strlen(text);
}

double face_lines(draw *d, face_text at, const char *text)
{
    char part[LINE_MOST];
    double size = at.is_title ? at.f->title_size : at.f->size, line = at.is_title ? at.f->title_line : at.f->line;
    for (int row = 0; row < (at.most ? at.most : LINES_MOST) && text && *text; row++) {
        size_t n = line_length(at.f, text, size, at.width);
        face_cut(part, sizeof part, text);
        if (n < sizeof part)
            snprintf(part, sizeof part, "%.*s", (int)n, text);
        if (d)
            draw_text(d, at.left, at.top + 0.8 * line, size, ANCHOR_START, at.ink, false, part);
        at.top += line;
        for (text += n; *text == ' ';)
            text++;
    }
    return at.top;
}

double face_label(draw *d, face_text at, const char *label, const char *mark)
{
    double end = face_lines(d, at, label), used = text_is_given(label) ? face_width(at.f, label, at.f->size) + 2 * at.f->gap : 0;
    if (!text_is_given(mark))
        return end;
    at.ink = INK_SERIES + 4;
    if (text_is_given(label) && used + face_width(at.f, mark, at.f->size) * BOLD_WIDER > at.width)
        return face_lines(d, (face_text){ at.f, at.left, end, at.width, false, at.ink, 0 }, mark);
    at.left += used;
    at.width -= used;
    return fmax(end, face_lines(d, at, mark));
}

/* ---------------------------------------------------------------- rules and labels */

void face_rule(draw *d, draw_point from, draw_point to, int ink, draw_dash dash)
{
    draw_point line[2] = { from, to };
    draw_path(d, line, 2, false, (draw_style){ .stroke = ink, .fill = INK_NONE, .width = 1, .dash = dash });
}

void face_centred(draw *d, const face *f, double x, double y, const char *text)
{
    double half = face_width(f, text, f->size) / 2;
    double middle = fmax(fmin(x, d->width - f->pad - half), f->pad + half);
    draw_text(d, middle, y, f->size, ANCHOR_MIDDLE, INK_FAINT, false, text);
}
