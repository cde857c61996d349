/* labels: core; tier: test; cost: 7 s; needs: prove wrap
 * SPDX-License-Identifier: MIT
 *
 * The claims about the four terms, rotary embedding, relative encodings and numbers: the verdict as it is, the verdict
 * after something was planted that must turn it, and numbers of the evidence worked out here by other means. */
#include "common.h"
#include "heap.h"

#include "prove/measures.h"

typedef struct plant {
    const char *claim;
    prove_verdict is;      /* as the claim is given */
    const char *spec[4];   /* planted in place of the claim's own; NULL: those stay */
    int64_t heads, width, length; /* planted where not 0; width: head_dim or model_dim, whichever the claim gives */
    int causal, residual;  /* planted: 1 yes, -1 no */
    prove_verdict becomes;
} plant;

static const plant plants[] = {
    { .claim = "four-terms", .is = PROVE_HOLDS, .spec = { "rope" }, .becomes = PROVE_REFUTED },
    { .claim = "four-terms", .is = PROVE_HOLDS, .spec = { "alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "shaw-edit", .is = PROVE_HOLDS, .spec = { "deberta" }, .becomes = PROVE_REFUTED },
    { .claim = "shaw-edit", .is = PROVE_HOLDS, .spec = { "shaw:on=values" }, .becomes = PROVE_REFUTED },
    { .claim = "transformer-xl-edit", .is = PROVE_HOLDS, .spec = { "shaw" }, .becomes = PROVE_REFUTED },
    { .claim = "xlnet-edit", .is = PROVE_HOLDS, .spec = { "sinusoidal" }, .becomes = PROVE_REFUTED },
    { .claim = "t5-edit", .is = PROVE_HOLDS, .spec = { "transformer-xl" }, .becomes = PROVE_REFUTED },
    { .claim = "deberta-edit", .is = PROVE_HOLDS, .spec = { "deberta:terms=c2p" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-edit", .is = PROVE_HOLDS, .spec = { "rope+t5" }, .becomes = PROVE_REFUTED },
    { .claim = "only-the-distance", .is = PROVE_DEPENDS, .spec = { "shaw", "t5" }, .becomes = PROVE_HOLDS },
    { .claim = "only-the-distance", .is = PROVE_DEPENDS, .spec = { "binary" }, .becomes = PROVE_REFUTED },
    { .claim = "only-the-distance", .is = PROVE_DEPENDS, .spec = { "fire" }, .becomes = PROVE_REFUTED },
    { .claim = "orthogonal", .is = PROVE_HOLDS, .width = 8, .becomes = PROVE_REFUTED },
    { .claim = "adding-is-concatenating",
      .is = PROVE_HOLDS,
      .spec = { "sinusoidal", "sinusoidal:join=concat,width=64,theta=100" },
      .becomes = PROVE_REFUTED },
    { .claim = "concatenating-costs", .is = PROVE_HOLDS, .spec = { "sinusoidal" }, .becomes = PROVE_REFUTED },
    { .claim = "concatenating-costs",
      .is = PROVE_HOLDS,
      .spec = { "sinusoidal", "sinusoidal:join=concat,width=64" },
      .becomes = PROVE_DEPENDS },
    { .claim = "adding-loses-nothing", .is = PROVE_DEPENDS, .spec = { "learned" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-relative", .is = PROVE_HOLDS, .spec = { "sinusoidal" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-relative", .is = PROVE_HOLDS, .spec = { "rope:precision=hf" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-keeps-norms", .is = PROVE_HOLDS, .spec = { "rope:magnitude=1.1" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-matrix", .is = PROVE_HOLDS, .spec = { "xpos" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-turns-once",
      .is = PROVE_HOLDS,
      .spec = { "rope:scaling=yarn,factor=4,trained=2048" },
      .becomes = PROVE_REFUTED },
    { .claim = "rope-bound-decays", .is = PROVE_DEPENDS, .spec = { "rope:theta=10" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-bound-decays", .is = PROVE_DEPENDS, .length = 8192, .becomes = PROVE_HOLDS },
    { .claim = "rope-scores-decay", .is = PROVE_REFUTED, .spec = { "rope+alibi" }, .becomes = PROVE_DEPENDS },
    { .claim = "rope-scores-decay", .is = PROVE_REFUTED, .spec = { "alibi" }, .becomes = PROVE_HOLDS },
    { .claim = "rope-bands", .is = PROVE_DEPENDS, .spec = { "rope:theta=100" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-bands",
      .is = PROVE_DEPENDS,
      .spec = { "rope:scaling=proportional,turning=0.25" },
      .becomes = PROVE_HOLDS },
    { .claim = "rope-axes", .is = PROVE_HOLDS, .spec = { "sinusoidal:axes=2+rope:axes=2" }, .becomes = PROVE_REFUTED },
    { .claim = "rope-one-pair-for-all-axes", .is = PROVE_REFUTED, .spec = { "rope:axes=2" }, .becomes = PROVE_HOLDS },
    { .claim = "alibi-linear", .is = PROVE_HOLDS, .spec = { "kerple" }, .becomes = PROVE_REFUTED },
    { .claim = "alibi-linear", .is = PROVE_HOLDS, .heads = 12, .becomes = PROVE_REFUTED },
    { .claim = "t5-buckets", .is = PROVE_HOLDS, .spec = { "alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "shaw-clip", .is = PROVE_HOLDS, .spec = { "transformer-xl" }, .becomes = PROVE_REFUTED },
    { .claim = "shaw-clip", .is = PROVE_HOLDS, .spec = { "shaw:left=300" }, .becomes = PROVE_REFUTED },
    { .claim = "relative-needs-no-learning", .is = PROVE_DEPENDS, .spec = { "rope", "alibi" }, .becomes = PROVE_HOLDS },
    { .claim = "relative-needs-no-learning", .is = PROVE_DEPENDS, .spec = { "t5", "shaw" }, .becomes = PROVE_REFUTED },
    { .claim = "tables-end", .is = PROVE_HOLDS, .spec = { "sinusoidal" }, .becomes = PROVE_REFUTED },
    { .claim = "hierarchical-goes-on", .is = PROVE_HOLDS, .spec = { "learned:rows=32" }, .becomes = PROVE_REFUTED },
    { .claim = "residuals-carry-position", .is = PROVE_HOLDS, .residual = -1, .becomes = PROVE_REFUTED },
    { .claim = "no-residuals-no-position", .is = PROVE_HOLDS, .residual = 1, .becomes = PROVE_REFUTED },
    { .claim = "causal-mask-tells-position", .is = PROVE_HOLDS, .causal = -1, .becomes = PROVE_REFUTED },
    { .claim = "bfloat16-is-enough", .is = PROVE_DEPENDS, .spec = { "rope", "t5" }, .becomes = PROVE_HOLDS },
    { .claim = "bfloat16-is-enough", .is = PROVE_DEPENDS, .spec = { "integer", "alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "float16-is-enough",
      .is = PROVE_DEPENDS,
      .spec = { "sinusoidal", "rope", "alibi" },
      .length = 4096,
      .becomes = PROVE_HOLDS },
    { .claim = "bfloat16-breaks-relative", .is = PROVE_HOLDS, .spec = { "alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "float16-breaks-relative", .is = PROVE_REFUTED, .spec = { "rope:precision=hf" }, .becomes = PROVE_HOLDS },
    { .claim = "8-bit-is-enough", .is = PROVE_DEPENDS, .spec = { "alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "4-bit-is-enough", .is = PROVE_DEPENDS, .spec = { "shaw" }, .becomes = PROVE_HOLDS },
    { .claim = "costs-no-memory", .is = PROVE_DEPENDS, .spec = { "alibi" }, .becomes = PROVE_HOLDS },
    { .claim = "costs-no-memory", .is = PROVE_DEPENDS, .spec = { "transformer-xl" }, .becomes = PROVE_REFUTED },
    { .claim = "any-kernel", .is = PROVE_DEPENDS, .spec = { "rope:turn=qkvo", "xpos" }, .becomes = PROVE_HOLDS },
    { .claim = "any-kernel", .is = PROVE_DEPENDS, .spec = { "rope+alibi" }, .becomes = PROVE_REFUTED },
    { .claim = "cache-can-move", .is = PROVE_DEPENDS, .spec = { "rope", "alibi" }, .becomes = PROVE_HOLDS },
    { .claim = "cache-can-move", .is = PROVE_DEPENDS, .spec = { "sinusoidal" }, .becomes = PROVE_REFUTED },
    { .claim = "keys-can-be-split", .is = PROVE_DEPENDS, .spec = { "rope", "shaw" }, .becomes = PROVE_HOLDS },
    { .claim = "keys-can-be-split", .is = PROVE_DEPENDS, .spec = { "cope" }, .becomes = PROVE_REFUTED },
};

static const char *const groups[] = { "terms", "rotary", "relative", "numbers" };

static const prove_claim *claim_of(const char *name)
{
    const prove_claim *c = prove_claim_named(name);
    if (!c)
        fail_msg("%s is no claim", name);
    return c;
}

static prove_finding measured(const char *name, const prove_given *g)
{
    prove_finding f = { 0 };
    pe_error err = { 0 };
    if (claim_of(name)->measure(&f, g, &err))
        fail_msg("%s: %s", name, err.text);
    return f;
}

static prove_given planted(const plant *p)
{
    prove_given g = claim_of(p->claim)->given;
    if (p->spec[0]) {
        memset(g.spec, 0, sizeof g.spec);
        memcpy(g.spec, p->spec, sizeof p->spec);
    }
    g.heads = p->heads ? p->heads : g.heads;
    g.length = p->length ? p->length : g.length;
    if (p->width && g.head_dim)
        g.head_dim = p->width;
    else if (p->width)
        g.model_dim = p->width;
    g.causal = p->causal ? p->causal > 0 : g.causal;
    g.residual = p->residual ? p->residual > 0 : g.residual;
    return g;
}

static void assert_both(words w, const char *where)
{
    if (!w.en || !*w.en || !w.zh || !*w.zh)
        fail_msg("%s: '%s' is not in both languages", where, w.en ? w.en : "");
    bool chinese = false;
    for (const char *c = w.zh; *c; c++)
        chinese = chinese || (unsigned char)*c >= 0xe4; /* U+4000 and on */
    if (!chinese)
        fail_msg("%s: '%s' is not Chinese", where, w.zh);
}

/* In both languages, with numbers that can be written down. */
static void assert_told(const prove_finding *f, const char *claim)
{
    assert_both(f->because, claim);
    assert_true(f->count > 0);
    for (int i = 0; i < f->count; i++) {
        assert_both(f->number[i].what, claim);
        assert_true(isfinite(f->number[i].value));
    }
}

/* ------------------------------------------------ verdicts */

static void every_claim_has_its_verdict_and_a_planted_failure_turns_it(void **state)
{
    (void)state;
    for (int n = 0; n < COUNT(plants); n++) {
        const plant *p = &plants[n];
        prove_given g = planted(p);
        prove_finding f;
        if (!n || strcmp(plants[n - 1].claim, p->claim)) {
            f = measured(p->claim, &claim_of(p->claim)->given);
            assert_told(&f, p->claim);
            if (f.verdict != p->is)
                fail_msg("%s: %s; expected %s", p->claim, prove_verdict_words(f.verdict).en,
                         prove_verdict_words(p->is).en);
        }
        f = measured(p->claim, &g);
        assert_told(&f, p->claim);
        if (f.verdict != p->becomes)
            fail_msg("%s with plant %d: %s; expected %s", p->claim, n, prove_verdict_words(f.verdict).en,
                     prove_verdict_words(p->becomes).en);
    }
}

static double ticks, interval;
static double even_clock(void) /* every call takes the same time */
{
    return ticks += 1;
}
static double late_clock(void) /* every call takes longer than all before it together */
{
    interval = interval * 2 + 1;
    return ticks += interval;
}

/* Times are this machine's: the verdict is tested with clocks of the test's own. */
static void the_verdict_about_time_follows_the_clock(void **state)
{
    (void)state;
    prove_given g = claim_of("costs-no-time")->given;
    assert_true(claim_of("costs-no-time")->timed);
    g.length = 16;
    g.clock = even_clock;
    assert_int_equal(measured("costs-no-time", &g).verdict, PROVE_HOLDS);
    g.clock = late_clock;
    assert_int_equal(measured("costs-no-time", &g).verdict, PROVE_REFUTED);
    g.clock = NULL;
    prove_finding f = measured("costs-no-time", &g);
    int dear = 0, rows = 0;
    for (int n = 0; n < f.count; n++)
        if (!strcmp(f.number[n].what.en, "time, in times of plain attention")) {
            rows++;
            dear += f.number[n].value > 1.5;
        }
    assert_int_equal(rows, pe_info_count());
    assert_int_equal(f.number[0].value, dear);
    assert_int_equal(f.verdict, !dear ? PROVE_HOLDS : dear == rows ? PROVE_REFUTED : PROVE_DEPENDS);
}

static bool is_planted(const char *claim)
{
    bool found = !strcmp(claim, "costs-no-time");
    for (int n = 0; n < COUNT(plants) && !found; n++)
        found = !strcmp(plants[n].claim, claim);
    return found;
}

static void no_claim_goes_without_a_plant_and_each_speaks_both_languages(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(groups); i++) {
        const prove_group *g = prove_group_named(groups[i]);
        assert_non_null(g);
        assert_both(g->title, g->name);
        for (int n = 0; n < g->count; n++) {
            const prove_claim *c = &g->claims[n];
            if (!is_planted(c->name))
                fail_msg("%s has no planted failure", c->name);
            assert_both(c->claim, c->name);
            assert_true(c->source && *c->source);
        }
    }
}

/* ------------------------------------------------ numbers, by other means */

/* The number called what, of `of` (NULL: any). */
static double number(const prove_finding *f, const char *what, const char *of)
{
    for (int n = 0; n < f->count; n++)
        if (!strcmp(f->number[n].what.en, what) && (!of || !strcmp(f->number[n].of, of)))
            return f->number[n].value;
    fail_msg("no %s of %s", what, of ? of : "any");
    return 0;
}

static void words_and_codes_meet_as_random_vectors_do(void **state)
{
    (void)state;
    prove_finding f = measured("orthogonal", &claim_of("orthogonal")->given);
    for (int d = 8; d <= 1024; d *= 2) { /* the mean of |cos| between random directions is sqrt(2 / (pi d)) */
        char of[40];
        snprintf(of, sizeof of, "d = %d", d);
        double law = sqrt(2 / (3.14159265358979323846 * d));
        double is = number(&f, "mean |cos| of words and codes", of);
        assert_true(is > 0.8 * law && is < 1.2 * law);
    }
}

static void the_matrix_has_two_elements_a_row_and_the_cost_follows(void **state)
{
    (void)state;
    prove_finding f = measured("rope-matrix", &claim_of("rope-matrix")->given);
    assert_true(fabs(number(&f, "elements of R that are 0", NULL) - 100 * (1 - 2.0 / 128)) < 1e-9);
    f = measured("concatenating-costs", &claim_of("concatenating-costs")->given);
    assert_true(number(&f, "parameters of W_q, W_k, W_v", "sinusoidal:join=concat,width=64") == 3.0 * (512 + 64) * 512);
}

static void slow_pairs_are_those_whose_wavelength_is_longer_than_the_context(void **state)
{
    (void)state;
    prove_finding f = measured("rope-bands", &claim_of("rope-bands")->given);
    static const double theta[] = { 10000, 500000 };
    for (int t = 0; t < 2; t++)
        for (long n = 4096; n <= 131072; n *= 2) {
            int slow = 0;
            char of[64];
            for (int i = 0; i < 64; i++)
                slow += 2 * 3.14159265358979323846 * pow(theta[t], i / 64.0) > (double)n;
            snprintf(of, sizeof of, "rope:theta=%.0f, n = %ldk", theta[t], n / 1024);
            assert_true(fabs(number(&f, "pairs that turn less than once", of) - 100 * slow / 64.0) < 1e-9);
        }
}

/* T5's formula: 16 + floor(16 log(d / 16) / log(128 / 16)), of 32 causal buckets. */
static void buckets_begin_where_the_formula_says(void **state)
{
    (void)state;
    prove_finding f = measured("t5-buckets", &claim_of("t5-buckets")->given);
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

static void bfloat16_drowns_the_step_of_integers_by_as_much_as_its_bits_say(void **state)
{
    (void)state;
    prove_finding f = measured("bfloat16-is-enough", &claim_of("bfloat16-is-enough")->given);
    assert_true(fabs(number(&f, "step against rounding", "integer, n = 4096") - integer_in_bf16(4096)) < 1e-6);
    assert_true(fabs(number(&f, "step against rounding", "integer, n = 131072") - integer_in_bf16(131072)) < 1e-6);
    for (int n = 2; n < f.count; n++) { /* ranked: the best first, within a length */
        bool same = !strcmp(strrchr(f.number[n].of, ' '), strrchr(f.number[n - 1].of, ' '));
        bool both = !strcmp(f.number[n].unit, "dB") && !strcmp(f.number[n - 1].unit, "dB");
        assert_true(!same || !both || f.number[n].value <= f.number[n - 1].value);
    }
}

/* What is exact, what overflows and what is left out has no number of dB. */
static void what_is_no_ratio_is_told_as_what_it_is(void **state)
{
    (void)state;
    prove_finding f = measured("float16-is-enough", &claim_of("float16-is-enough")->given);
    assert_true(number(&f, "exact: rounding error", "binary, n = 4096") == 0);
    assert_true(number(&f, "numbers that overflow", "xpos, n = 131072") > 1);
    int told = 0, rows = 0;
    for (int n = 1; n < f.count; n++)
        told += strstr(f.number[n].of, ", n = 131072") != NULL;
    for (int n = 0; n < pe_info_count(); n++)
        rows += pe_info_at(n)->hooks != 0;
    assert_int_equal(number(&f, "left out: tables of more than 2^20 numbers", "n = 131072"), rows - told);
}

/* A number is off by a part in 2^9 at most, uniformly in its last place: q.k by about 2^-9 sqrt(2/3) of its size. */
static void turned_and_stored_scores_move_by_as_much_as_the_type_rounds(void **state)
{
    (void)state;
    prove_given g = claim_of("bfloat16-breaks-relative")->given;
    prove_finding f = measured("bfloat16-breaks-relative", &g);
    static const char *const what = "change of scores at equal distance, turned and then stored";
    double bf16 = number(&f, what, "bfloat16, + 131072"), f32 = number(&f, what, "float32, + 131072");
    assert_true(bf16 > 100 * 0x1p-10 && bf16 < 100 * 0x1p-7);
    assert_true(f32 > 0 && bf16 / f32 > 0x1p15 && bf16 / f32 < 0x1p17); /* 16 bits more */
    /* position 257 is none of bfloat16's: angles made in it are others */
    assert_true(number(&f, "change of scores at equal distance, angles in that type too", "bfloat16, + 4096") > 50);
    f = (prove_finding){ 0 };
    assert_int_equal(measure_moved_f32(&f, &g, NULL), PE_OK);
    assert_int_equal(f.verdict, PROVE_REFUTED);
}

static void the_bound_at_one_token_is_the_papers_sum(void **state)
{
    (void)state;
    prove_finding f = measured("rope-bound-decays", &claim_of("rope-bound-decays")->given);
    double re = 0, im = 0, sum = 0;
    for (int i = 0; i < 64; i++) {
        double angle = pow(10000, -i / 64.0);
        re += cos(angle);
        im += sin(angle);
        sum += sqrt(re * re + im * im);
    }
    assert_true(fabs(number(&f, "bound, mean over distances from n to 2n, n =", "1") - sum / 64) < 1e-9);
}

/* p(t).p(t+k) / p.p is the mean of cos(k w): its means over [k, 2k) fall up to 16384 and no further. */
static void the_dot_product_is_the_mean_of_cosines_and_its_octaves_fall_so_far(void **state)
{
    (void)state;
    prove_finding f = measured("decaying-dot", &claim_of("decaying-dot")->given);
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
        snprintf(of, sizeof of, "k = %d", from);
        assert_true(fabs(number(&f, "mean of p(t).p(t+k) / p.p from k to 2k", of) - mean) < 1e-9);
        falls = falls && mean < before;
        fell = falls ? 2 * from : fell;
        before = mean;
    }
    assert_true(number(&f, "distance up to which each doubling lowers the mean", NULL) == fell);
    assert_true(fell < number(&f, "distances measured", NULL));
}

static void waves_are_counted_whatever_their_layout_and_only_waves(void **state)
{
    (void)state;
    static const char *const same[] = { "sinusoidal", "sinusoidal:layout=halves", "sinusoidal:order=cos-sin,offset=2",
                                        "sinusoidal:join=concat,width=128" };
    int slow = 0;
    for (int i = 0; i < 64; i++)
        slow += 2 * 3.14159265358979323846 * pow(10000, i / 64.0) > 256;
    for (int n = 0; n < COUNT(same); n++) {
        prove_finding f;
        assert_int_equal(prove_measure(&f, claim_of("sinusoids-extrapolate"), same[n], NULL), PE_OK);
        assert_true(fabs(f.number[0].value - 100 * slow / 64.0) < 1e-9);
        assert_true(number(&f, "largest element past it, up to 2^30", NULL) <= 1);
        assert_null(strpbrk(f.because.en, "0123456789")); /* figures are in the evidence */
    }
    static const char *const others[] = { "integer", "binary", "learned", "normalised", "rope" };
    for (int n = 0; n < COUNT(others); n++) {
        prove_finding f;
        assert_int_equal(prove_measure(&f, claim_of("sinusoids-extrapolate"), others[n], NULL), PE_ERR_UNSUITED);
    }
}

static void tokens_without_residuals_become_one(void **state)
{
    (void)state;
    prove_given g = claim_of("no-residuals-no-position")->given;
    g.head_dim = 8;
    g.length = 16;
    prove_finding f = measured("no-residuals-no-position", &g);
    double before = 100;
    for (int l = 0; l <= 6; l++) {
        char of[8];
        snprintf(of, sizeof of, "%d", l);
        double r2 = number(&f, "R^2 of a token's place after layers", of);
        double spread = number(&f, "tokens less their mean, of their size, after layers", of);
        assert_true(r2 >= 0 && r2 <= 1);
        assert_true(spread <= before * 1.1);
        before = spread < 1e-9 ? 1e-9 : spread;
    }
    assert_true(before < 1e-6);
}

static void costs_are_counted_by_where_position_enters(void **state)
{
    (void)state;
    prove_given g = claim_of("costs-no-memory")->given;
    g.length = 1024;
    prove_finding f = measured("costs-no-memory", &g);
    double sum = 0;
    for (int n = 1; n < f.count; n++)
        sum += strstr(f.number[n].what.en, "above it, ") ? f.number[n].value : 0;
    assert_true(sum == f.number[0].value); /* no row enters at two of the four */
    assert_true(number(&f, "above it, of those that turn q and k", NULL) == 0);
}

static void a_count_of_keys_is_called_one(void **state)
{
    (void)state;
    prove_finding f;
    assert_int_equal(prove_measure(&f, claim_of("only-the-distance"), "cope", NULL), PE_OK);
    assert_non_null(strstr(f.number[0].what.en, "count of keys"));
    assert_int_equal(prove_measure(&f, claim_of("only-the-distance"), "none", NULL), PE_OK);
    assert_non_null(strstr(f.number[0].what.en, "nowhere"));
}

/* ------------------------------------------------ what cannot be measured */

static void a_spec_that_a_claim_cannot_take_is_refused_with_a_sentence(void **state)
{
    (void)state;
    static const char *const bad[][2] = { { "rope-bound-decays", "alibi" }, { "orthogonal", "rope" },
                                          { "alibi-linear", "window" },    { "residuals-carry-position", "window" },
                                          { "hierarchical-goes-on", "sinusoidal" },
                                          { "four-terms", "sinusoidal:join=concat,width=64" } };
    for (int n = 0; n < COUNT(bad); n++) {
        prove_finding f;
        pe_error err = { 0 };
        assert_int_equal(prove_measure(&f, claim_of(bad[n][0]), bad[n][1], &err), PE_ERR_UNSUITED);
        assert_true(strstr(err.text, "needs"));
    }
    prove_given wide = claim_of("rope-matrix")->given;
    wide.head_dim = 1024;
    prove_finding f = { 0 };
    assert_int_equal(claim_of("rope-matrix")->measure(&f, &wide, NULL), PE_ERR_SHAPE);
}

/* Every allocation fails once: no crash, no leak, and where the measure gives up it says so. */
static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    static const char *const some[] = { "shaw-edit",  "adding-is-concatenating", "rope-matrix",
                                        "rope-axes",  "alibi-linear",            "hierarchical-goes-on",
                                        "tables-end" };
    for (int n = 0; n < COUNT(some); n++) {
        const prove_claim *c = claim_of(some[n]);
        bool failed = true;
        for (long at = 1; failed; at++) {
            prove_finding f = { 0 };
            pe_error err = { 0 };
            size_t live = heap.live;
            heap.fail = at;
            pe_status s = c->measure(&f, &c->given, &err);
            failed = heap.fail == 0;
            heap.fail = 0;
            assert_int_equal(heap.live, live);
            if (failed && s != PE_ERR_NOMEM)
                fail_msg("%s, allocation %ld: %s %s", c->name, at, pe_status_name(s), err.text);
        }
    }
}

/* The same for claims over all rows, at some of their many allocations. */
static void memory_that_runs_out_leaks_nothing_over_all_rows(void **state)
{
    (void)state;
    static const char *const some[] = { "any-kernel", "cache-can-move", "keys-can-be-split", "bfloat16-is-enough",
                                        "costs-no-time", "residuals-carry-position" };
    for (int n = 0; n < COUNT(some); n++) {
        const prove_claim *c = claim_of(some[n]);
        prove_given g = c->given;
        g.length = g.length > 36 ? 36 : g.length;
        if (g.residual) { /* a Transformer as small as it gets */
            g.heads = 1;
            g.head_dim = 4;
            g.length = 6;
        }
        if (!g.spec[0]) {
            g.spec[0] = "rope";
            g.spec[1] = "shaw";
        }
        bool failed = true;
        for (long at = 1; failed && at < 60; at += at < 12 ? 1 : 7) {
            prove_finding f = { 0 };
            size_t live = heap.live;
            heap.fail = at;
            c->measure(&f, &g, NULL);
            failed = heap.fail == 0;
            heap.fail = 0;
            assert_int_equal(heap.live, live);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_claim_has_its_verdict_and_a_planted_failure_turns_it),
        cmocka_unit_test(the_verdict_about_time_follows_the_clock),
        cmocka_unit_test(no_claim_goes_without_a_plant_and_each_speaks_both_languages),
        cmocka_unit_test(words_and_codes_meet_as_random_vectors_do),
        cmocka_unit_test(the_matrix_has_two_elements_a_row_and_the_cost_follows),
        cmocka_unit_test(slow_pairs_are_those_whose_wavelength_is_longer_than_the_context),
        cmocka_unit_test(buckets_begin_where_the_formula_says),
        cmocka_unit_test(bfloat16_drowns_the_step_of_integers_by_as_much_as_its_bits_say),
        cmocka_unit_test(what_is_no_ratio_is_told_as_what_it_is),
        cmocka_unit_test(turned_and_stored_scores_move_by_as_much_as_the_type_rounds),
        cmocka_unit_test(the_dot_product_is_the_mean_of_cosines_and_its_octaves_fall_so_far),
        cmocka_unit_test(waves_are_counted_whatever_their_layout_and_only_waves),
        cmocka_unit_test(tokens_without_residuals_become_one),
        cmocka_unit_test(costs_are_counted_by_where_position_enters),
        cmocka_unit_test(a_count_of_keys_is_called_one),
        cmocka_unit_test(the_bound_at_one_token_is_the_papers_sum),
        cmocka_unit_test(a_spec_that_a_claim_cannot_take_is_refused_with_a_sentence),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(memory_that_runs_out_leaks_nothing_over_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
