/* SPDX-License-Identifier: MIT
 *
 * An encoding with parameters and contents: where its positions end; its code, which is all that it tells about a
 * position, side by side: what is added, how it rotates, what a query there adds to its score towards the origin, what
 * it adds to the value from there. */
#include "io/checked.h"
#include "prove/property.h"
#include "zoo/look.h"
#include "zoo/rotation.h"

#include <stdlib.h>
#include <string.h>

/* The code of a position: what is added, how it rotates, what a query there adds to its score towards the origin,
 * what it adds to the value from there; side by side. */

#define COUNTED_KEYS 128 /* keys that a term which counts them gets to see */
#define BITE 64          /* positions at a time: a term that counts keys needs n x keys of memory */

int64_t property_embed_size(const property_subject *s)
{
    return pe_encoding_hooks(s->e) & PE_HOOK_EMBED ? pe_embed_width(s->e, s->shape.model_dim) : 0;
}

static pe_status embed_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    pe_view y = pe_view_of(out, PE_F64, 1, n, 1, property_embed_size(s));
    y.token_stride = s->size;
    pe_view x = pe_view_of(NULL, PE_F64, 1, n, 1, s->shape.model_dim);
    return pe_embed(s->e, y, x, property_positions(s, at, n), &PE_MAKE(pe_run, .params = s->w), NULL);
}

/* cos and sin of every head that has its own, as a query and as a key. */
static pe_status rotation_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t heads = zoo_rotating_heads(s->e), pairs = pe_encoding_pair_count(s->e), P = heads * pairs;
    double *table = property_doubles(s, 2 * n * P);
    pe_status bad = table ? PE_OK : PE_ERR_NOMEM;
    for (int side = PE_QUERY; !bad && side <= PE_KEY; side++) {
        bad = pe_rotate_table(s->e, (pe_side)side, pe_view_of(table, PE_F64, 1, n, heads, pairs),
                              pe_view_of(table + n * P, PE_F64, 1, n, heads, pairs), property_positions(s, at, n),
                              &PE_MAKE(pe_run, .params = s->w), NULL);
        for (int64_t i = 0; i < n * P; i++) {
            double *to = out + i / P * s->size + 2 * side * P + i % P;
            to[0] = table[i];
            to[P] = table[n * P + i];
        }
    }
    return bad;
}

pe_status property_terms(const property_subject *s, double *score, pe_view q, pe_view k, const int64_t *q_at,
                         const int64_t *k_at, double scale)
{
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(score, PE_F64, 1, q.tokens, s->shape.heads, k.tokens),
                  .q = q,
                  .k = k,
                  .q_at = property_positions(s, q_at, q.tokens),
                  .k_at = property_positions(s, k_at, k.tokens) };
    return zoo_look_terms(s->e, &t, s->w, scale, NULL);
}

/* The same content for n tokens: a token stride of 0 is not a view, so it is copied. */
static double *repeated(property_subject *s, const double *x, int64_t size, int64_t n)
{
    double *y = property_doubles(s, size * n);
    for (int64_t t = 0; y && t < n; t++)
        memcpy(y + t * size, x, (size_t)size * sizeof *x);
    return y;
}

/* What a query at t adds to its score towards a key at the origin, per head. Terms that count keys find keys at
 * 0, 1, .. too. */
static pe_status score_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, k_at[COUNTED_KEYS * PE_AXES_MAX] = { 0 };
    int64_t keys = pe_encoding_carries(s->e) ? COUNTED_KEYS : 1;
    double *q = repeated(s, s->q, H * D, n), *k = repeated(s, s->k, G * D, keys),
           *score = property_doubles(s, n * H * keys);
    for (int64_t j = 0; j < keys; j++)
        k_at[j * s->axes] = j;
    if (!q || !k || !score)
        return PE_ERR_NOMEM;
    pe_status bad =
        property_terms(s, score, pe_view_of(q, PE_F64, 1, n, H, D), pe_view_of(k, PE_F64, 1, keys, G, D), at, k_at, 1);
    for (int64_t t = 0; !bad && t < n; t++)
        for (int64_t h = 0; h < H; h++)
            out[t * s->size + h] = score[(t * H + h) * keys];
    return bad;
}

static pe_status value_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    static const int64_t origin[PE_AXES_MAX];
    double *prob = property_doubles(s, n * H);
    if (!prob)
        return PE_ERR_NOMEM;
    for (int64_t i = 0; i < n * H; i++)
        prob[i] = 1;
    pe_view y = pe_view_of(out, PE_F64, 1, n, H, D);
    y.token_stride = s->size;
    for (int64_t t = 0; t < n; t++)
        memset(out + t * s->size, 0, (size_t)(H * D) * sizeof *out);
    return pe_encoding_value(s->e, s->w, y, pe_view_of(prob, PE_F64, 1, n, H, 1), property_positions(s, at, n),
                             property_positions(s, origin, 1), NULL);
}

typedef struct layer {
    unsigned hooks;
    int64_t size;
    property_code *code;
} layer;

static int layers_of(const property_subject *s, layer out[4])
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    const layer all[] = { { PE_HOOK_EMBED, property_embed_size(s), embed_code },
                          { PE_HOOK_ROTATE, 4 * zoo_rotating_heads(s->e) * pe_encoding_pair_count(s->e),
                            rotation_code },
                          { PE_HOOK_CONTENT | PE_HOOK_BIAS, H, score_code },
                          { PE_HOOK_VALUE, H * D, value_code } };
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (pe_encoding_hooks(s->e) & all[i].hooks)
            out[n++] = all[i];
    return n;
}

static int64_t property_code_size(const property_subject *s)
{
    layer list[4];
    int64_t size = 0;
    for (int i = layers_of(s, list); i-- > 0;)
        size += list[i].size;
    return size;
}

static pe_status property_whole_code(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    layer list[4];
    int count = layers_of(s, list);
    pe_status bad = PE_OK;
    property_room *mark = s->room;
    for (int i = 0; !bad && i < count; i++) {
        bad = list[i].code(s, at, n, out);
        out += list[i].size;
    }
    property_release(s, mark);
    return bad;
}

bool property_codes(property_subject *s, const int64_t *at, int64_t n, double *out)
{
    for (int64_t t = 0; t < n && !s->err.status; t += BITE) {
        int64_t m = n - t < BITE ? n - t : BITE;
        if (s->code(s, at + t * s->axes, m, out + t * s->size) && !s->err.status)
            io_fail(&s->err, PE_ERR_POSITION, "%.100s: a position inside its range is refused", s->spec);
    }
    return !s->err.status;
}

/* An encoding with parameters and contents; memory; positions. */

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

static bool property_scores_pairs(const property_subject *s)
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
    return property_clamp(random_next(&s->randomness) & 1 ? -x : x, low, high);
}

void property_random(property_subject *s, int64_t limit, int64_t *at)
{
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t low = property_clamp(-limit, s->low[a], 0), high = property_clamp(limit, 0, s->high[a]);
        at[a] =
            random_next(&s->randomness) & 1 ? property_wide(s, low, high) : measure_range(&s->randomness, low, high);
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

/* Moves frequencies a little from their initial values: a property that holds only there does not count. */
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
    TRY(pe_encoding_init(s->e, s->w, seed, err));
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
    TRY(pe_encoding_new(&s->e, spec, shape, err));
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
