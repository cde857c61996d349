/* SPDX-License-Identifier: MIT
 *
 * What the author of an encoding needs, and nothing else. An encoding is one file: its keys, init, hooks with their
 * _back, and a row that lists them. The framework loops, checks and differentiates for all of them; a hook that is NULL
 * is the identity. A part is a row with the values of its keys; after init it is const.
 * What follows "must" is a contract: whenever a part is made, core/contract.c checks it (functions at a few points)
 * and refuses an encoding that breaks it.
 * H heads, D head_dim, P pairs. */
#ifndef PE_ROW_H
#define PE_ROW_H

#include "base/exact.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/num.h"
#include "base/tell.h"
#include "base/text.h"
#include "base/try.h"
#include "kernels/rotate.h"
#include "posenc.h"

#define KEYS_MAX 40
#define TENSORS_MAX 8
#define TERMS_MAX 3
#define FORMULA_ROOM 240
#define COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))

typedef struct pe_part part;

/* ------------------------------------------------ what init reads and fills */

typedef struct value {
    double num;         /* a number, or the index of a choice */
    const double *list; /* PE_KEY_LIST; owned by the part     */
    int64_t count;
    bool given;
} value;

typedef enum fill { FILL_NORMAL, FILL_UNIFORM, FILL_CONSTANT, FILL_ROW } fill;

/* Learned parameters. */
typedef struct tensor {
    const char *name, *about; /* about: what its rows are */
    int rank;
    int64_t shape[3];
    int64_t offset, count; /* core fills these */
    fill fill;
    double a, b; /* normal: deviation; uniform: from, to; constant: value; row: deviation from what fill says */
    bool projected;
    double min, max; /* training clamps it to this range; 0, 0: no limits */
    double rate;     /* of training, times that of a model's weights; 0: 1. What scripts/rates.sh found */
    double decay;    /* weight decay, times that of a model's weights; 0: none */
} tensor;

/* A score or value term by table: score(i, j) += x . table[index(i - j)][h], x being q_i + extra[h] or k_j; for
 * PE_VALUE out_i += p(i, j) table[index(i - j)][h]. The distance is that of first coordinates. With input, D is that
 * many, and the caller gives a vector for each query and head, which replaces q_i; gain multiplies it as it does q_i.
 */
typedef struct term {
    pe_side side; /* must be PE_QUERY, PE_KEY or PE_VALUE */
    int table;    /* must be a tensor (R, H or 1, D), or -1: entry computes it */
    double (*entry)(const part *p, int64_t row, int64_t d);
    int extra; /* must be a tensor (1, H, D) of PE_QUERY, or -1 */
    /* must be a row of the table wherever reaches says so; of an input nothing is added outside it */
    int64_t (*index)(const part *p, int64_t distance);
    int64_t input; /* 0: none; must be of PE_QUERY, and of one part */
} term;

/* A content term that counts keys from right to left: each adds sigmoid(scale q.k), and the count, capped at the last
 * row, selects the row of the table: q . table[count][h], linear between rows. */
typedef struct counting {
    bool on;
    int table; /* must be a tensor (R, H or 1, D), R at least 2 */
    double scale;
} counting;

/* A content term that stands for q.k: the sum over elements d of size(q_d) size(k_d) cos(x f_d + phase[g][d]), with
 * size(x) = ln(1 + e^x), x the key's first coordinate less the query's and g the key's head. */
typedef struct polar_product {
    bool on;                 /* then stage must be PE_BEFORE_SCALE, and D at most POLAR_MAX */
    const double *frequency; /* (3, D) turns per position, each the sum of three */
    int phases;              /* must be a tensor (kv_heads, D), in radians */
} polar_product;
#define POLAR_MAX (PE_HEAD_DIM_MAX / 2) /* a vector has twice as many coordinates there */

/* The rotation of one pair at one position: multiply by magnitude, rotate by the angle. */
typedef struct pair_rotation {
    double cosine, sine, magnitude;
} pair_rotation;

/* Cos and sin of a trained rotation as sums of waves of the first coordinate t: those of pair n < pairs are the sum
 * over f of cos(t f) cosines[h][f][n], and of sin(t f) sines[h][f][n]; those of the other pairs 1 and still. */
typedef struct mixing {
    int64_t waves;           /* 0: none */
    const double *frequency; /* (3, waves) turns per position, each the sum of three */
    int64_t pairs;           /* must be 1 to P */
    int cosines, sines;      /* must be tensors (kv_heads or 1, waves, pairs) */
    double still;
} mixing;

