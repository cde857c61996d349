/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 18 s; needs: io
 *
 * posenc check names the bug that was planted, and no other. The rotations here are written anew in plain double, with
 * a switch for every bug; the tool sees only the files. */
#define _POSIX_C_SOURCE 200809L /* popen, mkdtemp */
#include "common.h"

#include "io/io.h"

#include <sys/wait.h>
#include <unistd.h>

#define TOKENS 96
#define HEADS 2
#define WIDEST 128

static char folder[] = "/tmp/posenc-check-XXXXXX";

/* ------------------------------------------------ a rotation with switches */

typedef enum kind { DOUBLE, FLOAT, HALF, BRAIN } kind; /* what a number is rounded to */
typedef enum scale { PLAIN, LINEAR, YARN, LLAMA } scale;

typedef struct plan {
    const char *spec;
    int64_t D, dims, axes;
    double theta, denominator; /* 0: dims */
    scale scale;
    double factor, trained, low, high; /* of a scaling; low and high: llama3's, or YaRN's beta_fast and beta_slow */
    double magnitude;
    bool adjacent_in, adjacent_out, tile_other, trailing, interleaved, index, still, back, plain_cos, plain_sin, swapped;
    double sign;
    int64_t section[3], shift, zero;
    int axis[3];
    kind freq, pos, angle, table, data;
    int64_t stride, start; /* positions start, start + stride, ... */
} plan;

static double round_to(double x, kind k)
{
    static const int bits[] = { 53, 24, 11, 8 };
    int e, least = k == HALF ? -13 : -125;
    if (k == DOUBLE || x == 0 || !isfinite(x))
        return x;
    frexp(x, &e);
    double unit = ldexp(1, (e < least ? least : e) - bits[k]);
    return nearbyint(x / unit) * unit;
}

static double scaled(const plan *p, double f)
{
    const double two_pi = 6.283185307179586;
    if (p->scale == LINEAR)
        return f / p->factor;
    if (p->scale == LLAMA) {
        double turns = p->trained * f / two_pi, mix = (turns - p->low) / (p->high - p->low), slow = f / p->factor;
        return turns < p->low ? slow : turns > p->high ? f : (1 - mix) * slow + mix * f;
    }
    return f;
}

/* YaRN: ends rounded outwards. */
static double yarn(const plan *p, double f, int64_t i)
{
    double d = (double)p->dims, end[2], beta[] = { p->low, p->high };
    for (int k = 0; k < 2; k++)
        end[k] = d * log(p->trained / (beta[k] * 6.283185307179586)) / (2 * log(p->theta));
    double low = fmax(floor(end[0]), 0), high = fmin(ceil(end[1]), d - 1), ramp = ((double)i - low) / (high - low);
    ramp = fmin(fmax(ramp, 0), 1);
    return f / p->factor * ramp + f * (1 - ramp);
}

static double frequency(const plan *p, int64_t i)
{
    double d = p->denominator > 0 ? p->denominator : (double)p->dims, f = pow(p->theta, -2.0 * (double)i / d);
    return p->scale == YARN ? yarn(p, f, i) : scaled(p, f);
}

static int axis_of(const plan *p, int64_t i)
{
    int a = 0;
    if (p->axes == 1)
        return 0;
    if (p->interleaved)
        return i < 3 * p->section[i % 3] ? (int)(i % 3) : 0;
    for (int64_t end = p->section[0]; i >= end; end += p->section[a])
        a++;
    return a;
}

static void turn(const plan *p, const int64_t *at, int64_t token, int64_t i, double *c, double *s)
{
    int64_t steps = at[p->axis[axis_of(p, i)]] + p->shift;
    if (p->index)
        steps = token;
    double f = round_to(frequency(p, i), p->freq), t = round_to((double)(p->zero ? 0 : steps), p->pos);
    double angle = round_to(t * f, p->angle) * p->sign;
    double value[] = { cos(angle) * (p->plain_cos ? 1 : p->magnitude), sin(angle) * (p->plain_sin ? 1 : p->magnitude) };
    *c = round_to(value[p->swapped], p->table);
    *s = round_to(value[!p->swapped], p->table);
}

static int64_t first(const plan *p)
{
    return p->trailing ? p->D - p->dims : 0;
}

/* The pair of element e, and which of its two it is. */
static int64_t pair_of(const plan *p, bool adjacent, int64_t e, int64_t *which)
{
    int64_t half = p->dims / 2;
    *which = adjacent ? e % 2 : e / half;
    return adjacent ? e / 2 : e % half;
}

static int64_t element_of(const plan *p, bool adjacent, int64_t pair, int64_t which)
{
    return adjacent ? 2 * pair + which : pair + which * (p->dims / 2);
}

static void rotate(const plan *p, double *y, const double *x, const int64_t *at, int64_t token)
{
    memcpy(y, x, (size_t)p->D * sizeof *x);
    for (int64_t e = 0; e < p->dims && !p->still; e++) {
        int64_t which, other, n = pair_of(p, p->adjacent_out, e, &which);
        int64_t tile = p->tile_other ? pair_of(p, !p->adjacent_out, e, &other) : n;
        double c, s, a = x[first(p) + element_of(p, p->adjacent_in, n, 0)];
        double b = x[first(p) + element_of(p, p->adjacent_in, n, 1)];
        turn(p, at, token, tile, &c, &s);
        if (p->back) {
            c /= p->magnitude * p->magnitude;
            s /= -p->magnitude * p->magnitude;
        }
        double value = which ? a * s + b * c : a * c - b * s;
        y[first(p) + e] = value;
    }
}

