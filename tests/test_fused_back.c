/* labels: core; tier: test; cost: 17 s; needs: threads wrap
 * SPDX-License-Identifier: MIT
 *
 * Gradients of fused attention equal the definition's: every row, every feature of a mask, every rung, every type, sizes
 * around those of a tile, any positions; the same bits whoever does the work; nothing leaks from what is hidden. */
#include "fused_walk.h"
#include "heap.h"

#define SEED UINT64_C(0x6261636b)

/* Every way for position to enter: bias by table and by pieces, terms of queries, keys and values, counts, turns. */
static const char *const kinds[] = {
    "none", "alibi:slopes=learned", "t5", "kerple", "fire:hidden=4", "shaw", "shaw:heads=own,left=8,right=0", "deberta:buckets=8,max=32",
    "transformer-xl", "cope", "wavelet", "rope", "rope:turn=qkvo,magnitude=0.8", "xpos", "cope+shaw",
};

/* In place of a rung: all of them, beside one result of the definition. */
enum { EACH_RUNG = -1 };
static bool params_open; /* gradients of parameters are not compared */

/* A bias so large that float32 scores do not tell keys apart. */
#define BLURRED 1e-3

/* Where the definition has no answer (a table ends) neither has fused attention; xpos may refuse more, its turns inside a
 * tile being float32. */
static void compare_on(const char *rung, attention_case *c, twin *t, pe_status definition, const ledger *right, const char *how)
{
    char text[240];
    snprintf(text, sizeof text, "%s, %s", rung, how);
    assert_ok(pe_encoding_set_kernels(c->e, rung, &err));
    twin_work(c, t);
    ledger mine = ledger_of(c, type, PE_F64);
    if (params_open)
        mine.g.dparams = (pe_params){ 0 };
    pe_status status = t->status ? t->status : twin_try(c, t);
    if (status != definition && !(strstr(c->spec, "xpos") && status == PE_ERR_POSITION))
        fail_msg("%s, %s: %s (%s), but %s by definition", c->spec, text, pe_status_name(status), err.text, pe_status_name(definition));
    if (twin_backward(c, t, &mine.g) != status)
        fail_msg("%s, %s: %s (%s), but the forward call had %s", c->spec, text, pe_status_name(err.status), err.text, pe_status_name(status));
    if (status)
        refused++;
    else if (back_unit(c, PE_F32, PE_F32) < BLURRED)
        note(c->spec, ledger_compare_all(c, out_type, &mine, right, text));
}

static void compare(attention_case c, const char *how)
{
    back_smooth(&c);
    twin t = twin_of(&c, type, NULL);
    case_typed(c.dout, c.Tq * c.shape.heads * c.Dv, type);
    if (out_type == PE_F32)
        t.a.out = pe_view_of(take(c.Tq * c.shape.heads * c.Dv, 4), PE_F32, 1, c.Tq, c.shape.heads, c.Dv);
    ledger right = ledger_of(&c, PE_F64, PE_F64);
    pe_status definition = case_try(&c);
    if (!definition)
        case_backward(&c, &right.g);
    for (int i = 0; rung_at == EACH_RUNG && i < rung_count; i++)
        compare_on(rungs[i], &c, &t, definition, &right, how);
    if (rung_at != EACH_RUNG)
        compare_on(rungs[rung_at++ % rung_count], &c, &t, definition, &right, how);
    case_over(&c);
}

enum { SETS = COUNT(case_features) + 3 };

/* Set n of the features: those of a few tokens, then those of several tiles. */
static void compare_set(const char *spec, int n)
{
    static const unsigned large[] = { CAUSAL | FEWER_QUERIES, CAUSAL | WINDOW | SEGMENTS | SOFT_CAP, PADDING | ADDITIVE_ONE };
    static const int64_t sizes[] = { 131, 70, -200 };
    int k = n - COUNT(case_features);
    unsigned features = k < 0 ? case_features[n] : large[k];
    int64_t size = k < 0 ? (n % 2 ? 24 : 6) : sizes[k];
    char how[80];
    snprintf(how, sizeof how, "features %u, n %" PRId64, features, size);
    compare(case_sized(spec, features, SEED + features, size), how);
}

/* Each set on one rung, another from set to set and from spec to spec. */
static void compare_features(const char *spec)
{
    for (int n = 0; n < SETS; n++) {
        rung_at = test_full() ? EACH_RUNG : n + n / 3 + case_number; /* never in step with what is left out */
        if (test_due(n + case_number, 1))
            compare_set(spec, n);
    }
}

