/* SPDX-License-Identifier: MIT
 *
 * posenc_prove: measures what the literature says about position encodings. A claim is one row: the
 * sentence, its source, what it is measured on (given), and the function that measures. The verdict follows from the
 * numbers; a test gives each function an input for which the verdict must change (tests/test_prove.c).
 */
#ifndef POSENC_PROVE_H
#define POSENC_PROVE_H

#include "io/io.h"
#include "io/words.h"
#include "posenc.h"

#define PROVE_SPECS_MAX 24
#define PROVE_NUMBERS_MAX 160 /* two for each of the rows there may be (ROWS_MAX), and some */

typedef enum prove_verdict { PROVE_HOLDS = 0, PROVE_REFUTED, PROVE_DEPENDS, PROVE_VERDICT_COUNT } prove_verdict;

/* What a verdict rests on. Of the last two the number only checks that the code does what the formula says. */
typedef enum prove_kind {
    PROVE_MEASURED = 0, /* numbers that could have come out otherwise */
    PROVE_ALGEBRA,      /* it follows from the formula, whatever the words and the weights are */
    PROVE_DEFINITION,   /* it is how the encoding is built */
    PROVE_KIND_COUNT
} prove_kind;

/* What a claim is measured on. A claim reads the fields it needs; a planted failure, or a user, changes them. */
typedef struct prove_given {
    const char *spec[PROVE_SPECS_MAX]; /* NULL ends them; none: those the measure picks from the registry */
    int64_t heads, head_dim, model_dim;
    int64_t length;
    double theta;
    bool causal, residual;
    bool put;              /* spec[0] is a user's: the sentence and the numbers are about it alone */
    uint64_t seed;         /* the first; what is drawn at random is drawn with PROVE_SEEDS of them */
    double (*clock)(void); /* seconds; NULL: this machine's */
    const struct prove_models *models; /* trained ones; NULL: none are here                                       */
    const double *qk;                  /* (qks, 2, head_dim): queries and keys; NULL: drawn at random             */
    int64_t qks;
    const pe_pool *pool;   /* works on several seeds at a time; NULL: one after the other, with the same bits */
} prove_given;

#define PROVE_SEEDS 20

typedef struct prove_spread { /* over so many seeds */
    double median, least, most;
    int seeds;
} prove_spread;

/* One number of the evidence: "largest difference | alibi | 0.31". */
typedef struct prove_number {
    words what;
    char of[96];    /* a spec, a size; "": of all */
    char of_zh[96]; /* where it has words: in Chinese; "": as of */
    double value;
    const char *unit;   /* "", "%", "dB", "ns" */
    double least, most; /* over the seeds, of which value is the median */
    int seeds;          /* how many; 0: nothing was drawn at random, or all seeds are in the value */
} prove_number;

typedef struct prove_finding {
    prove_verdict verdict;
    words because;                          /* one sentence; of DEPENDS: on what */
    prove_number number[PROVE_NUMBERS_MAX]; /* the first is the one that decides */
    int count;
} prove_finding;

typedef pe_status prove_measure_fn(prove_finding *out, const prove_given *g, pe_error *err);

typedef struct prove_claim {
    const char *name;   /* "two-dogs" */
    words claim;        /* the sentence as the literature has it */
    words put;          /* as it is put to any spec, "Its penalty grows with the distance."; none: takes no spec */
    const char *source; /* "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)" */
    prove_kind kind;
    words rule; /* when it HOLDS, and why the border is there; a claim that is measured has one */
    words sizes; /* a sentence about those that it chooses itself, where given leaves them open */
    prove_given given;
    prove_measure_fn *measure;
    bool timed;   /* its numbers are this machine's */
    bool trained; /* it is measured on prove_means.models */
    /* Hooks: a SPEC with one of them can be put in given.spec's place; PROVE_ANY: any; 0: none. */
    unsigned takes;
} prove_claim;

#define PROVE_ANY (~0u)

typedef struct prove_group {
    const char *name; /* "order" */
    words title;
    const prove_claim *claims;
    int count;
} prove_group;

extern const prove_group *const prove_groups[];
extern const int prove_group_count;
const prove_claim *prove_claim_named(const char *name); /* NULL: none */
const prove_group *prove_group_named(const char *name); /* NULL: none */

/* Small models that posenc race trained, of one race, and text.txt, a text that they have not seen, from a folder. One
 * claim at a time may use them. */
