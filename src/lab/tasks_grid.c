/* SPDX-License-Identifier: MIT
 *
 * A square of letters in slanted stripes: each cell is that of one row up and two columns to the left; the cells of the
 * first row and the first two columns are drawn at random. About 15 % are masked, each with its neighbour along the
 * stripe in sight, (-1, -2) or, where the stripe begins there, (+1, +2). In two coordinates that is one offset at any
 * side; in row-major order it is side + 2, which no model has seen at another side.
 *
 *     a k z e m
 *     p c a[k]z         distance: side + 2 where the neighbour comes before
 *     o f[p]c a
 */
#include "lab/page.h"

#include "base/random.h"

enum { DOWN = 1, RIGHT = 2, LETTERS = 26, PERCENT = 18 }; /* drawn to be masked; neighbours may forbid it */

/* Whether cell t has its neighbour above; below: whether it has the other. */
static bool above(int64_t t, int64_t side)
{
    return t / side >= DOWN && t % side >= RIGHT;
}

static bool below(int64_t t, int64_t side)
{
    return t / side + DOWN < side && t % side + RIGHT < side;
}

void grid_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t side = 1;
    while (side * side < out->size)
        side++;
    int64_t back = side * DOWN + RIGHT;
    uint64_t masks = random_at(~w->key, 0);
    bool any = false;
    for (int64_t t = 0; t < out->size; t++) {
        bool has = above(t, side);
        out->text[t] = has ? out->text[t - back] : (int32_t)('a' + random_below(w->key, (uint64_t)t, LETTERS));
        bool in_sight = has ? out->told[t - back] == PAGE_OWN : below(t, side);
        bool masked = in_sight && random_below(masks, (uint64_t)t, 100) < PERCENT;
        out->told[t] = !masked ? PAGE_OWN : has ? (int32_t)back : 0;
        any = any || masked;
    }
    if (!any) { /* at small sides: then one that has its neighbour above */
        int64_t row = DOWN + (int64_t)random_below(masks, (uint64_t)out->size, (uint32_t)(side - DOWN));
        int64_t column = RIGHT + (int64_t)random_below(masks, (uint64_t)out->size + 1, (uint32_t)(side - RIGHT));
        out->told[row * side + column] = (int32_t)back;
    }
}