TEST(gradients_equal_the_definitions_on_every_rung)
{
    case_each(compare_features);
    report("float32, every rung");
}

static const struct {
    pe_dtype type, out;
} halves[] = { { PE_F16, PE_F16 }, { PE_F16, PE_F32 }, { PE_BF16, PE_BF16 }, { PE_BF16, PE_F32 } };

/* Every other set once, with another pair of types and another rung from set to set and from spec to spec. */
static void compare_halves(const char *spec)
{
    int combos = COUNT(halves) * rung_count;
    for (int n = 0; n < SETS * combos; n++) {
        int set = n / combos, combo = n % combos;
        if (!test_full() && (combo != (7 * set + 5 * case_number) % combos || !test_due(set / 2 + case_number, 2)))
            continue;
        type = halves[combo % COUNT(halves)].type;
        out_type = halves[combo % COUNT(halves)].out;
        rung_at = combo / COUNT(halves);
        compare_set(spec, set);
    }
}

/* The definition on the same rounded numbers; the gradients are rounded once more. */
TEST(gradients_in_half_precision_are_off_by_its_units)
{
    case_each(compare_halves);
    report("float16 and bfloat16");
}

/* ------------------------------------------------ the judge */

/* The gradients of c on one rung; false: there are none. */
static bool gradients(attention_case *c, const char *rung, ledger *l)
{
    assert_ok(pe_encoding_set_kernels(c->e, rung, &err));
    twin t = twin_of(c, PE_F32, NULL);
    *l = ledger_of(c, PE_F32, PE_F64);
    bool has = !t.status && !twin_try(c, &t);
    if (has)
        assert_ok(twin_backward(c, &t, &l->g));
    for (int64_t r = 0; has && r < c->Tq * c->shape.heads; r++)
        c->lse[r] = (double)t.lse[r];
    return has;
}

static bool sees_planted(const attention_case *c, ledger *mine, const ledger *right, int n, int64_t at, double x)
{
    double kept = num_load(mine->at[n], mine->type[n], at);
    num_store(mine->at[n], mine->type[n], at, x);
    bool found = ledger_fault(c, back_unit(c, PE_F32, PE_F32), mine, right, n, 0, mine->count[n]).found;
    num_store(mine->at[n], mine->type[n], at, kept);
    return found;
}

TEST(what_is_no_number_or_off_is_seen_by_the_comparison)
{
    attention_case c = case_sized("t5", CAUSAL | SINKS | ADDITIVE_ONE, SEED, 24);
    ledger mine, right;
    assert_true(gradients(&c, rungs[0], &mine) && gradients(&c, rungs[0], &right));
    for (int n = 0; n < GRADS; n++) {
        int64_t at = 0; /* of the largest */
        if (!mine.count[n]) /* t5 takes no inputs */
            continue;
        for (int64_t i = 0; i < mine.count[n]; i++)
            at = fabs(ledger_get(&mine, n, i)) > fabs(ledger_get(&mine, n, at)) ? i : at;
        double x = num_load(mine.at[n], mine.type[n], at);
        assert_false(sees_planted(&c, &mine, &right, n, at, x));
        assert_true(sees_planted(&c, &mine, &right, n, at, NAN));
        assert_true(sees_planted(&c, &mine, &right, n, at, -INFINITY));
        assert_true(sees_planted(&c, &mine, &right, n, at, x + 0.001 * ledger_get(&mine, n, at)));
        num_store(right.at[n], right.type[n], at, NAN); /* and a number where there should be none */
        assert_true(sees_planted(&c, &mine, &right, n, at, x));
    }
}

/* ------------------------------------------------ shapes and sizes */

TEST(any_number_of_queries_and_keys)
{
    static const int64_t sizes[] = { 0, 1, 63, 64, 65, 127, 128, 129, 200, 257 };
    for (int s = 0; s < COUNT(kinds); s++)
        for (int q = 0; q < COUNT(sizes); q++)
            for (int k = 0; k < COUNT(sizes); k++)
                if (test_due(q + 2 * k + s, 9))
                    compare_shape(kinds[s], (pe_shape){ 2, 1, 8, 16 }, 8, sizes[q], sizes[k], (q + k) % 2 ? CAUSAL : CAUSAL | WINDOW | SINKS);
    for (int q = 0; q < COUNT(sizes); q++)
        for (int k = 0; k < COUNT(sizes); k++)
            if (test_due(q + 2 * k, 5))
                compare_shape(kinds[(q + k) % COUNT(kinds)], (pe_shape){ 2, 2, 8, 16 }, 8, sizes[q], sizes[k], 0);
    report("sizes");
}

