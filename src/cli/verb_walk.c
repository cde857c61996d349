/* SPDX-License-Identifier: MIT
 *
 * posenc walk: the arithmetic of one small case, step by step. */
#include "cli/cli.h"
#include "cli/job.h"

#include "show/show.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    { "pos", 0, CLI_TEXT, "N", "5", 0, 0, "position of the query: N, or N/N with one number per axis" },
    { "key", 0, CLI_TEXT, "N", NULL, 0, 0, "position of the key that is shown; default: two before the query" },
    { "dim", 0, CLI_INT, "N", "8", 1, WALK_DIM_MAX, "embedding dimension and head dimension" },
    { "heads", 0, CLI_INT, "N", "8", 1, WALK_HEADS_MAX, "number of heads" },
    { "head", 0, CLI_INT, "N", "0", 0, WALK_HEADS_MAX - 1, "head to show; the first is 0" },
    { "seed", 0, CLI_INT, "N", "0", 0, INT64_MAX, "seed of the word vectors and learned parameters" },
    CLI_OPTION_PARAMS,
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc walk sinusoidal --pos 5 --dim 8", "each element of the code, then attention without and with it" },
    { "posenc walk rope --pos 5 --key 2 --dim 4",
      "pair by pair: angle, cos, sin, rotation, and the product with a key" },
    { "posenc walk alibi --heads 8 --head 3", "what is added to each score of head 3" },
    { "posenc walk rope:axes=2 --pos 3/5 --dim 8 --lang zh", "two coordinates; in Chinese" },
    { "posenc walk shaw --dim 2 --json", "the steps as data" },
};

/* "3/5" */
static cli_exit read_place(const cli_args *a, const char *option, int64_t *at, int *count)
{
    const char *text = cli_text(a, option);
    char item[32];
    for (int n = 0; text && *text; n++) {
        size_t length = strcspn(text, "/");
        snprintf(item, sizeof item, "%.*s", (int)(length < 31 ? length : 31), text);
        if (n == PE_AXES_MAX || length > 31 || !cli_read_int(item, &at[n]) || at[n] > PE_POSITION_MAX ||
            at[n] < -PE_POSITION_MAX)
            return cli_fail(a, CLI_USAGE,
                            "--%s is %s; needs a whole number up to 2^36, or one for each axis, such as 3/5", option,
                            cli_text(a, option));
        *count = n + 1;
        text += length + (text[length] == '/');
    }
    return CLI_OK;
}

static cli_exit walk_verb(const cli_args *a, result *out)
{
    pe_error err;
    walk *w;
    walk_request r = { .dim = cli_int(a, "dim"),
                       .heads = cli_int(a, "heads"),
                       .head = cli_int(a, "head"),
                       .seed = (uint64_t)cli_int(a, "seed"),
                       .language = cli_language(a) };
    cli_exit code = read_place(a, "pos", r.position, &r.position_count);
    if (!code)
        code = read_place(a, "key", r.other, &r.other_count);
    if (!code && r.head >= r.heads)
        code = cli_fail(a, CLI_USAGE, "--head is %s; the model has %s heads, numbered from 0", cli_text(a, "head"),
                        cli_text(a, "heads"));
    if (!code)
        code = job_given_params(a, &r.params);
    if (code)
        return code;
    if (walk_new(&w, a->operand[0], &r, &err))
        code = job_fail_given(a, &err);
    else {
        walk_fill(out, w);
        walk_free(w);
    }
    free(r.params.data);
    return code;
}

const cli_verb cli_verb_walk = {
    .name = "walk",
    .summary = "show the arithmetic of one small case, step by step",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    .notes = "The case has three words at three positions; one word is the query and attends to all three. The "
             "numbers come from the library and are printed to four digits, so a line may differ in its last digit.\n",
    CLI_TABLES(options, examples),
    .run = walk_verb,
};
