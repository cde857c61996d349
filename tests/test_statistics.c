/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab
 *
 * What a race says is what its numbers say: probabilities against mpmath's, ranks and sentences against numbers made up. */
#include "lab_case.h"

#include "base/welch.h"
#include "io/columns.h"
#include "lab/report.h"

#include "test.h"

/* mpmath, 30 digits: betainc(v/2, 1/2, 0, v/(v + t^2), regularized). */
TEST(probabilities_of_t_are_known_ones)
{
    static const struct {
        double t, degrees, p;
    } known[] = {
        { 2.7764451, 4, 0.050000000265927656 },   { 12.7062047, 1, 0.050000000141765876 },
        { 1, 3.5, 0.38133725356344554 },          { 4.2, 2.25, 0.042439055446740423 },
        { 0.01, 7, 0.99230031764362177 },         { 30, 5, 7.718648620496052e-7 },
        { 8.5, 60.5, 6.4867935463219101e-12 },    { 1.96, 1e6, 0.049996067585269791 },
        { 0, 3, 1 },                              { INFINITY, 3, 0 },
    };
    for (int i = 0; i < COUNT(known); i++) {
        double p = welch_t_probability(known[i].t, known[i].degrees);
        if (fabs(p - known[i].p) > 1e-9 * known[i].p) /* lgamma of 5e5 loses 6 digits */
            fail_msg("t %g, %g degrees: %.17g, not %.17g", known[i].t, known[i].degrees, p, known[i].p);
        assert_true(welch_t_probability(-known[i].t, known[i].degrees) == p);
    }
    assert_true(isnan(welch_t_probability(NAN, 3)));
    assert_true(isnan(welch_t_probability(1, 0)));
}

/* ---------------------------------------------------------------- results made up, in memory */

static lab_results race;
static lab_test_line line[400];

static void begin(void)
{
    memset(&race, 0, sizeof race);
    snprintf(race.setup.kind, sizeof race.setup.kind, "race");
    race.setup.causal = true;
    race.setup.train_length = 256;
    race.test = line;
}

static int enter(const char *name)
{
    case_entry(&race.setup, name, name, "x");
    return race.setup.entries - 1;
}

static void measure(int entry, int64_t length, uint64_t seed, double bits)
{
    lab_test_line *l = &line[race.tests++];
    *l = (lab_test_line){ .entry = entry, .length = length, .seed = seed, .bits = bits, .last_quarter = bits };
    for (int i = 0; i < race.setup.tests; i++)
        if (race.setup.test[i] == length)
            return;
    race.setup.test[race.setup.tests++] = length;
}

static void cannot(int entry, int64_t length, const char *why)
{
    measure(entry, length, 1, NAN);
    snprintf(line[race.tests - 1].cannot, sizeof line->cannot, "%s", why);
}

TEST(welch_is_mpmath_s)
{
    static const double x[] = { 2.31, 2.28, 2.40 }, y[] = { 2.45, 2.61, 2.52, 2.49 };
    begin();
    int a = enter("a"), b = enter("b");
    for (int i = 0; i < COUNT(x); i++)
        measure(a, 512, (uint64_t)i, x[i]);
    for (int i = 0; i < COUNT(y); i++)
        measure(b, 512, (uint64_t)i, y[i]);
    lab_summary s = lab_summarise(&race, a, 512, LAB_BITS);
    assert_int_equal(s.seeds, 3);
    assert_true(fabs(s.mean - 2.33) < 1e-15 && fabs(s.spread - 0.0624499799839839820) < 1e-14);
    lab_difference d = lab_compare(&race, a, b, 512, LAB_BITS);
    assert_true(fabs(d.difference - (2.33 - 2.5175)) < 1e-14);
    assert_true(fabs(d.p - 0.0145551174495472551) < 1e-12);
    assert_true(d.larger);
    assert_true(isnan(lab_compare(&race, a, b, 256, LAB_BITS).p));
}

TEST(equal_seeds_differ_by_nothing_or_surely)
{
    begin();
    int a = enter("a"), b = enter("b"), c = enter("c"), one = enter("one");
    for (uint64_t i = 0; i < 2; i++) {
        measure(a, 512, i, 2);
        measure(b, 512, i, 2);
        measure(c, 512, i, 3);
    }
    measure(one, 512, 0, 4);
    assert_true(lab_compare(&race, a, b, 512, LAB_BITS).p == 1);
    assert_true(lab_compare(&race, a, c, 512, LAB_BITS).larger);
    assert_true(isnan(lab_compare(&race, a, one, 512, LAB_BITS).p));
    assert_true(lab_summarise(&race, one, 512, LAB_BITS).spread == 0);
}

