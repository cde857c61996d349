/* SPDX-License-Identifier: MIT
 *
 * RFC 8259, Python's three words for what is no number (io.h) and our limits, once over the whole text, without
 * recursion: a level of nesting is an entry of open[].
 */
#include "json_text.h"
#include "scan.h"

#include <stdio.h>
#include <string.h>

typedef struct checker {
    io_scan s;
    io_keys keys;
    int depth;
    struct {
        bool object;
        size_t first_key;
    } open[IO_JSON_DEPTH_MAX];
} checker;

static pe_status refuse(const checker *c, const char *what, const char *more)
{
    const io_scan *s = &c->s;
    return io_fail(s->err, PE_ERR_FORMAT, "%s: line %zu column %zu: %s%s", s->name, s->line,
                   (size_t)(s->at - s->line_start) + 1, what, more);
}

/* What stands at the cursor, white space passed over; 0 at the end, where a text may have a NUL too. */
static char peek(checker *c)
{
    return io_scan_end(&c->s) ? '\0' : *c->s.at;
}

static pe_status check_string(checker *c, char **out)
{
    if (io_scan_string(&c->s, out))
        return PE_OK;
    return refuse(c,
                  c->s.at == c->s.end ? "a string has no closing quote"
                                      : "a string has a control character, U+0000, an unknown escape, half a "
                                        "surrogate pair, or is not UTF-8",
                  "");
}

static pe_status check_number(checker *c)
{
    bool real, fits;
    int64_t whole;
    double x;
    char said[80] = "";
    size_t n = io_json_numeral(c->s.at, c->s.end, &real);
    if (n == 0)
        return refuse(c, "a number lacks digits; needs them on both sides of a point, after a minus and in an exponent",
                      "");
    if (n > IO_JSON_NUMBER_MAX) {
        snprintf(said, sizeof said, "a number of %zu characters; at most %d", n, IO_JSON_NUMBER_MAX);
        return refuse(c, said, "");
    }
    fits = real ? io_json_double(&x, c->s.at, n) : io_json_whole(&whole, c->s.at, n);
    if (!fits) {
        snprintf(said, sizeof said, "%.*s", (int)n, c->s.at);
        return refuse(c, real ? "a number past the largest double, 1.8e308: " : "a whole number past 64 bits: ", said);
    }
    c->s.at += n;
    return PE_OK;
}

static pe_status check_scalar(checker *c)
{
    char *text, first = peek(c);
    if (first == '"')
        return check_string(c, &text);
    bool word = io_scan_word(&c->s, "true") || io_scan_word(&c->s, "false") || io_scan_word(&c->s, "null") ||
                io_scan_word(&c->s, "NaN") || io_scan_word(&c->s, "Infinity") || io_scan_word(&c->s, "-Infinity");
    if (!word && (first == '-' || (first >= '0' && first <= '9')))
        return check_number(c);
    return word ? PE_OK : refuse(c, "needs a value: an object, array, string, number, true, false or null", "");
}

static pe_status check_key(checker *c)
{
    char *key;
    if (peek(c) != '"')
        return refuse(c, "needs a key in double quotes", "");
    pe_status s = check_string(c, &key);
    if (s != PE_OK)
        return s;
    if (strlen(key) > IO_JSON_KEY_MAX)
        return refuse(c, "a key of more than 65536 bytes", "");
    if (!io_scan_char(&c->s, ':'))
        return refuse(c, "needs a colon after the key ", key);
    io_keys_add(&c->keys, key);
    return PE_OK;
}

static pe_status open_one(checker *c)
{
    if (c->depth == IO_JSON_DEPTH_MAX)
        return refuse(c, "objects and arrays are nested more than 512 deep", "");
    c->open[c->depth].object = *c->s.at++ == '{';
    c->open[c->depth++].first_key = c->keys.count;
    return PE_OK;
}

static pe_status close_one(checker *c)
{
    c->depth--;
    const char *twice = c->open[c->depth].object ? io_keys_close(&c->keys, c->open[c->depth].first_key) : NULL;
    return twice ? refuse(c, "the object that ends here has a key twice: ", twice) : PE_OK;
}

/* From behind the first bracket to behind the one that closes it. */
static pe_status check_inside(checker *c)
{
    pe_status s = open_one(c);
    for (bool fresh = true; s == PE_OK && c->depth > 0;) {
        bool object = c->open[c->depth - 1].object;
        if (io_scan_char(&c->s, object ? '}' : ']')) {
            s = close_one(c);
            fresh = false;
            continue;
        }
        if (!fresh && !io_scan_char(&c->s, ','))
            return refuse(c, object ? "needs a comma or }" : "needs a comma or ]", "");
        s = object ? check_key(c) : PE_OK;
        if (s != PE_OK)
            return s;
        char next = peek(c);
        fresh = next == '{' || next == '[';
        s = fresh ? open_one(c) : check_scalar(c);
    }
    return s;
}

pe_status io_json_check(char *text, size_t size, size_t *first, const char *name, pe_error *err)
{
    checker c = { .s = io_scan_of((uint8_t *)text, size, name, err) };
    char begin = peek(&c);
    *first = (size_t)(c.s.at - text);
    if (begin != '{' && begin != '[')
        return refuse(&c, "needs an object or an array", "");
    if (!io_keys_new(&c.keys, text, size))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its keys", name);
    pe_status s = check_inside(&c);
    if (s == PE_OK && !io_scan_end(&c.s))
        s = refuse(&c, "needs nothing after the last bracket", "");
    io_keys_free(&c.keys);
    return s;
}
