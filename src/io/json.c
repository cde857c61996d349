/* SPDX-License-Identifier: MIT
 *
 * JSON by jansson, with limits, and getters that name the place of what is wrong.
 *
 * jansson 2.14 does not report every failed allocation: a string may come back as "invalid token", and a token of 16
 * characters or more may lose one. Its allocator is one per process, so a library cannot watch it from here.
 */
#include "json_scan.h"

#include <stdio.h>
#include <string.h>

pe_status io_json_parse(io_node *root, const char *name, const char *text, size_t size, pe_error *err)
{
    *root = (io_node){ .key = name };
    pe_status s = io_json_scan(name, text, size, err);
    if (s != PE_OK)
        return s;
    json_error_t why = { 0 };
    root->json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (root->json)
        return PE_OK;
    if (why.text[0] == '\0' || json_error_code(&why) == json_error_out_of_memory) /* mostly it fails without a word */
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory", name);
    return io_fail(err, PE_ERR_FORMAT, "%s: line %d column %d: %s", name, why.line, why.column, why.text);
}

pe_status io_json_load(io_node *root, const char *path, pe_error *err)
{
    *root = (io_node){ .key = path };
    io_bytes file;
    pe_status s = io_read_file(&file, path, IO_CAP_TEXT, err);
    if (s == PE_OK)
        s = io_json_parse(root, path, (const char *)file.data, file.size, err);
    io_bytes_free(&file);
    return s;
}

void io_json_free(io_node *root)
{
    json_decref(root->json);
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

static pe_status refuse(pe_error *err, pe_status s, const io_node *at, const char *what)
{
    char path[200];
    put_path(path, sizeof path, at);
    return io_fail(err, s, "%s %s", path, what);
}

static const char *kind_name(const json_t *j)
{
    static const char *const names[] = { [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",
                                         [JSON_STRING] = "a string",    [JSON_INTEGER] = "a whole number",
                                         [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
                                         [JSON_FALSE] = "false",        [JSON_NULL] = "null" };
    return names[json_typeof(j)];
}

static pe_status refuse_kind(pe_error *err, const io_node *at, const char *wanted)
{
    char what[80];
    snprintf(what, sizeof what, "is %s; needs %s", kind_name(at->json), wanted);
    return refuse(err, PE_ERR_FORMAT, at, what);
}

/* The place key below at. out->json is NULL only where need allows it. */
static pe_status find(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    *out = key ? (io_node){ NULL, at, key, 0 } : *at;
    if (key && !at->json && need == IO_OPTIONAL)
        return PE_OK; /* nothing below what is not there */
    if (key && !json_is_object(at->json))
        return at->json ? refuse_kind(err, at, "an object") : refuse(err, PE_ERR_FORMAT, at, "is missing");
    if (key)
        out->json = json_object_get(at->json, key);
    if (need == IO_OPTIONAL && json_is_null(out->json))
        out->json = NULL;
    return out->json || need == IO_OPTIONAL ? PE_OK : refuse(err, PE_ERR_FORMAT, out, "is missing");
}

pe_status io_json_int(int64_t *out, const io_node *at, const char *key, io_need need, io_int_range range, pe_error *err)
{
    io_node n;
    pe_status s = find(&n, at, key, need, err);
    if (s != PE_OK || !n.json)
        return s;
    if (!json_is_integer(n.json))
        return refuse_kind(err, &n, "a whole number");
    int64_t v = json_integer_value(n.json);
    if (v < range.min || v > range.max) {
        char what[100];
        snprintf(what, sizeof what, "is %lld; needs %lld to %lld", (long long)v, (long long)range.min,
                 (long long)range.max);
        return refuse(err, PE_ERR_RANGE, &n, what);
    }
    *out = v;
    return PE_OK;
}

pe_status io_json_real(double *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    pe_status s = find(&n, at, key, need, err);
    if (s != PE_OK || !n.json)
        return s;
    if (!json_is_number(n.json))
        return refuse_kind(err, &n, "a number");
    *out = json_number_value(n.json);
    return PE_OK;
}

pe_status io_json_bool(bool *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    pe_status s = find(&n, at, key, need, err);
    if (s != PE_OK || !n.json)
        return s;
    if (!json_is_boolean(n.json))
        return refuse_kind(err, &n, "true or false");
    *out = json_is_true(n.json);
    return PE_OK;
}

pe_status io_json_string(const char **out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    io_node n;
    pe_status s = find(&n, at, key, need, err);
    if (s != PE_OK || !n.json)
        return s;
    if (!json_is_string(n.json))
        return refuse_kind(err, &n, "a string");
    *out = json_string_value(n.json);
    return PE_OK;
}

static pe_status get_container(io_node *out, const io_node *at, const char *key, io_need need, json_type kind,
                               pe_error *err)
{
    io_node n;
    pe_status s = find(&n, at, key, need, err);
    *out = (io_node){ .up = n.up, .key = n.key, .index = n.index };
    if (s != PE_OK || !n.json)
        return s;
    if (json_typeof(n.json) != kind)
        return refuse_kind(err, &n, kind == JSON_ARRAY ? "an array" : "an object");
    *out = n;
    return PE_OK;
}

pe_status io_json_array(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    return get_container(out, at, key, need, JSON_ARRAY, err);
}

pe_status io_json_object(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err)
{
    return get_container(out, at, key, need, JSON_OBJECT, err);
}

size_t io_json_size(const io_node *array)
{
    return json_array_size(array->json); /* 0 for NULL and for what is no array */
}

pe_status io_json_item(io_node *out, const io_node *array, size_t index, pe_error *err)
{
    *out = (io_node){ json_array_get(array->json, index), array, NULL, index };
    return out->json ? PE_OK : refuse(err, PE_ERR_RANGE, out, "is past the end of the array");
}
