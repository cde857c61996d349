/* labels: core; tier: test; cost: 9 s; needs: threads
 * SPDX-License-Identifier: MIT
 *
 * Fused attention equals the definition: every row, every feature of a mask, every rung, every type, sizes around those
 * of a tile, any positions, any views; and gives the same bits whoever does the work. */
#include "fused_walk.h"

#define SEED UINT64_C(0x66757365)

/* Where the definition has no answer (a table ends, a turn overflows), neither has fused attention. With far places
 * xpos may refuse more: its turns inside a tile are float32. */
static void compare_at(attention_case c, bool far, const char *how)
{
    char text[200];
    const char *rung = rungs[rung_at++ % rung_count];
    snprintf(text, sizeof text, "%s, %s", rung, how);
    assert_ok(pe_encoding_set_kernels(c.e, rung, &err));
    twin t = twin_of(&c, type, NULL);
    pe_status definition = case_try(&c), status = t.status ? t.status : twin_try(&c, &t);
    if (status != definition && !(far && strstr(c.spec, "xpos") && status == PE_ERR_POSITION))
        fail_msg("%s, %s: %s here, %s by definition", c.spec, text, pe_status_name(status), pe_status_name(definition));
    if (!status)
        note(c.spec, twin_compare(&c, &t, text));
    case_over(&c);
}

static void compare(attention_case c, const char *how)
{
    compare_at(c, false, how);
}

enum { SETS = COUNT(case_features) + 3 };

/* Set n of the features: those of a few tokens, then those of several tiles. */
static void compare_set(const char *spec, int n)
{
    static const unsigned large[] = { CAUSAL, CAUSAL | WINDOW | SEGMENTS, PADDING };
    static const int64_t sizes[] = { 135, 90, -300 };
    int k = n - COUNT(case_features);
    unsigned features = k < 0 ? case_features[n] : large[k];
    int64_t size = k < 0 ? (n % 2 ? 40 : 6) : sizes[k];
    char how[80];
    snprintf(how, sizeof how, "type %d, features %u, n %" PRId64, (int)type, features, size);
    compare(case_sized(spec, features, SEED + features, size), how);
}

/* Every set on one rung, another from set to set and from spec to spec. */
static void compare_features(const char *spec)
{
    for (int n = 0; n < SETS * rung_count; n++) {
        int set = n / rung_count; /* the rung: never in step with what is left out */
        rung_at = n % rung_count;
        if (test_full() || (rung_at == (set + set / 3 + case_number) % rung_count && test_due(set + case_number, 1)))
            compare_set(spec, set);
    }
}

TEST(fused_equals_the_definition_on_every_rung)
{
    case_each(compare_features);
    report("float32");
}

/* Every other set, with one type and one rung of each in turn. */
static void compare_halves(const char *spec)
{
    int combos = 2 * rung_count;
    for (int n = 0; n < SETS * combos; n++) {
        int set = n / combos, combo = n % combos;
        if (!test_full() && (combo != (5 * set + case_number) % combos || !test_due(set / 2 + case_number, 2)))
            continue;
        type = combo % 2 ? PE_BF16 : PE_F16;
        rung_at = combo / 2;
        compare_set(spec, set);
    }
}

/* The definition on the same rounded numbers; the output is rounded once more. */
TEST(half_precision_is_rounded_once_on_every_rung)
{
    case_each(compare_halves);
    report("float16 and bfloat16");
}

/* ------------------------------------------------ products in bfloat16 */

/* On the rung of that name; -1: this CPU has none. */
static int rung_of_bf16(void)
{
    int at = rung_count - 1;
    while (at >= 0 && strcmp(rungs[at], "bf16") != 0)
        at--;
    return at;
}

static const char *const bf16_specs[] = { "none", "rope", "alibi", "t5", "kerple", "shaw", "cope", "xpos", "deberta:buckets=8,max=32", "rope:turn=qkvo", "rope+alibi" };

