/* SPDX-License-Identifier: MIT
 *
 * What the files of libposenc share. An encoding is a list of parts; a part is a registry row with the values of its
 * keys. A row fills the hooks it has; the framework (core/) loops, checks and differentiates for all of them.
 */
#ifndef PE_CORE_H
#define PE_CORE_H

#include "base/exact.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/block.h"
#include "base/num.h"
#include "base/tell.h"
#include "base/text.h"
#include "kernels/kernels.h"
#include "kernels/rotate.h"
#include "kernels/wide.h"
#include "posenc.h"

#define PARTS_MAX 4
#define ROWS_MAX 64
#define KEYS_MAX 40
#define TENSORS_MAX 8
#define TERMS_MAX 4
#define DTYPE_COUNT (PE_BOOL + 1)
#define COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))

typedef struct pe_part part;

/* ------------------------------------------------ a key's value */

typedef struct value {
    double num;         /* a number, or the index of a choice */
    const double *list; /* PE_KEY_LIST; owned by the part     */
    int64_t count;
    bool given;
} value;

/* ------------------------------------------------ learned parameters */

typedef enum fill { FILL_NORMAL, FILL_UNIFORM, FILL_CONSTANT, FILL_ROW } fill;

typedef struct tensor {
    const char *name, *about; /* about: what its rows are */
    int rank;
    int64_t shape[3];
    int64_t offset, count;
    fill fill;
    double a, b; /* normal: deviation; uniform: from, to; constant: value */
    bool projected;
    double min, max; /* training keeps it within; 0, 0: it goes where it likes */
} tensor;

/* ------------------------------------------------ hooks */

/* A vector of any type: element d at data[at + d]. */
typedef struct vec {
    void *data;
    pe_dtype type;
    int64_t at;
} vec;

static inline double vec_get(vec v, int64_t d)
{
    return num_load(v.data, v.type, v.at + d);
}

static inline void vec_add(vec v, int64_t d, double x)
{
    if (v.data)
        num_add(v.data, v.type, v.at + d, x);
}

/* A score or value term by table: score(i, j) += x . table[index(i - j)][h], x being q_i + extra[h] or k_j; for
 * PE_VALUE out_i += p(i, j) table[index(i - j)][h]. The distance is that of first coordinates. */
typedef struct term {
    pe_side side;
    int table; /* tensor (R, H or 1, D), or -1: entry computes it */
    double (*entry)(const part *p, int64_t row, int64_t d);
    int extra; /* tensor (1, H, D), or -1; of PE_QUERY only */
    int64_t (*index)(const part *p, int64_t distance);
} term;

/* One pair's turn at one position: multiply by magnitude, turn by the angle. */
typedef struct turn {
    double cosine, sine, magnitude;
} turn;

/* A content term that counts keys from right to left: each adds sigmoid(scale q.k), and the count, capped at the last
 * row, is where q meets the table: q . table[count][h], linear between rows (core/count.c). */
typedef struct counting {
    bool on;
    int table; /* tensor (R, H or 1, D), R at least 2 */
    double scale;
} counting;

