/* SPDX-License-Identifier: MIT
 *
 * What is left to read when a race is over. */
#include "cli/race.h"

#include "draw/draw.h"
#include "lab/report.h"
#include "lab/summary.h"

#define COLUMNS 100

static void print_json(const race *r)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "folder", r->asked.folder);
    out_bool(&j, "stopped", r->stopped);
    lab_write_summary(&j, &r->results);
    out_close(&j, '}');
}

static cli_exit write_report(const cli_args *a, race *r)
{
    pe_error err = { 0 };
    if (lab_report_write(r->asked.folder, &r->results, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    if (r->asked.show)
        fprintf(r->asked.show, "report: %s/report.html\n", r->asked.folder);
    return CLI_OK;
}

cli_exit race_finish(const cli_args *a, race *r)
{
    char finding[2000];
    int wide = draw_screen_of(stdout).columns, columns = wide < COLUMNS ? wide : COLUMNS;
    lab_finding(finding, sizeof finding, &r->results);
    if (cli_given(a, "json"))
        print_json(r);
    else if (r->results.tests) {
        lab_print_table(stdout, &r->results, columns);
        if (*finding)
            putchar('\n');
        lab_print_words(stdout, finding, columns);
    }
    fflush(stdout);
    return write_report(a, r);
}
