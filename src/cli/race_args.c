/* SPDX-License-Identifier: MIT */
#include "cli/race.h"

#include "cli/job.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static cli_exit read_length(int64_t *out, const cli_args *a, const char *text, int64_t trained)
{
    if (!cli_read_length(text, trained, out))
        return cli_fail(a, CLI_USAGE,
                        "--test has %s; needs lengths such as 1x,2x,4x (of the training length) or 512,4k", text);
    if (*out < 16 || *out > (1 << 20))
        return cli_fail(a, CLI_USAGE, "--test has %s, which is %" PRId64 " tokens; needs 16 to 1M", text, *out);
    return CLI_OK;
}

static cli_exit read_tests(lab_setup *s, const cli_args *a)
{
    const char *list = cli_text(a, "test");
    char item[40];
    while (cli_next_item(item, sizeof item, &list)) {
        if (s->tests == LAB_TESTS_MAX)
            return cli_fail(a, CLI_USAGE, "--test has more than %d lengths", LAB_TESTS_MAX);
        CLI_TRY(read_length(&s->test[s->tests++], a, item, s->train_length));
    }
    return CLI_OK;
}

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
        return cli_fail(a, CLI_USAGE, "--steps and --minutes: needs one of them");
    if (!s->steps)
        CLI_TRY(read_real(&s->minutes, a, "minutes", 1e6));
    CLI_TRY(read_real(&s->rate, a, "rate", 1e30));
    return read_tests(s, a);
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
    static const char *const free_to_say[] = { "resume", "threads", "json", "quiet", "checkpoint-every", "keep" };
    for (int i = 0; i < a->verb->option_count; i++) {
        bool fine = !a->given[i];
        for (int k = 0; k < CLI_COUNT(free_to_say); k++)
            fine = fine || !strcmp(a->verb->options[i].name, free_to_say[k]);
        if (!fine)
            return cli_fail(a, CLI_USAGE, "--%s and --resume: the folder says what the race is",
                            a->verb->options[i].name);
    }
    return CLI_OK;
}

cli_exit race_read_args(race_asked *out, race_words *words, const cli_args *a)
{
    out->resume = cli_given(a, "resume");
    out->checkpoint_every = cli_int(a, "checkpoint-every");
    out->keep = (int)cli_int(a, "keep");
    out->threads = (int)cli_int(a, "threads");
    out->show = cli_given(a, "quiet") ? NULL : stderr;
    out->warn = stderr;
    CLI_TRY(name_folder(out, a));
    if (out->resume)
        return check_resume(a);
    cli_command(out->setup.command, sizeof out->setup.command, a);
    CLI_TRY(read_source(&out->source, words, a));
    CLI_TRY(read_setup(&out->setup, a));
    return read_entries(out, a);
}
