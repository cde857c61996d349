/* SPDX-License-Identifier: MIT
 *
 * Attention on a GPU: work memory, what kernels are told, and forward. attend_hopper computes what it can, on the
 * matrix units, and leaves flags of tiles in which NaN or infinity is hidden, which attend_simt computes again;
 * attend_simt computes the rest. */
#include "cuda/attend.h"

#include <stdio.h>
#include <string.h>

#include "cuda/recipes.h"
#include "cuda/rotation.h"

enum { ALIGNMENT = 256, SIMT_M = 64, SIMT_N = 32, SIMT_THREADS = 128, HOPPER_N = 128 };
#define HOPPER_ROW_MAX (1 << 30)         /* entries of a table; it counts them in 32 bits */
#define CACHED_BYTES (INT64_C(32) << 20) /* of keys and values that the L2 cache keeps at hand */
#define FAR (4 * PE_POSITION_MAX)        /* past all distances, and sums with it do not overflow */
#define LOG2_E 1.4426950408889634

_Static_assert(sizeof(attend_mapped) <= 4096, "what a kernel can take");
_Static_assert(ATTEND_BIASES_MAX == BIAS_PIECES_MAX, "a piece is a bias of the kernel");
_Static_assert(PE_F32 == 0 && PE_F16 == 1 && PE_BF16 == 2, "types have the kernels' numbers");

static const char *const simt_sources[] = { "attend_args.h", "attend_common.cu", "simt.cu", "attend_simt.cu", NULL };
static const char *const hopper_sources[] = { "attend_args.h",           "attend_common.cu", "hopper.cu",
                                              "attend_hopper_common.cu", "attend_hopper.cu", NULL };
static const kernel_source simt_source = { "attend_simt", simt_sources, false };
static const kernel_source hopper_source = { "attend_hopper", hopper_sources, false };

/* ------------------------------------------------ work memory */

