/* SPDX-License-Identifier: MIT
 *
 * One layer of attention over a line of words: embed, three fixed random projections, the library's definition. */
#include "prove/measure.h"

#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>

pe_status scene_open(scene *s, const char *spec, const prove_given *g, pe_error *err)
{
    *s = (scene){ .causal = g->causal, .seed = g->seed };
    TRY(measure_open(&s->m, spec, g, err));
    s->width = measure_width(&s->m);
    int64_t C = s->m.shape.heads * s->m.shape.head_dim;
    for (int n = 0; n < 3; n++) {
        s->weight[n] = measure_memory(s->width, C, err);
        if (!s->weight[n]) {
            scene_close(s);
            return PE_ERR_NOMEM;
        }
        uint64_t state = random_at(g->seed, 101 + (uint64_t)n);
        for (int64_t i = 0; i < s->width * C; i++) /* of deviation 1 / sqrt(width) */
            s->weight[n][i] = sqrt(3 / (double)s->width) * measure_uniform(&state);
    }
    return PE_OK;
}

void scene_close(scene *s)
{
    measure_close(&s->m);
    for (int n = 0; n < 3; n++)
        free(s->weight[n]);
    *s = (scene){ 0 };
}

/* Memory of one look: positions, words with their codes, and what they become. */
typedef struct side {
    int64_t *at;           /* (count, axes) */
    double *x, *y, *to[3]; /* (count, C), (count, width), three (count, H D) */
} side;

static void side_free(side *s)
{
    free(s->at), free(s->x), free(s->y);
    for (int n = 0; n < 3; n++)
        free(s->to[n]);
}

static pe_status side_new(side *out, const scene *s, scene_text t, pe_error *err)
{
    int64_t axes = pe_encoding_axes(s->m.e), C = s->m.shape.model_dim, HD = s->m.shape.heads * s->m.shape.head_dim;
    *out = (side){ .at = calloc((size_t)(t.count * axes), sizeof *out->at) };
    out->x = measure_memory(t.count, C, err);
    out->y = measure_memory(t.count, s->width, err);
    bool whole = out->at && out->x && out->y;
    for (int n = 0; n < 3; n++)
        whole = (out->to[n] = measure_memory(t.count, HD, err)) && whole;
    if (!whole)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld words", (long long)t.count);
    for (int64_t i = 0; i < t.count; i++) {
        out->at[i * axes + axes - 1] = t.at ? t.at[i] : i;
        measure_normals(out->x + i * C, C, 1, s->seed + 1000003 * (uint64_t)(t.word[i] + 1));
    }
    return PE_OK;
}

static pe_positions side_positions(const side *d, const scene *s, int64_t count)
{
    return pe_positions_of(d->at, PE_I64, 1, count, pe_encoding_axes(s->m.e));
}

static pe_status project(side *d, const scene *s, int64_t count, pe_error *err)
{
    int64_t C = s->m.shape.model_dim, HD = s->m.shape.heads * s->m.shape.head_dim;
    TRY(pe_embed(s->m.e, pe_view_of(d->y, PE_F64, 1, count, 1, s->width), pe_view_of(d->x, PE_F64, 1, count, 1, C),
                 side_positions(d, s, count), &PE_MAKE(pe_run, .params = s->m.w), err));
    for (int n = 0; n < 3; n++)
        for (int64_t t = 0; t < count; t++)
            for (int64_t i = 0; i < s->width; i++) {
                double y = d->y[t * s->width + i], *to = d->to[n] + t * HD;
                const double *row = s->weight[n] + i * HD;
                for (int64_t c = 0; c < HD; c++)
                    to[c] += y * row[c];
            }
    return PE_OK;
}

pe_status scene_attend(double *out, double *weights, const scene *s, scene_text q, scene_text k, pe_error *err)
{
    int64_t H = s->m.shape.heads, D = s->m.shape.head_dim;
    side from = { 0 }, to = { 0 };
    pe_status status = side_new(&from, s, q, err);
    status = status ? status : side_new(&to, s, k, err);
    status = status ? status : project(&from, s, q.count, err);
    status = status ? status : project(&to, s, k.count, err);
    pe_attention a = PE_MAKE(
        pe_attention, .out = pe_view_of(out, PE_F64, 1, q.count, H, D),
        .q = pe_view_of(from.to[0], PE_F64, 1, q.count, H, D), .k = pe_view_of(to.to[1], PE_F64, 1, k.count, H, D),
        .v = pe_view_of(to.to[2], PE_F64, 1, k.count, H, D), .q_at = side_positions(&from, s, q.count),
        .k_at = side_positions(&to, s, k.count), .mask.causal = s->causal,
        .probabilities = pe_view_of(weights, PE_F64, 1, q.count, H, k.count));
    status = status ? status : zoo_look(s->m.e, a, s->m.w, err);
    side_free(&from);
    side_free(&to);
    return status;
}

/* ---------------------------------------------------------------- made for a mask */

bool prove_needs_mask(const pe_encoding *e, pe_params w)
{
    enum { TOKENS = 5 };
    pe_shape shape = pe_encoding_shape(e);
    int64_t H = shape.heads, D = shape.head_dim;
    if (pe_encoding_carries(e))
        return true;
    if (pe_encoding_axes(e) != 1 || !(pe_encoding_hooks(e) & PE_HOOK_BIAS))
        return false;
    double *none = measure_memory(TOKENS, H * D, NULL), *score = measure_memory(TOKENS * H, TOKENS, NULL);
    pe_view x = pe_view_of(none, PE_F64, 1, TOKENS, H, D);
    pe_positions at = pe_positions_run(1, TOKENS, 0);
    pe_attention a = PE_MAKE(pe_attention, .q = x, .k = x, .q_at = at, .k_at = at,
                             .scores = pe_view_of(score, PE_F64, 1, TOKENS, H, TOKENS));
    bool grows = none && score && !zoo_look(e, a, w, NULL);
    for (int64_t n = 0; grows && n < TOKENS * H; n++)
        for (int64_t j = 1; grows && j < TOKENS; j++)
            grows = score[n * TOKENS + j] > score[n * TOKENS + j - 1];
    free(none), free(score);
    return grows;
}

/* Whether a query may look at a key on either side of it. */
static bool looks_ahead(const char *spec, const prove_given *g)
{
    static const int64_t word[2] = { 1, 2 };
    scene_text two = { word, NULL, 2 };
    scene s;
    prove_given one = *g;
    if (!g->heads && !g->head_dim) /* sizes are the claim's own: any will do */
        one.heads = 1, one.head_dim = one.model_dim = 64;
    double *out = measure_memory(2, one.heads * one.head_dim, NULL);
    bool served = out && !scene_open(&s, spec, &one, NULL);
    if (served) {
        served = !scene_attend(out, NULL, &s, two, two, NULL);
        scene_close(&s);
    }
    free(out);
    return served;
}

pe_status measure_each_row(scene_each *each, void *with, const prove_given *g, pe_error *err)
{
    for (int i = 0; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        TRY(each(with, g->spec[i], g, err));
    for (int i = 0; !g->spec[0] && i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        const char *spec = row->name;
        for (int n = 0; n < row->example_count && !looks_ahead(spec, g); n++)
            spec = row->examples[n];
        TRY(each(with, spec, g, err));
    }
    return PE_OK;
}
