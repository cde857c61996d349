/* SPDX-License-Identifier: MIT
 *
 * Claims on what training makes of words and codes: are they orthogonal, can both be read from their sum, what does a
 * learned table look like. */
#include "prove/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = MODEL_FILE_BYTES, COMMON = 64 };

/* ------------------------------------------------ words and codes: orthogonal? */

/* The bytes that the text has most of: those that training saw often. */
static void common_bytes(int out[COMMON], const prove_models *from)
{
    int64_t count[BYTES] = { 0 };
    for (int64_t n = 0; n < from->bytes; n++)
        count[from->text[n]]++;
    for (int n = 0; n < COMMON; n++) {
        out[n] = 0;
        for (int b = 1; b < BYTES; b++)
            if (count[b] > count[out[n]])
                out[n] = b;
        count[out[n]] = -1;
    }
}

/* Mean |cos| of each row of x with each of y; rows of one list with themselves are left out. */
static double mean_cosine(const double *x, int64_t n, const double *y, int64_t m, int64_t width)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double *a = x + i * width, *b = y + j * width;
            double sizes = measure_dot(a, a, width) * measure_dot(b, b, width);
            if (a == b || !(sizes > 0))
                continue;
            sum += fabs(measure_dot(a, b, width)) / sqrt(sizes);
            count++;
        }
    return count ? sum / (double)count : 0;
}

static void take_mean_off(double *x, int64_t n, int64_t width)
{
    for (int64_t c = 0; c < width; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += x[i * width + c] / (double)n;
        for (int64_t i = 0; i < n; i++)
            x[i * width + c] -= mean;
    }
}

/* Codes of all places of a window and the words of the common bytes. */
typedef struct sums {
    double *code, *word; /* (places, width), (COMMON, width) */
    int64_t places, width;
} sums;

static void sums_free(sums *s)
{
    free(s->code), free(s->word);
    *s = (sums){ 0 };
}

static pe_status sums_of(sums *s, const trained_model *t, const prove_models *from, pe_error *err)
{
    int which[COMMON];
    int64_t width = model_settings(t->m)->width;
    *s = (sums){ .places = from->length, .width = width };
    s->code = measure_memory(from->length, width, err);
    s->word = s->code ? measure_memory(BYTES, width, err) : NULL;
    pe_status status = s->word ? trained_codes(s->code, s->word, t, from, err) : PE_ERR_NOMEM;
    if (status) {
        sums_free(s);
        return status;
    }
    common_bytes(which, from);
    double *chosen = measure_memory(COMMON, width, err);
    for (int n = 0; chosen && n < COMMON; n++)
        memcpy(chosen + n * width, s->word + which[n] * width, (size_t)width * sizeof *chosen);
    free(s->word);
    s->word = chosen;
    if (!chosen)
        sums_free(s);
    return chosen ? PE_OK : PE_ERR_NOMEM;
}

/* What is measured of one model: words and codes as they are, and with the means taken off both; the same before
 * training; then the other controls. */
enum { AS_IS, LESS_MEANS, BEFORE, BEFORE_LESS_MEANS, TURNED, TURNED_LESS_MEANS, WORDS, LESS_WORDS, COSINES };

/* to (n, width) = x turned by a random orthogonal map: elements change places and signs. order (width): room. */
static void turn(double *to, int64_t *order, const double *x, int64_t n, int64_t width, uint64_t seed)
{
    measure_shuffle(order, width, &seed);
    for (int64_t c = 0; c < width; c++) {
        double sign = measure_uniform(&seed) < 0 ? -1 : 1;
        for (int64_t i = 0; i < n; i++)
            to[i * width + c] = sign * x[i * width + order[c]];
    }
}

/* Mean |cos| of words and codes that are turned, over PROVE_SEEDS turns. */
static double turned_cosine(const sums *s, double *room, int64_t *order)
{
    double sum = 0;
    for (uint64_t n = 0; n < PROVE_SEEDS; n++) {
        turn(room, order, s->code, s->places, s->width, n + 1);
        sum += mean_cosine(s->word, COMMON, room, s->places, s->width) / PROVE_SEEDS;
    }
    return sum;
}

/* Takes off each of n rows of x what lies along row: an orthogonal basis's, one after the other. */
static void take_along_off(double *x, int64_t n, const double *row, int64_t width)
{
    double size = measure_dot(row, row, width);
    for (int64_t i = 0; i < n && size > 0; i++) {
        double along = measure_dot(x + i * width, row, width) / size;
        for (int64_t c = 0; c < width; c++)
            x[i * width + c] -= along * row[c];
    }
}

