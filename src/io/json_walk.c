/* SPDX-License-Identifier: MIT
 *
 * Moving about in a text that io_json_check has passed: so nothing here looks for its end.
 */
#include "json_text.h"

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
    for (size_t depth = 0;;) {
        signed char what = step[(unsigned char)*at];
        if (what == 2) {
            at = pass_string(at);
            continue;
        }
        at++;
        depth += (size_t)what;
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
