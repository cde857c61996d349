/* SPDX-License-Identifier: MIT
 *
 * posenc check: does this data follow the spec, and if not, which bug does it show? */
#include "cli/check.h"
#include "cli/model.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    { "spec", 0, CLI_TEXT, "SPEC", NULL, 0, 0, "what the data should follow: a spec or a model's file" },
    { "layer", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "the layer of the model that was dumped, from 0" },
    { "before", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "q or k before the rotation: .npy, (T, H, D) or (T, D)" },
    { "after", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "and after it, the same shape" },
    { "cos", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "cos (n, pairs) or (n, dims); or both, as table writes them" },
    { "sin", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "sin, the same shape" },
    CLI_OPTION_POS,
    CLI_OPTION_START,
    { "side", 0, CLI_CHOICE, "query|key", "query", 0, 0, "what the vectors are, where it matters" },
    { "allow", 0, CLI_TEXT, "BUG", NULL, 0, 0, "one that is known and taken as it is: exit code 0" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "the files' uint16 are bfloat16" },
    CLI_OPTIONS_MODEL,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc apply rope --in q.npy -o y.npy && posenc check --spec rope --before q.npy --after y.npy",
      "OK, and the worst error" },
    { "posenc check --spec rope:theta=500000 --before q.npy --after y.npy || test $? = 1",
      "MISMATCH: base-defaulted, with the evidence; exit code 1" },
    { "posenc check --spec config.json --before q.npy --after y.npy || test $? = 1",
      "what a model's file says, one layer" },
    { "posenc table rope -n 64 -o t.npy && posenc check --spec rope --cos t.npy", "cos and sin instead of vectors" },
};

/* ------------------------------------------------ the spec */

/* The one part that rotates, by itself. */
static cli_exit find_part(check_files *f)
{
    pe_error err;
    pe_encoding *whole = NULL, *e;
    check_data *d = &f->d;
    if (pe_encoding_new(&whole, d->given, d->shape, &err))
        return cli_fail_from(d->args, CLI_USAGE, NULL, &err);
    for (int i = 0; i < zoo_spec_parts(pe_encoding_spec(whole)) && !d->part; i++) {
        d->part = zoo_spec_part(pe_encoding_spec(whole), i);
        if (!d->part || pe_encoding_new(&e, d->part, d->shape, &err))
            break;
        if (pe_encoding_pair_count(e))
            f->job.e = e;
        else {
            pe_encoding_free(e);
            free(d->part);
            d->part = NULL;
        }
    }
    cli_exit code = CLI_OK;
    if (!d->part)
        code = cli_fail_unsuited(d->args, whole, "rotation");
    else if (!f->job.e)
        code = cli_fail(d->args, CLI_SYSTEM, "%s: no memory for it", d->given);
    pe_encoding_free(whole);
    return code;
}

static cli_exit check_allow(const cli_args *a)
{
    const char *names[64], *allow = cli_text(a, "allow");
    char hint[80];
    for (int i = 0; i < check_bug_count; i++) {
        names[i] = check_bugs[i].id;
        if (allow && !strcmp(allow, names[i]))
            return CLI_OK;
    }
    if (!allow)
        return CLI_OK;
    return cli_fail(a, CLI_USAGE, "--allow is %s; needs the name of a bug%s (see posenc check --help)", allow,
                    cli_did_you_mean(hint, "", allow, names, check_bug_count));
}

static cli_exit read_command(check_files *f)
{
    const cli_args *a = f->job.args;
    bool vectors = cli_given(a, "before") || cli_given(a, "after"), tables = cli_given(a, "cos") || cli_given(a, "sin");
    if (a->operands + cli_given(a, "spec") != 1)
        return cli_fail(a, CLI_USAGE, "needs one spec, such as --spec rope:theta=500000");
    if (vectors == tables)
        return cli_fail(a, CLI_USAGE, "needs --before and --after, or --cos and --sin");
    f->d.args = a;
    f->d.given = a->operands ? a->operand[0] : cli_text(a, "spec");
    CLI_TRY(check_is_model(f->d.given) ? check_open_model(f, f->d.given) : check_no_model(a));
    f->d.side = (pe_side)cli_choice(a, "side");
    CLI_TRY(check_allow(a));
    return tables ? check_load_tables(f) : check_load_vectors(f);
}

/* ------------------------------------------------ the answer */

