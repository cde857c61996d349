/* SPDX-License-Identifier: MIT
 *
 * Claims on adding a code to a word: what the sum of the two vectors loses, and what concatenation costs. */
#include "prove/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words and codes in one vector: are they orthogonal, and what does it cost to keep them apart? Words are random
 * vectors whose elements have deviation 1. */

/* ------------------------------------------------ orthogonal? */

typedef struct cosines {
    const char *spec;
    prove_given g; /* of one width */
    double mean[PROVE_SEEDS];
} cosines;

/* Mean |cos| between random words and the codes of positions 0 .. n-1. */
static pe_status cosine_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    enum { WORDS = 64 };
    cosines *a = with;
    int64_t width = a->g.model_dim, length = a->g.length;
    measure_encoding m;
    TRY(measure_open(&m, a->spec, &a->g, err));
    double *word = measure_memory(WORDS + length, width, err), *code = word ? word + WORDS * width : NULL, sum = 0;
    pe_status status = word ? measure_added(&m, width, err) : PE_ERR_NOMEM;
    status = status ? status : measure_codes(code, &m, 0, length, err);
    if (!status) {
        measure_normals(word, WORDS * width, 1, seed);
        for (int64_t i = 0; i < WORDS * length; i++) {
            const double *x = word + i % WORDS * width, *y = code + i / WORDS * width;
            double sizes = measure_dot(x, x, width) * measure_dot(y, y, width);
            sum += sizes > 0 ? fabs(measure_dot(x, y, width)) / sqrt(sizes) : 0;
        }
    }
    a->mean[n] = sum / (double)(WORDS * length);
    free(word);
    measure_close(&m);
    return status;
}

static pe_status add_cosine(measure_spread *s, prove_finding *out, const prove_given *g, int64_t width, pe_error *err)
{
    cosines a = { .spec = g->spec[0], .g = measure_at_width(g, width) };
    TRY(measure_each_seed(cosine_seed, &a, PROVE_SEEDS, &a.g, err));
    *s = measure_spread_of(a.mean, PROVE_SEEDS);
    measure_add_spread(out, (words){ "mean |cos| of words and codes", "词向量与位置编码夹角余弦的平均绝对值" },
                       measure_named("d = ", (double)width).is, *s, "");
    return PE_OK;
}

#define NEARLY 0.1 /* |cos|: 1 % of the power of one lies along the other */

/* given: spec, model_dim (the width that decides), length. REFUTED where the width is too small, DEPENDS
 * at the border. */
pe_status measure_orthogonal(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_spread at, each;
    double law = 0;
    TRY(add_cosine(&at, out, g, g->model_dim, err));
    for (int64_t width = 8; width <= 1024; width *= 2) {
        each = at;
        if (width != g->model_dim)
            TRY(add_cosine(&each, out, g, width, err));
        law = fmax(law, fabs(each.median / sqrt(2 / (3.14159265358979323846 * (double)width)) - 1));
    }
    prove_add(out, (words){ "farthest from sqrt(2 / (pi d))", "与 sqrt(2/(πd)) 的最大偏离" }, "", 100 * law, "%");
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Random words are random directions, whose |cos| with any vector is sqrt(2 / (pi d)) on average: it follows from "
          "the width, whatever the code is, and says nothing about trained words.",
          "随机的词向量就是随机方向，它与任何向量夹角余弦的平均绝对值为 sqrt(2/(πd))：这只由宽度决定，与编码无关，也不说明"
          "训练后的词向量如何。" },
        { "At this width a word and a code still point alike: the cosine falls only as 1/sqrt(d).",
          "在这个宽度上词向量与位置编码并不接近正交：余弦只按 1/sqrt(d) 下降。" },
        { "It depends on the seed: at this width the average, sqrt(2 / (pi d)), lies at the border.",
          "取决于随机种子：在这个宽度上，平均值 sqrt(2/(πd)) 就在界线附近。" },
    };
    prove_verdict v = at.most < NEARLY ? PROVE_HOLDS : at.least < NEARLY ? PROVE_DEPENDS : PROVE_REFUTED;
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ------------------------------------------------ adding against concatenating */

