/* labels: core; tier: quick; cost: 1 s */
/* SPDX-License-Identifier: MIT
 *
 * Values worked out by hand or computed by authors' code for rows that golden vectors do not cover, or not in float64: xpos, fope,
 * pope, cope, kerple, fire, sandwich, wavelet, hierarchical, forget, inkling and Falcon's ALiBi. Long decimals come from 20 digits of mpmath; the working stands beside each.
 * Everything is read in float64, and 1e-14 of the size allows for a dozen roundings of 2^-53. */
#include "test.h"

#define CLOSE 1e-14

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= CLOSE * fmax(1, fabs(want))))
        fail_msg("is %.17g; by hand it is %.17g", got, want);
}

static pe_view f64(void *data, int64_t tokens, int64_t heads, int64_t dim)
{
    return pe_view_of(data, PE_F64, 1, tokens, heads, dim);
}

static pe_positions places(const int64_t *at, int64_t tokens)
{
    return pe_positions_of(at, PE_I64, 1, tokens, 1);
}

static pe_params block(double *w, int64_t count)
{
    return (pe_params){ w, PE_F64, count };
}

/* The bias of head h (from 0) for a query at i and a key at j. */
static double bias_at(const pe_encoding *e, pe_stage stage, pe_params w, int64_t h, int64_t i, int64_t j)
{
    double score[64] = { 0 };
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 1, pe_encoding_shape(e).heads, 1), .q_at = places(&i, 1), .k_at = places(&j, 1) };
    assert_ok(pe_encoding_bias(e, stage, w, &t, &err));
    return score[h];
}

/* The content term of one head, one query, one key. */
static double content_at(const pe_encoding *e, pe_stage stage, double *q, int64_t i, int64_t j)
{
    double score = 0, k[PE_HEAD_DIM_MAX] = { 0 };
    int64_t D = pe_encoding_shape(e).head_dim;
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(&score, 1, 1, 1), .q = f64(q, 1, 1, D), .k = f64(k, 1, 1, D), .q_at = places(&i, 1),
                  .k_at = places(&j, 1) };
    assert_ok(pe_encoding_content(e, stage, (pe_params){ 0 }, &t, &err));
    return score;
}

/* ------------------------------------------------ wavelet */

/* psi(x) = (1 - x^2) exp(-x^2/2), x = (t - b)/a. With 8 scales over 128 elements there are 16 shifts, so element
 * 16 s + b has a = 2^s and that b; a unit vector picks it.
 *   t = 3,   a = 4,   b = 1:  x = 1/2,     0.75 exp(-1/8)              =  0.66187267693844655215
 *   t = 5,   a = 2,   b = 2:  x = 3/2,    -1.25 exp(-9/8)              = -0.40581558419793716225
 *   t = 100, a = 128, b = 15: x = 85/128, (1 - x^2) exp(-x^2/2)        =  0.44840530881603709065
 *   t = 1,   a = 1,   b = 0:  x = 1, where psi crosses                  =  0                      */
TEST(wavelets_are_ricker_wavelets_of_the_distance)
{
    static const struct {
        int64_t t, scale, shift;
        double psi;
    } by_hand[] = { { 3, 2, 1, 0.66187267693844655215 }, { 5, 1, 2, -0.40581558419793716225 },
                    { 100, 7, 15, 0.44840530881603709065 }, { 1, 0, 0, 0 } };
    pe_encoding *e = encoding_of("wavelet:scales=8", (pe_shape){ 1, 1, 128, 0 });
    for (int n = 0; n < COUNT(by_hand); n++) {
        double q[128] = { 0 };
        q[16 * by_hand[n].scale + by_hand[n].shift] = 1;
        assert_near(content_at(e, PE_BEFORE_SCALE, q, 1000 + by_hand[n].t, 1000), by_hand[n].psi); /* any shift */
        assert_near(content_at(e, PE_AFTER_SCALE, q, 1000 + by_hand[n].t, 1000), 0); /* acts before the scale */
    }
}

/* d = 4, two scales, two shifts: (a, b) = (1,0) (1,1) (2,0) (2,1). At t = 3, x = 3, 2, 3/2, 1:
 *   psi = -8 exp(-9/2), -3 exp(-2), -5/4 exp(-9/8), 0 = -0.0888719723, -0.4060058497, -0.4058155842, 0
 *   (1, -2, 1/2, 3) . psi = 0.52023193501476911827 */
TEST(a_wavelet_row_runs_over_scales_with_shifts_fastest)
{
    double q[] = { 1, -2, 0.5, 3 };
    pe_encoding *e = encoding_of("wavelet:scales=2", (pe_shape){ 1, 1, 4, 0 });
    assert_near(content_at(e, PE_BEFORE_SCALE, q, 3, 0), 0.52023193501476911827);
    /* first=2 makes the scales 4 and 8: elements (4,0) (4,1) (8,0) (8,1); the second at t = 3 is psi(1/2) of above */
    e = encoding_of("wavelet:scales=2,first=2", (pe_shape){ 1, 1, 4, 0 });
    double second[] = { 0, 1, 0, 0 };
    assert_near(content_at(e, PE_BEFORE_SCALE, second, 3, 0), 0.66187267693844655215);
}

/* ------------------------------------------------ sandwich */

/* (sum over i from `first` of cos(t theta^(-2i/d)), d/2 terms) / (8h/H), h from 1.
 *   t = 1, d = 4, H = 8,  h = 1: cos 1 + cos 0.01 = 0.5403023059 + 0.9999500004; / 1           = 1.5402523062848049952
 *   t = 3, d = 8, H = 12, h = 5: cos 3 + cos 0.3 + cos 0.03 + cos 0.003
 *                              = -0.9899924966 + 0.9553364891 + 0.9995500337 + 0.9999955000; / (10/3)
 *                                                                                              = 0.58946685788325692329
 *   t = 7, d = 128, H = 8, h = 3: 64 terms; / 3                                                 = 15.607276891342698675
 *   first = 1: t = 3, d = 8, H = 12, h = 5: cos 0.3 + cos 0.03 + cos 0.003 + cos 0.0003; / (10/3)
 *                                                                                              = 1.1864645933633906617 */
TEST(sandwich_sums_cosines_and_divides_by_8h_over_H)
{
    static const struct {
        const char *spec;
        int64_t distance, heads, head;
        double value;
    } by_hand[] = { { "sandwich:width=4", 1, 8, 1, 1.5402523062848049952 },
                    { "sandwich:width=8", 3, 12, 5, 0.58946685788325692329 },
                    { "sandwich", 7, 8, 3, 15.607276891342698675 },
                    { "sandwich:width=8,first=1", 3, 12, 5, 1.1864645933633906617 } };
    for (int n = 0; n < COUNT(by_hand); n++) {
        pe_encoding *e = encoding_of(by_hand[n].spec, (pe_shape){ by_hand[n].heads, 0, 4, 0 });
        assert_near(bias_at(e, PE_AFTER_SCALE, (pe_params){ 0 }, by_hand[n].head - 1, 50 + by_hand[n].distance, 50),
                    by_hand[n].value);
        assert_near(bias_at(e, PE_AFTER_SCALE, (pe_params){ 0 }, by_hand[n].head - 1, 50, 50 + by_hand[n].distance),
                    by_hand[n].value);
    }
}

/* ------------------------------------------------ kerple */

