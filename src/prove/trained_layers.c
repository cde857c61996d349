/* SPDX-License-Identifier: MIT
 *
 * A claim on residual connections: how well the place can be read after each layer of a trained model. */
#include "prove/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------ residuals: the place after each layer */

#define RIDGE 1e-3 /* of the mean square of each element: in trained models a few elements are far larger than others */
enum { FITS = 3, WINDOWS_ASKED = 12 };
static const int fitted_windows[FITS] = { 2, 8, 32 };

/* The stream of all windows, first those that are fitted: (layers + 1, windows, T, C). */
typedef struct streams {
    trained_look look;
    real *x;
    int windows;
} streams;

static pe_status streams_new(streams *s, const trained_model *t, const prove_models *from, pe_error *err)
{
    s->windows = fitted_windows[FITS - 1] + WINDOWS_ASKED;
    s->x = NULL;
    TRY(trained_look_new(&s->look, from, t->m, LOOK_STREAM, err));
    int64_t size = s->look.tokens * s->look.width, layers = s->look.layers + 1;
    s->x = calloc((size_t)(layers * s->windows * size), sizeof *s->x);
    pe_status status = s->x ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the stream of a trained model");
    for (int w = 0; !status && w < s->windows; w++) {
        status = model_look(t->m, &s->look.in, trained_window(from, w, s->windows), s->look.tokens, err);
        for (int64_t l = 0; l < layers; l++)
            memcpy(s->x + (l * s->windows + w) * size, s->look.in.stream + l * size, (size_t)size * sizeof *s->x);
    }
    return status;
}

static double place_of(int64_t token, int64_t tokens)
{
    return ((double)(token % tokens) + 0.5) / (double)tokens - 0.5;
}

/* R^2 of the place on tokens first .. last, by a linear map fitted on the first ones. a (C + 1, C + 1), b (C + 1). */
static double read_place(double *a, double *b, const real *x, int64_t fitted, int64_t first, int64_t last,
                         int64_t tokens, int64_t width)
{
    int64_t n = width + 1;
    double wrong = 0, all = 0, trace = 0;
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    memset(b, 0, (size_t)n * sizeof *b);
    for (int64_t t = 0; t < fitted; t++)
        for (int64_t i = 0; i < n; i++) {
            double xi = i < width ? (double)x[t * width + i] : 1;
            for (int64_t j = 0; j <= i; j++)
                a[i * n + j] += xi * (j < width ? (double)x[t * width + j] : 1);
            b[i] += xi * place_of(t, tokens);
        }
    for (int64_t i = 0; i < n; i++)
        trace += a[i * n + i];
    for (int64_t i = 0; i < n; i++) /* an element may be 0 everywhere */
        a[i * n + i] += RIDGE * a[i * n + i] + 1e-12 * trace;
    measure_cholesky(a, n);
    measure_cholesky_solve(a, n, b, 1);
    for (int64_t t = first; t < last; t++) {
        double guess = b[width], place = place_of(t, tokens);
        for (int64_t i = 0; i < width; i++)
            guess += b[i] * (double)x[t * width + i];
        wrong += (guess - place) * (guess - place);
        all += place * place;
    }
    return fmax(1 - wrong / all, 0);
}

typedef double layer_values[FITS][TRAINED_LAYERS + 1];

static pe_status places_one(layer_values r2, const trained_model *t, const prove_models *from, pe_error *err)
{
    streams s;
    pe_status status = streams_new(&s, t, from, err);
    int64_t T = s.look.tokens, C = s.look.width, layers = s.look.layers, all = s.windows * T;
    double *a = status ? NULL : measure_memory(C + 2, C + 1, err);
    status = status ? status : a ? PE_OK : PE_ERR_NOMEM;
    for (int f = 0; !status && f < FITS; f++)
        for (int64_t l = 0; l <= layers && l <= TRAINED_LAYERS; l++)
            r2[f][l] = read_place(a, a + (C + 1) * (C + 1), s.x + l * all * C, fitted_windows[f] * T,
                                  fitted_windows[FITS - 1] * T, all, T, C);
    free(a);
    free(s.x);
    trained_look_free(&s.look);
    return status;
}

static void add_places(prove_finding *out, const trained_group *group, layer_values *r2, int64_t layers)
{
    for (int f = 0; f < FITS; f++)
        for (int64_t l = 0; l <= layers && l <= TRAINED_LAYERS; l++) {
            char of[96];
            double column[TRAINED_SEEDS];
            for (int n = 0; n < group->count; n++)
                column[n] = r2[n][f][l];
            snprintf(of, sizeof of, "%.30s, %lld, %lld", group->name,
                     (long long)(fitted_windows[f] * group->from->length), (long long)l);
            measure_add_values(out, (words){ "R^2 of a token's place; tokens fitted, layers passed",
                                      "位置可读程度 R²；拟合词元数，已过层数" },
                        of, column, group->count, "");
        }
}

