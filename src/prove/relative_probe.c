/* SPDX-License-Identifier: MIT
 *
 * Is position still readable further up? At every layer of a Transformer with random weights a linear map is fitted to
 * tell a token's place, and asked on texts that it was not fitted on. R^2 is the share of the places' variance that it
 * explains: 1 all, 0 none, or worse than their mean. Beside it stands how far the tokens of a text are from their mean
 * token, of their size: 0 where all have become alike. */
#include "prove/relative_stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static pe_status climb(layers *p, stack *s, uint64_t seed, pe_error *err)
{
    PROVE_TRY(stack_fill(s, seed, err));
    for (int l = 0; l <= LAYERS; l++) {
        if (l)
            PROVE_TRY(stack_climb(s, seed + (uint64_t)(l * STACK_WEIGHTS), err));
        PROVE_TRY(read_place(&p->r2[l], s, err));
        p->spread[l] = spread_of(s);
    }
    return PE_OK;
}

static pe_status probe(layers *p, const prove_given *g, pe_error *err)
{
    stack s;
    pe_status status = stack_open(&s, g, err);
    status = status ? status : climb(p, &s, g->seed, err);
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
    PROVE_TRY(probe(&p, g, err));
    for (int l = 0; l <= LAYERS; l++)
        least = fmin(least, p.r2[l]);
    prove_add(out, (words){ "least R^2 of any layer", "各层中最小的 R²" }, g->spec[0], least, "");
    add_layers(out, &p);
    bool kept = least > READ;
    prove_say(out, kept ? PROVE_HOLDS : PROVE_REFUTED,
              kept ? (words){ "At every layer a linear map still tells most of a token's place.",
                              "在每一层，线性映射都还能读出词元位置的大部分信息。" }
                   : (words){ "At some layer a linear map tells less than half of a token's place.",
                              "在某一层，线性映射读出的位置信息已不足一半。" });
    return PE_OK;
}

#define ALIKE 0.1 /* of a token's size: below it tokens have become one */

/* given: as above. REFUTED where the last layer still tells the place, or its tokens are not alike. */
pe_status measure_probe_lost(prove_finding *out, const prove_given *g, pe_error *err)
{
    layers p;
    PROVE_TRY(probe(&p, g, err));
    prove_add(out,
              (words){ "tokens less their mean, of their size, at the last layer", "最后一层词元与均值之差的相对大小" },
              g->spec[0], 100 * p.spread[LAYERS], "%");
    add_layers(out, &p);
    bool lost = p.r2[LAYERS] < TRACE && p.spread[LAYERS] < ALIKE;
    prove_say(out, lost ? PROVE_HOLDS : PROVE_REFUTED,
              lost ? (words){ "Layer by layer the tokens of a text become alike, and with what told them apart goes "
                              "their place.",
                              "一层层下来，同一文本的词元变得彼此相同，区分它们的信息连同位置一起消失。" }
                   : (words){ "At the last layer tokens still differ, or a linear map still tells their place.",
                              "最后一层的词元仍不相同，或线性映射仍能读出位置。" });
    return PE_OK;
}

/* given: as above, causal. REFUTED where the last layer tells nothing of the place, or the input did already. */
pe_status measure_probe_mask(prove_finding *out, const prove_given *g, pe_error *err)
{
    layers p;
    PROVE_TRY(probe(&p, g, err));
    prove_add(out, (words){ "R^2 at the last layer", "最后一层的 R²" }, g->spec[0], p.r2[LAYERS], "");
    add_layers(out, &p);
    bool made = p.r2[0] < TRACE && p.r2[LAYERS] > TRACE;
    prove_say(
        out, made ? PROVE_HOLDS : PROVE_REFUTED,
        made ? (words){ "The words tell nothing of the place; after some layers the mask has made it readable in "
                        "part, even with random weights.",
                        "词本身不含位置；经过几层之后，即使权重是随机的，因果掩码也已使位置部分可读。" }
             : (words){ "The mask adds no place that a linear map could read.", "掩码没有带来线性映射能读出的位置。" });
    return PE_OK;
}
