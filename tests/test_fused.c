/* labels: core; needs: threads; timeout: 600
 * SPDX-License-Identifier: MIT
 *
 * Fused attention equals the definition: every row, every feature of a mask, every rung, every type, sizes around those
 * of a tile, any positions, any views; and gives the same bits whoever does the work. */
#include "fused_case.h"

#define SEED UINT64_C(0x66757365)

/* Cases take the rungs of this CPU in turn, from rung_at on. */
static const char *rungs[8];
static int rung_count, rung_at;
static pe_dtype type;
static double most; /* worst error of a family */
static const char *most_spec;

static void note(const char *spec, double off)
{
    if (off > most) {
        most = off;
        most_spec = spec;
    }
}

static void report(const char *what)
{
    printf("%-40s worst: %.2f units, %.60s\n", what, most, most_spec ? most_spec : "");
    most = 0;
    most_spec = NULL;
}

/* Runs both and compares; c is used up. */
static void compare(attention_case c, const char *how)
{
    pe_error err = { 0 };
    char text[200];
    const char *rung = rungs[rung_at++ % rung_count];
    snprintf(text, sizeof text, "%s, %s", rung, how);
    assert_ok(pe_encoding_set_kernels(c.e, rung, &err));
    twin t = twin_of(&c, type, NULL);
    pe_status status = pe_reference_forward(c.e, &c.a, &PE_MAKE(pe_run, .params = c.params, .work = c.work, .work_bytes = c.bytes), NULL);
    if (status != t.status) /* both know how far a table reaches */
        fail_msg("%s, %s: %s here, %s by definition", c.spec, text, pe_status_name(t.status), pe_status_name(status));
    if (!status) {
        twin_forward(&c, &t);
        note(c.spec, twin_compare(&c, &t, text));
    }
    twin_free(&t);
    case_free(&c);
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
        if (test_full() || (rung_at == (set + set / 3 + case_number) % rung_count && test_turn(set + case_number, 1)))
            compare_set(spec, set);
    }
}

static void fused_equals_the_definition_on_every_rung(void **state)
{
    (void)state;
    case_each(compare_features);
    report("float32");
}

/* Every other set, with one type and one rung of each in turn. */
static void compare_halves(const char *spec)
{
    int combos = 2 * rung_count;
    for (int n = 0; n < SETS * combos; n++) {
        int set = n / combos, combo = n % combos;
        if (!test_full() && (combo != (5 * set + case_number) % combos || !test_turn(set / 2 + case_number, 2)))
            continue;
        type = combo % 2 ? PE_BF16 : PE_F16;
        rung_at = combo / 2;
        compare_set(spec, set);
    }
}

/* The definition on the same rounded numbers; the output is rounded once more. */
static void half_precision_is_rounded_once_on_every_rung(void **state)
{
    (void)state;
    case_each(compare_halves);
    report("float16 and bfloat16");
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

static void what_is_no_number_or_off_is_seen_by_the_comparison(void **state)
{
    (void)state;
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
        twin_free(&t);
        case_free(&c);
    }
}

/* ------------------------------------------------ shapes and sizes */

static void compare_shape(const char *spec, pe_shape shape, int64_t Dv, int64_t Tq, int64_t Tk, unsigned features)
{
    char how[120];
    snprintf(how, sizeof how, "%" PRId64 " heads on %" PRId64 ", D %" PRId64 ", Dv %" PRId64 ", Tq %" PRId64 ", Tk %" PRId64 ", features %u",
             shape.heads, shape.kv_heads, shape.head_dim, Dv, Tq, Tk, features);
    attention_case c = case_begun(spec, test_encoding(spec, shape));
    c.Tq = Tq;
    c.Tk = Tk;
    c.Dv = Dv;
    compare(case_made(c, features, SEED), how);
}

static void heads_of_any_width_and_number(void **state)
{
    (void)state;
    static const char *const specs[] = { "none", "alibi", "t5", "fire:hidden=4", "alibi:convention=falcon,products=bf16" };
    static const int64_t dims[] = { 1, 3, 7, 33, 80, 100 };
    static const pe_shape groups[] = { { 1, 1, 0, 0 }, { 6, 1, 0, 0 }, { 12, 3, 0, 0 }, { 40, 1, 0, 0 } };
    for (int s = 0; s < COUNT(specs); s++)
        for (int d = 0; d < COUNT(dims); d++)
            for (int g = 0; g < COUNT(groups); g++) {
                if (!test_turn(s + d + g, 3))
                    continue;
                pe_shape shape = groups[g];
                shape.head_dim = dims[d];
                compare_shape(specs[s], shape, dims[(d + 1) % COUNT(dims)], 70, 130, CAUSAL);
                compare_shape(specs[s], shape, dims[(d + 2) % COUNT(dims)], 5, 130, SINKS);
            }
    report("widths");
}

