/* SPDX-License-Identifier: MIT
 *
 * posenc show: what is asked for (show_args.c), and the rest (verb_show.c).
 */
#ifndef POSENC_CLI_SHOW_H
#define POSENC_CLI_SHOW_H

#include "cli/cli.h"
#include "cli/job.h"
#include "show/show.h"

#define SHOW_SPECS_MAX 8

typedef struct show_job {
    const cli_args *args;
    result *tree; /* of the verb */
    show_request request;
    figure_how how;
    const show_view *view[32]; /* asked for by name; view_count 0: those that fit */
    int view_count;
    bool all; /* every one that fits, also in the terminal */
    show_subject *subject[SHOW_SPECS_MAX];
    int subjects;
    show_sheet sheet;
    struct {
        const char *view;
        pe_error why;
    } left_out[32]; /* views that fit and were not asked for, yet cannot be drawn at this length */
    int left_outs;
    char title[400]; /* of a page: the specs */
} show_job;

/* Everything but the subjects, from the options. */
cli_exit show_args(show_job *j);
/* The spec as the preset changes it; malloc'ed, NULL: no memory. */
char *show_preset_spec(const cli_args *a, const char *spec);
/* Why --as cannot have this value, and what to do instead; NULL: it is just unknown. */
const char *show_refused(const char *option, const char *value);

#endif