/* Odd heads and odd numbers of keys: what is multiplied lies two by two. */
TEST(bfloat16_products_of_any_shape)
{
    static const int64_t dims[] = { 1, 2, 3, 7, 16, 33, 80, 100 }, queries[] = { 9, 63, 65, 130 }, keys[] = { 1, 7, 63, 64, 65, 127, 129, 257 };
    int rung = rung_of_bf16();
    for (int n = 0; rung >= 0 && n < COUNT(bf16_specs) * COUNT(dims) * COUNT(queries) * COUNT(keys); n++) {
        int d = n / COUNT(bf16_specs) % COUNT(dims), q = n / COUNT(bf16_specs) / COUNT(dims) % COUNT(queries);
        int k = n / COUNT(bf16_specs) / COUNT(dims) / COUNT(queries);
        if (!test_due(n + d + q, 7))
            continue;
        int spec = n % COUNT(bf16_specs); /* the first five take values of any width */
        type = PE_BF16;
        rung_at = rung;
        compare_shape(bf16_specs[spec], (pe_shape){ 4, 2, dims[d], 0 }, dims[spec < 5 ? (d + k) % COUNT(dims) : d], queries[q], keys[k],
                      (q + k) % 2 ? CAUSAL : SINKS | SCALE);
    }
    if (rung >= 0)
        report("products in bfloat16");
}

/* The stated bound, with outputs in float32: weights off by 2^-9 of themselves, values of 1 at most. */
TEST(bfloat16_products_are_off_by_the_rounding_of_weights)
{
    double most = 0;
    int rung = rung_of_bf16();
    for (int n = 0; rung >= 0 && n < 3 * COUNT(bf16_specs); n++) {
        attention_case c = case_sized(bf16_specs[n / 3], CAUSAL, SEED + (uint64_t)n, 150 + 61 * (n % 3));
        assert_ok(pe_encoding_set_kernels(c.e, rungs[rung], &err));
        twin t = twin_of(&c, PE_BF16, NULL);
        t.a.out = pe_view_of(take(c.Tq * c.shape.heads * c.Dv, 4), PE_F32, 1, c.Tq, c.shape.heads, c.Dv);
        case_forward(&c);
        twin_forward(&c, &t);
        for (int64_t i = 0; i < c.Tq * c.shape.heads * c.Dv; i++) {
            double off = fabs((double)((float *)t.a.out.data)[i] - c.out[i]);
            double within = 0x1p-9 + 2 * case_score_rounding(&c) + case_bound(&c) * case_unit(&c, c.lse[i / c.Dv]);
            most = fmax(most, off / within);
            if (!(off <= within))
                fail_msg("%s: out %d is off by %.3g, at most %.3g", c.spec, (int)i, off, within);
        }
        case_over(&c);
    }
    if (rung >= 0)
        printf("products in bfloat16: at most %.2f of the bound\n", most);
}

/* What is rotated is rounded once: the same bits as attention without a rotation on what pe_rotate stores. */
TEST(bfloat16_rotated_inside_has_the_bits_of_pe_rotate)
{
    int rung = rung_of_bf16();
    for (int64_t n = 66; rung >= 0 && n < 400; n += 111) {
        attention_case c = case_of("rope", CAUSAL, SEED, n, n);
        pe_encoding *none = encoding_of("none", c.shape);
        assert_ok(pe_encoding_set_kernels(c.e, rungs[rung], &err));
        assert_ok(pe_encoding_set_kernels(none, rungs[rung], &err));
        twin inside = twin_of(&c, PE_BF16, NULL), outside = inside;
        outside.a.out = pe_view_of(take(n * c.shape.heads * c.Dv, 2), PE_BF16, 1, n, c.shape.heads, c.Dv);
        twin_forward(&c, &inside);
        assert_ok(pe_rotate(c.e, PE_QUERY, outside.a.q, outside.a.q, outside.a.q_at, NULL, &err));
        assert_ok(pe_rotate(c.e, PE_KEY, outside.a.k, outside.a.k, outside.a.k_at, NULL, &err));
        pe_run run = twin_run(&c, &outside);
        run.params = (pe_params){ 0 };
        assert_ok(pe_attention_forward(none, &outside.a, &run, &err));
        assert_memory_equal(inside.out, outside.a.out.data, (size_t)(n * c.shape.heads * c.Dv) * 2);
    }
}