typedef struct row {
    pe_info info;
    const pe_key *keys; /* (info.key_count) */
    unsigned excused;   /* claims that are measured otherwise than the row states them, and why (tests/test_claims.c) */
    const char *excuse;
    pe_status (*init)(part *p, pe_error *err);
    double (*fill)(const part *p, int tensor, int64_t i); /* for FILL_ROW tensors */

    /* embed: elements first .. first + count - 1 of the code, and where their gradient goes: parameters that no other
     * element's gradient goes to. fractional: at may have fractions */
    void (*embed)(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code);
    void (*embed_back)(const part *p, pe_params dw, const double *at, int64_t first, int64_t count,
                       const double *dcode);
    bool fractional;
    /* rotate: pair n's turn; gain: a factor on the whole vector (NULL: 1) */
    turn (*turn)(const part *p, pe_side side, const int64_t *at, int64_t n);
    double (*gain)(const part *p, pe_side side, const int64_t *at);
    /* whether a position can be served at all, in numbers of this type (NULL: always) */
    pe_status (*check)(const part *p, pe_side side, pe_dtype type, const int64_t *at, pe_error *err);
    pe_status (*check_params)(const part *p, pe_params w, pe_error *err);
    /* whether its tables cover this pair (NULL: always); index and bias are asked only then */
    bool (*reaches)(const part *p, const int64_t *q, const int64_t *k);

    /* bias: each head's function of x = measure(distance) share(query). The distance is that of two places (place NULL:
     * the first coordinate); measure NULL: the distance itself; share NULL: 1. So a table by distance holds a bias,
     * whatever the length. The _back functions add to dw; bias_back returns the gradient to x. */
    int64_t (*place)(const part *p, const int64_t *at);
    double (*measure)(const part *p, pe_params w, int64_t distance);
    void (*measures)(const part *p, double *out, int64_t distance, int64_t count); /* falling distances; may be NULL */
    double (*share)(const part *p, pe_params w, const int64_t *q);
    double (*bias)(const part *p, pe_params w, int64_t h, double x);
    double (*bias_back)(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db);
    void (*measure_back)(const part *p, pe_params w, pe_params dw, int64_t distance, double dm);
    void (*share_back)(const part *p, pe_params w, pe_params dw, const int64_t *q, double ds);
    /* whether bias is linear in x between knots, at most this many; a row with share has knots */
    int64_t (*knots)(const part *p);
    double (*knot)(const part *p, pe_params w, int64_t i);
    /* where part.absolute is set instead: bias = absolute(k) - absolute(q) */
    double (*absolute)(const part *p, int64_t h, const int64_t *at);
    /* content is declared by init: as terms, or as a count */

    /* for people, as formulas with numbers in them: embed's element c, the bias of a query and a key, the frequency of
     * pair n in radians after lines for its magnitude at a query's place, part.scale; NULL: not told */
    void (*tell_embed)(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out);
    void (*tell_bias)(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out);
    void (*tell_pair)(const part *p, const int64_t *at, int64_t n, tell *out);
    void (*tell_scale)(const part *p, tell *out);
} row;

/* Pairs that one coordinate drives in the same steps, at * multiplier + shift; still: their frequency is 0. */
typedef struct turn_span {
    int64_t first, count;
    int64_t axis, multiplier, shift;
    bool still;
} turn_span;

/* Elements first .. first + count - 1. */
typedef struct rest_range {
    int64_t first, count;
} rest_range;

#define STEPS_MAX                                                                                                      \
    64 /* positions that share a base: n = steps b + r, cos and sin of n f are the base's turned on by r */
#define STEP_BYTES 131072 /* of their cos and sin; fewer steps for many pairs */
#define SPANS_MAX 16

/* A rotation prepared for its loops, from the pairs and lanes that init gave (core/turn_plan.c). */
typedef struct turn_plan {
    pair_run *run[2]; /* x to y, and from and to exchanged: what turns back */
    int runs[2];
    bool moves;       /* a pair is not written where it was read */
    rest_range *rest; /* elements that do not turn */
    int rests;
    double *frequency; /* (3, pairs); exact angles only, as all that follows */
    turn_span *span;
    int spans;     /* 0: too many to be worth it */
    int64_t steps; /* a power of two */
    double *step;  /* (steps, 2, pairs) cos and sin of 0 .. steps - 1 steps */
} turn_plan;

/* A code of waves, each a cos or a sin of (at[axis] + offset) frequency turns: coordinates share the width equally, and
 * have the same waves, sin cos sin cos ... or all sines before all cosines. The row's embed is their definition. */
typedef struct waves {
    const wide *frequency; /* (count) of one coordinate's pairs of waves */
    int64_t count;         /* 0: the code is not of waves */
    double offset;
    bool halves, cosine_first;
    struct wave_plan *plan; /* how loops want them; one block, freed with the part */
} waves;

struct pe_part {
    const row *row;
    value *value; /* one per key of the row; init may settle what follows from the shape */
    pe_shape shape;
    void *state; /* the row's own; one block, freed with the part */

