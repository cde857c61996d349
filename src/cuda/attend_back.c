/* SPDX-License-Identifier: MIT
 *
 * Gradients of attention on a GPU. attend_rows makes what each query needs. On Hopper one kernel has all gradients, on
 * the matrix units: it leaves sums of dq, which attend_dq_finish writes where they belong, and flags of tiles in which
 * NaN or infinity is hidden, which the kernels on the ordinary units compute again. These compute the rest: one has the
 * gradients of queries and of tables by distance, one those of keys and values. */
#include "cuda/attend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda/recipes.h"
#include "cuda/rotation.h"

enum { SIMT_M = 64, SIMT_N = 32, SIMT_THREADS = 128, SIMT_SLOTS = 8 };
enum { HOPPER_M = 128, HOPPER_N = 64, HOPPER_THREADS = 384 }; /* keys and queries of a tile */

enum { ROWS, DSINKS, FINISH, ADD, DQ, DKV, DADDITIVE, HOPPER, KERNELS };
#define COMMON "attend_args.h", "attend_common.cu"
static const char *const simt_sources[] = { COMMON, "attend_back_common.cu", "simt.cu", "attend_back_simt.cu", NULL };
static const char *const rows_sources[] = { COMMON, "attend_back_common.cu", "attend_rows.cu", NULL };
static const char *const hopper_sources[] = {
    COMMON, "hopper.cu", "attend_hopper_common.cu", "attend_back_common.cu", "attend_back_hopper.cu", NULL
};
static const kernel_source source[KERNELS] = {
    [ADD] = { "attend_add", rows_sources, false },          [DADDITIVE] = { "attend_dadditive", simt_sources, false },
    [ROWS] = { "attend_rows", rows_sources, false },        [DSINKS] = { "attend_dsinks", rows_sources, false },
    [FINISH] = { "attend_dq_finish", rows_sources, false }, [DQ] = { "attend_dq", simt_sources, false },
    [DKV] = { "attend_dkv", simt_sources, false },          [HOPPER] = { "attend_back_hopper", hopper_sources, false },
};

/* ------------------------------------------------ a call */

typedef struct backward {
    attend_call c;
    pe_attention_grad g;
    attend_inputs in;
    pe_view dout;       /* rotated, where the output is */
    pe_view dq, dk, dv; /* what kernels write: the caller's, or gradients that are added to these once rotated back */
    bool hopper, learns, apart;
    int64_t slots; /* of gradients of tables */
    device_pointer rows, redo_q, redo_k, dq_sum, turns, dtable[BIAS_PIECES_MAX], bias;
    attend_mapped map;
} backward;

static pe_status check_lacks(const backward *b, pe_error *err)
{
    const pe_attention_grad *g = &b->g;
    const struct {
        bool is;
        const char *what;
    } lacks[] = {
        { g->carry || g->dcarry, "a term that counts keys" },
        { g->dq_gates.data || g->dk_gates.data || g->drelative.data, "gradients of gates and relative inputs" },
        { g->dk.data && g->dv.data && g->dk.dtype != g->dv.dtype, "dk and dv of different types" },
        { g->dsinks.data && g->dsinks.dtype != PE_F32, "dsinks of a type other than float32" },
    };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].is)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "the call has %s, which gradients on a GPU do not have yet; use pe_attention_backward",
                           lacks[i].what);
    for (int n = 0; g->dparams.data && n < bias_pieces(b->c.plan); n++)
        if (b->in.piece[n].learned && b->in.piece[n].stage == PE_BEFORE_SCALE)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "%.120s has a bias whose gradient is not there yet on a GPU; use pe_attention_backward",
                           pe_encoding_spec(b->c.plan->e));
    return PE_OK;
}

