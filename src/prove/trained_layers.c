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
enum { FITS = 3, LAST = FITS - 1, WINDOWS_ASKED = 64 };
static const int fitted_windows[FITS] = { 8, 32, 128 }; /* the last decides: by then the map has converged */

/* The stream of all windows, first those that are fitted: (layers + 1, windows, T, C). */
typedef struct streams {
    trained_look look;
    real *x;
    int windows;
} streams;

static pe_status streams_new(streams *s, const trained_model *t, const prove_models *from, pe_error *err)
{
    s->windows = fitted_windows[LAST] + WINDOWS_ASKED;
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

/* A linear map of the stream to the place. gram (C + 1, C + 1) and sums (C + 1): of the tokens so far; a and b: solved. */
typedef struct place_map {
    double *gram, *sums, *a, *b, *row; /* row (C + 1): a token, and a 1 */
    int64_t width, tokens;
    const real *x, *less; /* (tokens, C) each: the stream, and what is taken off it, or NULL */
} place_map;

static const double *map_row(const place_map *m, int64_t t)
{
    for (int64_t c = 0; c < m->width; c++)
        m->row[c] = (double)m->x[t * m->width + c] - (m->less ? (double)m->less[t * m->width + c] : 0);
    m->row[m->width] = 1;
    return m->row;
}

static void map_add(const place_map *m, int64_t first, int64_t last)
{
    int64_t n = m->width + 1;
    for (int64_t t = first; t < last; t++) {
        const double *row = map_row(m, t);
        double place = place_of(t, m->tokens);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++)
                m->gram[i * n + j] += row[i] * row[j];
            m->sums[i] += row[i] * place;
        }
    }
}

/* R^2 of the place on tokens first .. last - 1. */
static double map_ask(const place_map *m, int64_t first, int64_t last)
{
    int64_t n = m->width + 1;
    double wrong = 0, all = 0, trace = 0;
    memcpy(m->a, m->gram, (size_t)(n * n) * sizeof *m->a);
    memcpy(m->b, m->sums, (size_t)n * sizeof *m->b);
    for (int64_t i = 0; i < n; i++)
        trace += m->a[i * n + i];
    for (int64_t i = 0; i < n; i++) /* an element may be 0 everywhere */
        m->a[i * n + i] += RIDGE * m->a[i * n + i] + 1e-12 * trace;
    measure_cholesky(m->a, n);
    measure_cholesky_solve(m->a, n, m->b, 1);
    for (int64_t t = first; t < last; t++) {
        double place = place_of(t, m->tokens), off = measure_dot(map_row(m, t), m->b, n) - place;
        wrong += off * off;
        all += place * place;
    }
    return fmax(1 - wrong / all, 0);
}

/* Of each fit and layer: of the stream, and of the stream less its input. */
typedef struct layer_values {
    double whole[FITS][TRAINED_LAYERS + 1], less[FITS][TRAINED_LAYERS + 1];
} layer_values;

/* r2 (FITS) of one stream. */
static void places_of(double *r2, int64_t stride, place_map *m, int64_t all)
{
    int64_t n = m->width + 1, fitted = 0;
    memset(m->gram, 0, (size_t)(n * (n + 1)) * sizeof *m->gram); /* and the sums */
    for (int f = 0; f < FITS; f++) {
        map_add(m, fitted, fitted_windows[f] * m->tokens);
        fitted = fitted_windows[f] * m->tokens;
        r2[f * stride] = map_ask(m, fitted_windows[LAST] * m->tokens, all);
    }
}

static pe_status places_one(layer_values *r2, const trained_model *t, const prove_models *from, pe_error *err)
{
    streams s;
    memset(r2, 0, sizeof *r2);
    pe_status status = streams_new(&s, t, from, err);
    int64_t T = s.look.tokens, C = s.look.width, n = C + 1, all = s.windows * T;
    double *memory = status ? NULL : measure_memory(2 * n + 3, n, err);
    status = status ? status : memory ? PE_OK : PE_ERR_NOMEM;
    for (int64_t l = 0; !status && l <= s.look.layers && l <= TRAINED_LAYERS; l++) {
        double *a = memory + n * (n + 1);
        place_map m = { memory, memory + n * n, a, a + n * n, a + n * n + n, C, T, s.x + l * all * C, NULL };
        places_of(&r2->whole[0][l], TRAINED_LAYERS + 1, &m, all);
        m.less = s.x;
        if (l)
            places_of(&r2->less[0][l], TRAINED_LAYERS + 1, &m, all);
    }
    free(memory);
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
                column[n] = r2[n].whole[f][l];
            snprintf(of, sizeof of, "%.30s, %lld, %lld", group->name,
                     (long long)(fitted_windows[f] * group->from->length), (long long)l);
            measure_add_values(out, (words){ "R^2 of a token's place; tokens fitted, layers passed",
                                      "位置可读程度 R²；拟合词元数，已过层数" },
                        of, column, group->count, "");
            for (int n = 0; n < group->count; n++)
                column[n] = r2[n].less[f][l];
            if (l && f == LAST)
                measure_add_values(out, (words){ "control: the same of the stream less its input",
                                          "对照：残差流减去其输入后的 R²" },
                            of, column, group->count, "");
        }
}