/* Mean |cos| of words and codes less what lies along half of the words: fewer than there are elements. basis (COMMON,
 * width), code (places, width): room. */
static double apart_cosine(const sums *s, double *basis, double *code)
{
    memcpy(basis, s->word, (size_t)(COMMON * s->width) * sizeof *basis);
    memcpy(code, s->code, (size_t)(s->places * s->width) * sizeof *code);
    for (int64_t n = 0; n < COMMON && n < s->width / 2; n++) {
        take_along_off(basis + (n + 1) * s->width, COMMON - n - 1, basis + n * s->width, s->width);
        take_along_off(code, s->places, basis + n * s->width, s->width);
    }
    return mean_cosine(s->word, COMMON, code, s->places, s->width);
}

/* Of a model as it was before training. */
static pe_status cosines_before(double x[COSINES], const trained_model *t, uint64_t seed, const prove_models *from,
                                pe_error *err)
{
    trained_model first;
    sums s;
    TRY(trained_first(&first, t, seed, err));
    pe_status status = sums_of(&s, &first, from, err);
    model_free(first.m);
    if (status)
        return status;
    x[BEFORE] = mean_cosine(s.word, COMMON, s.code, s.places, s.width);
    take_mean_off(s.word, COMMON, s.width);
    take_mean_off(s.code, s.places, s.width);
    x[BEFORE_LESS_MEANS] = mean_cosine(s.word, COMMON, s.code, s.places, s.width);
    sums_free(&s);
    return PE_OK;
}

static pe_status orthogonal_one(double x[COSINES], double *law, const trained_model *t, uint64_t seed,
                                const prove_models *from, pe_error *err)
{
    sums s;
    TRY(cosines_before(x, t, seed, from, err));
    TRY(sums_of(&s, t, from, err));
    double *room = measure_memory(s.places + COMMON, s.width, err);
    int64_t *order = calloc((size_t)s.width, sizeof *order);
    if (room && order) {
        x[AS_IS] = mean_cosine(s.word, COMMON, s.code, s.places, s.width);
        x[TURNED] = turned_cosine(&s, room, order);
        x[WORDS] = mean_cosine(s.word, COMMON, s.word, COMMON, s.width);
        x[LESS_WORDS] = apart_cosine(&s, room, room + COMMON * s.width);
        take_mean_off(s.word, COMMON, s.width);
        take_mean_off(s.code, s.places, s.width);
        x[LESS_MEANS] = mean_cosine(s.word, COMMON, s.code, s.places, s.width);
        x[TURNED_LESS_MEANS] = turned_cosine(&s, room, order);
        *law = sqrt(2 / (3.14159265358979323846 * (double)s.width));
    }
    bool whole = room && order;
    sums_free(&s);
    free(room), free(order);
    return whole ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the codes of %s", t->name);
}

/* Whether the means decide: of models whose answer turns as they are taken off both. */
static words orthogonal_because(const measure_tally *t, int turned)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In every model words and codes are closer to a right angle than random directions of that width, with the "
          "means that all words and all codes share and without.",
          "在每个模型中，词向量与位置编码都比同宽度的随机方向更接近正交，无论是否减去各自的共同均值。" },
        { "In every model words and codes are farther from a right angle than random directions of that width, with "
          "the means that all words and all codes share and without.",
          "在每个模型中，词向量与位置编码都比同宽度的随机方向更偏离正交，无论是否减去各自的共同均值。" },
        { "It depends on the encoding and the seed: some are closer to a right angle than random directions, some are "
          "not.",
          "取决于编码和随机种子：有的比随机方向更接近正交，有的不是。" },
    };
    static const words by_mean = {
        "It depends on the common mean: all words share a part, and so do all codes. There are models in which words "
        "and codes are farther from a right angle than random directions with it, and closer once the means are taken "
        "off both.",
        "取决于共同的均值：所有词向量有共同的部分，所有编码也有。有的模型中，带着它时词向量与编码比随机方向更偏离正交，"
        "两者各减去均值后则更接近正交。"
    };
    prove_verdict v = !t->bad ? PROVE_HOLDS : !t->good ? PROVE_REFUTED : PROVE_DEPENDS;
    return v == PROVE_DEPENDS && turned ? by_mean : because[v];
}

