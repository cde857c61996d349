/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: cuda threads
 *
 * Attention of the GPU library, its side on the host, with a driver that only keeps count (gpu/fake_cuda.c): what it
 * refuses and how, how much work memory it asks for, which kernels it launches. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "gpu/fake_case.h"

enum { B = 2, T = 300, H = 4, G = 2, D = 64 };

/* A call that is right. Device memory is that of the host, and nobody reads it. */
typedef struct made {
    pe_cuda_plan *plan;
    pe_attention a;
    pe_run run;
    int64_t *numbers;
} made;

static pe_cuda *gpu;
static _Alignas(256) char memory[8][1 << 20];

static made fresh(const char *spec, pe_dtype type)
{
    made m = { .a = PE_MAKE(pe_attention, .scale = 0), .run = PE_MAKE(pe_run, .work = memory[5]) };
    pe_encoding *e = encoding_of(spec, (pe_shape){ H, G, D, 0 });
    m.run.work_bytes = sizeof memory[5] + sizeof memory[6];
    m.run.params = (pe_params){ memory[7], PE_F32, pe_encoding_param_count(e) };
    m.a.q = pe_view_of(memory[0], type, B, T, H, D);
    m.a.k = pe_view_of(memory[1], type, B, T, G, D);
    m.a.v = pe_view_of(memory[2], type, B, T, G, D);
    m.a.out = pe_view_of(memory[3], type, B, T, H, D);
    m.a.lse = pe_view_of(memory[4], PE_F32, B, T, H, 1);
    m.a.q_at = m.a.k_at = pe_positions_run(B, T, 0);
    m.numbers = (int64_t *)(memory[4] + (1 << 19));
    assert_ok(pe_cuda_plan_new(&m.plan, gpu, e, 1000, 1000, &err));
    return m;
}

static pe_status forward(made *m)
{
    return pe_cuda_attention_forward(m->plan, &m->a, &m->run, NULL, &err);
}

/* A call of `spec` that is right but for `change`. */
#define REFUSED(spec, change, status, words)                                                                           \
    do {                                                                                                               \
        made m = fresh(spec, PE_F16);                                                                                  \
        pe_attention *a = &m.a;                                                                                        \
        (void)a;                                                                                                       \
        change;                                                                                                        \
        int before = gpu_side->launches;                                                                               \
        assert_refused(forward(&m), status, words);                                                                    \
        assert_int_equal(gpu_side->launches, before);                                                                  \
        pe_cuda_plan_free(m.plan);                                                                                     \
    } while (0)

/* ---------------------------------------------------------------- what is not there yet */

