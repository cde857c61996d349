/* SPDX-License-Identifier: MIT
 *
 * A walk in the result tree: a section per step; numbers in full for programs, to four digits for people. */
#include "show/walk.h"

#include "result/result.h"

#include <string.h>

/* "0.3 · 0.1 + 2 = 2.03", a number that stands for itself once, or the numbers of a vector. */
static void shown_line(result *out, const walk_line *line)
{
    char text[TEXT_ROOM];
    tell t = tell_into(text, sizeof text);
    if (line->text && (line->count != 1 || strcmp(line->text, tell_number(line->value[0]).text) != 0))
        tell_say(&t, "= %s ", line->text);
    tell_say(&t, "=");
    for (int i = 0; i < line->count; i++)
        tell_say(&t, " %s", tell_number(line->value[i]).text);
    result_shown(out, "%s", text);
}

static void add_line(result *out, const walk_line *line)
{
    bool equation = line->name && line->count;
    result_open(out, RESULT_RECORD, NULL, equation ? line->name : "");
    if (equation)
        shown_line(out, line);
    else
        result_shown(out, "%s", line->text ? line->text : "");
    result_text(out, "name", NULL, line->name);
    result_text(out, "text", NULL, line->text);
    result_open(out, RESULT_LIST, "value", NULL);
    for (int i = 0; i < line->count; i++)
        result_real(out, NULL, NULL, line->value[i]);
    result_close(out);
    result_open(out, RESULT_LIST, "shown", NULL);
    for (int i = 0; i < line->count; i++)
        result_text(out, NULL, NULL, tell_number(line->value[i]).text);
    result_close(out);
    result_close(out);
}

static void add_step(result *out, const walk *w, int n)
{
    const walk_step *s = &w->step[n];
    char title[400];
    snprintf(title, sizeof title, "%d. %s", n + 1, say(s->title, w->language));
    result_open(out, RESULT_RECORD, NULL, title);
    result_text(out, "title", NULL, say(s->title, w->language));
    result_text(out, "formula", "", s->formula);
    result_open(out, RESULT_LIST, "lines", NULL);
    for (int i = 0; i < s->count; i++)
        add_line(out, &s->line[i]);
    result_close(out);
    result_text(out, "note", "", s->note.en ? say(s->note, w->language) : NULL);
    result_close(out);
}

void walk_fill(result *out, const walk *w)
{
    result_title(out, (int)w->language, "%s", w->spec);
    result_text(out, "spec", "", w->spec);
    result_open(out, RESULT_LIST, "steps", NULL);
    for (int i = 0; i < w->count; i++)
        add_step(out, w, i);
    result_close(out);
}
