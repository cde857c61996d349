/* SPDX-License-Identifier: MIT
 *
 * posenc: every position encoding for Transformers, exact and fast.
 *
 *     pe_encoding *rope;
 *     pe_encoding_new(&rope, "rope:theta=500000", (pe_shape){ .heads = 32, .kv_heads = 8, .head_dim = 128 }, &err);
 *     pe_view q = pe_view_of(data, PE_F32, batch, tokens, 32, 128);            // (batch, tokens, heads, dim)
 *     pe_rotate(rope, PE_QUERY, q, q, pe_positions_run(batch, tokens, 0), NULL, &err);    // in place
 *     pe_encoding_free(rope);
 *
 * An encoding touches attention in at most five places; a hook that an encoding does not fill is the identity.
 *
 *     tokens --embed--> x --> q,k,v --rotate--> q.k --content--> *scale --bias--> mask > softmax --value--> out
 *
 * This header reads in layers: make, use, free | rotation | embedding | attention | pieces of attention | caches |
 * gradients | score hooks and the definition of attention | learned parameters | positions | introspection.
 *
 * Rules
 *  - Memory: the caller owns every buffer in and out. Only the _new functions allocate; their _free frees. Nothing
 *    else allocates or keeps state outside its arguments, so nothing else can run out of memory.
 *  - Threads: an encoding is const once made; any number of threads may use one at the same time. Two calls that write
 *    the same buffer are the caller's to order. The same call gives the same bits on any thread, with any pool and any
 *    number of workers. Kernels are picked when an encoding is made, by what the CPU has (pe_encoding_kernels).
 *  - Errors: every fallible function returns a pe_status and writes a sentence to *err (which may be NULL): what was
 *    wrong, its value, what would be right. The library never prints, exits or aborts. After an error no output has
 *    been written.
 *  - Positions are explicit, for queries and keys apart, one or more axes per token, negative allowed, absolute value at
 *    most PE_POSITION_MAX. A relative position is query minus key, everywhere.
 *  - Sizes and strides are int64 and counted in elements, products are checked. A stride means what it says: 0 repeats
 *    one element, which only inputs may do; a negative stride walks backwards, which only inputs may do.
 *  - ABI: structs that will grow begin with their size: make them with PE_MAKE(pe_run, .pool = pool). A field that is
 *    not named is zero, and zero is the default of every field that has one. What the library hands out as const
 *    pointers (pe_info, pe_key, pe_tensor, pe_lowered) grows at its end only. All other structs are passed whole, lie
 *    inside others or in arrays, and do not change within a SONAME. pe_agrees tells whether the header and the library
 *    that was loaded belong together. While the version is 0.x, the SONAME carries the minor version.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_VERSION_MAJOR 0
#define PE_VERSION_MINOR 2
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
    PE_ERR_FORMAT    /* a file is not what it should be  (tools; never the library)                          */
} pe_status;

typedef struct pe_error { /* written by every call that takes one: PE_OK and "" after a success */
    pe_status status;
    char text[300];
} pe_error;

/* Elements. Vectors, scores and parameters are PE_F32, PE_F16, PE_BF16 or PE_F64; positions PE_I64, PE_I32 or PE_F64;
 * masks PE_BOOL, a byte each. PE_Q8_0 and PE_Q4_0 are keys and values of a cache in blocks of 32 elements along the head
 * with one float16 scale each, as ggml lays them out (q8_0: scale, 32 bytes; q4_0: scale, 16 bytes, elements n and n+16
 * share one): their dim and strides count elements and are multiples of 32. A NaN or an infinity in a block makes all
 * of it NaN.                                                                                                          */
typedef enum pe_dtype {
    PE_F32 = 0,
    PE_F16,
    PE_BF16,
    PE_F64,
    PE_Q8_0,
    PE_Q4_0,
    PE_I64,
    PE_I32,
    PE_BOOL
} pe_dtype;

typedef struct pe_encoding pe_encoding;

typedef struct pe_shape {
    int64_t heads;     /* H: query heads                                                                     */
    int64_t kv_heads;  /* key/value heads; divides heads; 0: as many as heads                                */
    int64_t head_dim;  /* D                                                                                  */
    int64_t model_dim; /* C: width of the embedding; 0: heads * head_dim                                     */
} pe_shape;