typedef struct prove_models prove_models;
pe_status prove_models_open(prove_models **out, const char *folder, pe_error *err);
void prove_models_free(prove_models *m); /* NULL is fine */
/* A sentence about their sizes; "": NULL. */
void prove_models_say(char *out, size_t room, const prove_models *m, language l);

/* Measures a claim, on this spec in place of its own where spec is not NULL, and with the sizes that are not 0 in place
 * of its own; kv_heads has no meaning here. */
#define PROVE_HEADS_MAX 128
#define PROVE_WIDTH_MAX 4096 /* of the model */
typedef struct prove_means {
    const pe_pool *pool;        /* NULL: one thread */
    const prove_models *models; /* NULL: none are here, and claims on trained models are PE_ERR_UNSUITED */
} prove_means;
pe_status prove_measure(prove_finding *out, const prove_claim *c, const char *spec, pe_shape shape, prove_means with,
                        pe_error *err);
pe_status prove_check_shape(pe_shape s, pe_error *err);       /* sizes that can be measured, or 0 */
bool prove_takes_spec(const prove_claim *c);                  /* any at all */
words prove_sentence(const prove_claim *c, const char *spec); /* the claim, or as it is put to a spec */
/* The rule with the sizes that it is measured at, or of the models (NULL: none are here); "": there is none. */
#define PROVE_RULE_ROOM 1600
void prove_rule(char out[PROVE_RULE_ROOM], const prove_claim *c, pe_shape shape, const prove_models *models, language l);

void prove_say(prove_finding *f, prove_verdict v, words because);
void prove_judge(prove_finding *f, bool holds, words because, words otherwise); /* HOLDS or REFUTED */
void prove_add(prove_finding *f, words what, const char *of, double value, const char *unit);
/* Where `of` has words: a size with its name, { "length %.9g", "长度 %.9g" } and 64. One %.9g, or none. */
void prove_add_at(prove_finding *f, words what, words of, double n, double value, const char *unit);
words prove_verdict_words(prove_verdict v); /* HOLDS 成立, REFUTED 不成立, DEPENDS 视情况而定 */
words prove_kind_words(prove_kind k);       /* measured 测量, algebra 代数, definition 定义 */

/* ---------------------------------------------------------------- two dogs (order.c) */

/* "the dog chased the other dog" through one layer of attention. Without an encoding and a mask, both dogs get the same
 * output, and "chased" gets the same in "the other dog chased the dog". An encoding that is made for a causal mask is
 * measured with one; the mask alone tells the dogs apart, too. */
typedef struct prove_dogs {
    prove_spread dogs;  /* largest difference between the outputs of the two dogs */
    prove_spread order; /* between the outputs of "chased" in the two sentences */
    bool masked;
} prove_dogs;

#define PROVE_ROUNDING 1e-9 /* differences below this are rounding: sums of some hundred numbers near 1 */
pe_status prove_two_dogs(prove_dogs *out, const char *spec, const prove_given *g, pe_error *err);
/* Calls each with every row of the registry, as the claim two-dogs measures it. */
typedef pe_status prove_dogs_fn(void *with, const char *spec, const prove_given *g, pe_error *err);
pe_status prove_each_two_dogs(prove_dogs_fn *each, void *with, const pe_pool *pool, pe_error *err);
/* Whether keys after the query must be hidden from it: a term counts keys, or what is added to the scores of a query
 * grows from the first key to the last, past the query itself, in every head. */
bool prove_needs_mask(const pe_encoding *e, pe_params w);

/* ---------------------------------------------------------------- the ideal properties of one spec (property*.c) */

/* YES and NO: for properties that are neither good nor bad. */
typedef enum property_outcome {
    PROPERTY_FAILS = 0,
    PROPERTY_HOLDS,
    PROPERTY_NO_MEANING,
    PROPERTY_YES,
    PROPERTY_NO
} property_outcome;

typedef struct property_found {
    unsigned claim; /* a PE_CLAIM_ bit */
    property_outcome is;
    double number; /* what was measured */
    words what;    /* of it: "nearest two codes" */
    bool claimed;  /* by the row */
} property_found;

/* Measures every PE_CLAIM_ of a spec, in the order of its bits. */
pe_status prove_properties(property_found out[CLAIM_COUNT], const char *spec, pe_shape shape, pe_error *err);
words prove_property_words(unsigned claim); /* "no two positions share a code" */

#endif