/* Few queries, many heads on one: what is made ready is larger than a tile of keys. */
static void many_heads_on_one_with_every_hook(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:turn=qkvo", "xpos", "shaw", "deberta:buckets=8,max=32", "transformer-xl", "cope", "wavelet" };
    static const int64_t queries[] = { 1, 3, 8, 9, 65 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int q = 0; q < COUNT(queries); q++) {
            if (test_turn(s + q, 2))
                compare_shape(specs[s], (pe_shape){ 40, 1, 16, 0 }, 16, queries[q], 140, CAUSAL);
            if (test_turn(s + q + 1, 2))
                compare_shape(specs[s], (pe_shape){ 12, 3, 16, 0 }, 16, queries[q], 140, CAUSAL);
        }
    report("many heads on one");
}

static void any_number_of_queries_and_keys(void **state)
{
    (void)state;
    static const char *const specs[] = { "none", "rope", "alibi", "t5", "shaw", "deberta:buckets=8,max=32", "cope", "xpos", "transformer-xl+rope", "fire:hidden=4" };
    static const int64_t sizes[] = { 0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 257 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int q = 0; q < COUNT(sizes); q++)
            for (int k = 0; k < COUNT(sizes); k++)
                if (test_turn(q + 2 * k + s, 5))
                    compare_shape(specs[s], (pe_shape){ 2, 1, 8, 16 }, 8, sizes[q], sizes[k], (q + k) % 2 ? CAUSAL : CAUSAL | WINDOW | SINKS);
    for (int q = 0; q < COUNT(sizes); q++)
        for (int k = 0; k < COUNT(sizes); k++)
            if (test_turn(q + 2 * k, 3))
                compare_shape("none", (pe_shape){ 2, 1, 8, 16 }, 8, sizes[q], sizes[k], 0);
    report("sizes");
}

static void a_window_of_any_size_is_one(void **state)
{
    (void)state;
    static const int64_t windows[] = { 1, 63, 64, 65, 128, 300, INT64_MAX - 1, INT64_MAX }, ahead[] = { 0, 1, 5, 200, PE_POSITION_MAX };
    for (int w = 0; w < COUNT(windows); w++)
        for (int n = 0; n < COUNT(ahead); n++)
            for (int shape = 0; shape < 4; shape++) {
                attention_case c = case_begun("alibi", test_encoding("alibi", (pe_shape){ 2, 1, 8, 16 }));
                c.Tq = shape & 1 ? 140 : 5;
                c.Tk = 70;
                c = case_made(c, shape & 2 ? CAUSAL : 0, SEED);
                c.a.mask.window = windows[w];
                c.a.mask.keys_after = ahead[n];
                compare(c, "windows");
            }
    report("windows");
}

/* ------------------------------------------------ positions */

/* Positions of a case by a rule; the mask must leave only pairs that the encoding has. */
typedef int64_t place(int64_t token, int64_t axis, uint64_t *r);

static int64_t far_between(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)r;
    return token * (INT64_C(1) << 26) - (INT64_C(1) << 30);
}

static int64_t anywhere(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)token;
    return test_range(r, -PE_POSITION_MAX, PE_POSITION_MAX);
}

static int64_t anywhere_near(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)token;
    return test_range(r, -300, 300);
}

static int64_t restarting(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)r;
    return token % 37;
}

static int64_t falling(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)r;
    return 100 - token;
}

static int64_t with_one_gap(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)r;
    return token < 70 ? token : token + (INT64_C(1) << 30);
}

static int64_t standing_still(int64_t token, int64_t axis, uint64_t *r)
{
    (void)axis, (void)r, (void)token;
    return 7;
}

static int64_t on_a_grid(int64_t token, int64_t axis, uint64_t *r)
{
    (void)r;
    return axis == 0 ? token / 49 % 2 : axis == 1 ? token / 7 % 7 : token % 7;
}

