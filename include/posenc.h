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
 * An encoding acts on attention in at most five places, its hooks; a hook that an encoding does not have changes nothing.
 *
 *     tokens --embed--> x --> q,k,v --rotate--> q.k --content--> *scale --bias--> mask > softmax --value--> out
 *
 * The sections of this header: make, use, free | rotation | embedding | attention | pieces of attention | caches |
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
 *    pointers (pe_info, pe_key, pe_tensor, pe_lowered) grows at its end only. All other structs are passed whole, inside
 *    others or in arrays, and do not change within a SONAME. pe_agrees says whether the loaded library has the interface
 *    of this header. While the version is 0.x, the SONAME carries the minor version.
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
    PE_ERR_POSITION, /* a position that this encoding cannot represent                                       */
    PE_ERR_OVERFLOW, /* sizes whose product does not fit 64 bits                                             */
    PE_ERR_ALIGN,    /* a pointer not aligned to its element                                                 */
    PE_ERR_ALIAS,    /* buffers that overlap and must not                                                    */
    PE_ERR_NOMEM,    /* out of memory                                                                        */
    PE_ERR_UNSUITED, /* this encoding has no such thing (a rotation table of an encoding without rotation)   */
    PE_ERR_IO,       /* reading or writing a file failed (tools; never the library)                          */
    PE_ERR_FORMAT,   /* a file has the wrong format      (tools; never the library)                          */
    PE_ERR_DEVICE,   /* a GPU, its driver or its compiler failed or is missing (GPU library only)            */
    PE_ERR_PEER      /* another process failed, or a message did not arrive (posenc_mpi only)                */
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

/* (batch, tokens, axes): coordinate a of token t of sequence b is start + t*step, plus, if data is given, its element
 * [b*batch_stride + t*token_stride + a*axis_stride]. So an array has start and step 0; consecutive positions have step
 * 1 and need no memory; and sequences that start at different positions, as in a batch that decodes, have data (batch)
 * and a token_stride of 0. A fraction (PE_F64) is an error where the call or the encoding takes whole positions only
 * (attention: a table by distance, a mask by position); sums with a fraction are computed in float64.                    */
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
 * "sinusoidal+alibi" (up to four parts; if one has a softmax scale of its own, as t5 has, it is that of the whole).
 * Whole numbers may have a unit: trained=32k is 32768 (k, M, G). *out is NULL on failure.                             */
PE_API pe_status pe_encoding_new(pe_encoding **out, const char *spec, pe_shape shape, pe_error *err);
PE_API void pe_encoding_free(pe_encoding *e); /* NULL is fine */

PE_API const char *pe_encoding_spec(const pe_encoding *e);       /* canonical text; lives as long as e       */
PE_API uint64_t pe_encoding_fingerprint(const pe_encoding *e);   /* of the canonical text and the shape      */
PE_API pe_shape pe_encoding_shape(const pe_encoding *e);         /* with the defaults filled in              */
PE_API int64_t pe_encoding_axes(const pe_encoding *e);           /* coordinates per token                    */
PE_API double pe_encoding_scale(const pe_encoding *e);           /* the factor on q.k before the softmax     */

/* Views and positions of contiguous memory: the strides are filled in.                                                */
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

/* Tables by distance that are the same in every call, computed once (pe_plan_new). Any number of calls and threads may
 * use one at the same time.                                                                                           */
typedef struct pe_plan pe_plan;

/* Optional arguments that all calls share. NULL instead of a pe_run means none of them.                               */
typedef struct pe_run {
    size_t size;           /* sizeof(pe_run)                                                                 */
    pe_params params;      /* of encodings that are trained                                                  */
    const pe_plan *plan;   /* for attention; made for this encoding, and its params are used; NULL: none. Other
                              calls ignore it                                                                */
    const pe_pool *pool;   /* NULL: the calling thread does all the work                                     */
    void *work;            /* memory to work in, aligned to 8, for calls that say how much they need         */
    size_t work_bytes;
} pe_run;

/* A struct that begins with its size: PE_MAKE(pe_run, .pool = pool).                                                  */
#define PE_MAKE(type, ...) ((type){ .size = sizeof(type), __VA_ARGS__ })