/* log:   -r1 ln(1 + r2 d):  -1.5 ln(4.5) = -2.2561160951644111101,  -2 ln 2 = -1.3862943611198906188,  d = 0: 0
 * power: -r1 d^r2:          -0.5 * 7^1.5 = -9.2601295887260670668,  -0.25 * 3^2 = -2.25,               d = 0: 0
 * The block is r1 of all heads, then r2 of all heads. */
TEST(kerple_is_a_logarithmic_or_a_power_kernel)
{
    double log_block[] = { 1.5, 2, 0.5, 1 }, power_block[] = { 0.5, 0.25, 1.5, 2 };
    pe_encoding *l = encoding_of("kerple", (pe_shape){ 2, 0, 4, 0 }),
        *p = encoding_of("kerple:form=power", (pe_shape){ 2, 0, 4, 0 });
    assert_near(bias_at(l, PE_AFTER_SCALE, block(log_block, 4), 0, 107, 100), -2.2561160951644111101);
    assert_near(bias_at(l, PE_AFTER_SCALE, block(log_block, 4), 1, 100, 101), -1.3862943611198906188); /* |i - j| */
    assert_near(bias_at(l, PE_AFTER_SCALE, block(log_block, 4), 0, 100, 100), 0);
    assert_near(bias_at(p, PE_AFTER_SCALE, block(power_block, 4), 0, 107, 100), -9.2601295887260670668);
    assert_near(bias_at(p, PE_AFTER_SCALE, block(power_block, 4), 1, 100, 103), -2.25);
    assert_near(bias_at(p, PE_AFTER_SCALE, block(power_block, 4), 0, 100, 100), 0);
}

/* ------------------------------------------------ fire */

/* One head, two hidden units: 2 max(0, x + 1/2) + 3 max(0, 1 - 2x) - 1/4 with
 * x = ln(1 + 0.1 |i-j|) / ln(1 + 0.1 max(512, i)).
 *   i = 5, j = 2:       x = ln 1.3 / ln 52.2 = 0.066335977772034143618; 2 * 0.5663359778 + 3 * 0.8673280445 - 1/4
 *                                                                                      = 3.4846560889118634255
 *   i = 5, j = 5:       x = 0:                          2 * 0.5 + 3 - 1/4              = 3.75
 *   i = 2000, j = 0:    x = ln 201 / ln 201 = 1:        2 * 1.5 + 0 - 1/4              = 2.75
 *   i = 1005, j = 1002: x = ln 1.3 / ln 101.5 = 0.0567880790940808648:                 = 3.5228476836236765408
 *   i = 600, j = 100:   x = ln 51 / ln 61 = 0.95644521399466686659: second unit off    = 2.6628904279893337332 */
TEST(fire_is_a_network_of_a_ratio_of_logarithms)
{
    static const struct {
        int64_t i, j;
        double value;
    } by_hand[] = { { 5, 2, 3.4846560889118634255 }, { 5, 5, 3.75 }, { 2000, 0, 2.75 },
                    { 1005, 1002, 3.5228476836236765408 }, { 600, 100, 2.6628904279893337332 },
                    { 2, 5, 3.4846560889118634255 } /* a key ahead: |i - j| */ };
    double w[] = { 0.1, 512, 1, -2, 0.5, 1, 2, 3, -0.25 }; /* c, L, w1, b1, w2, b2 */
    pe_encoding *e = encoding_of("fire:hidden=2", (pe_shape){ 1, 0, 4, 0 });
    for (int n = 0; n < COUNT(by_hand); n++)
        assert_near(bias_at(e, PE_AFTER_SCALE, block(w, 9), 0, by_hand[n].i, by_hand[n].j), by_hand[n].value);
}

/* ------------------------------------------------ between whole positions */

/* A query at 7.5, a key at 5.25: 2.25 apart.
 *   alibi, slope 1/2: -1.125; with the two exchanged 1.125, symmetric -1.125
 *   kerple: -2 ln(1 + 3 * 2.25) = -4.0953856867305112542;  power: -2 * 2.25^1.5 = -6.75
 *   fire, c = 1, L = 4, one unit max(0, x): ln 3.25 / ln 8.5 = 0.55075633475558196863
 *   sandwich of one frequency, 1, head 8 of 8: cos(2.25) / 8 = -0.078521702840342386114
 *   pope, theta 100, q and k 0: (ln 2)^2 (cos 2.25 + cos 0.225) = -0.30180791030105517420 + 0.46834276669097573688 */
TEST(between_whole_positions_the_formulas_hold)
{
    const double at[] = { 7.5, 5.25 }, kerple_block[] = { 2, 3 }, power_block[] = { 2, 1.5 }, fire_block[] = { 1, 4, 1, 0, 1, 0 };
    const double zeros[2] = { 0 };
    const struct {
        const char *spec;
        int64_t heads, head, back; /* back: the query is the one at 5.25 */
        const double *w;
        double value;
    } by_hand[] = { { "alibi", 8, 7, 0, NULL, -2.25 / 256 },
                    { "alibi", 8, 0, 0, NULL, -1.125 },
                    { "alibi", 8, 0, 1, NULL, 1.125 },
                    { "alibi:form=symmetric", 8, 0, 1, NULL, -1.125 },
                    { "kerple", 1, 0, 0, kerple_block, -4.0953856867305112542 },
                    { "kerple:form=power", 1, 0, 1, power_block, -6.75 },
                    { "fire:hidden=1", 1, 0, 0, fire_block, 0.55075633475558196863 },
                    { "sandwich:width=2", 8, 7, 0, NULL, -0.078521702840342386114 },
                    { "pope:theta=100", 1, 0, 0, zeros, -0.30180791030105517420 + 0.46834276669097573688 } };
    for (int n = 0; n < COUNT(by_hand); n++) {
        double score[8] = { 0 }, x[2] = { 0 }, w[6] = { 0 };
        pe_encoding *e = encoding_of(by_hand[n].spec, (pe_shape){ by_hand[n].heads, 0, 2, 0 });
        int64_t count = pe_encoding_param_count(e);
        pe_view vector = f64(x, 1, by_hand[n].heads, 2);
        pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 1, by_hand[n].heads, 1), .q = vector, .k = vector,
                      .q_at = pe_positions_of(at + by_hand[n].back, PE_F64, 1, 1, 1),
                      .k_at = pe_positions_of(at + 1 - by_hand[n].back, PE_F64, 1, 1, 1) };
        memcpy(w, by_hand[n].w ? by_hand[n].w : zeros, (size_t)count * sizeof *w);
        assert_ok(pe_encoding_bias(e, PE_AFTER_SCALE, block(w, count), &t, &err));
        assert_ok(pe_encoding_content(e, PE_BEFORE_SCALE, block(w, count), &t, &err));
        assert_near(score[by_hand[n].head], by_hand[n].value);
    }
}

/* ------------------------------------------------ forget */

/* Two heads, three tokens. Gates f of head 0: 1/2, 1/4, 1/2; of head 1: sigmoid(0) = 1/2, sigmoid(ln 3) = 3/4, 1.
 *   head 0: from 2 to 0, f_1 f_2 = 1/8:  ln(1/8) = -2.0794415416798359283;  from 2 to 1, f_2 = 1/2:  -0.69314718055994530942
 *   head 1: from 2 to 0, f_1 f_2 = 3/4:  ln(3/4) = -0.28768207245178092744; from 2 to 1: 0
 * The gate of the first token forgets nothing; positions do not enter; a key ahead gets back what was forgotten. */