TEST(heads_in_groups_and_of_any_width)
{
    static const int64_t groups[] = { 1, 2, 4, 8 }, dims[] = { 1, 3, 5, 7, 16, 33, 72 };
    for (int s = 0; s < COUNT(kinds); s++)
        for (int g = 0; g < COUNT(groups); g++) { /* up to 8 shares of the queries, of unlike size */
            if (test_due(s + g, 4))
                compare_shape(kinds[s], (pe_shape){ groups[g] < 4 ? 4 : 8, groups[g], 8, 0 }, 8, 330, 131, CAUSAL);
            if (test_due(s + 3 * g, 8))
                compare_shape(kinds[s], (pe_shape){ 8, groups[g], 16, 0 }, 16, 70, 140, PADDING | SOFT_CAP);
        }
    int64_t made = 0;
    for (int s = 0; s < COUNT(kinds); s++)
        for (int d = 0; d < COUNT(dims); d++)
            if (test_due(s + d, 4))
                made += compare_shape(kinds[s], (pe_shape){ 4, 2, dims[d], 0 }, dims[d], 70, 131, CAUSAL | SINKS);
    assert_true(made > 2);
    for (int d = 0; d < COUNT(dims); d++)
        for (int v = 0; v < COUNT(dims); v++)
            if (test_due(d + 2 * v, 2))
                compare_shape(d % 2 ? "alibi:slopes=learned" : "none", (pe_shape){ 4, 2, dims[d], 0 }, dims[v], 10, 131, CAUSAL);
    compare_shape("none", (pe_shape){ 8, 1, 8, 0 }, 1500, 40, 40, CAUSAL); /* much wider values than queries */
    report("shapes");
}

/* ------------------------------------------------ positions */

static void compare_places(const char *spec)
{
    static const unsigned features[] = { 0, CAUSAL | SOFT_CAP, CAUSAL | SEGMENTS, PADDING | ADDITIVE_ONE };
    for (int n = 0; n < LAYOUTS * COUNT(features); n++) {
        int f = n % COUNT(features), how = n / COUNT(features);
        char text[80];
        if (!test_due(n + how + case_number, COUNT(features)))
            continue;
        snprintf(text, sizeof text, "layout %d, features %u", how, features[f]);
        attention_case c = case_of(spec, features[f], SEED, n % 9 ? 8 : 66, n % 9 ? 80 : 131);
        place_tokens(&c, (layout)how, n % 2);
        compare(c, text);
    }
}

TEST(positions_may_be_any)
{
    case_each(compare_places);
    report("positions");
}

/* Rows enough for NEED to be exceeded by a tile of keys that stand apart, with every side of a term. */
TEST(a_tile_may_need_any_number_of_rows)
{
    static const char *const specs[] = { "shaw:left=900,right=900", "shaw:left=900,right=900,heads=own", "deberta:buckets=0,max=900",
                                         "transformer-xl:back=900,ahead=900", "transformer-xl:back=900,ahead=900+rope", "wavelet" };
    for (int s = 0; s < COUNT(specs); s++)
        for (int step = 1; step <= 5; step++) {
            if (!test_due(s + step, 2))
                continue;
            attention_case c = case_of(specs[s], CAUSAL | PADDING, SEED, 132, 132);
            for (int64_t j = 0; j < c.Tk; j++)
                c.q_at[j] = c.k_at[j] = step * j + j % 2;
            compare(c, "rows");
        }
    report("rows");
}

/* ------------------------------------------------ rotated keys */

TEST(keys_that_are_rotated_already_have_gradients_as_they_are)
{
    static const char *const specs[] = { "rope", "rope:turn=qkvo,magnitude=0.8", "rope:dims=4,pairs=adjacent", "xpos", "cope+rope", "none", "shaw" };
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case c = case_sized(specs[s], CAUSAL, SEED, 140);
        c.a.rotated = true;
        if (strstr(specs[s], "xpos")) /* not shifted then: magnitudes grow with the position */
            for (int64_t j = 0; j < c.Tk; j++)
                c.q_at[j] = c.k_at[j] = j / 4;
        compare(c, "rotated");
    }
    report("rotated");
}

/* ------------------------------------------------ who does the work */

static pe_pool *pools[4];

