/* SPDX-License-Identifier: MIT
 *
 * posenc race: train alike, test longer, compare. */
#include "cli/job.h"
#include "cli/race.h"
#include "cli/signals.h"

#include <stdlib.h>

static const cli_option options[] = {
    { "encodings", 'e', CLI_TEXT, "SPEC,...", "none,sinusoidal,rope,alibi", 0, 0, "who takes part" },
    { "sweep", 0, CLI_PATH, "FILE", NULL, 0, 0, "more of them: a line each, \"spec\" or \"name = spec\"; # comments" },
    { "train-length", 0, CLI_INT, "N", "128", 16, 1 << 20, "tokens of a training sequence" },
    { "test", 0, CLI_TEXT, "LENGTH,...", "1x,2x,4x,8x,16x", 0, 0, "lengths to test at: 2x is twice the training's" },
    { "steps", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 31, "steps of each training" },
    { "minutes", 0, CLI_TEXT, "M", "3", 0, 0, "instead of steps: of the whole race, measured once at its start" },
    { "seeds", 0, CLI_INT, "N", "1", 1, LAB_SEEDS_MAX, "how often, each with a seed of its own" },
    { "first-seed", 0, CLI_INT, "N", "1", 0, INT64_C(1) << 53, "the first of them; others count on from it" },
    { "data", 0, CLI_TEXT, "NAME", "stories", 0, 0, "what is learned; see below" },
    { "text", 0, CLI_PATH, "FILE,...", NULL, 0, 0, "text files to train on; a name that has a comma: alone" },
    { "test-text", 0, CLI_PATH, "FILE,...", NULL, 0, 0, "and to test on; default: the last tenth of each" },
    { "masked", 0, CLI_FLAG, NULL, NULL, 0, 0, "ask for masked tokens, both directions seen; else the next token" },
    { "show-data", 0, CLI_FLAG, NULL, NULL, 0, 0, "print one window of it, and stop" },
    { "layers", 0, CLI_INT, "N", "4", 1, 1024, "of the model" },
    { "width", 0, CLI_INT, "N", "128", 1, 65536, "of the model" },
    { "heads", 0, CLI_INT, "N", "4", 1, 4096, "query heads" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, 4096, "key and value heads; default: as many as heads" },
    { "hidden", 0, CLI_INT, "N", NULL, 1, 1 << 20, "of the MLP; default: 8/3 of the width" },
    { "batch", 0, CLI_INT, "N", "16", 1, 65536, "sequences of a step" },
    { "rate", 0, CLI_TEXT, "R", "0.002", 0, 0, "peak learning rate; a cosine leads down to a tenth" },
    { "warmup", 0, CLI_INT, "N", "50", 0, INT64_C(1) << 40, "steps up to the peak; a shorter run ends on the way" },
    { "test-tokens", 0, CLI_INT, "N", "32k", 1, INT64_C(1) << 40, "tokens of each test" },
    { "threads", 0, CLI_INT, "N", NULL, 1, 1024, "default: the CPUs this process may use" },
    { "checkpoint-every", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 40, "steps; default: about every 30 seconds" },
    { "keep", 0, CLI_INT, "N", "2", 1, 1000, "checkpoints of each training" },
    { "out", 'o', CLI_PATH, "FOLDER", NULL, 0, 0, "where it all goes; default: runs/DATE-TIME" },
    { "resume", 0, CLI_PATH, "FOLDER", NULL, 0, 0, "go on with the race in this folder" },
    { "quiet", 'q', CLI_FLAG, NULL, NULL, 0, 0, "no progress" },
    CLI_OPTION_JSON,
};

static const cli_example examples[] = {
    { "posenc race -e none,rope --steps 2 --layers 1 --width 16 --heads 2 --test-tokens 128 -o r",
      "two encodings, one tiny model each; without options: 3 minutes that show the difference" },
    { "posenc race -e rope,rope:scaling=yarn --steps 2 --layers 1 --test 1x,4x --test-tokens 512 -o r2",
      "YaRN is added at test time: one training serves both" },
    { "posenc race --resume r", "go on where a race was stopped; this one is finished: its table again" },
    { "posenc race --data copy --show-data", "what is learned, to look at" },
};