    tensor tensor[TENSORS_MAX];
    int tensors;
    term term[TERMS_MAX];
    int terms;
    counting count;
    bool absolute;
    pe_stage stage; /* of content and bias */
    double scale;   /* softmax scale; 0: 1/sqrt(head_dim) */
    double scale_factor;
    unsigned hooks; /* init may take away what the spec leaves out */
    unsigned claims;
    int64_t axes;

    /* rotate */
    const lane *from, *to; /* (pairs) elements read and written */
    const pair *pair;      /* (pairs) */
    int64_t pairs;
    const int64_t *rest; /* (rests) elements that do not turn */
    int64_t rests;
    bool turns_value, turns_output;
    bool exact; /* init says: pair n's angle is (at[axis] * multiplier + shift) * frequency turns, not rounded on the
                   way */
    bool recentres; /* attention shifts positions so that the query stands at centre */
    int64_t centre;
    const double *decay; /* (pairs) ln of what a query's pair is multiplied by per position from centre, a key's by the
                            inverse; NULL: nothing */
    double magnitude;    /* where the angle is exact: of cos and sin, beside the decay */
    bool gains;          /* init says: gain is not 1 everywhere */
    bool trained; /* init says: its frequencies are the tensor `frequencies` (heads or 1, axes, pairs), in radians
                     per position */
    int frequencies;
    struct turn_plan *plan; /* how it turns, as loops want it; one block, freed with the part */

    /* embed */
    int64_t width;
    bool concat;
    waves waves; /* init says */
};

struct pe_encoding {
    pe_shape shape;
    part part[PARTS_MAX];
    int parts;
    char *text;
    uint64_t fingerprint;
    double scale;
    int64_t axes, param_count;
    unsigned hooks, claims;
    pe_tensor tensor[PARTS_MAX * TENSORS_MAX]; /* as the caller sees them */
    kernels kernels;
};

/* ------------------------------------------------ registry */

extern const row *const pe_rows[];
extern const int pe_row_count;

/* ------------------------------------------------ errors */

PRINTF(3, 4) pe_status pe_fail(pe_error *err, pe_status s, const char *format, ...);
pe_status pe_pass(pe_error *err); /* PE_OK, and err says so */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        pe_status try_status = (call);                                                                                 \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

/* ------------------------------------------------ for init functions */

static inline double num(const part *p, int key)
{
    return p->value[key].num;
}

static inline int64_t whole(const part *p, int key)
{
    return (int64_t)p->value[key].num;
}

void *part_alloc(part *p, int64_t count, size_t size, pe_error *err); /* zeroed; becomes p->state */
pe_status part_tensor(part *p, tensor t, pe_error *err);              /* count is filled in */
pe_status part_fail(const part *p, pe_error *err, int key, const char *why);

/* ------------------------------------------------ for hooks */

static inline double param(const part *p, pe_params w, int t, int64_t i)
{
    return num_load(w.data, w.dtype, p->tensor[t].offset + i);
}

/* Loops over codes, by eight, which compilers make vectors of. */
static inline void code_fill(double *code, double x, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            code[i + l] = x;
    for (; i < n; i++)
        code[i] = x;
}

static inline void code_sum(double *restrict code, const double *restrict x, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            code[i + l] += x[i + l];
    for (; i < n; i++)
        code[i] += x[i];
}

/* y = elements i .. i + n - 1, or += them. */
static inline void params_row(const part *p, pe_params w, int t, int64_t i, double *y, int64_t n)
{
    i += p->tensor[t].offset;
    switch (w.dtype) { /* once, not for each */
    case PE_F32: num_loads(y, w.data, PE_F32, i, n); break;
    case PE_F64: num_loads(y, w.data, PE_F64, i, n); break;
    case PE_F16: num_loads(y, w.data, PE_F16, i, n); break;
    default: num_loads(y, w.data, PE_BF16, i, n); break;
    }
}

static inline void params_add(const part *p, pe_params w, int t, int64_t i, double *y, int64_t n)
{
    i += p->tensor[t].offset;
    switch (w.dtype) {
    case PE_F32: num_adds(y, w.data, PE_F32, i, n); break;
    case PE_F64: num_adds(y, w.data, PE_F64, i, n); break;
    case PE_F16: num_adds(y, w.data, PE_F16, i, n); break;
    default: num_adds(y, w.data, PE_BF16, i, n); break;
    }
}