/* (batch, tokens, heads, dim), element [b][t][h][d] at data + b*batch_stride + t*token_stride + h*head_stride + d: any
 * order of the first three. Scores and probabilities use the same view: tokens = Tq, heads = H, dim = Tk.            */
typedef struct pe_view {
    void *data;
    pe_dtype dtype;
    int64_t batch, tokens, heads, dim;
    int64_t batch_stride, token_stride, head_stride;
} pe_view;

/* (batch, tokens, axes): coordinate a of token t of sequence b is start + t*step, and where data is given its element
 * [b*batch_stride + t*token_stride + a*axis_stride] is added to that. So an array has start and step 0; a run that
 * counts up has step 1 and needs no memory; and sequences that stand at places of their own, as in a batch that decodes,
 * are a run with data (batch) and a token_stride of 0. A fraction (PE_F64) is an error where the call or the encoding
 * takes whole positions only (attention: where anything but a rotation sees them); what is added to one is so in
 * float64.                                                                                                            */
typedef struct pe_positions {
    const void *data; /* NULL: none                                                                          */
    pe_dtype dtype;   /* PE_I64, PE_I32 or PE_F64                                                            */
    int64_t batch, tokens, axes;
    int64_t batch_stride, token_stride, axis_stride;
    int64_t start, step;
} pe_positions;

typedef enum pe_side { PE_QUERY = 0, PE_KEY, PE_VALUE, PE_OUTPUT } pe_side;
typedef enum pe_stage { PE_BEFORE_SCALE = 0, PE_AFTER_SCALE } pe_stage;

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

/* Views and positions of memory that lies in order, without gaps: the strides are filled in.                          */
PE_API pe_view pe_view_of(void *data, pe_dtype dtype, int64_t batch, int64_t tokens, int64_t heads, int64_t dim);
PE_API pe_positions pe_positions_of(const void *data, pe_dtype dtype, int64_t batch, int64_t tokens, int64_t axes);
/* start, start + 1, ... in every sequence and on every axis. With a KV cache start is the number of tokens in it.     */
PE_API pe_positions pe_positions_run(int64_t batch, int64_t tokens, int64_t start);

/* Learned parameters are the caller's memory: one block, laid out by pe_encoding_tensor. {0} where there are none.
 * float32 or float64 for gradients, any type for values.                                                              */
typedef struct pe_params {
    void *data;
    pe_dtype dtype;
    int64_t count;
} pe_params;

/* A pool runs job(arg, n, worker) once for each n = 0 .. count-1, in any order, on any thread, and returns when all are
 * done; worker is 0 .. workers-1, and two jobs that run at the same time have different ones. Fill in the fields to
 * use your engine's own.                                                                                              */
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

/* What does not change between the calls of an encoding, made once: its tables by distance (pe_plan_new). Any number of
 * calls and threads may use one at the same time.                                                                     */
typedef struct pe_plan pe_plan;

/* What a call may be given beside its own arguments, the same for every call. A NULL pe_run has none of it.           */
typedef struct pe_run {
    size_t size;           /* sizeof(pe_run)                                                                 */
    pe_params params;      /* of encodings that are trained                                                  */
    const pe_plan *plan;   /* of attention, made for this encoding: its params are used; NULL: none. Other
                              calls do not look at it                                                        */
    const pe_pool *pool;   /* NULL: the calling thread does all the work                                     */
    void *work;            /* memory to work in, aligned to 8, for calls that say how much they need         */
    size_t work_bytes;
} pe_run;

/* A struct that begins with its size: PE_MAKE(pe_run, .pool = pool).                                                  */
#define PE_MAKE(type, ...) ((type){ .size = sizeof(type), __VA_ARGS__ })

/* ---------------------------------------------------------------- rotation */

/* y = x turned by its positions. y may be x itself; any other overlap is an error. float32: x*c - y*s with each
 * product rounded; float16 and bfloat16 are computed in float32 and rounded once; float64 in float64.
 * PE_QUERY and PE_KEY turn q and k; PE_VALUE turns v and PE_OUTPUT turns the attention output back, where the spec says
 * so, and are the identity elsewhere. Fractions of positions are taken, and are as exact as whole ones, unless angles are
 * formed as float32 pipelines do (precision=hf, precision=ggml) or a temperature goes by steps; caches take whole
 * positions only.                                                                                                     */
