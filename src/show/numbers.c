/* SPDX-License-Identifier: MIT
 *
 * The library's numbers, as the views want them: float64, packed. */
#include "show/views.h"

#include "base/random.h"
#include "io/checked.h"
#include "io/io.h"
#include "zoo/look.h"
#include "zoo/turn_head.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NUMBERS_MAX (INT64_C(1) << 26) /* 512 MiB: no picture needs more */
#define TERMS_WORK_MAX (4 * SHOW_WORK_MAX)

pe_status show_memory(double **out, int64_t a, int64_t b, pe_error *err)
{
    int64_t count;
    size_t bytes;
    *out = NULL;
    if (!io_mul_i64(&count, a, b) || count > NUMBERS_MAX || !io_byte_count(&bytes, count, sizeof(double)))
        return io_fail(err, PE_ERR_RANGE,
                       "%" PRId64 " times %" PRId64 " numbers are too many for a picture; make it smaller", a, b);
    *out = calloc(1, bytes ? bytes : 1);
    return *out ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " times %" PRId64 " numbers", a, b);
}

/* Codes that are joined stand alone; codes that are added span model_dim. */
pe_status show_codes(double **out, int64_t *width, const show_subject *s, pe_positions where, pe_error *err)
{
    int64_t n = where.tokens, joined = pe_embed_width(s->e, 0), model = s->shape.model_dim;
    for (int64_t x = joined > 0 ? 0 : model;; x = model) {
        *width = pe_embed_width(s->e, x);
        SHOW_TRY(show_memory(out, n, *width, err));
        pe_status status =
            pe_embed(s->e, pe_view_of(*out, PE_F64, 1, n, 1, *width), pe_view_of(NULL, PE_F64, 1, n, 1, x), where,
                     &PE_MAKE(pe_run, .params = s->params), err);
        if (!status)
            return PE_OK;
        free(*out);
        *out = NULL;
        if (status != PE_ERR_SHAPE || x == model)
            return status;
    }
}

pe_status show_turns(double **out, int64_t *pairs, const show_subject *s, pe_positions where, pe_error *err)
{
    int64_t n = where.tokens;
    *pairs = pe_encoding_pair_count(s->e);
    SHOW_TRY(show_memory(out, 2 * n, *pairs, err));
    pe_view cosine = pe_view_of(*out, PE_F64, 1, n, 1, *pairs), sine = cosine;
    sine.data = *out + n * *pairs;
    pe_status status = zoo_turn_table(cosine, sine, s->e, s->params, 0, PE_QUERY, where, err);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}

pe_status show_pairs(pe_pair **out, int64_t *count, const show_subject *s, pe_error *err)
{
    *count = pe_encoding_pair_count(s->e);
    *out = calloc((size_t)*count + 1, sizeof **out); /* at most PE_HEAD_DIM_MAX / 2 */
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " pairs", *count);
    pe_status status = pe_encoding_pairs(s->e, *out, *count, err);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* ---------------------------------------------------------------- terms of one content */

typedef struct content {
    double *q, *k; /* (Tq, H, D), (Tk, Hkv, D): the same for every token */
    uint8_t *seen; /* (Tq, Tk) */
} content;

static void fill(double *x, int64_t tokens, int64_t heads, int64_t dim, uint64_t stream)
{
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t i = 0; i < heads * dim; i++)
            x[t * heads * dim + i] = t ? x[i] : random_normal(stream, (uint64_t)i);
}

static pe_status content_new(content *c, const show_subject *s, const show_request *r, int64_t queries, int64_t keys,
                             pe_error *err)
{
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim;
    if (s->hooks & PE_HOOK_CONTENT) {
        SHOW_TRY(show_memory(&c->q, queries, H * D, err));
        SHOW_TRY(show_memory(&c->k, keys, Hkv * D, err));
        fill(c->q, queries, H, D, random_at(r->seed, 0));
        fill(c->k, keys, Hkv, D, random_at(r->seed, 1));
    }
    size_t count = 0;
    if (!io_byte_count(&count, queries, (size_t)keys) || !(c->seen = malloc(count ? count : 1)))
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " times %" PRId64 " pairs", queries, keys);
    return PE_OK;
}

static void content_free(content *c)
{
    free(c->q);
    free(c->k);
    free(c->seen);
}

