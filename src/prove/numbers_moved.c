/* SPDX-License-Identifier: MIT
 *
 * Turned in few bits, is a score still one of the distance? Queries and keys are rounded, turned and stored in a type,
 * and both tokens are moved by the same step: how far do the scores move, of their size? Three ways to turn:
 *   stored    the turn is exact, what comes of it is stored
 *   computed  cos and sin, each product and each sum are stored
 *   angles    position, frequency and angle too */
#include "prove/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STORED, COMPUTED, ANGLES, WAYS };
enum { TRIES = 64, PAIRS_MAX = MEASURE_HEAD_MAX / 2 };

typedef struct turner {
    measure_encoding m;
    pe_pair pair[PAIRS_MAX];
    int64_t pairs;
    round_fn *round;
} turner;

static pe_status turner_open(turner *t, const char *spec, const prove_given *g, round_fn *round, pe_error *err)
{
    *t = (turner){ .round = round };
    PROVE_TRY(measure_open_head(&t->m, spec, g, err));
    t->pairs = pe_encoding_pair_count(t->m.e);
    pe_status status = t->pairs ? pe_encoding_pairs(t->m.e, t->pair, t->pairs, err) : PE_OK;
    if (status)
        measure_close(&t->m);
    return status;
}

typedef struct angles {
    double c[PAIRS_MAX], s[PAIRS_MAX];
} angles;

/* cos and sin of a place, as the library has them or of angles in the type. */
static pe_status angles_of(angles *a, const turner *t, pe_side side, int way, pe_positions at, pe_error *err)
{
    double position = (double)io_position(at, 0, 0), angle[PAIRS_MAX] = { 0 };
    if (way == ANGLES) {
        round_all(&position, 1, t->round);
        for (int64_t p = 0; p < t->pairs; p++)
            angle[p] = t->pair[p].frequency;
        round_all(angle, t->pairs, t->round);
        for (int64_t p = 0; p < t->pairs; p++)
            angle[p] *= position;
        round_all(angle, t->pairs, t->round);
        for (int64_t p = 0; p < t->pairs; p++) {
            a->c[p] = cos(angle[p]);
            a->s[p] = sin(angle[p]);
        }
    } else
        PROVE_TRY(pe_rotate_table(t->m.e, side, pe_view_of(a->c, PE_F64, 1, 1, 1, t->pairs),
                                  pe_view_of(a->s, PE_F64, 1, 1, 1, t->pairs), at, &PE_MAKE(pe_run, .params = t->m.w),
                                  err));
    round_all(a->c, t->pairs, t->round);
    round_all(a->s, t->pairs, t->round);
    return PE_OK;
}

/* to = x first + sign y second of every pair, rounded after each product. */
static void combine(double *to, const turner *t, const double *x, const double *first, const double *second,
                    double sign)
{
    double a[PAIRS_MAX], b[PAIRS_MAX];
    for (int64_t p = 0; p < t->pairs; p++) {
        a[p] = x[t->pair[p].x] * first[p];
        b[p] = x[t->pair[p].y] * second[p];
    }
    round_all(a, t->pairs, t->round);
    round_all(b, t->pairs, t->round);
    for (int64_t p = 0; p < t->pairs; p++)
        to[p] = a[p] + sign * b[p];
}

static pe_status turn(double *to, const turner *t, pe_side side, int way, const double *x, int64_t place, pe_error *err)
{
    int64_t at[PE_AXES_MAX], axes = pe_encoding_axes(t->m.e), D = t->m.shape.head_dim;
    angles a;
    double low[PAIRS_MAX], high[PAIRS_MAX];
    for (int64_t n = 0; n < axes; n++)
        at[n] = place;
    pe_positions where = pe_positions_of(at, PE_I64, 1, 1, axes);
    memcpy(to, x, (size_t)D * sizeof *to);
    pe_view y = pe_view_of(to, PE_F64, 1, 1, 1, D);
    if (way == STORED || !t->pairs)
        PROVE_TRY(pe_rotate(t->m.e, side, y, y, where, &PE_MAKE(pe_run, .params = t->m.w), err));
    else {
        PROVE_TRY(angles_of(&a, t, side, way, where, err));
        combine(low, t, x, a.c, a.s, -1);
        combine(high, t, x, a.s, a.c, 1);
        for (int64_t p = 0; p < t->pairs; p++) {
            to[t->pair[p].x_out] = low[p];
            to[t->pair[p].y_out] = high[p];
        }
    }
    round_all(to, D, t->round);
    return PE_OK;
}