PE_API pe_status pe_rotate(const pe_encoding *e, pe_side side, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                           pe_error *err);
/* x = y turned back: angle negated, reciprocal magnitude.                                                             */
PE_API pe_status pe_unrotate(const pe_encoding *e, pe_side side, pe_view x, pe_view y, pe_positions at,
                             const pe_run *run, pe_error *err);

/* The same turn as data, for a caller's own kernel: which two elements a pair joins, and how fast it turns. Pair p of
 * the tables below reads elements x and y, writes x_out and y_out:
 *     half  [ccss0000]   adjacent  [cscs0000]   adjacent-half: reads cscs, writes ccss                                */
typedef struct pe_pair {
    int64_t x, y, x_out, y_out;
    int64_t axis;
    double frequency; /* radians per position; negative where the spec turns the other way                   */
    double phase;     /* radians at position 0; 0 but for normalised coordinates                             */
    double turns[3];  /* the frequency in turns per position, exact as the sum of three                      */
    double decay;     /* ln of what a query's pair is multiplied by per position, a key's by the inverse (xpos) */
} pe_pair;
PE_API int64_t pe_encoding_pair_count(const pe_encoding *e); /* 0: does not rotate */
PE_API pe_status pe_encoding_pairs(const pe_encoding *e, pe_pair *pairs, int64_t count, pe_error *err);
/* The factor on cos and sin (YaRN's attention factor and the like), where it is one number; xpos: that at its centre.  */
PE_API double pe_encoding_magnitude(const pe_encoding *e);
/* The factor on a whole vector at this first coordinate (a query's temperature; else 1). The tables hold it already;
 * elements that do not turn are multiplied by it too.                                                                 */
PE_API double pe_encoding_gain(const pe_encoding *e, pe_side side, int64_t position);
/* Tables (batch, tokens, 1, pairs), or (batch, tokens, Hkv, pairs) where each key head has trained frequencies of its
 * own; magnitude included, each value rounded once to the view's type.                                                */
PE_API pe_status pe_rotate_table(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine, pe_positions at,
                                 const pe_run *run, pe_error *err);

/* cos and sin, float32 (float64 where the vectors are), as pe_rotate_table makes them: a row per token, or, with row
 * given, token t has row[t]: a cache by position. data NULL: made on the fly.                                         */
typedef struct pe_table {
    pe_view cosine, sine;
    const int64_t *row; /* (batch, tokens) */
} pe_table;

