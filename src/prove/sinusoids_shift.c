/* SPDX-License-Identifier: MIT
 *
 * A shift is a rotation: M(k) by least squares. */
#include "prove/sinusoids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 400

/* Codes of random positions, and of the same shifted by k. */
static pe_status shifted_codes(double *code, double *image, const measure_encoding *m, int64_t limit, int64_t k,
                               uint64_t *state, pe_error *err)
{
    int64_t d = measure_width(m);
    for (int64_t n = 0; n < SAMPLES; n++) {
        int64_t t = measure_range(state, 0, limit);
        PROVE_TRY(measure_codes(code + n * d, m, t, 1, err));
        PROVE_TRY(measure_codes(image + n * d, m, t + k, 1, err));
    }
    return PE_OK;
}

typedef struct shift_map {
    double residual;    /* on positions that it was not found with */
    double skew;        /* of M' M - 1 */
    double determinant; /* of M */
    int64_t filled;     /* most elements of a row that are not 0 */
} shift_map;

static int64_t most_filled(const double *M, int64_t d)
{
    int64_t most = 0;
    for (int64_t i = 0; i < d; i++) {
        int64_t n = 0;
        for (int64_t j = 0; j < d; j++)
            n += fabs(M[i * d + j]) > MEASURE_ROUNDING;
        most = n > most ? n : most;
    }
    return most;
}

static void shift_look(shift_map *s, double *M, const double *code, const double *image, int64_t d)
{
    s->residual = 0;
    for (int64_t n = 0; n < SAMPLES; n++)
        for (int64_t i = 0; i < d; i++)
            s->residual = fmax(s->residual, fabs(measure_dot(M + i * d, code + n * d, d) - image[n * d + i]));
    s->skew = measure_skew(M, d);
    s->filled = most_filled(M, d);
    s->determinant = measure_determinant(M, d); /* uses M up */
}

static pe_status shift_of(shift_map *s, const measure_encoding *m, const prove_given *g, int64_t k, pe_error *err)
{
    int64_t d = measure_width(m);
    uint64_t state = g->seed;
    double *M = measure_memory(d, d, err), *code = measure_memory(SAMPLES, d, err),
           *image = measure_memory(SAMPLES, d, err), fitted;
    pe_status status =
        M && code && image ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for %lld codes", SAMPLES * 2LL);
    status = status ? status : shifted_codes(code, image, m, g->length, k, &state, err);
    status = status ? status : measure_map(M, &fitted, code, d, image, d, SAMPLES, err);
    status = status ? status : shifted_codes(code, image, m, g->length, k, &state, err);
    if (!status)
        shift_look(s, M, code, image, d);
    free(M), free(code), free(image);
    return status;
}

pe_status sinusoids_shift(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t shifts[] = { 1, 7, 100 };
    measure_encoding m;
    bool linear = true, turns = true;
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int n = 0; !status && n < 3; n++) {
        shift_map s;
        measure_text of = measure_named("k = ", (double)shifts[n]);
        status = shift_of(&s, &m, g, shifts[n], err);
        if (status)
            break;
        prove_add(out, (words){ "|p(t+k) - M(k) p(t)|, other t", "|p(t+k) - M(k) p(t)|（另取的 t）" }, of.is,
                  s.residual, "");
        prove_add(out, (words){ "distance of M'M from 1", "M'M 与单位阵之差" }, of.is, s.skew, "");
        prove_add(out, (words){ "determinant of M", "M 的行列式" }, of.is, s.determinant, "");
        prove_add(out, (words){ "elements of a row that are not 0", "每行的非零元素个数" }, of.is, (double)s.filled,
                  "");
        linear = linear && s.residual < MEASURE_ROUNDING;
        turns = turns && s.skew < MEASURE_ROUNDING && fabs(s.determinant - 1) < MEASURE_ROUNDING;
    }
    measure_close(&m);
    if (linear && turns)
        prove_say(out, PROVE_HOLDS,
                  (words){ "M depends on k alone, is orthogonal with determinant 1, and turns one pair at a time.",
                           "M 只依赖 k，正交且行列式为 1，并且每次只旋转一对维度。" });
    else if (linear)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "The shift is linear, but not a rotation.", "平移是线性的，但不是旋转。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "No one matrix shifts all positions.", "没有一个矩阵能平移所有位置。" });
    return status;
}