static void run_with(attention_case *c, const ledger *first, const pe_pool *pool, const char *name)
{
    twin t = twin_of(c, PE_F32, pool);
    twin_forward(c, &t);
    ledger l = ledger_of(c, PE_F32, PE_F32);
    assert_ok(twin_backward(c, &t, &l.g));
    ledger_assert_same_bits(&l, first, -1, c->spec, name);
}

static void compare_pools(const char *spec)
{
    static const struct {
        unsigned features;
        int64_t n, apart;
    } all[] = { { PADDING, 132, 0 }, { CAUSAL | ADDITIVE_ONE | SINKS, 132, 0 }, { CAUSAL, 70, INT64_C(1) << 20 } };
    for (int n = 0; n < COUNT(all); n++) {
        if (!test_due(n + case_number, 2))
            continue;
        attention_case c = case_sized(spec, all[n].features, SEED, all[n].n);
        for (int64_t j = 0; all[n].apart && c.axes == 1 && j < c.Tk; j++)
            c.q_at[j] = c.k_at[j] = j * all[n].apart;
        twin t = twin_of(&c, PE_F32, NULL);
        if (!t.status && !twin_try(&c, &t)) {
            ledger first = ledger_of(&c, PE_F32, PE_F32);
            assert_ok(twin_backward(&c, &t, &first.g));
            for (int i = 0; i < COUNT(pools); i++)
                if (test_full() || i == (n + case_number) % COUNT(pools))
                    run_with(&c, &first, pools[i], "a pool of threads");
            run_with(&c, &first, &reversed_pool, "a pool that goes backwards");
            if (test_full())
                run_with(&c, &first, NULL, "no pool, again");
            note(spec, 0);
        }
    }
}

TEST(the_same_bits_with_any_pool)
{
    static const int workers[] = { 1, 2, 3, 8 };
    for (int i = 0; i < COUNT(pools); i++)
        pools[i] = pool_of(workers[i]);
    case_each(compare_pools);
    report("pools");
}

/* ------------------------------------------------ what is wanted, and where it goes */

/* Gradient n of the call is not asked for. */
static void leave_out(pe_attention_grad *g, int n)
{
    pe_view *views[] = { &g->dq, &g->dk, &g->dv, &g->dq_gates, &g->dk_gates, &g->drelative, &g->dadditive };
    if (n < DPARAMS)
        *views[n] = (pe_view){ 0 };
    else
        *(n == DPARAMS ? &g->dparams : &g->dsinks) = (pe_params){ 0 };
}

static void compare_wanted(const char *spec)
{
    for (int two = 0; two < 2; two++) {
        if (!test_due(two + case_number, 2))
            continue;
        attention_case c = case_sized(spec, CAUSAL | SINKS | SOFT_CAP | WINDOW | (two ? ADDITIVE_ONE : ADDITIVE_HEADS), SEED, 132);
        twin t = twin_of(&c, PE_F32, NULL);
        ledger all = ledger_of(&c, PE_F32, PE_F32);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &all.g));
        for (int n = 0; n < GRADS; n++) {
            if (!test_due(n + case_number / 2, 2) || !all.count[n])
                continue;
            ledger l = ledger_of(&c, PE_F32, PE_F32), untouched = ledger_of(&c, PE_F32, PE_F32);
            leave_out(&l.g, n);
            assert_ok(twin_backward(&c, &t, &l.g));
            ledger_assert_same_bits(&l, &all, n, spec, grad_names[n]);
            assert_memory_equal(l.at[n], untouched.at[n], (size_t)l.count[n] * pe_dtype_size(l.type[n]));
        }
    }
}

TEST(what_is_not_wanted_leaves_the_rest_bit_for_bit)
{
    case_each(compare_wanted);
}

static void compare_views(const char *spec)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    for (int n = 0; n < 6; n++) {
        if (!test_due(n + case_number, 2))
            continue;
        attention_case c = case_sized(spec, CAUSAL | WINDOW | ADDITIVE_HEADS, SEED, 70);
        twin t = twin_of(&c, types[n / 2], NULL);
        ledger packed = ledger_of(&c, types[n / 2], PE_F32), from = ledger_of(&c, types[n / 2], PE_F32);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &packed.g));
        pe_view *views[] = { &from.g.dout, &from.g.dq, &from.g.dk, &from.g.dv, &from.g.dadditive, &t.a.out, &t.a.lse };
        const pe_view right[] = { packed.g.dout, packed.g.dq, packed.g.dk, packed.g.dv, packed.g.dadditive, t.a.out, t.a.lse };
        spread apart[COUNT(views)];
        for (int i = 0; i < COUNT(views); i++) {
            apart[i] = spread_of(*views[i], (i + n) % 2, 3);
            *views[i] = apart[i].v;
        }
        assert_ok(twin_backward(&c, &t, &from.g));
        for (int i = 0; i < COUNT(views); i++)
            if (memcmp(spread_of(right[i], (i + n) % 2, 3).base, apart[i].base, apart[i].bytes) != 0)
                fail_msg("%s: view %d differs from the packed one, or something between its rows was written", spec, i);
    }
}

