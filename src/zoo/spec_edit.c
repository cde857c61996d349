/* SPDX-License-Identifier: MIT */
#include "zoo/spec_edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slice {
    const char *s;
    size_t n;
} slice;

static slice cut(const char *s, const char *stops)
{
    return (slice){ s, strcspn(s, stops) };
}

static bool same(slice x, const char *word)
{
    return strlen(word) == x.n && !memcmp(x.s, word, x.n);
}

static const pe_info *find_info(slice name)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (same(name, pe_info_at(i)->name))
            return pe_info_at(i);
    return NULL;
}

/* The text up to a '+' before the name of an encoding: a value may hold one too, as in c2p+p2c or 1e+6. */
static slice cut_part(const char *s)
{
    slice p = cut(s, "+");
    while (s[p.n] && !find_info(cut(s + p.n + 1, ":+")))
        p.n += 1 + strcspn(s + p.n + 1, "+");
    return p;
}

static slice part_at(const char *spec, int index)
{
    slice p = cut_part(spec);
    for (; index > 0 && p.s[p.n]; index--)
        p = cut_part(p.s + p.n + 1);
    return p;
}

/* Setting number index of a part: false past the end. */
static bool setting(const char *part, int index, slice *key, slice *value)
{
    const char *s = part + strcspn(part, ":");
    for (; *s && index >= 0; index--) {
        *key = cut(s + 1, "=,");
        *value = cut(key->s + key->n + (key->s[key->n] == '='), ",");
        s = value->s + value->n;
        if (!index)
            return true;
    }
    return false;
}

static char *copy(slice x)
{
    char *out = malloc(x.n + 1);
    if (out)
        snprintf(out, x.n + 1, "%.*s", (int)x.n, x.s);
    return out;
}

int spec_part_count(const char *spec)
{
    int count = 1;
    for (slice p = cut_part(spec); p.s[p.n]; p = cut_part(p.s + p.n + 1))
        count++;
    return count;
}

char *spec_part(const char *spec, int index)
{
    return copy(part_at(spec, index));
}

char *spec_with_part(const char *spec, int index, const char *part)
{
    slice old = part_at(spec, index);
    size_t size = strlen(spec) + strlen(part) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s%s", (int)(old.s - spec), spec, part, old.s + old.n);
    return out;
}

const pe_info *spec_info(const char *part)
{
    return find_info(cut(part, ":"));
}

static const pe_key *find_key(const pe_info *info, slice name)
{
    for (int k = 0; info && k < info->key_count; k++)
        if (same(name, info->keys[k].name))
            return &info->keys[k];
    return NULL;
}

const pe_key *spec_key(const char *part, const char *name)
{
    return find_key(spec_info(part), (slice){ name, strlen(name) });
}

bool spec_value(char *out, size_t cap, const char *part, const char *name)
{
    slice key, value;
    const pe_key *row = spec_key(part, name);
    if (!row)
        return false;
    for (int i = 0; setting(part, i, &key, &value); i++)
        if (same(key, name))
            return (size_t)snprintf(out, cap, "%.*s", (int)value.n, value.s) < cap;
    return (size_t)snprintf(out, cap, "%s", row->fallback) < cap;
}

bool spec_is(const char *part, const char *name, const char *value)
{
    char text[40];
    return spec_value(text, sizeof text, part, name) && !strcmp(text, value);
}

double spec_number(const char *part, const char *name, double fallback)
{
    char text[64];
    return spec_value(text, sizeof text, part, name) && *text ? strtod(text, NULL) : fallback;
}

/* Whether `when`, "scaling=yarn|longrope", speaks of this key and does not hold its new value. */
static bool loses_meaning(const pe_key *key, const char *name, const char *value)
{
    size_t n = strlen(name);
    if (!key || !key->when || strncmp(key->when, name, n) || key->when[n] != '=')
        return false;
    for (slice w = cut(key->when + n + 1, "|"); value; w = cut(w.s + w.n + 1, "|")) {
        if (same(w, value))
            return false;
        if (!w.s[w.n])
            break;
    }
    return true;
}

char *spec_set(const char *part, const char *name, const char *value)
{
    const pe_info *info = spec_info(part);
    slice key, old, head = cut(part, ":");
    size_t size = strlen(part) + strlen(name) + (value ? strlen(value) : 0) + 4, used = head.n;
    char *out = malloc(size);
    if (!out)
        return NULL;
    snprintf(out, size, "%.*s", (int)head.n, head.s);
    for (int i = 0; setting(part, i, &key, &old); i++)
        if (!same(key, name) && !loses_meaning(find_key(info, key), name, value))
            used += (size_t)snprintf(out + used, size - used, "%c%.*s=%.*s", used == head.n ? ':' : ',', (int)key.n,
                                     key.s, (int)old.n, old.s);
    if (value)
        snprintf(out + used, size - used, "%c%s=%s", used == head.n ? ':' : ',', name, value);
    return out;
}
