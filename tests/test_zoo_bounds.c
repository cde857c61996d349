/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo wrap
 *
 * A config of n bytes takes at most 4n + 1 MiB of heap, whatever it asks for; ctest's limit
 * holds the time. */

#include "heap.h"
#include "zoo/zoo.h"

#include <stdarg.h>
#include <stdlib.h>

#include "test.h"

static char text[1 << 22];
static size_t used;

static void put(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, list);
    va_end(list);
    assert_true(used < sizeof text);
}

/* The caller's text is not on the heap here: the reader's copy is. */
static void is_bounded(bool lenient)
{
    zoo_model *m;
    heap.peak = heap.live;
    size_t before = heap.live;
    pe_status s = zoo_read_config(&m, "config.json", text, used, &(zoo_options){ .lenient = lenient }, &err);
    if (s == PE_OK)
        zoo_free(m);
    assert_int_equal(heap.live, before);
    if (heap.peak - before > 4 * used + (1 << 20))
        fail_msg("%zu bytes took %zu of heap", used, heap.peak - before);
}

static void begin(const char *type)
{
    used = 0;
    put("{\"model_type\":\"%s\",\"hidden_size\":512,\"num_attention_heads\":1,\"max_position_embeddings\":4096", type);
}

TEST(keys_that_nothing_reads_cost_no_more_than_they_are_long)
{
    begin("llama");
    put(",\"num_hidden_layers\":2");
    for (int n = 0; n < 20000; n++)
        put(",\"rope%d\":1", n);
    put("}");
    is_bounded(true);
    is_bounded(false);
}

TEST(parts_that_cannot_be_read_leave_nothing_behind)
{
    begin("encoder-decoder");
    put(",\"decoder\":{\"model_type\":\"llama\",\"num_hidden_layers\":2},\"encoder\":{\"model_type\":\"encoder-"
        "decoder\","
        "\"decoder\":{\"model_type\":\"llama\",\"layer_types\":[]}");
    for (int n = 0; n < 200; n++)
        put(",\"encoder%d\":{\"model_type\":\"llama\",\"layer_types\":[]}", n);
    put("}}");
    is_bounded(false);
}

TEST(lists_for_every_kind_of_layer_are_refused_in_time)
{
    for (int kinds = 1; kinds <= 64; kinds *= 2) {
        begin("granite_swa");
        put(",\"num_hidden_layers\":%d,\"rope_scaling\":{\"rope_type\":\"longrope\",\"factor\":4,"
            "\"original_max_position_embeddings\":1024",
            kinds);
        for (int list = 0; list < 2; list++) {
            put(",\"%s_factor\":[1.25", list ? "long" : "short");
            for (int n = 1; n < 256; n++)
                put(",1.%d", 1000001 + n);
            put("]");
        }
        put("},\"layer_rope_theta\":[10000");
        for (int n = 1; n < kinds; n++)
            put(",%d", 10000 + n);
        put("]}");
        is_bounded(false);
    }
}

TEST(kinds_behind_a_long_text_are_found_in_time)
{
    used = 0;
    put("{\"a\":0");
    for (int n = 0; n < 100000; n++)
        put(",\"k%d\":0", n);
    put(",\"model_type\":\"granite_swa\",\"num_hidden_layers\":64,\"layer_rope_theta\":[10000");
    for (int n = 1; n < 64; n++)
        put(",%d", 10000 + n % 15);
    put("]}");
    is_bounded(false);
}
