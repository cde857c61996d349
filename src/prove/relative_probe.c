/* SPDX-License-Identifier: MIT
 *
 * Position in higher layers: how well a linear probe reads it after each layer of a random Transformer. */
#include "model/gemm.h"
#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A Transformer with random weights, over some random texts: layers of attention and a two-layer map, with
 * normalisation before each, with residual connections or without. float32, as models are. */

enum { LAYERS = 6, STACK_WEIGHTS = 6 };

enum { FITS = 3, SEVERAL = 3 };

/* Texts that a map is fitted on: the most, half of them and a sixth. The most are several times as many tokens as the
 * map has unknowns. A fit on fewer is shown and not counted: near as many tokens as unknowns a map fits noise, and what
 * it misses says nothing of the model. */
static int64_t fitted_texts(int64_t width, int64_t tokens, int fit)
{
    static const int64_t part[FITS] = { 1, 2, 6 };
    int64_t most = 42;
    while (most * tokens < SEVERAL * (width + 1))
        most += 24;
    return most / part[fit];
}

enum { ASKED = 8 }; /* texts that a map is tested on */

typedef struct stack {
    measure_encoding m;
    bool causal, residual;
    int64_t tokens, width;        /* T, C */
    int64_t texts, fitted;        /* in all; those that the map is fitted on, first */
    int64_t asked;                /* the first of those that it is tested on */
    float *x, *y;                 /* (texts T, C): the stream; its normalised copy, then what a branch gives */
    float *part[4];               /* (texts T, C): q, k, v and attention's output; the first holds the map's middle */
    float *weight[STACK_WEIGHTS]; /* (C, C) four times, (2C, C), (C, 2C): (out, in) */
    float *seen;                  /* (texts T, C + 1): the stream with a 1 behind each token */
    float *gram;                  /* (n, n), n as probe_unknowns has it */
    double *kernel, *goal;        /* (n, n); (n + C + 1): what is solved for, and room */
} stack;

enum { VOCABULARY = 256 };

/* zeroed or half-built: fine */
static void stack_close(stack *s)
{
    measure_close(&s->m);
    free(s->x), free(s->y), free(s->seen), free(s->gram), free(s->kernel), free(s->goal);
    for (int n = 0; n < 4; n++)
        free(s->part[n]);
    for (int n = 0; n < STACK_WEIGHTS; n++)
        free(s->weight[n]);
}

static bool take_floats(float **x, int64_t a, int64_t b)
{
    return (*x = calloc((size_t)(a * b), sizeof **x)) != NULL;
}

/* A narrow map is solved for by its elements, a wide one as a sum of tokens, whichever are fewer. */
static int64_t probe_unknowns(const stack *s)
{
    return s->fitted * s->tokens < s->width + 1 ? s->fitted * s->tokens : s->width + 1;
}

static bool take_memory(stack *s, pe_error *err)
{
    int64_t n = s->texts * s->tokens, C = s->width, unknowns = probe_unknowns(s);
    bool whole = take_floats(&s->x, n, C) && take_floats(&s->y, n, C) && take_floats(&s->seen, n, C + 1) &&
                 take_floats(&s->gram, unknowns, unknowns) && (s->kernel = measure_memory(unknowns, unknowns, err)) &&
                 (s->goal = measure_memory(unknowns + C + 1, 1, err));
    for (int i = 0; whole && i < 4; i++)
        whole = take_floats(&s->part[i], n, i ? C : 2 * C);
    for (int i = 0; whole && i < STACK_WEIGHTS; i++)
        whole = take_floats(&s->weight[i], C, i < 4 ? C : 2 * C);
    return whole;
}

