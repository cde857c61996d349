/* labels: core; tier: test; cost: 32 s; needs: prove wrap; sanitize: all
 * SPDX-License-Identifier: MIT
 *
 * posenc_prove: every claim has its verdict and, given something for which the verdict must turn, turns; both languages
 * are whole; specs and sizes take the place of a claim's own; an allocation that fails is told. The numbers, worked out
 * by other means: test_prove_numbers.c. */
#include "heap.h"
#include "prove_case.h"

#include "test.h"

#define EACH_CLAIM(c)                                                                                                  \
    for (int g = 0; g < prove_group_count; g++)                                                                        \
        for (const prove_claim *c = prove_groups[g]->claims; c < prove_groups[g]->claims + prove_groups[g]->count; c++)

/* ------------------------------------------------ verdicts */

enum { HOLDS = PROVE_HOLDS, REFUTED = PROVE_REFUTED, DEPENDS = PROVE_DEPENDS };

/* The verdict of a claim as it is given, and after something was planted that must turn it. */
typedef struct plant {
    const char *claim;
    int is, becomes;
    const char *spec[4];          /* planted in place of the claim's own; NULL: those stay */
    int64_t heads, width, length; /* planted where not 0; width: head_dim where the claim gives one
                                     or heads are planted, else model_dim */
    int causal, residual;         /* planted: 1 yes, -1 no */
} plant;