/* ---------------------------------------------------------------- rotation */

/* y = x rotated by its positions. y may be x itself; any other overlap is an error. float32: x*c - y*s with each
 * product rounded; float16 and bfloat16 are computed in float32 and rounded once; float64 in float64.
 * PE_QUERY and PE_KEY rotate q and k. PE_VALUE rotates v and PE_OUTPUT rotates the attention output back, if the spec
 * says so; otherwise they change nothing. Positions may be fractions, which are as exact as whole positions, unless
 * angles are computed as in float32 pipelines (precision=hf, precision=ggml) or a temperature depends on the position in
 * steps; caches take whole positions only.                                                                            */
PE_API pe_status pe_rotate(const pe_encoding *e, pe_side side, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                           pe_error *err);
/* x = y rotated back: angle negated, reciprocal magnitude.                                                            */
PE_API pe_status pe_unrotate(const pe_encoding *e, pe_side side, pe_view x, pe_view y, pe_positions at,
                             const pe_run *run, pe_error *err);

/* The rotation as data, for a caller's own kernel: the two elements of each pair, and its frequency. Pair p of the tables
 * below reads elements x and y, and writes x_out and y_out:
 *     half  [ccss0000]   adjacent  [cscs0000]   adjacent-half: reads cscs, writes ccss                                */
typedef struct pe_pair { /* of a rotation with parameters: what the spec alone says */
    int64_t x, y, x_out, y_out;
    int64_t axis;
    double frequency; /* radians per position; negative if the spec rotates the other way                    */
    double phase;     /* radians at position 0; 0 except for normalised coordinates                          */
    double turns[3];  /* the frequency in full turns per position, exact as the sum of three                 */
    double decay;     /* ln of what a query's pair is multiplied by per position, a key's by the inverse (xpos) */
} pe_pair;
PE_API int64_t pe_encoding_pair_count(const pe_encoding *e); /* 0: does not rotate */
PE_API pe_status pe_encoding_pairs(const pe_encoding *e, pe_pair *pairs, int64_t count, pe_error *err);
/* The factor on cos and sin (YaRN's attention factor and the like), where it is one number; xpos: that at its centre.  */
PE_API double pe_encoding_magnitude(const pe_encoding *e);
/* The factor on a whole vector at this first coordinate (a query's temperature; else 1). The tables hold it already;
 * elements that are not rotated are multiplied by it too.                                                             */
PE_API double pe_encoding_gain(const pe_encoding *e, pe_side side, int64_t position);
/* Tables (batch, tokens, 1, pairs), or (batch, tokens, Hkv, pairs) where each key head has trained frequencies of its
 * own; magnitude included, each value rounded once to the view's type.                                                */
PE_API pe_status pe_rotate_table(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine, pe_positions at,
                                 const pe_run *run, pe_error *err);

/* cos and sin, float32 (float64 if the vectors are), as pe_rotate_table computes them: a row per token or, with row
 * given, row[t] for token t: a cache by position. data NULL: computed in the call.                                    */
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
 * x.data NULL stands for x = 0: the code alone. Each sum is computed in float64 and rounded once. Positions may be
 * fractions if the code's formula is continuous, as that of sinusoids is; the code is then as exact as elsewhere.     */
PE_API pe_status pe_embed(const pe_encoding *e, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                          pe_error *err);
PE_API int64_t pe_embed_width(const pe_encoding *e, int64_t x_width); /* width of y for this x; -1: too wide */

/* Which kernels an encoding uses: "avx2" or "neon", say (pe_kernels_name lists them). Other kernels that the CPU supports can be
 * selected before threads share e. Rotations, tables and codes have the same bits with all kernels on all machines;
 * attention has the same bits with the same kernels and the same C library, whose exp and log it uses.                */
PE_API const char *pe_kernels_name(int index); /* all there are, in rising order; NULL past the end */
PE_API const char *pe_encoding_kernels(const pe_encoding *e);
PE_API pe_status pe_encoding_set_kernels(pe_encoding *e, const char *name, pe_error *err);

/* ---------------------------------------------------------------- attention */

