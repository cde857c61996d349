/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 7 s; needs: prove; sanitize: all
 *
 * Numbers of the evidence, worked out here by other means; the parts that measures are made of; properties of a spec.
 */
#include "prove_case.h"

#include "test.h"

#define PI 3.14159265358979323846

TEST(one_and_10001_are_as_far_apart_as_libm_says)
{
    prove_finding f = measured("1-and-10001", NULL);
    double square = 0, neighbours = 0;
    for (int i = 0; i < 32; i++) {
        double w = pow(10000, -2.0 * i / 64);
        square += 4 * sin(5000 * w) * sin(5000 * w); /* |e^(ia) - e^(ib)| = 2 |sin((a - b) / 2)| */
        neighbours += 4 * sin(w / 2) * sin(w / 2);
    }
    assert_true(fabs(f.number[0].value - sqrt(square)) < 1e-9);
    assert_true(fabs(number(&f, "nearest two positions, up to 2^17 apart", "0 and 1") - sqrt(neighbours)) < 1e-12);
}

TEST(integers_drown_by_the_sum_of_squares)
{
    prove_finding f = measured("integer-drowns", NULL);
    double n = 512, mean_square = (n - 1) * (2 * n - 1) / 6; /* of 0 .. n-1 */
    assert_true(fabs(number(&f, "word to code, power", "integer, word 1, 512") + 10 * log10(mean_square)) < 1e-9);
    assert_true(fabs(number(&f, "word to code, power", "sinusoidal, word 1, 512") - 10 * log10(2)) < 1e-9);
    /* words of deviation 0.02 have 34 dB less */
    assert_true(fabs(number(&f, "word to code, power", "sinusoidal, word 0.02, 512") - 10 * log10(2 * 0.0004)) < 1e-9);
}

TEST(wavelengths_end_where_the_formula_says)
{
    prove_finding f = measured("wavelengths", NULL);
    double turn = 2 * acos(-1);
    assert_true(fabs(number(&f, "longest wavelength", "sinusoidal") / (turn * pow(10000, 126.0 / 128)) - 1) < 1e-9);
    assert_true(fabs(number(&f, "longest wavelength", "sinusoidal:denominator=d-2") / (turn * 10000) - 1) < 1e-9);
}

/* Softmax over words by hand, for one head without an encoding: the weights add up, and equal words weigh the same. */
TEST(weights_are_a_softmax)
{
    static const int64_t word[] = { 3, 1, 4, 1, 5 };
    prove_given g = { .heads = 2, .head_dim = 8, .model_dim = 16, .seed = 5 };
    scene_text t = { word, NULL, COUNT(word) };
    double weights[5 * 2 * 5], out[5 * 16];
    scene s;
    assert_ok(scene_open(&s, "none", &g, &err));
    assert_ok(scene_attend(out, weights, &s, t, t, &err));
    for (int i = 0; i < 10; i++) {
        double sum = 0;
        for (int j = 0; j < 5; j++)
            sum += weights[i * 5 + j];
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(fabs(weights[i * 5 + 1] - weights[i * 5 + 3]) < 1e-15);
    }
    scene_close(&s);
}

/* A map that is known: found again, with its determinant and skew. */
TEST(least_squares_finds_the_matrix)
{
    enum { N = 6, SAMPLES = 60 };
    double truth[N * N], found[N * N], x[SAMPLES * N], y[SAMPLES * N], residual;
    measure_normals(truth, N * N, 1, 1);
    measure_normals(x, SAMPLES * N, 1, 2);
    for (int s = 0; s < SAMPLES; s++)
        for (int i = 0; i < N; i++)
            y[s * N + i] = measure_dot(truth + i * N, x + s * N, N);
    assert_ok(measure_map(found, &residual, x, N, y, N, SAMPLES, &err));
    assert_true(residual < 1e-12 && measure_difference(truth, found, N * N) < 1e-12);
    double turn[] = { 0.6, -0.8, 0.8, 0.6 }, shear[] = { 1, 1, 0, 1 }, flip[] = { 0, 1, 1, 0 };
    assert_true(measure_skew(turn, 2) < 1e-15 && fabs(measure_skew(shear, 2) - 1) < 1e-15);
    assert_true(fabs(measure_determinant(turn, 2) - 1) < 1e-15 && fabs(measure_determinant(flip, 2) + 1) < 1e-15);
}