/* A code of waves, each a cos or a sin of (at[axis] + offset) frequency turns: coordinates share the width equally, and
 * have the same waves, sin cos sin cos ... or all sines before all cosines. The row's embed is their definition. */
typedef struct waves {
    const wide *frequency; /* (count) of one coordinate's pairs of waves */
    int64_t count;         /* 0: the code is not of waves */
    double offset;
    bool halves, cosine_first;
    struct wave_plan *plan; /* core's */
} waves;

struct pe_part {
    const struct row *row;
    value *value; /* one per key of the row; init may settle what follows from the shape */
    pe_shape shape;
    void *state; /* the row's own; one block, freed with the part */

    tensor tensor[TENSORS_MAX];
    int tensors;
    unsigned hooks; /* the row's; init may clear hooks that the spec does not use, and set PE_HOOK_ROTATE where it gains
                       without pairs */
    unsigned claims;
    int64_t axes; /* coordinates of a position; must be 1 to PE_AXES_MAX */

    /* content, value and bias */
    term term[TERMS_MAX];
    int terms;
    counting count;
    polar_product polar;
    bool absolute; /* bias is what the hook absolute says */
    bool gates;    /* bias is c_i - c_j, a number that the caller gives with each token and head */
    bool weighs;   /* the distance of a bias is the sum of weight[a] (q[a] - k[a]), not that of first coordinates */
    int64_t weight[PE_AXES_MAX];
    int64_t reach;       /* where it weighs: no pair that is reached is further apart; must be above 0 */
    bool straight;       /* bias must be linear in the distance on each side of 0 */
    int64_t flat;        /* measure must stay as it is from this distance on, on each side; 0: nowhere */
    pe_stage stage;      /* of content and bias */
    double scale;        /* softmax scale; 0: 1/sqrt(D) */
    double scale_factor; /* on whatever scale there is */

    /* rotate: every element of a head must be in one lane of from, one of to, or in rest */
    const lane *from, *to; /* (P) elements read and written */
    const pair *pair;      /* (P) its axis must be one of the part's */
    int64_t pairs;
    const int64_t *rest; /* (rests) elements that are not rotated */
    int64_t rests;
    bool rotates_value, rotates_output;
    bool exact;     /* pair n's angle is (at[axis] * multiplier + shift) * frequency turns, not rounded on the way:
                       then rotate must be that, bit for bit */
    bool recentres; /* attention shifts positions so that the query is at centre */
    int64_t centre;
    const double *decay; /* (P) ln of what a query's pair is multiplied by per position from centre, a key's by the
                            inverse; NULL: nothing */
    double magnitude;    /* where the angle is exact or trained: of cos and sin, beside the decay; must be above 0 */
    bool gains;          /* gain is not 1 everywhere: then the row must have it */
    bool trained;        /* frequencies are parameters, in radians per position; then exact must be false */
    int frequencies;     /* must be a tensor (kv_heads or 1, axes, P), where it does not mix */
    mixing mix;          /* of a part that is trained: instead of frequencies */

    /* embed */
    int64_t width; /* of the code; must be 1 or more, and model_dim where it is added */
    bool concat;
    waves waves; /* must fill the width */

    struct rotation_plan *plan; /* core's: the rotation in the form that its loops use */

    char formula[FORMULA_ROOM]; /* for people: the row's formula where keys change it; "": as the row has it */
};

/* ------------------------------------------------ the row */

