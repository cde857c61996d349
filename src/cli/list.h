/* SPDX-License-Identifier: MIT
 *
 * posenc list: four ways to print the registry; each loops over pe_info_at. */
#ifndef POSENC_CLI_LIST_H
#define POSENC_CLI_LIST_H

#include "cli/cli.h"

void list_rows(void);                /* two lines per row */
void list_row(const pe_info *row);   /* one row in full */
void list_json(const pe_info *only); /* NULL: all */
void list_markdown(const pe_info *only);

/* The row with its defaults, 8 heads of 64: made, not told, so that what is printed of it cannot differ from what is
 * computed. The caller's to free; NULL: its defaults make none. */
pe_encoding *list_example(const pe_info *row);
/* "embed, bias"; separator between the names, "-" for none. */
void list_bits(char *out, size_t cap, unsigned bits, const char *(*name)(unsigned), const char *separator);

/* "a, b" of "a|b", "-" of "". */
void list_words(char *out, size_t cap, const char *words);

#endif
