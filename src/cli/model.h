/* SPDX-License-Identifier: MIT
 *
 * What the verbs that read a model's files share: the options beside the file, and opening it. */
#ifndef POSENC_CLI_MODEL_H
#define POSENC_CLI_MODEL_H

#include "cli/cli.h"
#include "zoo/zoo.h"

/* clang-format off */
#define CLI_OPTIONS_MODEL \
    { "lenient", 0, CLI_FLAG, NULL, NULL, 0, 0, "guess what the file leaves open, and report each guess" }, \
    { "pairs", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "override the model's pair layout" }, \
    { "type", 0, CLI_TEXT, "MODEL", NULL, 0, 0, "read the file as this model_type" }, \
    { "theta", 0, CLI_TEXT, "X", NULL, 0, 0, "override the base theta of the file" }, \
    { "head-dim", 0, CLI_INT, "N", NULL, 1, PE_HEAD_DIM_MAX, "override the head dimension of the file" }, \
    { "trained", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "override the trained sequence length of the file" }, \
    { "length", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "current sequence length, for dynamic and longrope scaling" }
/* clang-format on */

cli_exit model_options(zoo_options *out, const cli_args *a);
/* The caller's to free with zoo_free; NULL after an error, which has been said. */
cli_exit model_open(zoo_model **out, const cli_args *a, const char *path);
/* The same, and - is a config.json on stdin, whose text is the caller's to free; of a path text stays empty. */
cli_exit model_open_or_stdin(zoo_model **out, io_bytes *text, const cli_args *a, const char *path);

#endif
