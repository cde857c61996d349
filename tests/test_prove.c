/* labels: core; tier: test; cost: 5 s; needs: prove wrap
 * SPDX-License-Identifier: MIT
 *
 * posenc_prove: every claim has its verdict and, given something for which the verdict must turn, turns; both languages
 * are whole; numbers agree with a second computation; an allocation that fails is told. Groups terms, rope, relative
 * and numbers: test_prove_more.c. */
#include "common.h"
#include "heap.h"

#include "prove/measure.h"

#define EACH_CLAIM(c)                                                                                                  \
    for (int g = 0; g < prove_group_count; g++)                                                                        \
        for (const prove_claim *c = prove_groups[g]->claims; c < prove_groups[g]->claims + prove_groups[g]->count; c++)

static const prove_claim *claim_named(const char *name)
{
    const prove_claim *c = prove_claim_named(name);
    if (!c)
        fail_msg("no claim is called %s", name);
    return c;
}

static prove_finding measured(const prove_claim *c, const prove_given *g)
{
    pe_error err = { 0 };
    prove_finding f = { 0 };
    if (c->measure(&f, g, &err))
        fail_msg("%s: %s", c->name, err.text);
    return f;
}

static double number_of(const prove_finding *f, const char *what, const char *of)
{
    for (int n = 0; n < f->count; n++)
        if (!strcmp(f->number[n].what.en, what) && !strcmp(f->number[n].of, of))
            return f->number[n].value;
    fail_msg("no number is called %s of %s", what, of);
    return NAN;
}

/* ------------------------------------------------ verdicts */

static void cause_causal(prove_given *g)
{
    g->causal = !g->causal;
}

static void cause_rope(prove_given *g)
{
    g->spec[0] = "rope";
    g->spec[1] = NULL;
}

static void cause_symmetric_rows(prove_given *g)
{
    static const char *const rows[] = { "none", "rope", "t5", "alibi:form=symmetric" };
    for (int i = 0; i < COUNT(rows); i++)
        g->spec[i] = rows[i];
}

static void cause_none_and_none(prove_given *g)
{
    g->spec[0] = g->spec[1] = "none";
}

static void cause_directed(prove_given *g)
{
    g->spec[1] = "t5"; /* sees the sign of i - j */
}

static void cause_undirected(prove_given *g)
{
    g->spec[0] = "alibi:form=symmetric";
}

static void cause_sinusoid(prove_given *g)
{
    g->spec[0] = "sinusoidal";
}

static void cause_binary(prove_given *g)
{
    g->spec[0] = "binary";
}

static void cause_integer(prove_given *g)
{
    g->spec[0] = "integer";
}

static void cause_four_bits(prove_given *g)
{
    g->spec[0] = "binary:join=concat,width=4"; /* 10000 is 625 times 16 */
}

static void cause_other_denominator(prove_given *g)
{
    g->spec[0] = "sinusoidal:denominator=d-2";
    g->spec[1] = NULL;
}

static void cause_one_denominator(prove_given *g)
{
    g->spec[1] = NULL;
}

static void cause_halves(prove_given *g)
{
    g->spec[0] = "sinusoidal:layout=halves"; /* the first half of the dimensions are all the sines */
}

static void cause_short(prove_given *g)
{
    g->length = 64;
}

static void cause_fast_waves(prove_given *g)
{
    g->spec[0] = "sinusoidal:theta=10"; /* the longest wave is 61 positions */
}

