/* SPDX-License-Identifier: MIT */
#include "prove/relative_stack.h"

#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = 256 };

void stack_close(stack *s)
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

pe_status stack_open(stack *s, const prove_given *g, pe_error *err)
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
    return PE_OK;
}

pe_status stack_fill(stack *s, uint64_t seed, pe_error *err)
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

/* A branch's result takes the stream's place, or joins it. */
static void join(double *x, const double *y, int64_t n, bool residual)
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
    PROVE_TRY(attend(s, err));
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

pe_status stack_climb(stack *s, uint64_t seed, pe_error *err)
{
    for (int n = 0; n < STACK_WEIGHTS; n++) {
        int64_t in = n < 5 ? s->width : 2 * s->width, out = n == 4 ? 2 * s->width : s->width;
        measure_normals(s->weight[n], in * out, sqrt((n == 5 ? 2 : 1) / (double)in), seed + (uint64_t)n);
    }
    for (int64_t t = 0; t < TEXTS; t++) {
        int64_t from = t * s->tokens * s->width;
        PROVE_TRY(layer(s, s->x + from, s->y + from, err));
    }
    return PE_OK;
}
