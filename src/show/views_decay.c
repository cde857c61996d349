/* SPDX-License-Identifier: MIT
 *
 * The score against the distance (decay): of codes the dot product p(i).p(j), of rotations the score of two vectors of
 * ones, both relative to distance 0; of score terms what is added. A distance is query minus key. */
#include "show/views.h"

#include "io/io.h"
#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>

#define LENGTH 257

/* One query and the keys around it. y holds one number per key. */
typedef struct around {
    show_path path;
    int64_t query; /* a point of the path */
    double *x, *y; /* (points): distances from the smallest to the largest, which are the keys from the last on */
    int count;
    bool causal;
} around;

/* The query is in the middle, or at the end under a causal mask. */
static pe_status around_new(around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    *a = (around){ 0 };
    TRY(show_is_causal(&a->causal, s, r, err));
    TRY(path_new(&a->path, s, r, LENGTH, SHOW_POINTS_MAX, err));
    if (a->path.step > 1 && pe_encoding_carries(s->e))
        return io_fail(err, PE_ERR_RANGE,
                       "%.150s counts every key, so that none can be left out; needs a length of %d or less", s->spec,
                       SHOW_POINTS_MAX);
    int64_t n = a->path.where.tokens;
    TRY(path_point(&a->query, &a->path, r, a->causal ? n - 1 : n / 2, err));
    TRY(show_memory(&a->x, s, n, 1, err));
    TRY(show_memory(&a->y, s, n, 1, err));
    a->count = (int)n;
    for (int64_t i = 0; i < n; i++)
        a->x[i] = (double)((a->query - (n - 1 - i)) * a->path.step);
    return PE_OK;
}

/* The index of distance 0. */
static int around_here(const around *a)
{
    return (int)(a->count - 1 - a->query);
}

/* The first distance at which less than half is left; -1: none that is drawn. */
static double around_half(const around *a)
{
    for (int i = around_here(a); i < a->count; i++)
        if (a->y[i] < 0.5 * a->y[around_here(a)])
            return a->x[i];
    return -1;
}

static void numbers_divide(double *y, int count, double by)
{
    for (int i = 0; i < count; i++)
        y[i] /= by != 0 ? by : 1;
}

static void decay_put_line(figure *f, const char *name, const around *a, const double *value, bool dashed)
{
    double *y = figure_add_series(f, name, a->x, a->count);
    for (int i = 0; y && i < a->count; i++)
        y[i] = a->causal && a->x[i] < 0 ? NAN : value[i];
    if (f->series_count)
        f->series[f->series_count - 1].dashed = dashed;
}

static pe_status decay_begin(figure **f, show_sheet *to, const around *a, const show_subject *s, const show_request *r,
                             unsigned hook, pe_error *err)
{
    TRY(show_figure(f, to, FIGURE_LINES, s, err));
    show_title(*f, &show_view_decay, s, r, hook);
    show_mark_trained(*f, s, r, a->x[0], a->x[a->count - 1]);
    show_say(*f, &(*f)->x_label, r, (words){ "distance, query − key", "距离（查询 − 键）" });
    return PE_OK;
}

static void decay_caption_half(figure *f, const around *a, const show_request *r, words more)
{
    double at = around_half(a);
    if (at > 0)
        show_caption(f, &a->path, r,
                     (words){ "It first falls below half at distance %.0f; at the largest distance it is %.3g.%s",
                              "距离达到 %.0f 时首次不足一半；末端为 %.3g。%s" },
                     at, a->y[a->count - 1], say(more, r->language));
    else
        show_caption(
            f, &a->path, r,
            (words){ "It never falls below half of its value at distance 0; at the largest distance it is %.3g.%s",
                     "始终不低于距离 0 处的一半；末端为 %.3g。%s" },
            a->y[a->count - 1], say(more, r->language));
}

/* ---------------------------------------------------------------- codes */

static pe_status decay_codes(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    double *code;
    int64_t width;
    TRY(show_codes(&code, &width, s, a->path.where, err));
    const double *own = code + a->query * width;
    for (int i = 0; i < a->count; i++)
        a->y[i] = show_dot(own, code + (a->count - 1 - i) * width, width);
    double norm = show_dot(own, own, width);
    numbers_divide(a->y, a->count, norm);
    TRY(decay_begin(&f, to, a, s, r, PE_HOOK_EMBED, err));
    decay_put_line(f, "p(i)·p(j)", a, a->y, false);
    if (norm != 0)
        show_say(f, &f->y_label, r, (words){ "share of distance 0", "与距离 0 处之比" });
    else
        show_say(f, &f->y_label, r, (words){ "dot product", "点积" });
    decay_caption_half(f, a, r, (words){ "", NULL });
    return PE_OK;
}

/* ---------------------------------------------------------------- turns */

/* Scores a rotated query of ones against every rotated key of ones. */
static pe_status decay_score_ones(around *a, const show_subject *s, pe_error *err)
{
    double *q, *k;
    int64_t D = s->shape.head_dim, n = a->count;
    TRY(show_memory(&q, s, 1, D, err));
    TRY(show_memory(&k, s, n, D, err));
    for (int64_t i = 0; i < n * D; i++)
        k[i] = q[i % D] = 1;
    pe_view qv = pe_view_of(q, PE_F64, 1, 1, 1, D), kv = pe_view_of(k, PE_F64, 1, n, 1, D);
    TRY(zoo_rotate_head(qv, qv, s->e, s->params, 0, PE_QUERY, path_one(&a->path, a->query), err));
    TRY(zoo_rotate_head(kv, kv, s->e, s->params, 0, PE_KEY, a->path.where, err));
    for (int64_t i = 0; i < n; i++)
        a->y[i] = show_dot(q, k + (n - 1 - i) * D, D);
    return PE_OK;
}

