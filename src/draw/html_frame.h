/* SPDX-License-Identifier: MIT
 *
 * The frame of an HTML page: one file, without scripts and without requests (its content policy forbids them), for
 * light and dark, phones and paper.
 *
 *     html_frame_begin(to, &(html_frame_head){ .title = "...", .css = more });
 *     html_frame_picture(to, make, with, wide, narrow, &err);
 *     html_frame_end(to);
 */
#ifndef POSENC_DRAW_HTML_FRAME_H
#define POSENC_DRAW_HTML_FRAME_H

#include "draw/draw.h"
#include "io/words.h"

typedef struct html_frame_head {
    const char *title; /* of the window, and the first heading */
    const char *css;   /* more of it; NULL: none */
    language language;
} html_frame_head;

/* Writes the document up to and including <h1>; the content follows in <main>. */
void html_frame_begin(FILE *to, const html_frame_head *head);
void html_frame_end(FILE *to);

typedef struct html_frame_size {
    double width, height;
} html_frame_size;
/* *out NULL: there is nothing to draw. */
typedef pe_status html_frame_draw(draw **out, const void *with, html_frame_size size, pe_error *err);
/* Draws the picture twice, wide and narrow, and CSS shows one: a wide picture scaled down to a phone is unreadable. */
pe_status html_frame_picture(FILE *to, html_frame_draw *make, const void *with, html_frame_size wide,
                             html_frame_size narrow, pe_error *err);

/* A caption, and a table that scrolls by itself where it is too wide; html_frame_table_end closes it. */
void html_frame_table(FILE *to, const char *caption, const char *class_name);
void html_frame_table_end(FILE *to);

#endif
