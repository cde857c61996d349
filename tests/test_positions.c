/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * Position builders, the layout and the start of learned parameters. */
#include "views.h"

/* ------------------------------------------------ runs */

/* Written from the header: coordinate a of token t of sequence b, of whole numbers of 64 bits. */
static int64_t place(pe_positions p, int64_t b, int64_t t, int64_t a)
{
    const int64_t *at = p.data;
    return p.start + t * p.step + (at ? at[b * p.batch_stride + t * p.token_stride + a * p.axis_stride] : 0);
}

TEST(a_run_counts_from_the_length_of_the_cache)
{
    static const int64_t starts[] = { 0, 1, 12345, -50, -PE_POSITION_MAX, PE_POSITION_MAX - 99 };
    for (int n = 0; n < COUNT(starts); n++) {
        pe_positions whole = pe_positions_run(3, 100, starts[n]);
        assert_true(whole.batch == 3 && whole.tokens == 100 && !whole.data);
        for (int t = 0; t < 100; t++)
            assert_int_equal(place(whole, t % 3, t, 0), starts[n] + t);
        for (int past = 0, step = 1; past < 100; past += step, step = step % 7 + 1) {
            int take = past + step > 100 ? 100 - past : step;
            pe_positions chunk = pe_positions_run(3, take, starts[n] + past);
            for (int t = 0; t < take; t++)
                assert_int_equal(place(chunk, 0, t, 0), place(whole, 0, past + t, 0));
        }
    }
}

/* What runs are for: a prompt and then token by token gives the bits of the whole. */
TEST(rotating_with_a_cache_equals_rotating_the_whole)
{
    enum { T = 24, H = 2, D = 16 };
    int64_t at[T];
    uint64_t seed = 1;
    pe_encoding *e = encoding_of("rope:theta=500000", (pe_shape){ H, H, D, 0 });
    pe_view in = drawn(PE_F32, 1, T, H, D, &seed), whole = fresh_like(in), part = fresh_like(in);
    for (int t = 0; t < T; t++)
        at[t] = t;
    assert_ok(pe_rotate(e, PE_KEY, whole, in, pe_positions_of(at, PE_I64, 1, T, 1), NULL, &err));
    for (int past = 0, n = 16; past < T; past += n, n = 1)
        assert_ok(
            pe_rotate(e, PE_KEY, cut(part, 0, past, n), cut(in, 0, past, n), pe_positions_run(1, n, past), NULL, &err));
    same("token by token", part, whole);
}

TEST(builders_stay_within_the_largest_position)
{
    int64_t at[6] = { 7, 7, 7, 7, 7, 7 };
    uint8_t used[2] = { 1, 1 };
    assert_ok(pe_positions_masked(at, used, 1, PE_POSITION_MAX, &err));
    assert_ok(pe_positions_grid(at, 1, 1, 1, PE_POSITION_MAX, &err));
    assert_ok(pe_positions_grid(at, 1, 1, 2, PE_POSITION_MAX - 1, &err));
    at[0] = 7;
    assert_int_equal(pe_positions_masked(at, used, 2, PE_POSITION_MAX, &err), PE_ERR_POSITION);
    assert_int_equal(pe_positions_grid(at, 1, 1, 2, PE_POSITION_MAX, &err), PE_ERR_POSITION);
    assert_int_equal(pe_positions_grid(at, 1, 2, 1, PE_POSITION_MAX, &err), PE_ERR_POSITION);
    assert_int_equal(pe_positions_grid(at, 2, 1, 1, PE_POSITION_MAX, &err), PE_ERR_POSITION);
    assert_int_equal(pe_positions_grid(at, INT64_C(1) << 40, 1, 1, 0, &err),
                     sizeof(size_t) < 8 ? PE_ERR_OVERFLOW : PE_ERR_POSITION);
    assert_int_equal(pe_positions_grid(at, INT64_C(1) << 32, INT64_C(1) << 32, 1, 0, &err), PE_ERR_SHAPE);
    assert_int_equal(at[0], 7);
}

