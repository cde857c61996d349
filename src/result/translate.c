/* SPDX-License-Identifier: MIT
 *
 * A result in another language: what people read of it, by the catalogue of io/words.h. Names, numbers, specs and code
 * stay. A single word may mean several things: "label|word" in the catalogue is the word under that label, "*|word" under
 * any other. */
#include "result/tree.h"

#include "io/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = (int)sizeof(words_text) };

/* "label|word" in the catalogue; false: it has none. */
static bool word_translated(words_text *out, const char *label, const char *word)
{
    char under[400];
    int length = snprintf(under, sizeof under, "%s|%s", label, word);
    if (length < 0 || length >= (int)sizeof under)
        return false;
    *out = words_translate(under, CHINESE);
    return *out->text && strcmp(out->text, under) != 0 && strncmp(out->text, WORDS_MARK, strlen(WORDS_MARK)) != 0;
}

/* One line of a value; label NULL: of a label. Of a single word, its meaning under that label, or under any, "*". */
static words_text line_translated(const char *label, const char *line)
{
    words_text out = { "" };
    if (!label || strchr(line, ' '))
        return words_translate(line, CHINESE);
    if (!word_translated(&out, label, line) && !word_translated(&out, "*", line))
        snprintf(out.text, sizeof out.text, "%s", line);
    return out;
}

/* Line by line; the text itself where a line is longer than a few sentences, or memory ran out. */
static const char *translated(result *r, const char *label, const char *text)
{
    char *out = NULL, *copy = NULL, line[TEXT_MAX / 2];
    size_t size = 0;
    FILE *to = text && *text ? open_memstream(&out, &size) : NULL;
    bool whole = to != NULL;
    for (const char *at = text; whole; at++) {
        size_t length = strcspn(at, "\n");
        whole = length < sizeof line;
        snprintf(line, sizeof line, "%.*s", whole ? (int)length : 0, at);
        fprintf(to, "%s%s", at == text ? "" : "\n", *line ? line_translated(label, line).text : "");
        at += length;
        if (!*at)
            break;
    }
    whole = to && !fclose(to) && whole;
    if (whole)
        copy = result_room(r, size + 1);
    if (copy)
        memcpy(copy, out, size + 1);
    free(out);
    return copy ? copy : text;
}

/* Whether a label is the name of something, or a command to copy: that of a group is its value "name" or "command". */
static bool is_named(const node *n)
{
    if (n->named)
        return true;
    for (const node *c = n->first; c; c = c->next)
        if (c->name && c->text && n->label && (!strcmp(c->name, "name") || !strcmp(c->name, "command")))
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
