/* SPDX-License-Identifier: MIT
 * max_len: 16384
 *
 * JSON: a document that is taken can be walked, and every getter answers by the kind of the value. */
#include "harness.h"

#include <string.h>

#define WALKED_DEPTH                                                                                                   \
    16 /* a walk passes over inner values once per level: the bound is the parser's, not the walk's                    \
        */

/* NaN and the infinities are values, but no numbers. */
static bool is_number(const io_node *at, io_json_kind kind)
{
    return kind == IO_JSON_INT || (kind == IO_JSON_REAL && !strchr("NI", at->json[at->json[0] == '-']));
}

static void take(const io_node *at, io_json_kind kind)
{
    pe_error err;
    int64_t whole;
    double real;
    bool truth;
    const char *text;
    io_node node;
    bool is_int = !io_json_int(&whole, at, NULL, IO_REQUIRED, IO_ANY_INT, &err);
    bool is_real = !io_json_real(&real, at, NULL, IO_REQUIRED, &err);
    bool is_bool = !io_json_bool(&truth, at, NULL, IO_REQUIRED, &err);
    bool is_text = !io_json_string(&text, at, NULL, IO_REQUIRED, &err);
    bool is_array = !io_json_array(&node, at, NULL, IO_REQUIRED, &err);
    bool is_object = !io_json_object(&node, at, NULL, IO_REQUIRED, &err);
    if (is_int != (kind == IO_JSON_INT) || is_real != is_number(at, kind) ||
        is_bool != (kind == IO_JSON_TRUE || kind == IO_JSON_FALSE) || is_text != (kind == IO_JSON_STRING) ||
        is_array != (kind == IO_JSON_ARRAY) || is_object != (kind == IO_JSON_OBJECT))
        harness_fail("a getter takes a value of kind %d for what it is not", (int)kind);
}

/* Keys are unique, so a member is what its key finds. */
static void check_member(const io_node *object, const io_node *child)
{
    io_node found;
    if (!io_json_get(&found, object, child->key) || found.json != child->json)
        harness_fail("a member is not found by its key");
}

static void walk(const io_node *at, int depth)
{
    io_json_kind kind = io_json_kind_of(at);
    size_t count = 0;
    take(at, kind);
    if (depth == WALKED_DEPTH || (kind != IO_JSON_ARRAY && kind != IO_JSON_OBJECT))
        return;
    for (io_node child = { 0 }; io_json_next(&child, at); count++) {
        if (kind == IO_JSON_OBJECT && count < 16) /* finding is a walk too */
            check_member(at, &child);
        walk(&child, depth + 1);
    }
    if (kind == IO_JSON_ARRAY && io_json_size(at) != count)
        harness_fail("an array of %zu has %zu elements", io_json_size(at), count);
}

static void work(const uint8_t *data, size_t size)
{
    pe_error err;
    io_node root;
    io_bytes file = harness_bytes(data, size);
    pe_status s = io_json_parse(&root, "input", (const char *)file.data, size, &err);
    io_bytes_free(&file);
    if (s)
        return;
    walk(&root, 0);
    io_json_free(&root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
