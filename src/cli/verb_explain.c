/* SPDX-License-Identifier: MIT
 *
 * posenc explain: one page on what a model's files say about positions. */
#include "cli/explain.h"
#include "cli/model.h"

#include <inttypes.h>

static const cli_option options[] = {
    { "for", 0, CLI_CHOICE, ZOO_ENGINE_NAMES, NULL, 0, 0, "the settings that make this engine do it" },
    { "layer", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "only this layer, from 0" },
    CLI_OPTIONS_MODEL,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc explain config.json", "encoding, pairs, base, scaling, wavelengths, where extrapolation starts" },
    { "posenc explain config.json --for vllm", "and the settings that make vLLM compute it" },
    { "posenc explain model.gguf --layer 0", "one layer of a GGUF" },
    { "posenc explain config.json --json", "all of it as data, every pair" },
};

static cli_exit explain_verb(const cli_args *a, result *out)
{
    (void)out;
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
    else if (!code && (cli_given(a, "json") ? explain_json : explain_text)(&job, &err))
        code = cli_fail_from(a, CLI_INPUT, m->path, &err);
    zoo_free(m);
    io_bytes_free(&text);
    return code;
}

const cli_verb cli_verb_explain = {
    .name = "explain",
    .summary = "what a model's files say about positions, in plain words",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = "FILE is a config.json, a .gguf, a .safetensors, a llama2.c .bin, or a folder that holds one;\n"
             "- is a config.json on stdin.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = explain_verb,
};
