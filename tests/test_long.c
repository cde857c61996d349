/* labels: core; tier: test; cost: 7 s; sanitize: all
 * SPDX-License-Identifier: MIT
 *
 * A million keys: a few queries against 2^20 keys of a bfloat16 cache, held to plain loops in double. Keys far and near
 * that the first query likes stand out, so that one of them missing, or seen from the wrong distance, shows. */
#include <float.h>

#include "base/num.h"
#include "test.h"

enum { N = 1 << 20, H = 4, D = 16, MOST = 3 };
#define THETA 10000.0

static uint16_t *k, *v; /* (N, 1, D) bfloat16 */
static int64_t *at;
static float q[MOST * H * D], out[MOST * H * D], lse[MOST * H];
static double k_true[D], score_of[N];

static const int64_t liked[] = { 0, 1, 1023, 1024, 65536, N / 2, N - 70000, N - 1025, N - 200, N - 4 };

static double bf16(uint16_t x)
{
    return num_from_bf16(x);
}

/* x rotated by this many positions, halves layout, in double. */
static void turn(double *x, double by)
{
    for (int p = 0; p < D / 2; p++) {
        double angle = by * pow(THETA, -2.0 * p / D), c = cos(angle), s = sin(angle), a = x[p], b = x[p + D / 2];
        x[p] = a * c - b * s;
        x[p + D / 2] = a * s + b * c;
    }
}

AROUND(before_each)
{
    k = take(N * D, sizeof *k);
    v = take(N * D, sizeof *v);
    at = take(N, sizeof *at);
}

/* Random keys and values; head 0 of the first query likes some keys, wherever a rotation puts them. */
static void fill(bool rotates, int64_t queries)
{
    uint64_t r = 7;
    for (int n = 0; n < MOST * H * D; n++)
        q[n] = (float)test_uniform(&r);
    for (int64_t n = 0; n < (int64_t)N * D; n++) {
        k[n] = num_to_bf16(0.25 * test_uniform(&r));
        v[n] = num_to_bf16(test_uniform(&r));
    }
    for (int n = 0; n < COUNT(liked); n++) {
        double x[D], norm = 0;
        for (int d = 0; d < D; d++) {
            x[d] = (double)q[d];
            norm += x[d] * x[d];
        }
        if (rotates)
            turn(x, (double)(N - queries - liked[n]));
        for (int d = 0; d < D; d++)
            k[liked[n] * D + d] = num_to_bf16(x[d] * 4 * (10 + n % 3) / norm);
    }
    for (int64_t j = 0; j < N; j++)
        at[j] = j;
}

/* ------------------------------------------------ the plain loop */

typedef enum kind { ALIBI, T5, ROPE, ROPE_TURNED } kind;

static double t5_bias(const float *table, int64_t distance, int h)
{
    int64_t bucket = distance < 16 ? distance : 16 + (int64_t)(log((double)distance / 16) / log(8.0) * 16 + 1e-12);
    return (double)table[(bucket < 31 ? bucket : 31) * H + h];
}

static double score(kind what, const float *table, double scale, const double *turned_q, int64_t i, int64_t j, int h)
{
    double sum = 0;
    for (int d = 0; d < D; d++)
        k_true[d] = bf16(k[j * D + d]);
    if (what == ROPE)
        turn(k_true, (double)j);
    for (int d = 0; d < D; d++)
        sum += turned_q[d] * k_true[d];
    sum *= scale;
    return what == ALIBI ? sum - exp2(-8.0 * (h + 1) / H) * (double)(i - j) : what == T5 ? sum + t5_bias(table, i - j, h) : sum;
}

/* The worst error of head h of query `row`, in units of eps (4 + |lse|); see fused_case.h. */
static double compare(kind what, const float *table, double scale, int64_t row, int64_t queries, int h)
{
    int64_t i = N - queries + row;
    double x[D], most = -INFINITY, sum = 0, o[D] = { 0 }, off;
    for (int d = 0; d < D; d++)
        x[d] = (double)q[(row * H + h) * D + d];
    if (what >= ROPE)
        turn(x, (double)i);
    for (int64_t j = 0; j <= i; j++) {
        score_of[j] = score(what, table, scale, x, i, j, h);
        most = fmax(most, score_of[j]);
    }
    for (int64_t j = 0; j <= i; j++) {
        double p = exp(score_of[j] - most);
        sum += p;
        for (int d = 0; d < D; d++)
            o[d] += p * bf16(v[j * D + d]);
    }
    double truth = most + log(sum), unit = (double)FLT_EPSILON * (4 + fabs(truth)), worst = fabs((double)lse[row * H + h] - truth) / unit;
    for (int d = 0; d < D; d++) {
        off = fabs((double)out[(row * H + h) * D + d] - o[d] / sum) / unit;
        worst = fmax(worst, off);
    }
    if (!(worst <= 4))
        fail_msg("kind %d, query %d of %d, head %d: off by %.3g eps (4 + |lse|); lse is %.9g, should be %.9g", what, (int)row, (int)queries, h, worst,
                 (double)lse[row * H + h], truth);
    return worst;
}

static double run(kind what, const char *spec, int64_t queries)
{
    float table[32 * H];
    uint64_t r = 3;
    pe_encoding *e = encoding_of(spec, (pe_shape){ H, 1, D, 0 });
    size_t bytes;
    fill(what >= ROPE, queries);
    for (int n = 0; n < 32 * H; n++)
        table[n] = (float)test_uniform(&r);
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out, PE_F32, 1, queries, H, D), .lse = pe_view_of(lse, PE_F32, 1, queries, H, 1),
                       .q = pe_view_of(q, PE_F32, 1, queries, H, D), .k = pe_view_of(k, PE_BF16, 1, N, 1, D),
                       .v = pe_view_of(v, PE_BF16, 1, N, 1, D), .q_at = pe_positions_of(at + N - queries, PE_I64, 1, queries, 1),
                       .k_at = pe_positions_of(at, PE_I64, 1, N, 1), .mask = { .causal = true }, .rotated = what == ROPE_TURNED };
    if (what == ROPE_TURNED)
        assert_ok(pe_rotate(e, PE_KEY, a.k, a.k, a.k_at, NULL, &err));
    pe_run with = PE_MAKE(pe_run, .params = what == T5 ? (pe_params){ table, PE_F32, 32 * H } : (pe_params){ 0 });
    assert_ok(pe_attention_work(e, &a, &with, &bytes, &err));
    assert_true(bytes < (size_t)64 << 20); /* the cache itself has 64 MiB */
    with.work = malloc(bytes);
    with.work_bytes = bytes;
    assert_non_null(with.work);
    assert_ok(pe_attention_forward(e, &a, &with, &err));
    double worst = compare(what, table, pe_encoding_scale(e), 0, queries, 0);
    worst = fmax(worst, compare(what, table, pe_encoding_scale(e), queries - 1, queries, H - 1));
    printf("%-24s %d queries: %5.1f MiB of work, worst %.2f units\n", spec, (int)queries, (double)bytes / (1 << 20), worst);
    free(with.work);
    return worst;
}

TEST(alibi_sees_a_million_keys)
{
    run(ALIBI, "alibi", 1);
    run(ALIBI, "alibi", 3);
}

TEST(t5_sees_a_million_keys)
{
    run(T5, "t5:direction=causal", 1);
    run(T5, "t5:direction=causal", 3);
}

TEST(rope_sees_a_million_keys)
{
    run(ROPE, "rope", 1);
    run(ROPE_TURNED, "rope", 1);
    run(ROPE_TURNED, "rope", 3);
}