static pe_status check_gradients(backward *b, pe_error *err)
{
    const pe_attention *a = &b->c.a;
    pe_attention_grad *g = &b->g;
    struct {
        pe_view *v;
        const char *name;
        pe_view like;
        use how;
    } views[] = { { &g->dout, "dout", a->out, READS },
                  { &g->dq, "dq", a->q, WRITES },
                  { &g->dk, "dk", a->k, WRITES },
                  { &g->dv, "dv", a->v, WRITES } };
    region written[7];
    int count = 0;
    for (int i = 0; i < 4; i++) {
        if (i && !views[i].v->data)
            continue;
        pe_view l = views[i].like;
        TRY(check_vector(views[i].v, views[i].name, (extent){ l.batch, l.tokens, l.heads, l.dim }, views[i].how, err));
        written[count++] = view_region(views[i].name, *views[i].v, views[i].how);
    }
    if (g->dadditive.data) {
        pe_view l = a->mask.additive;
        if (!l.data)
            return pe_fail(err, PE_ERR_NULL, "dadditive is given; the mask has no additive part");
        TRY(check_vector(&g->dadditive, "dadditive", (extent){ l.batch, l.tokens, l.heads, l.dim }, WRITES, err));
        written[count++] = view_region("dadditive", g->dadditive, WRITES);
    }
    if (!a->lse.data)
        return pe_fail(err, PE_ERR_NULL, "lse is NULL; gradients need what pe_cuda_attention_forward wrote there");
    if (g->dsinks.data && (!a->sinks.data || g->dsinks.count != a->q.heads))
        return pe_fail(err, PE_ERR_SHAPE, "dsinks: count is %" PRId64 "; needs sinks, and one per head, %" PRId64,
                       g->dsinks.count, a->q.heads);
    written[count++] =
        array_region("dparams", g->dparams.data, g->dparams.count, pe_dtype_size(g->dparams.dtype), WRITES);
    written[count++] = array_region("dsinks", g->dsinks.data, g->dsinks.count, sizeof(float), WRITES);
    return attend_apart(&b->c, written, count, err);
}

/* Whether the sizes, types and terms are those of the kernels for Hopper. What they need of memory attend_map says. */
static bool hopper_takes(const backward *b)
{
    const pe_attention *a = &b->c.a;
    attend_variant v = attend_variant_of(&b->c, &b->in, HOPPER_M, HOPPER_M);
    for (int n = 0; n < bias_pieces(b->c.plan); n++)
        if (v.bias[n] & (BIAS_SCATTER | BIAS_KNOTS))
            return false;
    return cuda_capability(b->c.plan->gpu) == 90 && a->q.dtype != PE_F32 && b->g.dout.dtype == a->q.dtype &&
           (a->q.dim == 64 || a->q.dim == 128) && a->v.dim == a->q.dim && !v.cap && !v.by_position && !v.decays &&
           a->k.tokens > 0 && attend_tiles(&b->c, HOPPER_M) > 0;
}

/* Tiles of keys, as key_place in attend_back_common.cu numbers them. */
static int64_t key_tiles(const backward *b, int size)
{
    const pe_attention *a = &b->c.a;
    if (a->k_lengths.offset)
        return (a->k.tokens / size + b->c.sequences) * a->k.heads;
    return (a->k.tokens + size - 1) / size * b->c.sequences * a->k.heads;
}

/* As many as the device runs at once, at most: each keeps a multiprocessor to itself. */
static int64_t hopper_blocks(const backward *b)
{
    int64_t tiles = key_tiles(b, HOPPER_M), processors = cuda_processors(b->c.plan->gpu);
    return tiles < processors ? tiles : processors;
}

static void lay_tables(backward *b, attend_memory *m)
{
    b->slots = !b->learns ? 0 : b->hopper ? hopper_blocks(b) : SIMT_SLOTS;
    for (int n = 0; b->learns && n < bias_pieces(b->c.plan); n++)
        if (b->in.piece[n].learned)
            b->dtable[n] = attend_take(m, b->slots * b->c.a.q.heads * b->in.piece[n].gradient, sizeof(float));
    b->bias = b->learns ? attend_take(m, (int64_t)bias_back_work(b->c.plan, b->slots), 1) : 0;
}

