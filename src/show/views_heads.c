/* SPDX-License-Identifier: MIT
 *
 * What is added to the scores: of several heads against the distance (heads), and of one head, query by key (bias). */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADS_LENGTH 129
#define MATRIX_LENGTH 32
#define MATRIX_MAX 1024

/* ---------------------------------------------------------------- heads */

typedef struct scene {
    show_path path;
    int64_t query; /* a point of the path */
    double *term;  /* (H, points) */
    bool causal;
} scene;

static void scene_free(scene *c)
{
    path_free(&c->path);
    free(c->term);
}

static pe_status scene_new(scene *c, const show_subject *s, const show_request *r, pe_error *err)
{
    *c = (scene){ 0 };
    SHOW_TRY(show_is_causal(&c->causal, s, r, err));
    c->causal = c->causal || r->log;
    SHOW_TRY(path_new(&c->path, s, r, HEADS_LENGTH, SHOW_POINTS_MAX, err));
    int64_t n = c->path.where.tokens;
    SHOW_TRY(path_point(&c->query, &c->path, r, c->causal ? n - 1 : n / 2, err));
    return show_terms(&c->term, s, r, path_one(&c->path, c->query), c->path.where, c->causal, err);
}

/* Keys from the last to the first; a logarithmic axis begins at distance 1. */
static void put_head(figure *f, const scene *c, int64_t head, const show_request *r)
{
    char name[80];
    int64_t n = c->path.where.tokens;
    snprintf(name, sizeof name, say((words){ "head %d", "第 %d 头" }, r->language), (int)head);
    double *y = figure_line(f, name, NULL, (int)n);
    for (int64_t i = 0; y && i < n; i++) {
        int64_t key = n - 1 - i;
        double distance = (double)((c->query - key) * c->path.step);
        f->series[f->series_count - 1].x[i] = r->log ? fmax(distance, 1) : distance;
        y[i] = r->log && distance < 1 ? NAN : c->term[head * n + key];
    }
}

static void caption_heads(figure *f, const scene *c, int heads, const show_subject *s, const show_request *r)
{
    int64_t n = c->path.where.tokens, at = 0;
    double most = 0;
    for (int64_t h = 0; h < s->shape.heads; h++) {
        double change = fabs(c->term[h * n] - c->term[h * n + c->query]);
        at = change > most ? h : at;
        most = fmax(most, change);
    }
    show_caption(
        f, &c->path, r,
        (words){ "%d of %" PRId64 " heads. Head %" PRId64 " changes most, by %.3g from distance 0 to the farthest "
                 "key back.",
                 "画出 %d 个头（共 %" PRId64 " 个）。第 %" PRId64 " 头变化最大，从距离 0 到最远的键变化 %.3g。" },
        heads, s->shape.heads, at, most);
}

static pe_status draw_heads(show_sheet *to, const scene *c, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX];
    int heads = show_pick_heads(pick, SHOW_LINES_MAX, s->shape.heads);
    SHOW_TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    for (int i = 0; i < heads; i++)
        put_head(f, c, pick[i], r);
    f->x_log2 = r->log;
    show_title(f, &show_view_heads, s, r, PE_HOOK_BIAS);
    show_say(f, &f->x_label, r, (words){ "distance, query − key", "距离（查询 − 键）" });
    show_say(f, &f->y_label, r, (words){ "added to the score", "加到分数上的值" });
    caption_heads(f, c, heads, s, r);
    return PE_OK;
}

static pe_status make_heads(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    scene c;
    pe_status status = scene_new(&c, s, r, err);
    if (!status)
        status = draw_heads(to, &c, s, r, err);
    scene_free(&c);
    return status;
}

const show_view show_view_heads = {
    .name = "heads",
    .title = { "What each head adds", "每个头加上的值" },
    .about = { "The bias of each head against the distance: steep heads look near, flat ones far.",
               "每个头的偏置随距离的变化：陡的头看近处，平的头看远处。" },
    .hooks = PE_HOOK_BIAS,
    .first = true,
    .asks = "length|start|at|causal|log|axis",
    .make = make_heads,
};

/* ---------------------------------------------------------------- bias */

static pe_status draw_matrix(show_sheet *to, const show_path *p, const double *term, bool causal, const show_subject *s,
                             const show_request *r, pe_error *err)
{
    figure *f;
    int64_t n = p->where.tokens, H = s->shape.heads;
    bool above = false, below = false;
    SHOW_TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
    double *v = figure_cells(f, (int)n, (int)n);
    for (int64_t i = 0; v && i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = v[i * n + j] = term[(i * H + r->head) * n + j];
            above = above || x > 0;
            below = below || x < 0;
        }
    f->midpoint = above && below;
    f->x_first = f->y_first = (double)r->start;
    show_title(f, &show_view_bias, s, r, PE_HOOK_BIAS);
    show_say(f, &f->x_label, r, (words){ "key", "键" });
    show_say(f, &f->y_label, r, (words){ "query", "查询" });
    show_caption(f, p, r,
                 causal
                     ? (words){ "Head %" PRId64 ", keys up to the query: what stands on one diagonal has one distance.",
                                "第 %" PRId64 " 头，只看查询之前的键：同一条对角线上距离相同。" }
                     : (words){ "Head %" PRId64 ": what stands on one diagonal has one distance.",
                                "第 %" PRId64 " 头：同一条对角线上距离相同。" },
                 r->head);
    return PE_OK;
}

/* As many rows and columns as there is time for. */
static int64_t matrix_most(const show_subject *s)
{
    int64_t most = (int64_t)sqrt(2 * (double)SHOW_WORK_MAX / (double)(s->shape.heads * s->work));
    return most < 1 ? 1 : most < MATRIX_MAX ? most : MATRIX_MAX;
}

static pe_status make_matrix(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *term = NULL;
    bool causal;
    SHOW_TRY(show_head(s, r, err));
    SHOW_TRY(show_is_causal(&causal, s, r, err));
    SHOW_TRY(path_new_whole(&path, s, r, MATRIX_LENGTH, matrix_most(s), "bias", err));
    pe_status status = show_terms(&term, s, r, path.where, path.where, causal, err);
    if (!status)
        status = draw_matrix(to, &path, term, causal, s, r, err);
    free(term);
    path_free(&path);
    return status;
}

const show_view show_view_bias = {
    .name = "bias",
    .title = { "What one head adds, query by key", "一个头加上的值（查询 × 键）" },
    .about = { "What is added to every score of one head, as a heat map; contents, where they matter, are the same "
               "everywhere.",
               "以热图显示一个头每个分数上加的值；与内容有关时，各处内容相同。" },
    .hooks = PE_HOOK_BIAS | PE_HOOK_CONTENT,
    .asks = "length|start|head|axis|causal",
    .make = make_matrix,
};
