/* SPDX-License-Identifier: MIT
 *
 * Claims and properties for people, within 100 columns. */
#include "cli/prove.h"

#include <math.h>
#include <string.h>

#define INDENT 4
#define VERDICT 12
#define NAME_MAX_COLUMNS 44
#define NUMBER_MAX_COLUMNS 16
#define WHAT_MAX_COLUMNS 48
#define OF_MAX_COLUMNS 34
#define ROUNDING 1e-9

/* ---------------------------------------------------------------- numbers and words */

static prove_text value_text(double value)
{
    prove_text out;
    if (!isfinite(value))
        snprintf(out.text, sizeof out.text, "%s", isnan(value) ? "-" : value > 0 ? "infinite" : "-infinite");
    else if (value != 0 && fabs(value) < ROUNDING)
        snprintf(out.text, sizeof out.text, "<1e-9");
    else if (fabs(value) < 1e7 && (value == floor(value) || fabs(value) >= 1000))
        snprintf(out.text, sizeof out.text, "%.0f", value);
    else
        snprintf(out.text, sizeof out.text, "%.3g", value);
    return out;
}

prove_text prove_number_text(const prove_number *n)
{
    prove_text out = value_text(n->value);
    if (n->unit && *n->unit) {
        size_t used = strlen(out.text);
        snprintf(out.text + used, sizeof out.text - used, " %s", n->unit);
    }
    return out;
}

prove_text prove_property_text(const property_found *f)
{
    prove_text out = { "" };
    if (f->is != PROPERTY_NO_MEANING)
        snprintf(out.text, sizeof out.text, "%.3g", f->number);
    return out;
}

const char *prove_of(const prove_number *n, language l)
{
    return l == CHINESE && *n->of_zh ? n->of_zh : n->of;
}

void prove_label(char out[PROVE_LABEL], const prove_number *n, language l)
{
    const char *of = prove_of(n, l);
    bool zh = l == CHINESE;
    snprintf(out, PROVE_LABEL, "%s%s%s%s", say(n->what, l),
             !*of ? ""
             : zh ? "（"
                  : " (",
             of,
             !*of ? ""
             : zh ? "）"
                  : ")");
}

words prove_outcome_words(property_outcome o)
{
    static const words all[] = {
        { "fails", "不满足" }, { "HOLDS", "满足" }, { "no meaning", "不适用" }, { "yes", "是" }, { "no", "否" }
    };
    return all[o];
}

words prove_cannot_words(void)
{
    return (words){ "CANNOT", "无法测量" };
}

void prove_command(char *out, size_t cap, const prove_line *l)
{
    snprintf(out, cap, "posenc prove %s%s%s", l->claim->name, l->spec ? " " : "", l->spec ? l->spec : "");
}

