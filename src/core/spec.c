/* SPDX-License-Identifier: MIT
 *
 * The spec: name[:key=value[,key=value...]][+name...]. Values are numbers, words, or lists joined by '/'.
 * A key that takes whole numbers reads units too: trained=32k, rows=1k/2k. */
#include "core/spec.h"

#include <stdio.h>
#include <string.h>

#define LIST_MAX 4096
#define CHOICES_MAX 24   /* of a key,                                */
#define CHOICES_TEXT 300 /* and their letters, with bars between them */

typedef struct slice {
    const char *s;
    size_t n;
} slice;
#define SHOW(x) ((x).n > 60 ? 60 : (int)(x).n), (x).s

static bool is(slice x, const char *word)
{
    return strlen(word) == x.n && !memcmp(word, x.s, x.n);
}

/* Cuts the text up to the first of the stop letters. */
static slice cut_slice(const char **cursor, const char *stops)
{
    slice x = { *cursor, strcspn(*cursor, stops) };
    *cursor += x.n;
    return x;
}

/* Whether "a|b|c" holds the word. */
static bool among(slice word, const char *words)
{
    for (const char *w = words; w && *w; w += *w == '|') {
        size_t n = strcspn(w, "|");
        if (n == word.n && !memcmp(w, word.s, n))
            return true;
        w += n;
    }
    return false;
}

/* The names there are, as many as a sentence holds. */
static void enumerate(char *out, size_t cap, const char *const *list, int count)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < count; i++) {
        if (used + strlen(list[i]) + 6 > cap) {
            snprintf(out + used, cap - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, cap - used, "%s%s", i ? ", " : "", list[i]);
    }
}

/* Methods that docs/encodings.md has under "Not a row, and why". */
static const char no_rows[] = "string|grape|dual-chunk|dual-chunks|dca|stick-breaking|drope";

/* also[i] (or also NULL): names that others use for list[i]. */
static pe_status unknown(pe_error *err, const char *where, const char *what, slice word, const char *const *list,
                         const char *const *also, int count)
{
    const char *near = NULL;
    char all[190];
    for (int i = 0; also && i < count && !near; i++)
        near = among(word, also[i]) ? list[i] : NULL;
    if (!near)
        near = text_nearest(word.s, word.n, list, count);
    enumerate(all, sizeof all, list, count);
    if (near)
        return pe_fail(err, PE_ERR_SPEC, "%sunknown %s '%.*s'; did you mean '%s'?", where, what, SHOW(word), near);
    if (!count)
        return pe_fail(err, PE_ERR_SPEC, "%sunknown %s '%.*s'; there is none", where, what, SHOW(word));
    if (!word.n)
        return pe_fail(err, PE_ERR_SPEC, "%sthe %s has no name; use one of %s", where, what, all);
    return pe_fail(err, PE_ERR_SPEC, "%sunknown %s '%.*s'; use one of %s", where, what, SHOW(word), all);
}

/* Rows are written by hand: one that is too large for the arrays here is refused, not read past their ends. */
pe_status spec_row_fits(const row *r, pe_error *err)
{
    if (r->info.key_count > KEYS_MAX)
        return pe_fail(err, PE_ERR_SPEC, "%s: the row has %d keys; needs at most %d (KEYS_MAX in core/row.h)",
                       r->info.name, r->info.key_count, KEYS_MAX);
    for (int i = 0; i < r->info.key_count; i++) {
        const char *words = r->keys[i].choices;
        int count = 1;
        for (const char *w = words; w && *w; w++)
            count += *w == '|';
        if (count > CHOICES_MAX || (words && strlen(words) >= CHOICES_TEXT))
            return pe_fail(err, PE_ERR_SPEC,
                           "%s: %s has %d choices; needs at most %d, of less than %d letters in all (core/spec.c)",
                           r->info.name, r->keys[i].name, count, CHOICES_MAX, CHOICES_TEXT);
    }
    return PE_OK;
}

static pe_status find_row(slice name, const row **out, pe_error *err)
{
    const char *list[ROWS_MAX], *also[ROWS_MAX];
    for (int i = 0; i < pe_row_count; i++) {
        list[i] = pe_rows[i]->info.name;
        also[i] = pe_rows[i]->info.also;
        if (is(name, list[i])) {
            *out = pe_rows[i];
            return spec_row_fits(pe_rows[i], err);
        }
    }
    if (among(name, no_rows))
        return pe_fail(err, PE_ERR_SPEC, "%.*s is no encoding here; docs/encodings.md says why, and what to use",
                       SHOW(name));
    return unknown(err, "", "encoding", name, list, also, pe_row_count);
}

static pe_status find_key(const row *r, slice name, int *out, pe_error *err)
{
    const char *list[KEYS_MAX], *also[KEYS_MAX];
    char where[48];
    for (int i = 0; i < r->info.key_count; i++) {
        list[i] = r->keys[i].name;
        also[i] = r->keys[i].also;
        if (is(name, list[i])) {
            *out = i;
            return PE_OK;
        }
    }
    snprintf(where, sizeof where, "%s: ", r->info.name);
    return unknown(err, where, "key", name, list, also, r->info.key_count);
}

