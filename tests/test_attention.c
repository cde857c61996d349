/* labels: core; tier: quick; cost: 1 s
 * SPDX-License-Identifier: MIT
 *
 * Attention as the header defines it: against a plain double implementation over the public hooks, at its edges, in
 * tiles and with a cache; what is hidden is never read. */
#include "attention_case.h"

#define SEED UINT64_C(0x61747465)

static const char *const combinations[] = {
    "sinusoidal+alibi", "rope+t5", "shaw+alibi:slopes=learned", "cope+rope:magnitude=1.25", "xpos+kerple",
    "deberta:buckets=8,max=32+fire:hidden=8", "transformer-xl+rope:turn=qkvo+alibi", "rope:axes=2,split=axial+window", "cope+shaw",
    "rope:learned=heads",
    "rope+forget", "forget+inkling:distances=5,width=3,floor=2,scale=sqrt", "rope:temperature=0.1,floor=4+inkling:distances=5,width=3",
};

static void close_to(const char *spec, const char *what, const double *x, const double *y, int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] == y[i] || fabs(x[i] - y[i]) <= tolerance * fmax(1, fabs(y[i]))))
            fail_msg("%s: %s %" PRId64 " is %.17g, should be %.17g", spec, what, i, x[i], y[i]);
}

static void same_bits(const char *spec, const char *what, const double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x))
            fail_msg("%s: %s %" PRId64 " is %.17g, should be %.17g to the bit", spec, what, i, x[i], y[i]);
}

/* ------------------------------------------------ the definition, once more */

/* Written from the header: which keys query i of head h sees. */
static bool plainly_sees(const attention_case *c, int64_t h, int64_t i, int64_t j)
{
    const pe_mask *m = &c->a.mask;
    int64_t place = i + c->Tk - c->Tq, away = place > j ? place - j : j - place;
    bool hidden = (m->causal && j > place) || (m->window > 0 && away >= m->window) || (c->padded && !c->key_used[j]) ||
                  (c->segmented && c->q_segment[i] != c->k_segment[j]);
    const double *add = m->additive.data;
    return !hidden && !(add && add[(i * m->additive.heads + (m->additive.heads == 1 ? 0 : h)) * c->Tk + j] == -INFINITY);
}

/* Both score hooks of one stage for head h, on a tile of all queries and keys. */
static void plain_terms(const attention_case *c, pe_stage stage, pe_view q, pe_view k, const uint8_t *seen, int64_t h, double *score)
{
    int64_t H = c->shape.heads;
    double *all = case_doubles(c->Tq * H * c->Tk);
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(all, PE_F64, 1, c->Tq, H, c->Tk), .q = q, .k = k, .q_at = c->a.q_at, .k_at = c->a.k_at, .seen = seen,
                  .q_gates = c->a.q_gates, .k_gates = c->a.k_gates, .relative = c->a.relative };
    assert_ok(pe_encoding_content(c->e, stage, c->params, &t, &err));
    assert_ok(pe_encoding_bias(c->e, stage, c->params, &t, &err));
    for (int64_t i = 0; i < c->Tq; i++)
        for (int64_t j = 0; j < c->Tk; j++)
            score[i * c->Tk + j] += all[(i * H + h) * c->Tk + j];
}

