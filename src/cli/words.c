/* SPDX-License-Identifier: MIT
 *
 * Words and numbers, by the rules that specs follow. */
#include "cli/cli.h"

#include "base/text.h"

#include <string.h>

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

bool cli_read_length(const char *text, int64_t trained, int64_t *out)
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
