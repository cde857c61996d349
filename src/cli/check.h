/* SPDX-License-Identifier: MIT
 *
 * posenc check: is this data what the spec says, and if not, what went wrong? The spec and every known bug are
 * suspects: a spec text and a way to walk positions and round angles. Each foretells the data in double; the one whose
 * numbers come true is the answer.
 *
 *     verb_check.c, check_model.c, check_load.c, check_shape.c, check_numbers.c  the command, its files
 *     check_bugs*.c  the table of bugs
 *     check_turn.c  what a suspect foretells for a token
 *     check_fit.c   how well that fits   check_seen*.c  what the data itself shows: factor, base, offset
 *     check_search.c  the answer         check_report.c, check_json.c  the answer in words and in JSON
 */
#ifndef POSENC_CLI_CHECK_H
#define POSENC_CLI_CHECK_H

#include "cli/job.h"
#include "zoo/spec_read.h"

#define CHECK_PAIRS_MAX (PE_HEAD_DIM_MAX / 2)
#define CHECK_ROW_MAX (2 * PE_HEAD_DIM_MAX) /* numbers of one token and head: a head, or its cos and its sin */
#define CHECK_BUGS_MAX 2                    /* at work at the same time */

/* Angles formed in float32 are off by a few 2^-24 of themselves. Up to this position that is no bug. */
#define CHECK_FLOAT_REACH 4096.0

typedef struct check_data {
    const cli_args *args;
    bool tables;         /* cos and sin, not vectors before and after */
    const void *data[2]; /* before, after (B, T, H, D); or cos, sin (T, width) */
    pe_dtype type[2];
    pe_dtype grain;    /* the coarser of the types, or what all numbers after were rounded to */
    bool rounded;      /* they are of fewer bits than their file */
    const char *taken; /* how four axes were taken; NULL: there are fewer */
    bool heads_first;  /* before, after are (B, H, T, D) */
    pe_positions at;   /* of each sequence */
    pe_side side;
    pe_shape shape;
    int64_t tokens, length; /* in all; T, of a sequence: token t is at t % length of sequence t / length */
    int64_t heads, width;
    const char *given;          /* the spec as it was given */
    char *part;                 /* the part that rotates, canonical */
    double unit;                /* half a unit in the last place of grain, float32's at least */
    double factor;              /* seen in the data: length after over before; 0: not to be seen */
    double base;                /* seen: the theta that the angles would have; 0: none */
    int64_t offset;             /* seen: what every position is off by; 0: nothing */
    double stretch;             /* seen: the scaling's factor, by the slowest pair; 0: not to be seen */
    bool looked;                /* the data was asked for the above */
    const struct suspect *spec; /* made of part; suspects of the same text share its encoding; NULL: not yet */
} check_data;

int64_t check_position(const check_data *d, int64_t token, int64_t axis);
/* Element e of a vector before the turn. */
double check_before(const check_data *d, int64_t token, int64_t head, int64_t e);
/* Element e of what was observed at a token and head: CHECK_ROW_MAX at most. */
int64_t check_row(const check_data *d);
double check_seen(const check_data *d, int64_t token, int64_t head, int64_t e);

/* ---------------------------------------------------------------- files (check_load.c) */

typedef struct check_files {
    cli_job job;
    io_array a[2];    /* before and after, or cos and sin */
    int orders;       /* of axes that are tried: 1, or 2 where nothing tells tokens from heads */
    bool heads_first; /* the first of them is (B, H, T, D) */
    char *spec;       /* of a model's file; NULL: it was given */
    int64_t head_dim; /* and its width of a head; 0: not known */
    check_data d;
} check_files;

cli_exit check_load_vectors(check_files *f); /* fills d's data and sizes; the arrays are the caller's to free */
cli_exit check_load_tables(check_files *f);

/* ---------------------------------------------------------------- a model's spec (check_model.c) */

bool check_is_model(const char *word);                       /* a file, or meant to be one */
cli_exit check_open_model(check_files *f, const char *path); /* sets d's given */
cli_exit check_no_model(const cli_args *a);                  /* options that need a file were given without one */

/* ---------------------------------------------------------------- shapes (check_shape.c) */

/* Vectors are (T, D), (T, H, D), or, as engines dump them, (B, T, H, D) or (B, H, T, D). */
cli_exit check_take_shape(check_files *f);        /* sets orders */
cli_exit check_count_positions(check_files *f);   /* those of --pos tell which axis is T */
void check_take_order(check_files *f, int order); /* sets d's sizes */
cli_exit check_bad_shape(const check_files *f, const char *option, const char *needs);