TEST(forget_takes_off_the_gates_between_key_and_query)
{
    const double f[3][2] = { { 0.5, 0.5 }, { 0.25, 0.75 }, { 0.5, 1 } };
    const double want[2][3] = { { -2.0794415416798359283, -0.69314718055994530942, 0 }, { -0.28768207245178092744, 0, 0 } };
    double c[3][2], score[3 * 2 * 3] = { 0 };
    int64_t at[] = { 10, 10, -7 };
    for (int t = 0; t < 3; t++)
        for (int h = 0; h < 2; h++)
            c[t][h] = (t ? c[t - 1][h] : 0) + log(f[t][h]);
    pe_encoding *e = encoding_of("forget", (pe_shape){ 2, 1, 4, 0 });
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 3, 2, 3), .q_at = places(at, 3), .k_at = places(at, 3), .q_gates = f64(c, 3, 2, 1),
                  .k_gates = f64(c, 3, 2, 1) };
    assert_true(pe_encoding_inputs(e).gates && !pe_encoding_inputs(e).relative && !pe_encoding_param_count(e));
    assert_ok(pe_encoding_bias(e, PE_BEFORE_SCALE, (pe_params){ 0 }, &t, &err));
    for (int n = 0; n < COUNT(score); n++)
        assert_true(score[n] == 0); /* acts after the scale */
    assert_ok(pe_encoding_bias(e, PE_AFTER_SCALE, (pe_params){ 0 }, &t, &err));
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 3; j++) {
            assert_near(score[(2 * 2 + h) * 3 + j], want[h][j]);
            assert_near(score[(j * 2 + h) * 3 + 2], -want[h][j]);
        }
}

/* ------------------------------------------------ inkling */

/* d = 4, profiles P_0 = (1, -1), P_1 = (1/2, 2), and r = (3, 1): r.P = 2 at distance 0, 7/2 at 1, 0 past it and ahead.
 * floor = 2, alpha = 1/2: tau_1 = 1, tau_7 = 1 + ln(8/2)/2 = 1.6931471805599453094. q.k = 4 for every key, times 1/4:
 *   at 7: tau (1 + 2), tau (1 + 7/2), tau = 5.0794415416798359283, 7.6191623125197538924, 1.6931471805599453094
 *   at 1, where tau is 1: keys at 1, 0, 2: 3, 9/2, 1 */
TEST(inkling_mixes_profiles_of_the_distance)
{
    double profiles[] = { 1, -1, 0.5, 2 }, r[] = { 3, 1 }, q[] = { 1, 0, 0, 2 }, k[12] = { 0, 5, 1, 2, 4, 0, 0, 0, 2, 7, 7, 1 }, score[3], out[4];
    static const struct {
        int64_t q_at, k_at[3];
        double want[3];
    } cases[] = { { 7, { 7, 6, 5 }, { 5.0794415416798359283, 7.6191623125197538924, 1.6931471805599453094 } }, { 1, { 1, 0, 2 }, { 3, 4.5, 1 } } };
    static char work[4096];
    pe_encoding *e = encoding_of("inkling:distances=2,width=2,floor=2,alpha=0.5", (pe_shape){ 1, 1, 4, 0 });
    assert_true(pe_encoding_inputs(e).relative == 2 && pe_encoding_scale(e) == 0.25 && pe_encoding_param_count(e) == 4);
    for (int n = 0; n < COUNT(cases); n++) {
        size_t bytes;
        pe_attention a = PE_MAKE(pe_attention, .out = f64(out, 1, 1, 4), .q = f64(q, 1, 1, 4), .k = f64(k, 3, 1, 4), .v = f64(k, 3, 1, 4),
                                 .q_at = places(&cases[n].q_at, 1), .k_at = places(cases[n].k_at, 3), .scores = f64(score, 1, 1, 3), .relative = f64(r, 1, 1, 2));
        assert_ok(pe_reference_work(e, &a, &bytes, &err));
        assert_true(bytes <= sizeof work);
        assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = block(profiles, 4), .work = work, .work_bytes = sizeof work), &err));
        for (int j = 0; j < 3; j++)
            assert_near(score[j], cases[n].want[j]);
    }
    assert_true(pe_encoding_scale(encoding_of("inkling:scale=sqrt", (pe_shape){ 1, 1, 4, 0 })) == 0.5);
    pe_encoding *without;
    assert_refused(pe_encoding_new(&without, "inkling:alpha=0.5", (pe_shape){ 1, 1, 4, 0 }, &err), PE_ERR_RANGE, "only with floor");
}

/* ------------------------------------------------ cope */

/* d = 4, q = (1, 2, 0, -1). q.k = 4, 0, 2; gates sigmoid(q.k / 2) = 0.8807970780, 0.5, 0.7310585786. From right to left
 *   p_2 = 0.7310585786, p_1 = 1.2310585786, p_0 = 2.1118556566, capped at 2
 * q.e = 1, 2, -1 at 0, 1, 2, so that
 *   j = 2: 1 + 0.7310585786 (2 - 1)    =  1.7310585786300048793
 *   j = 1: 2 + 0.2310585786 (-1 - 2)   =  1.3068242641099853622
 *   j = 0:                                -1 */
static double cope_q[] = { 1, 2, 0, -1 }, cope_k[] = { 2, 1, 0, 0, 0, 1, 1, 2, 1, 1, 1, 1 },
    cope_e[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1 };
static const double cope_terms[] = { -1, 1.3068242641099853622, 1.7310585786300048793 };

TEST(cope_counts_keys_from_right_to_left)
{
    int64_t q_at = 2, k_at[] = { 0, 1, 2 };
    double score[3] = { 0 };
    pe_encoding *e = encoding_of("cope:positions=3", (pe_shape){ 1, 1, 4, 0 });
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 1, 1, 3), .q = f64(cope_q, 1, 1, 4), .k = f64(cope_k, 3, 1, 4),
                  .q_at = places(&q_at, 1), .k_at = places(k_at, 3) };
    assert_true(pe_encoding_carries(e));
    assert_ok(pe_encoding_content(e, PE_BEFORE_SCALE, block(cope_e, 12), &t, &err));
    for (int j = 0; j < 3; j++)
        assert_true(score[j] == 0); /* acts after the scale */
    assert_ok(pe_encoding_content(e, PE_AFTER_SCALE, block(cope_e, 12), &t, &err));
    for (int j = 0; j < 3; j++)
        assert_near(score[j], cope_terms[j]);
}

TEST(cope_in_two_tiles_with_a_carry_is_cope_in_one)
{
    int64_t q_at = 2, k_at[] = { 0, 1, 2 };
    pe_encoding *e = encoding_of("cope:positions=3", (pe_shape){ 1, 1, 4, 0 });
    for (int64_t cut = 1; cut < 3; cut++) { /* right tile first */
        double score[3] = { 0 }, carry = 0;
        pe_tile right = { .size = sizeof(pe_tile), .score = f64(score + cut, 1, 1, 3 - cut), .q = f64(cope_q, 1, 1, 4),
                          .k = f64(cope_k + 4 * cut, 3 - cut, 1, 4),
                          .q_at = places(&q_at, 1), .k_at = places(k_at + cut, 3 - cut), .carry = &carry };
        pe_tile left = right;
        left.score = f64(score, 1, 1, cut);
        left.k = f64(cope_k, cut, 1, 4);
        left.k_at = places(k_at, cut);
        assert_ok(pe_encoding_content(e, PE_AFTER_SCALE, block(cope_e, 12), &right, &err));
        /* sigmoid(1) + sigmoid(0), or sigmoid(1) alone */
        assert_near(carry, cut == 1 ? 1.2310585786300048793 : 0.7310585786300048793);
        assert_ok(pe_encoding_content(e, PE_AFTER_SCALE, block(cope_e, 12), &left, &err));
        for (int j = 0; j < 3; j++)
            assert_near(score[j], cope_terms[j]);
    }
}