/* ------------------------------------------------ the judge */

/* A fault planted in one element of a result that is right; x: what stands there instead. */
static bool sees_planted(attention_case *c, twin *t, bool lse, int64_t at, double x)
{
    float *l = &t->lse[at], was = *l;
    double kept = num_load(t->out, t->type, at);
    if (lse)
        *l = (float)x;
    else
        num_store(t->out, t->type, at, x);
    bool found = twin_fault(c, t).found;
    *l = was;
    num_store(t->out, t->type, at, kept);
    return found;
}

TEST(what_is_no_number_or_off_is_seen_by_the_comparison)
{
    static const double wrong[] = { NAN, INFINITY, -INFINITY, 3 };
    for (type = PE_F32; type <= PE_BF16; type++) {
        attention_case c = case_sized("rope", CAUSAL, SEED, 6);
        twin t = twin_of(&c, type, NULL);
        case_forward(&c);
        twin_forward(&c, &t);
        assert_false(twin_fault(&c, &t).found);
        for (int w = 0; w < COUNT(wrong); w++)
            for (int64_t at = 0; at < c.Tq * c.shape.heads; at++)
                for (int lse = 0; lse < 2; lse++)
                    assert_true(sees_planted(&c, &t, lse, at, wrong[w]));
        double y = num_load(t.out, type, 1);
        c.out[1] = NAN; /* and a number where there should be none */
        assert_true(sees_planted(&c, &t, false, 1, y));
    }
}

/* ------------------------------------------------ shapes and sizes */

TEST(heads_of_any_width_and_number)
{
    static const char *const specs[] = { "none", "alibi", "t5", "fire:hidden=4", "alibi:convention=falcon,products=bf16" };
    static const int64_t dims[] = { 1, 3, 7, 33, 80, 100 };
    static const pe_shape groups[] = { { 1, 1, 0, 0 }, { 6, 1, 0, 0 }, { 12, 3, 0, 0 }, { 40, 1, 0, 0 } };
    for (int s = 0; s < COUNT(specs); s++)
        for (int d = 0; d < COUNT(dims); d++)
            for (int g = 0; g < COUNT(groups); g++) {
                if (!test_due(s + d + g, 3))
                    continue;
                pe_shape shape = groups[g];
                shape.head_dim = dims[d];
                assert_true(compare_shape(specs[s], shape, dims[(d + 1) % COUNT(dims)], 70, 130, CAUSAL));
                assert_true(compare_shape(specs[s], shape, dims[(d + 2) % COUNT(dims)], 5, 130, SINKS));
            }
    report("widths");
}

/* Few queries, many heads on one: what is made ready is larger than a tile of keys. */
TEST(many_heads_on_one_with_every_hook)
{
    static const char *const specs[] = { "rope", "rope:turn=qkvo", "xpos", "shaw", "deberta:buckets=8,max=32", "transformer-xl", "cope", "wavelet" };
    static const int64_t queries[] = { 1, 3, 8, 9, 65 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int q = 0; q < COUNT(queries); q++) {
            if (test_due(s + q, 2))
                assert_true(compare_shape(specs[s], (pe_shape){ 40, 1, 16, 0 }, 16, queries[q], 140, CAUSAL));
            if (test_due(s + q + 1, 2))
                assert_true(compare_shape(specs[s], (pe_shape){ 12, 3, 16, 0 }, 16, queries[q], 140, CAUSAL));
        }
    report("many heads on one");
}

TEST(any_number_of_queries_and_keys)
{
    static const char *const specs[] = { "none", "rope", "alibi", "t5", "shaw", "deberta:buckets=8,max=32", "cope", "xpos", "transformer-xl+rope", "fire:hidden=4" };
    static const int64_t sizes[] = { 0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 257 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int q = 0; q < COUNT(sizes); q++)
            for (int k = 0; k < COUNT(sizes); k++)
                if (test_due(q + 2 * k + s, 5))
                    assert_true(compare_shape(specs[s], (pe_shape){ 2, 1, 8, 16 }, 8, sizes[q], sizes[k],
                                              (q + k) % 2 ? CAUSAL : CAUSAL | WINDOW | SINKS));
    for (int q = 0; q < COUNT(sizes); q++)
        for (int k = 0; k < COUNT(sizes); k++)
            if (test_due(q + 2 * k, 3))
                assert_true(compare_shape("none", (pe_shape){ 2, 1, 8, 16 }, 8, sizes[q], sizes[k], 0));
    report("sizes");
}

