/* SPDX-License-Identifier: MIT
 *
 * posenc check: does this data follow the spec, and if not, which bug does it show? */
#include "cli/array.h"
#include "cli/job.h"
#include "cli/model.h"

#include "base/tell.h"
#include "check/findings.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "spec", 0, CLI_TEXT, "SPEC", NULL, 0, 0, "the correct encoding: a spec or a model's file" },
    { "layer", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "layer that the data comes from; the first is 0" },
    { "before", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "q or k before the rotation: .npy, (T, H, D) or (T, D)" },
    { "after", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "q or k after the rotation, the same shape" },
    { "cos", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "cos (n, pairs) or (n, dims); or cos and sin, as table writes them" },
    { "sin", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "sin, the same shape" },
    CLI_OPTION_POS,
    CLI_OPTION_START,
    { "side", 0, CLI_CHOICE, "query|key", "query", 0, 0, "what the vectors are, if queries and keys differ" },
    { "allow", 0, CLI_TEXT, "BUG", NULL, 0, 0, "ignore this known bug: exit code 0" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "read uint16 as bfloat16" },
    CLI_OPTIONS_MODEL,
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc apply rope --in q.npy -o y.npy && posenc check --spec rope --before q.npy --after y.npy",
      "OK, and the worst error" },
    { "posenc check --spec rope:theta=500000 --before q.npy --after y.npy || test $? = 1",
      "MISMATCH: base-defaulted, with the evidence; exit code 1" },
    { "posenc check --spec config.json --before q.npy --after y.npy || test $? = 1",
      "compare one layer with what a model's file says" },
    { "posenc table rope -n 64 -o t.npy && posenc check --spec rope --cos t.npy", "cos and sin instead of vectors" },
};

/* ---------------------------------------------------------------- the findings as results */

static const char *const more_data = "positions up to 64 and beyond, several of them, on every axis";

/* "token 17", of a batch "token 17 of sequence 1" */
static void say_token(tell *t, const check_findings *f, const check_value *v)
{
    tell_say(t, "token %" PRId64, v->token);
    if (f->sequences > 1)
        tell_say(t, " of sequence %" PRId64, v->sequence);
}

/* "worst error 1e-3 at token 17 (position 40), head 3, element 5 (got 1, expected 2)" */
static void say_error(tell *t, const check_findings *f, const char *which, const check_value *v)
{
    tell_say(t, "%s error %.3g at ", which, v->error);
    say_token(t, f, v);
    for (int64_t a = 0; a < f->axes; a++)
        tell_say(t, "%s%" PRId64, a ? ", " : " (position ", v->position[a]);
    tell_say(t, ")");
    if (!f->tables)
        tell_say(t, ", head %" PRId64, v->head);
    tell_say(t, ", %s %" PRId64 " (got %.7g, expected %.7g)", v->what, v->element, v->got, v->expected);
}

static void add_error(result *out, const check_findings *f, const char *which, const check_value *v, const char *end)
{
    char text[400];
    tell t = tell_into(text, sizeof text);
    say_error(&t, f, which, v);
    result_say(out, NULL, "", "%s%s", text, end);
}

static void add_value(result *out, const char *name, const check_findings *f, const check_value *v)
{
    result_open(out, RESULT_RECORD, name, NULL);
    result_real(out, "error", NULL, v->error);
    result_real(out, "tolerance", NULL, v->tolerance);
    result_int(out, "sequence", NULL, v->sequence);
    result_int(out, "token", NULL, v->token);
    result_ints(out, "position", v->position, (int)f->axes);
    result_int(out, "head", NULL, v->head);
    result_text(out, "what", NULL, v->what);
    result_int(out, "element", NULL, v->element);
    result_real(out, "got", NULL, v->got);
    result_real(out, "expected", NULL, v->expected);
    result_close(out);
}

static void add_fit(result *out, const char *name, const check_findings *f, const check_fit *fit)
{
    result_open(out, RESULT_RECORD, name, NULL);
    result_int(out, "numbers", NULL, fit->count);
    result_int(out, "wrong", NULL, fit->out);
    if (fit->count)
        add_value(out, "worst", f, &fit->worst);
    if (fit->out)
        add_value(out, "first", f, &fit->first);
    result_close(out);
}

/* ---------------------------------------------------------------- what people read */

