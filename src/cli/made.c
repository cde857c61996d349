/* SPDX-License-Identifier: MIT */
#include "cli/made.h"

#include "io/json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print_json(const cli_args *a, const char *file, const char *text)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", a->verb->name);
    out_text(&j, "file", file);
    out_text(&j, "text", text);
    out_close(&j, '}');
}

cli_exit made_print(const cli_args *a, const char *file, void (*write)(FILE *to, const void *about), const void *about)
{
    char *text = NULL;
    size_t size = 0;
    if (!cli_given(a, "json")) {
        write(stdout, about);
        return CLI_OK;
    }
    FILE *to = open_memstream(&text, &size);
    if (to)
        write(to, about);
    bool done = to && !ferror(to);
    if (to && fclose(to))
        done = false;
    if (done)
        print_json(a, file, text);
    free(text);
    return done ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for the text: %s", strerror(errno));
}
