/* SPDX-License-Identifier: MIT
 *
 * Moving about in a text that io_json_check has passed: so nothing here looks for its end.
 */
#include "json_text.h"

#include "checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *pass_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* From the opening quote to behind the string. */
static const char *pass_string(const char *at)
{
    at += strlen(at);
    while (*at == '\0')
        at++;
    return at;
}

/* From the opening bracket to behind the one that closes it. */
static const char *pass_container(const char *at)
{
    static const signed char step[256] = { ['['] = 1, ['{'] = 1, [']'] = -1, ['}'] = -1, ['"'] = 2 };
    for (int64_t depth = 0;;) {
        signed char what = step[(unsigned char)*at];
        if (what == 2) {
            at = pass_string(at);
            continue;
        }
        at++;
        depth += what;
        if (what < 0 && depth == 0)
            return at;
    }
}

static const char *pass_scalar(const char *at)
{
    while (*at > ' ' && *at != ',' && *at != ']' && *at != '}')
        at++;
    return at;
}

static const char *pass_value(const char *at)
{
    if (*at == '"')
        return pass_string(at);
    return *at == '[' || *at == '{' ? pass_container(at) : pass_scalar(at);
}

io_json_kind io_json_kind_of(const io_node *at)
{
    static const unsigned char kinds[256] = {
        ['{'] = IO_JSON_OBJECT, ['['] = IO_JSON_ARRAY, ['"'] = IO_JSON_STRING, ['t'] = IO_JSON_TRUE,
        ['f'] = IO_JSON_FALSE,  ['n'] = IO_JSON_NULL,  ['N'] = IO_JSON_REAL,   ['I'] = IO_JSON_REAL
    };
    const char *c = at->json;
    if (!c)
        return IO_JSON_ABSENT;
    if (kinds[(unsigned char)*c])
        return (io_json_kind)kinds[(unsigned char)*c];
    while (*c == '-' || (*c >= '0' && *c <= '9'))
        c++;
    return *c == '.' || *c == 'e' || *c == 'E' || *c == 'I' ? IO_JSON_REAL : IO_JSON_INT;
}

bool io_json_next(io_node *child, const io_node *container)
{
    io_json_kind kind = io_json_kind_of(container);
    if (kind != IO_JSON_OBJECT && kind != IO_JSON_ARRAY) {
        *child = (io_node){ 0 };
        return false;
    }
    const char *at = pass_space(child->json ? pass_value(child->json) : container->json + 1);
    size_t index = child->json ? child->index + 1 : 0;
    *child = (io_node){ 0 };
    if (*at == ']' || *at == '}')
        return false;
    at = pass_space(at + (*at == ','));
    *child = (io_node){ .up = container, .index = index };
    if (kind == IO_JSON_OBJECT) {
        child->key = at + 1;
        at = pass_space(pass_space(pass_string(at)) + 1); /* and the colon */
    }
    child->json = at;
    return true;
}

bool io_json_get(io_node *out, const io_node *object, const char *key)
{
    io_node child = { 0 };
    while (io_json_kind_of(object) == IO_JSON_OBJECT && io_json_next(&child, object))
        if (strcmp(child.key, key) == 0) {
            *out = child;
            return true;
        }
    *out = (io_node){ .up = object, .key = key };
    return false;
}

size_t io_json_size(const io_node *array)
{
    size_t count = 0;
    io_node child = { 0 };
    while (io_json_kind_of(array) == IO_JSON_ARRAY && io_json_next(&child, array))
        count++;
    return count;
}

/* ---------------------------------------------------------------- json */

/* Documents, and getters that name the place of what is wrong. */

/* Takes text, malloc'ed with a byte to spare, over. */
static pe_status take_text(io_node *root, const char *name, char *text, size_t size, pe_error *err)
{
    size_t first;
    pe_status s = io_json_check(text, size, &first, name, err);
    if (s != PE_OK) {
        free(text);
        return s;
    }
    memmove(text, text + first, size - first); /* so that the root is what is freed */
    root->json = text;
    return PE_OK;
}

pe_status io_json_parse(io_node *root, const char *name, const char *text, size_t size, pe_error *err)
{
    *root = (io_node){ .key = name };
    if (size > IO_CAP_TEXT)
        return io_fail(err, PE_ERR_RANGE, "%s: has %zu bytes; at most %zu are read", name, size, IO_CAP_TEXT);
    size_t room;
    char *copy = io_add(&room, size, 1) ? malloc(room) : NULL;
    if (!copy)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its %zu bytes", name, size);
    if (size)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return take_text(root, name, copy, size, err);
}

pe_status io_json_load(io_node *root, const char *path, pe_error *err)
{
    *root = (io_node){ .key = path };
    io_bytes file;
    pe_status s = io_read_file(&file, path, IO_CAP_TEXT, err);
    return s == PE_OK ? take_text(root, path, (char *)file.data, file.size, err) : s;
}

void io_json_free(io_node *root)
{
    free((char *)root->json);
    *root = (io_node){ 0 };
}

/* "config.json: rope_scaling.factor[2]", from the root down; cut where it does not fit. */
static size_t put_path(char *text, size_t room, const io_node *at)
{
    if (!at->up)
        return (size_t)snprintf(text, room, "%s:", at->key ? at->key : "json");
    size_t used = put_path(text, room, at->up);
    if (used >= room)
        return used;
    const char *gap = at->up->up ? "." : " ";
    int n = at->key ? snprintf(text + used, room - used, "%s%s", gap, at->key)
                    : snprintf(text + used, room - used, "%s[%zu]", at->up->up ? "" : " ", at->index);
    return used + (size_t)n;
}

