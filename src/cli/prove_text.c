/* SPDX-License-Identifier: MIT
 *
 * Claims and properties for people, within 100 columns. */
#include "cli/prove.h"

#include <math.h>
#include <string.h>

#define COLUMNS 98
#define INDENT 4
#define NUMBER_AT 50 /* where what the number is begins: 12 + 26 + 12 */
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

void prove_label(char out[PROVE_LABEL], const prove_number *n, language l)
{
    bool of = *n->of;
    snprintf(out, PROVE_LABEL, "%s%s%s%s", say(n->what, l), of ? " (" : "", n->of, of ? ")" : "");
}

words prove_outcome_words(property_outcome o)
{
    static const words all[] = { { "fails", "不满足" }, { "HOLDS", "满足" }, { "no meaning", "不适用" } };
    return all[o];
}

void prove_command(char *out, size_t cap, const prove_line *l)
{
    snprintf(out, cap, "posenc prove %s%s%s", l->claim->name, l->spec ? " " : "", l->spec ? l->spec : "");
}

/* ---------------------------------------------------------------- columns: a Chinese character takes two */

static int columns_of(const char *text, int bytes)
{
    int columns = 0;
    for (int i = 0, n; i < bytes; i += n) {
        unsigned code = 0;
        n = out_character(text + i, &code);
        n = n > 0 ? n : 1;
        columns += (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xffdc && code != 0x303f) ? 2 : 1;
    }
    return columns;
}

/* The next piece that stays on one line: a word, or one wide character, with the stop that follows it. */
static int piece(const char *text)
{
    unsigned code = 0;
    int n = out_character(text, &code), all = n > 0 ? n : 1;
    if (columns_of(text, all) < 2)
        while (text[all] && text[all] != ' ' && (n = out_character(text + all, &code)) > 0 &&
               columns_of(text + all, n) < 2)
            all += n;
    while (text[all] && (n = out_character(text + all, &code)) > 0 &&
           (code == 0x3002 || code == 0xff0c || code == 0xff1b || code == 0xff1a || code == 0xff09 || code == 0x3001 ||
            code == 0xff1f))
        all += n;
    return all;
}

static void wrapped(FILE *to, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        bool space = *text == ' ';
        text += strspn(text, " ");
        int n = *text ? piece(text) : 0, wide = columns_of(text, n);
        if (column > indent && column + space + wide > COLUMNS) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (space && column > indent)
            column += fprintf(to, " ");
        out_plain(to, text, n);
        column += wide;
        text += n;
    }
    putc('\n', to);
}

static void padded(FILE *to, const char *text, int width)
{
    int used = columns_of(text, (int)strlen(text));
    fprintf(to, "%s%*s", text, used < width ? width - used : 1, "");
}

/* ---------------------------------------------------------------- colours */

static void coloured(FILE *to, const char *text, int width, int code, bool colour)
{
    if (colour)
        fprintf(to, "\033[1;%dm", code);
    padded(to, text, width);
    if (colour)
        fputs("\033[0m", to);
}

static int colour_of(prove_verdict v)
{
    return v == PROVE_HOLDS ? 32 : v == PROVE_REFUTED ? 31 : 33;
}

/* ---------------------------------------------------------------- claims */

static void print_evidence(FILE *to, const prove_line *l, language g)
{
    fprintf(to, "%*s%s %s\n", INDENT, "", g == CHINESE ? "来源：" : "source:", l->claim->source);
    for (int n = 0; n < l->found.count; n++) {
        const prove_number *x = &l->found.number[n];
        fprintf(to, "%*s", INDENT, "");
        padded(to, say(x->what, g), 48);
        padded(to, x->of, 34);
        fprintf(to, "%s\n", prove_number_text(x).text);
    }
}

