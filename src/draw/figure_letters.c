/* SPDX-License-Identifier: MIT
 *
 * Words that not every writer can set: what a PNG has no letters for, and ASCII for a screen that has no more. */
#include "draw/figure_inside.h"

#include "io/checked.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- each text of a figure */

typedef pe_status on_text(figure *f, char **text, pe_error *err);

static pe_status each_name(figure *f, char **names, int count, on_text *on, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; names && i < count && !s; i++)
        s = names[i] ? on(f, &names[i], err) : PE_OK;
    return s;
}

static pe_status each_text(figure *f, on_text *on, pe_error *err)
{
    char **text[] = { &f->group, &f->title, &f->x_label, &f->y_label, &f->caption, &f->x_mark_label };
    pe_status s = PE_OK;
    for (size_t i = 0; i < sizeof text / sizeof *text && !s; i++)
        s = *text[i] ? on(f, text[i], err) : PE_OK;
    for (int i = 0; i < f->series_count && !s; i++)
        s = f->series[i].name ? on(f, &f->series[i].name, err) : PE_OK;
    s = s ? s : each_name(f, f->x_names, f->x_name_count, on, err);
    return s ? s : each_name(f, f->y_names, f->y_name_count, on, err);
}

/* ---------------------------------------------------------------- what a PNG has */

static pe_status needs_letters(figure *f, char **text, pe_error *err)
{
    (void)f;
    unsigned code;
    int bytes;
    for (const char *at = *text; *at; at += bytes) {
        bytes = draw_next_code(at, &code);
        if (!draw_png_has(code))
            return io_fail(err, PE_ERR_RANGE, "a png has no letter for %.*s; use .svg or .html", bytes, at);
    }
    return PE_OK;
}

pe_status figures_have_letters(figure *const *f, int count, figure_format format, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < count && format == FIGURE_PNG && !s; i++)
        s = each_text(f[i], needs_letters, err);
    return s;
}

/* ---------------------------------------------------------------- ASCII */

const char *draw_plain(unsigned code)
{
    static const struct {
        unsigned code;
        const char *text;
    } plain[] = {
        { 0xA0, " " },      { 0xB0, " deg" },    { 0xB1, "+-" },   { 0xB2, "^2" },     { 0xB3, "^3" },
        { 0xB7, "." },      { 0xD7, "x" },       { 0xF7, "/" },    { 0x3B1, "alpha" }, { 0x3B2, "beta" },
        { 0x3B8, "theta" }, { 0x3BB, "lambda" }, { 0x3C0, "pi" },  { 0x3C9, "omega" }, { 0x2013, "-" },
        { 0x2014, "-" },    { 0x2018, "'" },     { 0x2019, "'" },  { 0x201C, "\"" },   { 0x201D, "\"" },
        { 0x2026, "..." },  { 0x2190, "<-" },    { 0x2192, "->" }, { 0x2212, "-" },    { 0x221A, "sqrt" },
        { 0x221E, "inf" },  { 0x2248, "~" },     { 0x2260, "!=" }, { 0x2264, "<=" },   { 0x2265, ">=" },
        { 0x22C5, "." },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].code == code)
            return plain[i].text;
    return NULL;
}

static pe_status make_plain(figure *f, char **text, pe_error *err)
{
    (void)err;
    size_t room;
    unsigned code;
    char *out = io_mul(&room, strlen(*text) + 1, 4) ? malloc(room) : NULL, *to = out; /* no sign is over 4 a byte */
    f->failed = f->failed || !out;
    for (const char *at = *text; out && *at;) {
        int bytes = draw_next_code(at, &code);
        const char *other = draw_plain(code);
        size_t size = other ? strlen(other) : (size_t)bytes;
        memcpy(to, other ? other : at, size);
        to += size;
        at += bytes;
    }
    if (!out)
        return PE_OK;
    *to = 0;
    free(*text);
    *text = out;
    return PE_OK;
}

void figure_plain(figure *f)
{
    pe_error none;
    each_text(f, make_plain, &none);
}
