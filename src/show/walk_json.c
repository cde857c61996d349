/* SPDX-License-Identifier: MIT
 *
 * A walk as data: each step's lines one by one, and the same as text for a page to show. */
#include "show/walk.h"

#include "io/json_out.h"

#include <stdlib.h>

enum { COLUMNS = 84 };

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

static pe_status numbers_json(json_out *j, const walk_step *s, pe_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to)
        walk_lines(to, s, COLUMNS, 0, false);
    bool whole = to && !ferror(to);
    whole = to && !fclose(to) && whole;
    if (whole)
        out_text(j, "numbers", text);
    free(text);
    return whole ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the text of a step");
}

static pe_status step_json(json_out *j, const walk *w, const walk_step *s, pe_error *err)
{
    out_open(j, NULL, '{');
    out_text(j, "title", say(s->title, w->language));
    out_text(j, "formula", s->formula);
    WALK_TRY(numbers_json(j, s, err));
    out_open(j, "lines", '[');
    for (int n = 0; n < s->count; n++)
        line_json(j, &s->line[n]);
    out_close(j, ']');
    out_text(j, "note", s->note.en ? say(s->note, w->language) : NULL);
    out_close(j, '}');
    return PE_OK;
}

pe_status walk_json(json_out *j, const walk *w, pe_error *err)
{
    out_text(j, "spec", w->spec);
    out_open(j, "steps", '[');
    for (int i = 0; i < w->count; i++)
        WALK_TRY(step_json(j, w, &w->step[i], err));
    out_close(j, ']');
    return PE_OK;
}
