/* SPDX-License-Identifier: MIT
 *
 * The findings of posenc check in the result tree: OK or the bug's name first, then the evidence. */
#include "cli/array.h"
#include "cli/check.h"

#include "base/tell.h"

#include <inttypes.h>
#include <math.h>

static const char *const more_data = "positions up to 64 and beyond, several of them, on every axis";

/* ---------------------------------------------------------------- numbers */

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

void check_result(result *out, const check_findings *f, bool allowed, const char *given)
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
