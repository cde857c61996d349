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
    int64_t pairs = pe_encoding_pair_count(f->job.e);
    for (int64_t t = 0; t < d->tokens; t++)
        if (pe_encoding_table(f->job.e, d->side, pe_view_packed(c, PE_F64, 1, 1, pairs),
                              pe_view_packed(s, PE_F64, 1, 1, pairs),
                              (pe_positions){ .at = d->at.at + t * d->at.axes, .tokens = 1, .axes = d->at.axes }, &err))
            return job_fail(&f->job, &err);
    return CLI_OK;
}

static cli_exit answer(check_files *f)
{
    check_answer a;
    bool stop = false;
    CLI_TRY(check_positions(f));
    CLI_TRY(check_zeros(&f->d));
    check_grain(&f->d);
    cli_exit code = check_finite(&f->d, &stop);
    if (code || stop)
        return code;
    code = check_search(&a, &f->d);
    if (!code)
        code = check_report(&a, &f->d);
    check_answer_free(&a);
    return code;
}

static cli_exit work(cli_job *j)
{
    check_files f = { .job = *j };
    cli_exit code = read_command(&f);
    if (!code)
        code = find_part(&f);
    if (!code)
        code = job_positions(&f.job, &f.job.at, "pos", f.d.tokens);
    f.d.at = f.job.at;
    if (!code)
        code = answer(&f);
    for (int i = 0; i < 2; i++)
        io_array_free(&f.a[i]);
    free(f.d.part);
    free(f.spec);
    *j = f.job;
    return code;
}

static cli_exit run(const cli_args *a)
{
    return job_run(a, work);
}

/* The names, from the table of bugs. */
static void notes(FILE *to)
{
    fputs("  Prints OK, or the name of a bug and the evidence (exit code 1):\n", to);
    for (int i = 0; i < check_bug_count; i++)
        fprintf(to, "    %-26s%s\n", check_bugs[i].id, check_bugs[i].about);
    fprintf(to, "    %-26s%s\n", "not-finite", "the data holds a NaN or an infinity");
    fputs("  With --cos, --head-dim N is the width of a head; by default all of it turns.\n", to);
    fputs("  Data that fits the spec and most bugs, or untouched vectors, is CANNOT TELL (exit code 1).\n", to);
    fputs("  float32 angles are no bug up to position 4096. A spec of several parts: only the one that rotates.\n", to);
}

const cli_verb cli_verb_check = {
    .name = "check",
    .summary = "what is wrong with an implementation: OK, or the name of the bug",
    .operands = "[SPEC]",
    .operands_max = 1,
    .print_notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = run,
};
