/* SPDX-License-Identifier: MIT
 *
 * posenc: every position encoding for Transformers, exact and fast.
 *
 *     pe_encoding *rope;
 *     pe_encoding_new(&rope, "rope:theta=500000", (pe_shape){ .heads = 32, .kv_heads = 8, .head_dim = 128 }, &err);
 *     pe_encoding_rotate(rope, PE_QUERY, q, q, at, &err);      // in place, float32 | float16 | bfloat16
 *     pe_encoding_free(rope);
 *
 * An encoding touches attention in at most five places; a hook that an encoding does not fill is the identity.
 *
 *     tokens --embed--> x --> q,k,v --rotate--> q.k --content--> *scale --bias--> mask > softmax --value--> out
 *
 * This header reads in layers: make, use, free | threads | attention | caches | gradients | score hooks and the
 * definition of attention | learned parameters | positions | introspection.
 *
 * Rules
 *  - Memory: the caller owns every buffer in and out. Only pe_encoding_new and pe_pool_new allocate; their _free frees.
 *    Nothing else allocates or keeps state outside its arguments, so nothing else can run out of memory.
 *  - Threads: an encoding is const once made; any number of threads may use one at the same time. Two calls that write
 *    the same buffer are the caller's to order. The same call gives the same bits on any thread, with any pool and any
 *    number of workers. Kernels are picked when an encoding is made, by what the CPU has (pe_encoding_kernels).
 *  - Errors: every fallible function returns a pe_status and writes a sentence to *err (which may be NULL): what was
 *    wrong, its value, what would be right. The library never prints, exits or aborts. After an error no output has
 *    been written.
 *  - Positions are explicit: int64, for queries and keys apart, one or more axes per token, negative allowed, absolute
 *    value at most PE_POSITION_MAX. A relative position is query minus key, everywhere.
 *  - Sizes and strides are int64 and counted in elements, products are checked.
 *  - ABI: while the version is 0.x, the SONAME carries the minor version and any minor release may change structs. From
 *    1.0 on a struct or an enum value never changes within a SONAME; what is new gets a new function. Zero-initialise
 *    structs: zero is the default of every field that has one.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_VERSION_MAJOR 0
#define PE_VERSION_MINOR 1
#define PE_VERSION_PATCH 0

#if defined _WIN32
#define PE_API
#else
#define PE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- make, use, free */

#define PE_POSITION_MAX (INT64_C(1) << 36) /* angles are exact up to here, both signs                        */
#define PE_HEAD_DIM_MAX 2048               /* a head's width; a call takes 64 KiB of stack at most (-O2)     */
#define PE_AXES_MAX 8                      /* coordinates per token                                          */

typedef enum pe_status {
    PE_OK = 0,
    PE_ERR_NULL,     /* a pointer that must be given is NULL                                                 */
    PE_ERR_SPEC,     /* the spec text: an unknown name, key or value                                         */
    PE_ERR_SHAPE,    /* sizes that do not fit together                                                       */
    PE_ERR_RANGE,    /* a number outside its range                                                           */
    PE_ERR_DTYPE,    /* an element type this call does not take                                              */
    PE_ERR_POSITION, /* a position that this encoding cannot serve                                           */
    PE_ERR_OVERFLOW, /* sizes whose product does not fit 64 bits                                             */
    PE_ERR_ALIGN,    /* a pointer not aligned to its element                                                 */
    PE_ERR_ALIAS,    /* buffers that overlap and must not                                                    */
    PE_ERR_NOMEM,    /* out of memory                                                                        */
    PE_ERR_UNSUITED, /* this encoding has no such thing (a table of a row that does not rotate)              */
    PE_ERR_IO,       /* reading or writing a file failed (tools; never the library)                          */
    PE_ERR_FORMAT,   /* a file is not what it should be  (tools; never the library)                          */
    PE_STATUS_COUNT
} pe_status;

typedef struct pe_error { /* written by every call that takes one: PE_OK and "" after a success */
    pe_status status;
    char text[300];
} pe_error;

typedef enum pe_dtype { PE_F32 = 0, PE_F16, PE_BF16, PE_F64, PE_DTYPE_COUNT } pe_dtype;

typedef struct pe_encoding pe_encoding;

