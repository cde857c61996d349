/* SPDX-License-Identifier: MIT
 *
 * A walk as data: numbers in full, and as they are shown. */
#include "show/walk.h"

#include "io/json_out.h"

static void line_json(json_out *j, const walk_line *line)
{
    out_open(j, NULL, '{');
    out_text(j, "name", line->name);
    out_text(j, "text", line->text);
    out_open(j, "value", '-');
    for (int i = 0; i < line->count; i++)
        out_real(j, NULL, line->value[i]);
    out_close(j, '-');
    out_open(j, "shown", '-');
    for (int i = 0; i < line->count; i++)
        out_text(j, NULL, tell_number(line->value[i]).text);
    out_close(j, '-');
    out_close(j, '}');
}

static void step_json(json_out *j, const walk *w, const walk_step *s)
{
    out_open(j, NULL, '{');
    out_text(j, "title", say(s->title, w->language));
    out_text(j, "formula", s->formula);
    out_open(j, "lines", '[');
    for (int n = 0; n < s->count; n++)
        line_json(j, &s->line[n]);
    out_close(j, ']');
    out_text(j, "note", s->note.en ? say(s->note, w->language) : NULL);
    out_close(j, '}');
}

void walk_json(json_out *j, const walk *w)
{
    out_text(j, "spec", w->spec);
    out_open(j, "steps", '[');
    for (int i = 0; i < w->count; i++)
        step_json(j, w, &w->step[i]);
    out_close(j, ']');
}
