/* SPDX-License-Identifier: MIT
 *
 * What two models compute, layer by layer, key by key and number by number. Layers that compare alike share one
 * result. */
#ifndef POSENC_CLI_DIFF_H
#define POSENC_CLI_DIFF_H

#include "zoo/zoo.h"

#define DIFF_KEYS_MAX 48
#define DIFF_AT_MAX 16
#define DIFF_CLASSES_MAX 64

typedef struct diff_key {
    const char *key;
    char a[64], b[64];
} diff_key;

typedef struct diff_at {
    int64_t position;
    double angle;  /* radians, the worst of the pairs */
    int64_t pair;  /* that pair; -1: no pairs to compare */
    double number; /* worst difference of cos, sin, an embedding or a score term; NAN: none is comparable */
} diff_at;

typedef struct diff_result {
    diff_key key[DIFF_KEYS_MAX];
    int keys;
    diff_at at[DIFF_AT_MAX];
    int ats;
    bool layout;     /* the pair layouts of q and k differ: weights would have to be permuted */
    bool cache;      /* rotated elements are written elsewhere: K caches differ, weights do not */
    bool numbers;    /* some number differs by more than rounding */
    bool hidden;     /* a key differs whose effect is not among the numbers */
    double rounding; /* worst relative difference of frequencies that counts as rounding */
    bool same;       /* up to layout and rounding */
} diff_result;

/* Layers of one part with the same group and window on each side. */
typedef struct diff_class {
    int a, b; /* groups */
    int64_t window_a, window_b;
    bool *in;   /* (layers): which */
    bool again; /* the same two groups as a class before, with other windows: the result is that one's */
    diff_result result;
    bool same; /* that, and the windows */
} diff_class;

typedef struct diff_model {
    const zoo_model *a, *b;
    const zoo_part *part_a, *part_b;
    int64_t layers; /* both have */
    diff_class *class;
    int classes;
    int64_t at[DIFF_AT_MAX];
    int ats;
    bool same;          /* up to layout, lengths and rounding */
    bool layout, cache; /* as in a result, of some layer */
} diff_model;

/* Of the first parts. a, b, at and ats are the caller's; 0 ats: positions are chosen by the lengths. */
pe_status diff_models(diff_model *d, pe_error *err);
void diff_clear(diff_model *d);

#endif
