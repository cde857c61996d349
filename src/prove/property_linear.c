/* SPDX-License-Identifier: MIT
 *
 * code(t + k) = M(k) code(t): is there one M for all t? */
#include "prove/property.h"

#include <math.h>
#include <string.h>

#define SAMPLES 300

/* Takes a times y away from x. */
static void less(double *x, double a, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] -= a * y[i];
}

static void exchange(double *x, int64_t i, int64_t j, int64_t size)
{
    for (int64_t c = 0; c < size; c++) {
        double swap = x[i * size + c];
        x[i * size + c] = x[j * size + c];
        x[j * size + c] = swap;
    }
}

/* The code that is least explained, of those from rank on; -1: what is left is rounding and near-copies. */
static int64_t least_explained(const double *code, const double *norm, int64_t rank, int64_t n, int64_t size)
{
    int64_t next = -1;
    double most = 1e-8;
    for (int64_t i = rank; i < n; i++) {
        double left = norm[i] > 0 ? measure_dot(code + i * size, code + i * size, size) / norm[i] : 0;
        if (left > most)
            most = left, next = i;
    }
    return next;
}

/* Solves M code = image for n samples: returns the rank, code's first rows become an orthonormal basis and image's the
 * basis times M (Gram-Schmidt with pivots). norm (n) is memory. */
static int64_t solve(double *code, double *image, double *norm, int64_t n, int64_t size)
{
    int64_t rank = 0, next;
    for (int64_t i = 0; i < n; i++)
        norm[i] = measure_dot(code + i * size, code + i * size, size);
    for (; rank < n && rank < size && (next = least_explained(code, norm, rank, n, size)) >= 0; rank++) {
        exchange(code, next, rank, size);
        exchange(image, next, rank, size);
        norm[next] = norm[rank];
        double *basis = code + rank * size, *image_of = image + rank * size;
        double scale = 1 / sqrt(measure_dot(basis, basis, size));
        less(basis, 1 - scale, basis, size);
        less(image_of, 1 - scale, image_of, size);
        for (int64_t i = rank + 1; i < n; i++) {
            double a = measure_dot(code + i * size, basis, size);
            less(code + i * size, a, basis, size);
            less(image + i * size, a, image_of, size);
        }
    }
    return rank;
}

static bool is_new(const double *codes, int64_t count, const double *code, int64_t size)
{
    for (int64_t i = 0; i < count; i++)
        if (!memcmp(codes + i * size, code, (size_t)size * sizeof *code))
            return false;
    return true;
}

/* A position and the same shifted, both served. */
static void shifted_pair(property_subject *s, int64_t limit, const int64_t *shift, int64_t *at, int64_t *to)
{
    do {
        property_random(s, limit, at);
        for (int64_t a = 0; a < s->axes; a++)
            to[a] = at[a] + shift[a];
    } while (!property_serves(s, to));
}

/* M(k) is solved for on the first SAMPLES positions and tried on as many others, which reach as far as slow waves need
 * to be told apart (and not where xpos has grown by e^80). Codes that are all independent, a table shorter than its
 * vectors are wide, fit any map. */
static property_verdict linear_by(property_subject *s, const int64_t *shift)
{
    double *code = property_doubles(s, 2 * SAMPLES * s->size), *image = property_doubles(s, 2 * SAMPLES * s->size);
    double *norm = property_doubles(s, SAMPLES), worst = 0;
    int64_t limit = property_endless_axes(s) ? INT64_C(1) << 30 : 1000, distinct = 0;
    if (!code || !image || !norm)
        return PROPERTY_NOTHING;
    for (int i = 0; i < 2 * SAMPLES; i++) {
        int64_t at[PE_AXES_MAX], to[PE_AXES_MAX];
        shifted_pair(s, i % 2 ? 150 : limit, shift, at, to);
        property_codes(s, at, 1, code + i * s->size);
        property_codes(s, to, 1, image + i * s->size);
        distinct += i < SAMPLES && is_new(code, i, code + i * s->size, s->size);
    }
    int64_t rank = solve(code, image, norm, SAMPLES, s->size);
    for (int i = SAMPLES; i < 2 * SAMPLES; i++) {
        double *left = image + i * s->size, size = fmax(measure_largest(left, s->size), 1e-300);
        for (int64_t b = 0; b < rank; b++)
            less(left, measure_dot(code + i * s->size, code + b * s->size, s->size), image + b * s->size, s->size);
        worst = fmax(worst, measure_largest(left, s->size) / size);
    }
    if (rank == distinct && distinct > 1)
        return (property_verdict){ PROPERTY_NO_MEANING, (double)distinct };
    /* rounding, codes that grow e^10-fold (xpos) */
    return (property_verdict){ worst < 1e-8 ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

pe_shape property_narrow_shape(const property_subject *s)
{
    for (int64_t D = 8; D <= 32; D *= 2) {
        pe_encoding *e;
        pe_shape shape = { 2, 1, D, 16 };
        if (!pe_encoding_new(&e, s->spec, shape, NULL)) {
            pe_encoding_free(e);
            return shape;
        }
    }
    return s->shape;
}

/* A short shift and a long one: a short table is past its end after a long one, steps show only then. */
property_verdict property_linear(property_subject *given)
{
    property_subject s;
    int64_t near[PE_AXES_MAX], far[PE_AXES_MAX];
    uint64_t *r = &given->randomness;
    if (property_open(&s, given->spec, property_narrow_shape(given), PROPERTY_SEED, &given->err))
        return PROPERTY_NOTHING;
    for (int64_t a = 0; a < s.axes; a++) {
        near[a] = measure_range(r, 1, property_clamp(s.high[a] / 5, 1, 5));
        far[a] = property_clamp(s.high[a] / 3, 1, measure_range(r, 16, 40));
    }
    s.randomness = measure_random(r);
    property_verdict v = linear_by(&s, near), w = linear_by(&s, far);
    if (s.err.status)
        given->err = s.err;
    property_close(&s);
    return v.is == PROPERTY_FAILS || (v.is == PROPERTY_HOLDS && w.is == PROPERTY_HOLDS && v.number > w.number) ? v : w;
}
