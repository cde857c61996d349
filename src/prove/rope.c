/* SPDX-License-Identifier: MIT
 *
 * Claims about rotary embeddings: scores depend on distance, lengths are kept, the matrix rotates, several axes. */
#include "prove/measure.h"
#include "prove/scores.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* given: spec, heads, head_dim, length. REFUTED where a common step changes scores by more than rounding; steps that
 * are not served are left out, all but the first. */
static pe_status measure_relative_only(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t step[] = { 1, 1000, 1000000, INT64_C(1) << 35 };
    static const char *const name[] = { "1", "1000", "1000000", "2^35" };
    static const words what = { "largest change, of the score, under a step of", "整体平移后分数的最大相对变化，步长" };
    double most = 0;
    int out_of_reach = 0;
    scores s;
    TRY(scores_open(&s, g->spec[0], g, err));
    double *here = measure_memory(2, s.size, err), *there = here ? here + s.size : NULL;
    pe_status status = here ? scores_make(here, &s, SCORES_BOTH, err) : PE_ERR_NOMEM;
    for (int n = 3; !status && n >= 0; n--) {
        status = scores_shifted(there, &s, SCORES_BOTH, step[n], err);
        if (status && status != PE_ERR_NOMEM && n) {
            status = PE_OK;
            out_of_reach++;
            continue;
        }
        double change = status ? 0 : measure_difference(here, there, s.size) / scores_rms(here, &s);
        most = fmax(most, change);
        prove_add(out, what, name[n], change, "");
    }
    if (out_of_reach)
        prove_add(out, (words){ "farther steps left out, for they are not served", "未测的更大步长数（不支持）" },
                  g->spec[0], out_of_reach, "");
    free(here);
    scores_close(&s);
    bool relative = most < PROVE_ROUNDING;
    prove_judge(
        out, relative,
        (words){ "Scores stay as they are when all positions move by the same step.", "所有位置一起平移时分数不变。" },
        (words){ "Scores change when all positions move by the same step.", "所有位置一起平移时分数会变。" });
    return status;
}

/* ------------------------------------------------ one vector at one place */

static pe_status rotate_at(double *to, const double *x, const measure_encoding *m, pe_side side, const int64_t *at,
                           pe_error *err)
{
    int64_t H = m->shape.heads, D = m->shape.head_dim;
    return pe_rotate(m->e, side, pe_view_of(to, PE_F64, 1, 1, H, D),
                     pe_view_of((void *)(uintptr_t)x, PE_F64, 1, 1, H, D),
                     pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(m->e)), &PE_MAKE(pe_run, .params = m->w), err);
}

static pe_status rotate(double *to, const double *x, const measure_encoding *m, pe_side side, int64_t position,
                        pe_error *err)
{
    int64_t at[PE_AXES_MAX];
    for (int a = 0; a < PE_AXES_MAX; a++)
        at[a] = position;
    return rotate_at(to, x, m, side, at, err);
}