static const plant plants[] = {
    { "two-dogs", HOLDS, REFUTED, .causal = 1 },
    { "order-blind", HOLDS, REFUTED, .spec = { "rope" } },
    { "order-blind", HOLDS, REFUTED, .causal = 1 },
    { "pooled-blind", HOLDS, REFUTED, .spec = { "rope" } },
    { "cross-blind", HOLDS, REFUTED, .spec = { "rope" } },
    { "order-seen", HOLDS, REFUTED, .spec = { "none", "none" } },
    { "causal-mask", HOLDS, REFUTED, .causal = -1 },
    { "causal-mask", HOLDS, REFUTED, .spec = { "rope" } },
    { "reversal-blind", HOLDS, REFUTED, .spec = { "alibi:form=symmetric", "t5" } },
    { "reversal-seen", DEPENDS, REFUTED, .spec = { "alibi:form=symmetric" } },
    { "reversal-seen", DEPENDS, HOLDS, .spec = { "rope" } },
    { "integer-drowns", HOLDS, DEPENDS, .spec = { "sinusoidal" } },
    { "integer-drowns", HOLDS, REFUTED, .spec = { "normalised:length=1000000" } },
    { "binary-jumps", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "sinusoids-smooth", HOLDS, REFUTED, .spec = { "binary" } },
    { "bit-periods", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "fractions-depend", HOLDS, REFUTED, .spec = { "binary" } },
    { "shift-rotates", HOLDS, REFUTED, .spec = { "binary" } },
    { "wavelengths", DEPENDS, HOLDS, .spec = { "sinusoidal:denominator=d-2" } },
    { "wavelengths", DEPENDS, REFUTED, .spec = { "sinusoidal" } },
    { "symmetric-dot", HOLDS, REFUTED, .spec = { "integer" } },
    { "decaying-dot", DEPENDS, REFUTED, .spec = { "integer" } },
    { "1-and-10001", REFUTED, HOLDS, .spec = { "binary:join=concat,width=4" } },
    { "first-dims", DEPENDS, REFUTED, .spec = { "sinusoidal:layout=halves" } },
    { "first-dims", DEPENDS, HOLDS, .length = 64 },
    { "sinusoids-extrapolate", DEPENDS, HOLDS, .spec = { "sinusoidal:theta=10" } },
    { "four-terms", HOLDS, REFUTED, .spec = { "rope" } },
    { "four-terms", HOLDS, REFUTED, .spec = { "alibi" } },
    { "shaw-edit", HOLDS, REFUTED, .spec = { "deberta" } },
    { "shaw-edit", HOLDS, REFUTED, .spec = { "shaw:on=values" } },
    { "transformer-xl-edit", HOLDS, REFUTED, .spec = { "shaw" } },
    { "xlnet-edit", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "t5-edit", HOLDS, REFUTED, .spec = { "transformer-xl" } },
    { "deberta-edit", HOLDS, REFUTED, .spec = { "deberta:terms=c2p" } },
    { "rope-edit", HOLDS, REFUTED, .spec = { "rope+t5" } },
    { "only-the-distance", DEPENDS, HOLDS, .spec = { "shaw", "t5" } },
    { "only-the-distance", DEPENDS, REFUTED, .spec = { "binary" } },
    { "only-the-distance", DEPENDS, REFUTED, .spec = { "fire" } },
    { "orthogonal", HOLDS, REFUTED, .width = 8 },
    { "adding-is-concatenating", HOLDS, REFUTED,
      .spec = { "sinusoidal", "sinusoidal:join=concat,width=64,theta=100" } },
    { "concatenating-costs", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "concatenating-costs", HOLDS, DEPENDS, .spec = { "sinusoidal", "sinusoidal:join=concat,width=64" } },
    { "adding-loses-nothing", DEPENDS, REFUTED, .width = 32 },
    { "adding-loses-nothing", DEPENDS, HOLDS, .spec = { "integer" }, .width = 512, .length = 4 },
    { "rope-relative", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "rope-relative", HOLDS, REFUTED, .spec = { "rope:precision=hf" } },
    { "rope-keeps-norms", HOLDS, REFUTED, .spec = { "rope:magnitude=1.1" } },
    { "rope-matrix", HOLDS, REFUTED, .spec = { "xpos" } },
    { "rope-turns-once", HOLDS, REFUTED, .spec = { "rope:scaling=yarn,factor=4,trained=2048" } },
    { "rope-bound-decays", DEPENDS, REFUTED, .spec = { "rope:theta=10,dims=16" } },
    { "rope-bound-decays", DEPENDS, HOLDS, .length = 4096 },
    { "rope-scores-decay", REFUTED, DEPENDS, .spec = { "rope+alibi" } },
    { "rope-scores-decay", REFUTED, HOLDS, .spec = { "alibi" } },
    { "rope-bands", DEPENDS, REFUTED, .spec = { "rope:theta=100" } },
    { "rope-bands", DEPENDS, HOLDS, .spec = { "rope:scaling=proportional,turning=0.25" } },
    { "rope-axes", HOLDS, REFUTED, .spec = { "sinusoidal:axes=2+rope:axes=2" } },
    { "rope-one-pair-for-all-axes", REFUTED, HOLDS, .spec = { "rope:axes=2" } },
    { "alibi-linear", DEPENDS, REFUTED, .spec = { "kerple" } },
    { "alibi-linear", DEPENDS, HOLDS, .heads = 16 },
    { "alibi-linear", DEPENDS, DEPENDS, .heads = 12 },
    { "alibi-linear", DEPENDS, DEPENDS, .heads = 40 },
    { "t5-buckets", HOLDS, REFUTED, .spec = { "alibi" } },
    { "t5-buckets", HOLDS, REFUTED, .spec = { "shaw" } }, /* single, and then one for all */
    { "shaw-clip", HOLDS, REFUTED, .spec = { "transformer-xl" } },
    { "shaw-clip", HOLDS, REFUTED, .spec = { "shaw:left=300" } },
    { "relative-needs-no-learning", DEPENDS, HOLDS, .spec = { "rope", "alibi" } },
    { "relative-needs-no-learning", DEPENDS, REFUTED, .spec = { "t5", "shaw" } },
    { "tables-end", HOLDS, REFUTED, .spec = { "sinusoidal" } },
    { "hierarchical-goes-on", HOLDS, REFUTED, .spec = { "learned:rows=32" } },
    { "residuals-carry-position", HOLDS, REFUTED, .residual = -1, .heads = 4, .width = 16 },
    { "residuals-carry-position", HOLDS, REFUTED, .spec = { "none" }, .heads = 4, .width = 16 },
    { "no-residuals-no-position", HOLDS, REFUTED, .residual = 1, .heads = 4, .width = 16 },
    { "causal-mask-tells-position", HOLDS, REFUTED, .causal = -1, .heads = 4, .width = 16 },
    { "bfloat16-is-enough", DEPENDS, HOLDS, .spec = { "rope", "t5" } },
    { "bfloat16-is-enough", DEPENDS, REFUTED, .spec = { "integer", "alibi" } },
    { "bfloat16-is-enough", DEPENDS, DEPENDS, .spec = { "kerple" } }, /* by the seed */
    { "float16-is-enough", DEPENDS, HOLDS, .spec = { "sinusoidal", "rope", "alibi" }, .length = 4096 },
    { "bfloat16-breaks-relative", DEPENDS, REFUTED, .spec = { "alibi" } },
    { "bfloat16-breaks-relative", DEPENDS, HOLDS, .spec = { "rope:precision=hf" }, .length = 1 << 24 },
    { "float16-breaks-relative", DEPENDS, HOLDS, .spec = { "rope:precision=hf" }, .length = 1 << 24 },
    { "8-bit-is-enough", DEPENDS, REFUTED, .spec = { "alibi" } },
    { "4-bit-is-enough", DEPENDS, HOLDS, .spec = { "rope", "t5" } },
    { "costs-no-memory", DEPENDS, HOLDS, .spec = { "alibi" } },
    { "costs-no-memory", DEPENDS, REFUTED, .spec = { "transformer-xl" } },
    { "any-kernel", DEPENDS, HOLDS, .spec = { "rope:turn=qkvo", "xpos" } },
    { "any-kernel", DEPENDS, REFUTED, .spec = { "rope+alibi" } },
    { "cache-can-move", DEPENDS, HOLDS, .spec = { "rope", "alibi" } },
    { "cache-can-move", DEPENDS, REFUTED, .spec = { "sinusoidal" } },
    { "keys-can-be-split", DEPENDS, HOLDS, .spec = { "rope", "shaw" } },
    { "keys-can-be-split", DEPENDS, REFUTED, .spec = { "cope" } },
};

