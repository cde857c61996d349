/* SPDX-License-Identifier: MIT */
#include "prove/scores.h"

#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STIR 0.05 /* deviation of what parameters are moved by */

/* Parameters as after some training, each within its bounds. */
static void stir(measure_encoding *m, uint64_t seed)
{
    double *w = m->w.data;
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(m->e, n);
        for (int64_t i = t->offset; i < t->offset + t->count; i++)
            w[i] = fmin(fmax(w[i] + STIR * measure_normal(&seed), t->min), t->max);
    }
}

static void place_tokens(const scores *s)
{
    measure_place(s->at, s->tokens, s->axes);
}

static bool adds(const scores *s)
{
    return pe_encoding_hooks(s->m.e) & PE_HOOK_EMBED;
}

/* to (T, H D) = y (T, width) W */
static void project(double *to, const double *y, const scores *s, int side)
{
    int64_t HD = s->m.shape.heads * s->m.shape.head_dim;
    memset(to, 0, (size_t)(s->tokens * HD) * sizeof *to);
    for (int64_t i = 0; i < s->width; i++)
        for (int64_t t = 0; t < s->tokens; t++) {
            double yi = y[t * s->width + i];
            const double *row = s->weight[side] + i * HD;
            for (int64_t c = 0; c < HD; c++)
                to[t * HD + c] += yi * row[c];
        }
}

static pe_status take_memory(scores *s, uint64_t seed, pe_error *err)
{
    int64_t T = s->tokens, C = s->m.shape.model_dim, HD = s->m.shape.heads * s->m.shape.head_dim;
    double **all[] = { &s->x, &s->y, &s->q, &s->k, &s->weight[0], &s->weight[1], &s->bare[0], &s->bare[1] };
    int64_t rows[] = { T, T, T, T, s->width, s->width, T, T }, columns[] = { C, s->width, HD, HD, HD, HD, HD, HD };
    for (int n = 0; n < 8; n++)
        if (!(*all[n] = measure_memory(rows[n], columns[n], err)))
            return PE_ERR_NOMEM;
    s->at = calloc((size_t)(T * s->axes), sizeof *s->at);
    if (!s->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld positions", (long long)T);
    measure_normals(s->x, T * C, 1, seed + 1);
    for (int n = 0; n < 2; n++)
        measure_normals(s->weight[n], s->width * HD, 1 / sqrt((double)s->width), seed + 2 + (uint64_t)n);
    place_tokens(s);
    for (int n = 0; n < 2 && !adds(s); n++)
        project(s->bare[n], s->x, s, n);
    return PE_OK;
}

pe_status scores_open(scores *s, const char *spec, const prove_given *g, pe_error *err)
{
    *s = (scores){ .tokens = g->length };
    TRY(measure_open(&s->m, spec, g, err));
    s->axes = pe_encoding_axes(s->m.e);
    s->width = measure_width(&s->m);
    s->size = s->tokens * s->m.shape.heads * s->tokens;
    stir(&s->m, g->seed);
    pe_status status = take_memory(s, g->seed, err);
    if (status)
        scores_close(s);
    return status;
}

void scores_close(scores *s)
{
    measure_close(&s->m);
    free(s->at), free(s->x), free(s->y), free(s->q), free(s->k);
    free(s->weight[0]), free(s->weight[1]), free(s->bare[0]), free(s->bare[1]);
    *s = (scores){ 0 };
}

static pe_positions places(const scores *s)
{
    return pe_positions_of(s->at, PE_I64, 1, s->tokens, s->axes);
}

/* to (T, H, D): the words with their codes, projected. */
static pe_status one_side(double *to, scores *s, pe_side side, bool there, pe_error *err)
{
    size_t size = (size_t)(s->tokens * s->m.shape.heads * s->m.shape.head_dim) * sizeof *to;
    pe_view x = pe_view_of(there ? s->x : NULL, PE_F64, 1, s->tokens, 1, s->m.shape.model_dim);
    if (!adds(s)) {
        if (there)
            memcpy(to, s->bare[side], size);
        else
            memset(to, 0, size);
        return PE_OK;
    }
    memset(s->y, 0, (size_t)(s->tokens * s->width) * sizeof *s->y);
    TRY(pe_embed(s->m.e, pe_view_of(s->y, PE_F64, 1, s->tokens, 1, s->width), x, places(s),
                 &PE_MAKE(pe_run, .params = s->m.w), err));
    project(to, s->y, s, side);
    return PE_OK;
}

pe_status scores_sides(scores *s, int words_there, pe_error *err)
{
    TRY(one_side(s->q, s, PE_QUERY, words_there & SCORES_QUERY, err));
    return one_side(s->k, s, PE_KEY, words_there & SCORES_KEY, err);
}

pe_status scores_pairs(double *out, const scores *s, bool rotated, pe_error *err)
{
    int64_t T = s->tokens, H = s->m.shape.heads, D = s->m.shape.head_dim;
    pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(s->q, PE_F64, 1, T, H, D),
                             .k = pe_view_of(s->k, PE_F64, 1, T, H, D), .q_at = places(s), .k_at = places(s),
                             .mask.causal = true, .rotated = rotated, .scores = pe_view_of(out, PE_F64, 1, T, H, T));
    TRY(zoo_look(s->m.e, a, s->m.w, err));
    for (int64_t n = 0; n < s->size; n++)
        out[n] = n % T > n / (H * T) ? 0 : out[n];
    return PE_OK;
}

pe_status scores_make(double *out, scores *s, int words_there, pe_error *err)
{
    TRY(scores_sides(s, words_there, err));
    return scores_pairs(out, s, false, err);
}

void scores_move(scores *s, int64_t by)
{
    place_tokens(s);
    for (int64_t n = 0; n < s->tokens * s->axes; n++)
        s->at[n] += by;
}

pe_status scores_shifted(double *out, scores *s, int words_there, int64_t by, pe_error *err)
{
    scores_move(s, by);
    pe_status status = scores_make(out, s, words_there, err);
    place_tokens(s);
    return status;
}

pe_status scores_alike(double *out, scores *s, int words_there, pe_error *err)
{
    memset(s->at, 0, (size_t)(s->tokens * s->axes) * sizeof *s->at);
    pe_status status = scores_make(out, s, words_there, err);
    place_tokens(s);
    return status;
}

double scores_rms(const double *x, const scores *s)
{
    double count = (double)(s->m.shape.heads * s->tokens * (s->tokens + 1)) / 2;
    return sqrt(measure_dot(x, x, s->size) / count);
}