/* q and k in one call; outputs whose data is NULL are written in place.                                               */
typedef struct pe_rotation {
    size_t size;              /* sizeof(pe_rotation)                                                         */
    pe_view q, k;             /* (batch, tokens, H, D), (batch, tokens, Hkv, D); data NULL: none             */
    pe_view q_out, k_out;
    pe_positions at;
    pe_table q_table, k_table;
} pe_rotation;
PE_API pe_status pe_rotate_qk(const pe_encoding *e, const pe_rotation *r, const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- embedding */

/* y = x + code(position), or [x, code] with the spec's join=concat, where y is wider. Views (batch, tokens, 1, width).
 * x.data NULL stands for x = 0: the bare table. Each sum is formed in float64 and rounded once. Fractions are taken where
 * the code's formula is continuous, as that of sinusoids is: those are as exact there as at whole positions.          */
PE_API pe_status pe_embed(const pe_encoding *e, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                          pe_error *err);
PE_API int64_t pe_embed_width(const pe_encoding *e, int64_t x_width); /* width of y for this x; -1: too wide */

/* Which kernels an encoding uses: "avx512", "avx2", "neon" or "scalar". Another rung that the CPU has can be asked for
 * before threads share e. Rotations, tables and codes have the same bits on every rung and machine; attention has them
 * on one rung with one C library, whose exp and log it uses.                                                          */
PE_API const char *pe_kernels_name(int index); /* all there are, in rising order; NULL past the end */
PE_API const char *pe_encoding_kernels(const pe_encoding *e);
PE_API pe_status pe_encoding_set_kernels(pe_encoding *e, const char *name, pe_error *err);

/* ---------------------------------------------------------------- attention */

/* How long each sequence is, where they are not all as long as the view. Either length (batch) real tokens in a padded
 * view, or offset: sequences packed end to end in a view of batch 1, sequence s being tokens offset[s] to
 * offset[s + 1] - 1; offset has sequences + 1 numbers, rising from 0 to tokens. Packed sequences have no mask of their
 * own and no scores as outputs: pad them for that. Padding enters nothing: outputs and gradients there are 0,
 * log-sum-exp -inf.                                                                                                   */
typedef struct pe_lengths {
    const int64_t *length;    /* (batch); NULL: every token is real                                          */
    const int64_t *offset;    /* (sequences + 1); NULL: not packed                                           */
    int64_t sequences;
    bool padded_left;         /* padding stands before the real tokens, not after them                       */
} pe_lengths;

/* Keys and values in pages of one pool, as paged KV caches keep them: k and v are then (pages, page size, Hkv, dim), and
 * token t of sequence b lies in page table[b*columns + t / page size], at t modulo the page size. table NULL: k and v are
 * sequences as they are. There are as many keys as k_at has tokens; k_lengths.length says how many of them each sequence
 * has, from its first page on.                                                                                        */
typedef struct pe_pages {
    const int32_t *table;     /* (batch, columns)                                                            */
    int64_t columns;
} pe_pages;

/* Where a query stands among the keys, for causal and window. In a block of a longer cache keys_after counts as keys. */
typedef enum pe_align {
    PE_ALIGN_END = 0,         /* the last query at the last key: query i at key i + Tk - Tq                  */
    PE_ALIGN_START,           /* the first query at the first key: query i at key i                          */
    PE_ALIGN_POSITION         /* at its position (first axis), and so do the keys, in whatever order they lie */
} pe_align;

/* A zeroed mask lets every query see every key of its sequence.                                                       */
typedef struct pe_mask {
    bool causal;              /* keys after the query are hidden                                             */
    pe_align align;
    int64_t window;           /* > 0: only keys less than this many places away,                             */
    int64_t first_keys;       /* and this many keys at the start of the sequence (sink tokens); by position
                                 those at 0 and on                                                           */
    pe_view keep;             /* PE_BOOL (B or 1, Tq or 1, H or 1, Tk): 0 hides                              */
    pe_view additive;         /* (B or 1, Tq or 1, H or 1, Tk): added to the score after the bias; -inf hides */
    int64_t keys_after;       /* keys of the sequence that follow these ones and are not here: a block of a
                                 longer cache. Say it without causal too where terms count keys              */
    int64_t keys_before;      /* and those that come before them: for first_keys and PE_ALIGN_START          */
} pe_mask;

typedef struct pe_attention {
    size_t size;              /* sizeof(pe_attention)                                                        */
    pe_view out;              /* (B, Tq, H, Dv)                                                              */
    pe_view lse;              /* (B, Tq, H, 1): log-sum-exp of the scores; data NULL: not wanted. float32 or
                                 float64 where pe_attention_backward reads it                                */
    pe_view q, k, v;          /* (B, Tq, H, D), (B, Tk, Hkv, D), (B, Tk, Hkv, Dv), not yet rotated           */
    pe_positions q_at, k_at;
    pe_lengths q_lengths, k_lengths;
    pe_pages pages;           /* of k and v                                                                  */
    pe_mask mask;
    pe_params sinks;          /* (H): a logit per head that joins the softmax and has no value               */
    double soft_cap;          /* > 0: cap * tanh(score / cap), before terms that come after the scale        */
    double scale;             /* 0: the encoding's own. Fused attention wants both from 2^-60 to 2^60        */
    bool turned;              /* k and v are already turned (a cache); q is not. dk and dv are then theirs   */
    pe_view scores;           /* (B, Tq, H, Tk): the scores that enter the softmax, -inf where hidden; for   */
    pe_view probabilities;    /* people who look, and small problems. data NULL: not wanted                  */
    pe_view q_gates, k_gates; /* (B, Tq, H, 1), (B, Tk, H, 1): a number per token and head, c; score += c_i - c_j.
                                 Given where the encoding takes them (pe_encoding_inputs), else data NULL    */
    pe_view relative;         /* (B, Tq, H, R): a vector per query and head that meets a table by distance;
                                 given where the encoding takes it                                           */
} pe_attention;

/* What an encoding takes of each token beside its vectors. Gates and the table's vector are float32 inside fused
 * attention, but for the difference of two gates, which is formed in float64.                                         */
typedef struct pe_inputs {
    bool gates;
    int64_t relative; /* R; 0: none */
} pe_inputs;
PE_API pe_inputs pe_encoding_inputs(const pe_encoding *e);

/* Fused attention with any encoding: tiles of scores that never leave the cache, no n x n of anything. float32 inside;
 * float32, float16 and bfloat16 in and out, and keys and values also in blocks. Few queries against many keys are split
 * over the keys; sequences of a batch share the pool.
 * A query that sees no key gets exactly 0, log-sum-exp -inf (its sink's logit, where there are sinks) and no gradient.
 * What is hidden enters no sum, so that a NaN there does not leak; a NaN or +inf score that is seen makes its query's
 * output NaN. How much work memory is needed follows from the sizes, the mask, the positions, the parameters' type and
 * the pool's workers: a float32 copy of q, and of k and v where many queries meet them (more than 64, or more than 8 and
 * fewer than 2048 keys), tables by distance, and a tile per worker. With up to 8 queries what is enough for some keys is
 * enough for fewer, so that decoding asks once, for its last step. For training give out and lse as float32: gradients
 * of parameters are taken from them.                                                                                  */
PE_API pe_status pe_attention_work(const pe_encoding *e, const pe_attention *a, const pe_run *run, size_t *bytes,
                                   pe_error *err);
PE_API pe_status pe_attention_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err);

