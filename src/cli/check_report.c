/* SPDX-License-Identifier: MIT
 *
 * The answer: OK or the bug's name in the first line, then the evidence. */
#include "cli/check.h"
#include "cli/page.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define PAIRS_SHOWN 6

static const char *const more_data = "positions up to 64 and beyond, several of them, on every axis";

verdict check_verdict_of(const check_answer *a)
{
    /* what fits untouched data, or most bugs, says nothing for the spec */
    bool telling = !a->fits_still && 2 * a->also_count < a->tried + 1;
    if (a->spec_fit.fits)
        return telling ? VERDICT_OK : VERDICT_CANNOT_TELL;
    return a->has_found ? VERDICT_MISMATCH : VERDICT_UNKNOWN;
}

bool check_is_allowed(const check_answer *a, const check_data *d)
{
    const char *allow = cli_text(d->args, "allow");
    return allow && a->has_found && a->found.bugs == 1 && !strcmp(allow, a->found.bug[0]->id);
}

const char *check_element_name(const check_data *d, const check_spot *s)
{
    return !d->tables ? "element" : s->element < d->width ? "cos" : "sin";
}

int64_t check_element_index(const check_data *d, const check_spot *s)
{
    return s->element - (s->element >= d->width ? d->width : 0);
}

/* "token 17", of a batch "token 17 of sequence 1" */
static void print_token(const check_data *d, int64_t token)
{
    printf("token %" PRId64, token % d->length);
    if (d->tokens > d->length)
        printf(" of sequence %" PRId64, token / d->length);
}

/* "token 17 (position 40), head 3, element 5 (got 1, expected 2)" */
static void print_spot(const check_data *d, const check_spot *s)
{
    print_token(d, s->token);
    printf(" (position");
    for (int64_t a = 0; a < d->at.axes; a++)
        printf("%s%" PRId64, a ? ", " : " ", check_position(d, s->token, a));
    printf(")");
    if (!d->tables)
        printf(", head %" PRId64, s->head);
    printf(", %s %" PRId64 " (got %.7g, expected %.7g)", check_element_name(d, s), check_element_index(d, s), s->got,
           s->expected);
}

static void print_also(const check_answer *a)
{
    for (int i = 0; i < a->also_count; i++)
        printf("%s%s", i ? ", " : "", a->also[i]->id);
}

static void print_ids(const suspect *s)
{
    for (int i = 0; i < s->bugs; i++)
        printf("%s%s", i ? " and " : "", s->bug[i]->id);
}

static void print_worst(const check_data *d, const check_fit *f)
{
    printf("  worst error %.3g at ", f->worst.error);
    print_spot(d, &f->worst);
}

static void print_spec(const suspect *s)
{
    page_print(pe_encoding_spec(s->e), INT_MAX);
}

/* What was not as it was said. */
static void print_remarks(const check_data *d)
{
    if (d->taken)
        printf("  the shape was taken as %s\n", d->taken);
    if (d->rounded)
        printf("  every number after is a %s: the dump was rounded, and is checked as such\n",
               array_type_name(d->grain));
}

static void print_ok(const check_answer *a, const check_data *d)
{
    printf("OK: ");
    print_spec(&a->spec);
    putchar('\n');
    print_worst(d, &a->spec_fit);
    printf("\n  within what %s rounds, at all of %" PRId64 " numbers\n", d->unit > 0x1p-23 ? "16 bits" : "float32",
           a->spec_fit.count);
    if (!a->also_count)
        return;
    printf("  this data fits these bugs as well: ");
    print_also(a);
    printf("\n  to tell them apart, dump %s\n", more_data);
}

static void print_cannot_tell(const check_answer *a, const check_data *d)
{
    printf("CANNOT TELL: this data fits ");
    print_spec(&a->spec);
    printf("%s\n  it fits these bugs as well: ", a->fits_still ? ", and so it would if nothing turned" : "");
    print_also(a);
    printf("\n  dump %s, with vectors that are not 0\n",
           d->tables ? "a longer table: positions up to 64 and beyond" : more_data);
}

/* A bug that no spec describes has no spec that fits. */
const char *check_fits(const check_answer *a)
{
    const char *spec = a->has_found ? pe_encoding_spec(a->found.e) : NULL;
    return spec && strcmp(spec, pe_encoding_spec(a->spec.e)) ? spec : NULL;
}