/* Gradients of rotated vectors cannot be added to those of vectors. They are float32 until they are. */
static void lay_gradients(backward *b, attend_memory *m)
{
    const struct {
        pe_view *to, from;
    } all[] = { { &b->dq, b->g.dq }, { &b->dk, b->g.dk }, { &b->dv, b->g.dv } };
    b->apart = b->g.accumulate && (b->c.rotates_q || b->c.rotates_k || b->c.rotates_v);
    for (int i = 0; i < 3; i++) {
        pe_view v = all[i].from;
        *all[i].to = v;
        v.dtype = PE_F32;
        if (b->apart && v.data)
            *all[i].to = attend_take_like(m, v);
    }
}

static void backward_lay(backward *b, attend_memory *m)
{
    const pe_attention *a = &b->c.a;
    attend_lay(&b->c, m, &b->in);
    lay_gradients(b, m);
    b->dout = b->c.rotates_out ? attend_take_like(m, b->g.dout) : b->g.dout;
    b->rows = attend_take(m, a->q.batch * a->q.tokens * a->q.heads, 2 * sizeof(float));
    b->hopper = hopper_takes(b);
    b->redo_q = b->hopper ? attend_take(m, 1 + attend_tiles(&b->c, HOPPER_M), sizeof(int32_t)) : 0;
    b->redo_k = b->hopper ? attend_take(m, 1 + key_tiles(b, HOPPER_M), sizeof(int32_t)) : 0;
    b->turns = b->hopper ? attend_take(m, attend_tiles(&b->c, HOPPER_N), sizeof(int32_t)) : 0;
    b->dq_sum =
        b->hopper ? attend_take(m, attend_tiles(&b->c, HOPPER_N), HOPPER_N * (size_t)a->q.dim * sizeof(float)) : 0;
    b->learns = false;
    for (int n = 0; b->g.dparams.data && n < bias_pieces(b->c.plan); n++)
        b->learns = b->learns || b->in.piece[n].learned;
    lay_tables(b, m);
}

static pe_status backward_open(backward *b, const pe_cuda_plan *plan, const pe_attention *a, const pe_attention_grad *g,
                               const pe_run *run, size_t *counted, pe_error *err)
{
    attend_memory m = { 0, 0 };
    *b = (backward){ .rows = 0 };
    TRY(attend_open(&b->c, plan, a, run, err));
    TRY(attend_outputs(&b->c, false, err));
    TRY(check_struct(&b->g, sizeof b->g, g, "the struct of gradients", err));
    TRY(check_gradients(b, err));
    backward_lay(b, &m);
    TRY(check_lacks(b, err));
    *counted = m.used;
    return PE_OK;
}

/* ------------------------------------------------ kernels */

static bool wide_view(pe_view v)
{
    int64_t each = 16 / (int64_t)pe_dtype_size(v.dtype);
    return (uintptr_t)v.data % 16 == 0 && v.dim % each == 0 && (v.batch < 2 || v.batch_stride % each == 0) &&
           (v.tokens < 2 || v.token_stride % each == 0) && (v.heads < 2 || v.head_stride % each == 0);
}

static void back_defines(const attend_variant *v, pe_dtype dout, pe_dtype dq, pe_dtype dk, bool wide, char *out)
{
    attend_defines(v, out);
    size_t used = strlen(out);
    snprintf(out + used, ATTEND_DEFINES - used,
             "#define DOUT_TYPE %d\n#define DQ_TYPE %d\n#define DK_TYPE %d\n#define WIDE %d\n", (int)dout, (int)dq,
             (int)dk, wide);
}

