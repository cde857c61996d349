/* SPDX-License-Identifier: MIT */
#include "cli/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void job_free(cli_job *j)
{
    pe_encoding_free(j->e);
    free(j->params.data);
    free((void *)j->at.data);
    if (j->k_at.data != j->at.data)
        free((void *)j->k_at.data);
    io_array_free(&j->in);
    io_array_free(&j->out);
}

static bool is_stream(const char *file)
{
    return file && !strcmp(file, "-");
}

/* stdin serves one option; stdout takes an array or JSON; neither array is for a terminal. */
static cli_exit check_streams(const cli_args *a)
{
    const char *from = NULL;
    for (int i = 0; i < a->verb->option_count; i++) {
        const cli_option *o = &a->verb->options[i];
        if (o->kind != CLI_FILE_IN || !is_stream(a->text[i]))
            continue;
        if (from)
            return cli_fail(a, CLI_USAGE, "--%s and --%s cannot both be stdin; give one of them a file", from, o->name);
        from = o->name;
    }
    if (from && isatty(STDIN_FILENO))
        return cli_fail(a, CLI_USAGE, "--%s is -, and stdin is a terminal; give it a .npy: --%s - <FILE", from, from);
    if (!is_stream(cli_text(a, "out")))
        return CLI_OK;
    if (cli_given(a, "json"))
        return cli_fail(a, CLI_USAGE, "--json and -o - both write to stdout; choose one, or give -o a file");
    if (isatty(STDOUT_FILENO))
        return cli_fail(a, CLI_USAGE, "-o - writes binary data, and stdout is a terminal; redirect it: -o - >FILE");
    return CLI_OK;
}

cli_exit job_run(const cli_args *a, result *out, cli_exit (*work)(cli_job *j))
{
    cli_job j = { .args = a, .tree = out };
    cli_exit code = check_streams(a);
    if (!code)
        code = work(&j);
    job_free(&j);
    return code;
}

pe_shape job_shape(const cli_args *a)
{
    return (pe_shape){ cli_int(a, "heads"), cli_int(a, "kv-heads"), cli_int(a, "head-dim"), cli_int(a, "model-dim") };
}

cli_exit job_encoding(cli_job *j, pe_shape shape)
{
    pe_error err;
    if (pe_encoding_new(&j->e, j->args->operand[0], shape, &err))
        return cli_fail_from(j->args, CLI_USAGE, NULL, &err);
    return CLI_OK;
}

cli_exit job_fail(const cli_job *j, const pe_error *err)
{
    const cli_args *a = j->args;
    bool files = cli_given(a, "in") || cli_given(a, "pos") || cli_given(a, "kpos") || cli_given(a, "params");
    return cli_fail_from(a, files ? CLI_INPUT : CLI_USAGE, NULL, err);
}

const char *job_file(const cli_args *a, const char *option)
{
    const char *file = cli_text(a, option);
    return is_stream(file) ? "stdin" : file;
}

/* The sentence for the first hook that the encoding has; the spec is put behind every verb. */
static const struct {
    unsigned hooks;
    const char *advice, *verb, *other;
} advice[] = {
    { PE_HOOK_BIAS, "adds to the attention scores by position", "bias", NULL },
    { PE_HOOK_EMBED | PE_HOOK_ROTATE, "changes vectors by position", "table", "apply" },
    { PE_HOOK_CONTENT | PE_HOOK_VALUE, "reads q and k inside attention; in C: pe_reference_forward", NULL, NULL },
    { ~0u, "does nothing, by design", NULL, NULL },
};

cli_exit cli_fail_unsuited(const cli_args *a, const pe_encoding *e, const char *wanted)
{
    const char *spec = pe_encoding_spec(e);
    char try_this[200] = "", or_this[200] = "";
    int i = 0;
    while (i < CLI_COUNT(advice) - 1 && !(pe_encoding_hooks(e) & advice[i].hooks))
        i++;
    if (advice[i].verb)
        snprintf(try_this, sizeof try_this, "; try posenc %s %.100s", advice[i].verb, spec);
    if (advice[i].other)
        snprintf(or_this, sizeof or_this, ", posenc %s %.100s", advice[i].other, spec);
    return cli_fail(a, CLI_USAGE, "%s has no %s: it %s%s%s", spec, wanted, advice[i].advice, try_this, or_this);
}

