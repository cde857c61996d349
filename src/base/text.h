/* SPDX-License-Identifier: MIT
 *
 * Numbers and words as specs, files and people write them, whatever the locale. */
#ifndef PE_TEXT_H
#define PE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#if defined __GNUC__
#define PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define PRINTF(at, first)
#endif

#define TEXT_DIGITS_MAX 64 /* of a number, zeros in front not counted */
/* [sign] digits [. digits] [e [sign] digits], correctly rounded. False: no numeral, too many digits, or past the
 * largest double. */
bool text_number(const char *s, size_t n, double *out);
int text_unit(char c); /* 'k': 10, 'M': 20, 'G': 30, powers of two that a whole number may be given in; 0: none */
int text_print(char *out, size_t cap, double x); /* the shortest text that reads back as x */
int text_plain_point(char *text);                /* '.' where printf put the locale's point; the new length */
typedef struct number_text {
    char text[40];
} number_text;
number_text text_show(double x); /* for sentences: %s with text_show(x).text, as %g would follow the locale */
const char *text_nearest(const char *word, size_t n, const char *const *list, int count); /* NULL: nothing close */

#endif
