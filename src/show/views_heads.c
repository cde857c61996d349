/* SPDX-License-Identifier: MIT
 *
 * What is added to the scores: of several heads against the distance (heads), and of one head, query by key (bias). */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define HEADS_LENGTH 129
#define MATRIX_LENGTH 32
#define MATRIX_MAX 1024

/* ---------------------------------------------------------------- heads */

typedef struct heads_terms {
    show_path path;
    int64_t query; /* a point of the path */
    double *term;  /* (H, points) */
    bool causal;
} heads_terms;

static pe_status heads_new(heads_terms *c, const show_subject *s, const show_request *r, pe_error *err)
{
    *c = (heads_terms){ 0 };
    TRY(show_is_causal(&c->causal, s, r, err));
    c->causal = c->causal || r->log;
    TRY(path_new(&c->path, s, r, HEADS_LENGTH, SHOW_POINTS_MAX, err));
    int64_t n = c->path.where.tokens;
    TRY(path_point(&c->query, &c->path, r, c->causal ? n - 1 : n / 2, err));
    return show_terms(&c->term, s, r, path_one(&c->path, c->query), c->path.where, c->causal, err);
}

/* Points go from the last key to the first; a logarithmic axis begins at distance 1. */
static void heads_put_line(figure *f, const heads_terms *c, int64_t head, const show_request *r)
{
    char name[80];
    int64_t n = c->path.where.tokens;
    snprintf(name, sizeof name, say((words){ "head %d", "第 %d 头" }, r->language), (int)head);
    double *y = figure_add_series(f, name, NULL, (int)n);
    for (int64_t i = 0; y && i < n; i++) {
        int64_t key = n - 1 - i;
        double distance = (double)((c->query - key) * c->path.step);
        f->series[f->series_count - 1].x[i] = r->log ? fmax(distance, 1) : distance;
        y[i] = r->log && distance < 1 ? NAN : c->term[head * n + key];
    }
}

static void heads_caption(figure *f, const heads_terms *c, int heads, const show_subject *s, const show_request *r)
{
    if (s->params.count) {
        show_caption(f, &c->path, r,
                     (words){ "%d of %" PRId64 " heads, before training, with parameters drawn at random: a trained "
                              "model's lines differ.",
                              "画出 %d 个头（共 %" PRId64 " 个），未经训练，参数是随机的：训练后的线与此不同。" },
                     heads, s->shape.heads);
        return;
    }
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
                 "earlier key.",
                 "画出 %d 个头（共 %" PRId64 " 个）。第 %" PRId64 " 头变化最大，从距离 0 到最远的键变化 %.3g。" },
        heads, s->shape.heads, at, most);
}

static pe_status heads_draw(show_sheet *to, const heads_terms *c, const show_subject *s, const show_request *r,
                            pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX];
    int heads = show_pick_heads(pick, SHOW_LINES_MAX, s->shape.heads);
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    for (int i = 0; i < heads; i++)
        heads_put_line(f, c, pick[i], r);
    f->x_log2 = r->log;
    show_title(f, &show_view_heads, s, r, PE_HOOK_BIAS);
    show_say(f, &f->x_label, r, (words){ "distance, query − key", "距离（查询 − 键）" });
    show_say(f, &f->y_label, r, (words){ "added to the score", "加到分数上的值" });
    heads_caption(f, c, heads, s, r);
    return PE_OK;
}

static pe_status heads_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    heads_terms c;
    TRY(heads_new(&c, s, r, err));
    return heads_draw(to, &c, s, r, err);
}

const show_view show_view_heads = {
    .name = "heads",
    .title = { "What each head adds", "每个头加上的值" },
    .about = { "The bias of each head against the distance: steep heads attend to near keys, flat heads to far ones.",
               "每个头的偏置随距离的变化：陡的头看近处，平的头看远处。" },
    .hooks = PE_HOOK_BIAS,
    .first = true,
    .asks = "length|start|at|causal|log|axis",
    .make = heads_make,
};

/* ---------------------------------------------------------------- bias */

static pe_status bias_draw(show_sheet *to, const show_path *p, const double *term, bool causal, const show_subject *s,
                           const show_request *r, pe_error *err)
{
    figure *f;
    int64_t n = p->where.tokens, H = s->shape.heads;
    bool above = false, below = false;
    TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
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
    if (pe_encoding_replaces(s->e))
        show_say(f, &f->title, r,
                 (words){ "What one head has in place of q·k, query by key", "一个头代替 q·k 的值（查询 × 键）" });
    show_say(f, &f->x_label, r, (words){ "key", "键" });
    show_say(f, &f->y_label, r, (words){ "query", "查询" });
    show_caption(f, p, r,
                 causal
                     ? (words){ "Head %" PRId64 ", keys up to the query: cells on one diagonal have the same distance.",
                                "第 %" PRId64 " 头，只看查询之前的键：同一条对角线上距离相同。" }
                     : (words){ "Head %" PRId64 ": cells on one diagonal have the same distance.",
                                "第 %" PRId64 " 头：同一条对角线上距离相同。" },
                 r->head);
    return PE_OK;
}

/* The most rows and columns that SHOW_WORK_MAX allows. */
static int64_t bias_most(const show_subject *s)
{
    int64_t most = (int64_t)sqrt(2 * (double)SHOW_WORK_MAX / (double)(s->shape.heads * s->work));
    return most < 1 ? 1 : most < MATRIX_MAX ? most : MATRIX_MAX;
}

static pe_status bias_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *term;
    bool causal;
    TRY(show_head(s, r, err));
    TRY(show_is_causal(&causal, s, r, err));
    TRY(path_new_whole(&path, s, r, MATRIX_LENGTH, bias_most(s), "bias", err));
    TRY(show_terms(&term, s, r, path.where, path.where, causal, err));
    return bias_draw(to, &path, term, causal, s, r, err);
}

const show_view show_view_bias = {
    .name = "bias",
    .title = { "What one head adds, query by key", "一个头加上的值（查询 × 键）" },
    .about = { "What is added to every score of one head, as a heat map; contents, where they matter, are the same "
               "everywhere.",
               "以热图显示一个头每个分数上加的值；与内容有关时，各处内容相同。" },
    .hooks = PE_HOOK_BIAS | PE_HOOK_CONTENT,
    .asks = "length|start|head|axis|causal",
    .make = bias_make,
};
