/* SPDX-License-Identifier: MIT
 *
 * What the files of posenc_model share. One pass through it (pass.c):
 *
 *     x0 = embed(tokens)
 *     each layer:   h1 = norm1(x)      qkv = h1 Wqkv'     att = attention(q, k, v)     x2 = x + att Wo'
 *                   and what the encoding takes of each token: gates, relative = h1 W' (inputs.c)
 *                   h2 = norm2(x2)     up = h2 Wup'       act = silu(gate) * up        y = x2 + act Wdown'
 *     h = final(y)  logits = h E'      loss = mean of logsumexp(logits) - logits[target]
 */
#ifndef POSENC_MODEL_PARTS_H
#define POSENC_MODEL_PARTS_H

#include "base/try.h"
#include "model/gemm.h"
#include "model/model.h"

/* Loops over rows are compiled for what the CPU has, with the same bits: nothing contracts, sums have 16 lanes. */
#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ &&                               \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define MODEL_LOOP __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MODEL_LOOP
#endif

#define SCORE_HOOKS (PE_HOOK_CONTENT | PE_HOOK_BIAS | PE_HOOK_VALUE)

/* Places in the weights; -1: there is none. */
typedef struct linear {
    int64_t weight, bias;
    int64_t out, in;
} linear;

typedef struct normal {
    int64_t weight, bias;
} normal;

typedef struct layer {
    normal norm1, norm2;
    linear qkv, out, up, down;
    linear gates, relative; /* of inputs per token; out 0: the encoding takes none */
} layer;

/* What a layer leaves behind. Where nothing is to go backward all layers share one, and x, x2 and y are the same. */
typedef struct trace {
    real *x, *x2, *y;    /* (N, C) */
    real *h1, *h2;       /* (N, C) */
    real *size1, *size2; /* (N) 1/rms */
    real *qkv;           /* (N, (H + 2G) D) */
    real *att;           /* (N, H D) */
    real *lse;           /* (N, H); NULL where nothing is to go backward */
    real *up, *act;      /* (N, 2F or F), (N, F) */
    real *logits;        /* (N, H) of gates; where the encoding takes them, as what follows */
    double *gates;       /* (N, H) c */
    real *relative;      /* (N, H R) */
} trace;

/* Gradients on their way down, reused by each layer. */
typedef struct slopes {
    real *dy, *dx2, *dx; /* (N, C): of a layer's output, middle and input */
    real *dh;            /* (N, C) */
    real *dqkv, *datt, *dup, *dact;
    real *dlogits;                         /* (N, V) */
    real *dq_gates, *dk_gates, *drelative; /* (N, H), (N, H), (N, H R) where the encoding takes them */
    real *dnorm;                           /* (chunks, 2 C): each chunk's share of a norm's gradient */
} slopes;

/* The encoding in use, and its parameters as it wants them. */
typedef struct position {
    pe_encoding *e;
    int64_t count;        /* of a block */
    int64_t blocks;       /* one for each layer where scores use them, else one */
    real *block, *dblock; /* (blocks, count); NULL where count is 0 */
    real *codes; /* (count): the first values, which projected tensors start from; NULL where none is projected */
} position;

struct model {
    model_config c;
    const pe_pool *pool;
    int workers;
    model_tensor *tensor;
    int tensors, room;
    int64_t count;
    real *weights, *grads;
    layer *layer;
    normal embed_norm, final;
    linear embed, output; /* embed: (V, its width) */
    position at;

    /* memory for a batch of this size */
    int64_t rows;
    bool backward;
    real *memory;
    trace *trace;   /* (layers) */
    real *h, *size; /* (N, C), (N): the final norm */
    real *losses;   /* (N) */
    slopes d;
    real *scratch; /* (workers, CHUNK, V) */
    void *work;    /* of attention */
    size_t work_bytes;
};

#define CHUNK 256 /* rows of a piece; part of the definition: another number gives other bits */

static inline int64_t chunks_of(int64_t rows)
{
    return (rows + CHUNK - 1) / CHUNK;
}

static inline matrix rows_at(real *x, int64_t stride, int64_t first)
{
    return (matrix){ x + first * stride, stride };
}

static inline matrix weight_of(const model *m, linear l)
{
    return (matrix){ m->weights + l.weight, l.in };
}

/* ---------------------------------------------------------------- rows.c: the pieces */