static pe_status stack_open(stack *s, const char *spec, const prove_given *g, pe_error *err)
{
    *s = (stack){ .causal = g->causal, .residual = g->residual, .tokens = g->length };
    TRY(measure_open(&s->m, spec, g, err));
    gemm_start();
    s->width = s->m.shape.heads * s->m.shape.head_dim;
    s->fitted = s->asked = fitted_texts(s->width, s->tokens, 0);
    s->texts = s->asked + ASKED;
    bool fits = measure_width(&s->m) == s->width && pe_encoding_axes(s->m.e) == 1;
    if (s->m.shape.model_dim != s->width)
        return io_fail(err, PE_ERR_SHAPE, "model_dim is %lld; needs heads * head_dim, %lld",
                       (long long)s->m.shape.model_dim, (long long)s->width);
    if (!fits)
        return io_fail(err, PE_ERR_UNSUITED, "%s changes the width or has more axes; needs one that does not", spec);
    if (!take_memory(s, err))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a small Transformer");
    return PE_OK;
}

/* Where a token stands in its text, of mean 0. */
static double place_of(const stack *s, int64_t n)
{
    return ((double)(n % s->tokens) + 0.5) / (double)s->tokens - 0.5;
}

/* Random words of deviation 1 with the codes that the spec adds; each text begins with the same word. */
static pe_status stack_fill(stack *s, uint64_t seed, pe_error *err)
{
    int64_t T = s->tokens, C = s->width;
    uint64_t text = random_at(seed, 1);
    for (int64_t n = 0; n < s->texts * T; n++) {
        uint64_t word = n % T ? (uint64_t)measure_range(&text, 1, VOCABULARY) : 0, state = random_at(seed, 2 + word);
        for (int64_t c = 0; c < C; c++)
            s->x[n * C + c] = (float)measure_normal(&state);
    }
    pe_view x = pe_view_of(s->x, PE_F32, s->texts, T, 1, C);
    return pe_embed(s->m.e, x, x, pe_positions_run(s->texts, T, 0), &PE_MAKE(pe_run, .params = s->m.w), err);
}

/* ---------------------------------------------------------------- a layer */

/* Mean 0, deviation 1. */
static void normalise(float *to, const float *x, int64_t n, int64_t width)
{
    for (int64_t t = 0; t < n; t++, x += width, to += width) {
        double mean = 0, square = 0;
        for (int64_t c = 0; c < width; c++)
            mean += (double)x[c] / (double)width;
        for (int64_t c = 0; c < width; c++)
            square += ((double)x[c] - mean) * ((double)x[c] - mean) / (double)width;
        for (int64_t c = 0; c < width; c++)
            to[c] = (float)(((double)x[c] - mean) / sqrt(square + 1e-12));
    }
}

/* Adds a branch's result to the stream, or replaces the stream without residual connections. */
static void join_branch(float *x, const float *y, int64_t n, bool residual)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = residual ? x[i] + y[i] : y[i];
}

/* Text by text, by the definition. */
static pe_status attend(const stack *s, pe_error *err)
{
    int64_t H = s->m.shape.heads, D = s->m.shape.head_dim, T = s->tokens;
    pe_positions at = pe_positions_run(1, T, 0);
    for (int64_t text = 0; text < s->texts; text++) {
        pe_view part[4];
        for (int n = 0; n < 4; n++)
            part[n] = pe_view_of(s->part[n] + text * T * H * D, PE_F32, 1, T, H, D);
        pe_attention a = PE_MAKE(pe_attention, .out = part[3], .q = part[0], .k = part[1], .v = part[2], .q_at = at,
                                 .k_at = at, .mask.causal = s->causal);
        TRY(zoo_look(s->m.e, a, s->m.w, err));
    }
    return PE_OK;
}

/* to (texts T, out) = x (texts T, in) W' */
static void times(float *to, float *x, const stack *s, int weight, int64_t in, int64_t out)
{
    int64_t n = s->texts * s->tokens;
    gemm_forward((matrix){ to, out }, (matrix){ x, in }, (matrix){ s->weight[weight], in }, n, out, in, 0);
}

