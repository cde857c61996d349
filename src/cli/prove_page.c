/* SPDX-License-Identifier: MIT
 *
 * Claims and properties as a page of its own: no script, and nothing that is fetched. */
#include "cli/prove.h"

#include "draw/page.h"

static const char css[] =
    "article{border-top:1px solid var(--grid);padding:.8rem 0;max-width:60rem}\n"
    "article p{margin:.3rem 0}\n"
    ".verdict{font-weight:700}.HOLDS{color:var(--ink-6)}.REFUTED{color:var(--ink-5)}.DEPENDS{color:var(--ink-8)}\n"
    "article td,article th{text-align:left;white-space:normal;overflow-wrap:break-word}\n"
    "article td.verdict,article td.number{white-space:nowrap}\n";

static void tagged(FILE *to, const char *open, const char *text, const char *close)
{
    fputs(open, to);
    draw_escape(to, text);
    fputs(close, to);
}

static void page_evidence(FILE *to, const prove_line *l, language g)
{
    fprintf(to, "<details><summary>%s (%d)</summary>\n<table>\n", g == CHINESE ? "数据" : "evidence", l->found.count);
    for (int n = 0; n < l->found.count; n++) {
        const prove_number *x = &l->found.number[n];
        tagged(to, "<tr><td>", say(x->what, g), "</td>");
        tagged(to, "<td><code>", prove_of(x, g), "</code></td>");
        tagged(to, "<td class=\"number\">", prove_number_text(x).text, "</td></tr>\n");
    }
    fputs("</table></details>\n", to);
}

static void page_line(FILE *to, const prove_line *l, language g)
{
    char command[400];
    words verdict = l->failed ? prove_cannot_words() : prove_verdict_words(l->found.verdict);
    prove_command(command, sizeof command, l);
    fprintf(to, "<article><p><span class=\"verdict %s\">%s</span> <b>%s</b> ", verdict.en, say(verdict, g),
            l->claim->name);
    if (l->found.count && !l->failed) {
        char label[PROVE_LABEL];
        prove_label(label, &l->found.number[0], g);
        tagged(to, "", prove_number_text(&l->found.number[0]).text, " <span class=\"faint\">");
        tagged(to, "", label, "</span>");
    }
    tagged(to, "</p>\n<p>", say(prove_sentence(l->claim, l->spec), g), "</p>\n");
    tagged(to, "<p>", l->failed ? l->err.text : say(l->found.because, g), "</p>\n");
    tagged(to, "<p class=\"faint\">", l->claim->source, " &middot; <code>");
    tagged(to, "", command, "</code></p>\n");
    if (!l->failed)
        page_evidence(to, l, g);
    fputs("</article>\n", to);
}

static void page_subject(FILE *to, const prove_subject *s, language g)
{
    tagged(to, "<article><h2><code>", s->spec, "</code></h2>\n<table>\n");
    for (int p = 0; p < CLAIM_COUNT; p++) {
        const property_found *f = &s->property[p];
        bool none = f->is == PROPERTY_NO_MEANING;
        tagged(to, "<tr><td>", say(prove_property_words(f->claim), g), "</td>");
        fprintf(to, "<td class=\"verdict %s\">%s</td>",
                f->is == PROPERTY_HOLDS ? "HOLDS"
                : f->claimed && !none   ? "REFUTED"
                                        : "faint",
                say(prove_outcome_words(f->is), g));
        tagged(to, "<td class=\"number\">", prove_property_text(f).text, "</td>");
        tagged(to, "<td class=\"faint\">", none ? "" : say(f->what, g), "</td>");
        fprintf(to, "<td>%s</td></tr>\n", f->claimed ? (g == CHINESE ? "已声明" : "claimed") : "");
    }
    fputs("</table></article>\n", to);
}

static void page_counts(FILE *to, const prove_report *r)
{
    int count[PROVE_VERDICT_COUNT] = { 0 };
    for (int n = 0; n < r->lines; n++)
        count[r->line[n].found.verdict] += !r->line[n].failed;
    fputs("<p>", to);
    for (int v = 0; v < PROVE_VERDICT_COUNT; v++)
        fprintf(to, "%s<span class=\"verdict %s\">%d %s</span>", v ? " &middot; " : "",
                prove_verdict_words((prove_verdict)v).en, count[v],
                say(prove_verdict_words((prove_verdict)v), r->language));
    fputs("</p>\n", to);
}

pe_status prove_page(FILE *to, const void *report, pe_error *err)
{
    const prove_report *r = report;
    const prove_group *before = NULL;
    words title = { "What papers say of position encodings, measured", "位置编码：文献里的说法，逐条测量" };
    (void)err;
    page_begin(to, &(page_head){ .title = say(title, r->language), .css = css, .language = r->language });
    if (r->lines > 1)
        page_counts(to, r);
    for (int n = 0; n < r->subjects; n++)
        page_subject(to, &r->subject[n], r->language);
    for (int n = 0; n < r->lines; n++) {
        if (r->line[n].group != before)
            tagged(to, "<h2>", say(r->line[n].group->title, r->language), "</h2>\n");
        before = r->line[n].group;
        page_line(to, &r->line[n], r->language);
    }
    page_end(to);
    return PE_OK;
}