typedef struct pe_shape {
    int64_t heads;     /* H: query heads                                                                     */
    int64_t kv_heads;  /* key/value heads; divides heads; 0: as many as heads                                */
    int64_t head_dim;  /* D                                                                                  */
    int64_t model_dim; /* C: width of the embedding; 0: heads * head_dim                                     */
} pe_shape;

/* (tokens, heads, dim), element [t][h][d] at data + t*token_stride + h*head_stride + d. Strides of 0, 0 mean packed.
 * Scores and probabilities use the same view: tokens = Tq, heads = H, dim = Tk.                                       */
typedef struct pe_view {
    void *data;
    pe_dtype dtype;
    int64_t tokens, heads, dim;
    int64_t token_stride, head_stride;
} pe_view;

/* (tokens, axes), coordinate [t][a] at at + t*token_stride + a*axis_stride. Strides of 0, 0 mean packed.              */
typedef struct pe_positions {
    const int64_t *at;
    int64_t tokens, axes;
    int64_t token_stride, axis_stride;
} pe_positions;

typedef enum pe_side { PE_QUERY = 0, PE_KEY, PE_VALUE, PE_OUTPUT } pe_side;

/* Makes an encoding from its spec, for example "rope:theta=500000,scaling=llama3,factor=8,trained=8192", "alibi",
 * "sinusoidal+alibi" (up to four parts; where one wants its own softmax scale, as t5 does, the whole has it). Whole
 * numbers may have a unit: trained=32k is 32768 (k, M, G). *out is NULL on failure.                                   */
PE_API pe_status pe_encoding_new(pe_encoding **out, const char *spec, pe_shape shape, pe_error *err);
PE_API void pe_encoding_free(pe_encoding *e); /* NULL is fine */

PE_API const char *pe_encoding_spec(const pe_encoding *e);       /* canonical text; lives as long as e       */
PE_API uint64_t pe_encoding_fingerprint(const pe_encoding *e);   /* of the canonical text and the shape      */
PE_API pe_shape pe_encoding_shape(const pe_encoding *e);         /* with the defaults filled in              */
PE_API int64_t pe_encoding_axes(const pe_encoding *e);           /* coordinates per token it wants           */
PE_API double pe_encoding_scale(const pe_encoding *e);           /* what the score is multiplied by          */

/* A packed (tokens, heads, dim) view.                                                                                 */
PE_API pe_view pe_view_packed(void *data, pe_dtype dtype, int64_t tokens, int64_t heads, int64_t dim);

/* y = x turned by its positions. y may be x itself; any other overlap is an error. float32: x*c - y*s with each
 * product rounded; float16 and bfloat16 are computed in float32 and rounded once; float64 in float64.
 * PE_QUERY and PE_KEY turn q and k; PE_VALUE turns v and PE_OUTPUT turns the attention output back, where the spec says
 * so, and are the identity elsewhere.                                                                                 */
PE_API pe_status pe_encoding_rotate(const pe_encoding *e, pe_side side, pe_view y, pe_view x, pe_positions at,
                                    pe_error *err);
/* x = y turned back: angle negated, reciprocal magnitude.                                                             */
PE_API pe_status pe_encoding_unrotate(const pe_encoding *e, pe_side side, pe_view x, pe_view y, pe_positions at,
                                      pe_error *err);

/* The same turn as data, for a caller's own kernel: which two elements a pair joins, and how fast it turns. Pair p of
 * the tables below reads elements x and y, writes x_out and y_out:
 *     half  [ccss0000]   adjacent  [cscs0000]   adjacent-half: reads cscs, writes ccss                                */
typedef struct pe_pair {
    int64_t x, y, x_out, y_out;
    int64_t axis;
    double frequency; /* radians per position; negative where the spec turns the other way                   */
    double phase;     /* radians at position 0; 0 but for normalised coordinates                             */
    double turns[3];  /* the frequency in turns per position, exact as the sum of three                      */
} pe_pair;
PE_API int64_t pe_encoding_pair_count(const pe_encoding *e); /* 0: does not rotate */
PE_API pe_status pe_encoding_pairs(const pe_encoding *e, pe_pair *pairs, int64_t count, pe_error *err);
/* The factor on cos and sin (YaRN's attention factor and the like), where it is one number; xpos: that at its centre.  */
PE_API double pe_encoding_magnitude(const pe_encoding *e);
/* The factor on a whole vector at this first coordinate (a query's temperature; else 1). The tables hold it already;
 * elements that do not turn are multiplied by it too.                                                                 */