static pe_status layer(stack *s, pe_error *err)
{
    int64_t n = s->texts * s->tokens, C = s->width;
    normalise(s->y, s->x, n, C);
    for (int i = 0; i < 3; i++)
        times(s->part[i], s->y, s, i, C, C);
    TRY(attend(s, err));
    times(s->y, s->part[3], s, 3, C, C);
    join_branch(s->x, s->y, n * C, s->residual);
    normalise(s->y, s->x, n, C);
    times(s->part[0], s->y, s, 4, C, 2 * C);
    for (int64_t i = 0; i < 2 * n * C; i++)
        s->part[0][i] = fmaxf(s->part[0][i], 0);
    times(s->y, s->part[0], s, 5, 2 * C, C);
    join_branch(s->x, s->y, n * C, s->residual);
    return PE_OK;
}

/* One layer up, with new weights: uniform, of deviation 1 / sqrt(in), and sqrt(2) of that behind the relu. */
static pe_status stack_apply_layer(stack *s, uint64_t seed, pe_error *err)
{
    for (int n = 0; n < STACK_WEIGHTS; n++) {
        int64_t in = n < 5 ? s->width : 2 * s->width, out = n == 4 ? 2 * s->width : s->width;
        uint64_t state = random_at(seed, (uint64_t)n);
        double size = sqrt((n == 5 ? 6 : 3) / (double)in);
        for (int64_t i = 0; i < in * out; i++)
            s->weight[n][i] = (float)(size * measure_uniform(&state));
    }
    return layer(s, err);
}

/* ---------------------------------------------------------------- the probe */

/* Can position still be read in higher layers? At every layer of a Transformer with random weights a linear map is
 * fitted that predicts a token's position, and tested on other texts. R^2 is the share of the positions' variance that
 * it explains: 1 all, 0 none or worse than the mean. */

#define RIDGE 1e-3 /* of the mean square, in place of the noise of real activations */

/* The normal equations of the map's elements, where s->seen has the tokens with a 1 behind each: sum of x x' and of x
 * place. */
static void fill_elements(stack *s, int64_t unknowns)
{
    int64_t tokens = s->fitted * s->tokens;
    matrix x = { s->seen, unknowns };
    gemm_weight((matrix){ s->gram, unknowns }, x, x, tokens, unknowns, unknowns, 0);
    memset(s->goal, 0, (size_t)unknowns * sizeof *s->goal);
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t i = 0; i < unknowns; i++)
            s->goal[i] += (double)s->seen[t * unknowns + i] * place_of(s, t);
}

/* x.y of every two tokens. */
static void fill_tokens(stack *s, int64_t unknowns)
{
    int64_t wide = s->width + 1;
    matrix x = { s->seen, wide };
    gemm_forward((matrix){ s->gram, unknowns }, x, x, unknowns, unknowns, wide, 0);
    for (int64_t t = 0; t < unknowns; t++)
        s->goal[t] = place_of(s, t);
}

/* goal as a sum of tokens becomes that sum. */
static void add_up_tokens(stack *s, int64_t unknowns)
{
    int64_t wide = s->width + 1;
    double *sum = s->goal + unknowns;
    memset(sum, 0, (size_t)wide * sizeof *sum);
    for (int64_t t = 0; t < unknowns; t++)
        for (int64_t i = 0; i < wide; i++)
            sum[i] += s->goal[t] * (double)s->seen[t * wide + i];
    memmove(s->goal, sum, (size_t)wide * sizeof *sum);
}

/* The map that is nearest to the places of the fitted tokens: s->goal (C + 1). */
static void fit_map(stack *s)
{
    int64_t unknowns = probe_unknowns(s);
    bool by_token = unknowns == s->fitted * s->tokens;
    double trace = 0;
    (by_token ? fill_tokens : fill_elements)(s, unknowns);
    for (int64_t n = 0; n < unknowns * unknowns; n++)
        s->kernel[n] = (double)s->gram[n];
    for (int64_t n = 0; n < unknowns; n++)
        trace += s->kernel[n * unknowns + n];
    for (int64_t n = 0; n < unknowns; n++)
        s->kernel[n * unknowns + n] += RIDGE * trace / (double)unknowns;
    measure_cholesky(s->kernel, unknowns);
    measure_cholesky_solve(s->kernel, unknowns, s->goal, 1);
    if (by_token)
        add_up_tokens(s, unknowns);
}