TEST(what_is_not_there_yet_is_refused_with_a_sentence)
{
    gpu = device();
    REFUSED("shaw", , PE_ERR_UNSUITED, "shaw has a content term, which attention on a GPU does not have yet");
    REFUSED("cope", , PE_ERR_UNSUITED, "a term that counts keys");
    REFUSED("alibi:convention=falcon,products=bf16", , PE_ERR_UNSUITED, "levels by position");
    REFUSED("rope:learned=heads", , PE_ERR_UNSUITED, "trained frequencies");
    REFUSED("rope:precision=hf", , PE_ERR_UNSUITED, "in tables only");
    REFUSED("none", a->pages.table = (int32_t *)memory[7], PE_ERR_UNSUITED, "k lies in pages");
    REFUSED("none", a->q.dtype = PE_F64, PE_ERR_UNSUITED, "q is float64");
    REFUSED("none", a->k.dtype = PE_Q8_0, PE_ERR_UNSUITED, "k is quantised");
    REFUSED("none", a->v.dtype = PE_Q4_0, PE_ERR_UNSUITED, "v is quantised");
    REFUSED("none", a->out.dtype = PE_F64, PE_ERR_UNSUITED, "out is float64");
    REFUSED("none", a->k.dtype = PE_BF16, PE_ERR_UNSUITED, "dtypes 1, 2 and 1");
    REFUSED("none", a->lse.dtype = PE_BF16, PE_ERR_UNSUITED, "lse has 16 bits");
    REFUSED("none", a->scores = a->q, PE_ERR_UNSUITED, "scores is given");
    REFUSED("none", a->probabilities = a->q, PE_ERR_UNSUITED, "probabilities is given");
    REFUSED("none", a->q_gates = a->lse, PE_ERR_UNSUITED, "q_gates is given; the encoding takes no such input");
    REFUSED("none", a->relative = a->q, PE_ERR_UNSUITED, "relative is given");
    REFUSED("none", (a->sinks = (pe_params){ m.numbers, PE_BF16, H }), PE_ERR_UNSUITED, "needs PE_F32");
    REFUSED("none", a->v.dim = a->out.dim = 60, PE_ERR_UNSUITED,
            "v is 60 wide; attention on a GPU needs a multiple of 8");
    REFUSED("none", a->v.dim = a->out.dim = 264, PE_ERR_UNSUITED, "v is 264 wide");
    REFUSED("none", a->scale = -1, PE_ERR_UNSUITED, "needs one above 0");
    REFUSED("alibi", a->q_at = pe_positions_of(m.numbers, PE_F64, B, T, 1), PE_ERR_UNSUITED,
            "q_at is float64 and a bias");
    REFUSED("xpos", a->k_at = pe_positions_of(m.numbers, PE_F64, B, T, 1), PE_ERR_UNSUITED,
            "k_at is float64 and a decay with distance");
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- what is wrong */

TEST(wrong_sizes_types_and_numbers_are_refused)
{
    gpu = device();
    REFUSED("none", m.a.size = 3, PE_ERR_SHAPE, "the attention problem: size is 3");
    REFUSED("none", m.run.size = 3, PE_ERR_SHAPE, "the run: size is 3");
    REFUSED("none", a->q.heads = 3, PE_ERR_SHAPE, "q: heads is 3; needs 4");
    REFUSED("none", a->q.dim = 32, PE_ERR_SHAPE, "q: dim is 32; needs 64");
    REFUSED("none", a->q.dtype = PE_I64, PE_ERR_DTYPE, "q: dtype is");
    REFUSED("none", a->q.data = NULL, PE_ERR_NULL, "q: data is NULL");
    REFUSED("none", a->q.data = memory[0] + 1, PE_ERR_ALIGN, "q: data is not aligned");
    REFUSED("none", a->q.token_stride = INT64_MAX / 2, PE_ERR_OVERFLOW, "q: sizes and strides");
    REFUSED("none", a->k.heads = 4, PE_ERR_SHAPE, "k: heads is 4; needs 2");
    REFUSED("none", a->v.tokens = 7, PE_ERR_SHAPE, "v: tokens is 7; needs 300");
    REFUSED("rope:turn=qkvo", a->v.dim = a->out.dim = 128, PE_ERR_SHAPE, "v: dim is 128; needs 64");
    REFUSED("none", a->k.batch = a->v.batch = a->k_at.batch = 1, PE_ERR_SHAPE, "2 sequences of queries and 1 of keys");
    REFUSED("none", a->q_at.tokens = 3, PE_ERR_SHAPE, "q_at: tokens is 3");
    REFUSED("none", a->k_at.start = INT64_C(1) << 40, PE_ERR_POSITION, "k_at: they start at");
    REFUSED("none", (a->k_at = pe_positions_of(m.numbers, PE_F32, B, T, 1)), PE_ERR_DTYPE, "k_at: dtype is 0");
    REFUSED("none", a->out.tokens = 3, PE_ERR_SHAPE, "out: tokens is 3");
    REFUSED("none", a->out.token_stride = 0, PE_ERR_ALIAS, "out: strides make");
    REFUSED("none", a->out.head_stride = -64, PE_ERR_RANGE, "out: strides are");
    REFUSED("none", a->lse.dim = 2, PE_ERR_SHAPE, "lse: dim is 2");
    REFUSED("none", a->lse.dtype = PE_I64, PE_ERR_DTYPE, "lse: dtype is");
    REFUSED("none", a->soft_cap = -1, PE_ERR_RANGE, "soft_cap is -1");
    REFUSED("none", a->soft_cap = NAN, PE_ERR_RANGE, "soft_cap is");
    REFUSED("none", a->soft_cap = 1e30, PE_ERR_RANGE, "soft_cap is 1e+30");
    REFUSED("none", a->scale = INFINITY, PE_ERR_RANGE, "scale is inf");
    REFUSED("none", a->scale = 1e-30, PE_ERR_RANGE, "scale is 1e-30");
    REFUSED("none", (a->sinks = (pe_params){ m.numbers, PE_F32, 3 }), PE_ERR_SHAPE, "sinks: count is 3; needs 4");
    REFUSED("none", (a->sinks = (pe_params){ memory[4] + 1, PE_F32, 4 }), PE_ERR_ALIGN, "sinks: data is not aligned");
    REFUSED("none", (a->sinks = (pe_params){ m.numbers, PE_I32, 4 }), PE_ERR_DTYPE, "sinks: dtype is");
    made m = fresh("none", PE_F16);
    assert_refused(pe_cuda_attention_forward(NULL, &m.a, &m.run, NULL, &err), PE_ERR_NULL, "the plan is NULL");
    assert_refused(pe_cuda_attention_forward(m.plan, NULL, &m.run, NULL, &err), PE_ERR_NULL, "problem is NULL");
    assert_refused(pe_cuda_attention_work(m.plan, &m.a, NULL, &err), PE_ERR_NULL, "bytes is NULL");
    assert_int_equal(pe_cuda_attention_forward(NULL, &m.a, &m.run, NULL, NULL), PE_ERR_NULL);
    pe_cuda_plan_free(m.plan);
    pe_cuda_free(gpu);
}

TEST(wrong_masks_and_lengths_are_refused)
{
    gpu = device();
    REFUSED("none", a->mask.window = -1, PE_ERR_RANGE, "mask: window is -1; needs 0 (none) or more");
    REFUSED("none", a->mask.first_keys = -1, PE_ERR_RANGE, "mask: first_keys is -1");
    REFUSED("none", a->mask.keys_before = -1, PE_ERR_RANGE, "mask: keys_before is -1; needs 0 (none) to 2^36");
    REFUSED("none", a->mask.keys_after = INT64_MAX, PE_ERR_RANGE, "mask: keys_after is");
    REFUSED("none", a->mask.align = (pe_align)3, PE_ERR_RANGE, "mask: align is 3");
    REFUSED("none", a->mask.keep = pe_view_of(memory[7], PE_F16, B, T, 1, T), PE_ERR_DTYPE, "mask.keep: dtype is 1");
    REFUSED("none", a->mask.keep = pe_view_of(memory[7], PE_BOOL, 3, T, 1, T), PE_ERR_SHAPE,
            "batch is 3; needs 1 or 2");
    REFUSED("none", a->mask.keep = pe_view_of(memory[7], PE_BOOL, 1, 2, 1, T), PE_ERR_SHAPE, "tokens is 2; needs 1 or");
    REFUSED("none", a->mask.keep = pe_view_of(memory[7], PE_BOOL, 1, 1, 2, T), PE_ERR_SHAPE,
            "heads is 2; needs 1 or 4");
    REFUSED("none", a->mask.keep = pe_view_of(memory[7], PE_BOOL, 1, 1, 1, 9), PE_ERR_SHAPE, "dim is 9; needs 300");
    REFUSED("none", a->mask.additive = pe_view_of(memory[7], PE_F64, 1, 1, 1, T), PE_ERR_UNSUITED,
            "mask.additive is float64");
    REFUSED("none", a->q_lengths.length = (int64_t *)(memory[7] + 4), PE_ERR_ALIGN, "q_lengths is not aligned");
    REFUSED("none", a->k_lengths.length = a->k_lengths.offset = m.numbers, PE_ERR_UNSUITED,
            "k_lengths has length and offset");
    REFUSED("none", (a->q_lengths = (pe_lengths){ .offset = m.numbers, .sequences = 2 }), PE_ERR_SHAPE,
            "lie in a view of batch 1; it is 2");
    REFUSED("none",
            (a->q_lengths = (pe_lengths){ .offset = m.numbers, .sequences = 2 }, a->q.batch = a->q_at.batch = 1,
             a->mask.keep = pe_view_of(memory[7], PE_BOOL, 1, 1, 1, T)),
            PE_ERR_UNSUITED, "mask.keep is given and sequences are packed");
    REFUSED("none",
            (a->q_lengths = (pe_lengths){ .offset = m.numbers, .sequences = -1 }, a->q.batch = a->q_at.batch = 1),
            PE_ERR_SHAPE, "sequences is -1");
    pe_cuda_free(gpu);
}

TEST(what_overlaps_is_refused)
{
    gpu = device();
    REFUSED("none", a->out.data = a->q.data, PE_ERR_ALIAS, "q and out overlap");
    REFUSED("none", a->out.data = memory[2] + 64, PE_ERR_ALIAS, "v and out overlap");
    REFUSED("none", a->lse.data = a->out.data, PE_ERR_ALIAS, "out and lse overlap");
    REFUSED("none", a->out.data = memory[5] + 128, PE_ERR_ALIAS, "work and out overlap");
    REFUSED("none", (a->sinks = (pe_params){ a->lse.data, PE_F32, H }), PE_ERR_ALIAS, "sinks and lse overlap");
    REFUSED("none", a->k_lengths.length = (int64_t *)a->out.data, PE_ERR_ALIAS, "k_lengths.length and out overlap");
    REFUSED("none", (a->q_at = pe_positions_of(a->out.data, PE_I64, B, T, 1)), PE_ERR_ALIAS, "q_at and out overlap");
    REFUSED("t5", m.run.params.data = a->out.data, PE_ERR_ALIAS, "params and out overlap");
    pe_cuda_free(gpu);
}

/* A call of gradients that is right but for `change`. */
#define BACK_REFUSED(spec, change, status, words)                                                                      \
    do {                                                                                                               \
        made m = fresh(spec, PE_F16);                                                                                  \
        pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = m.a.out);                                             \
        size_t bytes;                                                                                                  \
        change;                                                                                                        \
        assert_refused(pe_cuda_attention_backward_work(m.plan, &m.a, &g, &bytes, &err), status, words);                \
        pe_cuda_plan_free(m.plan);                                                                                     \
    } while (0)