/* In per cent of the input's R^2: the least of what enters a later layer, and what leaves the last; of the stream less its
 * input the most of what enters one, and what leaves the last. */
typedef struct kept {
    double share[2], control[2];
} kept;

static kept kept_of(const layer_values *r2, int f, int64_t layers)
{
    int64_t last = layers < TRAINED_LAYERS ? layers : TRAINED_LAYERS;
    double input = r2->whole[f][0], least = input, most = 0, unit = input > 0 ? 100 / input : 0;
    for (int64_t l = 1; l < last; l++) {
        least = fmin(least, r2->whole[f][l]);
        most = fmax(most, r2->less[f][l]);
    }
    return (kept){ { unit * least, unit * r2->whole[f][last] }, { unit * most, unit * r2->less[f][last] } };
}

/* Probes in all, by where they look and by encoding; alone: those whose layers have not written the place themselves. */
typedef struct kept_tally {
    measure_tally all, where[2], encoding[PROVE_SPECS_MAX], alone;
} kept_tally;

/* Whether each keeps half, by the map that is fitted on the most tokens. */
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
            double column[TRAINED_SEEDS];
            for (int n = 0; n < group->count; n++) {
                kept is = kept_of(&r2[n], f, layers);
                column[n] = is.share[k];
                measure_tally *each[] = { &tally->all, &tally->where[k], &tally->encoding[encoding] };
                for (int t = 0; t < 3 && f == LAST; t++)
                    measure_count(each[t], is.share[k] >= 50);
                if (f == LAST)
                    measure_count(&tally->alone, is.control[k] < 50);
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
        "half in every model, what leaves the last in none. That only predicts the next byte.",
        "只取决于看哪里，与其他变化过的条件无关：在每个模型中，进入各层的都保留至少一半，离开最后一层的都不足一半；"
        "后者只用来预测下一个字节。"
    };
    static const words leaves_written = {
        "It depends on where one looks: what enters each layer keeps at least half in every model, what leaves the last in "
        "none. Residual connections are not what alone carries it: what the layers have written, the stream less its "
        "input, tells the place too.",
        "取决于看哪里：在每个模型中，进入各层的都保留至少一半，离开最后一层的都不足一半。携带位置的不只是残差连接：各层自己"
        "写入的部分（残差流减去其输入）同样能读出位置。"
    };
    static const words enters = {
        "It depends on where one looks, and on nothing else that was varied: what leaves the last layer keeps at least "
        "half in every model, what enters some layer before it in none.",
        "只取决于看哪里，与其他变化过的条件无关：在每个模型中，离开最后一层的都保留至少一半，进入其前某一层的都不足一半。"
    };
    static const words written = {
        "It depends on what carries it: every layer keeps at least half, but what the layers have written, the stream less "
        "its input, tells at least half of it too, in some model.",
        "取决于由什么携带：每一层都保留至少一半，但在有的模型中，各层自己写入的部分（残差流减去其输入）也能读出至少一半。"
    };
    static const words encoding = { "It depends on the encoding, and on nothing else that was varied.",
                                    "只取决于编码，与其他变化过的条件无关。" };
    static const words several = { "It depends on more than one of where one looks, the encoding and the seed: none "
                                   "of them decides alone.",
                                   "取决于看哪里、编码和随机种子中的不止一项：没有一项能单独决定。" };
    if (!t->all.bad)
        return written;
    if (measure_decides(t->where, 2))
        return !t->where[1].bad ? enters : t->alone.good ? leaves : leaves_written;
    return measure_decides(t->encoding, PROVE_SPECS_MAX) ? encoding : several;
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
            TRY(places_one(&r2[n], group.one[n], group.from, err));
        if (pe_encoding_hooks(model_encoding(group.one[0]->m)) & PE_HOOK_EMBED)
            count_kept(&tally, i, &group, r2, layers);
        add_places(out, &group, r2, layers);
    }
    const words because[PROVE_VERDICT_COUNT] = {
        { "In every model at least half of what a linear map reads of the place from the input enters each layer and "
          "leaves the last, and what the layers have written, the stream less its input, tells less. Without an encoding the "
          "input has no place.",
          "在每个模型中，进入各层以及离开最后一层的位置信息都不少于输入层的一半。没有编码时输入中"
          "没有位置；各层自己写入的部分（残差流减去其输入）读出的不足一半。" },
        { "In every model less than half of what a linear map reads of the place from the input enters some layer, and "
          "leaves the last.",
          "在每个模型中，进入某一层以及离开最后一层的位置信息都不足输入层的一半。" },
        depends_on(&tally),
    };
    measure_conclude(&tally.all, (words){ "probes that find less than half of the input's",
                                          "读出不足输入层一半的探针数" }, because);
    if (out->verdict == PROVE_HOLDS && tally.alone.bad)
        prove_say(out, PROVE_DEPENDS, because[PROVE_DEPENDS]);
    return PE_OK;
}