TEST(a_window_of_any_size_is_one)
{
    static const int64_t windows[] = { 1, 63, 64, 65, 128, 300, INT64_MAX - 1, INT64_MAX }, ahead[] = { 0, 1, 5, 200, PE_POSITION_MAX };
    for (int w = 0; w < COUNT(windows); w++)
        for (int n = 0; n < COUNT(ahead); n++)
            for (int shape = 0; shape < 4; shape++) {
                attention_case c = case_of("alibi", shape & 2 ? CAUSAL : 0, SEED, shape & 1 ? 140 : 5, 70);
                c.a.mask.window = windows[w];
                c.a.mask.keys_after = ahead[n];
                compare(c, "windows");
            }
    report("windows");
}

/* ------------------------------------------------ positions */

static void compare_places(const char *spec)
{
    static const unsigned features[] = { 0, CAUSAL, CAUSAL | SEGMENTS, PADDING };
    for (int n = 0; n < LAYOUTS * COUNT(features) * 4; n++) {
        int f = n / 4 % COUNT(features), how = n / 4 / COUNT(features), apart = n / 2 % 2, few = n % 2;
        char text[80];
        if (!test_due(how + f + 2 * apart + 3 * few + case_number, 8))
            continue;
        snprintf(text, sizeof text, "layout %d, features %u, %s%s", how, features[f], apart ? "apart" : "",
                 few ? ", few" : "");
        attention_case c = case_of(spec, features[f], SEED, few ? 3 : 70, 98);
        place_tokens(&c, (layout)how, apart);
        compare_at(c, true, text);
    }
}

TEST(positions_may_be_any)
{
    case_each(compare_places);
    report("positions");
}

/* A bias that is straight from distances below 60 to those near 2^36, some of the latter being seen. Formed about its
 * far end, it is off there by 2^-53 of 10 2^36, which is 10^-4 or 50 units at its near end; not for every slope, so there
 * are some. */
static void compare_far_and_near(const char *spec, bool ahead, void (*prepare)(attention_case *c, uint64_t *r))
{
    uint64_t r = SEED;
    for (int64_t n = 0; n < 12; n++) {
        attention_case c = case_of(spec, ahead ? 0 : CAUSAL, SEED, 3, 60);
        for (int64_t j = 0; j < c.Tk; j++)
            c.k_at[j] = (j < (ahead ? 52 : 8) ? 0 : PE_POSITION_MAX - 60 - n * 54321) + j;
        for (int64_t i = 0; i < c.Tq; i++)
            c.q_at[i] = c.k_at[ahead ? i : c.Tk - c.Tq + i];
        prepare(&c, &r);
        compare(c, ahead ? "far keys ahead" : "far keys behind");
    }
}

/* All 53 bits of them: the quotient of two far points often gives a shorter slope back whole. */
static void steep_slopes(attention_case *c, uint64_t *r)
{
    for (int64_t h = 0; h < c->params.count; h++)
        c->w[h] = 10 + 4 * test_uniform(r);
}

/* A small c, so that the logarithm is straight and x the distance over L. All weights fall with x. */
static void straight_fire(attention_case *c, uint64_t *r)
{
    int64_t n = 8, H = c->shape.heads;
    double *w1 = c->w + 2, *b1 = w1 + n, *w2 = b1 + n;
    c->w[0] = 0x1p-60;
    c->w[1] = 0.5;
    for (int64_t i = 0; i < n; i++) {
        w1[i] = (float)(1 + 0.5 * test_uniform(r));
        b1[i] = (float)test_uniform(r);
    }
    for (int64_t i = 0; i < H * n; i++)
        w2[i] = (float)(-1 + 0.5 * test_uniform(r));
}

