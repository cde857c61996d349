/* SPDX-License-Identifier: MIT
 *
 * The plan on one page. */
#include "cli/explain.h"
#include "cli/extend.h"
#include "cli/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TYPE_MOST 80 /* characters of a model's type */
#define PATH_MOST 4096
#define COST_COLUMN 57

#define INDENT 11

/* The length the file offers, and how it comes to that. */
static void print_served(const extend_model *x)
{
    int64_t served = x->part->served > 0 ? x->part->served : x->reach;
    const char *how = "";
    if (served > x->reach)
        how = "by a scaling that no training saw";
    else if (x->reach > x->trained)
        how = "the model's own makers offer it, by a scaling of its own: taken for seen";
    page_field("served", INDENT, "%" PRId64 "%s%s%s", served, *how ? " (" : "", how, *how ? ")" : "");
}

static void print_model(const extend_job *j)
{
    const extend_model *x = &j->x;
    char text[1000];
    explain_shorten(text, sizeof text, x->group ? x->group->spec : x->part->group[x->part->layer[0].group].spec);
    page_print(x->zoo->path, PATH_MOST);
    printf(": ");
    page_print(x->part->type, TYPE_MOST);
    printf("%s%" PRId64 " layers\n", *x->part->type ? ", " : "", x->part->layers);
    page_field("spec", INDENT, "%s", text);
    page_field("trained", INDENT, "%" PRId64, x->trained);
    print_served(x);
    page_field("target", INDENT, "%" PRId64 "  (%.4g x)", x->target, (double)x->target / (double)x->reach);
    if (x->group && x->windowed)
        page_field("", 2, "%" PRId64 " layers see a window only and keep what they have", x->windowed);
    if (x->group && x->still)
        page_field("", 2, "%" PRId64 " layers do not rotate", x->still);
    if (x->mixed)
        page_field("", 2, "other layers that see everything rotate otherwise: the plan is for those of the spec above");
}

/* ---------------------------------------------------------------- pairs */

static const struct {
    double least;
    const char *text;
} bands[] = { { 32, "32 turns or more" }, { 1, "1 to 32 turns" }, { 0, "less than a turn" } };

static int band_of(const extend_pair *p)
{
    int b = 0;
    while (b < CLI_COUNT(bands) - 1 && p->turns < bands[b].least)
        b++;
    return p->turns > 0 ? b : CLI_COUNT(bands);
}

static void print_band(const extend_model *x, int64_t first, int64_t last)
{
    int b = band_of(&x->pair[first]);
    char range[48];
    snprintf(range, sizeof range, first == last ? "%" PRId64 : "%" PRId64 "-%" PRId64, first, last);
    if (b == CLI_COUNT(bands))
        printf("  %-9s do not turn\n", range);
    else
        printf("  %-9s %-17s wavelengths %.4g to %.4g%s\n", range, bands[b].text, x->pair[first].wavelength,
               x->pair[last].wavelength, b == 2 ? ": new angles past what was seen" : "");
}

static void print_pairs(const extend_job *j)
{
    const extend_model *x = &j->x;
    printf("\n%" PRId64 " pairs: turns over the %" PRId64 " positions seen\n", x->pairs, x->reach);
    if (cli_given(j->args, "all")) {
        for (int64_t n = 0; n < x->pairs; n++)
            printf("  %-4" PRId64 " wavelength %-12.6g turns %.6g\n", n, x->pair[n].wavelength, x->pair[n].turns);
        return;
    }
    for (int64_t first = 0, n = 1; n <= x->pairs; n++)
        if (n == x->pairs || band_of(&x->pair[n]) != band_of(&x->pair[first])) {
            print_band(x, first, n - 1);
            first = n;
        }
}

/* ---------------------------------------------------------------- methods */

static void print_leaving(char out[80], const extend_plan *p)
{
    if (p->serves)
        snprintf(out, 80, "none");
    else
        snprintf(out, 80, "%" PRId64 " (%" PRId64 "-%" PRId64 ") %.3g x", p->leaving, p->first, p->last, p->worst);
}

