/* SPDX-License-Identifier: MIT
 *
 * posenc apply: vectors in, vectors with their positions out. */
#include "cli/job.h"

#include <string.h>

static const cli_option options[] = {
    { "in", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "vectors from this .npy: q or k (T, H, D) or (T, D); x (T, C)" },
    CLI_OPTION_OUT,
    CLI_OPTION_POS,
    CLI_OPTION_START,
    { "side", 0, CLI_CHOICE, "query|key|value|output", "query", 0, 0, "what the vectors are" },
    { "inverse", 0, CLI_FLAG, NULL, NULL, 0, 0, "undo a rotation: angle negated, reciprocal magnitude" },
    { "back", 0, CLI_FLAG, NULL, NULL, 0, 0, "a rotation's gradient: angle negated, same magnitude" },
    { "hook", 0, CLI_CHOICE, "embed|rotate", NULL, 0, 0, "which, where a spec has both" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "the file's uint16 are bfloat16" },
    CLI_OPTIONS_PARAMS,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc apply rope --in q.npy --pos p.npy --out y.npy", "queries (T, H, D) turned by positions (T,)" },
    { "posenc apply rope --in y.npy --pos p.npy --inverse --out q2.npy", "and turned back" },
    { "posenc apply rope --in q.npy --start 4096 --json --out y.npy",
      "4096 tokens are in the cache; says what was done" },
    { "posenc apply sinusoidal --in x.npy --out y.npy", "embeddings (T, C) plus their codes" },
    { "posenc table learned -n 8 --model-dim 64 -o - | posenc apply rope --in - -o y.npy", "through a pipe" },
};

static const char notes[] =
    "  Heads and widths are those of the file, and so is the element type: float32, float16, float64.\n"
    "  Without --pos the tokens stand at start, start + 1, ...\n";

static cli_exit load(cli_job *j)
{
    const char *file = job_file(j->args, "in");
    bool bf16 = cli_given(j->args, "bf16");
    if (!file)
        return cli_fail(j->args, CLI_USAGE, "needs --in FILE: the vectors, as .npy");
    if (cli_given(j->args, "inverse") && cli_given(j->args, "back"))
        return cli_fail(j->args, CLI_USAGE, "--inverse and --back do not go together; say which");
    CLI_TRY(job_load(j, &j->in, "in", bf16 ? IO_NPY_BF16 : 0));
    if (bf16 && j->in.type != IO_BF16)
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; --bf16 says that its uint16 are bfloat16; leave it out",
                        file, io_type_name(j->in.type));
    if (!array_type(&j->in, &j->dtype))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", file,
                        io_type_name(j->in.type), j->in.type == IO_U16 ? " (or bfloat16, with --bf16)" : "");
    if (j->in.rank != 2 && j->in.rank != 3) {
        char shape[160];
        array_shape(shape, &j->in);
        return cli_fail(j->args, CLI_INPUT, "%s: shape is %s; needs (T, D) or (T, H, D)", file, shape);
    }
    return CLI_OK;
}

/* The encoding that fits the file: (T, D) is one head. Embeddings may be wider than any head. */
static cli_exit make(cli_job *j)
{
    int64_t heads = j->in.rank == 3 ? j->in.shape[1] : 1, width = j->in.shape[j->in.rank - 1];
    bool wide = width > PE_HEAD_DIM_MAX;
    pe_shape shape = { .heads = heads, .head_dim = wide ? 64 : width, .model_dim = wide ? width : 0 };
    CLI_TRY(job_encoding(j, shape));
    CLI_TRY(job_hook(j));
    if (wide && j->hook == PE_HOOK_ROTATE)
        return cli_fail(j->args, CLI_INPUT, "%s: heads are %lld wide; needs %d at most", job_file(j->args, "in"),
                        (long long)width, PE_HEAD_DIM_MAX);
    return CLI_OK;
}

/* Tried on a head of ones at position 1: what is turned there and comes back the same is turned nowhere. */
static bool is_identity(const pe_encoding *e, pe_side side)
{
    double x[PE_HEAD_DIM_MAX], y[PE_HEAD_DIM_MAX];
    int64_t at[PE_AXES_MAX], width = pe_encoding_shape(e).head_dim;
    for (int64_t d = 0; d < width; d++)
        x[d] = 1;
    for (int a = 0; a < PE_AXES_MAX; a++)
        at[a] = 1;
    return !pe_encoding_rotate(e, side, pe_view_packed(y, PE_F64, 1, 1, width), pe_view_packed(x, PE_F64, 1, 1, width),
                               (pe_positions){ .at = at, .tokens = 1, .axes = pe_encoding_axes(e) }, NULL) &&
           !memcmp(x, y, (size_t)width * sizeof *x);
}

