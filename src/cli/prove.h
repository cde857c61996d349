/* SPDX-License-Identifier: MIT
 *
 * posenc prove: claims and properties, measured once, then told as text, JSON, Markdown or a page. */
#ifndef POSENC_CLI_PROVE_H
#define POSENC_CLI_PROVE_H

#include "cli/job.h"

#include "prove/prove.h"

typedef struct prove_line {
    const prove_group *group;
    const prove_claim *claim;
    const char *spec; /* in place of the claim's own; NULL */
    prove_finding found;
    bool failed; /* err says why: this spec cannot be put to it */
    pe_error err;
    double seconds;
} prove_line;

typedef struct prove_subject {
    const char *spec;
    property_found property[CLAIM_COUNT];
    int broken; /* properties that the encoding claims and that are measured to fail */
} prove_subject;

typedef struct prove_report {
    prove_line *line;
    int lines;
    prove_subject *subject;
    int subjects;
    language language;
    bool in_full; /* with the evidence */
} prove_report;

bool prove_on_terminal(int fd); /* that can do more than lines of text */
/* Measures what the operands name into *r, whose line and subject are the caller's to free, also after a failure. */
cli_exit prove_fill(prove_report *r, const cli_args *a);

typedef struct prove_text {
    char text[48];
} prove_text;

/* "0.31", "12 dB"; what is below rounding as "<1e-9", which every machine measures. */
prove_text prove_number_text(const prove_number *n);
prove_text prove_property_text(const property_found *f); /* "" where it has no meaning */
words prove_outcome_words(property_outcome o);
words prove_cannot_words(void);                          /* of a claim that cannot be measured on a spec */
const char *prove_of(const prove_number *n, language l); /* what it is of */
/* "largest difference of the outputs (none)" */
#define PROVE_LABEL 400
void prove_label(char out[PROVE_LABEL], const prove_number *n, language l);
/* "posenc prove two-dogs" */
void prove_command(char *out, size_t cap, const prove_line *l);

int prove_width(const char *text);                          /* in columns */
void prove_wrapped(FILE *to, const char *text, int indent); /* from column indent on, and a line's end */
/* In this many columns and two more; what is longer ends in an ellipsis. */
void prove_padded(FILE *to, const char *text, int width);

void prove_print(FILE *to, const prove_report *r, bool colour);
void prove_print_list(FILE *to, language l);
void prove_json(FILE *to, const prove_report *r);
void prove_json_list(FILE *to, language l);
pe_status prove_markdown(FILE *to, const void *report, pe_error *err);
pe_status prove_page(FILE *to, const void *report, pe_error *err);

#endif
