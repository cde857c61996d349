/* SPDX-License-Identifier: MIT
 *
 * docs/claims.md, and a page of its own: no script, and nothing that is fetched. */
#include "cli/prove.h"

#include "draw/draw.h"

#include <string.h>

/* ---------------------------------------------------------------- Markdown */

/* A bar would end the cell, a < would begin a tag. */
static void cell(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '|')
            fputs("\\|", to);
        else if (*text == '<')
            fputs("&lt;", to);
        else
            putc(*text, to);
}

/* Times are this machine's: the table, which is kept, has none. */
static const char *number_of(prove_text *text, const prove_line *l)
{
    if (!l->found.count || l->claim->timed)
        return "";
    *text = prove_number_text(&l->found.number[0]);
    return text->text;
}

static void markdown_line(FILE *to, const prove_line *l, language g)
{
    prove_text text;
    char command[400];
    prove_command(command, sizeof command, l);
    fprintf(to, "| `%s` | ", command);
    cell(to, say(l->claim->claim, g));
    fprintf(to, " | **%s** | ", l->failed ? "-" : say(prove_verdict_words(l->found.verdict), g));
    cell(to, number_of(&text, l));
    fputs(" | ", to);
    if (l->found.count) {
        cell(to, say(l->found.number[0].what, g));
        fprintf(to, "%s%s%s. ", *l->found.number[0].of ? " (" : "", l->found.number[0].of,
                *l->found.number[0].of ? ")" : "");
    }
    cell(to, l->failed ? l->err.text : say(l->found.because, g));
    fputs(" | ", to);
    cell(to, l->claim->source);
    fputs(" |\n", to);
}

static void markdown_properties(FILE *to, const prove_subject *s, language g)
{
    fprintf(to, "\n## `%s`\n\n%s\n|---|---|---|---|\n", s->spec,
            g == CHINESE ? "| 性质 | 结果 | 数值 | 该行声明 |" : "| property | outcome | number | claimed |");
    for (int p = 0; p < PE_CLAIM_COUNT; p++) {
        const property_found *f = &s->property[p];
        bool none = f->is == PROPERTY_NO_MEANING;
        fprintf(to, "| %s | **%s** | ", say(prove_property_words(f->claim), g), say(prove_outcome_words(f->is), g));
        cell(to, prove_property_text(f).text);
        fprintf(to, " %s | %s |\n", none ? "" : say(f->what, g), f->claimed ? (g == CHINESE ? "是" : "yes") : "");
    }
}

pe_status prove_markdown(FILE *to, const void *report, pe_error *err)
{
    const prove_report *r = report;
    const prove_group *before = NULL;
    language g = r->language;
    (void)err;
    fputs(g == CHINESE
              ? "# 文献里的说法，逐条测量\n\n由 `posenc prove -o` 生成：每一行都是一条命令。低于舍入误差的数写作 "
                "<1e-9。\n"
              : "# What papers say, measured\n\nMade by `posenc prove -o docs/claims.md` (`make claims`): every "
                "line is a command. What is below rounding\nreads <1e-9; times, which are each machine's own, "
                "are left out.\n",
          to);
    for (int n = 0; n < r->subjects; n++)
        markdown_properties(to, &r->subject[n], g);
    for (int n = 0; n < r->lines; n++) {
        const prove_line *l = &r->line[n];
        if (l->group != before)
            fprintf(to, "\n## %s\n\n%s\n|---|---|---|---|---|---|\n", say(l->group->title, g),
                    g == CHINESE ? "| 命令 | 说法 | 结论 | 数值 | 是什么，为什么 | 出处 |"
                                 : "| command | claim | verdict | number | of what, and why | source |");
        before = l->group;
        markdown_line(to, l, g);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- HTML */

static const char css[] =
    "*{box-sizing:border-box}\n"
    "html{color-scheme:light dark}\n"
    "body{margin:0;background:var(--paper);color:var(--text);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",\"Noto Sans CJK SC\",\"Liberation Sans\",sans-serif}\n"
    "main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2}h2{font-size:1.2rem;margin:2.5rem 0 .4rem}\n"
    "article{border-top:1px solid var(--grid);padding:.8rem 0}\n"
    ".verdict{font-weight:700}.HOLDS{color:var(--ink-6)}.REFUTED{color:var(--ink-5)}.DEPENDS{color:var(--ink-4)}\n"
    ".faint{color:var(--faint);font-size:.9rem}\n"
    "code{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,\"Liberation Mono\",monospace;overflow-wrap:anywhere}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:.25rem .7rem .25rem 0;text-align:left;border-bottom:1px solid var(--grid);overflow-wrap:anywhere}\n"
    "summary{cursor:pointer}p{margin:.3rem 0}\n";

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
        tagged(to, "<td><code>", x->of, "</code></td>");
        tagged(to, "<td>", prove_number_text(x).text, "</td></tr>\n");
    }
    fputs("</table></details>\n", to);
}