/* Which other bugs the data fits. */
static void add_also(result *out, const check_findings *f, const char *label)
{
    result_open(out, RESULT_LIST, "also", f->also_count ? label : NULL);
    for (int i = 0; i < f->also_count; i++)
        result_text(out, NULL, "", f->also[i]);
    result_close(out);
    if (f->also_count && f->verdict != CHECK_CANNOT_TELL)
        result_say(out, NULL, "", "to tell them apart, dump %s", more_data);
}

static void add_ok(result *out, const check_findings *f)
{
    add_error(out, f, "worst", &f->spec_fit.worst, "");
    result_say(out, NULL, "", "all of %" PRId64 " numbers are within the rounding of %s", f->spec_fit.count,
               array_type_name(f->precision == PE_F64 ? PE_F32 : f->precision));
    add_also(out, f, "this data fits these bugs as well:");
}

static void add_cannot_tell(result *out, const check_findings *f)
{
    add_also(out, f, "it fits these bugs as well:");
    result_say(out, NULL, "", "dump %s, with vectors that are not 0",
               f->tables ? "a longer table: positions up to 64 and beyond" : more_data);
}

static void add_mismatch(result *out, const check_findings *f, bool allowed)
{
    char end[60];
    snprintf(end, sizeof end, "; with the bug: %.3g", f->bug_fit.worst.error);
    if (f->spec_fit.count)
        add_error(out, f, "worst", &f->spec_fit.worst, end);
    else
        result_say(out, NULL, "", "the tables are %" PRId64 " wide; the spec has %" PRId64 " pairs", f->width,
                   f->pairs);
    if (f->fits)
        result_say(out, NULL, "", "fits: %s", f->fits);
    for (int i = 0; i < f->bugs && !allowed; i++)
        result_say(out, NULL, "", "fix: %s", f->bug[i].fix);
    add_also(out, f, "this data cannot tell it from:");
}

static void add_pairs(result *out, const check_findings *f)
{
    char text[80];
    tell t = tell_into(text, sizeof text);
    say_token(&t, f, &f->spec_fit.worst);
    for (int i = 0; i < f->wrong_count; i++) {
        const check_pair *p = &f->wrong[i];
        result_say(out, NULL, "",
                   "pair %" PRId64 " (elements %" PRId64 ", %" PRId64
                   "): rotated by %.5g, factor %.5g; expected %.5g, factor %.5g",
                   p->pair, p->x, p->y, p->angle, p->factor, p->expected_angle, p->expected_factor);
    }
    result_say(out, NULL, "", "at %s %" PRId64 " of %" PRId64 " pairs are right", text, f->right_count, f->pairs);
}

static void add_unknown(result *out, const check_findings *f)
{
    if (!f->spec_fit.count) {
        result_say(out, NULL, "",
                   "the tables are %" PRId64 " wide; %s has %" PRId64 " pairs: needs %" PRId64 ", or %" PRId64 " wide",
                   f->width, f->spec, f->pairs, f->pairs, 2 * f->pairs);
    } else {
        add_error(out, f, "worst", &f->spec_fit.worst, "");
        add_error(out, f, "first", &f->spec_fit.first, "");
        result_say(out, NULL, "", "%" PRId64 " of %" PRId64 " numbers are wrong", f->spec_fit.out, f->spec_fit.count);
        add_pairs(out, f);
    }
    if (f->theta > 0)
        result_say(out, NULL, "", "the theta that fits best is %.6g", f->theta);
    add_also(out, f, NULL);
}

/* "MISMATCH: off-by-one: positions are one too large" */
static void add_headline(result *out, const check_findings *f, bool allowed)
{
    char text[2 * CHECK_TEXT + 200];
    tell t = tell_into(text, sizeof text);
    const check_value *v = &f->spec_fit.first;
    if (f->verdict == CHECK_OK)
        tell_say(&t, "OK: %s", f->spec);
    else if (f->verdict == CHECK_CANNOT_TELL)
        tell_say(&t, "CANNOT TELL: this data fits %s%s", f->spec,
                 f->fits_unrotated ? ", and it would if nothing were rotated" : "");
    else if (f->verdict == CHECK_UNKNOWN)
        tell_say(&t, "MISMATCH: no known bug explains it");
    else if (f->verdict == CHECK_NOT_FINITE) {
        tell_say(&t, "MISMATCH: not-finite: ");
        say_token(&t, f, v);
        tell_say(&t, ", head %" PRId64 ", %s %" PRId64 " is %g", v->head, v->what, v->element, v->got);
    } else {
        for (int i = 0; i < f->bugs; i++)
            tell_say(&t, "%s%s", i ? " and " : allowed ? "OK, allowed: " : "MISMATCH: ", f->bug[i].id);
        for (int i = 0; i < f->bugs; i++)
            tell_say(&t, "%s%s", i ? "; and " : ": ", f->bug[i].what);
    }
    result_text(out, NULL, "", text);
    result_tone_is(out, f->verdict == CHECK_OK || allowed ? RESULT_GOOD : RESULT_BAD);
}