static inline void grad(const part *p, pe_params dw, int t, int64_t i, double x)
{
    if (dw.data)
        num_add(dw.data, dw.dtype, p->tensor[t].offset + i, x);
}

/* Inside a call views and positions are those of one sequence: view_at and positions_at cut it out of a batch. */
static inline vec row_vec(pe_view v, int64_t token, int64_t head)
{
    return (vec){ v.data, v.dtype, token * v.token_stride + head * v.head_stride };
}

/* Bytes of so many elements; of a type in blocks, a multiple of BLOCK_WIDTH of them. */
static inline int64_t dtype_bytes(pe_dtype type, int64_t elements)
{
    return type == PE_Q8_0   ? elements / BLOCK_WIDTH * 34
           : type == PE_Q4_0 ? elements / BLOCK_WIDTH * 18
                             : elements * (int64_t)pe_dtype_size(type);
}

static inline pe_view view_at(pe_view v, int64_t sequence)
{
    if (v.data && v.batch > 1)
        v.data = (char *)v.data + dtype_bytes(v.dtype, sequence * v.batch_stride);
    v.batch = 1;
    return v;
}

static inline int64_t position_bytes(pe_positions p)
{
    return p.dtype == PE_I32 ? 4 : 8;
}

static inline pe_positions positions_at(pe_positions p, int64_t sequence)
{
    if (p.data && p.batch > 1)
        p.data = (const char *)p.data + sequence * p.batch_stride * position_bytes(p);
    p.batch = 1;
    return p;
}

/* From this token on, so many. */
static inline pe_positions positions_from(pe_positions p, int64_t token, int64_t tokens)
{
    if (p.data)
        p.data = (const char *)p.data + token * p.token_stride * position_bytes(p);
    p.start += token * p.step;
    p.tokens = tokens;
    return p;
}

/* One coordinate; of a fraction its whole part. */
static inline int64_t coordinate(pe_positions p, int64_t token, int64_t axis)
{
    int64_t at = p.start + token * p.step, i = token * p.token_stride + axis * p.axis_stride;
    if (!p.data)
        return at;
    return at + (p.dtype == PE_I64   ? ((const int64_t *)p.data)[i]
                 : p.dtype == PE_I32 ? ((const int32_t *)p.data)[i]
                                     : (int64_t)floor(((const double *)p.data)[i]));
}

/* The coordinates of one token, packed. */
static inline const int64_t *position(pe_positions p, int64_t token, int64_t at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < p.axes; a++)
        at[a] = coordinate(p, token, a);
    return at;
}

/* The same with their fractions; what is added to a fraction is so in float64. */
static inline void position_real(pe_positions p, int64_t token, double at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < p.axes; a++)
        at[a] = p.data && p.dtype == PE_F64 ? (double)(p.start + token * p.step) +
                                                  ((const double *)p.data)[token * p.token_stride + a * p.axis_stride]
                                            : (double)coordinate(p, token, a);
}

/* Whether first coordinates count up or down by step and need not be read one by one. */
static inline bool positions_run(pe_positions p)
{
    return !p.data || !p.token_stride;
}

/* One key more of a term that counts (core/count.c): what it sees of a query and head, and the count with this key. */
typedef struct step {
    const part *p;
    pe_params w, dw;
    int64_t head;
    vec q, dq;
    double sum;
} step;
double count_gate(const part *p, double dot);
double count_gate_slope(const part *p, double dot);
double count_term(const step *s);                     /* the score term at s->sum */
double count_term_back(const step *s, double dscore); /* gradient to s->sum; dq, dw are added to */

void params_tell(pe_encoding *e); /* fills e->tensor */

double part_measure(const part *p, pe_params w, int64_t distance);
int64_t part_place(const part *p, const int64_t *at);
double part_entry(const part *p, pe_params w, const term *t, int64_t r, int64_t head, int64_t d);
void part_entry_grad(const part *p, pe_params dw, const term *t, int64_t r, int64_t head, int64_t d, double x);

