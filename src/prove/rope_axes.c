/* SPDX-License-Identifier: MIT
 *
 * More than one coordinate: pairs shared out among the axes, or every pair turned by all of them. */
#include "prove/measures.h"

#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pe_status turn_at(double *to, const double *x, const measure_encoding *m, pe_side side, const int64_t *at,
                         pe_error *err)
{
    int64_t D = m->shape.head_dim;
    return pe_rotate(m->e, side, pe_view_of(to, PE_F64, 1, 1, 1, D),
                     pe_view_of((void *)(uintptr_t)x, PE_F64, 1, 1, 1, D),
                     pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(m->e)), &PE_MAKE(pe_run, .params = m->w), err);
}

static void step_along(int64_t *to, const int64_t *from, int64_t axis, int64_t by)
{
    memcpy(to, from, PE_AXES_MAX * sizeof *to);
    to[axis] += by;
}

/* What moving along one axis changes in elements whose pair is another axis's; largest. */
static pe_status outside(double *most, const measure_encoding *m, const double *x, int64_t axis, pe_error *err)
{
    int64_t P = pe_encoding_pair_count(m->e), here[PE_AXES_MAX] = { 3, 5, 7, 11, 13, 17, 19, 23 }, there[PE_AXES_MAX];
    double a[MEASURE_HEAD_MAX], b[MEASURE_HEAD_MAX];
    pe_pair pair[MEASURE_HEAD_MAX / 2];
    PROVE_TRY(pe_encoding_pairs(m->e, pair, P, err));
    step_along(there, here, axis, 9);
    PROVE_TRY(turn_at(a, x, m, PE_QUERY, here, err));
    PROVE_TRY(turn_at(b, x, m, PE_QUERY, there, err));
    for (int64_t p = 0; p < P; p++)
        if (pair[p].axis != axis)
            *most =
                fmax(*most, fmax(fabs(a[pair[p].x_out] - b[pair[p].x_out]), fabs(a[pair[p].y_out] - b[pair[p].y_out])));
    return PE_OK;
}

/* The score, not scaled, of q at `at` and k at the origin, both with the codes that the spec adds. */
static pe_status score(double *out, const measure_encoding *m, const double *q, const double *k, const int64_t *at,
                       pe_error *err)
{
    static const int64_t origin[PE_AXES_MAX];
    int64_t D = m->shape.head_dim;
    const double *from[2] = { q, k };
    const int64_t *place[2] = { at, origin };
    double with[2][MEASURE_HEAD_MAX];
    pe_view x[2];
    pe_positions p[2];
    for (int side = PE_QUERY; side <= PE_KEY; side++) {
        p[side] = pe_positions_of(place[side], PE_I64, 1, 1, pe_encoding_axes(m->e));
        x[side] = pe_view_of(with[side], PE_F64, 1, 1, 1, D);
        PROVE_TRY(pe_embed(m->e, x[side], pe_view_of((void *)(uintptr_t)from[side], PE_F64, 1, 1, 1, D), p[side],
                           &PE_MAKE(pe_run, .params = m->w), err));
    }
    pe_attention a = PE_MAKE(pe_attention, .q = x[0], .k = x[1], .q_at = p[0], .k_at = p[1], .scale = 1,
                             .scores = pe_view_of(out, PE_F64, 1, 1, 1, 1));
    return zoo_look(m->e, a, m->w, err);
}

/* s(x, y) - s(x, 0) - s(0, y) + s(0, 0): 0 where each axis adds a part of its own. */
static pe_status mixed(double *most, const measure_encoding *m, const double *q, const double *k, int64_t axis,
                       int64_t other, pe_error *err)
{
    int64_t at[4][PE_AXES_MAX] = { { 0 } };
    double s[4];
    step_along(at[1], at[0], axis, 4);
    step_along(at[2], at[0], other, 3);
    step_along(at[3], at[1], other, 3);
    for (int n = 0; n < 4; n++)
        PROVE_TRY(score(&s[n], m, q, k, at[n], err));
    *most = fmax(*most, fabs(s[3] - s[1] - s[2] + s[0]));
    return PE_OK;
}

