/* labels: core; tier: test; cost: 4 s
 * SPDX-License-Identifier: MIT
 *
 * Attention in pieces: any split of the keys, merged and finished, is the whole; a cache of rotated keys is as good as
 * the keys themselves. */
#include "fused_case.h"

#define SEED UINT64_C(0x70696563)

typedef struct piece {
    pe_partial p;
    int64_t rows, width;
} piece;

static piece piece_new(const attention_case *c)
{
    int64_t rows = c->Tq * c->shape.heads;
    piece x = { .rows = rows, .width = c->Dv };
    x.p.out = take(rows * c->Dv, 4);
    x.p.max = take(rows, 4);
    x.p.sum = take(rows, 4);
    x.p.carry = take(rows, 8);
    memset(x.p.out, 0xff, (size_t)(rows * c->Dv) * 4);
    memset(x.p.max, 0xff, (size_t)rows * 4);
    memset(x.p.sum, 0xff, (size_t)rows * 4);
    return x;
}

/* The problem over keys from .. from + n - 1. */
static pe_attention some_keys(const attention_case *c, const twin *t, int64_t from, int64_t n)
{
    pe_attention a = t->a;
    int64_t G = c->shape.kv_heads, D = c->shape.head_dim;
    size_t size = pe_dtype_size(t->type);
    a.k = pe_view_of((char *)t->k + (size_t)(from * G * D) * size, t->type, 1, n, G, D);
    a.v = pe_view_of((char *)t->v + (size_t)(from * G * c->Dv) * size, t->type, 1, n, G, c->Dv);
    a.k_at = pe_positions_of(c->k_at + from * c->axes, PE_I64, 1, n, c->axes);
    a.mask.keys_after = c->Tk - from - n;
    if (a.k_gates.data) {
        a.k_gates.data = (char *)a.k_gates.data + (size_t)(from * a.k_gates.token_stride) * pe_dtype_size(a.k_gates.dtype);
        a.k_gates.tokens = n;
    }
    if (a.mask.keep.data) {
        a.mask.keep.data = (uint8_t *)a.mask.keep.data + from;
        a.mask.keep.dim = n;
    }
    if (a.mask.additive.data) {
        int64_t heads = a.mask.additive.heads;
        a.mask.additive = (pe_view){ (double *)a.mask.additive.data + from, PE_F64, 1, c->Tq, heads, n, 0, heads * c->Tk, c->Tk };
    }
    return a;
}