/* ---------------------------------------------------------------- all of it */

static void add_found(result *out, const check_findings *f, bool allowed)
{
    result_text(out, "bug", NULL, f->bugs ? f->bug[0].id : NULL);
    result_open(out, RESULT_LIST, "bugs", NULL);
    for (int i = 0; i < f->bugs; i++) {
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_text(out, "id", NULL, f->bug[i].id);
        result_text(out, "what", NULL, f->bug[i].what);
        result_text(out, "fix", NULL, f->bug[i].fix);
        result_close(out);
    }
    result_close(out);
    result_flag(out, "allowed", NULL, allowed);
    result_text(out, "fits", NULL, f->fits);
    add_fit(out, "against_spec", f, &f->spec_fit);
    if (f->bugs)
        add_fit(out, "against_bug", f, &f->bug_fit);
    result_real(out, "seen_factor", NULL, f->factor > 0 ? f->factor : (double)NAN);
    result_real(out, "seen_theta", NULL, f->theta > 0 ? f->theta : (double)NAN);
}

static void add_evidence(result *out, const check_findings *f, bool allowed)
{
    if (f->verdict == CHECK_OK)
        add_ok(out, f);
    else if (f->verdict == CHECK_MISMATCH)
        add_mismatch(out, f, allowed);
    else if (f->verdict == CHECK_UNKNOWN)
        add_unknown(out, f);
    else
        add_cannot_tell(out, f);
}

static void check_result(result *out, const check_findings *f, bool allowed, const char *given)
{
    static const char *const verdict[] = { "ok", "mismatch", "unknown", "cannot-tell", "mismatch" };
    result_title(out, 0, "posenc check: %s", f->spec);
    result_text(out, "verb", NULL, "check");
    result_text(out, "spec", NULL, given);
    result_text(out, "canonical", NULL, f->spec);
    result_text(out, "verdict", NULL, verdict[f->verdict]);
    add_headline(out, f, allowed);
    result_open(out, RESULT_RECORD, NULL, "");
    if (f->verdict == CHECK_NOT_FINITE) {
        result_text(out, "bug", NULL, "not-finite");
        add_value(out, "first", f, &f->spec_fit.first);
    } else {
        add_found(out, f, allowed);
        add_evidence(out, f, allowed);
    }
    result_text(out, "taken", NULL, f->read_as);
    result_text(out, "rounded", NULL, f->rounded ? array_type_name(f->precision) : NULL);
    if (f->read_as && f->verdict != CHECK_NOT_FINITE)
        result_say(out, NULL, "", "the shape was read as %s", f->read_as);
    if (f->rounded && f->verdict != CHECK_NOT_FINITE)
        result_say(out, NULL, "",
                   "every number after the rotation is a %s: the dump was rounded, and is checked as such",
                   array_type_name(f->precision));
    result_close(out);
}

/* ------------------------------------------------ the spec of a model's file: that of the layer that was dumped */

/* A word that names no file and reads as a spec is one. */
static bool is_model(const char *word)
{
    bool exists = access(word, F_OK) == 0;
    return exists || (!zoo_spec_row(word) && strpbrk(word, "./") && !strchr(word, ':'));
}

static cli_exit reject_model_options(const cli_args *a)
{
    static const char *const only[] = { "layer", "lenient", "pairs", "type", "theta", "trained", "length" };
    for (int i = 0; i < CLI_COUNT(only); i++)
        if (cli_given(a, only[i]))
            return cli_fail(a, CLI_USAGE, "--%s is for a model's file, and a spec was given; put it into the spec",
                            only[i]);
    return CLI_OK;
}

static ranges_text layers_of(const zoo_part *p, int group)
{
    ranges_text out = { "?" };
    bool *in = calloc((size_t)p->layers, sizeof *in);
    for (int64_t n = 0; in && n < p->layers; n++)
        in[n] = p->layer[n].group == group;
    if (in)
        out = result_ranges_text(in, p->layers);
    free(in);
    return out;
}

