/* SPDX-License-Identifier: MIT
 *
 * The table of views: a view is one row. */
#include "show/views.h"

#include <string.h>

const show_view *const show_views[] = {
    &show_view_table,       &show_view_curves, &show_view_decay,    &show_view_heads,  &show_view_bias,
    &show_view_wavelengths, &show_view_turns,  &show_view_variance, &show_view_around, &show_view_attention,
};
const int show_view_count = sizeof show_views / sizeof *show_views;

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

static pe_status make(show_sheet *to, const show_view *v, const show_subject *s, const show_request *r, pe_error *err)
{
    int first = to->count;
    SHOW_TRY(v->make(to, s, r, err));
    for (int i = first; i < to->count; i++)
        SHOW_TRY(figure_status(to->figure[i], err));
    return PE_OK;
}

pe_status show_add(show_sheet *to, const show_view *v, const show_subject *s, const show_request *r, pe_error *err)
{
    int before = to->count;
    to->language = r->language;
    pe_status status = make(to, v, s, r, err);
    while (status && to->count > before)
        figure_free(to->figure[--to->count]);
    return status;
}
