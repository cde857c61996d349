/* labels: core; tier: quick; cost: 1 s; sanitize: no */
/* SPDX-License-Identifier: MIT
 *
 * No 32-bit index anywhere: views whose strides lead past 2^31 and 2^32 elements, in address space that has no memory
 * behind it but for the rows a call may touch. Anything else it touches is a fault, and every row must equal, bit for
 * bit, what a small packed run gives. An index cut to 32 bits lands elsewhere: in a fault or in another row. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "views.h"

#define T 4
#define STEP ((INT64_C(1) << 31) + 64) /* elements from row to row: they start at 0, past 2^31, 2^32 and 3 * 2^31 */

/* ------------------------------------------------ address space with few pages in it */

typedef struct sea {
    void *base;
    size_t bytes;
} sea;

static sea seas[32];
static int sea_count;

static char *reserve(size_t bytes)
{
    if (sizeof(size_t) < 8)
        test_skip("past 2^32 needs 64 bits");
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        fail_msg("the system refuses %zu GiB of address space; this test needs it (ulimit -v?)", bytes >> 30);
    assert_true(sea_count < COUNT(seas));
    seas[sea_count++] = (sea){ p, bytes };
    return p;
}

static void open_row(char *at, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at / page * page,
        last = ((uintptr_t)at + bytes + page - 1) / page * page;
    assert_int_equal(mprotect((void *)first, last - first, PROT_READ | PROT_WRITE), 0);
}

AROUND(after_each)
{
    for (int i = 0; i < sea_count; i++)
        munmap(seas[i].base, seas[i].bytes);
    sea_count = 0;
}

/* The same rows as a packed view, afloat: tokens STEP apart, or heads STEP apart. Holds what the packed one holds. */
static pe_view afloat(pe_view packed, bool heads_apart)
{
    pe_view v = packed;
    v.token_stride = heads_apart ? v.dim + 16 : STEP;
    v.head_stride = heads_apart ? STEP : v.dim;
    size_t extent = (size_t)((v.tokens - 1) * v.token_stride + (v.heads - 1) * v.head_stride + v.dim);
    v.data = reserve(extent * pe_dtype_size(v.dtype));
    for (int64_t n = 0; n < row_count(v); n++)
        open_row(row_at(v, n), (size_t)bytes(v.dtype, v.dim));
    copy(v, packed);
    assert_true((v.tokens - 1) * v.token_stride + (v.heads - 1) * v.head_stride > INT64_C(1) << 32);
    return v;
}

/* Of T tokens. */
static pe_view numbers(pe_dtype type, int64_t heads, int64_t dim, uint64_t *seed)
{
    return drawn(type, 1, T, heads, dim, seed);
}

/* The same positions, tokens 2^31 int64 apart. */
static pe_positions positions_afloat(const int64_t *at, int64_t tokens, int64_t axes)
{
    int64_t step = INT64_C(1) << 31;
    char *base = reserve((size_t)((tokens - 1) * step + axes) * 8);
    for (int64_t t = 0; t < tokens; t++) {
        open_row(base + (size_t)(t * step) * 8, (size_t)axes * 8);
        memcpy(base + (size_t)(t * step) * 8, at + t * axes, (size_t)axes * 8);
    }
    return (pe_positions){ .data = (const int64_t *)base, .dtype = PE_I64, .batch = 1, .tokens = tokens, .axes = axes, .token_stride = step, .axis_stride = 1 };
}

static const int64_t at3[T * 3] = { 0, 7, 9, 5, 1, 2, 1000003, 77, 4, PE_POSITION_MAX, -5, 12345678901 };
static const int64_t at1[T] = { 3, 1000, 5000000000, -7 };
static const pe_positions small3 = { .data = at3, .dtype = PE_I64, .batch = 1, .tokens = T, .axes = 3, .token_stride = 3, .axis_stride = 1 },
                          small1 = { .data = at1, .dtype = PE_I64, .batch = 1, .tokens = T, .axes = 1, .token_stride = 1, .axis_stride = 1 };

/* ------------------------------------------------ claims; all bit for bit */

