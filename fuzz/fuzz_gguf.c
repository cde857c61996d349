/* SPDX-License-Identifier: MIT
 * max_len: 8192
 *
 * GGUF: every key is found and is of one type, every tensor lies in the file; and what the metadata means for
 * positions.
 */
#include "harness.h"
#include "io/gguf.h"
#include "zoo/read.h"

#include <stdlib.h>

#define ELEMENTS 16 /* of a list: finding the next string walks there */

static void check_key(const io_gguf *g, const char *key)
{
    io_gguf_value v;
    int64_t whole;
    double real;
    bool truth;
    const char *text;
    io_gguf_list list;
    if (!io_gguf_find(&v, g, key))
        harness_fail("a key is not found");
    int kinds = !io_gguf_int(&whole, g, key, IO_REQUIRED, IO_ANY_INT, NULL) +
                !io_gguf_real(&real, g, key, IO_REQUIRED, NULL) +
                !io_gguf_bool(&truth, g, key, IO_REQUIRED, NULL) +
                !io_gguf_string(&text, g, key, IO_REQUIRED, NULL);
    if (kinds > 1)
        harness_fail("a value is of %d kinds", kinds);
    if (io_gguf_array(&list, g, key, IO_REQUIRED, NULL))
        return;
    for (size_t i = 0; i < list.count && i < ELEMENTS; i++) {
        io_gguf_list_int(&whole, &list, i, IO_ANY_INT, NULL);
        io_gguf_list_real(&real, &list, i, NULL);
        io_gguf_list_bool(&truth, &list, i, NULL);
        io_gguf_list_string(&text, &list, i, NULL);
    }
    if (!io_gguf_list_int(&whole, &list, list.count, IO_ANY_INT, NULL))
        harness_fail("a list has an element past its end");
}

static void check_tensor(const io_gguf *g, const char *name, size_t size)
{
    float *f = NULL;
    io_gguf_tensor t;
    if (!io_gguf_tensor_find(&t, g, name))
        harness_fail("a tensor is not found by its name");
    if (t.offset < 0 || t.bytes < 0 || (uint64_t)t.offset > size || (uint64_t)t.bytes > size - (uint64_t)t.offset)
        harness_fail("a tensor lies past the end");
    if (t.bytes <= 4096)
        io_gguf_tensor_read_f32(&f, g, &t, NULL);
    free(f);
}

static void read_model(const io_gguf *g)
{
    pe_error err;
    zoo_model *m = NULL;
    zoo_options lenient = { .lenient = true };
    for (int i = 0; i < 2; i++) {
        zoo_builder *b = zoo_begin("input", "GGUF", i ? &lenient : NULL, &err);
        if (b && !zoo_finish(&m, b, zoo_read_gguf(b, g)))
            zoo_free(m);
    }
}

static void work(const uint8_t *data, size_t size)
{
    io_gguf *g;
    io_bytes file = harness_bytes(data, size);
    if (io_gguf_parse(&g, &file, size, NULL))
        return;
    for (size_t i = 0; i < g->key_count && i < 256; i++)
        check_key(g, g->keys[i]);
    for (size_t i = 0; i < g->tensor_count && i < 256; i++)
        check_tensor(g, g->tensors[i], size);
    read_model(g);
    io_gguf_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