/* A query at 1 does not see the key at 2: the count starts at key 1. p_1 = sigmoid(0) = 1/2, p_0 = 1/2 + 0.8807970780.
 *   j = 1: 1 + 0.5 (2 - 1) = 1.5;  j = 0: 2 + 0.3807970780 (-1 - 2) = 0.85760876606635346 */
TEST(cope_counts_only_keys_that_are_seen)
{
    int64_t q_at = 1, k_at[] = { 0, 1, 2 };
    double score[3] = { 0 };
    pe_encoding *e = encoding_of("cope:positions=3", (pe_shape){ 1, 1, 4, 0 });
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 1, 1, 3), .q = f64(cope_q, 1, 1, 4), .k = f64(cope_k, 3, 1, 4),
                  .q_at = places(&q_at, 1), .k_at = places(k_at, 3) };
    assert_ok(pe_encoding_content(e, PE_AFTER_SCALE, block(cope_e, 12), &t, &err));
    assert_near(score[2], 0);
    assert_near(score[1], 1.5);
    assert_near(score[0], 2 - 3 * (1 / (1 + exp(-2.0)) - 0.5));
}

/* ------------------------------------------------ pope */

/* d = 2, theta = 100: frequencies 1 and 1/10. softplus(x) = ln(1 + e^x); a query at 7, a key at 4: angles
 * -3 + phase_0 and -0.3 + phase_1. q = (0, 1), k = (-1, 2), phases (0, -1/2):
 *   softplus: ln 2 = 0.69314718055994530942, 1.313261687518222834; 0.31326168751822283405, 2.1269280110429724964
 *   0.69314718055994530942 * 0.31326168751822283405 * cos(-3)   = -0.21496346166431637197
 *   1.3132616875182228340 * 2.1269280110429724964 * cos(-0.8)   =  1.9460502858168971037
 * The gradient of a phase is -sizes * sin(angle): of phase_1 softplus(1) softplus(2) sin(0.8) = 2.0037284082359584014 */
TEST(pope_multiplies_magnitudes_and_the_cosine_of_the_distance)
{
    int64_t q_at = 7, k_at = 4;
    double q[] = { 0, 1 }, k[] = { -1, 2 }, phases[] = { 0, -0.5 }, score = 0, one = 1, dq[2] = { 0 }, dk[2] = { 0 }, dw[2] = { 0 };
    pe_encoding *e = encoding_of("pope:theta=100", (pe_shape){ 1, 1, 2, 0 });
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(&score, 1, 1, 1), .q = f64(q, 1, 1, 2), .k = f64(k, 1, 1, 2), .q_at = places(&q_at, 1),
                  .k_at = places(&k_at, 1) };
    pe_tile_grad g = PE_MAKE(pe_tile_grad, .dscore = f64(&one, 1, 1, 1), .dq = f64(dq, 1, 1, 2), .dk = f64(dk, 1, 1, 2), .dparams = block(dw, 2));
    assert_true(pe_encoding_replaces(e));
    assert_ok(pe_encoding_content(e, PE_AFTER_SCALE, block(phases, 2), &t, &err));
    assert_true(score == 0); /* it stands for q.k */
    assert_ok(pe_encoding_content(e, PE_BEFORE_SCALE, block(phases, 2), &t, &err));
    assert_near(score, -0.21496346166431637197 + 1.9460502858168971037);
    assert_ok(pe_encoding_content_back(e, PE_BEFORE_SCALE, block(phases, 2), &t, &g, &err));
    assert_near(dw[1], 2.0037284082359584014);
    assert_near(dq[0], -0.15506336005771701309); /* sigmoid(0) softplus(-1) cos(-3) */
    assert_near(dk[0], -0.18455042932517137187); /* softplus(0) sigmoid(-1) cos(-3) */
}

/* Two heads of 8, theta 10000, a head's phases -((8h + d) mod 7)/4; q = 2 sin(1 + t + 3h + d/2), k = 2 cos(2 + t - h + 0.7d) of
 * tokens t at 0, 1, 5 and 1000. The scores are those of x-transformers' PolarEmbedding and apply_polar_pos_emb (its commit
 * 9252ed7), run in float64: 1e-12, for its angles are those of a float64 product. */
TEST(pope_is_what_x_transformers_computes)
{
    static const double right[2][4][4] = {
        { { 2.3440392742045799, 3.7923894427326004, 7.1061599524149086, 3.6687572438013518 },
          { 1.3100990814957338, 1.5995263813620781, 2.4809111107791439, 3.3862959579184051 },
          { 2.0170146806980891, 1.0025791685104077, 1.3171931973332944, 0.43683297780142188 },
          { 0.4671424001408595, -0.95033853028128734, -0.017228204863796674, 1.5373492022447777 } },
        { { 6.3062632597184667, 7.1808887343527026, 4.2779362585757816, 0.3244339192866339 },
          { 6.549463040592796, 8.4729380604945863, 6.5163746673384857, -0.18905079844621098 },
          { 3.1245844160165235, 4.4595080201631925, 5.6175316495744996, -0.22582576083614828 },
          { 0.76584092572330831, 1.572609359354161, 2.6147981530845197, 6.8295024429949693 } }
    };
    int64_t at[] = { 0, 1, 5, 1000 };
    double q[64], k[64], phases[16], score[32] = { 0 };
    pe_encoding *e = encoding_of("pope", (pe_shape){ 2, 2, 8, 0 });
    for (int n = 0; n < 64; n++) { /* (t, h, d) */
        int t = n / 16, h = n / 8 % 2, d = n % 8;
        q[n] = 2 * sin(1 + t + 3 * h + 0.5 * d);
        k[n] = 2 * cos(2 + t - h + 0.7 * d);
        phases[n % 16] = -0.25 * (n % 16 % 7);
    }
    pe_tile t = { .size = sizeof(pe_tile), .score = f64(score, 4, 2, 4), .q = f64(q, 4, 2, 8), .k = f64(k, 4, 2, 8), .q_at = places(at, 4),
                  .k_at = places(at, 4) };
    assert_ok(pe_encoding_content(e, PE_BEFORE_SCALE, block(phases, 16), &t, &err));
    for (int n = 0; n < 32; n++) /* (i, h, j) */
        if (!(fabs(score[n] - right[n / 4 % 2][n / 8][n % 4]) <= 1e-12))
            fail_msg("score %d is %.17g, of x-transformers %.17g", n, score[n], right[n / 4 % 2][n / 8][n % 4]);
}

/* ------------------------------------------------ fope */

/* d = 4, theta = 100: frequencies 1 and 1/10, pairs of elements 0, 2 and 1, 3. Shares of cosines (1, 1/2), (-1/4, 1), of sines
 * (1, 0), (1/2, 2), a row per frequency. At t = 3:
 *   C = cos 3 - cos(0.3)/4, cos(3)/2 + cos 0.3 = -1.2288266188818469622, 0.46034024082538329101
 *   S = sin 3 + sin(0.3)/2, 2 sin 0.3          = 0.28888011139053700965, 0.59104041332267915021
 * and (1, 2, -1, 1/2) becomes (C_0 + S_0, 2 C_1 - S_1/2, S_0 - C_0, 2 S_1 + C_1/2). The gradient of a share is that of its C or S
 * times cos or sin: of cosines[1][0] (dy_0 x_0 + dy_2 x_2) cos 0.3, of sines[1][1] (dy_3 x_1 - dy_1 x_3) sin 0.3. */
