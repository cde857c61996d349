/* SPDX-License-Identifier: MIT
 *
 * posenc report: the page, pictures and table of runs that are there, without training. */
#include "cli/cli.h"
#include "cli/job.h"

#include "lab/report.h"
#include "lab/run.h"
#include "lab/summary.h"

#include <stdlib.h>

#define MARGIN 80 /* of what is no terminal */
#define MARGIN_MAX 120
#define CHART_ROWS 20

static const cli_option options[] = {
    { "out", 'o', CLI_FILE_OUT, "FOLDER", NULL, 0, 0, "where the files go; default: the one RUNS that is given" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc report run", "its table, curves and finding; report.html and the pictures are made anew" },
    { "posenc report run run2 -o both", "two races under the same settings as one" },
    { "posenc report run --json", "the numbers over seeds, as data" },
};

static int columns_of(const draw_screen *s)
{
    return s->columns <= 0 ? MARGIN : s->columns > MARGIN_MAX ? MARGIN_MAX : s->columns;
}

static cli_exit print_text(const cli_args *a, const lab_results *r)
{
    pe_error err;
    char finding[2000];
    draw_screen screen = draw_screen_of(stdout);
    screen.columns = columns_of(&screen);
    screen.rows = CHART_ROWS;
    lab_finding(finding, sizeof finding, r);
    lab_print_words(stdout, *finding ? finding : "Nothing has been measured yet.", screen.columns);
    if (r->setup.note[0])
        lab_print_words(stdout, r->setup.note, screen.columns);
    putchar('\n');
    lab_print_table(stdout, r, screen.columns);
    putchar('\n');
    if (lab_is_eval(&r->setup)) {
        puts("Last quarter of the window");
        lab_print_last_quarter(stdout, r, screen.columns);
        putchar('\n');
    }
    if (lab_report_chart(stdout, r, &screen, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    return CLI_OK;
}

static cli_exit print_json(const char *folder, const lab_results *r)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "folder", folder);
    lab_write_summary(&j, r);
    out_close(&j, '}');
    return CLI_OK;
}

static cli_exit write_files(const cli_args *a, const char *folder, const lab_results *r)
{
    pe_error err;
    if (lab_folder_new(folder, &err) || lab_report_write(folder, r, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    return CLI_OK;
}

static cli_exit work(const cli_args *a, const lab_results *r)
{
    const char *folder = cli_text(a, "out") ? cli_text(a, "out") : a->operand[0];
    bool json = cli_given(a, "json");
    if (!json)
        CLI_TRY(print_text(a, r)); /* for people, also where the files cannot be written */
    CLI_TRY(write_files(a, folder, r));
    if (json)
        CLI_TRY(print_json(folder, r));
    cli_note(a, "wrote %s/report.html, its pictures (.svg), results.csv and results.jsonl", folder);
    return CLI_OK;
}

static cli_exit report_verb(const cli_args *a, result *out)
{
    (void)out;
    pe_error err;
    if (a->operands > 1 && !cli_given(a, "out"))
        return cli_fail(a, CLI_USAGE, "%d folders are given; say with -o FOLDER where their report goes", a->operands);
    lab_results *r = calloc(1, sizeof *r);
    if (!r)
        return cli_fail(a, CLI_SYSTEM, "no memory for the results");
    cli_exit code = CLI_OK;
    if (lab_read_results(r, a->operand, a->operands, &err))
        code = cli_fail_from(a, CLI_INPUT, NULL, &err);
    else
        code = work(a, r);
    lab_results_free(r);
    free(r);
    return code;
}

const cli_verb cli_verb_report = {
    .name = "report",
    .summary = "draw the report of races or evals again, without training",
    .operands = "RUNS...",
    .operands_min = 1,
    .operands_max = CLI_OPERANDS_MAX,
    .notes = "RUNS are folders that posenc race or posenc eval made, finished or not. Several are taken\n"
             "together where their settings agree; encodings, seeds and lengths add up.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = report_verb,
};