/* A claim that chooses its sizes, with seeds at each, at a small one, which is many times as fast; test_prove_cli.sh has
 * verdicts at all. */
static prove_given small(const char *claim)
{
    prove_given g = claim_of(claim)->given;
    const char *sizes = claim_of(claim)->sizes.en;
    if (!g.heads && !g.head_dim && !g.residual && !g.model_dim && !(sizes && !strstr(sizes, "seeds"))) {
        g.heads = 4;
        g.head_dim = 16;
    }
    return g;
}

static prove_given planted(const plant *p)
{
    prove_given g = small(p->claim);
    if (p->spec[0]) {
        memset(g.spec, 0, sizeof g.spec);
        memcpy(g.spec, p->spec, sizeof p->spec);
    }
    g.heads = p->heads ? p->heads : g.heads;
    g.length = p->length ? p->length : g.length;
    if (p->width && (claim_of(p->claim)->given.head_dim || p->heads))
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
    assert_in_range(f->count, 1, PROVE_NUMBERS_MAX - 1); /* full: some may be left out */
    for (int i = 0; i < f->count; i++) {
        words what = f->number[i].what;
        if (!what.zh || strcmp(what.en, what.zh)) /* formulas are the same */
            assert_both(what, claim);
        assert_non_null(f->number[i].unit);
        assert_true(isfinite(f->number[i].value));
    }
}

/* At their own sizes these take seconds each; test_prove_cli.sh compares their verdicts with docs/claims.md. */
static bool is_slow(const char *claim)
{
    static const char *const slow[] = { "adding-loses-nothing", "residuals-carry-position", "no-residuals-no-position",
                                        "causal-mask-tells-position" };
    bool found = false;
    for (int i = 0; i < COUNT(slow); i++)
        found = found || !strcmp(slow[i], claim);
    return found;
}

