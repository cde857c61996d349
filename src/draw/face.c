/* SPDX-License-Identifier: MIT
 *
 * Text in lines, and thin rules. */
#include "draw/face.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

const face face_paper = { .size = 12.5, .line = 17, .title_size = 17, .title_line = 23, .gap = 8, .pad = 6 };
const face face_screen = { .size = 14, .line = 16, .title_size = 14, .title_line = 16, .gap = 8, .cell = 8 };

#define LINE_MOST 400 /* bytes */
#define LINES_MOST 3
#define BOLD_WIDER 1.18

double face_width(const face *f, const char *text, double size)
{
    return f->cell > 0 ? f->cell * draw_text_columns(text) : draw_text_width(text, size);
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

/* What does not begin a line: , . : ; ? ! ) as Chinese writes them. */
static bool is_closing(unsigned code)
{
    return code == 0xFF0C || code == 0x3002 || code == 0xFF1A || code == 0xFF1B || code == 0xFF1F || code == 0xFF01 ||
           code == 0xFF09 || code == 0x3001 || code == 0x300D || code == 0x201D;
}

void face_cut(char *out, size_t room, const char *text)
{
    if ((size_t)snprintf(out, room, "%s", text) >= room)
        io_end_with_dots(out, room);
}

/* A line may end behind text[0 .. n]: before a space, at the end, or beside a wide character. */
static bool may_break(const char *text, unsigned last)
{
    unsigned next = 0;
    if (*text == ' ' || *text == 0)
        return true;
    draw_next_code(text, &next);
    return (draw_code_columns(next) == 2 || draw_code_columns(last) == 2) && !is_closing(next) && next != ',';
}

/* Bytes of text that fit a line of the width; at least one word. */
static size_t line_length(const face *f, const char *text, double size, double width)
{
    char part[LINE_MOST];
    size_t fits = 0;
    unsigned code = 0;
    for (size_t i = 0; text[i] && i + 4 < sizeof part;) {
        i += (size_t)draw_next_code(text + i, &code);
        if (!may_break(text + i, code))
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

/* ---------------------------------------------------------------- rules and labels */

void face_rule(draw *d, draw_point from, draw_point to, int ink, draw_dash dash)
{
    draw_point line[2] = { from, to };
    draw_path(d, line, 2, false, (draw_style){ .line = ink, .fill = INK_NONE, .width = 1, .dash = dash });
}

void face_centred(draw *d, const face *f, double x, double y, const char *text)
{
    double half = face_width(f, text, f->size) / 2;
    double middle = fmax(fmin(x, d->width - f->pad - half), f->pad + half);
    draw_text(d, middle, y, f->size, ANCHOR_MIDDLE, INK_FAINT, false, text);
}
