/* SPDX-License-Identifier: MIT
 *
 * The table of views. */
#include "show/show.h"

#include <string.h>

const show_view *const show_views[] = { NULL };
const int show_view_count = 0;

bool show_fits(const show_view *v, const show_subject *s)
{
    return (!v->hooks || (v->hooks & s->hooks)) && (!v->fits || v->fits(s));
}

const show_view *show_view_named(const char *name)
{
    for (int i = 0; i < show_view_count; i++)
        if (!strcmp(show_views[i]->name, name))
            return show_views[i];
    return NULL;
}
