/* SPDX-License-Identifier: MIT
 *
 * The four terms of a score, for any encoding, by leaving words out. With s(a, b) the score of words a and b in place:
 *   position-position  s(0, 0)                 content-position  s(a, 0) - s(0, 0)
 *   content-content    the rest of s(a, b)     position-content  s(0, b) - s(0, 0)
 * A term carries position when it changes as all tokens move to one place, and carries i - j only when it stays as all
 * move by the same step: a near one, and the farthest that the row serves, for some look at the place itself only past
 * a length. */
#include "prove/scores.h"
#include "prove/terms.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 5
#define FAR (INT64_C(1) << 20)

static const words name[FOUR] = { { "size of content-content", "“内容-内容”项的大小" },
                                  { "size of content-position", "“内容-位置”项的大小" },
                                  { "size of position-content", "“位置-内容”项的大小" },
                                  { "size of position-position", "“位置-位置”项的大小" } };

typedef pe_status scores_fn(double *out, scores *s, int words_there, int64_t by, pe_error *err);

static pe_status alike(double *out, scores *s, int words_there, int64_t by, pe_error *err)
{
    (void)by;
    return scores_alike(out, s, words_there, err);
}

/* term (4, size), in the order of the enum. */
static pe_status split(double *term, scores *s, scores_fn *make, int64_t by, pe_error *err)
{
    double *cc = term, *cp = cc + s->size, *pc = cp + s->size, *pp = pc + s->size;
    PROVE_TRY(make(cc, s, SCORES_BOTH, by, err));
    PROVE_TRY(make(cp, s, SCORES_QUERY, by, err));
    PROVE_TRY(make(pc, s, SCORES_KEY, by, err));
    PROVE_TRY(make(pp, s, SCORES_NONE, by, err));
    for (int64_t n = 0; n < s->size; n++) {
        cp[n] -= pp[n];
        pc[n] -= pp[n];
        cc[n] -= cp[n] + pc[n] + pp[n];
    }
    return PE_OK;
}

static double apart(double *x, const double *y, const scores *s)
{
    for (int64_t n = 0; n < s->size; n++)
        x[n] -= y[n];
    return scores_rms(x, s);
}

/* The farthest common step, of FAR and its halves, that has scores: tables end. */
static pe_status farthest(int64_t *by, scores *s, double *room, pe_error *err)
{
    pe_status status = PE_ERR_POSITION;
    for (*by = 2 * FAR; status && status != PE_ERR_NOMEM && *by > NEAR;)
        status = scores_shifted(room, s, SCORES_BOTH, *by /= 2, err);
    return status;
}

/* The largest change of a term under a common step, in sizes of the score. */
static pe_status move(double *moved, scores *s, const double *term, double *other, double whole, pe_error *err)
{
    int64_t by[] = { NEAR, 0 };
    PROVE_TRY(farthest(&by[1], s, other, err));
    for (int n = 0; n < 2; n++) {
        PROVE_TRY(split(other, s, scores_shifted, by[n], err));
        for (int t = 0; t < FOUR; t++)
            *moved = fmax(*moved, apart(other + t * s->size, term + t * s->size, s) / whole);
    }
    return PE_OK;
}

static pe_status look_at(terms_found *f, scores *s, double *term, double *other, pe_error *err)
{
    double whole = 0;
    PROVE_TRY(split(term, s, scores_shifted, 0, err));
    for (int t = 0; t < FOUR; t++)
        whole = hypot(whole, f->size[t] = scores_rms(term + t * s->size, s));
    PROVE_TRY(split(other, s, alike, 0, err));
    for (int t = 0; t < FOUR; t++) {
        f->there |= f->size[t] > MEASURE_ROUNDING * whole ? HAS(t) : 0;
        f->position |= apart(other + t * s->size, term + t * s->size, s) > MEASURE_ROUNDING * whole ? HAS(t) : 0;
    }
    f->counts = pe_encoding_carries(s->m.e);
    return move(&f->moved, s, term, other, whole, err);
}

