/* SPDX-License-Identifier: MIT
 *
 * How a rotated score depends on distance: its bound falls, the score itself need not, and slow pairs hardly matter. */
#include "prove/measure.h"

#include "zoo/look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TURN 6.28318530717958647692

/* The frequencies of a spec's pairs, fastest first as the row has them; *count of them. */
static pe_status frequencies(double out[MEASURE_HEAD_MAX / 2], int64_t *count, const char *spec, const prove_given *g,
                             pe_error *err)
{
    pe_pair pair[MEASURE_HEAD_MAX / 2];
    measure_encoding m;
    TRY(measure_open_head(&m, spec, g, err));
    *count = pe_encoding_pair_count(m.e);
    pe_status status =
        *count ? pe_encoding_pairs(m.e, pair, *count, err)
               : io_fail(err, PE_ERR_UNSUITED, "%s rotates nothing; needs an encoding that does, such as rope", spec);
    for (int64_t p = 0; !status && p < *count; p++)
        out[p] = pair[p].frequency;
    measure_close(&m);
    return status;
}

/* ------------------------------------------------ the bound of the paper */

/* Mean of |S_j|, S_j = sum of exp(i m theta) over the first j pairs: what bounds the score of m tokens apart. */
static double bound(const double *frequency, int64_t pairs, int64_t distance)
{
    double re = 0, im = 0, sum = 0;
    for (int64_t p = 0; p < pairs; p++) {
        re += cos((double)distance * frequency[p]);
        im += sin((double)distance * frequency[p]);
        sum += sqrt(re * re + im * im);
    }
    return sum / (double)pairs;
}

/* Mean over every distance from `from` up to twice that: with samples of them the noise is larger than what the
 * octaves differ by. */
static double octave(const double *frequency, int64_t pairs, int64_t from)
{
    double sum = 0;
    for (int64_t n = from; n < 2 * from; n++)
        sum += bound(frequency, pairs, n);
    return sum / (double)from;
}

#define FAR_ENOUGH 256 /* tokens: how far the paper's figure of the bound goes */

static pe_status bound_at(prove_verdict *v, prove_finding *out, const prove_given *g, pe_error *err)
{
    double frequency[MEASURE_HEAD_MAX / 2], mean[63], before = INFINITY;
    char of[96];
    int64_t pairs, fell = 0;
    int octaves = 0;
    bool falls = true;
    TRY(frequencies(frequency, &pairs, g->spec[0], g, err));
    for (int64_t from = 1; from <= g->length / 2; from *= 2) {
        double here = mean[octaves++] = octave(frequency, pairs, from);
        falls = falls && here < before;
        fell = falls ? 2 * from : fell;
        before = here;
    }
    snprintf(of, sizeof of, "%.60s, head_dim = %lld", g->spec[0], (long long)g->head_dim);
    prove_add(out, (words){ "distance up to which each doubling lowers it", "上界逐次下降所到的距离" }, of, (double)fell, "");
    for (int n = 0; n < octaves; n++) {
        snprintf(of, sizeof of, "head_dim = %lld, n = %lld", (long long)g->head_dim, 1LL << n);
        prove_add(out, (words){ "bound, mean over distances from n to 2n", "上界在 [n, 2n) 上的均值" }, of, mean[n], "");
    }
    *v = falls ? PROVE_HOLDS : fell >= FAR_ENOUGH ? PROVE_DEPENDS : PROVE_REFUTED;
    return PE_OK;
}

/* given: spec, length (the last distance); head_dim, or none: the usual one, then others. HOLDS: it falls with every
 * doubling of the distance, DEPENDS: with those up to a distance, or at some widths, REFUTED: it rises among near tokens
 * already. */