TEST(fope_mixes_frequencies_by_shares)
{
    int64_t at = 3;
    double w[] = { 1, 0.5, -0.25, 1, 1, 0, 0.5, 2 }, x[] = { 1, 2, -1, 0.5 }, y[4], dy[] = { 1, -1, 3, 2 }, dw[8] = { 0 };
    static const double right[] = { -0.93994650749130995253, 0.62516027498942700691, 1.5177067302723839718, 1.4122509470580499459 };
    pe_encoding *e = encoding_of("fope:theta=100,trained=64", (pe_shape){ 1, 1, 4, 0 });
    pe_run run = PE_MAKE(pe_run, .params = block(w, 8));
    assert_int_equal(pe_encoding_param_count(e), 8);
    assert_ok(pe_rotate(e, PE_KEY, f64(y, 1, 1, 4), f64(x, 1, 1, 4), places(&at, 1), &run, &err));
    for (int d = 0; d < 4; d++)
        assert_near(y[d], right[d]);
    assert_ok(pe_rotate_grad(e, block(dw, 8), PE_KEY, f64(dy, 1, 1, 4), f64(x, 1, 1, 4), places(&at, 1), &run, &err));
    assert_near(dw[2], -1.9106729782512120393); /* -2 cos 0.3 */
    assert_near(dw[7], 1.329840929976028088); /* 4.5 sin 0.3 */
}

/* A length of 62 is less than the slow frequency's turn, 20 pi = 62.83: its pair stays, or with still=1 becomes (x - y, x + y). */
TEST(fope_has_no_frequency_that_completes_no_turn)
{
    int64_t at = 3;
    double one[] = { 1, 1 }, x[] = { 1, 2, -1, 0.5 }, y[4];
    for (int still = 0; still < 2; still++) {
        pe_encoding *e = encoding_of(still ? "fope:theta=100,trained=62,still=1" : "fope:theta=100,trained=62", (pe_shape){ 1, 1, 4, 0 });
        assert_int_equal(pe_encoding_param_count(e), 2);
        assert_ok(pe_rotate(e, PE_KEY, f64(y, 1, 1, 4), f64(x, 1, 1, 4), places(&at, 1), &PE_MAKE(pe_run, .params = block(one, 2)), &err));
        assert_near(y[0], cos(3) + sin(3));
        assert_near(y[1], still ? 1.5 : 2);
        assert_near(y[3], still ? 2.5 : 0.5);
    }
}

/* Two heads of 16, trained at 64: three frequencies, as the authors' code has it (TsinghuaC3I's FourierEmbedding, commit bd94b20, run
 * in float64; its pairs with frequency 0 have the sine 1). Shares are those of one frequency each, and 0.1 sin(1 + f + 2n + 3h) of
 * cosines, 0.1 cos(1 + f + 2n + 3h) of sines; x = sin(1 + h + d/2) at 0, 5 and 63. */
TEST(fope_is_what_its_authors_compute)
{
    static const double right[3][2][16] = {
        { { 1.0006679059745065, 0.84042875151612784, 0.85643513229313939, 0.38335215601614103,
            -0.51586659065892182, -1.2887832044643588, -1.7461607419313099, -1.7760172302885873,
            -1.1403420477229513, -0.59444546882597504, -0.26317158952064884, 0.81359213219177207,
            0.7981066067786563, 0.58721674908511901, 0.23255575131545358, -0.17904300504160675 },
          { 0.72787965376586872, 0.6802790578263006, 0.15322042247417511, -1.2887832044643588,
            -1.7461607419313099, -1.7760172302885873, -1.3710427599048951, -0.63038920510858265,
            -0.22366813111508049, 0.24452537057524959, 0.71332028391650681, 0.58721674908511901,
            0.23255575131545358, -0.17904300504160675, -0.5468057894213818, -0.7806914460322012 } },
        { { -0.78622621508432144, 0.64647639379762367, 0.98922386939401341, 0.38335215601614103,
            -0.51586659065892182, -1.2887832044643588, -1.7461607419313099, -1.7760172302885873,
            -1.2313319455285885, 1.1037989861746287, 0.27757507472129633, 0.81359213219177207,
            0.7981066067786563, 0.58721674908511901, 0.23255575131545358, -0.17904300504160675 },
          { -0.01261907502016435, -0.16939595089781567, -0.11684972306199, -1.2887832044643588,
            -1.7461607419313099, -1.7760172302885873, -1.3710427599048951, -0.63038920510858265,
            -0.81399022070424654, 0.59888039607555632, 0.61444322193010381, 0.58721674908511901,
            0.23255575131545358, -0.17904300504160675, -0.5468057894213818, -0.7806914460322012 } },
        { { 1.0803319406745258, 0.9266305935524779, 0.9007474680331764, 0.38335215601614103,
            -0.51586659065892182, -1.2887832044643588, -1.7461607419313099, -1.7760172302885873,
            -0.96386492654893052, 0.54932428629488772, -0.17012377772607179, 0.81359213219177207,
            0.7981066067786563, 0.58721674908511901, 0.23255575131545358, -0.17904300504160675 },
          { 0.81269340806016321, 0.1407271250107088, 0.19403636976926938, -1.2887832044643588,
            -1.7461607419313099, -1.7760172302885873, -1.3710427599048951, -0.63038920510858265,
            -0.067664293861057739, 0.69975165542564843, 0.68870731012719855, 0.58721674908511901,
            0.23255575131545358, -0.17904300504160675, -0.5468057894213818, -0.7806914460322012 } }
    };
    int64_t at[] = { 0, 5, 63 };
    double w[36], x[96], y[96];
    pe_encoding *e = encoding_of("fope:trained=64,still=1", (pe_shape){ 2, 2, 16, 0 });
    assert_int_equal(pe_encoding_param_count(e), 36);
    for (int i = 0; i < 18; i++) { /* (h, f, n) */
        int h = i / 9, f = i / 3 % 3, n = i % 3;
        w[i] = (f == n) + 0.1 * sin(1 + f + 2 * n + 3 * h);
        w[18 + i] = (f == n) + 0.1 * cos(1 + f + 2 * n + 3 * h);
    }
    for (int i = 0; i < 96; i++) /* (t, h, d) */
        x[i] = sin(1 + i / 16 % 2 + 0.5 * (i % 16));
    assert_ok(pe_rotate(e, PE_QUERY, f64(y, 3, 2, 16), f64(x, 3, 2, 16), places(at, 3), &PE_MAKE(pe_run, .params = block(w, 36)), &err));
    for (int i = 0; i < 96; i++)
        assert_near(y[i], right[i / 32][i / 16 % 2][i % 16]);
}

/* ------------------------------------------------ rope with frequencies on both axes */

/* Two heads of 8, theta 10: what the authors' code starts with at angles pi/8 and 3 pi/8, and what it makes of x = sin(1 + h + d/2)
 * at (0, 0), (3, 2) and (13, 7) (naver-ai's init_random_2d_freqs, compute_mixed_cis and apply_rotary_emb, commit ce85c2e, run in
 * float64). */