/* ------------------------------------------------ files */

static const io_type file_type[] = { IO_F64, IO_F32, IO_F16, IO_BF16 };

static void store(const char *name, kind k, int rank, const int64_t *shape, const double *x)
{
    char path[100];
    pe_error err;
    io_array a = { .type = file_type[k], .rank = rank, .count = 1 };
    for (int i = 0; i < rank; i++)
        a.count *= a.shape[i] = shape[i];
    a.data = malloc((size_t)a.count * 8);
    for (int64_t i = 0; i < a.count; i++) {
        double value = round_to(x[i], k);
        float f = (float)value;
        uint32_t word;
        memcpy(&word, &f, 4);
        if (k == DOUBLE)
            ((double *)a.data)[i] = value;
        else if (k == FLOAT)
            ((float *)a.data)[i] = f;
        else if (k == BRAIN)
            ((uint16_t *)a.data)[i] = (uint16_t)(word >> 16);
        else {
            int32_t e = (int32_t)(word >> 23 & 255) - 127 + 15;
            uint32_t size = e > 0 ? (uint32_t)e << 10 | (word >> 13 & 0x3ff) : (uint32_t)(fabs(value) * 0x1p24);
            ((uint16_t *)a.data)[i] = (uint16_t)((word >> 16 & 0x8000) | size);
        }
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(io_npy_save(path, &a, &err));
    free(a.data);
}

static void store_positions(const plan *p, int64_t at[TOKENS][3])
{
    char path[100];
    pe_error err;
    int64_t flat[TOKENS * 3];
    io_array a = { flat, IO_I64, p->axes > 1 ? 2 : 1, { TOKENS, p->axes }, TOKENS * p->axes };
    for (int64_t t = 0; t < TOKENS; t++)
        for (int64_t k = 0; k < p->axes; k++)
            flat[t * p->axes + k] = at[t][k];
    snprintf(path, sizeof path, "%s/p.npy", folder);
    assert_ok(io_npy_save(path, &a, &err));
}

static void place(const plan *p, int64_t at[TOKENS][3])
{
    for (int64_t t = 0; t < TOKENS; t++) {
        at[t][0] = p->start + t * p->stride;
        at[t][1] = p->axes > 1 ? 40 + t % 11 : 0;
        at[t][2] = p->axes > 1 ? 7 + t / 3 : 0;
    }
}

static double x[TOKENS * HEADS * WIDEST], y[TOKENS * HEADS * WIDEST]; /* of write_vectors */

static void write_vectors(const plan *p)
{
    int64_t at[TOKENS][3];
    uint64_t seed = 7;
    place(p, at);
    for (int64_t r = 0; r < TOKENS * HEADS; r++) {
        for (int64_t d = 0; d < p->D; d++)
            x[r * p->D + d] = round_to(test_uniform(&seed), p->data);
        rotate(p, y + r * p->D, x + r * p->D, at[r / HEADS], r / HEADS);
    }
    store("q.npy", p->data, 3, (int64_t[]){ TOKENS, HEADS, p->D }, x);
    store("y.npy", p->data, 3, (int64_t[]){ TOKENS, HEADS, p->D }, y);
    store_positions(p, at);
}

/* tiled: as wide as dims, else as pairs */
static void write_tables(const plan *p, bool tiled)
{
    static double c[TOKENS * WIDEST], s[TOKENS * WIDEST];
    int64_t at[TOKENS][3], width = tiled ? p->dims : p->dims / 2, which;
    place(p, at);
    for (int64_t t = 0; t < TOKENS; t++)
        for (int64_t e = 0; e < width; e++)
            turn(p, at[t], t, tiled ? pair_of(p, p->adjacent_out, e, &which) : e, &c[t * width + e], &s[t * width + e]);
    store("c.npy", p->data, 2, (int64_t[]){ TOKENS, width }, c);
    store("s.npy", p->data, 2, (int64_t[]){ TOKENS, width }, s);
    store_positions(p, at);
}

/* ------------------------------------------------ the tool */

static int run_tool(const char *args, char *out, size_t cap)
{
    char command[2000];
    const char *tool = getenv("POSENC");
    assert_non_null(tool);
    assert_true((size_t)snprintf(command, sizeof command, "cd %s && '%s' check %s 2>&1", folder, tool, args) <
                sizeof command);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(out, 1, cap - 1, pipe);
    out[n] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int failures;

/* bug NULL: the data is good */
static void expect_bug(const plan *p, const char *files, const char *bug, const char *more)
{
    static char out[20000];
    char args[700], line[80];
    snprintf(args, sizeof args, "--spec '%s' %s --pos p.npy %s %s", p->spec, files, p->data == BRAIN ? "--bf16" : "",
             more);
    int code = run_tool(args, out, sizeof out);
    if (bug)
        snprintf(line, sizeof line, "MISMATCH: %s: ", bug);
    else
        snprintf(line, sizeof line, "OK: ");
    if (code == (bug ? 1 : 0) && !strncmp(out, line, strlen(line)) && !strstr(out, "cannot tell") &&
        !strstr(out, "as well"))
        return;
    printf("check %s: exit code %d, should be %s; it says:\n%s", args, code, bug ? bug : "OK", out);
    failures++;
}

static void expect_vectors(const plan *p, const char *bug)
{
    write_vectors(p);
    expect_bug(p, "--before q.npy --after y.npy", bug, "");
}

static void expect_tables(const plan *p, bool tiled, const char *bug)
{
    char more[40];
    write_tables(p, tiled);
    more[0] = '\0';
    if (p->D != p->dims)
        snprintf(more, sizeof more, "--head-dim %d", (int)p->D);
    expect_bug(p, "--cos c.npy --sin s.npy", bug, more);
}

/* ------------------------------------------------ specs and bugs */

/* axes, magnitude, stride: 0 stands for 1 */
static const plan plans[] = {
    { .spec = "rope", .D = 64, .dims = 64, .theta = 10000 },
    { .spec = "rope:theta=500000", .D = 128, .dims = 128, .theta = 500000, .stride = 37, .start = 3 },
    { .spec = "rope:theta=1000000,pairs=adjacent", .D = 64, .dims = 64, .theta = 1e6, .adjacent_in = true,
      .adjacent_out = true },
    { .spec = "rope:pairs=adjacent-half,theta=50000", .D = 64, .dims = 64, .theta = 50000, .adjacent_in = true },
    { .spec = "rope:scaling=linear,factor=4", .D = 96, .dims = 96, .theta = 10000, .scale = LINEAR, .factor = 4 },
    { .spec = "rope:scaling=yarn,factor=4,trained=2048", .D = 64, .dims = 64, .theta = 10000, .scale = YARN,
      .factor = 4, .trained = 2048, .low = 32, .high = 1, .magnitude = 1.138629436111989 },
    { .spec = "rope:theta=500000,scaling=llama3,factor=8,trained=8192", .D = 128, .dims = 128, .theta = 500000,
      .scale = LLAMA, .factor = 8, .trained = 8192, .low = 1, .high = 4, .stride = 40 },
    { .spec = "rope:dims=32", .D = 64, .dims = 32, .theta = 10000 },
    { .spec = "rope:dims=64,range=trailing,theta=500000", .D = 128, .dims = 64, .theta = 500000, .stride = 11,
      .trailing = true },
    { .spec = "rope:sections=8/12/12,theta=1000000", .D = 64, .dims = 64, .theta = 1e6, .axes = 3,
      .section = { 8, 12, 12 }, .start = 3, .stride = 2 },
    { .spec = "rope:sections=12/10/10,split=interleaved", .D = 64, .dims = 64, .theta = 10000, .axes = 3,
      .section = { 12, 10, 10 }, .start = 3, .stride = 40, .interleaved = true },
    { .spec = "rope+alibi", .D = 64, .dims = 64, .theta = 10000 },
};

static plan plan_of(int i)
{
    plan p = plans[i];
    p.axes += !p.axes;
    p.stride += !p.stride;
    p.magnitude = p.magnitude > 0 ? p.magnitude : 1;
    p.sign = 1;
    p.data = FLOAT;
    for (int a = 0; a < 3; a++)
        p.axis[a] = a;
    return p;
}

/* Plants a bug; false: this plan cannot have it. */
static bool adjacent(plan *p)
{
    bool was = p->adjacent_in && p->adjacent_out;
    p->adjacent_in = p->adjacent_out = true;
    return !was;
}
static bool half(plan *p)
{
    bool was = !p->adjacent_in && !p->adjacent_out;
    p->adjacent_in = p->adjacent_out = false;
    return !was;
}
static bool adjacent_half(plan *p)
{
    bool was = p->adjacent_in && !p->adjacent_out;
    p->adjacent_in = true;
    p->adjacent_out = false;
    return !was;
}
static bool mixed(plan *p)
{
    p->tile_other = true;
    return p->adjacent_in == p->adjacent_out;
}
static bool negative(plan *p)
{
    p->sign = -1;
    return true;
}
static bool inverse(plan *p)
{
    p->back = true;
    return p->magnitude != 1;
}
static bool one_more(plan *p)
{
    p->shift = 1;
    return true;
}
static bool one_less(plan *p)
{
    p->shift = -1;
    return true;
}
static bool five_more(plan *p)
{
    p->shift = 5;
    return true;
}
static bool sixteen_more(plan *p)
{
    p->shift = 16;
    return true;
}
static bool sixty_four_less(plan *p)
{
    p->shift = -64;
    return true;
}
static bool thousand_more(plan *p)
{
    p->shift = 1000;
    return true;
}
static bool hundred_thousand_more(plan *p)
{
    p->shift = 100003;
    return true;
}
static bool reset(plan *p)
{
    p->start = 1000;
    p->shift = -1000;
    return p->axes == 1;
}
static bool by_index(plan *p)
{
    p->index = true;
    return p->stride > 1 || p->axes > 1;
}
static bool still(plan *p)
{
    p->still = true;
    return true;
}
static bool zero(plan *p)
{
    p->zero = 1;
    return p->magnitude != 1 || p->adjacent_in != p->adjacent_out;
}
static bool unscaled(plan *p)
{
    bool was = p->scale != PLAIN;
    p->scale = PLAIN;
    p->magnitude = 1;
    return was;
}
static bool divided(plan *p) /* a scaling read as linear, its factor 4 */
{
    bool was = p->scale == YARN;
    p->scale = LINEAR;
    p->magnitude = 1;
    return was;
}
static bool scaled_anyway(plan *p)
{
    bool was = p->scale == PLAIN;
    p->scale = LINEAR;
    p->factor = 4;
    return was;
}
static bool scaled_by_three(plan *p)
{
    scaled_anyway(p);
    p->factor = 3;
    return !strcmp(p->spec, "rope");
}
static bool scaling_factor(plan *p, double times)
{
    p->factor *= times;
    return p->scale != PLAIN;
}
static bool factor_doubled(plan *p) /* its attention factor with it */
{
    p->magnitude = p->scale == YARN ? 0.1 * log(8) + 1 : 1;
    return scaling_factor(p, 2);
}
static bool factor_doubled_only(plan *p)
{
    return scaling_factor(p, 2) && p->magnitude != 1;
}
static bool factor_doubled_bare(plan *p)
{
    bool was = p->magnitude != 1;
    p->magnitude = 1;
    return scaling_factor(p, 2) && was;
}
static bool factor_quadrupled(plan *p)
{
    return scaling_factor(p, 4) && p->scale == LLAMA;
}
static bool factor_halved(plan *p)
{
    return scaling_factor(p, 0.5) && p->magnitude == 1;
}
static bool factor_odd(plan *p)
{
    return scaling_factor(p, 1.3125) && p->magnitude == 1;
}
static bool trained_elsewhere(plan *p)
{
    p->trained = 131072;
    return p->scale != PLAIN && p->scale != LINEAR;
}
static bool trained_served(plan *p)
{
    p->trained *= p->factor;
    return p->scale != PLAIN && p->scale != LINEAR;
}
static bool betas_swapped(plan *p)
{
    double was = p->low;
    p->low = p->high;
    p->high = was;
    return p->scale == YARN;
}
static bool cut_low(plan *p) /* low and high swapped: no pair is between */
{
    p->high = p->low;
    return p->scale == LLAMA;
}
static bool cut_high(plan *p)
{
    p->low = p->high;
    return p->scale == LLAMA;
}
static bool theta_default(plan *p)
{
    bool was = p->theta != 10000;
    p->theta = 10000;
    return was;
}
static bool theta_known(plan *p)
{
    bool was = p->theta != 1e6;
    p->theta = 1e6;
    return was;
}
static bool theta_strange(plan *p)
{
    p->theta = 34567;
    return true;
}
static bool factor_missing(plan *p)
{
    bool was = p->magnitude != 1;
    p->magnitude = 1;
    return was;
}
static bool factor_squared(plan *p)
{
    p->magnitude *= p->magnitude;
    return p->magnitude != 1;
}
static bool factor_on_cos(plan *p)
{
    p->plain_sin = true;
    return p->magnitude != 1;
}
static bool factor_on_sin(plan *p)
{
    p->plain_cos = true;
    return p->magnitude != 1;
}
static bool swapped(plan *p)
{
    p->swapped = true;
    return true;
}
static bool factor_extra(plan *p)
{
    bool was = p->magnitude == 1;
    p->magnitude = 1.138629436111989;
    return was;
}
static bool factor_wrong(plan *p)
{
    bool was = p->magnitude != 1;
    p->magnitude = 1.2;
    return was;
}
static bool full_width(plan *p)
{
    bool was = p->dims < p->D;
    p->dims = p->D;
    p->trailing = false;
    return was;
}
static bool half_width(plan *p)
{
    p->dims /= 2;
    return p->axes == 1;
}
static bool head_denominator(plan *p)
{
    p->denominator = (double)p->D;
    return p->dims < p->D;
}
static bool less_denominator(plan *p)
{
    p->denominator = (double)p->dims - 2;
    return p->scale == PLAIN;
}
static bool other_end(plan *p)
{
    p->trailing = !p->trailing;
    return p->dims < p->D;
}
static bool axes_swapped(plan *p)
{
    p->axis[1] = 2;
    p->axis[2] = 1;
    return p->axes > 1;
}
static bool axes_turned(plan *p)
{
    p->axis[0] = 1;
    p->axis[1] = 2;
    p->axis[2] = 0;
    return p->axes > 1;
}
static bool sections_moved(plan *p)
{
    int64_t was = p->section[0];
    p->section[0] = p->section[1];
    p->section[1] = was;
    return p->axes > 1;
}
static bool other_split(plan *p)
{
    p->interleaved = !p->interleaved;
    return p->axes > 1;
}
static bool one_axis(plan *p)
{
    p->axis[1] = p->axis[2] = 0;
    return p->axes > 1;
}
/* Further away, where roundings show. */
static bool round_all(plan *p, kind k)
{
    p->stride = 100;
    p->freq = p->pos = p->angle = k;
    return true;
}
static bool angles_bf16(plan *p)
{
    return round_all(p, BRAIN);
}
static bool angles_bf16_tables(plan *p)
{
    p->table = BRAIN;
    return round_all(p, BRAIN);
}
static bool angles_f16(plan *p)
{
    return round_all(p, HALF);
}
static bool products_bf16(plan *p)
{
    p->angle = BRAIN;
    return true;
}
static bool freq_bf16(plan *p)
{
    p->freq = BRAIN;
    return true;
}
static bool freq_f16(plan *p)
{
    p->freq = HALF;
    return true;
}
static bool tables_bf16(plan *p)
{
    p->table = BRAIN;
    return true;
}
static bool tables_f16(plan *p)
{
    p->table = HALF;
    return true;
}
static bool angles_f32(plan *p)
{
    p->stride = 5000;
    p->freq = p->pos = p->angle = FLOAT;
    return true;
}

#define NO_TABLE 1u /* cos and sin do not show it */
#define TILED 2u    /* only tables as wide as dims do */
#define COARSE 4u   /* seen in 16 bits too */
#define FEW 8u      /* every third plan will do */

static const struct {
    const char *id;
    bool (*plant)(plan *p);
    unsigned flags;
} bugs[] = {
    { "pair-layout", adjacent, TILED | COARSE },
    { "pair-layout", half, TILED | COARSE },
    { "pair-layout", adjacent_half, NO_TABLE },
    { "mixed-layout", mixed, NO_TABLE | COARSE },
    { "opposite-sign", negative, COARSE },
    { "tables-swapped", swapped, COARSE },
    { "inverse", inverse, NO_TABLE },
    { "off-by-one", one_more, COARSE },
    { "off-by-one", one_less, COARSE },
    { "position-offset", five_more, COARSE },
    { "position-offset", sixteen_more, COARSE },
    { "position-offset", sixty_four_less, FEW },
    { "position-offset", thousand_more, COARSE | FEW },
    { "position-offset", hundred_thousand_more, FEW },
    { "position-offset", reset, COARSE },
    { "positions-ignored", by_index, COARSE },
    { "not-rotated", still, NO_TABLE },
    { "positions-zero", zero, NO_TABLE },
    { "scaling-ignored", unscaled, COARSE },
    { "scaling-wrong", divided, COARSE },
    { "scaling-wrong", factor_doubled, 0 },
    { "scaling-wrong", factor_doubled_only, 0 },
    { "scaling-wrong", factor_doubled_bare, 0 },
    { "scaling-wrong", factor_quadrupled, 0 },
    { "scaling-wrong", factor_halved, 0 },
    { "scaling-wrong", factor_odd, 0 },
    { "scaling-wrong", trained_elsewhere, 0 },
    { "scaling-wrong", trained_served, 0 },
    { "scaling-wrong", betas_swapped, 0 },
    { "scaling-wrong", cut_low, 0 },
    { "scaling-wrong", cut_high, 0 },
    { "scaling-extra", scaled_by_three, 0 },
    { "scaling-extra", scaled_anyway, COARSE },
    { "base-defaulted", theta_default, COARSE },
    { "base-wrong", theta_known, COARSE },
    { "base-wrong", theta_strange, 0 },
    { "attention-factor-missing", factor_missing, COARSE },
    { "attention-factor-squared", factor_squared, COARSE },
    { "attention-factor-half", factor_on_cos, COARSE },
    { "attention-factor-half", factor_on_sin, COARSE },
    { "attention-factor-extra", factor_extra, COARSE },
    { "attention-factor-wrong", factor_wrong, COARSE },
    { "rotary-width", full_width, COARSE },
    { "rotary-width", half_width, COARSE },
    { "rotary-denominator", head_denominator, 0 },
    { "rotary-denominator", less_denominator, 0 },
    { "rotary-range", other_end, NO_TABLE | COARSE },
    { "mrope-sections", axes_swapped, COARSE },
    { "mrope-sections", axes_turned, COARSE },
    { "mrope-sections", sections_moved, 0 },
    { "mrope-split", other_split, COARSE },
    { "mrope-ignored", one_axis, COARSE },
    { "angles-bfloat16", angles_bf16, COARSE },
    { "angles-bfloat16", angles_bf16_tables, COARSE },
    { "angles-bfloat16", products_bf16, 0 },
    { "angles-float16", angles_f16, 0 },
    { "frequencies-bfloat16", freq_bf16, 0 },
    { "frequencies-float16", freq_f16, 0 },
    { "tables-bfloat16", tables_bf16, 0 },
    { "tables-float16", tables_f16, 0 },
    { "angles-float32", angles_f32, 0 },
};

/* ------------------------------------------------ claims */

static void good_data_is_ok(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < COUNT(plans); i++)
        for (int k = DOUBLE; k <= BRAIN; k++) {
            plan p = plan_of(i);
            p.data = (kind)k;
            expect_vectors(&p, NULL);
            expect_tables(&p, true, NULL);
            expect_tables(&p, false, NULL);
        }
    assert_int_equal(failures, 0);
}

static void float32_angles_are_ok_below_4096(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < COUNT(plans); i++)
        for (int k = FLOAT; k <= BRAIN; k++) {
            plan p = plan_of(i);
            p.freq = p.pos = p.angle = FLOAT;
            p.table = p.data = (kind)k;
            p.stride = 42;
            expect_vectors(&p, NULL);
            expect_tables(&p, true, NULL);
        }
    assert_int_equal(failures, 0);
}