static void page_line(FILE *to, const prove_line *l, language g)
{
    char command[400];
    words verdict = l->failed ? (words){ "cannot", "无法测量" } : prove_verdict_words(l->found.verdict);
    prove_command(command, sizeof command, l);
    fprintf(to, "<article id=\"%s\"><p><span class=\"verdict %s\">%s</span> <b>%s</b> ", l->claim->name, verdict.en,
            say(verdict, g), l->claim->name);
    if (l->found.count)
        tagged(to, "", prove_number_text(&l->found.number[0]).text, "");
    tagged(to, "</p>\n<p>", say(l->claim->claim, g), "</p>\n");
    tagged(to, "<p>", l->failed ? l->err.text : say(l->found.because, g), "</p>\n");
    tagged(to, "<p class=\"faint\">", l->claim->source, " &middot; <code>");
    tagged(to, "", command, "</code></p>\n");
    if (!l->failed)
        page_evidence(to, l, g);
    fputs("</article>\n", to);
}

static void page_subject(FILE *to, const prove_subject *s, language g)
{
    tagged(to, "<h2><code>", s->spec, "</code></h2>\n<table>\n");
    for (int p = 0; p < PE_CLAIM_COUNT; p++) {
        const property_found *f = &s->property[p];
        bool none = f->is == PROPERTY_NO_MEANING;
        tagged(to, "<tr><td>", say(prove_property_words(f->claim), g), "</td>");
        fprintf(to, "<td class=\"verdict %s\">%s</td>",
                f->is == PROPERTY_HOLDS ? "HOLDS"
                : f->claimed && !none   ? "REFUTED"
                                        : "faint",
                say(prove_outcome_words(f->is), g));
        tagged(to, "<td>", prove_property_text(f).text, "</td>");
        tagged(to, "<td class=\"faint\">", none ? "" : say(f->what, g), "</td>");
        fprintf(to, "<td>%s</td></tr>\n", f->claimed ? (g == CHINESE ? "已声明" : "claimed") : "");
    }
    fputs("</table>\n", to);
}

pe_status prove_page(FILE *to, const void *report, pe_error *err)
{
    const prove_report *r = report;
    const prove_group *before = NULL;
    words title = { "What papers say of position encodings, measured", "位置编码：文献里的说法，逐条测量" };
    (void)err;
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>\n",
            r->language == CHINESE ? "zh-CN" : "en", say(title, r->language));
    draw_css(to);
    fprintf(to, "%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n", css, say(title, r->language));
    for (int n = 0; n < r->subjects; n++)
        page_subject(to, &r->subject[n], r->language);
    for (int n = 0; n < r->lines; n++) {
        if (r->line[n].group != before)
            tagged(to, "<h2>", say(r->line[n].group->title, r->language), "</h2>\n");
        before = r->line[n].group;
        page_line(to, &r->line[n], r->language);
    }
    fprintf(to, "</main>\n</body>\n</html>\n");
    return PE_OK;
}