static pe_status load_stdin(io_array *out, unsigned flags, pe_error *err)
{
    io_bytes bytes;
    pe_status s = io_read_stream(&bytes, STDIN_FILENO, "stdin", IO_CAP_DATA, err);
    if (!s)
        s = io_npy_parse(out, &bytes, flags, err);
    io_bytes_free(&bytes);
    return s;
}

cli_exit job_load(const cli_job *j, io_array *out, const char *option, unsigned flags)
{
    pe_error err;
    const char *file = cli_text(j->args, option);
    *out = (io_array){ 0 };
    if (is_stream(file) ? load_stdin(out, flags, &err) : io_npy_load(out, file, flags, &err))
        return cli_fail_from(j->args, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

static cli_exit params_from_file(cli_job *j, const char *file)
{
    io_array block;
    CLI_TRY(job_load(j, &block, "params", 0));
    j->params = (pe_params){ .data = block.data, .count = block.count };
    if (!array_type(&block, &j->params.dtype))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64", file,
                        io_type_name(block.type));
    if (block.count != pe_encoding_param_count(j->e))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %" PRId64 " numbers; %s has %" PRId64 " parameters", file,
                        block.count, pe_encoding_spec(j->e), pe_encoding_param_count(j->e));
    return CLI_OK;
}

cli_exit job_given_params(const cli_args *a, pe_params *out)
{
    pe_error err;
    io_array file;
    double *data;
    *out = (pe_params){ .dtype = PE_F64 };
    if (!cli_given(a, "params"))
        return CLI_OK;
    CLI_TRY(job_load(&(cli_job){ .args = a }, &file, "params", 0));
    pe_status status = io_array_to_f64(&data, &file, &err);
    if (!status)
        *out = (pe_params){ .data = data, .dtype = PE_F64, .count = file.count };
    io_array_free(&file);
    return status ? cli_fail_from(a, CLI_INPUT, job_file(a, "params"), &err) : CLI_OK;
}

cli_exit job_fail_given(const cli_args *a, const pe_error *err)
{
    bool file = err->status == PE_ERR_FORMAT;
    return cli_fail_from(a, file ? CLI_INPUT : CLI_USAGE, file ? job_file(a, "params") : NULL, err);
}

cli_exit job_params(cli_job *j)
{
    pe_error err;
    const char *file = job_file(j->args, "params");
    int64_t count = pe_encoding_param_count(j->e);
    if (file)
        return params_from_file(j, file);
    if (!count)
        return CLI_OK;
    j->params = (pe_params){ .dtype = PE_F32, .count = count };
    CLI_TRY(array_memory(j->args, &j->params.data, "the learned parameters", count, sizeof(float)));
    if (pe_encoding_init(j->e, j->params, (uint64_t)cli_int(j->args, "seed"), &err))
        return cli_fail_from(j->args, CLI_USAGE, NULL, &err);
    return CLI_OK;
}

cli_exit job_hook(cli_job *j)
{
    static const unsigned wanted[] = { PE_HOOK_EMBED, PE_HOOK_ROTATE };
    unsigned both = PE_HOOK_EMBED | PE_HOOK_ROTATE, has = pe_encoding_hooks(j->e) & both;
    int choice = cli_choice(j->args, "hook");
    if (has == both && choice < 0)
        return cli_fail(j->args, CLI_USAGE,
                        "%s adds an embedding and rotates; say which: --hook embed or --hook rotate",
                        pe_encoding_spec(j->e));
    j->hook = choice < 0 ? has : has & wanted[choice];
    if (!j->hook)
        return cli_fail_unsuited(j->args, j->e,
                                 choice < 0 ? "embedding and no rotation"
                                 : choice   ? "rotation"
                                            : "embedding");
    if (j->hook == PE_HOOK_EMBED && cli_given(j->args, "side"))
        cli_note(j->args, "--side is for rotations; the embedding that %s adds is the same for all",
                 pe_encoding_spec(j->e));
    return CLI_OK;
}

/* Whether the file has positions of each sequence: (B, T) of one axis, (B, T, axes). */
static bool has_batch(const io_array *a, int64_t axes, int64_t batch, int64_t tokens)
{
    bool flat = a->rank == 2 && axes == 1 && !(a->shape[0] == tokens && a->shape[1] == 1);
    return (flat || (a->rank == 3 && a->shape[2] == axes)) && a->shape[0] == batch && a->shape[1] == tokens;
}