TEST(rope_mixed_is_what_its_authors_compute)
{
    static const double first[2][2][4] = { /* head, axis, pair */
        { { 0.92387953251128674, 0.29215636063472478, -0.38268343236508973, -0.12101512690846802 },
          { 0.38268343236508978, 0.12101512690846804, 0.92387953251128674, 0.29215636063472478 } },
        { { 0.38268343236508984, 0.12101512690846805, -0.92387953251128674, -0.29215636063472478 },
          { 0.92387953251128674, 0.29215636063472478, 0.38268343236508989, 0.12101512690846808 } }
    };
    static const double right[2][3][8] = {
        { { 0.8414709848078965, 0.99749498660405445, 0.90929742682568171, 0.59847214410395655,
              0.14112000805986721, -0.35078322768961984, -0.7568024953079282, -0.97753011766509701 },
          { -0.3923168193843507, -1.2446514290362345, -0.1409004332292339, 1.0794154833130785,
              0.33386362186712848, -0.17747904523331115, -0.52381686067421918, -1.1197906252152903 },
          { -1.2906143509035657, 0.19335010684135123, 0.53601478793048596, -0.94745916261337038,
              0.36077226331373413, 0.1131684740846599, -0.22972615308675309, -1.2147185033721215 } },
        { { 0.90929742682568171, 0.59847214410395655, 0.14112000805986721, -0.35078322768961984,
              -0.7568024953079282, -0.97753011766509701, -0.95892427466313845, -0.70554032557039192 },
          { -0.98659051039474022, -0.46003247983076007, 0.36718255270005962, -0.090225841618865488,
              -0.56704615096648769, 1.0985325714428027, -1.1905137116689177, 0.0001336880621050085 },
          { 0.93242671816584899, -0.56175718326573953, -0.28634346996843746, 0.24692336201663706,
              0.66261909862366908, 1.04367192066559, 0.80783803397176723, 0.87448306239333795 } }
    };
    int64_t at[] = { 0, 0, 3, 2, 13, 7 };
    double w[16], x[48], y[48];
    pe_encoding *e = encoding_of("rope:theta=10,pairs=adjacent,axes=2,split=axial,learned=heads,start=mixed", (pe_shape){ 2, 2, 8, 0 });
    assert_ok(pe_encoding_init(e, block(w, 16), 1, &err));
    for (int i = 0; i < 16; i++)
        assert_near(w[i], first[i / 8][i / 4 % 2][i % 4]);
    for (int i = 0; i < 48; i++) /* (t, h, d) */
        x[i] = sin(1 + i / 8 % 2 + 0.5 * (i % 8));
    assert_ok(pe_rotate(e, PE_QUERY, f64(y, 3, 2, 8), f64(x, 3, 2, 8), pe_positions_of(at, PE_I64, 1, 3, 2), &PE_MAKE(pe_run, .params = block(w, 16)),
                        &err));
    for (int i = 0; i < 48; i++)
        assert_near(y[i], right[i / 8 % 2][i / 16][i % 8]);
}

/* GRAPE's commuting rotations (GRAPE-M) are rope with trained frequencies that rotates the other way: two heads of 8, frequencies
 * 0.9/(1 + n) + h/10, x = sin(1 + h + d/2) at 1 and 37 (its authors' MSGRAPECommuting, commit f5b539f, run in float64). They train
 * the logarithms of the frequencies. */
TEST(rope_with_trained_frequencies_is_grape_m)
{
    static const double right[2][2][8] = {
        { { 0.63360985196726261, 0.74561285630966634, 0.64503458149937798, 0.36529393089097539,
            -0.5714252623383147, -0.74973768054854451, -0.9917168023211238, -1.0864135410905669 },
          { -0.14553184459795387, -0.000730329780477601, -0.24344256654152804, -0.55770520526523693,
            -1.1740495345359281, -1.1461821429550965, -0.93818246519998283, -0.55659763550915509 } },
        { { -0.1250712590759247, -0.30297009568922478, 0.84746143147924813, -1.1426666251315334,
            -0.844005601344891, 1.0130420732855236, 0.82545802406376556, -0.089705195062698306 },
          { 1.1830202930405029, -0.93304286475338638, -0.84271258931382398, 0.062950412128149169,
            0.0059003042697339803, -0.66570642984991457, 0.47883829527830524, -0.78541280193743879 } }
    };
    int64_t at[] = { 1, 37 };
    double w[8], x[32], y[32];
    pe_encoding *e = encoding_of("rope:learned=heads,sign=negative", (pe_shape){ 2, 2, 8, 0 });
    for (int i = 0; i < 8; i++) /* (h, n) */
        w[i] = -(0.9 / (1 + i % 4) + 0.1 * (i / 4)); /* sign=negative starts below 0 */
    for (int i = 0; i < 32; i++) /* (t, h, d) */
        x[i] = sin(1 + i / 8 % 2 + 0.5 * (i % 8));
    assert_ok(pe_rotate(e, PE_QUERY, f64(y, 2, 2, 8), f64(x, 2, 2, 8), places(at, 2), &PE_MAKE(pe_run, .params = block(w, 8)), &err));
    for (int i = 0; i < 32; i++)
        assert_near(y[i], right[i / 16][i / 8 % 2][i % 8]);
}

/* ------------------------------------------------ xpos */

/* zeta_i = (2i/d + 0.4)/1.4; a query is multiplied by zeta^((n-c)/512), a key by its reciprocal. d = 64:
 *   i = 0:  zeta = 2/7;   n - c = -256: (7/2)^(1/2) = 1.8708286933869706928;  n - c = 512: 2/7 = 0.28571428571428571429
 *   i = 16: zeta = 9/14;  n - c = 100:  (9/14)^(100/512)                      = 0.91732315939941704016 */
TEST(xpos_scales_queries_by_a_power_of_zeta)
{
    static const struct {
        int64_t pair, away;
        double magnitude;
    } by_hand[] = { { 0, -256, 1.8708286933869706928 }, { 0, 512, 0.28571428571428571429 },
                    { 16, 100, 0.91732315939941704016 }, { 5, 0, 1 } };
    static const int64_t centres[] = { 0, 1000 };
    for (int c = 0; c < COUNT(centres); c++)
        for (int n = 0; n < COUNT(by_hand); n++) {
            char text[40];
            double cosine[32], sine[32];
            int64_t at = centres[c] + by_hand[n].away;
            snprintf(text, sizeof text, "xpos:centre=%d", (int)centres[c]);
            pe_encoding *e = encoding_of(text, test_shape);
            assert_ok(pe_rotate_table(e, PE_QUERY, f64(cosine, 1, 1, 32), f64(sine, 1, 1, 32), places(&at, 1), NULL, &err));
            assert_near(hypot(cosine[by_hand[n].pair], sine[by_hand[n].pair]), by_hand[n].magnitude);
            assert_ok(pe_rotate_table(e, PE_KEY, f64(cosine, 1, 1, 32), f64(sine, 1, 1, 32), places(&at, 1), NULL, &err));
            assert_near(hypot(cosine[by_hand[n].pair], sine[by_hand[n].pair]), 1 / by_hand[n].magnitude);
        }
}

/* d = 4, centre 3: zeta = 2/7, 9/14; angles 4 and 0.04 for q at 4, 1 and 0.01 for k at 1.
 *   q = (1, 2, 3, 4): zeta_0^(1/512) (cos 4 - 2 sin 4, sin 4 + 2 cos 4), zeta_1^(1/512) (3 cos 0.04 - 4 sin 0.04, ...)
 *   k = (4, 3, 2, 1): zeta_0^(2/512) (4 cos 1 - 3 sin 1, 4 sin 1 + 3 cos 1), zeta_1^(2/512) (2 cos 0.01 - sin 0.01, .) */