/* score (Tq, Tk) of head h, -inf where hidden. */
static void plain_scores(const attention_case *c, pe_view q, pe_view k, int64_t h, double *score)
{
    const pe_shape s = c->shape;
    int64_t D = s.head_dim, G = s.kv_heads;
    uint8_t *seen = take(c->Tq * c->Tk, 1);
    for (int64_t n = 0; n < c->Tq * c->Tk; n++) {
        int64_t i = n / c->Tk, j = n % c->Tk;
        seen[n] = plainly_sees(c, h, i, j);
        score[n] = pe_encoding_replaces(c->e) ? 0 : case_dot((double *)q.data + (i * s.heads + h) * D, (double *)k.data + (j * G + h / (s.heads / G)) * D, D);
    }
    plain_terms(c, PE_BEFORE_SCALE, q, k, seen, h, score);
    for (int64_t n = 0; n < c->Tq * c->Tk; n++) {
        score[n] *= c->a.scale != 0 ? c->a.scale : pe_encoding_scale(c->e);
        if (c->a.soft_cap > 0)
            score[n] = c->a.soft_cap * tanh(score[n] / c->a.soft_cap);
    }
    plain_terms(c, PE_AFTER_SCALE, q, k, seen, h, score);
    const pe_view add = c->a.mask.additive;
    for (int64_t n = 0; n < c->Tq * c->Tk; n++) {
        if (add.data)
            score[n] += c->additive[(n / c->Tk * add.heads + (add.heads == 1 ? 0 : h)) * c->Tk + n % c->Tk];
        if (!seen[n])
            score[n] = -INFINITY;
    }
}

static void plain_softmax(const attention_case *c, int64_t h, const double *score, double *prob, double *lse)
{
    for (int64_t i = 0; i < c->Tq; i++) {
        double sum = c->a.sinks.data ? exp(c->sinks[h]) : 0;
        for (int64_t j = 0; j < c->Tk; j++)
            sum += exp(score[i * c->Tk + j]);
        for (int64_t j = 0; j < c->Tk; j++)
            prob[(i * c->shape.heads + h) * c->Tk + j] = sum > 0 ? exp(score[i * c->Tk + j]) / sum : 0;
        lse[i * c->shape.heads + h] = log(sum);
    }
}

static double *plain_rotated(const attention_case *c, pe_side side, pe_view *v, pe_positions at)
{
    pe_view from = *v;
    double *data = case_doubles(v->tokens * v->heads * v->dim);
    v->data = data;
    assert_ok(pe_rotate(c->e, side, *v, from, at, &PE_MAKE(pe_run, .params = c->params), &err));
    return data;
}

static void plain_attention(const attention_case *c, double *out, double *lse)
{
    const pe_shape s = c->shape;
    pe_view q = c->a.q, k = c->a.k, v = c->a.v, o = c->a.out;
    plain_rotated(c, PE_QUERY, &q, c->a.q_at);
    plain_rotated(c, PE_KEY, &k, c->a.k_at);
    double *tv = plain_rotated(c, PE_VALUE, &v, c->a.k_at);
    double *score = case_doubles(c->Tq * c->Tk), *prob = case_doubles(c->Tq * s.heads * c->Tk);
    for (int64_t h = 0; h < s.heads; h++) {
        plain_scores(c, q, k, h, score);
        plain_softmax(c, h, score, prob, lse);
    }
    memset(out, 0, (size_t)(c->Tq * s.heads * c->Dv) * sizeof *out);
    for (int64_t n = 0; n < c->Tq * s.heads; n++)
        for (int64_t j = 0; j < c->Tk; j++)
            for (int64_t d = 0; d < c->Dv; d++)
                out[n * c->Dv + d] += prob[n * c->Tk + j] * tv[(j * s.kv_heads + n % s.heads / (s.heads / s.kv_heads)) * c->Dv + d];
    o.data = out;
    assert_ok(pe_encoding_value(c->e, c->params, o, pe_view_of(prob, PE_F64, 1, c->Tq, s.heads, c->Tk), c->a.q_at, c->a.k_at, &err));
    assert_ok(pe_rotate(c->e, PE_OUTPUT, o, o, c->a.q_at, &PE_MAKE(pe_run, .params = c->params), &err));
}

static void forward_against_plain(const char *spec)
{
    for (int f = 0; f < COUNT(case_features); f++) {
        attention_case c = case_new(spec, case_features[f], SEED + (uint64_t)f);
        int64_t n = c.Tq * c.shape.heads;
        double *out = case_doubles(n * c.Dv), *lse = case_doubles(n);
        case_forward(&c);
        plain_attention(&c, out, lse);
        /* sums of a hundred terms in another order; xpos turns about another centre */
        close_to(spec, "output", c.out, out, n * c.Dv, 1e-12);
        close_to(spec, "log-sum-exp", c.lse, lse, n, 1e-12);
    }
}

