/* SPDX-License-Identifier: MIT
 *
 * Is position still readable further up? A Transformer with random weights, layers of attention and a two-layer map
 * with normalisation before each; at every layer a linear map is fitted to tell a token's place, and asked on texts
 * that it was not fitted on. R^2 is the share of the places' variance that it explains: 1 all, 0 none. */
#include "prove/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIDGE 1e-3

enum { LAYERS = 6, TEXTS = 24, FITTED = 16, VOCABULARY = 256 };

typedef struct stack {
    measure_encoding m;
    bool causal, residual;
    int64_t tokens, width; /* T, C */
    double *x, *y;         /* (TEXTS T, C): the stream; its normalised copy, then what a branch gives */
    double *part[4];       /* (T, C): q, k, v and the attention's output; the first two hold the map's middle */
    double *weight[6];     /* (C, C) four times, (C, 2C), (2C, C) */
    double *probe;         /* (FITTED T + C + 1, C + 1): the stream and a 1, then the ridge */
    double *goal;          /* (FITTED T + C + 1): the places to be read */
    int64_t *at;           /* (T) */
    void *work;
    size_t bytes;
} stack;

static void stack_close(stack *s)
{
    measure_close(&s->m);
    free(s->x), free(s->y), free(s->probe), free(s->goal), free(s->at), free(s->work);
    for (int n = 0; n < 4; n++)
        free(s->part[n]);
    for (int n = 0; n < 6; n++)
        free(s->weight[n]);
}

static pe_attention attention(const stack *s)
{
    int64_t H = s->m.shape.heads, D = s->m.shape.head_dim, T = s->tokens;
    pe_positions at = { .at = s->at, .tokens = T, .axes = 1 };
    return (pe_attention){ .out = pe_view_packed(s->part[3], PE_F64, T, H, D),
                           .q = pe_view_packed(s->part[0], PE_F64, T, H, D),
                           .k = pe_view_packed(s->part[1], PE_F64, T, H, D),
                           .v = pe_view_packed(s->part[2], PE_F64, T, H, D),
                           .q_at = at,
                           .k_at = at,
                           .mask.causal = s->causal };
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
    return whole && (s->at = calloc((size_t)s->tokens, sizeof *s->at));
}

static pe_status stack_open(stack *s, const prove_given *g, pe_error *err)
{
    *s = (stack){ .causal = g->causal, .residual = g->residual, .tokens = g->length };
    PROVE_TRY(measure_open(&s->m, g->spec[0], g, err));
    s->width = s->m.shape.heads * s->m.shape.head_dim;
    bool fits = measure_width(&s->m) == s->width && s->m.shape.model_dim == s->width && pe_encoding_axes(s->m.e) == 1;
    if (!fits)
        return io_fail(err, PE_ERR_UNSUITED, "%s changes the width or has more axes; needs one that does not",
                       g->spec[0]);
    if (!take_memory(s, err))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a small Transformer");
    PROVE_TRY(pe_positions_offset(s->at, s->tokens, 0, err));
    pe_attention a = attention(s);
    PROVE_TRY(pe_reference_work(s->m.e, &a, &s->bytes, err));
    s->work = malloc(s->bytes ? s->bytes : 1);
    return s->work ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for attention's work");
}

/* Random words with the codes that the spec adds. */
static pe_status fill(stack *s, uint64_t seed, pe_error *err)
{
    int64_t T = s->tokens, C = s->width;
    for (int64_t n = 0; n < TEXTS * T; n++) {
        uint64_t word = n % T ? (uint64_t)measure_range(&seed, 1, VOCABULARY) : 0; /* each text begins alike */
        measure_normals(s->x + n * C, C, 1, word * 1000003);
        s->goal[n] = (double)(n % T) / (double)T - 0.5;
    }
    for (int64_t t = 0; t < TEXTS; t++) {
        pe_view x = pe_view_packed(s->x + t * T * C, PE_F64, T, 1, C);
        PROVE_TRY(pe_encoding_embed(s->m.e, s->m.w, x, x, (pe_positions){ .at = s->at, .tokens = T, .axes = 1 }, err));
    }
    return PE_OK;
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

/* A branch's result takes the stream's place, or joins it. */
static void join(double *x, const double *y, int64_t n, bool residual)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = residual ? x[i] + y[i] : y[i];
}

static pe_status layer(stack *s, double *x, double *y, pe_error *err)
{
    int64_t T = s->tokens, C = s->width;
    normalise(y, x, T, C);
    for (int n = 0; n < 3; n++)
        times(s->part[n], y, s->weight[n], T, C, C);
    pe_attention a = attention(s);
    PROVE_TRY(pe_reference_forward(s->m.e, s->m.w, &a, s->work, s->bytes, err));
    times(y, s->part[3], s->weight[3], T, C, C);
    join(x, y, T * C, s->residual);
    normalise(y, x, T, C);
    times(s->part[0], y, s->weight[4], T, C, 2 * C);
    for (int64_t i = 0; i < 2 * T * C; i++)
        s->part[0][i] = fmax(s->part[0][i], 0);
    times(y, s->part[0], s->weight[5], T, 2 * C, C);
    join(x, y, T * C, s->residual);
    return PE_OK;
}

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
    *r2 = 1 - wrong / all;
    free(map);
    return status;
}

