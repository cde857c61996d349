/* SPDX-License-Identifier: MIT
 *
 * The data that models are trained and tested on: endless generated stories, small tasks, text files. There is no
 * state: a batch depends only on (seed, step), so that an interrupted run resumes with the same data. All machines get
 * the same bits.
 *
 *     lab_data *d;
 *     lab_data_open(&d, &(lab_source){ .name = "stories" }, &err);
 *     lab_batch b;
 *     lab_batch_new(&b, d, LAB_BOTH, sequences, length, &err);
 *     lab_data_train(d, &b, seed, step);       lab_data_test(d, &b, first_window);
 *     lab_batch_free(&b); lab_data_free(d);
 */
#ifndef POSENC_LAB_DATA_H
#define POSENC_LAB_DATA_H

#include "io/io.h"

typedef struct lab_data lab_data;

/* One row of the table of sources (lab_source_at): name, one sentence, what it is. */
typedef struct lab_source_info {
    const char *name; /* "stories", "copy", "reverse", "recall", "passkey", "count", "sort", "grid", "text" */
    const char *summary;
    bool causal; /* how it is asked unless told otherwise: next byte; else masked tokens in both directions */
    int axes;    /* coordinates of a token: grid has 2 */
} lab_source_info;
int lab_source_count(void);
const lab_source_info *lab_source_at(int index); /* NULL past the end */
/* Whether only answers are asked for, of a race's data in words ("copy", "text: 7 files", "stories, masked"). */
bool lab_source_asks_answers(const char *data);

typedef struct lab_source {
    const char *name;
    const char *const *file; /* of "text": training text, in this order */
    int files;
    const char *const *test; /* text that is tested on; none: the last tenth of each file is held back */
    int tests;
    bool masked; /* ask for masked tokens, both directions visible, instead of the next */
} lab_source;

/* PE_ERR_SPEC: no such source, files for one that has none of its own, a file both trained and tested on. Text outside
 * Project Gutenberg's START and END markers is left out. */
pe_status lab_data_open(lab_data **out, const lab_source *s, pe_error *err);
void lab_data_free(lab_data *d); /* NULL is fine */

int64_t lab_data_vocab(const lab_data *d); /* 256 bytes, and a mask token where there is one */
int64_t lab_data_axes(const lab_data *d);
bool lab_data_causal(const lab_data *d);
/* The nearest length, not longer, that this source has: a square for a grid. From 16 to 2^31 - 2. */
int64_t lab_data_length(const lab_data *d, int64_t wanted);
/* Windows of this length that do not overlap; INT64_MAX where they are endless. */
int64_t lab_data_windows(const lab_data *d, int64_t length);
uint64_t lab_data_fingerprint(const lab_data *d); /* of its name, its settings and the bytes of its files */
/* Bytes to train on; 0: endless. For "overfitting": how often a run has seen each. */
int64_t lab_data_size(const lab_data *d);

typedef struct lab_batch {
    int32_t *token;    /* (B, T) */
    int32_t *target;   /* (B, T) -1: not asked; the token after this one, or the one under the mask */
    int32_t *distance; /* (B, T) > 0: the target was told this many tokens before it; 0: nothing to recall */
    int64_t *at;       /* (T, axes) */
    int64_t sequences, length, axes;
    bool causal;
    int32_t *work; /* (3, T + 1) of the one who fills it */
} lab_batch;
/* What a batch will be filled with: the text of each split has to be long enough for it. */
typedef enum lab_split { LAB_TRAIN = 1, LAB_TEST = 2, LAB_BOTH = 3 } lab_split;
/* PE_ERR_RANGE: a length that this source does not have, or text shorter than a window. */
pe_status lab_batch_new(lab_batch *out, const lab_data *d, lab_split split, int64_t sequences, int64_t length,
                        pe_error *err);
void lab_batch_free(lab_batch *b);
/* What is told and asked for: of stories the second letter of a name, for that and the initial tell all names apart; of
 * tasks every byte of an answer, and nothing else is a target. What was told before the window is not marked. Masked
 * stories and texts (15 % of the tokens) mark nothing: the bytes beside a mask tell it.
 *
 * Fills all of it. */
void lab_data_train(const lab_data *d, lab_batch *b, uint64_t seed, int64_t step);
/* Windows first .. first + sequences - 1 of the test split: the same for every model and seed; windows of different
 * lengths end at the same places where they can, so that lengths are compared on the same text: window i of a story
 * ends at the same byte at every length; those of a text tile it from its end, so n windows of 4 L are 4 n of L; a task
 * is made for its length. */
void lab_data_test(const lab_data *d, lab_batch *b, int64_t first);

/* The window as people read it, for `posenc race --show-data`: bytes; what is recalled, or was masked, is between [ and
 * ]. */
void lab_batch_print(const lab_batch *b, int64_t sequence, char *out, size_t cap);

/* The text of a file, as a race trains on it and an eval measures it, in place: what stands between Project Gutenberg's
 * marks, or all of it; no byte order mark; lines end in LF; no blank lines at either end. PE_ERR_FORMAT where nothing
 * is left: the bytes are freed. */
pe_status text_clean(io_bytes *b, pe_error *err);

#endif