/* The spec can serve every position; what changes them below cannot overflow then. */
static cli_exit check_positions(const check_files *f)
{
    pe_error err;
    double c[CHECK_PAIRS_MAX], s[CHECK_PAIRS_MAX];
    const check_data *d = &f->d;
    int64_t pairs = pe_encoding_pair_count(f->job.e), at[PE_AXES_MAX];
    for (int64_t t = 0; t < d->length; t++) {
        for (int64_t a = 0; a < d->at.axes; a++)
            at[a] = check_position(d, t, a);
        if (pe_rotate_table(f->job.e, d->side, pe_view_of(c, PE_F64, 1, 1, 1, pairs),
                            pe_view_of(s, PE_F64, 1, 1, 1, pairs), pe_positions_of(at, PE_I64, 1, 1, d->at.axes), NULL,
                            &err))
            return job_fail(&f->job, &err);
    }
    return CLI_OK;
}

/* The files with their axes in this order, and positions for as many tokens. */
static cli_exit take_order(check_files *f, int order)
{
    if (!f->d.tables)
        check_take_order(f, order);
    if (!f->job.at.data)
        CLI_TRY(job_positions(&f->job, &f->job.at, "pos", f->d.length));
    f->d.at = f->job.at;
    return check_positions(f);
}

/* One order of the axes, and what comes of it. */
typedef struct attempt {
    check_data d;
    check_answer answer;
} attempt;

static int weight_of(const attempt *t)
{
    static const int weight[] = {
        [VERDICT_UNKNOWN] = 0, [VERDICT_MISMATCH] = 1, [VERDICT_CANNOT_TELL] = 2, [VERDICT_OK] = 3
    };
    return weight[check_verdict_of(&t->answer)];
}

static bool is_better(const attempt *t, const attempt *than)
{
    int more = weight_of(t) - weight_of(than);
    return more ? more > 0 : t->answer.spec_fit.out < than->answer.spec_fit.out;
}

static cli_exit search(attempt *out, const check_files *f)
{
    out->d = f->d;
    return check_search(&out->answer, &out->d);
}

/* Where nothing tells tokens from heads, the order that the spec, or a bug, explains is the one that is meant. */
static cli_exit search_orders(check_files *f)
{
    attempt t[2] = { 0 };
    int best = 0;
    cli_exit code = search(&t[0], f);
    if (!code && f->orders > 1 && check_verdict_of(&t[0].answer) != VERDICT_OK) {
        code = take_order(f, 1);
        if (!code)
            code = search(&t[1], f);
        best = !code && is_better(&t[1], &t[0]);
    }
    if (!code)
        code = check_report(&t[best].answer, &t[best].d);
    for (int i = 0; i < 2; i++)
        check_answer_free(&t[i].answer);
    return code;
}

static cli_exit answer(check_files *f)
{
    bool stop = false;
    CLI_TRY(take_order(f, 0));
    CLI_TRY(check_zeros(&f->d));
    check_grain(&f->d);
    cli_exit code = check_finite(&f->d, &stop);
    return code || stop ? code : search_orders(f);
}

/* Those of a file are read once, whatever the order of the axes. */
static cli_exit read_positions(check_files *f)
{
    if (!cli_given(f->job.args, "pos"))
        return CLI_OK;
    CLI_TRY(job_positions(&f->job, &f->job.at, "pos", f->d.tables ? f->d.length : -1));
    return f->d.tables ? CLI_OK : check_count_positions(f);
}

static cli_exit work(cli_job *j)
{
    check_files f = { .job = *j };
    cli_exit code = read_command(&f);
    if (!code)
        code = find_part(&f);
    if (!code)
        code = read_positions(&f);
    if (!code)
        code = answer(&f);
    for (int i = 0; i < 2; i++)
        io_array_free(&f.a[i]);
    free(f.d.part);
    free(f.spec);
    *j = f.job;
    return code;
}

static cli_exit check_verb(const cli_args *a, result *out)
{
    return job_run(a, out, work);
}

/* The names, from the table of bugs. */
static void add_bugs(result *out)
{
    result_open(out, RESULT_RECORD, NULL, "Bugs");
    for (int i = 0; i < check_bug_count; i++)
        result_text(out, NULL, check_bugs[i].id, check_bugs[i].about);
    result_text(out, NULL, "not-finite", "the data holds a NaN or an infinity");
    result_close(out);
}

const cli_verb cli_verb_check = {
    .name = "check",
    .summary = "what is wrong with an implementation: OK, or the name of the bug",
    .operands = "[SPEC]",
    .operands_max = 1,
    .notes = "Prints OK, or the name of a bug and the evidence (exit code 1).\n"
             "A batch has one axis more, (B, T, H, D) or (B, H, T, D); each sequence has these positions.\n"
             "With --cos, --head-dim N is the head dimension; by default all of it is rotated.\n"
             "Data that fits the spec and most bugs, or untouched vectors, is CANNOT TELL (exit code 1).\n"
             "float32 angles are no bug up to position 4096. Of a spec of several parts, only the one that rotates is "
             "checked.",
    .add_notes = add_bugs,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = check_verb,
};
