/* SPDX-License-Identifier: MIT
 *
 * Bugs of several coordinates per token: which drives which pairs. */
#include "cli/check.h"

#include <stdlib.h>
#include <string.h>

#define AXES_MOST 4 /* 24 orders */

/* Order number index of n things, 0 being the one they have: false past the last. */
static bool permute(int *order, int n, int index)
{
    int left[AXES_MOST] = { 0, 1, 2, 3 };
    for (int i = 0; i < n; i++) {
        int rest = 1;
        for (int k = 2; k < n - i; k++)
            rest *= k;
        int at = index / rest;
        if (at >= n - i)
            return false;
        order[i] = left[at];
        memmove(left + at, left + at + 1, (size_t)(AXES_MOST - 1 - at) * sizeof *left);
        index %= rest;
    }
    return true;
}

/* sections=a/b/c in another order; those of equal length have no key. */
static void reorder_sections(suspect *s, const int *order, int n)
{
    char now[200], to[200] = "", *item[AXES_MOST] = { NULL };
    int count = 0;
    if (!zoo_spec_text(now, sizeof now, s->spec, "sections") || !*now)
        return;
    for (char *p = now; p && count < AXES_MOST; count++) {
        item[count] = p;
        p = strchr(p, '/');
        if (p)
            *p++ = 0;
    }
    for (int i = 0; i < n && count == n; i++)
        snprintf(to + strlen(to), sizeof to - strlen(to), "%s%s", i ? "/" : "", item[order[i]]);
    if (count == n)
        suspect_set(s, "sections", to);
}

static void name_order(char out[40], const int *order, int n)
{
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), 40 - strlen(out), "%s%d", i ? ", " : "", order[i]);
}

/* For each order: other axes drive the sections as they lie; sections of other lengths; or both move together. */
plant plant_sections(suspect *s, const check_data *d, int variant)
{
    int order[AXES_MOST], n = (int)d->at.axes, how = variant % 3;
    char words[40];
    if (n < 2 || n > AXES_MOST || !permute(order, n, 1 + variant / 3))
        return PLANT_END;
    if (how != 1)
        memcpy(s->axis, order, (size_t)n * sizeof *order);
    if (how != 0)
        reorder_sections(s, order, n);
    name_order(words, order, n);
    if (how == 1)
        suspect_say(s, "sections have the lengths of sections %s, in this order", words);
    else
        suspect_say(s, "sections follow axes %s, in this order%s", words, how ? ", and have their lengths" : "");
    return PLANT_YES;
}

plant plant_split(suspect *s, const check_data *d, int variant)
{
    return d->at.axes < 2 ? PLANT_END : plant_choice(s, "split", variant, "axes share the pairs");
}

plant plant_one_axis(suspect *s, const check_data *d, int variant)
{
    if (variant >= d->at.axes || d->at.axes < 2)
        return PLANT_END;
    for (int a = 0; a < PE_AXES_MAX; a++)
        s->axis[a] = variant;
    suspect_say(s, "every pair follows coordinate %d", variant);
    return PLANT_YES;
}
