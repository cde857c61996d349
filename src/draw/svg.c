/* SPDX-License-Identifier: MIT
 *
 * SVG. A colour is a class (.l3: line of ink 3, .f3: filled with it), which CSS gives a variable; the plain colour that
 * stands before the variable is for viewers that know none. */
#include "draw/svg.h"

#include "io/io.h"

void svg_number(FILE *to, double x)
{
    char text[40];
    draw_fixed(text, x, 2, true);
    fputs(text, to);
}

void svg_attribute(FILE *to, const char *name, double x)
{
    fprintf(to, " %s=\"", name);
    svg_number(to, x);
    fputc('"', to);
}

/* ---------------------------------------------------------------- CSS */

void svg_colour(FILE *to, draw_rgb c)
{
    fprintf(to, "#%02x%02x%02x", c.r, c.g, c.b);
}

static void put_variables(FILE *to, draw_rgb (*colour)(int slot))
{
    static const char *const named[INK_PAPERS] = { "paper", "text", "faint", "grid" };
    fputc('{', to);
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        fprintf(to, "--ink-%d:", slot);
        svg_colour(to, colour(slot));
        fputc(';', to);
    }
    for (int slot = 0; slot < INK_PAPERS; slot++)
        fprintf(to, "--%s:var(--ink-%d)%s", named[slot], slot, slot + 1 < INK_PAPERS ? ";" : "}\n");
}

static void put_class(FILE *to, char letter, const char *property, int slot)
{
    fprintf(to, ".drawing .%c%d{%s:", letter, slot, property);
    svg_colour(to, ink_light(slot));
    fprintf(to, ";%s:var(--ink-%d)}\n", property, slot);
}

void draw_css(FILE *to)
{
    fputs(":root", to);
    put_variables(to, ink_light);
    fputs("@media (prefers-color-scheme:dark){:root:not([data-theme=light])", to);
    put_variables(to, ink_dark);
    fputs("}\n:root[data-theme=dark]", to);
    put_variables(to, ink_dark);
    fputs(".drawing-narrow{display:none}\n"
          "@media (max-width:40rem){.drawing-wide{display:none}.drawing-narrow{display:block}}\n"
          ".drawing{max-width:100%;height:auto;fill:none;stroke:none;stroke-linejoin:round;stroke-linecap:round}\n"
          ".drawing image{image-rendering:pixelated}\n"
          ".drawing text{font-family:\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",system-ui,sans-serif;"
          "stroke:none;white-space:pre}\n",
          to);
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        put_class(to, 'l', "stroke", slot);
        put_class(to, 'f', "fill", slot);
    }
}

/* ---------------------------------------------------------------- shapes */

static bool is_inked(int ink)
{
    return ink_slot(ink) >= 0 || ink_is_heat(ink);
}

static void put_heat(FILE *to, const char *property, int ink)
{
    if (!ink_is_heat(ink))
        return;
    fprintf(to, " %s=\"", property);
    svg_colour(to, ink_heat(ink));
    fputc('"', to);
}

static void put_dash(FILE *to, draw_style s)
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

static void put_style(FILE *to, draw_style s)
{
    int line = ink_slot(s.line), fill = ink_slot(s.fill);
    if (line >= 0 && fill >= 0)
        fprintf(to, " class=\"l%d f%d\"", line, fill);
    else if (line >= 0 || fill >= 0)
        fprintf(to, " class=\"%c%d\"", line >= 0 ? 'l' : 'f', line >= 0 ? line : fill);
    put_heat(to, "stroke", s.line);
    put_heat(to, "fill", s.fill);
    if (is_inked(s.line) && s.width != 1)
        svg_attribute(to, "stroke-width", s.width);
    if (is_inked(s.fill) && s.alpha < 1)
        svg_attribute(to, "fill-opacity", s.alpha);
    if (is_inked(s.line))
        put_dash(to, s);
    fputs("/>\n", to);
}

static void put_path(FILE *to, const draw *d, const draw_shape *s)
{
    fputs("<path d=\"", to);
    for (size_t i = 0; i < s->count; i++) {
        draw_point p = d->points[s->first + i];
        fputc(i == 0 ? 'M' : i == 1 ? 'L' : ' ', to);
        svg_number(to, p.x);
        fputc(' ', to);
        svg_number(to, p.y);
    }
    fputs(s->closed ? "Z\"" : s->count == 1 ? "h0\"" : "\"", to); /* h0: a dot, by the line's round end */
    put_style(to, s->style);
}

void svg_box(FILE *to, const char *tag, double x, double y, double width, double height)
{
    fprintf(to, "<%s", tag);
    svg_attribute(to, "x", x);
    svg_attribute(to, "y", y);
    svg_attribute(to, "width", width);
    svg_attribute(to, "height", height);
}

static void put_circle(FILE *to, const draw_shape *s)
{
    fputs("<circle", to);
    svg_attribute(to, "cx", s->x);
    svg_attribute(to, "cy", s->y);
    svg_attribute(to, "r", s->width);
    put_style(to, s->style);
}

static void put_text(FILE *to, const draw *d, const draw_shape *s)
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
    put_heat(to, "fill", s->style.fill);
    if (s->turned) {
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

static void put_shape(FILE *to, const draw *d, const draw_shape *s)
{
    switch (s->kind) {
    case SHAPE_PATH: put_path(to, d, s); break;
    case SHAPE_RECT: svg_box(to, "rect", s->x, s->y, s->width, s->height), put_style(to, s->style); break;
    case SHAPE_CIRCLE: put_circle(to, s); break;
    case SHAPE_CELLS: svg_cells(to, d, s); break;
    case SHAPE_TEXT: put_text(to, d, s); break;
    }
}

/* ---------------------------------------------------------------- the picture */

static void put_words(FILE *to, const char *tag, const char *text)
{
    fprintf(to, "<%s>", tag);
    draw_escape(to, text);
    fprintf(to, "</%s>\n", tag);
}

static void put_head(FILE *to, const draw *d, draw_where where)
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
        put_words(to, "title", d->bytes + d->title);
    if (d->description)
        put_words(to, "desc", d->bytes + d->description);
    if (where != DRAW_ALONE)
        return;
    fputs("<style>\n", to);
    draw_css(to);
    fputs("</style>\n<rect width=\"100%\" height=\"100%\" class=\"f0\"/>\n", to);
}

pe_status draw_svg(FILE *to, const draw *d, draw_where where, pe_error *err)
{
    pe_status s = draw_status(d, err);
    if (s)
        return s;
    put_head(to, d, where);
    for (size_t i = 0; i < d->shape_count; i++)
        if (where != DRAW_HOLLOW || d->shapes[i].kind != SHAPE_CELLS)
            put_shape(to, d, &d->shapes[i]);
    fputs("</svg>\n", to);
    return ferror(to) ? io_fail(err, PE_ERR_IO, "the picture could not be written") : PE_OK;
}
