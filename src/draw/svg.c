/* SPDX-License-Identifier: MIT
 *
 * SVG. A colour is a class (.l3: line of ink 3, .f3: filled with it), which CSS sets to a variable; the plain colour
 * before the variable is for viewers that do not support variables. */
#include "draw/typeset.h"

#include "base/try.h"
#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

static void svg_number(FILE *to, double x)
{
    char text[40];
    draw_fixed(text, x, 2, true);
    fputs(text, to);
}

static void svg_attribute(FILE *to, const char *name, double x)
{
    fprintf(to, " %s=\"", name);
    svg_number(to, x);
    fputc('"', to);
}

/* ---------------------------------------------------------------- CSS */

static void svg_colour(FILE *to, draw_rgb c)
{
    fprintf(to, "#%02x%02x%02x", c.r, c.g, c.b);
}

static void css_put_variables(FILE *to, bool dark)
{
    static const char *const named[INK_PAPERS] = { "paper", "text", "faint", "grid" };
    fputc('{', to);
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        fprintf(to, "--ink-%d:", slot);
        svg_colour(to, dark ? inks[slot].dark : inks[slot].light);
        fputc(';', to);
    }
    for (int slot = 0; slot < INK_PAPERS; slot++)
        fprintf(to, "--%s:var(--ink-%d)%s", named[slot], slot, slot + 1 < INK_PAPERS ? ";" : "}\n");
}

static void css_put_class(FILE *to, char letter, const char *property, int slot)
{
    fprintf(to, ".drawing .%c%d{%s:", letter, slot, property);
    svg_colour(to, inks[slot].light);
    fprintf(to, ";%s:var(--ink-%d)}\n", property, slot);
}

void draw_css(FILE *to)
{
    fputs(":root", to);
    css_put_variables(to, false);
    fputs("@media (prefers-color-scheme:dark){:root:not([data-theme=light])", to);
    css_put_variables(to, true);
    fputs("}\n:root[data-theme=dark]", to);
    css_put_variables(to, true);
    fputs(".drawing-narrow{display:none}\n"
          "@media (max-width:40rem){.drawing-wide{display:none}.drawing-narrow{display:block}}\n"
          ".drawing{max-width:100%;height:auto;fill:none;stroke:none;stroke-linejoin:round;stroke-linecap:round}\n"
          ".drawing text{font-family:\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",system-ui,sans-serif;"
          "stroke:none;white-space:pre}\n",
          to);
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        css_put_class(to, 'l', "stroke", slot);
        css_put_class(to, 'f', "fill", slot);
    }
}

/* ---------------------------------------------------------------- shapes */

static void svg_put_dash(FILE *to, draw_style s)
{
    static const double on[] = { 0, 4, 0.01 }, off[] = { 0, 3, 2.2 }; /* of the line's width; round ends add one */
    if (s.dash != DASH_LONG && s.dash != DASH_DOT)
        return;
    fputs(" stroke-dasharray=\"", to);
    svg_number(to, on[s.dash] * s.width);
    fputc(' ', to);
    svg_number(to, off[s.dash] * s.width);
    fputc('"', to);
}

static void svg_put_style(FILE *to, draw_style s)
{
    int stroke = ink_slot(s.stroke), fill = ink_slot(s.fill);
    if (stroke >= 0 && fill >= 0)
        fprintf(to, " class=\"l%d f%d\"", stroke, fill);
    else if (stroke >= 0 || fill >= 0)
        fprintf(to, " class=\"%c%d\"", stroke >= 0 ? 'l' : 'f', stroke >= 0 ? stroke : fill);
    if (stroke >= 0 && s.width != 1)
        svg_attribute(to, "stroke-width", s.width);
    if (fill >= 0 && s.alpha < 1)
        svg_attribute(to, "fill-opacity", s.alpha);
    if (stroke >= 0)
        svg_put_dash(to, s);
    fputs("/>\n", to);
}

static void svg_put_path(FILE *to, const draw *d, const draw_shape *s)
{
    fputs("<path d=\"", to);
    for (size_t i = 0; i < s->count; i++) {
        draw_point p = d->points[s->first + i];
        fputc(i == 0 ? 'M' : i == 1 ? 'L' : ' ', to);
        svg_number(to, p.x);
        fputc(' ', to);
        svg_number(to, p.y);
    }
    fputs(s->closed ? "Z\"" : s->count == 1 ? "h0\"" : "\"", to); /* h0: a line of length 0 with round ends is a dot */
    svg_put_style(to, s->style);
}

