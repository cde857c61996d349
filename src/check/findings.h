/* SPDX-License-Identifier: MIT
 *
 * Does a dump of an implementation follow a spec, and if not, which known bug explains it? Each candidate bug predicts
 * the values in float64; the best fit is reported.
 *
 *     check_findings *f;
 *     check_input in = { .spec = "rope:theta=500000", .array = { before, after }, .at = pe_positions_run(1, T, 0) };
 *     if (!check_run(&f, &in, err) && f->verdict == CHECK_MISMATCH)
 *         puts(f->bug[0].id);
 *     check_findings_free(f);
 */
#ifndef POSENC_CHECK_FINDINGS_H
#define POSENC_CHECK_FINDINGS_H

#include "posenc.h"

#define CHECK_RANK_MAX 4
#define CHECK_BUGS_MAX 2 /* found at the same time */
#define CHECK_ALSO_MAX 16
#define CHECK_PAIRS_SHOWN 6
#define CHECK_TEXT 200

/* ---------------------------------------------------------------- what is checked */

typedef struct check_array {
    const void *data; /* NULL: not given */
    pe_dtype type;    /* of floats */
    int rank;
    int64_t shape[CHECK_RANK_MAX];
} check_array;

/* Vectors are (T, D), (T, H, D), or, as engines dump them, (B, T, H, D) or (B, H, T, D). Tables are (n, pairs),
 * (n, dims) or (1, n, dims); cos alone may be (2, n, pairs), cos then sin. */
typedef struct check_input {
    const char *spec;     /* of its parts only the one that rotates is checked */
    check_array array[2]; /* vectors before and after the rotation; or tables of cos and sin */
    bool tables;
    pe_positions at; /* of every sequence, int64; without data they are start, start + 1, ..., as many as tokens */
    pe_side side;
    int64_t head_dim;    /* of tables: the width of a head; 0: what the spec and the table's width ask for */
    const char *name[3]; /* of the arrays and of the positions, for errors */
} check_input;

/* ---------------------------------------------------------------- what was found */

typedef enum check_verdict {
    CHECK_OK,
    CHECK_MISMATCH,    /* the bugs found explain every number */
    CHECK_UNKNOWN,     /* no known bug explains it */
    CHECK_CANNOT_TELL, /* the data fits the spec, and most bugs as well */
    CHECK_NOT_FINITE   /* spec_fit.first is a NaN or an infinity */
} check_verdict;

/* One number of the data: where it is, what it is, and what it should be. */
typedef struct check_value {
    int64_t sequence, token, position[PE_AXES_MAX], head, element;
    const char *what; /* "element", or "cos" or "sin" of a table */
    double got, expected, error, tolerance;
} check_value;

typedef struct check_fit {
    bool fits;
    double rms;         /* of error over tolerance */
    double size;        /* of error, root mean square */
    int64_t count, out; /* numbers compared; of them beyond their tolerance */
    check_value worst, first;
} check_fit;

/* A pair that is not rotated as the spec says: angles in radians, factors on the length. */
typedef struct check_pair {
    int64_t pair, x, y;
    double angle, factor, expected_angle, expected_factor;
} check_pair;

typedef struct check_findings {
    check_verdict verdict;
    char *spec; /* the part that was checked, canonical */
    char *fits; /* the spec that the data follows instead; NULL: none describes it */
    int bugs, also_count;
    struct {
        const char *id, *fix;
        char what[CHECK_TEXT];
    } bug[CHECK_BUGS_MAX];
    const char *also[CHECK_ALSO_MAX]; /* ids of other bugs that fit as well */
    bool fits_unrotated;              /* so does data that nothing rotated */
    check_fit spec_fit, bug_fit;      /* count 0: not measured, because the tables have another width */
    double factor, theta;             /* that the data shows, looked for when no bug fits at first; 0: not known */

    bool tables;
    int64_t sequences, axes, width, pairs; /* width of a row; pairs of the spec */
    const char *read_as;                   /* how four axes were read, "(B, T, H, D)"; NULL: there are fewer */
    pe_dtype precision;                    /* that the numbers have */
    bool rounded;                          /* they have fewer bits than their type */

    check_pair wrong[CHECK_PAIRS_SHOWN]; /* CHECK_UNKNOWN: the first wrong pairs of the token with the worst error */
    int wrong_count;
    int64_t right_count;
} check_findings;

/* *out is NULL on failure. PE_ERR_FORMAT: an array is wrong; PE_ERR_POSITION: a position; else the spec is. */
pe_status check_run(check_findings **out, const check_input *in, pe_error *err);
void check_findings_free(check_findings *f);

/* ---------------------------------------------------------------- the bugs that have a name */

int check_bug_count(void);
const char *check_bug_id(int n);
const char *check_bug_about(int n);

#endif
