/* SPDX-License-Identifier: MIT
 *
 * From an English sentence to its Chinese: looked up whole, then by patterns with parts that are filled in. */
#include "io/chinese.h"

#include <stdio.h>
#include <string.h>

enum { PARTS_MAX = 9, PART_ROOM = 600, DEPTH_MAX = 6 };

typedef struct part_list {
    char part[PARTS_MAX][PART_ROOM];
    int count;
} part_list;

const words *chinese_table(int index)
{
    static const words *const all[] = { chinese_help, chinese_tools, chinese_registry, chinese_verbs, chinese_models };
    return index >= 0 && index < (int)(sizeof all / sizeof *all) ? all[index] : NULL;
}

/* ---------------------------------------------------------------- what needs Chinese */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A word of English: two letters or more, small but for the first of a sentence, and nothing beside it but
 * punctuation. Names with capitals, specs, numbers and files are none. */
static bool is_word(const char *at, size_t length, bool first)
{
    while (length && strchr("(\"'", *at)) {
        at++;
        length--;
    }
    while (length && strchr(",.;:?!)\"'", at[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++)
        if (!is_letter(at[i]) || (at[i] < 'a' && !(first && i == 0)))
            return false;
    return length > 1;
}

static bool is_formula(const char *text)
{
    static const char *const signs[] = { " = ", "+=", " · ", " -> " };
    for (int i = 0; i < (int)(sizeof signs / sizeof *signs); i++)
        if (strstr(text, signs[i]))
            return true;
    return false;
}

static int word_count(const char *text)
{
    int count = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " \n");
        count += is_word(at, length, at == text);
        at += length;
        at += strspn(at, " \n");
    }
    return count;
}

static bool has_chinese(const char *text) /* characters or their punctuation */
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0xe3)
            return true;
    return false;
}

/* Whether people who read no English would miss something: it has two words or more, no Chinese, and is no formula. */
static bool is_english(const char *text)
{
    return !is_formula(text) && word_count(text) > 1 && !has_chinese(text);
}

/* ---------------------------------------------------------------- patterns */

static bool translate(char *out, size_t room, const char *english, int depth);

static const char *table_find(const char *english)
{
    const words *table;
    for (int i = 0; (table = chinese_table(i)); i++)
        for (; table->en; table++)
            if (!strcmp(table->en, english))
                return table->zh;
    return NULL;
}

/* Whether it has several sentences or clauses; "et al. 2021" is none. */
static bool has_joint(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, ".;")); at++)
        if (at[1] == ' ' && !(*at == '.' && at - text > 2 && !strncmp(at - 2, "al", 2)))
            return true;
    return false;
}

/* A part is a whole sentence of a table, or a piece of one. A single word may be a name, and is looked up as "|word".
 */
static bool translate_part(char *out, size_t room, const char *part, int depth)
{
    char word[PART_ROOM];
    const char *whole = NULL;
    if (!strchr(part, ' ')) {
        if (strlen(part) + 2 > sizeof word)
            return false;
        snprintf(word, sizeof word, "|%.500s", part);
        whole = table_find(word);
    } else if (!(whole = table_find(part)))
        return !has_joint(part) && translate(out, room, part, depth + 1);
    if (whole)
        snprintf(out, room, "%s", whole);
    return whole != NULL;
}

static bool part_is_known(const char *part, int depth)
{
    char unused[PART_ROOM];
    return (!is_english(part) && !has_joint(part)) || translate_part(unused, sizeof unused, part, depth);
}

/* Whether text is pattern, with the parts that are filled in; the shortest that are known. */
static bool match(const char *pattern, const char *text, part_list *parts, int depth)
{
    const char *gap = strstr(pattern, "{}");
    size_t fixed = gap ? (size_t)(gap - pattern) : strlen(pattern);
    if (strncmp(pattern, text, fixed) || (!gap && text[fixed]))
        return false;
    if (!gap)
        return true;
    if (parts->count == PARTS_MAX)
        return false;
    const char *from = text + fixed, *rest = gap + 2;
    int mine = parts->count++;
    for (size_t length = 1; length < PART_ROOM && from[length - 1]; length++) {
        if (*rest ? strncmp(from + length, rest, rest[0] == '{' ? 0 : 1) : from[length] != 0)
            continue;
        memcpy(parts->part[mine], from, length);
        parts->part[mine][length] = 0;
        parts->count = mine + 1;
        if (match(rest, from + length, parts, depth) && part_is_known(parts->part[mine], depth))
            return true;
    }
    parts->count = mine;
    return false;
}

