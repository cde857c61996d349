/* SPDX-License-Identifier: MIT
 *
 * A manual page, in the macros that every man has (TH, SH, TP, PP, nf). The title is "posenc-list 1.0": name, version.
 */
#include "result/tree.h"

#include <ctype.h>
#include <string.h>

enum { ROOM = 4000 };

/* No letter of the text is taken for a command; - stays what people type. */
static void put_text(FILE *to, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        line_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else
            putc(*text, to);
    }
    putc('\n', to);
}

static void put_upper(FILE *to, const char *text, const char *end)
{
    for (; *text; text++)
        putc(toupper((unsigned char)*text), to);
    fputs(end, to);
}

static void put_values(FILE *to, const node *n)
{
    char room[ROOM];
    for (const node *c = node_visible(n->first); c; c = node_visible(c->next)) {
        if (node_is_section(c)) {
            if (c->label && *c->label) {
                fputs(".SH ", to);
                put_upper(to, c->label, "\n");
            }
            put_values(to, c);
        } else if (c->kind == RESULT_CODE && !*c->label) {
            fputs(".PP\n.nf\n", to);
            put_text(to, c->text ? c->text : "");
            fputs(".fi\n", to);
        } else if (*c->label) {
            fputs(".TP\n.B ", to);
            put_text(to, c->label);
            put_text(to, node_text(c, room, sizeof room));
        } else {
            fputs(".PP\n", to);
            put_text(to, node_text(c, room, sizeof room));
        }
    }
}

void write_man(FILE *to, const node *root)
{
    const char *title = root->label ? root->label : "posenc";
    size_t n = strcspn(title, " ");
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)n, title);
    fputs(".\\\" made by: posenc man\n.TH ", to);
    put_upper(to, name, "");
    fprintf(to, " 1 \"\" \"posenc%s\" \"posenc\"\n", title + n);
    put_values(to, root);
}