/* ------------------------------------------------ checks at the door */

typedef enum use { READS, WRITES } use;

typedef struct extent { /* of a view; -1: any */
    int64_t batch, tokens, heads, dim;
} extent;

/* A view of float32, float16, bfloat16 or float64. */
pe_status check_view(pe_view *v, const char *name, extent size, use how, pe_error *err);
pe_status check_typed(pe_view *v, const char *name, extent size, unsigned types, use how, pe_error *err);
#define TYPE_BIT(t) (1u << (t))
#define TYPES_FLOAT (TYPE_BIT(PE_F32) | TYPE_BIT(PE_F16) | TYPE_BIT(PE_BF16) | TYPE_BIT(PE_F64))
#define TYPES_CACHE (TYPES_FLOAT | TYPE_BIT(PE_Q8_0) | TYPE_BIT(PE_Q4_0))
pe_status check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                          pe_error *err);
/* The same where fractions are taken, or not. */
pe_status check_positions_real(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               bool fractions, pe_error *err);
/* A copy of a struct that begins with its size; what the caller's header did not have is 0. */
pe_status check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err);
#define CHECK_STRUCT(type, out, given, name) TRY(check_struct(out, sizeof(type), given, name, err))
/* Entries of a table of pages that these tokens use, or so many of each sequence where length is given. */
pe_status check_pages(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, const int64_t *length,
                      pe_error *err);
/* What a call was given beside its arguments; NULL: nothing. */
pe_status check_run(pe_run *out, const pe_run *given, pe_error *err);
pe_status check_params(const pe_encoding *e, pe_params w, pe_error *err);
pe_status check_grads(const pe_encoding *e, pe_params dw, pe_error *err);
pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err);
pe_status check_pointer(const void *p, size_t align, const char *name, pe_error *err); /* not NULL, and aligned */
#define CHECK_POINTER(type, p, name) TRY(check_pointer(p, _Alignof(type), name, err))
bool checked_mul(int64_t *out, int64_t a, int64_t b); /* false: a negative factor or a product past int64 */
bool checked_add(int64_t *out, int64_t a, int64_t b);

/* Memory of one argument, in bytes: pieces of this width at three nested steps, the nearest first (core/memory.c). */
typedef struct region {
    const char *name;
    uint64_t at, end;
    int type; /* of a view's elements; -1: no view */
    int64_t width, step[3], count[3];
    use how;
} region;

region view_region(const char *name, pe_view v, use how);
region positions_region(const char *name, pe_positions p);
region params_region(const char *name, pe_params w, use how);
region array_region(const char *name, const void *data, int64_t count, size_t size, use how);
bool regions_overlap(const region *a, const region *b);
/* Nothing that is written overlaps anything else; in_place: two views may be the same. */
pe_status check_memory(const region *s, int count, bool in_place, pe_error *err);
#define CHECK_MEMORY(in_place, ...)                                                                                    \
    TRY(check_memory((region[]){ __VA_ARGS__ }, COUNT_OF(((region[]){ __VA_ARGS__ })), in_place, err))

/* ------------------------------------------------ inside calls, arguments already checked */

pe_status check_pool(const pe_pool *pool, pe_error *err); /* NULL is fine */
int pool_workers(const pe_pool *pool);
void pool_run(const pe_pool *pool, pe_job job, void *arg, int64_t count);

typedef struct turn_mode {
    bool negate, reciprocal;
} turn_mode;

pe_status part_plan(part *p, const kernels *k, pe_error *err); /* for parts that turn, after init */

static inline double gain_at(const part *p, pe_side side, const int64_t *at)
{
    return p->gains ? p->row->gain(p, side, at) : 1;
}

/* Makes rows of cos and sin, one token after another (core/table.c): what it remembers from one to the next. */
typedef struct table_maker {
    const kernels *k;
    const part *p;
    pe_side side;
    turn_mode mode;
    struct {
        bool made;
        int64_t block;
        double size;
    } at[SPANS_MAX]; /* which base each span has */
    double *base;    /* (2, pairs) */
} table_maker;
/* base: memory for PE_HEAD_DIM_MAX numbers; NULL where only rows of float64 are made. */
void table_start(table_maker *m, double *base, const kernels *k, const part *p, pe_side side, turn_mode mode);
/* The signed and sized cos and sin of pair n at this position: the definition. */
void turn_factors(const part *p, pe_side side, turn_mode mode, const int64_t *at, int64_t n, double gain, double *c,
                  double *s);