PE_API double pe_encoding_gain(const pe_encoding *e, pe_side side, int64_t position);
/* Tables (tokens, 1, pairs), magnitude included, each value rounded once to the view's type.                          */
PE_API pe_status pe_encoding_table(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine, pe_positions at,
                                   pe_error *err);

/* Learned parameters are the caller's memory: one block, laid out by pe_encoding_tensor. {0} where there are none.
 * float32 or float64 for gradients, any type for values.                                                              */
typedef struct pe_params {
    void *data;
    pe_dtype dtype;
    int64_t count;
} pe_params;

/* y = x + code(position), or [x, code] with the spec's join=concat, where y is wider. Views (tokens, 1, width).
 * x.data NULL stands for x = 0: the bare table.                                                                       */
PE_API pe_status pe_encoding_embed(const pe_encoding *e, pe_params params, pe_view y, pe_view x, pe_positions at,
                                   pe_error *err);
PE_API int64_t pe_encoding_embed_width(const pe_encoding *e, int64_t x_width); /* width of y for this x; -1: too wide */

/* ---------------------------------------------------------------- threads */

/* A pool runs job(arg, n, worker) once for each n = 0 .. count-1, in any order, on any thread, and returns when all are
 * done; worker is 0 .. workers-1, and two jobs that run at the same time have different ones. Fill in the fields to
 * use your engine's own. Where a pool is NULL the calling thread does all the work.                                   */
typedef void (*pe_job)(void *arg, int64_t n, int worker);
typedef struct pe_pool {
    void *self;
    int workers;
    void (*run)(void *self, pe_job job, void *arg, int64_t count);
} pe_pool;

/* Threads that sleep between calls and take no signals; workers 0: one per CPU that the process may use. One call at a
 * time uses a pool. In a child of fork, which has no such threads, the calling thread does all the work.              */
PE_API pe_status pe_pool_new(pe_pool **out, int workers, pe_error *err);
PE_API void pe_pool_free(pe_pool *pool); /* NULL is fine */

/* pe_encoding_table on a pool.                                                                                        */
PE_API pe_status pe_encoding_table_with(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine,
                                        pe_positions at, const pe_pool *pool, pe_error *err);

/* cos and sin, float32 (float64 where the vectors are), as pe_encoding_table makes them: a row per token, or, with row
 * given, token t has row[t]: a cache by position. data NULL: made on the fly.                                         */
typedef struct pe_table {
    pe_view cosine, sine;
    const int64_t *row; /* (tokens) */
} pe_table;

/* q and k in one call; outputs whose data is NULL are written in place.                                               */
typedef struct pe_rotation {
    pe_view q, k;             /* (tokens, H, D), (tokens, Hkv, D); data NULL: none                           */
    pe_view q_out, k_out;
    pe_positions at;
    pe_table q_table, k_table;
    const pe_pool *pool;
} pe_rotation;
PE_API pe_status pe_encoding_rotate_qk(const pe_encoding *e, const pe_rotation *r, pe_error *err);

/* Which kernels an encoding uses: "avx512", "avx2", "neon" or "scalar". Another rung that the CPU has can be asked for
 * before threads share e. Rotations, tables and codes have the same bits on every rung and machine; attention has them
 * on one rung with one C library, whose exp and log it uses.                                                          */
PE_API const char *pe_encoding_kernels(const pe_encoding *e);
PE_API pe_status pe_encoding_set_kernels(pe_encoding *e, const char *name, pe_error *err);

/* ---------------------------------------------------------------- attention */

/* A zeroed mask lets every query see every key. Query i of Tq stands at key i + Tk + keys_after - Tq.                 */
typedef struct pe_mask {
    bool causal;              /* keys after the query are hidden; after by place in the views, here and in
                                 window, not by position                                                     */
    int64_t window;           /* > 0: only keys less than this many places away                              */
    const uint8_t *key_used;  /* (Tk): 0 hides a key (padding)                                               */
    const int64_t *q_segment; /* (Tq), (Tk): a query sees its own segment only (packing)                     */
    const int64_t *k_segment;
    pe_view additive;         /* (Tq, H or 1, Tk): added to the score after the bias; -inf hides             */
    int64_t keys_after;       /* keys of the sequence that follow these ones and are not here: a block of a
                                 longer cache. Say it without causal too where terms count keys              */
} pe_mask;

