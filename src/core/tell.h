/* SPDX-License-Identifier: MIT
 *
 * How a number came about, for people: a formula with its numbers, equal to the number that follows it,
 *     sin(5 · 10000^(-2/8)) = sin(5 · 0.1)
 * perhaps after lines that are equations of their own. Words stand only for names (table[3][0]); the rows tell what
 * they alone know, the loops that all share are told here. Inside the tools; the library does not export it.
 */
#ifndef PE_TELL_H
#define PE_TELL_H

#include "core/core.h"

/* Text that grows up to its room; what does not fit is left out and marked. */
struct tell {
    char *text;
    size_t room, used;
};
tell tell_into(char *text, size_t room);
PRINTF(2, 3) void tell_say(tell *t, const char *format, ...);
/* To four digits, whole numbers in full; what is not whole shows a point. */
number_text tell_number(double x);
number_text tell_factor(double x); /* in parentheses where it is negative */
/* a - b of the numbers as they are shown, to the digits that both show: "0.7864 - 0.7874" is -0.001. */
double tell_difference(double a, double b);
/* "0.3 · 0.1 + (-1.2) · 2" */
void tell_products(tell *t, const double *a, const double *b, int64_t count);

/* What an encoding adds somewhere, one by one. */
typedef enum told_kind { TOLD_EMBED, TOLD_BIAS, TOLD_TERM, TOLD_COUNT } told_kind;
typedef struct told {
    const part *part;
    told_kind kind;
    unsigned hook;
    pe_stage stage;
    const term *term; /* TOLD_TERM; PE_VALUE among them */
} told;
#define TOLD_MAX (PARTS_MAX * (TERMS_MAX + 3))
int tell_list(const pe_encoding *e, told out[TOLD_MAX]);

/* Which number: of the code at q_at (element), of score(query, key) of a head, of what a value gets (element). */
typedef struct tell_of {
    const int64_t *q_at; /* (axes) */
    const int64_t *k_at; /* (keys, axes) */
    const uint8_t *seen; /* (keys) */
    const double *q, *k; /* (D), (keys, D): as they enter q.k */
    int64_t keys, key, axes;
    int64_t head, element;
} tell_of;
/* The number, and the text of it. Arguments have been checked: the library has served them. */
double tell_one(const told *what, pe_params w, const tell_of *of, tell *out);

/* Where the frequency of pair n comes from, for a query at this place; and the softmax scale. Nothing: no formula. */
void tell_pair(const pe_encoding *e, const int64_t *at, int64_t n, tell *out);
void tell_scale(const pe_encoding *e, tell *out);

#endif