/* The length of each sequence, if they are not all as long as the view. Either length: the number of real tokens of each
 * sequence in a padded view; or offset: sequences stored end to end in a view of batch 1, sequence s having tokens
 * offset[s] to offset[s + 1] - 1; offset has sequences + 1 numbers, rising from 0 to tokens. Sequences stored end to end
 * cannot have masks of their own or scores as outputs: pad them for that. Padding has no effect: its outputs and
 * gradients are 0, its log-sum-exp is -inf.                                                                           */
typedef struct pe_lengths {
    const int64_t *length;    /* (batch); NULL: every token is real                                          */
    const int64_t *offset;    /* (sequences + 1); NULL: not packed                                           */
    int64_t sequences;
    bool padded_left;         /* the padding is before the real tokens, not after them                       */
} pe_lengths;

/* Keys and values in pages of one pool, as in a paged KV cache: k and v are then (pages, page size, Hkv, dim), and token t
 * of sequence b is in page table[b*columns + t / page size], at t modulo the page size. table NULL: no pages. The number
 * of keys is the number of tokens of k_at; k_lengths.length says how many of them each sequence has, from its first page
 * on.                                                                                                                 */
typedef struct pe_pages {
    const int32_t *table;     /* (batch, columns)                                                            */
    int64_t columns;
} pe_pages;

/* How causal and window compare queries with keys. In a part of a longer cache keys_after counts as keys.             */
typedef enum pe_align {
    PE_ALIGN_END = 0,         /* the last query is at the last key: query i at key i + Tk - Tq               */
    PE_ALIGN_START,           /* the first query is at the first key: query i at key i                       */
    PE_ALIGN_POSITION         /* by position (first axis), in any order of the keys                          */
} pe_align;

/* A zeroed mask lets every query see every key of its sequence.                                                       */
typedef struct pe_mask {
    bool causal;              /* keys after the query are hidden                                             */
    pe_align align;
    int64_t window;           /* > 0: only keys less than this many positions away are seen,                 */
    int64_t first_keys;       /* and this many keys at the start of the sequence (sink tokens); by position,
                                 those from position 0 on                                                    */
    pe_view keep;             /* PE_BOOL (B or 1, Tq or 1, H or 1, Tk): 0 hides                              */
    pe_view additive;         /* (B or 1, Tq or 1, H or 1, Tk): added to the score after the bias; -inf hides */
    int64_t keys_after;       /* number of keys of the sequence after those given here, which are a part of a
                                 longer cache; needed without causal too if a term counts keys               */
    int64_t keys_before;      /* number of keys before them: for first_keys and PE_ALIGN_START               */
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
    pe_params sinks;          /* (H): a logit per head that is part of the softmax and has no value          */
    double soft_cap;          /* > 0: cap * tanh(score / cap), before terms that come after the scale        */
    double scale;             /* 0: the encoding's own. In fused attention, soft_cap and scale are 2^-60 to 2^60 */
    bool rotated;             /* k and v are already rotated (a cache); q is not. dk and dv are then gradients of
                                 the rotated keys and values                                                 */
    pe_view scores;           /* (B, Tq, H, Tk): the input of the softmax, -inf where hidden. For inspection */
    pe_view probabilities;    /* and small problems; data NULL: not wanted                                   */
    pe_view q_gates, k_gates; /* (B, Tq, H, 1), (B, Tk, H, 1): a number per token and head, c; score += c_i - c_j.
                                 Given if the encoding takes them (pe_encoding_inputs), else data NULL       */
    pe_view relative;         /* (B, Tq, H, R): a vector per query and head, multiplied with a table by distance and
                                 by the query's gain (pe_encoding_gain); given if the encoding takes it      */
} pe_attention;

/* Inputs per token that an encoding takes beside q, k and v. Fused attention uses them in float32, except the difference
 * of two gates, which it computes in float64.                                                                         */
typedef struct pe_inputs {
    bool gates;
    int64_t relative; /* R; 0: none */
} pe_inputs;
PE_API pe_inputs pe_encoding_inputs(const pe_encoding *e);