static cli_exit choose_group(const cli_args *a, const zoo_model *m, const zoo_group **out)
{
    const zoo_part *p = &m->part[0];
    int64_t layer = cli_int(a, "layer");
    bool given = cli_given(a, "layer");
    if (given && layer >= p->layers)
        return cli_fail(a, CLI_USAGE, "--layer is %" PRId64 "; %s has layers 0 to %" PRId64, layer, m->path,
                        p->layers - 1);
    for (int g = 0; !given && p->groups > 1 && g < p->groups; g++)
        cli_note(a, "layers %s: %.200s", layers_of(p, g).text, p->group[g].spec);
    if (!given && p->groups > 1)
        return cli_fail(a, CLI_USAGE, "%s: its layers differ; say which one was dumped: --layer N", m->path);
    *out = &p->group[given ? p->layer[layer].group : 0];
    return CLI_OK;
}

/* The spec is the caller's to free: it outlives the model. */
static cli_exit spec_of_model(char **spec, int64_t *head_dim, const cli_args *a, const char *path)
{
    const zoo_group *g = NULL;
    zoo_model *m;
    cli_exit code = model_open(&m, a, path);
    for (int i = 0; !code && i < m->notes; i++)
        if (m->note[i].level == ZOO_GUESS)
            cli_note(a, "%s", m->note[i].text);
    if (!code)
        code = choose_group(a, m, &g);
    if (!code) {
        *spec = strdup(g->spec);
        *head_dim = g->shape.head_dim;
        code = *spec ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for a spec");
    }
    zoo_free(m);
    return code;
}

/* ------------------------------------------------ files */

typedef struct check_files {
    cli_job *job;
    io_array array[2];
    char *spec; /* of a model's file; NULL: it was given */
    check_input in;
} check_files;

static cli_exit load_array(check_files *f, int which, const char *option)
{
    const cli_args *a = f->job->args;
    io_array *in = &f->array[which];
    check_array *out = &f->in.array[which];
    bool bf16 = cli_given(a, "bf16");
    if (!cli_given(a, option))
        return cli_fail(a, CLI_USAGE, "needs --%s FILE; give --before and --after, or --cos and --sin", option);
    CLI_TRY(job_load(f->job, in, option, bf16 ? IO_NPY_BF16 : 0));
    f->in.name[which] = job_file(a, option);
    if (bf16 && in->type != IO_BF16)
        return cli_fail(a, CLI_INPUT, "%s: holds %s; --bf16 says that its uint16 are bfloat16; leave it out",
                        f->in.name[which], io_type_name(in->type));
    if (!array_type(in, &out->type))
        return cli_fail(a, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", f->in.name[which],
                        io_type_name(in->type), in->type == IO_U16 ? " (or bfloat16, with --bf16)" : "");
    out->data = in->data;
    out->rank = in->rank;
    for (int i = 0; i < in->rank && i < CHECK_RANK_MAX; i++)
        out->shape[i] = in->shape[i];
    return CLI_OK;
}

static cli_exit load_arrays(check_files *f)
{
    static const char *const option[2][2] = { { "before", "after" }, { "cos", "sin" } };
    const char *const *name = option[f->in.tables];
    CLI_TRY(load_array(f, 0, name[0]));
    bool both = f->in.tables && f->array[0].rank == 3 && f->array[0].shape[0] == 2 && !cli_given(f->job->args, "sin");
    return both ? CLI_OK : load_array(f, 1, name[1]);
}

/* (n,) or (n, axes); whether that suits the spec is for check_run to say. */
static cli_exit load_positions(check_files *f)
{
    const cli_args *a = f->job->args;
    const char *file = f->in.name[2] = job_file(a, "pos");
    io_array p;
    int64_t *at;
    pe_error err;
    char shape[160];
    f->in.at = pe_positions_run(1, 0, cli_int(a, "start"));
    if (!file)
        return CLI_OK;
    if (cli_given(a, "start"))
        return cli_fail(a, CLI_USAGE, "--pos and --start do not go together; the file holds every position");
    CLI_TRY(job_load(f->job, &p, "pos", 0));
    array_shape(shape, &p);
    int64_t rank = p.rank, tokens = rank ? p.shape[0] : 0, axes = rank == 2 ? p.shape[1] : 1;
    bool fits = rank == 1 || rank == 2;
    pe_status status = fits ? io_array_to_i64(&at, &p, &err) : PE_OK;
    io_array_free(&p);
    if (!fits)
        return cli_fail(a, CLI_INPUT, "%s: shape is %s; needs (n,) or (n, axes)", file, shape);
    if (status)
        return cli_fail_from(a, CLI_INPUT, file, &err);
    f->in.at = f->job->at = pe_positions_of(at, PE_I64, 1, tokens, axes);
    return CLI_OK;
}

