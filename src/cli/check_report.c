/* SPDX-License-Identifier: MIT
 *
 * The findings of posenc check for people: OK or the bug's name in the first line, then the evidence. */
#include "cli/array.h"
#include "cli/check.h"
#include "cli/page.h"

#include <inttypes.h>
#include <limits.h>

static const char *const more_data = "positions up to 64 and beyond, several of them, on every axis";

/* "token 17", of a batch "token 17 of sequence 1" */
static void print_token(const check_findings *f, const check_value *v)
{
    printf("token %" PRId64, v->token);
    if (f->sequences > 1)
        printf(" of sequence %" PRId64, v->sequence);
}

/* "1e-3 at token 17 (position 40), head 3, element 5 (got 1, expected 2)" */
static void print_error(const check_findings *f, const char *which, const check_value *v)
{
    printf("  %s error %.3g at ", which, v->error);
    print_token(f, v);
    printf(" (position");
    for (int64_t a = 0; a < f->axes; a++)
        printf("%s%" PRId64, a ? ", " : " ", v->position[a]);
    printf(")");
    if (!f->tables)
        printf(", head %" PRId64, v->head);
    printf(", %s %" PRId64 " (got %.7g, expected %.7g)", v->what, v->element, v->got, v->expected);
}

static void print_also(const check_findings *f)
{
    for (int i = 0; i < f->also_count; i++)
        printf("%s%s", i ? ", " : "", f->also[i]);
}

static void print_ok(const check_findings *f, bool allowed)
{
    (void)allowed;
    printf("OK: ");
    page_print(f->spec, INT_MAX);
    putchar('\n');
    print_error(f, "worst", &f->spec_fit.worst);
    printf("\n  all of %" PRId64 " numbers are within the rounding of %s\n", f->spec_fit.count,
           array_type_name(f->precision == PE_F64 ? PE_F32 : f->precision));
    if (!f->also_count)
        return;
    printf("  this data fits these bugs as well: ");
    print_also(f);
    printf("\n  to tell them apart, dump %s\n", more_data);
}

static void print_cannot_tell(const check_findings *f, bool allowed)
{
    (void)allowed;
    printf("CANNOT TELL: this data fits ");
    page_print(f->spec, INT_MAX);
    printf("%s\n  it fits these bugs as well: ", f->fits_unrotated ? ", and it would if nothing were rotated" : "");
    print_also(f);
    printf("\n  dump %s, with vectors that are not 0\n",
           f->tables ? "a longer table: positions up to 64 and beyond" : more_data);
}

static void print_mismatch(const check_findings *f, bool allowed)
{
    printf(allowed ? "OK, allowed: " : "MISMATCH: ");
    for (int i = 0; i < f->bugs; i++)
        printf("%s%s", i ? " and " : "", f->bug[i].id);
    for (int i = 0; i < f->bugs; i++) {
        printf(i ? "; and " : ": ");
        page_print(f->bug[i].what, INT_MAX);
    }
    putchar('\n');
    if (f->spec_fit.count) {
        print_error(f, "worst", &f->spec_fit.worst);
        printf("; with the bug: %.3g\n", f->bug_fit.worst.error);
    } else
        printf("  the tables are %" PRId64 " wide; the spec has %" PRId64 " pairs\n", f->width, f->pairs);
    if (f->fits) {
        printf("  fits: ");
        page_print(f->fits, INT_MAX);
        putchar('\n');
    }
    for (int i = 0; i < f->bugs && !allowed; i++)
        printf("  fix: %s\n", f->bug[i].fix);
    if (!f->also_count)
        return;
    printf("  this data cannot tell it from: ");
    print_also(f);
    printf("\n  to tell them apart, dump %s\n", more_data);
}

static void print_pairs(const check_findings *f)
{
    for (int i = 0; i < f->wrong_count; i++) {
        const check_pair *p = &f->wrong[i];
        printf("  pair %" PRId64 " (elements %" PRId64 ", %" PRId64
               "): rotated by %.5g, factor %.5g; expected %.5g, factor %.5g\n",
               p->pair, p->x, p->y, p->angle, p->factor, p->expected_angle, p->expected_factor);
    }
    printf("  at ");
    print_token(f, &f->spec_fit.worst);
    printf(" %" PRId64 " of %" PRId64 " pairs are right\n", f->right_count, f->pairs);
}

static void print_unknown(const check_findings *f, bool allowed)
{
    (void)allowed;
    printf("MISMATCH: no known bug explains it\n");
    if (!f->spec_fit.count) {
        printf("  the tables are %" PRId64 " wide; ", f->width);
        page_print(f->spec, INT_MAX);
        printf(" has %" PRId64 " pairs: needs %" PRId64 ", or %" PRId64 " wide\n", f->pairs, f->pairs, 2 * f->pairs);
        return;
    }
    print_error(f, "worst", &f->spec_fit.worst);
    putchar('\n');
    print_error(f, "first", &f->spec_fit.first);
    printf("\n  %" PRId64 " of %" PRId64 " numbers are wrong\n", f->spec_fit.out, f->spec_fit.count);
    print_pairs(f);
    if (f->theta > 0)
        printf("  the theta that fits best is %.6g\n", f->theta);
}

static void print_not_finite(const check_findings *f, bool allowed)
{
    const check_value *v = &f->spec_fit.first;
    (void)allowed;
    printf("MISMATCH: not-finite: ");
    print_token(f, v);
    printf(", head %" PRId64 ", %s %" PRId64 " is %g\n", v->head, v->what, v->element, v->got);
}

void check_print(const check_findings *f, bool allowed)
{
    static void (*const print[])(const check_findings *, bool) = { print_ok, print_mismatch, print_unknown,
                                                                   print_cannot_tell, print_not_finite };
    print[f->verdict](f, allowed);
    if (f->verdict == CHECK_NOT_FINITE)
        return;
    if (f->read_as)
        printf("  the shape was read as %s\n", f->read_as);
    if (f->rounded)
        printf("  every number after the rotation is a %s: the dump was rounded, and is checked as such\n",
               array_type_name(f->precision));
}
