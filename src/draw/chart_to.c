/* SPDX-License-Identifier: MIT
 *
 * A chart laid out for where it goes. */
#include "draw/list.h"

#include "io/io.h"

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
