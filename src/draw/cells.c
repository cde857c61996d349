/* SPDX-License-Identifier: MIT
 *
 * Cells in pixels that are not theirs. */
#include "draw/list.h"

#include <math.h>

/* The cells that from .. to covers of count, in units of one: the one in the middle where it covers less than one. */
static void cover(double from, double to, int count, int *first, int *end)
{
    if (to - from < 1.5)
        from = to = (from + to) / 2;
    *first = from < 0 ? 0 : (int)floor(from + 1e-9);
    *end = to > count ? count : (int)ceil(to - 1e-9);
    *first = *first < count ? *first : count - 1;
    *end = *end > *first ? *end : *first + 1;
}

/* The mean of what is there: a pattern that is finer than the pixels becomes even, rather than another pattern. */
uint8_t draw_cells_mean(const draw *d, const draw_shape *s, cells_box box)
{
    const uint8_t *heat = (const uint8_t *)d->bytes + s->first;
    int row[2], column[2];
    cover(box.left, box.right, s->columns, &column[0], &column[1]);
    cover(box.top, box.down, s->rows, &row[0], &row[1]);
    uint64_t sum = 0, count = 0;
    for (int r = row[0]; r < row[1]; r++)
        for (int c = column[0]; c < column[1]; c++) {
            uint8_t h = heat[(size_t)r * (size_t)s->columns + (size_t)c];
            sum += h == DRAW_NOTHING ? 0 : h;
            count += h != DRAW_NOTHING;
        }
    if (!count)
        return DRAW_NOTHING;
    return (uint8_t)((sum + count / 2) / count);
}