static pe_status climb(double r2[LAYERS + 1], stack *s, uint64_t seed, pe_error *err)
{
    PROVE_TRY(fill(s, seed, err));
    PROVE_TRY(read_place(&r2[0], s, err));
    for (int l = 1; l <= LAYERS; l++) {
        for (int n = 0; n < 6; n++) {
            int64_t in = n < 5 ? s->width : 2 * s->width, out = n == 4 ? 2 * s->width : s->width;
            measure_normals(s->weight[n], in * out, sqrt((n == 5 ? 2 : 1) / (double)in), seed + (uint64_t)(l * 6 + n));
        }
        for (int64_t t = 0; t < TEXTS; t++) {
            int64_t from = t * s->tokens * s->width;
            PROVE_TRY(layer(s, s->x + from, s->y + from, err));
        }
        PROVE_TRY(read_place(&r2[l], s, err));
    }
    return PE_OK;
}

/* r2[l]: how well place can be read after l layers. */
static pe_status probe(double r2[LAYERS + 1], const prove_given *g, pe_error *err)
{
    stack s;
    pe_status status = stack_open(&s, g, err);
    status = status ? status : climb(r2, &s, g->seed, err);
    stack_close(&s);
    return status;
}

#define READ 0.5  /* R^2 from which place counts as readable */
#define TRACE 0.2 /* and as readable in part */

static void add_layers(prove_finding *out, const double r2[LAYERS + 1])
{
    for (int l = 0; l <= LAYERS; l++)
        prove_add(out, (words){ "R^2 of a token's place after layers", "位置可读程度 R²，已过层数" },
                  measure_named("", l).is, r2[l], "");
}

/* given: spec, heads, head_dim, length (tokens of a text), causal, residual. REFUTED where a layer has lost the place.
 */
pe_status measure_probe_kept(prove_finding *out, const prove_given *g, pe_error *err)
{
    double r2[LAYERS + 1], least = 1;
    PROVE_TRY(probe(r2, g, err));
    for (int l = 0; l <= LAYERS; l++)
        least = fmin(least, r2[l]);
    prove_add(out, (words){ "least R^2 of any layer", "各层中最小的 R²" }, g->spec[0], least, "");
    add_layers(out, r2);
    bool kept = least > READ;
    prove_say(out, kept ? PROVE_HOLDS : PROVE_REFUTED,
              kept ? (words){ "At every layer a linear map still tells most of a token's place.",
                              "在每一层，线性映射都还能读出词元位置的大部分信息。" }
                   : (words){ "At some layer a linear map tells less than half of a token's place.",
                              "在某一层，线性映射读出的位置信息已不足一半。" });
    return PE_OK;
}

/* given: as above. REFUTED where the last layer still tells the place. */
pe_status measure_probe_lost(prove_finding *out, const prove_given *g, pe_error *err)
{
    double r2[LAYERS + 1];
    PROVE_TRY(probe(r2, g, err));
    prove_add(out, (words){ "R^2 at the last layer", "最后一层的 R²" }, g->spec[0], r2[LAYERS], "");
    add_layers(out, r2);
    bool lost = r2[LAYERS] < TRACE;
    prove_say(out, lost ? PROVE_HOLDS : PROVE_REFUTED,
              lost ? (words){ "Attention averages the places away within a few layers.",
                              "注意力的平均作用在几层之内就抹掉了位置。" }
                   : (words){ "The last layer still tells a token's place.", "最后一层仍能读出词元的位置。" });
    return PE_OK;
}

/* given: as above, causal. REFUTED where the last layer tells nothing of the place, or the input did already. */
pe_status measure_probe_mask(prove_finding *out, const prove_given *g, pe_error *err)
{
    double r2[LAYERS + 1];
    PROVE_TRY(probe(r2, g, err));
    prove_add(out, (words){ "R^2 at the last layer", "最后一层的 R²" }, g->spec[0], r2[LAYERS], "");
    add_layers(out, r2);
    bool made = r2[0] < TRACE && r2[LAYERS] > TRACE;
    prove_say(
        out, made ? PROVE_HOLDS : PROVE_REFUTED,
        made ? (words){ "The words tell nothing of the place; after some layers the mask has made it readable in "
                        "part, even with random weights.",
                        "词本身不含位置；经过几层之后，即使权重是随机的，因果掩码也已使位置部分可读。" }
             : (words){ "The mask adds no place that a linear map could read.", "掩码没有带来线性映射能读出的位置。" });
    return PE_OK;
}
