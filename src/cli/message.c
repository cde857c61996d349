/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/page.h"

#include "io/io.h"

#include <stdarg.h>

static void say(const cli_args *a, const char *format, va_list list)
{
    char text[8192]; /* of which parts may come from a file */
    fflush(stdout);
    int length = vsnprintf(text, sizeof text, format, list);
    if (length >= (int)sizeof text)
        io_end_with_dots(text, sizeof text);
    fprintf(stderr, "posenc %s: ", a->verb->name);
    page_print_to(stderr, length < 0 ? format : text, (int)sizeof text);
    putc('\n', stderr);
}

void cli_note(const cli_args *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(a, format, list);
    va_end(list);
}

cli_exit cli_fail(const cli_args *a, cli_exit code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(a, format, list);
    va_end(list);
    return code;
}

cli_exit cli_fail_from(const cli_args *a, cli_exit code, const char *file, const pe_error *err)
{
    if (err->status == PE_ERR_NOMEM || err->status == PE_ERR_IO)
        code = CLI_SYSTEM;
    return cli_fail(a, code, "%s%s%s", file ? file : "", file ? ": " : "", err->text);
}

/* The sentence for the first hook that the encoding has; the spec is put behind every verb. */
static const struct {
    unsigned hooks;
    const char *advice, *verb, *other;
} advice[] = {
    { PE_HOOK_BIAS, "adds to the scores by position", "bias", NULL },
    { PE_HOOK_EMBED | PE_HOOK_ROTATE, "changes vectors by position", "table", "apply" },
    { PE_HOOK_CONTENT | PE_HOOK_VALUE, "looks at q and k inside attention; in C: pe_reference_forward", NULL, NULL },
    { ~0u, "does nothing, by design", NULL, NULL },
};

cli_exit cli_fail_unsuited(const cli_args *a, const pe_encoding *e, const char *wanted)
{
    const char *spec = pe_encoding_spec(e);
    char try_this[200] = "", or_this[200] = "";
    int i = 0;
    while (i < CLI_COUNT(advice) - 1 && !(pe_encoding_hooks(e) & advice[i].hooks))
        i++;
    if (advice[i].verb)
        snprintf(try_this, sizeof try_this, "; try posenc %s %.100s", advice[i].verb, spec);
    if (advice[i].other)
        snprintf(or_this, sizeof or_this, ", posenc %s %.100s", advice[i].other, spec);
    return cli_fail(a, CLI_USAGE, "%s has no %s: it %s%s%s", spec, wanted, advice[i].advice, try_this, or_this);
}
