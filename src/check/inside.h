/* SPDX-License-Identifier: MIT
 *
 * What the files of src/check share:
 *
 *     check.c      the search: the spec, each bug, two bugs at a time; the findings
 *     data.c       the arrays: their shapes, their precision, one number at a time
 *     candidate.c  a candidate: an edited spec, the values it predicts, how well they fit
 *     bugs.c, bugs_scaling.c  the table of bugs: each makes candidates, variant by variant
 *     estimate.c   what the data itself shows: factor, theta, offset of positions
 */
#ifndef POSENC_CHECK_INSIDE_H
#define POSENC_CHECK_INSIDE_H

#include "base/try.h"
#include "check/findings.h"
#include "io/io.h"
#include "zoo/spec_read.h"

#define CHECK_COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define CHECK_PAIRS_MAX (PE_HEAD_DIM_MAX / 2)
#define CHECK_ROW_MAX (2 * PE_HEAD_DIM_MAX) /* numbers of one token and head: a head, or its cos and its sin */

typedef struct candidate candidate;
typedef struct check_bug check_bug;

/* ---------------------------------------------------------------- the data (data.c) */

typedef struct check_data {
    const void *data[2]; /* before, after (B, T, H, D); or cos, sin (T, width) */
    pe_dtype type[2];
    bool tables, heads_first; /* heads_first: (B, H, T, D) */
    const char *read_as;
    int64_t tokens, length; /* in all; T, of a sequence: token t is at t % length of sequence t / length */
    int64_t heads, width;
    pe_shape shape;
    pe_positions at;
    pe_side side;
    char *spec;         /* the part that rotates, canonical */
    pe_dtype precision; /* the coarser of the types, or what all numbers after were rounded to */
    bool rounded;
    double unit; /* half a unit in the last place of that precision, of float32 at least */
    /* Estimates (estimate.c); 0: not known. */
    bool estimated;
    double factor, theta, scaling_factor; /* length after over before; base of the angles; of the slowest pair */
    int64_t offset;                       /* of every position */
    const candidate *made;                /* the spec as it is: candidates of the same text share its encoding */
} check_data;

/* Sizes by the input's shapes. orders: of axes to try, 2 where nothing tells tokens from heads. */
pe_status data_open(check_data *d, const check_input *in, int *orders, pe_error *err);
void data_take_order(check_data *d, const check_input *in, int order); /* 0 or 1 */
/* Scalings that go by the length get the one that the positions show, unless the spec says it. */
pe_status data_take_length(check_data *d, pe_error *err);
pe_status data_reject_zeros(const check_data *d, const check_input *in, pe_error *err);
void data_find_precision(check_data *d);
/* The first value that is not finite, if there is one. */
pe_status data_find_not_finite(const check_data *d, const check_input *in, check_value *at, bool *found, pe_error *err);

int64_t data_position(const check_data *d, int64_t token, int64_t axis);
int64_t data_row(const check_data *d); /* numbers observed at a token and head: CHECK_ROW_MAX at most */
double data_before(const check_data *d, int64_t token, int64_t head, int64_t e);
double data_observed(const check_data *d, int64_t token, int64_t head, int64_t e);
double data_rounded(double x, pe_dtype type); /* float16 or bfloat16 */
/* A value of the search, whose token counts all sequences and whose element counts cos and sin, as it is reported. */
check_value data_value(const check_data *d, check_value v);

/* ---------------------------------------------------------------- candidates (candidate.c) */

/* Angles formed in float32 are off by a few 2^-24 of themselves. Up to this position that is no bug. */
#define FLOAT_REACH 4096.0

typedef enum positions_used {
    POSITIONS_GIVEN = 0,
    POSITIONS_INDEX,
    POSITIONS_ZERO,
    POSITIONS_HEAD,    /* the index of the head */
    POSITIONS_RESTART, /* minus the position at which the token's segment starts */
    POSITIONS_RUN_ON   /* sequences of a batch are counted on */
} positions_used;

#define ROUND_FREQUENCY 1u
#define ROUND_POSITION 2u
#define ROUND_ANGLE 4u
#define ROUND_TABLE 8u