TEST(rotate_reaches_past_2_to_the_32)
{
    uint64_t seed = 1;
    pe_encoding *e = encoding_of("rope:sections=8/12/12,turn=qkvo,magnitude=1.25", (pe_shape){ 4, 4, 64, 0 });
    for (int k = 0; k < FLOAT_TYPES; k++)
        for (int heads_apart = 0; heads_apart < 2; heads_apart++) {
            pe_view px = numbers(float_types[k], 4, 64, &seed), py = fresh_like(px);
            pe_view sx = afloat(px, heads_apart), sy = afloat(px, !heads_apart);
            pe_positions where = positions_afloat(at3, T, 3);
            for (int c = 0; c < ROTATE_CALLS; c++) {
                assert_ok(rotate_calls[c](e, PE_QUERY, py, px, small3, NULL, &err));
                assert_ok(rotate_calls[c](e, PE_QUERY, sy, sx, where, NULL, &err));
                same("out of place", sy, py);
                same("the input", sx, px);
            }
            assert_ok(pe_rotate(e, PE_OUTPUT, py, px, small3, NULL, &err));
            assert_ok(pe_rotate(e, PE_OUTPUT, sx, sx, where, NULL, &err));
            same("in place", sx, py);
            after_each();
        }
}

TEST(values_that_do_not_rotate_are_copied_past_2_to_the_32)
{
    uint64_t seed = 2;
    pe_encoding *e = encoding_of("rope", (pe_shape){ 4, 4, 64, 0 });
    pe_view px = numbers(PE_F32, 4, 64, &seed), sx = afloat(px, false), sy = afloat(px, true);
    spoil(sy);
    assert_ok(pe_rotate(e, PE_VALUE, sy, sx, small1, NULL, &err));
    same("identity", sy, px);
}

TEST(tables_reach_past_2_to_the_32)
{
    pe_encoding *e = encoding_of("rope:theta=500000", (pe_shape){ 1, 1, 64, 0 });
    pe_view pc = fresh(PE_F32, 1, T, 1, 32), ps = fresh_like(pc);
    pe_view sc = afloat(pc, false), ss = afloat(ps, false);
    assert_ok(pe_rotate_table(e, PE_QUERY, pc, ps, small1, NULL, &err));
    assert_ok(pe_rotate_table(e, PE_QUERY, sc, ss, positions_afloat(at1, T, 1), NULL, &err));
    same("cos", sc, pc);
    same("sin", ss, ps);
}

TEST(embed_reaches_past_2_to_the_32)
{
    static const char *const specs[] = { "sinusoidal", "sinusoidal:join=concat,width=32" };
    uint64_t seed = 3;
    for (int n = 0; n < COUNT(specs); n++) {
        pe_encoding *e = encoding_of(specs[n], (pe_shape){ 1, 1, 64, 0 });
        pe_view px = numbers(PE_F32, 1, 64, &seed), py = fresh(PE_F32, 1, T, 1, pe_embed_width(e, 64)),
                pdx = fresh_like(px);
        pe_view sx = afloat(px, false), sy = afloat(py, false), sdx = afloat(pdx, false);
        pe_positions where = positions_afloat(at1, T, 1);
        assert_ok(pe_embed(e, py, px, small1, NULL, &err));
        assert_ok(pe_embed(e, sy, sx, where, NULL, &err));
        same(specs[n], sy, py);
        assert_ok(pe_embed_back(e, (pe_params){ 0 }, pdx, py, small1, NULL, &err));
        assert_ok(pe_embed_back(e, (pe_params){ 0 }, sdx, sy, where, NULL, &err));
        same("gradient", sdx, pdx);
        after_each();
    }
}