TEST(a_shuffle_is_a_permutation)
{
    int64_t order[50];
    bool seen[50] = { false }, moved = false;
    uint64_t random = 3;
    measure_shuffle(order, 50, &random);
    for (int i = 0; i < 50; i++) {
        assert_true(order[i] >= 0 && order[i] < 50 && !seen[order[i]]);
        seen[order[i]] = true;
        moved = moved || order[i] != i;
    }
    assert_true(moved);
}

TEST(what_a_number_is_of_has_both_languages)
{
    prove_finding f = { 0 };
    prove_add_at(&f, (words){ "x", "某" }, (words){ "length %.9g, twice", "长度 %.9g，两次" }, 64, 1, "");
    assert_string_equal(f.number[0].of, "length 64, twice");
    assert_string_equal(f.number[0].of_zh, "长度 64，两次");
    prove_add_at(&f, (words){ "x", "某" }, (words){ "no mask", "无掩码" }, 0, 1, "");
    assert_string_equal(f.number[1].of_zh, "无掩码");
}

TEST(properties_say_what_test_claims_says)
{
    property_found p[CLAIM_COUNT];
    assert_ok(prove_properties(p, "rope", test_shape, &err));
    for (int b = 0; b < CLAIM_COUNT; b++) {
        bool none = p[b].claim == PE_CLAIM_AXES; /* one axis cannot mix */
        assert_int_equal(p[b].claim, 1u << b);
        assert_true(p[b].what.en && p[b].what.zh);
        property_outcome no = p[b].claim == PE_CLAIM_LEARNED ? PROPERTY_NO : PROPERTY_FAILS; /* no merit, no failure */
        assert_int_equal(p[b].is, none ? PROPERTY_NO_MEANING : p[b].claimed ? PROPERTY_HOLDS : no);
    }
    assert_int_equal(prove_properties(p, "rope:theta=no", test_shape, &err), PE_ERR_SPEC);
    assert_true(*err.text);
}

/* A part whose code follows the length makes that of the whole do so, whatever stands beside it and wherever. */
TEST(a_combination_has_any_length_where_every_part_has)
{
    static const struct {
        const char *spec;
        property_outcome is;
    } tries[] = {
        { "sinusoidal:theta=100+normalised", PROPERTY_FAILS },
        { "normalised+sinusoidal:theta=100", PROPERTY_FAILS },
        { "normalised:length=64+sinusoidal", PROPERTY_FAILS },
        { "sinusoidal+rope:scaling=dynamic,factor=2,trained=64", PROPERTY_FAILS },
        { "rope:axes=2,split=axial,coords=normalised,extent=14/14+alibi", PROPERTY_FAILS },
        { "sinusoidal:theta=100+alibi", PROPERTY_HOLDS },
        { "sinusoidal+fire:length=64", PROPERTY_HOLDS }, /* where L starts, not how long the text is */
    };
    for (int i = 0; i < COUNT(tries); i++) {
        property_found p[CLAIM_COUNT];
        if (prove_properties(p, tries[i].spec, (pe_shape){ 2, 1, 8, 16 }, &err))
            fail_msg("%s: %s", tries[i].spec, err.text);
        for (int b = 0; b < CLAIM_COUNT; b++)
            if (p[b].claim == PE_CLAIM_ANY_LENGTH && p[b].is != tries[i].is)
                fail_msg("%s: any-length is %d, should be %d", tries[i].spec, p[b].is, tries[i].is);
    }
}

TEST(words_and_codes_meet_as_random_vectors_do)
{
    prove_finding f = measured("orthogonal", NULL);
    for (int d = 8; d <= 1024; d *= 2) { /* the mean of |cos| between random directions is sqrt(2 / (pi d)) */
        char of[40];
        snprintf(of, sizeof of, "d = %d", d);
        double law = sqrt(2 / (PI * d));
        double is = number(&f, "mean |cos| of words and codes", of);
        assert_true(is > 0.8 * law && is < 1.2 * law);
    }
}

