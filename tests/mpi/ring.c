/* SPDX-License-Identifier: MIT
 *
 * Attention on a ring of processes: run.sh runs it under mpirun, with 1 to 8 ranks of two MPIs. Every rank knows the whole
 * problem, which is small, solves it alone and compares its share. */
#include <mpi.h>
#include <posenc_mpi.h>
#include <stdbool.h>

#include "base/num.h"
#include "test.h"

enum { T_MOST = 128, H = 4, G = 2, D = 16, MOST = 4096, R_MOST = 64 };
static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };
static MPI_Comm comm;
static int rank, ranks, T; /* T tokens, of all ranks: 96, or the next number that they can share in every order */

/* What MPI was asked to send, counted where the library cannot know of it. */
static int64_t sent;
static int under_way; /* messages that MPI still has */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on, MPI_Request *request)
{
    int size;
    PMPI_Type_size(type, &size);
    sent += (int64_t)count * size;
    under_way++;
    return PMPI_Isend(data, count, type, to, tag, on, request);
}

/* How often the library let MPI move messages that were under way, between one slice of queries and the next. */
static int64_t moved;
int MPI_Request_get_status(MPI_Request request, int *done, MPI_Status *status)
{
    moved++;
    return PMPI_Request_get_status(request, done, status);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm on, MPI_Request *request)
{
    under_way++;
    return PMPI_Irecv(data, count, type, from, tag, on, request);
}
int MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on, MPI_Request *request)
{
    under_way++;
    return PMPI_Iallreduce(from, to, count, type, op, on, request);
}
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    bool there = *request != MPI_REQUEST_NULL;
    int code = PMPI_Test(request, done, status);
    under_way -= there && *request == MPI_REQUEST_NULL;
    return code;
}

/* ------------------------------------------------ a problem, whole and in shares */

typedef struct tensors { /* (B, T, heads, dim), whole or a share */
    float *q, *k, *v, *out, *dout, *dq, *dk, *dv, *relative, *drelative;
    double *lse, *q_gates, *k_gates, *dq_gates, *dk_gates, *dw, *dsinks;
} tensors;

typedef struct problem {
    const char *spec;
    pe_ring_order order;
    pe_mask mask;
    int64_t batch, tokens;
    pe_lengths lengths;
    pe_positions at; /* tokens 0: left out */
    double soft_cap, size;
    bool sinks;
    pe_dtype type; /* of q, k and v */
    const char *kernels; /* NULL: the CPU's */
    int64_t value; /* numbers of a value; 0: D */
    pe_pool *pool;
    pe_encoding *e;
    pe_inputs in;
    float *w, sink[H];
    tensors whole, share;
    int64_t share_tokens;
    pe_ring_count count;
} problem;

static float *floats(int64_t count, uint64_t seed, double size)
{
    float *x = take(count, sizeof *x);
    for (int64_t i = 0; seed && i < count; i++)
        x[i] = (float)(size * test_uniform(&seed));
    return x;
}

static double *doubles(int64_t count, uint64_t seed)
{
    double *x = take(count, sizeof *x);
    for (int64_t i = 0; seed && i < count; i++)
        x[i] = test_uniform(&seed);
    return x;
}

static tensors fill(const problem *p, int64_t tokens, bool random)
{
    int64_t n = p->batch * tokens, r = random, V = p->value;
    uint64_t s = (uint64_t)r;
    return (tensors){ floats(n * H * D, 11 * s, p->size), floats(n * G * D, 12 * s, p->size), floats(n * G * V, 13 * s, 1),
                      floats(n * H * V, 0, 0), floats(n * H * V, 14 * s, 1), floats(n * H * D, 0, 0),
                      floats(n * G * D, 0, 0), floats(n * G * V, 0, 0), floats(n * H * R_MOST, 15 * s, 1),
                      floats(n * H * R_MOST, 0, 0), doubles(n * H, 0), doubles(n * H, 16 * s), doubles(n * H, 17 * s),
                      doubles(n * H, 0), doubles(n * H, 0), doubles(pe_encoding_param_count(p->e), 0), doubles(H, 0) };
}

static void to_share(const problem *p, void *share, const void *whole, size_t token)
{
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < p->share_tokens; i++) {
            int64_t at = pe_ring_token(p->order, p->tokens, ranks, rank, i);
            memcpy((char *)share + (size_t)(b * p->share_tokens + i) * token,
                   (const char *)whole + (size_t)(b * p->tokens + at) * token, token);
        }
}