/* to (n, out) = x (n, width) times W (rows, out), whose row c % rows meets element c: below the first block of rows
 * stands the same block again. */
static void project_tied(double *to, const double *x, int64_t n, int64_t width, const double *W, int64_t rows,
                         int64_t out)
{
    memset(to, 0, (size_t)(n * out) * sizeof *to);
    for (int64_t t = 0; t < n; t++)
        for (int64_t c = 0; c < width; c++)
            for (int64_t o = 0; o < out; o++)
                to[t * out + o] += x[t * width + c] * W[c % rows * out + o];
}

/* to (n, C): words 0 .. n-1 at places 0 .. n-1, joined with their codes as the spec says and projected by W. */
static pe_status join_and_project(double *to, const char *spec, const prove_given *g, const double *x, const double *W,
                                  pe_error *err)
{
    measure_encoding m;
    prove_given one = measure_at_width(g, g->model_dim);
    TRY(measure_open(&m, spec, &one, err));
    int64_t C = g->model_dim, n = g->length, width = measure_width(&m);
    double *y = measure_memory(n, width, err), *code = measure_memory(n, width, err);
    pe_status status = y && code ? measure_codes(code, &m, 0, n, err) : PE_ERR_NOMEM;
    if (!status) {
        memcpy(y, code, (size_t)(n * width) * sizeof *y);
        for (int64_t i = 0; i < n * C; i++)
            y[i / C * width + i % C] += x[i];
        project_tied(to, y, n, width, W, C, C);
    }
    free(y), free(code);
    measure_close(&m);
    return status;
}

/* given: two specs, one that adds and one that concatenates a code as wide as the word; model_dim, length. */
pe_status measure_tied(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t C = g->model_dim, n = g->length;
    double *x = measure_memory(3 * n + C, C, err), *W = x ? x + n * C : NULL;
    double *added = x ? W + C * C : NULL, *beside = x ? added + n * C : NULL;
    pe_status status = x ? PE_OK : PE_ERR_NOMEM;
    if (x) {
        measure_normals(x, n * C, 1, g->seed);
        measure_normals(W, C * C, 1 / sqrt((double)C), g->seed + 1);
    }
    status = status ? status : join_and_project(added, g->spec[0], g, x, W, err);
    status = status ? status : join_and_project(beside, g->spec[1], g, x, W, err);
    if (!status) {
        double most = measure_difference(added, beside, n * C);
        bool same = most < PROVE_ROUNDING;
        prove_add(out, (words){ "(x + p) W less [x, p] [W; W], largest", "(x+p)W 与 [x,p][W;W] 的最大差" }, g->spec[1],
                  most, "");
        prove_add(out, (words){ "largest element of (x + p) W", "(x+p)W 的最大元素" }, g->spec[0],
                  measure_largest(added, n * C), "");
        prove_judge(out, same,
                    (words){ "Adding is concatenating with one projection for both halves.",
                             "相加就是拼接后两半共用同一个投影矩阵。" },
                    (words){ "These two do not come to the same.", "这两者的结果并不相同。" });
    }
    free(x);
    return status;
}

/* given: specs that concatenate, model_dim (as many outputs of W_q, W_k, W_v each). REFUTED: none makes words wider. */
pe_status measure_concat_cost(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t C = g->model_dim;
    int dearer = 0, specs = 0;
    prove_given one = measure_at_width(g, C);
    for (; specs < PROVE_SPECS_MAX && g->spec[specs]; specs++) {
        measure_encoding m;
        TRY(measure_open(&m, g->spec[specs], &one, err));
        int64_t width = measure_width(&m);
        measure_close(&m);
        dearer += width > C;
        prove_add(out, (words){ "more parameters of W_q, W_k, W_v", "W_q、W_k、W_v 增加的参数" }, g->spec[specs],
                  100 * (double)(width - C) / (double)C, "%");
        prove_add(out, (words){ "parameters of W_q, W_k, W_v", "W_q、W_k、W_v 的参数量" }, g->spec[specs],
                  3 * (double)width * (double)C, "");
    }
    prove_add(out, (words){ "parameters of W_q, W_k, W_v when added", "相加时 W_q、W_k、W_v 的参数量" }, "",
              3 * (double)C * (double)C, "");
    prove_verdict v = dearer == specs ? PROVE_HOLDS : dearer ? PROVE_DEPENDS : PROVE_REFUTED;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Each element of the code is another row of all three projections.",
          "编码每多一维，三个投影矩阵就各多一行。" },
        { "None of these makes a word wider.", "这些编码都没有让词向量变宽。" },
        { "It depends on whether the code is joined or added.", "取决于编码是拼接还是相加。" },
    };
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ------------------------------------------------ what adding loses */