static cli_exit rotate(cli_job *j)
{
    static pe_status (*const turn[])(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions,
                                     pe_error *) = { pe_encoding_rotate, pe_encoding_unrotate,
                                                     pe_encoding_rotate_back };
    pe_error err;
    pe_shape s = pe_encoding_shape(j->e);
    pe_side side = (pe_side)cli_choice(j->args, "side");
    CLI_TRY(array_new(j->args, &j->out, j->dtype, j->in.rank, j->in.shape));
    pe_view x = pe_view_packed(j->in.data, j->dtype, j->in.shape[0], s.heads, s.head_dim), y = x;
    y.data = j->out.data;
    int way = cli_given(j->args, "inverse") ? 1 : cli_given(j->args, "back") ? 2 : 0;
    if (turn[way](j->e, side, y, x, j->at, &err))
        return job_fail(j, &err);
    if (is_identity(j->e, side) && !memcmp(j->in.data, j->out.data, (size_t)j->out.count * pe_dtype_size(j->dtype)))
        cli_note(j->args, "%s does not turn this side (%s): the vectors are as they were", pe_encoding_spec(j->e),
                 cli_text(j->args, "side"));
    return CLI_OK;
}

static cli_exit embed(cli_job *j)
{
    pe_error err;
    const io_array *in = &j->in;
    bool back = cli_given(j->args, "back");
    if (back || cli_given(j->args, "inverse"))
        return cli_fail(j->args, CLI_USAGE, "--%s is for rotations; %s adds a code", back ? "back" : "inverse",
                        pe_encoding_spec(j->e));
    if (in->rank != 2)
        return cli_fail(j->args, CLI_INPUT, "%s: has %d dimensions; %s takes embeddings (T, C)",
                        job_file(j->args, "in"), in->rank, pe_encoding_spec(j->e));
    int64_t width = pe_encoding_embed_width(j->e, in->shape[1]);
    CLI_TRY(array_new(j->args, &j->out, j->dtype, 2, (int64_t[]){ in->shape[0], width }));
    if (pe_encoding_embed(j->e, j->params, pe_view_packed(j->out.data, j->dtype, in->shape[0], 1, width),
                          pe_view_packed(in->data, j->dtype, in->shape[0], 1, in->shape[1]), j->at, &err))
        return job_fail(j, &err);
    return CLI_OK;
}

static void fields(json_out *out, const cli_job *j)
{
    const cli_args *a = j->args;
    if (j->hook == PE_HOOK_ROTATE) {
        out_text(out, "side", cli_text(a, "side"));
        out_text(out, "direction", cli_given(a, "inverse") ? "inverse" : cli_given(a, "back") ? "back" : "forward");
    }
    out_text(out, "in", cli_text(a, "in"));
    out_ints(out, "in_shape", j->in.shape, j->in.rank);
    out_text(out, "pos", cli_text(a, "pos"));
    if (!cli_given(a, "pos"))
        out_int(out, "start", cli_int(a, "start"));
}

/* Every head of a token on one line. */
static void preview(const cli_job *j)
{
    int64_t tokens = j->out.shape[0];
    array_preview(&j->out, j->dtype, (array_block){ 0, tokens, tokens ? j->out.count / tokens : 0, &j->at, NULL });
}

static cli_exit work(cli_job *j)
{
    CLI_TRY(load(j));
    CLI_TRY(make(j));
    CLI_TRY(job_positions(j, &j->at, "pos", j->in.shape[0]));
    CLI_TRY(job_params(j));
    CLI_TRY(j->hook == PE_HOOK_EMBED ? embed(j) : rotate(j));
    return job_finish(j, fields, preview);
}

static cli_exit run(const cli_args *a)
{
    return job_run(a, work);
}

const cli_verb cli_verb_apply = {
    .name = "apply",
    .summary = "vectors turned by their positions, or with their codes added",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = run,
};