TEST(forward_is_softmax_over_the_hooks)
{
    each_spec(forward_against_plain, combinations, COUNT(combinations));
}

/* ------------------------------------------------ gradients, all of them */

typedef struct gradients {
    double *at[6]; /* dq, dk, dv, dparams, dsinks, dadditive */
    int64_t n[6];
} gradients;

static const char *const gradient_names[] = { "dq", "dk", "dv", "dparams", "dsinks", "dadditive" };

static gradients backward(attention_case *c)
{
    const pe_shape s = c->shape;
    const pe_view add = c->a.mask.additive;
    gradients g = { .n = { c->Tq * s.heads * s.head_dim, c->Tk * s.kv_heads * s.head_dim, c->Tk * s.kv_heads * c->Dv, c->params.count,
                           c->a.sinks.count, add.tokens * add.heads * add.dim } };
    for (int i = 0; i < 6; i++)
        g.at[i] = case_doubles(g.n[i]);
    pe_attention_grad out = { .size = sizeof(pe_attention_grad), .dout = c->a.out, .dq = c->a.q, .dk = c->a.k, .dv = c->a.v, .dadditive = add,
                              .dparams = { g.at[3], PE_F64, g.n[3] }, .dsinks = { g.n[4] ? g.at[4] : NULL, PE_F64, g.n[4] } };
    out.dout.data = c->dout;
    out.dq.data = g.at[0], out.dk.data = g.at[1], out.dv.data = g.at[2];
    out.dadditive.data = add.data ? g.at[5] : NULL;
    case_backward(c, &out);
    return g;
}

/* ------------------------------------------------ nothing to see */

static void no_key_no_trace(const char *spec)
{
    for (int way = 0; way < 4; way++) {
        static const unsigned features[] = { PADDING, SEGMENTS, ADDITIVE_ONE, ADDITIVE_HEADS };
        attention_case c = case_new(spec, features[way], SEED);
        memset(c.key_used, 0, (size_t)c.Tk);
        for (int64_t i = 0; i < c.Tq; i++)
            c.q_segment[i] = 7;
        case_keep(&c);
        for (int64_t n = 0; c.additive && n < c.Tq * c.a.mask.additive.heads * c.Tk; n++)
            c.additive[n] = -INFINITY;
        case_forward(&c);
        for (int64_t n = 0; n < c.Tq * c.shape.heads * c.Dv; n++)
            assert_true(c.out[n] == 0);
        for (int64_t n = 0; n < c.Tq * c.shape.heads; n++)
            assert_true(c.lse[n] == -INFINITY);
        gradients g = backward(&c);
        for (int i = 0; i < 6; i++)
            for (int64_t n = 0; n < g.n[i]; n++)
                if (!(g.at[i][n] == 0))
                    fail_msg("%s, way %d: %s is %g", spec, way, gradient_names[i], g.at[i][n]);
    }
}

TEST(a_query_that_sees_no_key_gets_zero_and_gives_none)
{
    each_spec(no_key_no_trace, combinations, COUNT(combinations));
}

/* A sink takes all the probability where there is no key; then the log-sum-exp is the sink's logit. */
TEST(a_sink_alone_takes_everything)
{
    attention_case c = case_new("rope", PADDING | SINKS, SEED);
    memset(c.key_used, 0, (size_t)c.Tk);
    case_keep(&c);
    case_forward(&c);
    gradients g = backward(&c);
    for (int64_t n = 0; n < c.Tq * c.shape.heads; n++) {
        assert_true(c.lse[n] == c.sinks[n % c.shape.heads]);
        assert_true(c.out[n * c.Dv] == 0);
    }
    for (int i = 0; i < 6; i++)
        assert_true(case_largest(g.at[i], g.n[i]) == 0);
}

/* ------------------------------------------------ what is hidden is never read */

