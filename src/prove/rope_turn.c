/* SPDX-License-Identifier: MIT
 *
 * What a turn keeps: distances, lengths, and the matrix that it is. */
#include "prove/measures.h"
#include "prove/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* given: spec, heads, head_dim, length. REFUTED where a common step changes scores by more than rounding; steps that
 * are not served are left out, all but the first. */
pe_status measure_relative_only(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t step[] = { 1, 1000, 1000000, INT64_C(1) << 35 };
    static const char *const name[] = { "1", "1000", "1000000", "2^35" };
    static const words what = { "largest change, of the score, under a step of", "整体平移后分数的最大相对变化，步长" };
    double most = 0;
    int out_of_reach = 0;
    scores s;
    PROVE_TRY(scores_open(&s, g->spec[0], g, err));
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
    bool relative = most < MEASURE_ROUNDING;
    prove_say(out, relative ? PROVE_HOLDS : PROVE_REFUTED,
              relative ? (words){ "Scores stay as they are when all positions move by the same step.",
                                  "所有位置一起平移时分数不变。" }
                       : (words){ "Scores change when all positions move by the same step.",
                                  "所有位置一起平移时分数会变。" });
    return status;
}

/* ------------------------------------------------ one vector at one place */

static pe_status turn(double *to, const double *x, const measure_encoding *m, pe_side side, int64_t position,
                      pe_error *err)
{
    int64_t at[PE_AXES_MAX], axes = pe_encoding_axes(m->e), H = m->shape.heads, D = m->shape.head_dim;
    for (int64_t a = 0; a < axes; a++)
        at[a] = position;
    return pe_rotate(m->e, side, pe_view_of(to, PE_F64, 1, 1, H, D),
                     pe_view_of((void *)(uintptr_t)x, PE_F64, 1, 1, H, D), pe_positions_of(at, PE_I64, 1, 1, axes),
                     &PE_MAKE(pe_run, .params = m->w), err);
}

/* given: spec, heads, head_dim, length (the farthest position). REFUTED where a turned vector is longer or shorter. */
pe_status measure_norms_kept(prove_finding *out, const prove_given *g, pe_error *err)
{
    double x[MEASURE_HEAD_MAX], y[MEASURE_HEAD_MAX], most = 0, moved = 0;
    int64_t D = g->head_dim;
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int64_t n = 0; !status && n < 200; n++) {
        measure_normals(x, D, 1, g->seed + (uint64_t)n);
        status = turn(y, x, &m, n % 2 ? PE_QUERY : PE_KEY, n * g->length / 199, err);
        if (!status) {
            most = fmax(most, fabs(sqrt(measure_dot(y, y, D) / measure_dot(x, x, D)) - 1));
            moved = fmax(moved, measure_difference(x, y, D));
        }
    }
    measure_close(&m);
    bool kept = most < MEASURE_ROUNDING;
    prove_add(out, (words){ "largest change of a length", "模长的最大变化" }, g->spec[0], 100 * most, "%");
    prove_add(out, (words){ "largest change of an element", "元素的最大变化" }, g->spec[0], moved, "");
    prove_say(out, kept ? PROVE_HOLDS : PROVE_REFUTED,
              kept ? (words){ "Vectors change direction and keep their length.", "向量只改变方向，模长不变。" }
                   : (words){ "A factor on cos and sin makes vectors longer or shorter.",
                              "cos、sin 上带有系数，模长因此改变。" });
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
        PROVE_TRY(turn(y, x, m, side, position, err));
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
    PROVE_TRY(pe_encoding_pairs(m->e, pair, P, err));
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
    PROVE_TRY(matrix(Q, m, PE_QUERY, from, err));
    PROVE_TRY(matrix(R, m, PE_KEY, to, err));
    PROVE_TRY(matrix(N, m, PE_KEY, to - from, err));
    measure_normals(x, D, 1, g->seed);
    PROVE_TRY(pairwise(y, x, m, (double)to, err));
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
pe_status measure_matrix_form(prove_finding *out, const prove_given *g, pe_error *err)
{
    forms f = { 0 };
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    double *R = measure_memory(3 * g->head_dim, g->head_dim, err);
    pe_status status = R ? compare_forms(&f, &m, R, g, err) : PE_ERR_NOMEM;
    free(R);
    measure_close(&m);
    bool same = f.apart < MEASURE_ROUNDING && f.compose < MEASURE_ROUNDING;
    prove_add(out, (words){ "R x less the pairwise form, largest", "矩阵形式与逐对形式的最大差" }, g->spec[0], f.apart,
              "");
    prove_add(out, (words){ "R_m' R_n less R_(n-m), largest", "R_mᵀR_n 与 R_(n-m) 的最大差" }, g->spec[0], f.compose,
              "");
    prove_add(out, (words){ "elements of R that are 0", "R 中为零的元素" }, g->spec[0], 100 * f.zeros, "%");
    prove_add(out, (words){ "products of the matrix form", "矩阵形式的乘法次数" }, g->spec[0],
              (double)(g->head_dim * g->head_dim), "");
    prove_add(out, (words){ "products of the pairwise form", "逐对形式的乘法次数" }, g->spec[0],
              4 * (double)(g->head_dim / 2), "");
    prove_say(out, same ? PROVE_HOLDS : PROVE_REFUTED,
              same ? (words){ "Both forms agree; nearly all of the matrix is zeros that need not be multiplied.",
                              "两种形式一致；矩阵几乎全是零，不必去乘。" }
                   : (words){ "The matrix is not that of a plain turn: a factor is in it.",
                              "这个矩阵不是单纯的旋转：里面还有系数。" });
    return status;
}

/* given: spec, head_dim, length (the farthest position). REFUTED where turning both is not turning one by the rest. */
pe_status measure_turns_once(prove_finding *out, const prove_given *g, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX], a[MEASURE_HEAD_MAX], b[MEASURE_HEAD_MAX], most = 0;
    int64_t D = g->head_dim;
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int64_t n = 0; !status && n < 100; n++) {
        int64_t i = n * 37 % (g->length + 1), j = n * 101 % (g->length + 1);
        measure_normals(q, D, 1 / sqrt((double)D), g->seed + (uint64_t)n);
        measure_normals(k, D, 1 / sqrt((double)D), g->seed + 1000 + (uint64_t)n);
        status = turn(a, q, &m, PE_QUERY, i, err);
        status = status ? status : turn(b, k, &m, PE_KEY, j, err);
        double both = status ? 0 : measure_dot(a, b, D);
        status = status ? status : turn(b, k, &m, PE_KEY, j - i, err);
        most = status ? most : fmax(most, fabs(both - measure_dot(q, b, D)));
    }
    measure_close(&m);
    bool same = most < MEASURE_ROUNDING;
    prove_add(out,
              (words){ "(R_m q).(R_n k) less q.(R_(n-m) k), largest", "(R_m q)·(R_n k) 与 q·(R_(n-m) k) 的最大差" },
              g->spec[0], most, "");
    prove_say(out, same ? PROVE_HOLDS : PROVE_REFUTED,
              same ? (words){ "Turning both is turning one of them by the difference.",
                              "两边各转一次，等于一边转过位置之差。" }
                   : (words){ "Turning one by the difference gives another score: a factor on both counts twice.",
                              "只转一边分数不同：两边的系数会乘两次。" });
    return status;
}