/* The stream with a 1 behind each token, which the map's constant is multiplied by. */
static void see_stream(stack *s)
{
    int64_t C = s->width;
    for (int64_t t = 0; t < s->texts * s->tokens; t++) {
        memcpy(s->seen + t * (C + 1), s->x + t * C, (size_t)C * sizeof *s->seen);
        s->seen[t * (C + 1) + C] = 1;
    }
}

/* R^2 on the texts that are asked about. */
static double read_place(stack *s, int fit)
{
    s->fitted = fitted_texts(s->width, s->tokens, fit);
    double wrong = 0, all = 0;
    fit_map(s);
    for (int64_t t = s->asked * s->tokens; t < s->texts * s->tokens; t++) {
        double place = place_of(s, t), off = -place;
        for (int64_t i = 0; i <= s->width; i++)
            off += s->goal[i] * (double)s->seen[t * (s->width + 1) + i];
        wrong += off * off;
        all += place * place;
    }
    return fmax(1 - wrong / all, 0);
}

/* Of all texts: root of the mean square of what is left of a token without its text's mean, of its size. */
static double spread_of(const stack *s)
{
    int64_t T = s->tokens, C = s->width;
    double apart = 0, all = 0;
    for (int64_t n = 0; n < s->texts * C; n++) {
        const float *x = s->x + n / C * T * C + n % C;
        double mean = 0;
        for (int64_t t = 0; t < T; t++)
            mean += (double)x[t * C] / (double)T;
        for (int64_t t = 0; t < T; t++) {
            apart += ((double)x[t * C] - mean) * ((double)x[t * C] - mean);
            all += (double)x[t * C] * (double)x[t * C];
        }
    }
    return all > 0 ? sqrt(apart / all) : 0;
}

/* ---------------------------------------------------------------- all seeds of one size */

typedef struct probe {
    const char *spec;
    prove_given g;                            /* of one size */
    double r2[FITS][LAYERS + 1][PROVE_SEEDS]; /* how well place can be read after so many layers */
    double spread[LAYERS + 1][PROVE_SEEDS];   /* how far tokens are from their mean */
} probe;

static pe_status probe_layers(probe *p, stack *s, int n, uint64_t seed, pe_error *err)
{
    TRY(stack_fill(s, random_at(seed, 0), err));
    for (int l = 0; l <= LAYERS; l++) {
        if (l)
            TRY(stack_apply_layer(s, random_at(seed, (uint64_t)l), err));
        see_stream(s);
        for (int fit = 0; fit < FITS; fit++)
            p->r2[fit][l][n] = read_place(s, fit);
        p->spread[l][n] = spread_of(s);
    }
    return PE_OK;
}

static pe_status probe_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    probe *p = with;
    stack s;
    prove_given g = p->g;
    g.seed = seed;
    pe_status status = stack_open(&s, p->spec, &g, err);
    status = status ? status : probe_layers(p, &s, n, seed, err);
    stack_close(&s);
    return status;
}

static pe_status probe_run(probe *p, const char *spec, const prove_given *g, pe_error *err)
{
    p->spec = spec;
    p->g = *g;
    return measure_each_seed(probe_seed, p, PROVE_SEEDS, g, err);
}

/* Sizes that are tried where the claim is given none: heads and width are varied one at a time, up to the width of the
 * first Transformer. */
static const pe_shape probe_sizes[] = { { .heads = 8, .head_dim = 64 },
                                        { .heads = 1, .head_dim = 128 },
                                        { .heads = 4, .head_dim = 32 },
                                        { .heads = 16, .head_dim = 8 } };
enum { SIZES = sizeof probe_sizes / sizeof *probe_sizes };

