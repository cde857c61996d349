/* SPDX-License-Identifier: MIT
 *
 * What a verb found, as one tree of named results. A verb fills the tree; writers make JSON, CSV, Markdown, HTML, a
 * manual page or the terminal's text from it, so all formats have the same content.
 *
 *     result_text(r, "spec", "spec", "rope");                   // {"spec": "rope"}         spec      rope
 *     result_int(r, "trained", "trained", 4096);                // {"trained": 4096}        trained   4096 positions
 *     result_unit(r, "positions");
 *     result_open(r, RESULT_TABLE, "pairs", "Pairs");           // {"pairs": [{"wavelength": 6.28}]}
 *     result_open(r, RESULT_RECORD, NULL, "");                  //   a row; its labelled values are the cells
 *     result_real(r, "wavelength", "wavelength", 6.28);
 *     result_close(r);
 *     result_close(r);
 *
 * The name is for programs and the label for people: a value without a name is not in JSON or CSV, a value without a
 * label is not shown to people. The label "" shows a value without a label, as a paragraph or as a row. A record
 * without a name, within a record, is only a section for people: programs find its values in the record around it; so
 * is a table without a name within a list, whose rows are items of that list.
 *
 * Adding cannot fail: if memory runs out, the writer returns the error, once. Texts are copied. */
#ifndef POSENC_RESULT_H
#define POSENC_RESULT_H

#include "base/text.h"
#include "posenc.h"

#include <stdio.h>

typedef struct result result;

result *result_new(void);    /* NULL: no memory */
void result_free(result *r); /* NULL is fine */
bool result_is_empty(const result *r);
void result_clear(result *r); /* makes it empty; memory that it owns is freed with the tree */
/* The title of HTML, Markdown and manual pages; language is one of io/words.h. */
PRINTF(3, 4) void result_title(result *r, int language, const char *format, ...);

/* ---------------------------------------------------------------- filling */

typedef enum result_kind {
    RESULT_RECORD, /* named values; with a label, a section */
    RESULT_LIST,   /* values without names; for people "a, b, c", or a section where it holds records */
    RESULT_TABLE,  /* a list of records, which are rows */
    RESULT_TEXT,
    RESULT_INT,
    RESULT_REAL,
    RESULT_FLAG,
    RESULT_NONE, /* null */
    RESULT_JSON, /* a text that is JSON already */
    RESULT_CODE, /* a text that people copy: printed as it is, line by line */
    RESULT_DRAWING,
    RESULT_ARRAY, /* numbers of one type, with a shape: nested lists in JSON, and not shown to people */
} result_kind;

void result_open(result *r, result_kind kind, const char *name, const char *label);
void result_close(result *r);

void result_text(result *r, const char *name, const char *label, const char *text); /* NULL: null, and not shown */
PRINTF(4, 5) void result_say(result *r, const char *name, const char *label, const char *format, ...);
void result_int(result *r, const char *name, const char *label, int64_t value);
void result_real(result *r, const char *name, const char *label, double value); /* NaN, infinite: null */
void result_flag(result *r, const char *name, const char *label, bool value);
void result_none(result *r, const char *name);
void result_json(result *r, const char *name, const char *json); /* not shown to people */
void result_code(result *r, const char *name, const char *text);
void result_ints(result *r, const char *name, const int64_t *value, int count);      /* a list, not shown to people */
void result_words(result *r, const char *name, const char *label, const char *list); /* of "a|b|c" */
/* rank is 1 or more; data lives as long as the tree (result_own). */
void result_array(result *r, const char *name, const void *data, pe_dtype type, int rank, const int64_t *shape);
/* The names of the bits that are set. */
void result_bits(result *r, const char *name, const char *label, unsigned bits, const char *(*bit_name)(unsigned));

/* The numbers n with in[n], a list; people read "0-4, 6". */
void result_ranges(result *r, const char *name, const char *label, const bool *in, int64_t count);

/* Parts of sentences: a number as the writers show it, whole ones in full and others to six digits; such ranges. */
typedef struct ranges_text {
    char text[400];
} ranges_text;
number_text result_number(double x);
ranges_text result_ranges_text(const bool *in, int64_t count);

/* Draws for the terminal and for HTML: a chart (draw/draw.h). with is the caller's and must outlive the tree. On a
 * terminal the height is RESULT_TERMINAL_HEIGHT, and a chart is laid out for cells of 8 x 16 (chart.cells). */
#define RESULT_TERMINAL_HEIGHT 320
struct draw;
typedef pe_status result_make(struct draw **out, const void *with, double width, double height, pe_error *err);
void result_drawing(result *r, result_make *make, const void *with); /* HTML puts one after another side by side */
void result_own(result *r, void *memory, void (*release)(void *));   /* released with the tree */
void *result_room(result *r, size_t bytes); /* zeros, freed with the tree; NULL: no memory, which the writer says */

/* These change the value that was added last, or the record, list or table that was opened last and is still empty. */
/* RESULT_MAIN: the sentence that matters most. */
typedef enum result_tone { RESULT_PLAIN, RESULT_GOOD, RESULT_BAD, RESULT_DOUBT, RESULT_FAINT, RESULT_MAIN } result_tone;
PRINTF(2, 3) void result_shown(result *r, const char *format, ...); /* what people read in place of the value */
void result_unit(result *r, const char *unit);
void result_is_code(result *r);                   /* a name or a spec: Markdown and HTML set it as code */
void result_link(result *r, const char *address); /* Markdown and HTML link the value to it */
void result_ink(result *r, int ink); /* HTML puts a dot in this colour of draw/draw.h before it: that of its curve */
void result_tone_is(result *r, result_tone tone);
void result_below(result *r);  /* prints a cell below its row, a text below its label */
void result_folded(result *r); /* details: HTML folds this section, Markdown and text leave it out */
void result_wide(result *r);   /* a cell, value or section that only Markdown and HTML have room for */
void result_hide(result *r);   /* only programs see it, and what is in it */
void result_named(result *r);  /* its label is a name, the same in every language */
void result_rows(result *r);   /* CSV is this table alone: a line per row; the first table of the result */

/* ---------------------------------------------------------------- writing */

typedef enum result_form {
    RESULT_AS_TEXT,
    RESULT_AS_JSON,
    RESULT_AS_CSV,
    RESULT_AS_MARKDOWN,
    RESULT_AS_HTML,
    RESULT_AS_MAN,
    RESULT_FORMS
} result_form;

/* How text is printed. */
typedef struct result_screen {
    int columns; /* 0: COLUMNS_MARGIN */
    int wide;    /* of tables, where that is more */
    bool colour, ascii;
} result_screen;

/* What people read becomes Chinese, by the catalogue of io/words.h; a sentence that it does not have is marked. Names for
 * programs stay; JSON and CSV of a tree are written without this. */
void result_to_chinese(result *r);

pe_status result_write(FILE *to, const result *r, result_form form, const result_screen *page, pe_error *err);
/* By the ending of a file's name: .json .csv .md .html .txt; RESULT_FORMS: none of them. */
result_form result_form_of(const char *file);

#endif
