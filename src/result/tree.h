/* SPDX-License-Identifier: MIT
 *
 * The nodes of a result, for the writers. */
#ifndef POSENC_RESULT_TREE_H
#define POSENC_RESULT_TREE_H

#include "result/result.h"

typedef struct node node;
struct node {
    result_kind kind;
    result_tone tone;
    int ink; /* 0: none */
    bool below, folded, wide, hidden, rows, named;
    const char *name, *label, *shown, *unit; /* the root's label is the title */
    const char *link;                        /* NULL: none */
    const char *text;                        /* of RESULT_TEXT, RESULT_JSON and RESULT_CODE */
    int64_t integer;                         /* of RESULT_INT and RESULT_FLAG; of the root, its language */
    double real;
    result_make *make; /* of RESULT_DRAWING */
    const void *with;  /* of RESULT_DRAWING; of RESULT_ARRAY its numbers */
    pe_dtype type;     /* of RESULT_ARRAY, as are the next two */
    int rank;
    const int64_t *shape;
    node *first, *last, *next, *parent;
};

node *result_root(result *r);

/* Is it one of several values? */
bool node_is_group(const node *n);
/* Is it a section: a group with a label or none, that is shown by its values and not by one text? */
bool node_is_section(const node *n);
bool node_is_visible(const node *n); /* people see it, or something in it */
/* The next value that people see, from n on, among n and those behind it; NULL: none. */
const node *node_visible(const node *n);
/* What people read: the value, its unit; the items of a list. In out, which may be left unused; NULL: nothing. */
const char *node_text(const node *n, char *out, size_t cap);

/* The columns of a table: the distinct labels of its cells, below the row or not, in the order of their appearance.
 * wide: those too that need room. */
#define RESULT_COLUMNS_MAX 64
typedef struct table_columns {
    const char *label[RESULT_COLUMNS_MAX];
    bool number[RESULT_COLUMNS_MAX], below[RESULT_COLUMNS_MAX];
    int count, cells; /* all; those that are not below */
} table_columns;
void table_columns_of(table_columns *out, const node *table, bool wide);
const node *table_cell(const node *row, const char *label); /* NULL: the row has none */

void write_json(FILE *to, const node *root);
pe_status write_csv(FILE *to, const node *root, pe_error *err);
void write_markdown(FILE *to, const node *root);
pe_status write_html(FILE *to, const node *root, pe_error *err);
void write_man(FILE *to, const node *root);
pe_status write_text(FILE *to, const node *root, const result_screen *page, pe_error *err);

#endif
