/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 6 s
 *
 * Views and positions may lie in memory as they like: axes in any order, inputs walked backwards or repeated, positions
 * of any type, as arrays or as runs; the result is the same, to the bit. An output goes forward, once over each
 * element. */
#include "batch_case.h"

/* ------------------------------------------------ any order, any direction */

TEST(axes_may_lie_in_any_order)
{
    static const char *const some[] = { "rope", "cope:positions=32", "rope:turn=qkvo", "shaw" };
    uint64_t seed = 9;
    for (int n = 0; n < COUNT(some) * COUNT(orders) * 4; n++) {
        int mark = taken(), size = n / 2 % 2;
        const int *order = orders[n / 4 % COUNT(orders)];
        problem p = problem_sized(some[n / 4 / COUNT(orders)], n % 2, size, &seed);
        p.a.mask.additive = drawn(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk, &seed);
        p.g.dadditive = fresh_like(p.a.mask.additive);
        problem other = once_more(&p);
        other.g.dadditive = fresh_like(p.g.dadditive);
        pe_view *views[] = { &other.a.q,        &other.a.k,  &other.a.v,  &other.a.out, &other.a.lse,
                             &other.g.dout,     &other.g.dq, &other.g.dk, &other.g.dv,  &other.a.mask.additive,
                             &other.g.dadditive };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = laid(*views[i], i % 3 ? order : orders[(n + i) % COUNT(orders)]);
        same_results(&other, &p);
        same("dadditive", other.g.dadditive, p.g.dadditive);
        give_back_to(mark);
    }
}

TEST(rotations_and_codes_take_axes_in_any_order)
{
    uint64_t seed = 10;
    pe_encoding *e = encoding("rope:pairs=adjacent,dims=48", WIDE), *code = encoding("sinusoidal", WIDE);
    for (int n = 0; n < COUNT(orders) * COUNT(orders) * FLOAT_TYPES; n++) {
        int mark = taken();
        pe_dtype type = float_types[n % FLOAT_TYPES];
        const int *from = orders[n / FLOAT_TYPES % COUNT(orders)], *to = orders[n / FLOAT_TYPES / COUNT(orders)];
        pe_positions at = pe_positions_of(whole_numbers(B * 20, 0, 300, &seed), PE_I64, B, 20, 1);
        pe_view x = drawn(type, B, 20, H, WIDE, &seed), y = fresh_like(x), other = laid(y, to);
        CASE("type %d, order %d to %d", (int)type, n / FLOAT_TYPES % COUNT(orders),
             n / FLOAT_TYPES / COUNT(orders));
        assert_ok(pe_rotate(e, PE_KEY, y, x, at, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, other, laid(x, from), at, NULL, &err));
        same("rotated", other, y);
        x = drawn(type, B, 20, 1, 16, &seed), y = fresh_like(x), other = laid(y, to);
        assert_ok(pe_embed(code, y, x, at, NULL, &err));
        assert_ok(pe_embed(code, other, laid(x, from), at, NULL, &err));
        same("embedded", other, y);
        give_back_to(mark);
    }
}

TEST(inputs_may_be_walked_backwards)
{
    static const char *const some[] = { "rope", "t5", "cope:positions=32" };
    uint64_t seed = 11;
    for (int n = 0; n < COUNT(some) * 8 * 4; n++) {
        int mark = taken(), size = n / 2 % 2;
        unsigned axes = (unsigned)(n / 4 % 8);
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = problem_of(some[n / 4 / 8], n % 2, PE_F32, B, Tq, Tk, &seed);
        p.a.mask.additive = drawn(PE_F32, B, Tq, H, Tk, &seed);
        p.a.mask.keep = some_hidden(B, Tq, H, Tk, 5, &seed);
        problem other = once_more(&p);
        pe_view *views[] = { &other.a.q,         &other.a.k,   &other.a.v, &other.a.mask.additive,
                             &other.a.mask.keep, &other.g.dout };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = backwards(*views[i], axes);
        pe_positions *at = &other.a.k_at; /* from their last number back */
        int64_t *reversed = take(B * Tk, 8);
        for (int64_t i = 0; i < B * Tk; i++)
            reversed[B * Tk - 1 - i] = ((const int64_t *)at->data)[i];
        at->data = reversed + B * Tk - 1;
        at->batch_stride *= -1, at->token_stride *= -1, at->axis_stride *= -1;
        attend_both(&p);
        attend(&other, false);
        same_outputs(&other, &p);
        other.a.out = backwards(other.a.out, axes); /* what the gradient reads */
        other.a.lse = backwards(other.a.lse, axes);
        attend(&other, true);
        same_gradients(&other, &p);
        pe_view x = drawn(PE_F16, B, 9, H, DIM, &seed), y[2] = { fresh_like(x), fresh_like(x) };
        for (int i = 0; i < 2; i++)
            assert_ok(
                pe_rotate(p.e, PE_QUERY, y[i], i ? backwards(x, axes) : x, pe_positions_run(B, 9, 5), NULL, &err));
        same("rotated", y[1], y[0]);
        give_back_to(mark);
    }
}