static void each_planted_bug_is_named(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < COUNT(plans); i++)
        for (int b = 0; b < COUNT(bugs); b++) {
            plan p = plan_of(i);
            if (!bugs[b].plant(&p) || (bugs[b].flags & FEW && (i + b) % 3))
                continue;
            expect_vectors(&p, bugs[b].id);
        }
    assert_int_equal(failures, 0);
}

static void tables_show_them_too(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < COUNT(plans); i++)
        for (int b = 0; b < COUNT(bugs); b++) {
            plan p = plan_of(i);
            if (!bugs[b].plant(&p) || bugs[b].flags & NO_TABLE || (i + b) % 2)
                continue;
            if (bugs[b].flags & TILED && p.adjacent_out == plans[i].adjacent_out)
                continue;
            expect_tables(&p, b % 2 || bugs[b].flags & TILED, bugs[b].id);
        }
    assert_int_equal(failures, 0);
}

static void sixteen_bits_show_the_coarse_ones(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < COUNT(plans); i++)
        for (int b = 0; b < COUNT(bugs); b++) {
            plan p = plan_of(i);
            p.data = (i + b) % 2 ? HALF : BRAIN;
            if (bugs[b].plant(&p) && bugs[b].flags & COARSE && (i + b) % 3 == 0)
                expect_vectors(&p, bugs[b].id);
        }
    assert_int_equal(failures, 0);
}

