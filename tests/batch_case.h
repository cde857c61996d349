/* SPDX-License-Identifier: MIT
 *
 * A batch: positions, pages, lengths; an attention problem of several sequences, and what it is to
 * equal another one, to the bit. */
#ifndef TESTS_BATCH_CASE_H
#define TESTS_BATCH_CASE_H

#include "views.h"

enum { B = 3, H = 4, G = 2, DIM = 32 };
enum { WIDE = 64, TURNED = 150 /* tokens: more than one job has */ };

static inline pe_encoding *encoding(const char *spec, int64_t dim)
{
    return encoding_of(spec, (pe_shape){ H, G, dim, 16 });
}

/* ------------------------------------------------ positions */

static inline int64_t *whole_numbers(int64_t count, int64_t low, int64_t high, uint64_t *seed)
{
    int64_t *at = take(count, sizeof *at);
    for (int64_t n = 0; n < count; n++)
        at[n] = test_range(seed, low, high);
    return at;
}

/* Of TURNED tokens each. */
static inline pe_positions places(const pe_encoding *e, int64_t low, int64_t high, uint64_t *seed)
{
    int64_t axes = pe_encoding_axes(e);
    return pe_positions_of(whole_numbers(B * TURNED * axes, low, high, seed), PE_I64, B, TURNED, axes);
}

static inline pe_positions cut_at(pe_positions p, int64_t b, int64_t first, int64_t count)
{
    int64_t size = p.dtype == PE_I32 ? 4 : 8;
    if (p.data)
        p.data = (const char *)p.data + (b * p.batch_stride + first * p.token_stride) * size;
    p.start += first * p.step;
    p.batch = 1;
    p.tokens = count;
    return p;
}

static inline pe_positions sequence_at(pe_positions p, int64_t b)
{
    return cut_at(p, b, 0, p.tokens);
}

/* ------------------------------------------------ pages */

typedef struct paged {
    pe_view pool; /* (pages, size, heads, dim) */
    pe_pages pages;
} paged;

/* A table that sends the pages of so many tokens anywhere into a pool with two pages to spare. */
static inline pe_pages shuffled(int64_t batch, int64_t tokens, int64_t size, uint64_t *seed)
{
    int64_t columns = (tokens + size - 1) / size, all = batch * columns + 2;
    int32_t *page = take(all, sizeof *page);
    for (int64_t n = 0; n < all; n++)
        page[n] = (int32_t)n;
    for (int64_t n = all - 1; n > 0; n--) {
        int64_t other = test_range(seed, 0, n);
        int32_t kept = page[n];
        page[n] = page[other];
        page[other] = kept;
    }
    return (pe_pages){ page, columns };
}

static inline pe_view page_row(const paged *p, int64_t b, int64_t t)
{
    int64_t size = p->pool.tokens;
    return cut(p->pool, p->pages.table[b * p->pages.columns + t / size], t % size, 1);
}

/* The same tokens in pages; what no token has is NaN. */
static inline paged in_pages(pe_view v, int64_t size, pe_pages pages)
{
    paged p = { fresh(v.dtype, v.batch * pages.columns + 2, size, v.heads, v.dim), pages };
    spoil(p.pool);
    for (int64_t n = 0; n < v.batch * v.tokens; n++)
        copy(page_row(&p, n / v.tokens, n % v.tokens), cut(v, n / v.tokens, n % v.tokens, 1));
    return p;
}

/* ------------------------------------------------ a batch of attention */

/* Every way for position to enter. */
static const char *const specs[] = {
    "none", "rope", "rope:turn=qkvo", "alibi:slopes=learned", "t5", "kerple", "shaw", "fire:hidden=4",
    "deberta:buckets=8,max=32", "cope:positions=32", "rope+t5", "xpos", "transformer-xl:back=400,ahead=400",
    "rope:learned=heads",
};

static const struct {
    int64_t Tq, Tk;
} sizes[] = { { 5, 9 }, { 1, 150 }, { 70, 140 }, { 12, 12 } };

typedef struct problem {
    pe_encoding *e;
    bool fused; /* else the definition */
    const pe_pool *pool;
    pe_params params;
    pe_attention a;
    pe_attention_grad g;
} problem;

static inline const char *way_of(const problem *p)
{
    return p->fused ? "fused" : "by definition";
}