TEST(every_claim_has_its_verdict_and_a_planted_failure_changes_it)
{
    for (int n = 0; n < COUNT(plants); n++) {
        const plant *p = &plants[n];
        prove_given g = planted(p);
        prove_finding f;
        if ((!n || strcmp(plants[n - 1].claim, p->claim)) && !is_slow(p->claim)) {
            prove_given own = small(p->claim); /* the first claim at its own sizes */
            f = measured(p->claim, n ? &own : NULL);
            assert_told(&f, p->claim);
            if ((int)f.verdict != p->is)
                fail_msg("%s: %s; expected %s", p->claim, prove_verdict_words(f.verdict).en,
                         prove_verdict_words((prove_verdict)p->is).en);
        }
        f = measured(p->claim, &g);
        assert_told(&f, p->claim);
        if ((int)f.verdict != p->becomes)
            fail_msg("%s with plant %d: %s; expected %s", p->claim, n, prove_verdict_words(f.verdict).en,
                     prove_verdict_words((prove_verdict)p->becomes).en);
    }
}

/* Nothing depends on what was measured before. */
TEST(a_claim_measured_again_has_the_same_bits)
{
    static const char *const twice[] = { "two-dogs", "order-blind", "causal-mask", "reversal-seen", "wavelengths" };
    prove_finding a[COUNT(twice)], b;
    prove_given g[COUNT(twice)];
    for (int i = 0; i < COUNT(twice); i++) {
        g[i] = small(twice[i]);
        a[i] = measured(twice[i], &g[i]);
    }
    for (int i = 0; i < COUNT(twice); i++) {
        b = measured(twice[i], &g[i]);
        assert_int_equal(a[i].count, b.count);
        for (int n = 0; n < b.count; n++)
            assert_memory_equal(&a[i].number[n].value, &b.number[n].value, sizeof(double));
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
TEST(the_verdict_about_time_follows_the_clock)
{
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
    bool found = !strcmp(claim, "costs-no-time") || claim_of(claim)->trained; /* test_prove_trained.c */
    for (int n = 0; n < COUNT(plants) && !found; n++)
        found = !strcmp(plants[n].claim, claim);
    return found;
}

TEST(no_claim_goes_without_a_plant_and_each_speaks_both_languages)
{
    for (int g = 0; g < prove_group_count; g++)
        assert_both(prove_groups[g]->title, prove_groups[g]->name);
    EACH_CLAIM(c)
    {
        if (!is_planted(c->name))
            fail_msg("%s has no planted failure", c->name);
        assert_both(c->claim, c->name);
        if (c->put.en)
            assert_both(c->put, c->name);
        assert_true(c->source && *c->source);
        assert_true(prove_takes_spec(c) == (c->takes && c->put.en));
        if (c->kind == PROVE_MEASURED && !c->rule.en)
            fail_msg("%s is measured, and no rule says when it holds", c->name);
        if (c->rule.en)
            assert_both(c->rule, c->name);
        assert_string_equal(prove_sentence(c, NULL).en, c->claim.en);
    }
    for (int b = 0; b < CLAIM_COUNT; b++)
        assert_both(prove_property_words(1u << b), "a property");
    for (int k = 0; k < PROVE_KIND_COUNT; k++)
        assert_both(prove_kind_words((prove_kind)k), "a kind");
}

/* ------------------------------------------------ names */

static bool is_row(const char *name)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, name))
            return true;
    return false;
}