/* The same of runs, by the calls that take them. */
TEST(a_run_stays_within_the_largest_position)
{
    static const struct {
        int64_t tokens, start, step;
        pe_status status;
    } cases[] = {
        { 1, PE_POSITION_MAX, 1, PE_OK }, { 1, -PE_POSITION_MAX, 1, PE_OK }, { 2, PE_POSITION_MAX - 1, 1, PE_OK },
        { 2, -PE_POSITION_MAX, 2 * PE_POSITION_MAX, PE_OK }, { 3, PE_POSITION_MAX, -PE_POSITION_MAX, PE_OK },
        { 0, 5, 1, PE_OK }, { 2, PE_POSITION_MAX, 1, PE_ERR_POSITION }, { 2, -PE_POSITION_MAX, -1, PE_ERR_POSITION },
        { 1, -PE_POSITION_MAX - 1, 1, PE_ERR_POSITION }, { 1, INT64_MAX, 1, PE_ERR_POSITION },
        { 1, INT64_MIN, 0, PE_ERR_POSITION }, { 2, 0, INT64_MAX, PE_ERR_POSITION },
        { 4, 0, INT64_MIN, PE_ERR_POSITION },
    };
    pe_encoding *e = encoding_of("rope", (pe_shape){ 1, 1, 8, 0 });
    for (int n = 0; n < COUNT(cases); n++) {
        float x[4 * 8] = { 1 };
        pe_view v = pe_view_of(x, PE_F32, 1, cases[n].tokens, 1, 8);
        pe_positions at = { .batch = 1, .tokens = cases[n].tokens, .axes = 1, .start = cases[n].start, .step = cases[n].step };
        if (pe_rotate(e, PE_KEY, v, v, at, NULL, &err) != cases[n].status)
            fail_msg("%" PRId64 " from %" PRId64 " by %" PRId64 ": %s", cases[n].tokens, cases[n].start, cases[n].step, err.text);
    }
    /* as many as a view can say, of one key that repeats */
    static const int64_t many[] = { INT64_C(1) << 38, INT64_C(1) << 59, INT64_MAX };
    for (int n = 0; n < COUNT(many); n++) {
        float x[8] = { 1 };
        size_t bytes;
        pe_view key = { x, PE_F32, 1, many[n], 1, 8, 0, 0, 0 };
        pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x, PE_F32, 1, 1, 1, 8), .k = key, .v = key,
                                 .q_at = pe_positions_run(1, 1, 0), .k_at = pe_positions_run(1, many[n], 0));
        assert_int_equal(pe_reference_work(e, &a, &bytes, &err), PE_ERR_POSITION);
    }
}

TEST(nothing_to_build_is_fine)
{
    assert_ok(pe_positions_masked(NULL, NULL, 0, 5, &err));
    assert_ok(pe_positions_packed(NULL, (int64_t[]){ 0 }, 0, &err));
    assert_ok(pe_positions_packed(NULL, (int64_t[]){ 0, 0, 0 }, 2, &err));
    assert_int_equal(pe_positions_packed(NULL, NULL, 0, &err), PE_ERR_NULL);
    assert_ok(pe_positions_grid(NULL, 0, 4, 4, 0, &err));
    assert_ok(pe_positions_grid(NULL, 4, 4, 0, 0, &err));
}

/* ------------------------------------------------ padding */

