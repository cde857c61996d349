/* SPDX-License-Identifier: MIT
 *
 * An encoding with parameters and contents; memory; positions. */
#include "prove/property.h"

#include "io/checked.h"

#include <stdlib.h>
#include <string.h>

struct property_room {
    property_room *before;
    double number[];
};

double *property_doubles(property_subject *s, int64_t n)
{
    size_t bytes;
    bool fits = n >= 0 && io_byte_count(&bytes, n, sizeof(double)) && io_add(&bytes, bytes, sizeof(property_room));
    property_room *r = fits ? calloc(1, bytes) : NULL;
    if (!r) {
        io_fail(&s->err, PE_ERR_NOMEM, "%.60s: no memory for %lld numbers", s->spec, (long long)n);
        return NULL;
    }
    r->before = s->room;
    s->room = r;
    return r->number;
}

void property_release(property_subject *s, property_room *mark)
{
    while (s->room != mark) {
        property_room *before = s->room->before;
        free(s->room);
        s->room = before;
    }
}

/* ---------------------------------------------------------------- positions */

pe_positions property_positions(const property_subject *s, const int64_t *at, int64_t n)
{
    return pe_positions_of(at, PE_I64, 1, n, s->axes);
}

bool property_scores_pairs(const property_subject *s)
{
    return pe_encoding_hooks(s->e) & (PE_HOOK_CONTENT | PE_HOOK_BIAS | PE_HOOK_VALUE);
}

bool property_endless_axes(const property_subject *s)
{
    for (int64_t a = 0; a < s->axes; a++)
        if (s->high[a] < PE_POSITION_MAX || (!property_scores_pairs(s) && s->low[a] > -PE_POSITION_MAX))
            return false;
    return true;
}

bool property_serves(const property_subject *s, const int64_t *at)
{
    for (int64_t a = 0; a < s->axes; a++)
        if (at[a] < s->low[a] || at[a] > s->high[a])
            return false;
    return true;
}

int64_t property_clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

int64_t property_wide(property_subject *s, int64_t low, int64_t high)
{
    int64_t bits = 0;
    while (bits < 36 && (high >> bits || -low >> bits))
        bits++;
    int64_t most = INT64_C(1) << measure_range(&s->randomness, 0, bits), x = measure_range(&s->randomness, 0, most);
    return property_clamp(measure_random(&s->randomness) & 1 ? -x : x, low, high);
}

void property_random(property_subject *s, int64_t limit, int64_t *at)
{
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t low = property_clamp(-limit, s->low[a], 0), high = property_clamp(limit, 0, s->high[a]);
        at[a] =
            measure_random(&s->randomness) & 1 ? property_wide(s, low, high) : measure_range(&s->randomness, low, high);
    }
}

/* The furthest coordinate that is served from 0 on in one direction; what is served is an interval. */
static int64_t furthest(property_subject *s, int64_t axis, int64_t sign, double *code)
{
    int64_t at[PE_AXES_MAX] = { 0 }, low = 0, high = PE_POSITION_MAX;
    at[axis] = sign * high;
    if (!s->code(s, at, 1, code))
        return at[axis];
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        at[axis] = sign * middle;
        if (s->code(s, at, 1, code))
            high = middle;
        else
            low = middle;
    }
    return sign * low;
}

/* ---------------------------------------------------------------- subjects */

/* Frequencies a little off where they start: what holds there only, as axes that do not mix, is no property of theirs.
 */
static void move_frequencies(property_subject *s)
{
    uint64_t state = PROPERTY_SEED;
    for (int t = 0; t < pe_encoding_tensor_count(s->e); t++) {
        const pe_tensor *x = pe_encoding_tensor(s->e, t);
        for (int64_t i = 0; x->hooks & PE_HOOK_ROTATE && i < x->count; i++)
            ((double *)s->w.data)[x->offset + i] += 0x1p-10 * measure_uniform(&state);
    }
}

static pe_status fill_contents(property_subject *s, uint64_t seed, pe_error *err)
{
    int64_t D = s->shape.head_dim, H = s->shape.heads, G = s->shape.kv_heads;
    s->w.data = measure_memory(s->w.count, 1, err);
    s->q = measure_memory(H, D, err);
    s->k = measure_memory(G, D, err);
    if (!s->w.data || !s->q || !s->k)
        return io_fail(err, PE_ERR_NOMEM, "%.60s: no memory for its parameters", s->spec);
    PROVE_TRY(pe_encoding_init(s->e, s->w, seed, err));
    move_frequencies(s);
    for (int64_t i = 0; i < H * D; i++)
        s->q[i] = measure_uniform(&seed);
    for (int64_t i = 0; i < G * D; i++)
        s->k[i] = measure_uniform(&seed);
    s->randomness = seed;
    return PE_OK;
}

static pe_status find_ends(property_subject *s, pe_error *err)
{
    double *code = property_doubles(s, s->size);
    for (int64_t a = 0; code && a < s->axes; a++) {
        s->high[a] = furthest(s, a, 1, code);
        s->low[a] = property_scores_pairs(s) ? 0 : furthest(s, a, -1, code); /* of a pair: distances from 0 up */
    }
    property_release(s, NULL);
    if (s->err.status)
        return io_fail(err, s->err.status, "%s", s->err.text);
    return PE_OK;
}

pe_status property_open(property_subject *s, const char *spec, pe_shape shape, uint64_t seed, pe_error *err)
{
    *s = (property_subject){ .code = property_whole_code, .undo = pe_unrotate };
    size_t n = strlen(spec);
    if (n >= sizeof s->spec)
        return io_fail(err, PE_ERR_SPEC, "the spec has %zu characters; needs less than %zu", n, sizeof s->spec);
    memcpy(s->spec, spec, n + 1);
    PROVE_TRY(pe_encoding_new(&s->e, spec, shape, err));
    s->shape = pe_encoding_shape(s->e);
    s->axes = pe_encoding_axes(s->e);
    s->w = (pe_params){ NULL, PE_F64, pe_encoding_param_count(s->e) };
    pe_status status = fill_contents(s, seed, err);
    s->size = property_code_size(s);
    status = status ? status : find_ends(s, err);
    if (status)
        property_close(s);
    return status;
}

void property_close(property_subject *s)
{
    property_release(s, NULL);
    pe_encoding_free(s->e);
    free(s->w.data), free(s->q), free(s->k);
    *s = (property_subject){ 0 };
}