static const words cosine_words[COSINES] = {
    { "mean |cos| of trained words and codes", "训练后词向量与位置编码夹角余弦的平均绝对值" },
    { "the same, means taken off both", "同上，两者各减去均值" },
    { "control: the same words and codes before training", "对照：训练之前" },
    { "control: before training, means taken off both", "对照：训练之前，两者各减去均值" },
    { "control: codes turned at random", "对照：随机旋转后的编码" },
    { "control: turned at random, means taken off both", "对照：随机旋转后的编码，两者各减去均值" },
    { "control: trained words with one another", "对照：训练后的词向量之间" },
    { "control: codes less what lies along words", "对照：去掉沿词向量分量的编码" },
};

/* given: names of encodings that add codes. */
pe_status measure_trained_orthogonal(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally tally = { .out = out };
    double law = 0;
    int turned = 0;
    for (int i = 0; g->spec[i]; i++) {
        double x[TRAINED_SEEDS][COSINES], column[TRAINED_SEEDS];
        trained_group group;
        TRY(trained_find(&group, g, g->spec[i], err));
        for (int n = 0; n < group.count; n++) {
            TRY(orthogonal_one(x[n], &law, group.one[n], (uint64_t)n + 1, group.from, err));
            measure_count(&tally, x[n][AS_IS] < law);
            measure_count(&tally, x[n][LESS_MEANS] < law);
            turned += x[n][AS_IS] >= law && x[n][LESS_MEANS] < law;
        }
        for (int k = 0; k < COSINES; k++) {
            for (int n = 0; n < group.count; n++)
                column[n] = x[n][k];
            measure_add_values(out, cosine_words[k], group.name, column, group.count, "");
        }
    }
    prove_add(out, (words){ "mean |cos| of random directions, sqrt(2 / (pi d))",
                            "随机方向夹角余弦的平均绝对值 sqrt(2/(πd))" },
              "", law, "");
    words because = orthogonal_because(&tally, turned), all[] = { because, because, because };
    measure_conclude(&tally, (words){ "of models with their means and without: farther from a right angle than chance",
                                      "带均值与减去均值的模型中，比随机更偏离正交的" },
                     all);
    return PE_OK;
}

/* ------------------------------------------------ adding: can both be read from the sum? */

/* Of all sums, how many the map is fitted on, in eighths; it is asked about the others. */
enum { SHARES = 5, EIGHTHS = 8 };
static const int fitted_eighths[SHARES] = { 1, 2, 3, 4, 6 };

/* The share of sums of which a linear map, fitted on others, finds the word (the place). In each vector of the first
 * list, of words, and of the second, of codes, 1/2 follows the elements that are seen, so that a sum ends in 1. Sums
 * are never written down: a map of a sum is the sum of its maps. */
typedef struct reading {
    const sums *s;
    int64_t *order;          /* (pairs): of every word with every place, at random */
    int64_t in, pairs, rows; /* elements of a sum; pairs in all; words and codes */
    double *part;            /* (rows, in): words, then codes, as they are seen */
    double *total;           /* (rows, in): the sums that are fitted, added up by their word and by their place */
    double *gram, *M;        /* (in, in), (in, C): C elements of the words or of the codes */
    double *map, *score;     /* (rows, in); (rows, rows): of each candidate with each part */
} reading;

static void reading_free(reading *r)
{
    free(r->order), free(r->part), free(r->total), free(r->gram), free(r->M), free(r->map), free(r->score);
}

static const double *row_of(const reading *r, int64_t n)
{
    return n < COMMON ? r->s->word + n * r->s->width : r->s->code + (n - COMMON) * r->s->width;
}

static pe_status reading_new(reading *r, const sums *s, int64_t seen, pe_error *err)
{
    *r = (reading){ .s = s, .in = seen + 1, .pairs = COMMON * s->places, .rows = COMMON + s->places };
    r->order = calloc((size_t)r->pairs, sizeof *r->order);
    r->part = measure_memory(r->rows, r->in, err);
    r->total = measure_memory(r->rows, r->in, err);
    r->gram = measure_memory(r->in, r->in, err);
    r->M = measure_memory(r->in, s->width, err);
    r->map = measure_memory(r->rows, r->in, err);
    r->score = measure_memory(r->rows, r->rows, err);
    if (!r->order || !r->part || !r->total || !r->gram || !r->M || !r->map || !r->score) {
        reading_free(r);
        return io_fail(err, PE_ERR_NOMEM, "no memory for sums");
    }
    for (int64_t n = 0; n < r->rows; n++) {
        memcpy(r->part + n * r->in, row_of(r, n), (size_t)seen * sizeof *r->part);
        r->part[n * r->in + seen] = 0.5;
    }
    return PE_OK;
}

