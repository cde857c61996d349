/* SPDX-License-Identifier: MIT
 *
 * labels: core; tier: test; cost: 4 s; needs: jansson
 * posenc-bench --quick runs through and leaves what it promises. No time is looked at: only that there is one. */
#define _POSIX_C_SOURCE 200809L /* popen */

#include <jansson.h>

#include "test.h"

static json_t *report;

static char *run(const char *options)
{
    char command[600], *text = calloc(1, 1);
    size_t used = 0, n;
    const char *build = getenv("POSENC_BUILD");
    snprintf(command, sizeof command, "'%s/posenc-bench' %s", build ? build : "build", options);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (char piece[4096]; (n = fread(piece, 1, sizeof piece, f)) > 0; used += n) {
        text = realloc(text, used + n + 1);
        memcpy(text + used, piece, n);
        text[used + n] = 0;
    }
    int code = pclose(f);
    if (code)
        fail_msg("%s: exit %d: %s", command, code, text);
    return text;
}

static int load(void **state)
{
    json_error_t fault;
    char *text = run("--quick --json --threads 2 --peers tests/bench_peers.jsonl 2>/dev/null");
    (void)state;
    report = json_loads(text, JSON_REJECT_DUPLICATES, &fault);
    if (!report)
        print_message("line %d: %s\n", fault.line, fault.text);
    free(text);
    return report == NULL;
}

AROUND(after_all)
{
    json_decref(report);
}

static json_t *cells(const char *table)
{
    size_t i;
    json_t *t;
    json_array_foreach(
        json_object_get(report, "tables"), i,
        t) if (!strcmp(json_string_value(json_object_get(t, "name")), table)) return json_object_get(t, "cells");
    fail_msg("no table %s", table);
    return NULL;
}

/* How many cells have a time, in this line (NULL: any), by this one (NULL: any). */
static int timed(const char *table, const char *line, const char *who)
{
    size_t i;
    json_t *c;
    int count = 0;
    json_array_foreach(cells(table), i, c)
    {
        double seconds = json_number_value(json_object_get(c, "seconds"));
        if ((!line || !strcmp(line, json_string_value(json_object_get(c, "line")))) &&
            (!who || !strcmp(who, json_string_value(json_object_get(c, "who")))) && seconds > 0 &&
            json_integer_value(json_object_get(c, "best_of")) > 0)
            count++;
    }
    return count;
}

TEST(every_row_is_timed_forward_and_backward_with_1_and_2_threads)
{
    for (int i = 0; i < pe_info_count(); i++) {
        const char *name = pe_info_at(i)->name;
        if (timed("forward", name, "posenc") != 2 || timed("backward", name, "posenc") != 2)
            fail_msg("%s: %d forward times, %d backward; needs 2 of each", name, timed("forward", name, "posenc"),
                     timed("backward", name, "posenc"));
    }
}

TEST(every_topic_leaves_times)
{
    static const char *const tables[] = { "bandwidth", "peak", "waking", "rotate", "tables", "embed", "forward",
                                          "backward",  "rungs", "decode", "cache",  "length" };
    for (int i = 0; i < COUNT(tables); i++)
        if (!timed(tables[i], NULL, NULL))
            fail_msg("%s has no times", tables[i]);
}

TEST(every_rung_of_this_cpu_rotates)
{
    const char *rung;
    pe_encoding *e = test_encoding("rope", test_shape);
    for (int i = 0; (rung = pe_kernels_name(i)); i++)
        if (!pe_encoding_set_kernels(e, rung, NULL) && !timed("rotate", NULL, rung))
            fail_msg("no rotation on %s", rung);
    pe_encoding_free(e);
}

/* The yardstick of the accuracy table is the bench's own: it would show a library that is off, and a broken yardstick.
 */
TEST(cos_and_sin_are_half_an_ulp_off_at_most)
{
    size_t i;
    json_t *c;
    int seen = 0;
    json_array_foreach(cells("accuracy"), i, c)
    {
        if (strcmp(json_string_value(json_object_get(c, "unit")), "ulp"))
            continue;
        double ulp = json_number_value(json_object_get(c, "value"));
        assert_true(ulp > 0.45 && ulp < 0.51);
        seen++;
    }
    assert_true(seen >= 3);
}

TEST(a_peer_is_read_and_compared)
{
    size_t i;
    json_t *c;
    bool seen = false;
    json_array_foreach(cells("rotate"), i, c) if (!strcmp(json_string_value(json_object_get(c, "who")), "a peer"))
        seen |= json_number_value(json_object_get(c, "posenc_times_faster")) > 0;
    assert_true(seen);
    assert_int_equal(json_array_size(json_object_get(report, "absent")), 1);
}

TEST(markdown_has_a_table_for_each_topic_asked_for)
{
    char *text = run("--quick --markdown --only limits,accuracy --threads 1 2>&1");
    assert_non_null(strstr(text, "### Limits: memory\n"));
    assert_non_null(strstr(text, "|---|"));
    assert_null(strstr(text, "### Rotation"));
    free(text);
}

TEST(a_table_is_printed_when_its_topic_is_done)
{
    char *text = run("--quick --only limits,cache --threads 1 2>&1");
    const char *table = strstr(text, "Limits: memory\n"), *next = strstr(text, "cache: f32 half");
    assert_true(table && next && table < next);
    free(text);
}

TEST(decode_shows_biases_content_terms_and_grouped_heads)
{
    static const char *const lines[] = { "none", "rope", "alibi",   "t5",   "kerple",
                                         "fire", "shaw", "deberta", "cope", "rope, 2 kv heads" };
    for (int i = 0; i < COUNT(lines); i++)
        if (timed("decode", lines[i], "posenc") != 2)
            fail_msg("%s: %d times; needs 2", lines[i], timed("decode", lines[i], "posenc"));
}

TEST(wrong_words_are_told)
{
    char *text = run("--only rotat 2>&1; test $? = 2");
    assert_non_null(strstr(text, "no topic rotat"));
    free(text);
    text = run("--threads 0 2>&1; test $? = 2");
    assert_non_null(strstr(text, "--threads"));
    free(text);
}

AROUND(before_all)
{
    load(NULL);
}
