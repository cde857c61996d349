/* SPDX-License-Identifier: MIT
 * max_len: 16384
 *
 * What a race left: the first line is race.json, the others are a log. What is taken can be reported, and a report
 * holds no tag that a text of the run wrote. */
#define _XOPEN_SOURCE 700
#include "harness.h"

#include "lab/report.h"
#include "lab/results_records.h"

#include <stdlib.h>
#include <string.h>

/* A page is larger than what it tells of: each entry is drawn eight times. */
static const harness_bound bound = { 4096, (size_t)64 << 20, 60, 2 };

static lab_results results;

static char page[16 << 20];

static void check_page(void)
{
    if (strstr(page, "<script") || strstr(page, "<img") || !strstr(page, "</html>"))
        harness_fail("the page is not its own");
}

/* Into memory that the heap does not count. */
static FILE *open_page(void)
{
    FILE *to = fmemopen(page, sizeof page, "w");
    if (!to)
        harness_fail("no stream");
    return to;
}

/* The tree in each form; the last is the page. */
static void report_all(void)
{
    static const result_form forms[] = { RESULT_AS_TEXT, RESULT_AS_JSON, RESULT_AS_CSV, RESULT_AS_MARKDOWN, RESULT_AS_HTML };
    pe_error err;
    FILE *lines = open_page();
    lab_write_all(lines, &results);
    fclose(lines);
    result *tree = result_new();
    if (!tree)
        harness_fail("no memory");
    lab_add_report(tree, &results);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        FILE *to = open_page();
        pe_status s = result_write(to, tree, forms[i], &(result_screen){ 0 }, &err);
        if (fclose(to) || s)
            harness_fail("no page: %s", s ? err.text : "it is too long");
    }
    result_free(tree);
    check_page();
}

static void work(const uint8_t *data, size_t size)
{
    pe_error err;
    io_node root = { 0 };
    lab_run run = { 0 };
    const uint8_t *end = memchr(data, '\n', size);
    size_t first = end ? (size_t)(end - data) + 1 : size;
    memset(&results, 0, sizeof results);
    pe_status s = io_json_parse(&root, "race.json", (const char *)data, first, &err);
    if (!s)
        s = results_read_setup(&results.setup, &root, &err);
    io_json_free(&root);
    results.run = &run;
    results.runs = 1;
    if (!s && results.setup.entries &&
        !results_read_lines(&results, 0, "log.jsonl", (io_span){ data + first, size - first }, &err))
        report_all();
    free(run.train);
    free(results.test);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&bound, work, data, size);
}