/* Of the input's R^2: the least share of what enters a later layer, and of what leaves the last. */
static void kept_shares(double share[2], layer_values *r2, int f, int64_t layers)
{
    double least = (*r2)[f][0];
    for (int64_t l = 1; l < layers && l < TRAINED_LAYERS; l++)
        least = fmin(least, (*r2)[f][l]);
    share[0] = (*r2)[f][0] > 0 ? 100 * least / (*r2)[f][0] : 0;
    share[1] = (*r2)[f][0] > 0 ? 100 * (*r2)[f][layers < TRAINED_LAYERS ? layers : TRAINED_LAYERS] / (*r2)[f][0] : 0;
}

/* Probes in all, by where they look, by encoding and by the number of fitted tokens. */
typedef struct kept_tally {
    measure_tally all, where[2], encoding[PROVE_SPECS_MAX], fit[FITS];
} kept_tally;

/* Whether each keeps half, for each number of fitted tokens. */
static void count_kept(kept_tally *tally, int encoding, const trained_group *group, layer_values *r2, int64_t layers)
{
    static const words what[2] = {
        { "least R^2 that enters a layer, of the input's; tokens fitted",
          "进入各层的最小 R² 与输入层之比；拟合词元数" },
        { "R^2 that leaves the last layer, of the input's; tokens fitted",
          "离开最后一层的 R² 与输入层之比；拟合词元数" },
    };
    for (int f = 0; f < FITS; f++)
        for (int k = 0; k < 2; k++) {
            char of[96];
            double column[TRAINED_SEEDS], share[2];
            for (int n = 0; n < group->count; n++) {
                kept_shares(share, &r2[n], f, layers);
                column[n] = share[k];
                measure_tally *each[] = { &tally->all, &tally->where[k], &tally->encoding[encoding], &tally->fit[f] };
                for (int t = 0; t < 4; t++)
                    measure_count(each[t], share[k] >= 50);
            }
            snprintf(of, sizeof of, "%.30s, %lld", group->name, (long long)(fitted_windows[f] * group->from->length));
            measure_add_values(tally->all.out, what[k], of, column, group->count, "%");
        }
}

/* What decides, of what was varied. */
static words depends_on(const kept_tally *t)
{
    static const words leaves = {
        "It depends on where one looks, and on nothing else that was varied: what enters each layer keeps at least "
        "half in every model and fit, what leaves the last in none. That only predicts the next byte.",
        "只取决于看哪里，与其他变化过的条件无关：在每个模型、每次拟合中，进入各层的都保留至少一半，离开最后一层的都不足一半；"
        "后者只用来预测下一个字节。"
    };
    static const words enters = {
        "It depends on where one looks, and on nothing else that was varied: what leaves the last layer keeps at least "
        "half in every model and fit, what enters some layer before it in none.",
        "只取决于看哪里，与其他变化过的条件无关：在每个模型、每次拟合中，离开最后一层的都保留至少一半，进入其前某一层的都"
        "不足一半。"
    };
    static const words encoding = { "It depends on the encoding, and on nothing else that was varied.",
                                    "只取决于编码，与其他变化过的条件无关。" };
    static const words fit = { "It depends on the number of tokens that the map is fitted on, and on nothing else "
                               "that was varied.",
                               "只取决于拟合所用的词元数，与其他变化过的条件无关。" };
    static const words several = { "It depends on more than one of where one looks, the encoding, the seed and the "
                                   "number of tokens that the map is fitted on: none of them decides alone.",
                                   "取决于看哪里、编码、随机种子和拟合所用的词元数中的不止一项：没有一项能单独决定。" };
    return measure_decides(t->where, 2)                    ? (t->where[1].bad ? leaves : enters)
           : measure_decides(t->encoding, PROVE_SPECS_MAX) ? encoding
           : measure_decides(t->fit, FITS)                 ? fit
                                                           : several;
}

/* given: names of encodings; those that add no code to words, first, are shown and not counted. */
pe_status measure_trained_residuals(prove_finding *out, const prove_given *g, pe_error *err)
{
    kept_tally tally = { .all.out = out };
    for (int i = 0; g->spec[i]; i++) {
        layer_values r2[TRAINED_SEEDS];
        trained_group group;
        TRY(trained_find(&group, g, g->spec[i], err));
        int64_t layers = model_settings(group.one[0]->m)->layers;
        for (int n = 0; n < group.count; n++)
            TRY(places_one(r2[n], group.one[n], group.from, err));
        if (pe_encoding_hooks(model_encoding(group.one[0]->m)) & PE_HOOK_EMBED)
            count_kept(&tally, i, &group, r2, layers);
        add_places(out, &group, r2, layers);
    }
    const words because[PROVE_VERDICT_COUNT] = {
        { "In every model at least half of what a linear map reads of the place from the input enters each layer and "
          "leaves the last, however many tokens the map is fitted on. Without an encoding the input has no place.",
          "在每个模型中，无论用多少词元拟合，进入各层以及离开最后一层的位置信息都不少于输入层的一半。没有编码时输入中"
          "没有位置。" },
        { "In every model less than half of what a linear map reads of the place from the input enters some layer, and "
          "leaves the last.",
          "在每个模型中，进入某一层以及离开最后一层的位置信息都不足输入层的一半。" },
        depends_on(&tally),
    };
    measure_conclude(&tally.all, (words){ "probes that find less than half of the input's",
                                          "读出不足输入层一半的探针数" }, because);
    return PE_OK;
}
