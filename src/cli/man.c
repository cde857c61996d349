/* SPDX-License-Identifier: MIT
 *
 * Manual pages by the table of verbs, in the macros that every man has (TH, SH, TP, PP, nf). */
#include "cli/man.h"

#include <ctype.h>
#include <string.h>

/* No letter of the text is taken for a command; - stays what people type. */
static void text(FILE *to, const char *s, bool line_start)
{
    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", to);
        line_start = *s == '\n';
        if (*s == '\\')
            fputs("\\e", to);
        else if (*s == '-')
            fputs("\\-", to);
        else
            putc(*s, to);
    }
}

static void title(FILE *to, const cli_verb *v)
{
    fputs(".\\\" made by: posenc man\n.TH POSENC", to);
    for (const char *c = v ? v->name : ""; *c; c++)
        fprintf(to, "%s%c", c == v->name ? "\\-" : "", toupper((unsigned char)*c));
    fprintf(to, " 1 \"\" \"posenc %s\" \"posenc\"\n.SH NAME\nposenc%s%s \\- ", pe_version(), v ? "\\-" : "",
            v ? v->name : "");
    text(to, v ? v->summary : "every position encoding for Transformers, exact and fast", false);
    fputs("\n.SH SYNOPSIS\n.B posenc\n", to);
    if (v)
        fprintf(to, ".B %s\n", v->name);
    text(to, v ? v->operands : "VERB", true);
    fprintf(to, "%s[options]\n", v && !*v->operands ? "" : "\n");
}

static void option(FILE *to, const cli_option *o)
{
    fputs(".TP\n", to);
    if (o->letter)
        fprintf(to, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", to);
    text(to, o->name, false);
    fputs("\\fR", to);
    if (o->value) {
        putc(' ', to);
        text(to, o->value, false);
    }
    putc('\n', to);
    text(to, o->help, true);
    if (o->fallback) {
        fputs(" (default: ", to);
        text(to, o->fallback, false);
        putc(')', to);
    }
    putc('\n', to);
}

static void options(FILE *to, const cli_verb *v)
{
    const char *note[CLI_VALUE_NOTES_MAX];
    int count = cli_value_notes(v, note);
    fputs(".SH OPTIONS\n", to);
    for (int i = 0; i < v->option_count; i++)
        option(to, &v->options[i]);
    option(to, &cli_option_help);
    for (int i = 0; i < count; i++) {
        fputs(".PP\n", to);
        text(to, note[i], true);
        putc('\n', to);
    }
}

static void notes(FILE *to, const cli_verb *v)
{
    if (!v->notes)
        return;
    fputs(".SH NOTES\n.nf\n", to);
    for (const char *line = v->notes; *line;) {
        char one[200];
        size_t n = strcspn(line, "\n"), indent = strspn(line, " ");
        snprintf(one, sizeof one, "%.*s", (int)(n - indent), line + indent);
        text(to, one, true);
        putc('\n', to);
        line += n + (line[n] == '\n');
    }
    fputs(".fi\n", to);
}

static void example(FILE *to, const cli_example *e)
{
    fputs(".TP\n.B ", to);
    text(to, e->command, false);
    putc('\n', to);
    text(to, e->what, true);
    putc('\n', to);
}

static void verbs(FILE *to)
{
    fputs(".SH VERBS\n", to);
    for (int i = 0; i < cli_verb_count; i++) {
        fprintf(to, ".TP\n.B %s\n", cli_verbs[i]->name);
        text(to, cli_verbs[i]->summary, true);
        putc('\n', to);
    }
    fputs(".SH OPTIONS\n.TP\n.B \\-\\-help\nexamples and verbs\n.TP\n.B \\-\\-version\nthe version\n", to);
}

static void examples(FILE *to, const cli_verb *v)
{
    fputs(".SH EXAMPLES\n", to);
    for (int i = 0; v && i < v->example_count; i++)
        example(to, &v->examples[i]);
    for (int i = 0; !v && i < cli_verb_count; i++)
        example(to, &cli_verbs[i]->examples[0]);
}

static void end(FILE *to, const cli_verb *v)
{
    fputs(".SH EXIT STATUS\n", to);
    for (int i = 0; i < CLI_EXIT_COUNT; i++)
        fprintf(to, ".TP\n%d\n%s\n", i, cli_exit_text((cli_exit)i));
    fputs(".SH SEE ALSO\n", to);
    if (v)
        fputs(".BR posenc (1)\n", to);
    for (int i = 0; !v && i < cli_verb_count; i++)
        fprintf(to, ".BR posenc\\-%s (1)%s\n", cli_verbs[i]->name, i + 1 < cli_verb_count ? "," : "");
}

void man_page(FILE *to, const cli_verb *v)
{
    title(to, v);
    if (v) {
        options(to, v);
        notes(to, v);
    } else
        verbs(to);
    examples(to, v);
    end(to, v);
}