TEST(far_keys_cost_near_ones_nothing)
{
    compare_far_and_near("alibi:slopes=learned", false, steep_slopes);
    compare_far_and_near("alibi:slopes=learned,form=symmetric", true, steep_slopes);
    compare_far_and_near("fire:hidden=8", true, straight_fire);
    report("far keys and near ones");
}

/* Keys that are not in use may stand anywhere: first in a tile, last, all of a tile. */
static void compare_padding(const char *spec)
{
    for (int few = 0; few < 2; few++)
        for (int left = 0; left < 2; left++) {
            attention_case c = case_of(spec, PADDING | CAUSAL, SEED, few ? 3 : 20, 170);
            for (int64_t j = 0; j < c.Tk; j++)
                c.key_used[j] = left ? j >= 135 : j % 128 && j < 35;
            case_keep(&c);
            for (int64_t i = 0; i < c.Tq && !left; i++) /* queries beside the keys that are left */
                for (int64_t a = 0; a < c.axes; a++)
                    c.q_at[i * c.axes + a] = c.k_at[(34 - c.Tq + i) * c.axes + a];
            for (int64_t j = 0; j < c.Tk; j++)
                for (int64_t a = 0; a < c.axes && !c.key_used[j]; a++)
                    c.k_at[j * c.axes + a] = j % 3 ? PE_POSITION_MAX - j : -PE_POSITION_MAX;
            c.a.mask.causal = left;
            compare_at(c, true, left ? "padded left" : "padded right");
        }
}

TEST(padding_may_stand_anywhere)
{
    case_each(compare_padding);
    report("padding");
}

/* Scores far past what exp takes, in both directions, rising and falling along the keys. */
TEST(scores_may_be_large)
{
    static const char *const specs[] = { "none", "alibi", "rope", "cope", "shaw", "t5" };
    static const double sizes[] = { 64, 1024, 1 << 20 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int n = 0; n < COUNT(sizes); n++)
            for (int few = 0; few < 2; few++) {
                if (!test_due(s + n + few, 2))
                    continue;
                attention_case c = case_of(specs[s], ADDITIVE_ONE, SEED, few ? 3 : 20, 1300);
                for (int64_t i = 0; i < c.Tq * c.Tk; i++)
                    c.additive[i] = (float)(sizes[n] * (i / c.Tk % 2 ? (double)(i % c.Tk) : -(double)(i % c.Tk)) / 100);
                compare(c, "large scores");
            }
    report("large scores");
}

/* ------------------------------------------------ views */

static void compare_views(const char *spec)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    for (int n = 0; n < 12; n++) {
        if (!test_due(n + case_number, 5))
            continue;
        bool heads_first = n & 1;
        attention_case c = case_sized(spec, ADDITIVE_HEADS | CAUSAL, SEED, n & 2 ? 35 : -35);
        twin t = twin_of(&c, types[n / 4], NULL);
        twin_forward(&c, &t);
        pe_attention a = t.a;
        spread out = spread_of(a.out, heads_first, 7), lse = spread_of(a.lse, heads_first, 2);
        a.q = spread_of(a.q, heads_first, 3).v;
        a.k = spread_of(a.k, heads_first, 5).v;
        a.v = spread_of(a.v, !heads_first, 1).v;
        a.mask.additive = spread_of(a.mask.additive, heads_first, 4).v;
        a.out = out.v, a.lse = lse.v;
        int64_t *q_at = take(3 * c.Tq * c.axes, 8);
        for (int64_t i = 0; i < c.Tq * c.axes; i++)
            q_at[3 * i] = c.q_at[i];
        a.q_at = (pe_positions){ .data = q_at, .dtype = PE_I64, .batch = 1, .tokens = c.Tq, .axes = c.axes, .token_stride = 3 * c.axes, .axis_stride = 3 };
        memset(t.work, 0xff, t.bytes);
        pe_run run = twin_run(&c, &t);
        assert_ok(pe_attention_forward(c.e, &a, &run, &err));
        if (memcmp(spread_of(t.a.out, heads_first, 7).base, out.base, out.bytes) ||
            memcmp(spread_of(t.a.lse, heads_first, 2).base, lse.base, lse.bytes))
            fail_msg("%s: differs from packed views, or wrote between rows", spec);
        case_over(&c);
    }
}