pe_status measure_bound_decays(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t widths[] = { 128, 64, 256 };
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Each time the distance doubles the bound falls.", "距离每加倍一次，上界都下降。" },
        { "The bound rises again among near tokens already.", "在很近的距离上，上界就已回升。" },
        { "It depends on the distance: the bound falls until the slowest pairs rotate, and then stays level; wider heads have "
          "slower pairs.",
          "取决于距离：上界一直降到最慢的维度对也开始转动为止，此后不再下降；头越宽，最慢的维度对越慢。" },
    };
    int found[PROVE_VERDICT_COUNT] = { 0 }, count = g->head_dim ? 1 : (int)(sizeof widths / sizeof *widths);
    for (int n = 0; n < count; n++) {
        prove_verdict v;
        prove_given one = *g;
        one.head_dim = g->head_dim ? g->head_dim : widths[n];
        TRY(bound_at(&v, out, &one, err));
        found[v]++;
    }
    prove_verdict v = found[PROVE_HOLDS] == count     ? PROVE_HOLDS
                      : found[PROVE_REFUTED] == count ? PROVE_REFUTED
                                                      : PROVE_DEPENDS;
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ------------------------------------------------ scores that peak where one wants */

/* score (length): of queries at 0, 1, ... with the key at 0. */
static pe_status scores_of(double *score, const measure_encoding *m, const double *q, const double *k, int64_t length,
                           pe_error *err)
{
    int64_t D = m->shape.head_dim;
    pe_attention a =
        PE_MAKE(pe_attention, .q = pe_view_of((void *)(uintptr_t)q, PE_F64, 1, length, 1, D),
                .k = pe_view_of((void *)(uintptr_t)k, PE_F64, 1, 1, 1, D), .q_at = pe_positions_run(1, length, 0),
                .k_at = pe_positions_run(1, 1, 0), .scores = pe_view_of(score, PE_F64, 1, length, 1, 1));
    a.q.token_stride = 0; /* one vector for all of them */
    return zoo_look(m->e, a, m->w, err);
}

/* Where the score of the query q and the key R_r q is largest: by Cauchy and Schwarz at distance r, where the rotated
 * vectors are one and the same. */
static pe_status peak(int64_t *best, const measure_encoding *m, const double *q, int64_t wanted, int64_t length,
                      pe_error *err)
{
    double k[MEASURE_HEAD_MAX];
    int64_t D = m->shape.head_dim;
    TRY(pe_rotate(m->e, PE_QUERY, pe_view_of(k, PE_F64, 1, 1, 1, D),
                  pe_view_of((void *)(uintptr_t)q, PE_F64, 1, 1, 1, D), pe_positions_of(&wanted, PE_I64, 1, 1, 1),
                  &PE_MAKE(pe_run, .params = m->w), err));
    double *score = measure_memory(length, 1, err);
    pe_status status = score ? scores_of(score, m, q, k, length, err) : PE_ERR_NOMEM;
    for (int64_t d = *best = 0; !status && d < length; d++)
        *best = score[d] > score[*best] ? d : *best;
    free(score);
    return status;
}

/* given: spec, head_dim, length (distances tried). The claim is that scores decay; HOLDS where no choice of q and k
 * peaks where it was made to, REFUTED where each does. */
pe_status measure_scores_decay(prove_finding *out, const prove_given *g, pe_error *err)
{
    double q[MEASURE_HEAD_MAX];
    int there = 0, tried = 0;
    measure_encoding m;
    TRY(measure_open_head(&m, g->spec[0], g, err));
    measure_normals(q, g->head_dim, 1, g->seed);
    pe_status status = pe_encoding_axes(m.e) == 1
                           ? PE_OK
                           : io_fail(err, PE_ERR_UNSUITED, "%s has more axes than one; needs one", g->spec[0]);
    for (int64_t wanted = g->length - 1; !status && wanted > 0; wanted /= 5, tried++) {
        int64_t best = 0;
        status = peak(&best, &m, q, wanted, g->length, err);
        there += best == wanted;
        prove_add(out, (words){ "distance of the peak, made for", "峰值所在的距离，目标为" },
                  measure_named("", (double)wanted).is, (double)best, "");
    }
    measure_close(&m);
    prove_verdict v = !there ? PROVE_HOLDS : there == tried ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "No choice of q and k moves the peak away from the near keys.", "怎样选 q 和 k 都不能把峰值移离近处。" },
        { "Only a bound decays: for any distance there are q and k whose score peaks there.",
          "衰减的只是上界：任给一个距离，都有 q 和 k 让分数在那里最大。" },
        { "It depends on the distance: near ones can be made the peak, far ones cannot.",
          "取决于距离：近处可以成为峰值，远处不行。" },
    };
    prove_say(out, v, because[v]);
    return status;
}

