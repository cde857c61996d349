/* SPDX-License-Identifier: MIT
 *
 * posenc prove: what the literature says of position encodings, measured. */
#include "cli/page.h"
#include "cli/prove.h"

#include "draw/draw.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write a page (.html) or a table (.md), by the ending" },
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "language; default: as LC_ALL, LC_MESSAGES or LANG say" },
    { "properties", 0, CLI_FLAG, NULL, NULL, 0, 0, "of each SPEC its properties only, no claims" },
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "the claims there are, without measuring" },
    CLI_OPTIONS_SHAPE,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc prove order", "one group of claims: verdict, number, sentence" },
    { "posenc prove two-dogs", "one claim, with every number of its evidence" },
    { "posenc prove rope", "what an ideal encoding would do: which of it does rope?" },
    { "posenc prove order-blind alibi", "a claim, put to an encoding of your own" },
    { "posenc prove order -o proofs.html", "as a page" },
    { "posenc prove sinusoidal --json", "as data" },
    { "posenc prove --list", "what there is" },
};

static bool ends_with(const char *file, const char *end)
{
    size_t n = strlen(file), m = strlen(end);
    return n >= m && !strcmp(file + n - m, end);
}

static io_make *writer_of(const char *file)
{
    return ends_with(file, ".html") ? prove_page : ends_with(file, ".md") ? prove_markdown : NULL;
}

static cli_exit write_file(const cli_args *a, const prove_report *r)
{
    const char *file = cli_text(a, "out"), *slash = strrchr(file, '/');
    char folder[4096] = ".";
    pe_error err;
    if (slash && (size_t)(slash - file) >= sizeof folder - 1)
        return cli_fail(a, CLI_USAGE, "-o is %zu bytes long; needs less than %zu", strlen(file), sizeof folder);
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), slash == file ? "/" : file);
    if (!strcmp(file, "-"))
        return writer_of(file) ? CLI_OK : cli_fail(a, CLI_USAGE, "-o - has no ending; needs .html or .md");
    if (io_make_file(folder, slash ? slash + 1 : file, writer_of(file), r, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    cli_note(a, "wrote %s", file);
    return CLI_OK;
}

static cli_exit tell(const cli_args *a, const prove_report *r)
{
    int broken = 0, failed = 0;
    const char *no = getenv("NO_COLOR");
    bool colour = prove_on_terminal(STDOUT_FILENO) && !(no && *no);
    if (cli_given(a, "json"))
        prove_json(stdout, r);
    if (cli_given(a, "out"))
        CLI_TRY(write_file(a, r));
    else if (!cli_given(a, "json"))
        prove_print(stdout, r, colour);
    for (int n = 0; n < r->subjects; n++)
        broken += r->subject[n].broken;
    for (int n = 0; n < r->lines; n++)
        failed += r->line[n].failed;
    return broken ? CLI_NO : failed && failed == r->lines && !r->subjects ? CLI_USAGE : CLI_OK;
}

static cli_exit prove_verb(const cli_args *a, result *out)
{
    (void)out;
    prove_report r = { .language =
                           cli_choice(a, "lang") < 0 ? language_of_environment() : (language)cli_choice(a, "lang") };
    const char *file = cli_text(a, "out");
    if (cli_given(a, "list")) {
        (cli_given(a, "json") ? prove_json_list : prove_print_list)(stdout, r.language);
        return CLI_OK;
    }
    if (file && !writer_of(file))
        return cli_fail(a, CLI_USAGE, "-o is %s; needs a name that ends in .html or .md", file);
    cli_exit code = prove_fill(&r, a);
    code = code ? code : tell(a, &r);
    free(r.line);
    free(r.subject);
    return code;
}

const cli_verb cli_verb_prove = {
    .name = "prove",
    .summary = "what papers say of position encodings, measured: HOLDS, REFUTED, DEPENDS",
    .operands = "[CLAIM...] [SPEC...]",
    .operands_max = CLI_OPERANDS_MAX,
    .notes = "CLAIM is a claim or a group of them (--list); without one, all. A SPEC behind claims takes the\n"
             "place of what they are measured on. A SPEC alone: the properties of an ideal encoding, measured,\n"
             "against what it claims, and every claim that can be put to it. Exit code 1: an encoding claims\n"
             "what is measured to fail; 2: nothing could be measured.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = prove_verb,
};