device_pointer attend_take(attend_memory *m, int64_t count, size_t size)
{
    device_pointer at = m->at + m->used;
    m->used += ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

size_t attend_memory_bytes(size_t counted)
{
    return counted ? counted + ALIGNMENT - 8 : 0; /* the caller's is aligned to 8 */
}

pe_status attend_memory_open(const attend_call *c, size_t counted, attend_memory *m, const char *asked, pe_error *err)
{
    size_t needed = attend_memory_bytes(counted);
    uintptr_t at = (uintptr_t)c->run.work;
    *m = (attend_memory){ (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, 0 };
    return check_work(&c->run, needed, " of device memory", asked, err);
}

pe_view attend_take_like(attend_memory *m, pe_view v)
{
    device_pointer at = attend_take(m, v.batch * v.tokens * v.heads * v.dim, pe_dtype_size(v.dtype));
    void *data;
    uintptr_t address = (uintptr_t)at;
    memcpy(&data, &address, sizeof data);
    return pe_view_of(data, v.dtype, v.batch, v.tokens, v.heads, v.dim);
}

void attend_lay(const attend_call *c, attend_memory *m, attend_inputs *in)
{
    *in = (attend_inputs){ .q = c->a.q, .k = c->a.k, .v = c->a.v };
    if (c->rotates_q)
        in->q = attend_take_like(m, c->a.q);
    if (c->rotates_k)
        in->k = attend_take_like(m, c->a.k);
    if (c->rotates_v)
        in->v = attend_take_like(m, c->a.v);
    in->bias = attend_take(m, (int64_t)bias_work(c->plan), 1);
    bias_lay(c->plan, in->bias, in->piece);
}

/* ------------------------------------------------ rotation and biases */

static bool same_positions(pe_positions a, pe_positions b)
{
    return a.data == b.data && a.dtype == b.dtype && a.batch == b.batch && a.tokens == b.tokens && a.axes == b.axes &&
           a.batch_stride == b.batch_stride && a.token_stride == b.token_stride && a.axis_stride == b.axis_stride &&
           a.start == b.start && a.step == b.step;
}

static pe_status rotate_inputs(const attend_call *c, const attend_inputs *in, void *stream, pe_error *err)
{
    const pe_attention *a = &c->a;
    bool both = c->rotates_q && c->rotates_k && same_positions(a->q_at, a->k_at) && !c->decays;
    if (both) {
        pe_rotation r = PE_MAKE(pe_rotation, .q = a->q, .k = a->k, .q_out = in->q, .k_out = in->k, .at = a->q_at);
        TRY(pe_cuda_rotate_qk(c->plan, &r, NULL, stream, err));
    }
    const struct {
        bool rotates;
        pe_side side;
        pe_view to, from;
        pe_positions at;
    } all[] = { { c->rotates_q && !both, PE_QUERY, in->q, a->q, a->q_at },
                { c->rotates_k && !both, PE_KEY, in->k, a->k, a->k_at },
                { c->rotates_v, PE_VALUE, in->v, a->v, a->k_at } };
    for (int i = 0; i < 3; i++)
        if (all[i].rotates)
            TRY((c->decays ? rotate_still : pe_cuda_rotate)(c->plan, all[i].side, all[i].to, all[i].from, all[i].at,
                                                            NULL, stream, err));
    return PE_OK;
}

pe_status attend_fill(const attend_call *c, attend_inputs *in, void *stream, pe_error *err)
{
    TRY(rotate_inputs(c, in, stream, err));
    return bias_fill(c->plan, c->run.params, in->bias, stream, in->piece, err);
}

/* ------------------------------------------------ a specialisation */

void attend_defines(const attend_variant *v, char *out)
{
    int used = snprintf(out, ATTEND_DEFINES,
                        "#define TYPE %d\n#define OUT_TYPE %d\n#define D %d\n#define DV %d\n#define BM %d\n"
                        "#define BN %d\n#define CAP %d\n#define KEEP %d\n#define ADDITIVE %d\n#define BY_POSITION %d\n"
                        "#define LSE_DOUBLE %d\n#define NEAR %d\n",
                        (int)v->type, (int)v->out, v->d, v->dv, v->bm, v->bn, v->cap, v->keep, v->additive,
                        v->by_position, v->lse_double, v->near);
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        used += snprintf(out + used, ATTEND_DEFINES - (size_t)used, "#define BIAS%d %d\n", n, v->bias[n]);
    if (v->tile)
        used += snprintf(out + used, ATTEND_DEFINES - (size_t)used, "#define TILE %d\n", v->tile);
    if (v->decays)
        snprintf(out + used, ATTEND_DEFINES - (size_t)used, "#define DECAYS 1\n");
}

/* The distance is that of the first axis. */
static bool first_axis(const bias_piece *p)
{
    for (int a = 1; a < PE_AXES_MAX; a++)
        if (p->weight[a])
            return false;
    return p->weight[0] == 1;
}

static int bias_flags(const attend_call *c, const bias_piece *p)
{
    bool scatter = !attend_even(c->a.q_at) || !attend_even(c->a.k_at) || !first_axis(p);
    bool scaled = p->stage == PE_AFTER_SCALE && c->scale != pe_encoding_scale(c->plan->e);
    return BIAS_ON | (p->stage == PE_BEFORE_SCALE ? BIAS_BEFORE : 0) | (scatter ? BIAS_SCATTER : 0) |
           (p->knots ? BIAS_KNOTS : 0) | (scaled ? BIAS_SCALED : 0);
}

attend_variant attend_variant_of(const attend_call *c, const attend_inputs *in, int bm, int bn)
{
    const pe_attention *a = &c->a;
    attend_variant v = { .type = a->q.dtype,
                         .out = a->out.dtype,
                         .d = (int)a->q.dim,
                         .dv = (int)a->v.dim,
                         .bm = bm,
                         .bn = bn,
                         .cap = a->soft_cap > 0,
                         .keep = a->mask.keep.data != NULL,
                         .by_position = c->by_position,
                         .decays = c->decays,
                         .lse_double = a->lse.data && a->lse.dtype == PE_F64,
                         .additive = a->mask.additive.data ? 1 + (int)a->mask.additive.dtype : 0 };
    for (int n = 0; n < bias_pieces(c->plan); n++)
        v.bias[n] = bias_flags(c, &in->piece[n]);
    return v;
}

/* ------------------------------------------------ what kernels are told */

attend_view attend_view_of(pe_view v)
{
    return (attend_view){ (uintptr_t)v.data, v.batch > 1 ? v.batch_stride : 0, v.tokens > 1 ? v.token_stride : 0,
                          v.heads > 1 ? v.head_stride : 0 };
}

static attend_positions positions_of(pe_positions p)
{
    bool read = p.data && p.dtype != PE_F64; /* fractions are the rotation's alone */
    return (attend_positions){ .data = read ? (uintptr_t)p.data : 0,
                               .batch = p.batch > 1 ? p.batch_stride : 0,
                               .token = p.tokens > 1 ? p.token_stride : 0,
                               .axis = p.axis_stride,
                               .start = p.start,
                               .step = p.step,
                               .type = !read               ? 0
                                       : p.dtype == PE_I64 ? 1
                                                           : 2,
                               .axes = (int32_t)p.axes };
}

static attend_lengths lengths_of(pe_lengths l)
{
    return (attend_lengths){ (uintptr_t)l.length, (uintptr_t)l.offset, l.padded_left, 0 };
}

static attend_bias bias_of(const attend_call *c, const bias_piece *p)
{
    attend_bias b = { .table = p->table,
                      .row = p->row,
                      .zero = p->zero,
                      .heads = p->knots ? 1 : c->a.q.heads,
                      .slope = p->slope,
                      .level = p->level,
                      .knot = p->knot,
                      .share = p->share,
                      .knots = (int32_t)p->knot_count,
                      .shares = (int32_t)p->shares,
                      .gradient = p->gradient,
                      .factor = (float)(pe_encoding_scale(c->plan->e) / c->scale) };
    memcpy(b.weight, p->weight, sizeof b.weight);
    return b;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x < most ? x : most;
}

/* By position a query is at a key by their positions, and the first keys are those from position 0 on. */
static void set_mask(const attend_call *c, attend_args *out)
{
    const pe_mask *m = &c->a.mask;
    bool position = m->align == PE_ALIGN_POSITION;
    out->keep = attend_view_of(m->keep);
    out->additive = attend_view_of(m->additive);
    out->causal = m->causal;
    out->align = !position ? (int32_t)m->align : c->by_position || !(m->causal || m->window) ? 2 : 3;
    out->window = at_most(m->window, FAR);
    out->first_keys = at_most(m->first_keys, FAR);
    out->keys_after = m->keys_after;
    out->keys_before = position ? c->a.k_at.start : m->keys_before;
}

/* Of one sequence; where sequences are packed, of all of them, with one more for each that a tile does not share. */
static int64_t tiles_of_head(const attend_call *c, int bm)
{
    return c->a.q_lengths.offset ? c->a.q.tokens / bm + c->sequences : (c->a.q.tokens + bm - 1) / bm;
}

int64_t attend_heads(const attend_call *c)
{
    return c->a.q.heads * (c->a.q_lengths.offset ? 1 : c->sequences);
}

int64_t attend_tiles(const attend_call *c, int bm)
{
    int64_t tiles = tiles_of_head(c, bm), heads = attend_heads(c);
    return heads && tiles > INT64_MAX / heads ? INT64_MAX : tiles * heads;
}

/* How many heads have their keys and values in the L2 cache at the same time. */
static int32_t head_group(const attend_call *c, int32_t group)
{
    const pe_attention *a = &c->a;
    int64_t bytes = a->k.tokens * (a->k.dim + a->v.dim) * (int64_t)pe_dtype_size(a->k.dtype) / group;
    int64_t count = bytes ? CACHED_BYTES / bytes : CACHED_BYTES, all = attend_heads(c);
    count = at_most(count, all);
    return (int32_t)(count < 1 ? 1 : count);
}

attend_args attend_args_of(const attend_call *c, const attend_inputs *in, const attend_variant *v)
{
    const pe_attention *a = &c->a;
    attend_args out = { .q = attend_view_of(in->q),
                        .k = attend_view_of(in->k),
                        .v = attend_view_of(in->v),
                        .out = attend_view_of(a->out),
                        .lse = attend_view_of(a->lse),
                        .q_at = positions_of(a->q_at),
                        .k_at = positions_of(a->k_at),
                        .q_lengths = lengths_of(a->q_lengths),
                        .k_lengths = lengths_of(a->k_lengths),
                        .sinks = (uintptr_t)a->sinks.data,
                        .decay = c->decays ? c->plan->rotation->decay : 0,
                        .sequences = (int32_t)c->sequences,
                        .Tq = (int32_t)a->q.tokens,
                        .Tk = (int32_t)a->k.tokens,
                        .H = (int32_t)a->q.heads,
                        .group = (int32_t)(a->q.heads / a->k.heads),
                        .tiles = (int32_t)tiles_of_head(c, v->tile ? v->tile : v->bm),
                        .scale = (float)c->scale,
                        .scale_log2 = (float)(c->scale * LOG2_E),
                        .cap = (float)a->soft_cap };
    out.head_group = head_group(c, out.group);
    set_mask(c, &out);
    for (int n = 0; n < bias_pieces(c->plan); n++)
        out.bias[n] = bias_of(c, &in->piece[n]);
    return out;
}

void attend_blocks(const attend_call *c, attend_args *a, grid *g, bool redo)
{
    int64_t few = 2 * cuda_processors(c->plan->gpu);
    a->blocks = (int32_t)g->x;
    g->x = redo ? at_most(g->x, few) : g->x;
}

/* ------------------------------------------------ which kernel */

static bool wide(int64_t dim)
{
    return dim == 64 || dim == 128;
}

/* Queries of a tile: three computing warpgroups where their registers are enough, else two. */
static int hopper_m(int64_t d, int64_t dv)
{
    return d == 64 && dv == 64 ? 192 : 128;
}

static int hopper_tile(const attend_call *c)
{
    return hopper_m(c->a.q.dim, c->a.v.dim);
}

/* Whether the sizes and types are attend_hopper's. What it needs of memory attend_map says. */
static bool hopper_takes(const attend_call *c)
{
    const pe_attention *a = &c->a;
    return cuda_capability(c->plan->gpu) == 90 && a->q.dtype != PE_F32 && wide(a->q.dim) && wide(a->v.dim) &&
           !c->decays && a->k.tokens > 0 && attend_tiles(c, hopper_tile(c)) > 0;
}

int attend_near(const attend_variant *v, const attend_inputs *in, int biases)
{
    int count = 0;
    for (int n = 0; n < biases; n++)
        if (!(v->bias[n] & (BIAS_SCATTER | BIAS_KNOTS))) {
            count++;
            if (in->piece[n].row > HOPPER_ROW_MAX)
                return -1;
        }
    return count;
}

/* An axis of one element may have any stride, which must be a multiple of 16 bytes all the same. */
static bool map_stride(int64_t size, int64_t stride, int64_t dim, uint64_t *out)
{
    *out = (uint64_t)(size > 1 ? stride : dim) * 2;
    return size <= 1 || (stride > 0 && stride < INT64_C(1) << 38);
}

bool attend_map(const attend_call *c, void *map, pe_view v, int rows)
{
    const uint64_t size[] = { (uint64_t)v.dim, (uint64_t)v.tokens, (uint64_t)v.heads, (uint64_t)v.batch };
    const uint32_t box[] = { 64, (uint32_t)rows, 1, 1 };
    uint64_t stride[3];
    return map_stride(v.tokens, v.token_stride, v.dim, &stride[0]) &&
           map_stride(v.heads, v.head_stride, v.dim, &stride[1]) &&
           map_stride(v.batch, v.batch_stride, v.dim, &stride[2]) &&
           cuda_tensor_map(c->plan->gpu, map, v.dtype == PE_BF16, 4, (uintptr_t)v.data, size, stride, box);
}

/* ------------------------------------------------ forward */

typedef struct forward {
    attend_call c;
    attend_inputs in;
    device_pointer redo;
    attend_mapped mapped;
    bool hopper;
} forward;

/* Memory for flags is taken where attend_hopper takes the sizes, whatever it says of the addresses. */
static void forward_lay(forward *f, attend_memory *m)
{
    attend_lay(&f->c, m, &f->in);
    f->redo = hopper_takes(&f->c) ? attend_take(m, 1 + attend_tiles(&f->c, hopper_tile(&f->c)), sizeof(int32_t)) : 0;
}

static void forward_choose(forward *f)
{
    attend_variant v = attend_variant_of(&f->c, &f->in, hopper_tile(&f->c), HOPPER_N);
    f->hopper = f->redo && attend_near(&v, &f->in, bias_pieces(f->c.plan)) >= 0 &&
                attend_map(&f->c, f->mapped.q, f->in.q, hopper_tile(&f->c)) &&
                attend_map(&f->c, f->mapped.k, f->in.k, HOPPER_N) && attend_map(&f->c, f->mapped.v, f->in.v, HOPPER_N);
}

/* A variant's kernel, its grid and its shared memory. */
typedef struct forward_step {
    attend_variant v;
    kernel k;
    grid g;
} forward_step;

static pe_status step_find(const forward *f, const kernel_source *source, forward_step *s, pe_error *err)
{
    char defines[ATTEND_DEFINES];
    attend_defines(&s->v, defines);
    return cuda_kernel(f->c.plan->gpu, source, defines, &s->k, err);
}

static pe_status step_simt(const forward *f, forward_step *s, pe_error *err)
{
    int tile = f->hopper ? hopper_tile(&f->c) : SIMT_M;
    s->v = attend_variant_of(&f->c, &f->in, SIMT_M, SIMT_N);
    s->v.tile = tile;
    s->g = (grid){ attend_tiles(&f->c, tile) * (tile / SIMT_M),
                   1,
                   1,
                   SIMT_THREADS,
                   ATTEND_SIMT_BYTES(SIMT_M, SIMT_N, (size_t)s->v.d, (size_t)s->v.dv),
                   false };
    return step_find(f, &simt_source, s, err);
}

static pe_status step_hopper(const forward *f, forward_step *s, pe_error *err)
{
    s->v = attend_variant_of(&f->c, &f->in, hopper_tile(&f->c), HOPPER_N);
    s->v.near = true;
    int near = attend_near(&s->v, &f->in, bias_pieces(f->c.plan));
    s->g = (grid){ at_most(attend_tiles(&f->c, hopper_tile(&f->c)), cuda_processors(f->c.plan->gpu)),
                   1,
                   1,
                   s->v.bm * 2 + 128,
                   ATTEND_HOPPER_BYTES((size_t)s->v.bm, HOPPER_N, (size_t)s->v.d, (size_t)s->v.dv, (size_t)near),
                   false };
    return step_find(f, &hopper_source, s, err);
}

static pe_status forward_run(forward *f, void *stream, pe_error *err)
{
    pe_cuda *gpu = f->c.plan->gpu;
    forward_step first, rest;
    forward_choose(f);
    if (f->hopper)
        TRY(step_hopper(f, &first, err));
    TRY(step_simt(f, &rest, err));
    TRY(attend_fill(&f->c, &f->in, stream, err));
    attend_args args = attend_args_of(&f->c, &f->in, &rest.v);
    attend_blocks(&f->c, &args, &rest.g, f->hopper);
    if (f->hopper) {
        args.redo = f->redo;
        f->mapped.a = args;
        TRY(cuda_clear(gpu, f->redo, (size_t)(1 + attend_tiles(&f->c, hopper_tile(&f->c))) * sizeof(int32_t), stream,
                       err));
        TRY(cuda_launch(gpu, &first.k, first.g, stream, &f->mapped, err));
    }
    TRY(cuda_launch(gpu, &rest.k, rest.g, stream, &args, err));
    if (f->c.rotates_out)
        TRY(pe_cuda_rotate(f->c.plan, PE_OUTPUT, f->c.a.out, f->c.a.out, f->c.a.q_at, NULL, stream, err));
    return pe_pass(err);
}

static pe_status forward_open(forward *f, const pe_cuda_plan *plan, const pe_attention *a, const pe_run *run,
                              size_t *counted, pe_error *err)
{
    attend_memory m = { 0, 0 };
    *f = (forward){ .redo = 0 };
    TRY(attend_open(&f->c, plan, a, run, err));
    TRY(attend_outputs(&f->c, true, err));
    forward_lay(f, &m);
    *counted = m.used;
    return PE_OK;
}

pe_status pe_cuda_attention_work(const pe_cuda_plan *plan, const pe_attention *a, size_t *bytes, pe_error *err)
{
    forward f;
    size_t counted;
    if (!bytes)
        return pe_fail(err, PE_ERR_NULL, "bytes is NULL; needs a number to write to");
    TRY(forward_open(&f, plan, a, NULL, &counted, err));
    *bytes = attend_memory_bytes(counted);
    return pe_pass(err);
}

pe_status pe_cuda_attention_forward(const pe_cuda_plan *plan, const pe_attention *a, const pe_run *run, void *stream,
                                    pe_error *err)
{
    forward f;
    attend_memory m;
    size_t counted;
    TRY(forward_open(&f, plan, a, run, &counted, err));
    TRY(attend_memory_open(&f.c, counted, &m, "pe_cuda_attention_work", err));
    forward_lay(&f, &m);
    return forward_run(&f, stream, err);
}

/* ------------------------------------------------ what is built into the library */

/* What most models need: heads of 64 and 128, no bias or one table by distance, whatever the mask. On Hopper the matrix
 * units compute 16-bit types; attend_simt stands by with the same tiles. */
bool attend_recipes(int index, int capability, kernel_recipe *out)
{
    static const pe_dtype types[] = { PE_BF16, PE_F16, PE_F32 };
    bool hopper = index >= 12; /* after every type of attend_simt, the 16-bit types of attend_hopper */
    int n = hopper ? index - 12 : index, width = n % 2 ? 128 : 64;
    pe_dtype type = types[n / 4 % 3];
    if (n / 4 > 2 || (hopper && (capability != 90 || type == PE_F32)))
        return false;
    attend_variant v = { .type = type,
                         .out = type,
                         .d = width,
                         .dv = width,
                         .bm = hopper ? hopper_m(width, width) : SIMT_M,
                         .bn = hopper ? HOPPER_N : SIMT_N,
                         .tile = hopper                               ? 0
                                 : capability == 90 && type != PE_F32 ? hopper_m(width, width)
                                                                      : SIMT_M,
                         .near = hopper,
                         .bias = { n / 2 % 2 ? BIAS_ON : 0 } };
    *out = (kernel_recipe){ .source = hopper ? &hopper_source : &simt_source,
                            .registers = hopper ? 168 : 255,
                            .spilled = v.bm == 192 ? 48 : 0 }; /* by the copying warp */
    attend_defines(&v, out->defines);
    return true;
}
