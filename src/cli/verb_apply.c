/* SPDX-License-Identifier: MIT
 *
 * posenc apply: vectors are rotated by their positions, or get position embeddings added. */
#include "cli/job.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    { "in", 0, CLI_FILE_IN, "FILE", NULL, 0, 0,
      "vectors from this .npy: q or k (T, H, D) or (T, D), embeddings (T, C)" },
    CLI_OPTION_OUT,
    CLI_OPTION_POS_REAL,
    CLI_OPTION_START,
    { "side", 0, CLI_CHOICE, "query|key|value|output", "query", 0, 0, "what the vectors are" },
    { "inverse", 0, CLI_FLAG, NULL, NULL, 0, 0, "undo a rotation: negate the angle, divide by the magnitude" },
    { "back", 0, CLI_FLAG, NULL, NULL, 0, 0, "the gradient of a rotation: negate the angle, keep the magnitude" },
    { "hook", 0, CLI_CHOICE, "embed|rotate", NULL, 0, 0, "embedding or rotation, for a spec that has both" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "read the uint16 of the file as bfloat16" },
    CLI_OPTIONS_PARAMS,
    CLI_OPTION_LANG,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc apply rope --in q.npy --pos p.npy --out y.npy", "rotate queries (T, H, D) by their positions (T,)" },
    { "posenc apply rope --in y.npy --pos p.npy --inverse --out q2.npy", "undo that rotation" },
    { "posenc apply rope --in q.npy --start 4096 --json --out y.npy",
      "the first token is at position 4096; prints what was done as JSON" },
    { "posenc apply sinusoidal --in x.npy --out y.npy", "add position embeddings to embeddings (T, C)" },
    { "posenc table learned -n 8 --model-dim 64 -o - | posenc apply rope --in - -o y.npy", "read from a pipe" },
};

static const char notes[] =
    "The number of heads, the head dimension and the element type (float32, float16, float64) are those of the file.\n"
    "Without --pos the positions are start, start + 1, and so on.\n"
    "A batch has one more axis: (B, T, H, D) or (B, T, C). Every sequence has the same positions, unless those of "
    "--pos "
    "have an axis for the batch too.";

static cli_exit load_vectors(cli_job *j)
{
    const char *file = job_file(j->args, "in");
    bool bf16 = cli_given(j->args, "bf16");
    if (!file)
        return cli_fail(j->args, CLI_USAGE, "needs --in FILE: the vectors, as .npy");
    if (cli_given(j->args, "inverse") && cli_given(j->args, "back"))
        return cli_fail(j->args, CLI_USAGE, "--inverse and --back exclude each other; give one of them");
    CLI_TRY(job_load(j, &j->in, "in", bf16 ? IO_NPY_BF16 : 0));
    if (bf16 && j->in.type != IO_BF16)
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; --bf16 says that its uint16 are bfloat16; leave it out",
                        file, io_type_name(j->in.type));
    if (!array_type(&j->in, &j->dtype))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", file,
                        io_type_name(j->in.type), j->in.type == IO_U16 ? " (or bfloat16, with --bf16)" : "");
    if (j->in.rank < 2 || j->in.rank > 4) {
        char shape[160];
        array_shape(shape, &j->in);
        return cli_fail(j->args, CLI_INPUT, "%s: shape is %s; needs (T, D) or (T, H, D), or a batch, (B, T, H, D)",
                        file, shape);
    }
    return CLI_OK;
}

/* Whether the spec, by its rows or by --hook, adds codes: then vectors have no heads. */
static bool has_no_heads(const cli_args *a)
{
    unsigned hooks = 0;
    for (int i = 0; i < zoo_spec_parts(a->operand[0]); i++) {
        char *part = zoo_spec_part(a->operand[0], i);
        const pe_info *row = part ? zoo_spec_row(part) : NULL;
        hooks |= row ? row->hooks : 0;
        free(part);
    }
    int choice = cli_choice(a, "hook");
    return choice < 0 ? (hooks & PE_HOOK_EMBED) && !(hooks & PE_HOOK_ROTATE) : !choice;
}

typedef struct sizes {
    int64_t batch, tokens, heads, width;
} sizes;

/* (T, D), (T, H, D), (B, T, H, D); without heads (T, C), (B, T, C). */
static sizes sizes_of(const cli_job *j)
{
    const io_array *in = &j->in;
    bool heads = in->rank > 2 && !has_no_heads(j->args);
    int tokens = in->rank - (heads ? 3 : 2);
    return (sizes){ tokens ? in->shape[0] : 1, in->shape[tokens], heads ? in->shape[tokens + 1] : 1,
                    in->shape[in->rank - 1] };
}

/* The encoding that fits the file: (T, D) is one head. Embeddings may be wider than any head. */
static cli_exit make_encoding(cli_job *j)
{
    sizes s = sizes_of(j);
    bool wide = s.width > PE_HEAD_DIM_MAX;
    pe_shape shape = { .heads = s.heads, .head_dim = wide ? 64 : s.width, .model_dim = wide ? s.width : 0 };
    CLI_TRY(job_encoding(j, shape));
    CLI_TRY(job_hook(j));
    if (wide && j->hook == PE_HOOK_ROTATE)
        return cli_fail(j->args, CLI_INPUT, "%s: heads are %" PRId64 " wide; needs %d at most", job_file(j->args, "in"),
                        s.width, PE_HEAD_DIM_MAX);
    return CLI_OK;
}