TEST(gradients_that_are_wrong_or_not_there_yet_are_refused)
{
    gpu = device();
    BACK_REFUSED("none", m.a.lse.data = NULL, PE_ERR_NULL, "lse is NULL; gradients need");
    BACK_REFUSED("none", g.dadditive = pe_view_of(memory[7], PE_F32, 1, 1, 1, T), PE_ERR_NULL,
                 "dadditive is given; the mask has no additive part");
    BACK_REFUSED("none",
                 (m.a.mask.additive = pe_view_of(memory[7], PE_F32, 1, 1, 1, T),
                  g.dadditive = pe_view_of(memory[6], PE_F32, 1, T, 1, T)),
                 PE_ERR_SHAPE, "dadditive: tokens is 300; needs 1");
    BACK_REFUSED("none",
                 (m.a.mask.additive = pe_view_of(memory[7], PE_F32, 1, 1, 1, T), g.dadditive = m.a.mask.additive),
                 PE_ERR_ALIAS, "mask.additive and dadditive overlap");
    BACK_REFUSED("none", (g.dk = m.a.k, g.dv = m.a.v, g.dk.data = memory[6], g.dv.data = memory[7], g.dv.dtype = PE_F32),
                 PE_ERR_UNSUITED, "dk and dv of different types");
    BACK_REFUSED("none", (g.dsinks = (pe_params){ memory[7], PE_F32, H }), PE_ERR_SHAPE, "needs sinks");
    pe_cuda_free(gpu);
}