typedef struct pe_attention {
    pe_view out;             /* (Tq, H, Dv)                                                                  */
    pe_view lse;             /* (Tq, H, 1): log-sum-exp of the scores; data NULL: not wanted. float32 or
                                float64 where pe_attention_backward reads it                                 */
    pe_view q, k, v;         /* (Tq, H, D), (Tk, Hkv, D), (Tk, Hkv, Dv), not yet rotated                     */
    pe_positions q_at, k_at;
    pe_mask mask;
    pe_params sinks;         /* (H): a logit per head that joins the softmax and has no value                */
    double soft_cap;         /* > 0: cap * tanh(score / cap), before terms that come after the scale         */
    double scale;            /* 0: the encoding's own. Fused attention wants both from 2^-60 to 2^60         */
    bool turned;             /* k and v are already turned (a cache); q is not. dk and dv are then theirs     */
    const pe_pool *pool;
} pe_attention;

/* Fused attention with any encoding: tiles of scores that never leave the cache, no n x n of anything. float32 inside;
 * float32, float16 and bfloat16 in and out. Few queries against many keys are split over the keys.
 * A query that sees no key gets exactly 0, log-sum-exp -inf (its sink's logit, where there are sinks) and no gradient.
 * What is hidden enters no sum, so that a NaN there does not leak; a NaN or +inf score that is seen makes its query's
 * output NaN. Work memory is the caller's, aligned to 8. Its size follows from Tq, Tk, the mask, the positions and the
 * pool's workers: a float32 copy of q, and of k and v where many queries meet them (more than 64, or more than 8 and
 * fewer than 2048 keys), tables by distance, and a tile per worker. For training give out and lse as float32: gradients
 * of parameters are taken from them.                                                                                  */
PE_API pe_status pe_attention_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_attention_forward(const pe_encoding *e, pe_params params, const pe_attention *a, void *work,
                                      size_t bytes, pe_error *err);

/* What attention over some of the keys leaves behind, for schemes that see them in pieces: paged, split, distributed.
 * float32, packed. Merging is exact up to rounding; a fixed order of merging gives fixed bits.                        */
typedef struct pe_partial {
    float *out;    /* (Tq, H, Dv) sum of exp(score - max) * value                                            */
    float *max;    /* (Tq, H)     largest score; -inf: no key seen                                           */
    float *sum;    /* (Tq, H)     sum of exp(score - max)                                                    */
    double *carry; /* (H, Tq)     of terms that count keys (pe_encoding_carries): pieces go from right to left,
                                  zero before the first, never more than the mask's keys_after; NULL where
                                  nothing counts                                                             */
} pe_partial;
/* out, lse and sinks of a are not looked at. Work as for pe_attention_forward.                                        */
PE_API pe_status pe_attention_partial(const pe_encoding *e, pe_params params, const pe_attention *a, pe_partial piece,
                                      void *work, size_t bytes, pe_error *err);
/* into = into and from together; the shapes are those of a.                                                           */
PE_API pe_status pe_attention_merge(const pe_encoding *e, const pe_attention *a, pe_partial into, pe_partial from,
                                    pe_error *err);
/* Divides, lets the sinks join, turns the output back where the spec says so: writes a's out and lse.                 */
PE_API pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, pe_error *err);

typedef struct pe_attention_grad {
    pe_view dout;               /* (Tq, H, Dv), read                                                         */
    pe_view dq, dk, dv;         /* written; data NULL: not wanted                                            */
    pe_view dadditive;          /* (Tq, H or 1, Tk), added to; data NULL: not wanted                         */
    pe_params dparams, dsinks;  /* added to; data NULL: not wanted                                           */
} pe_attention_grad;
/* a's out and lse are read: what pe_attention_forward wrote.                                                          */
PE_API pe_status pe_attention_backward_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_attention_backward(const pe_encoding *e, pe_params params, const pe_attention *a,
                                       const pe_attention_grad *g, void *work, size_t bytes, pe_error *err);

/* ---------------------------------------------------------------- caches */

/* Keys as a cache keeps them, turned by their positions; any number of heads. Quantised: blocks of 32 elements along the
 * head with one float16 scale each, as ggml lays them out (q8_0: scale, 32 bytes; q4_0: scale, 16 bytes, elements n and
 * n+16 share one); k's dtype is then not looked at, its strides count blocks, its dim elements, a multiple of 32. A NaN
 * or an infinity in a block makes all of it NaN.                                                                      */
