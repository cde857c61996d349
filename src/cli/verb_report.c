/* SPDX-License-Identifier: MIT
 *
 * posenc report: the page, pictures and table of runs that are there, without training. */
#include "cli/cli.h"
#include "cli/job.h"

#include "lab/release.h"
#include "lab/report.h"
#include "lab/run.h"

#include <stdlib.h>

static const cli_option options[] = {
    { "out", 'o', CLI_FILE_OUT, "FOLDER", NULL, 0, 0,
      "folder for the files; default: the folder RUNS, if there is one" },
    { "only", 0, CLI_TEXT, "NAME,...", NULL, 0, 0, "only these encodings, by name or spec; default: all" },
    { "models", 0, CLI_FILE_OUT, "FOLDER", NULL, 0, 0,
      "also write the trained weights of each encoding and seed into this folder, for posenc eval" },
    { "bits", 0, CLI_CHOICE, "8|32", "8", 0, 0, "of a weight in those files" },
    CLI_OPTIONS_FORM,
};
static const cli_example examples[] = {
    { "posenc report run", "print the result; write report.html, its charts and results.csv again" },
    { "posenc report run run2 -o both", "combine two races that have the same settings" },
    { "posenc report run --only rope -o few", "only some encodings; files of their own" },
    { "posenc report few/results.jsonl -o again", "from the data that a report wrote, without the race's folder" },
    { "posenc report run --json", "means over seeds, as JSON" },
    { "posenc report race --models models", "also write the trained weights: models/rope-1.safetensors" },
};

static cli_exit write_files(const cli_args *a, const char *folder, const lab_results *r)
{
    pe_error err;
    if (lab_folder_new(folder, &err) || lab_report_write(folder, r, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    cli_note(a, "wrote %s/report.html, its pictures (.svg), results.csv and results.jsonl", folder);
    return CLI_OK;
}

/* People see the result also where the files cannot be written; programs see either a result or an error. */
static cli_exit write_report(const cli_args *a, const lab_results *r, result *out)
{
    const char *folder = cli_text(a, "out") ? cli_text(a, "out") : a->operand[0];
    cli_exit code = write_files(a, folder, r);
    if (code && cli_given(a, "json"))
        return code;
    result_text(out, "folder", NULL, folder);
    lab_add_report(out, r);
    cli_exit written = cli_write_now(a, out);
    return code ? code : written;
}

static void note_model(void *with, const char *path, const model *m)
{
    const cli_args *const *a = with;
    cli_note(*a, "wrote %s: %s", path, pe_encoding_spec(model_encoding(m)));
}

static cli_exit write_models(const cli_args *a)
{
    pe_error err;
    const char *to = cli_text(a, "models");
    for (int n = 0; to && n < a->operands; n++)
        if (lab_release(a->operand[n], to, cli_choice(a, "bits") ? 32 : 8, note_model, &a, &err))
            return cli_fail_from(a, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

static cli_exit report_verb(const cli_args *a, result *out)
{
    pe_error err;
    if (cli_given(a, "bits") && !cli_given(a, "models"))
        return cli_fail(a, CLI_USAGE, "--bits is for the files of --models FOLDER");
    if (cli_given(a, "only") && cli_given(a, "models"))
        return cli_fail(a, CLI_USAGE, "--models writes all encodings of a race; leave --only out");
    if (a->operands > 1 && !cli_given(a, "out"))
        return cli_fail(a, CLI_USAGE, "%d folders are given; say with -o FOLDER where their report goes", a->operands);
    if (cli_given(a, "only") && !cli_given(a, "out"))
        return cli_fail(a, CLI_USAGE, "--only would replace the report of all encodings; say with -o FOLDER where this "
                                      "one goes");
    lab_results *r = calloc(1, sizeof *r);
    if (!r)
        return cli_fail(a, CLI_SYSTEM, "no memory for the results");
    cli_exit code = CLI_OK;
    if (lab_read_results(r, a->operand, a->operands, &err) || lab_find_missing(r, &err))
        code = cli_fail_from(a, CLI_INPUT, NULL, &err);
    else if (cli_given(a, "only") && lab_keep_only(r, cli_text(a, "only"), &err))
        code = cli_fail_from(a, CLI_USAGE, NULL, &err);
    else {
        r->language = cli_language(a);
        code = write_models(a);
        code = code ? code : write_report(a, r, out);
    }
    lab_results_free(r);
    free(r);
    return code;
}

const cli_verb cli_verb_report = {
    .name = "report",
    .summary = "make the report of races or evals again, without training",
    .operands = "RUNS...",
    .operands_min = 1,
    .operands_max = CLI_OPERANDS_MAX,
    .notes = "RUNS are folders that posenc race or posenc eval wrote, finished or not, or files results.jsonl that "
             "posenc report wrote. Several are combined if their settings agree: their encodings, seeds and lengths "
             "are united. While processes work at a race it says which trainings are missing, how far they are, and "
             "who works at them.\n"
             "--models takes folders of finished races, and writes a .safetensors for each training, with 8 bits a weight "
             "and a scale for each row. posenc eval reads it, and posenc explain says what is in it.",
    CLI_TABLES(options, examples),
    .run = report_verb,
};
