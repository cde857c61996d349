/* SPDX-License-Identifier: MIT
 *
 * Text in the columns of a terminal: how wide it is, how it is broken into lines. The only place that knows that a
 * Chinese character takes two columns. */
#ifndef POSENC_COLUMNS_H
#define POSENC_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#define COLUMNS_MARGIN 98 /* of text that is not on a terminal; on one, at most */

int columns_of_code(unsigned code); /* 0, 1 or 2 */
int columns_of(const char *text);   /* of a whole text */
int columns_of_bytes(const char *text, int bytes);
const char *columns_ascii(unsigned code);       /* what stands for it where there is no UTF-8; NULL: nothing does */
int columns_fit(const char *text, int columns); /* how many bytes of text go into so many columns */

/* Where and how text is printed. Control characters and broken UTF-8 become '?', whatever file the text came from. */
typedef struct columns_out {
    FILE *to;
    int margin; /* lines end before this column */
    bool ascii; /* a terminal without UTF-8: "·" becomes "*" */
} columns_out;

int columns_print(const columns_out *c, const char *text); /* returns its width */
void columns_pad(const columns_out *c, int count);         /* spaces; none where count is below 1 */
/* Prints text in lines from column indent up to the margin; the cursor is at column indent now, and is on a new line
 * afterwards. A "\n" in the text begins a new line. A word too long for a line is cut behind a comma or a bar. */
void columns_wrap(const columns_out *c, const char *text, int indent);

#endif