typedef enum pe_block { PE_BLOCK_NONE = 0, PE_BLOCK_Q8_0, PE_BLOCK_Q4_0, PE_BLOCK_COUNT } pe_block;
typedef struct pe_cache {
    pe_view k; /* (tokens, Hkv, D) */
    pe_block block;
    const pe_pool *pool;
} pe_cache;
/* Turns keys at positions from on to positions to, in place: a context that drops its oldest tokens, or moves a piece.
 * The angle is that of the difference, formed as exactly as any, so that a shift is as good as turning afresh what is
 * stored; each one rounds once more (docs/caches.md). Tokens that stay, elements that do not turn and blocks of none that
 * do keep their bits. An encoding that does not rotate has nothing of a position in its keys: the identity. Values that
 * the spec turns (turn=qkv) are shifted the same way, in a second call.                                               */
PE_API pe_status pe_cache_shift(const pe_encoding *e, pe_cache cache, pe_positions from, pe_positions to,
                                pe_error *err);
/* Keys turned by one encoding become keys turned by another at the same positions: another theta, factor, short or long
 * table, magnitude. Both read and write the same pairs of elements and have as many axes, or neither rotates.         */
PE_API pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_cache cache, pe_positions at,
                                 pe_error *err);

/* ---------------------------------------------------------------- score hooks, on tiles */

typedef enum pe_stage { PE_BEFORE_SCALE = 0, PE_AFTER_SCALE } pe_stage;

/* One tile of scores, all heads: score = (…(q.k + terms before the scale) * scale + terms after it).                  */
typedef struct pe_tile {
    pe_view score;           /* (Tq, H, Tk), added to                                                        */
    pe_view q, k;            /* (Tq, H, D), (Tk, Hkv, D), as they enter q.k; content terms only              */
    pe_positions q_at, k_at;
    const uint8_t *seen;     /* (Tq, Tk) packed, 0: this query does not see this key, its score is left alone.
                                NULL: all are seen, and terms that count keys count those whose first
                                coordinate is at most the query's                                            */
    int64_t seen_head_stride; /* from one head's seen to the next; 0: one for all heads                      */
    double *carry;           /* (H, Tq) packed. Terms that count keys (pe_encoding_carries) take key tiles
                                from right to left and keep their sums here; zero before the first, NULL
                                where one tile holds all keys                                                */
} pe_tile;

PE_API bool pe_encoding_carries(const pe_encoding *e);
/* Which of PE_HOOK_CONTENT and PE_HOOK_BIAS have terms at this stage.                                                 */
PE_API unsigned pe_encoding_hooks_at(const pe_encoding *e, pe_stage stage);
PE_API pe_status pe_encoding_content(const pe_encoding *e, pe_stage stage, pe_params params, const pe_tile *tile,
                                     pe_error *err);
PE_API pe_status pe_encoding_bias(const pe_encoding *e, pe_stage stage, pe_params params, const pe_tile *tile,
                                  pe_error *err);
/* out (Tq, H, D) += sum over keys of prob (Tq, H, Tk) * value term(i - j).                                            */
PE_API pe_status pe_encoding_value(const pe_encoding *e, pe_params params, pe_view out, pe_view prob,
                                   pe_positions q_at, pe_positions k_at, pe_error *err);

/* ---------------------------------------------------------------- attention, the definition */

/* What fused attention is held to: query by query in float64, any type in and out, one thread.                        */
PE_API pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_reference_forward(const pe_encoding *e, pe_params params, const pe_attention *a, void *work,
                                      size_t bytes, pe_error *err);
PE_API pe_status pe_reference_backward(const pe_encoding *e, pe_params params, const pe_attention *a,
                                       const pe_attention_grad *g, void *work, size_t bytes, pe_error *err);

/* ---------------------------------------------------------------- gradients */

/* dx = transpose of the turn applied to dy: angle negated, same magnitude.                                            */
PE_API pe_status pe_encoding_rotate_back(const pe_encoding *e, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                                         pe_error *err);
/* dx = gradient of x (data NULL: not wanted); dparams is added to (data NULL: not wanted).                            */
PE_API pe_status pe_encoding_embed_back(const pe_encoding *e, pe_params params, pe_params dparams, pe_view dx,
                                        pe_view dy, pe_positions at, pe_error *err);