/* A plan for keys up to `behind` positions before their query and up to `ahead` after it. Decoding one token after the
 * other with run.plan fills no table anew; a call with distances beyond is served as without a plan, and so are
 * gradients. A plan has a copy of the parameters; pe_plan_set_params takes new ones of the same type, while no call
 * uses the plan. Results are those without a plan up to rounding. The encoding must outlive it.                       */
PE_API pe_status pe_plan_new(pe_plan **out, const pe_encoding *e, int64_t behind, int64_t ahead, const pe_run *run,
                             pe_error *err);
PE_API pe_status pe_plan_set_params(pe_plan *plan, const pe_run *run, pe_error *err);
PE_API void pe_plan_free(pe_plan *plan); /* NULL is fine */

typedef struct pe_attention_grad {
    size_t size;                /* sizeof(pe_attention_grad)                                                 */
    pe_view dout;               /* (B, Tq, H, Dv), read                                                      */
    pe_view dq, dk, dv;         /* written; data NULL: not wanted                                            */
    pe_view dadditive;          /* as mask.additive, added to; data NULL: not wanted                         */
    pe_params dparams, dsinks;  /* added to; data NULL: not wanted                                           */
    bool accumulate;            /* dq, dk, dv and those of inputs are added to, not overwritten              */
    bool piece;                 /* k and v are some of the keys, and out and lse are those of all: the
                                   gradients of all pieces add up to those of the whole. Give dsinks with one
                                   piece only, and lse as float64 where scores are large (past 2048)         */
    const double *carry;        /* (B, H, Tq) of terms that count keys: what pe_partial.carry was before this
                                   piece; NULL: 0                                                            */
    double *dcarry;             /* (B, H, Tq): its gradient. Pieces go from left to right, zero before the
                                   first; NULL: this is all of the keys                                      */
    pe_view dq_gates, dk_gates; /* as q_gates, k_gates and relative; written like dq; data NULL: not wanted  */
    pe_view drelative;
} pe_attention_grad;
/* a's out and lse are read: what pe_attention_forward wrote.                                                          */
PE_API pe_status pe_attention_backward_work(const pe_encoding *e, const pe_attention *a, const pe_run *run,
                                            size_t *bytes, pe_error *err);
PE_API pe_status pe_attention_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *g,
                                       const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- the lowered form */

/* What a kernel of any kind needs to know of an encoding, as data, for the distances that a plan covers; fused attention
 * is written on these structs. Where cap is the soft cap,
 *     score = cap(scale * (q.k + terms before the scale)) + terms after it,  q and k turned by the pairs.
 * A term by distance: the distance of a query and a key is the sum over axes of weight * (q_at - k_at). Tables go by
 * falling distance, as rising keys meet them: distance d, low <= d <= high, is entry first + high - d; entries before
 * and after those belong to no distance and may be read.                                                              */
