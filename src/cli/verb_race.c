/* SPDX-License-Identifier: MIT
 *
 * posenc race: train alike, test longer, compare. */
#include "cli/job.h"
#include "cli/signals.h"
#include "lab/race.h"
#include "lab/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const cli_option options[] = {
    { "encodings", 'e', CLI_TEXT, "SPEC,...", "none,sinusoidal,rope,alibi", 0, 0, "encodings to compare" },
    { "sweep", 0, CLI_PATH, "FILE", NULL, 0, 0,
      "file with more encodings, one per line: spec, or name = spec; # starts a comment" },
    { "train-length", 0, CLI_INT, "N", "128", 16, 1 << 20, "tokens in a training sequence" },
    { "test", 0, CLI_TEXT, "LENGTH,...", "1x,2x,4x,8x,16x", 0, 0, "test lengths; 2x is twice the training length" },
    { "steps", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 31, "training steps of each model" },
    { "minutes", 0, CLI_TEXT, "M", "3", 0, 0,
      "instead of --steps: minutes for the whole race, calibrated at its start" },
    { "seeds", 0, CLI_INT, "N", "1", 1, LAB_SEEDS_MAX, "repeat every training with N seeds" },
    { "first-seed", 0, CLI_INT, "N", "1", 0, INT64_C(1) << 53, "the first seed; the others are N+1, N+2, ..." },
    { "drop", 0, CLI_TEXT, "NAME,...", NULL, 0, 0,
      "DroPE: also drop these encodings after training, train on without an encoding, and test that" },
    { "drop-steps", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 31,
      "training steps after an encoding was dropped; default: a tenth of the steps" },
    { "data", 0, CLI_TEXT, "NAME", "stories", 0, 0, "data to train and test on; see below" },
    { "text", 0, CLI_PATH, "FILE,...", NULL, 0, 0, "train on text files; a name that has a comma must be alone" },
    { "test-text", 0, CLI_PATH, "FILE,...", NULL, 0, 0, "text files to test on; default: the last tenth of each text" },
    { "masked", 0, CLI_FLAG, NULL, NULL, 0, 0, "predict masked tokens (bidirectional attention), not the next token" },
    { "show-data", 0, CLI_FLAG, NULL, NULL, 0, 0, "print one window of the data and stop" },
    { "layers", 0, CLI_INT, "N", "4", 1, 1024, "layers of the model" },
    { "width", 0, CLI_INT, "N", "128", 1, 65536, "embedding dimension of the model" },
    { "heads", 0, CLI_INT, "N", "4", 1, 4096, "query heads" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, 4096, "key and value heads; default: as many as heads" },
    { "hidden", 0, CLI_INT, "N", NULL, 1, 1 << 20, "hidden dimension of the MLP; default: 8/3 of the width" },
    { "batch", 0, CLI_INT, "N", "16", 1, 65536, "sequences in a step" },
    { "rate", 0, CLI_TEXT, "R", "0.002", 0, 0, "peak learning rate; cosine decay lowers it to a tenth" },
    { "position-rate", 0, CLI_TEXT, "X|NAME=X,...", NULL, 0, 0,
      "learning rate of the encodings' learned tensors, or of those with this name, times --rate; default: each its "
      "own" },
    { "position-decay", 0, CLI_TEXT, "X|NAME=X,...", NULL, 0, 0,
      "their weight decay, times that of the weights (0.1); default: each its own" },
    { "warmup", 0, CLI_INT, "N", "50", 0, INT64_C(1) << 40, "steps until the peak learning rate" },
    { "test-tokens", 0, CLI_INT, "N", "32k", 1, INT64_C(1) << 40, "tokens in each test" },
    { "threads", 0, CLI_INT, "N", NULL, 1, 1024, "threads to use; default: the CPUs this process may use" },
    { "checkpoint-every", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 40,
      "steps between checkpoints; default: about 30 seconds" },
    { "keep", 0, CLI_INT, "N", "2", 1, 1000, "number of checkpoints to keep per training run" },
    { "out", 'o', CLI_PATH, "FOLDER", NULL, 0, 0, "folder for all files; default: runs/DATE-TIME" },
    { "resume", 0, CLI_PATH, "FOLDER", NULL, 0, 0, "continue the race in this folder" },
    { "shard", 0, CLI_TEXT, "I/N|auto", NULL, 0, 0,
      "several processes train one race in one folder, this one begins with share I of N; auto: by variables, see below" },
    { "silence", 0, CLI_TEXT, "SECONDS", "60", 0, 0,
      "with --shard: without a sign of life for so long this process counts as dead on other machines" },
    { "quiet", 'q', CLI_FLAG, NULL, NULL, 0, 0, "print no progress" },
    { "progress", 0, CLI_CHOICE, "auto|json", "auto", 0, 0,
      "progress on stderr; json: one JSON object per line, for programs; other lines are messages" },
    CLI_OPTIONS_FORM,
};

