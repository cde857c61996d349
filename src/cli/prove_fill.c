/* SPDX-License-Identifier: MIT
 *
 * What the command line of posenc prove asks for, measured. */
#include "cli/prove.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the command line asks for: claims, each with the specs, or specs alone. */
typedef struct prove_wish {
    bool claim[CLI_OPERANDS_MAX]; /* operand n names claims */
    int claims, specs;
} prove_wish;

/* The name of an encoding is a spec, whatever else has it. */
static bool names_claims(const char *word)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, word))
            return false;
    return prove_claim_named(word) || prove_group_named(word);
}

static const char *nearest(const char *word)
{
    const char *names[256];
    int count = 0;
    for (int g = 0; g < prove_group_count; g++) {
        names[count++] = prove_groups[g]->name;
        for (int c = 0; c < prove_groups[g]->count && count < CLI_COUNT(names) - 1; c++)
            names[count++] = prove_groups[g]->claims[c].name;
    }
    return cli_nearest(word, names, count);
}

/* An operand that is no claim has to be a spec. */
static cli_exit read_wish(prove_wish *w, const cli_args *a)
{
    *w = (prove_wish){ 0 };
    for (int n = 0; n < a->operands; n++) {
        pe_error err;
        pe_encoding *e;
        w->claim[n] = names_claims(a->operand[n]);
        w->claims += w->claim[n];
        w->specs += !w->claim[n];
        if (w->claim[n])
            continue;
        if (pe_encoding_new(&e, a->operand[n], job_shape(a), &err)) {
            const char *near = nearest(a->operand[n]);
            return cli_fail(a, CLI_USAGE, "%s is no claim, group (posenc prove --list) or encoding: %s%s%s",
                            a->operand[n], err.text, near ? "; a claim is called " : "", near ? near : "");
        }
        pe_encoding_free(e);
    }
    return CLI_OK;
}

static bool asked(const prove_wish *w, const cli_args *a, const prove_group *g, const prove_claim *c)
{
    bool all = !a->operands;
    for (int n = 0; n < a->operands && !all; n++)
        all = w->claim[n] && (!strcmp(a->operand[n], c->name) || !strcmp(a->operand[n], g->name));
    return all;
}

static bool takes(const prove_claim *c, const char *spec, pe_shape shape)
{
    pe_encoding *e;
    if (c->takes == PROVE_ANY || !prove_takes_spec(c) || pe_encoding_new(&e, spec, shape, NULL))
        return prove_takes_spec(c);
    bool fits = pe_encoding_hooks(e) & c->takes;
    pe_encoding_free(e);
    return fits;
}

/* ---------------------------------------------------------------- measuring */

bool prove_on_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

#define PATIENCE 3.0 /* seconds, after which one wants to know how long it takes */