static pe_status read_choice(const row *r, const pe_key *k, slice text, double *out, pe_error *err)
{
    char words[CHOICES_TEXT], where[96];
    const char *list[CHOICES_MAX];
    int count = 0;
    snprintf(words, sizeof words, "%s", k->choices);
    for (char *w = words; w; count++) {
        list[count] = w;
        w = strchr(w, '|');
        if (w)
            *w++ = 0;
        if (is(text, list[count])) {
            *out = count;
            return PE_OK;
        }
    }
    snprintf(where, sizeof where, "%s: ", r->info.name);
    char what[48];
    snprintf(what, sizeof what, "%s", k->name);
    return unknown(err, where, what, text, list, NULL, count);
}

/* Whether a number may have a unit: whole ones may. A list whose least number is whole is of rows, cells or pairs. */
static bool takes_units(const pe_key *k)
{
    return k->kind == PE_KEY_INT || (k->kind == PE_KEY_LIST && k->min == floor(k->min));
}

static pe_status read_number(const row *r, const pe_key *k, slice text, double *out, pe_error *err)
{
    char least[32], most[32];
    int unit = takes_units(k) && text.n ? text_unit(text.s[text.n - 1]) : 0;
    if (!text_number(text.s, text.n - (unit > 0), out))
        return pe_fail(err, PE_ERR_SPEC, "%s: %s is '%.*s'; needs a number that fits a double, of at most %d digits",
                       r->info.name, k->name, SHOW(text), TEXT_DIGITS_MAX);
    text_print(least, sizeof least, k->min);
    text_print(most, sizeof most, k->max);
    if ((k->kind == PE_KEY_INT || unit > 0) && *out != floor(*out))
        return pe_fail(err, PE_ERR_RANGE, "%s: %s is %.*s; needs a whole number", r->info.name, k->name, SHOW(text));
    *out = ldexp(*out, unit);
    if (!(*out >= k->min && *out <= k->max))
        return pe_fail(err, PE_ERR_RANGE, "%s: %s is %.*s; needs %s to %s", r->info.name, k->name, SHOW(text), least,
                       most);
    return PE_OK;
}

static pe_status read_list(const row *r, const pe_key *k, slice text, value *v, pe_error *err)
{
    int64_t count = 1;
    for (size_t i = 0; i < text.n; i++)
        count += text.s[i] == '/';
    if (count > LIST_MAX)
        return pe_fail(err, PE_ERR_RANGE, "%s: %s has more than %d elements", r->info.name, k->name, LIST_MAX);
    double *list = malloc((size_t)count * sizeof *list);
    if (!list)
        return pe_fail(err, PE_ERR_NOMEM, "%s: no memory for %s", r->info.name, k->name);
    v->list = list;
    v->count = count;
    for (int64_t i = 0; i < count; i++) {
        const char *slash = memchr(text.s, '/', text.n);
        slice one = { text.s, slash ? (size_t)(slash - text.s) : text.n };
        TRY(read_number(r, k, one, &list[i], err));
        text.s += one.n + 1;
        text.n -= one.n + (slash ? 1 : 0);
    }
    return PE_OK;
}

static pe_status read_value(const row *r, const pe_key *k, slice text, value *v, pe_error *err)
{
    switch (k->kind) {
    case PE_KEY_CHOICE: return read_choice(r, k, text, &v->num, err);
    case PE_KEY_LIST: return read_list(r, k, text, v, err);
    default: return read_number(r, k, text, &v->num, err);
    }
}

static slice choice_word(const pe_key *k, int index)
{
    const char *w = k->choices;
    for (; index > 0; index--)
        w = strchr(w, '|') + 1;
    return (slice){ w, strcspn(w, "|") };
}

/* The longest choice that s begins with; 0: none. A choice may hold a '+' itself: "c2p+p2c". */
static size_t choice_length(const pe_key *k, const char *s)
{
    size_t longest = 0;
    for (const char *w = k->kind == PE_KEY_CHOICE ? k->choices : ""; *w;) {
        size_t n = strcspn(w, "|");
        if (n > longest && !strncmp(s, w, n) && (!s[n] || s[n] == ',' || s[n] == '+'))
            longest = n;
        w += n + (w[n] == '|');
    }
    return longest;
}

/* Whether "key=a|b" holds for these values. */
static bool condition_holds(const row *r, const value *v, const char *when)
{
    if (!when)
        return true;
    size_t n = strcspn(when, "=");
    int key = 0;
    while (strlen(r->keys[key].name) != n || memcmp(r->keys[key].name, when, n))
        key++;
    slice word = choice_word(&r->keys[key], (int)v[key].num);
    for (const char *w = when + n; *w;) {
        w++;
        size_t len = strcspn(w, "|");
        if (len == word.n && !memcmp(w, word.s, len))
            return condition_holds(r, v, r->keys[key].when);
        w += len;
    }
    return false;
}