/* Reversal is also seen by a row that is not in the list; a mask makes two dogs differ without an encoding. */
static const struct {
    const char *claim;
    prove_verdict is;
    void (*cause)(prove_given *g);
    prove_verdict turned;
} verdicts[] = {
    { "two-dogs", PROVE_DEPENDS, cause_causal, PROVE_REFUTED },
    { "two-dogs", PROVE_DEPENDS, cause_symmetric_rows, PROVE_HOLDS },
    { "order-blind", PROVE_HOLDS, cause_rope, PROVE_REFUTED },
    { "order-blind", PROVE_HOLDS, cause_causal, PROVE_REFUTED },
    { "pooled-blind", PROVE_HOLDS, cause_rope, PROVE_REFUTED },
    { "cross-blind", PROVE_HOLDS, cause_rope, PROVE_REFUTED },
    { "order-seen", PROVE_HOLDS, cause_none_and_none, PROVE_REFUTED },
    { "causal-mask", PROVE_HOLDS, cause_causal, PROVE_REFUTED },
    { "causal-mask", PROVE_HOLDS, cause_rope, PROVE_REFUTED },
    { "reversal-blind", PROVE_HOLDS, cause_directed, PROVE_REFUTED },
    { "reversal-seen", PROVE_DEPENDS, cause_undirected, PROVE_REFUTED },
    { "reversal-seen", PROVE_DEPENDS, cause_rope, PROVE_HOLDS },
    { "integer-drowns", PROVE_HOLDS, cause_sinusoid, PROVE_REFUTED },
    { "binary-jumps", PROVE_HOLDS, cause_sinusoid, PROVE_REFUTED },
    { "sinusoids-smooth", PROVE_HOLDS, cause_binary, PROVE_REFUTED },
    { "bit-periods", PROVE_HOLDS, cause_sinusoid, PROVE_REFUTED },
    { "fractions-depend", PROVE_HOLDS, cause_binary, PROVE_REFUTED },
    { "shift-rotates", PROVE_HOLDS, cause_binary, PROVE_REFUTED },
    { "wavelengths", PROVE_DEPENDS, cause_other_denominator, PROVE_HOLDS },
    { "wavelengths", PROVE_DEPENDS, cause_one_denominator, PROVE_REFUTED },
    { "symmetric-dot", PROVE_HOLDS, cause_integer, PROVE_REFUTED },
    { "decaying-dot", PROVE_DEPENDS, cause_integer, PROVE_REFUTED },
    { "1-and-10001", PROVE_REFUTED, cause_four_bits, PROVE_HOLDS },
    { "first-dims", PROVE_DEPENDS, cause_halves, PROVE_REFUTED },
    { "first-dims", PROVE_DEPENDS, cause_short, PROVE_HOLDS },
    { "sinusoids-extrapolate", PROVE_DEPENDS, cause_fast_waves, PROVE_HOLDS },
};

static void same_bits(const prove_claim *c, const prove_finding *a, const prove_finding *b)
{
    assert_int_equal(a->count, b->count);
    for (int n = 0; n < a->count; n++)
        if (memcmp(&a->number[n].value, &b->number[n].value, sizeof(double)))
            fail_msg("%s: %s is %g, then %g", c->name, a->number[n].what.en, a->number[n].value, b->number[n].value);
}

static void a_verdict_turns_where_it_must(void **state)
{
    (void)state;
    prove_finding was = { 0 };
    for (int i = 0; i < COUNT(verdicts); i++) {
        const prove_claim *c = claim_named(verdicts[i].claim);
        prove_given g = c->given;
        prove_finding now = measured(c, &g);
        if (i && !strcmp(verdicts[i].claim, verdicts[i - 1].claim))
            same_bits(c, &was, &now); /* nothing depends on what was measured before */
        was = now;
        verdicts[i].cause(&g);
        prove_finding is = measured(c, &g);
        if (was.verdict != verdicts[i].is || is.verdict != verdicts[i].turned)
            fail_msg("%s: %s, then %s; should be %s, then %s", c->name, prove_verdict_words(was.verdict).en,
                     prove_verdict_words(is.verdict).en, prove_verdict_words(verdicts[i].is).en,
                     prove_verdict_words(verdicts[i].turned).en);
        assert_true(is.because.en && is.because.zh);
    }
}

static void every_claim_of_these_groups_has_a_planted_failure(void **state)
{
    static const char *const groups[] = { "order", "codes", "sinusoids" };
    (void)state;
    for (int g = 0; g < COUNT(groups); g++) {
        const prove_group *group = prove_group_named(groups[g]);
        assert_non_null(group);
        for (int c = 0; c < group->count; c++) {
            bool planted = false;
            for (int i = 0; i < COUNT(verdicts); i++)
                planted = planted || !strcmp(verdicts[i].claim, group->claims[c].name);
            if (!planted)
                fail_msg("%s has no planted failure", group->claims[c].name);
        }
    }
}

/* ------------------------------------------------ what every claim owes */

static void whole_words(const prove_claim *c, words w, const char *what)
{
    if (!w.en || !*w.en || !w.zh || !*w.zh)
        fail_msg("%s: %s lacks a language", c->name, what);
}

static void every_claim_is_whole_in_both_languages(void **state)
{
    (void)state;
    EACH_CLAIM(c)
    {
        prove_finding f = measured(c, &c->given);
        whole_words(c, c->claim, "the claim");
        whole_words(c, f.because, "because");
        assert_true(c->source && *c->source);
        assert_in_range(f.count, 1, PROVE_NUMBERS_MAX - 1); /* full: some may be left out */
        for (int n = 0; n < f.count; n++) {
            whole_words(c, f.number[n].what, "a number's name");
            if (!f.number[n].unit)
                fail_msg("%s: %s has no unit", c->name, f.number[n].what.en);
        }
        if (!isfinite(f.number[0].value))
            fail_msg("%s: the number that decides is %g", c->name, f.number[0].value);
    }
    for (int g = 0; g < prove_group_count; g++)
        assert_true(prove_groups[g]->title.en && prove_groups[g]->title.zh && prove_groups[g]->count > 0);
    for (int b = 0; b < CLAIM_COUNT; b++)
        assert_true(*prove_property_words(1u << b).en && *prove_property_words(1u << b).zh);
}