TEST(a_stride_of_0_repeats_an_input)
{
    uint64_t seed = 12;
    for (int n = 0; n < 8 * 4; n++) {
        int mark = taken(), size = n / 2 % 2;
        unsigned axes = (unsigned)(n / 4 % 8);
        problem p = problem_sized("rope+alibi:slopes=learned", n % 2, size, &seed);
        p.a.mask.additive = drawn(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk, &seed);
        pe_view *views[] = { &p.a.q, &p.a.k, &p.a.v, &p.a.mask.additive, &p.g.dout };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = repeating(*views[i], axes);
        problem other = once_more(&p); /* written out */
        pe_view *same_views[] = { &other.a.q, &other.a.k, &other.a.v, &other.a.mask.additive, &other.g.dout };
        for (int i = 0; i < COUNT(same_views); i++)
            *same_views[i] = copied(*same_views[i]);
        same_results(&p, &other);
        pe_view x = repeating(drawn(PE_BF16, B, 9, H, DIM, &seed), axes), y[2] = { fresh_like(x), fresh_like(x) };
        for (int i = 0; i < 2; i++)
            assert_ok(pe_rotate(p.e, PE_KEY, y[i], i ? copied(x) : x, pe_positions_run(B, 9, 5), NULL, &err));
        same("rotated", y[0], y[1]);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ outputs go forward, once over each element */

static pe_status wrong_output(int n, problem *p, pe_encoding *code, unsigned axes, bool repeat)
{
    pe_positions at = pe_positions_run(B, 5, 0);
    pe_view x = fresh(PE_F32, B, 5, H, DIM), y = fresh(PE_F32, B, 5, H, DIM), c = fresh(PE_F32, B, 5, 1, DIM / 2),
            s = fresh(PE_F32, B, 5, 1, DIM / 2), e = fresh(PE_F32, B, 5, 1, 16), e_x = fresh(PE_F32, B, 5, 1, 16);
    pe_view *all[] = { &y, &c, &s, &e, &y, &p->a.out, &p->a.lse, &p->a.scores, &p->a.probabilities, &p->g.dq, &p->g.dk,
                       &p->g.dv, &p->g.dadditive };
    *all[n] = repeat ? repeating(*all[n], axes) : backwards(*all[n], axes);
    pe_run run = PE_MAKE(pe_run, .params = p->params, .work = take(1 << 22, 1), .work_bytes = 1 << 22);
    return n == 0   ? pe_rotate(p->e, PE_QUERY, y, x, at, NULL, &err)
           : n <= 2 ? pe_rotate_table(p->e, PE_QUERY, c, s, at, NULL, &err)
           : n == 3 ? pe_embed(code, e, e_x, at, NULL, &err)
           : n == 4 ? pe_cache_shift(p->e, y, NULL, at, pe_positions_run(B, 5, 3), NULL, &err)
           : n <= 8 ? (p->fused ? pe_attention_forward : pe_reference_forward)(p->e, &p->a, &run, &err)
                    : (p->fused ? pe_attention_backward : pe_reference_backward)(p->e, &p->a, &p->g, &run, &err);
}

TEST(an_output_is_not_repeated_and_not_walked_backwards)
{
    enum { OUTPUTS = 13 };
    uint64_t seed = 13;
    pe_encoding *code = encoding("sinusoidal", DIM);
    for (int fused = 0; fused < 2; fused++)
        for (int n = 0; n < OUTPUTS; n++)
            for (int how = 0; how < 7; how++) {
                int mark = taken();
                static const unsigned axes[] = { 0, SEQUENCES, TOKENS, HEADS, SEQUENCES, TOKENS, HEADS };
                bool narrow = n >= 1 && n <= 3 && axes[how] == HEADS; /* one head: its stride is not used */
                problem p = problem_of("rope", fused, PE_F32, B, 5, 9, &seed);
                p.a.mask.additive = drawn(PE_F32, B, 5, H, 9, &seed);
                p.g.dadditive = fresh(PE_F32, B, 5, H, 9);
                p.a.scores = fresh(PE_F32, B, 5, H, 9);
                p.a.probabilities = fresh(PE_F32, B, 5, H, 9);
                attend(&p, false);
                pe_status s = wrong_output(n, &p, code, axes[how], how < 4);
                pe_status wanted = how == 0 || narrow ? PE_OK : how < 4 ? PE_ERR_ALIAS : PE_ERR_RANGE;
                if (s != wanted)
                    fail_msg("output %d, way %d: %s: %s", n, how, pe_status_name(s), err.text);
                give_back_to(mark);
            }
}

/* ------------------------------------------------ positions */

/* The same positions: an array of each type, a run, a run from a place for each sequence. */
enum { WAYS = 8 };

static pe_positions in_way(int way, int64_t batch, int64_t tokens, const int64_t *first)
{
    int64_t n = batch * tokens, *whole = take(n, 8), *place = take(batch, 8);
    int32_t *narrow = take(2 * n, 4), *narrow_place = take(batch, 4);
    double *real = take(n, 8), *real_place = take(batch, 8);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = first[i / tokens] + 2 * (i % tokens);
        whole[i] = at;
        narrow[2 * i] = (int32_t)at;
        narrow[2 * i + 1] = INT32_MIN; /* between them */
        real[i] = (double)at;
    }
    for (int64_t b = 0; b < batch; b++) {
        place[b] = first[b];
        narrow_place[b] = (int32_t)(first[b] - 1000);
        real_place[b] = (double)first[b] + 1000;
    }
    pe_positions p = pe_positions_of(whole, PE_I64, batch, tokens, 1);
    switch (way) {
    case 1: p = pe_positions_of(narrow, PE_I32, batch, tokens, 1), p.token_stride = 2, p.batch_stride *= 2; break;
    case 2: p = pe_positions_of(real, PE_F64, batch, tokens, 1); break;
    case 3: p = (pe_positions){ place, PE_I64, batch, tokens, 1, 1, 0, 1, 0, 2 }; break;
    case 4: p = (pe_positions){ narrow_place, PE_I32, batch, tokens, 1, 1, 0, 1, 1000, 2 }; break;
    case 5: p = (pe_positions){ real_place, PE_F64, batch, tokens, 1, 1, 0, 0, -1000, 2 }; break;
    case 6: /* data and a run together */
        for (int64_t i = 0; i < n; i++)
            whole[i] += 5 * (i % tokens) - 77;
        p.start = 77, p.step = -5;
        break;
    case 7: /* all sequences at one place: those of the first */
        p = (pe_positions){ .batch = batch, .tokens = tokens, .axes = 1, .start = first[0], .step = 2 };
        break;
    default: break;
    }
    return p;
}

TEST(positions_of_any_type_give_the_same_bits)
{
    uint64_t seed = 14;
    for (int n = 0; n < COUNT(specs) * WAYS * 2; n++) {
        int mark = taken(), way = n / 2 % WAYS, size = n / 2 / WAYS % 3;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, first[B] = { 3, 50, 11 }, q_first[B];
        problem p = problem_of(specs[n / 2 / WAYS], n % 2, PE_F32, B, Tq, Tk, &seed);
        for (int64_t b = 0; b < B; b++) {
            first[b] = way == 7 ? first[0] : first[b];
            q_first[b] = first[b] + 2 * (Tk - Tq);
        }
        p.a.q_at = in_way(0, B, Tq, q_first);
        p.a.k_at = in_way(0, B, Tk, first);
        problem other = once_more(&p);
        other.a.q_at = in_way(way, B, Tq, q_first);
        other.a.k_at = in_way(n % 3 ? way : 0, B, Tk, first);
        CASE("%s, positions in way %d", specs[n / 2 / WAYS], way);
        same_results(&other, &p);
        pe_view x = drawn(PE_F32, B, Tk, G, DIM, &seed), y[2] = { copied(x), copied(x) };
        pe_run run = PE_MAKE(pe_run, .params = p.params);
        for (int i = 0; i < 2; i++) {
            pe_positions at = i ? in_way(way, B, Tk, first) : p.a.k_at;
            assert_ok(pe_rotate(p.e, PE_KEY, y[i], x, at, &run, &err));
            assert_ok(pe_cache_shift(p.e, y[i], NULL, at, in_way(i ? 0 : way, B, Tk, q_first), &run, &err));
        }
        same("rotated and shifted", y[1], y[0]);
        give_back_to(mark);
    }
}

TEST(codes_take_positions_of_any_type)
{
    uint64_t seed = 15;
    const int64_t first[B] = { 0, 9, 4 }, alike[B] = { 0, 0, 0 };
    for (int n = 0; n < 2 * WAYS; n++) {
        pe_encoding *e = encoding(n % 2 ? "learned:rows=64" : "sinusoidal", WIDE);
        int64_t count = pe_encoding_param_count(e);
        pe_run run = PE_MAKE(pe_run, .params = { take(count, 4), PE_F32, count });
        pe_view x = drawn(PE_F32, B, 20, 1, 16, &seed), y[2] = { copied(x), copied(x) };
        CASE("%s, positions in way %d", pe_encoding_spec(e), n / 2);
        assert_ok(pe_encoding_init(e, run.params, 1, &err));
        for (int i = 0; i < 2; i++)
            assert_ok(pe_embed(e, y[i], x, in_way(i ? n / 2 : 0, B, 20, n / 2 == 7 ? alike : first), &run, &err));
        same("y", y[1], y[0]);
    }
}

/* A run counts up on every axis. */
TEST(a_run_counts_on_every_axis)
{
    uint64_t seed = 16;
    pe_encoding *e = encoding("rope:sections=8/12/12", WIDE);
    int64_t at[20 * 3];
    for (int i = 0; i < 20 * 3; i++)
        at[i] = 11 + i / 3;
    pe_view x = drawn(PE_F32, B, 20, H, WIDE, &seed), y[2] = { copied(x), copied(x) };
    pe_positions all = pe_positions_of(at, PE_I64, B, 20, 3);
    all.batch_stride = 0; /* one for all sequences */
    assert_ok(pe_rotate(e, PE_KEY, y[0], x, all, NULL, &err));
    assert_ok(pe_rotate(e, PE_KEY, y[1], x, pe_positions_run(B, 20, 11), NULL, &err));
    CASE("three axes");
    same("rotated", y[1], y[0]);
}

TEST(a_fraction_is_an_error_where_positions_are_whole)
{
    static const double wrong[] = { 0.5, -1.25, NAN, INFINITY, 0x1p37, -0x1p-1074 };
    pe_encoding *e = encoding("t5", DIM), *code = encoding("learned:rows=64", DIM);
    for (int n = 0; n < COUNT(wrong); n++) {
        double at[4] = { 0, 1, wrong[n], 3 };
        pe_positions where = pe_positions_of(at, PE_F64, 1, 4, 1);
        pe_view x = fresh(PE_F32, 1, 4, 1, 16), k = fresh(PE_F32, 1, 4, G, DIM), q = fresh(PE_F32, 1, 4, H, DIM);
        pe_attention a = PE_MAKE(pe_attention, .q = q, .k = k, .v = k, .q_at = where, .k_at = where);
        pe_run run = PE_MAKE(pe_run, .params = { take(64 * 16, 4), PE_F32, 64 * 16 });
        size_t size;
        assert_refused(pe_embed(code, x, x, where, &run, &err), PE_ERR_POSITION, "token 2");
        assert_int_equal(pe_reference_work(e, &a, &size, &err), PE_ERR_POSITION);
        assert_int_equal(pe_attention_work(e, &a, NULL, &size, &err), PE_ERR_POSITION);
    }
}