/* Outputs and gradients of its own, spoiled where they are written, 0 where they are added to. */
static inline void give_outputs(problem *p)
{
    pe_view q = p->a.q, k = p->a.k, v = p->a.v, *written[] = { &p->a.out, &p->a.lse, &p->g.dq, &p->g.dk, &p->g.dv };
    p->a.out = fresh(PE_F32, q.batch, q.tokens, H, v.dim);
    p->a.lse = fresh(PE_F32, q.batch, q.tokens, H, 1);
    p->g.dq = fresh(PE_F32, q.batch, q.tokens, H, q.dim);
    p->g.dk = fresh(PE_F32, k.batch, k.tokens, G, k.dim);
    p->g.dv = fresh(PE_F32, v.batch, v.tokens, G, v.dim);
    for (int i = 0; i < COUNT(written); i++)
        spoil(*written[i]);
}

static inline void give_sums(problem *p)
{
    p->g.dparams = (pe_params){ take(p->params.count, 8), PE_F64, p->params.count };
    p->g.dsinks = p->a.sinks.data ? (pe_params){ take(H, 8), PE_F64, H } : (pe_params){ 0 };
    if (!p->params.count)
        p->g.dparams = (pe_params){ 0 };
}

/* The same once more, with results of its own. */
static inline problem once_more(const problem *p)
{
    problem other = *p;
    give_outputs(&other);
    give_sums(&other);
    return other;
}

/* Keys that count up, each sequence from a place of its own; the last query stands at the last key. */
static inline void give_places(problem *p)
{
    int64_t Tq = p->a.q.tokens, Tk = p->a.k.tokens, batch = p->a.q.batch;
    int64_t *q = take(batch * Tq, 8), *k = take(batch * Tk, 8);
    for (int64_t n = 0; n < batch * Tk; n++)
        k[n] = 7 * (n / Tk) + n % Tk;
    for (int64_t n = 0; n < batch * Tq; n++)
        q[n] = 7 * (n / Tq) + n % Tq + Tk - Tq;
    p->a.q_at = pe_positions_of(q, PE_I64, batch, Tq, 1);
    p->a.k_at = pe_positions_of(k, PE_I64, batch, Tk, 1);
}

static inline problem problem_of(const char *spec, bool fused, pe_dtype type, int64_t batch, int64_t Tq, int64_t Tk,
                                 uint64_t *seed)
{
    problem p = { .e = encoding(spec, DIM), .fused = fused, .a.size = sizeof p.a, .g.size = sizeof p.g };
    int64_t count = pe_encoding_param_count(p.e);
    double *w = take(count, sizeof *w), *sinks = take(H, sizeof *sinks);
    p.params = (pe_params){ count ? w : NULL, PE_F64, count };
    assert_ok(pe_encoding_init(p.e, p.params, test_random(seed), &err));
    for (int64_t n = 0; n < H; n++)
        sinks[n] = (float)test_uniform(seed);
    p.a.q = drawn(in_blocks(type) ? PE_F32 : type, batch, Tq, H, DIM, seed);
    p.a.k = drawn(type, batch, Tk, G, DIM, seed);
    p.a.v = drawn(type, batch, Tk, G, DIM, seed);
    p.a.sinks = (pe_params){ sinks, PE_F64, H };
    p.a.mask.causal = true;
    p.g.dout = drawn(PE_F32, batch, Tq, H, DIM, seed);
    give_places(&p);
    give_outputs(&p);
    give_sums(&p);
    CASE("%s, %s, type %d, %d queries, %d keys", spec, way_of(&p), (int)type, (int)Tq, (int)Tk);
    return p;
}

/* Of float32 and one of the sizes. */
static inline problem problem_sized(const char *spec, bool fused, int size, uint64_t *seed)
{
    return problem_of(spec, fused, PE_F32, B, sizes[size].Tq, sizes[size].Tk, seed);
}

/* Bytes of a mask, one in so many hidden. */
static inline pe_view some_hidden(int64_t batch, int64_t tokens, int64_t heads, int64_t keys, int64_t one_in,
                                  uint64_t *seed)
{
    pe_view v = fresh(PE_BOOL, batch, tokens, heads, keys);
    for (int64_t n = 0; n < batch * tokens * heads * keys; n++)
        ((uint8_t *)v.data)[n] = test_range(seed, 0, one_in - 1) != 0;
    return v;
}