/* Whole numbers as they are; fractions, where they may be, as float64. */
static pe_status positions_of_array(pe_positions *out, const io_array *a, bool fractions, pe_error *err)
{
    int64_t *whole;
    double *real;
    pe_dtype type = PE_I64;
    pe_status s = io_array_to_i64(&whole, a, err);
    if (s && fractions && !(s = io_array_to_f64(&real, a, err)))
        type = PE_F64;
    if (!s)
        *out = pe_positions_of(type == PE_I64 ? (void *)whole : (void *)real, type, out->batch, out->tokens, out->axes);
    return s;
}

/* batch 0: positions of one sequence; tokens -1: as many as there are. Fractions where there is a hook of vectors. */
static cli_exit positions_from_file(cli_job *j, pe_positions *out, const char *option, int64_t batch, int64_t tokens)
{
    pe_error err;
    const char *file = job_file(j->args, option), *spec = pe_encoding_spec(j->e);
    io_array a;
    int64_t axes = pe_encoding_axes(j->e);
    char shape[160];
    CLI_TRY(job_load(j, &a, option, 0));
    array_shape(shape, &a);
    bool one = (a.rank == 1 && axes == 1) || (a.rank == 2 && a.shape[1] == axes);
    bool each = batch && has_batch(&a, axes, batch, tokens);
    int64_t found = a.rank ? a.shape[0] : 0;
    bool fits = each || (batch && has_batch(&a, axes, 1, tokens)) || (one && (tokens < 0 || found == tokens));
    pe_positions at = { .batch = each ? batch : 1, .tokens = tokens < 0 ? found : tokens, .axes = axes };
    pe_status s = fits ? positions_of_array(&at, &a, j->hook, &err) : PE_OK;
    io_array_free(&a);
    if (fits && !s)
        *out = at;
    else if (fits)
        return cli_fail_from(j->args, CLI_INPUT, file, &err);
    else if (one)
        return cli_fail(j->args, CLI_INPUT, "%s: holds %" PRId64 " positions; there are %" PRId64 " tokens", file,
                        found, tokens);
    else if (!batch)
        return cli_fail(j->args, CLI_INPUT, "%s: shape is %s; %s needs (n, %" PRId64 ")%s", file, shape, spec, axes,
                        axes == 1 ? " or (n,)" : "");
    else
        return cli_fail(j->args, CLI_INPUT,
                        "%s: shape is %s; %" PRId64 " sequences of %" PRId64 " tokens need (%" PRId64 ", %" PRId64
                        ") or (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                        file, shape, batch, tokens, tokens, axes, batch, tokens, axes);
    return CLI_OK;
}

static cli_exit positions_in_order(cli_job *j, pe_positions *out, int64_t tokens)
{
    int64_t axes = pe_encoding_axes(j->e), start = cli_int(j->args, "start");
    if (axes > 1)
        return cli_fail(j->args, CLI_USAGE,
                        "%s needs %" PRId64 " coordinates per token; give --pos FILE: .npy, int64, shape (n, %" PRId64
                        "), a row of coordinates for each token",
                        pe_encoding_spec(j->e), axes, axes);
    if (start < -PE_POSITION_MAX || start > PE_POSITION_MAX || tokens - 1 > PE_POSITION_MAX - start)
        return cli_fail(j->args, CLI_USAGE, "start is %" PRId64 "; positions need to stay within -2^36 to 2^36", start);
    *out = pe_positions_run(1, tokens, start);
    out->axes = 1;
    return CLI_OK;
}

static cli_exit find_positions(cli_job *j, pe_positions *out, const char *option, int64_t batch, int64_t tokens)
{
    const cli_args *a = j->args;
    if (cli_given(a, "pos") && (cli_given(a, "count") || cli_given(a, "start")))
        return cli_fail(a, CLI_USAGE, "--pos and %s exclude each other: the file holds every position",
                        cli_given(a, "count") ? "-n" : "--start");
    if (cli_given(a, option))
        return positions_from_file(j, out, option, batch, tokens);
    if (tokens < 0 && !cli_given(a, "count") && pe_encoding_axes(j->e) == 1)
        return cli_fail(a, CLI_USAGE, "needs positions: -n N, or --%s FILE", option);
    return positions_in_order(j, out, tokens < 0 ? cli_int(a, "count") : tokens);
}

cli_exit job_positions(cli_job *j, pe_positions *out, const char *option, int64_t tokens)
{
    return find_positions(j, out, option, 0, tokens);
}

cli_exit job_positions_of(cli_job *j, int64_t batch, int64_t tokens)
{
    return find_positions(j, &j->at, "pos", batch, tokens);
}

/* ---------------------------------------------------------------- the end */

static void add_encoding(result *out, const pe_encoding *e)
{
    pe_shape s = pe_encoding_shape(e);
    result_open(out, RESULT_RECORD, "encoding", NULL);
    result_int(out, "heads", NULL, s.heads);
    result_int(out, "kv_heads", NULL, s.kv_heads);
    result_int(out, "head_dim", NULL, s.head_dim);
    result_int(out, "model_dim", NULL, s.model_dim);
    result_int(out, "axes", NULL, pe_encoding_axes(e));
    result_real(out, "scale", NULL, pe_encoding_scale(e));
    result_int(out, "parameters", NULL, pe_encoding_param_count(e));
    result_close(out);
}

void job_note_alike(const cli_args *a, const pe_encoding *e)
{
    pe_inputs in = pe_encoding_inputs(e);
    if (in.gates)
        cli_note(a,
                 "%.200s takes a gate per token; here all tokens are alike: head h forgets by exp(-2^-(h+1)) per "
                 "position",
                 pe_encoding_spec(e));
    if (in.relative)
        cli_note(a, "%.200s takes a vector per token; here all tokens have the same one, drawn at random",
                 pe_encoding_spec(e));
}

/* The array passes to the tree. */
static void add_data(cli_job *j)
{
    result_array(j->tree, "data", j->out.data, j->dtype, j->out.rank, j->out.shape);
    result_own(j->tree, j->out.data, free);
    j->out = (io_array){ 0 };
}

/* A write that fails is told by cli_main, which looks at stdout last. */
static cli_exit write_array_stdout(const cli_job *j)
{
    pe_error err;
    char header[IO_NPY_HEADER_MAX];
    size_t size, each = io_type_size(j->out.type), count = (size_t)j->out.count;
    if (io_npy_header(header, &size, &j->out, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    bool done = fwrite(header, 1, size, stdout) == size && fwrite(j->out.data, each, count, stdout) == count;
    return done && !fflush(stdout) ? CLI_OK : CLI_SYSTEM;
}

static cli_exit write_array(const cli_job *j, const char *file, const char *shape)
{
    pe_error err;
    if (is_stream(file))
        CLI_TRY(write_array_stdout(j));
    else if (io_npy_save(file, &j->out, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    if (!cli_given(j->args, "json"))
        cli_note(j->args, "wrote %s: %s %s", is_stream(file) ? "stdout" : file, shape, array_type_name(j->dtype));
    return CLI_OK;
}

/* With the rows that were not computed. */
static void whole_shape(char out[160], const cli_job *j)
{
    io_array whole = j->out;
    if (whole.rank > 1)
        whole.shape[whole.rank - 2] += j->rest;
    array_shape(out, &whole);
}

cli_exit job_finish(cli_job *j, void (*fields)(const cli_job *), void (*preview)(const cli_job *))
{
    char shape[160];
    result *out = j->tree;
    const char *file = cli_text(j->args, "out"), *spec = pe_encoding_spec(j->e), *type = array_type_name(j->dtype);
    whole_shape(shape, j);
    if (file)
        CLI_TRY(write_array(j, file, shape));
    result_text(out, "verb", NULL, j->args->verb->name);
    result_text(out, "spec", NULL, j->args->operand[0]);
    result_text(out, "canonical", NULL, spec);
    result_say(out, "fingerprint", NULL, "%016" PRIx64, pe_encoding_fingerprint(j->e));
    add_encoding(out, j->e);
    result_text(out, "hook", NULL, pe_hook_name(j->hook));
    fields(j);
    result_ints(out, "shape", j->out.shape, j->out.rank);
    result_text(out, "dtype", NULL, type);
    result_text(out, "out", NULL, file);
    if (!file) {
        result_say(out, NULL, "", "%s: %s %s", spec, shape, type);
        preview(j);
        add_data(j);
    }
    return CLI_OK;
}
