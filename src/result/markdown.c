/* SPDX-License-Identifier: MIT
 *
 * Markdown: headings, lists of fields, tables. */
#include "result/tree.h"

#include "io/json_out.h"

#include <string.h>

enum { ROOM = 4000 };

/* No letter of the text is taken for a command of Markdown; a line's end would end a cell. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("|*_<\\", *text))
            putc('\\', to);
        fputs(*text == '\n' ? "; " : (char[]){ *text, 0 }, to);
    }
}

static void put_node(FILE *to, const node *n)
{
    char room[ROOM];
    const char *strong = n->tone == RESULT_GOOD || n->tone == RESULT_BAD || n->tone == RESULT_DOUBT ? "**" : "";
    const char *text = node_text(n, room, sizeof room);
    fprintf(to, "%s%s", *text ? strong : "", n->link ? "[" : "");
    if (n->kind == RESULT_CODE)
        fprintf(to, "`%s`", text);
    else
        put_text(to, text);
    if (n->link)
        fprintf(to, "](%s)", n->link);
    fputs(*text ? strong : "", to);
}

static void put_heading(FILE *to, const node *n, int level)
{
    if (!n->label || !*n->label)
        return;
    fprintf(to, "\n%.*s ", level < 6 ? level : 6, "######");
    put_text(to, n->label);
    putc('\n', to);
}

static void put_table(FILE *to, const node *table)
{
    table_columns t;
    table_columns_of(&t, table, true);
    fputs("\n|", to);
    for (int i = 0; i < t.count; i++) {
        putc(' ', to);
        put_text(to, t.label[i]);
        fputs(" |", to);
    }
    fputs("\n|", to);
    for (int i = 0; i < t.count; i++)
        fputs(t.number[i] ? "---:|" : "---|", to);
    putc('\n', to);
    for (const node *row = node_visible(table->first); row; row = node_visible(row->next)) {
        putc('|', to);
        for (int i = 0; i < t.count; i++) {
            const node *cell = table_cell(row, t.label[i]);
            putc(' ', to);
            if (cell)
                put_node(to, cell);
            fputs(" |", to);
        }
        putc('\n', to);
    }
}

static void put_code(FILE *to, const char *text)
{
    fprintf(to, "\n```\n%s%s```\n", text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* Every block begins with an empty line; fields in a row are one list. */
static void put_values(FILE *to, const node *n, int level)
{
    bool in_list = false;
    for (const node *c = node_visible(n->first); c; c = node_visible(c->next)) {
        if (c->folded || c->kind == RESULT_DRAWING)
            continue;
        if (node_is_section(c)) {
            put_heading(to, c, level);
            if (c->kind == RESULT_TABLE)
                put_table(to, c);
            else
                put_values(to, c, level + (c->label && *c->label));
        } else if (c->kind == RESULT_CODE && !*c->label) {
            put_code(to, c->text ? c->text : "");
        } else if (*c->label) {
            fputs(in_list ? "- " : "\n- ", to);
            put_text(to, c->label);
            fputs(c->shown && *c->shown == '=' ? " " : ": ", to); /* an equation has its own sign */
            put_node(to, c);
            putc('\n', to);
        } else {
            putc('\n', to);
            put_node(to, c);
            fputs("\n", to);
        }
        in_list = !node_is_section(c) && c->kind != RESULT_CODE && *c->label;
    }
}

void write_markdown(FILE *to, const node *root)
{
    if (root->label && *root->label) {
        fputs("# ", to);
        put_text(to, root->label);
        fputs("\n", to);
    }
    put_values(to, root, 2);
}
