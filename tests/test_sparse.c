/* labels: core; sanitize: no */
/* SPDX-License-Identifier: MIT
 *
 * No 32-bit index anywhere: views whose strides lead past 2^31 and 2^32 elements, in address space that has no memory
 * behind it but for the rows a call may touch. Anything else it touches is a fault, and every row must equal, bit for
 * bit, what a small packed run gives. An index cut to 32 bits lands elsewhere: in a fault or in another row. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

#define T 4
#define STEP ((INT64_C(1) << 31) + 64) /* elements from row to row: they start at 0, past 2^31, 2^32 and 3 * 2^31 */

typedef pe_status turn_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *, pe_error *);

/* ------------------------------------------------ address space with few pages in it */

typedef struct sea {
    void *base;
    size_t bytes;
} sea;

static sea seas[32];
static int sea_count;

static char *reserve(size_t bytes)
{
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

static int give_back(void **state)
{
    (void)state;
    for (int i = 0; i < sea_count; i++)
        munmap(seas[i].base, seas[i].bytes);
    sea_count = 0;
    return 0;
}

static size_t bytes_of(const pe_view *v)
{
    return (size_t)v->dim * pe_dtype_size(v->dtype);
}

static char *row_at(const pe_view *v, int64_t t, int64_t h)
{
    return (char *)v->data + (size_t)(t * v->token_stride + h * v->head_stride) * pe_dtype_size(v->dtype);
}

/* The same rows as a packed view, afloat: tokens STEP apart, or heads STEP apart. Holds what the packed one holds. */
static pe_view afloat(pe_view packed, bool heads_apart)
{
    pe_view v = packed;
    v.token_stride = heads_apart ? v.dim + 16 : STEP;
    v.head_stride = heads_apart ? STEP : v.dim;
    size_t extent = (size_t)((v.tokens - 1) * v.token_stride + (v.heads - 1) * v.head_stride + v.dim);
    v.data = reserve(extent * pe_dtype_size(v.dtype));
    for (int64_t t = 0; t < v.tokens; t++)
        for (int64_t h = 0; h < v.heads; h++) {
            open_row(row_at(&v, t, h), bytes_of(&v));
            memcpy(row_at(&v, t, h), (char *)packed.data + (size_t)(t * v.heads + h) * bytes_of(&v), bytes_of(&v));
        }
    int64_t last = (v.tokens - 1) * v.token_stride + (v.heads - 1) * v.head_stride;
    assert_true(last > INT64_C(1) << 32);
    return v;
}

static void assert_rows(pe_view sparse, pe_view packed, const char *what)
{
    for (int64_t t = 0; t < packed.tokens; t++)
        for (int64_t h = 0; h < packed.heads; h++)
            if (memcmp(row_at(&sparse, t, h), (char *)packed.data + (size_t)(t * packed.heads + h) * bytes_of(&packed),
                       bytes_of(&packed)))
                fail_msg("%s: token %d, head %d differs from the packed run", what, (int)t, (int)h);
}

static pe_view packed(void *data, pe_dtype type, int64_t tokens, int64_t heads, int64_t dim)
{
    return pe_view_of(data, type, 1, tokens, heads, dim);
}

static void fill(pe_view v, uint64_t *seed)
{
    for (int64_t n = 0; n < v.tokens * v.heads * v.dim; n++) {
        float x = (float)test_uniform(seed);
        uint32_t bits;
        memcpy(&bits, &x, 4);
        switch (v.dtype) {
        case PE_F32: ((float *)v.data)[n] = x; break;
        case PE_F64: ((double *)v.data)[n] = (double)x; break;
        case PE_BF16: ((uint16_t *)v.data)[n] = (uint16_t)(bits >> 16); break;
        default: ((uint16_t *)v.data)[n] = (uint16_t)(0x3000 | (bits >> 13 & 0x8fff)); break; /* some float16 */
        }
    }
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

static void rotate_reaches_past_2_to_the_32(void **state)
{
    (void)state;
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
    static _Alignas(8) char x[T * 4 * 64 * 8], y[T * 4 * 64 * 8];
    uint64_t seed = 1;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("rope:sections=8/12/12,turn=qkvo,magnitude=1.25", (pe_shape){ 4, 4, 64, 0 });
    static turn_call *const calls[] = { pe_rotate, pe_unrotate, pe_rotate_back };
    for (int k = 0; k < COUNT(types); k++)
        for (int heads_apart = 0; heads_apart < 2; heads_apart++) {
            pe_view px = packed(x, types[k], T, 4, 64), py = packed(y, types[k], T, 4, 64);
            fill(px, &seed);
            pe_view sx = afloat(px, heads_apart), sy = afloat(px, !heads_apart);
            pe_positions where = positions_afloat(at3, T, 3);
            for (int c = 0; c < COUNT(calls); c++) {
                assert_ok(calls[c](e, PE_QUERY, py, px, small3, NULL, &err));
                assert_ok(calls[c](e, PE_QUERY, sy, sx, where, NULL, &err));
                assert_rows(sy, py, "out of place");
                assert_rows(sx, px, "the input");
            }
            assert_ok(pe_rotate(e, PE_OUTPUT, py, px, small3, NULL, &err));
            assert_ok(pe_rotate(e, PE_OUTPUT, sx, sx, where, NULL, &err));
            assert_rows(sx, py, "in place");
            give_back(NULL);
        }
    pe_encoding_free(e);
}

static void values_that_do_not_turn_are_copied_past_2_to_the_32(void **state)
{
    (void)state;
    static float x[T * 4 * 64];
    uint64_t seed = 2;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("rope", (pe_shape){ 4, 4, 64, 0 });
    pe_view px = packed(x, PE_F32, T, 4, 64);
    fill(px, &seed);
    pe_view sx = afloat(px, false), sy = afloat(px, true);
    for (int64_t t = 0; t < T; t++)
        for (int64_t h = 0; h < 4; h++)
            memset(row_at(&sy, t, h), 0, bytes_of(&sy));
    assert_ok(pe_rotate(e, PE_VALUE, sy, sx, small1, NULL, &err));
    assert_rows(sy, px, "identity");
    pe_encoding_free(e);
}

static void tables_reach_past_2_to_the_32(void **state)
{
    (void)state;
    static float c[T * 32], s[T * 32];
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("rope:theta=500000", (pe_shape){ 1, 1, 64, 0 });
    pe_view pc = packed(c, PE_F32, T, 1, 32), ps = packed(s, PE_F32, T, 1, 32);
    pe_view sc = afloat(pc, false), ss = afloat(ps, false);
    assert_ok(pe_rotate_table(e, PE_QUERY, pc, ps, small1, NULL, &err));
    assert_ok(pe_rotate_table(e, PE_QUERY, sc, ss, positions_afloat(at1, T, 1), NULL, &err));
    assert_rows(sc, pc, "cos");
    assert_rows(ss, ps, "sin");
    pe_encoding_free(e);
}

static void embed_reaches_past_2_to_the_32(void **state)
{
    (void)state;
    static const char *const specs[] = { "sinusoidal", "sinusoidal:join=concat,width=32" };
    static float x[T * 64], y[T * 96], dx[T * 64];
    uint64_t seed = 3;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++) {
        pe_encoding *e = test_encoding(specs[n], (pe_shape){ 1, 1, 64, 0 });
        pe_view px = packed(x, PE_F32, T, 1, 64), py = packed(y, PE_F32, T, 1, pe_embed_width(e, 64)),
            pdx = packed(dx, PE_F32, T, 1, 64);
        fill(px, &seed);
        pe_view sx = afloat(px, false), sy = afloat(py, false), sdx = afloat(pdx, false);
        pe_positions where = positions_afloat(at1, T, 1);
        assert_ok(pe_embed(e, py, px, small1, NULL, &err));
        assert_ok(pe_embed(e, sy, sx, where, NULL, &err));
        assert_rows(sy, py, specs[n]);
        assert_ok(pe_embed_back(e, (pe_params){ 0 }, pdx, py, small1, NULL, &err));
        assert_ok(pe_embed_back(e, (pe_params){ 0 }, sdx, sy, where, NULL, &err));
        assert_rows(sdx, pdx, "gradient");
        pe_encoding_free(e);
        give_back(NULL);
    }
}

/* A learned table of 2^31 rows of 8: its last elements have index 2^34. */
static void parameters_reach_past_2_to_the_32(void **state)
{
    (void)state;
    static const int64_t rows[T] = { 0, (INT64_C(1) << 28) + 3, (INT64_C(1) << 29) + 5, (INT64_C(1) << 31) - 1 };
    pe_error err = { 0 };
    float y[T * 8];
    pe_encoding *e = test_encoding("learned:rows=2147483648", (pe_shape){ 1, 1, 8, 8 });
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
    assert_ok(pe_embed(e, packed(y, PE_F32, T, 1, 8), (pe_view){ 0 }, where, &PE_MAKE(pe_run, .params = w), &err));
    for (int n = 0; n < T * 8; n++)
        assert_true(y[n] == (float)(100 * (n / 8) + n % 8));
    assert_ok(pe_embed_back(e, dw, (pe_view){ 0 }, packed(y, PE_F32, T, 1, 8), where, &PE_MAKE(pe_run, .params = w), &err));
    for (int n = 0; n < T * 8; n++)
        assert_true(((float *)grads)[rows[n / 8] * 8 + n % 8] == y[n]);
    pe_encoding_free(e);
}

static void score_tiles_reach_past_2_to_the_32(void **state)
{
    (void)state;
    static float q[T * 4 * 16], k[T * 4 * 16], score[T * 4 * T], prob[T * 4 * T], out[T * 4 * 16], w[33 * 16 * 2];
    static const int64_t at[T] = { 0, 1, 2, 3 };
    uint64_t seed = 4;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("alibi+shaw:left=8,right=8", (pe_shape){ 4, 4, 16, 0 });
    pe_params params = { w, PE_F32, pe_encoding_param_count(e) };
    assert_true(params.count <= COUNT(w));
    assert_ok(pe_encoding_init(e, params, 5, &err));
    pe_view pq = packed(q, PE_F32, T, 4, 16), pk = packed(k, PE_F32, T, 4, 16), ps = packed(score, PE_F32, T, 4, T),
        pp = packed(prob, PE_F32, T, 4, T), po = packed(out, PE_F32, T, 4, 16);
    fill(pq, &seed);
    fill(pk, &seed);
    fill(ps, &seed);
    fill(pp, &seed);
    fill(po, &seed);
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
        assert_rows(ss, ps, "score");
        assert_ok(pe_encoding_value(e, params, po, pp, small, small, &err));
        assert_ok(pe_encoding_value(e, params, so, sp, s.q_at, s.k_at, &err));
        assert_rows(so, po, "value");
        give_back(NULL);
    }
    pe_encoding_free(e);
}