/* Bit for bit, and nothing between the rows of out and lse is touched. */
TEST(views_of_any_strides_give_the_same_bits)
{
    case_each(compare_views);
}

/* ------------------------------------------------ who does the work */

static pe_pool *pools[5];

static void run_with(attention_case *c, twin *first, const pe_pool *pool, const char *name)
{
    twin t = twin_of(c, first->type, pool);
    twin_forward(c, &t);
    if (memcmp(t.out, first->out, (size_t)(c->Tq * c->shape.heads * c->Dv) * pe_dtype_size(t.type)) ||
        memcmp(t.lse, first->lse, (size_t)(c->Tq * c->shape.heads) * sizeof(float)))
        fail_msg("%s: other bits with %s", c->spec, name);
}

static void compare_pools(const char *spec)
{
    static const int64_t sizes[] = { -2500, 150 };
    for (int n = 0; n < 2 * COUNT(sizes); n++) {
        attention_case c = case_sized(spec, PADDING, SEED, sizes[n / 2]);
        twin first = twin_of(&c, n % 2 ? PE_BF16 : PE_F32, NULL);
        if (!first.status) {
            twin_forward(&c, &first);
            for (int i = 0; i < COUNT(pools); i++)
                if (test_due(i + n + case_number, COUNT(pools)))
                    run_with(&c, &first, pools[i], "a pool of threads");
            run_with(&c, &first, &reversed_pool, "a pool that goes backwards");
        }
    }
}

TEST(the_same_bits_with_any_pool)
{
    static const int workers[] = { 1, 2, 3, 8, 2 };
    for (int i = 0; i < COUNT(pools); i++)
        pools[i] = pool_of(workers[i]);
    case_each(compare_pools);
}

/* Few queries and many keys, whose parts count for each other: the table has a row for every count. */
TEST(counted_keys_have_the_same_bits_with_any_number_of_workers)
{
    static const char *const specs[] = { "cope:positions=4096", "cope:positions=4096,heads=own", "cope:positions=40+rope" };
    static const int64_t sizes[] = { 1025, 2500, 4100 };
    static const int workers[] = { 2, 3, 8 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int n = 0; n < COUNT(sizes); n++) {
            attention_case c = case_of(specs[s], n ? CAUSAL : PADDING, SEED, n ? 1 : 4, sizes[n]);
            twin first = twin_of(&c, PE_F32, NULL);
            twin_forward(&c, &first);
            for (int i = 0; i < COUNT(workers); i++)
                run_with(&c, &first, pool_of(workers[i]), "a pool of threads");
        }
}

/* A float64 mask may hold numbers that float32 has not: they do not hide as -inf does, and do not win as +inf would.
 * Queries whose keys are all that far share themselves out among them. */
TEST(only_infinity_hides)
{
    static const int64_t sizes[] = { 6, 40, 150, -300 };
    static const double far[] = { -1e39, -1e300, 1e39, 1e300, -(double)FLT_MAX };
    for (int i = 0; i < COUNT(sizes) * COUNT(far); i++) {
        attention_case c = case_sized("rope+alibi", ADDITIVE_HEADS, SEED, sizes[i % COUNT(sizes)]);
        for (int64_t n = 0; n < c.Tq * c.shape.heads * c.Tk; n++)
            if (!isinf(c.additive[n]))
                c.additive[n] = far[i / COUNT(sizes)];
        twin t = twin_of(&c, PE_F32, NULL);
        case_forward(&c);
        twin_forward(&c, &t);
        for (int64_t n = 0; n < c.Tq * c.shape.heads * c.Dv; n++) /* a mean of up to 300 values of 1 at most */
            if (!(fabs((double)((float *)t.out)[n] - c.out[n]) <= 64 * (double)FLT_EPSILON))
                fail_msg("a mask of %g, %d keys: out %d is %.9g, should be %.9g", far[i / COUNT(sizes)], (int)c.Tk, (int)n,
                         (double)((float *)t.out)[n], c.out[n]);
    }
}