TEST(the_matrix_has_two_elements_a_row_and_the_cost_follows)
{
    prove_finding f = measured("rope-matrix", NULL);
    assert_true(fabs(number(&f, "elements of R that are 0", NULL) - 100 * (1 - 2.0 / 128)) < 1e-9);
    f = measured("concatenating-costs", NULL);
    assert_true(number(&f, "parameters of W_q, W_k, W_v", "sinusoidal:join=concat,width=64") == 3.0 * (512 + 64) * 512);
}

TEST(slow_pairs_are_those_whose_wavelength_is_longer_than_the_context)
{
    prove_finding f = measured("rope-bands", NULL);
    static const double theta[] = { 10000, 500000 };
    for (int t = 0; t < 2; t++)
        for (long n = 4096; n <= 131072; n *= 2) {
            int slow = 0;
            char of[64];
            for (int i = 0; i < 64; i++)
                slow += 2 * PI * pow(theta[t], i / 64.0) > (double)n;
            snprintf(of, sizeof of, "rope:theta=%.0f, n = %ldk", theta[t], n / 1024);
            assert_true(fabs(number(&f, "pairs that complete less than one rotation", of) - 100 * slow / 64.0) < 1e-9);
        }
}

/* T5's formula: 16 + floor(16 log(d / 16) / log(128 / 16)), of 32 causal buckets. */
TEST(buckets_begin_where_the_formula_says)
{
    prove_finding f = measured("t5-buckets", NULL);
    for (int bucket = 17; bucket < 32; bucket++) {
        int d = 16;
        char of[16];
        while (16 + (int)floor(16 * log(d / 16.0) / log(8) + 1e-9) < bucket)
            d++;
        snprintf(of, sizeof of, "%d", bucket);
        assert_true(number(&f, "first distance of bucket", of) == d);
    }
}

/* Codes 0, 1, .. in bfloat16: 8 bits of them, the rest is rounded off. */
static double integer_in_bf16(long length)
{
    double noise = 0;
    for (long run = 0; run < 32; run++)
        for (long n = 0; n < 32; n++) {
            double t = (double)(run * ((length - 32) / 31) + n), unit = 1;
            while (t >= 256 * unit)
                unit *= 2;
            double off = nearbyint(t / unit) * unit - t;
            noise += off * off / 1024;
        }
    return 10 * log10(1 / noise);
}

/* At its first size alone, which is many times as fast. */
static prove_finding rounded(const char *claim)
{
    prove_given g = claim_of(claim)->given;
    g.heads = 2;
    g.head_dim = 32;
    return measured(claim, &g);
}

TEST(bfloat16_drowns_the_step_of_integers_by_as_much_as_its_bits_say)
{
    prove_finding f = rounded("bfloat16-is-enough");
    assert_true(fabs(number(&f, "step against rounding", "integer, d = 64, n = 4096") - integer_in_bf16(4096)) < 1e-6);
    assert_true(fabs(number(&f, "step against rounding", "integer, d = 64, n = 131072") - integer_in_bf16(131072)) < 1e-6);
    for (int n = 2; n < f.count; n++) { /* ranked: the best first, within a length */
        const char *size = strstr(f.number[n].of, "d = "), *before = strstr(f.number[n - 1].of, "d = ");
        bool same = size && before && !strcmp(size, before);
        bool both = !strcmp(f.number[n].unit, "dB") && !strcmp(f.number[n - 1].unit, "dB");
        assert_true(!same || !both || f.number[n].value <= f.number[n - 1].value);
    }
}

/* What is exact, what overflows and what is left out has no number of dB. */
TEST(what_is_no_ratio_is_told_as_what_it_is)
{
    prove_finding f = rounded("float16-is-enough");
    assert_true(number(&f, "exact: rounding error", "binary, d = 64, n = 4096") == 0);
    assert_true(number(&f, "numbers that overflow", "xpos, d = 64, n = 131072") > 1);
    int told = 0, rows = 0;
    for (int n = 1; n < f.count; n++)
        told += strstr(f.number[n].of, ", d = 64, n = 131072") != NULL;
    for (int n = 0; n < pe_info_count(); n++)
        rows += pe_info_at(n)->hooks != 0;
    assert_int_equal(number(&f, "left out: tables of more than 2^20 numbers", "d = 64, n = 131072"), rows - told);
}