/* The n-th of `of` begins. Those that are left take as long as those before, for all we know. */
static void show_progress(int n, int of, const char *name, double start)
{
    double spent = io_seconds() - start, left = n > 1 ? spent / (n - 1) * (of - n + 1) : 0;
    if (!prove_on_terminal(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%d/%d %s", n, of, name);
    if (spent > PATIENCE)
        fprintf(stderr, ", about %.0f s left", left < 1 ? 1 : left);
    fputs("\033[K", stderr);
}

static void end_progress(void)
{
    if (prove_on_terminal(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* The sizes of the command line, 0 where it has none. */
static pe_shape given_shape(const cli_args *a)
{
    pe_shape all = job_shape(a);
    return (pe_shape){ .heads = cli_given(a, "heads") ? all.heads : 0,
                       .head_dim = cli_given(a, "head-dim") ? all.head_dim : 0,
                       .model_dim = cli_given(a, "model-dim") ? all.model_dim : 0 };
}

static void measure(prove_line *l, const cli_args *a)
{
    double start = io_seconds();
    l->failed = prove_measure_as(&l->found, l->claim, l->spec, given_shape(a), &l->err);
    if (l->failed && l->spec && l->err.status != PE_ERR_NOMEM) /* it may need more room than the claim's own sizes */
        l->failed = prove_measure_as(&l->found, l->claim, l->spec, job_shape(a), NULL);
    l->seconds = io_seconds() - start;
}

static cli_exit measure_subjects(prove_report *r, const prove_wish *w, const cli_args *a)
{
    double start = io_seconds();
    for (int n = 0; n < a->operands; n++) {
        pe_error err;
        prove_subject *s = &r->subject[r->subjects];
        if (w->claim[n] || w->claims)
            continue;
        s->spec = a->operand[n];
        show_progress(n + 1, a->operands, s->spec, start);
        if (prove_properties(s->property, s->spec, job_shape(a), &err))
            return cli_fail_from(a, CLI_USAGE, s->spec, &err);
        for (int p = 0; p < CLAIM_COUNT; p++)
            s->broken +=
                s->property[p].claimed && (s->property[p].is == PROPERTY_FAILS || s->property[p].is == PROPERTY_NO);
        r->subjects++;
    }
    return CLI_OK;
}

static void add_line(prove_report *r, const prove_group *g, const prove_claim *c, const char *spec)
{
    r->line[r->lines++] = (prove_line){ .group = g, .claim = c, .spec = spec };
}

/* A claim once; or once for each spec that it can take. Specs alone: all claims that can take them. */
static void collect(prove_report *r, const prove_wish *w, const cli_args *a)
{
    for (int g = 0; g < prove_group_count; g++)
        for (int c = 0; c < prove_groups[g]->count; c++) {
            const prove_claim *claim = &prove_groups[g]->claims[c];
            bool wanted = asked(w, a, prove_groups[g], claim);
            if (wanted && !w->specs)
                add_line(r, prove_groups[g], claim, NULL);
            for (int n = 0; n < a->operands && (wanted || !w->claims); n++)
                if (!w->claim[n] && takes(claim, a->operand[n], job_shape(a)))
                    add_line(r, prove_groups[g], claim, a->operand[n]);
        }
}

static int claims_in_all(void)
{
    int n = 0;
    for (int g = 0; g < prove_group_count; g++)
        n += prove_groups[g]->count;
    return n;
}

/* Which hooks a claim asks about: "embed or bias". */
static void hooks_text(char *out, size_t cap, unsigned hooks)
{
    size_t used = 0;
    *out = 0;
    for (unsigned bit = 1; bit && used < cap; bit <<= 1)
        if (hooks & bit && pe_hook_name(bit))
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? " or " : "", pe_hook_name(bit));
}

/* No claim of those named can be put to any spec of those given: why the first cannot. */
static cli_exit fail_unsuited(const prove_wish *w, const cli_args *a)
{
    int claim = 0, spec = 0;
    char hooks[200];
    while (!w->claim[claim])
        claim++;
    while (w->claim[spec])
        spec++;
    const prove_claim *c = prove_claim_named(a->operand[claim]);
    if (!c || !prove_takes_spec(c))
        return cli_fail(a, CLI_USAGE, "%s cannot be put to a spec; run it without one", a->operand[claim]);
    hooks_text(hooks, sizeof hooks, c->takes);
    return cli_fail(a, CLI_USAGE, "%s cannot be put to %s, which has no such hook; needs one with %s", c->name,
                    a->operand[spec], hooks);
}

static cli_exit make_room(prove_report *r, const prove_wish *w, const cli_args *a)
{
    size_t room = (size_t)(claims_in_all() * (w->specs ? w->specs : 1));
    r->line = calloc(room ? room : 1, sizeof *r->line);
    r->subject = calloc((size_t)(w->specs ? w->specs : 1), sizeof *r->subject);
    if (!r->line || !r->subject)
        return cli_fail(a, CLI_SYSTEM, "no memory for %zu claims", room);
    return CLI_OK;
}

static cli_exit measure_lines(prove_report *r, const cli_args *a)
{
    double start = io_seconds();
    for (int n = 0; n < r->lines; n++) {
        show_progress(n + 1, r->lines, r->line[n].claim->name, start);
        measure(&r->line[n], a);
        if (r->line[n].failed && r->line[n].err.status == PE_ERR_NOMEM)
            return cli_fail_from(a, CLI_SYSTEM, r->line[n].claim->name, &r->line[n].err);
    }
    return CLI_OK;
}

static cli_exit fill(prove_report *r, const cli_args *a)
{
    prove_wish w;
    pe_error err;
    if (prove_check_shape(job_shape(a), &err))
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    CLI_TRY(read_wish(&w, a));
    if (cli_given(a, "properties") && (w.claims || !w.specs))
        return cli_fail(a, CLI_USAGE, "--properties is about encodings; give specs, and no claims");
    CLI_TRY(make_room(r, &w, a));
    CLI_TRY(measure_subjects(r, &w, a));
    if (!cli_given(a, "properties"))
        collect(r, &w, a);
    if (!r->lines && w.claims)
        return fail_unsuited(&w, a);
    r->in_full = w.claims && r->lines <= 2;
    return measure_lines(r, a);
}

cli_exit prove_fill(prove_report *r, const cli_args *a)
{
    cli_exit code = fill(r, a);
    end_progress();
    return code;
}
