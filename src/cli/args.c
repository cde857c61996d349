/* SPDX-License-Identifier: MIT
 *
 * The command line: --name value, --name=value, -n value, -nvalue, by a verb's table of options; words and numbers by
 * the rules that specs follow. */
#include "cli/cli.h"

#include "base/text.h"
#include "io/io.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- words and numbers */

const char *cli_nearest(const char *word, const char *const *list, int count)
{
    return text_nearest(word, strlen(word), list, count);
}

const char *cli_did_you_mean(char out[80], const char *dashes, const char *word, const char *const *list, int count)
{
    const char *best = cli_nearest(word, list, count);
    out[0] = 0;
    if (best)
        snprintf(out, 80, "; did you mean %s%.40s?", dashes, best);
    return out;
}

bool cli_item(const char *list, int index, char *out, size_t cap)
{
    for (; index > 0; index--) {
        list = strchr(list, '|');
        if (!list)
            return false;
        list++;
    }
    size_t n = strcspn(list, "|");
    snprintf(out, cap, "%.*s", (int)n, list);
    return true;
}

bool cli_next_item(char *out, size_t cap, const char **list)
{
    if (!*list)
        return false;
    size_t n = strcspn(*list, ",");
    snprintf(out, cap, "%.*s", n < cap ? (int)n : (int)cap - 1, *list);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return true;
}

bool cli_read_int(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    int64_t n = 0;
    text += *text == '-' || *text == '+';
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (n > (INT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (*text - '0');
    }
    int shift = text_unit(*text);
    if (text[shift > 0] || n > INT64_MAX >> shift)
        return false;
    *out = (negative ? -1 : 1) * (n * ((int64_t)1 << shift));
    return true;
}

bool cli_read_real(const char *text, double *out)
{
    return text_number(text, strlen(text), out);
}

/* "4k": so many tokens; "2x": so many trained lengths. */
static bool cli_read_length(const char *text, int64_t trained, int64_t *out)
{
    char number[40];
    double times;
    size_t n = strlen(text);
    if (n < 2 || n >= sizeof number || text[n - 1] != 'x')
        return cli_read_int(text, out);
    memcpy(number, text, n - 1);
    number[n - 1] = 0;
    if (trained < 1 || !cli_read_real(number, &times) || !(times > 0 && times <= 4096))
        return false;
    *out = (int64_t)(times * (double)trained + 0.5);
    return true;
}

/* ---------------------------------------------------------------- options */

typedef struct cursor {
    char **argv;
    int argc, at;
} cursor;

static int find_name(const cli_verb *v, const char *name, size_t length)
{
    for (int i = 0; i < v->option_count; i++)
        if (strlen(v->options[i].name) == length && !memcmp(v->options[i].name, name, length))
            return i;
    return -1;
}

static int find_letter(const cli_verb *v, char letter)
{
    for (int i = 0; letter && i < v->option_count; i++)
        if (v->options[i].letter == letter)
            return i;
    return -1;
}

static cli_exit unknown_option(const cli_args *a, const char *word)
{
    const char *names[CLI_OPTIONS_MAX + 1] = { "help" };
    char bare[40], hint[80];
    for (int i = 0; i < a->verb->option_count; i++)
        names[i + 1] = a->verb->options[i].name;
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));
    cli_did_you_mean(hint, "--", bare, names, a->verb->option_count + 1);
    return cli_fail(a, CLI_USAGE, "unknown option %s%s (see posenc %s --help)", word, hint, a->verb->name);
}

static cli_exit check_choice(const cli_args *a, const cli_option *o, const char *text, int64_t *index)
{
    char item[16][32], hint[80];
    const char *names[16];
    int count = 0;
    for (; count < 16 && cli_item(o->value, count, item[count], sizeof item[count]); count++) {
        names[count] = item[count];
        if (strcmp(item[count], text))
            continue;
        *index = count;
        return CLI_OK;
    }
    const char *why = a->verb->refused ? a->verb->refused(o->name, text) : NULL;
    if (why)
        return cli_fail(a, CLI_USAGE, "--%s is %s; %s", o->name, text, why);
    return cli_fail(a, CLI_USAGE, "--%s is %s; needs one of %s%s", o->name, text, o->value,
                    cli_did_you_mean(hint, "", text, names, count));
}

static cli_exit check_int(const cli_args *a, const cli_option *o, const char *text, int64_t *out)
{
    const char letter[2] = { o->letter, 0 }, *dash = o->letter ? "-" : "--", *name = o->letter ? letter : o->name;
    if (!cli_read_int(text, out))
        return cli_fail(a, CLI_USAGE, "%s%s is %s; needs a whole number, such as 512 or 32k", dash, name, text);
    if (*out < o->min || *out > o->max)
        return cli_fail(a, CLI_USAGE, "%s%s is %s; needs %" PRId64 " to %" PRId64, dash, name, text, o->min, o->max);
    return CLI_OK;
}

static cli_exit set_option(cli_args *a, int index, const char *text)
{
    const cli_option *o = &a->verb->options[index];
    a->text[index] = text;
    if (o->kind == CLI_INT)
        return check_int(a, o, text, &a->number[index]);
    if (o->kind == CLI_CHOICE)
        return check_choice(a, o, text, &a->number[index]);
    if (o->kind != CLI_FLAG && !*text)
        return cli_fail(a, CLI_USAGE, "--%s is empty; needs %s", o->name, o->value);
    return CLI_OK;
}

