/* SPDX-License-Identifier: MIT
 *
 * posenc eval: a trained model past its length, with every method; or its greedy text. */
#include "cli/job.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "io/json_out.h"
#include "lab/eval.h"
#include "lab/report.h"
#include "lab/data.h"
#include "model/file.h"
#include "model/gemm.h"
#include "model/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 30)
#define LENGTH_MIN 2
#define ITEM_MAX 40
#define TEMPERATURE_MAX 100

static const cli_option options[] = {
    { "text", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "measure on this text" },
    { "tokenizer", 0, CLI_FILE_IN, "FILE", NULL, 0, 0,
      "the model's tokenizer, a llama2.c file such as tok512.bin; a model that posenc trained has none" },
    { "tokens-file", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "measure on the token ids in this .npy file" },
    { "lengths", 0, CLI_TEXT, "LIST", "1x,2x,4x", 0, 0, "such as 512,1k,2k; 2x is twice the trained length" },
    { "extend", 0, CLI_TEXT, "LIST", "all", 0, 0, "methods of posenc extend, such as none,ntk,yarn" },
    { "windows", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 40, "use at most N windows of the longest length that fits" },
    { "tokens", 0, CLI_INT, "N", "64k", 1, INT64_C(1) << 40, "use at most N tokens at each length" },
    { "generate", 0, CLI_INT, "N", NULL, 1, 1 << 20, "generate N tokens instead of measuring" },
    { "prompt", 0, CLI_TEXT, "TEXT", NULL, 0, 0, "begin the generated text with this" },
    { "temperature", 0, CLI_TEXT, "X", "0", 0, 0, "draw each generated token at this temperature; 0: the likeliest" },
    { "seed", 0, CLI_INT, "N", "1", 0, INT64_MAX, "seed of the tokens that are drawn" },
    { "threads", 0, CLI_INT, "N", NULL, 1, 1024, "threads to use; default: the CPUs this process may use" },
    { "trained", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "override the model's trained length" },
    { "theta", 0, CLI_TEXT, "X", NULL, 0, 0, "override the model's RoPE base" },
    { "pairs", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "override the model's pair layout" },
    { "out", 'o', CLI_FILE_OUT, "FOLDER", NULL, 0, 0, "write results and a report into this folder" },
    CLI_OPTIONS_FORM,
};
static const cli_example examples[] = {
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 16,32,64",
      "perplexity by length with each method, and whether the advice of posenc extend holds" },
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 2x --extend none,ntk --json",
      "two methods, as JSON" },
    { "posenc eval stories.bin --text story.txt --tokenizer tok.bin --lengths 16,32 --out stories",
      "also write a report: stories/report.html" },
    { "posenc eval stories.bin --tokenizer tok.bin --generate 20", "generate text greedily" },
    { "posenc eval models/rope-1.safetensors --text story.txt --lengths 16,32 --extend none,ntk",
      "a model that posenc trained, whose tokens are bytes" },
    { "posenc eval models/rope-1.safetensors --generate 20 --prompt \"It is\" --temperature 0.8", "draw text" },
    { "posenc eval stories.bin --tokens-file ids.npy --lengths 8", "token ids, for a model with another tokenizer" },
};
static const char notes[] =
    "MODEL is a file that posenc report --models wrote, a llama2.c .bin file (version 0 or 1), or a folder with "
    "config.json and model.safetensors (or its shards) of the Llama or BLOOM architecture. Give the text and the "
    "tokenizer: posenc does not search for them; tokens of a model that posenc trained are bytes. If a text has "
    "Project Gutenberg's markers, only the part between them is used.\n"
    "Each method is planned for each length as posenc extend plans it. All lengths are measured on the same tokens if "
    "the text is long enough; otherwise the result says how many tokens each length was measured on. Perplexity is "
    "reported over the whole window and over its last quarter, whose tokens have the longest context. Use the last "
    "quarter to compare methods, not lengths: at each length it holds other tokens.";