typedef struct row {
    pe_info info;       /* info.hooks must be those that are filled, here or by init */
    const pe_key *keys; /* (info.key_count) */
    unsigned excused;   /* claims that are measured otherwise than the row states them, and why (tests/test_claims.c) */
    const char *excuse;
    pe_status (*init)(part *p, pe_error *err);
    double (*fill)(const part *p, int tensor, int64_t i); /* must be there for FILL_ROW tensors */

    /* embed: elements first .. first + count - 1 of the code, and where their gradient goes: parameters that no other
     * element's gradient goes to */
    void (*embed)(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code);
    void (*embed_back)(const part *p, pe_params dw, const double *at, int64_t first, int64_t count,
                       const double *dcode); /* must be there where embed reads parameters */

    bool fractional; /* of embed, and of bias by distance: positions may have fractions */

    /* rotate: the rotation of pair n; gain: a factor on the whole vector (NULL: 1) */
    pair_rotation (*rotate)(const part *p, pe_side side, const int64_t *at, int64_t n);
    double (*gain)(const part *p, pe_side side, const int64_t *at);

    /* whether the encoding is defined at this position, in numbers of this type (NULL: always) */
    pe_status (*check)(const part *p, pe_side side, pe_dtype type, const int64_t *at, pe_error *err);
    pe_status (*check_params)(const part *p, pe_params w, pe_error *err);
    /* whether its tables cover this pair (NULL: always); index and bias are asked only then. Must be a box of offsets
     * q - k around 0: what lies between two offsets that are reached is reached */
    bool (*reaches)(const part *p, const int64_t *q, const int64_t *k);

    /* bias: each head's function of x = measure(distance) share(query); measure NULL: the distance itself; share
     * NULL: 1. So a table by distance holds a bias, whatever the length. The _back functions add to dw; bias_back
     * returns the gradient to x, and must be there where there are parameters */
    double (*measure)(const part *p, pe_params w, double distance); /* must rise or fall all the way on each side of 0
                                                                        where there are knots */
    void (*measures)(const part *p, double *out, int64_t distance,
                     int64_t count);                               /* falling distances; must be measure */
    double (*share)(const part *p, pe_params w, const double *q); /* must have knots beside it */
    double (*bias)(const part *p, pe_params w, int64_t h, double x);
    double (*bias_back)(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db);
    void (*measure_back)(const part *p, pe_params w, pe_params dw, double distance, double dm);
    void (*share_back)(const part *p, pe_params w, pe_params dw, const double *q, double ds);
    /* bias must be linear in x between these, at most so many, in any order; knots NULL: it is not */
    int64_t (*knots)(const part *p);
    double (*knot)(const part *p, pe_params w, int64_t i);
    /* the text of these functions for other compilers (ON_DEVICE); NULL: none. There they have these names, bias_back
     * calls grad at most 4 times, and no two heads' go to one parameter unless there are knots */
    const char *device;
    /* where part.absolute is set, and must be there: bias = absolute(k) - absolute(q) */
    double (*absolute)(const part *p, int64_t h, const int64_t *at);
    /* content and value are declared by init: as terms, as a count, or as polar */

    /* for people, as formulas with numbers in them: embed's element c, the bias of a query and a key, the frequency of
     * pair of->element in radians after lines for its magnitude at of->q_at, a query's gain, part.scale; NULL: not
     * shown */
    void (*tell_embed)(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out);
    void (*tell_bias)(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out);
    void (*tell_pair)(const part *p, const pe_question *of, tell *out);
    void (*tell_gain)(const part *p, const int64_t *at, tell *out);
    void (*tell_scale)(const part *p, tell *out);
    /* of a term: which row a distance takes, "clip(3 - 5, -16, 16) + 16", nothing where there is one row; and an entry
     * of a row as it is computed, or as it is filled before training, and lines that belong beside it. h is the head of
     * the table */
    void (*tell_index)(const part *p, const term *t, int64_t q, int64_t k, tell *out);
    void (*tell_entry)(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out);
    void (*tell_beside)(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out);
} row;

/* Functions of a bias as C, and the same as text for a GPU's compiler, so that a formula is written once. Of a part
 * they see shape.heads, tensors, tensor[].shape, num and whole; the text has no macros but those of math.h, and no
 * preprocessor line. The one macro around functions in this library. */
#define ON_DEVICE(...)                                                                                                 \
    static const char device[] = #__VA_ARGS__;                                                                         \
    __VA_ARGS__

/* ------------------------------------------------ for init */

static inline double num(const part *p, int key)
{
    return p->value[key].num;
}

static inline int64_t whole(const part *p, int key)
{
    return (int64_t)p->value[key].num;
}

void *part_alloc(part *p, int64_t count, size_t size, pe_error *err); /* zeroed; becomes p->state */
pe_status part_tensor(part *p, tensor t, pe_error *err);
pe_status part_fail(const part *p, pe_error *err, int key, const char *why);

/* ------------------------------------------------ for hooks: element i of tensor t, and its gradient */

static inline double param(const part *p, pe_params w, int t, int64_t i)
{
    return num_load(w.data, w.dtype, p->tensor[t].offset + i);
}

static inline void grad(const part *p, pe_params dw, int t, int64_t i, double x)
{
    if (dw.data)
        num_add(dw.data, dw.dtype, p->tensor[t].offset + i, x);
}

#endif