/* to (in, columns) += x' y, for a row of each. */
static void add_product(double *to, const double *x, int64_t in, const double *y, int64_t columns)
{
    for (int64_t i = 0; i < in; i++)
        for (int64_t c = 0; c < columns; c++)
            to[i * columns + c] += x[i] * y[c];
}

#define TINY 1e-11 /* of the mean square: some codes leave a direction empty */

/* Fits on pairs first .. last - 1 of the order, beside those that were fitted before. */
static void reading_fit(reading *r, int64_t first, int64_t last)
{
    int64_t in = r->in, C = r->s->width;
    double trace = 0;
    for (int64_t n = first; n < last; n++) {
        int64_t w = r->order[n] % COMMON, p = COMMON + r->order[n] / COMMON;
        for (int64_t i = 0; i < in; i++) {
            double x = r->part[w * in + i] + r->part[p * in + i];
            r->total[w * in + i] += x;
            r->total[p * in + i] += x;
        }
    }
    memset(r->gram, 0, (size_t)(in * in) * sizeof *r->gram);
    for (int64_t n = 0; n < r->rows; n++)
        add_product(r->gram, r->total + n * in, in, r->part + n * in, in);
    for (int64_t i = 0; i < in; i++)
        trace += r->gram[i * in + i];
    for (int64_t i = 0; i < in; i++)
        r->gram[i * in + i] += TINY * trace / (double)in;
    measure_cholesky(r->gram, in);
    for (int k = 0; k < 2; k++) { /* the map of words, the map of codes */
        int64_t from = k ? COMMON : 0, to = k ? r->rows : COMMON;
        memset(r->M, 0, (size_t)(in * C) * sizeof *r->M);
        for (int64_t n = from; n < to; n++)
            add_product(r->M, r->total + n * in, in, row_of(r, n), C);
        measure_cholesky_solve(r->gram, in, r->M, C);
        for (int64_t n = from; n < to; n++)
            for (int64_t i = 0; i < in; i++)
                r->map[n * in + i] = measure_dot(r->M + i * C, row_of(r, n), C);
    }
    for (int64_t n = 0; n < r->rows; n++)
        for (int64_t m = 0; m < r->rows; m++)
            r->score[n * r->rows + m] = measure_dot(r->map + n * in, r->part + m * in, in);
}

/* Which of candidates from .. to - 1 is nearest to what is read off the sum of w and p: |y - row|^2 less |y|^2. */
static int64_t nearest(const reading *r, const double *size, int64_t from, int64_t to, int64_t w, int64_t p)
{
    int64_t best = from;
    double least = INFINITY;
    for (int64_t n = from; n < to; n++) {
        const double *score = r->score + n * r->rows;
        double far = size[n] - 2 * (score[w] + score[p]);
        if (far < least) {
            least = far;
            best = n;
        }
    }
    return best;
}

/* In per cent. size (rows): room. */
static void reading_ask(double right[2], const reading *r, double *size, int64_t fitted)
{
    int64_t found[2] = { 0, 0 };
    for (int64_t n = 0; n < r->rows; n++)
        size[n] = measure_dot(row_of(r, n), row_of(r, n), r->s->width);
    for (int64_t n = fitted; n < r->pairs; n++) {
        int64_t w = r->order[n] % COMMON, p = COMMON + r->order[n] / COMMON;
        found[0] += nearest(r, size, 0, COMMON, w, p) == w;
        found[1] += nearest(r, size, COMMON, r->rows, w, p) == p;
    }
    for (int k = 0; k < 2; k++)
        right[k] = 100 * (double)found[k] / (double)(r->pairs - fitted);
}

static pe_status read_sums(double right[SHARES][2], const sums *s, int64_t seen, uint64_t seed, pe_error *err)
{
    reading r;
    int64_t fitted = 0;
    TRY(reading_new(&r, s, seen, err));
    double *size = measure_memory(r.rows, 1, err);
    if (size)
        measure_shuffle(r.order, r.pairs, &seed);
    for (int n = 0; size && n < SHARES; n++) {
        int64_t until = r.pairs * fitted_eighths[n] / EIGHTHS;
        reading_fit(&r, fitted, until);
        reading_ask(right[n], &r, size, until);
        fitted = until;
    }
    free(size);
    reading_free(&r);
    return size ? PE_OK : PE_ERR_NOMEM;
}