/* A word of the command line is a spec, a group or a claim, and never two of them. */
TEST(names_are_told_apart)
{
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

/* ------------------------------------------------ specs and sizes in place of a claim's own */

/* Of a spec the number and the verdict say the same; what a claim cannot take is refused with a sentence. */
TEST(a_spec_takes_the_place_of_a_claims_own)
{
    static const struct {
        const char *claim, *spec;
        int is;       /* the verdict, or of a status */
        const char *says; /* what the number is of, or the error */
        pe_status status;
    } row[] = {
        { "order-blind", "alibi", REFUTED, "alibi", PE_OK },
        { "order-blind", NULL, HOLDS, "none", PE_OK },
        { "two-dogs", "none", REFUTED, "none", PE_OK },
        { "two-dogs", "rope", HOLDS, "rope", PE_OK },
        { "two-dogs", "alibi", HOLDS, "alibi", PE_OK },
        { "order-seen", "none", REFUTED, "none", PE_OK },
        { "order-seen", "alibi", HOLDS, "alibi", PE_OK },
        { "reversal-seen", "none", REFUTED, "none", PE_OK },
        { "reversal-seen", "sandwich", REFUTED, "sandwich", PE_OK },
        { "reversal-seen", "t5", HOLDS, "t5", PE_OK },
        { "bit-periods", "binary", HOLDS, "", PE_OK },
        { "bit-periods", "sinusoidal", REFUTED, "", PE_OK },
        { "integer-drowns", "integer", HOLDS, "integer", PE_OK },
        { "order-blind", "transformer-xl", REFUTED, "ahead=", PE_OK }, /* a table is made to reach */
        { "order-blind", "transformer-xl:ahead=2", 0, "", PE_ERR_POSITION }, /* one that is given stays */
        { "order-blind", "nonsense", 0, "nonsense", PE_ERR_SPEC },
        { "binary-jumps", "rope", 0, "adds no code", PE_ERR_UNSUITED },
        { "rope-bound-decays", "alibi", 0, "needs", PE_ERR_UNSUITED },
        { "orthogonal", "rope", 0, "needs", PE_ERR_UNSUITED },
        { "alibi-linear", "window", 0, "needs", PE_ERR_UNSUITED },
        { "residuals-carry-position", "window", 0, "needs", PE_ERR_UNSUITED },
        { "hierarchical-goes-on", "sinusoidal", 0, "needs", PE_ERR_UNSUITED },
        { "four-terms", "sinusoidal:join=concat,width=64", 0, "needs", PE_ERR_UNSUITED },
    };
    prove_finding f;
    for (int i = 0; i < COUNT(row); i++) {
        pe_status s = put_to(&f, row[i].claim, row[i].spec, (pe_shape){ 0 }, &err);
        bool seen = strstr(row[i].claim, "seen") || !strcmp(row[i].claim, "two-dogs");
        if (s != row[i].status || !strstr(s ? err.text : f.number[0].of, row[i].says) || (s && !*err.text))
            fail_msg("%s %s: %s %s", row[i].claim, row[i].spec, pe_status_name(s), s ? err.text : f.number[0].of);
        if (!s && (int)f.verdict != row[i].is)
            fail_msg("%s %s: %s", row[i].claim, row[i].spec, prove_verdict_words(f.verdict).en);
        assert_true(s || !seen || (f.number[0].value > 1e-9) == (f.verdict == PROVE_HOLDS));
    }
    prove_given wide = claim_of("rope-matrix")->given;
    wide.head_dim = 1024;
    assert_int_equal(claim_of("rope-matrix")->measure(&f, &wide, NULL), PE_ERR_SHAPE);
}

/* Only the sizes that are given change; those that cannot be measured are refused. */
TEST(sizes_take_the_place_of_a_claims_own)
{
    static const char *const change = "change from first to last, after LayerNorm", *const of = "sinusoidal, word 1";
    prove_finding narrow, wide, f;
    assert_ok(put_to(&narrow, "integer-drowns", "sinusoidal", (pe_shape){ 0 }, &err));
    assert_ok(put_to(&wide, "integer-drowns", "sinusoidal", (pe_shape){ .head_dim = 32 }, &err));
    assert_true(number(&narrow, change, of) != number(&wide, change, of));
    assert_ok(put_to(&f, "order-blind", "rope:theta=1000000,sections=16/24/24", (pe_shape){ .head_dim = 128 }, &err));
    assert_int_equal(put_to(&f, "order-blind", "rope", (pe_shape){ .heads = 60000 }, &err), PE_ERR_SHAPE);
    assert_non_null(strstr(err.text, "heads is 60000"));
    pe_shape wider = { .heads = 128, .head_dim = 512 };
    assert_int_equal(put_to(&f, "order-blind", "rope", wider, &err), PE_ERR_SHAPE);
}

TEST(tables_are_made_to_reach)
{
    char spec[200];
    assert_true(measure_fit(spec, sizeof spec, "learned", 700));
    assert_string_equal(spec, "learned:rows=700");
    assert_false(measure_fit(spec, sizeof spec, "learned:rows=3", 700));
    assert_false(measure_fit(spec, sizeof spec, "alibi", 700));
    assert_false(measure_fit(spec, 12, "learned", 700));
}

/* ------------------------------------------------ no memory */

/* Allocation n fails: nothing is kept. False: there were not so many. */
static bool fails_at(long n, pe_status *s, const prove_claim *c, const char *spec, const prove_given *g, pe_error *why)
{
    prove_finding f = { 0 };
    size_t live = heap.live;
    *why = (pe_error){ 0 };
    heap.fail = n;
    *s = spec ? prove_measure(&f, c, spec, (pe_shape){ 0 }, (prove_means){ 0 }, why) : c->measure(&f, g, why);
    bool reached = heap.fail == 0;
    heap.fail = 0;
    assert_int_equal(heap.live, live);
    return reached;
}

/* Every allocation fails once, or, of claims with many, some of them: no crash, no leak; a finding is whole, or the
 * measure says that there was no memory. */
TEST(memory_that_runs_out_is_told)
{
    static const char *const some[] = { "two-dogs",       "order-blind",      "pooled-blind",  "cross-blind",
                                        "integer-drowns", "fractions-depend", "shift-rotates", "wavelengths",
                                        "decaying-dot",   "hierarchical-goes-on" };
    static const char *const every[] = { "shaw-edit", "adding-is-concatenating", "rope-matrix", "rope-axes",
                                         "alibi-linear", "tables-end" };
    pe_status s;
    for (int i = 0; i < COUNT(some) + COUNT(every); i++) {
        bool all = i >= COUNT(some);
        const prove_claim *c = claim_of(all ? every[i - COUNT(some)] : some[i]);
        prove_given g = small(c->name);
        long n = 1;
        for (; fails_at(n, &s, c, i ? NULL : "rope", &g, &err); n += all ? 1 : 1 + n / 4)
            if (all ? s != PE_ERR_NOMEM : s && (s != PE_ERR_NOMEM || !*err.text))
                fail_msg("%s, allocation %ld: %s: %s", c->name, n, pe_status_name(s), err.text);
        assert_int_equal(s, PE_OK);
    }
}

/* The same for claims over all rows, at some of their many allocations. */
TEST(memory_that_runs_out_leaks_nothing_over_all_rows)
{
    static const char *const some[] = { "any-kernel", "cache-can-move", "keys-can-be-split", "bfloat16-is-enough",
                                        "costs-no-time", "residuals-carry-position" };
    pe_status s;
    for (int n = 0; n < COUNT(some); n++) {
        const prove_claim *c = claim_of(some[n]);
        prove_given g = c->given;
        g.length = g.residual ? 6 : g.length > 36 ? 36 : g.length;
        g.heads = g.residual ? 1 : g.heads; /* a Transformer as small as it gets */
        g.head_dim = g.residual ? 4 : g.head_dim;
        if (!g.spec[0]) {
            g.spec[0] = "rope";
            g.spec[1] = "shaw";
        }
        for (long at = 1; at < 60 && fails_at(at, &s, c, NULL, &g, &err);)
            at += at < 12 ? 1 : 7;
    }
}

TEST(properties_without_memory_say_so)
{
    static const char *const specs[] = { "rope:dims=8", "shaw", "learned:rows=64" };
    for (int i = 0; i < COUNT(specs); i++)
        for (long n = 1;; n += 1 + n / 3) {
            property_found p[CLAIM_COUNT];
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