TEST(padding_does_not_count)
{
    static const struct {
        uint8_t used[6];
        int64_t wanted[6];
    } cases[] = {
        { { 0, 0, 1, 1, 1, 1 }, { 0, 0, 0, 1, 2, 3 } }, /* left: as cumsum - 1 with padding at 0 */
        { { 1, 1, 1, 1, 0, 0 }, { 0, 1, 2, 3, 0, 0 } }, /* right */
        { { 1, 1, 0, 0, 1, 1 }, { 0, 1, 0, 0, 2, 3 } }, /* inside */
        { { 1, 1, 1, 1, 1, 1 }, { 0, 1, 2, 3, 4, 5 } },
        { { 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 } },
        { { 0, 255, 0, 2, 0, 1 }, { 0, 0, 0, 1, 0, 2 } }, /* any byte but 0 is a token */
    };
    for (int64_t start = -3; start < 10; start += 4)
        for (int i = 0; i < COUNT(cases); i++) {
            int64_t at[6];
            assert_ok(pe_positions_masked(at, cases[i].used, 6, start, &err));
            for (int t = 0; t < 6; t++)
                assert_int_equal(at[t], start + cases[i].wanted[t]);
        }
}

/* transformers: position_ids = attention_mask.cumsum(-1) - 1 on real tokens. */
TEST(real_tokens_stand_at_the_running_sum_less_one)
{
    uint64_t seed = 9;
    for (int round = 0; round < 200; round++) {
        uint8_t used[50];
        int64_t at[50], sum = 0, n = test_range(&seed, 1, 50);
        for (int t = 0; t < n; t++)
            used[t] = (uint8_t)test_range(&seed, 0, 1);
        assert_ok(pe_positions_masked(at, used, n, 0, &err));
        for (int t = 0; t < n; t++) {
            sum += used[t];
            assert_int_equal(at[t], used[t] ? sum - 1 : 0);
        }
    }
}

/* ------------------------------------------------ packing */

TEST(packed_sequences_count_from_zero_each)
{
    static const int64_t offset[] = { 0, 3, 3, 4, 8 }, at_wanted[] = { 0, 1, 2, 0, 0, 1, 2, 3, 77 };
    int64_t at[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 77 };
    assert_ok(pe_positions_packed(at, offset, 4, &err));
    assert_memory_equal(at, at_wanted, sizeof at);
}

TEST(offsets_must_rise_from_zero)
{
    static const int64_t wrong[][4] = { { 0, 3, 2, 8 }, { 1, 3, 8, 8 },  { -1, 0, 4, 8 },         { 0, -1, 5, 8 },
                                        { 0, 9, 8, 8 }, { 0, 0, 8, -8 }, { 0, INT64_MAX, 1, 8 }, { INT64_MIN, 0, 0, 8 } };
    int64_t at[8] = { 7 };
    for (int i = 0; i < COUNT(wrong); i++) {
        assert_refused(pe_positions_packed(at, wrong[i], 3, &err), PE_ERR_SHAPE, "rise from 0");
    }
    assert_int_equal(pe_positions_packed(at, (int64_t[]){ 0, INT64_MAX }, 1, &err), PE_ERR_OVERFLOW);
    assert_int_equal(pe_positions_packed(at, (int64_t[]){ 0, 8 }, -1, &err), PE_ERR_SHAPE);
    assert_int_equal(at[0], 7);
    /* offsets that are overwritten while they are read */
    int64_t both[8] = { 0, 4, 8 };
    assert_int_equal(pe_positions_packed(both, both, 2, &err), PE_ERR_ALIAS);
    assert_int_equal(pe_positions_packed(both, both + 1, 0, &err), PE_OK);
    assert_true(both[0] == 0 && both[1] == 4 && both[2] == 8);
}