static void print_cost(const extend_plan *p)
{
    char text[300];
    if (p->cost.same)
        snprintf(text, sizeof text, "as before");
    else if (!p->cost.changed)
        snprintf(text, sizeof text, "same angles, logits x %.4g", p->cost.logits);
    else if (isinf(p->cost.slower))
        snprintf(text, sizeof text, "%" PRId64 " pairs stop, from pair %" PRId64, p->cost.changed, p->cost.fastest);
    else
        snprintf(text, sizeof text,
                 "%" PRId64 " pairs change, from pair %" PRId64
                 " (frequency x %.3g), mean %.3g %%, %.3g rad at distance %d",
                 p->cost.changed, p->cost.fastest, 1 / p->cost.slower, 100 * p->cost.mean, p->cost.angle, EXTEND_NEAR);
    page_wrapped(text, COST_COLUMN);
}

static void print_method(const extend_job *j, int i)
{
    const extend_plan *p = &j->plan[i];
    const char *key = p->method->key;
    char value[48] = "", leaving[80];
    if (!p->applies) {
        page_field(p->method->name, 12, "does not apply: %s", p->why);
        return;
    }
    if (key && !strcmp(key, "long"))
        snprintf(value, sizeof value, "up to %.6g", p->value);
    else if (key)
        snprintf(value, sizeof value, "%s %.6g", key, p->value);
    print_leaving(leaving, p);
    printf("%c %-9s %-16s %-17s x %-7.4g ", i == j->advised ? '*' : ' ', p->method->name, value, leaving, p->logits);
    print_cost(p);
}

static void print_methods(const extend_job *j)
{
    printf("\n  %-9s %-16s %-17s %-9s short prompts, within %" PRId64 "\n", "method", "number", "pairs leave", "logits",
           j->x.trained);
    for (int i = 0; i < extend_method_count; i++)
        print_method(j, i);
}

/* ---------------------------------------------------------------- settings */

/* To be copied: on one line, however long. */
static void print_code(const char *text)
{
    if (!text)
        return;
    fputs("  ", stdout);
    page_print(text, (int)strlen(text));
    putchar('\n');
}

static void print_settings(const extend_job *j)
{
    const zoo_engine *e;
    for (int i = 0; (e = zoo_engine_at(i)); i++) {
        extend_setting s = { 0 };
        if (extend_wants(j, e) && extend_settings(&s, j, e) == CLI_OK) {
            printf("\n%s%s\n", e->name, e->start || !s.text ? "" : ": config.json; merge: replace these keys");
            print_code(s.text);
            if (s.older)
                puts("  before 5.0:");
            print_code(s.older);
            if (s.remark && *s.remark)
                page_field("", 2, "(%s)", s.remark);
        }
        extend_setting_free(&s);
    }
}

static void print_choice(const extend_job *j)
{
    char text[600];
    const extend_plan *p = &j->plan[j->taken];
    const char *paper = p->method->paper;
    snprintf(text, sizeof text, "Recommended: %s: %s.", j->plan[j->advised].method->name, j->why);
    page_wrapped(text, 0);
    if (j->taken != j->advised)
        printf("Taken: %s\n", p->method->name);
    page_field("", 2, "%s%s%s%s", p->method->note, *paper ? " (" : "", paper, *paper ? ")" : "");
    if (strcmp(j->x.scaling, "none") && p->method->key && strcmp(j->x.scaling, p->method->scaling))
        page_field("", 2, "it takes the place of the model's own %s, with which it was trained", j->x.scaling);
}

void extend_page(const extend_job *j)
{
    const extend_plan *p;
    bool settings_only = cli_given(j->args, "for");
    if (j->x.verdict != EXTEND_PLAN) {
        print_model(j);
        putchar('\n');
        page_wrapped(j->x.why, 0);
        return;
    }
    if (!settings_only) {
        print_model(j);
        print_pairs(j);
        print_methods(j);
        putchar('\n');
    }
    print_choice(j);
    p = &j->plan[j->taken];
    if (p->applies && !p->serves)
        page_field("", 2, "pairs %" PRId64 "-%" PRId64 " still leave the trained range, up to %.3g x", p->first,
                   p->last, p->worst);
    if (p->applies)
        print_settings(j);
    else
        page_field("", 2, "does not apply: %s", p->why);
}
