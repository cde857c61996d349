/* SPDX-License-Identifier: MIT */
#include "prove/measure.h"

#include "io/checked.h"

#include <math.h>
#include <stdlib.h>

uint64_t measure_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double measure_uniform(uint64_t *state)
{
    return (double)(int64_t)(measure_random(state) >> 11) * 0x1p-52 - 1;
}

/* Box and Muller. */
double measure_normal(uint64_t *state)
{
    double u = 0.5 * (measure_uniform(state) + 1), angle = 3.14159265358979323846 * measure_uniform(state);
    return sqrt(-2 * log(1 - u)) * cos(angle);
}

int64_t measure_range(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(measure_random(state) % (uint64_t)(high - low + 1));
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
