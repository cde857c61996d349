/* SPDX-License-Identifier: MIT
 *
 * posenc eval: a trained model past its length, with every method; or its greedy text. */
#include "cli/eval.h"
#include "cli/model.h"
#include "lab/text.h"
#include "model/gemm.h"
#include "model/load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 30)

static const cli_option options[] = {
    { "text", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "text to be measured on; needs --tokenizer" },
    { "tokenizer", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "the model's llama2.c tokenizer, such as tok512.bin" },
    { "tokens-file", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "token numbers from this .npy instead of a text" },
    { "lengths", 0, CLI_TEXT, "LIST", "1x,2x,4x", 0, 0, "such as 512,1k,2k; 2x: twice the trained length" },
    { "extend", 0, CLI_TEXT, "LIST", "all", 0, 0, "methods of posenc extend, such as none,ntk,yarn" },
    { "windows", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 40, "at most N windows of the longest length that fits" },
    { "tokens", 0, CLI_INT, "N", "64k", 1, INT64_C(1) << 40, "at most N tokens of each length" },
    { "generate", 0, CLI_INT, "N", NULL, 1, 1 << 20, "print N new tokens of greedy text instead" },
    { "prompt", 0, CLI_TEXT, "TEXT", NULL, 0, 0, "what the greedy text begins with, before the N" },
    { "threads", 0, CLI_INT, "N", NULL, 1, 1024, "default: the CPUs this process may use" },
    { "trained", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "length it was trained at, whatever the file says" },
    { "theta", 0, CLI_TEXT, "X", NULL, 0, 0, "the base, whatever the file says" },
    { "pairs", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "the pair layout, whatever the model" },
    { "out", 'o', CLI_FILE_OUT, "FOLDER", NULL, 0, 0, "write results and a report into this folder" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 16,32,64",
      "perplexity by length, with each method, and whether extend's advice holds" },
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 2x --extend none,ntk --json",
      "two methods, as data" },
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 16,32 --out stories",
      "and a report: stories/report.html" },
    { "posenc eval stories.bin --tokenizer tok.bin --generate 20", "greedy text" },
    { "posenc eval stories.bin --tokens-file ids.npy --lengths 8",
      "token numbers, for a model with another tokenizer" },
};
static const char notes[] =
    "MODEL is a llama2.c .bin (version 0 or 1), or a folder with config.json and model.safetensors\n"
    "(or its shards) of the Llama or BLOOM architecture. Neither text nor tokenizer is looked for.\n"
    "Of a text that has Project Gutenberg's marks, what stands between them is taken, as race does.\n"
    "\n"
    "Each method is planned for each length as posenc extend plans it. All lengths are asked for the\n"
    "same tokens where the text is long enough for it; where not, how many each is asked for is said.\n"
    "Perplexity is over the whole window, and over its last quarter, where the tokens stand that only\n"
    "a long context sees: compare methods by it, not lengths, whose last quarters are other tokens.\n";

/* ---------------------------------------------------------------- what is read */

