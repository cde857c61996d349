/* SPDX-License-Identifier: MIT
 *
 * Canonical specs as text: lookups, and edits key by key. */
#include "zoo/spec_read.h"

#include "base/text.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- rows and parts */

static const pe_info *find_row(const char *name, size_t length)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (strlen(pe_info_at(i)->name) == length && !memcmp(pe_info_at(i)->name, name, length))
            return pe_info_at(i);
    return NULL;
}

/* Where the first part ends. A choice may hold a '+' too, as "c2p+p2c" does: only a row's name starts a part. */
static const char *part_end(const char *spec)
{
    for (const char *s = spec; *s; s++)
        if (*s == '+' && find_row(s + 1, strcspn(s + 1, ":+")))
            return s;
    return spec + strlen(spec);
}

zoo_slice zoo_spec_part_at(const char *spec, int index)
{
    const char *end = part_end(spec);
    for (; index > 0 && *end; index--) {
        spec = end + 1;
        end = part_end(spec);
    }
    return index ? (zoo_slice){ 0 } : (zoo_slice){ spec, (size_t)(end - spec) };
}

int zoo_spec_parts(const char *spec)
{
    int count = 1;
    while (zoo_spec_part_at(spec, count).text)
        count++;
    return count;
}

const pe_info *zoo_spec_row(const char *spec)
{
    return find_row(spec, strcspn(spec, ":+"));
}

const pe_key *zoo_spec_key(const char *spec, const char *key)
{
    const pe_info *info = zoo_spec_row(spec);
    for (int i = 0; info && i < info->key_count; i++)
        if (!strcmp(pe_info_key(info, i)->name, key))
            return pe_info_key(info, i);
    return NULL;
}

/* ---------------------------------------------------------------- values */

/* "key=value" in the first part: where it starts and how long it is. */
static zoo_slice find_key(const char *spec, const char *key)
{
    const char *end = part_end(spec), *s = memchr(spec, ':', (size_t)(end - spec));
    size_t n = strlen(key);
    while (s && ++s < end) {
        const char *next = memchr(s, ',', (size_t)(end - s));
        size_t length = (size_t)((next ? next : end) - s);
        if (length > n && !memcmp(s, key, n) && s[n] == '=')
            return (zoo_slice){ s, length };
        s = next;
    }
    return (zoo_slice){ 0 };
}

bool zoo_spec_has(const char *spec, const char *key)
{
    return find_key(spec, key).text != NULL;
}

zoo_slice zoo_spec_get(const char *spec, const char *key)
{
    zoo_slice v = find_key(spec, key);
    const pe_key *k = zoo_spec_key(spec, key);
    size_t skip = strlen(key) + 1;
    if (v.text)
        return (zoo_slice){ v.text + skip, v.length - skip };
    if (k && *k->fallback)
        return (zoo_slice){ k->fallback, strlen(k->fallback) };
    return v;
}

double zoo_spec_num(const char *spec, const char *key)
{
    double x;
    zoo_slice v = zoo_spec_get(spec, key);
    return v.text && text_number(v.text, v.length, &x) ? x : (double)NAN;
}

double zoo_spec_num_or(const char *spec, const char *key, double fallback)
{
    double x = zoo_spec_num(spec, key);
    return isnan(x) ? fallback : x;
}

bool zoo_spec_text(char *out, size_t cap, const char *spec, const char *key)
{
    zoo_slice v = zoo_spec_get(spec, key);
    return zoo_spec_key(spec, key) && (size_t)snprintf(out, cap, "%.*s", (int)v.length, v.text ? v.text : "") < cap;
}

static bool equals(zoo_slice v, const char *text, size_t length)
{
    return v.text && v.length == length && !memcmp(v.text, text, length);
}

bool zoo_spec_is(const char *spec, const char *key, const char *text)
{
    return equals(zoo_spec_get(spec, key), text, strlen(text));
}

/* ---------------------------------------------------------------- conditions */

bool zoo_is_one_of(zoo_slice v, const char *list, size_t length)
{
    for (const char *end = list + length; list <= end; list++) {
        const char *bar = memchr(list, '|', (size_t)(end - list));
        size_t n = (size_t)((bar ? bar : end) - list);
        if (equals(v, list, n))
            return true;
        list += n;
    }
    return false;
}

static bool spec_holds(const char *spec, const char *condition, size_t length)
{
    char key[40];
    bool absent = *condition == '!';
    condition += absent;
    length -= absent;
    const char *sign = memchr(condition, '=', length);
    size_t n = sign ? (size_t)(sign - condition) : length;
    bool unequal = sign && n && sign[-1] == '!';
    snprintf(key, sizeof key, "%.*s", (int)(n - unequal), condition);
    if (!sign)
        return zoo_spec_has(spec, key) != absent;
    return zoo_is_one_of(zoo_spec_get(spec, key), sign + 1, length - n - 1) != unequal;
}

bool zoo_spec_meets(const char *spec, const char *when)
{
    while (when && *when) {
        size_t n = strcspn(when, ",");
        if (!spec_holds(spec, when, n))
            return false;
        when += n + (when[n] == ',');
    }
    return true;
}

bool zoo_spec_means(const char *spec, const pe_key *key)
{
    return !key->when || zoo_spec_meets(spec, key->when);
}

bool zoo_spec_grows(const char *spec)
{
    const pe_key *k = zoo_spec_key(spec, "length");
    return k && zoo_spec_means(spec, k);
}

bool zoo_has_word(const char *words, const char *word)
{
    size_t wanted = strlen(word);
    for (size_t length; *words; words += length + strspn(words + length, " ")) {
        length = strcspn(words, " ");
        if (length == wanted && !strncmp(words, word, length))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- edits */

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