typedef struct piece {
    int64_t first, count, index;
    int worker;
} piece;
typedef void (*piece_job)(void *arg, piece p);
void run_rows(const model *m, piece_job job, void *arg, int64_t rows);  /* CHUNK rows each */
void run_each(const model *m, piece_job job, void *arg, int64_t count); /* one each */
/* y = x W' + b of this piece's rows; keep 1: added to y. */
void linear_forward(const model *m, linear l, real *y, real *x, piece p, real keep);
void linear_input(const model *m, linear l, real *dx, real *dy, piece p);

/* ---------------------------------------------------------------- loops over rows (loops.c) */

/* y = x / rms(x) * w; size gets 1/rms. */
void rms_forward(real *y, real *size, const real *x, const real *w, int64_t rows, int64_t width, double eps);
/* dx = add + gradient to x; dw (width) is written. */
void rms_backward(real *dx, real *dw, const real *add, const real *dy, const real *x, const real *size, const real *w,
                  int64_t rows, int64_t width);
void layer_forward(real *y, const real *x, const real *w, const real *b, int64_t rows, int64_t width, double eps);

/* act = silu(gate) * up, of up (rows, 2F) = [gate, up] */
void swiglu_forward(real *act, const real *up, int64_t rows, int64_t hidden);
void swiglu_backward(real *dup, const real *dact, const real *up, int64_t rows, int64_t hidden);
void gelu_forward(real *act, const real *up, int64_t count); /* by tanh, as BLOOM has it */

/* -ln softmax(logits)[target]; logits become softmax - onehot times share. */
real loss_row(real *logits, int64_t vocab, int32_t target, uint8_t *right);
void loss_slope(real *logits, int64_t vocab, int32_t target, real loss_of_target, real share);

/* ---------------------------------------------------------------- the list of tensors (layout.c) */

model_tensor *layout_add(model *m, const char *name, const pe_tensor *of); /* NULL: no memory */
model_tensor *layout_add_weight(model *m, const char *name, int64_t out, int64_t in);
uint64_t name_seed(const char *name, uint64_t seed);
void init_tensor(model *m, const model_tensor *t, uint64_t seed);

/* ---------------------------------------------------------------- the encoding (position.c, attend.c) */

pe_status position_layout(model *m, pe_error *err); /* adds its tensors to the list */
void position_init(model *m, uint64_t seed);        /* their first values */
pe_status position_use(position *out, const model *m, const char *spec, pe_error *err);
void position_free(position *p);
void position_fill(model *m);    /* blocks from weights */
void position_scatter(model *m); /* gradients of weights from those of blocks */
static inline pe_params position_block(const model *m, real *block, int64_t l)
{
    int64_t n = m->at.blocks > 1 ? l : 0;
    return (pe_params){ m->at.count ? block + n * m->at.count : NULL, MODEL_TYPE, m->at.count };
}
pe_status embed_forward(model *m, const model_batch *b, real *x, pe_error *err);
pe_status embed_backward(model *m, const model_batch *b, const real *dx, pe_error *err);
pe_status heads_ready(model *m, const model_batch *b, bool backward, pe_error *err); /* work memory */
pe_status heads_forward(model *m, const model_batch *b, int64_t l, pe_error *err);
pe_status heads_backward(model *m, const model_batch *b, int64_t l, pe_error *err);
/* Of one sequence, by the definition: scores and probabilities (T, H, T), either NULL. */
pe_status heads_look(const model *m, const model_batch *b, int64_t l, real *scores, real *probabilities, pe_error *err);

bool finite_all(const real *x, int64_t count); /* rows.c */

/* ---------------------------------------------------------------- its inputs per token (inputs.c) */

pe_status inputs_layout(model *m, pe_error *err); /* adds their projections to the list */
void inputs_init(model *m, uint64_t seed);
pe_status inputs_fit(const model *m, const pe_encoding *e, pe_error *err); /* whether the model has e's */
/* Rows of the projections; then, of all rows, the sums of gates. */
void inputs_project(const model *m, const layer *l, const trace *t, piece p);
void inputs_forward(const model *m, const trace *t, const model_batch *b);
void inputs_give(const model *m, const trace *t, const model_batch *b, pe_attention *a);
void inputs_take(const model *m, const model_batch *b, pe_attention_grad *g);
/* Of all rows, the gradient of the sums; then rows of that of the projections, which is added to dh. */
void inputs_backward(model *m, const layer *l, const trace *t, const model_batch *b);
void inputs_project_back(const model *m, const layer *l, piece p);

/* ---------------------------------------------------------------- memory of a pass (memory.c) */

pe_status memory_for(model *m, const model_batch *b, bool backward, pe_error *err);
void memory_free(model *m);

#endif
