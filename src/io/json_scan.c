/* SPDX-License-Identifier: MIT
 *
 * jansson checks the grammar; it bounds neither the length of a number nor the size of the tree, which for "[[],[],..."
 * is 38 bytes and for "[{},{},..." 70 bytes per byte of text. So the text is looked over first: numbers are measured,
 * and a bound on the heap it will take is added up from its punctuation.
 */
#include "checked.h"
#include "json_scan.h"

#include <string.h>

#define SLACK ((size_t)16 << 20) /* room for real files of some MB, whose tree is five times their text */

/* Bytes that jansson 2.14 asks for on 64 bit, growth of its tables included. */
enum {
    COST_OBJECT = 216, /* with its first 8 buckets */
    COST_ARRAY = 112,  /* with its first 8 places */
    COST_KEY = 112,    /* a pair without the key's text, its share of the buckets while they double */
    COST_ITEM = 24,    /* a place in an array while it doubles */
    COST_NUMBER = 24,
    COST_STRING = 40,
};

typedef struct meter {
    size_t at, cost, longest; /* string so far */
} meter;

/* Past the closing quote, or to the end of a text that lacks it. The lexer's own buffer doubles as it grows and keeps
 * its size, hence twice the longest. */
static void pass_string(meter *m, const char *text, size_t size)
{
    size_t first = m->at++, length;
    while (m->at < size && text[m->at] != '"')
        m->at += text[m->at] == '\\' ? 2 : 1;
    m->at = m->at < size ? m->at + 1 : size;
    length = m->at - first;
    m->cost += COST_STRING + length;
    if (length > m->longest) {
        m->cost += 2 * (length - m->longest);
        m->longest = length;
    }
}

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static size_t number_length(const meter *m, const char *text, size_t size)
{
    size_t end = m->at;
    while (end < size && in_number(text[end]))
        end++;
    return end - m->at;
}

static void pass_punctuation(meter *m, char c)
{
    m->cost += c == '{' ? COST_OBJECT : c == '[' ? COST_ARRAY : c == ':' ? COST_KEY : c == ',' ? COST_ITEM : 0;
    m->at++;
}

pe_status io_json_scan(const char *name, const char *text, size_t size, pe_error *err)
{
    size_t most;
    if (size > IO_CAP_TEXT || !io_mul(&most, size, 3) || !io_add(&most, most, SLACK))
        return io_fail(err, PE_ERR_RANGE, "%s: has %zu bytes; at most %zu are read", name, size, IO_CAP_TEXT);
    for (meter m = { 0 }; m.at < size;) {
        size_t number = number_length(&m, text, size);
        if (number > IO_JSON_NUMBER_MAX)
            return io_fail(err, PE_ERR_FORMAT, "%s: byte %zu: a number of %zu characters; at most %d", name, m.at,
                           number, IO_JSON_NUMBER_MAX);
        if (number) {
            m.at += number;
            m.cost += COST_NUMBER;
        } else if (text[m.at] == '"') {
            pass_string(&m, text, size);
        } else {
            pass_punctuation(&m, text[m.at]);
        }
        if (m.cost > most) /* within one step of it, so the sum cannot wrap */
            return io_fail(err, PE_ERR_FORMAT, "%s: byte %zu: too many values for the size of the text", name, m.at);
    }
    return PE_OK;
}