TEST(views_of_any_strides_give_the_same_bits)
{
    case_each(compare_views);
}

/* Sums in float32 differ from those in float64 by their rounding only. */
TEST(sums_may_be_float32)
{
    for (int s = 0; s < COUNT(kinds); s++) {
        attention_case c = case_sized(kinds[s], CAUSAL | SINKS | ADDITIVE_ONE, SEED, 140);
        back_smooth(&c);
        twin t = twin_of(&c, PE_F32, NULL);
        ledger one = ledger_of(&c, PE_F32, PE_F32), two = ledger_of(&c, PE_F32, PE_F64);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &one.g));
        assert_ok(twin_backward(&c, &t, &two.g));
        note(kinds[s], ledger_compare_all(&c, PE_F32, &one, &two, "float32"));
    }
    report("float32 sums");
}

/* ------------------------------------------------ hidden is hidden */

static void poison(double *x, int64_t row, int64_t width, int64_t seed)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int64_t d = 0; d < width; d++)
        x[row * width + d] = bad[(d + seed) % 3];
}

static const int64_t borders[] = { 0, 31, 63, 64, 65, 127, 128, 129, 134 };
enum { PAST_BORDERS = 136 };

static void poison_borders(attention_case *c)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim;
    for (int i = 0; i < COUNT(borders); i++) {
        poison(c->k, borders[i], G * D, i);
        poison(c->v, borders[i], G * c->Dv, i + 1);
        poison(c->q, borders[i], H * D, i);
        poison(c->dout, borders[i], H * c->Dv, i);
    }
}

/* Keys that nobody sees and queries that see nothing hold NaN and infinities, and so does what flows into such queries:
 * gradients are those without. */
static void compare_hidden(const char *spec)
{
    static const unsigned features[] = { PADDING | SEGMENTS, CAUSAL | PADDING | SEGMENTS, CAUSAL | PADDING | SEGMENTS | SOFT_CAP | SINKS | ADDITIVE_ONE };
    for (int n = 0; n < COUNT(features) * rung_count; n++) {
        if (!test_due(n + case_number, 9))
            continue;
        attention_case c = case_sized(spec, features[n / rung_count], SEED, PAST_BORDERS);
        for (int64_t i = 0; i < c.Tk; i++)
            c.q_segment[i] = c.k_segment[i] = 0;
        for (int i = 0; i < COUNT(borders); i++) {
            c.key_used[borders[i]] = 0;
            c.q_segment[borders[i]] = 1;
        }
        case_keep(&c);
        ledger clean, poisoned;
        bool has = gradients(&c, rungs[n % rung_count], &clean);
        poison_borders(&c);
        assert_true(has == gradients(&c, rungs[n % rung_count], &poisoned));
        if (has)
            note(spec, ledger_compare_all(&c, PE_F32, &poisoned, &clean, rungs[n % rung_count]));
        else
            refused++;
    }
}

/* A NaN that is seen reaches what sees it, as it does by definition, and nothing else. Which row a count of NaN looks
 * into is open. */
static void compare_seen(const char *spec)
{
    for (int n = 0; n < 4 * COUNT(borders); n++) {
        if (!test_due(n + n / 4 + case_number, 9))
            continue;
        attention_case c = case_sized(spec, n % 2 ? CAUSAL | WINDOW : CAUSAL | PADDING | SINKS, SEED, PAST_BORDERS);
        int64_t H = c.shape.heads, G = c.shape.kv_heads, D = c.shape.head_dim, row = borders[n / 4];
        params_open = pe_encoding_carries(c.e) && n % 2 == 0;
        if (n % 4 == 0)
            c.q[row * H * D + D / 2] = NAN;
        else if (n % 4 == 1)
            c.dout[row * H * c.Dv + 1] = NAN;
        else if (n % 4 == 2)
            c.k[row * G * D + 1] = NAN;
        else
            c.v[row * G * c.Dv + 1] = NAN;
        compare(c, n % 4 == 0 ? "NaN in q" : n % 4 == 1 ? "NaN in dout" : n % 4 == 2 ? "NaN in k" : "NaN in v");
        params_open = false;
    }
}