/* What the kernel is compiled for. Numbers of queries depend on the types and the width alone. */
static attend_variant back_variant(const backward *b, int which, int bm, int bn, int tile, bool slots)
{
    attend_variant v = attend_variant_of(&b->c, &b->in, bm, bn);
    if (which == FINISH)
        return (attend_variant){ .type = v.type, .out = v.out, .d = v.d, .dv = v.dv, .bm = bm, .bn = bn };
    if (which == ROWS || which == DSINKS)
        return (attend_variant){
            .type = v.out, .out = v.out, .d = v.dv, .dv = v.dv, .bm = bm, .bn = bn, .lse_double = v.lse_double
        };
    v.tile = tile;
    v.near = which == HOPPER;
    for (int n = 0; n < bias_pieces(b->c.plan); n++) /* gradients of tables: computed once */
        if (b->learns && b->in.piece[n].learned && (which == HOPPER || (which == DQ && slots)))
            v.bias[n] |= BIAS_GRADIENT;
    return v;
}

/* One kernel of the call: tiles of bm rows and bn columns; tile: what TILE says. */
static pe_status back_launch(const backward *b, int which, int bm, int bn, int tile, int64_t blocks, int threads,
                             size_t shared, attend_args *a, attend_mapped *mapped, void *stream, pe_error *err)
{
    const pe_attention *call = &b->c.a;
    const pe_attention_grad *g = &b->g;
    bool rows = which == ROWS || which == DSINKS;
    attend_variant v = back_variant(b, which, bm, bn, tile, a->slots > 0);
    pe_dtype dq = rows ? g->dout.dtype : g->dq.data ? b->dq.dtype : call->q.dtype;
    pe_dtype dk = rows ? g->dout.dtype : g->dk.data ? b->dk.dtype : g->dv.data ? b->dv.dtype : call->k.dtype;
    char defines[ATTEND_DEFINES];
    kernel k;
    back_defines(&v, g->dout.dtype, dq, dk,
                 rows && g->dout.dtype == call->out.dtype && wide_view(g->dout) && wide_view(call->out), defines);
    TRY(cuda_kernel(b->c.plan->gpu, &source[which], defines, &k, err));
    if (mapped)
        mapped->a = *a;
    grid size = { blocks, 1, 1, threads, shared, which == HOPPER };
    if (which == DQ || which == DKV)
        attend_blocks(&b->c, a, &size, b->hopper);
    return cuda_launch(b->c.plan->gpu, &k, size, stream, mapped ? (void *)mapped : (void *)a, err);
}

/* Blocks of one head wait for each other in a row at the beginning of a task: few of them run at the same time. */
static int32_t wave_heads(const backward *b, int32_t group)
{
    int64_t heads = attend_heads(&b->c);
    int64_t least = cuda_processors(b->c.plan->gpu) / 2, more = group < least ? least : group;
    return (int32_t)(more < heads ? more : heads);
}

static attend_args back_args(const backward *b, int bm)
{
    attend_variant v = attend_variant_of(&b->c, &b->in, bm, bm);
    attend_args a = attend_args_of(&b->c, &b->in, &v);
    if (b->hopper)
        a.head_group = wave_heads(b, a.head_group);
    a.dout = attend_view_of(b->dout);
    a.dq = attend_view_of(b->dq);
    a.dk = attend_view_of(b->dk);
    a.dv = attend_view_of(b->dv);
    a.rows = b->rows;
    a.dsinks = (uintptr_t)b->g.dsinks.data;
    a.batch = (int32_t)b->c.a.q.batch;
    a.accumulate = b->g.accumulate && !b->apart;
    memcpy(a.dtable, b->dtable, sizeof a.dtable);
    return a;
}

static pe_status run_rows(const backward *b, void *stream, pe_error *err)
{
    attend_args a = back_args(b, SIMT_M);
    int64_t rows = b->c.a.q.batch * b->c.a.q.tokens * b->c.a.q.heads;
    a.dout = attend_view_of(b->g.dout); /* as the caller has out */
    if (rows)
        TRY(back_launch(b, ROWS, SIMT_M, SIMT_N, SIMT_M, (rows + 31) / 32, 256, 0, &a, NULL, stream, err));
    if (b->g.dsinks.data && rows)
        TRY(back_launch(b, DSINKS, SIMT_M, SIMT_N, SIMT_M, b->c.a.q.heads, 256, 0, &a, NULL, stream, err));
    return PE_OK;
}

