/* SPDX-License-Identifier: MIT
 *
 * What is left of a score as the key moves away. Of codes the dot product p(i).p(j), of turns the score of two vectors
 * of ones, both in parts of their value at distance 0; of score terms what is added. A distance is query minus key. */
#include "show/views.h"

#include "io/io.h"
#include "zoo/turn_head.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LENGTH 257

/* One query and the keys around it. y holds one number per key. */
typedef struct around {
    show_path path;
    int64_t query; /* a point of the path */
    double *x, *y; /* (points): distances from the smallest to the largest, which are the keys from the last on */
    int count;
    bool causal;
} around;

static void around_free(around *a)
{
    path_free(&a->path);
    free(a->x);
    free(a->y);
}

/* In the middle, or at the end where a query looks back only. */
static pe_status around_new(around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    *a = (around){ 0 };
    SHOW_TRY(show_is_causal(&a->causal, s, r, err));
    SHOW_TRY(path_new(&a->path, s, r, LENGTH, SHOW_POINTS_MAX, err));
    if (a->path.step > 1 && pe_encoding_carries(s->e))
        return io_fail(err, PE_ERR_RANGE,
                       "%.150s counts every key, so that none can be left out; needs a length of %d or less", s->spec,
                       SHOW_POINTS_MAX);
    int64_t n = a->path.where.tokens;
    SHOW_TRY(path_point(&a->query, &a->path, r, a->causal ? n - 1 : n / 2, err));
    SHOW_TRY(show_memory(&a->x, n, 1, err));
    SHOW_TRY(show_memory(&a->y, n, 1, err));
    a->count = (int)n;
    for (int64_t i = 0; i < n; i++)
        a->x[i] = (double)((a->query - (n - 1 - i)) * a->path.step);
    return PE_OK;
}

/* The first i with x[i] >= 0. */
static int here(const around *a)
{
    return (int)(a->count - 1 - a->query);
}

/* How far the key may go before less than half is left; -1: as far as it is drawn. */
static double half_at(const around *a)
{
    for (int i = here(a); i < a->count; i++)
        if (a->y[i] < 0.5 * a->y[here(a)])
            return a->x[i];
    return -1;
}

static void divide(double *y, int count, double by)
{
    for (int i = 0; i < count; i++)
        y[i] /= by != 0 ? by : 1;
}

static void put_line(figure *f, const char *name, const around *a, const double *value, bool dashed)
{
    double *y = figure_line(f, name, a->x, a->count);
    for (int i = 0; y && i < a->count; i++)
        y[i] = a->causal && a->x[i] < 0 ? NAN : value[i];
    if (f->series_count)
        f->series[f->series_count - 1].dashed = dashed;
}

static pe_status begin(figure **f, show_sheet *to, const around *a, const show_subject *s, const show_request *r,
                       unsigned hook, pe_error *err)
{
    SHOW_TRY(show_figure(f, to, FIGURE_LINES, s, err));
    show_title(*f, &show_view_decay, s, r, hook);
    show_mark_trained(*f, s, r, a->x[0], a->x[a->count - 1]);
    show_say(*f, &(*f)->x_label, r, (words){ "distance, query − key", "距离（查询 − 键）" });
    return PE_OK;
}

static void caption_half(figure *f, const around *a, const show_request *r, words more)
{
    double at = half_at(a);
    if (at > 0)
        show_caption(f, &a->path, r,
                     (words){ "Less than half is left from distance %.0f on for the first time; at the end, %.3g.%s",
                              "距离达到 %.0f 时首次不足一半；末端为 %.3g。%s" },
                     at, a->y[a->count - 1], say(more, r->language));
    else
        show_caption(f, &a->path, r,
                     (words){ "It never falls below half of its value at distance 0; at the end, %.3g is left.%s",
                              "始终不低于距离 0 处的一半；末端为 %.3g。%s" },
                     a->y[a->count - 1], say(more, r->language));
}

/* ---------------------------------------------------------------- codes */

static pe_status draw_codes(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    double *code;
    int64_t width;
    SHOW_TRY(show_codes(&code, &width, s, a->path.where, err));
    const double *own = code + a->query * width;
    for (int i = 0; i < a->count; i++)
        a->y[i] = show_dot(own, code + (a->count - 1 - i) * width, width);
    double norm = show_dot(own, own, width);
    free(code);
    divide(a->y, a->count, norm);
    SHOW_TRY(begin(&f, to, a, s, r, PE_HOOK_EMBED, err));
    put_line(f, "p(i)·p(j)", a, a->y, false);
    if (norm != 0)
        show_say(f, &f->y_label, r, (words){ "share of distance 0", "与距离 0 处之比" });
    else
        show_say(f, &f->y_label, r, (words){ "dot product", "点积" });
    caption_half(f, a, r, (words){ "", NULL });
    return PE_OK;
}

/* ---------------------------------------------------------------- turns */

/* The score of ones: one query against every key, turned. */
static pe_status score_ones(around *a, const show_subject *s, pe_error *err)
{
    double *q = NULL, *k = NULL;
    int64_t D = s->shape.head_dim, n = a->count;
    pe_status status = show_memory(&q, 1, D, err);
    if (!status)
        status = show_memory(&k, n, D, err);
    for (int64_t i = 0; !status && i < n * D; i++)
        k[i] = q[i % D] = 1;
    pe_view qv = pe_view_of(q, PE_F64, 1, 1, 1, D), kv = pe_view_of(k, PE_F64, 1, n, 1, D);
    if (!status)
        status = zoo_turn_head(qv, qv, s->e, s->params, 0, PE_QUERY, path_one(&a->path, a->query), err);
    if (!status)
        status = zoo_turn_head(kv, kv, s->e, s->params, 0, PE_KEY, a->path.where, err);
    for (int64_t i = 0; !status && i < n; i++)
        a->y[i] = show_dot(q, k + (n - 1 - i) * D, D);
    free(q);
    free(k);
    return status;
}

