/* SPDX-License-Identifier: MIT
 *
 * Predicates of pairs and of vectors; the list of all predicates, in the order of the claim bits, and its words. */
#include "prove/property.h"

#include <math.h>
#include <string.h>

/* Scores and value terms of two tokens, and how they change when the tokens move. */

/* What two tokens hold, as queries and keys and before; the (W, W) matrix between the latter. */
typedef struct property_contents {
    const double *q, *k, *x, *y, *projections;
} property_contents;

#define KEYS_MAX 64
#define PAIRS 60
#define TRIES 5000
#define ENOUGH 20
#define SAME 1e-11 /* 64 products, and exp of 87 with xpos */

static pe_status property_rotated(const property_subject *s, pe_side side, double *y, const double *x, int64_t heads,
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
    TRY(property_rotated(s, PE_QUERY, q, q0, H, i));
    for (int64_t n = 0; n < keys; n++)
        TRY(property_rotated(s, PE_KEY, k + n * G * D, k0, G, k_at + n * s->axes));
    for (int64_t h = 0; h < H; h++)
        sum[h * keys] = measure_dot(q + h * D, k + h / (H / G) * D, D);
    TRY(property_terms(s, sum, pe_view_of(q, PE_F64, 1, 1, H, D), pe_view_of(k, PE_F64, 1, keys, G, D), i, k_at,
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
        TRY(pe_embed(s->e, pe_view_of(out + n * W, PE_F64, 1, 1, 1, W), from, property_positions(s, at[n], 1),
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

static int64_t property_pair_size(const property_subject *s)
{
    return 1 + s->shape.heads + s->shape.heads * s->shape.head_dim;
}

static pe_status property_pair(property_subject *s, property_contents c, const int64_t *i, const int64_t *j,
                               double *score)
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
        i[a] = random_next(r) & 1 ? property_wide(s, low, high) : measure_range(r, low, high);
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
static property_verdict property_relative(property_subject *s)
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
static property_verdict property_symmetric(property_subject *s)
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

/* At both ends of the range, for every hook, for queries and keys separately. */
static property_verdict property_endless(property_subject *s)
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

/* The ideal properties of one spec: the list of predicates, in the order of the claim bits, and its words. */

#define EXACT 1e-13
#define VECTORS 100

/* ---------------------------------------------------------------- vectors that are touched */

static double length_change(const double *y, int64_t W, const double *x, int64_t C)
{
    return fabs(sqrt(measure_dot(y, y, W) / measure_dot(x, x, C)) - 1);
}

static double rotation_change(property_subject *s, double *y, const int64_t *at)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    double worst = 0;
    for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
        if (property_rotated(s, (pe_side)side, y, s->q, H, at))
            io_fail(&s->err, PE_ERR_POSITION, "%.100s: a position inside its range is refused", s->spec);
        for (int64_t h = 0; h < H; h++)
            worst = fmax(worst, length_change(y + h * D, D, s->q + h * D, D));
    }
    return worst;
}

static property_verdict property_norm(property_subject *s)
{
    unsigned hooks = pe_encoding_hooks(s->e);
    int64_t HD = s->shape.heads * s->shape.head_dim, C = s->shape.model_dim, W = property_embed_size(s);
    if (!(hooks & (PE_HOOK_EMBED | PE_HOOK_ROTATE)))
        return PROPERTY_NOTHING; /* changes no vector */
    double *x = property_doubles(s, C), *y = property_doubles(s, W + HD), worst = 0;
    for (int n = 0; x && y && n < VECTORS && !s->err.status; n++) {
        int64_t at[PE_AXES_MAX];
        property_random(s, PE_POSITION_MAX, at);
        for (int64_t c = 0; c < C; c++)
            x[c] = measure_uniform(&s->randomness);
        if (W && pe_embed(s->e, pe_view_of(y, PE_F64, 1, 1, 1, W), pe_view_of(x, PE_F64, 1, 1, 1, C),
                          property_positions(s, at, 1), &PE_MAKE(pe_run, .params = s->w), &s->err))
            break;
        worst = fmax(worst, W ? length_change(y, W, x, C) : 0);
        worst = fmax(worst, hooks & PE_HOOK_ROTATE ? rotation_change(s, y, at) : 0);
    }
    return (property_verdict){ worst < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

static property_verdict property_invertible(property_subject *s)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    if (!(pe_encoding_hooks(s->e) & PE_HOOK_ROTATE))
        return PROPERTY_NOTHING;
    double *y = property_doubles(s, H * D), worst = 0;
    for (int n = 0; y && n < VECTORS; n++) {
        int64_t at[PE_AXES_MAX];
        property_random(s, PE_POSITION_MAX, at);
        for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
            pe_view v = pe_view_of(y, PE_F64, 1, 1, H, D);
            bool bad = property_rotated(s, (pe_side)side, y, s->q, H, at) ||
                       s->undo(s->e, (pe_side)side, v, v, property_positions(s, at, 1),
                               &PE_MAKE(pe_run, .params = s->w), NULL);
            worst = fmax(worst, bad ? (double)INFINITY : measure_difference(y, s->q, H * D));
        }
    }
    return (property_verdict){ worst < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

static property_verdict property_learned(property_subject *s)
{
    int64_t n = pe_encoding_param_count(s->e);
    return (property_verdict){ n > 0 ? PROPERTY_HOLDS : PROPERTY_FAILS, (double)n };
}

/* ---------------------------------------------------------------- all of them */

static property_predicate *const property_predicates[CLAIM_COUNT] = {
    property_unique, property_any_length, property_bounded,    property_linear,  property_relative, property_norm,
    property_axes,   property_symmetric,  property_invertible, property_endless, property_learned,
};

/* Of each: the sentence, and what its number is. */
static const struct {
    words sentence, number;
} said[CLAIM_COUNT] = {
    { { "no two positions share a code", "任意两个位置的编码都不同（唯一）" },
      { "nearest two codes, relative", "最近两个编码的相对距离" } },
    { { "a position's code does not depend on the length of the sequence", "同一位置的编码与序列长度无关" },
      { "largest change with the length", "随长度的最大变化" } },
    { { "the code stays within a bound however far the position, in a text that reaches there",
        "在足够长的文本里，位置再远编码也有界" },
      { "largest element far away / nearby", "远处最大值与近处最大值之比" } },
    { { "code(t + k) = M(k) code(t) + b(k), one M and b for all t",
        "code(t + k) = M(k) code(t) + b(k)，M、b 与 t 无关（平移是线性的）" },
      { "largest residual of M(k) code(t) + b(k)", "M(k) code(t) + b(k) 的最大残差" } },
    { { "the score depends on i - j only", "注意力分数只依赖相对位置 i - j" },
      { "largest change when both move", "两者同时平移时的最大变化" } },
    { { "the vectors it touches keep their length", "经过它的向量模长不变" },
      { "largest change of a length", "模长的最大变化" } },
    { { "axes do not mix", "各坐标轴互不混合" }, { "largest mixed difference", "最大混合差分" } },
    { { "i before j and j before i look alike, for equal contents",
        "内容相同时，i 在 j 前与 j 在 i 前没有区别（对称）" },
      { "largest difference, ahead and back", "向前与向后的最大差异" } },
    { { "unrotate undoes rotate", "反向旋转能还原（可逆）" },
      { "largest difference after rotating back", "转回之后的最大差异" } },
    { { "every position up to 2^36 has a code", "直到 2^36 的每个位置都有编码（长度无上限）" },
      { "of 4 farthest pairs refused", "最远的 4 对中被拒绝的" } },
    { { "has parameters to train", "含可训练参数" }, { "parameters", "参数个数" } },
};

words prove_property_words(unsigned claim)
{
    for (int b = 0; b < CLAIM_COUNT; b++)
        if (claim == 1u << b)
            return said[b].sentence;
    return (words){ "", "" };
}

pe_status property_ask(property_verdict *out, property_subject *s, int bit, pe_error *err)
{
    *out = property_predicates[bit](s);
    property_release(s, NULL);
    return s->err.status ? io_fail(err, s->err.status, "%s", s->err.text) : PE_OK;
}

pe_status prove_properties(property_found out[CLAIM_COUNT], const char *spec, pe_shape shape, pe_error *err)
{
    property_subject s;
    TRY(property_open(&s, spec, shape, PROPERTY_SEED, err));
    pe_status status = PE_OK;
    for (int b = 0; !status && b < CLAIM_COUNT; b++) {
        property_verdict v;
        status = property_ask(&v, &s, b, err);
        if (1u << b == PE_CLAIM_LEARNED) /* a fact, neither good nor bad */
            v.is = v.is == PROPERTY_HOLDS ? PROPERTY_YES : PROPERTY_NO;
        out[b] = (property_found){ .claim = 1u << b,
                                   .is = v.is,
                                   .number = v.number,
                                   .what = said[b].number,
                                   .claimed = pe_encoding_claims(s.e) & 1u << b };
    }
    property_close(&s);
    return status;
}