static cli_exit load_model(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    j->ask.path = a->operand[0];
    CLI_TRY(model_options(&j->ask.options, a));
    CLI_TRY(model_open(&j->zoo, a, a->operand[0]));
    gemm_start();
    if (pe_pool_new(&j->pool, (int)cli_int(a, "threads"), &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    if (model_load(&j->m, j->zoo, j->pool, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

/* A whole file, or stdin. */
static cli_exit load_bytes(io_bytes *out, const cli_args *a, const char *option)
{
    pe_error err = { 0 };
    const char *path = cli_text(a, option);
    pe_status s = strcmp(path, "-") ? io_read_file(out, path, FILE_MAX, &err)
                                    : io_read_stream(out, STDIN_FILENO, "stdin", FILE_MAX, &err);
    return s ? cli_fail_from(a, CLI_INPUT, NULL, &err) : CLI_OK;
}

static cli_exit load_tokenizer(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    io_bytes file;
    int64_t vocab = model_settings(j->m)->vocab;
    CLI_TRY(load_bytes(&file, a, "tokenizer"));
    if (tokens_parse(&j->tokens, &file, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    if (tokens_count(j->tokens) != vocab)
        return cli_fail(a, CLI_INPUT, "%s: has %lld tokens and the model %lld; needs the model's own tokenizer",
                        cli_text(a, "tokenizer"), (long long)tokens_count(j->tokens), (long long)vocab);
    return CLI_OK;
}

static cli_exit check_given(const cli_args *a)
{
    bool text = cli_given(a, "text"), numbers = cli_given(a, "tokens-file"), tokenizer = cli_given(a, "tokenizer");
    if (cli_given(a, "generate"))
        return tokenizer ? CLI_OK
                         : cli_fail(a, CLI_USAGE, "--generate needs --tokenizer FILE, the model's llama2.c tokenizer");
    if (text && numbers)
        return cli_fail(a, CLI_USAGE, "give --text or --tokens-file; not both");
    if (text && !tokenizer)
        return cli_fail(a, CLI_USAGE,
                        "--text needs --tokenizer FILE, the model's llama2.c tokenizer; for a model with another one "
                        "give --tokens-file FILE.npy, the text as token numbers");
    if (!text && !numbers)
        return cli_fail(a, CLI_USAGE, "needs --text FILE and --tokenizer FILE, or --tokens-file FILE.npy");
    return CLI_OK;
}

static cli_exit load_text(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    io_bytes file;
    bool text = cli_given(a, "text");
    CLI_TRY(load_bytes(&file, a, text ? "text" : "tokens-file"));
    pe_status s = text ? text_clean(&file, &err) : PE_OK;
    if (s)
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    if (text)
        s = tokens_encode(&j->token, &j->ask.tokens, j->tokens, file.data, file.size, &err);
    else
        s = eval_token_file(&j->token, &j->ask.tokens, &file, model_settings(j->m)->vocab, &err);
    io_bytes_free(&file);
    j->ask.token = j->token;
    return s ? cli_fail_from(a, CLI_INPUT, NULL, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- what is done */

static cli_exit write_folder(eval_job *j)
{
    const cli_args *a = j->args;
    const char *folder = cli_text(a, "out"), *text = cli_text(a, "text");
    char command[2000], data[400];
    pe_error err = { 0 };
    cli_command(command, sizeof command, a);
    snprintf(data, sizeof data, "%s %s", text ? "text" : "tokens of", text ? text : cli_text(a, "tokens-file"));
    eval_describe(&j->e, j->m, command, data, j->pool->workers);
    if (!folder)
        return CLI_OK;
    if (eval_write(&j->e, folder, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    cli_note(a, "wrote %s/report.html, its pictures, results.csv and results.jsonl", folder);
    return CLI_OK;
}

static cli_exit measure(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    CLI_TRY(load_text(j));
    CLI_TRY(eval_read_args(j));
    if (cli_given(a, "out") && eval_check_folder(cli_text(a, "out"), &err)) /* before hours of work */
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    if (eval_plan(&j->e, &j->ask, j->zoo, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    eval_progress p = eval_progress_start();
    pe_status s = eval_measure(&j->e, j->m, eval_progress_step, &p, &err);
    eval_progress_end(&p);
    j->stopped = p.stopped;
    if (s)
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    eval_judge(&j->e);
    CLI_TRY(write_folder(j));
    if (cli_given(a, "json"))
        eval_json(j);
    else
        eval_page(j);
    return j->stopped ? cli_fail(a, CLI_STOPPED, "stopped before the end: what is above is what was measured") : CLI_OK;
}

static cli_exit work(eval_job *j)
{
    CLI_TRY(check_given(j->args));
    CLI_TRY(load_model(j));
    if (cli_given(j->args, "tokenizer"))
        CLI_TRY(load_tokenizer(j));
    return cli_given(j->args, "generate") ? eval_greedy(j) : measure(j);
}

static cli_exit eval_verb(const cli_args *a, result *out)
{
    (void)out;
    eval_job *j = calloc(1, sizeof *j);
    if (!j)
        return cli_fail(a, CLI_SYSTEM, "no memory");
    j->args = a;
    cli_exit code = work(j);
    eval_free(&j->e);
    free(j->token);
    tokens_free(j->tokens);
    model_free(j->m);
    pe_pool_free(j->pool);
    zoo_free(j->zoo);
    free(j);
    return code;
}

const cli_verb cli_verb_eval = {
    .name = "eval",
    .summary = "a trained model past its length: perplexity by length and method; greedy text",
    .operands = "MODEL",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = eval_verb,
};