/* given: spec, heads, head_dim, length (the farthest position). REFUTED where a rotated vector is longer or shorter. */
static pe_status measure_norms_kept(prove_finding *out, const prove_given *g, pe_error *err)
{
    double x[MEASURE_HEAD_MAX], y[MEASURE_HEAD_MAX], most = 0, moved = 0;
    int64_t D = g->head_dim;
    measure_encoding m;
    TRY(measure_open_head(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int64_t n = 0; !status && n < 200; n++) {
        measure_normals(x, D, 1, g->seed + (uint64_t)n);
        status = rotate(y, x, &m, n % 2 ? PE_QUERY : PE_KEY, n * g->length / 199, err);
        if (!status) {
            most = fmax(most, fabs(sqrt(measure_dot(y, y, D) / measure_dot(x, x, D)) - 1));
            moved = fmax(moved, measure_difference(x, y, D));
        }
    }
    measure_close(&m);
    bool kept = most < PROVE_ROUNDING;
    prove_add(out, (words){ "largest change of a length", "模长的最大变化" }, g->spec[0], 100 * most, "%");
    prove_add(out, (words){ "largest change of an element", "元素的最大变化" }, g->spec[0], moved, "");
    prove_judge(
        out, kept, (words){ "Vectors change direction and keep their length.", "向量只改变方向，模长不变。" },
        (words){ "A factor on cos and sin makes vectors longer or shorter.", "cos、sin 上带有系数，模长因此改变。" });
    return status;
}

/* ------------------------------------------------ the matrix */

/* R (D, D): column c is what the library makes of the c-th unit vector. */
static pe_status matrix(double *R, const measure_encoding *m, pe_side side, int64_t position, pe_error *err)
{
    int64_t D = m->shape.head_dim;
    double x[MEASURE_HEAD_MAX], y[MEASURE_HEAD_MAX];
    for (int64_t c = 0; c < D; c++) {
        memset(x, 0, sizeof x);
        x[c] = 1;
        TRY(rotate(y, x, m, side, position, err));
        for (int64_t r = 0; r < D; r++)
            R[r * D + c] = y[r];
    }
    return PE_OK;
}

/* The formula of the paper: x cos - y sin, x sin + y cos for each pair, with libm's cos and sin. */
static pe_status pairwise(double *to, const double *x, const measure_encoding *m, double position, pe_error *err)
{
    int64_t P = pe_encoding_pair_count(m->e);
    pe_pair pair[MEASURE_HEAD_MAX / 2];
    TRY(pe_encoding_pairs(m->e, pair, P, err));
    memcpy(to, x, (size_t)m->shape.head_dim * sizeof *to);
    for (int64_t p = 0; p < P; p++) {
        double c = cos(position * pair[p].frequency), s = sin(position * pair[p].frequency);
        to[pair[p].x_out] = x[pair[p].x] * c - x[pair[p].y] * s;
        to[pair[p].y_out] = x[pair[p].x] * s + x[pair[p].y] * c;
    }
    return PE_OK;
}

typedef struct forms {
    double apart;   /* R x less the pairwise form, largest */
    double compose; /* R_m' R_n less R_(n-m), largest */
    double zeros;   /* share of R's elements that are 0 */
} forms;

static pe_status compare_forms(forms *f, const measure_encoding *m, double *R, const prove_given *g, pe_error *err)
{
    int64_t D = g->head_dim, from = 7, to = g->length;
    double *Q = R + D * D, *N = Q + D * D, x[MEASURE_HEAD_MAX], y[MEASURE_HEAD_MAX];
    TRY(matrix(Q, m, PE_QUERY, from, err));
    TRY(matrix(R, m, PE_KEY, to, err));
    TRY(matrix(N, m, PE_KEY, to - from, err));
    measure_normals(x, D, 1, g->seed);
    TRY(pairwise(y, x, m, (double)to, err));
    for (int64_t r = 0; r < D; r++) {
        f->apart = fmax(f->apart, fabs(measure_dot(R + r * D, x, D) - y[r]));
        for (int64_t c = 0; c < D; c++) {
            double sum = 0;
            for (int64_t k = 0; k < D; k++)
                sum += Q[k * D + r] * R[k * D + c];
            f->compose = fmax(f->compose, fabs(sum - N[r * D + c]));
            f->zeros += R[r * D + c] == 0 ? 1 / (double)(D * D) : 0;
        }
    }
    return PE_OK;
}

/* given: spec (one that rotates), head_dim, length (a position). REFUTED where a factor enters, as in YaRN and xPos. */
static pe_status measure_matrix_form(prove_finding *out, const prove_given *g, pe_error *err)
{
    forms f = { 0 };
    measure_encoding m;
    TRY(measure_open_head(&m, g->spec[0], g, err));
    double *R = measure_memory(3 * g->head_dim, g->head_dim, err);
    pe_status status = R ? compare_forms(&f, &m, R, g, err) : PE_ERR_NOMEM;
    free(R);
    measure_close(&m);
    bool same = f.apart < PROVE_ROUNDING && f.compose < PROVE_ROUNDING;
    prove_add(out, (words){ "R x less the pairwise form, largest", "矩阵形式与逐对形式的最大差" }, g->spec[0], f.apart,
              "");
    prove_add(out, (words){ "R_m' R_n less R_(n-m), largest", "R_mᵀR_n 与 R_(n-m) 的最大差" }, g->spec[0], f.compose,
              "");
    prove_add(out, (words){ "elements of R that are 0", "R 中为零的元素" }, g->spec[0], 100 * f.zeros, "%");
    prove_add(out, (words){ "products of the matrix form", "矩阵形式的乘法次数" }, g->spec[0],
              (double)(g->head_dim * g->head_dim), "");
    prove_add(out, (words){ "products of the pairwise form", "逐对形式的乘法次数" }, g->spec[0],
              4 * (double)(g->head_dim / 2), "");
    prove_judge(out, same,
                (words){ "Both forms agree; nearly all of the matrix is zeros that need not be multiplied.",
                         "两种形式一致；矩阵几乎全是零，不必去乘。" },
                (words){ "The matrix is not that of a plain rotation: it contains a factor.",
                         "这个矩阵不是单纯的旋转：里面还有系数。" });
    return status;
}

/* given: spec, head_dim, length (the farthest position). REFUTED where rotating both differs from rotating one by the
 * difference. */
static pe_status measure_rotates_once(prove_finding *out, const prove_given *g, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX], a[MEASURE_HEAD_MAX], b[MEASURE_HEAD_MAX], most = 0;
    int64_t D = g->head_dim;
    measure_encoding m;
    TRY(measure_open_head(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int64_t n = 0; !status && n < 100; n++) {
        int64_t i = n * 37 % (g->length + 1), j = n * 101 % (g->length + 1);
        measure_normals(q, D, 1 / sqrt((double)D), g->seed + (uint64_t)n);
        measure_normals(k, D, 1 / sqrt((double)D), g->seed + 1000 + (uint64_t)n);
        status = rotate(a, q, &m, PE_QUERY, i, err);
        status = status ? status : rotate(b, k, &m, PE_KEY, j, err);
        double both = status ? 0 : measure_dot(a, b, D);
        status = status ? status : rotate(b, k, &m, PE_KEY, j - i, err);
        most = status ? most : fmax(most, fabs(both - measure_dot(q, b, D)));
    }
    measure_close(&m);
    bool same = most < PROVE_ROUNDING;
    prove_add(out,
              (words){ "(R_m q).(R_n k) less q.(R_(n-m) k), largest", "(R_m q)·(R_n k) 与 q·(R_(n-m) k) 的最大差" },
              g->spec[0], most, "");
    prove_judge(out, same,
                (words){ "Rotating both equals rotating one of them by the difference.",
                         "两边各转一次，等于一边转过位置之差。" },
                (words){ "Rotating one by the difference gives a different score: a factor on both counts twice.",
                         "只转一边分数不同：两边的系数会乘两次。" });
    return status;
}

/* ------------------------------------------------ several axes */

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
    TRY(pe_encoding_pairs(m->e, pair, P, err));
    step_along(there, here, axis, 9);
    TRY(rotate_at(a, x, m, PE_QUERY, here, err));
    TRY(rotate_at(b, x, m, PE_QUERY, there, err));
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
        TRY(pe_embed(m->e, x[side], pe_view_of((void *)(uintptr_t)from[side], PE_F64, 1, 1, 1, D), p[side],
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
        TRY(score(&s[n], m, q, k, at[n], err));
    *most = fmax(*most, fabs(s[3] - s[1] - s[2] + s[0]));
    return PE_OK;
}

static pe_status look_at_axes(double *most, const char *spec, const prove_given *g, prove_finding *out, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX], strange = 0, joint = 0;
    measure_encoding m;
    TRY(measure_open_head(&m, spec, g, err));
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
static pe_status measure_axes_apart(prove_finding *out, const prove_given *g, pe_error *err)
{
    double most = 0;
    for (int i = 0; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        TRY(look_at_axes(&most, g->spec[i], g, out, err));
    bool apart = most < PROVE_ROUNDING;
    measure_add_first(out, (words){ "largest of all below", "以下各项的最大值" }, "", most, "");
    prove_judge(out, apart,
                (words){ "A step along one axis rotates its own pairs only; the score is a sum over the axes.",
                         "沿一个轴移动只转动该轴自己的维度对；分数是各轴之和。" },
                (words){ "The score has a part that belongs to two axes at once.", "分数里有同时属于两个轴的部分。" });
    return PE_OK;
}

/* ------------------------------------------------ all axes in one pair */

/* The position of (x, y) for this spec: its two axes, or x + y if it has one axis. */
static void place_point(int64_t at[PE_AXES_MAX], const measure_encoding *m, int64_t x, int64_t y)
{
    at[0] = pe_encoding_axes(m->e) > 1 ? x : x + y;
    at[1] = y;
}

/* rotated (side^2, D): one vector at every cell of a square. */
static pe_status rotate_square(double *rotated, const measure_encoding *m, const double *x, int64_t side, pe_error *err)
{
    int64_t at[PE_AXES_MAX] = { 0 };
    for (int64_t n = 0; n < side * side; n++) {
        place_point(at, m, n / side, n % side);
        TRY(rotate_at(rotated + n * m->shape.head_dim, x, m, PE_QUERY, at, err));
    }
    return PE_OK;
}

static int64_t distinct(const double *rotated, int64_t count, int64_t D)
{
    int64_t different = 0;
    for (int64_t n = 0; n < count; n++) {
        bool fresh = true;
        for (int64_t before = 0; fresh && before < n; before++)
            fresh = measure_difference(rotated + n * D, rotated + before * D, D) > PROVE_ROUNDING;
        different += fresh;
    }
    return different;
}

/* given: spec, head_dim, length (side of the square). The claim is that x and y can share every pair; HOLDS where all
 * cells differ, as for a spec of two axes. */
static pe_status measure_axes_in_one_pair(prove_finding *out, const prove_given *g, pe_error *err)
{
    double x[MEASURE_HEAD_MAX];
    int64_t D = g->head_dim, side = g->length, different = 0;
    measure_encoding m;
    TRY(measure_open_head(&m, g->spec[0], g, err));
    measure_normals(x, D, 1, g->seed);
    double *rotated = measure_memory(side * side, D, err);
    pe_status status = rotated ? rotate_square(rotated, &m, x, side, err) : PE_ERR_NOMEM;
    if (!status) {
        different = distinct(rotated, side * side, D);
        prove_add(out, (words){ "distinct places of a square", "方格中可区分的位置数" }, g->spec[0], (double)different,
                  "");
        prove_add(out, (words){ "cells of the square", "方格的总格数" }, "", (double)(side * side), "");
        prove_add(out, (words){ "difference of (1, 0) and (0, 1)", "(1,0) 与 (0,1) 的差" }, g->spec[0],
                  measure_difference(rotated + side * D, rotated + D, D), "");
    }
    free(rotated);
    measure_close(&m);
    bool apart = different == side * side;
    prove_judge(out, apart, (words){ "All positions of the square differ.", "方格中的所有位置都可区分。" },
                (words){ "Only x + y matters: all positions of a diagonal are the same.",
                         "只看得到 x+y：同一条对角线上的位置完全重合。" });
    return status;
}

/* ---------------------------------------------------------------- the claims */

#define ROPE "Su et al. 2021"

static const prove_claim claims[] = {
    { .name = "rope-relative",
      .claim = { "With RoPE the score depends only on the distance of two tokens.",
                 "使用 RoPE 时，分数只看两个词元的距离，不看它们的绝对位置。" },
      .put = { "Its score depends only on the distance of two tokens.",
               "它的分数只看两个词元的距离，不看它们的绝对位置。" },
      .source = ROPE ", 3.1 (arXiv:2104.09864)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .heads = 2, .head_dim = 32, .length = 32, .seed = 7 },
      .measure = measure_relative_only,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-keeps-norms",
      .claim = { "RoPE changes the direction of a vector and never its length.",
                 "RoPE 只改变向量的方向，不改变模长。" },
      .put = { "It changes the direction of a vector and never its length.", "它只改变向量的方向，不改变模长。" },
      .source = ROPE ", 3.2.2 (arXiv:2104.09864)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .head_dim = 128, .length = 1000000, .seed = 7 },
      .measure = measure_norms_kept,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-matrix",
      .claim = { "The rotation is an orthogonal block matrix, mostly zeros, which the pairwise form computes without "
                 "building it.",
                 "旋转是一个几乎全为零的正交分块矩阵，逐对计算即可得到同样的结果，不必构造矩阵。" },
      .put = { "Its rotation is an orthogonal block matrix, mostly zeros, which the pairwise form computes without "
               "building it.",
               "它的旋转是一个几乎全为零的正交分块矩阵，逐对计算即可得到同样的结果，不必构造矩阵。" },
      .source = ROPE ", 3.4.2 (arXiv:2104.09864)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .head_dim = 128, .length = 1000, .seed = 7 },
      .measure = measure_matrix_form,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-turns-once",
      .claim = { "Rotating query and key equals rotating one of them by the difference: (R_m q)'(R_n k) = q' R_(n-m) "
                 "k.",
                 "查询和键各自旋转，等于只把其中一个转过位置之差：(R_m q)ᵀ(R_n k) = qᵀR_(n-m)k。" },
      .put = { "Rotating query and key with it equals rotating one of them by the difference: (R_m q)'(R_n k) = q' "
               "R_(n-m) k.",
               "用它把查询和键各自旋转，等于只把其中一个转过位置之差：(R_m q)ᵀ(R_n k) = qᵀR_(n-m)k。" },
      .source = ROPE ", 3.2.2 (arXiv:2104.09864)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .head_dim = 128, .length = 131072, .seed = 7 },
      .measure = measure_rotates_once,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-bound-decays",
      .claim = { "The bound of a rotated score decays with the distance.", "旋转后分数的上界随距离衰减。" },
      .put = { "The bound of a score that it rotates decays with the distance.", "经它旋转后，分数的上界随距离衰减。" },
      .source = ROPE ", 3.4.3 (arXiv:2104.09864)",
      .rule = { "It holds if the mean over all distances from n to 2n falls with every doubling; it is "
                "refuted if it rises before 256, where the paper's figure of the bound ends.",
                "成立的条件：上界在 [n, 2n) 所有距离上的均值随每次加倍而下降；若在 256（论文中上界图的终点）"
                "之前回升，则不成立。" },
      .sizes = { "Sizes: head_dim 128, 64 and 256.", "尺寸：head_dim 128、64、256。" },
      .given = { .spec = { "rope" }, .length = 131072 },
      .measure = measure_bound_decays,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-scores-decay",
      .claim = { "RoPE makes attention scores decay with the distance.", "RoPE 使注意力分数随距离衰减。" },
      .put = { "It makes attention scores decay with the distance.", "它使注意力分数随距离衰减。" },
      .source = ROPE ", 3.3 (arXiv:2104.09864); against it Barbero et al. 2024, 3 (arXiv:2410.06205)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .head_dim = 64, .length = 3126, .seed = 7 },
      .measure = measure_scores_decay,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-bands",
      .claim = { "Fast pairs tell near places apart; slow pairs hardly rotate within the context and carry content.",
                 "快的维度对用来区分近处位置；慢的维度对在上下文内几乎不转，用来承载内容。" },
      .put = { "Its fast pairs tell near places apart; its slow pairs hardly rotate within the context and carry "
               "content.",
               "它的快维度对用来区分近处位置；慢维度对在上下文内几乎不转，用来承载内容。" },
      .source = "Barbero et al. 2024, 4 (arXiv:2410.06205)",
      .rule = { "It holds if, in every context tried, some pair completes less than one rotation: such a "
                "pair has no two positions at one angle.",
                "成立的条件：在试过的每种长度下都有转不满一圈的维度对：这样的一对没有两个位置处在同一角度。" },
      .given = { .spec = { "rope:theta=10000", "rope:theta=500000" }, .head_dim = 128, .length = 131072 },
      .measure = measure_bands,
      .takes = PE_HOOK_ROTATE },
    { .name = "rope-axes",
      .claim = { "In two to four dimensions RoPE keeps the axes apart: each rotates its own pairs.",
                 "在二维到四维中，RoPE 的各轴互不影响：每个轴只转动自己的维度对。" },
      .source = "Su 2021 (kexue.fm/archives/8397); Wang et al. 2024, 2.1 (arXiv:2409.12191)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "rope:axes=2,split=axial", "rope:sections=8/12/12",
                           "rope:axes=4,split=alternate,pairs=adjacent", "rope:axes=2,split=oddeven" },
                 .head_dim = 64,
                 .seed = 7 },
      .measure = measure_axes_apart },
    { .name = "rope-one-pair-for-all-axes",
      .claim = { "Every pair can be rotated by x and y together: the axes need no pairs of their own.",
                 "可以让每个维度对同时按 x 和 y 旋转，不必把维度分给各轴。" },
      .source = "Su 2021 (kexue.fm/archives/8397): a pair rotated by x + y cannot tell x from y",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "rope" }, .head_dim = 64, .length = 12, .seed = 7 },
      .measure = measure_axes_in_one_pair },
};

const prove_group prove_group_rope = { .name = "rotary",
                                       .title = { "Rotary embedding", "旋转位置编码" },
                                       .claims = claims,
                                       .count = sizeof claims / sizeof *claims };
