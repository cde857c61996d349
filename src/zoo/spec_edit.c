/* SPDX-License-Identifier: MIT */
#include "zoo/spec_read.h"

#include "io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- parts */

char *zoo_spec_part(const char *spec, int index)
{
    zoo_slice p = zoo_spec_part_at(spec, index);
    char *out = malloc(p.length + 1);
    if (out)
        snprintf(out, p.length + 1, "%.*s", (int)p.length, p.text ? p.text : "");
    return out;
}

char *zoo_spec_with_part(const char *spec, int index, const char *part)
{
    zoo_slice old = zoo_spec_part_at(spec, index);
    size_t size = strlen(spec) + strlen(part) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s%s", (int)(old.text - spec), spec, part, old.text + old.length);
    return out;
}

/* ---------------------------------------------------------------- keys */

static void cut_key(char *spec, const char *key)
{
    if (!zoo_spec_has(spec, key))
        return;
    zoo_slice v = zoo_spec_get(spec, key);
    char *from = spec + (v.text - spec) - strlen(key) - 1, *rest = spec + (v.text - spec) + v.length;
    if (*rest == ',')
        rest++;
    else
        from--; /* the comma or colon before the last key */
    memmove(from, rest, strlen(rest) + 1);
}

/* The text has room for it. */
static void add_key(char *spec, const char *key, const char *value)
{
    size_t at = zoo_spec_part_at(spec, 0).length, n = strlen(key), length = strlen(value);
    char *to = spec + at, sign = memchr(spec, ':', at) ? ',' : ':';
    memmove(to + n + length + 2, to, strlen(to) + 1);
    *to = sign;
    memcpy(to + 1, key, n);
    to[n + 1] = '=';
    memcpy(to + n + 2, value, length);
}

/* Whether `when`, "scaling=yarn|longrope", is about this key. */
static bool is_about(const char *when, const char *key)
{
    size_t n = strlen(key);
    return when && !strncmp(when, key, n) && when[n] == '=';
}

char *zoo_spec_set(const char *spec, const char *key, const char *value)
{
    const pe_info *info = zoo_spec_row(spec);
    size_t size = strlen(spec) + 1, more = value ? strlen(key) + strlen(value) + 2 : 0;
    char *out = malloc(size + more);
    if (!out)
        return NULL;
    memcpy(out, spec, size);
    cut_key(out, key);
    if (value)
        add_key(out, key, value);
    for (int i = 0; info && i < info->key_count; i++)
        if (is_about(pe_info_key(info, i)->when, key) && !zoo_spec_means(out, pe_info_key(info, i)))
            cut_key(out, pe_info_key(info, i)->name);
    return out;
}

bool zoo_spec_put(char **spec, const char *key, const char *value)
{
    char *changed = zoo_spec_set(*spec, key, value);
    if (!changed)
        return false;
    free(*spec);
    *spec = changed;
    return true;
}

bool zoo_spec_put_real(char **spec, const char *key, double value)
{
    char text[40];
    io_print_real(text, sizeof text, value);
    return zoo_spec_put(spec, key, text);
}

char *zoo_spec_at(const char *spec, int64_t length)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, length);
    return zoo_spec_set(spec, "length", length > 0 && zoo_spec_grows(spec) ? text : NULL);
}

/* spec, which is malloc'ed and freed, with one part unscaled; NULL without memory. */
static char *unscale_part(char *spec, int index)
{
    char *part = spec ? zoo_spec_part(spec, index) : NULL, *out = NULL;
    if (part && zoo_spec_put(&part, zoo_spec_has(part, "turning") ? "factor" : "scaling", NULL))
        out = zoo_spec_with_part(spec, index, part);
    free(part);
    free(spec);
    return out;
}

char *zoo_spec_unscaled(const char *spec)
{
    size_t size = strlen(spec) + 1;
    char *out = malloc(size);
    if (out)
        memcpy(out, spec, size);
    for (int i = 0; i < zoo_spec_parts(spec); i++)
        out = unscale_part(out, i);
    return out;
}
