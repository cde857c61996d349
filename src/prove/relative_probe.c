/* SPDX-License-Identifier: MIT
 *
 * Position in higher layers: how well a linear probe reads it after each layer of a random Transformer. */
#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A Transformer with random weights, over some random texts: layers of attention and a two-layer map, with
 * normalisation before each, with residual connections or without. */

enum { TEXTS = 24, FITTED = 16, STACK_WEIGHTS = 6 }; /* texts in all; those that a map is fitted on */

typedef struct stack {
    measure_encoding m;
    bool causal, residual;
    int64_t tokens, width;         /* T, C */
    double *x, *y;                 /* (TEXTS T, C): the stream; its normalised copy, then what a branch gives */
    double *part[4];               /* (T, C): q, k, v and the attention's output; the first two hold the map's middle */
    double *weight[STACK_WEIGHTS]; /* (C, C) four times, (C, 2C), (2C, C) */
    double *probe;                 /* (FITTED T + C + 1, C + 1): the stream and a 1, then the ridge */
    double *goal;                  /* (FITTED T + C + 1): the places to be read */
} stack;

enum { VOCABULARY = 256 };

/* zeroed or half-built: fine */
static void stack_close(stack *s)
{
    measure_close(&s->m);
    free(s->x), free(s->y), free(s->probe), free(s->goal);
    for (int n = 0; n < 4; n++)
        free(s->part[n]);
    for (int n = 0; n < 6; n++)
        free(s->weight[n]);
}

static bool take_memory(stack *s, pe_error *err)
{
    int64_t n = TEXTS * s->tokens, C = s->width;
    bool whole = (s->x = measure_memory(n, C, err)) && (s->y = measure_memory(n, C, err)) &&
                 (s->probe = measure_memory(n + C + 1, C + 1, err)) && (s->goal = measure_memory(n + C + 1, 1, err));
    for (int i = 0; whole && i < 4; i++)
        whole = (s->part[i] = measure_memory(s->tokens, i < 2 ? 2 * C : C, err));
    for (int i = 0; whole && i < 6; i++)
        whole = (s->weight[i] = measure_memory(C, i < 4 ? C : 2 * C, err));
    return whole;
}

static pe_status stack_open(stack *s, const prove_given *g, pe_error *err)
{
    *s = (stack){ .causal = g->causal, .residual = g->residual, .tokens = g->length };
    TRY(measure_open(&s->m, g->spec[0], g, err));
    s->width = s->m.shape.heads * s->m.shape.head_dim;
    bool fits = measure_width(&s->m) == s->width && s->m.shape.model_dim == s->width && pe_encoding_axes(s->m.e) == 1;
    if (!fits)
        return io_fail(err, PE_ERR_UNSUITED, "%s changes the width or has more axes; needs one that does not",
                       g->spec[0]);
    if (!take_memory(s, err))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a small Transformer");
    return PE_OK;
}

/* Random words with the codes that the spec adds; each text begins with the same word. */
static pe_status stack_fill(stack *s, uint64_t seed, pe_error *err)
{
    int64_t T = s->tokens, C = s->width;
    for (int64_t n = 0; n < TEXTS * T; n++) {
        uint64_t word = n % T ? (uint64_t)measure_range(&seed, 1, VOCABULARY) : 0; /* each text begins alike */
        measure_normals(s->x + n * C, C, 1, word * 1000003);
        s->goal[n] = ((double)(n % T) + 0.5) / (double)T - 0.5; /* of mean 0 */
    }
    pe_view x = pe_view_of(s->x, PE_F64, TEXTS, T, 1, C);
    return pe_embed(s->m.e, x, x, pe_positions_run(TEXTS, T, 0), &PE_MAKE(pe_run, .params = s->m.w), err);
}

/* to (n, out) = x (n, in) W (in, out). */
static void times(double *to, const double *x, const double *W, int64_t n, int64_t in, int64_t out)
{
    memset(to, 0, (size_t)(n * out) * sizeof *to);
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < in; i++) {
            const double f = x[t * in + i], *row = W + i * out;
            for (int64_t o = 0; o < out; o++)
                to[t * out + o] += f * row[o];
        }
}

/* Mean 0, deviation 1. */
static void normalise(double *to, const double *x, int64_t n, int64_t width)
{
    for (int64_t t = 0; t < n; t++, x += width, to += width) {
        double mean = 0, square = 0;
        for (int64_t c = 0; c < width; c++)
            mean += x[c] / (double)width;
        for (int64_t c = 0; c < width; c++)
            square += (x[c] - mean) * (x[c] - mean) / (double)width;
        for (int64_t c = 0; c < width; c++)
            to[c] = (x[c] - mean) / sqrt(square + 1e-12);
    }
}

/* Adds a branch's result to the stream, or replaces the stream without residual connections. */
static void join_branch(double *x, const double *y, int64_t n, bool residual)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = residual ? x[i] + y[i] : y[i];
}

