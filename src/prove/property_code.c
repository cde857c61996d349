/* SPDX-License-Identifier: MIT
 *
 * The code of a position: what is added, how it turns, what a query there adds to its score towards the origin, what it
 * adds to the value from there; side by side. */
#include "prove/property.h"

#include "zoo/look.h"
#include "zoo/turn_head.h"

#include <stdlib.h>
#include <string.h>

#define COUNTED_KEYS 128 /* keys that a term which counts them gets to see */
#define BITE 64          /* positions at a time: a term that counts keys needs n x keys of memory */

int64_t property_embed_size(const property_subject *s)
{
    return pe_encoding_hooks(s->e) & PE_HOOK_EMBED ? pe_embed_width(s->e, s->shape.model_dim) : 0;
}

static pe_status embed_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    pe_view y = pe_view_of(out, PE_F64, 1, n, 1, property_embed_size(s));
    y.token_stride = s->size;
    pe_view x = pe_view_of(NULL, PE_F64, 1, n, 1, s->shape.model_dim);
    return pe_embed(s->e, y, x, property_positions(s, at, n), &PE_MAKE(pe_run, .params = s->w), NULL);
}

/* cos and sin of every head that has its own, as a query and as a key. */
static pe_status turn_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t heads = zoo_turn_heads(s->e), pairs = pe_encoding_pair_count(s->e), P = heads * pairs;
    double *table = property_doubles(s, 2 * n * P);
    pe_status bad = table ? PE_OK : PE_ERR_NOMEM;
    for (int side = PE_QUERY; !bad && side <= PE_KEY; side++) {
        bad = pe_rotate_table(s->e, (pe_side)side, pe_view_of(table, PE_F64, 1, n, heads, pairs),
                              pe_view_of(table + n * P, PE_F64, 1, n, heads, pairs), property_positions(s, at, n),
                              &PE_MAKE(pe_run, .params = s->w), NULL);
        for (int64_t i = 0; i < n * P; i++) {
            double *to = out + i / P * s->size + 2 * side * P + i % P;
            to[0] = table[i];
            to[P] = table[n * P + i];
        }
    }
    return bad;
}

pe_status property_terms(const property_subject *s, double *score, pe_view q, pe_view k, const int64_t *q_at,
                         const int64_t *k_at, double scale)
{
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(score, PE_F64, 1, q.tokens, s->shape.heads, k.tokens),
                  .q = q,
                  .k = k,
                  .q_at = property_positions(s, q_at, q.tokens),
                  .k_at = property_positions(s, k_at, k.tokens) };
    return zoo_look_terms(s->e, &t, s->w, scale, NULL);
}

/* The same content for n tokens: a token stride of 0 is not a view, so it is copied. */
static double *repeated(property_subject *s, const double *x, int64_t size, int64_t n)
{
    double *y = property_doubles(s, size * n);
    for (int64_t t = 0; y && t < n; t++)
        memcpy(y + t * size, x, (size_t)size * sizeof *x);
    return y;
}

/* What a query at t adds to its score towards a key at the origin, per head. Terms that count keys find keys at
 * 0, 1, .. too. */
static pe_status score_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, k_at[COUNTED_KEYS * PE_AXES_MAX] = { 0 };
    int64_t keys = pe_encoding_carries(s->e) ? COUNTED_KEYS : 1;
    double *q = repeated(s, s->q, H * D, n), *k = repeated(s, s->k, G * D, keys),
           *score = property_doubles(s, n * H * keys);
    for (int64_t j = 0; j < keys; j++)
        k_at[j * s->axes] = j;
    if (!q || !k || !score)
        return PE_ERR_NOMEM;
    pe_status bad =
        property_terms(s, score, pe_view_of(q, PE_F64, 1, n, H, D), pe_view_of(k, PE_F64, 1, keys, G, D), at, k_at, 1);
    for (int64_t t = 0; !bad && t < n; t++)
        for (int64_t h = 0; h < H; h++)
            out[t * s->size + h] = score[(t * H + h) * keys];
    return bad;
}

static pe_status value_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    static const int64_t origin[PE_AXES_MAX];
    double *prob = property_doubles(s, n * H);
    if (!prob)
        return PE_ERR_NOMEM;
    for (int64_t i = 0; i < n * H; i++)
        prob[i] = 1;
    pe_view y = pe_view_of(out, PE_F64, 1, n, H, D);
    y.token_stride = s->size;
    for (int64_t t = 0; t < n; t++)
        memset(out + t * s->size, 0, (size_t)(H * D) * sizeof *out);
    return pe_encoding_value(s->e, s->w, y, pe_view_of(prob, PE_F64, 1, n, H, 1), property_positions(s, at, n),
                             property_positions(s, origin, 1), NULL);
}

typedef struct layer {
    unsigned hooks;
    int64_t size;
    property_code *code;
} layer;

static int layers_of(const property_subject *s, layer out[4])
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    const layer all[] = { { PE_HOOK_EMBED, property_embed_size(s), embed_code },
                          { PE_HOOK_ROTATE, 4 * zoo_turn_heads(s->e) * pe_encoding_pair_count(s->e), turn_code },
                          { PE_HOOK_CONTENT | PE_HOOK_BIAS, H, score_code },
                          { PE_HOOK_VALUE, H * D, value_code } };
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (pe_encoding_hooks(s->e) & all[i].hooks)
            out[n++] = all[i];
    return n;
}

int64_t property_code_size(const property_subject *s)
{
    layer list[4];
    int64_t size = 0;
    for (int i = layers_of(s, list); i-- > 0;)
        size += list[i].size;
    return size;
}

pe_status property_whole_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    layer list[4];
    int count = layers_of(s, list);
    pe_status bad = PE_OK;
    property_room *mark = s->room;
    for (int i = 0; !bad && i < count; i++) {
        bad = list[i].code(s, at, n, out);
        out += list[i].size;
    }
    property_release(s, mark);
    return bad;
}

bool property_codes(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    for (int64_t t = 0; t < n && !s->err.status; t += BITE) {
        int64_t m = n - t < BITE ? n - t : BITE;
        if (s->code(s, at + t * s->axes, m, out + t * s->size) && !s->err.status)
            io_fail(&s->err, PE_ERR_POSITION, "%.100s: a position inside its range is refused", s->spec);
    }
    return !s->err.status;
}
