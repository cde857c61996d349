/* SPDX-License-Identifier: MIT
 *
 * posenc_model: a small Transformer with any encoding, to train and to evaluate.
 *
 *     model *m;
 *     model_config c = { .vocab = 256, .layers = 4, .width = 128, .heads = 4, .causal = true };
 *     model_new(&m, &c, "rope", pool, &err);
 *     model_init(m, seed);
 *     model_gradients(m, &batch, &loss, &err);        forward and backward: the gradients are filled
 *     adam_step(a, m, &rates);
 *     model_use(m, "rope:scaling=ntk,alpha=4", &err); another encoding over the same weights
 *     model_losses(m, &batch, losses, right, &err);   forward alone, any length
 *     model_free(m);
 *
 * Shapes: B sequences, T tokens each, N = B T rows, C width, H query heads, G key heads, D head width, F hidden width,
 * V vocabulary. Weights are (out, in), as a linear layer stores them.
 *
 * Same weights, same batch, same bits, for any number of workers: work is cut into pieces whose number depends on the
 * shapes alone (rows.c), the BLAS is called with one thread for each piece, and sums over pieces have one order.
 *
 * Compiled a second time with MODEL_DOUBLE, all numbers are float64 and attention is the reference: what gradients are
 * checked with.
 */
#ifndef POSENC_MODEL_H
#define POSENC_MODEL_H

#include "posenc.h"

#ifdef MODEL_DOUBLE
typedef double real;
#define MODEL_TYPE PE_F64
#else
typedef float real;
#define MODEL_TYPE PE_F32
#endif

typedef enum model_norm { MODEL_RMS = 0, MODEL_LAYER } model_norm; /* x/rms(x) * w; (x-mean)/deviation * w + b */
typedef enum model_mlp { MODEL_SWIGLU = 0, MODEL_GELU } model_mlp; /* down(silu(gate x) * up x); down(gelu(up x)) */

/* Zero is the default of every field that has one. A model with MODEL_LAYER, MODEL_GELU, biases or embed_norm (BLOOM)
 * is evaluated, not trained. */
typedef struct model_config {
    int64_t vocab, layers, width;
    int64_t heads;
    int64_t kv_heads; /* 0: as many as heads                                                                     */
    int64_t head_dim; /* 0: width / heads                                                                        */
    int64_t hidden;   /* 0: 8/3 of the width, up to a multiple of 16                                             */
    bool causal;
    bool untied;     /* logits by a matrix of their own                                                         */
    bool biases;     /* every linear layer has one                                                              */
    bool embed_norm; /* a norm after the embedding                                                              */
    model_norm norm;
    model_mlp mlp;
    double embed_scale; /* 0: 1; rows of the embedding are multiplied by it                                     */
    double eps;         /* 0: 1e-5                                                                                 */
} model_config;

typedef struct model model;

/* Of the weights, in the order of the memory. Names and shapes (rows, columns); with biases and layer norms each has a
 * NAME.bias beside it:
 *     embed (V, C); with a code that is joined to it (join=concat), (V, C - code)
 *     embed_norm (C), final (C), output (V, C) where untied
 *     layer.L.norm1 (C)
 *     layer.L.qkv ((H + 2G) D, C): queries, keys, values
 *     layer.L.out (C, H D)
 *     layer.L.norm2 (C)
 *     layer.L.up (2F, C): gates, then ups; with MODEL_GELU (F, C)
 *     layer.L.down (C, F)
 *     position.NAME: a learned tensor of the encoding that the embedding uses
 *     layer.L.position.NAME: one that attention uses; NAME.weight (H D, H D) where it is projected
 *     layer.L.position.gates (H, C), layer.L.position.gates.bias (H), layer.L.position.relative (H R, C): projections
 *         of the inputs per token that the encoding takes (inputs.c) */
#define MODEL_NAME_MAX 96
typedef struct model_tensor {
    char name[MODEL_NAME_MAX];
    int64_t shape[3];
    int rank;
    int64_t offset, count; /* in elements */
    double rate, decay; /* times the rate and the weight decay of a step; decay is 0 or 1 of what is not a position */
    bool position;      /* it is the encoding's                                                               */
    double min, max;
} model_tensor;

/* Weights are 0 until model_init, or until they are filled by name. spec is what the model is trained with. The pool is
 * the caller's and outlives the model; NULL: one thread. */
