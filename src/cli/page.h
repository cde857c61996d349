/* SPDX-License-Identifier: MIT
 *
 * Text for people, within 100 columns. */
#ifndef POSENC_CLI_PAGE_H
#define POSENC_CLI_PAGE_H

#include "cli/cli.h"

/* What a file holds may be orders to a terminal: those characters become '?'. Returns how many were printed. */
int page_print(const char *text, int length);
int page_print_to(FILE *to, const char *text, int length);
/* Words, broken at the right margin; lines after the first start at column indent, where the first is taken to be. */
void page_wrapped(const char *text, int indent);
/* "  label     text", the text from column indent on. */
PRINTF(3, 4) void page_field(const char *label, int indent, const char *format, ...);
PRINTF(1, 2) void page_title(const char *format, ...); /* after an empty line */

/* A number for a sentence: whole ones in full, others to a few digits. */
typedef struct page_text {
    char text[40];
} page_text;
page_text page_number(double x);

/* "0-4, 6-10": those of count that are in. */
typedef struct page_list {
    char text[400];
} page_list;
page_list page_ranges(const bool *in, int64_t count);

#endif