static void two_bugs_are_both_named(void **state)
{
    (void)state;
    failures = 0;
    plan p = plan_of(0);
    adjacent(&p);
    negative(&p);
    expect_vectors(&p, "pair-layout and opposite-sign");
    p = plan_of(1);
    theta_default(&p);
    one_more(&p);
    expect_vectors(&p, "off-by-one and base-defaulted");
    p = plan_of(6);
    unscaled(&p);
    adjacent(&p);
    expect_vectors(&p, "pair-layout and scaling-ignored");
    assert_int_equal(failures, 0);
}

static void says(const plan *p, const char *more, int code, const char *words)
{
    static char out[20000];
    char args[600];
    snprintf(args, sizeof args, "'%s' --before q.npy --after y.npy --pos p.npy %s", p->spec, more);
    int got = run_tool(args, out, sizeof out);
    if (got != code || !strstr(out, words))
        fail_msg("check %s: exit code %d, not %d, or '%s' is not in:\n%s", args, got, code, words, out);
}

static void says_not(const plan *p, const char *words)
{
    static char out[20000];
    char args[600];
    snprintf(args, sizeof args, "'%s' --before q.npy --after y.npy --pos p.npy", p->spec);
    run_tool(args, out, sizeof out);
    if (strstr(out, words))
        fail_msg("check %s: '%s' is in:\n%s", args, words, out);
}

