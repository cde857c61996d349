/* SPDX-License-Identifier: MIT
 *
 * The answer as JSON: what check_report.c says, for programs. */
#include "cli/check.h"

#include <math.h>

static void spot_json(json_out *j, const char *key, const check_data *d, const check_spot *s)
{
    int64_t at[PE_AXES_MAX];
    for (int64_t a = 0; a < d->at.axes; a++)
        at[a] = check_position(d, s->token, a);
    out_open(j, key, '{');
    out_real(j, "error", s->error);
    out_real(j, "tolerance", s->tolerance);
    out_int(j, "sequence", s->token / d->length);
    out_int(j, "token", s->token % d->length);
    out_ints(j, "position", at, (int)d->at.axes);
    out_int(j, "head", s->head);
    out_text(j, "what", check_element_name(d, s));
    out_int(j, "element", check_element_index(d, s));
    out_real(j, "got", s->got);
    out_real(j, "expected", s->expected);
    out_close(j, '}');
}

static void fit_json(json_out *j, const char *key, const check_data *d, const check_fit *f)
{
    out_open(j, key, '{');
    out_int(j, "numbers", f->count);
    out_int(j, "wrong", f->out);
    if (f->count)
        spot_json(j, "worst", d, &f->worst);
    if (f->out)
        spot_json(j, "first", d, &f->first);
    out_close(j, '}');
}

static void bugs_json(json_out *j, const suspect *s)
{
    out_open(j, "bugs", '[');
    for (int i = 0; i < s->bugs; i++) {
        out_open(j, NULL, '{');
        out_text(j, "id", s->bug[i]->id);
        out_text(j, "what", s->what[i]);
        out_text(j, "fix", s->bug[i]->fix);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void start_json(json_out *j, const check_data *d, const char *answer)
{
    out_open(j, NULL, '{');
    out_text(j, "verb", d->args->verb->name);
    out_text(j, "spec", d->given);
    out_text(j, "canonical", d->part);
    out_text(j, "verdict", answer);
    out_text(j, "taken", d->taken);
    out_text(j, "rounded", d->rounded ? array_type_name(d->grain) : NULL);
}

void check_json(const check_answer *a, const check_data *d)
{
    static const char *const word[] = { "ok", "mismatch", "unknown", "cannot-tell" };
    json_out j = out_start(stdout);
    start_json(&j, d, word[check_verdict_of(a)]);
    out_text(&j, "bug", a->has_found ? a->found.bug[0]->id : NULL);
    bugs_json(&j, &a->found);
    out_bool(&j, "allowed", check_is_allowed(a, d));
    out_text(&j, "fits", check_fits(a));
    out_open(&j, "also", '-');
    for (int i = 0; i < a->also_count; i++)
        out_text(&j, NULL, a->also[i]->id);
    out_close(&j, '-');
    fit_json(&j, "against_spec", d, &a->spec_fit);
    if (a->has_found)
        fit_json(&j, "against_bug", d, &a->found_fit);
    out_real(&j, "seen_factor", d->factor > 0 ? d->factor : NAN);
    out_real(&j, "seen_theta", d->base > 0 ? d->base : NAN);
    out_close(&j, '}');
}

void check_json_not_finite(const check_data *d, check_spot at)
{
    json_out j = out_start(stdout);
    start_json(&j, d, "mismatch");
    out_text(&j, "bug", "not-finite");
    spot_json(&j, "first", d, &at);
    out_close(&j, '}');
}
