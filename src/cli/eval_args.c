/* SPDX-License-Identifier: MIT */
#include "cli/eval.h"

#include <inttypes.h>
#include <string.h>

#define LENGTH_MIN 2
#define LENGTH_MAX (1 << 20)
#define ITEM_MAX 40

/* ---------------------------------------------------------------- lengths */

static cli_exit read_length(int64_t *out, const eval_job *j, const char *text)
{
    int64_t trained = j->ask.options.trained ? j->ask.options.trained : j->zoo->part[0].trained;
    if (!trained && strchr(text, 'x'))
        return cli_fail(j->args, CLI_USAGE, "--lengths has %s, and the model does not say its length; give --trained N",
                        text);
    if (!cli_read_length(text, trained, out) || *out < LENGTH_MIN || *out > LENGTH_MAX)
        return cli_fail(j->args, CLI_USAGE,
                        "--lengths has %s; needs 2 to 1M tokens, such as 512,2k, or 1x,4x of the trained length", text);
    return CLI_OK;
}

static bool has_length(const eval_ask *a, int64_t length)
{
    for (int n = 0; n < a->lengths; n++)
        if (a->length[n] == length)
            return true;
    return false;
}

static cli_exit read_lengths(eval_job *j)
{
    const char *list = cli_text(j->args, "lengths");
    char item[ITEM_MAX];
    int64_t length = 0;
    while (cli_next_item(item, sizeof item, &list)) {
        CLI_TRY(read_length(&length, j, item));
        if (has_length(&j->ask, length))
            continue;
        if (j->ask.lengths == LAB_TESTS_MAX)
            return cli_fail(j->args, CLI_USAGE, "--lengths has more than %d lengths", LAB_TESTS_MAX);
        j->ask.length[j->ask.lengths++] = length;
    }
    return CLI_OK;
}

/* ---------------------------------------------------------------- methods */

/* prope is p-rope, as people write it. */
static const extend_method *find_method(const char *name)
{
    return extend_find(strcmp(name, "prope") ? name : "p-rope");
}

static cli_exit unknown_method(const eval_job *j, const char *name)
{
    const char *names[EVAL_METHODS_MAX];
    char meant[80];
    int count = 0;
    for (; count < extend_method_count && count < EVAL_METHODS_MAX; count++)
        names[count] = extend_methods[count].name;
    return cli_fail(j->args, CLI_USAGE, "--extend has %s; needs methods of posenc extend, such as none,ntk,yarn%s",
                    name, cli_did_you_mean(meant, "", name, names, count));
}

static cli_exit add_method(eval_job *j, const extend_method *m)
{
    for (int n = 0; n < j->ask.methods; n++)
        if (j->ask.method[n] == m)
            return CLI_OK;
    if (j->ask.methods == EVAL_METHODS_MAX)
        return cli_fail(j->args, CLI_USAGE, "--extend has more than %d methods", EVAL_METHODS_MAX);
    j->ask.method[j->ask.methods++] = m;
    return CLI_OK;
}

static cli_exit read_methods(eval_job *j)
{
    const char *list = cli_text(j->args, "extend");
    char item[ITEM_MAX];
    if (!strcmp(list, "all")) {
        for (int n = 0; n < extend_method_count; n++)
            CLI_TRY(add_method(j, &extend_methods[n]));
        return CLI_OK;
    }
    while (cli_next_item(item, sizeof item, &list)) {
        const extend_method *m = find_method(item);
        if (!m)
            return unknown_method(j, item);
        CLI_TRY(add_method(j, m));
    }
    return CLI_OK;
}

cli_exit eval_read_args(eval_job *j)
{
    const cli_args *a = j->args;
    CLI_TRY(read_lengths(j));
    CLI_TRY(read_methods(j));
    if (cli_given(a, "windows") && cli_given(a, "tokens"))
        return cli_fail(a, CLI_USAGE,
                        "give --windows N, of the longest length, or --tokens N, of each length; not both");
    j->ask.windows = cli_int(a, "windows");
    j->ask.most = cli_int(a, "tokens");
    return CLI_OK;
}
