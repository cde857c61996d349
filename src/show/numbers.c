/* SPDX-License-Identifier: MIT
 *
 * The library's numbers as the views need them: float64, packed. */
#include "show/views.h"

#include "base/random.h"
#include "io/checked.h"
#include "io/io.h"
#include "zoo/look.h"
#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NUMBERS_MAX (INT64_C(1) << 26) /* 512 MiB: no picture needs more */
#define TERMS_WORK_MAX (4 * SHOW_WORK_MAX)

/* ---------------------------------------------------------------- memory */

struct show_block {
    struct show_block *next;
    double data[];
};

void *show_scratch(const show_subject *s, int64_t count, size_t unit)
{
    size_t bytes;
    struct show_block *b = NULL;
    if (io_byte_count(&bytes, count, unit) && io_add(&bytes, bytes, sizeof *b))
        b = calloc(1, bytes);
    if (!b)
        return NULL;
    b->next = *s->scratch;
    *s->scratch = b;
    return b->data;
}

void show_release(const show_subject *s, const struct show_block *mark)
{
    while (*s->scratch != mark) {
        struct show_block *b = *s->scratch;
        *s->scratch = b->next;
        free(b);
    }
}

pe_status show_memory(double **out, const show_subject *s, int64_t a, int64_t b, pe_error *err)
{
    int64_t count;
    *out = NULL;
    if (!io_mul_i64(&count, a, b) || count > NUMBERS_MAX)
        return io_fail(err, PE_ERR_RANGE,
                       "%" PRId64 " times %" PRId64 " numbers are too many for a picture; make it smaller", a, b);
    *out = show_scratch(s, count, sizeof **out);
    return *out ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " times %" PRId64 " numbers", a, b);
}

/* ---------------------------------------------------------------- codes and rotations */

/* A code that is concatenated has a width of its own; one that is added spans model_dim. */
pe_status show_codes(double **out, int64_t *width, const show_subject *s, pe_positions where, pe_error *err)
{
    int64_t n = where.tokens, joined = pe_embed_width(s->e, 0), model = s->shape.model_dim;
    for (int64_t x = joined > 0 ? 0 : model;; x = model) {
        *width = pe_embed_width(s->e, x);
        TRY(show_memory(out, s, n, *width, err));
        pe_status status =
            pe_embed(s->e, pe_view_of(*out, PE_F64, 1, n, 1, *width), pe_view_of(NULL, PE_F64, 1, n, 1, x), where,
                     &PE_MAKE(pe_run, .params = s->params), err);
        if (status != PE_ERR_SHAPE || x == model)
            return status;
    }
}

pe_status show_rotations(double **out, int64_t *pairs, const show_subject *s, pe_positions where, pe_error *err)
{
    int64_t n = where.tokens;
    *pairs = pe_encoding_pair_count(s->e);
    TRY(show_memory(out, s, 2 * n, *pairs, err));
    pe_view cosine = pe_view_of(*out, PE_F64, 1, n, 1, *pairs), sine = cosine;
    sine.data = *out + n * *pairs;
    return zoo_rotate_table(cosine, sine, s->e, s->params, 0, PE_QUERY, where, err);
}

pe_status show_pairs(pe_pair **out, int64_t *count, const show_subject *s, pe_error *err)
{
    *count = pe_encoding_pair_count(s->e);
    *out = show_scratch(s, *count, sizeof **out);
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " pairs", *count);
    return pe_encoding_pairs(s->e, *out, *count, err);
}

/* ---------------------------------------------------------------- terms of one content */

/* Makes content of shape (tokens, heads, dim), the same for every token; NULL where no term looks at content. */
static pe_status content_new(double **out, const show_subject *s, int64_t tokens, int64_t heads, uint64_t stream,
                             pe_error *err)
{
    int64_t size = heads * s->shape.head_dim;
    *out = NULL;
    if (!(s->hooks & PE_HOOK_CONTENT))
        return PE_OK;
    TRY(show_memory(out, s, tokens, size, err));
    for (int64_t i = 0; i < tokens * size; i++)
        (*out)[i] = i < size ? random_normal(stream, (uint64_t)i) : (*out)[i - size];
    return PE_OK;
}

static void pairs_mark_seen(uint8_t *seen, pe_positions q, pe_positions k, int64_t axis, bool causal)
{
    for (int64_t i = 0; i < q.tokens; i++)
        for (int64_t j = 0; j < k.tokens; j++)
            seen[i * k.tokens + j] = !causal || io_position(k, j, axis) <= io_position(q, i, axis);
}

static void terms_blank(double *out, const uint8_t *seen, int64_t queries, int64_t heads, int64_t keys)
{
    for (int64_t i = 0; i < queries; i++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t j = 0; j < keys; j++)
                if (!seen[i * keys + j])
                    out[(i * heads + h) * keys + j] = NAN;
}

static pe_status terms_add(double *out, const show_subject *s, const show_request *r, pe_positions q, pe_positions k,
                           bool causal, pe_error *err)
{
    double *content_q, *content_k;
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim;
    TRY(content_new(&content_q, s, q.tokens, H, random_at(r->seed, 0), err));
    TRY(content_new(&content_k, s, k.tokens, Hkv, random_at(r->seed, 1), err));
    uint8_t *seen = show_scratch(s, q.tokens, (size_t)k.tokens);
    if (!seen)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " times %" PRId64 " pairs", q.tokens, k.tokens);
    pairs_mark_seen(seen, q, k, r->axis, causal);
    pe_tile tile = { .size = sizeof tile,
                     .score = pe_view_of(out, PE_F64, 1, q.tokens, H, k.tokens),
                     .q = pe_view_of(content_q, PE_F64, 1, q.tokens, H, D),
                     .k = pe_view_of(content_k, PE_F64, 1, k.tokens, Hkv, D),
                     .q_at = q,
                     .k_at = k,
                     .seen = causal ? seen : NULL }; /* without a mask, terms that count keys choose what they count */
    TRY(zoo_look_terms(s->e, &tile, s->params, pe_encoding_scale(s->e), err));
    terms_blank(out, seen, q.tokens, H, k.tokens);
    return PE_OK;
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
    TRY(show_memory(out, s, scores, 1, err));
    return terms_add(*out, s, r, q, k, causal, err);
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