/* A number is off by a part in 2^9 at most, uniformly in its last place: q.k by about 2^-9 sqrt(2/3) of its size. */
TEST(rotated_and_stored_scores_move_by_as_much_as_the_type_rounds)
{
    prove_given g = claim_of("bfloat16-breaks-relative")->given;
    prove_finding f = measured("bfloat16-breaks-relative", &g);
    static const char *const what = "change of scores at equal distance, rotated and then stored";
    double bf16 = number(&f, what, "bfloat16, + 131072, head_dim = 128");
    double f32 = number(&f, what, "float32, + 131072, head_dim = 128");
    assert_true(bf16 > 100 * 0x1p-10 && bf16 < 100 * 0x1p-7);
    assert_true(f32 > 0 && f32 < 0.1); /* per cent: less than the claim calls broken */
    assert_true(bf16 / f32 > 0x1p15 && bf16 / f32 < 0x1p17); /* 16 bits more */
    /* position 257 is none of bfloat16's: angles made in it are others */
    assert_true(number(&f, "change of scores at equal distance, angles in that type too",
                       "bfloat16, + 4096, head_dim = 128") > 50);
}

TEST(the_bound_at_one_token_is_the_papers_sum)
{
    prove_finding f = measured("rope-bound-decays", NULL);
    double re = 0, im = 0, sum = 0;
    for (int i = 0; i < 64; i++) {
        double angle = pow(10000, -i / 64.0);
        re += cos(angle);
        im += sin(angle);
        sum += sqrt(re * re + im * im);
    }
    assert_true(fabs(number(&f, "bound, mean over distances from n to 2n", "head_dim = 128, n = 1") - sum / 64) < 1e-9);
    /* every distance is summed: the octaves from 4096 on differ by less than samples would */
    static const double octave[] = { 4.6714, 4.6587, 4.7004 };
    for (int i = 0; i < 3; i++) {
        char of[40];
        snprintf(of, sizeof of, "head_dim = 128, n = %d", 4096 << i);
        assert_true(fabs(number(&f, "bound, mean over distances from n to 2n", of) - octave[i]) < 5e-5);
    }
    assert_true(f.number[0].value == 16384);
    static const char *const reach = "distance up to which each doubling lowers it"; /* other widths, other distances */
    assert_true(number(&f, reach, "rope, head_dim = 64") == 4096 && number(&f, reach, "rope, head_dim = 256") == 32768);
}

/* p(t).p(t+k) / p.p is the mean of cos(k w): its means over [k, 2k) fall up to 16384 and no further. */
TEST(the_dot_product_is_the_mean_of_cosines_and_its_octaves_fall_so_far)
{
    prove_finding f = measured("decaying-dot", NULL);
    double fell = 2, before = INFINITY, w[64];
    bool falls = true;
    for (int i = 0; i < 64; i++)
        w[i] = pow(10000, -i / 64.0);
    for (int from = 1; from <= 1 << 14; from *= 2) {
        double mean = 0;
        char of[40];
        for (int k = from; k < 2 * from; k++)
            for (int i = 0; i < 64; i++)
                mean += cos(k * w[i]) / 64 / from;
        snprintf(of, sizeof of, "sinusoidal, d = 128, k = %d", from);
        assert_true(fabs(number(&f, "mean of p(t).p(t+k) / p.p from k to 2k", of) - mean) < 1e-9);
        falls = falls && mean < before;
        fell = falls ? 2 * from : fell;
        before = mean;
    }
    assert_true(number(&f, "distance up to which each doubling lowers the mean", "sinusoidal, d = 128") == fell);
    assert_true(fell < number(&f, "distances measured", NULL));
}