/* Packed sequences, under a mask or by their offsets, score as each does alone. */
TEST(packing_changes_no_output)
{
    enum { T = 7, D = 8 };
    static const int64_t offset[] = { 0, 3, 7 };
    double work[2000];
    uint8_t keep[T * T];
    int64_t at[T];
    uint64_t seed = 3;
    pe_encoding *e = encoding_of("rope+alibi", (pe_shape){ 1, 1, D, 0 });
    pe_view x = drawn(PE_F32, 1, T, 1, D, &seed), packed = fresh_like(x), by_offset = fresh_like(x);
    pe_run run = PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work);
    for (int i = 0; i < T * T; i++)
        keep[i] = (i / T < 3) == (i % T < 3);
    assert_ok(pe_positions_packed(at, offset, 2, &err));
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, 1);
    pe_attention a = PE_MAKE(pe_attention, .out = packed, .q = x, .k = x, .v = x, .q_at = where, .k_at = where,
                             .mask = { .causal = true, .keep = pe_view_of(keep, PE_BOOL, 1, T, 1, T) });
    assert_ok(pe_reference_forward(e, &a, &run, &err));
    a.out = by_offset;
    a.mask.keep = (pe_view){ 0 };
    a.q_lengths = a.k_lengths = (pe_lengths){ .offset = offset, .sequences = 2 };
    assert_ok(pe_reference_forward(e, &a, &run, &err));
    for (int s = 0; s < 2; s++) {
        int64_t first = offset[s], n = offset[s + 1] - first;
        pe_view one = cut(x, 0, first, n), alone = fresh_like(one);
        where = pe_positions_of(at + first, PE_I64, 1, n, 1);
        a = PE_MAKE(pe_attention, .out = alone, .q = one, .k = one, .v = one, .q_at = where, .k_at = where,
                    .mask = { .causal = true });
        assert_ok(pe_reference_forward(e, &a, &run, &err));
        same("under a mask", cut(packed, 0, first, n), alone);
        same("by offsets", cut(by_offset, 0, first, n), alone);
    }
}

/* ------------------------------------------------ grids */

TEST(a_grid_runs_width_first)
{
    int64_t at[3 * 4 * 5 * 3], n = 0;
    assert_ok(pe_positions_grid(at, 3, 4, 5, 100, &err));
    for (int64_t t = 0; t < 3; t++)
        for (int64_t h = 0; h < 4; h++)
            for (int64_t w = 0; w < 5; w++, n += 3)
                assert_true(at[n] == 100 + t && at[n + 1] == 100 + h && at[n + 2] == 100 + w);
}

TEST(the_first_frames_of_a_grid_are_a_smaller_grid)
{
    int64_t whole[6 * 3 * 2 * 3], part[6 * 3 * 2 * 3];
    assert_ok(pe_positions_grid(whole, 6, 3, 2, -4, &err));
    for (int64_t t = 0; t <= 6; t++) {
        assert_ok(pe_positions_grid(part, t, 3, 2, -4, &err));
        assert_memory_equal(part, whole, (size_t)(t * 3 * 2 * 3) * sizeof *whole);
    }
}

/* A chunk of the grid's positions, as a view, turns a chunk of tokens into the same bits. */
TEST(a_chunk_of_a_grid_rotates_as_in_the_whole)
{
    enum { T = 2 * 3 * 4, D = 64 };
    int64_t at[T * 3], apart[3 * T];
    uint64_t seed = 8;
    pe_encoding *e = encoding_of("rope:sections=8/12/12", (pe_shape){ 1, 1, D, 0 });
    pe_view in = drawn(PE_F32, 1, T, 1, D, &seed), whole = fresh_like(in), part = fresh_like(in);
    assert_ok(pe_positions_grid(at, 2, 3, 4, 0, &err));
    assert_ok(pe_rotate(e, PE_QUERY, whole, in, pe_positions_of(at, PE_I64, 1, T, 3), NULL, &err));
    for (int first = 0; first < T; first += 5) {
        int n = first + 5 > T ? T - first : 5;
        pe_positions where = pe_positions_of(at + 3 * first, PE_I64, 1, n, 3);
        assert_ok(pe_rotate(e, PE_QUERY, cut(part, 0, first, n), cut(in, 0, first, n), where, NULL, &err));
    }
    same("in chunks", part, whole);
    for (int t = 0; t < T; t++) /* (axes, tokens), as some keep them */
        for (int a = 0; a < 3; a++)
            apart[a * T + t] = at[3 * t + a];
    spoil(part);
    assert_ok(pe_rotate(e, PE_QUERY, part, in, (pe_positions){ apart, PE_I64, 1, T, 3, 0, 1, T, 0, 0 }, NULL, &err));
    same("axes first", part, whole);
}