/* A learned table of 2^31 rows of 8: its last elements have index 2^34. */
TEST(parameters_reach_past_2_to_the_32)
{
    static const int64_t rows[T] = { 0, (INT64_C(1) << 28) + 3, (INT64_C(1) << 29) + 5, (INT64_C(1) << 31) - 1 };
    float y[T * 8];
    pe_encoding *e = encoding_of("learned:rows=2147483648", (pe_shape){ 1, 1, 8, 8 });
    int64_t count = pe_encoding_param_count(e);
    assert_true(count == INT64_C(1) << 34);
    char *table = reserve((size_t)count * 4), *grads = reserve((size_t)count * 4);
    for (int t = 0; t < T; t++) {
        open_row(table + (size_t)rows[t] * 32, 32);
        open_row(grads + (size_t)rows[t] * 32, 32);
        for (int c = 0; c < 8; c++)
            ((float *)table)[rows[t] * 8 + c] = (float)(100 * t + c);
    }
    pe_params w = { table, PE_F32, count }, dw = { grads, PE_F32, count };
    pe_positions where = pe_positions_of(rows, PE_I64, 1, T, 1);
    assert_ok(
        pe_embed(e, pe_view_of(y, PE_F32, 1, T, 1, 8), (pe_view){ 0 }, where, &PE_MAKE(pe_run, .params = w), &err));
    for (int n = 0; n < T * 8; n++)
        assert_true(y[n] == (float)(100 * (n / 8) + n % 8));
    assert_ok(pe_embed_back(e, dw, (pe_view){ 0 }, pe_view_of(y, PE_F32, 1, T, 1, 8), where,
                            &PE_MAKE(pe_run, .params = w), &err));
    for (int n = 0; n < T * 8; n++)
        assert_true(((float *)grads)[rows[n / 8] * 8 + n % 8] == y[n]);
}

TEST(score_tiles_reach_past_2_to_the_32)
{
    static float w[33 * 16 * 2];
    static const int64_t at[T] = { 0, 1, 2, 3 };
    uint64_t seed = 4;
    pe_encoding *e = encoding_of("alibi+shaw:left=8,right=8", (pe_shape){ 4, 4, 16, 0 });
    pe_params params = { w, PE_F32, pe_encoding_param_count(e) };
    assert_true(params.count <= COUNT(w));
    assert_ok(pe_encoding_init(e, params, 5, &err));
    pe_view pq = numbers(PE_F32, 4, 16, &seed), pk = numbers(PE_F32, 4, 16, &seed), ps = numbers(PE_F32, 4, T, &seed),
            pp = numbers(PE_F32, 4, T, &seed), po = numbers(PE_F32, 4, 16, &seed);
    for (int heads_apart = 0; heads_apart < 2; heads_apart++) {
        pe_positions small = pe_positions_of(at, PE_I64, 1, T, 1);
        pe_view ss = afloat(ps, heads_apart), sp = afloat(pp, heads_apart), so = afloat(po, !heads_apart);
        pe_tile p = { .size = sizeof(pe_tile), .score = ps, .q = pq, .k = pk, .q_at = small, .k_at = small };
        pe_tile s = { .size = sizeof(pe_tile), .score = ss, .q = afloat(pq, heads_apart), .k = afloat(pk, !heads_apart),
                      .q_at = positions_afloat(at, T, 1), .k_at = positions_afloat(at, T, 1) };
        for (int stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
            assert_ok(pe_encoding_bias(e, (pe_stage)stage, params, &p, &err));
            assert_ok(pe_encoding_bias(e, (pe_stage)stage, params, &s, &err));
            assert_ok(pe_encoding_content(e, (pe_stage)stage, params, &p, &err));
            assert_ok(pe_encoding_content(e, (pe_stage)stage, params, &s, &err));
        }
        same("score", ss, ps);
        assert_ok(pe_encoding_value(e, params, po, pp, small, small, &err));
        assert_ok(pe_encoding_value(e, params, so, sp, s.q_at, s.k_at, &err));
        same("value", so, po);
        after_each();
    }
}

/* Attention of so many tokens, packed, and the same with its tokens or heads far apart. */
typedef struct problem {
    pe_attention packed, afloat;
} problem;