void table_row_f32(table_maker *m, float *c, float *s, const int64_t *at); /* (pairs) */
void table_row_f64(table_maker *m, double *c, double *s, const int64_t *at);

/* Frequencies that are parameters (core/trained.c). */
int64_t trained_heads(const part *p);                          /* 1 where they are not */
int64_t trained_head(const part *p, int64_t heads, int64_t h); /* whose frequencies head h of a view with so many has */
/* The signed and sized cos and sin of one head's pairs. */
void trained_row(const part *p, pe_params w, int64_t head, pe_side side, turn_mode mode, const int64_t *at, double *c,
                 double *s);
/* sum (axes, pairs) += the gradient of the frequencies that turned one vector into y. */
void trained_grad(const part *p, const int64_t *at, vec y, vec dy, double *sum);
/* The same, added to the parameters' gradient at once. */
void trained_back(const part *p, pe_params dw, int64_t head, const int64_t *at, vec y, vec dy);
void trained_store(const part *p, pe_params dw, int64_t head, const double *sum);
void trained_angle(const part *p, pe_params w, int64_t head, const int64_t *at, int64_t n, double *c, double *s);
region trained_region(const part *p, pe_params w); /* what a call reads of them */
/* Parameters, and a view's heads, where frequencies are trained. */
pe_status check_trained(const pe_encoding *e, const part *p, pe_params w, int64_t heads, pe_error *err);

double pair_frequency(const pair *p); /* radians per position */

/* The part that rotates this side, or NULL: the identity. */
const part *turning(const pe_encoding *e, pe_side side);
pe_status check_turning(const part *p, pe_side side, pe_dtype type, pe_positions at, pe_error *err);

/* A view to be turned, and its table; the arguments of rotate_tokens. */
typedef struct turn_job {
    const kernels *k;
    const part *p;
    pe_side side;
    turn_mode mode;
    pe_view y, x;
    pe_positions at;
    pe_params w;         /* of frequencies that are trained, */
    int64_t head, heads; /* and which of so many heads the view's first is; 0 heads: the view has them all */
    int64_t shift;       /* taken from first coordinates */
    pe_table table;      /* cosine.data NULL: made on the fly */
} turn_job;
/* Views of jobs[0 .. count-1], all with the same batch and tokens, in blocks of tokens over the pool. Those after the
 * first whose table is `shared` use the first's. */
void rotate_tokens(const turn_job *jobs, int count, bool shared, const pe_pool *pool);
void copy_view(pe_view y, pe_view x); /* y = x, any types */

void rotate_view(const part *p, pe_params w, pe_side side, turn_mode mode, pe_view y, pe_view x, pe_positions at,
                 int64_t shift);
void score_content(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t);
void score_bias(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t);
void score_content_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g);
void score_bias_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g);
/* seen_stride: from one head's part of seen to the next; 0: one for all heads. */
void value_add(const pe_encoding *e, pe_params w, pe_view out, pe_view prob, pe_positions q_at, pe_positions k_at,
               const uint8_t *seen, int64_t seen_stride);
void value_back(const pe_encoding *e, pe_params w, pe_params dw, pe_view dprob, pe_view prob, pe_view dout,
                pe_positions q_at, pe_positions k_at, const uint8_t *seen, int64_t seen_stride);
/* Every pair of the tile that a head sees (seen NULL: all) is within reach of every table that these hooks look into at
 * this pe_stage (-1: any). */
/* "window: query at 0, 0 and key at 0, 7 are further apart than its table reaches; ..." */
pe_status fail_reach(const part *p, const int64_t *q, const int64_t *k, pe_error *err);
pe_status check_reach(const pe_encoding *e, unsigned hooks, int stage, const pe_tile *t, pe_error *err);

#endif