/* Random words of the size of the trained ones. */
static void words_at_random(sums *s, uint64_t seed)
{
    int64_t count = COMMON * s->width;
    measure_normals(s->word, count, sqrt(measure_dot(s->word, s->word, count) / (double)count), seed);
}

/* Of each draw of the sums that the map is fitted on. */
typedef struct draws {
    const sums *s;
    double right[PROVE_SEEDS][SHARES][2];
} draws;

static pe_status draw_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    draws *d = with;
    return read_sums(d->right[n], d->s, d->s->width, seed, err);
}

/* The worst of all draws. */
static pe_status read_each_draw(double right[SHARES][2], const sums *s, const prove_given *g, pe_error *err)
{
    draws d = { .s = s };
    TRY(measure_each_seed(draw_seed, &d, PROVE_SEEDS, g, err));
    for (int i = 0; i < 2 * SHARES; i++) {
        right[i / 2][i % 2] = 100;
        for (int n = 0; n < PROVE_SEEDS; n++)
            right[i / 2][i % 2] = fmin(right[i / 2][i % 2], d.right[n][i / 2][i % 2]);
    }
    return PE_OK;
}

/* Read from the sums: of trained words; of random words; the same as the first, of an eighth of the elements. */
typedef double adding_found[3][SHARES][2];

static pe_status adding_one(adding_found x, const trained_model *t, const prove_given *g, uint64_t seed, pe_error *err)
{
    sums s;
    TRY(sums_of(&s, t, g->models, err));
    pe_status status = read_each_draw(x[0], &s, g, err);
    status = status ? status : read_sums(x[2], &s, s.width / 8, seed, err);
    words_at_random(&s, seed);
    status = status ? status : read_sums(x[1], &s, s.width, seed, err);
    sums_free(&s);
    return status;
}

/* Models in all, by the share of sums that is fitted and by model: whether every sum is read right. */
typedef struct adding_tally {
    measure_tally all, share[SHARES], model[PROVE_SPECS_MAX * TRAINED_SEEDS];
} adding_tally;

static void add_readings(adding_tally *tally, adding_found *x, const trained_group *group)
{
    static const words what[3][2] = {
        { { "words read from the sum, worst draw; share fitted", "从和中读对的词，最差的一次；拟合份额" },
          { "places read from the sum, worst draw; share fitted", "从和中读对的位置，最差的一次；拟合份额" } },
        { { "words read from the sum, random words as large; share fitted",
            "从和中读对的词（同样大小的随机词向量）；拟合份额" },
          { "places read from the sum, random words as large; share fitted",
            "从和中读对的位置（同样大小的随机词向量）；拟合份额" } },
        { { "control: words read from an eighth of the elements; share fitted",
            "对照：只看八分之一的元素时读对的词；拟合份额" },
          { "control: places read from an eighth of the elements; share fitted",
            "对照：只看八分之一的元素时读对的位置；拟合份额" } },
    };
    for (int k = 0; k < 3; k++)
        for (int n = k ? SHARES - 1 : 0; n < SHARES; n++) /* of those beside: the largest share alone */
            for (int read = 0; read < 2; read++) {
                char of[96];
                double column[TRAINED_SEEDS];
                for (int m = 0; m < group->count; m++)
                    column[m] = x[m][k][n][read];
                snprintf(of, sizeof of, "%.60s, %d/%d", group->name, fitted_eighths[n], EIGHTHS);
                measure_add_values(tally->all.out, what[k][read], of, column, group->count, "%");
            }
}

static words adding_depends(const adding_tally *t)
{
    static const words of_share = { "It depends on the share of sums that the map is fitted on, in all models alike: with more "
                                 "of them every sum is read right.",
                                 "取决于拟合所用的和的份额，各模型都一样：用得多时每个和都能读对。" };
    static const words of_model = { "It depends on the model, whatever the share of sums that the map is fitted on.",
                                 "取决于模型，与拟合所用的和的份额无关。" };
    static const words of_both = { "It depends on the model and on the share of sums that the map is fitted on: in every draw "
                                "every sum is read right of some models at some shares, and not of others. What that "
                                "costs against concatenating is measured by trained-concatenating.",
                                "同时取决于模型和拟合所用的和的份额：有的模型在有的份额下每次抽取都能读对每个和，有的不能。"
                                "与拼接相比代价多大，由 trained-concatenating 测量。" };
    return measure_decides(t->share, SHARES)                            ? of_share
           : measure_decides(t->model, PROVE_SPECS_MAX * TRAINED_SEEDS) ? of_model
                                                                        : of_both;
}