TEST(cannot_is_no_number)
{
    begin();
    int a = enter("a");
    measure(a, 256, 1, 2);
    cannot(a, 512, "no row for it");
    measure(a, 1024, 1, NAN);
    assert_int_equal(lab_summarise(&race, a, 512, LAB_BITS).seeds, 0);
    assert_string_equal(lab_summarise(&race, a, 512, LAB_BITS).cannot, "no row for it");
    assert_non_null(strstr(lab_summarise(&race, a, 1024, LAB_BITS).cannot, "not a finite number"));
    assert_null(lab_summarise(&race, a, 2048, LAB_BITS).cannot);
    assert_null(lab_summarise(&race, a, 256, LAB_RECALL).cannot);
    line[0].asked[3] = 8, line[0].right[3] = 5, line[0].asked[9] = 2, line[0].right[9] = 2;
    assert_true(lab_summarise(&race, a, 256, LAB_RECALL).mean == 0.7);
    snprintf(race.setup.kind, sizeof race.setup.kind, "eval");
    assert_true(lab_summarise(&race, a, 256, lab_shown(&race.setup)).mean == 4);
}

TEST(ranks_go_by_the_longest_length)
{
    int order[LAB_ENTRIES_MAX];
    begin();
    int slow = enter("slow"), learned = enter("learned"), best = enter("best"), never = enter("never");
    measure(slow, 256, 1, 1.0), measure(slow, 1024, 1, 3.0);
    measure(learned, 256, 1, 0.5), cannot(learned, 1024, "why");
    measure(best, 256, 1, 2.0), measure(best, 1024, 1, 2.0);
    assert_int_equal(lab_rank(order, &race), 4);
    assert_int_equal(order[0], best);
    assert_int_equal(order[1], slow);
    assert_int_equal(order[2], learned);
    assert_int_equal(order[3], never);
}

TEST(a_seed_without_a_number_makes_no_mean_better)
{
    begin();
    int a = enter("a"), b = enter("b");
    race.setup.seeds = 3;
    for (uint64_t seed = 1; seed < 4; seed++)
        measure(a, 512, seed, seed == 3 ? NAN : 2);
    measure(b, 512, 1, 3), measure(b, 512, 2, 3);
    lab_summary s = lab_summarise(&race, a, 512, LAB_BITS);
    assert_true(s.seeds == 0 && isnan(s.mean));
    assert_non_null(strstr(s.cannot, "not a finite number"));
    s = lab_summarise(&race, b, 512, LAB_BITS);
    assert_true(s.seeds == 2 && s.of == 3 && s.mean == 3);
    int order[LAB_ENTRIES_MAX];
    lab_rank(order, &race);
    assert_int_equal(order[0], b);
    assert_true(lab_has_rank(&race, b) && !lab_has_rank(&race, a));
}

TEST(a_training_that_failed_is_said)
{
    static const char why[] = "a, seed 1, step 3: the gradient of final is not finite";
    begin();
    int a = enter("a");
    race.runs = 1;
    race.run = &(lab_run){ .entry = a, .failure = { .step = 3, .why = "a, seed 1, step 3: the gradient of final is not finite" } };
    measure(a, 256, 2, 2);
    assert_string_equal(lab_summarise(&race, a, 256, LAB_BITS).cannot, why);
    char text[1000];
    lab_finding(text, sizeof text, &race);
    assert_string_equal(text, "Stopped: a, seed 1, step 3: the gradient of final is not finite.");
}

/* ---------------------------------------------------------------- words */

static const char *finding(void)
{
    static char text[1000];
    lab_finding(text, sizeof text, &race);
    return text;
}

TEST(the_finding_says_what_the_numbers_say)
{
    static const char *const name[] = { "alibi", "rope", "sinusoidal", "learned" };
    static const double bits[4][5] = { { 2.19, 2.35, 2.13, 2.11, 2.12 },
                                       { 2.09, 2.30, 3.22, 4.23, 4.97 },
                                       { 3.14, 4.44, 5.56, 6.38, 7.35 },
                                       { 2.94 } };
    begin();
    assert_string_equal(finding(), "");
    for (int e = 0; e < 4; e++) {
        enter(name[e]);
        for (int n = 0; n < 5; n++)
            if (bits[e][n] > 0)
                measure(e, (int64_t)256 << n, 1, bits[e][n]);
            else
                cannot(e, (int64_t)256 << n, "why");
    }
    assert_string_equal(finding(), "Trained at 256, alibi holds at 4096 (2.12 bits per byte, 2.19 at 256); rope is better "
                                   "up to 512 and loses 2.9 bits by 4096; sinusoidal is worst past the trained length. "
                                   "Cannot go to 4096: learned. One seed: small differences may be chance.");
    int tests = race.tests;
    for (int i = 0; i < tests; i++) {
        lab_test_line l = line[i];
        line[i].bits -= 0.01;
        l.seed = 2, l.bits += 0.01;
        line[race.tests++] = l;
    }
    assert_non_null(strstr(finding(), "Every difference at 4096 is larger than the seeds'."));
    snprintf(race.setup.kind, sizeof race.setup.kind, "eval");
    assert_non_null(strstr(finding(), "alibi holds at 4096 (perplexity 4.3"));
    char small[40];
    lab_finding(small, sizeof small, &race);
    assert_true(strlen(small) < sizeof small);
}