TEST(waves_are_counted_whatever_their_layout_and_only_waves)
{
    static const char *const same[] = { "sinusoidal", "sinusoidal:layout=halves", "sinusoidal:order=cos-sin,offset=2",
                                        "sinusoidal:join=concat,width=128" };
    int slow = 0;
    for (int i = 0; i < 64; i++)
        slow += 2 * PI * pow(10000, i / 64.0) > 256;
    for (int n = 0; n < COUNT(same); n++) {
        prove_finding f;
        assert_int_equal(prove_measure(&f, claim_of("sinusoids-extrapolate"), same[n], (pe_shape){ 0 }, (prove_means){ 0 }, NULL), PE_OK);
        assert_true(fabs(f.number[0].value - 100 * slow / 64.0) < 1e-9);
        assert_true(number(&f, "largest element past it, up to 2^30", NULL) <= 1);
        assert_null(strpbrk(f.because.en, "0123456789")); /* figures are in the evidence */
    }
    static const char *const others[] = { "integer", "binary", "learned", "normalised", "rope" };
    for (int n = 0; n < COUNT(others); n++) {
        prove_finding f;
        assert_int_equal(prove_measure(&f, claim_of("sinusoids-extrapolate"), others[n], (pe_shape){ 0 }, (prove_means){ 0 }, NULL),
                         PE_ERR_UNSUITED);
    }
}

TEST(tokens_without_residuals_become_one)
{
    prove_given g = claim_of("no-residuals-no-position")->given;
    g.heads = 4;
    g.head_dim = 8;
    g.length = 16;
    prove_finding f = measured("no-residuals-no-position", &g);
    double before = 100;
    for (int l = 0; l <= 6; l++) {
        char of[60], fitted[60];
        snprintf(of, sizeof of, "sinusoidal, d = 32, H = 4, %d", l);
        snprintf(fitted, sizeof fitted, "sinusoidal, d = 32, H = 4, n = 672, %d", l); /* 42 texts of 16 tokens */
        double r2 = number(&f, "R^2 after so many layers", fitted);
        double spread = number(&f, "tokens less their mean, of their size, after layers", of);
        assert_true(r2 >= 0 && r2 <= 1);
        assert_true(spread <= before * 1.1);
        before = spread < 1e-4 ? 1e-4 : spread; /* per cent: float32's rounding */
    }
    assert_true(before < 1e-3);
}

/* 32 elements and a 1 are 33 unknowns: 84 tokens, the least fit here, are not three times as many, and are shown only. */
TEST(a_probe_that_is_fitted_on_too_few_tokens_is_not_counted)
{
    prove_given g = claim_of("residuals-carry-position")->given;
    g.heads = 4;
    g.head_dim = 8;
    g.length = 12;
    prove_finding f = measured("residuals-carry-position", &g);
    assert_string_equal(f.number[0].of, "/ 40"); /* 20 seeds, 504 and 252 tokens */
    number(&f, "least R^2 of any layer, of that of the input", "sinusoidal, d = 32, H = 4, n = 504");
    number(&f, "the same, too few tokens fitted, not counted", "sinusoidal, d = 32, H = 4, n = 84");
}

/* Of no code nothing can be kept: such runs are counted apart. */
TEST(a_place_that_the_input_does_not_have_cannot_be_lost)
{
    prove_given g = claim_of("residuals-carry-position")->given;
    g.heads = 4;
    g.head_dim = 8;
    g.spec[0] = "none";
    prove_finding f = measured("residuals-carry-position", &g);
    assert_int_equal(f.verdict, PROVE_REFUTED);
    assert_int_equal(f.number[0].value, 0);
    assert_true(number(&f, "left out: runs whose input tells no place", NULL) > 0);
    assert_non_null(strstr(f.because.en, "nothing to keep"));
}

