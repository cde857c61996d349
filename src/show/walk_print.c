/* SPDX-License-Identifier: MIT
 *
 * A walk for people (names, formulas and numbers in columns; long sums are broken before their signs), and as JSON:
 * numbers in full, and as they are shown. */
#include "show/walk.h"

#include "draw/typeset.h"
#include "io/json_out.h"

#include <string.h>

/* ---------------------------------------------------------------- text */

enum { INDENT = 4, TEXT_COLUMNS = 56, PER_LINE = 8 };

typedef struct layout {
    FILE *to;
    int columns;
    bool ascii;
} layout;

/* Columns that length bytes of text take; prints them where asked to. */
static int layout_put(const layout *p, bool print, const char *text, size_t length)
{
    int columns = 0, bytes;
    for (size_t i = 0; i < length && text[i]; i += (size_t)bytes) {
        unsigned code;
        bytes = draw_next_code(text + i, &code);
        const char *other = p->ascii ? draw_plain(code) : NULL;
        columns += other ? (int)strlen(other) : draw_code_columns(code);
        if (print)
            fwrite(other ? other : text + i, 1, other ? strlen(other) : (size_t)bytes, p->to);
    }
    return columns;
}

static int layout_columns(const layout *p, const char *text)
{
    return layout_put(p, false, text, strlen(text));
}

static void layout_pad(const layout *p, int columns)
{
    fprintf(p->to, "%*s", columns > 0 ? columns : 0, "");
}

/* Returns the length of a piece: up to the next plus or equals sign. */
static size_t piece_length(const char *text)
{
    size_t n = 1;
    while (text[n] && !(text[n] == ' ' && (!strncmp(text + n, " + ", 3) || !strncmp(text + n, " = ", 3))))
        n++;
    return n;
}

static size_t word_length(const char *text)
{
    unsigned code;
    size_t n = (size_t)draw_next_code(text, &code);
    if (draw_code_columns(code) == 2)
        return n;
    while (text[n] && text[n] != ' ' && (unsigned char)text[n] < 0xe2)
        n++;
    return n;
}

/* Prints text from column indent on, broken between pieces; returns the column where it ends. */
static int layout_put_wrapped(const layout *p, const char *text, int indent, size_t (*piece)(const char *))
{
    int at = indent;
    while (*text) {
        size_t n = piece(text);
        int across = layout_put(p, false, text, n);
        if (at > indent && at + across > p->columns) {
            fputc('\n', p->to);
            layout_pad(p, indent);
            at = indent;
            if (*text == ' ') {
                text++;
                n--;
                across--;
            }
        }
        layout_put(p, true, text, n);
        at += across;
        text += n;
    }
    return at;
}

static void layout_put_values(const layout *p, const walk_line *l, int indent)
{
    int fit = (p->columns - indent) / 10, per_line = fit >= PER_LINE ? PER_LINE : fit >= 4 ? 4 : fit >= 2 ? 2 : 1;
    for (int i = 0; i < l->count; i++) {
        if (i && i % per_line == 0) {
            fputc('\n', p->to);
            layout_pad(p, indent);
        }
        fprintf(p->to, "%10s", tell_number(l->value[i]).text);
    }
}

typedef struct step_columns {
    int name, text; /* as many as the widest of the step */
} step_columns;

static step_columns step_columns_of(const layout *p, const walk_step *s)
{
    step_columns l = { 0, 0 };
    for (int i = 0; i < s->count; i++) {
        const walk_line *line = &s->line[i];
        int name = line->name ? layout_columns(p, line->name) : 0;
        int text = line->name && line->text && line->count == 1 ? layout_columns(p, line->text) : 0;
        l.name = name > l.name ? name : l.name;
        if (text <= TEXT_COLUMNS && text > l.text)
            l.text = text;
    }
    return l;
}

static void layout_put_equation(const layout *p, const walk_line *line, step_columns l)
{
    int indent = INDENT + l.name + 3;
    layout_pad(p, INDENT);
    layout_put(p, true, line->name, strlen(line->name));
    layout_pad(p, l.name - layout_columns(p, line->name));
    fputs(" = ", p->to);
    if (line->count > 1) {
        layout_put_values(p, line, indent);
        return;
    }
    if (line->text) {
        int end = layout_put_wrapped(p, line->text, indent, piece_length);
        layout_pad(p, indent + l.text - end);
        fputs(" = ", p->to);
    }
    fputs(tell_number(line->value[0]).text, p->to);
}

static void layout_put_line(const layout *p, const walk_line *line, step_columns l)
{
    if (line->name && line->count)
        layout_put_equation(p, line, l);
    else if (line->text) {
        layout_pad(p, INDENT);
        layout_put_wrapped(p, line->text, INDENT, strstr(line->text, " = ") ? piece_length : word_length);
    }
    fputc('\n', p->to);
}

static void layout_put_step(const layout *p, const walk *w, int n)
{
    const walk_step *s = &w->step[n];
    fprintf(p->to, "\n%d. ", n + 1);
    const char *title = say(s->title, w->language);
    layout_put(p, true, title, strlen(title));
    fputc('\n', p->to);
    if (s->formula) {
        layout_pad(p, INDENT);
        layout_put_wrapped(p, s->formula, INDENT, word_length);
        fputc('\n', p->to);
    }
    step_columns l = step_columns_of(p, s);
    for (int i = 0; i < s->count; i++)
        layout_put_line(p, &s->line[i], l);
    if (s->note.en) {
        layout_pad(p, INDENT);
        layout_put_wrapped(p, say(s->note, w->language), INDENT, word_length);
        fputc('\n', p->to);
    }
}

void walk_text(FILE *to, const walk *w, int columns, bool ascii)
{
    layout p = { to, columns, ascii };
    fprintf(to, "%s\n", w->spec);
    for (int i = 0; i < w->count; i++)
        layout_put_step(&p, w, i);
}

/* ---------------------------------------------------------------- JSON */

static void json_put_line(json_out *j, const walk_line *line)
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

static void json_put_step(json_out *j, const walk *w, const walk_step *s)
{
    out_open(j, NULL, '{');
    out_text(j, "title", say(s->title, w->language));
    out_text(j, "formula", s->formula);
    out_open(j, "lines", '[');
    for (int n = 0; n < s->count; n++)
        json_put_line(j, &s->line[n]);
    out_close(j, ']');
    out_text(j, "note", s->note.en ? say(s->note, w->language) : NULL);
    out_close(j, '}');
}

void walk_json(json_out *j, const walk *w)
{
    out_text(j, "spec", w->spec);
    out_open(j, "steps", '[');
    for (int i = 0; i < w->count; i++)
        json_put_step(j, w, &w->step[i]);
    out_close(j, ']');
}
