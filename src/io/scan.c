/* SPDX-License-Identifier: MIT */
#include "checked.h"
#include "scan.h"

#include <string.h>

io_scan io_scan_of(uint8_t *text, size_t size, const char *name, pe_error *err)
{
    char *begin = (char *)text;
    return (io_scan){ begin, begin + size, begin, 1, begin, name, err };
}

static void skip_space(io_scan *s)
{
    for (; s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'); s->at++)
        if (*s->at == '\n') {
            s->line++;
            s->line_start = s->at + 1;
        }
}

bool io_scan_end(io_scan *s)
{
    skip_space(s);
    return s->at == s->end;
}

bool io_scan_char(io_scan *s, char c)
{
    skip_space(s);
    bool there = s->at < s->end && *s->at == c;
    s->at += there;
    return there;
}

bool io_scan_word(io_scan *s, const char *word)
{
    skip_space(s);
    size_t length = strlen(word);
    bool there = (size_t)(s->end - s->at) >= length && memcmp(s->at, word, length) == 0;
    if (there)
        s->at += length;
    return there;
}

static bool is_digit(const io_scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

bool io_scan_count(io_scan *s, int64_t *out)
{
    skip_space(s);
    char *first = s->at;
    for (*out = 0; is_digit(s); s->at++)
        if (!io_mul_i64(out, *out, 10) || !io_add_i64(out, *out, *s->at - '0'))
            return false;
    return s->at > first && (*first != '0' || s->at - first == 1);
}

pe_status io_scan_fail(const io_scan *s, const char *what)
{
    return io_fail(s->err, PE_ERR_FORMAT, "%s: header byte %zu: needs %s", s->name, (size_t)(s->at - s->begin), what);
}