static bool hidden_from_all(const attention_case *c, int64_t j)
{
    for (int64_t h = 0; h < c->shape.heads; h++)
        for (int64_t i = 0; i < c->Tq; i++)
            if (plainly_sees(c, h, i, j))
                return false;
    return true;
}

/* Hides a key in the way that this set of features has, from every query and head. */
static void hide_key(attention_case *c, int64_t j)
{
    int64_t heads = c->a.mask.additive.heads;
    if (c->padded)
        c->key_used[j] = 0;
    if (c->segmented)
        c->k_segment[j] = 99;
    case_keep(c);
    for (int64_t n = 0; c->additive && n < c->Tq * heads; n++)
        c->additive[n * c->Tk + j] = -INFINITY;
}

static void poison_hidden(const char *spec)
{
    static const unsigned sets[] = { PADDING, SEGMENTS, ADDITIVE_ONE, ADDITIVE_HEADS, CAUSAL | PADDING | WINDOW | SINKS, ALL_AT_ONCE,
                                     SOFT_CAP | ADDITIVE_HEADS | SINKS };
    static const double poison[] = { NAN, INFINITY, -INFINITY };
    for (int f = 0; f < COUNT(sets); f++) {
        attention_case c = case_new(spec, sets[f], SEED + (uint64_t)f);
        const int64_t width = c.shape.kv_heads * c.shape.head_dim, n = c.Tq * c.shape.heads;
        hide_key(&c, 3);
        assert_true(hidden_from_all(&c, 3));
        case_forward(&c);
        double *out = case_doubles(n * c.Dv), *lse = case_doubles(n);
        memcpy(out, c.out, (size_t)(n * c.Dv) * sizeof *out);
        memcpy(lse, c.lse, (size_t)n * sizeof *lse);
        gradients clean = backward(&c);
        for (int64_t j = 0; j < c.Tk; j++) {
            for (int64_t d = 0; hidden_from_all(&c, j) && d < width; d++)
                c.k[j * width + d] = poison[d % 3];
            for (int64_t d = 0; hidden_from_all(&c, j) && d < c.shape.kv_heads * c.Dv; d++)
                c.v[j * c.shape.kv_heads * c.Dv + d] = poison[(d + 1) % 3];
        }
        case_forward(&c);
        same_bits(spec, "output beside poison", c.out, out, n * c.Dv);
        same_bits(spec, "log-sum-exp beside poison", c.lse, lse, n);
        gradients g = backward(&c);
        for (int i = 0; i < 6; i++)
            same_bits(spec, gradient_names[i], g.at[i], clean.at[i], g.n[i]);
        for (int64_t d = 0; d < width; d++)
            assert_true(g.at[1][3 * width + d] == 0);
    }
}

TEST(what_is_hidden_is_never_read)
{
    each_spec(poison_hidden, combinations, COUNT(combinations));
}

/* A mask of one head for all and the same mask spelled out per head are one mask, also to a term that counts keys. */
TEST(one_mask_for_all_heads_is_that_mask_per_head)
{
    static const char *const specs[] = { "cope", "shaw", "rope+t5" };
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case one = case_new(specs[s], ADDITIVE_ONE, SEED), many = case_new(specs[s], ADDITIVE_HEADS, SEED);
        int64_t H = one.shape.heads, n = one.Tq * H * one.Dv;
        memcpy(many.q, one.q, (size_t)(one.Tq * H * one.shape.head_dim) * sizeof(double));
        memcpy(many.k, one.k, (size_t)(one.Tk * one.shape.kv_heads * one.shape.head_dim) * sizeof(double));
        memcpy(many.v, one.v, (size_t)(one.Tk * one.shape.kv_heads * one.Dv) * sizeof(double));
        memcpy(many.dout, one.dout, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < one.Tq * H * one.Tk; i++)
            many.additive[i] = one.additive[i / one.Tk / H * one.Tk + i % one.Tk];
        case_forward(&one), case_forward(&many);
        same_bits(specs[s], "output", many.out, one.out, n);
        gradients a = backward(&one), b = backward(&many);
        for (int i = 0; i < 4; i++)
            same_bits(specs[s], gradient_names[i], b.at[i], a.at[i], a.n[i]);
    }
}