static void print_line(FILE *to, const prove_report *r, const prove_line *l, bool colour)
{
    language g = r->language;
    if (l->failed)
        coloured(to, g == CHINESE ? "无法测量" : "cannot", 12, 90, colour);
    else
        coloured(to, say(prove_verdict_words(l->found.verdict), g), 12, colour_of(l->found.verdict), colour);
    char name[PROVE_LABEL];
    snprintf(name, sizeof name, "%s%s%.200s", l->claim->name, l->spec ? " " : "", l->spec ? l->spec : "");
    padded(to, name, 26);
    if (l->found.count) {
        char label[PROVE_LABEL];
        prove_label(label, &l->found.number[0], g);
        padded(to, prove_number_text(&l->found.number[0]).text, 12);
        wrapped(to, label, NUMBER_AT);
    } else
        putc('\n', to);
    fprintf(to, "%*s", INDENT, "");
    wrapped(to, say(prove_sentence(l->claim, l->spec), g), INDENT);
    fprintf(to, "%*s", INDENT, "");
    if (l->failed)
        wrapped(to, l->err.text, INDENT);
    else {
        fputs("-> ", to);
        wrapped(to, say(l->found.because, g), INDENT + 3);
    }
    if (r->in_full && !l->failed)
        print_evidence(to, l, g);
}

static void print_totals(FILE *to, const prove_report *r)
{
    int count[PROVE_VERDICT_COUNT] = { 0 };
    for (int n = 0; n < r->lines; n++)
        if (!r->line[n].failed)
            count[r->line[n].found.verdict]++;
    fprintf(to, "\n%d: %d %s, %d %s, %d %s\n", r->lines, count[PROVE_HOLDS],
            say(prove_verdict_words(PROVE_HOLDS), r->language), count[PROVE_REFUTED],
            say(prove_verdict_words(PROVE_REFUTED), r->language), count[PROVE_DEPENDS],
            say(prove_verdict_words(PROVE_DEPENDS), r->language));
}

/* ---------------------------------------------------------------- properties */

static void print_subject(FILE *to, const prove_subject *s, language l, bool colour)
{
    out_plain(to, s->spec, (int)strlen(s->spec));
    fputs("\n\n", to);
    for (int p = 0; p < PE_CLAIM_COUNT; p++) {
        const property_found *f = &s->property[p];
        bool broken = f->claimed && f->is == PROPERTY_FAILS;
        fputs("  ", to);
        coloured(to, say(prove_outcome_words(f->is), l), 12,
                 f->is == PROPERTY_HOLDS   ? 32
                 : f->is == PROPERTY_FAILS ? (broken ? 31 : 33)
                                           : 90,
                 colour);
        padded(to, pe_claim_name(f->claim), 12);
        padded(to, prove_property_text(f).text, 10);
        padded(to, f->is == PROPERTY_NO_MEANING ? "" : say(f->what, l), 40);
        fprintf(to, "%s\n",
                broken       ? (l == CHINESE ? "声明了，但测量不满足" : "CLAIMED, but measured to fail")
                : f->claimed ? (l == CHINESE ? "已声明" : "claimed")
                             : "");
    }
    putc('\n', to);
}

void prove_print(FILE *to, const prove_report *r, bool colour)
{
    const prove_group *before = NULL;
    for (int n = 0; n < r->subjects; n++)
        print_subject(to, &r->subject[n], r->language, colour);
    for (int n = 0; n < r->lines; n++) {
        const prove_line *l = &r->line[n];
        if (l->group != before && !r->in_full)
            fprintf(to, "%s%s (%s)\n\n", before ? "\n" : "", say(l->group->title, r->language), l->group->name);
        before = l->group;
        print_line(to, r, l, colour);
    }
    if (r->lines > 1)
        print_totals(to, r);
}

void prove_print_list(FILE *to, language l)
{
    for (int g = 0; g < prove_group_count; g++) {
        fprintf(to, "%s%s (%s)\n", g ? "\n" : "", say(prove_groups[g]->title, l), prove_groups[g]->name);
        for (int c = 0; c < prove_groups[g]->count; c++) {
            fputs("  ", to);
            padded(to, prove_groups[g]->claims[c].name, 26);
            wrapped(to, say(prove_groups[g]->claims[c].claim, l), 28);
        }
    }
}
