/* SPDX-License-Identifier: MIT */
#include "zoo/json_edit.h"

#include "io/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t\r\n"

/* A key and its value, as offsets; what is before the key is white space back to '{' or ','. */
typedef struct member {
    size_t key, value, end;
} member;

/* ---------------------------------------------------------------- reading */

static size_t skip_space(const char *s, size_t at)
{
    return at + strspn(s + at, SPACE);
}

/* After the string that starts at s[at]; at the text's end where it has no end. */
static size_t skip_string(const char *s, size_t at)
{
    for (at++; s[at] && s[at] != '"'; at++)
        at += s[at] == '\\' && s[at + 1];
    return at + (s[at] == '"');
}

static size_t skip_value(const char *s, size_t at)
{
    size_t depth = 0;
    do {
        if (s[at] == '"')
            at = skip_string(s, at);
        else if (strchr("{[", s[at]) && s[at])
            depth++, at++;
        else if (strchr("}]", s[at]) && s[at])
            depth -= depth > 0, at++;
        else if (depth)
            at += s[at] ? 1 : 0;
        else
            at += strcspn(s + at, SPACE ",}]");
    } while (depth && s[at]);
    return at;
}

/* The member at or after s[at], which is '{' or the comma after another: false at the object's end. */
static bool next_member(const char *s, size_t at, member *m)
{
    if (s[at] != '{' && s[at] != ',')
        return false;
    m->key = skip_space(s, at + 1);
    if (s[m->key] != '"')
        return false;
    size_t colon = skip_space(s, skip_string(s, m->key));
    if (s[colon] != ':')
        return false;
    m->value = skip_space(s, colon + 1);
    m->end = skip_value(s, m->value);
    return m->end > m->value;
}

static bool has_key(const char *s, const member *m, const char *key)
{
    size_t n = strlen(key);
    return !strncmp(s + m->key + 1, key, n) && s[m->key + 1 + n] == '"';
}

/* How many members of the object at s[at] have this key; *out is the first. */
static int find_member(const char *s, size_t at, const char *key, member *out)
{
    int found = 0;
    for (member m; next_member(s, at, &m); at = skip_space(s, m.end))
        if (has_key(s, &m, key) && !found++)
            *out = m;
    return found;
}

bool json_edit_find(json_place *out, const char *s, const char *const path[JSON_PATH_MAX])
{
    *out = (json_place){ skip_space(s, 0), strlen(s) };
    member m;
    for (int i = 0; i < JSON_PATH_MAX && path[i] && *path[i]; i++) {
        if (!find_member(s, out->from, path[i], &m))
            return false;
        *out = (json_place){ m.value, m.end };
    }
    return true;
}

bool json_edit_is_object(const char *s, const char *const path[JSON_PATH_MAX])
{
    json_place p;
    return json_edit_find(&p, s, path) && s[p.from] == '{';
}

/* ---------------------------------------------------------------- changing */

typedef struct editor {
    char *s;
    pe_error *err;
} editor;

static pe_status splice(editor *e, size_t from, size_t to, const char *format, ...) IO_PRINTF(4, 5);
static pe_status splice(editor *e, size_t from, size_t to, const char *format, ...)
{
    va_list list;
    size_t old = strlen(e->s), room = 0;
    va_start(list, format);
    int added = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *out = added >= 0 && io_add(&room, old - (to - from), (size_t)added + 1) ? malloc(room) : NULL;
    if (!out)
        return io_fail(e->err, PE_ERR_NOMEM, "no memory for a text of %zu bytes", room);
    memcpy(out, e->s, from);
    va_start(list, format);
    vsnprintf(out + from, room - from, format, list);
    va_end(list);
    memcpy(out + from + (size_t)added, e->s + to, old - to + 1);
    free(e->s);
    e->s = out;
    return PE_OK;
}

/* White space with a new line in it that stands after s[at]; 0: everything is on one line. */
static int line_space(const char *s, size_t at)
{
    size_t n = strspn(s + at + 1, SPACE);
    return memchr(s + at + 1, '\n', n) ? (int)n : 0;
}