/* ------------------------------------------------ the command */

static cli_exit reject_unknown_bug(const cli_args *a)
{
    const char *names[64], *allow = cli_text(a, "allow");
    char hint[80];
    for (int i = 0; i < check_bug_count(); i++) {
        names[i] = check_bug_id(i);
        if (allow && !strcmp(allow, names[i]))
            return CLI_OK;
    }
    if (!allow)
        return CLI_OK;
    return cli_fail(a, CLI_USAGE, "--allow is %s; needs the name of a bug%s (see posenc check --help)", allow,
                    cli_did_you_mean(hint, "", allow, names, check_bug_count()));
}

static cli_exit read_command(check_files *f)
{
    const cli_args *a = f->job->args;
    bool vectors = cli_given(a, "before") || cli_given(a, "after");
    check_input *in = &f->in;
    in->tables = cli_given(a, "cos") || cli_given(a, "sin");
    if (a->operands + cli_given(a, "spec") != 1)
        return cli_fail(a, CLI_USAGE, "needs one spec, such as --spec rope:theta=500000");
    if (vectors == in->tables)
        return cli_fail(a, CLI_USAGE, "needs --before and --after, or --cos and --sin");
    in->spec = a->operands ? a->operand[0] : cli_text(a, "spec");
    in->head_dim = cli_int(a, "head-dim");
    if (is_model(in->spec)) {
        CLI_TRY(spec_of_model(&f->spec, &in->head_dim, a, in->spec));
        in->spec = f->spec;
    } else
        CLI_TRY(reject_model_options(a));
    in->side = (pe_side)cli_choice(a, "side");
    CLI_TRY(reject_unknown_bug(a));
    CLI_TRY(load_arrays(f));
    return load_positions(f);
}

static cli_exit add_findings(result *out, const cli_args *a, const check_findings *f, const char *spec)
{
    const char *allow = cli_text(a, "allow");
    bool allowed = allow && f->bugs == 1 && !strcmp(allow, f->bug[0].id);
    check_result(out, f, allowed, spec);
    return f->verdict == CHECK_OK || allowed ? CLI_OK : CLI_NO;
}

static cli_exit check_work(cli_job *j)
{
    check_files f = { .job = j };
    check_findings *found = NULL;
    pe_error err;
    cli_exit code = read_command(&f);
    if (!code && check_run(&found, &f.in, &err)) {
        bool files = err.status == PE_ERR_FORMAT || (err.status == PE_ERR_POSITION && f.in.at.data);
        code = cli_fail_from(j->args, files ? CLI_INPUT : CLI_USAGE, NULL, &err);
    }
    if (!code)
        code = add_findings(j->tree, j->args, found, f.in.spec);
    check_findings_free(found);
    for (int i = 0; i < 2; i++)
        io_array_free(&f.array[i]);
    free(f.spec);
    return code;
}

static cli_exit check_verb(const cli_args *a, result *out)
{
    return job_run(a, out, check_work);
}

/* The names, from the table of bugs. */
static void add_bugs(result *out)
{
    result_open(out, RESULT_RECORD, NULL, "Bugs");
    for (int i = 0; i < check_bug_count(); i++) {
        result_text(out, NULL, check_bug_id(i), check_bug_about(i));
        result_named(out);
    }
    result_text(out, NULL, "not-finite", "the data holds a NaN or an infinity");
    result_close(out);
}

const cli_verb cli_verb_check = {
    .name = "check",
    .summary = "find the bug in an implementation: OK, or the name of the bug",
    .operands = "[SPEC]",
    .operands_max = 1,
    .notes = "Prints OK, or the name of a bug and the evidence (exit code 1).\n"
             "A batch has one more axis, (B, T, H, D) or (B, H, T, D); all its sequences have the same positions.\n"
             "With --cos, --head-dim N gives the head dimension; by default every element of a head is rotated.\n"
             "The answer is CANNOT TELL (exit code 1) if the data also fits most bugs or unrotated vectors.\n"
             "float32 angles are no bug up to position 4096. In a spec with several parts, only the rotation is "
             "checked.",
    .add_notes = add_bugs,
    CLI_TABLES(options, examples),
    .run = check_verb,
};
