/* SPDX-License-Identifier: MIT
 *
 * posenc bias: what is added to every attention score, as an array (H, queries, keys). */
#include "cli/job.h"

#include "base/num.h"
#include "prove/prove.h"
#include "zoo/look.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const cli_option options[] = {
    CLI_OPTION_N,
    CLI_OPTION_OUT,
    CLI_OPTION_POS_REAL,
    { "kpos", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "positions of the keys; default: those of the queries" },
    CLI_OPTION_START,
    CLI_OPTIONS_SHAPE,
    CLI_OPTION_DTYPE,
    { "stage", 0, CLI_CHOICE, "before|after", NULL, 0, 0, "terms before or after the scale, for a spec that has both" },
    CLI_OPTIONS_PARAMS,
    CLI_OPTION_LANG,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc bias alibi -n 64 -o b.npy", "the bias of 8 heads, 64 queries and 64 keys: (8, 64, 64)" },
    { "posenc bias t5 -n 12 --seed 1", "print the bias of head 0" },
    { "posenc bias alibi:form=symmetric -n 3 --heads 2 --json", "the numbers as JSON" },
    { "posenc bias alibi:convention=falcon+t5:scale=sqrt -n 12 --stage before -o b.npy",
      "the terms before the scale, of a spec that has terms before and after it" },
    { "posenc bias window --pos grid.npy -o b.npy",
      "a two-dimensional window, with coordinates from a file, (n, 2) int64" },
};

static const char notes[] =
    "score = (q.k + terms before the scale) * scale + terms after the scale. The array is the sum of the terms on one "
    "side of the scale: the side on which the spec has terms, or that of --stage. --json also prints the side and the "
    "scale.";

static bool has_terms(const cli_job *j, pe_stage stage)
{
    return pe_encoding_hooks_at(j->e, stage) & PE_HOOK_BIAS;
}

/* --stage, or the only one there is. */
static pe_stage stage_of(const cli_job *j)
{
    int choice = cli_choice(j->args, "stage");
    return choice >= 0 ? (pe_stage)choice : has_terms(j, PE_BEFORE_SCALE) ? PE_BEFORE_SCALE : PE_AFTER_SCALE;
}

static cli_exit check_stage(const cli_job *j)
{
    if (!cli_given(j->args, "stage") && has_terms(j, PE_BEFORE_SCALE) && has_terms(j, PE_AFTER_SCALE))
        return cli_fail(j->args, CLI_USAGE,
                        "%s adds terms before the scale and after it, which cannot be summed; say which: "
                        "--stage before or --stage after",
                        pe_encoding_spec(j->e));
    if (!has_terms(j, stage_of(j)))
        cli_note(j->args, "%s adds nothing %s the scale: all zeros", pe_encoding_spec(j->e),
                 cli_text(j->args, "stage"));
    job_note_alike(j->args, j->e);
    return CLI_OK;
}

/* What keys after their query get at most: a causal mask hides them, and without one they would win. */
static void note_mask(const cli_job *j)
{
    double most = 0;
    int64_t keys = j->k_at.tokens, lines = pe_encoding_shape(j->e).heads * j->at.tokens;
    if (!prove_needs_mask(j->e, j->params))
        return;
    for (int64_t i = 0; i < lines * keys; i++)
        if (io_position_real(j->k_at, i % keys, 0) > io_position_real(j->at, i / keys % j->at.tokens, 0))
            most = fmax(most, num_load(j->out.data, j->dtype, i));
    if (most > 0)
        cli_note(j->args,
                 "%s is made for a causal mask: keys after the query get up to +%.4g here, more than keys before it, "
                 "and the mask has to hide them",
                 pe_encoding_spec(j->e), most);
}