static void open_problem(problem *p)
{
    p->batch += !p->batch;
    p->tokens += p->tokens ? 0 : T;
    p->value += p->value ? 0 : D;
    p->size += p->size > 0 ? 0 : 1;
    p->e = encoding_of(p->spec, shape);
    if (p->kernels)
        assert_ok(pe_encoding_set_kernels(p->e, p->kernels, &err));
    p->in = pe_encoding_inputs(p->e);
    assert_true(p->in.relative <= R_MOST);
    p->w = take(pe_encoding_param_count(p->e), sizeof(float));
    assert_ok(pe_encoding_init(p->e, (pe_params){ p->w, PE_F32, pe_encoding_param_count(p->e) }, 3, &err));
    for (int h = 0; h < H; h++)
        p->sink[h] = (float)h / 2;
    p->share_tokens = p->tokens / ranks;
    p->whole = fill(p, p->tokens, true);
    p->share = fill(p, p->share_tokens, false);
    const size_t each = sizeof(float), value = (size_t)p->value * each, gate = H * sizeof(double);
    to_share(p, p->share.q, p->whole.q, H * D * each);
    to_share(p, p->share.k, p->whole.k, G * D * each);
    to_share(p, p->share.v, p->whole.v, G * value);
    to_share(p, p->share.dout, p->whole.dout, H * value);
    to_share(p, p->share.q_gates, p->whole.q_gates, gate);
    to_share(p, p->share.k_gates, p->whole.k_gates, gate);
    to_share(p, p->share.relative, p->whole.relative, (size_t)(H * p->in.relative) * sizeof(float));
}

/* In the problem's type: the numbers themselves, or copies. */
static pe_view vectors_of(const problem *p, float *x, int64_t n, int64_t heads, int64_t dim)
{
    int64_t count = p->batch * n * heads * dim;
    void *y = p->type == PE_F32 ? x : take(count, pe_dtype_size(p->type));
    for (int64_t i = 0; y != x && i < count; i++)
        num_store(y, p->type, i, (double)x[i]);
    return pe_view_of(y, p->type, p->batch, n, heads, dim);
}

static pe_attention attention_of(const problem *p, tensors *x, int64_t n)
{
    int64_t b = p->batch;
    pe_attention a = PE_MAKE(pe_attention, .out = pe_view_of(x->out, PE_F32, b, n, H, p->value),
                             .lse = pe_view_of(x->lse, PE_F64, b, n, H, 1), .q = vectors_of(p, x->q, n, H, D),
                             .k = vectors_of(p, x->k, n, G, D), .v = vectors_of(p, x->v, n, G, p->value),
                             .mask = p->mask, .k_at = p->at, .k_lengths = p->lengths, .soft_cap = p->soft_cap);
    if (p->in.gates) {
        a.q_gates = pe_view_of(x->q_gates, PE_F64, b, n, H, 1);
        a.k_gates = pe_view_of(x->k_gates, PE_F64, b, n, H, 1);
    }
    if (p->in.relative)
        a.relative = pe_view_of(x->relative, PE_F32, b, n, H, p->in.relative);
    if (p->sinks)
        a.sinks = (pe_params){ (void *)(uintptr_t)p->sink, PE_F32, H };
    return a;
}

static pe_attention_grad gradient_of(const problem *p, tensors *x, int64_t n)
{
    int64_t b = p->batch;
    pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = pe_view_of(x->dout, PE_F32, b, n, H, p->value),
                                  .dq = pe_view_of(x->dq, PE_F32, b, n, H, D),
                                  .dk = pe_view_of(x->dk, PE_F32, b, n, G, D),
                                  .dv = pe_view_of(x->dv, PE_F32, b, n, G, p->value),
                                  .dparams = { x->dw, PE_F64, pe_encoding_param_count(p->e) });
    if (p->in.gates) {
        g.dq_gates = pe_view_of(x->dq_gates, PE_F64, b, n, H, 1);
        g.dk_gates = pe_view_of(x->dk_gates, PE_F64, b, n, H, 1);
    }
    if (p->in.relative)
        g.drelative = pe_view_of(x->drelative, PE_F32, b, n, H, p->in.relative);
    if (p->sinks)
        g.dsinks = (pe_params){ x->dsinks, PE_F64, H };
    return g;
}

static pe_run run_of(const problem *p)
{
    return PE_MAKE(pe_run, .params = { p->w, PE_F32, pe_encoding_param_count(p->e) }, .pool = p->pool);
}