/* A key so far ahead that xpos overflows does no harm while it is hidden, and is an error when seen. */
TEST(a_hidden_key_may_lie_anywhere)
{
    attention_case c = case_new("xpos:base=128", CAUSAL, SEED);
    for (int64_t j = 0; j < c.Tk; j++)
        c.k_at[j] = c.q_at[j] = 40000 * j;
    case_forward(&c);
    gradients g = backward(&c);
    for (int64_t n = 0; n < c.Tq * c.shape.heads * c.Dv; n++)
        assert_true(isfinite(c.out[n]));
    for (int i = 0; i < 4; i++)
        for (int64_t n = 0; n < g.n[i]; n++)
            if (!isfinite(g.at[i][n]))
                fail_msg("%s %" PRId64 " is %g", gradient_names[i], n, g.at[i][n]);
    c.a.mask.causal = false;
    assert_int_equal(case_try(&c), PE_ERR_POSITION);
}

/* ------------------------------------------------ edges */

TEST(no_queries_and_no_keys_are_fine)
{
    static const char *const specs[] = { "none", "rope:turn=qkvo", "xpos", "shaw", "cope", "t5" };
    for (int s = 0; s < COUNT(specs); s++)
        for (int none = 0; none < 2; none++) {
            attention_case c = case_new(specs[s], CAUSAL, SEED);
            if (none) {
                c.Tk = c.a.k.tokens = c.a.v.tokens = c.a.k_at.tokens = 0;
            } else
                c.Tq = c.a.q.tokens = c.a.out.tokens = c.a.lse.tokens = c.a.q_at.tokens = 0;
            case_forward(&c);
            gradients g = backward(&c);
            for (int64_t n = 0; n < c.Tq * c.shape.heads; n++)
                assert_true(c.lse[n] == -INFINITY && c.out[n * c.Dv] == 0);
            for (int i = 0; i < 4; i++)
                assert_true(case_largest(g.at[i], g.n[i]) == 0);
        }
}

TEST(queries_before_the_first_key_see_nothing_when_causal)
{
    attention_case c = case_new("rope", CAUSAL | MORE_QUERIES, SEED);
    case_forward(&c);
    for (int64_t n = 0; n < c.Tq * c.shape.heads; n++) {
        bool before = n / c.shape.heads < c.Tq - c.Tk;
        assert_true(before == (c.lse[n] == -INFINITY));
        assert_true(before == (case_largest(c.out + n * c.Dv, c.Dv) == 0));
    }
}

/* +-1e300 on two keys: one takes all, nothing overflows. */
TEST(a_huge_finite_bias_is_no_infinity)
{
    attention_case c = case_new("alibi", ADDITIVE_ONE, SEED);
    for (int64_t n = 0; n < c.Tq * c.Tk; n++)
        c.additive[n] = n % c.Tk == 2 ? 1e300 : n % c.Tk == 4 ? -1e300 : 0;
    case_forward(&c);
    gradients g = backward(&c);
    for (int64_t n = 0; n < c.Tq * c.shape.heads; n++) {
        int64_t group = n % c.shape.heads / (c.shape.heads / c.shape.kv_heads);
        assert_true(c.lse[n] == 1e300);
        for (int64_t d = 0; d < c.Dv; d++)
            assert_true(c.out[n * c.Dv + d] == c.v[(2 * c.shape.kv_heads + group) * c.Dv + d]);
    }
    assert_true(case_largest(g.at[0], g.n[0]) == 0);
    assert_true(isfinite(case_dot(g.at[2], g.at[2], g.n[2])));
}