/* One query, all heads, as doubles (H, keys). */
static cli_exit sum_query(cli_job *j, double *term, int64_t query)
{
    pe_error err;
    int64_t heads = pe_encoding_shape(j->e).heads, keys = j->k_at.tokens;
    double at[PE_AXES_MAX];
    for (int64_t a = 0; a < j->at.axes; a++)
        at[a] = io_position_real(j->at, query, a);
    for (int64_t i = 0; i < heads * keys; i++)
        term[i] = 0;
    pe_tile tile = { .size = sizeof(pe_tile),
                     .score = pe_view_of(term, PE_F64, 1, 1, heads, keys),
                     .q_at = pe_positions_of(at, PE_F64, 1, 1, j->at.axes),
                     .k_at = j->k_at };
    zoo_alike in;
    pe_status bad = zoo_alike_new(&in, j->e, 1, tile.q_at, tile.k_at, &err);
    tile.q_gates = in.q_gates;
    tile.k_gates = in.k_gates;
    bad = bad ? bad : pe_encoding_bias(j->e, stage_of(j), j->params, &tile, &err);
    zoo_alike_free(&in);
    if (bad)
        return job_fail(j, &err);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t k = 0; k < keys; k++)
            num_store(j->out.data, j->dtype, (h * j->at.tokens + query) * keys + k, term[h * keys + k]);
    return CLI_OK;
}

static cli_exit sum_terms(cli_job *j)
{
    int64_t heads = pe_encoding_shape(j->e).heads, keys = j->k_at.tokens;
    void *term;
    cli_exit code = CLI_OK;
    CLI_TRY(array_new(j->args, &j->out, j->dtype, 3, (int64_t[]){ heads, j->at.tokens, keys }));
    CLI_TRY(array_memory(j->args, &term, "one query's terms", heads * keys, sizeof(double)));
    for (int64_t q = 0; q < j->at.tokens && !code; q++)
        code = sum_query(j, term, q);
    free(term);
    return code;
}

static void bias_fields(const cli_job *j)
{
    result_text(j->tree, "formula", NULL, "score = (q.k + before) * scale + after");
    result_open(j->tree, RESULT_RECORD, "stages", NULL);
    result_flag(j->tree, "before", NULL, has_terms(j, PE_BEFORE_SCALE));
    result_flag(j->tree, "after", NULL, has_terms(j, PE_AFTER_SCALE));
    result_close(j->tree);
    result_text(j->tree, "stage", NULL, stage_of(j) == PE_BEFORE_SCALE ? "before" : "after");
    result_flag(j->tree, "needs_causal_mask", NULL, prove_needs_mask(j->e, j->params));
    result_text(j->tree, "pos", NULL, cli_text(j->args, "pos"));
    result_text(j->tree, "kpos", NULL, cli_text(j->args, "kpos"));
}

static void bias_preview(const cli_job *j)
{
    if (j->out.shape[0] > 1)
        result_say(j->tree, NULL, "", "head 0 of %" PRId64 " (queries down, keys across)", j->out.shape[0]);
    array_preview(j->tree, &j->out, j->dtype, (array_block){ 0, j->out.shape[1], j->out.shape[2], &j->at, &j->k_at });
}

static cli_exit bias_work(cli_job *j)
{
    j->dtype = (pe_dtype)cli_choice(j->args, "dtype");
    CLI_TRY(job_encoding(j, job_shape(j->args)));
    j->hook = PE_HOOK_BIAS;
    if (!(pe_encoding_hooks(j->e) & PE_HOOK_BIAS))
        return cli_fail_unsuited(j->args, j->e, "bias");
    CLI_TRY(check_stage(j));
    CLI_TRY(job_positions(j, &j->at, "pos", -1));
    j->k_at = j->at;
    if (cli_given(j->args, "kpos")) {
        j->k_at = (pe_positions){ 0 };
        CLI_TRY(job_positions(j, &j->k_at, "kpos", -1));
    }
    CLI_TRY(job_params(j));
    CLI_TRY(sum_terms(j));
    note_mask(j);
    return job_finish(j, bias_fields, bias_preview);
}

static cli_exit bias_verb(const cli_args *a, result *out)
{
    return job_run(a, out, bias_work);
}

const cli_verb cli_verb_bias = {
    .name = "bias",
    .summary = "compute the bias added to every attention score: (heads, queries, keys)",
    .operands = "SPEC",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = bias_verb,
};
