/* SPDX-License-Identifier: MIT
 *
 * All that two tokens see of each other: scores and value terms; and what follows when they move. */
#include "prove/property.h"

#include <math.h>
#include <string.h>

#define KEYS_MAX 64
#define PAIRS 60
#define TRIES 5000
#define ENOUGH 20
#define SAME 1e-11 /* 64 products, and exp of 87 with xpos */

pe_status property_turned(const property_subject *s, pe_side side, double *y, const double *x, int64_t heads,
                          const int64_t *at)
{
    pe_view from = pe_view_of((void *)(uintptr_t)x, PE_F64, 1, 1, heads, s->shape.head_dim), to = from;
    to.data = y;
    return pe_rotate(s->e, side, to, from, property_positions(s, at, 1), &PE_MAKE(pe_run, .params = s->w), NULL);
}

/* Terms that count keys find a key at every place from j to i, but no more than 63. */
static int64_t counted_keys(const property_subject *s, const int64_t *i, const int64_t *j, int64_t *k_at)
{
    int64_t keys = 1;
    memcpy(k_at, j, (size_t)s->axes * sizeof *j);
    for (int64_t t = i[0] - 62 > j[0] ? i[0] - 62 : j[0] + 1; pe_encoding_carries(s->e) && t <= i[0]; t++, keys++) {
        memcpy(k_at + keys * s->axes, j, (size_t)s->axes * sizeof *j);
        k_at[keys * s->axes] = t;
    }
    return keys;
}

/* score (H): (q.k + terms) * scale + terms, q at i and k at j. */
static pe_status head_scores(property_subject *s, const double *q0, const double *k0, const int64_t *i,
                             const int64_t *j, double *score)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, k_at[KEYS_MAX * PE_AXES_MAX];
    int64_t keys = counted_keys(s, i, j, k_at);
    double *q = property_doubles(s, H * D), *k = property_doubles(s, keys * G * D),
           *sum = property_doubles(s, H * keys);
    if (!q || !k || !sum)
        return PE_ERR_NOMEM;
    PROVE_TRY(property_turned(s, PE_QUERY, q, q0, H, i));
    for (int64_t n = 0; n < keys; n++)
        PROVE_TRY(property_turned(s, PE_KEY, k + n * G * D, k0, G, k_at + n * s->axes));
    for (int64_t h = 0; h < H; h++)
        sum[h * keys] = measure_dot(q + h * D, k + h / (H / G) * D, D);
    PROVE_TRY(property_terms(s, sum, pe_view_of(q, PE_F64, 1, 1, H, D), pe_view_of(k, PE_F64, 1, keys, G, D), i, k_at,
                             pe_encoding_scale(s->e)));
    for (int64_t h = 0; h < H; h++)
        score[h] = sum[h * keys];
    return PE_OK;
}

/* (x + p_i) . M (y + p_j); x and y may be NULL: 0. M stands for the model's two projections; NULL: 1. */
static pe_status embed_score(property_subject *s, property_contents c, const int64_t *i, const int64_t *j,
                             double *score)
{
    int64_t C = s->shape.model_dim, W = property_embed_size(s);
    const double *in[] = { c.x, c.y };
    const int64_t *at[] = { i, j };
    double *out = property_doubles(s, 2 * W);
    if (!out)
        return PE_ERR_NOMEM;
    for (int n = 0; W && n < 2; n++) {
        pe_view from = pe_view_of((void *)(uintptr_t)in[n], PE_F64, 1, 1, 1, C);
        PROVE_TRY(pe_embed(s->e, pe_view_of(out + n * W, PE_F64, 1, 1, 1, W), from, property_positions(s, at[n], 1),
                           &PE_MAKE(pe_run, .params = s->w), NULL));
    }
    *score = c.projections ? 0 : measure_dot(out, out + W, W);
    for (int64_t n = 0; c.projections && n < W; n++)
        *score += out[n] * measure_dot(c.projections + n * W, out + W, W);
    return PE_OK;
}

/* What a key at j adds to the value that a query at i sees, (H, D). */
static pe_status value_terms(property_subject *s, const int64_t *i, const int64_t *j, double *out)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    double *prob = property_doubles(s, H);
    if (!prob)
        return PE_ERR_NOMEM;
    for (int64_t h = 0; h < H; h++)
        prob[h] = 1;
    memset(out, 0, (size_t)(H * D) * sizeof *out);
    return pe_encoding_value(s->e, s->w, pe_view_of(out, PE_F64, 1, 1, H, D), pe_view_of(prob, PE_F64, 1, 1, H, 1),
                             property_positions(s, i, 1), property_positions(s, j, 1), NULL);
}

int64_t property_pair_size(const property_subject *s)
{
    return 1 + s->shape.heads + s->shape.heads * s->shape.head_dim;
}

pe_status property_pair(property_subject *s, property_contents c, const int64_t *i, const int64_t *j, double *score)
{
    property_room *mark = s->room;
    pe_status bad = embed_score(s, c, i, j, score);
    bad = bad ? bad : head_scores(s, c.q, c.k, i, j, score + 1);
    bad = bad ? bad : value_terms(s, i, j, score + 1 + s->shape.heads);
    property_release(s, mark);
    return bad;
}