/* Without none in the race chance is what a run is held to: 7.94 bits of 8 after 20 steps show nothing. */
TEST(a_run_near_chance_has_learned_nothing)
{
    begin();
    race.setup.vocab = 256;
    int sinusoidal = enter("sinusoidal"), learned = enter("learned");
    for (uint64_t seed = 1; seed < 4; seed++)
        for (int64_t length = 256; length < 1024; length *= 2) {
            measure(sinusoidal, length, seed, 7.94 + 0.001 * (double)seed);
            measure(learned, length, seed, 7.97 + 0.001 * (double)seed);
        }
    assert_false(lab_learned(&race, sinusoidal) || lab_learned(&race, learned));
    assert_non_null(strstr(finding(), "Nothing was learned yet"));
    assert_null(strstr(finding(), "holds"));
    race.tests = 0; /* one of both has learned: the other is no rival, and is told */
    for (uint64_t seed = 1; seed < 4; seed++)
        for (int64_t length = 256; length < 1024; length *= 2) {
            measure(sinusoidal, length, seed, 3 + 0.001 * (double)seed);
            measure(learned, length, seed, 7.9 + 0.001 * (double)seed);
        }
    assert_true(lab_learned(&race, sinusoidal) && !lab_learned(&race, learned));
    assert_non_null(strstr(finding(), "sinusoidal holds at 512"));
    assert_non_null(strstr(finding(), "by more than the seeds): learned."));
    assert_null(strstr(finding(), "learned is worst"));
}

TEST(an_encoding_that_is_no_better_than_none_is_not_learned)
{
    begin();
    int none = enter("none"), near = enter("near"), alibi = enter("alibi"), dropped = enter("dropped");
    race.setup.entry[dropped].dropped = 3;
    for (uint64_t seed = 1; seed < 4; seed++)
        for (int64_t length = 256; length < 1024; length *= 2) {
            double noise = 0.02 * (double)seed;
            measure(none, length, seed, 3.3 + noise);
            measure(near, length, seed, (length == 256 ? 3.29 : 1) + noise); /* what it does past 256 is no merit */
            measure(alibi, length, seed, 2.1 + noise);
            measure(dropped, length, seed, 3.4 + noise);
        }
    assert_true(lab_learned(&race, none) && lab_learned(&race, alibi) && lab_learned(&race, dropped));
    assert_false(lab_learned(&race, near));
    assert_non_null(strstr(finding(), "alibi holds at 512"));
    assert_non_null(strstr(finding(), "Not learned in this time (near chance, or no better than none at 256 by more than the "
                                      "seeds): near."));
    race.tests = 0;
    measure(none, 256, 1, 3), measure(near, 256, 1, 3); /* one seed tells nothing */
    assert_true(lab_learned(&race, near));
}

TEST(one_length_is_no_extrapolation)
{
    begin();
    enter("a"), enter("b");
    measure(0, 256, 1, 2.5), measure(1, 256, 1, 3);
    assert_string_equal(finding(), "Trained at 256, a is best at 256 (2.50 bits per byte); b is worst at 256 (3.00). "
                                   "One seed: small differences may be chance.");
    race.runs = 1;
    race.run = &(lab_run){ .entry = 0 };
    assert_non_null(strstr(finding(), "1 of 1 runs is not finished."));
}

TEST(close_ones_are_not_told_apart)
{
    begin();
    enter("a"), enter("b");
    for (uint64_t seed = 1; seed < 4; seed++) {
        measure(0, 512, seed, 2 + 0.1 * (double)seed);
        measure(1, 512, seed, 2.015 + 0.1 * (double)seed);
    }
    assert_non_null(strstr(finding(), "No difference at 512 is larger than the seeds'."));
    enter("c");
    for (uint64_t seed = 1; seed < 4; seed++)
        measure(2, 512, seed, 3.01 + 0.1 * (double)seed);
    assert_non_null(strstr(finding(), "Differences above 0.02 at 512 are larger than the seeds'."));
}