static void alone(problem *p)
{
    pe_attention a = attention_of(p, &p->whole, p->tokens);
    pe_attention_grad g = gradient_of(p, &p->whole, p->tokens);
    if (!a.k_at.tokens) {
        a.k_at = pe_positions_run(p->batch, p->tokens, 0);
        a.k_at.axes = pe_encoding_axes(p->e);
    }
    a.q_at = a.k_at;
    a.q_lengths = a.k_lengths;
    pe_run run = run_of(p);
    assert_ok(pe_attention_work(p->e, &a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_attention_forward(p->e, &a, &run, &err));
    assert_ok(pe_attention_backward_work(p->e, &a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_attention_backward(p->e, &a, &g, &run, &err));
}

static pe_ring ring_of(problem *p)
{
    return PE_MAKE(pe_ring, .comm = comm, .order = p->order, .patience = 60, .count = &p->count);
}

static void together(problem *p)
{
    pe_attention a = attention_of(p, &p->share, p->share_tokens);
    pe_attention_grad g = gradient_of(p, &p->share, p->share_tokens);
    pe_ring ring = ring_of(p);
    pe_run run = run_of(p);
    assert_ok(pe_ring_attention_work(&ring, p->e, &a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_ring_attention_forward(&ring, p->e, &a, &run, &err));
    run.work = NULL;
    assert_ok(pe_ring_attention_backward_work(&ring, p->e, &a, &g, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_ring_attention_backward(&ring, p->e, &a, &g, &run, &err));
}

/* ------------------------------------------------ comparing */

/* Within the roundings of sums of float32: a bound on the largest of them. */
static void near(const problem *p, const char *what, double is, double wanted, double most, double bound)
{
    if (is == wanted || fabs(is - wanted) <= bound * (1 + most))
        return;
    fail_msg("%s, order %d, %d ranks: %s of rank %d is %g; one process has %g", p->spec, (int)p->order, ranks, what, rank,
             is, wanted);
}

static void same_floats(const problem *p, const char *what, const float *share, const float *whole, int64_t each,
                        double bound)
{
    double most = 0;
    for (int64_t i = 0; i < p->batch * p->tokens * each; i++)
        most = fmax(most, fabs((double)whole[i]));
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < p->share_tokens; i++)
            for (int64_t d = 0; d < each; d++) {
                int64_t at = pe_ring_token(p->order, p->tokens, ranks, rank, i);
                near(p, what, (double)share[(b * p->share_tokens + i) * each + d],
                     (double)whole[(b * p->tokens + at) * each + d], most, bound);
            }
}

static void same_doubles(const problem *p, const char *what, const double *share, const double *whole, double bound)
{
    double most = 0;
    for (int64_t i = 0; i < p->batch * p->tokens * H; i++)
        most = isinf(whole[i]) ? most : fmax(most, fabs(whole[i]));
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < p->share_tokens * H; i++) {
            int64_t at = pe_ring_token(p->order, p->tokens, ranks, rank, i / H);
            near(p, what, share[b * p->share_tokens * H + i], whole[(b * p->tokens + at) * H + i % H], most, bound);
        }
}

static void same_sums(const problem *p, const char *what, const double *is, const double *wanted, int64_t count,
                      double bound)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(wanted[i]));
    for (int64_t i = 0; i < count; i++)
        near(p, what, is[i], wanted[i], most, bound);
}

static void compare(const problem *p, double bound)
{
    const tensors *s = &p->share, *w = &p->whole;
    same_floats(p, "out", s->out, w->out, H * p->value, bound);
    same_doubles(p, "lse", s->lse, w->lse, bound);
    same_floats(p, "dq", s->dq, w->dq, H * D, bound);
    same_floats(p, "dk", s->dk, w->dk, G * D, bound);
    same_floats(p, "dv", s->dv, w->dv, G * p->value, bound);
    if (p->in.gates) {
        same_doubles(p, "dq_gates", s->dq_gates, w->dq_gates, bound);
        same_doubles(p, "dk_gates", s->dk_gates, w->dk_gates, bound);
    }
    if (p->in.relative)
        same_floats(p, "drelative", s->drelative, w->drelative, H * p->in.relative, bound);
    same_sums(p, "dparams", s->dw, w->dw, pe_encoding_param_count(p->e), bound);
    if (p->sinks)
        same_sums(p, "dsinks", s->dsinks, w->dsinks, H, bound);
}

static void check(problem p, double bound)
{
    int mark = taken();
    open_problem(&p);
    alone(&p);
    together(&p);
    compare(&p, bound);
    give_back_to(mark);
}

/* ------------------------------------------------ claims */

static const pe_mask causal = { .causal = true, .align = PE_ALIGN_POSITION };
static const double close_enough = 2e-5;

TEST(every_token_has_one_place)
{
    int seen[T_MOST];
    for (int order = 0; order < 3; order++) {
        memset(seen, 0, sizeof seen);
        for (int r = 0; r < ranks; r++)
            for (int64_t i = 0; i < T / ranks; i++)
                seen[pe_ring_token((pe_ring_order)order, T, ranks, r, i)]++;
        for (int t = 0; t < T; t++)
            assert_int_equal(seen[t], 1);
    }
    assert_true(pe_ring_token(PE_RING_ZIGZAG, 6, 4, 0, 0) == -1 && pe_ring_token(PE_RING_STRIPED, 8, 4, 4, 0) == -1 &&
                pe_ring_token(PE_RING_STRIPED, 8, 4, 3, 2) == -1);
    assert_true(pe_ring_token(PE_RING_ZIGZAG, 16, 4, 1, 2) == 12 && pe_ring_token(PE_RING_STRIPED, 16, 4, 1, 2) == 9);
}