/* ------------------------------------------------ parameters */

static const char *const combinations[] = { "t5:scale=sqrt+cope", "learned+shaw+fire+kerple", "deberta+alibi:slopes=learned",
                                            "learned:rows=14/14+window:window=14/14", "sinusoidal+alibi" };

/* Tensors follow each other without holes, in order; their names are their own. */
static void check_layout(const pe_info *row, const char *spec)
{
    pe_encoding *e = encoding_of(spec, test_shape);
    int64_t next = 0;
    pe_tensor t[40];
    int count = pe_encoding_tensor_count(e);
    assert_true(count < COUNT(t));
    for (int i = 0; i < count; i++) {
        int64_t product = 1;
        assert_non_null(pe_encoding_tensor(e, i));
        t[i] = *pe_encoding_tensor(e, i);
        assert_int_equal(t[i].offset, next);
        assert_true(t[i].rank >= 1 && t[i].rank <= 4 && *t[i].name && memchr(t[i].name, 0, sizeof t[i].name));
        for (int d = 0; d < 4; d++) {
            assert_true(d < t[i].rank ? t[i].shape[d] >= 1 : t[i].shape[d] == 0);
            product *= d < t[i].rank ? t[i].shape[d] : 1;
        }
        assert_int_equal(t[i].count, product);
        next += product;
        for (int j = 0; j < i; j++)
            assert_string_not_equal(t[i].name, t[j].name);
        if ((strchr(t[i].name, '.') == NULL) != (row != NULL))
            fail_msg("%s: tensor %s should%s be prefixed by its part", spec, t[i].name, row ? " not" : "");
    }
    assert_int_equal(pe_encoding_param_count(e), next);
    assert_null(pe_encoding_tensor(e, count));
    assert_null(pe_encoding_tensor(e, -1));
}

TEST(tensors_fill_the_block_without_holes)
{
    test_each_example(check_layout);
    for (int i = 0; i < COUNT(combinations); i++)
        check_layout(NULL, combinations[i]);
}

TEST(a_combination_has_the_tensors_of_its_parts)
{
    static const struct {
        const char *name;
        int64_t offset, shape[3];
    } wanted[] = { { "t5.table", 0, { 32, 8, 0 } }, { "cope.table", 256, { 64, 1, 64 } } };
    pe_encoding *e = encoding_of("t5:scale=sqrt+cope", test_shape);
    assert_int_equal(pe_encoding_tensor_count(e), 2);
    assert_int_equal(pe_encoding_param_count(e), 32 * 8 + 64 * 64);
    for (int i = 0; i < 2; i++) {
        const pe_tensor *t = pe_encoding_tensor(e, i);
        assert_string_equal(t->name, wanted[i].name);
        assert_int_equal(t->offset, wanted[i].offset);
        assert_memory_equal(t->shape, wanted[i].shape, sizeof wanted[i].shape);
    }
}

static double block[1 << 20], again[1 << 20];
static unsigned char narrow[1 << 20];

/* The same seed gives the same bits, in every element type rounded from the same numbers. */
static void check_init(const char *spec)
{
    pe_encoding *e = encoding_of(spec, test_shape);
    int64_t n = pe_encoding_param_count(e);
    assert_true(n <= COUNT(block));
    if (n) {
        memset(again, 0xff, sizeof again);
        assert_ok(pe_encoding_init(e, (pe_params){ block, PE_F64, n }, 42, &err));
        assert_ok(pe_encoding_init(e, (pe_params){ again, PE_F64, n }, 42, &err));
        assert_memory_equal(block, again, (size_t)n * sizeof *block);
        for (int64_t i = 0; i < n; i++)
            assert_true(isfinite(block[i]));
        float *single = (float *)(void *)again;
        assert_ok(pe_encoding_init(e, (pe_params){ single, PE_F32, n }, 42, &err));
        for (int64_t i = 0; i < n; i++)
            assert_true(single[i] == (float)block[i]);
        if (n * 2 < COUNT(narrow)) {
            assert_ok(pe_encoding_init(e, (pe_params){ narrow, PE_BF16, n }, 42, &err));
            for (int64_t i = 0; i < n; i++) {
                uint32_t bits = (uint32_t)(narrow[2 * i] | narrow[2 * i + 1] << 8) << 16;
                float x;
                memcpy(&x, &bits, 4);
                assert_true(fabs((double)x - block[i]) <= fabs(block[i]) * 0x1p-8);
            }
        }
    }
}