static problem problem_of(pe_dtype type, int64_t tokens, bool heads_apart, uint64_t *seed)
{
    int64_t *at = take(tokens, sizeof *at);
    for (int64_t t = 0; t < tokens; t++)
        at[t] = t;
    pe_positions small = pe_positions_of(at, PE_I64, 1, tokens, 1);
    pe_attention p = PE_MAKE(pe_attention, .out = fresh(type, 1, tokens, 4, 16), .lse = fresh(PE_F32, 1, tokens, 4, 1),
                             .q = drawn(type, 1, tokens, 4, 16, seed), .k = drawn(type, 1, tokens, 2, 16, seed),
                             .v = drawn(type, 1, tokens, 2, 16, seed), .q_at = small, .k_at = small,
                             .mask = { .causal = true, .additive = drawn(PE_F32, 1, tokens, 4, tokens, seed) });
    pe_attention s = p;
    s.out = afloat(p.out, heads_apart), s.lse = afloat(p.lse, !heads_apart), s.q = afloat(p.q, heads_apart);
    s.k = afloat(p.k, false), s.v = afloat(p.v, false);
    s.q_at = positions_afloat(at, tokens, 1), s.k_at = positions_afloat(at, tokens, 1);
    s.mask.additive = afloat(p.mask.additive, heads_apart);
    return (problem){ p, s };
}

TEST(attention_reaches_past_2_to_the_32)
{
    static const char *const specs[] = { "rope", "xpos+alibi" };
    static double work[8192];
    uint64_t seed = 5;
    for (int n = 0; n < COUNT(specs) * 2; n++) {
        bool heads_apart = n % 2;
        pe_encoding *e = encoding_of(specs[n / 2], (pe_shape){ 4, 2, 16, 0 });
        problem p = problem_of(PE_F32, T, heads_apart, &seed);
        pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = numbers(PE_F32, 4, 16, &seed),
                                      .dq = fresh_like(p.packed.q), .dk = fresh_like(p.packed.k),
                                      .dv = fresh_like(p.packed.v), .dadditive = fresh_like(p.packed.mask.additive));
        pe_attention_grad h = PE_MAKE(pe_attention_grad, .dout = afloat(g.dout, heads_apart),
                                      .dq = afloat(g.dq, !heads_apart), .dk = afloat(g.dk, false),
                                      .dv = afloat(g.dv, false), .dadditive = afloat(g.dadditive, heads_apart));
        pe_run run = PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work);
        size_t needed = 0;
        assert_ok(pe_reference_work(e, &p.afloat, &needed, &err));
        assert_true(needed <= sizeof work); /* of the tokens, not of the strides */
        assert_ok(pe_reference_forward(e, &p.packed, &run, &err));
        assert_ok(pe_reference_forward(e, &p.afloat, &run, &err));
        same("out", p.afloat.out, p.packed.out);
        same("log-sum-exp", p.afloat.lse, p.packed.lse);
        assert_ok(pe_reference_backward(e, &p.packed, &g, &run, &err));
        assert_ok(pe_reference_backward(e, &p.afloat, &h, &run, &err));
        same("dq", h.dq, g.dq);
        same("dk", h.dk, g.dk);
        same("dv", h.dv, g.dv);
        same("dadditive", h.dadditive, g.dadditive);
        after_each();
    }
}

/* Few queries read keys where they lie; more are made ready first. */
TEST(fused_attention_reaches_past_2_to_the_32)
{
    static const char *const specs[] = { "rope:turn=qkvo", "xpos+alibi", "cope", "deberta:buckets=4,max=8", "shaw:left=2,right=2" };
    uint64_t seed = 6;
    for (int n = 0; n < COUNT(specs) * 4; n++) {
        pe_encoding *e = encoding_of(specs[n / 4], (pe_shape){ 4, 2, 16, 0 });
        int64_t count = pe_encoding_param_count(e);
        problem p = problem_of(float_types[n % 3], n & 1 ? 12 : T, n & 2, &seed);
        pe_run run = PE_MAKE(pe_run, .params = { take(count, 4), PE_F32, count });
        assert_ok(pe_encoding_init(e, run.params, 5, &err));
        assert_ok(pe_attention_work(e, &p.afloat, &run, &run.work_bytes, &err));
        assert_true(run.work_bytes < 1 << 22); /* of the tokens, not of the strides */
        run.work = take((int64_t)run.work_bytes, 1);
        assert_ok(pe_attention_forward(e, &p.packed, &run, &err));
        assert_ok(pe_attention_forward(e, &p.afloat, &run, &err));
        same(specs[n / 4], p.afloat.out, p.packed.out);
        same("log-sum-exp", p.afloat.lse, p.packed.lse);
        after_each();
    }
}