/* A base anywhere, and a distance, not 0, that tables may reach. Not every such pair is served. */
static void random_pair(property_subject *s, int64_t *i, int64_t *distance)
{
    bool anywhere = !(pe_encoding_hooks(s->e) & (PE_HOOK_EMBED | PE_HOOK_ROTATE)), none = true;
    uint64_t *r = &s->randomness;
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t low = anywhere ? -PE_POSITION_MAX / 4 : s->low[a], high = anywhere ? PE_POSITION_MAX / 4 : s->high[a];
        i[a] = measure_random(r) & 1 ? property_wide(s, low, high) : measure_range(r, low, high);
        distance[a] = measure_range(r, 0, property_clamp(s->high[a] / 3, 0, 50));
        none = none && !distance[a];
    }
    distance[measure_range(r, 0, s->axes - 1)] += none;
}

static void moved(int64_t *to, const int64_t *from, const int64_t *distance, int64_t axes, int64_t sign)
{
    for (int64_t a = 0; a < axes; a++)
        to[a] = from[a] + sign * distance[a];
}

/* The largest change, relative to what is above 1. */
static double change(const double *one, const double *two, int64_t n)
{
    double worst = 0;
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(one[i] - two[i]) / fmax(1, fabs(one[i])));
    return worst;
}

/* The largest change of any score when both positions move by the same amount. */
property_verdict property_relative(property_subject *s)
{
    int64_t size = property_pair_size(s), C = s->shape.model_dim, W = property_embed_size(s);
    double *one = property_doubles(s, 2 * size), *x = property_doubles(s, 2 * C + W * W), worst = 0;
    if (!one || !x)
        return PROPERTY_NOTHING;
    for (int64_t n = 0; n < 2 * C + W * W; n++)
        x[n] = measure_uniform(&s->randomness);
    property_contents c = { s->q, s->k, x, x + C, x + 2 * C };
    int found = 0;
    for (int tries = 0; tries < TRIES && found < PAIRS; tries++) {
        int64_t i[PE_AXES_MAX], j[PE_AXES_MAX], k[PE_AXES_MAX], m[PE_AXES_MAX], distance[PE_AXES_MAX];
        random_pair(s, k, distance);
        random_pair(s, i, distance);
        moved(j, i, distance, s->axes, -1);
        moved(m, k, distance, s->axes, -1);
        if (property_pair(s, c, i, j, one) || property_pair(s, c, k, m, one + size))
            continue;
        found++;
        worst = fmax(worst, change(one, one + size, size));
    }
    if (found < ENOUGH && !s->err.status)
        io_fail(&s->err, PE_ERR_POSITION, "%.100s: only %d of %d pairs were served; needs %d", s->spec, found, TRIES,
                ENOUGH);
    return (property_verdict){ worst < SAME ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

/* f(t, t+d) = f(t, t-d) and f(i, j) = f(j, i), contents equal on both sides: codes alone, q = k, one key for all. */
property_verdict property_symmetric(property_subject *s)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, size = property_pair_size(s);
    double *q = property_doubles(s, H * D), *score = property_doubles(s, 3 * size), worst = 0;
    if (!q || !score)
        return PROPERTY_NOTHING;
    for (int64_t h = 0; h < H; h++)
        memcpy(q + h * D, s->k + h / (H / G) * D, (size_t)D * sizeof *q);
    property_contents c = { q, s->k, NULL, NULL, NULL };
    int found = 0;
    for (int tries = 0; tries < TRIES && found < PAIRS; tries++) {
        int64_t t[PE_AXES_MAX], back[PE_AXES_MAX], ahead[PE_AXES_MAX], distance[PE_AXES_MAX];
        random_pair(s, t, distance);
        moved(back, t, distance, s->axes, -1);
        moved(ahead, t, distance, s->axes, 1);
        if (property_pair(s, c, t, back, score) || property_pair(s, c, t, ahead, score + size) ||
            property_pair(s, c, ahead, t, score + 2 * size))
            continue;
        found++;
        worst = fmax(worst, change(score, score + size, 2 * size)); /* back, ahead, and ahead's exchange */
    }
    /* none served: one direction has no score at all */
    return (property_verdict){ found && worst < SAME ? PROPERTY_HOLDS : PROPERTY_FAILS,
                               found ? worst : (double)INFINITY };
}

/* Both ends, every hook, queries and keys apart. */
property_verdict property_endless(property_subject *s)
{
    double *score = property_doubles(s, property_pair_size(s));
    int refused = 0;
    for (int n = 0; score && n < 4; n++) {
        int64_t i[PE_AXES_MAX], j[PE_AXES_MAX];
        for (int64_t a = 0; a < s->axes; a++) {
            i[a] = n & 1 ? PE_POSITION_MAX : -PE_POSITION_MAX;
            j[a] = n & 2 ? PE_POSITION_MAX : -PE_POSITION_MAX;
        }
        refused += property_pair(s, (property_contents){ s->q, s->k, NULL, NULL, NULL }, i, j, score) != PE_OK;
    }
    return (property_verdict){ refused ? PROPERTY_FAILS : PROPERTY_HOLDS, refused };
}
