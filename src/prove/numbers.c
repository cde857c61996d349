/* SPDX-License-Identifier: MIT
 *
 * Random contents, sums and least squares. */
#include "io/checked.h"
#include "prove/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double measure_uniform(uint64_t *state)
{
    return (double)(int64_t)(random_next(state) >> 11) * 0x1p-52 - 1;
}

/* Box and Muller. */
double measure_normal(uint64_t *state)
{
    double u = 0.5 * (measure_uniform(state) + 1), angle = 3.14159265358979323846 * measure_uniform(state);
    return sqrt(-2 * log(1 - u)) * cos(angle);
}

int64_t measure_range(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(state) % (uint64_t)(high - low + 1));
}

void measure_shuffle(int64_t *order, int64_t n, uint64_t *state)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t j = measure_range(state, 0, i);
        order[i] = order[j];
        order[j] = i;
    }
}

void measure_normals(double *x, int64_t n, double size, uint64_t state)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = size * measure_normal(&state);
}

double *measure_memory(int64_t a, int64_t b, pe_error *err)
{
    int64_t count;
    size_t n;
    bool fits = a >= 0 && b >= 0 && io_mul_i64(&count, a, b) && io_to_size(&n, count);
    double *x = fits ? calloc(n ? n : 1, sizeof *x) : NULL;
    if (!x)
        io_fail(err, PE_ERR_NOMEM, "no memory for %lld x %lld numbers", (long long)a, (long long)b);
    return x;
}

double measure_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double measure_difference(const double *x, const double *y, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

double measure_largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ---------------------------------------------------------------- seeds */

uint64_t measure_seed(const prove_given *g, int n)
{
    return n ? random_at(g->seed, (uint64_t)n) : g->seed;
}

typedef struct seed_jobs {
    measure_seed_fn *each;
    void *with;
    const prove_given *g;
    pe_error err[MEASURE_RUNS];
} seed_jobs;

static void seed_job(void *arg, int64_t n, int worker)
{
    seed_jobs *s = arg;
    (void)worker;
    pe_status status = s->each(s->with, (int)n, measure_seed(s->g, (int)n), &s->err[n]);
    s->err[n].status = status;
}

pe_status measure_each_seed(measure_seed_fn *each, void *with, int seeds, const prove_given *g, pe_error *err)
{
    seed_jobs s = { .each = each, .with = with, .g = g };
    if (g->pool)
        g->pool->run(g->pool->self, seed_job, &s, seeds);
    for (int n = 0; n < seeds; n++) {
        if (!g->pool)
            seed_job(&s, n, 0);
        if (s.err[n].status)
            return io_fail(err, s.err[n].status, "%s", s.err[n].text);
    }
    return PE_OK;
}

measure_spread measure_spread_of(const double *x, int count)
{
    double sorted[MEASURE_RUNS];
    for (int n = 0, at; n < count; n++) {
        for (at = n; at > 0 && sorted[at - 1] > x[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = x[n];
    }
    return (measure_spread){ (sorted[(count - 1) / 2] + sorted[count / 2]) / 2, sorted[0], sorted[count - 1], count };
}

void measure_add_spread(prove_finding *out, words what, const char *of, measure_spread s, const char *unit)
{
    int before = out->count;
    prove_add(out, what, of, s.median, unit);
    for (int n = before; n < out->count; n++) {
        out->number[n].least = s.least;
        out->number[n].most = s.most;
        out->number[n].seeds = s.seeds;
    }
}

void measure_add_spread_at(prove_finding *out, words what, words of, measure_spread s, const char *unit)
{
    int before = out->count;
    measure_add_spread(out, what, of.en, s, unit);
    for (int n = before; n < out->count; n++)
        snprintf(out->number[n].of_zh, sizeof out->number[n].of_zh, "%s", of.zh);
}

void measure_add_values(prove_finding *out, words what, const char *of, const double *x, int count, const char *unit)
{
    measure_add_spread(out, what, of, measure_spread_of(x, count), unit);
}

/* ---------------------------------------------------------------- equations */

/* In four sums: one would wait for itself. */
static double dot_of(const double *x, const double *y, int64_t n)
{
    double sum[4] = { 0 };
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += x[i + k] * y[i + k];
    return sum[0] + sum[1] + sum[2] + sum[3] + measure_dot(x + i, y + i, n - i);
}

/* Row by row: both dot products run along rows. */
void measure_cholesky(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double left = a[i * n + j] - dot_of(a + i * n, a + j * n, j);
            a[i * n + j] = i == j ? sqrt(left) : left / a[j * n + j];
        }
}

void measure_cholesky_solve(const double *L, int64_t n, double *b, int64_t columns)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            for (int64_t c = 0; c < columns; c++)
                b[i * columns + c] -= L[i * n + j] * b[j * columns + c];
        for (int64_t c = 0; c < columns; c++)
            b[i * columns + c] /= L[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t c = 0; c < columns; c++)
            b[i * columns + c] /= L[i * n + i];
        for (int64_t j = 0; j < i; j++)
            for (int64_t c = 0; c < columns; c++)
                b[j * columns + c] -= L[i * n + j] * b[i * columns + c];
    }
}

