/* SPDX-License-Identifier: MIT
 *
 * The views there are. */
#include "cli/show.h"

#include "io/json_out.h"
#include "zoo/spec_read.h"

#include <stdlib.h>
#include <string.h>

static bool fits_any(const show_job *j, const show_view *v)
{
    for (int i = 0; i < j->subjects; i++)
        if (show_fits(v, j->subject[i]))
            return true;
    return !j->subjects;
}

/* A part's name, and the keys that are not as by default. text: room for any value. */
static void json_part(json_out *o, const char *part, char *text, size_t cap)
{
    const pe_info *row = zoo_spec_row(part);
    out_open(o, NULL, '{');
    out_text(o, "name", row->name);
    out_open(o, "keys", '{');
    for (int i = 0; i < row->key_count; i++)
        if (zoo_spec_has(part, pe_info_key(row, i)->name) && zoo_spec_text(text, cap, part, pe_info_key(row, i)->name))
            out_text(o, pe_info_key(row, i)->name, text);
    out_close(o, '}');
    out_close(o, '}');
}

/* Null without memory. */
static void json_parts(json_out *o, const char *spec)
{
    size_t cap = strlen(spec) + 1;
    char *text = malloc(cap);
    if (!text) {
        out_text(o, "parts", NULL);
        return;
    }
    out_open(o, "parts", '[');
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *part = zoo_spec_part(spec, i);
        if (part && zoo_spec_row(part))
            json_part(o, part, text, cap);
        free(part);
    }
    out_close(o, ']');
    free(text);
}

static void json_subject(json_out *o, const show_subject *s)
{
    out_open(o, NULL, '{');
    out_text(o, "spec", s->spec);
    json_parts(o, s->spec);
    out_int(o, "axes", s->axes);
    out_open(o, "hooks", '-');
    for (unsigned bit = 1; pe_hook_name(bit); bit <<= 1)
        if (s->hooks & bit)
            out_text(o, NULL, pe_hook_name(bit));
    out_close(o, '-');
    out_close(o, '}');
}

static void list_json(const show_job *j)
{
    char item[32];
    language l = j->request.language;
    json_out o = out_start(stdout);
    out_open(&o, NULL, '{');
    out_open(&o, "specs", '[');
    for (int n = 0; n < j->subjects; n++)
        json_subject(&o, j->subject[n]);
    out_close(&o, ']');
    out_open(&o, "views", '[');
    for (int i = 0; i < show_view_count; i++) {
        const show_view *v = show_views[i];
        out_open(&o, NULL, '{');
        out_text(&o, "name", v->name);
        out_text(&o, "title", say(v->title, l));
        out_text(&o, "about", say(v->about, l));
        out_bool(&o, "first", v->first);
        out_open(&o, "asks", '-');
        for (int n = 0; cli_item(v->asks, n, item, sizeof item); n++)
            out_text(&o, NULL, item);
        out_close(&o, '-');
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