static pe_status attend(const stack *s, pe_error *err)
{
    int64_t H = s->m.shape.heads, D = s->m.shape.head_dim, T = s->tokens;
    pe_positions at = pe_positions_run(1, T, 0);
    pe_attention a =
        PE_MAKE(pe_attention, .out = pe_view_of(s->part[3], PE_F64, 1, T, H, D),
                .q = pe_view_of(s->part[0], PE_F64, 1, T, H, D), .k = pe_view_of(s->part[1], PE_F64, 1, T, H, D),
                .v = pe_view_of(s->part[2], PE_F64, 1, T, H, D), .q_at = at, .k_at = at, .mask.causal = s->causal);
    return zoo_look(s->m.e, a, s->m.w, err);
}

static pe_status layer(stack *s, double *x, double *y, pe_error *err)
{
    int64_t T = s->tokens, C = s->width;
    normalise(y, x, T, C);
    for (int n = 0; n < 3; n++)
        times(s->part[n], y, s->weight[n], T, C, C);
    TRY(attend(s, err));
    times(y, s->part[3], s->weight[3], T, C, C);
    join_branch(x, y, T * C, s->residual);
    normalise(y, x, T, C);
    times(s->part[0], y, s->weight[4], T, C, 2 * C);
    for (int64_t i = 0; i < 2 * T * C; i++)
        s->part[0][i] = fmax(s->part[0][i], 0);
    times(y, s->part[0], s->weight[5], T, 2 * C, C);
    join_branch(x, y, T * C, s->residual);
    return PE_OK;
}

/* one layer up */
static pe_status stack_apply_layer(stack *s, uint64_t seed, pe_error *err)
{
    for (int n = 0; n < STACK_WEIGHTS; n++) {
        int64_t in = n < 5 ? s->width : 2 * s->width, out = n == 4 ? 2 * s->width : s->width;
        measure_normals(s->weight[n], in * out, sqrt((n == 5 ? 2 : 1) / (double)in), seed + (uint64_t)n);
    }
    for (int64_t t = 0; t < TEXTS; t++) {
        int64_t from = t * s->tokens * s->width;
        TRY(layer(s, s->x + from, s->y + from, err));
    }
    return PE_OK;
}

/* Can position still be read in higher layers? At every layer of a Transformer with random weights a linear map is
 * fitted that predicts a token's position, and tested on other texts. R^2 is the share of the positions' variance that
 * it explains: 1 all, 0 none or worse than the mean. The second number is how far the tokens of a text are from their
 * mean, relative to their size: 0 if all have become equal. */

enum { LAYERS = 6 };
#define RIDGE 1e-3

/* probe: rows `from` on of the stream, each with a 1; behind them, of those that are fitted, the ridge: as many rows as
 * columns, each of one element, whose place is 0. */
static int64_t fill_probe(stack *s, int64_t from, int64_t to)
{
    int64_t C = s->width, n = to - from;
    double *ridge = s->probe + n * (C + 1);
    memset(s->probe, 0, (size_t)((n + C + 1) * (C + 1)) * sizeof *s->probe);
    for (int64_t t = 0; t < n; t++) {
        memcpy(s->probe + t * (C + 1), s->x + (from + t) * C, (size_t)C * sizeof *s->probe);
        s->probe[t * (C + 1) + C] = 1;
    }
    for (int64_t c = 0; c <= C; c++)
        ridge[c * (C + 1) + c] = sqrt(RIDGE * (double)n);
    return n + C + 1;
}

/* R^2 on the texts that the map was not fitted on. The ridge stands for the noise of real activations: differences much
 * smaller than the vectors themselves are not readable. */
static pe_status read_place(double *r2, stack *s, pe_error *err)
{
    int64_t T = s->tokens, C = s->width, from = FITTED * T, to = TEXTS * T;
    double residual, wrong = 0, all = 0, *map = measure_memory(C + 1, 1, err);
    if (!map)
        return PE_ERR_NOMEM;
    int64_t rows = fill_probe(s, 0, from);
    memset(s->goal + from, 0, (size_t)(C + 1) * sizeof *s->goal);
    pe_status status = measure_map(map, &residual, s->probe, C + 1, s->goal, 1, rows, err);
    fill_probe(s, from, to);
    for (int64_t t = from; !status && t < to; t++) {
        double place = s->goal[t % T], off = measure_dot(map, s->probe + (t - from) * (C + 1), C + 1) - place;
        wrong += off * off;
        all += place * place;
    }
    *r2 = fmax(1 - wrong / all, 0);
    free(map);
    return status;
}