/* v one element wide against v of full width: element 0 is the same. */
TEST(values_may_be_narrower_than_queries)
{
    attention_case c = case_new("rope", CAUSAL, SEED);
    case_forward(&c);
    int64_t n = c.Tq * c.shape.heads;
    double *narrow = case_doubles(n);
    pe_run run = case_run(&c, NULL, c.work, c.bytes);
    pe_attention a = c.a;
    a.v.dim = 1;
    a.out = pe_view_of(narrow, PE_F64, 1, c.Tq, c.shape.heads, 1);
    assert_ok(pe_reference_forward(c.e, &a, &run, &err));
    for (int64_t i = 0; i < n; i++)
        assert_true(narrow[i] == c.out[i * c.Dv]);
}

/* ------------------------------------------------ tiles and caches */

static pe_view part_of(pe_view v, int64_t token, int64_t tokens)
{
    v.data = v.data ? (double *)v.data + token * v.token_stride : NULL;
    v.tokens = tokens;
    return v;
}

static pe_positions places_of(pe_positions p, int64_t token, int64_t tokens)
{
    p.data = (const int64_t *)p.data + token * p.token_stride;
    p.tokens = tokens;
    return p;
}

/* Score terms of queries [i, i+m) and keys [j, j+n), into the whole (Tq, H, Tk). */
static void add_tile(const attention_case *c, double *score, const uint8_t *seen, double *carry, int64_t i, int64_t m, int64_t j, int64_t n)
{
    int64_t H = c->shape.heads;
    uint8_t *part = take(m * n, 1);
    for (int64_t x = 0; x < m * n; x++)
        part[x] = seen[(i + x / n) * c->Tk + j + x % n];
    pe_tile t = { .size = sizeof(pe_tile), .score = { score + i * H * c->Tk + j, PE_F64, 1, m, H, n, 0, H * c->Tk, c->Tk }, .q = part_of(c->a.q, i, m),
                  .k = part_of(c->a.k, j, n), .q_at = places_of(c->a.q_at, i, m), .k_at = places_of(c->a.k_at, j, n),
                  .seen = part, .carry = carry, .q_gates = part_of(c->a.q_gates, i, m), .k_gates = part_of(c->a.k_gates, j, n),
                  .relative = part_of(c->a.relative, i, m) };
    for (int stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
        assert_ok(pe_encoding_content(c->e, (pe_stage)stage, c->params, &t, &err));
        assert_ok(pe_encoding_bias(c->e, (pe_stage)stage, c->params, &t, &err));
    }
}

static void tiles_against_whole(const char *spec)
{
    attention_case c = case_new(spec, CAUSAL, SEED);
    int64_t H = c.shape.heads, n = c.Tq * H * c.Tk;
    double *whole = case_random(n, 1, &(uint64_t){ SEED }), *tiled = case_doubles(n);
    uint8_t *seen = take(c.Tq * c.Tk, 1);
    memcpy(tiled, whole, (size_t)n * sizeof *whole); /* added to, not written */
    for (int64_t x = 0; x < c.Tq * c.Tk; x++)
        seen[x] = plainly_sees(&c, 0, x / c.Tk, x % c.Tk) && x % 5;
    add_tile(&c, whole, seen, NULL, 0, c.Tq, 0, c.Tk);
    for (int64_t i = 0; i < c.Tq; i += 4) {
        int64_t m = c.Tq - i < 4 ? c.Tq - i : 4, size = 0;
        double *carry = case_doubles(H * m);
        for (int64_t end = c.Tk; end > 0; end -= size) { /* right to left, by 1, 2, 3 keys */
            size = size % 3 + 1 < end ? size % 3 + 1 : end;
            add_tile(&c, tiled, seen, carry, i, m, end - size, size);
        }
    }
    same_bits(spec, "tiled score", tiled, whole, n);
}

TEST(tiles_make_the_whole)
{
    each_spec(tiles_against_whole, combinations, COUNT(combinations));
}