pe_status model_new(model **out, const model_config *c, const char *spec, const pe_pool *pool, pe_error *err);
void model_free(model *m); /* NULL is fine */
/* Tensors of the same name and shape get the same numbers, whatever else the model has; queries of an encoding with a
 * softmax scale of its own are scaled so that scores start alike. */
void model_init(model *m, uint64_t seed);

const model_config *model_settings(const model *m); /* defaults filled in */
const pe_encoding *model_encoding(const model *m);  /* the one in use */
int64_t model_count(const model *m);                /* trained numbers in all; of those, positions' */
int64_t model_position_count(const model *m);
int model_tensor_count(const model *m);
const model_tensor *model_tensor_at(const model *m, int index);
const model_tensor *model_tensor_find(const model *m, const char *name); /* NULL: none */
real *model_weights(model *m);                                           /* all tensors, and zeros between them */

/* Uses another encoding over the same weights: its tensors are found by name and must have their shapes (projected ones
 * any number of rows). On failure the one in use stays. */
pe_status model_use(model *m, const char *spec, pe_error *err);
void model_scale_queries(model *m, double factor); /* the weights of all queries, times this */
/* How the encoding's tensor of this name (pe_tensor) is trained from now on, in every layer; false: there is none. */
bool model_train(model *m, const char *name, double rate, double decay);

typedef struct model_batch {
    const int32_t *token;  /* (B, T)                                                                             */
    const int32_t *target; /* (B, T); -1: not asked                                                              */
    pe_positions at;       /* (T, axes), the same for each sequence; axes of the encoding                        */
    int64_t sequences, length;
} model_batch;

/* Forward alone. losses (B, T): -ln p(target), 0 where not asked. right (B, T), may be NULL: whether the likeliest is
 * the target. PE_ERR_POSITION: the encoding cannot serve this length; the message says why. */
pe_status model_losses(model *m, const model_batch *b, real *losses, uint8_t *right, pe_error *err);
/* Logits (V) after the last of n tokens at positions 0 .. n-1; grows nothing, keeps nothing. */
pe_status model_logits(model *m, real *logits, const int32_t *token, int64_t n, pe_error *err);

/* What happens inside for one text of n tokens at positions 0 .. n-1; NULL: not wanted. Scores and probabilities are
 * the library's definition (pe_reference_forward). */
typedef struct model_inside {
    real *stream;        /* (layers + 1, n, C): what enters each layer, and what leaves the last              */
    real *qkv;           /* (layers, n, (H + 2G) D): queries, keys and values, not rotated                    */
    real *scores;        /* (layers, n, H, n): of each query and key, before the softmax; -inf where hidden   */
    real *probabilities; /* (layers, n, H, n): how much a query takes of each key                             */
} model_inside;
pe_status model_look(model *m, const model_inside *out, const int32_t *token, int64_t n, pe_error *err);

/* Forward and backward: *loss is the mean over what is asked; the model keeps its gradient for adam_step. A loss that
 * is not finite is PE_ERR_RANGE, and the message names the first layer whose output is not finite. */
pe_status model_gradients(model *m, const model_batch *b, double *loss, pe_error *err);

/* Where it broke; NULL: nowhere. Of weights that are not finite the first on the way from the tokens to the logits;
 * else of gradients, which flow the other way, the last. */
const char *model_broken(const model *m);

/* ---------------------------------------------------------------- AdamW (adam.c) */

typedef struct adam {
    real *first, *second; /* moments, one for each weight */
    int64_t step;         /* steps done */
    int64_t count;
    double *sums; /* scratch */
} adam;

typedef struct adam_rates {
    double rate, beta1, beta2, eps, decay;
    double clip; /* gradients longer than this are shortened to it; 0: not */
} adam_rates;
#define ADAM_DEFAULTS ((adam_rates){ .rate = 2e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 1 })

pe_status adam_new(adam *out, const model *m, pe_error *err);
void adam_free(adam *a);
/* Moves the weights, keeps each tensor within its bounds; returns the length of the gradient before clipping. Where
 * that is not finite nothing moves. */
double adam_step(adam *a, model *m, const adam_rates *r);
/* Warm-up from 0 in a straight line, then a cosine down to a tenth of the peak at the last step. Steps from 0. */
double adam_rate_at(double peak, int64_t step, int64_t steps, int64_t warmup);

#endif
