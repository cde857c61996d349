/* SPDX-License-Identifier: MIT
 *
 * A chart laid out for where it goes. */
#include "draw/list.h"

#include "io/io.h"

#define PHONE_WIDTH 360.0 /* pixels */
#define PHONE_HEIGHT 400.0

pe_status chart_terminal(FILE *to, const chart *c, const draw_screen *screen, pe_error *err)
{
    draw *d;
    chart wide = *c;
    wide.cells = true;
    wide.width = CELL_WIDTH * screen->columns;
    wide.height = CELL_HEIGHT * screen->rows;
    pe_status s = chart_draw(&d, &wide, err);
    if (s)
        return s;
    s = draw_terminal(to, d, screen, err);
    draw_free(d);
    return s;
}

static pe_status put_inline(FILE *to, const chart *c, const char *class_name, pe_error *err)
{
    draw *d;
    pe_status s = chart_draw(&d, c, err);
    if (s)
        return s;
    fprintf(to, "<div class=\"%s\">\n", class_name);
    s = draw_svg(to, d, DRAW_INSIDE, err);
    fputs("</div>\n", to);
    draw_free(d);
    return s;
}

pe_status chart_html(FILE *to, const chart *c, pe_error *err)
{
    chart narrow = *c;
    narrow.width = PHONE_WIDTH;
    narrow.height = PHONE_HEIGHT;
    pe_status s = put_inline(to, c, "drawing-wide", err);
    return s ? s : put_inline(to, &narrow, "drawing-narrow", err);
}