/* ---------------------------------------------------------------- numbers (check_numbers.c) */

void check_grain(check_data *d); /* sets grain, rounded and unit */
cli_exit check_zeros(const check_data *d);
cli_exit check_finite(const check_data *d, bool *stop); /* stop: the answer has been given */

/* ---------------------------------------------------------------- suspects (check_turn.c) */

typedef struct check_bug check_bug;

typedef enum check_walk { WALK_GIVEN = 0, WALK_INDEX, WALK_ZERO } check_walk;

#define ROUND_FREQUENCY 1u
#define ROUND_POSITION 2u
#define ROUND_ANGLE 4u
#define ROUND_TABLE 8u

typedef struct suspect {
    const check_bug *bug[CHECK_BUGS_MAX];
    char what[CHECK_BUGS_MAX][200];
    int bugs;   /* 0: the spec itself */
    char *spec; /* owned, as all below */
    pe_encoding *e;
    pe_pair *pair;
    int64_t pairs, first; /* first: the element at which the turning range begins */
    check_walk walk;
    int64_t shift;         /* added to every position */
    int axis[PE_AXES_MAX]; /* the coordinate that stands in for each */
    bool still, inverse, mixed, other_side, swapped;
    int factor_on;   /* 1: cos alone, 2: sin alone */
    unsigned rounds; /* ROUND_..., to type `as` */
    pe_dtype as;
    double reach; /* positions up to which float32's error is granted */
    bool failed;  /* out of memory while editing */
    bool shares;  /* e and pair are the spec's */
} suspect;

void suspect_start(suspect *s, const check_data *d);
void suspect_set(suspect *s, const char *key, const char *value);
void suspect_set_number(suspect *s, const char *key, double value);
PRINTF(2, 3) void suspect_say(suspect *s, const char *format, ...);
bool suspect_make(suspect *s, const check_data *d); /* false: no such encoding, or it does not suit the data */
void suspect_free(suspect *s);

/* cos and sin of every pair at one token, with all that multiplies them, and the error of the angle that is granted. */
typedef struct check_turns {
    double c[CHECK_PAIRS_MAX], s[CHECK_PAIRS_MAX], slack[CHECK_PAIRS_MAX], gain;
} check_turns;

bool suspect_turns(const suspect *s, const check_data *d, int64_t token, check_turns *out); /* false: not served */
/* The numbers that should be seen, and how far off each may be. */
void suspect_foretell(const suspect *s, const check_data *d, const check_turns *t, int64_t token, int64_t head,
                      double *expected, double *tolerance);

/* ---------------------------------------------------------------- the table (check_bugs.c) */

typedef enum plant { PLANT_END = -1, PLANT_NO = 0, PLANT_YES = 1 } plant;

#define BUG_JOINS 1u    /* tried together with others */
#define BUG_ROUNDS 2u   /* of precision: near the truth at small positions, and rounding ties may fall either way */
#define BUG_NO_TABLE 4u /* cos and sin do not show it */
#define BUG_AXES 8u     /* moves pairs from one coordinate to another, and nothing else */

struct check_bug {
    const char *id, *about, *fix;
    plant (*plant)(suspect *s, const check_data *d, int variant); /* variant 0, 1, ... until PLANT_END */
    int with;                                                     /* handed to plant by suspect.bug */
    unsigned flags;
};

extern const check_bug check_bugs[];
extern const int check_bug_count;