/* The call, with work memory of NaN that ends where it says it does. */
static inline void attend(const problem *p, bool backward)
{
    pe_run run = PE_MAKE(pe_run, .params = p->params, .pool = p->pool);
    pe_status status = !p->fused  ? pe_reference_work(p->e, &p->a, &run.work_bytes, &err)
                       : backward ? pe_attention_backward_work(p->e, &p->a, &run, &run.work_bytes, &err)
                                  : pe_attention_work(p->e, &p->a, &run, &run.work_bytes, &err);
    run.work = malloc(run.work_bytes ? run.work_bytes : 1);
    assert_non_null(run.work);
    memset(run.work, 0xff, run.work_bytes);
    if (!status)
        status = backward ? (p->fused ? pe_attention_backward : pe_reference_backward)(p->e, &p->a, &p->g, &run, &err)
                          : (p->fused ? pe_attention_forward : pe_reference_forward)(p->e, &p->a, &run, &err);
    free(run.work);
    if (status)
        fail_msg("%s: %s: %s", case_text, backward ? "backward" : "forward", err.text);
}

static inline void attend_both(const problem *p)
{
    attend(p, false);
    attend(p, true);
}

/* ------------------------------------------------ a sequence of it */

/* Which tokens of a view are those of sequence s, as the header says. */
typedef struct stretch {
    int64_t b, first, count;
} stretch;

static inline stretch stretch_of(const pe_lengths *l, int64_t s, int64_t tokens)
{
    int64_t count = l->offset ? l->offset[s + 1] - l->offset[s] : l->length ? l->length[s] : tokens;
    return (stretch){ l->offset ? 0 : s, l->offset ? l->offset[s] : l->padded_left ? tokens - count : 0, count };
}

static inline stretch queries_of(const problem *p, int64_t s)
{
    return stretch_of(&p->a.q_lengths, s, p->a.q.tokens);
}

static inline stretch keys_of(const problem *p, int64_t s)
{
    return stretch_of(&p->a.k_lengths, s, p->a.k.tokens);
}

static inline pe_view part(pe_view v, stretch s)
{
    return cut(v, s.b, s.first, s.count);
}

/* Of scores, which have a row for each query. */
static inline pe_view cut_scores(pe_view v, stretch q, stretch k)
{
    if (!v.data)
        return v;
    v = part(v, q);
    v.data = (char *)v.data + bytes(v.dtype, k.first);
    v.dim = k.count;
    return v;
}

/* Of masks, which may have one for all. */
static inline pe_view cut_mask(pe_view v, stretch q, stretch k)
{
    return cut_scores(v, (stretch){ v.batch == 1 ? 0 : q.b, v.tokens == 1 ? 0 : q.first, v.tokens == 1 ? 1 : q.count },
                      k);
}

/* Sequence s by itself, with outputs of its own; the sums go where they are told to go. */
static inline problem alone(const problem *p, int64_t s)
{
    problem one = *p;
    stretch q = queries_of(p, s), k = keys_of(p, s);
    one.a.q_lengths = one.a.k_lengths = (pe_lengths){ 0 };
    one.a.q = part(p->a.q, q);
    one.a.k = part(p->a.k, k);
    one.a.v = part(p->a.v, k);
    one.a.q_at = cut_at(p->a.q_at, q.b, q.first, q.count);
    one.a.k_at = cut_at(p->a.k_at, k.b, k.first, k.count);
    one.a.mask.keep = cut_mask(p->a.mask.keep, q, k);
    one.a.mask.additive = cut_mask(p->a.mask.additive, q, k);
    one.g.dadditive = one.a.scores = one.a.probabilities = (pe_view){ 0 };
    one.g.dout = part(p->g.dout, q);
    give_outputs(&one);
    return one;
}

/* ------------------------------------------------ comparing */

static inline void same_outputs(const problem *p, const problem *other)
{
    same("out", p->a.out, other->a.out);
    same("lse", p->a.lse, other->a.lse);
}

static inline void near_outputs(const problem *p, const problem *other, double most)
{
    nearly("out", p->a.out, other->a.out, most);
    nearly("lse", p->a.lse, other->a.lse, most);
}

static inline void same_sums(const char *name, pe_params x, pe_params y)
{
    if (x.data && memcmp(x.data, y.data, (size_t)x.count * 8))
        fail_msg("%s: %s has other bits", case_text, name);
}

static inline void same_gradients(const problem *p, const problem *other)
{
    same("dq", p->g.dq, other->g.dq);
    same("dk", p->g.dk, other->g.dk);
    same("dv", p->g.dv, other->g.dv);
    same_sums("dparams", p->g.dparams, other->g.dparams);
    same_sums("dsinks", p->g.dsinks, other->g.dsinks);
}