TEST(no_one_wins_who_is_not_told_apart)
{
    begin();
    enter("a"), enter("b");
    for (uint64_t seed = 1; seed < 4; seed++) {
        measure(0, 512, seed, 2 + 0.1 * (double)seed);
        measure(1, 512, seed, 2.015 + 0.1 * (double)seed);
    }
    assert_string_equal(finding(), "Trained at 256, a has the lowest mean at 512 (2.20 bits per byte), not told apart "
                                   "from b. No difference at 512 is larger than the seeds'.");
    begin();
    enter("a"), enter("b"), enter("c");
    measure(0, 512, 1, 2), measure(1, 512, 1, 3), measure(2, 512, 1, 3.001);
    assert_null(strstr(finding(), "worst"));
    race.setup.entries = 1;
    assert_string_equal(finding(), "Trained at 256, a was tested at 512 (2.00 bits per byte).");
}

TEST(chance_is_no_finding)
{
    begin();
    race.setup.vocab = 256;
    enter("a"), enter("b");
    measure(0, 256, 1, 8.7), measure(0, 512, 1, 8.7), measure(1, 256, 1, 8.67), measure(1, 512, 1, 8.67);
    assert_string_equal(finding(), "Nothing was learned yet: bits per byte at 256: 8.67 at best, 8.00 by chance.");
    line[2].bits = 7;
    assert_non_null(strstr(finding(), "b is best at 512 (8.67 bits per byte, 7.00 at 256), no better than chance (8.00)"));
}

TEST(means_of_fewer_seeds_are_marked)
{
    begin();
    enter("a"), enter("b");
    race.setup.seeds = 2;
    measure(0, 512, 1, 2), measure(0, 512, 2, 2.1), measure(1, 512, 1, 1);
    assert_non_null(strstr(finding(), "Means marked * are of fewer seeds than were asked for. One seed of some:"));
    race.setup.seeds = 1;
    race.tests = 1;
    assert_null(strstr(finding(), "*"));
}

/* ---------------------------------------------------------------- the table */

/* The ranking in so many columns; 0: the whole report. */
static const char *printed(int columns)
{
    static char text[20000];
    FILE *f = fmemopen(text, sizeof text, "w");
    result *tree = result_new();
    assert_true(f && tree);
    lab_add_report(tree, &race);
    if (columns)
        lab_print_table(f, &race, columns);
    else
        assert_ok(result_write(f, tree, RESULT_AS_TEXT, &(result_screen){ 0 }, &err));
    result_free(tree);
    fclose(f);
    return text;
}

TEST(the_table_fits_its_columns)
{
    begin();
    enter("rope");
    enter("rope:scaling=yarn,beta_fast=32,beta_slow=1,rope:theta=500000");
    enter("orders \x1b[2J\xc2\x9b and \xff");
    for (int e = 0; e < 3; e++)
        for (int n = 0; n < 12; n++)
            measure(e, (int64_t)256 << n, 1, 2.5 + e);
    cannot(enter("learned"), 512, "learned: position 511 is past its 256 rows; a longer sentence follows to see it wrap");
    for (int columns = 40; columns <= 160; columns += 17) {
        const char *text = printed(columns);
        assert_null(strpbrk(text, "\x1b\xff"));
        assert_non_null(strstr(text, "cannot"));
        assert_non_null(strstr(text, "524288"));
        for (const char *s = text; *s; s = strchr(s, '\n') + 1)
            assert_true(columns_of_bytes(s, (int)strcspn(s, "\n")) <= columns);
    }
}

TEST(the_table_says_what_it_lacks)
{
    begin();
    enter("a"), enter("b"), enter("c");
    race.setup.seeds = 2;
    measure(0, 512, 1, 2), measure(0, 512, 2, 2.1), measure(1, 512, 1, 1);
    lab_run run[2] = { { .entry = 0, .seed = 1, .ended = true, .end.tokens_per_second = 100 },
                       { .entry = 0, .seed = 2, .ended = true, .end.tokens_per_second = 300 } };
    race.run = run, race.runs = 2;
    const char *text = printed(80), *last = strstr(text, "\nc ");
    assert_non_null(strstr(text, "Bits per byte at each length"));
    assert_non_null(strstr(text, "1.00*"));
    assert_non_null(strstr(text, "* b: mean of 1 of 2 seeds\n"));
    assert_non_null(last); /* without a rank */
    assert_true(strcspn(last + 1, "123") > strcspn(last + 1, "\n"));
    snprintf(race.setup.data, sizeof race.setup.data, "copy");
    assert_non_null(strstr(printed(40), "Bits per answer byte"));
    assert_non_null(strstr(printed(0), "  200  ")); /* tokens a second, the mean of the runs */
}
