/* labels: core; tier: test; cost: 19 s; needs: threads
 * SPDX-License-Identifier: MIT
 *
 * A batch is its sequences one by one, to the bit: rotated, embedded, shifted, attended and differentiated; padded,
 * packed or in pages, in pieces, and whoever does the work. */
#include "batch_case.h"

/* ------------------------------------------------ turns, tables, codes */

static const char *const rotations[] = {
    "rope", "rope:pairs=adjacent-half,dims=48,range=trailing,magnitude=1.25,turn=qkvo", "xpos",
    "rope:sections=8/12/12", "alibi", "rope:temperature=0.1,floor=16,precision=hf",
    "rope:learned=heads,pairs=adjacent",
};

/* A run with parameters, where there are some. */
static pe_run trained(const pe_encoding *e)
{
    int64_t count = pe_encoding_param_count(e);
    pe_params w = { count ? take(count, 8) : NULL, PE_F64, count };
    assert_ok(pe_encoding_init(e, w, 1, &err));
    return PE_MAKE(pe_run, .params = w);
}

TEST(a_batch_rotates_as_its_sequences)
{
    uint64_t seed = 1;
    for (int n = 0; n < COUNT(rotations) * FLOAT_TYPES * ROTATE_CALLS; n++) {
        pe_dtype type = float_types[n / ROTATE_CALLS % FLOAT_TYPES];
        rotate_call *call = rotate_calls[n % ROTATE_CALLS];
        pe_side side = (pe_side)(n % 4);
        int mark = taken();
        pe_encoding *e = encoding(rotations[n / ROTATE_CALLS / FLOAT_TYPES], WIDE);
        pe_run run = trained(e);
        pe_positions at = places(e, -100, 300, &seed);
        pe_view x = drawn(type, B, TURNED, H, WIDE, &seed), y = fresh_like(x);
        CASE("%s, call %d, type %d, side %d", pe_encoding_spec(e), n % ROTATE_CALLS, (int)type, (int)side);
        spoil(y);
        assert_ok(call(e, side, y, x, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view one = fresh(type, 1, TURNED, H, WIDE);
            assert_ok(call(e, side, one, sequence(x, b), sequence_at(at, b), &run, &err));
            same("y", sequence(y, b), one);
        }
        assert_ok(call(e, side, x, x, at, &run, &err)); /* in place */
        same("y in place", x, y);
        give_back_to(mark);
    }
}

/* Tables have a row of cosines for each of these: a key head, where it has frequencies of its own. */
static int64_t sets_of(const pe_encoding *e)
{
    return strstr(pe_encoding_spec(e), "learned=heads") ? G : 1;
}

TEST(a_batch_of_tables_is_a_table_for_each_sequence)
{
    uint64_t seed = 2;
    for (int n = 0; n < COUNT(rotations) * FLOAT_TYPES; n++) {
        pe_dtype type = float_types[n % FLOAT_TYPES];
        pe_encoding *e = encoding(rotations[n / FLOAT_TYPES], WIDE);
        int64_t P = pe_encoding_pair_count(e), sets = sets_of(e);
        pe_run run = trained(e);
        if (!P)
            continue;
        CASE("%s, type %d", pe_encoding_spec(e), (int)type);
        pe_positions at = places(e, -100, 300, &seed);
        pe_view c = fresh(type, B, TURNED, sets, P), s = fresh_like(c);
        assert_ok(pe_rotate_table(e, PE_QUERY, c, s, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view c1 = fresh(type, 1, TURNED, sets, P), s1 = fresh_like(c1);
            assert_ok(pe_rotate_table(e, PE_QUERY, c1, s1, sequence_at(at, b), &run, &err));
            same("cos", sequence(c, b), c1);
            same("sin", sequence(s, b), s1);
        }
    }
}

/* The tables of a call: none, one row per token, or rows of a cache by position that all sequences share. */
static pe_table table_of(const pe_encoding *e, pe_side side, int way, pe_positions at, const pe_run *run)
{
    enum { ROWS = 400 };
    if (!way)
        return (pe_table){ .row = NULL };
    pe_view c = fresh(PE_F32, way == 1 ? B : 1, way == 1 ? TURNED : ROWS, sets_of(e), pe_encoding_pair_count(e));
    pe_table t = { c, fresh_like(c), way == 1 ? NULL : at.data };
    assert_ok(pe_rotate_table(e, side, t.cosine, t.sine, way == 1 ? at : pe_positions_run(1, ROWS, 0), run, &err));
    return t;
}

static pe_table table_for(pe_table t, int64_t b)
{
    if (t.cosine.batch == 1)
        t.row = t.row ? t.row + b * TURNED : NULL;
    else
        t.cosine = sequence(t.cosine, b), t.sine = sequence(t.sine, b);
    return t;
}

TEST(a_batch_of_queries_and_keys_rotates_as_its_sequences)
{
    static const char *const some[] = { "rope", "xpos:centre=150",
                                        "rope:pairs=adjacent,dims=32,temperature=0.1,floor=16", "rope:learned=heads" };
    uint64_t seed = 3;
    for (int n = 0; n < COUNT(some) * 3; n++) {
        pe_encoding *e = encoding(some[n / 3], WIDE);
        pe_run run = trained(e);
        pe_positions at = places(e, 0, 399, &seed);
        pe_rotation r = PE_MAKE(pe_rotation, .q = drawn(PE_F32, B, TURNED, H, WIDE, &seed),
                                .k = drawn(PE_F32, B, TURNED, G, WIDE, &seed),
                                .q_out = fresh(PE_F32, B, TURNED, H, WIDE), .k_out = fresh(PE_F32, B, TURNED, G, WIDE),
                                .at = at, .q_table = table_of(e, PE_QUERY, n % 3, at, &run),
                                .k_table = table_of(e, PE_KEY, n % 3, at, &run));
        CASE("%s, tables %d", some[n / 3], n % 3);
        assert_ok(pe_rotate_qk(e, &r, &run, &err));
        pe_view plain = fresh_like(r.q);
        assert_ok(pe_rotate(e, PE_QUERY, plain, r.q, at, &run, &err));
        same("q by a table", r.q_out, plain);
        for (int64_t b = 0; b < B; b++) {
            pe_rotation one = r;
            one.q = sequence(r.q, b), one.k = sequence(r.k, b), one.at = sequence_at(at, b);
            one.q_out = fresh_like(one.q), one.k_out = fresh_like(one.k);
            one.q_table = table_for(r.q_table, b), one.k_table = table_for(r.k_table, b);
            assert_ok(pe_rotate_qk(e, &one, &run, &err));
            same("q", sequence(r.q_out, b), one.q_out);
            same("k", sequence(r.k_out, b), one.k_out);
        }
    }
}

/* Gradients of frequencies that are trained are added up, sequence by sequence. */
TEST(gradients_of_frequencies_are_added_up)
{
    static const char *const trains[] = { "rope:learned=heads", "rope:learned=shared,dims=32",
                                          "rope:axes=2,learned=heads" };
    uint64_t seed = 32;
    for (int n = 0; n < COUNT(trains) * 2; n++) {
        pe_encoding *e = encoding(trains[n / 2], WIDE);
        pe_run run = trained(e);
        int64_t count = run.params.count, heads = n % 2 ? G : H;
        pe_params dw = { take(count, 8), PE_F64, count }, dw1 = { take(count, 8), PE_F64, count };
        pe_positions at = places(e, -100, 300, &seed);
        pe_view x = drawn(PE_F32, B, TURNED, heads, WIDE, &seed), dy = drawn(PE_F32, B, TURNED, heads, WIDE, &seed);
        pe_side side = n % 2 ? PE_KEY : PE_QUERY;
        assert_true(count > 0);
        assert_ok(pe_rotate_grad(e, dw, side, laid(dy, orders[1 + n % 5]), x, at, &run, &err));
        for (int64_t b = 0; b < B; b++)
            assert_ok(pe_rotate_grad(e, dw1, side, sequence(dy, b), sequence(x, b), sequence_at(at, b), &run, &err));
        same_sums("dw", dw, dw1);
        assert_true(((double *)dw.data)[0] != 0);
    }
}

TEST(a_batch_is_embedded_as_its_sequences)
{
    static const char *const codes[] = { "sinusoidal", "learned:rows=512", "sinusoidal:join=concat,width=8",
                                         "hierarchical:rows=64", "learned:rows=32/32,merge=split" };
    uint64_t seed = 4;
    for (int n = 0; n < COUNT(codes) * 2; n++) {
        pe_dtype type = n % 2 ? PE_BF16 : PE_F32;
        pe_encoding *e = encoding(codes[n / 2], WIDE);
        int64_t count = pe_encoding_param_count(e), width = pe_embed_width(e, 16);
        pe_run run = PE_MAKE(pe_run, .params = { take(count, 4), PE_F32, count });
        pe_params dw = { take(count, 4), PE_F32, count }, dw1 = { take(count, 4), PE_F32, count };
        CASE("%s, type %d", codes[n / 2], (int)type);
        assert_ok(pe_encoding_init(e, run.params, 1, &err));
        pe_positions at = places(e, 0, 31, &seed);
        pe_view x = drawn(type, B, TURNED, 1, 16, &seed), dx = fresh_like(x);
        pe_view dy = drawn(type, B, TURNED, 1, width, &seed), y = fresh_like(dy);
        assert_ok(pe_embed(e, y, x, at, &run, &err));
        assert_ok(pe_embed_back(e, dw, dx, dy, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view y1 = fresh(type, 1, TURNED, 1, width), dx1 = fresh(type, 1, TURNED, 1, 16);
            assert_ok(pe_embed(e, y1, sequence(x, b), sequence_at(at, b), &run, &err));
            assert_ok(pe_embed_back(e, dw1, dx1, sequence(dy, b), sequence_at(at, b), &run, &err));
            same("y", sequence(y, b), y1);
            same("dx", sequence(dx, b), dx1);
        }
        assert_memory_equal(dw.data, dw1.data, (size_t)count * 4);
    }
}

/* ------------------------------------------------ caches */

/* Keys of a cache, moved by a call: a batch of them, in pages and in another order, as each sequence alone. */
typedef pe_status move_call(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from, pe_positions to,
                            const pe_run *run);

static pe_status shift(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from, pe_positions to,
                       const pe_run *run)
{
    return pe_cache_shift(e, k, pages, from, to, run, &err);
}

/* From rope to an encoding of other frequencies. */
static pe_status rebase(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from, pe_positions to,
                        const pe_run *run)
{
    (void)to;
    return pe_cache_rebase(e, encoding("rope", WIDE), k, pages, from, run, &err);
}

static void move_caches(move_call *call, const char *spec, pe_dtype type, int64_t page, int order, uint64_t *seed)
{
    int mark = taken();
    pe_encoding *e = encoding(spec, WIDE);
    pe_run run = trained(e);
    CASE("%s, type %d", spec, (int)type);
    pe_positions from = places(e, 0, 200, seed), to = places(e, 0, 200, seed);
    pe_view before = drawn(type, B, TURNED, G, WIDE, seed), k = copied(before), again = laid(before, orders[order]);
    paged p = in_pages(before, page, shuffled(B, TURNED, page, seed));
    assert_ok(call(e, k, NULL, from, to, &run));
    assert_ok(call(e, p.pool, &p.pages, from, to, &run));
    for (int64_t b = 0; b < B; b++) {
        pe_view one = copied(sequence(before, b));
        assert_ok(call(e, one, NULL, sequence_at(from, b), sequence_at(to, b), &run));
        same("k", sequence(k, b), one);
        for (int64_t t = 0; t < TURNED; t++)
            same("k in pages", page_row(&p, b, t), cut(one, 0, t, 1));
    }
    assert_ok(call(e, again, NULL, from, to, &run));
    same("k in another order", again, k);
    give_back_to(mark);
}

TEST(a_batch_of_caches_is_shifted_as_its_sequences)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0, PE_Q4_0 };
    uint64_t seed = 5;
    for (int n = 0; n < COUNT(rotations) * COUNT(types); n++)
        move_caches(shift, rotations[n / COUNT(types)], types[n % COUNT(types)], 16, 1 + n % 5, &seed);
}

TEST(a_batch_of_caches_is_rebased_as_its_sequences)
{
    uint64_t seed = 6;
    move_caches(rebase, "rope:scaling=linear,factor=4", PE_F32, 5, 1, &seed);
    move_caches(rebase, "rope:scaling=linear,factor=4", PE_Q8_0, 5, 2, &seed);
}

/* ------------------------------------------------ attention */

TEST(attention_of_a_batch_is_that_of_its_sequences)
{
    uint64_t seed = 7;
    for (int n = 0; n < COUNT(specs) * COUNT(sizes) * 2; n++) {
        int mark = taken(), size = n / 2 % COUNT(sizes);
        if (!test_due(n / 2 + n / 2 / COUNT(sizes), 2))
            continue;
        problem p = problem_sized(specs[n / 2 / COUNT(sizes)], n % 2, size, &seed);
        p.a.soft_cap = size == 0 ? 2 : 0;
        p.a.mask.window = size == 3 ? 5 : 0;
        as_sequences(&p);
        give_back_to(mark);
    }
}

TEST(half_precision_in_a_batch_is_that_of_its_sequences)
{
    static const pe_dtype types[] = { PE_F16, PE_BF16 };
    uint64_t seed = 8;
    for (int n = 0; n < 2 * COUNT(types) * COUNT(sizes); n++) {
        int size = n / 2 / COUNT(types);
        problem p = problem_of("rope+t5", n % 2, types[n / 2 % COUNT(types)], B, sizes[size].Tq, sizes[size].Tk, &seed);
        as_sequences(&p);
    }
}

/* ------------------------------------------------ lengths */

TEST(sequences_of_any_length_are_as_alone)
{
    uint64_t seed = 17;
    for (int n = 0; n < COUNT(specs) * LAYOUTS * COUNT(sizes) * 2; n++) {
        int mark = taken(), layout = n / 2 % LAYOUTS, size = n / 2 / LAYOUTS % COUNT(sizes);
        const char *spec = specs[n / 2 / LAYOUTS / COUNT(sizes)];
        if (!test_due(n / 2 + n / 2 / LAYOUTS, 2))
            continue;
        problem p = uneven(spec, n % 2, layout, sizes[size].Tq, sizes[size].Tk, n % B, &seed);
        p.a.sinks = size % 2 ? p.a.sinks : (pe_params){ 0 };
        p.g.dsinks = size % 2 ? p.g.dsinks : (pe_params){ 0 };
        p.a.mask.window = size == 3 ? 4 : 0;
        CASE("%s, %s, %s, up to %d queries and %d keys", spec, way_of(&p), layout_names[layout], (int)sizes[size].Tq,
             (int)sizes[size].Tk);
        as_sequences(&p);
        if (layout != PACKED) {
            padding_is("out in the padding", p.a.out, &p.a.q_lengths, 0);
            padding_is("lse in the padding", p.a.lse, &p.a.q_lengths, -INFINITY);
            padding_is("dq in the padding", p.g.dq, &p.a.q_lengths, 0);
            padding_is("dk in the padding", p.g.dk, &p.a.k_lengths, 0);
            padding_is("dv in the padding", p.g.dv, &p.a.k_lengths, 0);
        }
        give_back_to(mark);
    }
}

/* Masks lie over the padded view; scores and probabilities show nothing where no token is. */
TEST(masks_and_scores_know_the_padding)
{
    uint64_t seed = 18;
    for (int n = 0; n < 2 * 2 * 4; n++) {
        int mark = taken(), layout = n / 2 % 2, size = n / 4 % 2;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = uneven("rope+t5", n % 2, layout, Tq, Tk, n / 8, &seed);
        p.a.mask.additive = drawn(PE_F32, B, Tq, H, Tk, &seed);
        p.a.mask.keep = some_hidden(B, 1, 1, Tk, 4, &seed);
        for (int64_t m = 0; m < B * Tq * H * Tk; m++) { /* NaN where no key is */
            stretch k = keys_of(&p, m / Tk / H / Tq);
            if (m % Tk < k.first || m % Tk >= k.first + k.count)
                ((float *)p.a.mask.additive.data)[m] = NAN;
        }
        p.a.scores = fresh(PE_F32, B, Tq, H, Tk);
        p.a.probabilities = fresh_like(p.a.scores);
        spoil(p.a.scores), spoil(p.a.probabilities);
        CASE("%s, %s", way_of(&p), layout_names[layout]);
        attend(&p, false);
        for (int64_t s = 0; s < B; s++) {
            stretch q = queries_of(&p, s), k = keys_of(&p, s);
            problem one = alone(&p, s);
            one.a.scores = fresh(PE_F32, 1, q.count, H, k.count);
            one.a.probabilities = fresh_like(one.a.scores);
            attend(&one, false);
            same("out", part(p.a.out, q), one.a.out);
            same("scores", cut_scores(p.a.scores, q, k), one.a.scores);
            same("probabilities", cut_scores(p.a.probabilities, q, k), one.a.probabilities);
            all_are("scores before the first key", cut_scores(p.a.scores, q, (stretch){ s, 0, k.first }), -INFINITY);
            all_are("probabilities past the last key",
                    cut_scores(p.a.probabilities, q, (stretch){ s, k.first + k.count, Tk - k.first - k.count }), 0);
        }
        padding_is("scores in the padding", p.a.scores, &p.a.q_lengths, -INFINITY);
        padding_is("probabilities in the padding", p.a.probabilities, &p.a.q_lengths, 0);
        give_back_to(mark);
    }
}

/* The sequences of a padded view, end to end. */
static pe_view packed(pe_view v, const int64_t *offset)
{
    pe_view to = fresh(v.dtype, 1, offset[B], v.heads, v.dim);
    for (int64_t b = 0; b < B; b++)
        copy(cut(to, 0, offset[b], offset[b + 1] - offset[b]), cut(v, b, 0, offset[b + 1] - offset[b]));
    return to;
}

/* Queries may be packed and their keys padded, and the other way round. */
TEST(queries_and_keys_are_long_each_in_their_way)
{
    uint64_t seed = 19;
    for (int n = 0; n < 2 * 2 * 2; n++) {
        int size = n / 4;
        bool queries = n / 2 % 2; /* are packed */
        problem padded = uneven("rope", n % 2, RIGHT, sizes[size].Tq, sizes[size].Tk, 0, &seed), mixed = padded;
        const int64_t *offset = offsets_of(queries ? padded.a.q_lengths.length : padded.a.k_lengths.length);
        pe_view *views[] = { queries ? &mixed.a.q : &mixed.a.k, queries ? &mixed.g.dout : &mixed.a.v };
        pe_positions *where = queries ? &mixed.a.q_at : &mixed.a.k_at;
        pe_view at = pe_view_of((void *)(uintptr_t)where->data, PE_I64, B, where->tokens, 1, 1);
        for (int i = 0; i < 2; i++)
            *views[i] = packed(*views[i], offset);
        *where = pe_positions_of(packed(at, offset).data, PE_I64, 1, offset[B], 1);
        *(queries ? &mixed.a.q_lengths : &mixed.a.k_lengths) = (pe_lengths){ .offset = offset, .sequences = B };
        mixed = once_more(&mixed);
        CASE("%s packed, %s", queries ? "queries" : "keys", way_of(&mixed));
        attend_both(&padded);
        attend_both(&mixed);
        for (int64_t s = 0; s < B; s++) {
            stretch q = queries_of(&padded, s), k = keys_of(&padded, s), q1 = queries_of(&mixed, s),
                    k1 = keys_of(&mixed, s);
            same("out", part(mixed.a.out, q1), part(padded.a.out, q));
            same("dq", part(mixed.g.dq, q1), part(padded.g.dq, q));
            same("dk", part(mixed.g.dk, k1), part(padded.g.dk, k));
            same("dv", part(mixed.g.dv, k1), part(padded.g.dv, k));
        }
    }
}

/* ------------------------------------------------ keys and values in pages */

/* Blocks as numbers. */
static pe_view unpacked(pe_view v)
{
    if (!in_blocks(v.dtype))
        return v;
    pe_view to = fresh(PE_F32, v.batch, v.tokens, v.heads, v.dim);
    for (int64_t n = 0; n < row_count(v) * v.dim; n++) {
        int64_t d = n % v.dim, at = d % 32;
        const unsigned char *block = (const unsigned char *)row_at(v, n / v.dim) + bytes(v.dtype, d / 32 * 32);
        double code = v.dtype == PE_Q8_0 ? (double)(int8_t)block[2 + at]
                                         : (double)((at < 16 ? block[2 + at] & 15 : block[2 + at - 16] >> 4) - 8);
        num_store(to.data, PE_F32, n, num_load(block, PE_F16, 0) * code);
    }
    return to;
}

static const pe_dtype kept[] = { PE_F32, PE_F16, PE_BF16, PE_Q8_0, PE_Q4_0 };

static problem put_in_pages(const problem *p, int64_t size, uint64_t *seed)
{
    problem in = *p;
    give_outputs(&in);
    in.a.pages = shuffled(p->a.k.batch, p->a.k.tokens, size, seed);
    in.a.k = in_pages(p->a.k, size, in.a.pages).pool;
    in.a.v = in_pages(p->a.v, size, in.a.pages).pool;
    return in;
}

/* The same tokens in a row, of the same type: to the bit. Of blocks the same as numbers: within rounding. */
TEST(keys_in_pages_are_as_good_as_in_a_row)
{
    static const int64_t page[] = { 16, 5 };
    static const char *const some[] = { "none", "rope", "rope:turn=qkvo", "alibi:slopes=learned", "t5", "shaw",
                                        "cope:positions=32", "xpos", "deberta:buckets=8,max=32" };
    uint64_t seed = 20;
    for (int n = 0; n < COUNT(some) * COUNT(kept) * COUNT(page) * 3 * 2; n++) {
        int mark = taken(), size = n / 2 % 3, kind = n / 2 / 3 / COUNT(page) % COUNT(kept);
        const char *spec = some[n / 2 / 3 / COUNT(page) / COUNT(kept)];
        int64_t pages_of = page[n / 2 / 3 % COUNT(page)];
        if (!test_due(n / 2 + n / 2 / 3 + n / 6 / COUNT(page), 2))
            continue;
        problem p = problem_of(spec, n % 2, kept[kind], B, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.rotated = kind % 2;
        p.a.k_lengths.length = lengths_of(sizes[size].Tk, n % B, &seed);
        problem in = put_in_pages(&p, pages_of, &seed), numbers = p;
        CASE("%s, %s, type %d, pages of %d, %d queries", spec, way_of(&p), (int)kept[kind], (int)pages_of,
             (int)sizes[size].Tq);
        attend(&p, false);
        attend(&in, false);
        if (p.fused && size < 2 && pages_of == 5) /* few queries take keys as they lie: fewer in a row at a time */
            near_outputs(&in, &p, 1e-6);
        else
            same_outputs(&in, &p);
        numbers.a.k = unpacked(p.a.k), numbers.a.v = unpacked(p.a.v);
        give_outputs(&numbers);
        attend(&numbers, false);
        near_outputs(&in, &numbers, 1e-5);
        give_back_to(mark);
    }
}

/* A batch that decodes: one query each, sequences of their own length and place, keys that are rotated already. */
TEST(a_batch_decodes_from_pages)
{
    uint64_t seed = 21;
    for (int n = 0; n < COUNT(kept) * 2; n++) {
        enum { MOST = 150 };
        problem p = problem_of("rope", n % 2, kept[n / 2], B, 1, MOST, &seed);
        int64_t *length = take(B, 8), *place = take(B, 8);
        for (int64_t b = 0; b < B; b++) {
            length[b] = b == 1 ? MOST : test_range(&seed, 1, MOST);
            place[b] = length[b] - 1;
        }
        p.a.rotated = true;
        p.a.k_lengths.length = length;
        p.a.q_at = (pe_positions){ place, PE_I64, B, 1, 1, 1, 0, 1, 0, 1 };
        p.a.k_at = pe_positions_run(B, MOST, 0);
        problem in = put_in_pages(&p, 16, &seed);
        for (int64_t b = 0; b < B; b++) /* what is not in the cache yet */
            for (int64_t t = length[b]; t < MOST; t++) {
                spoil(page_row(&(paged){ in.a.k, in.a.pages }, b, t));
                spoil(page_row(&(paged){ in.a.v, in.a.pages }, b, t));
            }
        CASE("%s, type %d", way_of(&p), (int)kept[n / 2]);
        attend(&in, false);
        for (int64_t b = 0; b < B; b++) {
            problem one = alone(&p, b);
            attend(&one, false);
            same("out", sequence(in.a.out, b), one.a.out);
            same("lse", sequence(in.a.lse, b), one.a.lse);
        }
        if (n / 2 == 0) { /* and the same with keys as they were before the turn */
            problem before = p;
            before.a.k = copied(p.a.k);
            before.a.rotated = false;
            give_outputs(&before);
            assert_ok(pe_unrotate(p.e, PE_KEY, before.a.k, p.a.k, p.a.k_at, NULL, &err));
            attend(&before, false);
            nearly("out of rotated keys", in.a.out, before.a.out, 1e-5);
        }
    }
}

/* ------------------------------------------------ pieces */

typedef struct piece {
    pe_view out, max, sum, carry; /* (B, Tq, H, Dv), (B, Tq, H, 1) twice, (B, H, Tq, 1) */
} piece;

static piece piece_of(int64_t batch, int64_t Tq)
{
    piece x = { fresh(PE_F32, batch, Tq, H, DIM), fresh(PE_F32, batch, Tq, H, 1), fresh(PE_F32, batch, Tq, H, 1),
                fresh(PE_F64, batch, H, Tq, 1) };
    spoil(x.out), spoil(x.max), spoil(x.sum);
    return x;
}

static pe_partial partial_of(const piece *x)
{
    return (pe_partial){ x->out.data, x->max.data, x->sum.data, x->carry.data };
}

static void make_piece(const problem *p, const piece *x)
{
    pe_run run = PE_MAKE(pe_run, .params = p->params);
    assert_ok(pe_attention_work(p->e, &p->a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    if (pe_attention_partial(p->e, &p->a, partial_of(x), &run, &err))
        fail_msg("%s: %s", case_text, err.text);
}

/* Keys from .. from + count - 1 of every sequence, the rest following. */
static problem some_keys(const problem *p, int64_t from, int64_t count)
{
    problem some = *p;
    some.a.k.data = row(p->a.k, 0, from, 0), some.a.v.data = row(p->a.v, 0, from, 0);
    some.a.k.tokens = some.a.v.tokens = count;
    some.a.k_at.data = (const int64_t *)p->a.k_at.data + from;
    some.a.k_at.tokens = count;
    some.a.mask.keys_after = p->a.k.tokens - from - count;
    return some;
}

TEST(pieces_of_a_batch_are_those_of_its_sequences)
{
    uint64_t seed = 31;
    for (int n = 0; n < COUNT(specs) * 3; n++) {
        int mark = taken(), size = n % 3;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, half = Tk / 2, *length = lengths_of(Tq, 1, &seed);
        problem p = problem_sized(specs[n / 3], true, size, &seed);
        p.a.q_lengths = (pe_lengths){ .length = length, .padded_left = true };
        problem later = some_keys(&p, half, Tk - half), sooner = some_keys(&p, 0, half); /* from right to left */
        piece x = piece_of(B, Tq), y = piece_of(B, Tq);
        y.carry = x.carry;
        make_piece(&later, &x);
        make_piece(&sooner, &y);
        padding_is("sums in the padding", x.sum, &p.a.q_lengths, 0);
        padding_is("largest score in the padding", x.max, &p.a.q_lengths, -INFINITY);
        padding_is("values in the padding", y.out, &p.a.q_lengths, 0);
        piece xs[B], ys[B];
        problem ones[B];
        for (int64_t b = 0; b < B; b++) {
            stretch q = queries_of(&p, b);
            xs[b] = piece_of(1, q.count), ys[b] = piece_of(1, q.count);
            ys[b].carry = xs[b].carry;
            ones[b] = alone(&p, b);
            problem right = some_keys(&ones[b], half, Tk - half), left = some_keys(&ones[b], 0, half);
            make_piece(&right, &xs[b]);
            make_piece(&left, &ys[b]);
            same("values of a piece", part(y.out, q), ys[b].out);
            same("sums of a piece", part(y.sum, q), ys[b].sum);
            same("largest score of a piece", part(y.max, q), ys[b].max);
            for (int64_t h = 0; pe_encoding_carries(p.e) && h < H; h++)
                for (int64_t i = 0; i < q.count; i++)
                    assert_true(get(x.carry, b, h, q.first + i, 0) == get(xs[b].carry, 0, h, i, 0));
        }
        assert_ok(pe_attention_merge(partial_of(&x), partial_of(&y), B * Tq * H, DIM, &err));
        assert_ok(pe_attention_finish(p.e, &p.a, partial_of(&x), NULL, &err));
        padding_is("out in the padding", p.a.out, &p.a.q_lengths, 0);
        padding_is("lse in the padding", p.a.lse, &p.a.q_lengths, -INFINITY);
        for (int64_t b = 0; b < B; b++) {
            stretch q = queries_of(&p, b);
            assert_ok(pe_attention_merge(partial_of(&xs[b]), partial_of(&ys[b]), q.count * H, DIM, &err));
            assert_ok(pe_attention_finish(p.e, &ones[b].a, partial_of(&xs[b]), NULL, &err));
            same("out", part(p.a.out, q), ones[b].a.out);
            same("lse", part(p.a.lse, q), ones[b].a.lse);
        }
        problem whole = p;
        give_outputs(&whole);
        attend(&whole, false);
        near_outputs(&p, &whole, 2e-6);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ who does the work */

static const pe_pool *pools[4];

static void open_pools(void)
{
    static const int workers[] = { 1, 2, 5 };
    for (int i = 0; i < COUNT(workers); i++)
        pools[i] = pool_of(workers[i]);
    pools[3] = &reversed_pool;
}

TEST(any_pool_gives_the_same_bits)
{
    uint64_t seed = 29;
    open_pools();
    for (int n = 0; n < COUNT(specs) * 6; n++) {
        int mark = taken(), size = n % 3;
        bool ragged = n / 3 % 2;
        problem p = ragged ? uneven(specs[n / 6], true, n % LAYOUTS, sizes[size].Tq, sizes[size].Tk, n % B, &seed)
                           : problem_sized(specs[n / 6], true, size, &seed);
        attend_both(&p);
        for (int i = 0; i < COUNT(pools); i++) {
            problem other = once_more(&p);
            other.pool = pools[i];
            CASE("%s, %s, pool %d", specs[n / 6], ragged ? "uneven" : "even", i);
            attend_both(&other);
            same_outputs(&other, &p);
            same_gradients(&other, &p);
        }
        give_back_to(mark);
    }
}

TEST(any_pool_rotates_embeds_and_shifts_a_batch_alike)
{
    uint64_t seed = 30;
    pe_encoding *e = encoding("rope", WIDE), *code = encoding("sinusoidal", WIDE);
    open_pools();
    pe_positions at = places(e, 0, 300, &seed);
    pe_view x = drawn(PE_F16, B, TURNED, H, WIDE, &seed), k = drawn(PE_Q8_0, B, TURNED, G, WIDE, &seed),
            tokens = drawn(PE_F32, B, TURNED, 1, 16, &seed);
    paged in = in_pages(k, 16, shuffled(B, TURNED, 16, &seed));
    pe_view first[6];
    for (int i = 0; i <= COUNT(pools); i++) {
        pe_run run = PE_MAKE(pe_run, .pool = i == 0 ? NULL : pools[i - 1]);
        pe_view y[6] = { fresh(PE_F16, B, TURNED, H, WIDE),
                         fresh(PE_F32, B, TURNED, 1, WIDE / 2),
                         fresh(PE_F32, B, TURNED, 1, WIDE / 2),
                         copied(tokens),
                         copied(k),
                         copied(in.pool) };
        assert_ok(pe_rotate(e, PE_KEY, y[0], x, at, &run, &err));
        assert_ok(pe_rotate_table(e, PE_KEY, y[1], y[2], at, &run, &err));
        assert_ok(pe_embed(code, y[3], y[3], at, &run, &err));
        assert_ok(pe_cache_shift(e, y[4], NULL, at, pe_positions_run(B, TURNED, 0), &run, &err));
        assert_ok(pe_cache_shift(e, y[5], &in.pages, at, pe_positions_run(B, TURNED, 0), &run, &err));
        CASE("pool %d", i);
        for (int n = 0; n < COUNT(y); n++) {
            if (i == 0)
                first[n] = y[n];
            same("y", y[n], first[n]);
        }
    }
}
