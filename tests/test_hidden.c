/* labels: core; tier: test; cost: 10 s
 * SPDX-License-Identifier: MIT
 *
 * What a query does not see has no part in it: NaN and infinity in hidden keys and values, and in other queries, change
 * no bit. What it sees and is not a number makes its own output NaN, and no other. */
#include "fused_case.h"

#define SEED UINT64_C(0x68696464)

/* ------------------------------------------------ who sees whom, as the header says */

static bool sees(const attention_case *c, int64_t h, int64_t i, int64_t j)
{
    const pe_mask *m = &c->a.mask;
    int64_t ahead = j - (i + c->Tk + m->keys_after - c->Tq);
    if (m->causal && ahead > 0)
        return false;
    if (m->window && (ahead >= m->window || -ahead >= m->window))
        return false;
    if (c->padded && !c->key_used[j])
        return false;
    if (c->segmented && c->q_segment[i] != c->k_segment[j])
        return false;
    int64_t heads = m->additive.heads;
    return !m->additive.data || c->additive[(i * heads + (heads == 1 ? 0 : h)) * c->Tk + j] != -INFINITY;
}

static bool sees_any(const attention_case *c, int64_t h, int64_t i)
{
    for (int64_t j = 0; j < c->Tk; j++)
        if (sees(c, h, i, j))
            return true;
    return false;
}

/* ------------------------------------------------ poison */

typedef struct outcome {
    float *out, *lse;
} outcome;

static outcome run(attention_case *c, twin *t)
{
    int64_t rows = c->Tq * c->shape.heads;
    outcome o = { take(rows * c->Dv, 4), take(rows, 4) };
    memset(t->work, 0xff, t->bytes);
    twin_forward(c, t);
    memcpy(o.out, t->out, (size_t)(rows * c->Dv) * 4);
    memcpy(o.lse, t->lse, (size_t)rows * 4);
    return o;
}

static bool same(const attention_case *c, outcome a, outcome b, int64_t r)
{
    return !memcmp(a.out + r * c->Dv, b.out + r * c->Dv, (size_t)c->Dv * 4) && !memcmp(a.lse + r, b.lse + r, 4);
}

static bool all_nan(const attention_case *c, outcome a, int64_t r)
{
    for (int64_t d = 0; d < c->Dv; d++)
        if (!isnan(a.out[r * c->Dv + d]))
            return false;
    return true;
}

static const char *what;

static void judge(const attention_case *c, outcome clean, outcome poisoned, int64_t i, int64_t h, bool touched, bool nan)
{
    int64_t r = i * c->shape.heads + h;
    if (!touched && !same(c, clean, poisoned, r))
        fail_msg("%s, %s: query %" PRId64 ", head %" PRId64 " does not see it and has changed: %.9g, was %.9g", c->spec, what, i, h,
                 (double)poisoned.out[r * c->Dv], (double)clean.out[r * c->Dv]);
    if (touched && nan && !all_nan(c, poisoned, r))
        fail_msg("%s, %s: query %" PRId64 ", head %" PRId64 " sees it and is a number: %.9g", c->spec, what, i, h, (double)poisoned.out[r * c->Dv]);
}

/* Row n of q, k or v becomes x: what does not see it keeps its bits. A NaN in q or k is a NaN score; in v it counts
 * where the weight is not 0. */
static void poison_row(attention_case *c, twin *t, outcome clean, pe_side side, int64_t n, float x)
{
    int64_t H = c->shape.heads, heads = side == PE_QUERY ? H : c->shape.kv_heads;
    int64_t width = heads * (side == PE_VALUE ? c->Dv : c->shape.head_dim);
    size_t bytes = (size_t)width * pe_dtype_size(t->type);
    char *at = (char *)(side == PE_QUERY ? t->q : side == PE_KEY ? t->k : t->v) + (size_t)n * bytes, *kept = take((int64_t)bytes, 1);
    memcpy(kept, at, bytes);
    for (int64_t d = 0; d < width; d++)
        num_store(at, t->type, d, (double)(d % 2 && isinf(x) ? -x : x));
    outcome poisoned = run(c, t);
    for (int64_t i = 0; i < c->Tq; i++)
        for (int64_t h = 0; h < H; h++) {
            bool touched = side == PE_QUERY ? i == n && sees_any(c, h, i) : sees(c, h, i, n);
            judge(c, clean, poisoned, i, h, touched, isnan(x) && side != PE_VALUE);
        }
    memcpy(at, kept, bytes);
}

static void poison_all(attention_case *c, twin *t, int first)
{
    static const int64_t places[] = { 0, 16, 63, 64, 75, 127, 128, 149 };
    outcome clean = run(c, t);
    for (int n = first; n < COUNT(places); n += 3) {
        float x = n % 2 ? NAN : INFINITY;
        what = n % 2 ? "NaN in k" : "infinity in k";
        poison_row(c, t, clean, PE_KEY, places[n] % c->Tk, x);
        what = n % 2 ? "infinity in v" : "NaN in v";
        poison_row(c, t, clean, PE_VALUE, places[n] % c->Tk, n % 2 ? INFINITY : NAN);
    }
    what = "NaN in q";
    poison_row(c, t, clean, PE_QUERY, c->Tq / 2, NAN);
}

static const char *rung;
static int rung_at;