/* The rule names the sizes that are measured: the claim's own, or those that are given. */
TEST(a_rule_names_the_sizes_it_is_measured_at)
{
    static const struct {
        const char *claim;
        pe_shape shape;
        const char *says, *lacks;
    } row[] = {
        { "two-dogs", { 0 }, "and 512 with 8 (20 seeds each)", "head_dim" },
        { "two-dogs", { .heads = 2, .head_dim = 8 }, "Sizes: heads 2, head_dim 8, model_dim 16.", "512" },
        { "residuals-carry-position", { 0 }, "width 512 with 8 heads", "head_dim" },
        { "residuals-carry-position", { .heads = 4, .head_dim = 16 }, "Sizes: heads 4, head_dim 16", "512" },
        { "bfloat16-is-enough", { .heads = 1, .head_dim = 8 }, "Sizes: heads 1, head_dim 8", "512" },
        { "bfloat16-breaks-relative", { 0 }, "Sizes: head_dim 128.", "heads" },
        { "trained-reach", { 0 }, "near means nearer than halfway.", "Sizes" },
    };
    char rule[PROVE_RULE_ROOM];
    for (int n = 0; n < COUNT(row); n++)
        for (int l = 0; l < 2; l++) {
            prove_rule(rule, claim_of(row[n].claim), row[n].shape, NULL, l ? CHINESE : ENGLISH);
            if (!l && (!strstr(rule, row[n].says) || strstr(rule, row[n].lacks)))
                fail_msg("%s: %s", row[n].claim, rule);
            assert_true(strlen(rule) < PROVE_RULE_ROOM - 1);
        }
}

/* Every seed is another draw, the pool changes no bit, and the spread is that of the seeds. */
TEST(seeds_differ_and_a_pool_changes_nothing)
{
    prove_given g = claim_of("two-dogs")->given;
    g.spec[0] = "rope";
    g.spec[1] = "t5";
    pe_pool *pool;
    prove_finding one = measured("two-dogs", &g), many;
    assert_ok(pe_pool_new(&pool, 3, &err));
    g.pool = pool;
    many = measured("two-dogs", &g);
    pe_pool_free(pool);
    assert_int_equal(one.count, many.count);
    for (int n = 0; n < one.count; n++) {
        assert_memory_equal(&one.number[n].value, &many.number[n].value, sizeof(double));
        assert_true(!one.number[n].seeds || one.number[n].least <= one.number[n].value);
        assert_true(!one.number[n].seeds || one.number[n].value <= one.number[n].most);
        if (!strcmp(one.number[n].of, "rope"))
            assert_true(one.number[n].seeds == MEASURE_RUNS && one.number[n].least < one.number[n].most);
    }
}

TEST(a_square_root_by_cholesky_solves_its_equations)
{
    enum { N = 9 };
    double x[N * N], a[N * N], b[N * 2], truth[N * 2];
    measure_normals(x, N * N, 1, 1);
    measure_normals(truth, N * 2, 1, 2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = measure_dot(x + i * N, x + j * N, N) + (i == j);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++) {
            b[i * 2 + c] = 0;
            for (int j = 0; j < N; j++)
                b[i * 2 + c] += a[i * N + j] * truth[j * 2 + c];
        }
    measure_cholesky(a, N);
    measure_cholesky_solve(a, N, b, 2);
    assert_true(measure_difference(b, truth, N * 2) < 1e-9);
}

TEST(costs_are_counted_by_where_position_enters)
{
    prove_given g = claim_of("costs-no-memory")->given;
    g.length = 1024;
    prove_finding f = measured("costs-no-memory", &g);
    double sum = 0;
    for (int n = 1; n < f.count; n++)
        sum += strstr(f.number[n].what.en, "above it, ") ? f.number[n].value : 0;
    assert_true(sum == f.number[0].value); /* no row enters at two of the four */
    assert_true(number(&f, "above it, of those that rotate q and k", NULL) == 0);
}

TEST(a_count_of_keys_is_called_one)
{
    prove_finding f;
    assert_int_equal(prove_measure(&f, claim_of("only-the-distance"), "cope", (pe_shape){ 0 }, (prove_means){ 0 }, NULL), PE_OK);
    assert_non_null(strstr(f.number[0].what.en, "count of keys"));
    assert_int_equal(prove_measure(&f, claim_of("only-the-distance"), "none", (pe_shape){ 0 }, (prove_means){ 0 }, NULL), PE_OK);
    assert_non_null(strstr(f.number[0].what.en, "nowhere"));
}