static const struct {
    const char *name;
    place *rule;
} rules[] = {
    { "2^26 apart", far_between }, { "anywhere", anywhere },         { "anywhere near", anywhere_near },   { "restarting", restarting },
    { "falling", falling },        { "with one gap", with_one_gap }, { "standing still", standing_still }, { "on a grid", on_a_grid },
};

static void place_tokens(attention_case *c, place *rule, bool apart)
{
    uint64_t r = SEED;
    for (int64_t a = 0; a < c->axes; a++) {
        for (int64_t j = 0; j < c->Tk; j++)
            c->k_at[j * c->axes + a] = rule(j, a, &r);
        for (int64_t i = 0; i < c->Tq; i++) {
            int64_t j = i + c->Tk - c->Tq;
            c->q_at[i * c->axes + a] = apart || j < 0 ? rule(i, a, &r) : c->k_at[j * c->axes + a];
        }
    }
}

/* Where the definition has no answer (a table ends, a turn overflows), neither has fused attention. xpos may refuse
 * more: its turns inside a tile are float32. */
static void compare_places(attention_case c, const char *how)
{
    pe_error err = { 0 };
    assert_ok(pe_encoding_set_kernels(c.e, rungs[rung_at++ % rung_count], &err));
    twin t = twin_of(&c, PE_F32, NULL);
    pe_status definition = pe_reference_forward(c.e, &c.a, &PE_MAKE(pe_run, .params = c.params, .work = c.work, .work_bytes = c.bytes), NULL);
    pe_status status = t.status ? t.status : pe_attention_forward(c.e, &t.a, &PE_MAKE(pe_run, .params = c.params, .pool = t.pool, .work = t.work, .work_bytes = t.bytes), &err);
    bool refuses_more = strstr(c.spec, "xpos") && status == PE_ERR_POSITION;
    if (status != definition && !refuses_more)
        fail_msg("%s, %s: %s (%s), but %s by definition", c.spec, how, pe_status_name(status), err.text, pe_status_name(definition));
    if (!status)
        note(c.spec, twin_compare(&c, &t, how));
    twin_free(&t);
    case_free(&c);
}

static void compare_all_places(const char *spec)
{
    static const unsigned features[] = { 0, CAUSAL, CAUSAL | SEGMENTS, PADDING };
    for (int n = 0; n < COUNT(rules); n++)
        for (int f = 0; f < COUNT(features); f++)
            for (int apart = 0; apart < 2; apart++)
                for (int few = 0; few < 2; few++) {
                    char how[80];
                    if (!test_turn(n + f + 2 * apart + 3 * few + case_number, 8))
                        continue;
                    snprintf(how, sizeof how, "%s, features %u, %s%s", rules[n].name, features[f], apart ? "apart" : "", few ? ", few" : "");
                    attention_case c = case_begun(spec, case_encoding(spec));
                    c.Tk = 98;
                    c.Tq = few ? 3 : 70;
                    c = case_made(c, features[f], SEED);
                    place_tokens(&c, rules[n].rule, apart);
                    if (features[f] & SEGMENTS) { /* those that the restarts begin */
                        for (int64_t j = 0; j < c.Tk; j++)
                            c.k_segment[j] = j / 37;
                        for (int64_t i = 0; i < c.Tq; i++)
                            c.q_segment[i] = (i + c.Tk - c.Tq) / 37;
                        case_keep(&c);
                    }
                    compare_places(c, how);
                }
}

static void positions_may_be_any(void **state)
{
    (void)state;
    case_each(compare_all_places);
    report("positions");
}

/* A bias that is straight from distances below 60 to those near 2^36, some of the latter being seen. Formed about its
 * far end, it is off there by 2^-53 of 10 2^36, which is 10^-4 or 50 units at its near end; not for every slope, so there
 * are some. */
