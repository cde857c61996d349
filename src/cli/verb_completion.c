/* SPDX-License-Identifier: MIT
 *
 * posenc completion: a script for a shell, from the table of verbs. */
#include "cli/complete.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = { CLI_OPTION_JSON };
static const cli_example examples[] = {
    { "posenc completion bash > posenc.bash",
      "the Tab key knows verbs, options, encodings, after: source posenc.bash" },
    { "posenc completion zsh > _posenc", "into a folder of fpath" },
    { "posenc completion fish > posenc.fish", "into ~/.config/fish/completions" },
};
static const char notes[] = "make install puts the three where bash, zsh and fish look for them.";

typedef struct shell {
    const char *name, *file;
    void (*write)(FILE *to);
} shell;

static const shell shells[] = {
    { "bash", "posenc", complete_bash },
    { "zsh", "_posenc", complete_zsh },
    { "fish", "posenc.fish", complete_fish },
};

static cli_exit add_script(const cli_args *a, result *out, const shell *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to)
        s->write(to);
    bool done = to && !fclose(to);
    result_text(out, "verb", NULL, a->verb->name);
    result_text(out, "file", NULL, s->file);
    result_code(out, "text", done ? text : "");
    free(text);
    return done ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for the script");
}

static cli_exit completion_verb(const cli_args *a, result *out)
{
    const char *names[CLI_COUNT(shells)];
    char hint[80];
    for (int i = 0; i < CLI_COUNT(shells); i++) {
        names[i] = shells[i].name;
        if (!strcmp(names[i], a->operand[0]))
            return add_script(a, out, &shells[i]);
    }
    return cli_fail(a, CLI_USAGE, "the shell is %s; needs one of %s%s", a->operand[0], a->verb->operands,
                    cli_did_you_mean(hint, "", a->operand[0], names, CLI_COUNT(shells)));
}

const cli_verb cli_verb_completion = {
    .name = "completion",
    .summary = "a script that makes the Tab key complete verbs, options and encodings",
    .operands = "bash|zsh|fish",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = completion_verb,
};