TEST(xpos_rotates_and_scales_a_pair)
{
    static const double q_hand[] = { 0.85785978610292622705, -2.0590454904042497524, 2.835195282466255213,
                                     4.1132173773927912368 };
    static const double k_hand[] = { -0.36143069703419312767, 4.9624470834317781403, 1.9864687425314244992,
                                     1.018190844803038869 };
    double q[] = { 1, 2, 3, 4 }, k[] = { 4, 3, 2, 1 };
    int64_t at[] = { 4, 1 };
    pe_encoding *e = encoding_of("xpos:centre=3", (pe_shape){ 1, 1, 4, 0 });
    assert_ok(pe_rotate(e, PE_QUERY, f64(q, 1, 1, 4), f64(q, 1, 1, 4), places(at, 1), NULL, &err));
    assert_ok(pe_rotate(e, PE_KEY, f64(k, 1, 1, 4), f64(k, 1, 1, 4), places(at + 1, 1), NULL, &err));
    for (int d = 0; d < 4; d++) {
        assert_near(q[d], q_hand[d]);
        assert_near(k[d], k_hand[d]);
    }
}

/* q'.k' = -0.70789406502083401328 whatever the centre: it cancels. */
TEST(xpos_scores_do_not_see_the_centre)
{
    static const int centres[] = { 3, 0, -50, 100, 20000 };
    for (int c = 0; c < COUNT(centres); c++) {
        char text[40];
        double q[] = { 1, 2, 3, 4 }, k[] = { 4, 3, 2, 1 }, sum = 0;
        int64_t at[] = { 4, 1 };
        snprintf(text, sizeof text, "xpos:centre=%d", centres[c]);
        pe_encoding *e = encoding_of(text, (pe_shape){ 1, 1, 4, 0 });
        assert_ok(pe_rotate(e, PE_QUERY, f64(q, 1, 1, 4), f64(q, 1, 1, 4), places(at, 1), NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, f64(k, 1, 1, 4), f64(k, 1, 1, 4), places(at + 1, 1), NULL, &err));
        for (int d = 0; d < 4; d++)
            sum += q[d] * k[d];
        /* far from the centre exp() of an exponent up to 50 loses 50 roundings */
        if (fabs(sum - -0.70789406502083401328) > 60 * CLOSE)
            fail_msg("centre %d: q'.k' is %.17g", centres[c], sum);
    }
}

/* Runs reference attention over 4 tokens that start at a position; float64. */
static void attend(const char *spec, pe_shape shape, int64_t start, double *q, double *k, double *v, double *out)
{
    static double work[4096];
    int64_t at[4];
    size_t bytes = 0;
    pe_encoding *e = encoding_of(spec, shape);
    int64_t H = shape.heads, D = shape.head_dim;
    for (int t = 0; t < 4; t++)
        at[t] = start + t;
    pe_attention a = { .size = sizeof(pe_attention), .out = f64(out, 4, H, D), .q = f64(q, 4, H, D), .k = f64(k, 4, H, D), .v = f64(v, 4, H, D),
                       .q_at = places(at, 4), .k_at = places(at, 4), .mask = { .causal = true } };
    assert_ok(pe_reference_work(e, &a, &bytes, &err));
    assert_true(bytes <= sizeof work);
    assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
}

static void random_fill(double *x, int64_t n, uint64_t *seed)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = test_uniform(seed) * 2;
}

/* softmax over what each query sees of score(h, i, j), times v. */
static void mix(double *out, const double *score, const double *v, int64_t H, int64_t D)
{
    for (int64_t i = 0; i < 4; i++)
        for (int64_t h = 0; h < H; h++) {
            double sum = 0;
            for (int64_t j = 0; j <= i; j++)
                sum += exp(score[(i * H + h) * 4 + j]);
            for (int64_t d = 0; d < D; d++) {
                out[(i * H + h) * D + d] = 0;
                for (int64_t j = 0; j <= i; j++)
                    out[(i * H + h) * D + d] += exp(score[(i * H + h) * 4 + j]) / sum * v[(j * H + h) * D + d];
            }
        }
}

TEST(xpos_far_from_its_centre_is_an_error_that_names_it)
{
    static const int64_t far[] = { 1000000, -1000000, 250000 }; /* ln(7/2)/512 * 250000 = 612 > 600 */
    double x[4] = { 1, 2, 3, 4 }, y[4] = { 7, 7, 7, 7 };
    pe_encoding *e = encoding_of("xpos", (pe_shape){ 1, 1, 4, 0 });
    for (int n = 0; n < COUNT(far); n++) {
        assert_refused(pe_rotate(e, PE_QUERY, f64(y, 1, 1, 4), f64(x, 1, 1, 4), places(&far[n], 1), NULL, &err),
                       PE_ERR_POSITION, "centre");
        assert_true(y[0] == 7); /* nothing was written */
    }
}

/* Attention moves the centre to the query, so only differences enter: the same bits at 0 and at a million. */
TEST(xpos_attention_at_a_million_equals_attention_at_zero)
{
    uint64_t seed = 1;
    double q[64], k[64], v[64], near[64], far[64], by_hand[64], score[64], rq[64], rk[64];
    int64_t at[] = { 0, 1, 2, 3 };
    pe_shape shape = { 2, 2, 4, 0 };
    random_fill(q, 32, &seed);
    random_fill(k, 32, &seed);
    random_fill(v, 32, &seed);
    attend("xpos:base=2", shape, 0, q, k, v, near);
    static const int64_t starts[] = { 1000000, -1000000, PE_POSITION_MAX - 3 };
    for (int n = 0; n < COUNT(starts); n++) {
        attend("xpos:base=2", shape, starts[n], q, k, v, far);
        for (int i = 0; i < 32; i++)
            assert_true(near[i] == far[i]);
    }
    /* and it is the softmax of the rotated vectors, here where rotate can serve */
    pe_encoding *e = encoding_of("xpos:base=2", shape);
    assert_ok(pe_rotate(e, PE_QUERY, f64(rq, 4, 2, 4), f64(q, 4, 2, 4), places(at, 4), NULL, &err));
    assert_ok(pe_rotate(e, PE_KEY, f64(rk, 4, 2, 4), f64(k, 4, 2, 4), places(at, 4), NULL, &err));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t h = 0; h < 2; h++)
            for (int64_t j = 0; j < 4; j++) {
                double sum = 0;
                for (int64_t d = 0; d < 4; d++)
                    sum += rq[(i * 2 + h) * 4 + d] * rk[(j * 2 + h) * 4 + d];
                score[(i * 2 + h) * 4 + j] = sum / 2; /* 1/sqrt(4) */
            }
    mix(by_hand, score, v, 2, 4);
    for (int i = 0; i < 32; i++)
        assert_near(near[i], by_hand[i]);
}

/* ------------------------------------------------ hierarchical */

