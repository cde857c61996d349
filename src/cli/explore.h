/* SPDX-License-Identifier: MIT
 *
 * The page: its bytes, where they are put, the link to it, and a browser. */
#ifndef POSENC_CLI_EXPLORE_H
#define POSENC_CLI_EXPLORE_H

#include "cli/cli.h"
#include "io/io.h"

/* web/posenc.html, as it was when the tool was built; data NULL: this compiler could not take it in. */
io_span explore_page(void);

/* What the page is to show. */
typedef struct explore_state {
    const char *spec[2]; /* NULL: none */
    const char *lang;    /* NULL: the browser's */
} explore_state;

/* "#a=rope%3Atheta%3D500000&b=alibi&lang=zh"; "" where nothing is asked for. malloc'ed; NULL: no memory. */
char *explore_fragment(const explore_state *s);
/* "file:///home/me/a%20b.html" of an absolute path. malloc'ed; NULL: no memory. */
char *explore_url(const char *path);

/* Writes the page into the user's cache, and a file that leads to it with the fragment, where there is one: what hands
 * files to browsers may drop a fragment. Both names are malloc'ed, *link NULL where there is no fragment. */
cli_exit explore_keep(char **page, char **link, const cli_args *a, const char *fragment);

/* Whether there is someone to look: a terminal, and a screen or $BROWSER. */
bool explore_can_open(void);
/* Hands the URL to the first opener there is, without a shell and without waiting for it; its name, or NULL. The name
 * lives until the environment changes. */
const char *explore_open(char name[256], const char *url);

#endif