typedef struct pe_distances {
    int64_t weight[PE_AXES_MAX];
    int64_t low, high;
    int64_t first, count; /* entries in all */
} pe_distances;

typedef enum pe_segment_kind {
    PE_SEGMENT_CONSTANT = 0,  /* level                                                                       */
    PE_SEGMENT_LINEAR,        /* level + slope * distance                                                    */
    PE_SEGMENT_TABLE          /* table[at + entry - first]                                                   */
} pe_segment_kind;
typedef struct pe_segment {
    pe_segment_kind kind;
    int64_t first, count;     /* entries; segments follow each other from entry 0 on                         */
    int64_t at;
} pe_segment;

/* A bias. Without knots (-1) each head has it in segments of the distance. With knots x = table[entry] * share(query),
 * and the bias is slope[h][s] * x + level[h][s], s being the number of knots at or below x. share(query) has one number
 * per place of a query, from 0 on.                                                                                    */
typedef struct pe_lowered_bias {
    pe_stage stage;
    const pe_distances *by;
    int64_t segments, knots;
    const pe_segment *segment; /* (segments)                                                                 */
    const float *level;       /* (H, segments), or (H, knots + 1)                                            */
    const float *slope;
    const float *table;       /* (H, table_row), or (by->count) where there are knots                        */
    int64_t table_row;
    const double *knot;       /* (knots) rising                                                              */
    const float *share;       /* (shares)                                                                    */
    int64_t shares;
} pe_lowered_bias;

/* score += level[h][place of the key] - level[h][place of the query], first coordinates from 0 on; or, where gates is
 * set, q_gates - k_gates.                                                                                             */
typedef struct pe_lowered_level {
    pe_stage stage;
    bool gates;
    const double *level;      /* (H, level_row)                                                              */
    int64_t level_row;
} pe_lowered_level;

/* A table whose row a distance tells: row column[entry], of head h or of all. PE_QUERY: score += (q + extra[h]) . row,
 * or with input relative . row; PE_KEY: score += k . row; PE_VALUE: out += probability * row, whatever the stage.     */
typedef struct pe_lowered_lookup {
    pe_side side;
    pe_stage stage;
    bool input;
    const pe_distances *by;
    const int32_t *column;    /* (by->count); NULL: nothing is known by distance, use the definition           */
    int64_t heads, columns, dim, row_stride;
    const float *rows;        /* (heads or 1, columns, row_stride)                                           */
    const float *extra;       /* (H, row_stride); NULL: 0                                                    */
} pe_lowered_lookup;

/* Keys counted from right to left: each that is seen adds sigmoid(scale * q.k), and score += q . row(count), where the
 * count is at most rows - 1 and row is linear between rows.                                                           */
typedef struct pe_lowered_count {
    pe_stage stage;
    double scale;
    int64_t heads, rows, dim;
    const float *table;       /* (rows, heads or 1, dim)                                                     */
} pe_lowered_count;

typedef struct pe_lowered {
    pe_shape shape;
    double scale;
    /* Rotation: pair p of head h (of Hkv, or the only one) turns by position of its axis * frequency + phase, in radians;
     * where frequencies are trained, by the sum over axes. exact is false where the angle is rounded on the way, as some
     * models do: take pe_rotate_table then. Where pairs decay, positions are counted from centre; pe_encoding_gain tells
     * the factor on a whole vector.                                                                                   */
    int64_t pairs, pair_heads, pair_axes;
    const pe_pair *pair;      /* (pair_heads, pair_axes, pairs)                                              */
    bool exact, turns_value, turns_output;
    double magnitude;
    int64_t centre;
    int biases, levels, lookups;
    const pe_lowered_bias *const *bias;
    const pe_lowered_level *const *level;
    const pe_lowered_lookup *const *lookup;
    const pe_lowered_count *count; /* NULL: nothing counts                                                   */
    pe_inputs inputs;
} pe_lowered;
/* Lives as long as the plan; pe_plan_set_params changes the numbers in place.                                         */
PE_API const pe_lowered *pe_plan_lowered(const pe_plan *plan);

/* ---------------------------------------------------------------- pieces of attention */

/* What attention over some of the keys leaves behind, for schemes that see them in pieces: split, distributed. float32,
 * packed. Merging is exact up to rounding; a fixed order of merging gives fixed bits.                                 */
