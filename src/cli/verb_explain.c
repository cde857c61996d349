/* SPDX-License-Identifier: MIT
 *
 * posenc explain: one page on what a model's files say about positions. */
#include "cli/explain.h"
#include "cli/model.h"

#include <inttypes.h>

static const cli_option options[] = {
    { "for", 0, CLI_CHOICE, ZOO_ENGINE_NAMES, NULL, 0, 0, "show the settings for this engine too" },
    { "layer", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "show only this layer; the first is 0" },
    CLI_OPTIONS_MODEL,
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc explain config.json", "encoding, pairs, base, scaling, wavelengths, where extrapolation starts" },
    { "posenc explain config.json --for vllm", "the same, and the settings for vLLM" },
    { "posenc explain model.gguf --layer 0", "one layer of a GGUF" },
    { "posenc explain config.json --json", "the same as data, with every pair" },
};

static cli_exit explain_verb(const cli_args *a, result *out)
{
    pe_error err;
    explain_job job = { .layer = cli_given(a, "layer") ? cli_int(a, "layer") : -1,
                        .length = cli_int(a, "length"),
                        .engine = zoo_engine_at(cli_choice(a, "for")) };
    zoo_model *m;
    io_bytes text;
    cli_exit code = model_open_or_stdin(&m, &text, a, a->operand[0]);
    job.m = m;
    if (!code && job.layer >= m->part[0].layers)
        code = cli_fail(a, CLI_USAGE, "--layer is %" PRId64 "; %s has layers 0 to %" PRId64, job.layer, m->path,
                        m->part[0].layers - 1);
    else if (!code && explain_model(out, &job, &err))
        code = cli_fail_from(a, CLI_INPUT, m->path, &err);
    zoo_free(m);
    io_bytes_free(&text);
    return code;
}

const cli_verb cli_verb_explain = {
    .name = "explain",
    .summary = "explain what a model's files say about positions",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = "FILE is a config.json, a .gguf, a .safetensors, a llama2.c .bin, or a folder that holds one; - reads a "
             "config.json from stdin.\n",
    CLI_TABLES(options, examples),
    .run = explain_verb,
};