/* A linear map reads the code off sums of words and codes; what is left is the word. Words have deviation 1.
 *   few    the map is fitted to 16 d sums of these words, and asked about others
 *   many   more words than any vector tried has elements: the map is the best one for random words, in closed form
 * With x = w + p, E[w w'] = 1 and P (places, d) the codes, the best map is x -> P' Z x with
 * Z = (P P' + places)^-1 P, and of few words, whose sums are the rows of X and their places those of S (one is 1),
 * Z = S' X (X' X)^-1. */

enum { MANY = 2048, ASKED = 256, WIDTH_MAX = 1024 };

typedef struct reading {
    double word, place; /* share of the asked that is read right */
    double off;         /* mean distance between the place read and the true one */
} reading;

typedef struct mixture {
    int64_t width, places, words;
    uint64_t seed;
    double *word, *code; /* (words, d), (places, d) */
    double *Z, *gram;    /* (d, places): Z'; few: (d, d), many: (places, places) */
    double *count;       /* few, (words, places): how often the map is fitted to this word at this place */
} mixture;

static void mixture_free(mixture *m)
{
    free(m->word), free(m->code), free(m->Z), free(m->gram), free(m->count);
}

static pe_status mixture_new(mixture *m, int64_t width, int64_t places, int64_t words_there, uint64_t seed,
                             pe_error *err)
{
    *m = (mixture){ .width = width, .places = places, .words = words_there, .seed = random_at(seed, 1) };
    bool few = words_there < MANY;
    int64_t n = few ? width : places;
    m->word = measure_memory(words_there, width, err);
    m->code = measure_memory(places, width, err);
    m->Z = measure_memory(width, places, err);
    m->gram = measure_memory(n, n, err);
    m->count = measure_memory(few ? words_there : 1, places, err);
    if (m->word && m->code && m->Z && m->gram && m->count)
        measure_normals(m->word, words_there * width, 1, random_at(seed, 0));
    else
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld words and codes", (long long)words_there);
    return PE_OK;
}

/* gram += f x x', of its lower triangle. */
static void add_outer(double *gram, const double *x, double f, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            gram[i * n + j] += f * x[i] * x[j];
}

/* The sums of word w over its places, with p for each of them: as many rows as there are words make the Gram matrix of
 * all 16 d sums, for x x' = (w + p)(w + p)' adds up word by word. */