/* Past them tables have no entries. */
TEST(distances_outside_the_plan_are_refused_where_the_host_can_tell)
{
    gpu = device();
    REFUSED("alibi", a->q_at.start = 900, PE_ERR_RANGE, "up to 1199 positions before their query and 0 after it");
    REFUSED("alibi", a->k_at.start = 900, PE_ERR_RANGE, "and 1199 after it; the plan was made for 1000 and 1000");
    REFUSED("fire", a->q_at.start = a->k_at.start = 900, PE_ERR_RANGE, "the last query is at position 1199");
    REFUSED("xpos", a->q_at.step = 1000, PE_ERR_POSITION, "neighbouring queries are 1000 positions apart");
    REFUSED("xpos", a->k_at.start = 20000, PE_ERR_POSITION, "xpos: a key 20299 ahead of its query overflows");
    made m = fresh("alibi", PE_F16);
    m.a.k_at.start = 900;
    m.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION };
    assert_ok(forward(&m)); /* nothing of it is seen */
    m.a.k_at.start = 0;
    m.a.q_at.start = 900;
    m.a.mask.window = 5;
    assert_ok(forward(&m));
    pe_cuda_plan_free(m.plan);
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- work memory */

static size_t work_of(const char *spec, pe_dtype type, void (*change)(pe_attention *a))
{
    made m = fresh(spec, type);
    size_t bytes = 1;
    if (change)
        change(&m.a);
    assert_ok(pe_cuda_attention_work(m.plan, &m.a, &bytes, &err));
    pe_cuda_plan_free(m.plan);
    return bytes;
}