/* Gradients of a tile's terms from its dscore. Everything is added to; data NULL: not wanted. Terms that carry want all
 * keys in one tile here.                                                                                              */
typedef struct pe_tile_grad {
    pe_view dscore; /* (Tq, H, Tk), read                                                                     */
    pe_view dq, dk; /* (Tq, H, D), (Tk, Hkv, D)                                                              */
    pe_params dparams;
} pe_tile_grad;
PE_API pe_status pe_encoding_content_back(const pe_encoding *e, pe_stage stage, pe_params params, const pe_tile *tile,
                                          const pe_tile_grad *grad, pe_error *err);
PE_API pe_status pe_encoding_bias_back(const pe_encoding *e, pe_stage stage, pe_params params, const pe_tile *tile,
                                       const pe_tile_grad *grad, pe_error *err);
/* dprob (Tq, H, Tk) and dparams are added to.                                                                         */
PE_API pe_status pe_encoding_value_back(const pe_encoding *e, pe_params params, pe_params dparams, pe_view dprob,
                                        pe_view prob, pe_view dout, pe_positions q_at, pe_positions k_at,
                                        pe_error *err);

/* ---------------------------------------------------------------- learned parameters */

typedef struct pe_tensor {
    char name[40];      /* "table"; in a combination "t5.table", and "t5-2.table" of a second t5             */
    int64_t shape[4];
    int rank;
    int64_t offset;     /* in the block, in elements                                                         */
    int64_t count;
    const char *about;  /* what its rows are, in the order of the memory                                     */
    unsigned hooks;     /* of the part it belongs to                                                         */
    bool projected;     /* its first values are codes of the distance, (rows, heads * head_dim): what is
                           trained is a weight that they are multiplied by (pe_project), whatever the rows    */
    double min, max;    /* a step of training keeps it within these; -inf, inf: it goes where it likes       */
} pe_tensor;
PE_API int64_t pe_encoding_param_count(const pe_encoding *e); /* elements of the block */
PE_API int pe_encoding_tensor_count(const pe_encoding *e);
PE_API pe_status pe_encoding_tensor(const pe_encoding *e, int index, pe_tensor *out, pe_error *err);
/* Fills the block: same seed, same bits, on every machine.                                                            */
PE_API pe_status pe_encoding_init(const pe_encoding *e, pe_params params, uint64_t seed, pe_error *err);

/* out (R, H, D) = table (R, C) times weight (H*D, C) transposed plus bias (H*D, or NULL): the projected tables that
 * content rows take (Transformer-XL's W_kR, DeBERTa's shared or own projections). float32.                            */
PE_API pe_status pe_project(float *out, const float *table, const float *weight, const float *bias, int64_t rows,
                            int64_t heads, int64_t head_dim, int64_t model_dim, pe_error *err);
/* The gradients of pe_project; each is added to, NULL: not wanted.                                                    */
PE_API pe_status pe_project_back(float *dtable, float *dweight, float *dbias, const float *dout, const float *table,
                                 const float *weight, int64_t rows, int64_t heads, int64_t head_dim,
                                 int64_t model_dim, pe_error *err);

/* ---------------------------------------------------------------- positions */

/* at (tokens): start, start + 1, ... With a KV cache start is the number of tokens already in it.                     */
PE_API pe_status pe_positions_offset(int64_t *at, int64_t tokens, int64_t start, pe_error *err);
/* at (tokens) from a padding mask (1: real token), left or right padded: real tokens count from start, padding gets
 * start.                                                                                                              */
PE_API pe_status pe_positions_masked(int64_t *at, const uint8_t *used, int64_t tokens, int64_t start, pe_error *err);
/* at (tokens) and segment (tokens, may be NULL) for sequences packed end to end: each counts from 0.                  */
PE_API pe_status pe_positions_packed(int64_t *at, int64_t *segment, int64_t tokens, const int64_t *lengths,
                                     int64_t sequences, pe_error *err);
/* at (t*h*w, 3): the (t, h, w) grid in row-major order, start added to each coordinate.                               */
PE_API pe_status pe_positions_grid(int64_t *at, int64_t t, int64_t h, int64_t w, int64_t start, pe_error *err);