TEST(what_is_hidden_reaches_no_gradient)
{
    case_each(compare_hidden);
    report("hidden");
}

TEST(a_nan_reaches_only_what_sees_it)
{
    for (case_number = 0; case_number < COUNT(kinds); case_number++)
        compare_seen(kinds[case_number]);
    report("seen");
}

static void assert_zero(const ledger *l, int n, int64_t row, int64_t width, const char *spec)
{
    for (int64_t d = 0; d < width; d++)
        if (ledger_get(l, n, row * width + d) != 0)
            fail_msg("%s: %s of row %" PRId64 " is %g; needs exactly 0", spec, grad_names[n], row, ledger_get(l, n, row * width + d));
}

static void compare_blind(const char *spec)
{
    attention_case c = case_sized(spec, PADDING | SEGMENTS | CAUSAL | WINDOW | SINKS | ADDITIVE_HEADS, SEED, PAST_BORDERS);
    int64_t H = c.shape.heads, G = c.shape.kv_heads, D = c.shape.head_dim;
    for (int64_t i = 0; i < c.Tk; i++)
        c.q_segment[i] = c.k_segment[i] = 0;
    for (int i = 0; i < COUNT(borders); i++) {
        c.q_segment[borders[i]] = 1;
        c.key_used[borders[i]] = 0;
    }
    case_keep(&c);
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F64);
    twin_forward(&c, &t);
    assert_ok(twin_backward(&c, &t, &l.g));
    for (int i = 0; i < COUNT(borders); i++) {
        assert_zero(&l, DQ, borders[i], H * D, spec);
        assert_zero(&l, DK, borders[i], G * D, spec);
        assert_zero(&l, DV, borders[i], G * c.Dv, spec);
        assert_zero(&l, DADDITIVE, borders[i], H * c.Tk, spec);
    }
    ledger nothing = ledger_of(&c, PE_F32, PE_F64);
    for (int64_t i = 0; i < c.Tq; i++)
        c.q_segment[i] = 1;
    case_keep(&c);
    twin_forward(&c, &t);
    assert_ok(twin_backward(&c, &t, &nothing.g));
    for (int n = 0; n < GRADS; n++)
        assert_zero(&nothing, n, 0, nothing.count[n], spec);
}

TEST(a_query_that_sees_nothing_has_no_gradient)
{
    case_each(compare_blind);
}

/* Rows of a table that no pair which is seen looks into. */
TEST(a_nan_in_a_row_that_is_not_looked_into_is_not_seen)
{
    static const char *const specs[] = { "shaw:left=8,right=8", "deberta:buckets=0,max=16", "transformer-xl:back=40,ahead=40", "cope:positions=40", "t5" };
    rung_at = EACH_RUNG;
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case c = case_sized(specs[s], CAUSAL | SEGMENTS, SEED, 24);
        for (int64_t j = 0; j < c.Tk; j++) { /* distances 0, 1 and 6, 7, but none between */
            c.q_at[j] = c.k_at[j] = j / 4 * 30 + (j % 4 < 2 ? j % 4 : 4 + j % 4);
            c.q_segment[j] = c.k_segment[j] = j / 4;
        }
        case_keep(&c);
        ledger before = ledger_of(&c, PE_F64, PE_F64); /* rows without a gradient are not looked into */
        case_backward(&c, &before.g);
        for (int64_t n = 0; n < c.params.count; n++)
            if (ledger_get(&before, DPARAMS, n) == 0)
                c.w[n] = NAN;
        compare(c, "rows that are not looked into");
    }
    report("rows not looked into");
}

/* ------------------------------------------------ differences */

static double loss(attention_case *c)
{
    case_forward(c);
    return case_dot(c->dout, c->out, c->Tq * c->shape.heads * c->Dv);
}

/* Four-point central difference of the definition, in float64. */
static double difference(attention_case *c, double *x)
{
    const double h = 1e-5, at = *x;
    double f[4];
    for (int i = 0; i < 4; i++) {
        static const double steps[] = { -2, -1, 1, 2 };
        *x = at + steps[i] * h;
        f[i] = loss(c);
    }
    *x = at;
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
}

