/* SPDX-License-Identifier: MIT
 *
 * The frame of an HTML page: one file, no script, nothing that is fetched (its own policy forbids it); light and dark,
 * a phone and paper.
 *
 *     page_begin(to, &(page_head){ .title = "...", .css = more });
 *     page_picture(to, make, with, wide, narrow, &err);
 *     page_end(to);
 */
#ifndef POSENC_DRAW_PAGE_H
#define POSENC_DRAW_PAGE_H

#include "draw/draw.h"
#include "io/words.h"

typedef struct page_head {
    const char *title; /* of the window, and the first heading */
    const char *css;   /* more of it; NULL: none */
    language language;
} page_head;

/* Up to and with <h1>; the page stands in <main>. */
void page_begin(FILE *to, const page_head *head);
void page_end(FILE *to);

typedef struct page_size {
    double width, height;
} page_size;
/* *out NULL: there is nothing to draw. */
typedef pe_status page_draw(draw **out, const void *with, page_size size, pe_error *err);
/* Drawn twice, and CSS shows one: letters of a picture that is made smaller for a phone could not be read. */
pe_status page_picture(FILE *to, page_draw *make, const void *with, page_size wide, page_size narrow, pe_error *err);

/* A caption, and a table that scrolls by itself where it is too wide; page_table_end closes it. */
void page_table(FILE *to, const char *caption, const char *class_name);
void page_table_end(FILE *to);

#endif
