/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io
 *
 * Text in pieces for a terminal: its characters, wherever a piece ends, and no order to it. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "io/json_out.h"
#include "test.h"

/* What comes of text in pieces of `step` bytes. */
static char *shown(const char *text, size_t size, size_t step)
{
    char *out = NULL;
    size_t got = 0;
    out_pieces p = { .to = open_memstream(&out, &got) };
    assert_non_null(p.to);
    for (size_t n = 0; n < size; n += step)
        out_piece(&p, text + n, size - n < step ? size - n : step);
    out_pieces_end(&p);
    assert_int_equal(fclose(p.to), 0);
    assert_int_equal(strlen(out), got);
    return out;
}

TEST(characters_stay_and_orders_go_wherever_a_piece_ends)
{
    static const struct {
        const char *text;
        size_t size;
        const char *want;
    } cases[] = {
        { "a\tb\r\nc", 6, "a\tb\r\nc" },
        { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb6", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb6" },
        { "\x1b[31m\x7f", 6, "?[31m?" },
        { "\xc2\x9b\x31m", 4, "?1m" }, /* CSI as a character, */
        { "\x9b\x31m", 3, "?1m" },     /* and as a byte */
        { "\xe2\x80\xae|", 4, "?|" },  /* writes from right to left */
        { "a\0b", 3, "a?b" },
        { "\xe2\x82|", 3, "??|" },
        { "\xe2\x82\xc3\xa9", 4, "??\xc3\xa9" },
        { "\xed\xa0\x80", 3, "???" }, /* a surrogate */
        { "\xf0\x9f\x90", 3, "???" }, /* the text ends within it */
        { "\xf5\xff\xc0\x80", 4, "????" },
    };
    for (int i = 0; i < COUNT(cases); i++)
        for (size_t step = 1; step <= cases[i].size; step++) {
            char *got = shown(cases[i].text, cases[i].size, step);
            assert_string_equal(got, cases[i].want);
            free(got);
        }
}
