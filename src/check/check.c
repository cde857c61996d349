/* SPDX-License-Identifier: MIT
 *
 * The search: the spec against the data; if it does not fit, each bug, then two at a time. Candidates are first
 * compared with a sample of tokens; those that fit it are measured on all. */
#include "check/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED 0.5
#define AS_GOOD 2.0 /* a fit this many times worse than the best still counts as one */

typedef struct search {
    check_data d;
    check_sample sample;
    candidate spec, best; /* best: where f.bugs is above 0 */
    check_findings f;
    int tried;             /* bugs, where the spec fits */
    const check_bug *last; /* that was tried */
    bool spec_fails, no_memory;
} search;

/* ------------------------------------------------ one candidate */

/* What it differs in is its spec alone. */
static bool is_plain(const candidate *c)
{
    bool same_axes = true;
    for (int a = 0; a < PE_AXES_MAX; a++)
        same_axes = same_axes && c->axis[a] == a;
    return !c->positions && !c->shift && !c->unrotated && !c->inverse && !c->mixed && !c->other_side && !c->twice &&
           !c->groups && !c->rounds && !c->swapped && !c->factor_on && same_axes;
}

static bool is_about(double x, double y)
{
    return fabs(x - y) <= 1e-14 * fabs(y);
}

/* Two plain candidates that do the same to every vector, whatever their specs say: a key may have no effect beside
 * another (denominator beside frequencies), and two keys may have the same one (steps and a linear scaling). */
static bool same_rotation(const candidate *c, const candidate *as)
{
    const check_data *d = c->d;
    bool same = c->pairs == as->pairs && is_plain(c) && is_plain(as) &&
                is_about(pe_encoding_magnitude(c->e), pe_encoding_magnitude(as->e));
    for (int64_t n = 0; same && n < c->pairs; n++) {
        const pe_pair *a = &c->pair[n], *b = &as->pair[n];
        same = a->axis == b->axis && is_about(a->frequency, b->frequency) && is_about(a->phase, b->phase) &&
               is_about(a->decay, b->decay) && a->x == b->x && a->y == b->y && a->x_out == b->x_out &&
               a->y_out == b->y_out;
    }
    for (int64_t t = 0; same && t < d->length; t++) {
        int64_t at = data_position(d, t, 0);
        same = pe_encoding_gain(c->e, d->side, at) == pe_encoding_gain(as->e, d->side, at);
    }
    return same;
}

static bool is_spec(const candidate *c, const candidate *spec)
{
    return is_plain(c) &&
           (pe_encoding_fingerprint(c->e) == pe_encoding_fingerprint(spec->e) || same_rotation(c, spec));
}

/* Every pair where it was, driven by the coordinate it had: sections=12/10/10 and 10/10/12 may share 32 pairs alike. */
static bool same_pairs(const candidate *c, const candidate *spec)
{
    bool same = c->pairs == spec->pairs;
    for (int64_t n = 0; same && n < c->pairs; n++) {
        const pe_pair *a = &c->pair[n], *b = &spec->pair[n];
        same = c->axis[a->axis] == b->axis && !memcmp(&a->frequency, &b->frequency, sizeof a->frequency) &&
               a->x == b->x && a->y == b->y && a->x_out == b->x_out && a->y_out == b->y_out;
    }
    return same;
}

/* What the spec itself does, under another name. A bug of precision may be: the spec with more error tolerated. */
static bool is_known(const search *s, const candidate *c)
{
    if (c->bugs == 1 && c->bug[0]->flags & BUG_AXES)
        return same_pairs(c, &s->spec);
    return !(c->bug[0]->flags & BUG_ROUNDS) && is_spec(c, &s->spec);
}

static void remember_also(check_findings *f, const check_bug *bug)
{
    for (int i = 0; i < f->also_count; i++)
        if (f->also[i] == bug->id)
            return;
    if (f->also_count < CHECK_ALSO_MAX)
        f->also[f->also_count++] = bug->id;
}

/* Better than the best, or as good and another bug: then the data cannot tell. */
static void weigh(search *s, candidate *c, check_fit fit)
{
    const check_fit *best = &s->f.bug_fit;
    if (!s->f.bugs || fit.rms * AS_GOOD < best->rms) {
        s->f.also_count = 0;
        s->f.bugs = c->bugs;
        s->f.bug_fit = fit;
        candidate_free(&s->best);
        s->best = *c;
        *c = (candidate){ 0 };
        return;
    }
    /* one more rounding that changes nothing is no other explanation */
    bool same = (s->best.rounds && c->rounds && fit.rms == best->rms) || same_rotation(c, &s->best);
    if (fit.rms <= AS_GOOD * best->rms && !same && c->bug[0] != s->best.bug[0])
        remember_also(&s->f, c->bug[0]);
}

/* A rounding explains errors by making them: one that leaves most of what the spec leaves is not what was done. */
static bool is_worse_rounding(const search *s, const candidate *c, const check_fit *f)
{
    return c->bug[0]->flags & BUG_ROUNDS && s->f.spec_fit.count &&
           f->size > (c->rounds ? EXPLAINED : 1) * s->f.spec_fit.size;
}

