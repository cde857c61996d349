/* SPDX-License-Identifier: MIT */
#include "cli/model.h"

#include <string.h>
#include <unistd.h>

cli_exit model_options(zoo_options *out, const cli_args *a)
{
    const char *theta = cli_text(a, "theta");
    *out = (zoo_options){
        .lenient = cli_given(a, "lenient"),
        .pairs = cli_text(a, "pairs"),
        .type = cli_text(a, "type"),
        .head_dim = cli_int(a, "head-dim"),
        .trained = cli_int(a, "trained"),
        .length = cli_int(a, "length"),
    };
    if (theta && (!cli_read_real(theta, &out->theta) || !(out->theta > 0)))
        return cli_fail(a, CLI_USAGE, "--theta is %s; needs a number above 0, such as 500000", theta);
    return CLI_OK;
}

cli_exit model_open(zoo_model **out, const cli_args *a, const char *path)
{
    zoo_options options;
    pe_error err;
    *out = NULL;
    cli_exit code = model_options(&options, a);
    if (!code && zoo_open(out, path, &options, &err))
        code = cli_fail_from(a, CLI_INPUT, NULL, &err);
    return code;
}

static cli_exit read_stdin(zoo_model **out, io_bytes *text, const cli_args *a)
{
    zoo_options options;
    pe_error err;
    cli_exit code = model_options(&options, a);
    if (code)
        return code;
    if (isatty(STDIN_FILENO))
        return cli_fail(a, CLI_USAGE, "%s is -, and stdin is a terminal; give it a config.json: - <FILE",
                        a->verb->operands);
    if (io_read_stream(text, STDIN_FILENO, "stdin", IO_CAP_TEXT, &err) ||
        zoo_read_config(out, "stdin", (const char *)text->data, text->size, &options, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

cli_exit model_open_or_stdin(zoo_model **out, io_bytes *text, const cli_args *a, const char *path)
{
    *out = NULL;
    *text = (io_bytes){ 0 };
    return strcmp(path, "-") ? model_open(out, a, path) : read_stdin(out, text, a);
}