typedef struct problem {
    float q[T * 4 * 16], k[T * 2 * 16], v[T * 2 * 16], mask[T * 4 * T], out[T * 4 * 16], lse[T * 4];
    float dout[T * 4 * 16], dq[T * 4 * 16], dk[T * 2 * 16], dv[T * 2 * 16], dmask[T * 4 * T];
} problem;

static void attention_reaches_past_2_to_the_32(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "xpos+alibi" };
    static problem m;
    static double work[8192];
    static const int64_t at[T] = { 0, 1, 2, 3 };
    uint64_t seed = 5;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (int heads_apart = 0; heads_apart < 2; heads_apart++) {
            pe_encoding *e = test_encoding(specs[n], (pe_shape){ 4, 2, 16, 0 });
            memset(&m, 0, sizeof m);
            pe_positions small = pe_positions_of(at, PE_I64, 1, T, 1);
            pe_attention p = { .size = sizeof(pe_attention), .out = packed(m.out, PE_F32, T, 4, 16), .lse = packed(m.lse, PE_F32, T, 4, 1),
                               .q = packed(m.q, PE_F32, T, 4, 16), .k = packed(m.k, PE_F32, T, 2, 16),
                               .v = packed(m.v, PE_F32, T, 2, 16), .q_at = small, .k_at = small,
                               .mask = { .causal = true, .additive = packed(m.mask, PE_F32, T, 4, T) } };
            pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = packed(m.dout, PE_F32, T, 4, 16), .dq = packed(m.dq, PE_F32, T, 4, 16),
                                    .dk = packed(m.dk, PE_F32, T, 2, 16), .dv = packed(m.dv, PE_F32, T, 2, 16),
                                    .dadditive = packed(m.dmask, PE_F32, T, 4, T) };
            fill(p.q, &seed);
            fill(p.k, &seed);
            fill(p.v, &seed);
            fill(p.mask.additive, &seed);
            fill(g.dout, &seed);
            pe_attention s = { .size = sizeof(pe_attention), .out = afloat(p.out, false), .lse = afloat(p.lse, false), .q = afloat(p.q, heads_apart),
                               .k = afloat(p.k, false), .v = afloat(p.v, false),
                               .q_at = positions_afloat(at, T, 1), .k_at = positions_afloat(at, T, 1),
                               .mask = { .causal = true, .additive = afloat(p.mask.additive, heads_apart) } };
            pe_attention_grad h = { .size = sizeof(pe_attention_grad), .dout = afloat(g.dout, heads_apart), .dq = afloat(g.dq, !heads_apart),
                                    .dk = afloat(g.dk, false), .dv = afloat(g.dv, false),
                                    .dadditive = afloat(g.dadditive, heads_apart) };
            size_t bytes = 0;
            assert_ok(pe_reference_work(e, &s, &bytes, &err));
            assert_true(bytes <= sizeof work); /* of the tokens, not of the strides */
            assert_ok(pe_reference_forward(e, &p, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
            assert_ok(pe_reference_forward(e, &s, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
            assert_rows(s.out, p.out, "out");
            assert_rows(s.lse, p.lse, "log-sum-exp");
            assert_ok(pe_reference_backward(e, &p, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
            assert_ok(pe_reference_backward(e, &s, &h, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
            assert_rows(h.dq, g.dq, "dq");
            assert_rows(h.dk, g.dk, "dk");
            assert_rows(h.dv, g.dv, "dv");
            assert_rows(h.dadditive, g.dadditive, "dadditive");
            pe_encoding_free(e);
            give_back(NULL);
        }
}

/* Few queries read keys where they lie; more are made ready first. */
static void fused_attention_reaches_past_2_to_the_32(void **state)
{
    (void)state;
    enum { MOST = 12 };
    static const char *const specs[] = { "rope:turn=qkvo", "xpos+alibi", "cope", "deberta:buckets=4,max=8", "shaw:left=2,right=2" };
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    static _Alignas(8) char q[MOST * 4 * 16 * 4], k[MOST * 2 * 16 * 4], v[MOST * 2 * 16 * 4], mask[MOST * 4 * MOST * 4], out[MOST * 4 * 16 * 4], lse[MOST * 4 * 4];
    static float w[1 << 16];
    static int64_t at[MOST];
    uint64_t seed = 6;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs) * 4; n++) {
        pe_encoding *e = test_encoding(specs[n / 4], (pe_shape){ 4, 2, 16, 0 });
        int64_t params = pe_encoding_param_count(e), tokens = n & 1 ? MOST : T;
        bool heads_apart = n & 2;
        pe_dtype type = types[n % 3];
        pe_params p = { params ? w : NULL, PE_F32, params };
        size_t bytes = 0;
        assert_true(params <= COUNT(w));
        assert_ok(pe_encoding_init(e, p, 5, &err));
        for (int64_t t = 0; t < tokens; t++)
            at[t] = t;
        pe_positions small = pe_positions_of(at, PE_I64, 1, tokens, 1);
        pe_attention a = { .size = sizeof(pe_attention), .out = packed(out, type, tokens, 4, 16), .lse = packed(lse, PE_F32, tokens, 4, 1), .q = packed(q, type, tokens, 4, 16),
                           .k = packed(k, type, tokens, 2, 16), .v = packed(v, type, tokens, 2, 16), .q_at = small, .k_at = small,
                           .mask = { .causal = true, .additive = packed(mask, PE_F32, tokens, 4, tokens) } };
        fill(a.q, &seed);
        fill(a.k, &seed);
        fill(a.v, &seed);
        fill(a.mask.additive, &seed);
        pe_attention s = { .size = sizeof(pe_attention), .out = afloat(a.out, heads_apart), .lse = afloat(a.lse, !heads_apart), .q = afloat(a.q, heads_apart),
                           .k = afloat(a.k, false), .v = afloat(a.v, false), .q_at = positions_afloat(at, tokens, 1),
                           .k_at = positions_afloat(at, tokens, 1), .mask = { .causal = true, .additive = afloat(a.mask.additive, heads_apart) } };
        assert_ok(pe_attention_work(e, &s, &PE_MAKE(pe_run, .params = p), &bytes, &err));
        assert_true(bytes < 1 << 22); /* of the tokens, not of the strides */
        void *work = malloc(bytes);
        assert_ok(pe_attention_forward(e, &a, &PE_MAKE(pe_run, .params = p, .work = work, .work_bytes = bytes), &err));
        assert_ok(pe_attention_forward(e, &s, &PE_MAKE(pe_run, .params = p, .work = work, .work_bytes = bytes), &err));
        assert_rows(s.out, a.out, specs[n / 4]);
        assert_rows(s.lse, a.lse, "log-sum-exp");
        free(work);
        pe_encoding_free(e);
        give_back(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rotate_reaches_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(values_that_do_not_turn_are_copied_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(tables_reach_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(embed_reaches_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(parameters_reach_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(score_tiles_reach_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(attention_reaches_past_2_to_the_32, give_back),
        cmocka_unit_test_teardown(fused_attention_reaches_past_2_to_the_32, give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