/* The factor of the upper bound on the score (Su et al. 2021, 3.4.3): the mean over n of |S_n|, where S_n is the sum of
 * e^(i k w) over the first n pairs. */
static double decay_bound(const pe_pair *pair, int64_t count, double distance, int64_t axis)
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

static pe_status decay_put_bound(figure *f, const around *a, const show_subject *s, const show_request *r,
                                 pe_error *err)
{
    pe_pair *pair;
    double *bound;
    int64_t count;
    TRY(show_pairs(&pair, &count, s, err));
    TRY(show_memory(&bound, s, a->count, 1, err));
    for (int i = 0; i < a->count; i++)
        bound[i] = decay_bound(pair, count, a->x[i], r->axis) / decay_bound(pair, count, 0, r->axis);
    decay_put_line(f, say((words){ "mean |S|", "平均 |S|" }, r->language), a, bound, true);
    return PE_OK;
}

static pe_status decay_rotations(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    TRY(decay_score_ones(a, s, err));
    numbers_divide(a->y, a->count, a->y[around_here(a)]);
    TRY(decay_begin(&f, to, a, s, r, PE_HOOK_ROTATE, err));
    decay_put_line(f, say((words){ "q = k = ones", "q = k = 全 1" }, r->language), a, a->y, false);
    TRY(decay_put_bound(f, a, s, r, err));
    show_say(f, &f->y_label, r, (words){ "share of distance 0", "与距离 0 处之比" });
    decay_caption_half(f, a, r,
                       (words){ " Mean |S| is the factor of the bound in RoPE's paper, 3.4.3.",
                                "平均 |S| 是 RoPE 论文 3.4.3 节上界中的因子。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- score terms */

static void decay_caption_terms(figure *f, const around *a, const show_subject *s, const show_request *r)
{
    words content = { "Head %" PRId64 " adds %.3g at distance 0 and %.3g at distance %.0f; contents are the same "
                      "everywhere, drawn with the seed.",
                      "第 %" PRId64 " 头：距离 0 处加 %.3g，末端加 %.3g（距离 %.0f）；各处内容相同，由种子生成。" };
    words instead = { "Head %" PRId64 " has %.3g in place of q·k at distance 0 and %.3g at distance %.0f; contents "
                      "are the same everywhere, drawn with the seed.",
                      "第 %" PRId64 " 头：代替 q·k 的值在距离 0 处为 %.3g，末端为 %.3g（距离 %.0f）；各处内容相同，"
                      "由种子生成。" };
    words bias = { "Head %" PRId64 " adds %.3g at distance 0 and %.3g at distance %.0f.",
                   "第 %" PRId64 " 头：距离 0 处加 %.3g，末端加 %.3g（距离 %.0f）。" };
    show_caption(f, &a->path, r,
                 pe_encoding_replaces(s->e)   ? instead
                 : s->hooks & PE_HOOK_CONTENT ? content
                                              : bias,
                 r->head, a->y[around_here(a)], a->y[a->count - 1], a->x[a->count - 1]);
}

static pe_status decay_terms(show_sheet *to, around *a, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    double *term;
    char name[80];
    TRY(show_head(s, r, err));
    TRY(show_terms(&term, s, r, path_one(&a->path, a->query), a->path.where, a->causal, err));
    for (int i = 0; i < a->count; i++)
        a->y[i] = term[r->head * a->count + a->count - 1 - i];
    TRY(decay_begin(&f, to, a, s, r, PE_HOOK_BIAS, err));
    snprintf(name, sizeof name, say((words){ "head %d", "第 %d 头" }, r->language), (int)r->head);
    decay_put_line(f, name, a, a->y, false);
    show_say(f, &f->y_label, r,
             pe_encoding_replaces(s->e) ? (words){ "in place of q·k", "代替 q·k 的值" }
                                        : (words){ "added to the score", "加到分数上的值" });
    decay_caption_terms(f, a, s, r);
    return PE_OK;
}

/* ---------------------------------------------------------------- all of them */

static pe_status decay_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    around a;
    TRY(around_new(&a, s, r, err));
    if (s->hooks & PE_HOOK_EMBED)
        TRY(decay_codes(to, &a, s, r, err));
    if (s->hooks & PE_HOOK_ROTATE)
        TRY(decay_rotations(to, &a, s, r, err));
    return s->hooks & SHOW_HOOKS_SCORE ? decay_terms(to, &a, s, r, err) : PE_OK;
}

const show_view show_view_decay = {
    .name = "decay",
    .title = { "Score against distance", "分数随距离的变化" },
    .about = { "The attention score of two equal words as their distance grows: the dot product of codes, the score of "
               "rotated vectors of ones with the bound of RoPE's paper, the bias that is added, or what replaces q·k.",
               "两个相同的词在距离变大时的分数：编码的点积、旋转后全 1 向量的分数（附 RoPE "
               "论文中的上界）、加上的值，或代替 q·k 的值。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_CONTENT | PE_HOOK_BIAS,
    .first = true,
    .asks = "length|start|at|head|axis|causal",
    .make = decay_make,
};
