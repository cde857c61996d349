/* SPDX-License-Identifier: MIT
 *
 * Predicates of codes: unique, the same at any length, bounded, separate by axis, shifted by one matrix. */
#include "prove/property.h"
#include "zoo/spec_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Codes alone: unique, the same at any length, bounded, separate by axis. */

#define EXACT 1e-13
#define TELLING 900 /* positions */

/* ---------------------------------------------------------------- unique */

typedef struct place {
    int64_t at[PE_AXES_MAX]; /* those past the axes are 0 */
} place;

static int by_coordinates(const void *a, const void *b)
{
    for (int i = 0; i < PE_AXES_MAX; i++) {
        int64_t x = ((const place *)a)->at[i], y = ((const place *)b)->at[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* Neighbours near and far, and positions a power of two apart, where tables and float formats repeat themselves; each
 * once. at (TELLING, axes), packed; how many. */
static int64_t telling_positions(property_subject *s, int64_t *at, place *p)
{
    place base = { { 0 } };
    int64_t n = 0, kept = 0;
    for (int64_t i = 0; n < TELLING; i++) {
        int64_t axis = i % s->axes, round = i / s->axes;
        if (round % 4 == 0)
            property_random(s, round < TELLING / 3 ? 300 : PE_POSITION_MAX, base.at);
        p[n] = base;
        p[n].at[axis] +=
            round < 2 * TELLING / 3 ? round % 4 : (INT64_C(1) << round % 37) - base.at[axis] * (round % 4 < 2);
        n += property_serves(s, p[n].at);
    }
    qsort(p, (size_t)n, sizeof *p, by_coordinates);
    for (int64_t i = 0; i < n; i++)
        if (!i || by_coordinates(&p[i - 1], &p[i]))
            memcpy(at + kept++ * s->axes, p[i].at, (size_t)s->axes * sizeof *at);
    return kept;
}

static double nearest_codes(const double *code, const double *most, int64_t n, int64_t width)
{
    double gap = INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double size = fmax(most[i], most[j]), apart = 0, enough = gap * size;
            for (int64_t c = 0; c < width && !(apart >= enough); c++)
                apart = fmax(apart, fabs(code[i * width + c] - code[j * width + c]));
            gap = fmin(gap, size > 0 ? apart / size : 0);
        }
    return gap;
}

/* The smallest distance of two codes, relative to their size. Two that are closer than rounding share a code. */
property_verdict property_unique(property_subject *s)
{
    place *at = calloc(2 * TELLING, sizeof *at);
    int64_t n = at ? telling_positions(s, at[0].at, at + TELLING) : 0;
    double *code = property_doubles(s, n * s->size), *most = property_doubles(s, n), gap = NAN;
    if (!at)
        io_fail(&s->err, PE_ERR_NOMEM, "no memory for %d positions", TELLING);
    else if (code && most && property_codes(s, at[0].at, n, code)) {
        for (int64_t i = 0; i < n; i++)
            most[i] = measure_largest(code + i * s->size, s->size);
        gap = nearest_codes(code, most, n, s->size);
    }
    free(at);
    return (property_verdict){ gap > 1e-14 ? PROPERTY_HOLDS : PROPERTY_FAILS, gap };
}

/* ---------------------------------------------------------------- the same code at any length */

/* Contents are the same, and parameters wherever their shapes are. */
static void take_contents(property_subject *b, const property_subject *a)
{
    for (int t = 0; t < pe_encoding_tensor_count(a->e); t++) {
        const pe_tensor *x = pe_encoding_tensor(a->e, t), *y = pe_encoding_tensor(b->e, t);
        if (y && x->count == y->count)
            memcpy((double *)b->w.data + y->offset, (double *)a->w.data + x->offset, (size_t)x->count * sizeof(double));
    }
    memcpy(b->q, a->q, (size_t)(a->shape.heads * a->shape.head_dim) * sizeof(double));
    memcpy(b->k, a->k, (size_t)(a->shape.kv_heads * a->shape.head_dim) * sizeof(double));
}

/* Largest difference of two codes at positions that both serve. */
static double code_difference(property_subject *a, property_subject *b)
{
    double *one = property_doubles(a, a->size), *two = property_doubles(a, a->size), most = 0;
    take_contents(b, a);
    for (int i = 0; one && two && i < 60; i++) {
        int64_t at[PE_AXES_MAX] = { 0 };
        property_random(a, i < 30 ? 600 : PE_POSITION_MAX, at);
        if (!property_serves(b, at) || !property_codes(a, at, 1, one) || !property_codes(b, at, 1, two))
            continue;
        for (int64_t c = 0; c < a->size; c++)
            most = fmax(most, fabs(one[c] - two[c]) / fmax(1, fabs(one[c])));
    }
    if (b->err.status)
        a->err = b->err;
    return most;
}

/* A batch of 2n positions against its two halves. */
static double batch_difference(property_subject *s)
{
    enum { HALF = 16 };
    int64_t at[2 * HALF * PE_AXES_MAX];
    double *whole = property_doubles(s, 2 * HALF * s->size), *half = property_doubles(s, HALF * s->size), most = 0;
    for (int64_t i = 0; i < 2 * HALF; i++)
        property_random(s, PE_POSITION_MAX, at + i * s->axes);
    if (!whole || !half || !property_codes(s, at, 2 * HALF, whole))
        return 0;
    for (int64_t first = 0; first <= HALF; first += HALF) {
        property_codes(s, at + first * s->axes, HALF, half);
        most = fmax(most, measure_difference(half, whole + first * s->size, HALF * s->size));
    }
    return most;
}

/* The largest change with the key of this part at this length; 0: the part has no such key. */
static double length_difference(property_subject *s, int part, const char *key, const char *to)
{
    property_subject other;
    double most = 0;
    pe_error err = { 0 };
    char *spec = measure_with_key(pe_encoding_spec(s->e), part, key, to);
    if (!spec)
        io_fail(&s->err, PE_ERR_NOMEM, "no memory for a spec like %.60s", s->spec);
    else if (!strcmp(spec, pe_encoding_spec(s->e)))
        most = 0;
    else if (!property_open(&other, spec, s->shape, PROPERTY_SEED, &err)) {
        most = code_difference(s, &other);
        property_close(&other);
    } else if (err.status == PE_ERR_NOMEM)
        s->err = err;
    free(spec);
    return most;
}

/* The largest change with any key that says how long the text is. A table of every distance may be as long: narrow
 * heads keep it small. */
static double lengths_difference(property_subject *given)
{
    static const char *const length[] = { "700", "5000", "70000" };
    property_subject s;
    double most = 0;
    if (property_open(&s, given->spec, property_narrow_shape(given), PROPERTY_SEED, &given->err))
        return NAN;
    s.code = given->code;
    for (int n = 0; n < 3; n++) {
        char list[200] = "";
        for (int64_t a = 0; a < s.axes; a++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", a ? "/" : "", 9 + 10 * n);
        for (int part = 0; part < zoo_spec_parts(pe_encoding_spec(s.e)); part++) {
            most = fmax(most, length_difference(&s, part, "length", length[n]));
            most = fmax(most, length_difference(&s, part, "extent", list));
        }
    }
    if (s.err.status)
        given->err = s.err;
    property_close(&s);
    return most;
}

property_verdict property_any_length(property_subject *s)
{
    double most = fmax(batch_difference(s), lengths_difference(s));
    return (property_verdict){ most < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, most };
}

/* ---------------------------------------------------------------- bounded */

/* A spec whose keys say how long the text is, in a text as long as positions go; as it is where no such key changes
 * its code, or such a table cannot be had. */
static void in_long_text(property_subject *out, const property_subject *s)
{
    char length[24];
    char *spec = measure_with_key(pe_encoding_spec(s->e), 0, "length", "1");
    snprintf(length, sizeof length, "%lld", (long long)PE_POSITION_MAX);
    for (int part = 0; spec && part < zoo_spec_parts(pe_encoding_spec(s->e)); part++) {
        char *old = spec;
        spec = measure_with_key(part ? old : pe_encoding_spec(s->e), part, "length", length);
        free(old);
    }
    if (!spec || property_open(out, spec, s->shape, PROPERTY_SEED, NULL))
        property_open(out, s->spec, s->shape, PROPERTY_SEED, NULL);
    free(spec);
    if (out->e) {
        out->code = s->code;
        take_contents(out, s);
    }
}

/* The largest element far away over the largest nearby. A logarithm from 10^3 to 2^36 grows 2-fold or more. No position
 * is past the end of its text: a code that divides by the length is asked about long texts. */
property_verdict property_bounded(property_subject *s)
{
    if (!property_endless_axes(s))
        return PROPERTY_NOTHING; /* "however far" has no meaning where positions end */
    double *code = property_doubles(s, s->size), most[2] = { 0, 0 };
    property_subject longer;
    in_long_text(&longer, s);
    if (!longer.e)
        io_fail(&s->err, PE_ERR_NOMEM, "%.100s: no memory for a longer text", s->spec);
    for (int i = 0; code && longer.e && i < 1000; i++) {
        int64_t at[PE_AXES_MAX] = { i }; /* every position at first: a table may hold its largest anywhere */
        bool far = i >= 700;
        if (i >= 300)
            property_random(s, far ? PE_POSITION_MAX : 1000, at);
        property_codes(far ? &longer : s, at, 1, code);
        most[far] = fmax(most[far], measure_largest(code, s->size));
    }
    property_close(&longer);
    double growth = most[1] > 0 ? most[1] / most[0] : 0;
    return (property_verdict){ growth < 1.25 ? PROPERTY_HOLDS : PROPERTY_FAILS, growth };
}

/* ---------------------------------------------------------------- axes */

/* f(x,y) - f(x',y) - f(x,y') + f(x',y') for every element of the code and any two axes. */
property_verdict property_axes(property_subject *s)
{
    if (s->axes < 2)
        return PROPERTY_NOTHING;
    double *code = property_doubles(s, 4 * s->size), worst = 0;
    for (int n = 0; code && n < 100; n++) {
        int64_t at[4 * PE_AXES_MAX], from[PE_AXES_MAX], to[PE_AXES_MAX], axis = n % s->axes;
        property_random(s, PE_POSITION_MAX, from);
        property_random(s, PE_POSITION_MAX, to);
        for (int corner = 0; corner < 4; corner++)
            for (int64_t a = 0; a < s->axes; a++)
                at[corner * s->axes + a] = (a == axis ? corner & 1 : corner & 2) ? to[a] : from[a];
        property_codes(s, at, 4, code);
        for (int64_t c = 0; c < s->size; c++) {
            double f[4], most = 1;
            for (int i = 0; i < 4; i++)
                most = fmax(most, fabs(f[i] = code[i * s->size + c]));
            worst = fmax(worst, fabs(f[0] - f[1] - f[2] + f[3]) / most);
        }
    }
    return (property_verdict){ worst < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

/* code(t + k) = M(k) code(t) + b(k), as a linear layer computes it: is there one M and one b for all t? */

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
        for (int64_t c = 0; c < size; c++) {
            basis[c] *= scale;
            image_of[c] *= scale;
        }
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

/* M(k), and b(k) by a 1 behind the code, are solved for on the first SAMPLES positions and tried on as many others.
 * These reach as far as slow waves need to be told apart (and not where xpos has grown by e^80); with the 1 not so far
 * that it is rounding beside the code. Codes that are all independent, a table shorter than its
 * vectors are wide, fit any map. */
static property_verdict fit_shift(property_subject *s, const int64_t *shift, bool constant)
{
    int64_t size = s->size + constant;
    double *code = property_doubles(s, 2 * SAMPLES * size), *image = property_doubles(s, 2 * SAMPLES * size);
    double *norm = property_doubles(s, SAMPLES), worst = 0;
    int64_t limit = !property_endless_axes(s) ? 1000 : constant ? INT64_C(1) << 15 : INT64_C(1) << 30, distinct = 0;
    if (!code || !image || !norm)
        return PROPERTY_NOTHING;
    for (int i = 0; i < 2 * SAMPLES; i++) {
        int64_t at[PE_AXES_MAX], to[PE_AXES_MAX];
        shifted_pair(s, i % 2 ? 150 : limit, shift, at, to);
        property_codes(s, at, 1, code + i * size);
        property_codes(s, to, 1, image + i * size);
        if (constant)
            code[i * size + s->size] = 1;
        distinct += i < SAMPLES && is_new(code, i, code + i * size, size);
    }
    int64_t rank = solve(code, image, norm, SAMPLES, size);
    for (int i = SAMPLES; i < 2 * SAMPLES; i++) {
        double *left = image + i * size, most = fmax(measure_largest(left, size), constant ? 1 : 1e-300);
        for (int64_t b = 0; b < rank; b++)
            less(left, measure_dot(code + i * size, code + b * size, size), image + b * size, size);
        worst = fmax(worst, measure_largest(left, size) / most);
    }
    if (rank == distinct && distinct > 1)
        return (property_verdict){ PROPERTY_NO_MEANING, (double)distinct };
    /* rounding, codes that grow e^10-fold (xpos) */
    return (property_verdict){ worst < 1e-8 ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

/* Without a constant, or with one. */
static property_verdict linear_by(property_subject *s, const int64_t *shift)
{
    property_verdict v = fit_shift(s, shift, false);
    return v.is == PROPERTY_FAILS ? fit_shift(s, shift, true) : v;
}

/* A short shift and a long one: a short table ends before a long shift, and steps show only with a long shift. */
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
    s.randomness = random_next(r);
    property_verdict v = linear_by(&s, near), w = linear_by(&s, far);
    if (s.err.status)
        given->err = s.err;
    property_close(&s);
    return v.is == PROPERTY_FAILS || (v.is == PROPERTY_HOLDS && w.is == PROPERTY_HOLDS && v.number > w.number) ? v : w;
}