static int probe_size_count(const prove_given *g)
{
    return g->heads && g->head_dim ? 1 : SIZES;
}

static prove_given probe_sized(const prove_given *g, int n)
{
    prove_given one = *g;
    one.heads = g->heads ? g->heads : probe_sizes[n].heads;
    one.head_dim = g->head_dim ? g->head_dim : probe_sizes[n].head_dim;
    one.model_dim = g->model_dim ? g->model_dim : one.heads * one.head_dim;
    return one;
}

static measure_text probe_name(const probe *p, const char *of)
{
    measure_text t;
    snprintf(t.is, sizeof t.is, "%.40s, d = %lld, H = %lld%s", p->spec, (long long)p->g.model_dim,
             (long long)p->g.heads, of);
    return t;
}

static int64_t fitted_tokens(const probe *p, int fit)
{
    return fitted_texts(p->g.model_dim, p->g.length, fit) * p->g.length;
}

/* Whether a fit has several times as many tokens as unknowns. */
static bool fits_well(const probe *p, int fit)
{
    return fitted_tokens(p, fit) >= SEVERAL * (p->g.model_dim + 1);
}

/* The same with the number of tokens that the map was fitted on. */
static measure_text probe_fit_name(const probe *p, int fit, const char *of)
{
    measure_text t = probe_name(p, "");
    size_t used = strlen(t.is);
    snprintf(t.is + used, sizeof t.is - used, ", n = %lld%s", (long long)fitted_tokens(p, fit), of);
    return t;
}

/* R^2 at the last layer, of each fit. */
static void add_last(prove_finding *out, const probe *p, const char *of)
{
    static const words well = { "R^2 at the last layer; n tokens fitted", "最后一层的位置可读程度 R²；拟合 n 个词元" };
    static const words few = { "R^2 at the last layer, too few tokens fitted, not counted",
                               "最后一层的 R²，拟合词元太少，不计入" };
    for (int fit = 0; fit < FITS; fit++)
        measure_add_values(out, fits_well(p, fit) ? well : few, probe_fit_name(p, fit, of).is, p->r2[fit][LAYERS],
                           PROVE_SEEDS, "");
}

/* After each layer, of the fit on most tokens. */
static void add_layers(prove_finding *out, const probe *p)
{
    char of[40];
    for (int l = 0; l <= LAYERS; l++) {
        snprintf(of, sizeof of, ", %d", l);
        measure_add_values(out, (words){ "R^2 after so many layers", "已过若干层后的 R²" },
                           probe_fit_name(p, 0, of).is, p->r2[0][l], PROVE_SEEDS, "");
    }
}

static void add_spreads(prove_finding *out, const probe *p)
{
    char of[40];
    double share[PROVE_SEEDS];
    for (int l = 0; l <= LAYERS; l++) {
        for (int n = 0; n < PROVE_SEEDS; n++)
            share[n] = 100 * p->spread[l][n];
        snprintf(of, sizeof of, ", %d", l);
        measure_add_values(out, (words){ "tokens less their mean, of their size, after layers",
                                         "词元与均值之差的相对大小，已过层数" },
                           probe_name(p, of).is, share, PROVE_SEEDS, "%");
    }
}

/* ---------------------------------------------------------------- the claims */

/* How many of the runs that are counted pass: each seed, size and number of fitted tokens is one. */
typedef struct probe_tally {
    prove_finding *out;
    int good, bad;
    int unread; /* the input tells no more of the place than without an encoding: nothing to keep */
} probe_tally;

static void probe_conclude(const probe_tally *t, words what, const words because[PROVE_VERDICT_COUNT])
{
    prove_verdict v = !t->good ? PROVE_REFUTED : t->bad ? PROVE_DEPENDS : PROVE_HOLDS;
    measure_add_first(t->out, what, measure_named("/ ", t->good + t->bad).is, t->bad, "");
    prove_say(t->out, v, because[v]);
}

/* What a model without any code and mask makes of the same texts, at the smallest size: no place is there to be read,
 * however wide the model is. */