/* A member behind the last one of the object at s[at], written as that object's members are: each on its own line, with
 * their indent, or all on one. */
static pe_status append_key(editor *e, size_t at, const char *key, const char *value)
{
    const char *s = e->s;
    member m;
    int lead = line_space(s, at);
    size_t last = at;
    bool empty = !next_member(s, at, &m);
    for (size_t from = at; next_member(s, from, &m); from = skip_space(s, m.end))
        last = m.end;
    if (!empty)
        return splice(e, last, last, ",%.*s\"%s\": %s", lead ? lead : 1, lead ? s + at + 1 : " ", key, value);
    const char *deeper = lead && memchr(s + at + 1, '\t', (size_t)lead) ? "\t" : lead ? "  " : "";
    return splice(e, at + 1, at + 1, "%.*s%s\"%s\": %s", lead, s + at + 1, deeper, key, value);
}

/* With the comma that joined it to its neighbours. */
static pe_status cut_member(editor *e, size_t object, const member *m)
{
    const char *s = e->s;
    size_t after = skip_space(s, m->end), before = m->key;
    while (before > object + 1 && s[before - 1] != ',')
        before--;
    if (s[before - 1] == ',')
        return splice(e, before - 1, m->end, "%s", "");
    if (s[after] == ',')
        return splice(e, m->key, skip_space(s, after + 1), "%s", "");
    return splice(e, object + 1, m->end, "%s", "");
}

/* An empty object for a key of the object at s[at]: over two lines where that one has lines of its own. */
static pe_status put_object(editor *e, size_t at, const char *key, const member *old)
{
    int lead = line_space(e->s, at);
    char *empty = malloc((size_t)lead + 3);
    if (!empty)
        return io_fail(e->err, PE_ERR_NOMEM, "no memory for an object");
    snprintf(empty, (size_t)lead + 3, "{%.*s}", lead, e->s + at + 1);
    pe_status s = old ? splice(e, old->value, old->end, "%s", empty) : append_key(e, at, key, empty);
    free(empty);
    return s;
}

static pe_status edit_one(editor *e, const json_edit *edit)
{
    size_t at = skip_space(e->s, 0);
    if (e->s[at] != '{')
        return io_fail(e->err, PE_ERR_FORMAT, "the text is no JSON object");
    for (int i = 0; i < JSON_PATH_MAX && edit->path[i]; i++) {
        const char *key = edit->path[i];
        bool last = i + 1 == JSON_PATH_MAX || !edit->path[i + 1];
        member m;
        int found = find_member(e->s, at, key, &m);
        if (found > 1)
            return io_fail(e->err, PE_ERR_FORMAT, "the key %s occurs twice in one object", key);
        if (!edit->value && (!found || (!last && e->s[m.value] != '{')))
            return PE_OK;
        if (last && !edit->value)
            return cut_member(e, at, &m);
        if (last && found)
            return splice(e, m.value, m.end, "%s", edit->value);
        if (last)
            return append_key(e, at, key, edit->value);
        if (!found || e->s[m.value] != '{') {
            pe_status s = put_object(e, at, key, found ? &m : NULL);
            if (s != PE_OK)
                return s;
            find_member(e->s, at, key, &m);
        }
        at = m.value;
    }
    return PE_OK;
}

pe_status json_edit_apply(char **out, const char *s, const json_edit *edits, int count, pe_error *err)
{
    size_t n = strlen(s);
    editor e = { malloc(n + 1), err };
    pe_status status = PE_OK;
    *out = NULL;
    if (!e.s)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a text of %zu bytes", n);
    memcpy(e.s, s, n + 1);
    for (int i = 0; i < count && status == PE_OK; i++)
        status = edit_one(&e, &edits[i]);
    if (status == PE_OK)
        *out = e.s;
    else
        free(e.s);
    return status;
}