/* Two problems with the same result, in every bit of it. */
static inline void same_results(const problem *p, const problem *other)
{
    attend_both(p);
    attend_both(other);
    same_outputs(p, other);
    same_gradients(p, other);
}

/* The batch against its sequences, all bits; sums of all sequences are added up one after the other. */
static inline void as_sequences(const problem *p)
{
    problem sums = *p;
    give_sums(&sums);
    attend_both(p);
    for (int64_t s = 0; s < B; s++) {
        stretch q = queries_of(p, s), k = keys_of(p, s);
        problem one = alone(p, s);
        one.g.dparams = sums.g.dparams, one.g.dsinks = sums.g.dsinks;
        attend_both(&one);
        same("out", part(p->a.out, q), one.a.out);
        same("lse", part(p->a.lse, q), one.a.lse);
        same("dq", part(p->g.dq, q), one.g.dq);
        same("dk", part(p->g.dk, k), one.g.dk);
        same("dv", part(p->g.dv, k), one.g.dv);
    }
    same_sums("dparams, added up,", p->g.dparams, sums.g.dparams);
    same_sums("dsinks, added up,", p->g.dsinks, sums.g.dsinks);
}

/* ------------------------------------------------ lengths */

enum { RIGHT, LEFT, PACKED, LAYOUTS };
static const char *const layout_names[] = { "padded right", "padded left", "packed" };

static inline int64_t *lengths_of(int64_t most, int64_t none, uint64_t *seed)
{
    int64_t *length = take(B, 8);
    for (int64_t b = 0; b < B; b++)
        length[b] = b == none ? 0 : b == (none + 1) % B ? most : test_range(seed, 1, most);
    return length;
}

static inline int64_t *offsets_of(const int64_t *length)
{
    int64_t *offset = take(B + 1, 8);
    for (int64_t b = 0; b < B; b++)
        offset[b + 1] = offset[b] + length[b];
    return offset;
}

/* What of sequence s comes before its tokens, or after. */
static inline pe_view padding_of(pe_view v, const pe_lengths *l, int64_t s, bool after)
{
    stretch t = stretch_of(l, s, v.tokens);
    return after ? cut(v, s, t.first + t.count, v.tokens - t.first - t.count) : cut(v, s, 0, t.first);
}

static inline void spoil_padding(pe_view v, const pe_lengths *l)
{
    for (int64_t n = 0; n < 2 * v.batch; n++)
        spoil(padding_of(v, l, n / 2, n % 2));
}

static inline void padding_is(const char *name, pe_view v, const pe_lengths *l, double x)
{
    for (int64_t n = 0; n < 2 * v.batch; n++)
        all_are(name, padding_of(v, l, n / 2, n % 2), x);
}

/* A problem whose sequences are not all as long as its views. */
static inline problem uneven(const char *spec, bool fused, int layout, int64_t Tq, int64_t Tk, int64_t none,
                             uint64_t *seed)
{
    int64_t *q = lengths_of(Tq, none, seed), *k = lengths_of(Tk, (none + 1) % B, seed);
    if (layout == PACKED) {
        const int64_t *q_offset = offsets_of(q), *k_offset = offsets_of(k);
        problem p = problem_of(spec, fused, PE_F32, 1, q_offset[B], k_offset[B], seed);
        int64_t *q_at = take(q_offset[B], 8), *k_at = take(k_offset[B], 8);
        for (int64_t b = 0; b < B; b++) {
            for (int64_t i = q_offset[b]; i < q_offset[b + 1]; i++)
                q_at[i] = i - q_offset[b] + Tk;
            for (int64_t j = k_offset[b]; j < k_offset[b + 1]; j++)
                k_at[j] = j - k_offset[b];
        }
        p.a.q_at.data = q_at, p.a.k_at.data = k_at;
        p.a.q_lengths = (pe_lengths){ .offset = q_offset, .sequences = B };
        p.a.k_lengths = (pe_lengths){ .offset = k_offset, .sequences = B };
        return p;
    }
    problem p = problem_of(spec, fused, PE_F32, B, Tq, Tk, seed);
    p.a.q_lengths = (pe_lengths){ .length = q, .padded_left = layout == LEFT };
    p.a.k_lengths = (pe_lengths){ .length = k, .padded_left = layout == LEFT };
    spoil_padding(p.a.q, &p.a.q_lengths);
    spoil_padding(p.g.dout, &p.a.q_lengths);
    spoil_padding(p.a.k, &p.a.k_lengths);
    spoil_padding(p.a.v, &p.a.k_lengths);
    return p;
}

#endif
