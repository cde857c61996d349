/* SPDX-License-Identifier: MIT
 *
 * posenc diff: what two groups of layers compute, key by key and number by number. */
#ifndef POSENC_CLI_DIFF_H
#define POSENC_CLI_DIFF_H

#include "cli/cli.h"
#include "zoo/zoo.h"

#define DIFF_KEYS_MAX 48
#define DIFF_AT_MAX 16
/* Numbers that files keep as float32 differ by this much at most: two roundings. */
#define DIFF_ROUNDING 0x1p-22

typedef struct diff_key {
    const char *key;
    char a[64], b[64];
} diff_key;

typedef struct diff_at {
    int64_t position;
    double angle; /* radians, the worst of the pairs */
    int64_t pair; /* that pair; -1: no pairs to compare */
    double
        number; /* worst difference of cos, sin, a code or a score term, magnitudes included; NAN: none is comparable */
} diff_at;

typedef struct diff_result {
    diff_key key[DIFF_KEYS_MAX];
    int keys;
    diff_at at[DIFF_AT_MAX];
    int ats;
    bool layout;     /* pairs lie differently in q and k: weights would have to be permuted */
    bool cache;      /* they are written differently: turned keys are no good to the other, weights are */
    bool numbers;    /* some number differs by more than rounding */
    bool hidden;     /* a key differs whose effect is not among the numbers */
    double rounding; /* worst relative difference of frequencies that counts as rounding */
} diff_result;

/* at: ats positions. */
pe_status diff_groups(diff_result *out, const zoo_group *a, const zoo_group *b, const int64_t *at, int ats,
                      pe_error *err);
bool diff_same(const diff_result *r); /* up to layout and rounding */

#endif