/* The spec fits; does this bug fit as well? */
static void count_bug(search *s, const candidate *c, bool fits)
{
    const check_bug *bug = c->bug[0];
    if (bug->flags & BUG_ROUNDS)
        return;
    s->tried += bug != s->last;
    s->last = bug;
    if (fits)
        remember_also(&s->f, bug);
    s->f.fits_unrotated = s->f.fits_unrotated || (fits && c->unrotated);
}

static void try_candidate(search *s, candidate *c)
{
    bool made = candidate_make(c, &s->d);
    s->no_memory = s->no_memory || c->failed;
    if (!made || is_known(s, c))
        return;
    check_fit f = candidate_fit(c, &s->d, &s->sample);
    if (!s->spec_fails) {
        count_bug(s, c, f.fits);
        return;
    }
    if (f.fits)
        f = candidate_fit(c, &s->d, NULL);
    if (f.fits && !is_worse_rounding(s, c, &f))
        weigh(s, c, f);
}

/* ------------------------------------------------ all of them */

static bug_made add_bug(const search *s, candidate *c, int bug, int variant)
{
    if (s->d.tables && check_bugs[bug].flags & BUG_NO_TABLE)
        return BUG_END;
    c->bug[c->bugs] = &check_bugs[bug];
    bug_made made = check_bugs[bug].make(c, variant);
    c->bugs += made == BUG_YES;
    return made;
}

/* A variant of bug i; with k, every variant of bug k on top of it. BUG_END: bug i has no such variant. */
static bug_made try_variant(search *s, int i, int variant, int k)
{
    for (int other = 0;; other++) {
        candidate c;
        candidate_start(&c, &s->d);
        s->no_memory = s->no_memory || c.failed;
        if (c.failed)
            return BUG_END;
        bug_made first = add_bug(s, &c, i, variant);
        bug_made second = k < 0 ? BUG_END : first == BUG_YES ? add_bug(s, &c, k, other) : BUG_END;
        if (k < 0 ? first == BUG_YES : second == BUG_YES)
            try_candidate(s, &c);
        candidate_free(&c);
        if (second == BUG_END)
            return first;
    }
}

static void try_singles(search *s)
{
    for (int i = 0; i < check_bug_count(); i++)
        for (int variant = 0; try_variant(s, i, variant, -1) != BUG_END;)
            variant++;
}

static void try_doubles(search *s)
{
    for (int i = 0; i < check_bug_count(); i++)
        for (int k = i + 1; k < check_bug_count() && check_bugs[i].flags & BUG_JOINS; k++)
            for (int variant = 0; check_bugs[k].flags & BUG_JOINS && try_variant(s, i, variant, k) != BUG_END;)
                variant++;
}

/* A spec that names a float32 pipeline means its error too, and what another libm makes of it. */
static double spec_reach(const char *spec)
{
    bool exact = !zoo_spec_key(spec, "precision") || zoo_spec_is(spec, "precision", "exact");
    return exact ? FLOAT_REACH : INFINITY;
}

static pe_status search_run(search *s, pe_error *err)
{
    rotation r;
    s->sample = check_sample_of(&s->d);
    candidate_start(&s->spec, &s->d);
    s->spec.reach = spec_reach(s->spec.spec ? s->spec.spec : "");
    bool suits = candidate_make(&s->spec, &s->d);
    if (s->spec.failed || !s->spec.pair)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    s->d.made = &s->spec;
    for (int64_t t = 0; suits && t < s->d.length;
         t++) /* candidates that change positions a little cannot overflow then */
        TRY(candidate_rotation(&r, &s->spec, &s->d, t, 0, err));
    if (suits) {
        s->f.spec_fit = candidate_fit(&s->spec, &s->d, NULL);
        s->sample.token[s->sample.tokens++] = s->f.spec_fit.worst.token;
        s->sample.token[s->sample.tokens++] = s->f.spec_fit.first.token;
    }
    s->spec_fails = !s->f.spec_fit.fits;
    try_singles(s);
    if (suits && s->spec_fails &&
        !s->f.bugs) { /* no bug with known numbers fits: use the numbers that the data shows */
        estimate_all(&s->d, &s->spec, &s->sample);
        try_singles(s);
    }
    if (s->spec_fails && !s->f.bugs)
        try_doubles(s);
    return s->no_memory ? io_fail(err, PE_ERR_NOMEM, "no memory for a spec") : PE_OK;
}

/* ------------------------------------------------ the findings */