/* Tried on a head of ones at position 1: what is rotated there and comes back the same is rotated nowhere. */
static bool is_identity(const pe_encoding *e, pe_side side, const pe_run *run)
{
    double x[PE_HEAD_DIM_MAX], y[PE_HEAD_DIM_MAX];
    int64_t width = pe_encoding_shape(e).head_dim;
    for (int64_t d = 0; d < width; d++)
        x[d] = 1;
    return !pe_rotate(e, side, pe_view_of(y, PE_F64, 1, 1, 1, width), pe_view_of(x, PE_F64, 1, 1, 1, width),
                      pe_positions_run(1, 1, 1), run, NULL) &&
           !memcmp(x, y, (size_t)width * sizeof *x);
}

/* The same positions in every sequence, unless the file had each one's. */
static pe_positions for_each(pe_positions at, int64_t batch)
{
    if (at.batch != batch)
        at.batch_stride = 0;
    at.batch = batch;
    return at;
}

static cli_exit rotate_vectors(cli_job *j)
{
    static pe_status (*const rotate[])(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *,
                                       pe_error *) = { pe_rotate, pe_unrotate, pe_rotate_back };
    pe_error err;
    sizes s = sizes_of(j);
    pe_side side = (pe_side)cli_choice(j->args, "side");
    CLI_TRY(array_new(j->args, &j->out, j->dtype, j->in.rank, j->in.shape));
    pe_view x = pe_view_of(j->in.data, j->dtype, s.batch, s.tokens, s.heads, s.width), y = x;
    y.data = j->out.data;
    pe_run run = PE_MAKE(pe_run, .params = j->params);
    int way = cli_given(j->args, "inverse") ? 1 : cli_given(j->args, "back") ? 2 : 0;
    if (rotate[way](j->e, side, y, x, for_each(j->at, s.batch), &run, &err))
        return job_fail(j, &err);
    if (is_identity(j->e, side, &run) &&
        !memcmp(j->in.data, j->out.data, (size_t)j->out.count * pe_dtype_size(j->dtype)))
        cli_note(j->args, "%s does not rotate this side (%s): the vectors are unchanged", pe_encoding_spec(j->e),
                 cli_text(j->args, "side"));
    return CLI_OK;
}

static cli_exit embed_vectors(cli_job *j)
{
    pe_error err;
    const io_array *in = &j->in;
    bool back = cli_given(j->args, "back");
    if (back || cli_given(j->args, "inverse"))
        return cli_fail(j->args, CLI_USAGE, "--%s is for rotations; %s adds an embedding", back ? "back" : "inverse",
                        pe_encoding_spec(j->e));
    if (in->rank > 3)
        return cli_fail(j->args, CLI_INPUT, "%s: has %d dimensions; %s takes embeddings (T, C) or (B, T, C)",
                        job_file(j->args, "in"), in->rank, pe_encoding_spec(j->e));
    sizes s = sizes_of(j);
    int64_t width = pe_embed_width(j->e, s.width), batch[] = { s.batch, s.tokens, width };
    CLI_TRY(array_new(j->args, &j->out, j->dtype, in->rank, batch + 3 - in->rank));
    if (pe_embed(j->e, pe_view_of(j->out.data, j->dtype, s.batch, s.tokens, 1, width),
                 pe_view_of(in->data, j->dtype, s.batch, s.tokens, 1, s.width), for_each(j->at, s.batch),
                 &PE_MAKE(pe_run, .params = j->params), &err))
        return job_fail(j, &err);
    return CLI_OK;
}

static void apply_fields(const cli_job *j)
{
    const cli_args *a = j->args;
    if (j->hook == PE_HOOK_ROTATE) {
        result_text(j->tree, "side", NULL, cli_text(a, "side"));
        result_text(j->tree, "direction", NULL,
                    cli_given(a, "inverse") ? "inverse"
                    : cli_given(a, "back")  ? "back"
                                            : "forward");
    }
    result_text(j->tree, "in", NULL, cli_text(a, "in"));
    result_ints(j->tree, "in_shape", j->in.shape, j->in.rank);
    result_text(j->tree, "pos", NULL, cli_text(a, "pos"));
    if (!cli_given(a, "pos"))
        result_int(j->tree, "start", NULL, cli_int(a, "start"));
}

/* Every head of a token on one line. */
static void apply_preview(const cli_job *j)
{
    sizes s = sizes_of(j);
    int64_t rows = s.batch * s.tokens;
    if (s.batch > 1)
        result_say(j->tree, NULL, "", "sequence 0 of %" PRId64, s.batch);
    if (s.heads > 1 && j->hook == PE_HOOK_ROTATE)
        result_say(j->tree, NULL, "",
                   "columns: the %" PRId64 " elements of head 0, then those of head 1 and so on (%" PRId64 " heads)",
                   s.width, s.heads);
    array_preview(j->tree, &j->out, j->dtype,
                  (array_block){ 0, s.tokens, rows ? j->out.count / rows : 0, &j->at, NULL });
}

static cli_exit apply_work(cli_job *j)
{
    CLI_TRY(load_vectors(j));
    CLI_TRY(make_encoding(j));
    CLI_TRY(job_positions_of(j, sizes_of(j).batch, sizes_of(j).tokens));
    CLI_TRY(job_params(j));
    CLI_TRY(j->hook == PE_HOOK_EMBED ? embed_vectors(j) : rotate_vectors(j));
    return job_finish(j, apply_fields, apply_preview);
}

static cli_exit apply_verb(const cli_args *a, result *out)
{
    return job_run(a, out, apply_work);
}

const cli_verb cli_verb_apply = {
    .name = "apply",
    .summary = "rotate vectors by their positions, or add position embeddings to them",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = apply_verb,
};