/* Fused attention with any encoding: scores are computed in tiles and never stored as an n x n matrix. It computes in
 * float32, and products in bfloat16 where q, k and v are and the CPU has instructions for it (docs/attention.md says what
 * that rounds); inputs and outputs are float32, float16 or bfloat16, keys and values also quantised. Few queries against many
 * keys are split over the keys; the sequences of a batch share the pool.
 * A query that sees no key gets exactly 0, log-sum-exp -inf (its sink's logit, if there are sinks) and no gradient. Hidden
 * keys are part of no sum, so a NaN there does not spread; a NaN or +inf score that is seen makes its query's output NaN.
 * The size of the work memory depends on the sizes, the mask, the positions, the parameters' type and the number of
 * workers: a float32 copy of q, and of k and v for many queries (more than 64, or more than 8 with fewer than 2048 keys),
 * tables by distance, and a tile per worker. With up to 8 queries, work memory for some number of keys is enough for
 * fewer, so a decoder asks once, for its last step. In training use float32 for out and lse: gradients of parameters are
 * computed from them.                                                                                                 */
PE_API pe_status pe_attention_work(const pe_encoding *e, const pe_attention *a, const pe_run *run, size_t *bytes,
                                   pe_error *err);
PE_API pe_status pe_attention_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err);

/* A plan for keys up to `behind` positions before their query and up to `ahead` after it. With run.plan, decoding token by
 * token computes no table again; a call with larger distances works as without a plan, and so do gradients. A plan has a
 * copy of the parameters; pe_plan_set_params replaces them by others of the same type, while no call uses the plan.
 * Results equal those without a plan up to rounding. The encoding must outlive the plan.                              */
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
    bool accumulate;            /* add to dq, dk, dv and the gradients of inputs instead of overwriting them */
    bool piece;                 /* k and v are a part of the keys, and out and lse are those of all keys: the
                                   gradients of all parts add up to those of the whole. Pass dsinks with one
                                   part only, and use float64 for lse if scores are large (past 2048)        */
    const double *carry;        /* (B, H, Tq), for terms that count keys: the value of pe_partial.carry before
                                   this part; NULL: 0                                                        */
    double *dcarry;             /* (B, H, Tq): its gradient. Parts go from left to right, zero before the
                                   first; NULL: these are all keys                                           */
    pe_view dq_gates, dk_gates; /* as q_gates, k_gates and relative; written like dq; data NULL: not wanted  */
    pe_view drelative;
} pe_attention_grad;
/* Reads a's out and lse, as pe_attention_forward wrote them.                                                          */
PE_API pe_status pe_attention_backward_work(const pe_encoding *e, const pe_attention *a, const pe_run *run,
                                            size_t *bytes, pe_error *err);
PE_API pe_status pe_attention_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *g,
                                       const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- the lowered form */

/* An encoding as data, for the distances that a plan covers: all that a kernel of your own needs. Fused attention itself
 * reads these structs. With cap the soft cap,
 *     score = cap(scale * (q.k + terms before the scale)) + terms after it,  q and k rotated by the pairs.
 * The distance of a query and a key is the sum over axes of weight * (q_at - k_at). Tables are in the order of falling
 * distance, that is of rising keys: distance d, low <= d <= high, is entry first + high - d; the entries before and after
 * those belong to no distance and may be read.                                                                        */
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

/* A bias. Without knots (-1) it is given per head in segments of the distance. With knots, x = table[entry] * share(query)
 * and the bias is slope[h][s] * x + level[h][s], with s the number of knots at or below x; share has one number per
 * position of a query, from 0 on.                                                                                     */
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
    int64_t params_first, params; /* the parameters that it is computed from; params 0: none                 */
    const char *device;       /* its functions as C text in one line, to be compiled at run time: measure(p, w,
                                 distance), bias(p, w, h, x) and bias_back(p, w, dw, h, x, db) as src/core/row.h has
                                 them, with knots also share and knot. The text expects part, pe_params, param, grad,
                                 num, whole, int64_t and math.h's functions (src/cuda/bias.cu defines them). NULL:
                                 there are no parameters, or no text                                         */
    const double *numbers;    /* what *p holds there: heads, tensors, of each tensor its shape (3 numbers), offset and
                                 count, then the values of the keys                                          */
    int64_t number_count;
} pe_lowered_bias;

/* score += level[h][key's position] - level[h][query's position], first coordinates from 0 on; or, if gates is set,
 * q_gates - k_gates.                                                                                                  */