/* given: names of encodings that add codes. */
pe_status measure_trained_adding(prove_finding *out, const prove_given *g, pe_error *err)
{
    adding_tally tally = { .all.out = out };
    for (int i = 0; g->spec[i]; i++) {
        adding_found x[TRAINED_SEEDS];
        trained_group group;
        TRY(trained_find(&group, g, g->spec[i], err));
        for (int n = 0; n < group.count; n++) {
            TRY(adding_one(x[n], group.one[n], g, g->seed + (uint64_t)n, err));
            for (int k = 0; k < SHARES; k++) {
                bool all = x[n][0][k][0] == 100 && x[n][0][k][1] == 100;
                measure_count(&tally.all, all);
                measure_count(&tally.share[k], all);
                measure_count(&tally.model[i * TRAINED_SEEDS + n], all);
            }
        }
        add_readings(&tally, x, &group);
    }
    const words because[PROVE_VERDICT_COUNT] = {
        { "A linear map reads every word and every place from the sums of trained words and codes, at every share. That "
          "does not make adding as good as concatenating: trained-concatenating compares the losses.",
          "在每个份额下，线性映射都能从训练后的词向量与编码之和中读对每个词和每个位置。这并不说明相加与拼接一样好：两者的损失由 "
          "trained-concatenating 比较。" },
        { "In every model, at every share, some sums are read wrong. What that costs against concatenating is measured by "
          "trained-concatenating.",
          "每个模型在每个份额下都有读错的和。与拼接相比代价多大，由 trained-concatenating 测量。" },
        adding_depends(&tally),
    };
    measure_conclude(&tally.all, (words){ "models, at each share, with a sum that is read wrong", "有读错的和的模型数（各份额）" },
                     because);
    return PE_OK;
}

/* ------------------------------------------------ a table that was learned */

/* What a table looks like, of its rows less their mean. */
typedef struct table_looks {
    double cosine[DOUBLINGS]; /* mean cos of rows 2^k .. 2^(k+1) - 1 apart */
    double rank;              /* (tr G)^2 / tr(G^2), G of inner products: as many directions as that carry it evenly */
    int doublings;
} table_looks;

static table_looks look_of(double *row, int64_t n, int64_t width)
{
    table_looks t = { .doublings = doublings_of(n) };
    double count[DOUBLINGS] = { 0 }, trace = 0, square = 0;
    take_mean_off(row, n, width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double dot = measure_dot(row + i * width, row + j * width, width);
            trace += i == j ? dot : 0;
            square += (i == j ? 1 : 2) * dot * dot;
            int k = 0;
            while ((i - j) >> (k + 1))
                k++;
            double sizes = measure_dot(row + i * width, row + i * width, width) *
                           measure_dot(row + j * width, row + j * width, width);
            if (i == j || k >= t.doublings || !(sizes > 0))
                continue;
            t.cosine[k] += dot / sqrt(sizes);
            count[k]++;
        }
    for (int k = 0; k < t.doublings; k++)
        t.cosine[k] /= fmax(count[k], 1);
    t.rank = square > 0 ? trace * trace / square : 0;
    return t;
}

/* How alike two tables are in which rows are alike: the cosine of their matrices of inner products, both of rows less
 * their mean (linear CKA). 1: the same up to a rotation and a factor. */
static double alike(const double *x, const double *y, int64_t n, int64_t width)
{
    double xy = 0, xx = 0, yy = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double a = measure_dot(x + i * width, x + j * width, width);
            double b = measure_dot(y + i * width, y + j * width, width);
            xy += a * b;
            xx += a * a;
            yy += b * b;
        }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* The codes of a model; untrained: of one of its spec as it starts. */
static pe_status table_of(double *code, double *word, const trained_model *t, bool untrained, uint64_t seed,
                          const prove_models *from, pe_error *err)
{
    trained_model first;
    if (!untrained)
        return trained_codes(code, word, t, from, err);
    TRY(trained_first(&first, t, seed, err));
    pe_status s = trained_codes(code, word, &first, from, err);
    model_free(first.m);
    return s;
}