static void print_found(const check_answer *a, const check_data *d)
{
    bool allowed = check_is_allowed(a, d);
    printf(allowed ? "OK, allowed: " : "MISMATCH: ");
    print_ids(&a->found);
    printf(": ");
    page_print(a->found.what[0], INT_MAX);
    printf("%s", a->found.bugs > 1 ? "; and " : "");
    page_print(a->found.what[1], INT_MAX);
    putchar('\n');
    if (a->spec_fit.count) {
        print_worst(d, &a->spec_fit);
        printf("; with the bug: %.3g\n", a->found_fit.worst.error);
    } else
        printf("  the tables are %" PRId64 " wide; the spec has %" PRId64 " pairs\n", d->width, a->spec.pairs);
    if (check_fits(a)) {
        printf("  fits: ");
        print_spec(&a->found);
        putchar('\n');
    }
    for (int i = 0; i < a->found.bugs && !allowed; i++)
        printf("  fix: %s\n", a->found.bug[i]->fix);
    if (!a->also_count)
        return;
    printf("  this data cannot tell it from: ");
    print_also(a);
    printf("\n  to tell them apart, dump %s\n", more_data);
}

/* ------------------------------------------------ nothing fits */

static double angle_off(double a, double b)
{
    return fabs(remainder(a - b, 6.283185307179586));
}

/* The pairs that are wrong at the token with the worst error. */
static void print_pairs(const check_answer *a, const check_data *d)
{
    static const double visible = 1e-3;
    check_turns t;
    int64_t token = a->spec_fit.worst.token, shown = 0, right = 0;
    if (!suspect_turns(&a->spec, d, token, &t))
        return;
    for (int64_t n = 0; n < a->spec.pairs; n++) {
        const pe_pair *p = &a->spec.pair[n];
        double angle, factor, expected = atan2(t.s[n], t.c[n]), m = hypot(t.c[n], t.s[n]);
        if (!check_angle(d, &a->spec, token, n, &angle, &factor))
            continue;
        if (angle_off(angle, expected) < visible + 8 * d->unit && fabs(factor / m - 1) < visible + 8 * d->unit) {
            right++;
            continue;
        }
        if (shown++ < PAIRS_SHOWN)
            printf("  pair %" PRId64 " (elements %" PRId64 ", %" PRId64
                   "): turned by %.5g, factor %.5g; expected %.5g, factor %.5g\n",
                   n, p->x, p->y, angle, factor, expected, m);
    }
    printf("  at ");
    print_token(d, token);
    printf(" %" PRId64 " of %" PRId64 " pairs are right\n", right, a->spec.pairs);
}

static void print_unknown(const check_answer *a, const check_data *d)
{
    printf("MISMATCH: no known bug explains it\n");
    if (!a->spec_fit.count) {
        printf("  the tables are %" PRId64 " wide; ", d->width);
        print_spec(&a->spec);
        printf(" has %" PRId64 " pairs: needs %" PRId64 ", or %" PRId64 " wide\n", a->spec.pairs, a->spec.pairs,
               2 * a->spec.pairs);
        return;
    }
    print_worst(d, &a->spec_fit);
    printf("\n  first error %.3g at ", a->spec_fit.first.error);
    print_spot(d, &a->spec_fit.first);
    printf("\n  %" PRId64 " of %" PRId64 " numbers are wrong\n", a->spec_fit.out, a->spec_fit.count);
    print_pairs(a, d);
    if (d->base > 0)
        printf("  the pairs turn most nearly as with theta = %.6g\n", d->base);
}

cli_exit check_report(const check_answer *a, const check_data *d)
{
    static void (*const print[])(const check_answer *, const check_data *) = { print_ok, print_found, print_unknown,
                                                                               print_cannot_tell };
    verdict v = check_verdict_of(a);
    if (cli_given(d->args, "json"))
        check_json(a, d);
    else
        print[v](a, d);
    if (!cli_given(d->args, "json"))
        print_remarks(d);
    return v == VERDICT_OK || check_is_allowed(a, d) ? CLI_OK : CLI_NO;
}

cli_exit check_report_not_finite(const check_data *d, check_spot at)
{
    if (cli_given(d->args, "json")) {
        check_json_not_finite(d, at);
        return CLI_NO;
    }
    printf("MISMATCH: not-finite: ");
    print_token(d, at.token);
    printf(", head %" PRId64 ", %s %" PRId64 " is %g\n", at.head, check_element_name(d, &at),
           check_element_index(d, &at), at.got);
    return CLI_NO;
}