static void keys_rotated(pe_attention *a)
{
    a->rotated = true;
}

static void misaligned(pe_attention *a)
{
    a->q.data = (char *)a->q.data + 2;
}

static size_t padded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

TEST(work_memory_has_rotated_vectors_tables_and_flags)
{
    const size_t q = padded(B * T * H * D * 2), k = padded(B * T * G * D * 2), flags = padded((1 + 2 * B * H) * 4),
                 more = 248;
    gpu = device();
    assert_int_equal(work_of("none", PE_F32, NULL), 0);
    assert_int_equal(work_of("alibi", PE_F32, NULL), 0); /* its table is the plan's */
    assert_int_equal(work_of("none", PE_F16, NULL), flags + more);
    assert_int_equal(work_of("none", PE_F16, misaligned), flags + more); /* the address makes no difference */
    assert_int_equal(work_of("rope", PE_F16, NULL), q + k + flags + more);
    assert_int_equal(work_of("rope", PE_F16, keys_rotated), q + flags + more);
    assert_int_equal(work_of("rope:turn=qkvo", PE_F16, NULL), q + 2 * k + flags + more);
    assert_int_equal(work_of("rope", PE_F32, NULL), 2 * (q + k) + more);
    assert_true(work_of("t5", PE_F32, NULL) > 2 * H * 2001 * sizeof(float));
    pe_cuda_free(gpu);
}