static pe_status probe_control(probe *p, const prove_given *g, pe_error *err)
{
    prove_given one = probe_sized(g, probe_size_count(g) - 1);
    one.causal = false;
    return probe_run(p, zoo_look_plain(), &one, err);
}

/* The most that is read of a place that is not there. */
static double none_at(const probe *p, int fit, int layer)
{
    return measure_spread_of(p->r2[fit][layer], PROVE_SEEDS).most;
}

typedef pe_status probe_size_fn(probe_tally *t, probe *p, const prove_given *g, pe_error *err);

/* each gets two probes: one to fill, behind it that of a model without an encoding. */
static pe_status probe_each_size(probe_tally *t, probe_size_fn *each, const prove_given *g, pe_error *err)
{
    probe *p = calloc(2, sizeof *p);
    pe_status status = p ? probe_control(&p[1], g, err) : io_fail(err, PE_ERR_NOMEM, "no memory for a Transformer");
    for (int n = 0; !status && n < probe_size_count(g); n++) {
        prove_given one = probe_sized(g, n);
        status = each(t, p, &one, err);
    }
    if (!status)
        add_last(t->out, &p[1], ", control");
    free(p);
    return status;
}

/* The share of the input's R^2 that is left at the worst layer. */
static void add_kept(probe_tally *t, const probe *p, int fit)
{
    static const words well = { "least R^2 of any layer, of that of the input", "各层最小的 R² 与输入层 R² 之比" };
    static const words few = { "the same, too few tokens fitted, not counted", "同上，拟合词元太少，不计入" };
    double share[PROVE_SEEDS];
    int read = 0;
    for (int n = 0; n < PROVE_SEEDS; n++) {
        double least = p->r2[fit][0][n];
        if (least <= none_at(&p[1], fit, 0)) {
            t->unread += fits_well(p, fit);
            continue;
        }
        for (int l = 1; l <= LAYERS; l++)
            least = fmin(least, p->r2[fit][l][n]);
        share[read++] = 100 * least / p->r2[fit][0][n];
        t->good += fits_well(p, fit) && share[read - 1] >= 50;
        t->bad += fits_well(p, fit) && share[read - 1] < 50;
    }
    if (read)
        measure_add_values(t->out, fits_well(p, fit) ? well : few, probe_fit_name(p, fit, "").is, share, read, "%");
}

static pe_status kept_at(probe_tally *t, probe *p, const prove_given *g, pe_error *err)
{
    TRY(probe_run(p, g->spec[0], g, err));
    for (int fit = 0; fit < FITS; fit++)
        add_kept(t, p, fit);
    add_layers(t->out, p);
    return PE_OK;
}

/* given: spec, length (tokens of a text), causal, residual; heads and head_dim, or neither. */
pe_status measure_probe_kept(prove_finding *out, const prove_given *g, pe_error *err)
{
    probe_tally t = { .out = out };
    TRY(probe_each_size(&t, kept_at, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "At every layer, size and seed a linear map explains at least half of what it explains of the input, where "
          "it is fitted on several times as many tokens as it has unknowns. A map that is fitted on about as many "
          "tokens as unknowns finds less, at any layer: that is the fit's, not the model's.",
          "在每一层、每种尺寸、每个随机种子下，只要拟合的词元数是未知数的数倍，线性映射能解释的都不少于输入层的一半。"
          "拟合词元数与未知数相当时，各层读出的都更少：那是拟合的问题，不是模型的。" },
        { "At some layer a linear map explains less than half of what it explains of the input.",
          "在某一层，线性映射能解释的已不足输入层的一半。" },
        { "It depends on the size and the seed: in some runs a layer keeps less than half of what the input has, "
          "though the map is fitted on several times as many tokens as it has unknowns.",
          "取决于尺寸和随机种子：虽然拟合词元数是未知数的数倍，有些情形下仍有一层保留不足输入层的一半。" },
    };
    static const words unread = { "A linear map reads no place from the input: there is nothing to keep.",
                                  "线性映射从输入中读不出位置：没有可保留的。" };
    if (t.unread)
        prove_add(out, (words){ "left out: runs whose input tells no place", "未计入：输入读不出位置的次数" }, "",
                  t.unread, "");
    probe_conclude(&t, (words){ "runs in which a layer keeps less than half", "某一层保留不足一半的次数" }, because);
    if (!t.good && !t.bad)
        prove_say(out, PROVE_REFUTED, unread);
    return PE_OK;
}