/* What no q and k of slowly changing products exceed (Su et al. 2021, 3.4.3): the mean over n of |S_n|, where S_n is
 * the sum of e^(i k w) over the first n pairs. */
static double bound_at(const pe_pair *pair, int64_t count, double distance, int64_t axis)
{
    double re = 0, im = 0, sum = 0;
    for (int64_t p = 0; p < count; p++) {
        double angle = pair[p].axis == axis ? pair[p].frequency * distance : 0;
        re += cos(angle);
        im += sin(angle);
        sum += hypot(re, im);
    }
    return sum / (double)count;
}

static pe_status put_bound(figure *f, const around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    pe_pair *pair;
    double *bound;
    int64_t count;
    SHOW_TRY(show_pairs(&pair, &count, s, err));
    pe_status status = show_memory(&bound, a->count, 1, err);
    for (int i = 0; !status && count && i < a->count; i++)
        bound[i] = bound_at(pair, count, a->x[i], r->axis) / bound_at(pair, count, 0, r->axis);
    if (!status && count)
        put_line(f, say((words){ "mean |S|", "平均 |S|" }, r->language), a, bound, true);
    free(bound);
    free(pair);
    return status;
}

static pe_status draw_turns(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    SHOW_TRY(score_ones(a, s, err));
    divide(a->y, a->count, a->y[here(a)]);
    SHOW_TRY(begin(&f, to, a, s, r, PE_HOOK_ROTATE, err));
    put_line(f, say((words){ "q = k = ones", "q = k = 全 1" }, r->language), a, a->y, false);
    SHOW_TRY(put_bound(f, a, s, r, err));
    show_say(f, &f->y_label, r, (words){ "share of distance 0", "与距离 0 处之比" });
    caption_half(f, a, r,
                 (words){ " Mean |S| is the factor of the bound in RoPE's paper, 3.4.3.",
                          "平均 |S| 是 RoPE 论文 3.4.3 节上界中的因子。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- score terms */

static void caption_terms(figure *f, const around *a, const show_subject *s, const show_request *r)
{
    words content = { "Head %" PRId64 " adds %.3g at distance 0 and %.3g at distance %.0f; contents are the same "
                      "everywhere, drawn with the seed.",
                      "第 %" PRId64 " 头：距离 0 处加 %.3g，末端加 %.3g（距离 %.0f）；各处内容相同，由种子生成。" };
    words bias = { "Head %" PRId64 " adds %.3g at distance 0 and %.3g at distance %.0f.",
                   "第 %" PRId64 " 头：距离 0 处加 %.3g，末端加 %.3g（距离 %.0f）。" };
    show_caption(f, &a->path, r, s->hooks & PE_HOOK_CONTENT ? content : bias, r->head, a->y[here(a)],
                 a->y[a->count - 1], a->x[a->count - 1]);
}

static pe_status draw_terms(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    double *term;
    char name[80];
    SHOW_TRY(show_head(s, r, err));
    SHOW_TRY(show_terms(&term, s, r, path_one(&a->path, a->query), a->path.where, a->causal, err));
    for (int i = 0; i < a->count; i++)
        a->y[i] = term[r->head * a->count + a->count - 1 - i];
    free(term);
    SHOW_TRY(begin(&f, to, a, s, r, PE_HOOK_BIAS, err));
    snprintf(name, sizeof name, say((words){ "head %d", "第 %d 头" }, r->language), (int)r->head);
    put_line(f, name, a, a->y, false);
    show_say(f, &f->y_label, r, (words){ "added to the score", "加到分数上的值" });
    caption_terms(f, a, s, r);
    return PE_OK;
}

/* ---------------------------------------------------------------- all of them */

typedef pe_status draw_hook(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err);

static pe_status draw_one(show_sheet *to, draw_hook *make, const show_subject *s, const show_request *r, pe_error *err)
{
    around a;
    pe_status status = around_new(&a, s, r, err);
    if (!status)
        status = make(to, &a, s, r, err);
    around_free(&a);
    return status;
}

static pe_status make_decay(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    if (s->hooks & PE_HOOK_EMBED)
        SHOW_TRY(draw_one(to, draw_codes, s, r, err));
    if (s->hooks & PE_HOOK_ROTATE)
        SHOW_TRY(draw_one(to, draw_turns, s, r, err));
    if (s->hooks & SHOW_HOOKS_SCORE)
        SHOW_TRY(draw_one(to, draw_terms, s, r, err));
    return PE_OK;
}

const show_view show_view_decay = {
    .name = "decay",
    .title = { "Score against distance", "分数随距离的变化" },
    .about = { "What two equal words score as the distance between them grows: the dot product of codes, the score of "
               "turned vectors of ones with the bound of RoPE's paper, or what is added.",
               "两个相同的词在距离变大时的分数：编码的点积、旋转后全 1 向量的分数（附 RoPE "
               "论文中的上界），或加上的值。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_CONTENT | PE_HOOK_BIAS,
    .first = true,
    .asks = "length|start|at|head|axis|causal",
    .make = make_decay,
};