static void compare_differences(const char *spec, unsigned features)
{
    attention_case c = case_sized(spec, features, SEED, 20);
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F64), right = ledger_of(&c, PE_F64, PE_F64);
    twin_forward(&c, &t);
    assert_ok(twin_backward(&c, &t, &l.g));
    double *x[] = { [DQ] = c.q, [DK] = c.k, [DV] = c.v, [DPARAMS] = c.w, [DSINKS] = c.sinks };
    uint64_t r = SEED;
    for (int n = 0; n < GRADS; n++)
        for (int64_t i = 0; n != DADDITIVE && i < l.count[n]; i++) {
            double *to = (double *)right.at[n] + i;
            bool asked = l.count[n] <= 16 || test_range(&r, 0, l.count[n] / 16) == 0;
            double y = asked ? difference(&c, &x[n][i]) : ledger_get(&l, n, i);
            *to = y + (n < DADDITIVE ? 0 : ledger_start(n, i));
        }
    loss(&c);
    note(spec, ledger_compare_all(&c, PE_F32, &l, &right, "differences"));
}

TEST(gradients_are_differences_of_the_definition)
{
    static const char *const specs[] = { "alibi:slopes=learned", "t5", "kerple", "kerple:form=power", "fire:hidden=4", "cope", "shaw", "shaw:heads=own,left=8,right=0",
                                         "deberta:buckets=8,max=32", "transformer-xl", "transformer-xl+rope", "window:window=4/6", "xpos+kerple" };
    for (int s = 0; s < COUNT(specs); s++) {
        compare_differences(specs[s], CAUSAL | SINKS);
        compare_differences(specs[s], SOFT_CAP);
    }
    report("differences");
}

/* ------------------------------------------------ memory */

static size_t work_at(const char *spec, int64_t n)
{
    pe_encoding *e = encoding_of(spec, test_shape);
    int64_t H = test_shape.heads, G = test_shape.kv_heads, D = test_shape.head_dim, axes = pe_encoding_axes(e);
    float x[1];
    int64_t *at = take(n * axes, sizeof *at);
    size_t bytes;
    for (int64_t i = 0; i < n * axes; i++)
        at[i] = axes == 1 ? i : i % 2;
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(x, PE_F32, 1, n, H, D), .k = pe_view_of(x, PE_F32, 1, n, G, D), .v = pe_view_of(x, PE_F32, 1, n, G, D),
                       .q_at = pe_positions_of(at, PE_I64, 1, n, axes), .k_at = pe_positions_of(at, PE_I64, 1, n, axes), .mask.causal = true };
    TEST_INPUTS(e, &a, n, n);
    if (pe_attention_backward_work(e, &a, NULL, &bytes, NULL)) { /* its table is short */
        a.mask.window = 8;
        assert_ok(pe_attention_backward_work(e, &a, NULL, &bytes, &err));
    }
    return bytes;
}

static void compare_memory(const char *spec)
{
    double grows = (double)work_at(spec, 4096) / (double)work_at(spec, 2048);
    if (!(grows <= 2.2))
        fail_msg("%s: twice the length takes %.2f times the memory; needs 2.2 at most", spec, grows);
    note(spec, grows);
}

TEST(work_memory_grows_with_the_length)
{
    case_each(compare_memory);
    printf("memory of twice the length: ");
    report("times at most");
}