static void add_sources(result *out)
{
    result_open(out, RESULT_RECORD, NULL, "Data");
    for (int i = 0; i < lab_source_count(); i++)
        result_text(out, NULL, lab_source_at(i)->name, lab_source_at(i)->summary);
    result_close(out);
}

/* Whose fault a failure is: the command line's before the start; then that of a folder to resume, of a loss that is not
 * finite, or the system's. */
static cli_exit fail(const cli_args *a, const pe_error *err, bool started)
{
    cli_exit code = started || cli_given(a, "resume") || err->status == PE_ERR_FORMAT ? CLI_INPUT : CLI_USAGE;
    return cli_fail_from(a, code, NULL, err);
}

/* Where to go from here. The same steps lead to the same loss that is not finite. */
static void say_next(const cli_args *a, const race *r, pe_status status)
{
    char folder[4 * RACE_FOLDER + 3];
    cli_put_word(folder, sizeof folder, 0, r->asked.folder);
    if (!r->saved)
        cli_note(a, "stopped before anything was trained");
    else if (status == PE_ERR_RANGE)
        cli_note(a, "stopped; needs another race with a --rate below %g: resumed, this one fails again",
                 r->results.setup.rate);
    else
        cli_note(a, "stopped; go on with: posenc race --resume %s", folder);
}

/* What there is is reported, however it ended. */
static cli_exit end_race(const cli_args *a, race *r, pe_status status, const pe_error *err)
{
    cli_exit code = r->saved ? race_finish(a, r) : CLI_OK;
    if (status)
        code = fail(a, err, true);
    else if (!r->stopped)
        return code;
    say_next(a, r, status);
    return status || code ? code : CLI_STOPPED;
}

static cli_exit run_race(const cli_args *a, race *r)
{
    pe_error err = { 0 };
    if (r->asked.show)
        fprintf(r->asked.show, "race in %s\n", r->asked.folder);
    if (race_start(r, &err))
        return fail(a, &err, false);
    pe_status status = race_run(r, &err);
    screen_free(r->screen);
    r->screen = NULL;
    return end_race(a, r, status, &err);
}

static void print_window(const cli_args *a, const lab_setup *s, const char *text)
{
    if (!cli_given(a, "json")) {
        puts(text);
        return;
    }
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "data", s->data);
    out_int(&j, "length", s->train_length);
    out_text(&j, "window", text);
    out_close(&j, '}');
}

/* One window as it is tested, for people. */
static cli_exit show_data(const cli_args *a, const race *r)
{
    static char text[1 << 16];
    lab_batch b = { 0 };
    pe_error err = { 0 };
    if (lab_batch_new(&b, r->data, LAB_TEST, 1, r->results.setup.train_length, &err))
        return fail(a, &err, false);
    lab_data_test(r->data, &b, 0);
    lab_batch_print(&b, 0, text, sizeof text);
    print_window(a, &r->results.setup, text);
    lab_batch_free(&b);
    return CLI_OK;
}

static cli_exit race_verb(const cli_args *a, result *out)
{
    (void)out;
    race_asked *asked = calloc(1, sizeof *asked);
    race_words *words = calloc(1, sizeof *words);
    race *r = NULL;
    pe_error err = { 0 };
    cli_exit code = asked && words ? race_read_args(asked, words, a) : cli_fail(a, CLI_SYSTEM, "no memory for a race");
    if (!code) {
        asked->stop = signals_watch();
        code = race_open(&r, asked, &err)  ? fail(a, &err, false)
               : cli_given(a, "show-data") ? show_data(a, r)
                                           : run_race(a, r);
        signals_leave();
    }
    race_free(r);
    free(words);
    free(asked);
    return code;
}

const cli_verb cli_verb_race = {
    .name = "race",
    .summary = "train a small model with each encoding, test them on longer inputs, report",
    .operands = "",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .notes = "Ctrl-C finishes the step, saves, and reports what there is; a second one stops at once.\n"
             "A loss that is not finite stops the race with exit code 3; its last checkpoint stays.\n",
    .add_notes = add_sources,
    .run = race_verb,
};