static pe_status look_at_axes(double *most, const char *spec, const prove_given *g, prove_finding *out, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX], strange = 0, joint = 0;
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, spec, g, err));
    measure_normals(q, g->head_dim, 1, g->seed);
    measure_normals(k, g->head_dim, 1, g->seed + 1);
    pe_status status = PE_OK;
    for (int64_t a = 0; !status && a < pe_encoding_axes(m.e); a++) {
        status = outside(&strange, &m, q, a, err);
        for (int64_t b = 0; !status && b < a; b++)
            status = mixed(&joint, &m, q, k, a, b, err);
    }
    measure_close(&m);
    prove_add(out, (words){ "score that belongs to no single axis, largest", "分数中不属于任何单一轴的部分，最大" },
              spec, joint, "");
    prove_add(out, (words){ "change in pairs of other axes, largest", "其他轴的维度对的最大变化" }, spec, strange, "");
    *most = fmax(*most, fmax(strange, joint));
    return status;
}

/* given: specs of two axes or more, head_dim. REFUTED where one of them mixes its axes. */
pe_status measure_axes_apart(prove_finding *out, const prove_given *g, pe_error *err)
{
    double most = 0;
    for (int i = 0; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        PROVE_TRY(look_at_axes(&most, g->spec[i], g, out, err));
    bool apart = most < MEASURE_ROUNDING;
    measure_add_first(out, (words){ "largest of all below", "以下各项的最大值" }, "", most, "");
    prove_say(
        out, apart ? PROVE_HOLDS : PROVE_REFUTED,
        apart ? (words){ "A step along one axis turns its own pairs only; the score is a sum over the axes.",
                         "沿一个轴移动只转动该轴自己的维度对；分数是各轴之和。" }
              : (words){ "The score has a part that belongs to two axes at once.", "分数里有同时属于两个轴的部分。" });
    return PE_OK;
}

/* ------------------------------------------------ all axes in one pair */

/* Where (x, y) stands for this spec: on its two axes, or, of one that has a single axis, turned by both together. */
static void place(int64_t at[PE_AXES_MAX], const measure_encoding *m, int64_t x, int64_t y)
{
    at[0] = pe_encoding_axes(m->e) > 1 ? x : x + y;
    at[1] = y;
}

/* turned (side^2, D): one vector at every cell of a square. */
static pe_status turn_square(double *turned, const measure_encoding *m, const double *x, int64_t side, pe_error *err)
{
    int64_t at[PE_AXES_MAX] = { 0 };
    for (int64_t n = 0; n < side * side; n++) {
        place(at, m, n / side, n % side);
        PROVE_TRY(turn_at(turned + n * m->shape.head_dim, x, m, PE_QUERY, at, err));
    }
    return PE_OK;
}

static int64_t distinct(const double *turned, int64_t count, int64_t D)
{
    int64_t different = 0;
    for (int64_t n = 0; n < count; n++) {
        bool fresh = true;
        for (int64_t before = 0; fresh && before < n; before++)
            fresh = measure_difference(turned + n * D, turned + before * D, D) > MEASURE_ROUNDING;
        different += fresh;
    }
    return different;
}

/* given: spec, head_dim, length (side of the square). The claim is that x and y can share every pair; HOLDS where all
 * cells differ, as for a spec of two axes. */
pe_status measure_axes_in_one_pair(prove_finding *out, const prove_given *g, pe_error *err)
{
    double x[MEASURE_HEAD_MAX];
    int64_t D = g->head_dim, side = g->length, different = 0;
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    measure_normals(x, D, 1, g->seed);
    double *turned = measure_memory(side * side, D, err);
    pe_status status = turned ? turn_square(turned, &m, x, side, err) : PE_ERR_NOMEM;
    if (!status) {
        different = distinct(turned, side * side, D);
        prove_add(out, (words){ "distinct places of a square", "方格中可区分的位置数" }, g->spec[0], (double)different,
                  "");
        prove_add(out, (words){ "cells of the square", "方格的总格数" }, "", (double)(side * side), "");
        prove_add(out, (words){ "difference of (1, 0) and (0, 1)", "(1,0) 与 (0,1) 的差" }, g->spec[0],
                  measure_difference(turned + side * D, turned + D, D), "");
    }
    free(turned);
    measure_close(&m);
    bool apart = different == side * side;
    prove_say(out, apart ? PROVE_HOLDS : PROVE_REFUTED,
              apart ? (words){ "All places of the square are told apart.", "方格中的所有位置都可区分。" }
                    : (words){ "Only x + y is seen: all places of a diagonal are one.",
                               "只看得到 x+y：同一条对角线上的位置完全重合。" });
    return status;
}
