/* SPDX-License-Identifier: MIT
 *
 * Pairs that turn: a dial each, with a hand per position. */
#include "show/views.h"

#include <inttypes.h>
#include <stdlib.h>

#define HANDS 12
#define HANDS_MAX 64 /* of a dial: more are no longer told apart */
#define DIALS 6

static void caption_dials(figure *f, const show_path *p, const show_request *r)
{
    int64_t last = r->start + p->length - 1;
    if (p->step > 1)
        show_caption(f, NULL, r,
                     (words){ "Where each pair points at %" PRId64 " of the positions %" PRId64 " to %" PRId64
                              ", evenly spread with the first and the last: one hand each.",
                              "每一对的指向：在 %" PRId64 " 个位置各画一根指针，均匀取自位置 %" PRId64 " 至 %" PRId64
                              "，含首尾。" },
                     p->where.tokens, r->start, last);
    else
        show_caption(f, NULL, r,
                     (words){ "Where each pair points at positions %" PRId64 " to %" PRId64 ": one hand per position.",
                              "位置 %" PRId64 " 至 %" PRId64 " 时每一对的指向：每个位置一根指针。" },
                     r->start, last);
}

static pe_status draw_dials(show_sheet *to, const show_path *p, const double *turn, int64_t pairs,
                            const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX], n = p->where.tokens;
    int picked;
    SHOW_TRY(show_pick(pick, &picked, r, pairs, DIALS, true, "pair", err));
    SHOW_TRY(show_figure(&f, to, FIGURE_DIALS, s, err));
    for (int i = 0; i < picked; i++) {
        char name[80];
        snprintf(name, sizeof name, say((words){ "pair %d", "第 %d 对" }, r->language), (int)pick[i]);
        double *y = figure_line(f, name, NULL, (int)n);
        for (int64_t t = 0; y && t < n; t++) {
            f->series[f->series_count - 1].x[t] = turn[t * pairs + pick[i]];
            y[t] = turn[(n + t) * pairs + pick[i]];
        }
    }
    show_title(f, &show_view_turns, s, r, PE_HOOK_ROTATE);
    caption_dials(f, p, r);
    return PE_OK;
}

/* The first and the last position are among those drawn. */
static void spread(show_path *p, const show_request *r)
{
    int64_t n = p->where.tokens;
    for (int64_t i = 1; p->step > 1 && i < n; i++)
        p->at[i * p->where.axes + r->axis] =
            r->start + (int64_t)((double)i / (double)(n - 1) * (double)(p->length - 1) + 0.5);
}

static pe_status make_turns(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *turn = NULL;
    int64_t pairs;
    SHOW_TRY(path_new(&path, s, r, HANDS, HANDS_MAX, err));
    spread(&path, r);
    pe_status status = show_turns(&turn, &pairs, s, path.where, err);
    if (!status)
        status = draw_dials(to, &path, turn, pairs, s, r, err);
    free(turn);
    path_free(&path);
    return status;
}

const show_view show_view_turns = {
    .name = "turns",
    .title = { "Pairs that turn", "旋转的对" },
    .about = { "A dial per pair with a hand per position: fast pairs go round, slow ones hardly leave their place.",
               "每对一个表盘，每个位置一根指针：快的对转很多圈，慢的几乎不动。" },
    .hooks = PE_HOOK_ROTATE,
    .asks = "length|start|axis|pairs",
    .make = make_turns,
};
