/* SPDX-License-Identifier: MIT
 *
 * A result in another language: what people read of it, by the catalogue of io/words.h. Names, numbers, specs and code
 * stay. A single word may mean several things: "label|word" in the catalogue is the word under that label. */
#include "result/tree.h"

#include "io/words.h"

#include <string.h>

enum { TEXT_MAX = (int)sizeof(words_text) };

/* One line of a value; label NULL: of a label. */
static words_text line_translated(const char *label, const char *line)
{
    char under[400];
    words_text out = { "" };
    if (!label || strchr(line, ' '))
        return words_translate(line, CHINESE);
    int length = snprintf(under, sizeof under, "%s|%s", label, line);
    if (length > 0 && length < (int)sizeof under)
        out = words_translate(under, CHINESE);
    if (!*out.text || !strcmp(out.text, under) || !strncmp(out.text, WORDS_MARK, strlen(WORDS_MARK)))
        snprintf(out.text, sizeof out.text, "%s", line);
    return out;
}

/* Line by line; the text itself where it is longer than a few sentences. */
static const char *translated(result *r, const char *label, const char *text)
{
    char out[TEXT_MAX] = "";
    if (!text || !*text || strlen(text) >= TEXT_MAX / 2)
        return text;
    for (const char *at = text;; at++) {
        char line[TEXT_MAX];
        size_t length = strcspn(at, "\n"), used = strlen(out);
        memcpy(line, at, length);
        line[length] = 0;
        int n = snprintf(out + used, sizeof out - used, "%s%s", at == text ? "" : "\n",
                         *line ? line_translated(label, line).text : "");
        if (n < 0 || (size_t)n >= sizeof out - used)
            return text;
        at += length;
        if (!*at)
            break;
    }
    char *copy = result_room(r, strlen(out) + 1);
    return copy ? strcpy(copy, out) : text;
}

/* Whether the label of a group is the name of something: its value "name". */
static bool is_named(const node *n)
{
    for (const node *c = n->first; c; c = c->next)
        if (c->name && c->text && n->label && !strcmp(c->name, "name"))
            return !strcmp(c->text, n->label);
    return false;
}

static void translate_node(result *r, node *n, const char *above)
{
    const char *label = n->label && *n->label ? n->label : above;
    bool named = is_named(n);
    bool plain = n->kind == RESULT_TEXT && !n->shown;
    if (n->kind == RESULT_FLAG && !n->shown && n->label)
        n->shown = n->integer ? "是" : "否";
    n->shown = translated(r, label, n->shown);
    n->text = plain ? translated(r, label, n->text) : n->text;
    n->unit = translated(r, NULL, n->unit);
    for (node *c = n->first; c; c = c->next)
        translate_node(r, c, label);
    if (!named)
        n->label = translated(r, NULL, n->label);
}

void result_to_chinese(result *r)
{
    node *root = result_root(r);
    root->integer = CHINESE;
    translate_node(r, root, "");
}