/* Whether one process can do it at all: tables that are too short, rows that only embed, shapes that do not suit. */
static bool attends(const char *spec, pe_mask mask, bool *counts)
{
    float x = 0;
    size_t bytes;
    pe_encoding *e = encoding_if_any(spec, shape);
    if (!e || !(pe_encoding_hooks(e) & ~PE_HOOK_EMBED))
        return false;
    *counts = pe_encoding_carries(e);
    problem p = { .spec = spec, .batch = 1, .value = D, .e = e, .in = pe_encoding_inputs(e), .mask = mask };
    tensors all = { .q = &x, .k = &x, .v = &x, .out = &x, .relative = &x };
    double gate = 0;
    all.lse = all.q_gates = all.k_gates = &gate;
    pe_attention a = attention_of(&p, &all, T);
    a.k_at = pe_positions_run(1, T, 0);
    a.k_at.axes = pe_encoding_axes(e);
    a.q_at = a.k_at;
    return !pe_attention_work(e, &a, NULL, &bytes, &err);
}

static int check_row(const char *spec, pe_mask mask)
{
    int orders = 0, mark = taken();
    bool counts = false;
    for (int order = 0; order < 3 && attends(spec, mask, &counts); order++)
        if (!counts || order != PE_RING_STRIPED || ranks == 1) {
            check((problem){ .spec = spec, .order = (pe_ring_order)order, .mask = mask, .sinks = true }, close_enough);
            orders++;
        }
    give_back_to(mark);
    return orders > 0;
}

TEST(every_row_on_a_ring_is_one_process)
{
    int rows = 0;
    for (int i = 0; pe_info_at(i); i++) {
        const pe_info *info = pe_info_at(i);
        char longer[100];
        int mine = 0;
        for (int x = 0; x < info->example_count; x++) {
            mine += check_row(info->examples[x], causal);
            mine += check_row(info->examples[x], (pe_mask){ 0 });
        }
        snprintf(longer, sizeof longer, "%s:%s=%d", info->name, info->key_length ? info->key_length : "", T);
        if (info->key_length)
            mine += check_row(longer, causal);
        if (!mine && info->hooks & ~PE_HOOK_EMBED && strcmp(info->name, "window")) /* it has a test of its own */
            fail_msg("%s was not tried", info->name);
        rows += mine;
    }
    if (!rank)
        printf("%d specs and masks of the registry on %d ranks\n", rows, ranks);
    assert_true(rows > 60);
}

/* Rows of a picture, the coordinates of a video: positions are an array of the whole sequence. */
TEST(grids_on_a_ring_are_one_process)
{
    static int64_t at[T_MOST * 3];
    char window[40];
    int tokens = 2 * 2 * ranks * 4;
    snprintf(window, sizeof window, "window:window=2/%d/4", 2 * ranks);
    assert_true(tokens <= T_MOST);
    assert_ok(pe_positions_grid(at, 2, 2 * ranks, 4, 0, &err));
    pe_positions video = pe_positions_of(at, PE_I64, 1, tokens, 3), picture = video;
    picture.axes = 2;
    picture.data = at + 1;
    for (int order = 0; order < 3; order++) {
        problem p = { .spec = window, .order = (pe_ring_order)order, .tokens = tokens, .at = video };
        check(p, close_enough);
        p.spec = "rope:axes=2,split=axial", p.at = picture, check(p, close_enough);
    }
}

TEST(keys_that_are_counted_are_refused_in_the_striped_order)
{
    problem p = { .spec = "cope", .order = PE_RING_STRIPED };
    size_t bytes;
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    pe_ring ring = ring_of(&p);
    if (ranks > 1)
        assert_refused(pe_ring_attention_work(&ring, p.e, &a, NULL, &bytes, &err), PE_ERR_UNSUITED,
                       "counts keys from right to left");
}

TEST(every_mask_and_length_is_that_of_one_process)
{
    static const char *const specs[] = { "rope", "alibi", "t5:direction=both", "shaw", "fire", "cope", "none" };
    const int64_t lengths[] = { T - 5, 11 }, offset[] = { 0, 7, 7, 40, T };
    static int64_t at[T_MOST], restart[T_MOST];
    const pe_mask window = { .causal = true, .align = PE_ALIGN_POSITION, .window = 20 },
                  both = { .align = PE_ALIGN_POSITION, .window = 13 },
                  first = { .causal = true, .align = PE_ALIGN_POSITION, .window = 9, .first_keys = 4 },
                  plain = { .causal = true };
    for (int i = 0; i < T; i++)
        at[i] = 3 * i - 20;
    assert_ok(pe_positions_packed(restart, offset, 4, &err));
    for (int i = 0; i < COUNT(specs); i++)
        for (int order = 0; order < 3; order++) {
            problem p = { .spec = specs[i], .order = (pe_ring_order)order, .mask = causal };
            if (!strcmp(specs[i], "cope") && order == PE_RING_STRIPED)
                continue;
            p.mask = window, check(p, close_enough);
            p.mask = both, check(p, close_enough);
            p.mask = first, check(p, close_enough);
            p.mask = plain, p.soft_cap = 5, check(p, close_enough);
            p.lengths.length = lengths, p.batch = 2, p.sinks = true, check(p, close_enough);
            p.lengths.padded_left = true, check(p, close_enough);
            p.lengths = (pe_lengths){ .offset = offset, .sequences = 4 }, p.batch = 1, check(p, close_enough);
            p.mask = causal, p.at = pe_positions_of(restart, PE_I64, 1, T, 1), check(p, close_enough);
            p.lengths = (pe_lengths){ 0 }, p.at = pe_positions_of(at, PE_I64, 1, T, 1), check(p, close_enough);
        }
}