/* n = 3, a = 0.4, p_1 = (1, 2), p_2 = (3, -1), p_3 = (0, 4): u_i = (p_i - 0.4 p_1)/0.6
 *   u_1 = (1, 2), u_2 = (2.6, -1.8)/0.6 = (13/3, -3), u_3 = (-0.4, 3.2)/0.6 = (-2/3, 16/3)
 * position (i-1) 3 + j - 1 gets 0.4 u_i + 0.6 u_j:
 *   0, 1, 2: p_1, p_2, p_3 (0.4 u_1 + 0.6 u_j = p_j)
 *   3: 0.4 u_2 + 0.6 u_1 = (26/15 + 3/5, -6/5 + 6/5) = (7/3, 0)
 *   4: u_2 = (13/3, -3)
 *   5: 0.4 u_2 + 0.6 u_3 = (26/15 - 2/5, -6/5 + 16/5) = (4/3, 2)
 *   6: 0.4 u_3 + 0.6 u_1 = (-4/15 + 3/5, 32/15 + 6/5) = (1/3, 10/3)
 *   7: 0.4 u_3 + 0.6 u_2 = (-4/15 + 13/5, 32/15 - 9/5) = (7/3, 1/3)
 *   8: u_3 = (-2/3, 16/3) */
TEST(hierarchical_serves_nine_positions_from_three_rows)
{
    static const double by_hand[9][2] = { { 1, 2 }, { 3, -1 }, { 0, 4 }, { 7. / 3, 0 }, { 13. / 3, -3 }, { 4. / 3, 2 },
                                          { 1. / 3, 10. / 3 }, { 7. / 3, 1. / 3 }, { -2. / 3, 16. / 3 } };
    double w[] = { 1, 2, 3, -1, 0, 4 }, y[18];
    pe_encoding *e = encoding_of("hierarchical:rows=3", (pe_shape){ 1, 1, 2, 2 });
    assert_ok(pe_embed(e, f64(y, 9, 1, 2), (pe_view){ 0 }, pe_positions_run(1, 9, 0), &PE_MAKE(pe_run, .params = block(w, 6)), &err));
    for (int t = 0; t < 9; t++)
        for (int c = 0; c < 2; c++)
            assert_near(y[2 * t + c], by_hand[t][c]);
}

TEST(hierarchical_is_its_table_on_the_first_rows)
{
    static const char *const specs[] = { "hierarchical:rows=64,alpha=0.3", "hierarchical:rows=64,alpha=-2",
                                         "hierarchical:rows=64,alpha=0.75" };
    for (int n = 0; n < COUNT(specs); n++) {
        double w[64 * 8], y[64 * 8];
        pe_encoding *e = encoding_of(specs[n], (pe_shape){ 1, 1, 8, 8 });
        assert_ok(pe_encoding_init(e, block(w, 512), 7, &err));
        assert_ok(pe_embed(e, f64(y, 64, 1, 8), (pe_view){ 0 }, pe_positions_run(1, 64, 0), &PE_MAKE(pe_run, .params = block(w, 512)), &err));
        assert_memory_equal(w, y, sizeof w); /* bit for bit */
    }
}

TEST(hierarchical_refuses_what_it_cannot_tell_apart)
{
    static const char *const bad[] = { "hierarchical:alpha=0", "hierarchical:alpha=0.5", "hierarchical:alpha=1" };
    static const int64_t outside[] = { 9, 10, -1, PE_POSITION_MAX };
    for (int n = 0; n < COUNT(bad); n++) {
        pe_encoding *e = NULL;
        assert_refused(pe_encoding_new(&e, bad[n], test_shape, &err), PE_ERR_RANGE, "alpha");
        assert_null(e);
    }
    pe_encoding *e = encoding_of("hierarchical:rows=3", (pe_shape){ 1, 1, 2, 2 });
    for (int n = 0; n < COUNT(outside); n++) {
        double w[6] = { 0 }, y[2] = { 7, 7 };
        assert_refused(pe_embed(e, f64(y, 1, 1, 2), (pe_view){ 0 }, places(&outside[n], 1),
                                &PE_MAKE(pe_run, .params = block(w, 6)), &err),
                       PE_ERR_POSITION, "0 to 8");
        assert_true(y[0] == 7);
    }
}

/* ------------------------------------------------ Falcon's ALiBi */

/* f(t) = bf16(bf16(m) bf16(t)); a bfloat16 has 8 bits.
 *   H = 16, head 1: m = 2^(-1/2) = 0.70710678 -> 0.70703125 (181/256)
 *     f(3)   = 2.12109375 -> 2.125 (steps of 1/64)
 *     f(257): 257 -> 256 (steps of 2, tie to even); 0.70703125 * 256 = 181
 *     f(259): 259 -> 260; 183.828125 -> 184 (steps of 1)
 *   H = 12, head 9: past the 8 of the power of two, m = 2^(-8 * 1/16) again; f(5) = 3.53515625 -> 3.53125
 * bias(i, j) = f(j) - f(i): Falcon adds f(j) alone, and what is the same for all keys of a query leaves no trace.
 * Where its mask is not whole numbers the products are exact: -0.70703125 (i - j). */
TEST(falcon_slopes_and_biases_are_bfloat16)
{
    pe_encoding *e = encoding_of("alibi:convention=falcon,products=bf16", (pe_shape){ 16, 0, 4, 0 });
    pe_encoding *f = encoding_of("alibi:convention=falcon,products=bf16", (pe_shape){ 12, 0, 4, 0 });
    pe_encoding *exact = encoding_of("alibi:convention=falcon", (pe_shape){ 16, 0, 4, 0 });
    assert_true(bias_at(e, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 0, 1) == 0.70703125);
    assert_true(bias_at(e, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 0, 3) == 2.125);
    assert_true(bias_at(e, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 0, 257) == 181);
    assert_true(bias_at(e, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 259, 257) == 181 - 184);
    assert_true(bias_at(e, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 259, 3) == 2.125 - 184);
    assert_true(bias_at(f, PE_BEFORE_SCALE, (pe_params){ 0 }, 8, 0, 5) == 3.53125);
    assert_true(bias_at(e, PE_AFTER_SCALE, (pe_params){ 0 }, 0, 259, 3) == 0); /* it acts before the scale */
    assert_true(bias_at(exact, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 259, 3) == -0.70703125 * 256);
    assert_true(bias_at(exact, PE_BEFORE_SCALE, (pe_params){ 0 }, 0, 3, 0) == -2.12109375);
    assert_true(bias_at(exact, PE_AFTER_SCALE, (pe_params){ 0 }, 0, 3, 0) == 0);
}

/* softmax((q.k + f(j)) / sqrt(d)), Falcon's own order. */
TEST(falcon_attention_adds_its_bias_before_the_scale)
{
    /* H = 2: slopes 2^-4 and 2^-8, exact in bfloat16 */
    static const double f_of[2][4] = { { 0, 0.0625, 0.125, 0.1875 }, { 0, 0.00390625, 0.0078125, 0.01171875 } };
    uint64_t seed = 2;
    double q[64], k[64], v[64], out[64], by_hand[64], score[64];
    random_fill(q, 32, &seed);
    random_fill(k, 32, &seed);
    random_fill(v, 32, &seed);
    attend("alibi:convention=falcon", (pe_shape){ 2, 2, 4, 0 }, 0, q, k, v, out);
    for (int64_t n = 0; n < 32; n++) { /* (i, h, j) */
        int64_t i = n / 8, h = n / 4 % 2, j = n % 4;
        double sum = f_of[h][j];
        for (int64_t d = 0; d < 4; d++)
            sum += q[(i * 2 + h) * 4 + d] * k[(j * 2 + h) * 4 + d];
        score[n] = sum / 2;
    }
    mix(by_hand, score, v, 2, 4);
    for (int n = 0; n < 32; n++)
        assert_near(out[n], by_hand[n]);
}