/* Every key given has a meaning, and every key that must be given is. */
static pe_status check_keys(const row *r, const value *v, pe_error *err)
{
    for (int i = 0; i < r->info.key_count; i++) {
        const pe_key *k = &r->keys[i];
        bool meant = condition_holds(r, v, k->when);
        if (v[i].given && !meant)
            return pe_fail(err, PE_ERR_SPEC, "%s: %s is valid only with %s; leave it out or set that too", r->info.name,
                           k->name, k->when);
        if (k->required && meant && !v[i].given)
            return pe_fail(err, PE_ERR_SPEC, "%s: %s is missing; %s needs it (%s)", r->info.name, k->name,
                           k->when ? k->when : r->info.name, k->help);
    }
    return PE_OK;
}

static pe_status read_keys(const char **cursor, const row *r, value *v, pe_error *err)
{
    for (char lead = ':'; **cursor == lead; lead = ',') {
        int key;
        ++*cursor;
        slice name = cut_slice(cursor, "=,+");
        if (**cursor != '=')
            return pe_fail(err, PE_ERR_SPEC, "%s: '%.*s' has no value; write key=value", r->info.name, SHOW(name));
        TRY(find_key(r, name, &key, err));
        ++*cursor;
        slice text = { *cursor, 0 };
        *cursor += choice_length(&r->keys[key], *cursor);
        for (; **cursor && **cursor != ','; ++*cursor) { /* a '+' before a letter starts the next part */
            char next = (*cursor)[1];
            if (**cursor == '+' && ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z')))
                break;
        }
        text.n = (size_t)(*cursor - text.s);
        if (v[key].given)
            return pe_fail(err, PE_ERR_SPEC, "%s: %s is given twice", r->info.name, r->keys[key].name);
        free((void *)v[key].list);
        v[key] = (value){ .given = true };
        TRY(read_value(r, &r->keys[key], text, &v[key], err));
    }
    return PE_OK;
}

pe_status spec_read(const char **cursor, const row **out, value **values, pe_error *err)
{
    slice name = cut_slice(cursor, ":+,=");
    TRY(find_row(name, out, err));
    const row *r = *out;
    value *v = calloc((size_t)r->info.key_count + 1, sizeof *v);
    *values = v;
    if (!v)
        return pe_fail(err, PE_ERR_NOMEM, "%s: no memory for its keys", r->info.name);
    for (int i = 0; i < r->info.key_count; i++) {
        const pe_key *k = &r->keys[i];
        if (*k->fallback)
            TRY(read_value(r, k, (slice){ k->fallback, strlen(k->fallback) }, &v[i], err));
    }
    TRY(read_keys(cursor, r, v, err));
    TRY(check_keys(r, v, err));
    if (**cursor && **cursor != '+')
        return pe_fail(err, PE_ERR_SPEC, "%s: '%.40s' after the name; write name:key=value,key=value", r->info.name,
                       *cursor);
    return PE_OK;
}

void spec_free(const row *r, const value *v)
{
    for (int i = 0; v && i < r->info.key_count; i++)
        free((void *)v[i].list);
    free((void *)v);
}

/* snprintf at the end of what is there; counts what does not fit too. */
static void append_text(char *out, size_t cap, size_t *used, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++, ++*used)
        if (*used + 1 < cap)
            out[*used] = s[i];
    if (cap)
        out[*used < cap ? *used : cap - 1] = 0;
}

static void append_value(char *out, size_t cap, size_t *used, const pe_key *k, const value *v)
{
    char text[40];
    if (k->kind == PE_KEY_CHOICE) {
        slice w = choice_word(k, (int)v->num);
        append_text(out, cap, used, w.s, w.n);
        return;
    }
    int64_t count = k->kind == PE_KEY_LIST ? v->count : 1;
    for (int64_t i = 0; i < count; i++) {
        if (i)
            append_text(out, cap, used, "/", 1);
        text_print(text, sizeof text, k->kind == PE_KEY_LIST ? v->list[i] : v->num);
        append_text(out, cap, used, text, strlen(text));
    }
}

static bool is_default(const pe_key *k, const value *v)
{
    char text[64];
    size_t used = 0;
    append_value(text, sizeof text, &used, k, v);
    return *k->fallback ? used < sizeof text && !strcmp(text, k->fallback) : !v->given;
}

size_t spec_print(char *out, size_t cap, const part *p)
{
    const row *r = p->row;
    size_t used = 0;
    char sep = ':';
    append_text(out, cap, &used, r->info.name, strlen(r->info.name));
    for (int i = 0; i < r->info.key_count; i++) {
        const pe_key *k = &r->keys[i];
        if (is_default(k, &p->value[i]) || !condition_holds(r, p->value, k->when))
            continue;
        append_text(out, cap, &used, &sep, 1);
        append_text(out, cap, &used, k->name, strlen(k->name));
        append_text(out, cap, &used, "=", 1);
        append_value(out, cap, &used, k, &p->value[i]);
        sep = ',';
    }
    return used;
}