TEST(work_memory_that_is_not_enough_is_refused)
{
    gpu = device();
    REFUSED("rope", m.run.work = NULL, PE_ERR_NULL, "work is NULL; needs");
    REFUSED("rope", m.run.work = memory[5] + 4, PE_ERR_ALIGN, "work is not aligned to 8 bytes");
    REFUSED("rope", m.run.work_bytes = 1000, PE_ERR_SHAPE, "work has 1000 bytes; needs");
    made m = fresh("none", PE_F32);
    assert_ok(pe_cuda_attention_forward(m.plan, &m.a, NULL, NULL, &err)); /* it needs none */
    pe_cuda_plan_free(m.plan);
    m = fresh("t5", PE_F32);
    m.run.params.data = NULL;
    assert_refused(forward(&m), PE_ERR_NULL, "params: data is NULL");
    pe_cuda_plan_free(m.plan);
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- kernels */

/* Launches of a call; the last is that of attend_simt. defined: in the last kernel that was compiled. */
static int launches(made *m, unsigned blocks, const char *defined)
{
    int before = gpu_side->launches;
    assert_ok(forward(m));
    assert_int_equal(gpu_side->grid[0], blocks);
    assert_int_equal(gpu_side->threads, 128);
    if (!strstr(compiler_side->text, defined))
        fail_msg("the kernel has no '%s'", defined);
    pe_cuda_plan_free(m->plan);
    return gpu_side->launches - before;
}

TEST(hopper_has_16_bits_in_aligned_views_and_the_rest_has_one_kernel)
{
    gpu = device();
    made m = fresh("none", PE_F16);
    assert_int_equal(launches(&m, 3 * 2 * B * H, "#define TILE 192"), 2);
    assert_int_equal(gpu_side->swizzle, 3);
    m = fresh("none", PE_F32);
    assert_int_equal(launches(&m, 5 * B * H, "#define TILE 64"), 1);
    m = fresh("none", PE_F16);
    m.a.k.data = (char *)m.a.k.data + 2;
    assert_int_equal(launches(&m, 5 * B * H, "#define TILE 64"), 1);
    m = fresh("none", PE_F16);
    m.a.v.token_stride = 132;
    assert_int_equal(launches(&m, 5 * B * H, "#define TYPE 1"), 1);
    m = fresh("none", PE_F16);
    m.a.v.batch_stride = 0;
    assert_int_equal(launches(&m, 5 * B * H, "#define TYPE 1"), 1);
    m = fresh("rope", PE_F16); /* rotated copies are aligned: q and k in one launch, then both kernels */
    m.a.k.data = (char *)m.a.k.data + 2;
    assert_int_equal(launches(&m, 2 * 3 * B * H, ""), 3);
    m = fresh("rope", PE_F16);
    m.a.k_at.start = 1;
    assert_int_equal(launches(&m, 2 * 3 * B * H, ""), 4);
    pe_cuda_free(gpu);
    gpu_side->major = 8;
    gpu = device();
    m = fresh("none", PE_BF16);
    assert_int_equal(launches(&m, 5 * B * H, "#define TILE 64"), 1);
    pe_cuda_free(gpu);
}

TEST(kernels_are_specialised_by_the_call)
{
    static const struct {
        const char *spec;
        int64_t step;
        pe_align align;
        double scale, cap;
        const char *defined;
    } cases[] = {
        { "alibi", 1, PE_ALIGN_END, 0, 0, "#define BIAS0 1\n" },
        { "alibi", 2, PE_ALIGN_END, 0, 0, "#define BIAS0 5\n" },  /* scattered */
        { "alibi", 1, PE_ALIGN_END, 2, 0, "#define BIAS0 17\n" }, /* another scale */
        { "alibi", 1, PE_ALIGN_POSITION, 0, 0, "#define BY_POSITION 0\n" },
        { "alibi", 2, PE_ALIGN_POSITION, 0, 0, "#define BY_POSITION 1\n" },
        { "none", 1, PE_ALIGN_END, 0, 5, "#define CAP 1\n" },
    };
    gpu = device();
    for (int i = 0; i < COUNT(cases); i++) {
        made m = fresh(cases[i].spec, PE_F32);
        m.a.q_at.step = cases[i].step;
        m.a.mask.causal = true;
        m.a.mask.align = cases[i].align;
        m.a.scale = cases[i].scale;
        m.a.soft_cap = cases[i].cap;
        m.a.out.dtype = (pe_dtype)(i % 3); /* no two have the same kernel, so the last that was compiled is this one */
        m.a.lse.dtype = i / 3 ? PE_F64 : PE_F32;
        assert_ok(forward(&m));
        pe_cuda_plan_free(m.plan);
        if (!strstr(compiler_side->text, cases[i].defined))
            fail_msg("case %d: no '%s'", i, cases[i].defined);
    }
    pe_cuda_free(gpu);
}

/* A device with less shared memory than Hopper's has narrower heads. */
TEST(heads_that_do_not_fit_the_shared_memory_are_refused)
{
    gpu_side->shared = 60000;
    gpu_side->major = 8;
    gpu = device();
    REFUSED("none", a->v.dim = a->out.dim = 256, PE_ERR_UNSUITED, "bytes of shared memory; this device has 60000");
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- failures */

TEST(failures_of_the_device_are_statuses)
{
    static const char *const calls[] = { "cuLaunchKernel", "cuMemsetD8Async", "cuModuleLoadData" };
    for (int i = 0; i < COUNT(calls); i++) {
        gpu = device();
        made m = fresh("none", PE_F16);
        snprintf(gpu_side->fail, sizeof gpu_side->fail, "%s", calls[i]);
        gpu_side->code = 700;
        assert_refused(forward(&m), PE_ERR_DEVICE, "700");
        gpu_side->fail[0] = 0;
        pe_cuda_plan_free(m.plan);
        pe_cuda_free(gpu);
        empty_cache();
    }
}
