/* SPDX-License-Identifier: MIT
 *
 * The views there are. */
#include "cli/show.h"

#include "io/json_out.h"

static bool fits_any(const show_job *j, const show_view *v)
{
    for (int i = 0; i < j->subjects; i++)
        if (show_fits(v, j->subject[i]))
            return true;
    return !j->subjects;
}

static void list_json(const show_job *j)
{
    language l = j->request.language;
    json_out o = out_start(stdout);
    out_open(&o, NULL, '{');
    out_open(&o, "views", '[');
    for (int i = 0; i < show_view_count; i++) {
        const show_view *v = show_views[i];
        out_open(&o, NULL, '{');
        out_text(&o, "name", v->name);
        out_text(&o, "title", say(v->title, l));
        out_text(&o, "about", say(v->about, l));
        out_bool(&o, "first", v->first);
        out_open(&o, "fits", '-');
        for (int n = 0; n < j->subjects; n++)
            if (show_fits(v, j->subject[n]))
                out_text(&o, NULL, j->subject[n]->spec);
        out_close(&o, '-');
        out_close(&o, '}');
    }
    out_close(&o, ']');
    out_close(&o, '}');
}

cli_exit show_list(const show_job *j)
{
    if (j->how.format == FIGURE_JSON) {
        list_json(j);
        return CLI_OK;
    }
    for (int i = 0; i < show_view_count; i++)
        if (fits_any(j, show_views[i]))
            printf("%-14s%s\n", show_views[i]->name, say(show_views[i]->about, j->request.language));
    return CLI_OK;
}