typedef struct pe_lowered_level {
    pe_stage stage;
    bool gates;
    const double *level;      /* (H, level_row)                                                              */
    int64_t level_row;
} pe_lowered_level;

/* A table with a row per distance: row column[entry], per head or for all heads. PE_QUERY: score += (q + extra[h]) . row,
 * or with input gain relative . row, where gain is the query's (pe_encoding_gain); PE_KEY: score += k . row; PE_VALUE:
 * out += probability * row, at any stage.                                                                             */
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

/* Keys counted from right to left: each key that is seen adds sigmoid(scale * q.k) to the count, and score +=
 * q . row(count), where the count is at most rows - 1 and row is interpolated between rows.                           */
typedef struct pe_lowered_count {
    pe_stage stage;
    double scale;
    int64_t heads, rows, dim;
    const float *table;       /* (rows, heads or 1, dim)                                                     */
} pe_lowered_count;

/* In place of q.k, the sum over elements d of size(q_d) * size(k_d) * cos(angle), with size(x) = ln(1 + e^x), and the angle
 * frequency[d] * (key's position - query's) + phase[key's head][d] in radians, first coordinates.                      */
typedef struct pe_lowered_polar {
    int64_t dim;
    const double *turns;      /* (3, dim): the frequency in full turns per position, exact as the sum of three */
    const double *phase;      /* (Hkv, dim)                                                                  */
} pe_lowered_polar;

typedef struct pe_lowered {
    pe_shape shape;
    double scale;
    /* Rotation: pair p of head h (of Hkv, or the only one) is rotated by (position on its axis) * frequency + phase, in
     * radians; with trained frequencies, by the sum over axes. exact is false if the angle is rounded on the way, as some
     * models do, or if cos and sin are sums over several frequencies (fope): use pe_rotate_table then. If pairs decay,
     * positions are counted from centre; pe_encoding_gain has the factor on a whole vector.                           */
    int64_t pairs, pair_heads, pair_axes;
    const pe_pair *pair;      /* (pair_heads, pair_axes, pairs)                                              */
    bool exact, rotates_value, rotates_output;
    double magnitude;
    int64_t centre;
    int biases, levels, lookups;
    const pe_lowered_bias *const *bias;
    const pe_lowered_level *const *level;
    const pe_lowered_lookup *const *lookup;
    const pe_lowered_count *count; /* NULL: no term counts keys                                              */
    pe_inputs inputs;
    const pe_lowered_polar *polar; /* NULL: the product is q.k                                                */
} pe_lowered;
/* Lives as long as the plan; pe_plan_set_params changes the numbers in place.                                         */
PE_API const pe_lowered *pe_plan_lowered(const pe_plan *plan);

/* ---------------------------------------------------------------- pieces of attention */

/* The result of attention over a part of the keys, for split and distributed attention. float32, contiguous. Merging is
 * exact up to rounding; a fixed order of merging gives the same bits.                                                 */
typedef struct pe_partial {
    float *out;    /* (B, Tq, H, Dv) sum of exp(score - max) * value                                         */
    float *max;    /* (B, Tq, H)     largest score; -inf: no key seen                                        */
    float *sum;    /* (B, Tq, H)     sum of exp(score - max)                                                 */
    double *carry; /* (B, H, Tq)     for terms that count keys (pe_encoding_carries): parts go from right to
                                     left, zero before the first, never more than the mask's keys_after; NULL
                                     if no term counts keys                                                  */
} pe_partial;
/* Ignores out, lse and sinks of a. Work memory as for pe_attention_forward.                                           */
PE_API pe_status pe_attention_partial(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                                      pe_error *err);
/* into = into and from together: `rows` queries and heads (B * Tq * H), values `dim` wide.                            */
PE_API pe_status pe_attention_merge(pe_partial into, pe_partial from, int64_t rows, int64_t dim, pe_error *err);
/* Divides by the sum, includes the sinks, rotates the output back if the spec says so, and writes a's out and lse.    */
PE_API pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                                     pe_error *err);

/* ---------------------------------------------------------------- caches */