static void svg_box(FILE *to, const char *tag, double x, double y, double width, double height)
{
    fprintf(to, "<%s", tag);
    svg_attribute(to, "x", x);
    svg_attribute(to, "y", y);
    svg_attribute(to, "width", width);
    svg_attribute(to, "height", height);
}

static void svg_put_circle(FILE *to, const draw_shape *s)
{
    fputs("<circle", to);
    svg_attribute(to, "cx", s->x);
    svg_attribute(to, "cy", s->y);
    svg_attribute(to, "r", s->width);
    svg_put_style(to, s->style);
}

static void svg_put_text(FILE *to, const draw *d, const draw_shape *s)
{
    static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };
    int slot = ink_slot(s->style.fill);
    fputs("<text", to);
    svg_attribute(to, "x", s->x);
    svg_attribute(to, "y", s->y);
    svg_attribute(to, "font-size", s->height);
    if (s->height >= DRAW_BOLD || s->style.fill >= INK_SERIES)
        fputs(" font-weight=\"600\"", to);
    fputs(s->anchor == ANCHOR_MIDDLE || s->anchor == ANCHOR_END ? anchors[s->anchor] : "", to);
    if (slot >= 0)
        fprintf(to, " class=\"f%d\"", slot);
    if (s->vertical) {
        fputs(" transform=\"rotate(-90 ", to);
        svg_number(to, s->x);
        fputc(' ', to);
        svg_number(to, s->y);
        fputs(")\"", to);
    }
    fputc('>', to);
    draw_escape(to, d->bytes + s->first);
    fputs("</text>\n", to);
}

/* ---------------------------------------------------------------- cells */

typedef struct svg_grid {
    int rows, columns;
    const uint8_t *heat; /* (rows, columns) */
    uint8_t *means;      /* owns heat where the cells are averaged; else NULL */
} svg_grid;

/* A file grows with its cells, so cells finer than a pixel are averaged: as many of them as a pixel holds. */
static int svg_cells_per_pixel(int count, double pixels)
{
    return pixels >= count ? 1 : pixels >= 1 ? (int)ceil(count / pixels) : count;
}

static bool svg_grid_new(svg_grid *out, const draw *d, const draw_shape *s)
{
    int across = svg_cells_per_pixel(s->columns, s->width), down = svg_cells_per_pixel(s->rows, s->height);
    *out = (svg_grid){ .rows = (s->rows + down - 1) / down, .columns = (s->columns + across - 1) / across };
    out->heat = (const uint8_t *)d->bytes + s->first;
    if (across == 1 && down == 1)
        return true;
    size_t size, i = 0;
    if (!io_mul(&size, (size_t)out->rows, (size_t)out->columns) || !(out->means = malloc(size)))
        return false;
    out->heat = out->means;
    for (int r = 0; r < out->rows; r++)
        for (int c = 0; c < out->columns; c++) {
            cells_box box = { (double)across * c, across * (c + 1.0), (double)down * r, down * (r + 1.0) };
            out->means[i++] = draw_cells_mean(d, s, box);
        }
    return true;
}

/* Neighbours of one level in a row (down: in a column) are one run. Writes the runs of a level as one path, each
 * relative to the end of the run before; to NULL: writes nothing, of all levels. Returns how many there are. */
static size_t svg_runs(FILE *to, const svg_grid *g, bool down, int level)
{
    size_t count = 0, step = down ? (size_t)g->columns : 1, next = down ? 1 : (size_t)g->columns;
    int lines = down ? g->columns : g->rows, length = down ? g->rows : g->columns, last_line = 0, last_end = 0;
    for (int line = 0; line < lines; line++) {
        const uint8_t *heat = g->heat + (size_t)line * next;
        for (int i = 0, end; i < length; i = end) {
            for (end = i + 1; end < length && heat[(size_t)end * step] == heat[(size_t)i * step];)
                end++;
            if (to && heat[(size_t)i * step] != level)
                continue;
            if (to)
                fprintf(to, "m%d %d%c%d", down ? line - last_line : i - last_end,
                        down ? i - last_end : line - last_line, down ? 'v' : 'h', end - i);
            last_line = line;
            last_end = end;
            count++;
        }
    }
    return count;
}

