/* SPDX-License-Identifier: MIT
 *
 * The plan on one page. */
#include "cli/extend.h"
#include "cli/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TYPE_MOST 80 /* characters of a model's type */

static void print_model(const extend_job *j)
{
    const extend_model *x = &j->x;
    const char *spec = x->group ? x->group->spec : x->part->group[x->part->layer[0].group].spec;
    printf("%s: ", x->zoo->path);
    page_print(x->part->type, TYPE_MOST);
    printf("%s%" PRId64 " layers\n", *x->part->type ? ", " : "", x->part->layers);
    printf("  spec     %.300s%s\n", spec, strlen(spec) > 300 ? "..." : "");
    printf("  trained  %" PRId64 "\n  served   %" PRId64 "%s\n", x->trained, x->reach,
           x->reach > x->trained ? "  (by its own scaling)" : "");
    printf("  target   %" PRId64 "  (%.4g x)\n", x->target, (double)x->target / (double)x->reach);
    if (x->group && x->windowed)
        printf("  %" PRId64 " layers see a window only and keep what they have\n", x->windowed);
    if (x->group && x->still)
        printf("  %" PRId64 " layers do not rotate\n", x->still);
    if (x->mixed)
        printf("  other layers that see everything rotate otherwise: the plan is for those of the spec above\n");
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
    if (p->cost.same)
        printf("as before");
    else if (!p->cost.changed)
        printf("same angles, logits x %.4g", p->cost.magnitude * p->cost.magnitude);
    else if (isinf(p->cost.slower))
        printf("%" PRId64 " pairs stop, from pair %" PRId64, p->cost.changed, p->cost.fastest);
    else
        printf("%" PRId64 " pairs change, from pair %" PRId64
               " (frequency x %.3g), mean %.3g %%, %.3g rad at distance %d",
               p->cost.changed, p->cost.fastest, 1 / p->cost.slower, 100 * p->cost.mean, p->cost.angle, EXTEND_NEAR);
    putchar('\n');
}

static void print_method(const extend_job *j, int i)
{
    const extend_plan *p = &j->plan[i];
    const char *key = p->method->key;
    char value[48] = "", leaving[80];
    if (!p->applies) {
        printf("  %-9s does not apply: %s\n", p->method->name, p->why);
        return;
    }
    if (key && !strcmp(key, "long"))
        snprintf(value, sizeof value, "up to %.6g", p->value);
    else if (key)
        snprintf(value, sizeof value, "%s %.6g", key, p->value);
    print_leaving(leaving, p);
    printf("%c %-9s %-16s %-16s x %-7.4g ", i == j->advised ? '*' : ' ', p->method->name, value, leaving,
           p->magnitude * p->magnitude);
    print_cost(p);
}

static void print_methods(const extend_job *j)
{
    printf("\n  %-9s %-16s %-16s %-9s short prompts, within %" PRId64 "\n", "method", "smallest", "pairs leave",
           "logits", j->x.trained);
    for (int i = 0; i < extend_method_count; i++)
        print_method(j, i);
}

/* ---------------------------------------------------------------- settings */

static void print_settings(const extend_job *j)
{
    const zoo_engine *e;
    for (int i = 0; (e = zoo_engine_at(i)); i++) {
        extend_setting s = { 0 };
        if (extend_wants(j, e) && extend_settings(&s, j, e) == CLI_OK) {
            printf("\n%s%s\n", e->name, e->start ? "" : ": merge into config.json");
            if (s.text)
                printf("  %s\n", s.text);
            if (s.older)
                printf("  before 5.0:\n  %s\n", s.older);
            if (s.remark && *s.remark)
                printf("  (%s)\n", s.remark);
        }
        extend_setting_free(&s);
    }
}

void extend_page(const extend_job *j)
{
    const extend_plan *p;
    bool settings_only = cli_given(j->args, "for");
    if (j->x.verdict != EXTEND_PLAN) {
        print_model(j);
        printf("\n%s\n", j->x.why);
        return;
    }
    if (!settings_only) {
        print_model(j);
        print_pairs(j);
        print_methods(j);
    }
    p = &j->plan[j->advised];
    printf("%sRecommended: %s: %s.\n", settings_only ? "" : "\n", p->method->name, j->why);
    if (j->taken != j->advised)
        printf("Taken: %s\n", j->plan[j->taken].method->name);
    p = &j->plan[j->taken];
    printf("  %s%s%s%s\n", p->method->note, *p->method->paper ? " (" : "", p->method->paper,
           *p->method->paper ? ")" : "");
    if (strcmp(j->x.scaling, "none") && p->method->key && strcmp(j->x.scaling, p->method->scaling))
        printf("  it takes the place of the model's own %s, with which it was trained\n", j->x.scaling);
    if (p->applies && !p->serves)
        printf("  pairs %" PRId64 "-%" PRId64 " still leave the trained range, up to %.3g x\n", p->first, p->last,
               p->worst);
    if (p->applies)
        print_settings(j);
    else
        printf("  does not apply: %s\n", p->why);
}