/* Rotates the keys of a cache, already rotated for positions from, to positions to, in place: for a context that drops
 * its oldest tokens, or moves a block. Any number of heads; also quantised, also in pages (positions are then (sequences,
 * tokens); pages NULL: none; a page that two tables share would be rotated twice). The angle is that of the difference
 * and as exact as any other, so a shift is as exact as rotating the stored keys again; each shift rounds once more
 * (docs/caches.md). Tokens that do not move, elements that are not rotated and blocks without rotated elements keep
 * their bits. An encoding without rotation changes nothing. Values that the spec rotates (turn=qkv) are shifted in the
 * same way, by a second call. Where cos and sin are sums over several frequencies (fope), no difference of positions
 * says how far a key goes, and the call is refused: use pe_unrotate and pe_rotate.                                    */
PE_API pe_status pe_cache_shift(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from,
                                pe_positions to, const pe_run *run, pe_error *err);
/* Keys rotated by one encoding become keys rotated by another at the same positions: another theta, factor, short or long
 * table, magnitude. Both must have the same pairs of elements and as many axes, or neither rotates.                   */
PE_API pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_view k, const pe_pages *pages,
                                 pe_positions at, const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- score hooks, on tiles */

/* One tile of scores, all heads: score = (…(q.k + terms before the scale) * scale + terms after it).                  */
typedef struct pe_tile {
    size_t size;             /* sizeof(pe_tile)                                                              */
    pe_view score;           /* (Tq, H, Tk), added to                                                        */
    pe_view q, k;            /* (Tq, H, D), (Tk, Hkv, D), as they enter q.k; content terms only              */
    pe_positions q_at, k_at;
    const uint8_t *seen;     /* (Tq, Tk) contiguous, 0: this query does not see this key, its score stays as it
                                is. NULL: all are seen, and terms that count keys count those whose first
                                coordinate is at most the query's                                            */
    int64_t seen_head_stride; /* from one head's seen to the next; 0: one for all heads                      */
    double *carry;           /* (H, Tq) contiguous. Terms that count keys (pe_encoding_carries) take tiles of
                                keys from right to left and keep their sums here; zero before the first, NULL
                                if one tile has all keys                                                     */
    pe_view q_gates, k_gates; /* (Tq, H, 1), (Tk, H, 1): a bias of encodings that take them                  */
    pe_view relative;         /* (Tq, H, R): content of encodings that take it                               */
} pe_tile;

PE_API bool pe_encoding_carries(const pe_encoding *e);
/* Whether a content term stands for q.k (pope): a tile's score then starts at 0, not at q.k.                          */
PE_API bool pe_encoding_replaces(const pe_encoding *e);
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

/* The definition that fused attention is compared with: query by query in float64, any type in and out, one thread.
 * Both functions need the same work memory.                                                                           */
PE_API pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_reference_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err);
PE_API pe_status pe_reference_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *g,
                                       const pe_run *run, pe_error *err);

/* ---------------------------------------------------------------- gradients */

/* dx = transpose of the rotation applied to dy: angle negated, same magnitude.                                        */
PE_API pe_status pe_rotate_back(const pe_encoding *e, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                                const pe_run *run, pe_error *err);
/* dparams += the gradient of trained frequencies, from the gradient dy of the rotated vectors and the vectors x before
 * rotation; nothing if no frequency is trained.                                                                       */
PE_API pe_status pe_rotate_grad(const pe_encoding *e, pe_params dparams, pe_side side, pe_view dy, pe_view x,
                                pe_positions at, const pe_run *run, pe_error *err);
/* dx = gradient of x (data NULL: not wanted); dparams is added to (data NULL: not wanted).                            */
PE_API pe_status pe_embed_back(const pe_encoding *e, pe_params dparams, pe_view dx, pe_view dy, pe_positions at,
                               const pe_run *run, pe_error *err);