static bool is_row(const char *name)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, name))
            return true;
    return false;
}

/* A word of the command line is a spec, a group or a claim, and never two of them. */
static void names_are_told_apart(void **state)
{
    (void)state;
    for (int g = 0; g < prove_group_count; g++)
        assert_true(!is_row(prove_groups[g]->name) && !prove_claim_named(prove_groups[g]->name));
    EACH_CLAIM(c)
    {
        assert_false(is_row(c->name));
        if (prove_claim_named(c->name) != c)
            fail_msg("two claims are called %s", c->name);
    }
    assert_null(prove_claim_named("two-cats"));
    assert_null(prove_group_named("two-dogs"));
}

/* A claim that takes a spec measures it, or says why it cannot; one word of registry each is enough. */
static void a_spec_takes_the_place_of_a_claims_own(void **state)
{
    (void)state;
    prove_finding f;
    pe_error err = { 0 };
    assert_ok(prove_measure(&f, claim_named("order-blind"), "alibi", &err));
    assert_int_equal(f.verdict, PROVE_REFUTED);
    assert_string_equal(f.number[0].of, "alibi");
    assert_ok(prove_measure(&f, claim_named("order-blind"), NULL, &err));
    assert_string_equal(f.number[0].of, "none");
    assert_int_equal(prove_measure(&f, claim_named("binary-jumps"), "rope", &err), PE_ERR_UNSUITED);
    assert_non_null(strstr(err.text, "adds no code"));
    assert_int_equal(prove_measure(&f, claim_named("order-blind"), "nonsense", &err), PE_ERR_SPEC);
}

static prove_finding put_to(const char *claim, const char *spec, pe_shape shape)
{
    pe_error err = { 0 };
    prove_finding f;
    if (prove_measure_as(&f, claim_named(claim), spec, shape, &err))
        fail_msg("%s %s: %s", claim, spec, err.text);
    return f;
}

/* Only the sizes that are given change; those that cannot be measured are refused. */
static void sizes_take_the_place_of_a_claims_own(void **state)
{
    (void)state;
    pe_error err = { 0 };
    prove_finding f, narrow = put_to("integer-drowns", "sinusoidal", (pe_shape){ 0 }),
                     wide = put_to("integer-drowns", "sinusoidal", (pe_shape){ .head_dim = 32 });
    double change = number_of(&narrow, "change from first to last, after LayerNorm", "sinusoidal");
    assert_true(change != number_of(&wide, "change from first to last, after LayerNorm", "sinusoidal"));
    put_to("order-blind", "rope:theta=1000000,sections=16/24/24", (pe_shape){ .head_dim = 128 });
    assert_int_equal(prove_measure_as(&f, claim_named("order-blind"), "rope", (pe_shape){ .heads = 60000 }, &err),
                     PE_ERR_SHAPE);
    assert_non_null(strstr(err.text, "heads is 60000"));
    assert_int_equal(
        prove_measure_as(&f, claim_named("order-blind"), "rope", (pe_shape){ .heads = 128, .head_dim = 512 }, &err),
        PE_ERR_SHAPE);
}

/* Of none the number, the verdict and the reason say the same. */
static void what_is_put_to_a_spec_is_said_of_it(void **state)
{
    static const struct {
        const char *claim, *spec;
        prove_verdict is;
    } puts[] = {
        { "two-dogs", "none", PROVE_REFUTED },        { "two-dogs", "rope", PROVE_HOLDS },
        { "order-seen", "none", PROVE_REFUTED },      { "order-seen", "alibi", PROVE_HOLDS },
        { "reversal-seen", "none", PROVE_REFUTED },   { "reversal-seen", "sandwich", PROVE_REFUTED },
        { "reversal-seen", "t5", PROVE_HOLDS },       { "bit-periods", "binary", PROVE_HOLDS },
        { "bit-periods", "sinusoidal", PROVE_REFUTED }, { "integer-drowns", "integer", PROVE_HOLDS },
    };
    (void)state;
    for (int i = 0; i < COUNT(puts); i++) {
        prove_finding f = put_to(puts[i].claim, puts[i].spec, (pe_shape){ 0 });
        if (f.verdict != puts[i].is)
            fail_msg("%s %s: %s", puts[i].claim, puts[i].spec, prove_verdict_words(f.verdict).en);
        if (!strncmp(puts[i].claim, "two", 3) || strstr(puts[i].claim, "seen"))
            assert_true((f.number[0].value > 1e-9) == (f.verdict == PROVE_HOLDS));
    }
    EACH_CLAIM(c)
    {
        if (c->put.en)
            whole_words(c, c->put, "the sentence that is put");
        assert_true(prove_takes_spec(c) == (c->takes && c->put.en));
        assert_string_equal(prove_sentence(c, NULL).en, c->claim.en);
    }
}