typedef struct eval_job {
    const cli_args *args;
    eval_ask ask;
    zoo_model *zoo;
    pe_pool *pool;
    model *m;
    tokens *tokens;
    int32_t *token; /* of the text */
    eval e;
    double temperature;
    bool stopped; /* by Ctrl-C: what is whole is shown */
} eval_job;

/* ---------------------------------------------------------------- what is read */

static bool has_bytes(const eval_job *j)
{
    return !strcmp(j->zoo->format, "posenc");
}

/* The model is open. */
static cli_exit check_given(const eval_job *j)
{
    const cli_args *a = j->args;
    bool text = cli_given(a, "text"), numbers = cli_given(a, "tokens-file"), tokenizer = cli_given(a, "tokenizer");
    if (has_bytes(j) && tokenizer)
        return cli_fail(a, CLI_USAGE, "--tokenizer is for other models; the tokens of %s are bytes", a->operand[0]);
    tokenizer |= has_bytes(j);
    if (!cli_given(a, "generate") && (cli_given(a, "temperature") || cli_given(a, "seed")))
        return cli_fail(a, CLI_USAGE, "--temperature and --seed are for --generate N");
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

static cli_exit load_model(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    j->ask.path = a->operand[0];
    CLI_TRY(model_options(&j->ask.options, a));
    CLI_TRY(model_open(&j->zoo, a, a->operand[0]));
    CLI_TRY(check_given(j));
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

/* Tokens of a model of ours are bytes, unless it was trained to fill in what is masked. */
static cli_exit load_bytes_tokens(eval_job *j)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    const model_config *c = model_settings(j->m);
    if (!c->causal || c->vocab != MODEL_FILE_BYTES)
        return cli_fail(a, CLI_INPUT,
                        "%s: was trained to fill in masked bytes; needs a model that predicts the next one",
                        a->operand[0]);
    return tokens_of_bytes(&j->tokens, &err) ? cli_fail_from(a, CLI_SYSTEM, NULL, &err) : CLI_OK;
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

/* ---------------------------------------------------------------- lengths and methods */

/* prope is p-rope, as people write it. */
static const extend_method *find_method(const char *name)
{
    return extend_find(strcmp(name, "prope") ? name : "p-rope");
}

static cli_exit unknown_method(const eval_job *j, const char *name)
{
    const char *names[EVAL_METHODS_MAX];
    char meant[80];
    int count = 0;
    for (; count < extend_method_count && count < EVAL_METHODS_MAX; count++)
        names[count] = extend_methods[count].name;
    return cli_fail(j->args, CLI_USAGE, "--extend has %s; needs methods of posenc extend, such as none,ntk,yarn%s",
                    name, cli_did_you_mean(meant, "", name, names, count));
}

static cli_exit add_method(eval_job *j, const extend_method *m)
{
    for (int n = 0; n < j->ask.methods; n++)
        if (j->ask.method[n] == m)
            return CLI_OK;
    if (j->ask.methods == EVAL_METHODS_MAX)
        return cli_fail(j->args, CLI_USAGE, "--extend has more than %d methods", EVAL_METHODS_MAX);
    j->ask.method[j->ask.methods++] = m;
    return CLI_OK;
}

static cli_exit read_methods(eval_job *j)
{
    const char *list = cli_text(j->args, "extend");
    char item[ITEM_MAX];
    if (!strcmp(list, "all")) {
        for (int n = 0; n < extend_method_count; n++)
            CLI_TRY(add_method(j, &extend_methods[n]));
        return CLI_OK;
    }
    while (cli_next_item(item, sizeof item, &list)) {
        const extend_method *m = find_method(item);
        if (!m)
            return unknown_method(j, item);
        CLI_TRY(add_method(j, m));
    }
    return CLI_OK;
}

/* Into j->ask; the model is open. */
static cli_exit read_ask(eval_job *j)
{
    const cli_args *a = j->args;
    int64_t trained = j->ask.options.trained ? j->ask.options.trained : j->zoo->part[0].trained;
    CLI_TRY(cli_read_lengths(j->ask.length, &j->ask.lengths, LAB_TESTS_MAX, LENGTH_MIN, trained, a, "lengths"));
    CLI_TRY(read_methods(j));
    if (cli_given(a, "windows") && cli_given(a, "tokens"))
        return cli_fail(a, CLI_USAGE,
                        "give --windows N, of the longest length, or --tokens N, of each length; not both");
    j->ask.windows = cli_int(a, "windows");
    j->ask.most = cli_int(a, "tokens");
    return CLI_OK;
}

/* ---------------------------------------------------------------- progress on stderr */

/* One line that is written over on a terminal; a plain line every few seconds elsewhere. */
#define EVERY 0.2 /* seconds */
#define PLAIN 5.0

typedef struct eval_progress {
    progress signals;
    double next; /* seconds */
    bool stopped;
} eval_progress;

static void show_progress(eval_progress *p, double now, const eval *e, int method, int length, double part)
{
    double left = (now - p->signals.start) * (1 - part) / (part > 0 ? part : 1);
    int64_t wait = left < 1e9 ? (int64_t)left + 1 : 0;
    fprintf(stderr, "%seval: %3.0f %%, %s at %" PRId64 ", %" PRId64 ":%02" PRId64 " left%s",
            p->signals.terminal ? "\r" : "", 100 * part, e->ask.method[method]->name, e->ask.length[length], wait / 60,
            wait % 60, p->signals.terminal ? "\033[K" : "\n");
    fflush(stderr);
    p->signals.shown = p->signals.terminal;
}

/* Whether to go on: eval_go_on. */
static bool step_progress(void *with, const eval *e, int method, int length, double part)
{
    eval_progress *p = with;
    double now = io_seconds();
    if (now > p->next && part < 1) {
        show_progress(p, now, e, method, length, part);
        p->next = now + (p->signals.terminal ? EVERY : PLAIN);
    }
    p->stopped = !progress_step(&p->signals, 0, 0);
    return !p->stopped;
}

/* ---------------------------------------------------------------- text that is generated */

/* Text of a model may spell orders to a terminal, which are not shown there; files and pipes get its bytes. */
typedef struct printed {
    FILE *to;
    bool shown; /* on a terminal */
    out_pieces pieces;
} printed;

static void print_text(void *with, const uint8_t *bytes, size_t size)
{
    printed *p = with;
    if (p->shown)
        out_piece(&p->pieces, bytes, size);
    else
        fwrite(bytes, 1, size, p->to);
    fflush(p->to);
}

static const char *prompt_of(const eval_job *j)
{
    const char *given = cli_text(j->args, "prompt");
    return given ? given : "";
}

static pe_status write_text(eval_job *j, FILE *to, pe_error *err)
{
    printed p = { .to = to, .shown = to == stdout && isatty(STDOUT_FILENO), .pieces = { .to = to } };
    const eval_voice voice = { prompt_of(j), cli_int(j->args, "generate"), j->temperature,
                               (uint64_t)cli_int(j->args, "seed") };
    pe_status s = eval_generate(j->m, j->tokens, &voice, print_text, &p, err);
    out_pieces_end(&p.pieces);
    return s;
}

static cli_exit add_text(eval_job *j, result *out)
{
    char *text = NULL;
    size_t size = 0;
    pe_error err = { 0 };
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return cli_fail(j->args, CLI_SYSTEM, "no memory");
    pe_status s = write_text(j, to, &err);
    bool kept = !ferror(to);
    if (fclose(to) || !kept)
        s = s ? s : io_fail(&err, PE_ERR_NOMEM, "no memory for the text");
    if (s == PE_OK) {
        result_text(out, "model", NULL, j->ask.path);
        result_text(out, "prompt", NULL, prompt_of(j));
        result_text(out, "text", NULL, text);
    }
    free(text);
    return s ? cli_fail_from(j->args, CLI_INPUT, NULL, &err) : CLI_OK;
}

/* As it comes, or as data when it is whole. */
static cli_exit generate(eval_job *j, result *out)
{
    pe_error err = { 0 };
    const char *heat = cli_text(j->args, "temperature");
    if (!cli_read_real(heat, &j->temperature) || !(j->temperature >= 0 && j->temperature <= TEMPERATURE_MAX))
        return cli_fail(j->args, CLI_USAGE, "--temperature is %s; needs 0 to %d, such as 0.8", heat, TEMPERATURE_MAX);
    if (cli_given(j->args, "json"))
        return add_text(j, out);
    pe_status s = write_text(j, stdout, &err);
    if (isatty(STDOUT_FILENO))
        putchar('\n');
    return s ? cli_fail_from(j->args, CLI_INPUT, NULL, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- the result */

/* What was measured on; where lengths are not asked for the same tokens, how many each was asked for. */
static void add_model(result *out, const eval *e)
{
    bool same = eval_same_tokens(e);
    result_text(out, "model", "model", e->ask.path);
    result_int(out, NULL, e->trained ? "trained length" : NULL, e->trained);
    result_int(out, "text_tokens", "tokens in the text", e->ask.tokens);
    result_flag(out, "same_tokens", NULL, same);
    if (same) {
        result_int(out, NULL, "measured at each length", e->blocks * e->block);
        result_unit(out, "tokens, the same at each");
        return;
    }
    result_open(out, RESULT_LIST, NULL, "measured");
    for (int n = 0; n < e->ask.lengths && e->ask.length[n] <= e->longest; n++)
        result_say(out, NULL, "", "%" PRId64 " tokens at %" PRId64,
                   eval_windows(e, e->ask.length[n]) * e->ask.length[n], e->ask.length[n]);
    result_close(out);
}

/* What was computed for a method at a length: its numbers are among the entries. */
static void add_plan(result *out, const eval *e, int method, int length)
{
    const lab_test_line *l = eval_line(e, method, length);
    const eval_cell *c = &e->cell[method][length];
    result_open(out, RESULT_RECORD, NULL, NULL);
    result_text(out, "method", NULL, e->ask.method[method]->name);
    result_int(out, "length", NULL, e->ask.length[length]);
    result_text(out, "spec", NULL, c->spec);
    result_flag(out, "changes_nothing", NULL, c->idle);
    if (l && !*l->cannot) {
        result_int(out, "windows", NULL, l->windows);
        result_int(out, "asked", NULL, l->asked_all);
        result_int(out, "right", NULL, l->right_all);
        result_real(out, "seconds", NULL, l->seconds);
    }
    result_close(out);
}

/* Methods that change nothing at a length: where that is true of all, it is said once. */
static void add_idle(result *out, const eval *e, int length)
{
    int idle = 0, others = 0;
    for (int m = 0; m < e->ask.methods; m++) {
        others += e->ask.method[m]->key != NULL;
        idle += e->ask.method[m]->key && e->cell[m][length].idle;
    }
    if (others && idle == others)
        result_say(out, NULL, "", "At %" PRId64 " no method changes anything: %s", e->ask.length[length],
                   e->choice[length].why);
    for (int m = 0; idle != others && m < e->ask.methods; m++)
        if (e->ask.method[m]->key && e->cell[m][length].idle)
            result_say(out, NULL, "", "At %" PRId64 " %s changes nothing.", e->ask.length[length],
                       e->ask.method[m]->name);
}

static void add_place(result *out, const char *name, const eval_place *p)
{
    result_open(out, RESULT_RECORD, name, NULL);
    result_text(out, "best", NULL, p->best ? p->best->name : NULL);
    if (p->place) {
        result_int(out, "place", NULL, p->place);
        result_real(out, "times_the_best", NULL, p->ratio);
        result_flag(out, "near_the_best", NULL, p->ratio <= EVAL_NEAR);
    }
    result_int(out, "of", NULL, p->of);
    result_close(out);
}

static void add_choice(result *out, const eval *e, int length)
{
    const eval_choice *c = &e->choice[length];
    char sentence[EVAL_SENTENCE];
    eval_choice_sentence(sentence, e, length);
    result_open(out, RESULT_RECORD, NULL, "");
    result_int(out, "length", NULL, e->ask.length[length]);
    result_text(out, "method", NULL, c->method ? c->method->name : NULL);
    result_text(out, "why", NULL, c->why);
    add_place(out, "whole_window", &c->whole);
    add_place(out, "last_quarter", &c->last);
    result_text(out, "words", *sentence && c->method ? "" : NULL, sentence);
    result_shown(out, "%s.", sentence);
    result_close(out);
}

/* The numbers are the report's (lab/report.h), without its note, which says what the recommendations say. */
static void add_eval(result *out, eval_job *j)
{
    const eval *e = &j->e;
    add_model(out, e);
    result_flag(out, "stopped", NULL, j->stopped);
    j->e.results.setup.note[0] = 0;
    lab_add_report(out, &e->results);
    result_open(out, RESULT_LIST, "plans", NULL);
    for (int n = 0; n < e->ask.lengths; n++)
        for (int m = 0; m < e->ask.methods; m++)
            add_plan(out, e, m, n);
    result_close(out);
    result_open(out, RESULT_RECORD, NULL, "Recommendations");
    for (int n = 0; n < e->ask.lengths; n++)
        add_idle(out, e, n);
    result_open(out, RESULT_LIST, "recommendations", "");
    for (int n = 0; n < e->ask.lengths; n++)
        add_choice(out, e, n);
    result_close(out);
    result_close(out);
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

static cli_exit measure_model(eval_job *j, result *out)
{
    const cli_args *a = j->args;
    pe_error err = { 0 };
    CLI_TRY(load_text(j));
    CLI_TRY(read_ask(j));
    if (cli_given(a, "out") && eval_check_folder(cli_text(a, "out"), &err)) /* before hours of work */
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    if (eval_plan(&j->e, &j->ask, j->zoo, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    eval_progress p = { .signals = progress_start("eval") };
    p.next = p.signals.start + (p.signals.terminal ? EVERY : PLAIN);
    pe_status s = eval_measure(&j->e, j->m, step_progress, &p, &err);
    progress_end(&p.signals);
    j->stopped = p.stopped;
    if (s)
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    eval_judge(&j->e);
    cli_exit code = write_folder(j);
    if (code && cli_given(a, "json"))
        return code;
    add_eval(out, j);
    cli_exit written = cli_write_now(a, out);
    code = code ? code : written;
    return !code && j->stopped ? cli_fail(a, CLI_STOPPED, "stopped before the end: the result is what was measured")
                               : code;
}

static cli_exit run_eval(eval_job *j, result *out)
{
    CLI_TRY(load_model(j));
    if (has_bytes(j))
        CLI_TRY(load_bytes_tokens(j));
    else if (cli_given(j->args, "tokenizer"))
        CLI_TRY(load_tokenizer(j));
    return cli_given(j->args, "generate") ? generate(j, out) : measure_model(j, out);
}

static cli_exit eval_verb(const cli_args *a, result *out)
{
    eval_job *j = calloc(1, sizeof *j);
    if (!j)
        return cli_fail(a, CLI_SYSTEM, "no memory");
    j->args = a;
    cli_exit code = run_eval(j, out);
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
    .summary = "measure a trained model's perplexity beyond its trained length",
    .operands = "MODEL",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = eval_verb,
};
