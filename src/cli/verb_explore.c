/* SPDX-License-Identifier: MIT
 *
 * posenc explore: the page, which runs this library in a browser. It is inside the tool. */
#include "cli/explore.h"
#include "cli/job.h"

#include "io/json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write the page to this file; it needs nothing beside it" },
    { "print-url", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the link, and open nothing" },
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "English or Chinese; default: as the browser asks for" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc explore", "open the page in a browser" },
    { "posenc explore rope alibi", "with these two side by side" },
    { "posenc explore rope:theta=500000 -o page.html", "the page as a file, and a link that shows this encoding" },
    { "posenc explore --print-url --lang zh", "the link alone; the page speaks Chinese" },
};

static cli_exit check_specs(const cli_args *a)
{
    for (int i = 0; i < a->operands; i++) {
        pe_error err;
        pe_encoding *e;
        if (pe_encoding_new(&e, a->operand[i], (pe_shape){ .heads = 8, .head_dim = 64 }, &err))
            return cli_fail_from(a, CLI_USAGE, NULL, &err);
        pe_encoding_free(e);
    }
    return CLI_OK;
}

/* What was written, and how to see it. */
typedef struct outcome {
    char *page, *link; /* files; link NULL: none */
    char *fragment, *url;
    const char *opener; /* NULL: not opened */
    char name[256];
} outcome;

/* malloc'ed; NULL: errno says why. */
static char *full_path(const char *file)
{
    char here[4096] = "";
    if (file[0] != '/' && !getcwd(here, sizeof here))
        return NULL;
    size_t first = strlen(here), rest = strlen(file);
    char *out = malloc(first + rest + 2);
    if (out)
        snprintf(out, first + rest + 2, "%s%s%s", here, *here ? "/" : "", file);
    return out;
}

static cli_exit write_out(outcome *o, const cli_args *a, const char *file)
{
    pe_error err;
    io_span page = explore_page();
    if (io_write_file(file, &page, 1, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    o->page = full_path(file);
    return o->page ? CLI_OK : cli_fail(a, CLI_SYSTEM, "%s: its full path is not known: %s", file, strerror(errno));
}

/* Where files are handed on, the link's file is: it leads to the page with its fragment. */
static cli_exit open_page(outcome *o, const cli_args *a)
{
    char *url = explore_url(o->link ? o->link : o->page);
    if (!url)
        return cli_fail(a, CLI_SYSTEM, "no memory for a link");
    o->opener = explore_open(o->name, url);
    free(url);
    return CLI_OK;
}

static void print_json(const outcome *o)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "file", o->page);
    out_text(&j, "url", o->url);
    out_text(&j, "opened_by", o->opener);
    out_close(&j, '}');
}

static void print(const outcome *o, const cli_args *a)
{
    if (cli_given(a, "json")) {
        print_json(o);
        return;
    }
    puts(o->url);
    if (o->opener)
        cli_note(a, "opened by %s", o->opener);
    else if (!cli_given(a, "print-url"))
        cli_note(a, "open this link in a browser; the page needs no network");
}

static cli_exit make_url(outcome *o, const cli_args *a)
{
    char *bare = explore_url(o->page);
    size_t length = bare ? strlen(bare) : 0, rest = strlen(o->fragment);
    o->url = bare ? realloc(bare, length + rest + 1) : NULL;
    if (!o->url) {
        free(bare);
        return cli_fail(a, CLI_SYSTEM, "no memory for a link");
    }
    memcpy(o->url + length, o->fragment, rest + 1);
    return CLI_OK;
}

static cli_exit work(outcome *o, const cli_args *a)
{
    const char *file = cli_text(a, "out");
    io_span page = explore_page();
    explore_state state = { { a->operand[0], a->operand[1] }, cli_text(a, "lang") };
    CLI_TRY(check_specs(a));
    if (!page.data)
        return cli_fail(a, CLI_SYSTEM, "this posenc was built without its page; open web/posenc.html of its sources");
    if (file && !strcmp(file, "-"))
        return fwrite(page.data, 1, page.size, stdout) == page.size ? CLI_OK : CLI_SYSTEM;
    o->fragment = explore_fragment(&state);
    if (!o->fragment)
        return cli_fail(a, CLI_SYSTEM, "no memory for a link");
    CLI_TRY(file ? write_out(o, a, file) : explore_keep(&o->page, &o->link, a, o->fragment));
    CLI_TRY(make_url(o, a));
    if (!file && !cli_given(a, "print-url") && !cli_given(a, "json") && explore_can_open())
        CLI_TRY(open_page(o, a));
    print(o, a);
    return CLI_OK;
}

static cli_exit explore_verb(const cli_args *a, result *out)
{
    (void)out;
    outcome o = { 0 };
    cli_exit code = work(&o, a);
    free(o.page);
    free(o.link);
    free(o.fragment);
    free(o.url);
    return code;
}

const cli_verb cli_verb_explore = {
    .name = "explore",
    .summary = "the page: encodings side by side, a tour, your model's config, in a browser",
    .operands = "[SPEC [SPEC]]",
    .operands_min = 0,
    .operands_max = 2,
    .notes = "The page is one file that runs this library in the browser; nothing leaves the machine. It is\n"
             "kept in XDG_CACHE_HOME or ~/.cache/posenc, and opened by $BROWSER, xdg-open, open or wslview\n"
             "where there is a terminal and a screen; elsewhere its link is printed and no more.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = explore_verb,
};