/* The larger of two widths, the second of which has a limit. */
static int larger(int a, int b, int most)
{
    b = b < most ? b : most;
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- colours */

static void coloured(FILE *to, const char *text, int width, int code, bool colour)
{
    if (colour)
        fprintf(to, "\033[1;%dm", code);
    prove_padded(to, text, width - 2);
    if (colour)
        fputs("\033[0m", to);
}

static int colour_of(prove_verdict v)
{
    return v == PROVE_HOLDS ? 32 : v == PROVE_REFUTED ? 31 : 33;
}

/* ---------------------------------------------------------------- claims */

typedef struct layout {
    int name, number;
} layout;

static void line_name(char out[PROVE_LABEL], const prove_line *l)
{
    snprintf(out, PROVE_LABEL, "%s%s%.200s", l->claim->name, l->spec ? " " : "", l->spec ? l->spec : "");
}

static layout layout_of(const prove_report *r)
{
    layout w = { 0, 0 };
    for (int n = 0; n < r->lines; n++) {
        const prove_line *l = &r->line[n];
        char name[PROVE_LABEL];
        line_name(name, l);
        w.name = larger(w.name, prove_width(name), NAME_MAX_COLUMNS);
        if (l->found.count && !l->failed)
            w.number = larger(w.number, prove_width(prove_number_text(&l->found.number[0]).text), NUMBER_MAX_COLUMNS);
    }
    return w;
}

static void print_evidence(FILE *to, const prove_line *l, language g)
{
    int what = 0, of = 0;
    fprintf(to, "%*s%s", INDENT, "", g == CHINESE ? "来源：" : "source: ");
    prove_wrapped(to, l->claim->source, INDENT + 8);
    for (int n = 0; n < l->found.count; n++) {
        what = larger(what, prove_width(say(l->found.number[n].what, g)), WHAT_MAX_COLUMNS);
        of = larger(of, prove_width(prove_of(&l->found.number[n], g)), OF_MAX_COLUMNS);
    }
    for (int n = 0; n < l->found.count; n++) {
        const prove_number *x = &l->found.number[n];
        fprintf(to, "%*s", INDENT, "");
        prove_padded(to, say(x->what, g), what);
        prove_padded(to, prove_of(x, g), of);
        fprintf(to, "%s\n", prove_number_text(x).text);
    }
}

/* The number that decides and what it is; the spec, which stands before it, once. */
static void print_number(FILE *to, const prove_line *l, language g, layout w)
{
    prove_number x = l->found.number[0];
    char label[PROVE_LABEL];
    size_t spec = l->spec ? strlen(l->spec) : 0;
    if (spec && !strncmp(x.of, l->spec, spec) && (!x.of[spec] || x.of[spec] == ',')) {
        size_t gone = spec + strspn(x.of + spec, ", ");
        memmove(x.of, x.of + gone, strlen(x.of + gone) + 1);
    }
    prove_label(label, &x, g);
    prove_padded(to, prove_number_text(&x).text, w.number);
    prove_wrapped(to, label, VERDICT + w.name + w.number + 4);
}

static void print_line(FILE *to, const prove_report *r, const prove_line *l, layout w, bool colour)
{
    language g = r->language;
    char name[PROVE_LABEL];
    line_name(name, l);
    if (l->failed)
        coloured(to, say(prove_cannot_words(), g), VERDICT, 90, colour);
    else
        coloured(to, say(prove_verdict_words(l->found.verdict), g), VERDICT, colour_of(l->found.verdict), colour);
    if (l->found.count && !l->failed) {
        prove_padded(to, name, w.name);
        print_number(to, l, g, w);
    } else
        fprintf(to, "%s\n", name);
    fprintf(to, "%*s", INDENT, "");
    prove_wrapped(to, say(prove_sentence(l->claim, l->spec), g), INDENT);
    fprintf(to, "%*s-> ", INDENT, "");
    prove_wrapped(to, l->failed ? l->err.text : say(l->found.because, g), INDENT + 3);
    if (r->in_full && !l->failed)
        print_evidence(to, l, g);
}

static void print_totals(FILE *to, const prove_report *r)
{
    int count[PROVE_VERDICT_COUNT] = { 0 }, cannot = 0;
    bool zh = r->language == CHINESE;
    for (int n = 0; n < r->lines; n++)
        if (r->line[n].failed)
            cannot++;
        else
            count[r->line[n].found.verdict]++;
    fprintf(to, "\n%d%s", r->lines, zh ? "：" : ": ");
    for (int v = 0; v < PROVE_VERDICT_COUNT; v++)
        fprintf(to, "%s%d %s",
                !v   ? ""
                : zh ? "，"
                     : ", ",
                count[v], say(prove_verdict_words((prove_verdict)v), r->language));
    if (cannot)
        fprintf(to, "%s%d %s", zh ? "，" : ", ", cannot, say(prove_cannot_words(), r->language));
    putc('\n', to);
}

/* ---------------------------------------------------------------- properties */

static int outcome_colour(const property_found *f)
{
    return f->is == PROPERTY_HOLDS ? 32 : f->is == PROPERTY_FAILS ? (f->claimed ? 31 : 33) : 90;
}

static const char *claimed_text(const property_found *f, language l)
{
    if (f->claimed && (f->is == PROPERTY_FAILS || f->is == PROPERTY_NO))
        return l == CHINESE ? "声明了，但测量不满足" : "CLAIMED, but measured to fail";
    return !f->claimed ? "" : l == CHINESE ? "已声明" : "claimed";
}

static void print_subject(FILE *to, const prove_subject *s, language l, bool colour)
{
    int what = 0;
    for (int p = 0; p < CLAIM_COUNT; p++)
        what = larger(what, prove_width(say(s->property[p].what, l)), WHAT_MAX_COLUMNS);
    out_plain(to, s->spec, (int)strlen(s->spec));
    fputs("\n\n", to);
    for (int p = 0; p < CLAIM_COUNT; p++) {
        const property_found *f = &s->property[p];
        fputs("  ", to);
        coloured(to, say(prove_outcome_words(f->is), l), VERDICT, outcome_colour(f), colour);
        prove_padded(to, pe_claim_name(f->claim), 10);
        prove_padded(to, prove_property_text(f).text, 9);
        prove_padded(to, f->is == PROPERTY_NO_MEANING ? "" : say(f->what, l), what);
        fprintf(to, "%s\n", claimed_text(f, l));
    }
    putc('\n', to);
}

static void print_title(FILE *to, const prove_group *g, language l, bool apart, const char *end)
{
    bool zh = l == CHINESE;
    fprintf(to, "%s%s%s%s%s%s", apart ? "\n" : "", say(g->title, l), zh ? "（" : " (", g->name, zh ? "）" : ")", end);
}

void prove_print(FILE *to, const prove_report *r, bool colour)
{
    const prove_group *before = NULL;
    layout w = layout_of(r);
    for (int n = 0; n < r->subjects; n++)
        print_subject(to, &r->subject[n], r->language, colour);
    for (int n = 0; n < r->lines; n++) {
        const prove_line *l = &r->line[n];
        if (l->group != before && !r->in_full)
            print_title(to, l->group, r->language, before != NULL, "\n\n");
        before = l->group;
        print_line(to, r, l, w, colour);
    }
    if (r->lines > 1)
        print_totals(to, r);
}

void prove_print_list(FILE *to, language l)
{
    int name = 0;
    for (int g = 0; g < prove_group_count; g++)
        for (int c = 0; c < prove_groups[g]->count; c++)
            name = larger(name, prove_width(prove_groups[g]->claims[c].name), NAME_MAX_COLUMNS);
    for (int g = 0; g < prove_group_count; g++) {
        print_title(to, prove_groups[g], l, g > 0, "\n");
        for (int c = 0; c < prove_groups[g]->count; c++) {
            fputs("  ", to);
            prove_padded(to, prove_groups[g]->claims[c].name, name);
            prove_wrapped(to, say(prove_groups[g]->claims[c].claim, l), name + 4);
        }
    }
}