plant plant_layout(suspect *s, const check_data *d, int variant); /* check_bugs_layout.c */
plant plant_mixed(suspect *s, const check_data *d, int variant);
plant plant_range(suspect *s, const check_data *d, int variant);
plant plant_width(suspect *s, const check_data *d, int variant);
plant plant_denominator(suspect *s, const check_data *d, int variant);
plant plant_sign(suspect *s, const check_data *d, int variant); /* check_bugs_turn.c */
plant plant_swapped(suspect *s, const check_data *d, int variant);
plant plant_inverse(suspect *s, const check_data *d, int variant);
plant plant_off_by_one(suspect *s, const check_data *d, int variant);
plant plant_offset(suspect *s, const check_data *d, int variant);
plant plant_index(suspect *s, const check_data *d, int variant);
plant plant_still(suspect *s, const check_data *d, int variant);
plant plant_zero(suspect *s, const check_data *d, int variant);
plant plant_side(suspect *s, const check_data *d, int variant);
plant plant_default_base(suspect *s, const check_data *d, int variant);
plant plant_base(suspect *s, const check_data *d, int variant);
plant plant_sections(suspect *s, const check_data *d, int variant); /* check_bugs_axes.c */
plant plant_split(suspect *s, const check_data *d, int variant);
plant plant_one_axis(suspect *s, const check_data *d, int variant);
plant plant_float32(suspect *s, const check_data *d, int variant); /* check_bugs_rounding.c */
plant plant_exact(suspect *s, const check_data *d, int variant);
plant plant_angles(suspect *s, const check_data *d, int variant);
plant plant_frequencies(suspect *s, const check_data *d, int variant);
plant plant_tables(suspect *s, const check_data *d, int variant);
plant plant_scaling_ignored(suspect *s, const check_data *d, int variant); /* check_bugs_scaling.c */
plant plant_scaling_wrong(suspect *s, const check_data *d, int variant);
plant plant_scaling_extra(suspect *s, const check_data *d, int variant);
plant plant_scaling_value(suspect *s, const check_data *d, int variant); /* check_bugs_value.c */
plant plant_factor_missing(suspect *s, const check_data *d, int variant);
plant plant_factor_squared(suspect *s, const check_data *d, int variant);
plant plant_factor_half(suspect *s, const check_data *d, int variant);
plant plant_factor_extra(suspect *s, const check_data *d, int variant);
plant plant_factor_wrong(suspect *s, const check_data *d, int variant);
double check_magnitude(const char *spec, const check_data *d); /* the factor on cos and sin that a spec means */
plant plant_temperature(suspect *s, const check_data *d, int variant);

/* The choices of a key, one by one; is: the words before it, "pairs are". */
plant plant_choice(suspect *s, const char *key, int variant, const char *is);

/* ---------------------------------------------------------------- fits (check_fit.c) */

typedef struct check_spot {
    int64_t token, head, element;
    double got, expected, error, tolerance;
} check_spot;

typedef struct check_fit {
    bool fits;
    double rms;  /* of error over tolerance */
    double size; /* of error, root mean square */
    int64_t count, out;
    check_spot worst, first; /* first: beyond its tolerance; where out is above 0 */
} check_fit;

/* Which tokens and how many heads to look at. */
typedef struct check_sample {
    int64_t token[80], tokens, heads;
} check_sample;

check_sample check_spread(const check_data *d);
check_fit check_measure(const suspect *s, const check_data *d, const check_sample *sample); /* NULL: all of it */

/* ---------------------------------------------------------------- what the data shows (check_seen.c) */

void check_look(check_data *d, const suspect *spec, const check_sample *sample); /* fills factor and base */
double check_plain(double x, double near); /* the number with the fewest digits that is this near, relatively */
/* check_seen_steps.c */
int64_t check_seen_offset(const check_data *d, const suspect *spec, const check_sample *sample);
double check_seen_stretch(const check_data *d, const suspect *spec, const check_sample *sample);
/* The angle by which a pair of the spec's turned at a token, and the factor; false: the pair was zero. */
bool check_angle(const check_data *d, const suspect *spec, int64_t token, int64_t pair, double *angle, double *factor);

/* ---------------------------------------------------------------- the answer (check_search.c) */

#define CHECK_ALSO_MAX 16

typedef struct check_answer {
    suspect spec, found;
    check_fit spec_fit, found_fit;
    bool has_found;
    const check_bug *also[CHECK_ALSO_MAX]; /* that fit as well */
    int also_count;
    int tried;       /* bugs, where the spec fits */
    bool fits_still; /* so does data that nothing turned */
} check_answer;

cli_exit check_search(check_answer *out, check_data *d); /* out: check_answer_free, whatever comes back */
void check_answer_free(check_answer *a);

typedef enum verdict { VERDICT_OK, VERDICT_MISMATCH, VERDICT_UNKNOWN, VERDICT_CANNOT_TELL } verdict;

verdict check_verdict_of(const check_answer *a);
bool check_is_allowed(const check_answer *a, const check_data *d); /* --allow names the bug that was found */
const char *check_element_name(const check_data *d, const check_spot *s);
int64_t check_element_index(const check_data *d, const check_spot *s);
const char *check_fits(const check_answer *a); /* the spec that fits; NULL: none, or only the one that was given */
void check_json(const check_answer *a, const check_data *d);
void check_json_not_finite(const check_data *d, check_spot at);
cli_exit check_report(const check_answer *a, const check_data *d); /* CLI_OK or CLI_NO */
cli_exit check_report_not_finite(const check_data *d, check_spot at);

#endif
