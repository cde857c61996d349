/* SPDX-License-Identifier: MIT
 *
 * Small models that posenc race trained, and a text that none of them has seen: what claims about training are measured
 * on. */
#ifndef POSENC_PROVE_TRAINED_H
#define POSENC_PROVE_TRAINED_H

#include "model/file.h"
#include "prove/measure.h"

#define TRAINED_MAX 64  /* models of a folder */
#define TRAINED_SEEDS 8 /* of one encoding */

typedef struct trained_model {
    model *m;
    char name[80]; /* of its file, without .safetensors */
} trained_model;

struct prove_models {
    trained_model one[TRAINED_MAX];
    int count;
    int64_t length; /* they were trained at */
    int64_t bytes;  /* of the text */
    int32_t *text;
};

/* Those of one encoding: of just this spec; where there are none, of a spec that begins with it, with more keys. */
typedef struct trained_group {
    const char *name;
    const prove_models *from;
    const trained_model *one[TRAINED_SEEDS];
    int count;
} trained_group;
/* PE_ERR_UNSUITED, in words for people, where there are no models, or none of this encoding. */
pe_status trained_find(trained_group *out, const prove_given *g, const char *name, pe_error *err);

/* A model as it was before training: the same spec and sizes, first weights. Its m is the caller's to free. */
pe_status trained_first(trained_model *out, const trained_model *t, uint64_t seed, pe_error *err);

/* Window n of `of`, spread over the text: a model's trained length of tokens. */
const int32_t *trained_window(const prove_models *from, int n, int of);

/* What a model does with a window; the parts that are asked for. */
typedef struct trained_look {
    int64_t tokens, width, layers, heads, dim, wide; /* wide: of a token's queries, keys and values */
    model_inside in;
} trained_look;
enum { LOOK_STREAM = 1, LOOK_QKV = 2, LOOK_SCORES = 4, LOOK_SHARES = 8 };
pe_status trained_look_new(trained_look *out, const prove_models *from, const model *m, unsigned parts, pe_error *err);
void trained_look_free(trained_look *l); /* zeroed is fine */

/* code (T, C): what is added to the words at each place of a window; word (256, C): the words, by byte. */
pe_status trained_codes(double *code, double *word, const trained_model *t, const prove_models *from, pe_error *err);

enum { TRAINED_LAYERS = 8, DOUBLINGS = 12 };
/* How many of the distances 1, 2-3, 4-7 ... lie below this one. */
static inline int doublings_of(int64_t tokens)
{
    int k = 0;
    while (k < DOUBLINGS && (int64_t)2 << k <= tokens)
        k++;
    return k;
}

/* The claims (trained_codes.c, trained_losses.c, trained_layers.c, trained_scores.c). */
prove_measure_fn measure_trained_orthogonal, measure_trained_adding, measure_trained_table;
prove_measure_fn measure_trained_concatenating, measure_trained_learned;
prove_measure_fn measure_trained_residuals;
prove_measure_fn measure_trained_reach, measure_trained_decay, measure_trained_bf16;

#endif
