/* SPDX-License-Identifier: MIT
 * max_len: 16384
 *
 * What a race left: the first line is race.json, the others are a log. What is taken can be reported, and a report
 * holds no tag that a text of the run wrote. */
#define _XOPEN_SOURCE 700
#include "harness.h"

#include "lab/report_parts.h"
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

static void print_all(FILE *to)
{
    char finding[500];
    lab_finding(finding, sizeof finding, &results);
    lab_print_words(to, finding, 80);
    lab_print_table(to, &results, 80);
    lab_write_all(to, &results);
}

static void report_all(void)
{
    pe_error err;
    report p;
    FILE *to = open_page();
    print_all(to);
    report_begin(&p, to, &results);
    report_csv(&p, &err);
    fclose(to);
    to = open_page();
    report_begin(&p, to, &results);
    pe_status s = report_page(&p, &err);
    if (fclose(to) || s)
        harness_fail("no page: %s", s ? err.text : "it is too long");
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
