/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "checked.h"
#include "json_text.h"
#include "scan.h"
#include "sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
size_t io_json_numeral(const char *at, const char *end, bool *real)
{
    const char *first = at, *digits = at + (at < end && *at == '-');
    at = digits < end && *digits == '0' ? digits + 1 : pass_digits(digits, end);
    bool well = at > digits;
    *real = false;
    if (well && at < end && *at == '.') {
        digits = at + 1;
        at = pass_digits(digits, end);
        *real = true;
        well = at > digits;
    }
    if (well && at < end && (*at == 'e' || *at == 'E')) {
        digits = at + 1;
        digits += digits < end && (*digits == '+' || *digits == '-');
        at = pass_digits(digits, end);
        *real = true;
        well = at > digits;
    }
    return well ? (size_t)(at - first) : 0;
}

bool io_json_whole(int64_t *out, const char *at, size_t size)
{
    bool negative = *at == '-';
    *out = 0;
    for (size_t i = negative; i < size; i++) {
        int64_t digit = at[i] - '0';
        if (!io_mul_i64(out, *out, 10) || !io_add_i64(out, *out, negative ? -digit : digit))
            return false;
    }
    return true;
}

_Static_assert(IO_JSON_NUMBER_MAX <= TEXT_DIGITS_MAX, "every numeral can be converted");

bool io_json_double(double *out, const char *at, size_t size)
{
    if (!text_number(at, size, out))
        return false;
    *out = *at == '-' ? -fabs(*out) : *out; /* -0.0 keeps its sign */
    return true;
}

/* ---------------------------------------------------------------- keys */

/* The keys of the objects that are open, those of the innermost one last. */
typedef union io_key {
    uint64_t hashed;  /* hash, then offset in the text */
    const char *text; /* while keys of one hash are compared */
} io_key;

typedef struct io_keys {
    io_key *all;
    size_t count, room;
    const char *text;
} io_keys;

/* Does an object have a key twice? Its keys are sorted by hash, and those of one hash by text, so that keys made to
 * collide cost k log k too. 8 bytes for each key, and a key has 4 characters or more: {"": */

#define KEY_TEXT 4

/* room for any text of this size; false: no memory */
static bool io_keys_new(io_keys *out, const char *text, size_t size)
{
    size_t colons = 1, bytes;
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, ':', (size_t)(end - at))); at++)
        colons++;
    *out = (io_keys){ .text = text, .room = colons < size / KEY_TEXT ? colons : size / KEY_TEXT + 1 };
    out->all = io_mul(&bytes, out->room, sizeof *out->all) ? malloc(bytes) : NULL;
    return out->all;
}

static void io_keys_free(io_keys *k)
{
    free(k->all);
    *k = (io_keys){ 0 };
}

static void io_keys_add(io_keys *k, const char *key)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    if (k->count < k->room) /* always, by the count above */
        k->all[k->count++].hashed = (uint64_t)hash << 32 | (uint32_t)(key - k->text);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const io_key *)a)->hashed, y = ((const io_key *)b)->hashed;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const io_key *)a)->text, ((const io_key *)b)->text);
}

static const char *twice_among(io_key *keys, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        keys[i].text = text + (uint32_t)keys[i].hashed;
    io_sort(keys, count, sizeof *keys, by_text);
    for (size_t i = 1; i < count; i++)
        if (!by_text(&keys[i - 1], &keys[i]))
            return keys[i].text;
    return NULL;
}

/* A key that comes twice from first on, or NULL. Those keys are forgotten. */
static const char *io_keys_close(io_keys *k, size_t first)
{
    io_key *keys = k->all + first;
    size_t count = k->count - first;
    k->count = first;
    io_sort(keys, count, sizeof *keys, by_hash);
    for (size_t from = 0, to; from < count; from = to) {
        uint64_t hash = keys[from].hashed >> 32;
        for (to = from + 1; to < count && keys[to].hashed >> 32 == hash; to++) {
        }
        const char *twice = to - from > 1 ? twice_among(keys + from, to - from, k->text) : NULL;
        if (twice)
            return twice;
    }
    return NULL;
}