/* Queries in two calls, the second with the keys of both: n_past and a cache. */
static void chunks_against_whole(const char *spec)
{
    attention_case c = case_new(spec, CAUSAL | SINKS, SEED);
    int64_t H = c.shape.heads, n = c.Tq * H * c.Dv;
    double *whole = case_doubles(n);
    case_forward(&c);
    memcpy(whole, c.out, (size_t)n * sizeof *whole);
    pe_run run = case_run(&c, NULL, c.work, c.bytes);
    for (int64_t past = 0, count = 1; past < c.Tq; past += count, count = 2) {
        count = count < c.Tq - past ? count : c.Tq - past;
        pe_attention a = c.a;
        a.q = part_of(a.q, past, count);
        a.q_gates = part_of(a.q_gates, past, count);
        a.k_gates = part_of(a.k_gates, 0, past + count);
        a.relative = part_of(a.relative, past, count);
        a.out = part_of(a.out, past, count);
        a.lse.data = NULL;
        a.q_at = places_of(a.q_at, past, count);
        a.k = part_of(a.k, 0, past + count);
        a.v = part_of(a.v, 0, past + count);
        a.k_at = places_of(a.k_at, 0, past + count);
        memset(a.out.data, 0xff, (size_t)(count * H * c.Dv) * sizeof *whole);
        assert_ok(pe_reference_forward(c.e, &a, &run, &err));
    }
    same_bits(spec, "output with a cache", c.out, whole, n);
}

TEST(a_cache_changes_nothing)
{
    each_spec(chunks_against_whole, combinations, COUNT(combinations));
}

/* ------------------------------------------------ grouped keys */

/* (tokens, G, dim) with each head repeated. */
static double *spread(const double *x, int64_t tokens, int64_t G, int64_t times, int64_t dim)
{
    double *y = case_doubles(tokens * G * times * dim);
    for (int64_t n = 0; n < tokens * G * times; n++)
        memcpy(y + n * dim, x + n / times * dim, (size_t)dim * sizeof *y);
    return y;
}

/* And back: gradients of the copies added up. */
static double *gathered(const double *x, int64_t tokens, int64_t G, int64_t times, int64_t dim)
{
    double *y = case_doubles(tokens * G * dim);
    for (int64_t n = 0; n < tokens * G * times * dim; n++)
        y[n / dim / times * dim + n % dim] += x[n];
    return y;
}

static void groups_against_copies(const char *spec)
{
    attention_case c = case_new(spec, CAUSAL, SEED), full = c;
    pe_shape s = c.shape;
    int64_t G = s.kv_heads, times = s.heads / G, n = c.Tq * s.heads * c.Dv;
    case_forward(&c);
    gradients few = backward(&c);
    full.shape.kv_heads = s.heads;
    full.e = encoding_of(spec, full.shape);
    if (pe_encoding_param_count(full.e) != c.params.count) /* frequencies of each key head: more of them */
        return;
    full.k = spread(c.k, c.Tk, G, times, s.head_dim);
    full.v = spread(c.v, c.Tk, G, times, c.Dv);
    full.out = case_doubles(n);
    full.a.k = pe_view_of(full.k, PE_F64, 1, c.Tk, s.heads, s.head_dim);
    full.a.v = pe_view_of(full.v, PE_F64, 1, c.Tk, s.heads, c.Dv);
    full.a.out.data = full.out;
    assert_ok(pe_reference_work(full.e, &full.a, &full.bytes, &err));
    full.work = take((int64_t)full.bytes, 1);
    case_forward(&full);
    same_bits(spec, "output of grouped keys", c.out, full.out, n);
    gradients many = backward(&full);
    double *dk = gathered(many.at[1], c.Tk, G, times, s.head_dim), *dv = gathered(many.at[2], c.Tk, G, times, c.Dv);
    same_bits(spec, "dq of grouped keys", few.at[0], many.at[0], few.n[0]);
    close_to(spec, "dk of grouped keys", few.at[1], dk, few.n[1], 1e-13); /* another order of sums */
    close_to(spec, "dv of grouped keys", few.at[2], dv, few.n[2], 1e-13);
    close_to(spec, "dparams of grouped keys", few.at[3], many.at[3], few.n[3], 1e-13);
}

