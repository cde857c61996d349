/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "io/io.h"

#include <string.h>

static size_t put(char *out, size_t cap, size_t used, const char *text)
{
    return used < cap ? used + (size_t)snprintf(out + used, cap - used, "%s", text) : used;
}

size_t cli_put_word(char *out, size_t cap, size_t used, const char *word)
{
    if (*word && !word[strcspn(word, " \t\n*?[]$&|;<>()'\"`\\#~!{}")])
        return put(out, cap, used, word);
    used = put(out, cap, used, "'");
    for (; *word; word++)
        used = put(out, cap, used, *word == '\'' ? "'\\''" : (char[]){ *word, 0 });
    return put(out, cap, used, "'");
}

void cli_command(char *out, size_t cap, const cli_args *a)
{
    size_t used = (size_t)snprintf(out, cap, "posenc %s", a->verb->name);
    for (int i = 0; i < a->operands; i++)
        used = cli_put_word(out, cap, put(out, cap, used, " "), a->operand[i]);
    for (int i = 0; i < a->verb->option_count && used < cap; i++) {
        const cli_option *o = &a->verb->options[i];
        if (!a->given[i])
            continue;
        used += (size_t)snprintf(out + used, cap - used, " --%s", o->name);
        if (o->kind != CLI_FLAG)
            used = cli_put_word(out, cap, put(out, cap, used, " "), a->text[i]);
    }
    if (used >= cap)
        io_end_with_dots(out, cap);
}
