/* SPDX-License-Identifier: MIT
 *
 * docs/claims.md. */
#include "cli/prove.h"

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
    if (!l->found.count || l->claim->timed || l->failed)
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
    cell(to, say(prove_sentence(l->claim, l->spec), g));
    fprintf(to, " | **%s** | ", l->failed ? "-" : say(prove_verdict_words(l->found.verdict), g));
    cell(to, number_of(&text, l));
    fputs(" | ", to);
    if (l->found.count && !l->failed) {
        char label[PROVE_LABEL];
        prove_label(label, &l->found.number[0], g);
        cell(to, label);
        fputs(". ", to);
    }
    cell(to, l->failed ? l->err.text : say(l->found.because, g));
    fputs(" | ", to);
    cell(to, l->claim->source);
    fputs(" |\n", to);
}

/* What claims about every encoding were measured on: a table that is kept may be older than a row. */
static void markdown_rows(FILE *to, language g)
{
    fputs(g == CHINESE ? "\n涉及所有编码的说法，测量对象为：" : "\nClaims about every encoding are measured on:", to);
    for (int i = 0; i < pe_info_count(); i++)
        fprintf(to, "%s`%s`", g == ENGLISH ? " " : i ? "、" : "", pe_info_at(i)->name);
    fputs(g == CHINESE ? "。\n" : ".\n", to);
}

static void markdown_properties(FILE *to, const prove_subject *s, language g)
{
    fprintf(to, "\n## `%s`\n\n%s\n|---|---|---|---|\n", s->spec,
            g == CHINESE ? "| 性质 | 结果 | 数值 | 是否声明 |" : "| property | outcome | number | claimed |");
    for (int p = 0; p < CLAIM_COUNT; p++) {
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
    if (r->lines && !r->line[0].spec)
        markdown_rows(to, g);
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
