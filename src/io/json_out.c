/* SPDX-License-Identifier: MIT */
#include "io/json_out.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

json_out out_start(FILE *to)
{
    return (json_out){ .to = to, .first = true };
}

json_out out_start_line(FILE *to)
{
    return (json_out){ .to = to, .flat = 1, .first = true };
}

int out_character(const char *text, unsigned *code)
{
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char first, last, low, high; /* range of the first byte, and of the second */
        int bytes;
    } row[] = {
        /* RFC 3629: shortest form, no surrogates, up to U+10FFFF */
        { 0x01, 0x7F, 0x00, 0xFF, 1 }, { 0xC2, 0xDF, 0x80, 0xBF, 2 }, { 0xE0, 0xE0, 0xA0, 0xBF, 3 },
        { 0xE1, 0xEC, 0x80, 0xBF, 3 }, { 0xED, 0xED, 0x80, 0x9F, 3 }, { 0xEE, 0xEF, 0x80, 0xBF, 3 },
        { 0xF0, 0xF0, 0x90, 0xBF, 4 }, { 0xF1, 0xF3, 0x80, 0xBF, 4 }, { 0xF4, 0xF4, 0x80, 0x8F, 4 },
    };
    for (int i = 0; i < (int)(sizeof row / sizeof row[0]); i++) {
        if (s[0] < row[i].first || s[0] > row[i].last || s[1] < row[i].low || s[1] > row[i].high)
            continue;
        int n = row[i].bytes < 3 ? row[i].bytes : 2;
        while (n < row[i].bytes && (s[n] & 0xC0) == 0x80)
            n++;
        *code = s[0] & (0xFFu >> (n > 1 ? n + 1 : 0));
        for (int k = 1; k < n; k++)
            *code = *code << 6 | (s[k] & 0x3Fu);
        return n == row[i].bytes ? n : 0;
    }
    return 0;
}

bool out_is_order(unsigned code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

int out_plain(FILE *to, const char *text, int length)
{
    int count = 0;
    for (int n = 0; n < length && text[n]; count++) {
        unsigned code = 0;
        int bytes = out_character(text + n, &code);
        if (bytes == 0 || out_is_order(code))
            putc('?', to);
        else
            fwrite(text + n, 1, (size_t)bytes, to);
        n += bytes ? bytes : 1;
    }
    return count;
}

/* Printable ASCII at the start of text, up to what stops it; written at once. */
static const char *write_run(FILE *to, const char *text, const char *stops)
{
    const char *end = text;
    while (*end >= ' ' && *end < 0x7F && *end != stops[0] && *end != stops[1])
        end++;
    fwrite(text, 1, (size_t)(end - text), to);
    return end;
}

static void write_string(FILE *to, const char *text)
{
    putc('"', to);
    for (const char *s = write_run(to, text, "\"\\"); *s; s = write_run(to, s, "\"\\")) {
        unsigned code = 0;
        int n = out_character(s, &code);
        if (n == 0)
            fputs("\\ufffd", to);
        else if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (out_is_order(code))
            fprintf(to, "\\u%04x", code);
        else
            fwrite(s, 1, (size_t)n, to);
        s += n ? n : 1;
    }
    putc('"', to);
}

static void new_line(json_out *j)
{
    fprintf(j->to, "\n%*s", 2 * j->depth, "");
}

static void start_value(json_out *j, const char *key)
{
    if (!j->first)
        fputs(j->flat ? ", " : ",", j->to);
    if (j->depth && !j->flat)
        new_line(j);
    if (key) {
        write_string(j->to, key);
        fputs(": ", j->to);
    }
    j->first = false;
}

void out_open(json_out *j, const char *key, char bracket)
{
    start_value(j, key);
    j->flat += bracket == '-' || j->flat;
    putc(bracket == '{' ? '{' : '[', j->to);
    j->depth++;
    j->first = true;
}

void out_close(json_out *j, char bracket)
{
    j->depth--;
    if (!j->first && !j->flat)
        new_line(j);
    putc(bracket == '}' ? '}' : ']', j->to);
    j->flat -= j->flat > 0;
    j->first = false;
    if (!j->depth)
        putc('\n', j->to);
}

void out_text(json_out *j, const char *key, const char *value)
{
    start_value(j, key);
    if (value)
        write_string(j->to, value);
    else
        fputs("null", j->to);
}

void out_int(json_out *j, const char *key, int64_t value)
{
    start_value(j, key);
    fprintf(j->to, "%" PRId64, value);
}

static void number(json_out *j, const char *key, double value, void (*print)(char *, size_t, double))
{
    char text[40] = "null";
    if (isfinite(value))
        print(text, sizeof text, value);
    start_value(j, key);
    fputs(text, j->to);
}

void out_real(json_out *j, const char *key, double value)
{
    number(j, key, value, io_print_real);
}

void out_float(json_out *j, const char *key, double value)
{
    number(j, key, value, io_print_float);
}

void out_bool(json_out *j, const char *key, bool value)
{
    start_value(j, key);
    fputs(value ? "true" : "false", j->to);
}

void out_raw(json_out *j, const char *key, const char *json)
{
    start_value(j, key);
    for (json = write_run(j->to, json, "\t\t"); *json; json = write_run(j->to, json, "\t\t")) {
        unsigned code = 0;
        int n = out_character(json, &code);
        if (n == 0 || (out_is_order(code) && !strchr("\t\r\n", *json)))
            fprintf(j->to, "\\u%04x", n ? code : 0xFFFD);
        else
            fwrite(json, 1, (size_t)n, j->to);
        json += n ? n : 1;
    }
}

/* ---------------------------------------------------------------- pieces */

/* Whether more bytes can make a character of them. */
static bool begins_character(const char *held, int count)
{
    unsigned char first = (unsigned char)held[0];
    int whole = first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    for (int i = 1; i < count; i++)
        if ((held[i] & 0xC0) != 0x80)
            return false;
    return count < whole;
}

/* What of the held bytes is decided by now. */
static void put_decided(out_pieces *p, bool end)
{
    while (p->count) {
        unsigned code = 0;
        int bytes = out_character(p->held, &code);
        if (!bytes && !end && begins_character(p->held, p->count))
            return;
        if (!bytes || (out_is_order(code) && code != '\n' && code != '\r' && code != '\t'))
            putc('?', p->to);
        else
            fwrite(p->held, 1, (size_t)bytes, p->to);
        bytes = bytes ? bytes : 1;
        p->count -= bytes;
        for (int i = 0; i <= p->count; i++)
            p->held[i] = p->held[i + bytes];
    }
}

void out_piece(out_pieces *p, const void *bytes, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        p->held[p->count++] = ((const char *)bytes)[n];
        p->held[p->count] = 0;
        put_decided(p, false);
    }
}

void out_pieces_end(out_pieces *p)
{
    put_decided(p, true);
}
