/* labels: core; tier: test; cost: 7 s; needs: prove; sanitize: all
 * SPDX-License-Identifier: MIT
 *
 * Every row is held to its claims, both ways: what it claims must be measured, what it does not claim must be measured
 * to fail, or the row says why not (row.excuse). The predicates are src/prove/property*.c. */

#include "core/encoding.h"
#include "core/spec.h"
#include "prove/property.h"
#include "test.h"

static uint64_t randomness = PROPERTY_SEED;

static property_subject subject_new(const char *spec, pe_shape shape, uint64_t seed)
{
    property_subject s;
    if (property_open(&s, spec, shape, seed, &err))
        fail_msg("%s: %s", spec, err.text);
    return s;
}

static property_verdict ask(property_subject *s, int bit)
{
    property_verdict v;
    assert_ok(property_ask(&v, s, bit, &err));
    return v;
}

static int bit_of(unsigned claim)
{
    int b = 0;
    while (claim != 1u << b)
        b++;
    return b;
}

static const pe_shape usual_shape = { 8, 4, 64, 48 };

/* A shape of its own where the spec is not tied to 8 heads of 64. Heads are 8 wide or more: with one pair some scalings
 * have nothing to change. */
static pe_shape random_shape(const char *spec)
{
    for (int tries = 0; tries < 60; tries++) {
        pe_encoding *e;
        int64_t group = test_range(&randomness, 1, 3), kv = test_range(&randomness, 1, 4);
        pe_shape shape = { group * kv, kv, 8 * test_range(&randomness, 1, 8), 8 * test_range(&randomness, 1, 8) };
        if (!pe_encoding_new(&e, spec, shape, NULL)) {
            pe_encoding_free(e);
            return shape;
        }
    }
    return usual_shape;
}

/* ------------------------------------------------ rows against their claims */

/* Rows with an excuse, and how often it was needed. */
static struct {
    const row *row;
    int needed;
} excuses[ROWS_MAX + 1];

/* A combination claims what all its parts claim, and one part may be enough for the whole: it may hold more than it
 * claims. A row may be measured otherwise than it states where it says why. */
static bool is_excused(const pe_encoding *e, unsigned claim, bool claims, bool ok)
{
    const row *r = e->part[0].row;
    int n = 0;
    if (e->parts > 1)
        return !claims;
    if (!(r->excused & claim))
        return false;
    while (excuses[n].row && excuses[n].row != r)
        n++;
    excuses[n].row = r;
    excuses[n].needed += !ok;
    return true;
}

static int said[CLAIM_COUNT][3];
static int wrong;

/* One line of the matrix. Upper case: claimed. Y y holds, . fails, - has no meaning. */
static void hold_to_claims(const char *spec, pe_shape shape)
{
    property_subject s = subject_new(spec, shape, test_random(&randomness));
    char line[2 * CLAIM_COUNT + 1] = "";
    for (int b = 0; b < CLAIM_COUNT; b++) {
        property_verdict v = ask(&s, b);
        bool claims = pe_encoding_claims(s.e) & 1u << b, ok = claims == (v.is == PROPERTY_HOLDS);
        said[b][v.is]++;
        snprintf(line + 2 * b, 3, "%c ", v.is == PROPERTY_HOLDS ? (claims ? 'Y' : 'y') : claims ? '!' : v.is == PROPERTY_FAILS ? '.' : '-');
        if (is_excused(s.e, 1u << b, claims, ok) || ok)
            continue;
        wrong++;
        print_error("%s (%d heads of %d, model %d) %s %s, but the measurement says %s: %g\n", spec, (int)shape.heads,
                    (int)shape.head_dim, (int)shape.model_dim, claims ? "claims" : "does not claim", pe_claim_name(1u << b),
                    v.is == PROPERTY_HOLDS ? "it holds" : v.is == PROPERTY_FAILS ? "it fails" : "it has no meaning", v.number);
    }
    printf("%s  %.90s\n", line, spec);
    fflush(stdout);
    property_close(&s);
}

static void both_shapes(const char *spec)
{
    hold_to_claims(spec, usual_shape);
    pe_shape other = random_shape(spec);
    printf("%*s  %d heads of %d, model %d\n", 2 * CLAIM_COUNT, "", (int)other.heads, (int)other.head_dim,
           (int)other.model_dim);
    hold_to_claims(spec, other);
}