typedef struct pe_partial {
    float *out;    /* (B, Tq, H, Dv) sum of exp(score - max) * value                                         */
    float *max;    /* (B, Tq, H)     largest score; -inf: no key seen                                        */
    float *sum;    /* (B, Tq, H)     sum of exp(score - max)                                                 */
    double *carry; /* (B, H, Tq)     of terms that count keys (pe_encoding_carries): pieces go from right to
                                     left, zero before the first, never more than the mask's keys_after; NULL
                                     where nothing counts                                                    */
} pe_partial;
/* out, lse and sinks of a are not looked at. Work as for pe_attention_forward.                                        */
PE_API pe_status pe_attention_partial(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                                      pe_error *err);
/* into = into and from together: `rows` queries and heads (B * Tq * H), values `dim` wide.                            */
PE_API pe_status pe_attention_merge(pe_partial into, pe_partial from, int64_t rows, int64_t dim, pe_error *err);
/* Divides, lets the sinks join, turns the output back where the spec says so: writes a's out and lse.                 */
PE_API pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                                     pe_error *err);

/* ---------------------------------------------------------------- caches */

/* Turns the keys of a cache, already turned at positions from, on to positions to, in place: a context that drops its
 * oldest tokens, or moves a piece. Any number of heads; also in blocks, also in pages (positions are then (sequences,
 * tokens); pages NULL: none; a page that two tables share would be turned twice). The angle is that of the difference,
 * formed as exactly as any, so that a shift is as good as turning afresh what is stored; each one rounds once more
 * (docs/caches.md). Tokens that stay, elements that do not turn and blocks of none that do keep their bits. An encoding
 * that does not rotate has nothing of a position in its keys: the identity. Values that the spec turns (turn=qkv) are
 * shifted the same way, in a second call.                                                                             */
PE_API pe_status pe_cache_shift(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from,
                                pe_positions to, const pe_run *run, pe_error *err);
/* Keys turned by one encoding become keys turned by another at the same positions: another theta, factor, short or long
 * table, magnitude. Both read and write the same pairs of elements and have as many axes, or neither rotates.         */
PE_API pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_view k, const pe_pages *pages,
                                 pe_positions at, const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- score hooks, on tiles */

/* One tile of scores, all heads: score = (…(q.k + terms before the scale) * scale + terms after it).                  */
typedef struct pe_tile {
    size_t size;             /* sizeof(pe_tile)                                                              */
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
    pe_view q_gates, k_gates; /* (Tq, H, 1), (Tk, H, 1): a bias of encodings that take them                  */
    pe_view relative;         /* (Tq, H, R): content of encodings that take it                               */
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

/* What fused attention is held to: query by query in float64, any type in and out, one thread. The work memory is the
 * same for both.                                                                                                      */
PE_API pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_reference_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err);
PE_API pe_status pe_reference_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *g,
                                       const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- gradients */

/* dx = transpose of the turn applied to dy: angle negated, same magnitude.                                            */
PE_API pe_status pe_rotate_back(const pe_encoding *e, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                                const pe_run *run, pe_error *err);
/* dparams += the gradient of frequencies that are trained, from the turned vectors' gradient dy and the vectors x as they
 * were before the turn; nothing where none are.                                                                       */
PE_API pe_status pe_rotate_grad(const pe_encoding *e, pe_params dparams, pe_side side, pe_view dy, pe_view x,
                                pe_positions at, const pe_run *run, pe_error *err);
/* dx = gradient of x (data NULL: not wanted); dparams is added to (data NULL: not wanted).                            */
PE_API pe_status pe_embed_back(const pe_encoding *e, pe_params dparams, pe_view dx, pe_view dy, pe_positions at,
                               const pe_run *run, pe_error *err);

/* Gradients of a tile's terms from its dscore. Everything is added to; data NULL: not wanted. Terms that carry want all
 * keys in one tile here.                                                                                              */
