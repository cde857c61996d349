/* SPDX-License-Identifier: MIT
 *
 * posenc table: the values of each position, as an array. */
#include "cli/job.h"
#include "zoo/rotation.h"

#include <inttypes.h>

static const cli_option options[] = {
    CLI_OPTION_N,
    CLI_OPTION_OUT,
    CLI_OPTION_POS_REAL,
    CLI_OPTION_START,
    CLI_OPTIONS_SHAPE,
    CLI_OPTION_DTYPE,
    { "hook", 0, CLI_CHOICE, "embed|rotate", NULL, 0, 0, "embedding or rotation, for a spec that has both" },
    { "side", 0, CLI_CHOICE, "query|key", "query", 0, 0, "cos and sin of queries or of keys, where they differ" },
    CLI_OPTIONS_PARAMS,
    CLI_OPTION_LANG,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc table sinusoidal -n 512 -o t.npy", "the embeddings of 512 positions, (512, 512) float32" },
    { "posenc table rope:theta=500000 -n 8k --head-dim 128 -o t.npy",
      "cos, then sin, of 8192 positions: (2, 8192, 64)" },
    { "posenc table rope -n 4 --start 1000000 --json", "the numbers as JSON, at positions from one million on" },
    { "posenc table learned:rows=64 -n 64 --seed 7 --model-dim 16",
      "the initial values of a learned table; the first rows are printed" },
    { "posenc table rope:axes=2,split=axial --pos grid.npy -o t.npy", "coordinates from a file, (n, 2); fractions too" },
    { "posenc table binary --start 252 --model-dim 8", "16 positions from 252 on, all 8 bits, the lowest bit first" },
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
    int64_t n = j->at.tokens, pairs = pe_encoding_pair_count(j->e), heads = zoo_rotating_heads(j->e);
    bool own = heads > 1; /* heads that rotate each in their own way: (2, heads, n, pairs) */
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

/* Which element a column is: the formula of the code. */
static void say_formula(const cli_job *j)
{
    pe_formula all[PE_FORMULAS_MAX];
    int count = pe_encoding_formulas(j->e, all, PE_FORMULAS_MAX);
    for (int i = 0; j->hook == PE_HOOK_EMBED && i < count; i++)
        if (all[i].hook == PE_HOOK_EMBED)
            result_say(j->tree, NULL, "", "column c is element c of %s", all[i].text);
}

/* --start alone: as many positions as are printed. */
static bool is_start_alone(const cli_args *a)
{
    return cli_given(a, "start") && !cli_given(a, "count") && !cli_given(a, "pos") && !cli_given(a, "out") &&
           !cli_given(a, "json");
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

static void table_fields(const cli_job *j)
{
    if (j->hook != PE_HOOK_ROTATE)
        return;
    result_words(j->tree, "layout", NULL, "cos|sin");
    result_text(j->tree, "side", NULL, cli_text(j->args, "side"));
    result_real(j->tree, "magnitude", NULL, pe_encoding_magnitude(j->e));
}

static void table_preview(const cli_job *j)
{
    static const char *const part[] = { "cos", "sin" };
    const int64_t *shape = j->out.shape + j->out.rank - 2;
    array_block b = { 0, shape[0] + j->rest, shape[1], &j->at, NULL };
    say_formula(j);
    if (j->out.rank == 4)
        result_say(j->tree, NULL, "", "head 0 of %" PRId64, j->out.shape[1]);
    for (int i = 0; i < (j->hook == PE_HOOK_ROTATE ? 2 : 1); i++) {
        if (j->hook == PE_HOOK_ROTATE)
            result_text(j->tree, NULL, "", part[i]);
        b.first = i * (j->out.count / 2);
        array_preview(j->tree, &j->out, j->dtype, b);
    }
}

static cli_exit table_work(cli_job *j)
{
    j->dtype = (pe_dtype)cli_choice(j->args, "dtype");
    CLI_TRY(job_encoding(j, job_shape(j->args)));
    CLI_TRY(job_hook(j));
    CLI_TRY(job_positions(j, &j->at, "pos", is_brief(j->args) || is_start_alone(j->args) ? ARRAY_PREVIEW_ROWS : -1));
    CLI_TRY(job_params(j));
    CLI_TRY(is_brief(j->args) ? compute_brief(j) : compute(j));
    return job_finish(j, table_fields, table_preview);
}

static cli_exit table_verb(const cli_args *a, result *out)
{
    return job_run(a, out, table_work);
}

const cli_verb cli_verb_table = {
    .name = "table",
    .summary = "compute the values of each position: embeddings (n, width), or cos and sin (2, n, pairs)",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    CLI_TABLES(options, examples),
    .run = table_verb,
};