static const cli_example examples[] = {
    { "posenc race -e none,rope --steps 2 --layers 1 --width 16 --heads 2 --test-tokens 128 -o r",
      "train one tiny model per encoding; without options: 3 minutes, four encodings" },
    { "posenc race -e rope,rope:scaling=yarn --steps 2 --layers 1 --test 1x,4x --test-tokens 512 -o r2",
      "YaRN is applied at test time: both entries share one training" },
    { "posenc race --resume r",
      "continue a race that was stopped; this one is finished, so its result is printed again" },
    { "posenc race -e none,rope --steps 2 --layers 1 --width 16 --heads 2 -o r3 --shard 1/2",
      "one of two processes, on any machine that has the folder; the other one gets --shard 2/2" },
    { "posenc race --data copy --show-data", "look at the data" },
};

/* The lists that an asked race points into. */
typedef struct race_words {
    char text[RACE_FOLDER * 8], test[RACE_FOLDER * 2];
    const char *file[RACE_FILES], *tests[RACE_FILES];
} race_words;

/* ---------------------------------------------------------------- from the command line to what the lab takes */

static cli_exit read_real(double *out, const cli_args *a, const char *name, double max)
{
    const char *text = cli_text(a, name);
    if (text && (!cli_read_real(text, out) || !(*out > 0) || *out > max))
        return cli_fail(a, CLI_USAGE, "--%s is %s; needs a number above 0, at most %g", name, text, max);
    return CLI_OK;
}

/* What is listed and what is in the sweep's file; without either: four that show the difference. */
static cli_exit read_entries(race_asked *out, const cli_args *a)
{
    lab_setup *s = &out->setup;
    pe_error err = { 0 };
    bool given = cli_given(a, "encodings"), sweep = cli_given(a, "sweep");
    if ((given || !sweep) && race_add_list(s, cli_text(a, "encodings"), &err))
        return cli_fail_from(a, CLI_USAGE, "--encodings", &err);
    if (sweep && race_add_file(out, cli_text(a, "sweep"), &err))
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    return CLI_OK;
}

