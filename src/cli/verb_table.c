/* SPDX-License-Identifier: MIT
 *
 * posenc table: what every position gets, as an array. */
#include "cli/job.h"
#include "zoo/turn_head.h"

#include <inttypes.h>

static const cli_option options[] = {
    CLI_OPTION_N,
    CLI_OPTION_OUT,
    CLI_OPTION_POS,
    CLI_OPTION_START,
    CLI_OPTIONS_SHAPE,
    CLI_OPTION_DTYPE,
    { "hook", 0, CLI_CHOICE, "embed|rotate", NULL, 0, 0, "which, where a spec has both" },
    { "side", 0, CLI_CHOICE, "query|key", "query", 0, 0, "whose cos and sin, where they differ" },
    CLI_OPTIONS_PARAMS,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc table sinusoidal -n 512 -o t.npy", "codes of 512 positions, (512, 512) float32" },
    { "posenc table rope:theta=500000 -n 8k --head-dim 128 -o t.npy",
      "cos, then sin, of 8192 positions: (2, 8192, 64)" },
    { "posenc table rope -n 4 --start 1000000 --json", "the numbers themselves, far out" },
    { "posenc table learned:rows=64 -n 64 --seed 7 --model-dim 16", "a learned table as it starts; printed in short" },
    { "posenc table rope:axes=2,split=axial --pos grid.npy -o t.npy", "coordinates from a file, (n, 2) int64" },
};

static cli_exit embed_table(cli_job *j)
{
    pe_error err;
    int64_t n = j->at.tokens, joined = pe_embed_width(j->e, 0), model = pe_encoding_shape(j->e).model_dim;
    /* Codes that are joined stand alone; codes that are added span model_dim. */
    for (int64_t x = joined ? 0 : model;; x = model) {
        io_array_free(&j->out);
        CLI_TRY(array_new(j->args, &j->out, j->dtype, 2, (int64_t[]){ n, pe_embed_width(j->e, x) }));
        pe_view y = pe_view_of(j->out.data, j->dtype, 1, n, 1, j->out.shape[1]);
        pe_status s = pe_embed(j->e, y, pe_view_of(NULL, j->dtype, 1, n, 1, x), j->at,
                               &PE_MAKE(pe_run, .params = j->params), &err);
        if (!s)
            return CLI_OK;
        if (s != PE_ERR_SHAPE || x)
            return job_fail(j, &err);
    }
}

static cli_exit rotate_table(cli_job *j)
{
    pe_error err;
    int64_t n = j->at.tokens, pairs = pe_encoding_pair_count(j->e), heads = zoo_turn_heads(j->e);
    bool own = heads > 1; /* heads that turn each in their own way: (2, heads, n, pairs) */
    CLI_TRY(array_new(j->args, &j->out, j->dtype, own ? 4 : 3,
                      own ? (int64_t[]){ 2, heads, n, pairs } : (int64_t[]){ 2, n, pairs }));
    pe_view cosine = pe_view_of(j->out.data, j->dtype, 1, n, heads, pairs), sine;
    cosine.token_stride = pairs;
    cosine.head_stride = n * pairs;
    sine = cosine;
    sine.data = (char *)j->out.data + (size_t)(heads * n * pairs) * pe_dtype_size(j->dtype);
    pe_side side = (pe_side)cli_choice(j->args, "side");
    if (pe_rotate_table(j->e, side, cosine, sine, j->at, &PE_MAKE(pe_run, .params = j->params), &err))
        return job_fail(j, &err);
    return CLI_OK;
}

static cli_exit compute(cli_job *j)
{
    io_array_free(&j->out);
    return j->hook == PE_HOOK_EMBED ? embed_table(j) : rotate_table(j);
}

/* Only the first rows of -n N are printed. */
static bool is_brief(const cli_args *a)
{
    return !cli_given(a, "out") && !cli_given(a, "json") && cli_int(a, "count") > ARRAY_PREVIEW_ROWS;
}

/* Those rows, after a try whether the last position can be served. */
static cli_exit compute_brief(cli_job *j)
{
    pe_positions first = j->at;
    int64_t last = cli_int(j->args, "start") + cli_int(j->args, "count") - 1;
    if (last > PE_POSITION_MAX)
        return cli_fail(j->args, CLI_USAGE,
                        "the last position is %" PRId64 "; positions need to stay within -2^36 to 2^36", last);
    j->at = pe_positions_run(1, 1, last);
    cli_exit code = compute(j);
    j->at = first;
    j->rest = cli_int(j->args, "count") - first.tokens;
    return code ? code : compute(j);
}

static void fields(json_out *out, const cli_job *j)
{
    if (j->hook != PE_HOOK_ROTATE)
        return;
    out_open(out, "layout", '-');
    out_text(out, NULL, "cos");
    out_text(out, NULL, "sin");
    out_close(out, '-');
    out_text(out, "side", cli_text(j->args, "side"));
    out_real(out, "magnitude", pe_encoding_magnitude(j->e));
}

static void preview(const cli_job *j)
{
    const int64_t *shape = j->out.shape + j->out.rank - 2;
    array_block b = { 0, shape[0] + j->rest, shape[1], &j->at, NULL };
    if (j->out.rank == 4)
        printf("head 0 of %" PRId64 "\n", j->out.shape[1]);
    if (j->hook == PE_HOOK_ROTATE)
        puts("cos");
    array_preview(&j->out, j->dtype, b);
    if (j->hook != PE_HOOK_ROTATE)
        return;
    puts("sin");
    b.first = j->out.count / 2;
    array_preview(&j->out, j->dtype, b);
}

static cli_exit work(cli_job *j)
{
    j->dtype = (pe_dtype)cli_choice(j->args, "dtype");
    CLI_TRY(job_encoding(j, job_shape(j->args)));
    CLI_TRY(job_hook(j));
    CLI_TRY(job_positions(j, &j->at, "pos", is_brief(j->args) ? ARRAY_PREVIEW_ROWS : -1));
    CLI_TRY(job_params(j));
    CLI_TRY(is_brief(j->args) ? compute_brief(j) : compute(j));
    return job_finish(j, fields, preview);
}

static cli_exit table_verb(const cli_args *a, result *out)
{
    (void)out;
    return job_run(a, work);
}

const cli_verb cli_verb_table = {
    .name = "table",
    .summary = "what every position gets: codes (n, width), or cos and sin (2, n, pairs)",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = table_verb,
};