static pe_status fit_few(mixture *m, pe_error *err)
{
    (void)err;
    int64_t d = m->width, half = m->words * m->places / 2; /* some are left to be asked about */
    int64_t samples = 16 * d < half ? 16 * d : half;
    for (int64_t n = 0; n < samples; n++) {
        int64_t w = measure_range(&m->seed, 0, m->words - 1), p = measure_range(&m->seed, 0, m->places - 1);
        m->count[w * m->places + p]++;
    }
    double line[WIDTH_MAX];
    for (int64_t w = 0; w < m->words; w++) {
        double times = 0;
        memset(line, 0, sizeof line);
        for (int64_t p = 0; p < m->places; p++) {
            double n = m->count[w * m->places + p];
            times += n;
            for (int64_t c = 0; n > 0 && c < d; c++) {
                line[c] += n * m->code[p * d + c];
                m->Z[c * m->places + p] += n * (m->word[w * d + c] + m->code[p * d + c]);
            }
        }
        /* times w w' + w line' + line w' = times (w + line / times)(w + line / times)' - line line' / times */
        for (int64_t c = 0; times > 0 && c < d; c++)
            m->word[w * d + c] += line[c] / times;
        add_outer(m->gram, m->word + w * d, times, d);
        add_outer(m->gram, line, times > 0 ? -1 / times : 0, d);
        for (int64_t c = 0; times > 0 && c < d; c++)
            m->word[w * d + c] -= line[c] / times;
    }
    for (int64_t p = 0; p < m->places; p++) {
        double times = 0;
        for (int64_t w = 0; w < m->words; w++)
            times += m->count[w * m->places + p];
        add_outer(m->gram, m->code + p * d, times, d);
    }
    for (int64_t c = 0; c < d; c++)
        m->gram[c * d + c] += 1e-9 * (double)samples; /* too small to show; some widths leave a direction empty */
    measure_cholesky(m->gram, d);
    measure_cholesky_solve(m->gram, d, m->Z, m->places);
    return PE_OK;
}

static pe_status fit_many(mixture *m, pe_error *err)
{
    int64_t d = m->width, n = m->places;
    double *solved = measure_memory(n, d, err);
    if (!solved)
        return PE_ERR_NOMEM;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b <= a; b++)
            m->gram[a * n + b] = measure_dot(m->code + a * d, m->code + b * d, d) + (a == b ? (double)m->places : 0);
    measure_cholesky(m->gram, n);
    memcpy(solved, m->code, (size_t)(n * d) * sizeof *solved);
    measure_cholesky_solve(m->gram, n, solved, d);
    for (int64_t i = 0; i < n * d; i++)
        m->Z[i % d * n + i / d] = solved[i];
    free(solved);
    return PE_OK;
}

/* |x - y|^2, or some number that is at least `enough`. Four sums: one would wait for itself. */
static double square_distance(const double *x, const double *y, int64_t width, double enough)
{
    double far[4] = { 0 }, all = 0;
    int64_t c = 0;
    for (; c + 4 <= width && all < enough; c += 4) {
        for (int k = 0; k < 4; k++)
            far[k] += (x[c + k] - y[c + k]) * (x[c + k] - y[c + k]);
        all = c % 32 == 28 ? far[0] + far[1] + far[2] + far[3] : all;
    }
    for (; c < width && all < enough; c++)
        far[0] += (x[c] - y[c]) * (x[c] - y[c]);
    return far[0] + far[1] + far[2] + far[3];
}

static int64_t nearest(const double *x, const double *all, int64_t count, int64_t width)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t n = 0; n < count; n++) {
        double far = square_distance(x, all + n * width, width, least);
        if (far < least) {
            least = far;
            best = n;
        }
    }
    return best;
}

/* code: what the map reads off the sum, P' Z x. share (places) is memory. */
static void read_code(double *code, const mixture *m, const double *sum, double *share)
{
    memset(share, 0, (size_t)m->places * sizeof *share);
    memset(code, 0, (size_t)m->width * sizeof *code);
    for (int64_t c = 0; c < m->width; c++)
        for (int64_t p = 0; p < m->places; p++)
            share[p] += m->Z[c * m->places + p] * sum[c];
    for (int64_t p = 0; p < m->places; p++)
        for (int64_t c = 0; c < m->width; c++)
            code[c] += share[p] * m->code[p * m->width + c];
}

static reading read_off(mixture *m)
{
    double sum[WIDTH_MAX], code[WIDTH_MAX], *share = m->gram; /* which has done its work */
    reading r = { 0 };
    for (int n = 0; n < ASKED;) {
        int64_t w = measure_range(&m->seed, 0, m->words - 1), p = measure_range(&m->seed, 0, m->places - 1);
        if (m->words < MANY && m->count[w * m->places + p] > 0)
            continue; /* the map was fitted to this one */
        for (int64_t c = 0; c < m->width; c++)
            sum[c] = m->word[w * m->width + c] + m->code[p * m->width + c];
        read_code(code, m, sum, share);
        int64_t place = nearest(code, m->code, m->places, m->width);
        for (int64_t c = 0; c < m->width; c++)
            sum[c] -= code[c];
        r.word += nearest(sum, m->word, m->words, m->width) == w ? 1.0 / ASKED : 0;
        r.place += place == p ? 1.0 / ASKED : 0;
        r.off += fabs((double)(place - p)) / ASKED;
        n++;
    }
    return r;
}