pe_status terms_find(terms_found *f, const char *spec, const prove_given *g, pe_error *err)
{
    scores s;
    *f = (terms_found){ 0 };
    PROVE_TRY(scores_open(&s, spec, g, err));
    double *term = measure_memory(2 * FOUR, s.size, err);
    pe_status status = term ? look_at(f, &s, term, term + FOUR * s.size, err) : PE_ERR_NOMEM;
    free(term);
    scores_close(&s);
    return status;
}

void terms_add_sizes(prove_finding *out, const terms_found *f, const char *spec)
{
    for (int t = 0; t < FOUR; t++)
        prove_add(out, name[t], spec, f->size[t], "");
}

/* ------------------------------------------------ the expansion */

/* The four terms of added codes, by hand: y' W_q' W_k y with a word or a bare code on either side. */
static double by_hand(const scores *s, const double *codes, int64_t i, int64_t j, double *q, double *k)
{
    int64_t D = s->m.shape.head_dim, C = s->m.shape.model_dim, HD = s->m.shape.heads * D;
    double sum = 0;
    for (int term = 0; term < FOUR; term++) {
        const double *a = (term & 2 ? codes : s->x) + i * C, *b = (term & 1 ? codes : s->x) + j * C;
        for (int64_t d = 0; d < D; d++) {
            q[d] = k[d] = 0;
            for (int64_t c = 0; c < C; c++) {
                q[d] += a[c] * s->weight[0][c * HD + d];
                k[d] += b[c] * s->weight[1][c * HD + d];
            }
        }
        sum += measure_dot(q, k, D);
    }
    return sum * pe_encoding_scale(s->m.e);
}

/* Bare codes; zeros where the spec adds none. */
static pe_status bare(double *codes, const scores *s, pe_error *err)
{
    if (!(pe_encoding_hooks(s->m.e) & PE_HOOK_EMBED))
        return PE_OK;
    return measure_codes(codes, &s->m, 0, s->tokens, err);
}

/* The largest difference of head 0 between the score and its four terms by hand, in sizes of the score. */
static pe_status expansion(double *most, scores *s, double *score, double *codes, pe_error *err)
{
    double line[2][MEASURE_HEAD_MAX];
    PROVE_TRY(bare(codes, s, err));
    PROVE_TRY(scores_make(score, s, SCORES_BOTH, err));
    for (int64_t i = 0; i < s->tokens; i += 3)
        for (int64_t j = 0; j <= i; j += 4) {
            double here = score[i * s->m.shape.heads * s->tokens + j];
            *most = fmax(*most, fabs(here - by_hand(s, codes, i, j, line[0], line[1])));
        }
    *most /= scores_rms(score, s);
    return PE_OK;
}

/* given: spec, heads, head_dim, model_dim, length. REFUTED where the score is more than the four: rope, alibi. */
pe_status measure_four_terms(prove_finding *out, const prove_given *g, pe_error *err)
{
    scores s;
    terms_found f;
    double most = 0;
    PROVE_TRY(terms_find(&f, g->spec[0], g, err));
    PROVE_TRY(scores_open(&s, g->spec[0], g, err));
    if (s.width != s.m.shape.model_dim || g->head_dim > MEASURE_HEAD_MAX) {
        scores_close(&s);
        return io_fail(err, PE_ERR_UNSUITED, "%s with head_dim %lld; needs codes that are added and %d at most",
                       g->spec[0], (long long)g->head_dim, MEASURE_HEAD_MAX);
    }
    double *room = measure_memory(s.size + s.tokens * s.width, 1, err);
    pe_status status = room ? expansion(&most, &s, room, room + s.size, err) : PE_ERR_NOMEM;
    free(room);
    scores_close(&s);
    bool equal = most < MEASURE_ROUNDING;
    prove_add(out, (words){ "score less its four terms, largest", "分数与四项之和的最大差" }, g->spec[0], most, "");
    terms_add_sizes(out, &f, g->spec[0]);
    prove_say(out, equal ? PROVE_HOLDS : PROVE_REFUTED,
              equal ? (words){ "The score is the sum of the four products to the last digits.",
                               "分数与四个乘积之和直到最后几位数字都相等。" }
                    : (words){ "The score holds more than the four products of words and added codes.",
                               "分数里有四个乘积之外的东西。" });
    return status;
}
