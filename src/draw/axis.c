/* SPDX-License-Identifier: MIT
 *
 * The range of an axis, where a value lies on it, and its ticks: at 1, 2, 5 times a power of ten, or at powers of two.
 */
#include "draw/axis.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

#define VALUE_MOST 1e100 /* larger is not drawn: ranges and steps stay finite */

bool axis_takes(const axis *a, double v)
{
    return isfinite(v) && fabs(v) <= VALUE_MOST && (!a->log || v >= 1 / VALUE_MOST);
}

double axis_at(const axis *a, double v)
{
    if (!axis_takes(a, v))
        return NAN;
    double part = a->log ? log2(v / a->low) / log2(a->high / a->low) : (v - a->low) / (a->high - a->low);
    return a->from + part * (a->to - a->from);
}

void axis_open_up(axis *a)
{
    double size = fmax(fabs(a->low), fabs(a->high));
    if (a->high - a->low > 1e-9 * size)
        return;
    if (a->log) {
        a->low /= 2;
        a->high *= 2;
    } else {
        a->low -= size > 0 ? size / 10 : 1;
        a->high += size > 0 ? size / 10 : 1;
    }
}

/* ---------------------------------------------------------------- labels */

/* Prints 12,345. */
static void label_whole(char out[40], double v)
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

/* Prints 512, 1k, 2k; k is 1024, as in the lengths that the tool takes. False where v needs another form. */
static bool label_binary(char out[40], double v)
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

/* Returns how many digits after the point a multiple of step needs. */
static int step_decimals(double step)
{
    int n = 0;
    while (n < 7 && fabs(step - round(step)) > 1e-6 * fabs(step)) {
        step *= 10;
        n++;
    }
    return n;
}

static void label_tick(char out[40], double v, double step, bool binary)
{
    int decimals = step_decimals(step);
    if (binary && label_binary(out, v))
        return;
    if (fabs(v) >= 1e9 || decimals > 6) {
        if (fabs(v) < 1e30)
            io_print_float(out, 40, v); /* as a float: hides the rounding error of k * step */
        else
            io_print_real(out, 40, v);
    } else if (fabs(v) >= 1e6 && step_decimals(v / 1e4) == 0) {
        draw_fixed(out, v / 1e6, 2, true);
        strcat(out, "M");
    } else if (fabs(v) >= 1e3 && decimals == 0) {
        label_whole(out, v);
    } else {
        draw_fixed(out, v, decimals, false);
    }
}

/* ---------------------------------------------------------------- places */

static void axis_add_tick(axis *a, double v, double step)
{
    double slack = 1e-9 * (a->high - a->low);
    if (a->count == TICKS_MOST || v < a->low - slack || v > a->high + slack)
        return;
    a->tick[a->count] = v;
    label_tick(a->label[a->count++], v, step, a->binary);
}

/* Returns the smallest of 1, 2 and 5 times a power of ten that is not below x. */
static double step_round(double x)
{
    double power = pow(10, floor(log10(x))), part = x / power * (1 - 1e-9);
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void axis_ticks_linear(axis *a, int most, bool grow)
{
    double step = step_round((a->high - a->low) / (most > 1 ? most - 1 : 1));
    if (grow) {
        a->low = step * floor(a->low / step + 1e-6);
        a->high = step * ceil(a->high / step - 1e-6);
    }
    double first = ceil(a->low / step - 1e-6);
    for (int k = 0; k < TICKS_MOST && (first + k) * step <= a->high + 1e-6 * step; k++)
        axis_add_tick(a, (first + k) * step + 0.0, step);
}

/* Adds a tick at every stride-th power of two. */
static void axis_ticks_binary(axis *a, int most)
{
    int first = (int)ceil(log2(a->low) - 1e-9), last = (int)floor(log2(a->high) + 1e-9);
    int stride = last >= first ? (last - first) / most + 1 : 1;
    for (int k = first; k <= last; k += stride)
        axis_add_tick(a, ldexp(1, k), ldexp(1, k));
}

/* Counts the multiples in digits ("125") of every stride-th power of ten that lie in the range; adds them if asked. */
static int axis_ticks_decimal(axis *a, const char *digits, int stride, bool add)
{
    int count = 0, last = (int)floor(log10(a->high) + 1e-9);
    for (int k = (int)floor(log10(a->low) + 1e-9); k <= last; k++)
        for (const char *c = digits; *c && k % stride == 0; c++) {
            double v = (*c - '0') * pow(10, k);
            count += v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9);
            if (add)
                axis_add_tick(a, v, pow(10, k));
        }
    return count;
}

static void axis_ticks_log(axis *a, int most)
{
    static const char *const sets[] = { "125", "13", "1" };
    for (int i = 0; i < 3; i++) {
        int count = axis_ticks_decimal(a, sets[i], 1, false);
        if (count <= most && count > 2) {
            axis_ticks_decimal(a, sets[i], 1, true);
            return;
        }
    }
    int decades = axis_ticks_decimal(a, "1", 1, false);
    if (decades > 2)
        axis_ticks_decimal(a, "1", decades / most + 1, true);
}

/* Leaves room at both ends of a log axis. */
static void axis_grow_log(axis *a)
{
    double by = pow(a->high / a->low, 0.04);
    a->low /= by;
    a->high *= by;
}

/* Puts a short unit at every tick, a longer one at the last. */
static void axis_add_unit(axis *a, const char *unit)
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
        axis_grow_log(a);
    if (a->log && a->binary)
        axis_ticks_binary(a, most);
    else if (a->log)
        axis_ticks_log(a, most);
    if (!a->log || a->count < 2) {
        a->count = 0;
        axis_ticks_linear(a, most, grow && !a->log);
    }
    axis_add_unit(a, unit);
}

void axis_ends(axis *a)
{
    double step = pow(10, floor(log10(a->high - a->low)) - 1), end[2] = { a->low, a->high };
    for (a->count = 0; a->count < 2; a->count++) {
        a->tick[a->count] = end[a->count];
        double v = step * round(end[a->count] / step) + 0.0;
        label_tick(a->label[a->count], isfinite(v) ? v : end[a->count], step, false); /* a step may be too small */
    }
}

void axis_tick_at_end(axis *a, bool replace)
{
    int last = a->count - 1;
    double step = last > 0 ? a->tick[last] - a->tick[last - 1] : 0, gap = last >= 0 ? a->high - a->tick[last] : 0;
    if (a->log || last < 1 || step < 1 || gap <= 0 || a->high != floor(a->high) || (gap < step / 2 && !replace))
        return;
    a->count -= gap < step / 2;
    axis_add_tick(a, a->high, 1);
}

/* ---------------------------------------------------------------- room for labels */

double axis_widest(const axis *a, const face *f)
{
    double width = 0;
    for (int i = 0; i < a->count; i++)
        width = fmax(width, face_width(f, a->label[i], f->size));
    return width;
}

static bool axis_labels_meet(const axis *x, const face *f)
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
    while (axis_labels_meet(a, f) && --most > 1);
    axis without = *a;
    axis_tick_at_end(a, false);
    if (axis_labels_meet(a, f))
        *a = without;
}