TEST(the_same_seed_gives_the_same_bits)
{
    each_spec(check_init, combinations, COUNT(combinations));
}

/* Element n of a normal tensor is 0.02 times twelve uniforms less six, from SplitMix64 started at the seed: written down
 * here so that every machine is held to the same bits. */
TEST(the_start_is_the_same_on_every_machine)
{
    static const double known[] = { 0x1.d2bafa559ccdp-6, -0x1.959ae78e2a751p-7, -0x1.832a3703c0ea5p-7, 0x1.d58e3198eb369p-6 };
    pe_encoding *e = encoding_of("learned", test_shape);
    int64_t n = pe_encoding_param_count(e);
    uint64_t stream = 1;
    assert_ok(pe_encoding_init(e, (pe_params){ block, PE_F64, n }, 1, &err));
    for (int64_t i = 0; i < n; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += (double)(test_random(&stream) >> 11) * 0x1p-53;
        assert_true(block[i] == 0.02 * sum);
    }
    for (int i = 0; i < COUNT(known); i++)
        if (block[i] != known[i])
            fail_msg("element %d starts as %a, not %a", i, block[i], known[i]);
}

/* Five deviations of the mean's and of the deviation's own error. */
static void assert_spread(const double *x, int64_t n, double mean, double deviation, const char *what)
{
    double sum = 0, squares = 0, root = sqrt((double)n);
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    double m = sum / (double)n, d = sqrt(squares / (double)n);
    if (fabs(m - mean) > 5 * deviation / root || fabs(d - deviation) > 5 * deviation / root)
        fail_msg("%s: mean %g, deviation %g; wanted %g and %g", what, m, d, mean, deviation);
}

TEST(starting_values_are_spread_as_stated)
{
    static const struct {
        const char *spec;
        int tensor;
        double mean, deviation, low, high;
    } cases[] = {
        { "learned", 0, 0, 0.02, -0.12, 0.12 },
        { "hierarchical", 0, 0, 0.02, -0.12, 0.12 },
        { "shaw", 0, 0, 0.02, -0.12, 0.12 },
        { "shaw", 1, 0, 0.02, -0.12, 0.12 },
        { "deberta", 1, 0, 0.02, -0.12, 0.12 },
        { "cope", 0, 0, 0.02, -0.12, 0.12 },
        { "t5", 0, 0, 0.1, -0.6, 0.6 },
        { "window", 0, 0, 0.02, -0.12, 0.12 },
        { "transformer-xl", 1, 0, 0.02, -0.12, 0.12 },
        { "fire:hidden=4096", 2, 0, 0.57735026918962576, -1, 1 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        pe_encoding *e = encoding_of(cases[i].spec, test_shape);
        const pe_tensor *t = pe_encoding_tensor(e, cases[i].tensor);
        int64_t n = pe_encoding_param_count(e);
        assert_true(n <= COUNT(block));
        assert_ok(pe_encoding_init(e, (pe_params){ block, PE_F64, n }, 7, &err));
        assert_spread(block + t->offset, t->count, cases[i].mean, cases[i].deviation, cases[i].spec);
        for (int64_t k = 0; k < t->count; k++)
            assert_true(block[t->offset + k] >= cases[i].low && block[t->offset + k] <= cases[i].high);
        assert_ok(pe_encoding_init(e, (pe_params){ again, PE_F64, n }, 8, &err));
        assert_memory_not_equal(block + t->offset, again + t->offset, (size_t)t->count * sizeof *block);
    }
}