static void compare_far_and_near(const char *spec, bool ahead, void (*prepare)(attention_case *c, uint64_t *r))
{
    uint64_t r = SEED;
    for (int64_t n = 0; n < 12; n++) {
        attention_case c = case_begun(spec, case_encoding(spec));
        c.Tk = 60;
        c.Tq = 3;
        c = case_made(c, ahead ? 0 : CAUSAL, SEED);
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

static void far_keys_cost_near_ones_nothing(void **state)
{
    (void)state;
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
            attention_case c = case_begun(spec, case_encoding(spec));
            c.Tk = 170;
            c.Tq = few ? 3 : 20;
            c = case_made(c, PADDING | CAUSAL, SEED);
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
            compare_places(c, left ? "padded left" : "padded right");
        }
}

static void padding_may_stand_anywhere(void **state)
{
    (void)state;
    case_each(compare_padding);
    report("padding");
}

/* Scores far past what exp takes, in both directions, rising and falling along the keys. */
static void scores_may_be_large(void **state)
{
    (void)state;
    static const char *const specs[] = { "none", "alibi", "rope", "cope", "shaw", "t5" };
    static const double sizes[] = { 64, 1024, 1 << 20 };
    for (int s = 0; s < COUNT(specs); s++)
        for (int n = 0; n < COUNT(sizes); n++)
            for (int few = 0; few < 2; few++) {
                if (!test_turn(s + n + few, 2))
                    continue;
                attention_case c = case_begun(specs[s], case_encoding(specs[s]));
                c.Tk = 1300;
                c.Tq = few ? 3 : 20;
                c = case_made(c, ADDITIVE_ONE, SEED);
                for (int64_t i = 0; i < c.Tq * c.Tk; i++)
                    c.additive[i] = (float)(sizes[n] * (i / c.Tk % 2 ? (double)(i % c.Tk) : -(double)(i % c.Tk)) / 100);
                compare(c, "large scores");
            }
    report("large scores");
}

/* ------------------------------------------------ views */

enum { GUARD = 0x5a };

/* The rows of a packed view, moved: (heads, tokens, dim) with rows padded, or tokens padded. Everything else is GUARD. */
typedef struct moved {
    pe_view v;
    unsigned char *base;
    size_t bytes;
} moved;

static moved move(pe_view p, bool heads_first, int64_t pad)
{
    moved m = { .v = p };
    m.v.token_stride = heads_first ? p.dim + pad : p.heads * (p.dim + pad) + pad;
    m.v.head_stride = heads_first ? p.tokens * (p.dim + pad) + pad : p.dim + pad;
    size_t size = pe_dtype_size(p.dtype);
    m.bytes = (size_t)((p.tokens + 1) * (p.heads + 1) * (p.dim + 2 * pad + 1)) * size + 64;
    m.base = case_memory((int64_t)m.bytes, 1);
    memset(m.base, GUARD, m.bytes);
    m.v.data = m.base + 16 * size;
    for (int64_t n = 0; n < p.tokens * p.heads; n++)
        memcpy((char *)m.v.data + (size_t)(n / p.heads * m.v.token_stride + n % p.heads * m.v.head_stride) * size,
               (char *)p.data + (size_t)(n * p.dim) * size, (size_t)p.dim * size);
    return m;
}

/* The rows hold what the packed ones hold, and everything else is as it was. */
static void assert_moved(const moved *m, pe_view p, const char *spec)
{
    moved wanted = move(p, false, 0);
    free(wanted.base);
    wanted.base = case_memory((int64_t)m->bytes, 1);
    memset(wanted.base, GUARD, m->bytes);
    size_t size = pe_dtype_size(p.dtype);
    for (int64_t n = 0; n < p.tokens * p.heads; n++)
        memcpy(wanted.base + 16 * size + (size_t)(n / p.heads * m->v.token_stride + n % p.heads * m->v.head_stride) * size,
               (char *)p.data + (size_t)(n * p.dim) * size, (size_t)p.dim * size);
    if (memcmp(wanted.base, m->base, m->bytes))
        fail_msg("%s: differs from packed views, or wrote between rows", spec);
    free(wanted.base);
}

static void compare_views(const char *spec)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    for (int n = 0; n < 12; n++) {
        if (!test_turn(n + case_number, 5))
            continue;
        bool heads_first = n & 1;
        attention_case c = case_sized(spec, ADDITIVE_HEADS | CAUSAL, SEED, n & 2 ? 35 : -35);
        twin t = twin_of(&c, types[n / 4], NULL);
        twin_forward(&c, &t);
        moved q = move(t.a.q, heads_first, 3), k = move(t.a.k, heads_first, 5), v = move(t.a.v, !heads_first, 1),
              out = move(t.a.out, heads_first, 7), lse = move(t.a.lse, heads_first, 2), add = move(t.a.mask.additive, heads_first, 4);
        pe_attention a = t.a;
        pe_error err = { 0 };
        a.q = q.v, a.k = k.v, a.v = v.v, a.out = out.v, a.lse = lse.v, a.mask.additive = add.v;
        int64_t *q_at = case_memory(3 * c.Tq * c.axes, 8);
        for (int64_t i = 0; i < c.Tq * c.axes; i++)
            q_at[3 * i] = c.q_at[i];
        a.q_at = (pe_positions){ .data = q_at, .dtype = PE_I64, .batch = 1, .tokens = c.Tq, .axes = c.axes, .token_stride = 3 * c.axes, .axis_stride = 3 };
        memset(t.work, 0xff, t.bytes);
        assert_ok(pe_attention_forward(c.e, &a, &PE_MAKE(pe_run, .params = c.params, .pool = t.pool, .work = t.work, .work_bytes = t.bytes), &err));
        assert_moved(&out, t.a.out, spec);
        assert_moved(&lse, t.a.lse, spec);
        free(q.base), free(k.base), free(v.base), free(out.base), free(lse.base), free(add.base), free(q_at);
        twin_free(&t);
        case_free(&c);
    }
}