/* A spec that fits is shown where there is one; where none describes the bug, only how to fix it. */
static void what_fits_is_a_spec(void **state)
{
    (void)state;
    static bool (*const no_spec[])(plan *) = { one_more, still, angles_bf16 };
    for (int i = 0; i < COUNT(no_spec); i++) {
        plan p = plan_of(0);
        no_spec[i](&p);
        write_vectors(&p);
        says(&p, "", 1, "  fix: ");
        says_not(&p, "fits: ");
        says(&p, "--json", 1, "\"fits\": null");
    }
    plan p = plan_of(0);
    theta_known(&p);
    write_vectors(&p);
    says(&p, "", 1, "  fits: rope:theta=1000000\n");
}

static void what_is_allowed_is_ok(void **state)
{
    (void)state;
    plan p = plan_of(0);
    angles_f32(&p);
    write_vectors(&p);
    says(&p, "", 1, "angles-float32");
    says(&p, "--allow angles-float32", 0, "OK, allowed: angles-float32");
    says(&p, "--allow angles-bfloat16", 1, "MISMATCH: angles-float32");
    says(&p, "--allow angles-flaot32", 2, "did you mean angles-float32?");
    p.spec = "rope:precision=hf";
    says(&p, "", 0, "OK: rope:precision=hf");
    p = plan_of(0);
    p.stride = 1000000;
    write_vectors(&p);
    says(&p, "", 0, "OK: rope");
    p.spec = "rope:precision=hf";
    says(&p, "", 1, "angles-exact");
}

