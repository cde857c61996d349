/* SPDX-License-Identifier: MIT
 *
 * A walk: steps, their lines, and the order in which they are taken. */
#include "show/walk.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *copy(walk *w, const char *text, size_t length)
{
    char *out = text ? malloc(length + 1) : NULL;
    if (out) {
        memcpy(out, text, length);
        out[length] = 0;
    } else if (text)
        w->failed = true;
    return out;
}

static char *copy_all(walk *w, const char *text)
{
    return copy(w, text, text ? strlen(text) : 0);
}

void walk_begin(walk *w, words title, const char *formula, words note)
{
    if (w->failed || w->count == WALK_STEPS_MAX)
        return;
    w->step[w->count++] = (walk_step){ .title = title, .formula = copy_all(w, formula), .note = note };
}

/* A new line, zeroed; NULL: no memory. */
static walk_line *add_line(walk *w)
{
    if (w->failed)
        return NULL;
    walk_step *s = &w->step[w->count - 1];
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 16;
        walk_line *line = realloc(s->line, (size_t)room * sizeof *line);
        if (!line) {
            w->failed = true;
            return NULL;
        }
        s->line = line;
        s->room = room;
    }
    s->line[s->count] = (walk_line){ 0 };
    return &s->line[s->count++];
}

void walk_vector(walk *w, const char *name, const char *text, const double *number, int64_t count)
{
    walk_line *line = add_line(w);
    if (!line)
        return;
    line->name = copy_all(w, name);
    line->text = copy_all(w, text && *text ? text : NULL);
    line->value = count ? malloc((size_t)count * sizeof *number) : NULL;
    if (line->value) {
        memcpy(line->value, number, (size_t)count * sizeof *number);
        line->count = (int)count;
    } else if (count)
        w->failed = true;
}

/* What one key's lines begin with may be what another's did. */
static bool stands(const walk *w, const char *text, size_t length)
{
    const walk_step *s = w->count ? &w->step[w->count - 1] : NULL;
    for (int i = 0; s && i < s->count; i++)
        if (!s->line[i].name && s->line[i].text && strlen(s->line[i].text) == length &&
            !memcmp(s->line[i].text, text, length))
            return true;
    return false;
}

void walk_equation(walk *w, const char *name, const char *text, double number)
{
    for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
        size_t length = (size_t)(end - text);
        walk_line *line = stands(w, text, length) ? NULL : add_line(w);
        if (line)
            line->text = copy(w, text, length);
    }
    walk_vector(w, name, text, &number, 1);
}

void walk_sentence(walk *w, const char *text)
{
    walk_vector(w, NULL, text, NULL, 0);
}

name_text walk_name(const char *format, ...)
{
    name_text out;
    va_list list;
    va_start(list, format);
    vsnprintf(out.text, sizeof out.text, format, list);
    va_end(list);
    return out;
}

static pe_status take_steps(walk *w, walk_scene *s, pe_error *err)
{
    w->spec = copy_all(w, pe_encoding_spec(s->e));
    walk_case(w, s);
    walk_code(w, s);
    SHOW_TRY(walk_turn(w, s, err));
    SHOW_TRY(walk_terms(w, s, err));
    walk_attend(w, s);
    if (s->failed.status)
        return io_fail(err, s->failed.status, "%s", s->failed.text);
    return w->failed ? io_fail(err, PE_ERR_NOMEM, "no memory for the steps of %s", pe_encoding_spec(s->e)) : PE_OK;
}

pe_status walk_new(walk **out, const char *spec, const walk_request *r, pe_error *err)
{
    walk_scene *s = NULL;
    *out = NULL;
    walk *w = calloc(1, sizeof *w);
    if (!w)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a walk");
    w->language = r->language;
    pe_status status = walk_scene_new(&s, spec, r, err);
    if (!status)
        status = walk_scene_attend(s, err);
    if (!status)
        status = take_steps(w, s, err);
    walk_scene_free(s);
    if (status)
        walk_free(w);
    else
        *out = w;
    return status;
}

void walk_free(walk *w)
{
    for (int i = 0; w && i < w->count; i++) {
        walk_step *s = &w->step[i];
        for (int n = 0; n < s->count; n++) {
            free(s->line[n].name);
            free(s->line[n].text);
            free(s->line[n].value);
        }
        free(s->line);
        free(s->formula);
    }
    if (w)
        free(w->spec);
    free(w);
}