typedef struct adding {
    const char *spec;
    prove_given g; /* of one width */
    int64_t words;
    double word[PROVE_SEEDS], place[PROVE_SEEDS], off[PROVE_SEEDS];
} adding;

static pe_status adding_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    adding *a = with;
    measure_encoding e;
    mixture m;
    prove_given g = a->g;
    g.seed = seed;
    TRY(measure_open(&e, a->spec, &g, err));
    pe_status status = mixture_new(&m, g.model_dim, g.length, a->words, seed, err);
    status = status ? status : measure_added(&e, g.model_dim, err);
    status = status ? status : measure_codes(m.code, &e, 0, g.length, err);
    status = status ? status : (a->words < MANY ? fit_few : fit_many)(&m, err);
    if (!status) {
        reading r = read_off(&m);
        a->word[n] = 100 * r.word;
        a->place[n] = 100 * r.place;
        a->off[n] = r.off;
    }
    mixture_free(&m);
    measure_close(&e);
    return status;
}

/* Whether nothing is lost: every word and every place that was asked for, in every seed. */
static pe_status add_reading(measure_tally *t, adding *a, const prove_given *g, int64_t width, pe_error *err)
{
    char of[96];
    a->g = measure_at_width(g, width);
    TRY(measure_each_seed(adding_seed, a, PROVE_SEEDS, &a->g, err));
    measure_spread place = measure_spread_of(a->place, PROVE_SEEDS), word = measure_spread_of(a->word, PROVE_SEEDS);
    measure_count(t, place.least > 100 - 1e-6 && word.least > 100 - 1e-6);
    snprintf(of, sizeof of, "d = %lld, %lld words", (long long)width, (long long)a->words);
    measure_add_spread(t->out, (words){ "places read right", "位置读对的比例" }, of, place, "%");
    measure_add_spread(t->out, (words){ "words read right", "词读对的比例" }, of, word, "%");
    measure_add_values(t->out, (words){ "mean error of the place", "位置的平均误差" }, of, a->off, PROVE_SEEDS, "");
    return PE_OK;
}

/* given: spec, length (places); model_dim, or none: widths from 512 down. */
pe_status measure_adding_loses(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    adding a = { .spec = g->spec[0] };
    int64_t first = g->model_dim ? g->model_dim : 512, last = g->model_dim ? g->model_dim : 32;
    if (first > WIDTH_MAX)
        return io_fail(err, PE_ERR_SHAPE, "model_dim is %lld; needs %d at most", (long long)first, WIDTH_MAX);
    for (int64_t width = first; width >= last; width /= 2)
        for (int n = 0; n < 3; n++) {
            static const int64_t vocabulary[] = { 256, 512, MANY };
            a.words = vocabulary[n];
            TRY(add_reading(&t, &a, g, width, err));
        }
    static const words because[PROVE_VERDICT_COUNT] = {
        { "At every width tried a linear map reads every word and every place right.",
          "在试过的每个宽度上，线性映射都能读对所有的词和位置。" },
        { "At no width tried does a linear map read every word and every place right.",
          "在试过的任何宽度上，线性映射都不能读对所有的词和位置。" },
        { "It depends on the width against the number of words and places: where there are more elements than words "
          "and places together the sum can be taken apart without loss; a real vocabulary is larger, and then "
          "neighbouring places are taken for each other, the more the narrower the vector.",
          "取决于宽度与词数、位置数之和：维数更多时，和可以无损地拆开；真实词表更大，这时相邻位置会被互相读错，向量越窄"
          "越严重。" },
    };
    measure_conclude(&t, (words){ "widths and vocabularies with a loss", "有损失的（宽度，词表）组数" }, because);
    return PE_OK;
}
