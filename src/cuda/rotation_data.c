/* SPDX-License-Identifier: MIT */
#include "cuda/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/door.h"

#define LOG2_E 1.4426950408889634
#define GAINS_MAX 65536 /* steps of a gain that are kept as they are on the CPU */

/* ---------------------------------------------------------------- pairs */

/* A pair's step is position * multiplier + shift. pe_pair has both as one number, phase / frequency = shift /
 * multiplier, where the multiplier is 1 or 2; whole numbers come back exactly, as the quotient is off by 2^-50 of
 * itself at most. A step and a frequency that are doubled and halved have the same product. */
static pe_status pair_steps(const pe_cuda_plan *plan, rotate_pair *to, const pe_pair *p, pe_error *err)
{
    double twice = p->phase != 0 ? 2 * (p->phase / p->frequency) : 0, shift = rint(twice);
    bool halved = shift != 0;
    if (fabs(twice - shift) > 0x1p-10)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.100s: a pair is not at angle 0 at a multiple of half a position; a GPU needs that",
                       pe_encoding_spec(plan->e));
    *to = (rotate_pair){ .decay = p->decay, .multiplier = halved ? 2 : 1, .shift = shift, .axis = p->axis };
    for (int i = 0; i < 3; i++)
        to->frequency[i] = halved ? p->turns[i] / 2 : p->turns[i];
    return PE_OK;
}

/* A pair that stands still has the steps of its neighbours: caches ask whether two encodings have the same. */
static void settle_still(rotate_pair *pairs, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        for (int64_t i = 0; pairs[n].frequency[0] == 0 && i < count; i++)
            if (pairs[i].frequency[0] != 0 && pairs[i].axis == pairs[n].axis) {
                pairs[n].multiplier = pairs[i].multiplier;
                pairs[n].shift = pairs[i].shift;
                break;
            }
}

/* Whether `width` pairs from each multiple of it on lie side by side, as neighbours or in two rows, from an aligned
 * one. */
static bool lies_so(const rotate_lane *lane, int64_t count, int64_t width, bool out, bool next)
{
    if (count % width)
        return false;
    for (int64_t n = 0; n < count; n++) {
        int64_t i = n % width, x = out ? lane[n].x_out : lane[n].x, y = out ? lane[n].y_out : lane[n].y;
        int64_t x0 = out ? lane[n - i].x_out : lane[n - i].x, y0 = out ? lane[n - i].y_out : lane[n - i].y;
        if (x0 % width || (next ? x != x0 + 2 * i || y != x + 1 : y0 % width || x != x0 + i || y != y0 + i))
            return false;
    }
    return true;
}

static bool rest_lies_so(const uint16_t *rest, int64_t count, int64_t width)
{
    if (count % width)
        return false;
    for (int64_t n = 0; n < count; n++)
        if (rest[n - n % width] % width || rest[n] != rest[n - n % width] + n % width)
            return false;
    return true;
}

static void settle_width(struct rotation_data *d, const uint16_t *rest)
{
    for (d->width = 8; d->width > 1; d->width /= 2) {
        bool lies = rest_lies_so(rest, d->rests, d->width);
        for (int out = 0; out < 2; out++) {
            d->next[out] = lies_so(d->lane, d->count, d->width, out, true);
            lies = lies && (d->next[out] || lies_so(d->lane, d->count, d->width, out, false));
        }
        if (lies)
            return;
    }
    d->next[0] = d->next[1] = false;
}

/* The elements of a head that no pair has. */
static int64_t find_rest(const struct rotation_data *d, int64_t dim, uint16_t *rest)
{
    bool used[PE_HEAD_DIM_MAX] = { false };
    int64_t count = 0;
    for (int64_t n = 0; n < d->count; n++)
        used[d->lane[n].x] = used[d->lane[n].y] = true;
    for (int64_t i = 0; i < dim; i++)
        if (!used[i])
            rest[count++] = (uint16_t)i;
    return count;
}

static pe_status read_pairs(const pe_cuda_plan *plan, struct rotation_data *d, const pe_pair *from, pe_error *err)
{
    for (int64_t n = 0; n < d->count; n++) {
        const pe_pair *p = &from[n];
        TRY(pair_steps(plan, &d->pairs[n], p, err));
        d->lane[n] = (rotate_lane){ (uint16_t)p->x, (uint16_t)p->y, (uint16_t)p->x_out, (uint16_t)p->y_out };
        d->decays = d->decays || p->decay != 0;
        d->shifted = d->shifted || d->pairs[n].shift != 0;
        d->moves = d->moves || p->x != p->x_out || p->y != p->y_out;
    }
    settle_still(d->pairs, d->count);
    return PE_OK;
}

/* ---------------------------------------------------------------- gain */