/* A table about which the spec says nothing is made to reach; one that is given stays. */
static void tables_reach_as_far_as_a_claim_looks(void **state)
{
    (void)state;
    prove_finding f = put_to("order-blind", "transformer-xl", (pe_shape){ 0 });
    pe_error err = { 0 };
    assert_non_null(strstr(f.number[0].of, "ahead="));
    assert_int_equal(prove_measure(&f, claim_named("order-blind"), "transformer-xl:ahead=2", &err), PE_ERR_POSITION);
    assert_true(*err.text);
    char spec[200];
    assert_true(measure_fit(spec, sizeof spec, "learned", 700));
    assert_string_equal(spec, "learned:rows=700");
    assert_false(measure_fit(spec, sizeof spec, "learned:rows=3", 700));
    assert_false(measure_fit(spec, sizeof spec, "alibi", 700));
    assert_false(measure_fit(spec, 12, "learned", 700));
}

static void what_a_number_is_of_has_both_languages(void **state)
{
    (void)state;
    prove_finding f = { 0 };
    prove_add_at(&f, (words){ "x", "某" }, (words){ "length %.9g, twice", "长度 %.9g，两次" }, 64, 1, "");
    assert_string_equal(f.number[0].of, "length 64, twice");
    assert_string_equal(f.number[0].of_zh, "长度 64，两次");
    prove_add_at(&f, (words){ "x", "某" }, (words){ "no mask", "无掩码" }, 0, 1, "");
    assert_string_equal(f.number[1].of_zh, "无掩码");
}

/* ------------------------------------------------ numbers, computed once more by hand */

static void one_and_10001_are_as_far_apart_as_libm_says(void **state)
{
    (void)state;
    prove_finding f = measured(claim_named("1-and-10001"), &claim_named("1-and-10001")->given);
    double square = 0, neighbours = 0;
    for (int i = 0; i < 32; i++) {
        double w = pow(10000, -2.0 * i / 64);
        square += 4 * sin(5000 * w) * sin(5000 * w); /* |e^(ia) - e^(ib)| = 2 |sin((a - b) / 2)| */
        neighbours += 4 * sin(w / 2) * sin(w / 2);
    }
    assert_true(fabs(f.number[0].value - sqrt(square)) < 1e-9);
    assert_true(fabs(number_of(&f, "nearest two positions, up to 2^17 apart", "0 and 1") - sqrt(neighbours)) < 1e-12);
}

static void integers_drown_by_the_sum_of_squares(void **state)
{
    (void)state;
    prove_finding f = measured(claim_named("integer-drowns"), &claim_named("integer-drowns")->given);
    double n = 512, mean_square = (n - 1) * (2 * n - 1) / 6; /* of 0 .. n-1 */
    assert_true(fabs(number_of(&f, "word to code, power", "integer, 512") + 10 * log10(mean_square)) < 1e-9);
    assert_true(fabs(number_of(&f, "word to code, power", "sinusoidal, 512") - 10 * log10(2)) < 1e-9);
}

static void wavelengths_end_where_the_formula_says(void **state)
{
    (void)state;
    prove_finding f = measured(claim_named("wavelengths"), &claim_named("wavelengths")->given);
    double turn = 2 * acos(-1);
    assert_true(fabs(number_of(&f, "longest wavelength", "sinusoidal") / (turn * pow(10000, 126.0 / 128)) - 1) < 1e-9);
    assert_true(fabs(number_of(&f, "longest wavelength", "sinusoidal:denominator=d-2") / (turn * 10000) - 1) < 1e-9);
}