/* Gradients of a tile's terms from its dscore. All outputs are added to; data NULL: not wanted. Terms that count keys
 * need all keys in one tile here.                                                                                     */
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
    unsigned hooks;     /* of the part it belongs to; PE_HOOK_ROTATE only of frequencies                     */
    bool projected;     /* its initial values are codes of the distance, (rows, heads * head_dim); a model
                           trains a weight that they are multiplied by, for any number of rows               */
    double min, max;    /* a training step keeps its values within these; -inf, inf: no bounds               */
    double rate, decay; /* how it is best trained: the learning rate and the weight decay of a model's
                           weights are multiplied by these for it                                            */
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
/* at (offset[sequences]) for sequences stored end to end, as in pe_lengths: each counts from 0.                       */
PE_API pe_status pe_positions_packed(int64_t *at, const int64_t *offset, int64_t sequences, pe_error *err);
/* at (t*h*w, 3): the (t, h, w) grid in row-major order, start added to each coordinate.                               */
PE_API pe_status pe_positions_grid(int64_t *at, int64_t t, int64_t h, int64_t w, int64_t start, pe_error *err);

/* ---------------------------------------------------------------- introspection */

#define PE_HOOK_EMBED 1u
#define PE_HOOK_ROTATE 2u
#define PE_HOOK_CONTENT 4u
#define PE_HOOK_BIAS 8u
#define PE_HOOK_VALUE 16u

#define PE_CLAIM_UNIQUE 1u       /* no two positions have the same code                                      */
#define PE_CLAIM_ANY_LENGTH 2u   /* a position's code does not depend on the length of the sequence          */
#define PE_CLAIM_BOUNDED 4u      /* the code is bounded for all positions of the sequence, however long it is */
#define PE_CLAIM_LINEAR 8u       /* code(t + k) = M(k) code(t) + b(k), one M and one b for all t             */
#define PE_CLAIM_RELATIVE 16u    /* the score depends on i - j only                                          */
#define PE_CLAIM_NORM 32u        /* the vectors that it changes keep their norm                              */
#define PE_CLAIM_AXES 64u        /* axes do not mix                                                          */
#define PE_CLAIM_SYMMETRIC 128u  /* distances i - j and j - i give the same score                            */
#define PE_CLAIM_INVERTIBLE 256u /* unrotate undoes rotate                                                   */
#define PE_CLAIM_ENDLESS 512u    /* every position up to PE_POSITION_MAX has a code                          */
#define PE_CLAIM_LEARNED 1024u   /* has parameters to train                                                  */

/* What an encoding does with a position.                                                                              */
typedef enum pe_idea {
    PE_IDEA_NONE = 0, /* nothing                                                                              */
    PE_IDEA_ABSOLUTE, /* a code of the position is added to the embedding                                     */
    PE_IDEA_ROTATION, /* queries and keys are rotated                                                         */
    PE_IDEA_BIAS,     /* a number by distance is added to the score                                           */
    PE_IDEA_CONTENT,  /* queries or keys meet vectors by distance                                             */
    PE_IDEA_DATA      /* the distance, or what it does, depends on the tokens between                         */
} pe_idea;

typedef enum pe_key_kind { PE_KEY_INT = 0, PE_KEY_REAL, PE_KEY_CHOICE, PE_KEY_LIST } pe_key_kind;

typedef struct pe_key {
    const char *name;
    pe_key_kind kind;
    const char *fallback; /* the default as text; "": none, or it follows from the shape or other keys       */
    double min, max;      /* of a number or of each list element                                             */
    const char *choices;  /* "half|adjacent|adjacent-half"                                                   */
    const char *when;     /* "scaling=yarn|longrope": the key is valid only then; NULL: always               */
    const char *help;
    const char *also;     /* "rope_theta|freq_base": what others call it, for suggestions; NULL: nothing     */
    bool required;        /* no default: must be given wherever it is valid                                  */
} pe_key;

typedef struct pe_info {
    const char *name;
    const char *summary; /* one sentence                                                                     */
    const char *formula;
    const char *paper;   /* authors, year                                                                    */
    const char *arxiv;   /* "" where there is none                                                           */
    const char *models;  /* that use it, "Llama|Qwen (note)"; "": none known                                 */
    unsigned hooks;
    unsigned claims;     /* with the default keys; pe_encoding_claims has those of a spec                    */
    int key_count;       /* of pe_info_key                                                                   */
    const char *const *examples; /* specs, each valid for 8 heads of 64                                      */
    int example_count;
    const char *also;            /* "rotary|yarn": other names, for suggestions; NULL: none                  */
    /* Names of keys whose values depend on the use of an encoding, such as "rows"; NULL: none.                        */
    const char *key_trained; /* the trained length; with several axes: the sides of a square                 */
    const char *key_length;  /* the sequence length: the largest distance to an earlier key                  */
    const char *key_ahead;   /* the largest distance to a later key                                          */
    const char *key_factor;  /* the sequence length divided by the trained length; "factor|alpha": the valid one */
    const char *trained_as;  /* the encoding whose trained parameters it uses; NULL: its own                 */
    const char *key_work;    /* the number of steps per score: terms of a sum, width of a network; NULL: few */
    pe_idea idea;
} pe_info;

