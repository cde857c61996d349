/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 12 s
 *
 * Masks of a batch: shapes that spread, where a query stands, what it sees beyond its window; and the scores and
 * probabilities that a call shows. */
#include "batch_case.h"

/* ------------------------------------------------ masks */

static const struct {
    bool batch, tokens, heads; /* have rows of their own; else one for all */
} spreads[] = { { false, false, false }, { true, false, false }, { false, true, true }, { true, true, true },
                { false, true, false },  { false, false, true }, { true, true, false } };

TEST(a_boolean_mask_is_minus_infinity_added)
{
    static const char *const some[] = { "rope", "t5", "cope:positions=32", "shaw" };
    uint64_t seed = 22;
    for (int n = 0; n < COUNT(some) * COUNT(spreads) * 3 * 2; n++) {
        int mark = taken(), size = n / 2 % 3, spread = n / 6 % COUNT(spreads);
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, batch = spreads[spread].batch ? B : 1,
                tokens = spreads[spread].tokens ? Tq : 1, heads = spreads[spread].heads ? H : 1;
        problem keep = problem_of(some[n / 6 / COUNT(spreads)], n % 2, PE_F32, B, Tq, Tk, &seed), add = keep,
                full = keep;
        keep.a.mask.keep = fresh(PE_BOOL, batch, tokens, heads, Tk);
        add.a.mask.additive = fresh(PE_F32, batch, tokens, heads, Tk);
        full.a.mask.keep = fresh(PE_BOOL, B, Tq, H, Tk);
        for (int64_t i = 0; i < batch * tokens * heads * Tk; i++) {
            bool hidden = test_range(&seed, 0, 2) == 0;
            ((uint8_t *)keep.a.mask.keep.data)[i] = hidden ? 0 : (uint8_t)test_range(&seed, 1, 255);
            ((float *)add.a.mask.additive.data)[i] = hidden ? -INFINITY : 0;
        }
        copy(full.a.mask.keep,
             repeating((pe_view){ keep.a.mask.keep.data, PE_BOOL, B, Tq, H, Tk, keep.a.mask.keep.batch_stride,
                                  keep.a.mask.keep.token_stride, keep.a.mask.keep.head_stride },
                       (batch == 1 ? SEQUENCES : 0u) | (tokens == 1 ? TOKENS : 0u) | (heads == 1 ? HEADS : 0u)));
        problem *others[] = { &add, &full };
        CASE("%s, %s, mask (%d, %d, %d, %d)", some[n / 6 / COUNT(spreads)], way_of(&keep), (int)batch, (int)tokens,
             (int)heads, (int)Tk);
        for (int i = 0; i < COUNT(others); i++) {
            *others[i] = once_more(others[i]);
            keep = once_more(&keep);
            same_results(&keep, others[i]);
        }
        give_back_to(mark);
    }
}