TEST(grouped_keys_are_keys_shared_by_neighbouring_heads)
{
    each_spec(groups_against_copies, combinations, COUNT(combinations));
}

/* ------------------------------------------------ scales */

/* What these rows say of themselves; others divide by sqrt(d). */
TEST(a_row_states_its_softmax_scale)
{
    static const struct {
        const char *spec;
        double times_sqrt_d; /* 0: the scale is 1 */
    } all[] = {
        { "none", 1 },
        { "rope", 1 },
        { "t5", 0 },
        { "t5:direction=causal", 0 },
        { "t5:buckets=64,max=256,scale=sqrt", 1 },
        { "deberta", 0.57735026918962573 },
        { "deberta:buckets=8,max=32,terms=c2p", 0.70710678118654757 },
        { "deberta:buckets=0,max=16,terms=p2c", 0.70710678118654757 },
        { "rope+t5", 0 },
        { "deberta:buckets=8,max=32+fire:hidden=8", 0.57735026918962573 },
    };
    for (int i = 0; i < COUNT(all); i++) {
        double root = sqrt((double)test_shape.head_dim), expected = all[i].times_sqrt_d > 0 ? all[i].times_sqrt_d / root : 1;
        pe_encoding *e = encoding_of(all[i].spec, test_shape);
        if (fabs(pe_encoding_scale(e) / expected - 1) > 1e-15)
            fail_msg("%s: the scale is %.17g, should be %.17g", all[i].spec, pe_encoding_scale(e), expected);
    }
}

/* What one head does not see is left alone for that head only, and needs no row in a table. */
TEST(a_tile_may_hide_pairs_per_head)
{
    static const char *const specs[] = { "alibi", "cope:positions=4", "shaw:left=2,right=2,on=keys", "transformer-xl:back=0,ahead=0" };
    for (int i = 0; i < COUNT(specs); i++) {
        pe_encoding *e = encoding_of(specs[i], (pe_shape){ 2, 2, 4, 8 });
        int64_t at[] = { 0, 1 }, n = pe_encoding_param_count(e);
        double score[8] = { 0 }, q[16], k[16], w[512];
        uint64_t seed = 5;
        for (int d = 0; d < 16; d++)
            q[d] = test_uniform(&seed), k[d] = test_uniform(&seed);
        pe_params params = { n ? w : NULL, PE_F64, n };
        assert_true(n <= COUNT(w));
        assert_ok(pe_encoding_init(e, params, 1, &err));
        /* (H, Tq, Tk) with a gap between heads: head 0 sees only itself, head 1 nothing */
        const uint8_t seen[9] = { 1, 0, 0, 1, 1, 0, 0, 0, 0 };
        pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F64, 1, 2, 2, 2), .q = pe_view_of(q, PE_F64, 1, 2, 2, 4),
                      .k = pe_view_of(k, PE_F64, 1, 2, 2, 4), .q_at = pe_positions_of(at, PE_I64, 1, 2, 1), .k_at = pe_positions_of(at, PE_I64, 1, 2, 1),
                      .seen = seen, .seen_head_stride = 5 };
        for (int stage = 0; stage < 2; stage++) {
            assert_ok(pe_encoding_content(e, (pe_stage)stage, params, &t, &err));
            assert_ok(pe_encoding_bias(e, (pe_stage)stage, params, &t, &err));
        }
        for (int64_t c = 0; c < 8; c++) { /* (Tq, H, Tk) */
            bool shown = (c / 2) % 2 == 0 && c / 4 == c % 2, zero = score[c] == 0;
            if (strcmp(specs[i], "alibi") ? zero == shown : !zero) /* alibi is 0 at distance 0 */
                fail_msg("%s: score %" PRId64 " is %g", specs[i], c, score[c]);
        }
        t.seen_head_stride = 3;
        assert_int_equal(pe_encoding_bias(e, PE_AFTER_SCALE, params, &t, &err), PE_ERR_RANGE);
    }
}