struct candidate {
    const check_data *d;
    const check_bug *bug[CHECK_BUGS_MAX];
    char what[CHECK_BUGS_MAX][CHECK_TEXT];
    int bugs;   /* 0: the spec itself */
    char *spec; /* owned, as all below */
    pe_encoding *e;
    pe_pair *pair;
    int64_t pairs, first; /* first: the element at which the rotated range begins */
    positions_used positions;
    int64_t shift;         /* added to every position */
    int axis[PE_AXES_MAX]; /* the coordinate used in place of each */
    int64_t *start;        /* (tokens) POSITIONS_RESTART: the token with which each token's segment starts */
    int64_t groups;        /* heads are read in groups that lie the other way; 0: as they are */
    bool unrotated, inverse, mixed, other_side, swapped, twice;
    int factor_on;   /* 1: cos alone, 2: sin alone */
    unsigned rounds; /* ROUND_..., to type `as` */
    pe_dtype as;
    double reach; /* positions up to which float32's error is tolerated */
    bool failed;  /* out of memory while editing */
    bool shares;  /* e and pair are those of check_data.made */
};

void candidate_start(candidate *c, const check_data *d);
void candidate_set(candidate *c, const char *key, const char *value);
void candidate_set_number(candidate *c, const char *key, double value);
void candidate_say(candidate *c, const char *format, ...) IO_PRINTF(2, 3);
bool candidate_make(candidate *c, const check_data *d); /* false: no such encoding, or it does not suit the data */
void candidate_free(candidate *c);

/* cos and sin of every pair at one token, with all that multiplies them, and the error of the angle that is
 * tolerated. */
typedef struct rotation {
    double c[CHECK_PAIRS_MAX], s[CHECK_PAIRS_MAX], slack[CHECK_PAIRS_MAX], gain;
} rotation;

pe_status candidate_rotation(rotation *out, const candidate *c, const check_data *d, int64_t token, int64_t head,
                             pe_error *err);

/* Which tokens and how many heads are compared. */
typedef struct check_sample {
    int64_t token[80], tokens, heads;
} check_sample;

check_sample check_sample_of(const check_data *d);
check_fit candidate_fit(const candidate *c, const check_data *d, const check_sample *sample); /* NULL: all of it */

/* ---------------------------------------------------------------- bugs (bugs.c) */

/* Of one variant: it does not exist; the spec or the data rules it out; the candidate now has the bug. */
typedef enum bug_made { BUG_END = -1, BUG_NO = 0, BUG_YES = 1 } bug_made;

#define BUG_JOINS 1u    /* tried together with others */
#define BUG_ROUNDS 2u   /* of precision: near the truth at small positions, and rounding ties may fall either way */
#define BUG_NO_TABLE 4u /* cos and sin do not show it */
#define BUG_AXES 8u     /* moves pairs from one coordinate to another, and nothing else */

typedef bug_made bug_fn(candidate *c, int variant); /* variant 0, 1, ... until BUG_END */

struct check_bug {
    const char *id, *about, *fix;
    bug_fn *make;
    int with; /* read by make through candidate.bug */
    unsigned flags;
};

extern const check_bug check_bugs[];

bug_made bug_choice(candidate *c, const char *key, int variant, const char *is); /* is: "the pair layout is" */
double spec_magnitude(const char *spec, const check_data *d); /* the factor on cos and sin that a spec has */
/* bugs_scaling.c */
bug_fn bug_scaling_ignored, bug_scaling_wrong, bug_scaling_extra;
bug_fn bug_factor_missing, bug_factor_squared, bug_factor_half, bug_factor_extra, bug_factor_wrong;

/* ---------------------------------------------------------------- estimates (estimate.c) */

void estimate_all(check_data *d, const candidate *spec, const check_sample *sample);
/* The angle and the factor by which a pair of the spec's was rotated at a token; false: the pair was zero. */
bool estimate_angle(const check_data *d, const candidate *spec, int64_t token, int64_t pair, double *angle,
                    double *factor);

#endif