/* Of all texts: root of the mean square of what is left of a token without its text's mean, of its size. */
static double spread_of(const stack *s)
{
    int64_t T = s->tokens, C = s->width;
    double apart = 0, all = 0;
    for (int64_t n = 0; n < TEXTS * C; n++) {
        const double *x = s->x + n / C * T * C + n % C;
        double mean = 0;
        for (int64_t t = 0; t < T; t++)
            mean += x[t * C] / (double)T;
        for (int64_t t = 0; t < T; t++) {
            apart += (x[t * C] - mean) * (x[t * C] - mean);
            all += x[t * C] * x[t * C];
        }
    }
    return all > 0 ? sqrt(apart / all) : 0;
}

typedef struct layers {
    double r2[LAYERS + 1];     /* how well place can be read after so many layers */
    double spread[LAYERS + 1]; /* how far tokens are from their mean */
} layers;

static pe_status probe_layers(layers *p, stack *s, uint64_t seed, pe_error *err)
{
    TRY(stack_fill(s, seed, err));
    for (int l = 0; l <= LAYERS; l++) {
        if (l)
            TRY(stack_apply_layer(s, seed + (uint64_t)(l * STACK_WEIGHTS), err));
        TRY(read_place(&p->r2[l], s, err));
        p->spread[l] = spread_of(s);
    }
    return PE_OK;
}

static pe_status probe(layers *p, const prove_given *g, pe_error *err)
{
    stack s;
    pe_status status = stack_open(&s, g, err);
    status = status ? status : probe_layers(p, &s, g->seed, err);
    stack_close(&s);
    return status;
}

#define READ 0.5  /* R^2 from which place counts as readable */
#define TRACE 0.2 /* and as readable in part */

static void add_layers(prove_finding *out, const layers *p)
{
    for (int l = 0; l <= LAYERS; l++)
        prove_add(out, (words){ "R^2 of a token's place after layers", "位置可读程度 R²，已过层数" },
                  measure_named("", l).is, p->r2[l], "");
    for (int l = 0; l <= LAYERS; l++)
        prove_add(
            out, (words){ "tokens less their mean, of their size, after layers", "词元与均值之差的相对大小，已过层数" },
            measure_named("", l).is, 100 * p->spread[l], "%");
}

/* given: spec, heads, head_dim, length (tokens of a text), causal, residual. REFUTED where a layer has lost the place.
 */
pe_status measure_probe_kept(prove_finding *out, const prove_given *g, pe_error *err)
{
    double least = 1;
    layers p;
    TRY(probe(&p, g, err));
    for (int l = 0; l <= LAYERS; l++)
        least = fmin(least, p.r2[l]);
    prove_add(out, (words){ "least R^2 of any layer", "各层中最小的 R²" }, g->spec[0], least, "");
    add_layers(out, &p);
    bool kept = least > READ;
    prove_judge(out, kept,
                (words){ "At every layer a linear map still tells most of a token's place.",
                         "在每一层，线性映射都还能读出词元位置的大部分信息。" },
                (words){ "At some layer a linear map tells less than half of a token's place.",
                         "在某一层，线性映射读出的位置信息已不足一半。" });
    return PE_OK;
}

#define ALIKE 0.1 /* of a token's size: below it tokens have become one */

/* given: as above. REFUTED where the last layer still tells the place, or its tokens are not alike. */
pe_status measure_probe_lost(prove_finding *out, const prove_given *g, pe_error *err)
{
    layers p;
    TRY(probe(&p, g, err));
    prove_add(out,
              (words){ "tokens less their mean, of their size, at the last layer", "最后一层词元与均值之差的相对大小" },
              g->spec[0], 100 * p.spread[LAYERS], "%");
    add_layers(out, &p);
    bool lost = p.r2[LAYERS] < TRACE && p.spread[LAYERS] < ALIKE;
    prove_judge(out, lost,
                (words){ "Layer by layer the tokens of a text become alike, and with what told them apart goes "
                         "their place.",
                         "一层层下来，同一文本的词元变得彼此相同，区分它们的信息连同位置一起消失。" },
                (words){ "At the last layer tokens still differ, or a linear map still tells their place.",
                         "最后一层的词元仍不相同，或线性映射仍能读出位置。" });
    return PE_OK;
}

/* given: as above, causal. REFUTED where the last layer tells nothing of the place, or the input did already. */
pe_status measure_probe_mask(prove_finding *out, const prove_given *g, pe_error *err)
{
    layers p;
    TRY(probe(&p, g, err));
    prove_add(out, (words){ "R^2 at the last layer", "最后一层的 R²" }, g->spec[0], p.r2[LAYERS], "");
    add_layers(out, &p);
    bool made = p.r2[0] < TRACE && p.r2[LAYERS] > TRACE;
    prove_judge(
        out, made,
        (words){ "The words tell nothing of the place; after some layers the mask has made it readable in "
                 "part, even with random weights.",
                 "词本身不含位置；经过几层之后，即使权重是随机的，因果掩码也已使位置部分可读。" },
        (words){ "The mask adds no place that a linear map could read.", "掩码没有带来线性映射能读出的位置。" });
    return PE_OK;
}