static check_verdict verdict_of(const search *s)
{
    /* what fits unrotated data, or most bugs, says nothing for the spec */
    bool tells = !s->f.fits_unrotated && 2 * s->f.also_count < s->tried + 1;
    if (!s->spec_fails)
        return tells ? CHECK_OK : CHECK_CANNOT_TELL;
    return s->f.bugs ? CHECK_MISMATCH : CHECK_UNKNOWN;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The pairs that are wrong at the token with the worst error. */
static void find_wrong_pairs(check_findings *f, const search *s)
{
    const double visible = 1e-3 + 8 * s->d.unit;
    rotation r;
    int64_t token = s->f.spec_fit.worst.token;
    if (!s->f.spec_fit.count || candidate_rotation(&r, &s->spec, &s->d, token, 0, NULL))
        return;
    for (int64_t n = 0; n < s->spec.pairs; n++) {
        check_pair p = { n, s->spec.pair[n].x, s->spec.pair[n].y, 0, 0, atan2(r.s[n], r.c[n]), hypot(r.c[n], r.s[n]) };
        if (!estimate_angle(&s->d, &s->spec, token, n, &p.angle, &p.factor))
            continue;
        bool right = fabs(remainder(p.angle - p.expected_angle, 6.283185307179586)) < visible &&
                     fabs(p.factor / p.expected_factor - 1) < visible;
        f->right_count += right;
        if (!right && f->wrong_count < CHECK_PAIRS_SHOWN)
            f->wrong[f->wrong_count++] = p;
    }
}

static pe_status fill_data(check_findings *f, const check_data *d, pe_error *err)
{
    f->spec = copy_text(d->spec);
    f->tables = d->tables;
    f->sequences = d->tokens / d->length;
    f->axes = d->at.axes;
    f->width = d->width;
    f->read_as = d->read_as;
    f->precision = d->precision;
    f->rounded = d->rounded;
    return f->spec ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the findings");
}

static pe_status fill_findings(check_findings *f, const search *s, pe_error *err)
{
    const char *fits = s->f.bugs ? pe_encoding_spec(s->best.e) : NULL;
    *f = s->f;
    TRY(fill_data(f, &s->d, err));
    f->verdict = verdict_of(s);
    for (int i = 0; i < f->bugs; i++) {
        f->bug[i].id = s->best.bug[i]->id;
        f->bug[i].fix = s->best.bug[i]->fix;
        memcpy(f->bug[i].what, s->best.what[i], sizeof f->bug[i].what);
    }
    f->factor = s->d.factor;
    f->theta = s->d.theta;
    f->pairs = s->spec.pairs;
    if (f->verdict == CHECK_UNKNOWN)
        find_wrong_pairs(f, s);
    check_value *value[] = { &f->spec_fit.worst, &f->spec_fit.first, &f->bug_fit.worst, &f->bug_fit.first };
    for (int i = 0; i < CHECK_COUNT(value); i++)
        *value[i] = data_value(&s->d, *value[i]);
    if (!fits || !strcmp(fits, pe_encoding_spec(s->spec.e))) /* a bug that no spec describes */
        return PE_OK;
    f->fits = copy_text(fits);
    return f->fits ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the findings");
}

static bool is_better(const search *s, const search *than)
{
    static const int weight[] = { [CHECK_UNKNOWN] = 0, [CHECK_MISMATCH] = 1, [CHECK_CANNOT_TELL] = 2, [CHECK_OK] = 3 };
    int more = weight[verdict_of(s)] - weight[verdict_of(than)];
    return more ? more > 0 : s->f.spec_fit.out < than->f.spec_fit.out;
}

/* Where nothing tells tokens from heads, the order that the spec, or a bug, explains is the one that is meant. */
static pe_status search_orders(check_findings *f, const check_data *d, const check_input *in, int orders, pe_error *err)
{
    search *s = calloc(2, sizeof *s);
    int best = 0;
    if (!s)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the search");
    s[0].d = s[1].d = *d;
    pe_status status = search_run(&s[0], err);
    if (!status && orders > 1 && verdict_of(&s[0]) != CHECK_OK) {
        data_take_order(&s[1].d, in, 1);
        status = search_run(&s[1], err);
        best = !status && is_better(&s[1], &s[0]);
    }
    status = status ? status : fill_findings(f, &s[best], err);
    for (int i = 0; i < 2; i++) {
        candidate_free(&s[i].best);
        candidate_free(&s[i].spec);
    }
    free(s);
    return status;
}

static pe_status find_bugs(check_findings *f, check_data *d, const check_input *in, pe_error *err)
{
    int orders;
    bool not_finite;
    check_value at;
    TRY(data_open(d, in, &orders, err));
    data_take_order(d, in, 0);
    TRY(data_take_length(d, err));
    TRY(data_reject_zeros(d, in, err));
    data_find_precision(d);
    TRY(data_find_not_finite(d, in, &at, &not_finite, err));
    if (!not_finite)
        return search_orders(f, d, in, orders, err);
    f->verdict = CHECK_NOT_FINITE;
    f->spec_fit.first = data_value(d, at);
    return fill_data(f, d, err);
}

pe_status check_run(check_findings **out, const check_input *in, pe_error *err)
{
    check_data d = { 0 };
    *out = calloc(1, sizeof **out);
    pe_status status = *out ? find_bugs(*out, &d, in, err) : io_fail(err, PE_ERR_NOMEM, "no memory for the findings");
    free(d.spec);
    if (status) {
        check_findings_free(*out);
        *out = NULL;
    }
    return status;
}

void check_findings_free(check_findings *f)
{
    if (!f)
        return;
    free(f->spec);
    free(f->fits);
    free(f);
}
