/* SPDX-License-Identifier: MIT */
#include "cli/model.h"

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
