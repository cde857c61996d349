/* SPDX-License-Identifier: MIT
 *
 * Ticks at round numbers: 1, 2, 5 times a power of ten, or powers of two. */
#include "draw/face.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- labels */

/* 12,345 */
static void print_whole(char out[40], double v)
{
    char digits[40];
    draw_fixed(digits, fabs(v), 0, true);
    size_t n = strlen(digits), k = 0;
    if (v < 0)
        out[k++] = '-';
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = 0;
}

/* 512, 1k, 2k: k is 1024, as in the lengths that the tool takes. */
static bool print_binary(char out[40], double v)
{
    static const char units[] = "kMG";
    int unit = -1;
    while (unit < 2 && v >= 1024 && fmod(v, 1024) == 0) {
        v /= 1024;
        unit++;
    }
    if (v < 1 || v > 1e6 || v != floor(v))
        return false;
    draw_fixed(out, v, 0, true);
    size_t n = strlen(out);
    out[n] = unit < 0 ? 0 : units[unit];
    out[n + (unit >= 0)] = 0;
    return true;
}

/* Digits after the point that a multiple of step needs. */
static int decimals_of(double step)
{
    int n = 0;
    while (n < 7 && fabs(step - round(step)) > 1e-6 * fabs(step)) {
        step *= 10;
        n++;
    }
    return n;
}

static void print_tick(char out[40], double v, double step, bool binary)
{
    int decimals = decimals_of(step);
    if (binary && print_binary(out, v))
        return;
    if (fabs(v) >= 1e9 || decimals > 6) {
        if (fabs(v) < 1e30)
            io_print_float(out, 40, v); /* of k * step: not the error of the product */
        else
            io_print_real(out, 40, v);
    } else if (fabs(v) >= 1e6 && decimals_of(v / 1e4) == 0) {
        draw_fixed(out, v / 1e6, 2, true);
        strcat(out, "M");
    } else if (fabs(v) >= 1e3 && decimals == 0) {
        print_whole(out, v);
    } else {
        draw_fixed(out, v, decimals, false);
    }
}

/* ---------------------------------------------------------------- places */

static void add_tick(axis *a, double v, double step)
{
    double slack = 1e-9 * (a->high - a->low);
    if (a->count == TICKS_MOST || v < a->low - slack || v > a->high + slack)
        return;
    a->tick[a->count] = v;
    print_tick(a->label[a->count++], v, step, a->binary);
}

/* The least of 1, 2, 5 times a power of ten that is not below x. */
static double round_step(double x)
{
    double power = pow(10, floor(log10(x))), part = x / power * (1 - 1e-9);
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void ticks_linear(axis *a, int most, bool grow)
{
    double step = round_step((a->high - a->low) / (most > 1 ? most - 1 : 1));
    if (grow) {
        a->low = step * floor(a->low / step + 1e-6);
        a->high = step * ceil(a->high / step - 1e-6);
    }
    double first = ceil(a->low / step - 1e-6);
    for (int k = 0; k < TICKS_MOST && (first + k) * step <= a->high + 1e-6 * step; k++)
        add_tick(a, (first + k) * step + 0.0, step);
}

/* Every stride-th power of two. */
static void ticks_binary(axis *a, int most)
{
    int first = (int)ceil(log2(a->low) - 1e-9), last = (int)floor(log2(a->high) + 1e-9);
    int stride = last >= first ? (last - first) / most + 1 : 1;
    for (int k = first; k <= last; k += stride)
        add_tick(a, ldexp(1, k), ldexp(1, k));
}

/* The multiples in digits ("125") of every stride-th power of ten; how many in the range. */
static int ticks_decimal(axis *a, const char *digits, int stride, bool add)
{
    int count = 0, last = (int)floor(log10(a->high) + 1e-9);
    for (int k = (int)floor(log10(a->low) + 1e-9); k <= last; k++)
        for (const char *c = digits; *c && k % stride == 0; c++) {
            double v = (*c - '0') * pow(10, k);
            count += v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9);
            if (add)
                add_tick(a, v, pow(10, k));
        }
    return count;
}

static void ticks_log(axis *a, int most)
{
    static const char *const sets[] = { "125", "13", "1" };
    for (int i = 0; i < 3; i++) {
        int count = ticks_decimal(a, sets[i], 1, false);
        if (count <= most && count > 2) {
            ticks_decimal(a, sets[i], 1, true);
            return;
        }
    }
    int decades = ticks_decimal(a, "1", 1, false);
    if (decades > 2)
        ticks_decimal(a, "1", decades / most + 1, true);
}

/* A range of a log axis with room at both ends. */
static void grow_log(axis *a)
{
    double by = pow(a->high / a->low, 0.04);
    a->low /= by;
    a->high *= by;
}

/* A short unit stands at every tick, a longer one at the last. */
static void add_unit(axis *a, const char *unit)
{
    for (int i = 0; unit && i < a->count; i++)
        if (strlen(unit) <= 2 || i + 1 == a->count)
            strncat(a->label[i], unit, sizeof a->label[i] - strlen(a->label[i]) - 1);
}

void axis_ticks(axis *a, int most, bool grow, const char *unit)
{
    most = most < 2 ? 2 : most > TICKS_MOST ? TICKS_MOST : most;
    a->count = 0;
    if (a->log && grow)
        grow_log(a);
    if (a->log && a->binary)
        ticks_binary(a, most);
    else if (a->log)
        ticks_log(a, most);
    if (!a->log || a->count < 2) {
        a->count = 0;
        ticks_linear(a, most, grow && !a->log);
    }
    add_unit(a, unit);
}

void axis_ends(axis *a)
{
    double step = pow(10, floor(log10(a->high - a->low)) - 1), end[2] = { a->low, a->high };
    for (a->count = 0; a->count < 2; a->count++) {
        a->tick[a->count] = end[a->count];
        double v = step * round(end[a->count] / step) + 0.0;
        print_tick(a->label[a->count], isfinite(v) ? v : end[a->count], step, false); /* a step may be too small */
    }
}

/* ---------------------------------------------------------------- room for labels */

double axis_widest(const axis *a, const face *f)
{
    double width = 0;
    for (int i = 0; i < a->count; i++)
        width = fmax(width, face_width(f, a->label[i], f->size));
    return width;
}

static bool labels_meet(const axis *x, const face *f)
{
    for (int i = 1; i < x->count; i++) {
        double a = face_width(f, x->label[i - 1], f->size), b = face_width(f, x->label[i], f->size);
        if (axis_at(x, x->tick[i]) - axis_at(x, x->tick[i - 1]) < (a + b) / 2 + 1.2 * f->gap)
            return true;
    }
    return false;
}

void axis_ticks_apart(axis *a, const face *f, int most, const char *unit)
{
    do
        axis_ticks(a, most, false, unit);
    while (labels_meet(a, f) && --most > 1);
}