/* Bit for bit, and nothing between the rows of out and lse is touched. */
static void views_of_any_strides_give_the_same_bits(void **state)
{
    (void)state;
    case_each(compare_views);
}

/* ------------------------------------------------ who does the work */

static void backwards(void *self, pe_job job, void *arg, int64_t count)
{
    (void)self;
    for (int64_t n = count - 1; n >= 0; n--)
        job(arg, n, (int)(n % 5));
}

static pe_pool *pools[5];
static const pe_pool reversed = { NULL, 5, backwards };

static void run_with(attention_case *c, twin *first, const pe_pool *pool, const char *name)
{
    twin t = twin_of(c, first->type, pool);
    twin_forward(c, &t);
    if (memcmp(t.out, first->out, (size_t)(c->Tq * c->shape.heads * c->Dv) * pe_dtype_size(t.type)) ||
        memcmp(t.lse, first->lse, (size_t)(c->Tq * c->shape.heads) * sizeof(float)))
        fail_msg("%s: other bits with %s", c->spec, name);
    twin_free(&t);
}

static void compare_pools(const char *spec)
{
    static const int64_t sizes[] = { -2500, 150 };
    for (int n = 0; n < COUNT(sizes); n++) {
        attention_case c = case_sized(spec, PADDING, SEED, sizes[n]);
        twin first = twin_of(&c, PE_F32, NULL);
        if (!first.status) {
            twin_forward(&c, &first);
            for (int i = 0; i < COUNT(pools); i++)
                if (test_turn(i + n + case_number, COUNT(pools)))
                    run_with(&c, &first, pools[i], "a pool of threads");
            run_with(&c, &first, &reversed, "a pool that goes backwards");
        }
        twin_free(&first);
        case_free(&c);
    }
}

static void the_same_bits_with_any_pool(void **state)
{
    (void)state;
    static const int workers[] = { 1, 2, 3, 8, 2 };
    pe_error err = { 0 };
    for (int i = 0; i < COUNT(pools); i++)
        assert_ok(pe_pool_new(&pools[i], workers[i], &err));
    case_each(compare_pools);
    for (int i = 0; i < COUNT(pools); i++)
        pe_pool_free(pools[i]);
}

/* A float64 mask may hold numbers that float32 has not: they do not hide as -inf does, and do not win as +inf would.
 * Queries whose keys are all that far share themselves out among them. */
static void only_infinity_hides(void **state)
{
    (void)state;
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
        twin_free(&t);
        case_free(&c);
    }
}

/* What each test starts from: float32, the rungs of this CPU in turn. */
static int plain(void **state)
{
    (void)state;
    rung_count = case_rungs(rungs, COUNT(rungs));
    rung_at = 0;
    type = PE_F32;
    return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, plain)

/* An argument runs only the tests it matches. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        TEST(fused_equals_the_definition_on_every_rung),
        TEST(half_precision_is_rounded_once_on_every_rung),
        TEST(what_is_no_number_or_off_is_seen_by_the_comparison),
        TEST(heads_of_any_width_and_number),
        TEST(many_heads_on_one_with_every_hook),
        TEST(any_number_of_queries_and_keys),
        TEST(a_window_of_any_size_is_one),
        TEST(positions_may_be_any),
        TEST(far_keys_cost_near_ones_nothing),
        TEST(padding_may_stand_anywhere),
        TEST(scores_may_be_large),
        TEST(views_of_any_strides_give_the_same_bits),
        TEST(the_same_bits_with_any_pool),
        TEST(only_infinity_hides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
