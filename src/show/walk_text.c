/* SPDX-License-Identifier: MIT
 *
 * A walk for people: names, formulas and numbers in columns; long sums are broken before their signs. */
#include "show/walk.h"

#include "io/json_out.h"

#include <string.h>

enum { INDENT = 4, TEXT_COLUMNS = 56, PER_LINE = 8 };

typedef struct page {
    FILE *to;
    int columns;
    bool ascii;
} page;

/* What a terminal without UTF-8 gets. */
static const struct {
    const char *from, *to;
} plain[] = { { "·", "*" }, { "π", "pi" }, { "…", "..." } };

static const char *plain_of(const char *text, int bytes)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if ((int)strlen(plain[i].from) == bytes && !memcmp(plain[i].from, text, (size_t)bytes))
            return plain[i].to;
    return NULL;
}

/* Columns that length bytes of text take, printed where to is not NULL. Chinese takes two. */
static int put(const page *p, bool print, const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length && text[i];) {
        unsigned code = 0;
        int bytes = out_character(text + i, &code);
        const char *other = p->ascii && bytes > 0 ? plain_of(text + i, bytes) : NULL;
        bytes = bytes > 0 ? bytes : 1;
        if (other)
            columns += (int)strlen(other);
        else
            columns += code >= 0x2e80 ? 2 : 1;
        if (print)
            fwrite(other ? other : text + i, 1, other ? strlen(other) : (size_t)bytes, p->to);
        i += (size_t)bytes;
    }
    return columns;
}

static int columns_of(const page *p, const char *text)
{
    return put(p, false, text, strlen(text));
}

static void pad(const page *p, int columns)
{
    fprintf(p->to, "%*s", columns > 0 ? columns : 0, "");
}

/* Where a piece that begins at text ends: before the next sign or word. */
static size_t piece_of(const char *text)
{
    size_t n = 1;
    while (text[n] && !(text[n] == ' ' && (!strncmp(text + n, " + ", 3) || !strncmp(text + n, " = ", 3))))
        n++;
    return n;
}

static size_t word_of(const char *text)
{
    unsigned code = 0;
    int bytes = out_character(text, &code);
    if (code >= 0x2e80)
        return bytes > 0 ? (size_t)bytes : 1;
    size_t n = 1;
    while (text[n] && text[n] != ' ' && (unsigned char)text[n] < 0xe2)
        n++;
    return n;
}

/* From column at on; returns where it ends. */
static int put_wrapped(const page *p, const char *text, int indent, size_t (*piece)(const char *))
{
    int at = indent;
    while (*text) {
        size_t n = piece(text);
        int across = put(p, false, text, n);
        if (at > indent && at + across > p->columns) {
            fputc('\n', p->to);
            pad(p, indent);
            at = indent;
            if (*text == ' ') {
                text++;
                n--;
                across--;
            }
        }
        put(p, true, text, n);
        at += across;
        text += n;
    }
    return at;
}

static void put_values(const page *p, const walk_line *l, int indent)
{
    int fit = (p->columns - indent) / 10, per_line = fit >= PER_LINE ? PER_LINE : fit >= 4 ? 4 : fit >= 2 ? 2 : 1;
    for (int i = 0; i < l->count; i++) {
        if (i && i % per_line == 0) {
            fputc('\n', p->to);
            pad(p, indent);
        }
        fprintf(p->to, "%10s", tell_number(l->value[i]).text);
    }
}

typedef struct layout {
    int name, text; /* columns */
} layout;

static layout layout_of(const page *p, const walk_step *s)
{
    layout l = { 0, 0 };
    for (int i = 0; i < s->count; i++) {
        const walk_line *line = &s->line[i];
        int name = line->name ? columns_of(p, line->name) : 0;
        int text = line->name && line->text && line->count == 1 ? columns_of(p, line->text) : 0;
        l.name = name > l.name ? name : l.name;
        if (text <= TEXT_COLUMNS && text > l.text)
            l.text = text;
    }
    return l;
}

static void put_equation(const page *p, const walk_line *line, layout l)
{
    int indent = INDENT + l.name + 3;
    pad(p, INDENT);
    put(p, true, line->name, strlen(line->name));
    pad(p, l.name - columns_of(p, line->name));
    fputs(" = ", p->to);
    if (line->count > 1) {
        put_values(p, line, indent);
        return;
    }
    if (line->text) {
        int end = put_wrapped(p, line->text, indent, piece_of);
        pad(p, indent + l.text - end);
        fputs(" = ", p->to);
    }
    fputs(tell_number(line->value[0]).text, p->to);
}

static void put_line(const page *p, const walk_line *line, layout l)
{
    if (line->name && line->count)
        put_equation(p, line, l);
    else if (line->text) {
        pad(p, INDENT);
        put_wrapped(p, line->text, INDENT, strstr(line->text, " = ") ? piece_of : word_of);
    }
    fputc('\n', p->to);
}

static void put_step(const page *p, const walk *w, int n)
{
    const walk_step *s = &w->step[n];
    fprintf(p->to, "\n%d. ", n + 1);
    const char *title = say(s->title, w->language);
    put(p, true, title, strlen(title));
    fputc('\n', p->to);
    if (s->formula) {
        pad(p, INDENT);
        put_wrapped(p, s->formula, INDENT, word_of);
        fputc('\n', p->to);
    }
    layout l = layout_of(p, s);
    for (int i = 0; i < s->count; i++)
        put_line(p, &s->line[i], l);
    if (s->note.en) {
        pad(p, INDENT);
        put_wrapped(p, say(s->note, w->language), INDENT, word_of);
        fputc('\n', p->to);
    }
}

void walk_text(FILE *to, const walk *w, int columns, bool ascii)
{
    page p = { to, columns, ascii };
    fprintf(to, "%s\n", w->spec);
    for (int i = 0; i < w->count; i++)
        put_step(&p, w, i);
}
