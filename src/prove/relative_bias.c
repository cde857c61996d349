/* SPDX-License-Identifier: MIT
 *
 * What an encoding adds to a score, by distance: one query behind all keys, which are all the same word. */
#include "prove/measures.h"

#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ruler {
    measure_encoding m;
    int64_t length; /* distances 0 .. length-1 */
    double *q, *k;  /* (1, H, D), (length, H, D) */
    int64_t *at;    /* (1 + length): the query, then the keys, nearest first */
    double *term;   /* (H, length) */
} ruler;

static void ruler_close(ruler *r)
{
    measure_close(&r->m);
    free(r->q), free(r->k), free(r->at), free(r->term);
}

static pe_status ruler_open(ruler *r, const prove_given *g, pe_error *err)
{
    *r = (ruler){ .length = g->length };
    PROVE_TRY(measure_open(&r->m, g->spec[0], g, err));
    if (pe_encoding_axes(r->m.e) != 1)
        return io_fail(err, PE_ERR_UNSUITED, "%s has more axes than one; needs one", g->spec[0]);
    int64_t H = r->m.shape.heads, D = r->m.shape.head_dim;
    r->q = measure_memory(H, D, err);
    r->k = measure_memory(r->length * H, D, err);
    r->term = measure_memory(H, r->length, err);
    r->at = calloc((size_t)(1 + r->length), sizeof *r->at);
    if (!r->q || !r->k || !r->term || !r->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld distances", (long long)r->length);
    measure_normals(r->q, H * D, 1, g->seed);
    measure_normals(r->k, H * D, 1, g->seed + 1);
    for (int64_t d = 0; d < r->length; d++) {
        memmove(r->k + d * H * D, r->k, (size_t)(H * D) * sizeof *r->k);
        r->at[1 + d] = r->length - d;
    }
    r->at[0] = r->length;
    return PE_OK;
}

/* term (H, length): what content terms and biases add to q.k. */
static pe_status ruler_read(ruler *r, pe_error *err)
{
    int64_t H = r->m.shape.heads, D = r->m.shape.head_dim, n = r->length;
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(r->term, PE_F64, 1, 1, H, n),
                  .q = pe_view_of(r->q, PE_F64, 1, 1, H, D),
                  .k = pe_view_of(r->k, PE_F64, 1, n, H, D),
                  .q_at = pe_positions_of(r->at, PE_I64, 1, 1, 1),
                  .k_at = pe_positions_of(r->at + 1, PE_I64, 1, n, 1) };
    memset(r->term, 0, (size_t)(H * n) * sizeof *r->term);
    return zoo_look_terms(r->m.e, &t, r->m.w, 1, err);
}

static pe_status ruler_make(ruler *r, const prove_given *g, pe_error *err)
{
    pe_status status = ruler_open(r, g, err);
    return status ? status : ruler_read(r, err);
}

/* ------------------------------------------------ a straight line */

/* given: spec, heads, length. REFUTED where a head's penalty bends or rises, or slopes are not one series. */
pe_status measure_linear_penalty(prove_finding *out, const prove_given *g, pe_error *err)
{
    ruler r;
    double bend = 0, first = 0, last = 0, odd = 0, ratio = 0;
    bool falls = true;
    pe_status status = ruler_make(&r, g, err);
    for (int64_t h = 0; !status && h < g->heads; h++) {
        const double *b = r.term + h * r.length;
        double slope = b[1] - b[0];
        for (int64_t d = 2; d < r.length; d++)
            bend = fmax(bend, fabs(b[d] - 2 * b[d - 1] + b[d - 2]) / (slope != 0 ? fabs(slope) : 1));
        ratio = h == 1 && last != 0 ? slope / last : ratio;
        odd = h > 1 && ratio != 0 && last != 0 ? fmax(odd, fabs(slope / last / ratio - 1)) : odd;
        first = h ? first : slope;
        last = slope;
        falls = falls && slope < 0;
    }
    ruler_close(&r);
    PROVE_TRY(status);
    bool line = falls && bend < MEASURE_ROUNDING && odd < MEASURE_ROUNDING;
    prove_add(out, (words){ "second difference, of the slope, largest", "二阶差分与斜率之比，最大" }, g->spec[0], bend,
              "");
    prove_add(out, (words){ "slope of the first head", "第一个头的斜率" }, g->spec[0], first, "");
    prove_add(out, (words){ "slope of the last head", "最后一个头的斜率" }, g->spec[0], last, "");
    prove_add(out, (words){ "from a head's slope to the next's", "相邻两头斜率之比" }, g->spec[0], ratio, "");
    prove_add(out, (words){ "largest change of that factor", "该比值的最大变化" }, g->spec[0], 100 * odd, "%");
    prove_say(out, line ? PROVE_HOLDS : PROVE_REFUTED,
              line ? (words){ "Each head's penalty is a straight line, and the slopes are a geometric series.",
                              "每个头的惩罚都是一条直线，各头斜率成等比数列。" }
                   : (words){ "The penalty is not a falling straight line whose slopes are a geometric series.",
                              "惩罚不是斜率成等比数列的下降直线。" });
    return PE_OK;
}