const char *io_json_place(char out[IO_JSON_PLACE_MAX], const io_node *at)
{
    if (put_path(out, IO_JSON_PLACE_MAX, at) >= IO_JSON_PLACE_MAX)
        io_end_with_dots(out, IO_JSON_PLACE_MAX);
    return out;
}

static pe_status refuse_node(pe_error *err, pe_status s, const io_node *at, const char *what)
{
    char place[IO_JSON_PLACE_MAX];
    return io_fail(err, s, "%s %s", io_json_place(place, at), what);
}

static pe_status refuse_kind(pe_error *err, const io_node *at, const char *wanted)
{
    static const char *const names[] = { "missing",       "null",     "false",    "true",     "a whole number",
                                         "a real number", "a string", "an array", "an object" };
    char what[80];
    snprintf(what, sizeof what, "is %s; needs %s", names[io_json_kind_of(at)], wanted);
    return refuse_node(err, PE_ERR_FORMAT, at, what);
}

/* The place key below at, or at itself. *kind is IO_JSON_ABSENT only where need allows it. */
static pe_status find_node(io_node *out, io_json_kind *kind, const io_node *at, const char *key, io_need need,
                           pe_error *err)
{
    *kind = io_json_kind_of(at);
    *out = key ? (io_node){ .up = at, .key = key } : *at;
    if (key && *kind == IO_JSON_ABSENT && need == IO_REQUIRED)
        return refuse_node(err, PE_ERR_FORMAT, at, "is missing");
    if (key && *kind != IO_JSON_ABSENT && *kind != IO_JSON_OBJECT)
        return refuse_kind(err, at, "an object");
    if (key) {
        io_json_get(out, at, key);
        *kind = io_json_kind_of(out);
    }
    if (need == IO_OPTIONAL && *kind == IO_JSON_NULL) {
        *kind = IO_JSON_ABSENT;
        out->json = NULL;
    }
    return *kind || need == IO_OPTIONAL ? PE_OK : refuse_node(err, PE_ERR_FORMAT, out, "is missing");
}

pe_status io_json_int(int64_t *out, const io_node *at, const char *key, io_need need, io_int_range range, pe_error *err)
{
    io_node n;
    io_json_kind kind;
    pe_status s = find_node(&n, &kind, at, key, need, err);
    if (s != PE_OK || !kind)
        return s;
    if (kind != IO_JSON_INT)
        return refuse_kind(err, &n, "a whole number");
    int64_t v;
    io_json_whole(&v, n.json, strspn(n.json, "-0123456789"));
    if (v < range.min || v > range.max) {
        char what[100];
        snprintf(what, sizeof what, "is %lld; needs %lld to %lld", (long long)v, (long long)range.min,
                 (long long)range.max);
        return refuse_node(err, PE_ERR_RANGE, &n, what);
    }
    *out = v;
    return PE_OK;
}

pe_status io_json_real(double *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    io_json_kind kind;
    pe_status s = find_node(&n, &kind, at, key, need, err);
    if (s != PE_OK || !kind)
        return s;
    if (kind != IO_JSON_INT && kind != IO_JSON_REAL)
        return refuse_kind(err, &n, "a number");
    int64_t whole;
    if (n.json[strspn(n.json, "-")] == 'I' || *n.json == 'N')
        return refuse_node(err, PE_ERR_RANGE, &n,
                           *n.json == 'N' ? "is NaN; needs a number" : "is infinite; needs a number");
    if (kind == IO_JSON_REAL)
        io_json_double(out, n.json, strspn(n.json, "+-.0123456789Ee"));
    else if (io_json_whole(&whole, n.json, strspn(n.json, "-0123456789")))
        *out = (double)whole;
    return PE_OK;
}

pe_status io_json_bool(bool *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    io_json_kind kind;
    pe_status s = find_node(&n, &kind, at, key, need, err);
    if (s != PE_OK || !kind)
        return s;
    if (kind != IO_JSON_TRUE && kind != IO_JSON_FALSE)
        return refuse_kind(err, &n, "true or false");
    *out = kind == IO_JSON_TRUE;
    return PE_OK;
}

pe_status io_json_string(const char **out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    io_json_kind kind;
    pe_status s = find_node(&n, &kind, at, key, need, err);
    if (s != PE_OK || !kind)
        return s;
    if (kind != IO_JSON_STRING)
        return refuse_kind(err, &n, "a string");
    *out = n.json + 1;
    return PE_OK;
}

static pe_status get_container(io_node *out, const io_node *at, const char *key, io_need need, io_json_kind wanted,
                               pe_error *err)
{
    io_node n;
    io_json_kind kind;
    pe_status s = find_node(&n, &kind, at, key, need, err);
    *out = (io_node){ .up = n.up, .key = n.key, .index = n.index };
    if (s != PE_OK || !kind)
        return s;
    if (kind != wanted)
        return refuse_kind(err, &n, wanted == IO_JSON_ARRAY ? "an array" : "an object");
    *out = n;
    return PE_OK;
}

pe_status io_json_array(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    return get_container(out, at, key, need, IO_JSON_ARRAY, err);
}

pe_status io_json_object(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    return get_container(out, at, key, need, IO_JSON_OBJECT, err);
}

pe_status io_json_item(io_node *out, const io_node *array, size_t index, pe_error *err)
{
    *out = (io_node){ 0 };
    while (io_json_kind_of(array) == IO_JSON_ARRAY && io_json_next(out, array))
        if (out->index == index)
            return PE_OK;
    *out = (io_node){ .up = array, .index = index };
    return refuse_node(err, PE_ERR_RANGE, out, "is past the end of the array");
}