/* ------------------------------------------------ bands */

static double slow(const double *frequency, int64_t pairs, double length)
{
    int64_t count = 0;
    for (int64_t p = 0; p < pairs; p++)
        count += fabs(frequency[p]) * length < TURN;
    return (double)count / (double)pairs;
}

/* What a step of one token changes in a random score, |exp(i w) - 1|^2 of each pair: the share of the pairs that rotate
 * at least a quarter of the way that the fastest rotates. */
static double near_share(const double *frequency, int64_t pairs, double fastest)
{
    double fast = 0, all = 0;
    for (int64_t p = 0; p < pairs; p++) {
        double change = 2 - 2 * cos(frequency[p]);
        all += change;
        fast += fabs(frequency[p]) >= fastest / 4 ? change : 0;
    }
    return all > 0 ? fast / all : 0;
}

/* Pairs that do not complete a rotation within a length, by length. */
static pe_status add_bands(measure_tally *t, const char *spec, const prove_given *g, pe_error *err)
{
    double frequency[MEASURE_HEAD_MAX / 2];
    double fastest = 0;
    int64_t pairs;
    char text[96];
    static const words what = { "pairs that complete less than one rotation", "转不满一圈的维度对" };
    TRY(frequencies(frequency, &pairs, spec, g, err));
    for (int64_t n = 4096; n <= g->length; n *= 2) {
        double share = slow(frequency, pairs, (double)n);
        snprintf(text, sizeof text, "%.40s, n = %lldk", spec, (long long)(n / 1024));
        prove_add(t->out, what, text, 100 * share, "%");
        measure_count(t, share > 0);
    }
    for (int64_t p = 0; p < pairs; p++)
        fastest = fmax(fastest, fabs(frequency[p]));
    prove_add(t->out, (words){ "tokens that the fastest pair needs for one rotation", "最快一对转一圈所需的词元数" },
              spec, fastest > 0 ? TURN / fastest : 0, "");
    prove_add(t->out,
              (words){ "of a one-token step's effect on scores, by pairs at least a quarter as fast",
                       "移动一个词元对分数的影响中，由不慢于最快者四分之一的维度对承担" },
              spec, 100 * near_share(frequency, pairs, fastest), "%");
    return PE_OK;
}

/* given: specs, head_dim, length (the longest context). HOLDS: slow pairs in every context, REFUTED: in none. */
pe_status measure_bands(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    for (int i = 0; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        TRY(add_bands(&t, g->spec[i], g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In every context tried some pairs complete less than one rotation: they can carry content, the fast ones "
          "position.",
          "在试过的各种长度下都有转不满一圈的维度对：它们可承载内容，快的承载位置。" },
        { "In every context tried all pairs complete a rotation.", "在试过的任何长度下，所有维度对都转满了一圈。" },
        { "On theta against the length: past 2 pi theta tokens every pair has completed a rotation and none is left "
          "for content.",
          "取决于 theta 与长度：超过 2π·theta 个词元后，每一对都转满一圈，没有专供内容的慢对了。" },
    };
    measure_conclude(&t, (words){ "contexts without a slow pair", "没有慢维度对的情形数" }, because);
    return PE_OK;
}