typedef struct table_found {
    table_looks trained, untrained;
    double alike, untrained_alike; /* to the fixed code */
} table_found;

static pe_status table_one(table_found *f, const trained_model *t, const trained_model *fixed, uint64_t seed,
                           const prove_models *from, pe_error *err)
{
    int64_t n = from->length, width = model_settings(t->m)->width;
    double *memory = measure_memory(3 * n + BYTES, width, err);
    double *own = memory, *start = own ? own + n * width : NULL, *wave = own ? start + n * width : NULL;
    double *word = own ? wave + n * width : NULL;
    pe_status s = memory ? table_of(own, word, t, false, 0, from, err) : PE_ERR_NOMEM;
    s = s ? s : table_of(start, word, t, true, seed, from, err);
    s = s ? s : table_of(wave, word, fixed, false, 0, from, err);
    if (!s) {
        take_mean_off(wave, n, width);
        f->trained = look_of(own, n, width);
        f->untrained = look_of(start, n, width);
        f->alike = alike(own, wave, n, width);
        f->untrained_alike = alike(start, wave, n, width);
    }
    free(memory);
    return s;
}

static bool falls(const table_looks *t)
{
    bool all = true;
    for (int k = 1; k < t->doublings; k++)
        all = all && t->cosine[k] < t->cosine[k - 1];
    return all;
}

static void add_looks(prove_finding *out, const char *name, const table_looks *t, int seeds)
{
    double column[TRAINED_SEEDS];
    for (int k = 0; k < t[0].doublings; k++) {
        char of[96];
        for (int n = 0; n < seeds; n++)
            column[n] = t[n].cosine[k];
        snprintf(of, sizeof of, "%.60s, %d-%d", name, 1 << k, (2 << k) - 1);
        measure_add_values(out, (words){ "mean cos of two rows; distance",
                                  "两行夹角余弦的均值；距离" }, of, column, seeds, "");
    }
    for (int n = 0; n < seeds; n++)
        column[n] = t[n].rank;
    measure_add_values(out, (words){ "directions that carry it, (tr G)^2 / tr(G^2)",
                              "有效方向数 (tr G)²/tr(G²)" }, name, column, seeds, "");
}

/* given: the name of a table that is learned, and of the fixed code that it is compared with. */
pe_status measure_trained_table(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In every model rows are the less alike the farther apart they are, as those of sinusoids; before training "
          "they are not.",
          "在每个模型中，行与行相距越远越不相似，与正弦编码一样；训练之前并非如此。" },
        { "In no model rows are the less alike the farther apart they are.", "没有任何模型的行是相距越远越不相似。" },
        { "It depends on the seed, or falls up to some distance only: the evidence has the cosines.",
          "取决于随机种子，或只在一定距离内成立：数据中列出了余弦。" },
    };
    measure_tally tally = { .out = out };
    trained_group group, fixed;
    table_found f[TRAINED_SEEDS];
    table_looks trained[TRAINED_SEEDS], untrained[TRAINED_SEEDS];
    double near[TRAINED_SEEDS], start[TRAINED_SEEDS];
    TRY(trained_find(&group, g, g->spec[0], err));
    TRY(trained_find(&fixed, g, g->spec[1], err));
    for (int n = 0; n < group.count; n++) {
        TRY(table_one(&f[n], group.one[n], fixed.one[0], g->seed + (uint64_t)n, group.from, err));
        trained[n] = f[n].trained, untrained[n] = f[n].untrained;
        near[n] = f[n].alike, start[n] = f[n].untrained_alike;
        measure_count(&tally, falls(&trained[n]));
    }
    measure_add_values(out, (words){ "likeness to the fixed code (linear CKA)",
                              "与固定编码的相似度（线性 CKA）" }, group.name, near,
                group.count, "");
    measure_add_values(out, (words){ "control: the same before training",
                              "对照：训练之前" }, group.name, start, group.count, "");
    add_looks(out, group.name, trained, group.count);
    add_looks(out, "before training", untrained, group.count);
    TRY(table_one(&f[0], fixed.one[0], fixed.one[0], 1, group.from, err));
    add_looks(out, fixed.name, &f[0].trained, 1);
    measure_conclude(&tally, (words){ "models whose rows do not grow less alike with distance",
                                      "行的相似度不随距离下降的模型数" },
                     because);
    return PE_OK;
}