static void compare_heap(const char *spec)
{
    attention_case c = case_sized(spec, CAUSAL | WINDOW | SOFT_CAP | SINKS | ADDITIVE_ONE, SEED, 140);
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F32);
    twin_forward(&c, &t);
    pe_run run = case_run(&c, NULL, NULL, 0);
    assert_ok(pe_attention_backward_work(c.e, &t.a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    long before = heap.made;
    assert_ok(pe_attention_backward_work(c.e, &t.a, &run, &run.work_bytes, &err));
    assert_ok(pe_attention_backward(c.e, &t.a, &l.g, &run, &err));
    if (heap.made != before)
        fail_msg("%s: %ld allocations in the calls", spec, heap.made - before);
}

TEST(nothing_is_allocated)
{
    case_each(compare_heap);
}

/* ------------------------------------------------ what must not overlap */

TEST(what_is_written_lies_over_nothing_else)
{
    size_t bytes;
    attention_case c = case_sized("t5", CAUSAL | PADDING | SINKS | ADDITIVE_HEADS, SEED, 40);
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F32);
    twin_forward(&c, &t);
    assert_ok(pe_attention_backward_work(c.e, &t.a, &PE_MAKE(pe_run, .params = c.params), &bytes, &err));
    void *work = take((int64_t)bytes, 1);
    const void *read[] = { t.q, t.k, t.v, t.out, t.lse, l.dout, c.w, c.sinks, c.keep, c.additive, c.q_at, c.k_at, work };
    for (int n = 0; n <= GRADS; n++)
        for (int i = 0; (n == GRADS || l.count[n]) && i < COUNT(read) - (n == GRADS); i++) {
            pe_attention_grad g = l.g;
            void **to[] = { &g.dq.data, &g.dk.data, &g.dv.data, &g.dq_gates.data, &g.dk_gates.data, &g.drelative.data, &g.dadditive.data, &g.dparams.data, &g.dsinks.data };
            void *memory = work;
            *(n < GRADS ? to[n] : &memory) = (void *)(uintptr_t)read[i];
            forget_error();
            if (pe_attention_backward(c.e, &t.a, &g, &PE_MAKE(pe_run, .params = c.params, .work = memory, .work_bytes = bytes), &err) != PE_ERR_ALIAS || !strstr(err.text, "overlap"))
                fail_msg("%s over input %d: %s, '%s'", n < GRADS ? grad_names[n] : "work", i, pe_status_name(err.status), err.text);
        }
    for (int n = 0; n < GRADS; n++)
        for (int i = 0; l.count[n] && i < n; i++) {
            pe_attention_grad g = l.g;
            if (!l.count[i])
                continue;
            void **to[] = { &g.dq.data, &g.dk.data, &g.dv.data, &g.dq_gates.data, &g.dk_gates.data, &g.drelative.data, &g.dadditive.data, &g.dparams.data, &g.dsinks.data };
            *to[n] = l.at[i];
            assert_int_equal(pe_attention_backward(c.e, &t.a, &g, &PE_MAKE(pe_run, .params = c.params, .work = work, .work_bytes = bytes), &err), PE_ERR_ALIAS);
        }
}

TEST(the_saved_log_sum_exp_is_asked_for_in_a_sentence)
{
    attention_case c = case_sized("none", CAUSAL, SEED, 8);
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F32), untouched = ledger_of(&c, PE_F32, PE_F32);
    t.a.lse = (pe_view){ 0 };
    twin_forward(&c, &t);
    assert_says(twin_backward(&c, &t, &l.g), PE_ERR_NULL,
                "lse is NULL; the gradient reads what pe_attention_forward wrote there");
    ledger_assert_same_bits(&l, &untouched, -1, c.spec, "after an error");
}

/* A hidden unit that barely turns has its knot where no distance is: points of the pieces must not lie there. */
TEST(a_network_may_have_weights_of_any_size)
{
    static const double sizes[] = { 1e-4, -1e-8, 1e-20, 0, 1e4 };
    for (int i = 0; i < COUNT(sizes); i++) {
        attention_case c = case_sized("fire:hidden=4,length=16", i % 2 ? CAUSAL : 0, SEED, 40);
        const pe_tensor *w1 = pe_encoding_tensor(c.e, 2);
        assert_string_equal(w1->name, "w1");
        c.w[w1->offset] = sizes[i];
        compare(c, "a small weight");
    }
    report("fire, weights of any size");
}

/* Rows that a mask pushes down as far as float32 goes: their log-sum-exp cannot tell how many keys share them. dv is
 * the mean of dout over the keys, whatever the score. */
TEST(a_row_masked_by_a_number_shares_itself_out)
{
    static const double down[] = { -(double)FLT_MAX, -1e30 };
    for (int i = 0; i < 4; i++) {
        attention_case c = case_sized(i / 2 ? "cope" : "alibi", ADDITIVE_ONE, SEED, i / 2 ? 70 : 40);
        for (int64_t n = 0; n < c.Tq * c.Tk; n++)
            c.additive[n] = n / c.Tk % 3 ? 0 : down[i % 2];
        twin t = twin_of(&c, PE_F32, NULL);
        ledger right = ledger_of(&c, PE_F64, PE_F64), mine = ledger_of(&c, PE_F32, PE_F64);
        case_forward(&c);
        case_backward(&c, &right.g);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &mine.g));
        for (int64_t n = 0; n < c.Tk * c.shape.kv_heads * c.Dv; n++) {
            double x = ledger_get(&mine, 2, n), y = ledger_get(&right, 2, n);
            if (!(fabs(x - y) <= 1e-5 * fmax(1, fabs(y))))
                fail_msg("%s, mask %g: dv[%" PRId64 "] is %.9g, should be %.9g", c.spec, down[i % 2], n, x, y);
        }
    }
}