static cli_exit read_option(cli_args *a, cursor *c)
{
    const char *word = c->argv[c->at++], *value = NULL;
    bool is_long = word[1] == '-';
    size_t length = strcspn(word, "=");
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        a->help = true;
        return CLI_OK;
    }
    int index = is_long ? find_name(a->verb, word + 2, length - 2) : find_letter(a->verb, word[1]);
    if (index < 0)
        return unknown_option(a, word);
    const cli_option *o = &a->verb->options[index];
    if (is_long && word[length])
        value = word + length + 1;
    else if (!is_long && word[2])
        value = word + 2;
    a->given[index] = true;
    if (o->kind == CLI_FLAG)
        return value ? cli_fail(a, CLI_USAGE, "--%s takes no value", o->name) : set_option(a, index, "");
    if (!value && c->at == c->argc)
        return cli_fail(a, CLI_USAGE, "%s needs a value: %s %s", word, word, o->value);
    return set_option(a, index, value ? value : c->argv[c->at++]);
}

static cli_exit read_operand(cli_args *a, const char *word)
{
    if (a->operands == a->verb->operands_max)
        return cli_fail(a, CLI_USAGE, "unexpected argument %s (see posenc %s --help)", word, a->verb->name);
    a->operand[a->operands++] = word;
    return CLI_OK;
}

cli_exit cli_parse(cli_args *out, const cli_verb *verb, int argc, char **argv)
{
    cursor c = { argv, argc, 0 };
    bool options = true;
    cli_exit code = CLI_OK;
    *out = (cli_args){ .verb = verb };
    for (int i = 0; i < verb->option_count; i++)
        if (verb->options[i].fallback)
            set_option(out, i, verb->options[i].fallback);
    while (c.at < c.argc && !code && !out->help) {
        const char *word = c.argv[c.at];
        if (options && !strcmp(word, "--")) {
            options = false;
            c.at++;
        } else if (options && word[0] == '-' && word[1])
            code = read_option(out, &c);
        else
            code = read_operand(out, c.argv[c.at++]);
    }
    if (!code && !out->help && out->operands < verb->operands_min)
        code = cli_fail(out, CLI_USAGE, "needs %s (see posenc %s --help)", verb->operands, verb->name);
    return code;
}

static int find_option(const cli_args *a, const char *name)
{
    return find_name(a->verb, name, strlen(name));
}

bool cli_given(const cli_args *a, const char *name)
{
    int i = find_option(a, name);
    return i >= 0 && a->given[i];
}

const char *cli_text(const cli_args *a, const char *name)
{
    int i = find_option(a, name);
    return i >= 0 ? a->text[i] : NULL;
}

int64_t cli_int(const cli_args *a, const char *name)
{
    int i = find_option(a, name);
    return i >= 0 ? a->number[i] : 0;
}

language cli_language(const cli_args *a)
{
    for (int i = 0; i < a->verb->option_count; i++)
        if (!strcmp(a->verb->options[i].name, "lang"))
            return cli_choice(a, "lang") >= 0 ? (language)cli_choice(a, "lang") : language_of_environment();
    return ENGLISH;
}

int cli_choice(const cli_args *a, const char *name)
{
    int i = find_option(a, name);
    return i >= 0 && a->text[i] ? (int)a->number[i] : -1;
}

/* ---------------------------------------------------------------- a command as it would be typed */

static size_t append_text(char *out, size_t cap, size_t used, const char *text)
{
    return used < cap ? used + (size_t)snprintf(out + used, cap - used, "%s", text) : used;
}

size_t cli_put_word(char *out, size_t cap, size_t used, const char *word)
{
    if (*word && !word[strcspn(word, " \t\n*?[]$&|;<>()'\"`\\#~!{}")])
        return append_text(out, cap, used, word);
    used = append_text(out, cap, used, "'");
    for (; *word; word++)
        used = append_text(out, cap, used, *word == '\'' ? "'\\''" : (char[]){ *word, 0 });
    return append_text(out, cap, used, "'");
}

void cli_command(char *out, size_t cap, const cli_args *a)
{
    size_t used = (size_t)snprintf(out, cap, "posenc %s", a->verb->name);
    for (int i = 0; i < a->operands; i++)
        used = cli_put_word(out, cap, append_text(out, cap, used, " "), a->operand[i]);
    for (int i = 0; i < a->verb->option_count && used < cap; i++) {
        const cli_option *o = &a->verb->options[i];
        if (!a->given[i])
            continue;
        used += (size_t)snprintf(out + used, cap - used, " --%s", o->name);
        if (o->kind != CLI_FLAG)
            used = cli_put_word(out, cap, append_text(out, cap, used, " "), a->text[i]);
    }
    if (used >= cap)
        io_end_with_dots(out, cap);
}

static bool has_length(const int64_t *list, int count, int64_t length)
{
    for (int n = 0; n < count; n++)
        if (list[n] == length)
            return true;
    return false;
}

cli_exit cli_read_lengths(int64_t *out, int *count, int most, int64_t least, int64_t trained, const cli_args *a,
                          const char *option)
{
    const char *list = cli_text(a, option);
    char item[40];
    int64_t length = 0;
    *count = 0;
    while (cli_next_item(item, sizeof item, &list)) {
        if (!trained && strchr(item, 'x'))
            return cli_fail(a, CLI_USAGE, "--%s has %s, and the model does not say its length; give --trained N",
                            option, item);
        if (!cli_read_length(item, trained, &length) || length < least || length > 1 << 20)
            return cli_fail(a, CLI_USAGE,
                            "--%s has %s; needs %" PRId64
                            " to 1M tokens, such as 512,2k, or 1x,4x of the trained length",
                            option, item, least);
        if (has_length(out, *count, length))
            continue;
        if (*count == most)
            return cli_fail(a, CLI_USAGE, "--%s has more than %d lengths", option, most);
        out[(*count)++] = length;
    }
    return CLI_OK;
}