static bool products_are_bf16(void)
{
    return !strcmp(pe_encoding_kernels(encoding_of("none", shape)), "bf16");
}

/* What goes round has the caller's types; values may have another width than keys. */
TEST(every_type_and_width_is_that_of_one_process)
{
    static const char *const specs[] = { "rope", "t5", "forget", "cope" };
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    for (int i = 0; i < COUNT(specs); i++)
        for (int t = 0; t < COUNT(types); t++) {
            problem p = { .spec = specs[i], .order = i % 2 ? PE_RING_ZIGZAG : PE_RING_CONTIGUOUS, .mask = causal,
                          .type = types[t], .value = t % 2 ? 24 : 7 };
            if (types[t] == PE_BF16 && products_are_bf16()) { /* weights are rounded about the largest score of a piece */
                check(p, 0x1p-6);
                p.kernels = "avx512";
            }
            check(p, close_enough);
        }
}

/* The same numbers as heads of tokens in place of tokens of heads. */
static pe_view heads_first(pe_view v, pe_dtype type)
{
    pe_view w = pe_view_of(take(v.batch * v.tokens * v.heads * v.dim, pe_dtype_size(type)), type, v.batch, v.tokens,
                           v.heads, v.dim);
    w.head_stride = v.tokens * v.dim;
    w.token_stride = v.dim;
    return w;
}

static double number_at(pe_view v, int64_t i)
{
    int64_t d = i % v.dim, h = i / v.dim % v.heads, t = i / v.dim / v.heads % v.tokens, b = i / v.dim / v.heads / v.tokens;
    return num_load(v.data, v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride + d);
}

static pe_view copied(pe_view v)
{
    pe_view w = heads_first(v, v.dtype);
    for (int64_t i = 0; i < v.batch * v.tokens * v.heads * v.dim; i++) {
        int64_t d = i % v.dim, h = i / v.dim % v.heads, n = i / v.dim / v.heads; /* of batch and token */
        num_store(w.data, w.dtype, n / v.tokens * w.batch_stride + n % v.tokens * w.token_stride + h * w.head_stride + d,
                  number_at(v, i));
    }
    return w;
}