static void poison_spec(const char *spec)
{
    static const unsigned features[] = { CAUSAL, CAUSAL | WINDOW, PADDING, CAUSAL | SEGMENTS, ADDITIVE_HEADS, ALL_AT_ONCE & ~FEWER_QUERIES };
    for (int f = 0; f < COUNT(features); f++)
        for (int few = 0; few < 2; few++) {
            if (!test_due(rung_at + f + few + case_number, 2))
                continue;
            attention_case c = case_of(spec, features[f], SEED + (uint64_t)f, few ? 4 : 66, 150);
            assert_ok(pe_encoding_set_kernels(c.e, rung, &err));
            twin t = twin_of(&c, strcmp(rung, "bf16") ? PE_F32 : PE_BF16, NULL);
            t.a.out = pe_view_of(t.out = take(c.Tq * c.shape.heads * c.Dv, 4), PE_F32, 1, c.Tq, c.shape.heads, c.Dv);
            if (!t.status)
                poison_all(&c, &t, f % 3);
            case_over(&c);
        }
}

TEST(hidden_poison_changes_no_bit_on_any_rung)
{
    const char *rungs[8];
    int count = case_rungs(rungs, COUNT(rungs));
    for (rung_at = 0; rung_at < count; rung_at++) {
        rung = rungs[rung_at];
        case_each(poison_spec);
    }
}

/* ------------------------------------------------ nothing seen */

/* Every way to hide all keys of a query, with and without a sink. */
static void hide_all(const char *spec)
{
    for (int few = 0; few < 2; few++)
        for (int how = 0; how < 6; how++)
            for (int sinks = 0; sinks < 2; sinks++) {
                unsigned features = (how == 3 ? ADDITIVE_ONE : PADDING | SEGMENTS) | (sinks ? SINKS : 0);
                attention_case c = case_of(spec, features, SEED, few ? 4 : 70, 130);
                pe_mask *m = &c.a.mask;
                int64_t H = c.shape.heads, blind = how < 3 || how == 5 ? 0 : c.Tq / 2;
                for (int64_t j = 0; how == 0 && j < c.Tk; j++)
                    c.key_used[j] = 0;
                for (int64_t i = 0; how == 1 && i < c.Tq; i++)
                    c.q_segment[i] = 99;
                if (how == 2)
                    m->causal = true, m->keep = (pe_view){ 0 }, c.padded = c.segmented = false, c.Tk = 0;
                for (int64_t j = 0; how == 3 && j < c.Tk; j++)
                    c.additive[blind * c.Tk + j] = -INFINITY;
                if (how == 4)
                    c.q_segment[blind] = -1;
                case_keep(&c);
                if (how == 5) { /* all keys lie ahead of the window, in the part that is not here */
                    m->window = 3;
                    m->keys_after = 500;
                }
                if (how == 2)
                    c.a.k.tokens = c.a.v.tokens = c.a.k_at.tokens = c.a.k_gates.tokens = 0;
                for (int64_t n = 0; n < c.Tk * c.shape.kv_heads * c.Dv; n++)
                    c.v[n] = how % 2 ? c.v[n] : NAN;
                twin t = twin_of(&c, PE_F32, NULL);
                if (t.status)
                    continue;
                memset(t.out, 0x7f, (size_t)(c.Tq * H * c.Dv) * 4);
                twin_forward(&c, &t);
                for (int64_t i = blind; i < (how == 3 || how == 4 ? blind + 1 : c.Tq); i++)
                    for (int64_t h = 0; h < H; h++) {
                        double wanted = sinks ? c.sinks[h] : -INFINITY, lse = t.lse[i * H + h];
                        if (lse != wanted && !(fabs(lse - wanted) <= (double)FLT_EPSILON))
                            fail_msg("%s, way %d: lse is %g, should be %g", spec, how, lse, wanted);
                        for (int64_t d = 0; d < c.Dv; d++)
                            if (((float *)t.out)[(i * H + h) * c.Dv + d] != 0)
                                fail_msg("%s, way %d: query %" PRId64 " sees nothing and its output is not 0", spec, how, i);
                    }
            }
}

TEST(a_query_that_sees_nothing_gets_zero_and_the_sink)
{
    case_each(hide_all);
}

/* ------------------------------------------------ seen, and not a number */

/* A score of +inf or NaN at one pair, however small the scores around it and however many keys come after. */
TEST(a_seen_score_that_is_no_number_reaches_its_own_query_only)
{
    static const float wrong[] = { NAN, INFINITY };
    static const int64_t keys[] = { 0, 127, 128, 1023, 1024, 2500 };
    static const char *const specs[] = { "none", "alibi", "rope", "cope", "shaw" };
    for (int s = 0; s < COUNT(specs); s++)
        for (int w = 0; w < COUNT(wrong); w++)
            for (int k = 0; k < COUNT(keys); k++)
                for (int few = 0; few < 2; few++)
                    for (int alone = 0; alone < 2; alone++) { /* alone: the only key that is seen up to its piece's end */
                        if (!test_due(s + w + k + few + alone, 2))
                            continue;
                        attention_case c = case_of(specs[s], ADDITIVE_ONE, SEED, few ? 3 : 12, 3000);
                        for (int64_t n = 0; n < c.Tq * c.Tk; n++) /* around it: scores near -400, where others are near 0 */
                            c.additive[n] = n % c.Tk / 1024 == keys[k] / 1024 ? (alone ? -INFINITY : -400) : 0;
                        twin t = twin_of(&c, PE_F32, NULL);
                        outcome clean = run(&c, &t);
                        c.additive[1 * c.Tk + keys[k]] = (double)wrong[w];
                        outcome poisoned = run(&c, &t);
                        what = "NaN or +inf score";
                        for (int64_t i = 0; i < c.Tq; i++)
                            for (int64_t h = 0; h < c.shape.heads; h++)
                                judge(&c, clean, poisoned, i, h, i == 1, true);
                        for (int64_t h = 0; h < c.shape.heads; h++)
                            assert_true(isnan(poisoned.lse[c.shape.heads + h]));
                        case_over(&c);
                    }
}