/* ---------------------------------------------------------------- check */

/* RFC 8259, Python's three words for what is no number (io.h) and our limits, once over the whole text, without
 * recursion: a level of nesting is an entry of open[]. */

typedef struct checker {
    io_scan s;
    io_keys keys;
    int depth;
    struct {
        bool object;
        size_t first_key;
    } open[IO_JSON_DEPTH_MAX];
} checker;

static pe_status refuse_json(const checker *c, const char *what, const char *more)
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
    return refuse_json(c,
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
        return refuse_json(
            c, "a number lacks digits; needs them on both sides of a point, after a minus and in an exponent", "");
    if (n > IO_JSON_NUMBER_MAX) {
        snprintf(said, sizeof said, "a number of %zu characters; at most %d", n, IO_JSON_NUMBER_MAX);
        return refuse_json(c, said, "");
    }
    fits = real ? io_json_double(&x, c->s.at, n) : io_json_whole(&whole, c->s.at, n);
    if (!fits) {
        snprintf(said, sizeof said, "%.*s", (int)n, c->s.at);
        return refuse_json(
            c, real ? "a number past the largest double, 1.8e308: " : "a whole number past 64 bits: ", said);
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
    return word ? PE_OK : refuse_json(c, "needs a value: an object, array, string, number, true, false or null", "");
}

static pe_status check_key(checker *c)
{
    char *key;
    if (peek(c) != '"')
        return refuse_json(c, "needs a key in double quotes", "");
    pe_status s = check_string(c, &key);
    if (s != PE_OK)
        return s;
    if (strlen(key) > IO_JSON_KEY_MAX)
        return refuse_json(c, "a key of more than 65536 bytes", "");
    if (!io_scan_char(&c->s, ':'))
        return refuse_json(c, "needs a colon after the key ", key);
    io_keys_add(&c->keys, key);
    return PE_OK;
}

static pe_status open_one(checker *c)
{
    if (c->depth == IO_JSON_DEPTH_MAX)
        return refuse_json(c, "objects and arrays are nested more than 512 deep", "");
    c->open[c->depth].object = *c->s.at++ == '{';
    c->open[c->depth++].first_key = c->keys.count;
    return PE_OK;
}

static pe_status close_one(checker *c)
{
    c->depth--;
    const char *twice = c->open[c->depth].object ? io_keys_close(&c->keys, c->open[c->depth].first_key) : NULL;
    return twice ? refuse_json(c, "the object that ends here has a key twice: ", twice) : PE_OK;
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
            return refuse_json(c, object ? "needs a comma or }" : "needs a comma or ]", "");
        s = object ? check_key(c) : PE_OK;
        if (s != PE_OK)
            return s;
        char next = peek(c);
        fresh = next == '{' || next == '[';
        s = fresh ? open_one(c) : check_scalar(c);
    }
    return s;
}

/* What a text that is no JSON seems to be; NULL: nothing that is known. */
static const char *what_it_is(const char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)text;
    if (!size)
        return "is empty; needs a JSON object";
    if (size > 2 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF)
        return "begins with a byte order mark, which JSON does not have; take it out";
    bool marked = size > 1 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF));
    return marked || (size > 1 && (!b[0] != !b[1])) ? "is UTF-16; needs UTF-8" : NULL;
}

pe_status io_json_check(char *text, size_t size, size_t *first, const char *name, pe_error *err)
{
    checker c = { .s = io_scan_of((uint8_t *)text, size, name, err) };
    const char *is = what_it_is(text, size);
    if (is)
        return io_fail(err, PE_ERR_FORMAT, "%s: %s", name, is);
    char begin = peek(&c);
    *first = (size_t)(c.s.at - text);
    if (begin != '{' && begin != '[')
        return refuse_json(&c, "needs an object or an array", "");
    if (!io_keys_new(&c.keys, text, size))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its keys", name);
    pe_status s = check_inside(&c);
    if (s == PE_OK && !io_scan_end(&c.s))
        s = refuse_json(&c, "needs nothing after the last bracket", "");
    io_keys_free(&c.keys);
    return s;
}
