/* SPDX-License-Identifier: MIT
 *
 * The findings of posenc check as JSON. */
#include "cli/array.h"
#include "cli/check.h"

#include <math.h>

static void value_json(json_out *j, const char *key, const check_findings *f, const check_value *v)
{
    out_open(j, key, '{');
    out_real(j, "error", v->error);
    out_real(j, "tolerance", v->tolerance);
    out_int(j, "sequence", v->sequence);
    out_int(j, "token", v->token);
    out_ints(j, "position", v->position, (int)f->axes);
    out_int(j, "head", v->head);
    out_text(j, "what", v->what);
    out_int(j, "element", v->element);
    out_real(j, "got", v->got);
    out_real(j, "expected", v->expected);
    out_close(j, '}');
}

static void fit_json(json_out *j, const char *key, const check_findings *f, const check_fit *fit)
{
    out_open(j, key, '{');
    out_int(j, "numbers", fit->count);
    out_int(j, "wrong", fit->out);
    if (fit->count)
        value_json(j, "worst", f, &fit->worst);
    if (fit->out)
        value_json(j, "first", f, &fit->first);
    out_close(j, '}');
}

static void bugs_json(json_out *j, const check_findings *f)
{
    out_text(j, "bug", f->bugs ? f->bug[0].id : NULL);
    out_open(j, "bugs", '[');
    for (int i = 0; i < f->bugs; i++) {
        out_open(j, NULL, '{');
        out_text(j, "id", f->bug[i].id);
        out_text(j, "what", f->bug[i].what);
        out_text(j, "fix", f->bug[i].fix);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void search_json(json_out *j, const check_findings *f, bool allowed)
{
    bugs_json(j, f);
    out_bool(j, "allowed", allowed);
    out_text(j, "fits", f->fits);
    out_open(j, "also", '-');
    for (int i = 0; i < f->also_count; i++)
        out_text(j, NULL, f->also[i]);
    out_close(j, '-');
    fit_json(j, "against_spec", f, &f->spec_fit);
    if (f->bugs)
        fit_json(j, "against_bug", f, &f->bug_fit);
    out_real(j, "seen_factor", f->factor > 0 ? f->factor : NAN);
    out_real(j, "seen_theta", f->theta > 0 ? f->theta : NAN);
}

void check_print_json(const check_findings *f, bool allowed, const char *given)
{
    static const char *const verdict[] = { "ok", "mismatch", "unknown", "cannot-tell", "mismatch" };
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", "check");
    out_text(&j, "spec", given);
    out_text(&j, "canonical", f->spec);
    out_text(&j, "verdict", verdict[f->verdict]);
    out_text(&j, "taken", f->read_as);
    out_text(&j, "rounded", f->rounded ? array_type_name(f->precision) : NULL);
    if (f->verdict == CHECK_NOT_FINITE) {
        out_text(&j, "bug", "not-finite");
        value_json(&j, "first", f, &f->spec_fit.first);
    } else
        search_json(&j, f, allowed);
    out_close(&j, '}');
}