/* What does not fit is left out. */
static void put(char *out, size_t room, size_t *used, const char *text, size_t length)
{
    if (length >= room - *used)
        return;
    memcpy(out + *used, text, length);
    out[ *used += length] = 0;
}

/* The Chinese with its parts, each of them in Chinese where it has any. */
static void fill(char *out, size_t room, const char *chinese, const part_list *parts, int depth)
{
    size_t used = 0;
    int next = 0;
    out[0] = 0;
    while (*chinese) {
        bool counted = chinese[0] == '{' && chinese[1] >= '1' && chinese[1] <= '9' && chinese[2] == '}';
        if (!counted && strncmp(chinese, "{}", 2)) {
            put(out, room, &used, chinese++, 1);
            continue;
        }
        int which = counted ? chinese[1] - '1' : next++;
        char part[PART_ROOM] = "";
        if (which < parts->count && !translate_part(part, sizeof part, parts->part[which], depth))
            snprintf(part, sizeof part, "%s", parts->part[which]);
        put(out, room, &used, part, strlen(part));
        chinese += counted ? 3 : 2;
    }
}

/* ---------------------------------------------------------------- a sentence */

static const struct joint {
    const char *english, *chinese;
} joints[] = { { ". ", "。" }, { "; ", "；" }, { ": ", "：" }, { ", ", "，" } };
enum { JOINTS = (int)(sizeof joints / sizeof *joints) };

/* Sentences, then clauses, one by one: whether each of them is known. */
static bool translate_pieces(char *out, size_t room, const char *english, int joint, int depth)
{
    char piece[PART_ROOM], chinese[2 * PART_ROOM];
    size_t used = 0;
    for (const char *at = english, *end; at; at = end ? end + strlen(joints[joint].english) : NULL) {
        end = strstr(at, joints[joint].english);
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (length >= PART_ROOM || (!end && at == english))
            return false;
        memcpy(piece, at, length);
        piece[length] = 0;
        if (!translate(chinese, sizeof chinese, piece, depth + 1)) {
            if (is_english(piece))
                return false;
            snprintf(chinese, sizeof chinese, "%s", piece);
        }
        put(out, room, &used, chinese, strlen(chinese));
        if (end)
            put(out, room, &used, joints[joint].chinese, strlen(joints[joint].chinese));
    }
    return true;
}

/* The same without the full stop at its end. */
static bool translate_stopped(char *out, size_t room, const char *english, int depth)
{
    size_t length = strlen(english), used;
    char piece[2 * PART_ROOM];
    if (length < 2 || length >= sizeof piece || english[length - 1] != '.' || english[length - 2] == '.')
        return false;
    memcpy(piece, english, length - 1);
    piece[length - 1] = 0;
    if (!translate(out, room, piece, depth + 1))
        return false;
    used = strlen(out);
    put(out, room, &used, "。", strlen("。"));
    return true;
}

static bool translate(char *out, size_t room, const char *english, int depth)
{
    const words *table;
    const char *whole = table_find(english);
    bool formula = is_formula(english), stays = has_chinese(english) && !word_count(english);
    if (whole) {
        snprintf(out, room, "%s", whole);
        return true;
    }
    for (int i = 0; !stays && depth < DEPTH_MAX && (table = chinese_table(i)); i++)
        for (; table->en; table++) {
            part_list parts = { .count = 0 };
            bool may = strstr(table->en, "{}") && (!formula || word_count(table->en)); /* "{} ({})" fits formulas too */
            if (may && match(table->en, english, &parts, depth)) {
                fill(out, room, table->zh, &parts, depth);
                return true;
            }
        }
    bool divides = !stays && !formula && depth < DEPTH_MAX && (is_english(english) || has_joint(english));
    for (int i = 0; divides && i < JOINTS; i++)
        if ((i == 0 && translate_stopped(out, room, english, depth)) || translate_pieces(out, room, english, i, depth))
            return true;
    return false;
}

words_text words_translate(const char *english, language l)
{
    words_text out;
    if (l != CHINESE || !translate(out.text, sizeof out.text, english, 0))
        snprintf(out.text, sizeof out.text, "%s%s", l == CHINESE && is_english(english) ? WORDS_MARK : "", english);
    return out;
}

bool words_known(const char *english)
{
    words_text unused;
    return !is_english(english) || translate(unused.text, sizeof unused.text, english, 0);
}