/* Clears what kernels add to or leave flags in. */
static pe_status clear_work(const backward *b, void *stream, pe_error *err)
{
    pe_cuda *gpu = b->c.plan->gpu;
    for (int n = 0; n < BIAS_PIECES_MAX; n++)
        if (b->dtable[n])
            TRY(cuda_clear(gpu, b->dtable[n],
                           (size_t)(b->slots * b->c.a.q.heads * b->in.piece[n].gradient) * sizeof(float), stream, err));
    if (!b->hopper)
        return PE_OK;
    TRY(cuda_clear(gpu, b->turns, (size_t)attend_tiles(&b->c, HOPPER_N) * sizeof(int32_t), stream, err));
    TRY(cuda_clear(gpu, b->redo_q, (size_t)(1 + attend_tiles(&b->c, HOPPER_M)) * sizeof(int32_t), stream, err));
    return cuda_clear(gpu, b->redo_k, (size_t)(1 + key_tiles(b, HOPPER_M)) * sizeof(int32_t), stream, err);
}

static int near_biases(const backward *b)
{
    attend_variant v = attend_variant_of(&b->c, &b->in, HOPPER_M, HOPPER_M);
    return attend_near(&v, &b->in, bias_pieces(b->c.plan));
}

static size_t simt_bytes(const backward *b)
{
    return ATTEND_BACK_BYTES(SIMT_M, SIMT_N, (size_t)b->c.a.q.dim, (size_t)b->c.a.v.dim);
}

static size_t hopper_bytes(const backward *b)
{
    size_t m = HOPPER_M, n = HOPPER_N, d = (size_t)b->c.a.q.dim, dv = (size_t)b->c.a.v.dim;
    return ATTEND_BACK_HOPPER_BYTES(m, n, d, dv, (size_t)near_biases(b), b->learns);
}

static pe_status run_hopper(backward *b, void *stream, pe_error *err)
{
    attend_args a = back_args(b, HOPPER_M);
    a.redo = b->redo_k;
    a.redo_queries = b->redo_q;
    a.dq_sum = b->dq_sum;
    a.turns = b->turns;
    TRY(back_launch(b, HOPPER, HOPPER_M, HOPPER_N, 0, hopper_blocks(b), HOPPER_THREADS, hopper_bytes(b), &a, &b->map,
                    stream, err));
    if (!b->g.dq.data)
        return PE_OK;
    a.tiles = back_args(b, HOPPER_N).tiles;
    return back_launch(b, FINISH, HOPPER_M, HOPPER_N, 0, attend_tiles(&b->c, HOPPER_N), 256, 0, &a, NULL, stream, err);
}

static pe_status run_queries(backward *b, void *stream, pe_error *err)
{
    int tile = b->hopper ? HOPPER_M : SIMT_M;
    attend_args a = back_args(b, tile);
    int64_t tiles = attend_tiles(&b->c, tile);
    if (!tiles || !(b->g.dq.data || (b->learns && !b->hopper)))
        return PE_OK;
    a.redo = b->hopper ? b->redo_q : 0;
    a.slots = b->hopper || !b->learns ? 0 : (int32_t)b->slots;
    int64_t blocks = a.slots ? b->slots * b->c.a.q.heads : tiles * (tile / SIMT_M);
    return back_launch(b, DQ, SIMT_M, SIMT_N, tile, blocks, SIMT_THREADS, simt_bytes(b), &a, NULL, stream, err);
}

static pe_status run_keys(backward *b, void *stream, pe_error *err)
{
    int tile = b->hopper ? HOPPER_M : SIMT_N;
    attend_args a = back_args(b, tile);
    int64_t tiles = key_tiles(b, tile);
    if (!tiles || !(b->g.dk.data || b->g.dv.data))
        return PE_OK;
    a.redo = b->hopper ? b->redo_k : 0;
    return back_launch(b, DKV, SIMT_M, SIMT_N, tile, tiles * (tile / SIMT_N), SIMT_THREADS, simt_bytes(b), &a, NULL,
                       stream, err);
}