/* Formulas as text: how a number of an encoding is computed, "sin(5 · 10000^(-2/8)) = sin(5 · 0.1)".                */
typedef struct pe_formula {
    unsigned hook;       /* which number: PE_HOOK_EMBED an element of the code, PE_HOOK_ROTATE a pair's frequency in
                            radians or, without pairs, the factor on a query, PE_HOOK_CONTENT and PE_HOOK_BIAS a term
                            of a score, PE_HOOK_VALUE an element of the term that is added to a value; 0: the softmax
                            scale                                                                            */
    pe_stage stage;      /* of a term of a score                                                             */
    const pe_info *info; /* the row; NULL: the softmax scale                                                 */
    int64_t count;       /* elements or pairs; 1: one number                                                 */
    const char *text;    /* info->formula as the keys change it; the encoding owns it. NULL: the softmax scale */
} pe_formula;
#define PE_FORMULAS_MAX 32
/* Returns how many there are; out gets the first `room` of them.                                                     */
PE_API int pe_encoding_formulas(const pe_encoding *e, pe_formula *out, int room);

/* Which number, for one query. Fields that a formula does not use may be left out.                                    */
typedef struct pe_question {
    size_t size;         /* sizeof(pe_question)                                                              */
    pe_params params;
    const int64_t *q_at; /* (axes): the query's position; all but the softmax scale                         */
    const int64_t *k_at; /* (keys, axes): terms of a score and values                                       */
    const double *q, *k; /* (D), (keys, D), as they enter q.k: content terms                                */
    const uint8_t *seen; /* (keys): 0: the query does not see this key, and it is not counted; NULL: all are */
    int64_t keys;
    int64_t key, head;   /* of a term or a value                                                            */
    int64_t element;     /* or pair                                                                         */
    const double *q_gates, *k_gates; /* (1), (keys): the head's gates, where the encoding takes them        */
    const double *relative;          /* (R): the query's vector of this head, where it takes one            */
    pe_side side;                    /* of a pair: PE_QUERY, or PE_KEY for a key at q_at                    */
} pe_question;
/* The number and its formula, possibly after lines with other equations; "" if the encoding has no formula text. Text that
 * does not fit the room (16 bytes or more) is cut and marked.                                                         */
PE_API pe_status pe_encoding_tell(const pe_encoding *e, int formula, const pe_question *asked, double *number,
                                  char *text, size_t room, pe_error *err);

PE_API int pe_info_count(void);
PE_API const pe_info *pe_info_at(int index); /* NULL past the end */
PE_API const pe_key *pe_info_key(const pe_info *info, int index); /* NULL past the end */
PE_API unsigned pe_encoding_hooks(const pe_encoding *e);
PE_API unsigned pe_encoding_claims(const pe_encoding *e); /* of a combination: those that all its parts keep */
PE_API const char *pe_idea_name(pe_idea idea);     /* "rotation"; NULL past the end */
PE_API const char *pe_idea_advice(pe_idea idea);   /* when to choose it, one sentence; NULL past the end */
PE_API const char *pe_claim_name(unsigned claim);  /* "unique"; NULL if not one claim bit */
PE_API const char *pe_hook_name(unsigned hook);    /* "embed"; NULL if not one hook bit   */
PE_API const char *pe_status_name(pe_status s);    /* "PE_ERR_SHAPE" */
PE_API size_t pe_dtype_size(pe_dtype t);           /* bytes; 0 if unknown or quantised */
PE_API const char *pe_version(void);
/* Does the loaded library have the interface of this header? pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR).           */
PE_API bool pe_agrees(int major, int minor);

#ifdef __cplusplus
}
#endif
#endif