typedef struct pe_tile_grad {
    size_t size;    /* sizeof(pe_tile_grad)                                                                  */
    pe_view dscore; /* (Tq, H, Tk), read                                                                     */
    pe_view dq, dk; /* (Tq, H, D), (Tk, Hkv, D)                                                              */
    pe_params dparams;
    pe_view dq_gates, dk_gates, drelative;
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
                           trained is a weight that they are multiplied by, whatever the rows                 */
    double min, max;    /* a step of training keeps it within these; -inf, inf: it goes where it likes       */
} pe_tensor;
PE_API int64_t pe_encoding_param_count(const pe_encoding *e); /* elements of the block */
PE_API int pe_encoding_tensor_count(const pe_encoding *e);
PE_API const pe_tensor *pe_encoding_tensor(const pe_encoding *e, int index); /* lives as long as e; NULL past the end */
/* Fills the block: same seed, same bits, on every machine.                                                            */
PE_API pe_status pe_encoding_init(const pe_encoding *e, pe_params params, uint64_t seed, pe_error *err);

/* ---------------------------------------------------------------- positions */

/* at (tokens) from a padding mask (1: real token), left or right padded: real tokens count from start, padding gets
 * start.                                                                                                              */
PE_API pe_status pe_positions_masked(int64_t *at, const uint8_t *used, int64_t tokens, int64_t start, pe_error *err);
/* at (offset[sequences]) for sequences packed end to end, as pe_lengths has them: each counts from 0.                 */
PE_API pe_status pe_positions_packed(int64_t *at, const int64_t *offset, int64_t sequences, pe_error *err);
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
    int key_count;       /* pe_info_key reaches them                                                         */
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

/* Formulas, for people: where a number of an encoding comes from, "sin(5 · 10000^(-2/8)) = sin(5 · 0.1)".           */
typedef struct pe_formula {
    unsigned hook;       /* whose number: PE_HOOK_EMBED an element of the code, PE_HOOK_ROTATE a pair's frequency in
                            radians, PE_HOOK_CONTENT and PE_HOOK_BIAS a term of a score, PE_HOOK_VALUE an element of
                            what a key's value gets; 0: the softmax scale                                    */
    pe_stage stage;      /* of a term of a score                                                             */
    const pe_info *info; /* the row; NULL: the softmax scale                                                 */
    int64_t count;       /* elements or pairs; 1: one number                                                 */
} pe_formula;
#define PE_FORMULAS_MAX 32
/* How many there are; out gets the first `room` of them.                                                             */
PE_API int pe_encoding_formulas(const pe_encoding *e, pe_formula *out, int room);

/* Which number, of one query. What a formula does not look at may be left out.                                        */
typedef struct pe_question {
    size_t size;         /* sizeof(pe_question)                                                              */
    pe_params params;
    const int64_t *q_at; /* (axes): where the query stands; all but the softmax scale                       */
    const int64_t *k_at; /* (keys, axes): terms of a score and values                                       */
    const double *q, *k; /* (D), (keys, D), as they enter q.k: content terms                                */
    const uint8_t *seen; /* (keys): 0: the query does not see this key, and it is not counted; NULL: all are */
    int64_t keys;
    int64_t key, head;   /* of a term or a value                                                            */
    int64_t element;     /* or pair                                                                         */
} pe_question;
/* The number and its formula, perhaps after lines that are equations of their own; "" where the row has none to tell.
 * What does not fit the room, 16 bytes or more, is left out and marked.                                               */
PE_API pe_status pe_encoding_tell(const pe_encoding *e, int formula, const pe_question *asked, double *number,
                                  char *text, size_t room, pe_error *err);

PE_API int pe_info_count(void);
PE_API const pe_info *pe_info_at(int index); /* NULL past the end */
PE_API const pe_key *pe_info_key(const pe_info *info, int index); /* NULL past the end */
PE_API unsigned pe_encoding_hooks(const pe_encoding *e);
PE_API unsigned pe_encoding_claims(const pe_encoding *e); /* of a combination: those all parts make and none spoils */
PE_API const char *pe_claim_name(unsigned claim);  /* "unique"; NULL if not one claim bit */
PE_API const char *pe_hook_name(unsigned hook);    /* "embed"; NULL if not one hook bit   */
PE_API const char *pe_status_name(pe_status s);    /* "PE_ERR_SHAPE" */
PE_API size_t pe_dtype_size(pe_dtype t);           /* bytes; 0 if unknown, or in blocks */
PE_API const char *pe_version(void);
/* Whether the library that was loaded is the one this header describes: pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR). */
PE_API bool pe_agrees(int major, int minor);

#ifdef __cplusplus
}
#endif
#endif
