/* SPDX-License-Identifier: MIT
 *
 * A longer context for a model that rotates: which pairs would see angles they have never seen, what each method does
 * about it, and what it costs. Every frequency is the library's (pe_encoding_pairs of a spec), none is computed here.
 *
 * A pair leaves the trained range where its angle at the target's end is larger than any it has seen, and it had not
 * made a whole turn: after a whole turn every angle has been seen.
 *
 *     extend_model x;                                          extend_plan p;
 *     extend_open(&x, zoo, 131072, 0, &err);                   extend_plan_make(&p, &x, extend_find("yarn"), &err);
 *     x.verdict, x.why                                         p.spec, p.value, p.leaving, p.short_changed
 *     extend_close(&x);                                        extend_plan_free(&p);
 */
#ifndef POSENC_ZOO_EXTEND_H
#define POSENC_ZOO_EXTEND_H

#include "zoo/zoo.h"

#define EXTEND_NEAR 256 /* the distance at which short prompts are compared */

/* ---------------------------------------------------------------- the model */

typedef enum extend_verdict {
    EXTEND_PLAN = 0, /* there is something to plan                                                       */
    EXTEND_NOTHING,  /* the target is reached as it is, or nothing about positions has to be set          */
    EXTEND_NO        /* no method applies                                                                */
} extend_verdict;

typedef struct extend_pair {
    double frequency;  /* radians per position, as the model is at its reach; its sign dropped            */
    double wavelength; /* positions per turn; INFINITY: it does not rotate                               */
    double turns;      /* over the reach                                                                 */
} extend_pair;

typedef struct extend_model {
    const zoo_model *zoo;
    const zoo_part *part;
    const zoo_group *group; /* the layers the plan is for: they rotate, and see the whole sequence; NULL: none   */
    const char *kind;       /* their kind, as the config's layer_types spells it; "" for one kind              */
    int64_t trained;        /* without its own scaling                                                        */
    int64_t reach;          /* with it: the longest sequence the model is known for                           */
    int64_t target;
    int64_t windowed, still; /* layers that see a window only; that do not rotate                              */
    bool mixed;              /* other layers that see everything rotate otherwise: their plan is not this one  */
    char scaling[24];        /* its own: "none", "yarn"                                                       */
    char *own;               /* its spec up to the trained length                                             */
    char *seen;              /* at its reach                                                                  */
    char *plain;             /* without its scaling                                                           */
    int64_t pairs;
    extend_pair *pair;
    extend_verdict verdict;
    char why[400]; /* one or two sentences where the verdict is not to plan                                     */
} extend_model;

/* trained 0: as the file says. A model without a length, and none given, is PE_ERR_RANGE. zoo has to outlive it. */
pe_status extend_open(extend_model *out, const zoo_model *zoo, int64_t target, int64_t trained, pe_error *err);
void extend_close(extend_model *x); /* zeroed or half-built: fine */
double extend_theta(const extend_model *x);

/* ---------------------------------------------------------------- the methods */

typedef struct extend_method {
    const char *name;    /* "yarn" */
    const char *scaling; /* the spec's word */
    const char *key;     /* the key of its number: "factor", "alpha", "turning"; NULL: none */
    const char *paper;
    const char *note;   /* what a user has to know of it */
    bool takes_trained; /* the spec has trained=... */
    bool by_length;     /* short prompts keep their frequencies: the spec has length=... */
    bool stated;        /* the number is the one of its formula; else the smallest that serves */
    double most;        /* of the key */
} extend_method;

extern const extend_method extend_methods[];
extern const int extend_method_count;
const extend_method *extend_find(const char *name); /* NULL: none */

typedef struct extend_plan {
    const extend_method *method;
    bool applies;
    char why[300];                /* where it does not apply: the library's sentence */
    char *spec;                   /* at the target */
    char *brief;                  /* for a prompt within the trained length */
    double value;                 /* of the method's key                                                            */
    bool serves;                  /* no pair leaves the trained range                                               */
    double theta;                 /* of the spec                                                                     */
    int64_t leaving, first, last; /* pairs that leave it all the same: how many, the first, the last */
    double worst;                 /* their largest angle over the largest seen                     */
    double magnitude;             /* on cos and sin at the target                                    */
    double logits;                /* on the logits: its square, and the factor on the softmax scale    */
    struct {
        bool same;        /* a prompt within the trained length computes what it computed             */
        int64_t changed;  /* pairs with another frequency */
        int64_t fastest;  /* the first of them                                                        */
        double slower;    /* its old frequency over its new                                          */
        double mean;      /* of |new - old|/old over all pairs that rotate                            */
        double angle;     /* the largest change of an angle at distance EXTEND_NEAR, in radians        */
        double magnitude; /* new over old                                                            */
        double logits;    /* new over old                                                            */
    } cost;
} extend_plan;

/* One of each method, in the order of extend_methods; malloc'ed. */
pe_status extend_plans_new(extend_plan **out, const extend_model *x, pe_error *err);
void extend_plans_free(extend_plan *plans); /* NULL is fine */

bool extend_holds(const extend_plan *p); /* it applies, and serves or has its formula's number */

/* The one to take, of extend_method_count plans, and why. Rules, the first that holds:
 *   no pair leaves the range as it is             none
 *   the model has a scaling of its own             that one, raised: two scalings are never stacked
 *   a Llama 3 (theta 500000)                       llama3
 *   a Qwen 2 or 3                                  yarn, as its makers say
 *   up to EXTEND_NTK_MOST times the reach         ntk: a theta, which every engine has
 *   a head of fewer than EXTEND_YARN_PAIRS pairs  ntk
 *   else                                          yarn
 * and where that one does not hold: the first of yarn, ntk, longrope, linear that does. Where ntk ends and yarn begins
 * is measured on two small models: docs/eval.md. */
#define EXTEND_NTK_MOST 4
#define EXTEND_YARN_PAIRS 16
int extend_recommend(const extend_model *x, const extend_plan *plans, char why[400]);

#endif