static void look(uint8_t *seen, pe_positions q, pe_positions k, int64_t axis, bool causal)
{
    for (int64_t i = 0; i < q.tokens; i++)
        for (int64_t j = 0; j < k.tokens; j++)
            seen[i * k.tokens + j] = !causal || io_position(k, j, axis) <= io_position(q, i, axis);
}

static void blank(double *out, const uint8_t *seen, int64_t queries, int64_t heads, int64_t keys)
{
    for (int64_t i = 0; i < queries; i++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t j = 0; j < keys; j++)
                if (!seen[i * keys + j])
                    out[(i * heads + h) * keys + j] = NAN;
}

static pe_status add_terms(double *out, const show_subject *s, const show_request *r, pe_positions q, pe_positions k,
                           bool causal, pe_error *err)
{
    content c = { 0 };
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    pe_status status = content_new(&c, s, r, q.tokens, k.tokens, err);
    if (!status) {
        look(c.seen, q, k, r->axis, causal);
        /* Terms that count keys decide for themselves what they count where nothing is hidden. */
        pe_tile tile = { .size = sizeof tile,
                         .score = pe_view_of(out, PE_F64, 1, q.tokens, H, k.tokens),
                         .q = pe_view_of(c.q, PE_F64, 1, q.tokens, H, D),
                         .k = pe_view_of(c.k, PE_F64, 1, k.tokens, s->shape.kv_heads, D),
                         .q_at = q,
                         .k_at = k,
                         .seen = causal ? c.seen : NULL };
        status = zoo_look_terms(s->e, &tile, s->params, pe_encoding_scale(s->e), err);
    }
    if (!status)
        blank(out, c.seen, q.tokens, H, k.tokens);
    content_free(&c);
    return status;
}

pe_status show_terms(double **out, const show_subject *s, const show_request *r, pe_positions q, pe_positions k,
                     bool causal, pe_error *err)
{
    int64_t scores;
    *out = NULL;
    if (!io_mul_i64(&scores, q.tokens * s->shape.heads, k.tokens)) /* tokens and heads are bounded */
        return io_fail(err, PE_ERR_OVERFLOW, "queries, heads and keys span more than memory can hold");
    if (scores > TERMS_WORK_MAX / s->work)
        return io_fail(err, PE_ERR_RANGE,
                       "%" PRId64 " scores of %" PRId64 " steps each are too many for a picture; make it smaller",
                       scores, s->work);
    SHOW_TRY(show_memory(out, scores, 1, err));
    pe_status status = add_terms(*out, s, r, q, k, causal, err);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}

pe_status show_head(const show_subject *s, const show_request *r, pe_error *err)
{
    if (r->head >= 0 && r->head < s->shape.heads)
        return PE_OK;
    return io_fail(err, PE_ERR_RANGE, "head %" PRId64 " is asked for; there are %" PRId64 ", counted from 0", r->head,
                   s->shape.heads);
}

double show_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* ---------------------------------------------------------------- which of many */

static pe_status pick_asked(int64_t *out, int *picked, const show_request *r, int64_t count, const char *what,
                            pe_error *err)
{
    for (int i = 0; i < r->pick_count; i++) {
        if (r->pick[i] < 0 || r->pick[i] >= count)
            return io_fail(err, PE_ERR_RANGE, "%s %" PRId64 " is asked for; there are %" PRId64 ", counted from 0",
                           what, r->pick[i], count);
        out[(*picked)++] = r->pick[i];
    }
    return PE_OK;
}

pe_status show_pick(int64_t out[SHOW_LINES_MAX], int *picked, const show_request *r, int64_t count, int wanted,
                    bool early, const char *what, pe_error *err)
{
    *picked = 0;
    if (r->pick_count)
        return pick_asked(out, picked, r, count, what, err);
    for (int i = 0; i < wanted; i++) {
        /* early: 0, then halves of halves up to the middle (0, 1/8, 1/4, 1/2) */
        double share = !i ? 0 : early ? ldexp(1, i - wanted) : (double)i / wanted;
        int64_t n = (int64_t)(share * (double)count);
        if (n < count && (!*picked || n > out[*picked - 1]))
            out[(*picked)++] = n;
    }
    return PE_OK;
}

int show_pick_heads(int64_t *out, int most, int64_t count)
{
    int n = count < most ? (int)count : most;
    for (int i = 0; i < n; i++)
        out[i] = n < 2 ? 0 : i * (count - 1) / (n - 1);
    return n;
}