static void partial(const attention_case *c, const pe_attention *a, pe_partial p)
{
    pe_run run = case_run(c, NULL, NULL, 0);
    assert_ok(pe_attention_work(c->e, a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    memset(run.work, 0xff, run.work_bytes);
    if (pe_attention_partial(c->e, a, p, &run, &err))
        fail_msg("%s: %s", c->spec, err.text);
}

/* Pieces of these sizes, the last as large as is left; from the right where a term counts, else from the left. An empty
 * piece goes first, in the middle and last. */
static void in_pieces(const attention_case *c, twin *t, const int64_t *sizes, int count)
{
    piece whole = piece_new(c), part = piece_new(c);
    bool carries = pe_encoding_carries(c->e);
    pe_attention none = some_keys(c, t, carries ? c->Tk : 0, 0);
    partial(c, &none, whole.p);
    part.p.carry = whole.p.carry; /* handed on from piece to piece */
    for (int64_t done = 0, n, k = 0; done < c->Tk; done += n, k++) {
        n = sizes[k % count] < c->Tk - done ? sizes[k % count] : c->Tk - done;
        pe_attention a = some_keys(c, t, carries ? c->Tk - done - n : done, n);
        partial(c, &a, part.p);
        assert_ok(pe_attention_merge(whole.p, part.p, whole.rows, whole.width, &err));
        if (k == 1 || done + n == c->Tk) {
            partial(c, &none, part.p);
            assert_ok(pe_attention_merge(whole.p, part.p, whole.rows, whole.width, &err));
        }
    }
    memset(t->out, 0xff, (size_t)(whole.rows * c->Dv) * pe_dtype_size(t->type));
    assert_ok(pe_attention_finish(c->e, &t->a, whole.p, &PE_MAKE(pe_run, .params = c->params), &err));
}

static double most;
static const char *most_spec;

static void compare_pieces(attention_case c, pe_dtype type)
{
    static const int64_t splits[][3] = { { 1, 1, 1 }, { 7, 7, 7 }, { 128, 128, 128 }, { 1, 64, 3 }, { 130, 5, 1 } };
    twin t = twin_of(&c, type, NULL);
    if (!t.status) {
        case_forward(&c);
        for (int s = c.Tk > 60 ? 1 : 0; s < COUNT(splits); s++) {
            char how[80];
            snprintf(how, sizeof how, "pieces of %" PRId64 ", %" PRId64 " ..., Tq %" PRId64, splits[s][0], splits[s][1], c.Tq);
            in_pieces(&c, &t, splits[s], 3);
            double off = twin_compare(&c, &t, how);
            most_spec = off > most ? c.spec : most_spec;
            most = fmax(most, off);
        }
    }
    case_over(&c);
}

static void compare_splits(const char *spec)
{
    static const unsigned features[] = {
        0, CAUSAL, CAUSAL | WINDOW | SINKS, PADDING | SOFT_CAP, CAUSAL | SEGMENTS, ADDITIVE_HEADS | SINKS, ALL_AT_ONCE, CAUSAL | MORE_QUERIES,
    };
    for (int f = 0; f < COUNT(features); f++)
        compare_pieces(case_sized(spec, features[f], SEED, f % 2 ? 40 : 6), f % 3 == 2 ? PE_BF16 : PE_F32);
    compare_pieces(case_sized(spec, PADDING | SINKS, SEED, -150), PE_F32);
    compare_pieces(case_sized(spec, CAUSAL, SEED, 140), PE_F32);
}

TEST(pieces_merged_and_finished_are_the_whole)
{
    case_each(compare_splits);
    printf("pieces: worst %.2f units, %s\n", most, most_spec);
}

/* A tree of merges, as a distributed scheme makes it: within the bound too, and a fixed order gives fixed bits. */
TEST(merging_in_a_fixed_order_gives_fixed_bits)
{
    attention_case c = case_sized("t5", SINKS, SEED, -200);
    twin t = twin_of(&c, PE_F32, NULL);
    float *first = take(c.Tq * c.shape.heads * c.Dv, 4);
    case_forward(&c);
    for (int round = 0; round < 3; round++) {
        piece p[4];
        for (int n = 0; n < 4; n++) {
            pe_attention a = some_keys(&c, &t, n * 50, 50);
            p[n] = piece_new(&c);
            partial(&c, &a, p[n].p);
        }
        assert_ok(pe_attention_merge(p[2].p, p[3].p, p[2].rows, p[2].width, &err));
        assert_ok(pe_attention_merge(p[0].p, p[1].p, p[0].rows, p[0].width, &err));
        assert_ok(pe_attention_merge(p[0].p, p[2].p, p[0].rows, p[0].width, &err));
        assert_ok(pe_attention_finish(c.e, &t.a, p[0].p, &PE_MAKE(pe_run, .params = c.params), &err));
        twin_compare(&c, &t, "a tree of merges");
        if (round)
            assert_memory_equal(first, t.out, (size_t)(c.Tq * c.shape.heads * c.Dv) * 4);
        memcpy(first, t.out, (size_t)(c.Tq * c.shape.heads * c.Dv) * 4);
    }
}

/* ---------------------------------------------------------------- dual chunks */

/* An et al. 2024, arXiv:2402.17463 (their chunkllama_attn_replace.py): keys stand at j mod CHUNK. A query stands at i mod
 * CHUNK before the keys of its own chunk, at min(i mod CHUNK + CHUNK, FAR) before those of the chunk before, and at FAR
 * before all earlier ones. Positions are arguments, so these are three pieces, and no encoding. The vectors are what their
 * code computes for one token behind a cache (commit 2add4d7, chunk_size 8, local_window 2; its softmax is float32). */
enum { CHUNK = 6, FAR = 8, CHUNKED = 21, WIDE = 8 };

static int64_t dual_place(int64_t i, int64_t j)
{
    int64_t at = i % CHUNK, apart = i / CHUNK - j / CHUNK;
    return apart == 0 ? at : apart > 1 || at + CHUNK > FAR ? FAR : at + CHUNK;
}

/* q at one position . k at another: pairs (n, n + WIDE/2), frequency 10000^(-2n/WIDE). */
static double rotated_product(const float *q, const float *k, int64_t distance)
{
    double sum = 0;
    for (int n = 0; n < WIDE / 2; n++) {
        double angle = (double)distance * pow(10000, -2.0 * n / WIDE), c = cos(angle), s = sin(angle);
        sum += c * (q[n] * k[n] + q[n + WIDE / 2] * k[n + WIDE / 2]) + s * (q[n] * k[n + WIDE / 2] - q[n + WIDE / 2] * k[n]);
    }
    return sum / sqrt(WIDE);
}

static void dual_definition(double out[WIDE], const float *q, const float *k, const float *v, int64_t i)
{
    double total = 0;
    memset(out, 0, WIDE * sizeof *out);
    for (int64_t j = 0; j <= i; j++) {
        double p = exp(rotated_product(q, k + j * WIDE, dual_place(i, j) - j % CHUNK));
        total += p;
        for (int d = 0; d < WIDE; d++)
            out[d] += p * v[j * WIDE + d];
    }
    for (int d = 0; d < WIDE; d++)
        out[d] /= total;
}

static const struct {
    int64_t query;
    double out[WIDE];
} dual_authors[] = {
    { 4, { 0.0069149179, 0.7560244, 0.81004854, 0.11931778, -0.68111321, -0.85533188, -0.24316233, 0.5925695 } },
    { 8, { -0.015798375, -0.0017204401, 0.013939285, 0.016783282, 0.0041968123, -0.012248171, -0.017432253, -0.0065891943 } },
    { 20, { -0.077769278, -0.30106977, -0.24756809, 0.033546547, 0.28381864, 0.27314921, 0.011347633, -0.26088687 } }
};

/* Keys from .. from + n - 1, all in one relation to query i; added to whole. */
static void dual_piece(const pe_encoding *e, pe_attention *a, float *k, float *v, int64_t i, int64_t from, int64_t n, pe_partial whole)
{
    float out[WIDE], max, sum;
    int64_t *q_at = take(1, 8), *k_at = take(n, 8); /* the caller reads them again */
    pe_run run = PE_MAKE(pe_run, .work = NULL);
    *q_at = dual_place(i, from);
    for (int64_t j = 0; j < n; j++)
        k_at[j] = (from + j) % CHUNK;
    a->q_at = pe_positions_of(q_at, PE_I64, 1, 1, 1);
    a->k_at = pe_positions_of(k_at, PE_I64, 1, n, 1);
    a->k = pe_view_of(k + from * WIDE, PE_F32, 1, n, 1, WIDE);
    a->v = pe_view_of(v + from * WIDE, PE_F32, 1, n, 1, WIDE);
    assert_ok(pe_attention_work(e, a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    pe_partial one = { out, &max, &sum, NULL };
    assert_ok(pe_attention_partial(e, a, one, &run, &err));
    assert_ok(pe_attention_merge(whole, one, 1, WIDE, &err));
}

TEST(dual_chunks_are_three_pieces_with_their_own_positions)
{
    float q[CHUNKED * WIDE], k[CHUNKED * WIDE], v[CHUNKED * WIDE], got[WIDE], out[WIDE], max, sum;
    double want[WIDE];
    pe_encoding *e = encoding_of("rope", (pe_shape){ 1, 1, WIDE, 0 });
    for (int n = 0; n < CHUNKED * WIDE; n++) {
        int t = n / WIDE, d = n % WIDE;
        q[n] = (float)(2 * sin(1 + t + 0.5 * d));
        k[n] = (float)(2 * cos(2 + t + 0.7 * d));
        v[n] = (float)sin(3 * t + d);
    }
    for (int64_t i = 0; i < CHUNKED; i++) {
        int64_t own = i / CHUNK * CHUNK, before = own >= CHUNK ? own - CHUNK : 0;
        pe_attention a = PE_MAKE(pe_attention, .out = pe_view_of(got, PE_F32, 1, 1, 1, WIDE),
                                 .q = pe_view_of(q + i * WIDE, PE_F32, 1, 1, 1, WIDE));
        pe_partial whole = { out, &max, &sum, NULL };
        a.k = pe_view_of(k, PE_F32, 1, 0, 1, WIDE);
        max = -INFINITY, sum = 0;
        memset(out, 0, sizeof out);
        dual_piece(e, &a, k, v, i, own, i + 1 - own, whole);
        if (own)
            dual_piece(e, &a, k, v, i, before, CHUNK, whole);
        if (before)
            dual_piece(e, &a, k, v, i, 0, before, whole);
        assert_ok(pe_attention_finish(e, &a, whole, NULL, &err));
        dual_definition(want, q + i * WIDE, k, v, i);
        for (int d = 0; d < WIDE; d++)
            assert_true(fabs((double)got[d] - want[d]) < 1e-5);
        for (int n = 0; n < COUNT(dual_authors); n++)
            for (int d = 0; d < WIDE && dual_authors[n].query == i; d++)
                assert_true(fabs(want[d] - dual_authors[n].out[d]) < 1e-6);
    }
}

/* A piece that saw nothing changes no bit of another, from either side. */
TEST(an_empty_piece_is_neutral)
{
    attention_case c = case_sized("alibi", 0, SEED, -40);
    twin t = twin_of(&c, PE_F32, NULL);
    piece all = piece_new(&c), none = piece_new(&c), kept = piece_new(&c);
    pe_attention empty = some_keys(&c, &t, 0, 0);
    size_t row = (size_t)all.rows * 4, values = (size_t)(all.rows * all.width) * 4;
    partial(&c, &t.a, all.p);
    partial(&c, &t.a, kept.p);
    partial(&c, &empty, none.p);
    for (int64_t r = 0; r < none.rows; r++)
        assert_true(none.p.max[r] == -INFINITY && none.p.sum[r] == 0);
    for (int64_t n = 0; n < none.rows * none.width; n++)
        assert_true(none.p.out[n] == 0);
    assert_ok(pe_attention_merge(all.p, none.p, all.rows, all.width, &err));
    assert_memory_equal(all.p.out, kept.p.out, values);
    assert_memory_equal(all.p.max, kept.p.max, row);
    assert_memory_equal(all.p.sum, kept.p.sum, row);
    assert_ok(pe_attention_merge(none.p, all.p, all.rows, all.width, &err));
    assert_memory_equal(none.p.out, kept.p.out, values);
    assert_memory_equal(none.p.max, kept.p.max, row);
    assert_memory_equal(none.p.sum, kept.p.sum, row);
}

TEST(what_is_wrong_is_named)
{
    attention_case c = case_sized("alibi", 0, SEED, -40);
    twin t = twin_of(&c, PE_F32, NULL);
    piece one = piece_new(&c);
    float sink[1] = { 0 };
    assert_refused(pe_attention_merge(one.p, one.p, one.rows, one.width, &err),
                   PE_ERR_ALIAS, "into.out and from.out overlap");
    pe_attention a = t.a;
    a.soft_cap = -1;
    assert_says(pe_attention_finish(c.e, &a, one.p, NULL, &err), PE_ERR_RANGE,
                "soft_cap is -1; needs 0 (none) or a finite number above");
    a = t.a;
    a.scale = INFINITY;
    assert_says(pe_attention_finish(c.e, &a, one.p, NULL, &err), PE_ERR_RANGE,
                "scale is inf; needs a finite number (0: the encoding's own)");
    a = t.a;
    a.sinks = (pe_params){ sink, PE_F32, 99 };
    assert_refused(pe_attention_finish(c.e, &a, one.p, NULL, &err), PE_ERR_SHAPE, "sinks: count is 99; needs ");
    assert_non_null(strstr(err.text, ", one per head"));
}

/* NaN, however little it would weigh, and however alone it is in its piece. */
TEST(a_nan_survives_merging)
{
    for (int alone = 0; alone < 2; alone++)
        for (int order = 0; order < 2; order++) {
            attention_case c = case_sized("none", 0, SEED, -20);
            twin t = twin_of(&c, PE_F32, NULL);
            for (int64_t d = 0; d < c.shape.kv_heads * c.shape.head_dim; d++)
                ((float *)t.k)[d] = NAN;
            double *add = case_doubles(20);
            for (int j = 0; j < 10; j++)
                add[j] = alone && j ? -INFINITY : -500;
            t.a.mask.additive = pe_view_of(add, PE_F64, 1, 1, 1, 20);
            piece p[2] = { piece_new(&c), piece_new(&c) };
            for (int n = 0; n < 2; n++) {
                pe_attention a = some_keys(&c, &t, n * 10, 10);
                partial(&c, &a, p[n].p);
            }
            assert_ok(pe_attention_merge(p[order].p, p[1 - order].p, p[order].rows, p[order].width, &err));
            assert_ok(pe_attention_finish(c.e, &t.a, p[order].p, NULL, &err));
            for (int64_t n = 0; n < c.shape.heads * c.Dv; n++)
                assert_true(isnan(((float *)t.out)[n]));
            for (int64_t h = 0; h < c.shape.heads; h++)
                assert_true(isnan(t.lse[h]));
        }
}

/* ------------------------------------------------ caches */

/* Keys and values rotated first, by the library and in float64 for the definition, then said to be rotated. */
static void compare_rotated(const char *spec)
{
    static const int64_t sizes[] = { -150, 70, 6 };
    for (int n = 0; n < COUNT(sizes); n++) {
        attention_case c = case_sized(spec, CAUSAL | SINKS, SEED, sizes[n]);
        pe_view k = c.a.k, v = c.a.v;
        if (case_try(&c)) /* out of reach */
            continue;
        double *kept = case_doubles(c.Tq * c.shape.heads * c.Dv);
        memcpy(kept, c.out, (size_t)(c.Tq * c.shape.heads * c.Dv) * 8);
        pe_run run = PE_MAKE(pe_run, .params = c.params);
        assert_ok(pe_rotate(c.e, PE_KEY, k, k, c.a.k_at, &run, &err));
        assert_ok(pe_rotate(c.e, PE_VALUE, v, v, c.a.k_at, &run, &err));
        c.a.rotated = true;
        case_forward(&c); /* the definition: in float64, twice the same but for rounding */
        for (int64_t i = 0; i < c.Tq * c.shape.heads * c.Dv; i++)
            if (!(fabs(kept[i] - c.out[i]) <= 1e-10))
                fail_msg("%s: by definition rotated keys give %g, should be %g", spec, c.out[i], kept[i]);
        twin t = twin_of(&c, PE_F32, NULL); /* rounds the rotated keys to float32: the definition once more on those */
        case_forward(&c);
        twin_forward(&c, &t);
        double off = twin_compare(&c, &t, "rotated");
        most_spec = off > most ? spec : most_spec;
        most = fmax(most, off);
    }
}

TEST(rotated_keys_are_as_good_as_keys)
{
    most = 0;
    case_each(compare_rotated);
    printf("rotated: worst %.2f units, %s\n", most, most_spec);
}