/* The first position after `at` whose gain is another; past PE_POSITION_MAX: there is none. */
static int64_t next_gain(const pe_encoding *e, int64_t at)
{
    int64_t low = at, high = PE_POSITION_MAX + 1;
    double now = pe_encoding_gain(e, PE_QUERY, at);
    if (pe_encoding_gain(e, PE_QUERY, PE_POSITION_MAX) == now)
        return high;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (pe_encoding_gain(e, PE_QUERY, middle) == now)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* A query's gain goes by steps of equal length; the encoding tells their values one by one, so the bits are its own. */
static pe_status read_gain(const pe_cuda_plan *plan, struct rotation_data *d, double *value, pe_error *err)
{
    const pe_encoding *e = plan->e;
    for (int side = PE_KEY; side <= PE_OUTPUT; side++)
        if (pe_encoding_gain(e, (pe_side)side, PE_POSITION_MAX) != 1)
            return pe_fail(err, PE_ERR_UNSUITED, "%.100s: vectors other than queries have a gain; a GPU takes none",
                           pe_encoding_spec(e));
    int64_t first = next_gain(e, -PE_POSITION_MAX), second;
    if (first > PE_POSITION_MAX)
        return PE_OK;
    second = next_gain(e, first);
    d->gain = (rotate_gain){ .first = first, .step = second - first };
    value[d->gain.count++] = pe_encoding_gain(e, PE_QUERY, first - 1);
    for (int64_t at = first; at <= PE_POSITION_MAX && d->gain.count < GAINS_MAX; at += d->gain.step) {
        double now = pe_encoding_gain(e, PE_QUERY, at);
        if (pe_encoding_gain(e, PE_QUERY, at - 1) != value[d->gain.count - 1])
            return pe_fail(err, PE_ERR_UNSUITED,
                           "%.100s: its gain does not go by equal steps at position %" PRId64 "; a GPU needs them",
                           pe_encoding_spec(e), at);
        value[d->gain.count++] = now;
    }
    int64_t last = d->gain.count - 1;
    d->gain.slope = (value[last] - 1) / log1p((double)last);
    return PE_OK;
}

/* ---------------------------------------------------------------- making it */

static bool is_trained(const pe_encoding *e)
{
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE)
            return true;
    return false;
}

static void fill_decay(const struct rotation_data *d, float *decay)
{
    for (int64_t n = 0; n < d->count; n++)
        decay[d->lane[n].x_out] = decay[d->lane[n].y_out] = (float)(d->pairs[n].decay * LOG2_E);
}

/* One block in device memory: pairs, values of the gain, lanes, decays, rest. */
static pe_status send(const pe_cuda_plan *plan, struct rotation_data *d, const double *gain, const uint16_t *rest,
                      pe_error *err)
{
    size_t pairs = (size_t)d->count * sizeof *d->pairs, gains = (size_t)d->gain.count * sizeof *gain;
    size_t lanes = (size_t)d->count * sizeof *d->lane, rests = (size_t)d->rests * sizeof *rest;
    size_t decays = d->decays ? (size_t)pe_encoding_shape(plan->e).head_dim * sizeof(float) : 0,
           all = pairs + gains + lanes + decays + rests;
    char *block = calloc(all ? all : 1, 1);
    if (!block)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a rotation of %" PRId64 " pairs", d->count);
    memcpy(block, d->pairs, pairs);
    memcpy(block + pairs, gain, gains);
    memcpy(block + pairs + gains, d->lane, lanes);
    if (decays)
        fill_decay(d, (float *)(void *)(block + pairs + gains + lanes));
    memcpy(block + pairs + gains + lanes + decays, rest, rests);
    pe_status s = all ? cuda_upload(plan->gpu, &d->memory, block, all, err) : PE_OK;
    free(block);
    d->pair = d->memory;
    d->gain.value = d->memory + pairs;
    d->lanes = d->gain.value + gains;
    d->decay = d->lanes + lanes;
    d->rest = d->decay + decays;
    return s;
}

static pe_status fill(const pe_cuda_plan *plan, struct rotation_data *d, pe_error *err)
{
    uint16_t rest[PE_HEAD_DIM_MAX];
    double *gain = malloc(GAINS_MAX * sizeof *gain);
    pe_pair *pair = calloc((size_t)d->count + 1, sizeof *pair);
    d->pairs = calloc((size_t)d->count + 1, sizeof *d->pairs);
    d->lane = calloc((size_t)d->count + 1, sizeof *d->lane);
    pe_status s = PE_OK;
    if (!gain || !pair || !d->pairs || !d->lane)
        s = pe_fail(err, PE_ERR_NOMEM, "no memory for a rotation of %" PRId64 " pairs", d->count);
    if (!s)
        s = pe_encoding_pairs(plan->e, pair, d->count, err);
    if (!s)
        s = read_pairs(plan, d, pair, err);
    if (!s)
        s = read_gain(plan, d, gain, err);
    if (!s) {
        d->rests = find_rest(d, pe_encoding_shape(plan->e).head_dim, rest);
        settle_width(d, rest);
        s = send(plan, d, gain, rest, err);
    }
    free(gain);
    free(pair);
    return s;
}

pe_status rotation_data_new(pe_cuda_plan *plan, pe_error *err)
{
    const pe_lowered *form = pe_plan_lowered(plan->host);
    plan->rotation = NULL;
    if (!(pe_encoding_hooks(plan->e) & PE_HOOK_ROTATE))
        return pe_pass(err);
    struct rotation_data *d = calloc(1, sizeof *d);
    if (!d)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a rotation");
    plan->rotation = d;
    d->count = pe_encoding_pair_count(plan->e);
    d->trained = is_trained(plan->e);
    d->exact = form->exact && !d->trained;
    d->rotates_value = form->rotates_value;
    d->rotates_output = form->rotates_output;
    d->magnitude = pe_encoding_magnitude(plan->e);
    d->centre = form->centre;
    pe_status s = fill(plan, d, err);
    if (s)
        rotation_data_free(plan);
    return s ? s : pe_pass(err);
}

void rotation_data_free(pe_cuda_plan *plan)
{
    struct rotation_data *d = plan->rotation;
    if (!d)
        return;
    cuda_release(plan->gpu, d->memory);
    free(d->pairs);
    free(d->lane);
    free(d);
    plan->rotation = NULL;
}