static pe_status lost_at(probe_tally *t, probe *p, const prove_given *g, pe_error *err)
{
    TRY(probe_run(p, g->spec[0], g, err));
    for (int fit = 0; fit < FITS; fit++)
        for (int n = 0; fits_well(p, fit) && n < PROVE_SEEDS; n++) {
            bool lost = p->r2[fit][LAYERS][n] <= none_at(&p[1], fit, LAYERS) + PROVE_ROUNDING;
            t->good += lost;
            t->bad += !lost;
        }
    add_last(t->out, p, "");
    add_layers(t->out, p);
    add_spreads(t->out, p);
    return PE_OK;
}

/* given: as above. */
pe_status measure_probe_lost(prove_finding *out, const prove_given *g, pe_error *err)
{
    probe_tally t = { .out = out };
    TRY(probe_each_size(&t, lost_at, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Layer by layer the tokens of a text become alike, and with what told them apart goes their place: at the "
          "last layer it is read no better than without an encoding.",
          "一层层下来，同一文本的词元变得彼此相同，区分它们的信息连同位置一起消失：最后一层读出的位置并不比没有位置编码"
          "时好。" },
        { "At the last layer a linear map still tells the place.", "最后一层的线性映射仍能读出位置。" },
        { "It depends on the size and the seed: in some runs the last layer still tells the place.",
          "取决于尺寸和随机种子：有些情形下最后一层仍能读出位置。" },
    };
    probe_conclude(&t, (words){ "runs whose last layer still tells the place", "最后一层仍能读出位置的次数" }, because);
    return PE_OK;
}

static pe_status mask_at(probe_tally *t, probe *p, const prove_given *g, pe_error *err)
{
    TRY(probe_run(p, g->spec[0], g, err));
    for (int fit = 0; fit < FITS; fit++)
        for (int n = 0; fits_well(p, fit) && n < PROVE_SEEDS; n++) {
            double last = p->r2[fit][LAYERS][n];
            bool made = last > none_at(&p[1], fit, LAYERS) + PROVE_ROUNDING && last > p->r2[fit][0][n];
            t->good += made;
            t->bad += !made;
        }
    add_last(t->out, p, "");
    add_layers(t->out, p);
    return PE_OK;
}

/* given: as above, causal. */
pe_status measure_probe_mask(prove_finding *out, const prove_given *g, pe_error *err)
{
    probe_tally t = { .out = out };
    TRY(probe_each_size(&t, mask_at, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In every run the mask makes more of the place readable at the last layer than the words have, and than a "
          "model without the mask has, where the map is fitted on several times as many tokens as it has unknowns: in "
          "part only, with random weights.",
          "只要拟合的词元数是未知数的数倍，每一次测量中，加掩码后最后一层可读出的位置都多于输入的词，也多于不加掩码的模"
          "型；权重是随机的，只能读出一部分。" },
        { "The mask adds no place that a linear map could read.", "掩码没有带来线性映射能读出的位置。" },
        { "It depends on the size and the seed: in some runs the mask adds nothing that a linear map could read, "
          "though it is fitted on several times as many tokens as it has unknowns.",
          "取决于尺寸和随机种子：虽然拟合词元数是未知数的数倍，有些情形下掩码仍没有带来线性映射能读出的位置。" },
    };
    probe_conclude(&t, (words){ "runs in which the mask adds nothing", "掩码没有带来位置的次数" }, because);
    return PE_OK;
}