static pe_status score(double *out, const turner *t, int way, const double *qk, int64_t i, int64_t j, pe_error *err)
{
    double q[MEASURE_HEAD_MAX], k[MEASURE_HEAD_MAX];
    int64_t D = t->m.shape.head_dim;
    PROVE_TRY(turn(q, t, PE_QUERY, way, qk, i, err));
    PROVE_TRY(turn(k, t, PE_KEY, way, qk + D, j, err));
    *out = measure_dot(q, k, D);
    return PE_OK;
}

/* The change of a score as both tokens move by `step`, root of the mean square, of the size of a score; NAN where
 * something overflowed. */
static pe_status moved(double *change, const turner *t, int way, const prove_given *g, int64_t step, pe_error *err)
{
    double qk[2 * MEASURE_HEAD_MAX], here, there, off = 0, size = 0;
    uint64_t seed = g->seed;
    for (int n = 0; n < TRIES; n++) {
        int64_t distance = measure_range(&seed, 0, 63), from = measure_range(&seed, 0, 63);
        measure_normals(qk, 2 * g->head_dim, 1, seed);
        round_all(qk, 2 * g->head_dim, t->round);
        PROVE_TRY(score(&here, t, way, qk, from + distance, from, err));
        PROVE_TRY(score(&there, t, way, qk, from + step + distance, from + step, err));
        off += (there - here) * (there - here);
        size += here * here;
    }
    *change = sqrt(off / size);
    return PE_OK;
}

/* Changes of this way to turn, by step. */
static pe_status add_steps(double *most, prove_finding *out, const turner *t, int way, const prove_given *g,
                           const char *type, pe_error *err)
{
    static const words what[WAYS] = {
        { "change of scores at equal distance, turned and then stored", "等距离分数的变化：旋转后存储" },
        { "change of scores at equal distance, turned in that type", "等距离分数的变化：用该类型旋转" },
        { "change of scores at equal distance, angles in that type too", "等距离分数的变化：角度也用该类型" },
    };
    const int64_t step[] = { 1 << 8, 1 << 12, g->length };
    for (int n = 0; n < 3; n++) {
        double change = 0;
        char of[96];
        PROVE_TRY(moved(&change, t, way, g, step[n], err));
        snprintf(of, sizeof of, "%s, + %lld", type, (long long)step[n]);
        if (isfinite(change))
            prove_add(out, what[way], of, 100 * change, "%");
        else
            prove_add(out, (words){ "positions that overflow, the last of them", "溢出的位置，最远为" }, of,
                      (double)step[n], "");
        *most = fmax(*most, isfinite(change) ? change : 1);
    }
    return PE_OK;
}

static pe_status add_ways(double most[WAYS], prove_finding *out, const prove_given *g, round_fn *round,
                          const char *type, pe_error *err)
{
    turner t;
    PROVE_TRY(turner_open(&t, g->spec[0], g, round, err));
    pe_status status = PE_OK;
    for (int way = STORED; !status && way < WAYS; way++)
        status = add_steps(&most[way], out, &t, way, g, type, err);
    measure_close(&t.m);
    return status;
}

#define BROKEN 1e-3 /* of a score's size */

/* given: spec, head_dim, length (the farthest step). HOLDS where what is stored changes scores by more than BROKEN. */
static pe_status measure_moved(prove_finding *out, const prove_given *g, round_fn *round, const char *type,
                               pe_error *err)
{
    double most[WAYS] = { 0 }, fine[WAYS] = { 0 };
    PROVE_TRY(add_ways(most, out, g, round, type, err));
    if (round != round_f32)
        PROVE_TRY(add_ways(fine, out, g, round_f32, "float32", err));
    measure_add_first(out, (words){ "largest change, turned and then stored in", "旋转后存储时的最大变化，类型" }, type,
                      100 * most[STORED], "%");
    bool broken = most[STORED] > BROKEN;
    prove_say(out, broken ? PROVE_HOLDS : PROVE_REFUTED,
              broken ? (words){ "At one distance scores change by more than 0.1 % of their size as both tokens move; "
                                "what float32 does stands beside it.",
                                "距离不变，两个词元一起移动时，分数的变化超过其大小的 0.1%；float32 的结果列在旁边。" }
                     : (words){ "At one distance scores change by less than 0.1 % of their size as both tokens move.",
                                "距离不变，两个词元一起移动时，分数的变化不到其大小的 0.1%。" });
    return PE_OK;
}

#define MOVED(name, type)                                                                                              \
    pe_status measure_moved_##name(prove_finding *out, const prove_given *g, pe_error *err)                            \
    {                                                                                                                  \
        return measure_moved(out, g, round_##name, type, err);                                                         \
    }

MOVED(bf16, "bfloat16")
MOVED(f16, "float16")
MOVED(f32, "float32")
