/* SPDX-License-Identifier: MIT
 *
 * The whole tool as a function: no state is kept between calls, and nothing is left to free. */
#include "cli/cli.h"

#include "draw/draw.h"
#include "io/columns.h"
#include "io/io.h"
#include "io/json_out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- messages */

static void print_message(const cli_args *a, const char *format, va_list list)
{
    char text[8192]; /* of which parts may come from a file */
    fflush(stdout);
    int length = vsnprintf(text, sizeof text, format, list);
    if (length >= (int)sizeof text)
        io_end_with_dots(text, sizeof text);
    fprintf(stderr, "posenc %s: ", a->verb->name);
    bool whole = length >= 0 && (size_t)length < sizeof(words_text) / 2;
    out_plain(stderr,
              whole        ? words_translate(text, cli_language(a)).text
              : length < 0 ? format
                           : text,
              (int)sizeof text);
    putc('\n', stderr);
}

void cli_note(const cli_args *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(a, format, list);
    va_end(list);
}

cli_exit cli_fail(const cli_args *a, cli_exit code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(a, format, list);
    va_end(list);
    return code;
}

cli_exit cli_fail_from(const cli_args *a, cli_exit code, const char *file, const pe_error *err)
{
    if (err->status == PE_ERR_NOMEM || err->status == PE_ERR_IO)
        code = CLI_SYSTEM;
    return cli_fail(a, code, "%s%s%s", file ? file : "", file ? ": " : "", err->text);
}

/* ---------------------------------------------------------------- writing the result */

typedef struct writing {
    const result *tree;
    result_form form;
    result_screen page;
} writing;

static pe_status write_result(FILE *to, const void *with, pe_error *err)
{
    const writing *w = with;
    return result_write(to, w->tree, w->form, &w->page, err);
}

/* The file of a verb whose -o takes its result; NULL: none, or stdout. */
static const char *result_file(const cli_args *a)
{
    for (int i = 0; i < a->verb->option_count; i++)
        if (a->verb->options[i].kind == CLI_RESULT_FILE && a->given[i] && strcmp(a->text[i], "-"))
            return a->text[i];
    return NULL;
}

/* What was asked for in words goes before the ending of a file. A verb with forms of its own (show) may have others. */
static cli_exit find_form(const cli_args *a, result_form *form)
{
    static const char *const as[] = { "text", "json", "csv", "md", "html" }; /* in the order of result_form */
    const char *file = result_file(a), *asked = cli_given(a, "json") ? "json" : cli_text(a, "as");
    *form = file && !asked ? result_form_of(file) : RESULT_AS_TEXT;
    for (int i = 0; asked && i < CLI_COUNT(as); i++)
        if (!strcmp(asked, as[i]))
            *form = (result_form)i;
    if (*form == RESULT_FORMS)
        return cli_fail(a, CLI_USAGE, "-o is %s; needs a name that ends in .txt, .json, .csv, .md or .html", file);
    return CLI_OK;
}

static cli_exit write_result_file(const cli_args *a, const writing *w, const char *file)
{
    const char *slash = strrchr(file, '/');
    char folder[4096] = ".";
    pe_error err;
    if (slash && (size_t)(slash - file) >= sizeof folder - 1)
        return cli_fail(a, CLI_USAGE, "-o is %zu bytes long; needs less than %zu", strlen(file), sizeof folder);
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == file ? 1 : (int)(slash - file), file);
    if (io_make_file(folder, slash ? slash + 1 : file, write_result, w, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    cli_note(a, "wrote %s", file);
    return CLI_OK;
}

static cli_exit write_result_stdout(const cli_args *a, writing *w)
{
    pe_error err;
    draw_screen screen = draw_screen_of(stdout);
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    bool colour = screen.is_terminal && term && *term && strcmp(term, "dumb") && !(none && *none); /* 8 are enough */
    w->page = (result_screen){ .columns = screen.is_terminal && screen.columns < COLUMNS_MARGIN ? screen.columns : 0,
                               .wide = screen.is_terminal ? screen.columns : 0,
                               .colour = colour,
                               .ascii = screen.glyphs == GLYPHS_ASCII };
    return write_result(stdout, w, &err) ? cli_fail_from(a, CLI_USAGE, NULL, &err) : CLI_OK;
}

static cli_exit write_tree(const cli_args *a, writing *w)
{
    const char *file = result_file(a);
    return file ? write_result_file(a, w, file) : write_result_stdout(a, w);
}

cli_exit cli_write_now(const cli_args *a, result *out)
{
    writing w = { .tree = out };
    cli_exit code = find_form(a, &w.form);
    if (cli_language(a) == CHINESE && w.form != RESULT_AS_JSON && w.form != RESULT_AS_CSV)
        result_to_chinese(out);
    if (!code && !result_is_empty(out))
        code = write_tree(a, &w);
    fflush(stdout);
    result_clear(out);
    return code;
}

/* ---------------------------------------------------------------- running a verb */

static cli_exit run_verb(const cli_args *a)
{
    result_form form;
    cli_exit code = find_form(a, &form); /* what is wrong is said before the work */
    if (code)
        return code;
    result *tree = result_new();
    if (!tree)
        return cli_fail(a, CLI_SYSTEM, "no memory for the result");
    code = a->verb->run(a, tree);
    bool stands = code == CLI_OK || code == CLI_NO || code == CLI_STOPPED;
    cli_exit written = stands ? cli_write_now(a, tree) : CLI_OK;
    code = written ? written : code;
    result_free(tree);
    return code;
}

/* What --lang says beside --help, also of a verb whose results have no language; else the locale. */
static language help_language(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = !strcmp(argv[i], "--lang") && i + 1 < argc ? argv[i + 1]
                            : !strncmp(argv[i], "--lang=", 7)          ? argv[i] + 7
                                                                       : "";
        if (!strcmp(value, "zh") || !strcmp(value, "en"))
            return *value == 'z' ? CHINESE : ENGLISH;
    }
    return language_of_environment();
}

static cli_exit run_tool(int argc, char **argv)
{
    cli_args args;
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        cli_print_help(stderr, NULL, language_of_environment());
        return CLI_USAGE;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        return cli_print_help(stdout, NULL, help_language(argc, argv));
    if (!strcmp(word, "--version")) {
        printf("posenc %s\n", pe_version());
        return CLI_OK;
    }
    const cli_verb *verb = cli_find_verb(word);
    if (!verb)
        return cli_unknown_verb(word);
    cli_exit code = cli_parse(&args, verb, argc - 2, argv + 2);
    if (code)
        return code;
    return args.help ? cli_print_help(stdout, verb, help_language(argc, argv)) : run_verb(&args);
}

int cli_main(int argc, char **argv)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
#endif
    cli_exit code = run_tool(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "posenc: cannot write to stdout: %s\n", strerror(errno));
        return CLI_SYSTEM;
    }
    return (int)code;
}
