/* SPDX-License-Identifier: MIT
 *
 * Strings of letters and what is asked of them, one instance a line, as many as fit:
 *
 *     copy kdw: [kdw]     turn kdw: [wdk]     sort kdw: [dkw]     count a in bab: [1]
 *
 * A string's length is log-uniform up to what the window holds, so longer windows ask for more. Only answers are asked
 * for. Distance: from a letter of the answer to that letter of the string; of a count, to where the string begins.
 */
#include "lab/page.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { DRAW_LENGTH = 0, DRAW_LETTER = 1 };

static void put(page *p, int64_t *at, const char *text)
{
    for (; *text; text++, (*at)++) {
        p->text[*at] = (unsigned char)*text;
        p->told[*at] = PAGE_OWN;
    }
}

static void put_told(page *p, int64_t *at, int32_t letter, int64_t from)
{
    p->text[*at] = letter;
    p->told[*at] = (int32_t)(*at - from);
    (*at)++;
}

static void put_letters(page *p, int64_t *at, uint64_t random, int64_t n, uint32_t alphabet)
{
    for (int64_t i = 0; i < n; i++, (*at)++) {
        p->text[*at] = (int32_t)('a' + random_below(random, DRAW_LETTER + (uint64_t)i, alphabet));
        p->told[*at] = PAGE_OWN;
    }
}

/* 1 .. most, log-uniform. */
static int64_t draw_length(uint64_t random, int64_t most)
{
    uint32_t octaves = 1;
    while (octaves < 30 && (int64_t)1 << octaves <= most)
        octaves++;
    int64_t n = random_octaves(random, DRAW_LENGTH, octaves);
    return n < most ? n : most;
}

/* ---------------------------------------------------------------- copy, reverse, sort */

static void answer_copy(page *p, int64_t *at, int64_t from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        put_told(p, at, p->text[from + i], from + i);
}

static void answer_reverse(page *p, int64_t *at, int64_t from, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--)
        put_told(p, at, p->text[from + i], from + i);
}

static void answer_sort(page *p, int64_t *at, int64_t from, int64_t n)
{
    for (int32_t letter = 'a'; letter <= 'z'; letter++)
        for (int64_t i = 0; i < n; i++)
            if (p->text[from + i] == letter)
                put_told(p, at, letter, from + i);
}

typedef void answerer(page *p, int64_t *at, int64_t from, int64_t n);

/* Lines of verb, string, answer; the rest of the page is dots. */
static void string_page(page *out, uint64_t key, const char *verb, answerer *answer)
{
    int64_t at = 0, frame = (int64_t)strlen(verb) + 3;
    for (uint64_t line = 0; out->size - at >= frame + 2; line++) {
        uint64_t random = random_at(key, line);
        int64_t n = draw_length(random, (out->size - at - frame) / 2);
        put(out, &at, verb);
        put_letters(out, &at, random, n, 26);
        put(out, &at, ": ");
        answer(out, &at, at - 2 - n, n);
        put(out, &at, "\n");
    }
    while (at < out->size)
        put(out, &at, ".");
}

void copy_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    string_page(out, w->key, "copy ", answer_copy);
}

void reverse_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    string_page(out, w->key, "turn ", answer_reverse);
}

void sort_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    string_page(out, w->key, "sort ", answer_sort);
}

/* ---------------------------------------------------------------- count */

static void put_number(page *p, int64_t *at, int64_t number, int64_t from)
{
    char digit[20];
    int n = 0;
    do
        digit[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n > 0)
        put_told(p, at, (unsigned char)digit[--n], from);
}

/* Strings of a, b and c: "count a in bab: 1". */
void count_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t at = 0, frame = 15; /* with a digit */
    for (uint64_t line = 0; out->size - at > frame; line++) {
        uint64_t random = random_at(w->key, line);
        int64_t n = draw_length(random, out->size - at - frame), found = 0;
        if (n >= 10) /* room for the other digits */
            n -= n >= 1000 ? 9 : 2;
        char asked[2] = { (char)('a' + random_below(~random, 0, 3)), '\0' };
        put(out, &at, "count ");
        put(out, &at, asked);
        put(out, &at, " in ");
        int64_t from = at;
        put_letters(out, &at, random, n, 3);
        for (int64_t i = from; i < at; i++)
            found += out->text[i] == asked[0];
        put(out, &at, ": ");
        put_number(out, &at, found, from);
        put(out, &at, "\n");
    }
    while (at < out->size)
        put(out, &at, ".");
}