/* Least squares: the matrix that maps one set of vectors to another. */

#define RIDGE 1e-13 /* of the mean square: below rounding, and enough for codes that leave a direction empty */

/* a (n, n) = x' x, b (n, out) = x' y. */
static void normal_equations(double *a, double *b, const double *x, int64_t in, const double *y, int64_t out, int64_t n)
{
    double trace = 0;
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < in; i++) {
            double xi = x[t * in + i];
            for (int64_t j = 0; j < in; j++)
                a[i * in + j] += xi * x[t * in + j];
            for (int64_t j = 0; j < out; j++)
                b[i * out + j] += xi * y[t * out + j];
        }
    for (int64_t i = 0; i < in; i++)
        trace += a[i * in + i];
    for (int64_t i = 0; i < in; i++)
        a[i * in + i] += RIDGE * trace / (double)in;
}

static void swap_rows(double *a, int64_t width, int64_t i, int64_t j)
{
    for (int64_t c = 0; i != j && c < width; c++) {
        double x = a[i * width + c];
        a[i * width + c] = a[j * width + c];
        a[j * width + c] = x;
    }
}

static int64_t pivot(const double *a, int64_t n, int64_t column)
{
    int64_t best = column;
    for (int64_t i = column + 1; i < n; i++)
        if (fabs(a[i * n + column]) > fabs(a[best * n + column]))
            best = i;
    return best;
}

/* b (n, out) becomes a^-1 b; Gauss with pivots, a is used up. */
static void solve(double *a, double *b, int64_t n, int64_t out)
{
    for (int64_t c = 0; c < n; c++) {
        int64_t best = pivot(a, n, c);
        swap_rows(a, n, c, best);
        swap_rows(b, out, c, best);
        if (a[c * n + c] == 0)
            continue;
        for (int64_t i = 0; i < n; i++) {
            double f = i == c ? 0 : a[i * n + c] / a[c * n + c];
            for (int64_t j = c; f != 0 && j < n; j++)
                a[i * n + j] -= f * a[c * n + j];
            for (int64_t j = 0; f != 0 && j < out; j++)
                b[i * out + j] -= f * b[c * out + j];
        }
    }
    for (int64_t c = 0; c < n; c++)
        for (int64_t j = 0; j < out; j++)
            b[c * out + j] = a[c * n + c] != 0 ? b[c * out + j] / a[c * n + c] : 0;
}

/* One step of refinement follows the normal equations, which lose half the digits. */
pe_status measure_map(double *M, double *residual, const double *code, int64_t in, const double *image, int64_t out,
                      int64_t n, pe_error *err)
{
    double *a = measure_memory(in, in, err), *b = measure_memory(in, out, err), *left = measure_memory(n, out, err);
    bool whole = a && b && left;
    *residual = 0;
    if (whole) {
        memset(M, 0, (size_t)(in * out) * sizeof *M);
        memcpy(left, image, (size_t)(n * out) * sizeof *left);
    }
    for (int round = 0; whole && round < 3; round++) {
        memset(a, 0, (size_t)(in * in) * sizeof *a);
        memset(b, 0, (size_t)(in * out) * sizeof *b);
        normal_equations(a, b, code, in, left, out, n);
        solve(a, b, in, out);
        for (int64_t o = 0; o < out; o++)
            for (int64_t i = 0; i < in; i++)
                M[o * in + i] += b[i * out + o];
        for (int64_t t = 0; t < n; t++)
            for (int64_t o = 0; o < out; o++)
                left[t * out + o] = image[t * out + o] - measure_dot(M + o * in, code + t * in, in);
        *residual = measure_largest(left, n * out);
    }
    free(a), free(b), free(left);
    return whole ? PE_OK : PE_ERR_NOMEM;
}

double measure_determinant(double *a, int64_t n)
{
    double product = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t best = pivot(a, n, c);
        swap_rows(a, n, c, best);
        product *= best == c ? a[c * n + c] : -a[c * n + c];
        for (int64_t i = c + 1; i < n && a[c * n + c] != 0; i++) {
            double f = a[i * n + c] / a[c * n + c];
            for (int64_t j = c; j < n; j++)
                a[i * n + j] -= f * a[c * n + j];
        }
    }
    return product;
}

double measure_skew(const double *M, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = i == j ? -1 : 0;
            for (int64_t r = 0; r < n; r++)
                sum += M[r * n + i] * M[r * n + j];
            most = fmax(most, fabs(sum));
        }
    return most;
}
