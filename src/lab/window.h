/* SPDX-License-Identifier: MIT
 *
 * Inside of data.h: a source fills the text of one window; data.c makes a row of a batch of it. A source is one
 * function and one row of the table in data.c.
 */
#ifndef POSENC_LAB_WINDOW_H
#define POSENC_LAB_WINDOW_H

#include "lab/data.h"

#define WINDOW_OWN (-1) /* of window_text.told: not asked for */

typedef struct window_text {
    int32_t *text; /* (size) bytes */
    int32_t *told; /* (size) WINDOW_OWN; 0: asked for; > 0: asked for, and told this many bytes before */
    int32_t *work; /* (size) the source's own */
    int64_t size;  /* length, and one more where the next byte is asked for */
    int64_t length;
} window_text;

typedef struct window {
    uint64_t key; /* seeds everything random in it */
    int64_t test; /* which window of the test split; -1: of the training split */
} window;

typedef void window_filler(window_text *out, const lab_data *d, const window *w);

window_filler fill_stories;
window_filler fill_copy, fill_reverse, fill_sort, fill_count, fill_recall, fill_passkey;
window_filler fill_grid;

#endif
