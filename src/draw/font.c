/* SPDX-License-Identifier: MIT
 *
 * Letters as strokes. */
#include "draw/font.h"

#include "draw/paint.h"

#include <math.h>

#define CURVE 12 /* pieces of a curve */

static const font_glyph *find(unsigned code)
{
    int low = 0, high = font_glyph_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (font_glyphs[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < font_glyph_count && font_glyphs[low].code == code ? &font_glyphs[low] : NULL;
}

/* What stands for a letter that is not there, one column wide or two. */
static const font_glyph *glyph_of(unsigned code)
{
    static const font_glyph narrow = { 0, 60, "M 9 4 L 9 68 L 51 68 L 51 4 L 9 4" };
    static const font_glyph wide = { 0, 100, "M 9 -4 L 9 76 L 91 76 L 91 -4 L 9 -4" };
    const font_glyph *g = find(code);
    return g ? g : draw_code_columns(code) == 2 ? &wide : &narrow;
}

bool font_has(unsigned code)
{
    return find(code) != NULL;
}

bool draw_png_has(unsigned code)
{
    return font_has(code);
}

double font_width(const char *text)
{
    double width = 0;
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        width += draw_code_columns(code) ? glyph_of(code)->advance / 100.0 : 0;
    }
    return width;
}

/* ---------------------------------------------------------------- paths */

typedef struct pen {
    font_line *line;
    void *with;
    double left; /* of the letter */
    draw_point at;
} pen;

static void line_to(pen *p, draw_point to)
{
    draw_point a = { p->left + p->at.x / 100, p->at.y / 100 }, b = { p->left + to.x / 100, to.y / 100 };
    p->line(p->with, a, b);
    p->at = to;
}

static void curve_to(pen *p, const double n[6])
{
    draw_point from = p->at;
    for (int i = 1; i <= CURVE; i++) {
        double t = (double)i / CURVE, u = 1 - t, a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
        line_to(p, (draw_point){ a * from.x + b * n[0] + c * n[2] + d * n[4],
                                 a * from.y + b * n[1] + c * n[3] + d * n[5] });
    }
}

static void arc_to(pen *p, const double n[6], bool is_new)
{
    const double degree = 3.14159265358979324 / 180;
    int pieces = (int)(fabs(n[5] - n[4]) / 12) + 1;
    for (int i = 0; i <= pieces; i++) {
        double angle = (n[4] + (n[5] - n[4]) * i / pieces) * degree;
        draw_point to = { n[0] + n[2] * cos(angle), n[1] + n[3] * sin(angle) };
        if (i == 0 && is_new)
            p->at = to;
        else
            line_to(p, to);
    }
}

/* Whole numbers with spaces before them. */
static const char *read_numbers(const char *s, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        while (*s == ' ')
            s++;
        double sign = *s == '-' ? -1 : 1, v = 0;
        for (s += *s == '-'; *s >= '0' && *s <= '9'; s++)
            v = 10 * v + (*s - '0');
        out[i] = sign * v;
    }
    return s;
}

static void put_glyph(pen *p, const char *path)
{
    double n[6];
    while (*path) {
        char what = *path++;
        if (what == ' ')
            continue;
        path = read_numbers(path, n, what == 'M' || what == 'L' ? 2 : 6);
        if (what == 'M')
            p->at = (draw_point){ n[0], n[1] };
        else if (what == 'L')
            line_to(p, (draw_point){ n[0], n[1] });
        else if (what == 'C')
            curve_to(p, n);
        else
            arc_to(p, n, what == 'a');
    }
}

void font_strokes(const char *text, font_line *line, void *with)
{
    pen p = { .line = line, .with = with };
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        if (draw_code_columns(code) == 0)
            continue;
        const font_glyph *g = glyph_of(code);
        put_glyph(&p, g->path);
        p.left += g->advance / 100.0;
    }
}
