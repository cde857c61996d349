/* SPDX-License-Identifier: MIT
 *
 * The whole tool as a function: no state is kept between calls, and nothing is left to free. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static cli_exit run(int argc, char **argv)
{
    cli_args args;
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        cli_help(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        cli_help(stdout);
        return CLI_OK;
    }
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
    if (args.help) {
        cli_help_verb(stdout, verb);
        return CLI_OK;
    }
    return verb->run(&args);
}

int cli_main(int argc, char **argv)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
#endif
    cli_exit code = run(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "posenc: cannot write to stdout: %s\n", strerror(errno));
        return CLI_SYSTEM;
    }
    return (int)code;
}