/* One launch for all, or one after the other for heads and sequences that share numbers. */
static pe_status run_additive(const backward *b, void *stream, pe_error *err)
{
    const pe_view d = b->g.dadditive;
    const pe_attention *call = &b->c.a;
    attend_variant v = back_variant(b, DADDITIVE, SIMT_M, SIMT_N, SIMT_N, false);
    attend_args a = back_args(b, SIMT_N);
    char defines[ATTEND_DEFINES];
    kernel k;
    grid g = { key_tiles(b, SIMT_N) * a.group, 1, 1, SIMT_THREADS, simt_bytes(b), false };
    int64_t batches = d.batch == 1 ? b->c.sequences : 1, heads = d.heads == 1 ? call->q.heads : 1;
    if (!d.data || !g.x || !call->q.tokens)
        return PE_OK;
    a.dadditive = attend_view_of(d);
    a.sums = d.tokens == 1;
    back_defines(&v, b->g.dout.dtype, d.dtype, d.dtype, false, defines);
    TRY(cuda_kernel(b->c.plan->gpu, &source[DADDITIVE], defines, &k, err));
    for (int64_t n = 0; n < batches * heads; n++) {
        a.only_sequence = batches > 1 ? (int32_t)(n / heads) : -1;
        a.only_head = heads > 1 ? (int32_t)(n % heads) : -1;
        TRY(cuda_launch(b->c.plan->gpu, &k, g, stream, &a, err));
    }
    return PE_OK;
}

/* to += from */
static pe_status add_gradient(const backward *b, pe_view to, pe_view from, void *stream, pe_error *err)
{
    char defines[ATTEND_DEFINES];
    kernel k;
    int dim = (int)to.dim;
    attend_variant v = { .type = PE_F32, .out = from.dtype, .d = dim, .dv = dim, .bm = SIMT_M, .bn = SIMT_N };
    attend_args a = { .dq = attend_view_of(to),
                      .out = attend_view_of(from),
                      .batch = (int32_t)to.batch,
                      .Tq = (int32_t)to.tokens,
                      .H = (int32_t)to.heads };
    int64_t pairs = to.batch * to.tokens * to.heads * (to.dim / 2);
    if (!pairs)
        return PE_OK;
    back_defines(&v, PE_F32, to.dtype, to.dtype, false, defines);
    TRY(cuda_kernel(b->c.plan->gpu, &source[ADD], defines, &k, err));
    return cuda_launch(b->c.plan->gpu, &k, (grid){ (pairs + 255) / 256, 1, 1, 256, 0, false }, stream, &a, err);
}

/* Gradients of rotated vectors become those of the vectors. */
static pe_status rotate_gradients(const backward *b, void *stream, pe_error *err)
{
    const pe_attention_grad *g = &b->g;
    const struct {
        bool rotates;
        pe_side side;
        pe_view v, to;
        pe_positions at;
    } all[] = { { b->c.rotates_q, PE_QUERY, b->dq, g->dq, b->c.a.q_at },
                { b->c.rotates_k, PE_KEY, b->dk, g->dk, b->c.a.k_at },
                { b->c.rotates_v, PE_VALUE, b->dv, g->dv, b->c.a.k_at } };
    for (int i = 0; i < 3; i++) {
        if (all[i].to.data && all[i].rotates)
            TRY((b->c.decays ? rotate_still_back : pe_cuda_rotate_back)(b->c.plan, all[i].side, all[i].v, all[i].v,
                                                                        all[i].at, NULL, stream, err));
        if (all[i].to.data && b->apart)
            TRY(add_gradient(b, all[i].to, all[i].v, stream, err));
    }
    return PE_OK;
}

static pe_status params_back(const backward *b, void *stream, pe_error *err)
{
    bias_gradients g = { .params = b->c.run.params, .dparams = b->g.dparams, .filled = b->in.bias, .slots = b->slots };
    memcpy(g.dtable, b->dtable, sizeof g.dtable);
    return bias_back(b->c.plan, &g, b->bias, stream, err);
}