/* Views of any strides; and gradients in float64 that are added to what is there, 0.5. */
TEST(layouts_and_sums_change_nothing)
{
    problem p = { .spec = "t5", .order = PE_RING_ZIGZAG, .mask = causal, .batch = 2 };
    open_problem(&p);
    together(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens), b = a;
    pe_attention_grad g = gradient_of(&p, &p.share, p.share_tokens), h = g;
    pe_ring ring = ring_of(&p);
    pe_run run = run_of(&p);
    b.q = copied(a.q), b.k = copied(a.k), b.v = copied(a.v), h.dout = copied(g.dout);
    b.out = heads_first(a.out, PE_F32), b.lse = heads_first(a.lse, PE_F64);
    pe_view *grads[] = { &h.dq, &h.dk, &h.dv };
    const pe_view *wanted[] = { &g.dq, &g.dk, &g.dv };
    for (int n = 0; n < 3; n++) {
        *grads[n] = heads_first(*wanted[n], PE_F64);
        for (int64_t i = 0; i < wanted[n]->batch * wanted[n]->batch_stride; i++)
            ((double *)grads[n]->data)[i] = 0.5;
    }
    h.accumulate = true;
    assert_ok(pe_ring_attention_work(&ring, p.e, &b, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_ring_attention_forward(&ring, p.e, &b, &run, &err));
    run.work = NULL;
    assert_ok(pe_ring_attention_backward_work(&ring, p.e, &b, &h, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    assert_ok(pe_ring_attention_backward(&ring, p.e, &b, &h, &run, &err));
    for (int64_t i = 0; i < a.out.batch * a.out.batch_stride; i++)
        assert_true(number_at(b.out, i) == number_at(a.out, i));
    for (int n = 0; n < 3; n++)
        for (int64_t i = 0; i < wanted[n]->batch * wanted[n]->batch_stride; i++)
            near(&p, "a gradient", number_at(*grads[n], i), 0.5 + number_at(*wanted[n], i), 1, 1e-6);
}

/* More queries than a slice. */
TEST(long_shares_are_sliced)
{
    static const char *const specs[] = { "rope", "alibi", "cope" };
    int64_t tokens = ranks > 1 ? 1100 * ranks : 2200;
    for (int i = 0; i < COUNT(specs); i++)
        check((problem){ .spec = specs[i], .order = ranks > 1 ? PE_RING_CONTIGUOUS : PE_RING_ZIGZAG, .mask = causal,
                         .tokens = tokens < MOST ? tokens : 2 * T * ranks }, 5e-5);
}

/* Keys are sent before a rank computes with them, and MPI is asked to go on after every slice: 3 slices a step here, of
 * which the last step has nothing under way. */
TEST(messages_move_while_a_rank_computes)
{
    enum { SLICES = 3 };
    problem p = { .spec = "none", .tokens = ranks * (2 * 1024 + 6) };
    if (ranks > 4)
        return; /* the same for more */
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    pe_ring ring = ring_of(&p);
    pe_run run = run_of(&p);
    assert_ok(pe_ring_attention_work(&ring, p.e, &a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    moved = 0;
    assert_ok(pe_ring_attention_forward(&ring, p.e, &a, &run, &err));
    assert_int_equal(moved, ranks > 1 ? SLICES * (ranks - 1) : 0);
}

static void same_bits(const problem *a, const problem *b)
{
    const tensors *x = &a->share, *y = &b->share;
    size_t n = (size_t)(a->batch * a->share_tokens * D) * sizeof(float);
    assert_memory_equal(x->out, y->out, n * H);
    assert_memory_equal(x->dq, y->dq, n * H);
    assert_memory_equal(x->dk, y->dk, n * G);
    assert_memory_equal(x->dv, y->dv, n * G);
    assert_memory_equal(x->dw, y->dw, (size_t)pe_encoding_param_count(a->e) * sizeof(double));
}

TEST(the_same_call_has_the_same_bits_with_any_pool)
{
    static const char *const specs[] = { "t5", "cope", "rope" };
    for (int i = 0; i < COUNT(specs); i++) {
        problem a = { .spec = specs[i], .order = PE_RING_ZIGZAG, .mask = causal }, b = a, c = a;
        c.pool = pool_of(2);
        open_problem(&a), open_problem(&b), open_problem(&c);
        together(&a), together(&b), together(&c);
        same_bits(&a, &b);
        same_bits(&a, &c);
    }
}

/* The sums of parameters have the same bits on every rank, so that models stay equal. */
TEST(every_rank_gets_the_same_sums)
{
    problem p = { .spec = "t5", .order = PE_RING_STRIPED, .mask = causal };
    open_problem(&p);
    together(&p);
    int64_t count = pe_encoding_param_count(p.e);
    double *first = take(count, sizeof *first);
    memcpy(first, p.share.dw, (size_t)count * sizeof *first);
    MPI_Bcast(first, (int)count, MPI_DOUBLE, 0, comm);
    assert_memory_equal(first, p.share.dw, (size_t)count * sizeof *first);
}

static int64_t bytes_of(problem *p, bool back)
{
    int64_t bytes = 0;
    pe_attention a = attention_of(p, &p->share, p->share_tokens);
    pe_attention_grad g = gradient_of(p, &p->share, p->share_tokens);
    pe_ring ring = ring_of(p);
    assert_ok(pe_ring_attention_bytes(&ring, p->e, &a, back ? &g : NULL, &bytes, &err));
    return bytes;
}

static int64_t up_to_8(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The formula of docs/scale.md, written out again: what the library says, what it counts and what MPI was given. */
static void check_bytes(problem p)
{
    open_problem(&p);
    bool counts = pe_encoding_carries(p.e);
    int64_t n = p.share_tokens, blocks = ranks - 1, s = (int64_t)pe_dtype_size(p.type), V = p.value;
    if (counts && p.order == PE_RING_ZIGZAG)
        n /= 2, blocks *= 2; /* chunk by chunk */
    int64_t gates = p.in.gates ? n * H * 8 : 0, kv = up_to_8(n * G * D * s) + up_to_8(n * G * V * s) + gates;
    int64_t sums = up_to_8(n * G * D * 4) + up_to_8(n * G * V * 4) + gates;
    int64_t forward = blocks * kv, backward = blocks * (kv * (counts ? 2 : 1) + sums);
    if (ranks > 1)
        backward += 8 * pe_encoding_param_count(p.e) * ((rank < ranks - 1) + (rank != ranks - 2));
    sent = 0;
    together(&p);
    if (!rank)
        printf("%s: %d ranks, rank 0 sent %lld bytes in %lld messages; formula: %lld forward, %lld backward\n", p.spec,
               ranks, (long long)p.count.bytes, (long long)p.count.messages, (long long)forward, (long long)backward);
    assert_int_equal(bytes_of(&p, false), forward);
    assert_int_equal(bytes_of(&p, true), backward);
    assert_int_equal(p.count.bytes, forward + backward);
    assert_int_equal(sent, forward + backward);
}

TEST(bytes_sent_are_those_of_the_formula)
{
    static const char *const specs[] = { "rope", "t5", "cope", "forget" };
    for (int i = 0; i < COUNT(specs); i++) {
        check_bytes((problem){ .spec = specs[i], .order = PE_RING_ZIGZAG, .mask = causal });
        check_bytes((problem){ .spec = specs[i], .mask = causal, .type = PE_BF16, .value = 7, .tokens = ranks });
    }
}

/* The formula of docs/scale.md, written out again; of encodings that count no keys. */
static double memory_of(const problem *p, int64_t n, bool back)
{
    double m = (double)n, c = p->order == PE_RING_ZIGZAG ? m / 2 : m, heads = G, wide = D + (double)p->value;
    double apart = heads * fmax(ceil(8 / heads), fmin(ceil(16 / heads), 4 * H / heads));
    return back ? m * heads * wide * (2 * 4 + 5 * 4) + c * wide * 4 * (2 * heads + apart) :
                  m * (heads * wide * 2 * 4 + H * ((double)p->value + 2) * 4) + c * wide * 4 * heads;
}

/* What a call needs beside it are tiles, and what a token or a distance has in few numbers. */
static void check_memory(const problem *p, int64_t n, bool back, size_t bytes)
{
    double model = memory_of(p, n, back), rest = (double)bytes - model;
    if (!rank)
        printf("%s %s, %lld tokens of a rank: %.1f MB, the formula %.1f\n", p->spec, back ? "backward" : "forward",
               (long long)n, (double)bytes / 1e6, model / 1e6);
    assert_true(rest >= 0 && rest <= 0.05 * model + 3e6);
}

/* Of a sequence on more ranks each has less: the work memory is never much more than its part of one rank's. */
TEST(memory_falls_with_the_number_of_ranks)
{
    enum { LONG = 1 << 17 };
    static const char *const specs[] = { "rope", "alibi", "t5", "cope" };
    for (int i = 0; i < COUNT(specs); i++)
        for (int back = 0; back < 2; back++) {
            size_t bytes[2];
            problem p = { .spec = specs[i], .order = i % 2 ? PE_RING_CONTIGUOUS : PE_RING_ZIGZAG, .mask = causal };
            open_problem(&p);
            for (int many = 0; many < 2; many++) {
                pe_ring ring = PE_MAKE(pe_ring, .comm = many ? comm : MPI_COMM_SELF, .order = p.order);
                int64_t n = many ? LONG / ranks / 2 * 2 : LONG; /* nothing is read */
                pe_attention a = attention_of(&p, &p.share, n);
                pe_attention_grad g = gradient_of(&p, &p.share, n);
                pe_run run = run_of(&p);
                assert_ok(back ? pe_ring_attention_backward_work(&ring, p.e, &a, &g, &run, &bytes[many], &err) :
                                 pe_ring_attention_work(&ring, p.e, &a, &run, &bytes[many], &err));
                if (many && !pe_encoding_carries(p.e))
                    check_memory(&p, n, back, bytes[many]);
            }
            assert_true((double)bytes[1] <= 1.05 * (double)bytes[0] / ranks + (12 << 20));
        }
}

/* ------------------------------------------------ failures */

static pe_status forward_again(problem *p, pe_attention *a)
{
    pe_ring ring = ring_of(p);
    pe_run run = run_of(p);
    pe_attention good = attention_of(p, &p->share, p->share_tokens);
    assert_ok(pe_ring_attention_work(&ring, p->e, &good, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    forget_error();
    return pe_ring_attention_forward(&ring, p->e, a, &run, &err);
}

TEST(one_rank_that_refuses_is_told_to_all_and_the_ring_goes_on)
{
    problem p = { .spec = "alibi", .mask = causal };
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    if (rank == ranks - 1)
        a.mask.window = -1;
    pe_status s = forward_again(&p, &a);
    if (rank == ranks - 1)
        test_refused("its own", s, PE_ERR_RANGE, "window is -1", false);
    else
        test_refused("another's", s, PE_ERR_PEER, "of the ring failed; its own error says why", false);
    a.mask.window = 0;
    assert_ok(forward_again(&p, &a));
}

/* Its messages are done with when it returns, whatever it was that it refused: they lie in its frame. */
TEST(a_rank_that_refuses_leaves_no_message_behind)
{
    problem p = { .spec = "alibi", .mask = causal };
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    pe_ring ring = ring_of(&p);
    pe_run run = run_of(&p);
    ring.patience = rank ? 60 : -1;
    forget_error();
    assert_true(pe_ring_attention_forward(&ring, p.e, &a, &run, &err) == (rank ? PE_ERR_NULL : PE_ERR_RANGE)); /* no work */
    assert_int_equal(under_way, 0);
    assert_ok(forward_again(&p, &a));
}

TEST(a_rank_without_a_gradient_is_told_to_all)
{
    problem p = { .spec = "alibi", .mask = causal };
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    pe_attention_grad g = gradient_of(&p, &p.share, p.share_tokens);
    pe_ring ring = ring_of(&p);
    pe_run run = run_of(&p);
    assert_ok(pe_ring_attention_backward_work(&ring, p.e, &a, &g, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    forget_error();
    pe_status s = pe_ring_attention_backward(&ring, p.e, &a, rank ? &g : NULL, &run, &err);
    if (rank)
        test_refused("another's", s, PE_ERR_PEER, "rank 0 of the ring failed", false);
    else
        test_refused("its own", s, PE_ERR_NULL, "the gradient is NULL", false);
    assert_int_equal(under_way, 0);
    assert_ok(forward_again(&p, &a));
}

TEST(ranks_with_different_problems_are_refused)
{
    problem p = { .spec = "alibi", .mask = causal };
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens);
    a.mask.window = rank == 0 ? 0 : 50;
    pe_status s = forward_again(&p, &a);
    if (ranks == 1)
        assert_int_equal(s, PE_OK);
    else
        test_refused("different windows", s, PE_ERR_PEER, "the ranks of the ring have different problems", false);
}

/* What is found only while messages are under way does not stop them. */
TEST(a_rank_that_fails_late_is_told_to_all)
{
    problem p = { .spec = "alibi", .mask = causal };
    open_problem(&p);
    pe_attention a = attention_of(&p, &p.share, p.share_tokens), good = a;
    pe_attention_grad g = gradient_of(&p, &p.share, p.share_tokens);
    pe_ring ring = ring_of(&p);
    pe_run run = run_of(&p);
    assert_ok(pe_ring_attention_backward_work(&ring, p.e, &a, &g, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    if (rank == 0)
        a.lse.data = NULL;
    forget_error();
    pe_status s = pe_ring_attention_backward(&ring, p.e, &a, &g, &run, &err);
    if (rank == 0)
        test_refused("its own", s, PE_ERR_NULL, "lse is NULL", false);
    else
        test_refused("another's", s, PE_ERR_PEER, "rank 0 of the ring failed", false);
    assert_ok(forward_again(&p, &good));
}

TEST(misuse_is_refused_with_a_sentence)
{
    static float x[T_MOST * H * D];
    problem p = { .spec = "alibi", .mask = causal };
    size_t bytes;
    open_problem(&p);
    pe_ring ring = ring_of(&p), bad;
    pe_attention good = attention_of(&p, &p.share, p.share_tokens), a;
    pe_attention_grad g = gradient_of(&p, &p.share, p.share_tokens);
#define REFUSED(what, status, words)                                                                                   \
    do {                                                                                                               \
        a = good, bad = ring;                                                                                          \
        what;                                                                                                          \
        assert_refused(pe_ring_attention_work(&bad, p.e, &a, NULL, &bytes, &err), status, words);                      \
    } while (0)
    REFUSED(bad.comm = MPI_COMM_NULL, PE_ERR_NULL, "MPI_Comm_dup");
    REFUSED(bad.order = (pe_ring_order)7, PE_ERR_RANGE, "ring.order is 7");
    REFUSED(bad.patience = -1, PE_ERR_RANGE, "ring.patience is -1");
    REFUSED(bad.size = 0, PE_ERR_SHAPE, "PE_MAKE");
    REFUSED(a.mask.keep = pe_view_of(x, PE_BOOL, 1, 1, 1, T), PE_ERR_UNSUITED, "mask.keep is given");
    REFUSED(a.mask.additive = pe_view_of(x, PE_F32, 1, 1, 1, T), PE_ERR_UNSUITED, "mask.additive is given");
    REFUSED(a.scores = pe_view_of(x, PE_F32, 1, 1, 1, T), PE_ERR_UNSUITED, "scores or probabilities");
    REFUSED(a.q_at = pe_positions_run(1, T, 0), PE_ERR_UNSUITED, "k_at alone");
    REFUSED(a.mask.keys_after = 1, PE_ERR_UNSUITED, "mask.keys_before");
    REFUSED(a.k_at = pe_positions_run(1, T + 1, 0), PE_ERR_SHAPE, "k_at");
    REFUSED((a.k_at = pe_positions_run(1, T, 0), a.k_at.step = 2, a.mask.align = PE_ALIGN_END), PE_ERR_UNSUITED,
            "needs PE_ALIGN_POSITION");
    REFUSED(a.k.tokens--, PE_ERR_SHAPE, "a share needs those of q");
    REFUSED(a.k_lengths.length = (const int64_t[]){ T + 1 }, PE_ERR_RANGE, "length 0 is");
    REFUSED((a.q.tokens = a.k.tokens = a.v.tokens = a.out.tokens = a.lse.tokens = 0), PE_ERR_SHAPE, "q has 0 tokens");
    REFUSED((a.out = pe_view_of(x, PE_F32, 2, T / ranks, H, D)), PE_ERR_SHAPE, "out has 2 sequences");
    g.dk.dtype = PE_BF16;
    assert_refused(pe_ring_attention_backward_work(&ring, p.e, &good, &g, NULL, &bytes, &err), PE_ERR_DTYPE,
                   "dk has too few digits for a sum over ranks");
    g = gradient_of(&p, &p.share, p.share_tokens);
    g.piece = true;
    assert_refused(pe_ring_attention_backward_work(&ring, p.e, &good, &g, NULL, &bytes, &err), PE_ERR_UNSUITED,
                   "piece, carry or dcarry is given");
    assert_refused(pe_ring_attention_work(&ring, p.e, &good, NULL, NULL, &err), PE_ERR_NULL, "bytes");
}

AROUND(before_all)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    T = (96 + 2 * ranks - 1) / (2 * ranks) * 2 * ranks;
}

AROUND(after_all)
{
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