static const char *const more_specs[] = {
    "shaw:on=values", "binary:join=concat,width=9", "rope:dims=0", "rope:softmax=2", "rope:sections=32/0",
    "rope:scaling=proportional,turning=0", "rope:axes=2,temperature=0.1,floor=64",
    "rope:dims=32,axes=2,split=axial,coords=normalised,extent=14/20,sign=negative", "sinusoidal+alibi", "rope+t5",
    "learned+kerple", "none+rope", "rope+sandwich", "xpos+kerple", "cope+rope", "shaw+alibi:form=symmetric",
    "integer+fire", "rope:axes=2,split=axial+window", "sinusoidal:axes=2+rope", "sinusoidal+sinusoidal:theta=100",
    "alibi+kerple", "transformer-xl+rope:theta=100+alibi",
};

TEST(a_row_claims_what_is_measured_and_nothing_else)
{
    printf("claims: ");
    for (int b = 0; b < CLAIM_COUNT; b++)
        printf("%s%s", b ? ", " : "", pe_claim_name(1u << b));
    printf("\nY claimed and holds, . fails, - has no meaning; y holds unclaimed, ! claimed all the same\n");
    wrong = 0;
    each_example(both_shapes);
    for (int i = 0; i < COUNT(more_specs); i++)
        hold_to_claims(more_specs[i], usual_shape);
    hold_to_claims("wavelet", (pe_shape){ 4, 2, 8, 16 }); /* 8 scales of 8 elements: no shifts */
    for (int i = 0; excuses[i].row; i++) {
        printf("%s: %s (%d times)\n", excuses[i].row->info.name, excuses[i].row->excuse, excuses[i].needed);
        if (!excuses[i].needed)
            fail_msg("%s needs no excuse", excuses[i].row->info.name);
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------ predicates can say both */

static pe_status axes_one_by_one(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    (void)s;
    for (int64_t t = 0; t < n; t++, at += 2, out += 2) {
        out[0] = cos(0.3 * (double)at[0]);
        out[1] = sin(0.2 * (double)at[1]);
    }
    return PE_OK;
}

static pe_status axes_in_one_pair(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    (void)s;
    for (int64_t t = 0; t < n; t++, at += 2, out += 2) {
        double angle = 0.3 * (double)at[0] + 0.2 * (double)at[1];
        out[0] = cos(angle);
        out[1] = sin(angle);
    }
    return PE_OK;
}

TEST(a_pair_rotated_by_x_and_y_together_mixes_axes)
{
    property_subject s = { .axes = 2, .size = 2, .low = { 0 }, .high = { 1000, 1000 } };
    s.code = axes_one_by_one;
    assert_int_equal(ask(&s, bit_of(PE_CLAIM_AXES)).is, PROPERTY_HOLDS);
    s.code = axes_in_one_pair;
    assert_int_equal(ask(&s, bit_of(PE_CLAIM_AXES)).is, PROPERTY_FAILS);
}

TEST(the_transpose_is_not_the_inverse)
{
    property_subject s = subject_new("rope:magnitude=1.25", usual_shape, PROPERTY_SEED);
    int bit = bit_of(PE_CLAIM_INVERTIBLE);
    assert_int_equal(ask(&s, bit).is, PROPERTY_HOLDS);
    s.undo = pe_rotate_back;
    property_verdict v = ask(&s, bit);
    said[bit][v.is]++;
    assert_int_equal(v.is, PROPERTY_FAILS);
    property_close(&s);
}

TEST(rows_that_must_lack_a_claim_lack_it)
{
    static const struct {
        const char *spec;
        unsigned claim;
    } lacks[] = {
        { "normalised", PE_CLAIM_ANY_LENGTH },
        { "rope:scaling=dynamic,factor=2,trained=2048,length=6000", PE_CLAIM_ANY_LENGTH },
        { "rope:dims=4,scaling=longrope,factor=8,trained=1024,length=5000,short=1/1,long=1/8", PE_CLAIM_ANY_LENGTH },
        { "rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14", PE_CLAIM_ANY_LENGTH },
        { "window", PE_CLAIM_AXES },
        { "fire", PE_CLAIM_RELATIVE },
        { "integer", PE_CLAIM_BOUNDED },
        { "learned", PE_CLAIM_ENDLESS },
        { "xpos", PE_CLAIM_NORM },
    };
    for (int i = 0; i < COUNT(lacks); i++) {
        property_subject s = subject_new(lacks[i].spec, usual_shape, PROPERTY_SEED);
        if (ask(&s, bit_of(lacks[i].claim)).is != PROPERTY_FAILS)
            fail_msg("%s is measured to hold for %s", pe_claim_name(lacks[i].claim), lacks[i].spec);
        assert_false(pe_encoding_claims(s.e) & lacks[i].claim);
        property_close(&s);
    }
}

TEST(every_predicate_has_said_yes_and_no)
{
    for (int b = 0; b < CLAIM_COUNT; b++) {
        printf("%-11s yes %d, no %d, no meaning %d\n", pe_claim_name(1u << b), said[b][PROPERTY_HOLDS], said[b][PROPERTY_FAILS], said[b][PROPERTY_NO_MEANING]);
        assert_true(said[b][PROPERTY_HOLDS] > 0);
        assert_true(said[b][PROPERTY_FAILS] > 0);
    }
}

/* ------------------------------------------------ deterministic */

/* Whether parameters are drawn, or start where the spec says, whatever the seed. */
static bool seeded(const pe_encoding *e)
{
    for (int i = 0; i < e->parts; i++)
        for (int t = 0; t < e->part[i].tensors; t++) {
            fill how = e->part[i].tensor[t].fill;
            if (how == FILL_NORMAL || how == FILL_UNIFORM || (how == FILL_ROW && e->part[i].tensor[t].a != 0))
                return true;
        }
    return false;
}

static void same_bits(const char *spec)
{
    property_subject a = subject_new(spec, usual_shape, 7), b = subject_new(spec, usual_shape, 7), c = subject_new(spec, usual_shape, 8);
    size_t bytes = (size_t)a.w.count * sizeof(double), n = 24;
    int64_t at[24 * PE_AXES_MAX];
    double *code[3];
    for (size_t i = 0; i < n; i++)
        property_random(&a, PE_POSITION_MAX, at + (int64_t)i * a.axes);
    for (int i = 0; i < 3; i++) {
        code[i] = calloc(n * (size_t)a.size + 1, sizeof *code[i]);
        assert_true(code[i] && property_codes(i < 2 ? &a : &b, at, (int64_t)n, code[i]));
    }
    if (memcmp(code[0], code[1], n * (size_t)a.size * sizeof(double)))
        fail_msg("%s: the same call twice gives other bits", spec);
    if (memcmp(code[0], code[2], n * (size_t)a.size * sizeof(double)))
        fail_msg("%s: two encodings of one spec differ", spec);
    if (bytes && memcmp(a.w.data, b.w.data, bytes))
        fail_msg("%s: the same seed gives other parameters", spec);
    if (seeded(a.e) != (bytes && memcmp(a.w.data, c.w.data, bytes)))
        fail_msg("%s: another seed gives %s parameters", spec, seeded(a.e) ? "the same" : "other");
    assert_string_equal(pe_encoding_spec(a.e), pe_encoding_spec(b.e));
    assert_true(pe_encoding_fingerprint(a.e) == pe_encoding_fingerprint(b.e));
    for (int i = 0; i < 3; i++)
        free(code[i]);
    property_close(&a), property_close(&b), property_close(&c);
}

TEST(same_call_same_bits)
{
    each_example(same_bits);
}

/* ------------------------------------------------ scales */

/* What the parts state: one of them the scale, each a factor. */
static double stated_scale(const pe_encoding *e)
{
    double scale = 1 / sqrt((double)e->shape.head_dim), factor = 1;
    for (int i = 0; i < e->parts; i++) {
        scale = e->part[i].scale != 0 ? e->part[i].scale : scale;
        factor *= e->part[i].scale_factor;
    }
    return scale * factor;
}

static void scale_of(const char *spec)
{
    static const struct {
        const char *spec;
        double times; /* 1/sqrt(D); 0: the scale is 1 */
    } published[] = {
        { "none", 1 }, { "rope", 1 }, { "alibi", 1 }, { "shaw", 1 }, { "t5", 0 }, { "t5:direction=causal", 0 }, { "t5:buckets=64,max=256,scale=sqrt", 1 },
        { "deberta", 0.57735026918962573 }, { "deberta:buckets=8,max=32", 0.57735026918962573 },
        { "deberta:buckets=8,max=32,terms=c2p", 0.70710678118654757 }, { "deberta:buckets=0,max=16,terms=p2c", 0.70710678118654757 },
        { "rope+t5", 0 }, { "deberta:buckets=8,max=32+fire:hidden=8", 0.57735026918962573 },
    };
    pe_encoding *e = encoding_of(spec, test_shape);
    double expected = stated_scale(e), usual = 1 / sqrt((double)test_shape.head_dim);
    for (int i = 0; i < COUNT(published); i++)
        if (!strcmp(spec, published[i].spec))
            expected = published[i].times > 0 ? published[i].times * usual : 1;
    if (fabs(pe_encoding_scale(e) / expected - 1) > 1e-15)
        fail_msg("%s: the scale is %.17g, should be %.17g", spec, pe_encoding_scale(e), expected);
}

TEST(the_softmax_scale_is_what_the_row_states)
{
    each_example(scale_of);
    scale_of("rope+t5");
    scale_of("deberta:buckets=8,max=32+fire:hidden=8");
}