/* ------------------------------------------------ buckets */

/* Every parameter becomes the number of its row, so that a bias tells which row it was read from. */
static void number_rows(measure_encoding *m)
{
    double *w = m->w.data;
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(m->e, n);
        for (int64_t i = 0; i < t->count; i++)
            w[t->offset + i] = (double)(i / (t->count / t->shape[0]));
    }
}

static void add_buckets(prove_finding *out, const ruler *r)
{
    for (int64_t d = 1; d < r->length; d++)
        if (r->term[d] > r->term[d - 1])
            prove_add(out, (words){ "first distance of bucket", "起始距离，桶号" }, measure_named("", r->term[d]).is,
                      (double)d, "");
}

/* given: spec, heads, length. REFUTED where a bucket's number falls with distance, or all share one. */
pe_status measure_buckets(prove_finding *out, const prove_given *g, pe_error *err)
{
    ruler r;
    double falls = 0, rises = 0;
    pe_status status = ruler_open(&r, g, err);
    if (!status)
        number_rows(&r.m);
    status = status ? status : ruler_read(&r, err);
    for (int64_t d = 1; !status && d < r.length; d++) {
        falls += r.term[d] < r.term[d - 1];
        rises += r.term[d] > r.term[d - 1];
    }
    bool monotone = falls == 0 && rises > 0;
    if (!status) {
        prove_add(out, (words){ "distances at which the bucket falls", "桶号下降的距离个数" }, g->spec[0], falls, "");
        prove_add(out, (words){ "buckets in use", "用到的桶数" }, g->spec[0], rises + 1, "");
        add_buckets(out, &r);
    }
    ruler_close(&r);
    prove_say(out, monotone ? PROVE_HOLDS : PROVE_REFUTED,
              monotone ? (words){ "The bucket never falls with distance; near ones are single, far ones ever wider.",
                                  "桶号从不随距离下降；近处一距离一桶，远处的桶越来越宽。" }
                       : (words){ "Some farther key is in an earlier bucket, or there is but one.",
                                  "有更远的键落进了更早的桶，或者只有一个桶。" });
    return status;
}

/* ------------------------------------------------ the clip */

static bool alike(const ruler *r, int64_t a, int64_t b)
{
    for (int64_t h = 0; h < r->m.shape.heads; h++)
        if (r->term[h * r->length + a] != r->term[h * r->length + b])
            return false;
    return true;
}

/* The first distance from which all are alike; length - 1 where none are. */
static int64_t clip_of(const ruler *r)
{
    int64_t d = r->length - 1;
    while (d > 0 && alike(r, d - 1, r->length - 1))
        d--;
    return d;
}

/* given: spec, heads, length. REFUTED where there is no end to the difference, or two nearer ones are alike. */
pe_status measure_clip(prove_finding *out, const prove_given *g, pe_error *err)
{
    ruler r;
    pe_status status = ruler_make(&r, g, err);
    int64_t clip = status ? 0 : clip_of(&r), twins = 0;
    for (int64_t a = 0; !status && a < clip; a++)
        for (int64_t b = a + 1; b <= clip; b++)
            twins += alike(&r, a, b);
    ruler_close(&r);
    bool clipped = clip > 0 && clip < g->length / 2 && !twins;
    prove_add(out, (words){ "distance from which all are alike", "从此距离起完全相同" }, g->spec[0], (double)clip, "");
    prove_add(out, (words){ "nearer pairs that are alike", "更近处相同的对数" }, g->spec[0], (double)twins, "");
    prove_add(out, (words){ "distances tried", "试过的距离数" }, g->spec[0], (double)g->length, "");
    prove_say(out, clipped ? PROVE_HOLDS : PROVE_REFUTED,
              clipped ? (words){ "Up to the clip every distance has a term of its own, from there on all share one.",
                                 "截断之内每个距离各有一项，截断之外共用一项。" }
                      : (words){ "There is no distance up to which all differ and from which on all are alike.",
                                 "不存在这样的距离：之内各不相同，之外完全相同。" });
    return status;
}