static void data_that_cannot_tell_is_said_to(void **state)
{
    (void)state;
    plan p = plan_of(0);
    p.stride = 0; /* all at position 0 */
    write_vectors(&p);
    says(&p, "", 1, "CANNOT TELL: this data fits rope, and so it would if nothing turned");
    says(&p, "", 1, "fits these bugs as well: pair-layout, mixed-layout, opposite-sign, not-rotated");
    says(&p, "", 1, "dump positions up to 64");
    says(&p, "--json", 1, "\"verdict\": \"cannot-tell\"");
}

/* Queries with a temperature 0.1 per 16 positions, by head rows. */
static void heat(const plan *p)
{
    for (int64_t i = 0; i < TOKENS * HEADS * p->D; i++)
        y[i] *= 1 + 0.1 * log(1 + floor((double)(i / (HEADS * p->D)) / 16));
    store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, p->D }, y);
}

static void a_temperature_is_missed(void **state)
{
    (void)state;
    plan p = plan_of(0);
    p.spec = "rope:temperature=0.1,floor=16";
    write_vectors(&p);
    says(&p, "", 1, "MISMATCH: temperature-ignored: queries are not multiplied by the temperature; the spec says it is 0.1");
    says(&p, "", 1, "  fits: rope\n");
    says(&p, "--side key", 0, "OK: ");
    heat(&p);
    says(&p, "", 0, "OK: ");
}

/* xpos: queries shrink by zeta^(t/512), keys grow by as much. */
static void keys_turned_as_queries_are_told(void **state)
{
    (void)state;
    plan p = plan_of(0);
    p.spec = "xpos:pairs=half";
    write_vectors(&p);
    for (int64_t i = 0; i < TOKENS * HEADS * p.D; i++) {
        double zeta = ((double)(i % p.D % 32) / 32 + 0.4) / 1.4;
        y[i] *= pow(zeta, (double)(i / (HEADS * p.D)) / 512);
    }
    store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, p.D }, y);
    says(&p, "", 0, "OK: ");
    says(&p, "--side key", 1, "MISMATCH: other-side: they are turned as queries are; --side says key");
}