static cli_exit read_files(const char **file, int *count, char *room, size_t cap, const cli_args *a, const char *name)
{
    const char *list = cli_text(a, name);
    if (!list)
        return CLI_OK;
    if ((size_t)snprintf(room, cap, "%s", list) >= cap)
        return cli_fail(a, CLI_USAGE, "--%s is longer than %zu characters", name, cap - 1);
    bool one = !access(list, F_OK); /* whose name may have a comma */
    for (char *at = room; at;) {
        char *comma = one ? NULL : strchr(at, ',');
        if (comma)
            *comma = 0;
        if (*count == RACE_FILES)
            return cli_fail(a, CLI_USAGE, "--%s has more than %d files", name, RACE_FILES);
        file[(*count)++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return CLI_OK;
}

static cli_exit read_source(lab_source *out, race_words *w, const cli_args *a)
{
    *out = (lab_source){ .name = cli_text(a, "data"), .file = w->file, .test = w->tests };
    out->masked = cli_given(a, "masked");
    CLI_TRY(read_files(w->file, &out->files, w->text, sizeof w->text, a, "text"));
    CLI_TRY(read_files(w->tests, &out->tests, w->test, sizeof w->test, a, "test-text"));
    if (out->files && !cli_given(a, "data"))
        out->name = "text";
    if (out->tests && !out->files)
        return cli_fail(a, CLI_USAGE, "--test-text needs --text: what to train on");
    return CLI_OK;
}

static cli_exit read_setup(lab_setup *s, const cli_args *a)
{
    s->layers = cli_int(a, "layers");
    s->width = cli_int(a, "width");
    s->heads = cli_int(a, "heads");
    s->kv_heads = cli_int(a, "kv-heads");
    s->hidden = cli_int(a, "hidden");
    s->train_length = cli_int(a, "train-length");
    s->batch = cli_int(a, "batch");
    s->steps = cli_int(a, "steps");
    s->warmup = cli_int(a, "warmup");
    s->test_tokens = cli_int(a, "test-tokens");
    s->seeds = (int)cli_int(a, "seeds");
    for (int i = 0; i < s->seeds; i++)
        s->seed[i] = (uint64_t)cli_int(a, "first-seed") + (uint64_t)i;
    s->decay = ADAM_DEFAULTS.decay;
    s->clip = ADAM_DEFAULTS.clip;
    if (s->steps && cli_given(a, "minutes"))
        return cli_fail(a, CLI_USAGE, "--steps and --minutes exclude each other; give one of them");
    if (!s->steps)
        CLI_TRY(read_real(&s->minutes, a, "minutes", 1e6));
    CLI_TRY(read_real(&s->rate, a, "rate", 1e30));
    return cli_read_lengths(s->test, &s->tests, LAB_TESTS_MAX, 16, s->train_length, a, "test");
}

static cli_exit name_folder(race_asked *out, const cli_args *a)
{
    const char *given = cli_text(a, out->resume ? "resume" : "out");
    time_t now = time(NULL);
    struct tm local;
    if (given && strlen(given) >= sizeof out->folder)
        return cli_fail(a, CLI_USAGE, "the folder's name has %zu characters; needs fewer than %zu", strlen(given),
                        sizeof out->folder);
    if (given)
        snprintf(out->folder, sizeof out->folder, "%s", given);
    else if (!localtime_r(&now, &local) || !strftime(out->folder, sizeof out->folder, "runs/%Y-%m-%d-%H%M%S", &local))
        return cli_fail(a, CLI_SYSTEM, "the clock does not work; needs --out FOLDER");
    return CLI_OK;
}

/* What a folder to resume has said already. */
static cli_exit check_resume(const cli_args *a)
{
    static const char *const free_to_say[] = { "resume",   "threads",          "as",   "json",  "quiet",
                                               "progress", "checkpoint-every", "keep", "shard", "silence" };
    for (int i = 0; i < a->verb->option_count; i++) {
        bool fine = !a->given[i];
        for (int k = 0; k < CLI_COUNT(free_to_say); k++)
            fine = fine || !strcmp(a->verb->options[i].name, free_to_say[k]);
        if (!fine)
            return cli_fail(a, CLI_USAGE, "--%s cannot be given with --resume: the folder has the settings of the race",
                            a->verb->options[i].name);
    }
    return CLI_OK;
}

static cli_exit read_share(race_asked *out, const cli_args *a)
{
    out->silence = LAB_SILENCE;
    CLI_TRY(read_real(&out->silence, a, "silence", LAB_SILENCE_MAX));
    out->shared = cli_given(a, "shard");
    if (!out->shared && cli_given(a, "silence"))
        return cli_fail(a, CLI_USAGE, "--silence needs --shard: it is what other processes go by");
    if (out->shared && !cli_given(a, "out") && !out->resume)
        return cli_fail(a, CLI_USAGE, "--shard needs --out FOLDER or --resume FOLDER: the one that all processes share");
    return out->shared ? cli_read_shard(&out->shard, &out->shards, a) : CLI_OK;
}

static cli_exit read_args(race_asked *out, race_words *text, const cli_args *a)
{
    out->resume = cli_given(a, "resume");
    out->checkpoint_every = cli_int(a, "checkpoint-every");
    out->keep = (int)cli_int(a, "keep");
    out->threads = (int)cli_int(a, "threads");
    out->show = cli_given(a, "quiet") ? NULL : stderr;
    out->show_json = cli_choice(a, "progress") == 1;
    out->warn = stderr;
    CLI_TRY(read_share(out, a));
    CLI_TRY(name_folder(out, a));
    if (out->resume)
        return check_resume(a);
    cli_command(out->setup.command, sizeof out->setup.command, a);
    CLI_TRY(read_source(&out->source, text, a));
    CLI_TRY(read_setup(&out->setup, a));
    out->position_rate = cli_text(a, "position-rate");
    out->position_decay = cli_text(a, "position-decay");
    out->drop = cli_text(a, "drop");
    out->drop_steps = cli_int(a, "drop-steps");
    if (out->drop_steps && !out->drop)
        return cli_fail(a, CLI_USAGE, "--drop-steps needs --drop: which encodings");
    return read_entries(out, a);
}

/* ---------------------------------------------------------------- the race */

static void add_sources(result *out)
{
    result_open(out, RESULT_RECORD, NULL, "Data");
    for (int i = 0; i < lab_source_count(); i++) {
        result_text(out, NULL, lab_source_at(i)->name, lab_source_at(i)->summary);
        result_named(out);
    }
    result_close(out);
}

/* Whose fault a failure is: the command line's before the start; then that of a folder to resume, of a loss that is not
 * finite, or the system's. */
static cli_exit fail_race(const cli_args *a, const pe_error *err, bool started)
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
    else if (status == PE_ERR_RANGE && r->asked.shared)
        cli_note(a, "what failed would fail again; start a new race with a --rate below %g", r->results.setup.rate);
    else if (status == PE_ERR_RANGE)
        cli_note(a, "stopped; start a new race with a --rate below %g: this one would fail again if resumed",
                 r->results.setup.rate);
    else if (r->asked.shared)
        cli_note(a, "stopped; continue with: posenc race --resume %s --shard %s", folder, cli_text(a, "shard"));
    else
        cli_note(a, "stopped; continue with: posenc race --resume %s", folder);
}

/* Whoever of several processes ends last writes the files; before, they would be those of an unfinished race. */
static bool has_files(const race *r)
{
    return !r->asked.shared || !lab_missing(&r->results);
}

/* The result, and the files of the report. */
static cli_exit write_race(const cli_args *a, race *r, result *out)
{
    pe_error err = { 0 };
    result_text(out, "folder", NULL, r->asked.folder);
    result_flag(out, "stopped", NULL, r->stopped);
    lab_add_report(out, &r->results);
    cli_exit code = cli_write_now(a, out);
    if (has_files(r) && lab_report_write(r->asked.folder, &r->results, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    if (r->asked.show) {
        char text[RACE_FOLDER + 40];
        if (has_files(r))
            snprintf(text, sizeof text, "report: %s/report.html", r->asked.folder);
        else
            snprintf(text, sizeof text, "%d of %d trainings are missing; whoever ends last writes the report",
                     lab_missing(&r->results), r->trainings);
        fprintf(r->asked.show, "%s\n", words_translate(text, cli_language(a)).text);
    }
    return code;
}

/* What there is is reported, however it ended. */
static cli_exit end_race(const cli_args *a, race *r, result *out, pe_status status, const pe_error *err)
{
    cli_exit code = r->saved ? write_race(a, r, out) : CLI_OK;
    if (status)
        code = fail_race(a, err, true);
    else if (!r->stopped)
        return code;
    say_next(a, r, status);
    return status || code ? code : CLI_STOPPED;
}

static cli_exit run_race(const cli_args *a, race *r, result *out)
{
    pe_error err = { 0 };
    r->results.language = cli_language(a);
    if (race_start(r, &err))
        return fail_race(a, &err, false);
    pe_status status = race_run(r, &err);
    screen_free(r->screen);
    r->screen = NULL;
    return end_race(a, r, out, status, &err);
}

/* One window as it is tested, for people. */
static cli_exit show_data(const cli_args *a, const race *r, result *out)
{
    static char text[1 << 16];
    lab_batch b = { 0 };
    pe_error err = { 0 };
    if (lab_batch_new(&b, r->data, LAB_TEST, 1, r->results.setup.train_length, &err))
        return fail_race(a, &err, false);
    lab_data_test(r->data, &b, 0);
    lab_batch_print(&b, 0, text, sizeof text);
    result_text(out, "data", NULL, r->results.setup.data);
    result_int(out, "length", NULL, r->results.setup.train_length);
    result_code(out, "window", text);
    lab_batch_free(&b);
    return CLI_OK;
}

static cli_exit race_verb(const cli_args *a, result *out)
{
    race_asked *asked = calloc(1, sizeof *asked);
    race_words *text = calloc(1, sizeof *text);
    race *r = NULL;
    pe_error err = { 0 };
    cli_exit code = asked && text ? read_args(asked, text, a) : cli_fail(a, CLI_SYSTEM, "no memory for a race");
    if (!code) {
        asked->stop = signals_watch();
        code = race_open(&r, asked, &err)  ? fail_race(a, &err, false)
               : cli_given(a, "show-data") ? show_data(a, r, out)
                                           : run_race(a, r, out);
        signals_leave();
    }
    race_free(r);
    free(text);
    free(asked);
    return code;
}

const cli_verb cli_verb_race = {
    .name = "race",
    .summary = "train a small model with each encoding, test them on longer inputs, report",
    .operands = "",
    CLI_TABLES(options, examples),
    .notes = "Ctrl-C finishes the step, saves, and reports the results so far; a second Ctrl-C stops at once.\n"
             "If the loss is not finite, the race stops with exit code 3 and keeps the last checkpoint.\n"
             "What nobody works at is taken by whichever of the processes with --shard is free.\n"
             "--shard auto: by SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, PMI_RANK or JOB_COMPLETION_INDEX.\n",
    .add_notes = add_sources,
    .run = race_verb,
};