/* Softmax over words by hand, for one head without an encoding: the weights add up, and equal words weigh the same. */
static void weights_are_a_softmax(void **state)
{
    (void)state;
    static const int64_t word[] = { 3, 1, 4, 1, 5 };
    prove_given g = { .heads = 2, .head_dim = 8, .model_dim = 16, .seed = 5 };
    scene_text t = { word, NULL, COUNT(word) };
    double weights[5 * 2 * 5], out[5 * 16];
    pe_error err = { 0 };
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
static void least_squares_finds_the_matrix(void **state)
{
    (void)state;
    enum { N = 6, SAMPLES = 60 };
    double truth[N * N], found[N * N], x[SAMPLES * N], y[SAMPLES * N], residual;
    pe_error err = { 0 };
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

static void a_shuffle_is_a_permutation(void **state)
{
    (void)state;
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

/* ------------------------------------------------ properties of a spec */

static void properties_say_what_test_claims_says(void **state)
{
    (void)state;
    property_found p[CLAIM_COUNT];
    pe_error err = { 0 };
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
static void a_combination_has_any_length_where_every_part_has(void **state)
{
    (void)state;
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
        pe_error err = { 0 };
        if (prove_properties(p, tries[i].spec, (pe_shape){ 2, 1, 8, 16 }, &err))
            fail_msg("%s: %s", tries[i].spec, err.text);
        for (int b = 0; b < CLAIM_COUNT; b++)
            if (p[b].claim == PE_CLAIM_ANY_LENGTH && p[b].is != tries[i].is)
                fail_msg("%s: any-length is %d, should be %d", tries[i].spec, p[b].is, tries[i].is);
    }
}

/* ------------------------------------------------ no memory */

static const char *const hungry[] = { "two-dogs",      "order-blind",  "pooled-blind", "cross-blind", "integer-drowns",
                                      "fractions-depend", "shift-rotates", "wavelengths", "decaying-dot" };

/* Every n-th allocation once, in steps that grow; a finding is whole or its lack is told, and nothing is kept. */
static void a_claim_without_memory_says_so(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(hungry); i++)
        for (long n = 1;; n += 1 + n / 4) {
            prove_finding f;
            pe_error err = { 0 };
            size_t live = heap.live;
            heap.fail = n;
            pe_status s = prove_measure(&f, claim_named(hungry[i]), i ? NULL : "rope", &err);
            bool reached = heap.fail == 0;
            heap.fail = 0;
            assert_int_equal(heap.live, live);
            if (!reached) {
                assert_int_equal(s, PE_OK);
                break;
            }
            if (s && (s != PE_ERR_NOMEM || !*err.text))
                fail_msg("%s: allocation %ld fails: %s: %s", hungry[i], n, pe_status_name(s), err.text);
        }
}

static void properties_without_memory_say_so(void **state)
{
    static const char *const specs[] = { "rope:dims=8", "shaw", "learned:rows=64" };
    (void)state;
    for (int i = 0; i < COUNT(specs); i++)
        for (long n = 1;; n += 1 + n / 3) {
            property_found p[CLAIM_COUNT];
            pe_error err = { 0 };
            size_t live = heap.live;
            heap.fail = n;
            pe_status s = prove_properties(p, specs[i], (pe_shape){ 2, 1, 8, 16 }, &err);
            bool reached = heap.fail == 0;
            heap.fail = 0;
            assert_int_equal(heap.live, live);
            if (!reached)
                break;
            if (s && s != PE_ERR_NOMEM)
                fail_msg("%s: allocation %ld fails: %s: %s", specs[i], n, pe_status_name(s), err.text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_turns_where_it_must),
        cmocka_unit_test(every_claim_of_these_groups_has_a_planted_failure),
        cmocka_unit_test(every_claim_is_whole_in_both_languages),
        cmocka_unit_test(names_are_told_apart),
        cmocka_unit_test(a_spec_takes_the_place_of_a_claims_own),
        cmocka_unit_test(sizes_take_the_place_of_a_claims_own),
        cmocka_unit_test(what_is_put_to_a_spec_is_said_of_it),
        cmocka_unit_test(tables_reach_as_far_as_a_claim_looks),
        cmocka_unit_test(what_a_number_is_of_has_both_languages),
        cmocka_unit_test(one_and_10001_are_as_far_apart_as_libm_says),
        cmocka_unit_test(integers_drown_by_the_sum_of_squares),
        cmocka_unit_test(wavelengths_end_where_the_formula_says),
        cmocka_unit_test(weights_are_a_softmax),
        cmocka_unit_test(least_squares_finds_the_matrix),
        cmocka_unit_test(a_shuffle_is_a_permutation),
        cmocka_unit_test(properties_say_what_test_claims_says),
        cmocka_unit_test(a_combination_has_any_length_where_every_part_has),
        cmocka_unit_test(a_claim_without_memory_says_so),
        cmocka_unit_test(properties_without_memory_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