static void write_text(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void specs_come_from_models(void **state)
{
    (void)state;
    plan p = plan_of(1);
    p.spec = "config.json";
    write_vectors(&p);
    write_text("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
                              "\"num_hidden_layers\": 2, \"max_position_embeddings\": 8192, \"rope_theta\": 500000}");
    says(&p, "", 0, "OK: rope:theta=500000");
    says(&p, "--layer 1", 0, "OK: rope:theta=500000");
    says(&p, "--layer 2", 2, "--layer is 2; config.json has layers 0 to 1");
    write_text("config.json", "{\"model_type\": \"gemma3_text\", \"hidden_size\": 256, \"num_attention_heads\": 2,"
                              "\"num_key_value_heads\": 1, \"head_dim\": 128, \"num_hidden_layers\": 12,"
                              "\"max_position_embeddings\": 8192, \"rope_theta\": 500000,"
                              "\"rope_local_base_freq\": 10000, \"sliding_window\": 64,"
                              "\"sliding_window_pattern\": 6}");
    says(&p, "", 2, "layers 5, 11: rope:theta=500000");
    says(&p, "", 2, "say which one was dumped: --layer N");
    says(&p, "--layer 5", 0, "OK: rope:theta=500000");
    says(&p, "--layer 4", 1, "base-wrong");
    p.spec = "none.json";
    says(&p, "", 4, "none.json: cannot be opened");
    p.spec = "rope";
    says(&p, "--layer 4", 2, "--layer is for a model's file");
}

static void zeros_are_refused(void **state)
{
    (void)state;
    static const double none[TOKENS * HEADS * WIDEST];
    plan p = plan_of(0);
    write_vectors(&p);
    store("q.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, none);
    store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, none);
    says(&p, "", 3, "q.npy: holds only zeros");
    for (int64_t i = 0; i < TOKENS * HEADS; i++) /* one pair is left, the fastest: any base fits */
        for (int64_t e = 0; e < 64; e++)
            if (e % 32)
                x[i * 64 + e] = y[i * 64 + e] = 0;
    store("q.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, x);
    store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, y);
    says(&p, "", 0, "fits these bugs as well: scaling-extra, base-wrong, rotary-denominator");
}

/* The same numbers with heads before tokens. */
static void heads_first(double *to, const double *from, int64_t D)
{
    for (int64_t t = 0; t < TOKENS; t++)
        for (int64_t h = 0; h < HEADS; h++)
            memcpy(to + (h * TOKENS + t) * D, from + (t * HEADS + h) * D, (size_t)D * sizeof *to);
}

static void shapes_of_engines_are_taken(void **state)
{
    (void)state;
    static double u[TOKENS * HEADS * WIDEST], v[TOKENS * HEADS * WIDEST];
    plan p = plan_of(0);
    write_vectors(&p);
    heads_first(u, x, 64);
    heads_first(v, y, 64);
    store("q.npy", FLOAT, 4, (int64_t[]){ 1, HEADS, TOKENS, 64 }, u);
    store("y.npy", FLOAT, 4, (int64_t[]){ 1, HEADS, TOKENS, 64 }, v);
    says(&p, "", 0, "the shape was taken as (1, H, T, D)");
    static char out[20000];
    assert_int_equal(run_tool("rope --before q.npy --after y.npy", out, sizeof out), 0);
    store("q.npy", FLOAT, 4, (int64_t[]){ 1, TOKENS, HEADS, 64 }, x);
    store("y.npy", FLOAT, 4, (int64_t[]){ 1, TOKENS, HEADS, 64 }, y);
    says(&p, "", 0, "the shape was taken as (1, T, H, D)");
    store("q.npy", FLOAT, 3, (int64_t[]){ HEADS, TOKENS, 64 }, u);
    store("y.npy", FLOAT, 3, (int64_t[]){ HEADS, TOKENS, 64 }, v);
    says(&p, "", 3, "shape is (2, 96, 64); needs (T, H, D): in numpy y.transpose(1, 0, 2)");
    store("q.npy", FLOAT, 4, (int64_t[]){ 1, TOKENS / 2, HEADS, 128 }, u);
    store("y.npy", FLOAT, 4, (int64_t[]){ 1, TOKENS / 2, HEADS, 128 }, v);
    says(&p, "", 3, "needs as many tokens as --pos has positions: (B, T, H, D) or (B, H, T, D)");
}

/* Two sequences, the second the first's numbers with one wrong, in either order of tokens and heads. */
static void batches_are_taken(void **state)
{
    (void)state;
    enum { COUNT = TOKENS * HEADS * 64 };
    static double u[2][2 * COUNT], v[2][2 * COUNT]; /* tokens first, heads first */
    static const char *const taken[2] = { "taken as (B, T, H, D)", "taken as (B, H, T, D)" };
    plan p = plan_of(0);
    write_vectors(&p);
    for (int s = 0; s < 2; s++) {
        memcpy(u[0] + s * COUNT, x, COUNT * sizeof *x);
        memcpy(v[0] + s * COUNT, y, COUNT * sizeof *y);
        heads_first(u[1] + s * COUNT, x, 64);
        heads_first(v[1] + s * COUNT, y, 64);
    }
    for (int first = 0; first < 2; first++) {
        int64_t shape[4] = { 2, first ? HEADS : TOKENS, first ? TOKENS : HEADS, 64 };
        store("q.npy", FLOAT, 4, shape, u[first]);
        store("y.npy", FLOAT, 4, shape, v[first]);
        says(&p, "", 0, taken[first]);
        static char out[20000]; /* without --pos the numbers tell the order */
        assert_int_equal(run_tool("rope --before q.npy --after y.npy", out, sizeof out), 0);
        assert_non_null(strstr(out, taken[first]));
        v[first][COUNT + 5] += 1; /* token 0, head 0 */
        store("y.npy", FLOAT, 4, shape, v[first]);
        says(&p, "", 1, "at token 0 of sequence 1");
        assert_int_equal(run_tool("rope --before q.npy --after y.npy", out, sizeof out), 1);
        assert_non_null(strstr(out, taken[first]));
    }
}

static void rounded_dumps_are_seen(void **state)
{
    (void)state;
    static const kind coarse[] = { BRAIN, HALF };
    for (int k = 0; k < 2; k++) {
        plan p = plan_of(0);
        p.data = coarse[k];
        write_vectors(&p);
        for (int64_t i = 0; i < TOKENS * HEADS * p.D; i++)
            y[i] = round_to(y[i], p.data);
        store("q.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, x);
        store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, y);
        says(&p, "", 0, k ? "every number after is a float16" : "every number after is a bfloat16");
        says(&p, "--json", 0, k ? "\"rounded\": \"float16\"" : "\"rounded\": \"bfloat16\"");
        says(&p, "--bf16", 3, "holds F32; --bf16 says that its uint16 are bfloat16; leave it out");
    }
}

static void what_no_bug_explains_is_shown(void **state)
{
    (void)state;
    plan p = plan_of(0);
    write_vectors(&p);
    y[5 * 64] += 0.5; /* one number of all */
    store("y.npy", FLOAT, 3, (int64_t[]){ TOKENS, HEADS, 64 }, y);
    says(&p, "", 1, "MISMATCH: no known bug explains it");
    p = plan_of(0);
    p.denominator = 50;
    p.magnitude = 1.3;
    p.shift = 3;
    negative(&p);
    write_vectors(&p);
    says(&p, "", 1, "MISMATCH: no known bug explains it");
    says(&p, "", 1, "pair 0 (elements 0, 32): turned by");
    says(&p, "", 1, "first error");
    says(&p, "--json", 1, "\"verdict\": \"unknown\"");
}

static void bad_numbers_are_told(void **state)
{
    (void)state;
    plan p = plan_of(0);
    p.magnitude = NAN;
    write_vectors(&p);
    says(&p, "", 1, "MISMATCH: not-finite: token 0, head 0, element 0");
    says(&p, "--json", 1, "\"bug\": \"not-finite\"");
    p = plan_of(1);
    write_vectors(&p);
    says(&plans[0], "", 1, "MISMATCH");
    says(&plans[9], "", 2, "add up to 64 pairs");
    p = plan_of(0);
    write_vectors(&p);
    says(&plans[9], "", 3, "p.npy: shape is (96,); rope:theta=1000000,axes=3,sections=8/12/12 needs (n, 3)");
    p = plan_of(0);
    write_vectors(&p);
    says(&p, "--json", 0, "\"verdict\": \"ok\"");
    static char out[20000];
    assert_int_equal(run_tool("--spec rope --before q.npy --after p.npy", out, sizeof out), 3);
    assert_int_equal(run_tool("--spec rope --before q.npy", out, sizeof out), 2);
    assert_int_equal(run_tool("--spec alibi --before q.npy --after y.npy", out, sizeof out), 2);
    assert_int_equal(run_tool("--before q.npy --after y.npy", out, sizeof out), 2);
    assert_int_equal(run_tool("rope --cos q.npy --after y.npy", out, sizeof out), 2);
    assert_int_equal(run_tool("rope --cos q.npy --sin y.npy", out, sizeof out), 3);
    write_tables(&p, true);
    assert_int_equal(run_tool("rope --cos c.npy --sin q.npy", out, sizeof out), 3);
    assert_int_equal(run_tool("rope --before q.npy --after c.npy", out, sizeof out), 3);
    assert_int_equal(run_tool("rope:fraction=0.5 --cos c.npy --sin s.npy", out, sizeof out), 2);
    assert_int_equal(run_tool("rope --cos c.npy --sin s.npy --head-dim 64", out, sizeof out), 0);
    assert_int_equal(run_tool("rope:dims=48 --cos c.npy --sin s.npy", out, sizeof out), 1);
    assert_non_null(strstr(out, "rotary-width"));
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_data_is_ok),
        cmocka_unit_test(float32_angles_are_ok_below_4096),
        cmocka_unit_test(each_planted_bug_is_named),
        cmocka_unit_test(tables_show_them_too),
        cmocka_unit_test(sixteen_bits_show_the_coarse_ones),
        cmocka_unit_test(two_bugs_are_both_named),
        cmocka_unit_test(what_fits_is_a_spec),
        cmocka_unit_test(what_is_allowed_is_ok),
        cmocka_unit_test(data_that_cannot_tell_is_said_to),
        cmocka_unit_test(a_temperature_is_missed),
        cmocka_unit_test(keys_turned_as_queries_are_told),
        cmocka_unit_test(specs_come_from_models),
        cmocka_unit_test(zeros_are_refused),
        cmocka_unit_test(shapes_of_engines_are_taken),
        cmocka_unit_test(batches_are_taken),
        cmocka_unit_test(rounded_dumps_are_seen),
        cmocka_unit_test(what_no_bug_explains_is_shown),
        cmocka_unit_test(bad_numbers_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