/* An additive mask spreads as it does written out, and its gradient is what the rows it stands for have together. */
TEST(an_additive_mask_spreads_and_gathers)
{
    uint64_t seed = 23;
    for (int n = 0; n < COUNT(spreads) * 2 * 2; n++) {
        int mark = taken(), spread = n / 4, size = n / 2 % 2;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, batch = spreads[spread].batch ? B : 1,
                tokens = spreads[spread].tokens ? Tq : 1, heads = spreads[spread].heads ? H : 1;
        problem p = problem_of("rope", n % 2, PE_F32, B, Tq, Tk, &seed), full = p;
        pe_view add = drawn(PE_F32, batch, tokens, heads, Tk, &seed), all = fresh(PE_F32, B, Tq, H, Tk);
        for (int64_t i = 0; i < B * Tq * H; i++)
            memcpy(row(all, i / H / Tq, i / H % Tq, i % H),
                   row(add, batch > 1 ? i / H / Tq : 0, tokens > 1 ? i / H % Tq : 0, heads > 1 ? i % H : 0),
                   (size_t)Tk * 4);
        p.a.mask.additive = add, full.a.mask.additive = all;
        p.g.dadditive = fresh(PE_F64, batch, tokens, heads, Tk), full.g.dadditive = fresh(PE_F64, B, Tq, H, Tk);
        full = once_more(&full);
        CASE("%s, mask (%d, %d, %d, %d)", way_of(&p), (int)batch, (int)tokens, (int)heads, (int)Tk);
        same_results(&p, &full);
        pe_view sum = fresh(PE_F64, batch, tokens, heads, Tk);
        for (int64_t i = 0; i < B * Tq * H * Tk; i++) {
            int64_t r = i / Tk, b = batch > 1 ? r / H / Tq : 0, t = tokens > 1 ? r / H % Tq : 0,
                    h = heads > 1 ? r % H : 0;
            ((double *)(void *)row(sum, b, t, h))[i % Tk] +=
                get(full.g.dadditive, r / H / Tq, r / H % Tq, r % H, i % Tk);
        }
        nearly("dadditive", p.g.dadditive, sum, n % 2 ? 1e-5 : 1e-12);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ where a query stands */

/* Written from the header: whether query i of a sequence sees its key j. */
static bool sees(const pe_mask *m, int64_t i, int64_t j, int64_t Tq, int64_t Tk, int64_t q_at, int64_t k_at)
{
    int64_t all = m->keys_before + Tk + m->keys_after, key = m->align == PE_ALIGN_POSITION ? k_at : m->keys_before + j;
    int64_t place = m->align == PE_ALIGN_POSITION ? q_at : m->align == PE_ALIGN_START ? i : i + all - Tq;
    if (m->causal && key > place)
        return false;
    return !m->window || llabs(key - place) < m->window || (key >= 0 && key < m->first_keys);
}

/* The same mask as bytes. */
static pe_view spelled(const problem *p)
{
    int64_t Tq = p->a.q.tokens, Tk = p->a.k.tokens, batch = p->a.q.batch;
    pe_view keep = fresh(PE_BOOL, batch, Tq, 1, Tk);
    const int64_t *q = p->a.q_at.data, *k = p->a.k_at.data;
    for (int64_t n = 0; n < batch * Tq * Tk; n++) {
        int64_t b = n / Tk / Tq, i = n / Tk % Tq, j = n % Tk;
        ((uint8_t *)keep.data)[n] = sees(&p->a.mask, i, j, Tq, Tk, q[b * Tq + i], k[b * Tk + j]);
    }
    return keep;
}

static void same_as_spelled(problem *p)
{
    problem other = *p;
    other.a.mask.keep = spelled(p);
    other.a.mask.causal = false;
    other.a.mask.window = other.a.mask.first_keys = other.a.mask.keys_before = 0;
    *p = once_more(p);
    other = once_more(&other);
    attend_both(p);
    attend_both(&other);
    if (p->fused) { /* sums of another number of keys at a time */
        near_outputs(p, &other, 1e-6);
        nearly("dq", p->g.dq, other.g.dq, 1e-6);
        nearly("dk", p->g.dk, other.g.dk, 1e-6);
        nearly("dv", p->g.dv, other.g.dv, 1e-6);
    } else {
        same_outputs(p, &other);
        same_gradients(p, &other);
    }
}

/* Top-left and bottom-right causal, windows, and the first keys beside them, against the mask spelled out. */
TEST(causal_and_windows_are_masks_spelled_out)
{
    static const char *const some[] = { "rope", "t5", "cope:positions=32" };
    static const struct {
        int64_t window, first;
    } wide[] = { { 0, 0 }, { 1, 0 }, { 4, 0 }, { 4, 2 }, { 30, 7 }, { 3, 200 } };
    static const struct {
        int64_t Tq, Tk;
    } both[] = { { 5, 9 }, { 9, 5 }, { 70, 140 }, { 140, 70 }, { 1, 150 } };
    uint64_t seed = 24;
    for (int n = 0; n < COUNT(some) * COUNT(wide) * COUNT(both) * 3 * 2 * 2; n++) {
        int mark = taken(), w = n / 4 % COUNT(wide), size = n / 4 / COUNT(wide) % COUNT(both);
        pe_align align = (pe_align)(n / 4 / COUNT(wide) / COUNT(both) % 3);
        if (!test_due(n / 4 + w + size, 3))
            continue;
        problem p = problem_of(some[n / 4 / COUNT(wide) / COUNT(both) / 3], n % 2, PE_F32, 2, both[size].Tq,
                               both[size].Tk, &seed);
        p.a.mask =
            (pe_mask){ .causal = n / 2 % 2, .align = align, .window = wide[w].window, .first_keys = wide[w].first };
        CASE("%s, %s, %s, align %d, window %d, first %d, %d queries, %d keys", pe_encoding_spec(p.e),
             way_of(&p), n / 2 % 2 ? "causal" : "both ways", (int)align, (int)wide[w].window,
             (int)wide[w].first, (int)both[size].Tq, (int)both[size].Tk);
        same_as_spelled(&p);
        give_back_to(mark);
    }
}

/* Positions on both sides of 0, and keys that are a block of more: first keys are those of the sequence. */
TEST(first_keys_are_those_of_the_sequence)
{
    static const int64_t before[] = { 0, 1, 3, 60 };
    uint64_t seed = 27;
    for (int n = 0; n < 3 * COUNT(before) * 2 * 2 * 2; n++) {
        int mark = taken();
        pe_align align = (pe_align)(n / 2 % 3);
        problem p = problem_of(n / 24 % 2 ? "t5" : "none", n % 2, PE_F32, 2, 40, 60, &seed);
        int64_t *q = take(2 * 40, 8), *k = take(2 * 60, 8);
        for (int i = 0; i < 2 * 40; i++)
            q[i] = i % 40 - 10;
        for (int j = 0; j < 2 * 60; j++)
            k[j] = n / 48 ? j % 60 * 7 % 60 - 30 : j % 60 - 30;
        p.a.q_at = pe_positions_of(q, PE_I64, 2, 40, 1);
        p.a.k_at = pe_positions_of(k, PE_I64, 2, 60, 1);
        p.a.mask = (pe_mask){ .causal = true, .align = align, .window = 4, .first_keys = 2 + n / 48,
                              .keys_before = before[n / 6 % 4] };
        CASE("%s, align %d, before %d", way_of(&p), (int)align, (int)p.a.mask.keys_before);
        same_as_spelled(&p);
        give_back_to(mark);
    }
}

/* Top-left: query 0 sees key 0 only. Bottom-right: the last query sees all. */
TEST(causal_stands_at_the_start_or_at_the_end)
{
    enum { TQ = 3, TK = 5 };
    uint64_t seed = 25;
    for (int n = 0; n < 4; n++) {
        problem p = problem_of("none", n % 2, PE_F32, 1, TQ, TK, &seed);
        p.a.sinks = p.g.dsinks = (pe_params){ 0 };
        p.a.mask.align = n / 2 ? PE_ALIGN_START : PE_ALIGN_END;
        p.a.probabilities = fresh(PE_F32, 1, TQ, H, TK);
        attend(&p, false);
        for (int64_t i = 0; i < TQ; i++)
            for (int64_t j = 0; j < TK; j++)
                assert_true((get(p.a.probabilities, 0, i, 0, j) > 0) == (j <= (n / 2 ? i : i + TK - TQ)));
    }
}

/* Keys in any order, each at its position: what a query sees and sums up is the same. */
TEST(by_position_keys_may_lie_in_any_order)
{
    static const char *const some[] = { "rope", "alibi:slopes=learned", "t5", "shaw" };
    uint64_t seed = 26;
    for (int n = 0; n < COUNT(some) * 3 * 2; n++) {
        int mark = taken(), size = n / 2 % 3;
        int64_t Tk = sizes[size].Tk;
        problem p = problem_sized(some[n / 6], n % 2, size, &seed), other = p;
        p.a.mask.align = other.a.mask.align = PE_ALIGN_POSITION;
        p.a.mask.window = other.a.mask.window = 20;
        p.a.mask.first_keys = other.a.mask.first_keys = 10;
        int64_t *to = take(Tk, 8), *at = take(B * Tk, 8);
        for (int64_t j = 0; j < Tk; j++)
            to[j] = (j * 11 + 4) % Tk; /* 11 divides none of the numbers of keys */
        other.a.k = fresh_like(p.a.k), other.a.v = fresh_like(p.a.v);
        for (int64_t i = 0; i < B * Tk; i++) {
            copy(cut(other.a.k, i / Tk, to[i % Tk], 1), cut(p.a.k, i / Tk, i % Tk, 1));
            copy(cut(other.a.v, i / Tk, to[i % Tk], 1), cut(p.a.v, i / Tk, i % Tk, 1));
            at[i / Tk * Tk + to[i % Tk]] = ((const int64_t *)p.a.k_at.data)[i];
        }
        other.a.k_at.data = at;
        other = once_more(&other);
        CASE("%s, %s, %d queries", some[n / 6], way_of(&p), (int)sizes[size].Tq);
        attend_both(&p);
        attend_both(&other);
        near_outputs(&other, &p, 1e-5);
        nearly("dq", other.g.dq, p.g.dq, 2e-5);
        for (int64_t i = 0; i < B * Tk; i++) {
            nearly("dk", cut(other.g.dk, i / Tk, to[i % Tk], 1), cut(p.g.dk, i / Tk, i % Tk, 1), 2e-5);
            nearly("dv", cut(other.g.dv, i / Tk, to[i % Tk], 1), cut(p.g.dv, i / Tk, i % Tk, 1), 2e-5);
        }
        same_as_spelled(&other);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ scores and probabilities */

/* Scores are the logits that enter the softmax: q.k times the scale, capped, and what is added; -inf where hidden. */
static double plain_score(const problem *p, int64_t b, int64_t i, int64_t h, int64_t j)
{
    double sum = 0;
    if (!sees(&p->a.mask, i, j, p->a.q.tokens, p->a.k.tokens, 0, 0))
        return -INFINITY;
    for (int64_t d = 0; d < DIM; d++)
        sum += get(p->a.q, b, i, h, d) * get(p->a.k, b, j, h / (H / G), d);
    sum *= p->a.scale;
    if (p->a.soft_cap > 0)
        sum = p->a.soft_cap * tanh(sum / p->a.soft_cap);
    return sum + get(p->a.mask.additive, b, i, 0, j);
}

TEST(scores_and_probabilities_are_the_softmax_written_out)
{
    uint64_t seed = 27;
    for (int n = 0; n < COUNT(sizes) * 2 * 2 * 2; n++) {
        int mark = taken(), size = n / 8;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = problem_sized("none", n % 2, size, &seed);
        p.a.scale = 0.3;
        p.a.soft_cap = n / 4 % 2 ? 0.7 : 0;
        p.a.mask.window = 40;
        p.a.mask.additive = drawn(PE_F32, B, Tq, 1, Tk, &seed);
        if (n / 2 % 2)
            p.a.sinks = (pe_params){ 0 };
        p.a.scores = fresh(PE_F32, B, Tq, H, Tk);
        p.a.probabilities = fresh(PE_F64, B, Tq, H, Tk);
        spoil(p.a.scores), spoil(p.a.probabilities);
        pe_view scores = fresh(PE_F64, B, Tq, H, Tk), prob = fresh(PE_F64, B, Tq, H, Tk),
                out = fresh(PE_F64, B, Tq, H, DIM), lse = fresh(PE_F64, B, Tq, H, 1);
        for (int64_t r = 0; r < B * Tq * H; r++) {
            int64_t b = r / H / Tq, i = r / H % Tq, h = r % H;
            double *s = (double *)(void *)row(scores, b, i, h), *x = (double *)(void *)row(prob, b, i, h);
            double sum = p.a.sinks.data ? exp(((double *)p.a.sinks.data)[h]) : 0;
            for (int64_t j = 0; j < Tk; j++) {
                s[j] = plain_score(&p, b, i, h, j);
                sum += exp(s[j]);
            }
            *(double *)(void *)row(lse, b, i, h) = log(sum);
            for (int64_t j = 0; j < Tk; j++) {
                x[j] = sum > 0 ? exp(s[j]) / sum : 0;
                for (int64_t d = 0; d < DIM; d++)
                    ((double *)(void *)row(out, b, i, h))[d] += x[j] * get(p.a.v, b, j, h / (H / G), d);
            }
        }
        CASE("%s, %d queries, %d keys, cap %g", way_of(&p), (int)Tq, (int)Tk, p.a.soft_cap);
        attend(&p, false);
        nearly("scores", p.a.scores, scores, 2e-6);
        nearly("probabilities", p.a.probabilities, prob, 2e-6);
        nearly("out", p.a.out, out, 2e-6);
        nearly("lse", p.a.lse, lse, 2e-6);
        problem without = p; /* looking changes nothing */
        give_outputs(&without);
        without.a.scores = without.a.probabilities = (pe_view){ 0 };
        attend(&without, false);
        same_outputs(&without, &p);
        give_back_to(mark);
    }
}

/* Of every encoding: fused attention shows what the definition shows. */
TEST(scores_of_both_attentions_agree)
{
    uint64_t seed = 28;
    for (int n = 0; n < COUNT(specs) * COUNT(sizes); n++) {
        int mark = taken(), size = n % COUNT(sizes);
        problem p = problem_of(specs[n / COUNT(sizes)], true, PE_F32, 2, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.scores = fresh(PE_F32, 2, sizes[size].Tq, H, sizes[size].Tk);
        p.a.probabilities = fresh(PE_F32, 2, sizes[size].Tq, H, sizes[size].Tk);
        problem definition = p;
        definition.fused = false;
        definition.a.scores = fresh(PE_F64, 2, sizes[size].Tq, H, sizes[size].Tk);
        definition.a.probabilities = fresh(PE_F64, 2, sizes[size].Tq, H, sizes[size].Tk);
        give_outputs(&definition);
        attend(&p, false);
        attend(&definition, false);
        nearly("scores", p.a.scores, definition.a.scores, 1e-5);
        nearly("probabilities", p.a.probabilities, definition.a.probabilities, 1e-5);
        give_back_to(mark);
    }
}