static void make_maps(backward *b)
{
    b->hopper = b->hopper && near_biases(b) >= 0 && hopper_bytes(b) <= ATTEND_SHARED_MOST &&
                attend_map(&b->c, b->map.q, b->in.q, HOPPER_N) && attend_map(&b->c, b->map.dout, b->dout, HOPPER_N) &&
                attend_map(&b->c, b->map.k, b->in.k, HOPPER_M) && attend_map(&b->c, b->map.v, b->in.v, HOPPER_M);
}

pe_status pe_cuda_attention_backward_work(const pe_cuda_plan *plan, const pe_attention *a, const pe_attention_grad *g,
                                          size_t *bytes, pe_error *err)
{
    backward b;
    size_t counted;
    if (!bytes)
        return pe_fail(err, PE_ERR_NULL, "bytes is NULL; needs a number to write to");
    TRY(backward_open(&b, plan, a, g, NULL, &counted, err));
    *bytes = attend_memory_bytes(counted);
    return pe_pass(err);
}

pe_status pe_cuda_attention_backward(const pe_cuda_plan *plan, const pe_attention *a, const pe_attention_grad *g,
                                     const pe_run *run, void *stream, pe_error *err)
{
    backward b;
    attend_memory m;
    size_t counted;
    TRY(backward_open(&b, plan, a, g, run, &counted, err));
    TRY(attend_memory_open(&b.c, counted, &m, "pe_cuda_attention_backward_work", err));
    backward_lay(&b, &m);
    make_maps(&b);
    TRY(attend_fill(&b.c, &b.in, stream, err));
    if (b.c.rotates_out)
        TRY(pe_cuda_rotate_back(plan, PE_OUTPUT, b.dout, b.g.dout, b.c.a.q_at, NULL, stream, err));
    TRY(clear_work(&b, stream, err));
    TRY(run_rows(&b, stream, err));
    if (b.hopper)
        TRY(run_hopper(&b, stream, err));
    TRY(run_queries(&b, stream, err));
    TRY(run_keys(&b, stream, err));
    TRY(run_additive(&b, stream, err));
    TRY(rotate_gradients(&b, stream, err));
    if (b.learns)
        TRY(params_back(&b, stream, err));
    return pe_pass(err);
}

/* ------------------------------------------------ what is built into the library */

/* The companions of attend_recipes: heads of 64 and 128, no bias, a fixed table or a trained one. */
bool attend_back_recipes(int index, int capability, kernel_recipe *out)
{
    static const struct {
        int kernel, bias;
    } all[] = { { ROWS, 0 },      { FINISH, 0 },       { DQ, 0 },
                { DKV, 0 },       { HOPPER, 0 },       { DQ, BIAS_ON },
                { DKV, BIAS_ON }, { HOPPER, BIAS_ON }, { HOPPER, BIAS_ON | BIAS_GRADIENT } };
    const int each = (int)(sizeof all / sizeof *all);
    int which = all[index % each].kernel, n = index / each, width = n % 2 ? 128 : 64;
    pe_dtype type = n / 2 ? PE_F16 : PE_BF16;
    bool hopper = which == HOPPER || which == FINISH, rows = which == ROWS || which == FINISH;
    if (n > 3 || capability != 90)
        return false;
    attend_variant v = { .type = type, .out = type, .d = width, .dv = width, .bm = hopper ? HOPPER_M : SIMT_M };
    v.bn = hopper ? HOPPER_N : SIMT_N;
    v.tile = hopper || rows ? 0 : HOPPER_M;
    v.near = which == HOPPER;
    v.bias[0] = all[index % each].bias;
    *out = (kernel_recipe){
        .source = &source[which], .registers = 168, .shared = 2048, .spilled = which == HOPPER ? 96 : 0
    };
    back_defines(&v, type, type, type, which == ROWS, out->defines);
    return true;
}
