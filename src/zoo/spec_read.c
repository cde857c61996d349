/* SPDX-License-Identifier: MIT */
#include "zoo/spec_read.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
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
static zoo_slice find(const char *spec, const char *key)
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
    return find(spec, key).text != NULL;
}

zoo_slice zoo_spec_get(const char *spec, const char *key)
{
    zoo_slice v = find(spec, key);
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

static bool holds(const char *spec, const char *condition, size_t length)
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
        if (!holds(spec, when, n))
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