/* ---------------------------------------------------------------- introspection */

#define PE_HOOK_EMBED 1u
#define PE_HOOK_ROTATE 2u
#define PE_HOOK_CONTENT 4u
#define PE_HOOK_BIAS 8u
#define PE_HOOK_VALUE 16u

#define PE_CLAIM_UNIQUE 1u       /* no two positions share a code                                            */
#define PE_CLAIM_ANY_LENGTH 2u   /* a position's code does not depend on the length of the sequence          */
#define PE_CLAIM_BOUNDED 4u      /* the code stays within a bound however far the position                   */
#define PE_CLAIM_LINEAR 8u       /* code(t + k) = M(k) code(t), one M for all t                              */
#define PE_CLAIM_RELATIVE 16u    /* the score depends on i - j only                                          */
#define PE_CLAIM_NORM 32u        /* the vectors it touches keep their length                                 */
#define PE_CLAIM_AXES 64u        /* axes do not mix                                                          */
#define PE_CLAIM_SYMMETRIC 128u  /* i before j and j before i look alike                                     */
#define PE_CLAIM_INVERTIBLE 256u /* unrotate undoes rotate                                                   */
#define PE_CLAIM_ENDLESS 512u    /* every position up to PE_POSITION_MAX has a code                          */
#define PE_CLAIM_LEARNED 1024u   /* has parameters to train                                                  */
#define PE_CLAIM_COUNT 11

typedef enum pe_key_kind { PE_KEY_INT = 0, PE_KEY_REAL, PE_KEY_CHOICE, PE_KEY_LIST } pe_key_kind;

typedef struct pe_key {
    const char *name;
    pe_key_kind kind;
    const char *fallback; /* the default as text; "" where it follows from the shape or other keys, or none   */
    double min, max;      /* of a number or of each list element                                             */
    const char *choices;  /* "half|adjacent|adjacent-half"                                                   */
    const char *when;     /* "scaling=yarn|longrope": the key has a meaning only then; NULL: always          */
    const char *help;
    const char *also;     /* "rope_theta|freq_base": what others call it, for suggestions; NULL: nothing     */
    bool required;        /* no default: must be given wherever it has a meaning                             */
} pe_key;

typedef struct pe_info {
    const char *name;
    const char *summary; /* one sentence                                                                     */
    const char *formula;
    const char *paper;   /* authors, year                                                                    */
    const char *arxiv;   /* "" where there is none                                                           */
    const char *models;  /* that use it, "Llama|Qwen (note)"; "": none known                                 */
    unsigned hooks;
    unsigned claims;     /* of the row with its defaults; pe_encoding_claims tells those of a spec           */
    const pe_key *keys;
    int key_count;
    const char *const *examples; /* specs, each valid for 8 heads of 64                                      */
    int example_count;
    const char *also;            /* "rotary|yarn": other names, for suggestions; NULL: none                  */
    /* Keys that follow from where an encoding is used, "rows"; NULL: none.                                            */
    const char *key_trained; /* positions that training has; of a key with more axes: a square's sides       */
    const char *key_length;  /* the sequence at hand: the farthest key back                                  */
    const char *key_ahead;   /* the farthest key ahead                                                       */
    const char *key_factor;  /* the sequence at hand, in trained lengths; "factor|alpha": the one that means something */
    const char *trained_as;  /* the row whose trained parameters it takes over; NULL: it is trained as itself */
    const char *key_work;    /* steps that one score takes: a sum's terms, a network's width; NULL: a few    */
} pe_info;

PE_API int pe_info_count(void);
PE_API const pe_info *pe_info_at(int index); /* NULL past the end */
PE_API unsigned pe_encoding_hooks(const pe_encoding *e);
PE_API unsigned pe_encoding_claims(const pe_encoding *e); /* of a combination: those all parts make and none spoils */
PE_API const char *pe_claim_name(unsigned claim);  /* "unique"; NULL if not one claim bit */
PE_API const char *pe_hook_name(unsigned hook);    /* "embed"; NULL if not one hook bit   */
PE_API const char *pe_status_name(pe_status s);    /* "PE_ERR_SHAPE" */
PE_API size_t pe_dtype_size(pe_dtype t);           /* bytes; 0 if unknown */
PE_API const char *pe_version(void);

#ifdef __cplusplus
}
#endif
#endif