/* Coordinates are in units of a cell, and lines are a cell wide: a run is a short command, and its edges are sharp. */
static bool svg_put_cells(FILE *to, const draw *d, const draw_shape *s)
{
    svg_grid g;
    char text[40];
    bool used[256] = { false };
    if (!svg_grid_new(&g, d, s))
        return false;
    for (size_t i = 0; i < (size_t)g.rows * (size_t)g.columns; i++)
        used[g.heat[i]] = true;
    bool down = svg_runs(NULL, &g, true, 0) < svg_runs(NULL, &g, false, 0);
    double w = s->width / g.columns, h = s->height / g.rows;
    fputs("<g transform=\"translate(", to);
    svg_number(to, s->x + (down ? w / 2 : 0));
    fputc(' ', to);
    svg_number(to, s->y + (down ? 0 : h / 2));
    draw_fixed(text, w, 6, true);
    fprintf(to, ")scale(%s ", text);
    draw_fixed(text, h, 6, true);
    fprintf(to, "%s)\" stroke-linecap=\"butt\" shape-rendering=\"crispEdges\">\n", text);
    for (int level = 0; level < DRAW_LEVELS; level++) {
        draw_tint tint = heat_tint(level, s->zero);
        if (!used[level] || !tint.alpha)
            continue;
        fputs("<path stroke=\"", to);
        svg_colour(to, tint.rgb);
        draw_fixed(text, tint.alpha / 255.0, 3, true);
        fprintf(to, "\" stroke-opacity=\"%s\" d=\"", text);
        svg_runs(to, &g, down, level);
        fputs("\"/>\n", to);
    }
    fputs("</g>\n", to);
    free(g.means);
    return true;
}

static bool svg_put_shape(FILE *to, const draw *d, const draw_shape *s)
{
    switch (s->kind) {
    case SHAPE_PATH: svg_put_path(to, d, s); break;
    case SHAPE_RECT: svg_box(to, "rect", s->x, s->y, s->width, s->height), svg_put_style(to, s->style); break;
    case SHAPE_CIRCLE: svg_put_circle(to, s); break;
    case SHAPE_CELLS: return svg_put_cells(to, d, s);
    case SHAPE_TEXT: svg_put_text(to, d, s); break;
    }
    return true;
}

/* ---------------------------------------------------------------- the picture */

static void svg_put_element(FILE *to, const char *tag, const char *text)
{
    fprintf(to, "<%s>", tag);
    draw_escape(to, text);
    fprintf(to, "</%s>\n", tag);
}

static void svg_put_head(FILE *to, const draw *d, draw_where where)
{
    if (where == DRAW_ALONE)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", to);
    fputs(where == DRAW_ALONE ? "<svg xmlns=\"http://www.w3.org/2000/svg\"" : "<svg", to);
    fputs(" class=\"drawing\" role=\"img\" viewBox=\"0 0 ", to);
    svg_number(to, d->width);
    fputc(' ', to);
    svg_number(to, d->height);
    fputc('"', to);
    svg_attribute(to, "width", d->width);
    svg_attribute(to, "height", d->height);
    fputs(">\n", to);
    if (d->title)
        svg_put_element(to, "title", d->bytes + d->title);
    if (d->description)
        svg_put_element(to, "desc", d->bytes + d->description);
    if (where != DRAW_ALONE)
        return;
    fputs("<style>\n", to);
    draw_css(to);
    fputs("</style>\n<rect width=\"100%\" height=\"100%\" class=\"f0\"/>\n", to);
}

pe_status draw_svg(FILE *to, const draw *d, draw_where where, pe_error *err)
{
    TRY(draw_status(d, err));
    svg_put_head(to, d, where);
    for (size_t i = 0; i < d->shape_count; i++)
        if (where != DRAW_HOLLOW || d->shapes[i].kind != SHAPE_CELLS)
            if (!svg_put_shape(to, d, &d->shapes[i]))
                return io_fail(err, PE_ERR_NOMEM, "no memory for the cells of a picture");
    fputs("</svg>\n", to);
    return ferror(to) ? io_fail(err, PE_ERR_IO, "the picture could not be written") : PE_OK;
}
