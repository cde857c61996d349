/* SPDX-License-Identifier: MIT
 *
 * Text as the writers set it: numbers as text, characters and their width, lines. Charts and figures are laid out with
 * it. */
#ifndef POSENC_DRAW_TYPESET_H
#define POSENC_DRAW_TYPESET_H

#include "draw/list.h"

#define CELL_WIDTH 8.0 /* pixels of a character of a terminal, in a chart for one */
#define CELL_HEIGHT 16.0

/* x with so many digits after a point, whatever the locale; short: without zeros at the end. |x| is at most 1e12. */
void draw_fixed(char out[40], double x, int decimals, bool is_short);

/* The character at text, or U+FFFD for invalid UTF-8 and control characters; returns its bytes. */
int draw_next_code(const char *text, unsigned *code);

static inline bool text_is_given(const char *text)
{
    return text && *text;
}

/* Text as the writer will set it: in pixels, or in the character cells of a terminal. */
typedef struct face {
    double size, line, title_size, title_line;
    double gap;  /* between text and what it stands beside */
    double pad;  /* around all */
    double cell; /* a column of a terminal; 0: none */
} face;

extern const face face_paper, face_screen;

/* The width in pixels, a little more than common sans-serif faces need, as the viewer chooses the face. */
double face_width(const face *f, const char *text, double size);
/* Cut at a character, with two points for what is missing, until it fits. */
void face_shorten(const face *f, char *text, double width);
/* As much of a text as there is room for, in whole characters. */
void face_cut(char *out, size_t room, const char *text);

typedef struct face_text {
    const face *f;
    double left, top, width;
    bool is_title;
    int ink;
    int most; /* lines; 0: 3 */
} face_text;
/* Text in lines; returns their lower end. d NULL: nothing is drawn. */
double face_lines(draw *d, face_text at, const char *text);

/* A label in lines, and behind it, or below it where there is no room, a word that qualifies what is drawn. */
double face_label(draw *d, face_text at, const char *label, const char *mark);

void face_rule(draw *d, draw_point from, draw_point to, int ink, draw_dash dash);
/* A label centred at x, but inside the picture. */
void face_centred(draw *d, const face *f, double x, double y, const char *text);

#endif
