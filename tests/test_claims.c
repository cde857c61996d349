/* labels: core
 * SPDX-License-Identifier: MIT
 *
 * Every row is held to its claims, both ways: what it claims must be measured, what it does not claim must be measured
 * to fail, or the reason stands in `reasons`. One predicate per claim, the same code for every row, in float64. */
#include "common.h"

#define SEED UINT64_C(0x706f73656e63)
#define COUNTED_KEYS 256 /* keys that a term which counts them gets to see                        */
#define EVERY (~0u)

typedef enum { FAILS, HOLDS, NO_MEANING } outcome;

typedef struct verdict {
    outcome is;
    double number; /* what was measured */
} verdict;

typedef pe_status undo_fn(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, pe_error *);

/* An encoding with parameters and contents, and the range of each coordinate that it serves. */
typedef struct subject subject;
struct subject {
    char spec[1200];
    pe_encoding *e;
    pe_shape shape;
    pe_params w;
    double *q, *k; /* (H, D), (Hkv, D): contents, the same for every token; k is what q's group of heads shares */
    int64_t axes, size;
    int64_t low[PE_AXES_MAX], high[PE_AXES_MAX];
    pe_status (*code)(const subject *s, const int64_t *at, int64_t n, double *out); /* out (n, size) */
    undo_fn *undo;
};

static uint64_t randomness;

static double *doubles(int64_t n)
{
    double *x = calloc(n > 0 ? (size_t)n : 1, sizeof *x);
    if (!x)
        fail_msg("no memory");
    return x;
}

static bool scores_pairs(const subject *s)
{
    return pe_encoding_hooks(s->e) & (PE_HOOK_CONTENT | PE_HOOK_BIAS | PE_HOOK_VALUE);
}

static pe_positions positions(const subject *s, const int64_t *at, int64_t n)
{
    return (pe_positions){ at, n, s->axes, 0, 0 };
}

/* ------------------------------------------------ the code of a position */

static int64_t embed_size(const subject *s)
{
    return pe_encoding_hooks(s->e) & PE_HOOK_EMBED ? pe_encoding_embed_width(s->e, s->shape.model_dim) : 0;
}

static pe_status embed_code(const subject *s, const int64_t *at, int64_t n, double *out)
{
    pe_view y = { out, PE_F64, n, 1, embed_size(s), s->size, s->size };
    pe_view x = { NULL, PE_F64, n, 1, s->shape.model_dim, 0, 0 };
    return pe_encoding_embed(s->e, s->w, y, x, positions(s, at, n), NULL);
}

/* cos and sin as a query and as a key. */
static pe_status turn_code(const subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t P = pe_encoding_pair_count(s->e);
    double *table = doubles(2 * n * P);
    pe_view c = pe_view_packed(table, PE_F64, n, 1, P), t = pe_view_packed(table + n * P, PE_F64, n, 1, P);
    pe_status bad = PE_OK;
    for (int side = PE_QUERY; !bad && side <= PE_KEY; side++) {
        bad = pe_encoding_table(s->e, (pe_side)side, c, t, positions(s, at, n), NULL);
        for (int64_t i = 0; i < n * P; i++) {
            double *to = out + i / P * s->size + 2 * side * P + i % P;
            to[0] = table[i];
            to[P] = table[n * P + i];
        }
    }
    free(table);
    return bad;
}

/* Both stages of one tile of packed contents, added to score (n, H, keys). */
static pe_status score_terms(const subject *s, double *score, pe_view q, pe_view k, const int64_t *q_at,
                             const int64_t *k_at, pe_stage stage)
{
    pe_tile t = { .score = pe_view_packed(score, PE_F64, q.tokens, s->shape.heads, k.tokens), .q = q, .k = k,
                  .q_at = positions(s, q_at, q.tokens), .k_at = positions(s, k_at, k.tokens) };
    pe_status bad = pe_encoding_content(s->e, stage, s->w, &t, NULL);
    return bad ? bad : pe_encoding_bias(s->e, stage, s->w, &t, NULL);
}

/* The same content for n tokens: a token stride of 0 is not a view, so it is copied. */
static double *repeated(const double *x, int64_t size, int64_t n)
{
    double *y = doubles(size * n);
    for (int64_t t = 0; t < n; t++)
        memcpy(y + t * size, x, (size_t)size * sizeof *x);
    return y;
}

/* What a query at t adds to its score towards a key at the origin, per head. Terms that count keys find keys at
 * 0, 1, .. too. */
static pe_status score_code(const subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim;
    int64_t keys = pe_encoding_carries(s->e) ? COUNTED_KEYS : 1;
    double *q = repeated(s->q, H * D, n), *k = repeated(s->k, G * D, keys), *score = doubles(n * H * keys);
    int64_t *k_at = calloc((size_t)(keys * s->axes), sizeof *k_at);
    for (int64_t j = 0; j < keys; j++)
        k_at[j * s->axes] = j;
    pe_status bad = PE_OK;
    for (int stage = PE_BEFORE_SCALE; !bad && stage <= PE_AFTER_SCALE; stage++)
        bad = score_terms(s, score, pe_view_packed(q, PE_F64, n, H, D), pe_view_packed(k, PE_F64, keys, G, D), at, k_at,
                          (pe_stage)stage);
    for (int64_t t = 0; t < n; t++)
        for (int64_t h = 0; h < H; h++)
            out[t * s->size + h] = score[(t * H + h) * keys];
    free(q), free(k), free(score), free(k_at);
    return bad;
}

static pe_status value_code(const subject *s, const int64_t *at, int64_t n, double *out)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    static const int64_t origin[PE_AXES_MAX];
    double *prob = doubles(n * H);
    for (int64_t i = 0; i < n * H; i++)
        prob[i] = 1;
    pe_view y = { out, PE_F64, n, H, D, s->size, D };
    for (int64_t t = 0; t < n; t++)
        memset(out + t * s->size, 0, (size_t)(H * D) * sizeof *out);
    pe_status bad = pe_encoding_value(s->e, s->w, y, pe_view_packed(prob, PE_F64, n, H, 1), positions(s, at, n),
                                      positions(s, origin, 1), NULL);
    free(prob);
    return bad;
}

typedef struct layer {
    unsigned hooks;
    int64_t size;
    pe_status (*code)(const subject *s, const int64_t *at, int64_t n, double *out);
} layer;

static int layers_of(const subject *s, layer out[4])
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    const layer all[] = { { PE_HOOK_EMBED, embed_size(s), embed_code },
                          { PE_HOOK_ROTATE, 4 * pe_encoding_pair_count(s->e), turn_code },
                          { PE_HOOK_CONTENT | PE_HOOK_BIAS, H, score_code },
                          { PE_HOOK_VALUE, H * D, value_code } };
    int n = 0;
    for (int i = 0; i < COUNT(all); i++)
        if (pe_encoding_hooks(s->e) & all[i].hooks)
            out[n++] = all[i];
    return n;
}

/* All that an encoding tells about a position, side by side. */
static pe_status whole_code(const subject *s, const int64_t *at, int64_t n, double *out)
{
    layer list[4];
    int count = layers_of(s, list);
    pe_status bad = PE_OK;
    for (int i = 0; !bad && i < count; i++) {
        bad = list[i].code(s, at, n, out);
        out += list[i].size;
    }
    return bad;
}

/* ------------------------------------------------ subjects */

/* The furthest coordinate that is served from 0 on in one direction; what is served is an interval. */
static int64_t furthest(const subject *s, int64_t axis, int64_t sign, double *code)
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

static bool subject_try(subject *s, const char *spec, pe_shape shape, uint64_t seed)
{
    pe_error err = { 0 };
    *s = (subject){ .code = whole_code, .undo = pe_encoding_unrotate };
    snprintf(s->spec, sizeof s->spec, "%s", spec);
    if (pe_encoding_new(&s->e, spec, shape, NULL))
        return false;
    s->shape = pe_encoding_shape(s->e);
    s->axes = pe_encoding_axes(s->e);
    s->w = (pe_params){ NULL, PE_F64, pe_encoding_param_count(s->e) };
    s->w.data = doubles(s->w.count);
    assert_ok(pe_encoding_init(s->e, s->w, seed, &err));
    int64_t D = s->shape.head_dim, H = s->shape.heads, G = s->shape.kv_heads;
    s->q = doubles(H * D);
    s->k = doubles(G * D);
    for (int64_t i = 0; i < H * D; i++)
        s->q[i] = test_uniform(&seed);
    for (int64_t i = 0; i < G * D; i++)
        s->k[i] = test_uniform(&seed);
    layer list[4];
    for (int i = layers_of(s, list); i-- > 0;)
        s->size += list[i].size;
    double *code = doubles(s->size);
    for (int64_t a = 0; a < s->axes; a++) {
        s->high[a] = furthest(s, a, 1, code);
        s->low[a] = scores_pairs(s) ? 0 : furthest(s, a, -1, code); /* of a pair: distances from 0 up */
    }
    free(code);
    return true;
}

static void subject_free(subject *s)
{
    pe_encoding_free(s->e);
    free(s->w.data), free(s->q), free(s->k);
}

static subject subject_new(const char *spec, pe_shape shape, uint64_t seed)
{
    subject s;
    if (!subject_try(&s, spec, shape, seed))
        fail_msg("%s is not valid", spec);
    return s;
}

static const pe_shape usual_shape = { 8, 4, 64, 48 };

/* A shape of its own where the spec is not tied to 8 heads of 64. Heads are 8 wide or more: with one pair some scalings
 * have nothing to change. */
static pe_shape random_shape(const char *spec)
{
    for (int tries = 0; tries < 60; tries++) {
        pe_encoding *e;
        int64_t group = test_range(&randomness, 1, 3), kv = test_range(&randomness, 1, 4);
        pe_shape shape = { group * kv, kv, 8 * test_range(&randomness, 1, 8), 8 * test_range(&randomness, 1, 8) };
        if (!pe_encoding_new(&e, spec, shape, NULL)) {
            pe_encoding_free(e);
            return shape;
        }
    }
    return usual_shape;
}

/* The narrowest heads that the spec accepts: fewer unknowns, better conditioned. */
static pe_shape narrow_shape(const char *spec)
{
    for (int64_t D = 8; D <= 32; D *= 2) {
        pe_encoding *e;
        pe_shape shape = { 2, 1, D, 16 };
        if (!pe_encoding_new(&e, spec, shape, NULL)) {
            pe_encoding_free(e);
            return shape;
        }
    }
    return usual_shape;
}

/* ------------------------------------------------ positions */

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Any magnitude is as likely as any other. */
static int64_t wide_position(int64_t low, int64_t high)
{
    int64_t bits = 0;
    while (bits < 36 && (high >> bits || -low >> bits))
        bits++;
    int64_t most = INT64_C(1) << test_range(&randomness, 0, bits), x = test_range(&randomness, 0, most);
    return clamp(test_random(&randomness) & 1 ? -x : x, low, high);
}

static void random_position(const subject *s, int64_t limit, int64_t *at)
{
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t low = clamp(-limit, s->low[a], 0), high = clamp(limit, 0, s->high[a]);
        at[a] = test_random(&randomness) & 1 ? wide_position(low, high) : test_range(&randomness, low, high);
    }
}

static bool served(const subject *s, const int64_t *at)
{
    for (int64_t a = 0; a < s->axes; a++)
        if (at[a] < s->low[a] || at[a] > s->high[a])
            return false;
    return true;
}

static bool endless_axes(const subject *s)
{
    for (int64_t a = 0; a < s->axes; a++)
        if (s->high[a] < PE_POSITION_MAX || (!scores_pairs(s) && s->low[a] > -PE_POSITION_MAX))
            return false;
    return true;
}

static void codes_at(const subject *s, const int64_t *at, int64_t n, double *out)
{
    for (int64_t t = 0; t < n; t += 64) { /* in bites: a term that counts keys needs n x keys of memory */
        int64_t m = n - t < 64 ? n - t : 64;
        if (s->code(s, at + t * s->axes, m, out + t * s->size))
            fail_msg("%s: a position inside its range is refused", s->spec);
    }
}

static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ------------------------------------------------ unique */

static int64_t known_axes; /* qsort has no argument for it */

static int by_coordinates(const void *a, const void *b)
{
    for (int64_t i = 0; i < known_axes; i++) {
        int64_t x = ((const int64_t *)a)[i], y = ((const int64_t *)b)[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* Neighbours near and far, and positions a power of two apart, where tables and float formats repeat themselves. */
static int64_t telling_positions(const subject *s, int64_t *at, int64_t cap)
{
    int64_t n = 0, base[PE_AXES_MAX] = { 0 };
    for (int64_t i = 0; n < cap; i++) {
        int64_t *p = at + n * s->axes, axis = i % s->axes, round = i / s->axes;
        if (round % 4 == 0)
            random_position(s, round < cap / 3 ? 300 : PE_POSITION_MAX, base);
        memcpy(p, base, sizeof base);
        p[axis] += round < 2 * cap / 3 ? round % 4 : (INT64_C(1) << round % 37) - base[axis] * (round % 4 < 2);
        if (served(s, p))
            n++;
    }
    known_axes = s->axes;
    qsort(at, (size_t)n, (size_t)s->axes * sizeof *at, by_coordinates);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!i || by_coordinates(at + (kept - 1) * s->axes, at + i * s->axes)) {
            memmove(at + kept * s->axes, at + i * s->axes, (size_t)s->axes * sizeof *at);
            kept++;
        }
    return kept;
}

/* The smallest distance of two codes, relative to their size. Two that are closer than rounding share a code. */
static verdict unique(const subject *s)
{
    int64_t cap = 900, *at = calloc((size_t)((cap + 1) * PE_AXES_MAX), sizeof *at), n = telling_positions(s, at, cap);
    double *code = doubles(n * s->size), *most = doubles(n), gap = INFINITY;
    codes_at(s, at, n, code);
    for (int64_t i = 0; i < n; i++)
        most[i] = largest(code + i * s->size, s->size);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double size = fmax(most[i], most[j]), apart = 0, enough = gap * size;
            for (int64_t c = 0; c < s->size && !(apart >= enough); c++)
                apart = fmax(apart, fabs(code[i * s->size + c] - code[j * s->size + c]));
            gap = fmin(gap, size > 0 ? apart / size : 0);
        }
    free(at), free(code), free(most);
    return (verdict){ gap > 1e-14 ? HOLDS : FAILS, gap };
}

/* ------------------------------------------------ the same code at any length */

/* The spec with the part's key set to `to`. */
static void with_key(char *out, size_t cap, const char *spec, const char *key, const char *to)
{
    char name[40];
    int all;
    snprintf(name, sizeof name, "%s=", key);
    const char *old = strstr(spec, name);
    if (old)
        all = snprintf(out, cap, "%.*s%s%s%s", (int)(old - spec), spec, name, to, old + strcspn(old, ",+"));
    else
        all = snprintf(out, cap, "%s%c%s%s", spec, strchr(spec, ':') ? ',' : ':', name, to);
    assert_in_range(all, 1, cap - 1);
}

/* Largest difference of two codes at positions that both serve. Contents are the same, and
 * parameters wherever their shapes are. */
static double code_difference(const subject *a, const subject *b)
{
    pe_error err = { 0 };
    for (int t = 0; t < pe_encoding_tensor_count(a->e); t++) {
        pe_tensor x, y;
        assert_ok(pe_encoding_tensor(a->e, t, &x, &err));
        assert_ok(pe_encoding_tensor(b->e, t, &y, &err));
        if (x.count == y.count)
            memcpy((double *)b->w.data + y.offset, (double *)a->w.data + x.offset, (size_t)x.count * sizeof(double));
    }
    memcpy(b->q, a->q, (size_t)(a->shape.heads * a->shape.head_dim) * sizeof(double));
    memcpy(b->k, a->k, (size_t)(a->shape.kv_heads * a->shape.head_dim) * sizeof(double));
    double *one = doubles(a->size), *two = doubles(a->size), most = 0;
    for (int i = 0; i < 60; i++) {
        int64_t at[PE_AXES_MAX] = { 0 };
        random_position(a, i < 30 ? 600 : PE_POSITION_MAX, at);
        if (!served(b, at))
            continue;
        codes_at(a, at, 1, one);
        codes_at(b, at, 1, two);
        for (int64_t c = 0; c < a->size; c++)
            most = fmax(most, fabs(one[c] - two[c]) / fmax(1, fabs(one[c])));
    }
    free(one), free(two);
    return most;
}

/* A batch of 2n positions against its two halves. */
static double batch_difference(const subject *s)
{
    int64_t n = 16, at[32 * PE_AXES_MAX];
    double *whole = doubles(2 * n * s->size), *half = doubles(n * s->size), most = 0;
    for (int64_t i = 0; i < 2 * n; i++)
        random_position(s, PE_POSITION_MAX, at + i * s->axes);
    codes_at(s, at, 2 * n, whole);
    for (int64_t first = 0; first <= n; first += n) {
        codes_at(s, at + first * s->axes, n, half);
        for (int64_t c = 0; c < n * s->size; c++)
            most = fmax(most, fabs(half[c] - whole[first * s->size + c]));
    }
    free(whole), free(half);
    return most;
}

static verdict any_length(const subject *s)
{
    static const char *const keys[] = { "length", "extent" };
    double most = batch_difference(s);
    for (int k = 0; k < COUNT(keys); k++)
        for (int n = 0; n < 3; n++) {
            static const char *const length[] = { "700", "5000", "70000" };
            char spec[1200], list[200] = "";
            for (int64_t a = 0; a < s->axes; a++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", a ? "/" : "", 9 + 10 * n);
            with_key(spec, sizeof spec, s->spec, keys[k], k ? list : length[n]);
            subject other;
            if (!subject_try(&other, spec, s->shape, SEED))
                continue; /* this spec has no such key */
            most = fmax(most, code_difference(s, &other));
            subject_free(&other);
        }
    return (verdict){ most < 1e-13 ? HOLDS : FAILS, most };
}

/* ------------------------------------------------ bounded */

/* The largest element far away over the largest nearby. A logarithm from 10^3 to 2^36 grows 2-fold or more. */
static verdict bounded(const subject *s)
{
    if (!endless_axes(s))
        return (verdict){ NO_MEANING, NAN }; /* "however far" has no meaning where positions end */
    double *code = doubles(s->size), most[2] = { 0, 0 };
    for (int i = 0; i < 1000; i++) {
        int64_t at[PE_AXES_MAX] = { i }; /* every position at first: a table may hold its largest anywhere */
        bool far = i >= 700;
        if (i >= 300)
            random_position(s, far ? PE_POSITION_MAX : 1000, at);
        codes_at(s, at, 1, code);
        most[far] = fmax(most[far], largest(code, s->size));
    }
    free(code);
    double growth = most[1] > 0 ? most[1] / most[0] : 0;
    return (verdict){ growth < 1.25 ? HOLDS : FAILS, growth };
}

/* ------------------------------------------------ linear in the shift */

#define SAMPLES 300

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes a times y away from x. */
static void less(double *x, double a, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] -= a * y[i];
}

/* Solves M code = image for n samples: returns the rank, code's first rows become an orthonormal basis and image's the
 * basis times M. The code that is least explained comes next (Gram-Schmidt with pivots), while more than rounding and
 * near-copies is left. */
static int64_t solve(double *code, double *image, int64_t n, int64_t size)
{
    double *norm = doubles(n), *swap = doubles(size);
    int64_t rank = 0;
    for (int64_t i = 0; i < n; i++)
        norm[i] = dot(code + i * size, code + i * size, size);
    for (; rank < n && rank < size; rank++) {
        int64_t next = rank;
        double most = 0;
        for (int64_t i = rank; i < n; i++) {
            double left = dot(code + i * size, code + i * size, size) / norm[i];
            if (norm[i] > 0 && left > most)
                most = left, next = i;
        }
        if (most < 1e-8)
            break;
        for (int m = 0; m < 2; m++) {
            double *x = m ? image : code;
            memcpy(swap, x + next * size, (size_t)size * sizeof *x);
            memcpy(x + next * size, x + rank * size, (size_t)size * sizeof *x);
            memcpy(x + rank * size, swap, (size_t)size * sizeof *x);
        }
        norm[next] = norm[rank];
        double *basis = code + rank * size, *moved = image + rank * size, scale = 1 / sqrt(dot(basis, basis, size));
        less(basis, 1 - scale, basis, size);
        less(moved, 1 - scale, moved, size);
        for (int64_t i = rank + 1; i < n; i++) {
            double a = dot(code + i * size, basis, size);
            less(code + i * size, a, basis, size);
            less(image + i * size, a, moved, size);
        }
    }
    free(norm), free(swap);
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
static void shifted_pair(const subject *s, int64_t limit, const int64_t *shift, int64_t *at, int64_t *to)
{
    do {
        random_position(s, limit, at);
        for (int64_t a = 0; a < s->axes; a++)
            to[a] = at[a] + shift[a];
    } while (!served(s, to));
}

/* M(k) is solved for on the first SAMPLES positions and tried on as many others, which reach as far as slow waves need
 * to be told apart (and not where xpos has grown by e^80). Codes that are all independent, a table shorter than its
 * vectors are wide, fit any map. */
static verdict linear_by(const subject *s, const int64_t *shift)
{
    double *code = doubles(2 * SAMPLES * s->size), *image = doubles(2 * SAMPLES * s->size), worst = 0;
    int64_t limit = endless_axes(s) ? INT64_C(1) << 30 : 1000, distinct = 0;
    for (int i = 0; i < 2 * SAMPLES; i++) {
        int64_t at[PE_AXES_MAX], to[PE_AXES_MAX];
        shifted_pair(s, i % 2 ? 150 : limit, shift, at, to);
        codes_at(s, at, 1, code + i * s->size);
        codes_at(s, to, 1, image + i * s->size);
        distinct += i < SAMPLES && is_new(code, i, code + i * s->size, s->size);
    }
    int64_t rank = solve(code, image, SAMPLES, s->size);
    for (int i = SAMPLES; i < 2 * SAMPLES; i++) {
        double size = fmax(largest(image + i * s->size, s->size), 1e-300);
        for (int64_t b = 0; b < rank; b++)
            less(image + i * s->size, dot(code + i * s->size, code + b * s->size, s->size), image + b * s->size, s->size);
        worst = fmax(worst, largest(image + i * s->size, s->size) / size);
    }
    free(code), free(image);
    if (rank == distinct && distinct > 1)
        return (verdict){ NO_MEANING, (double)distinct };
    return (verdict){ worst < 1e-8 ? HOLDS : FAILS, worst }; /* rounding, codes that grow e^10-fold (xpos) */
}

/* A short shift and a long one: a short table is past its end after a long one, steps show only then. */
static verdict linear(const subject *given)
{
    subject s = subject_new(given->spec, narrow_shape(given->spec), SEED);
    int64_t near[PE_AXES_MAX], far[PE_AXES_MAX];
    for (int64_t a = 0; a < s.axes; a++) {
        near[a] = test_range(&randomness, 1, clamp(s.high[a] / 5, 1, 5));
        far[a] = clamp(s.high[a] / 3, 1, test_range(&randomness, 16, 40));
    }
    verdict v = linear_by(&s, near), w = linear_by(&s, far);
    subject_free(&s);
    return v.is == FAILS || (v.is == HOLDS && w.is == HOLDS && v.number > w.number) ? v : w;
}

/* ------------------------------------------------ scores of a pair */

static void turned(const subject *s, pe_side side, double *y, const double *x, int64_t heads, const int64_t *at,
                   pe_status *bad)
{
    pe_view from = pe_view_packed((void *)(uintptr_t)x, PE_F64, 1, heads, s->shape.head_dim), to = from;
    to.data = y;
    if (!*bad)
        *bad = pe_encoding_rotate(s->e, side, to, from, positions(s, at, 1), NULL);
}

/* score (H): (q.k + terms) * scale + terms, q at i and k at j. Terms that count keys find a key at every place from j
 * to i, but no more than 63. */
static pe_status head_scores(const subject *s, const double *q0, const double *k0, const int64_t *i, const int64_t *j,
                             double *score)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, keys = 1, k_at[64 * PE_AXES_MAX];
    memcpy(k_at, j, (size_t)s->axes * sizeof *j);
    for (int64_t t = i[0] - 62 > j[0] ? i[0] - 62 : j[0] + 1; pe_encoding_carries(s->e) && t <= i[0]; t++, keys++) {
        memcpy(k_at + keys * s->axes, j, (size_t)s->axes * sizeof *j);
        k_at[keys * s->axes] = t;
    }
    pe_status bad = PE_OK;
    double *q = doubles(H * D), *k = doubles(keys * G * D), *sum = doubles(H * keys);
    turned(s, PE_QUERY, q, q0, H, i, &bad);
    for (int64_t n = 0; n < keys; n++)
        turned(s, PE_KEY, k + n * G * D, k0, G, k_at + n * s->axes, &bad);
    for (int64_t h = 0; h < H; h++)
        sum[h * keys] = dot(q + h * D, k + h / (H / G) * D, D);
    for (int stage = PE_BEFORE_SCALE; !bad && stage <= PE_AFTER_SCALE; stage++) {
        bad = score_terms(s, sum, pe_view_packed(q, PE_F64, 1, H, D), pe_view_packed(k, PE_F64, keys, G, D), i, k_at,
                          (pe_stage)stage);
        for (int64_t h = 0; stage == PE_BEFORE_SCALE && h < H; h++)
            sum[h * keys] *= pe_encoding_scale(s->e);
    }
    for (int64_t h = 0; h < H; h++)
        score[h] = sum[h * keys];
    free(q), free(k), free(sum);
    return bad;
}

/* What two tokens hold, as queries and keys and before; the (W, W) matrix between the latter. */
typedef struct contents {
    const double *q, *k, *x, *y, *projections;
} contents;

/* (x + p_i) . M (y + p_j); x and y may be NULL: 0. M stands for the model's two projections; NULL: 1. */
static pe_status embed_score(const subject *s, contents c, const int64_t *i, const int64_t *j, double *score)
{
    int64_t C = s->shape.model_dim, W = embed_size(s);
    const double *in[] = { c.x, c.y };
    const int64_t *at[] = { i, j };
    double *out = doubles(2 * W);
    pe_status bad = PE_OK;
    for (int n = 0; W && !bad && n < 2; n++) {
        pe_view from = { (void *)(uintptr_t)in[n], PE_F64, 1, 1, C, 0, 0 };
        bad = pe_encoding_embed(s->e, s->w, pe_view_packed(out + n * W, PE_F64, 1, 1, W), from, positions(s, at[n], 1), NULL);
    }
    *score = c.projections ? 0 : dot(out, out + W, W);
    for (int64_t n = 0; c.projections && n < W; n++)
        *score += out[n] * dot(c.projections + n * W, out + W, W);
    free(out);
    return bad;
}

/* What a key at j adds to the value that a query at i sees, (H, D). */
static pe_status value_terms(const subject *s, const int64_t *i, const int64_t *j, double *out)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    double *prob = doubles(H);
    for (int64_t h = 0; h < H; h++)
        prob[h] = 1;
    memset(out, 0, (size_t)(H * D) * sizeof *out);
    pe_status bad = pe_encoding_value(s->e, s->w, pe_view_packed(out, PE_F64, 1, H, D), pe_view_packed(prob, PE_F64, 1, H, 1),
                                      positions(s, i, 1), positions(s, j, 1), NULL);
    free(prob);
    return bad;
}

/* All that one pair of tokens sees of each other: (1 + H + H D). */
static int64_t pair_size(const subject *s)
{
    return 1 + s->shape.heads + s->shape.heads * s->shape.head_dim;
}

static pe_status pair_scores(const subject *s, contents c, const int64_t *i, const int64_t *j, double *score)
{
    pe_status bad = embed_score(s, c, i, j, score);
    bad = bad ? bad : head_scores(s, c.q, c.k, i, j, score + 1);
    return bad ? bad : value_terms(s, i, j, score + 1 + s->shape.heads);
}

/* A base anywhere, and a distance, not 0, that tables may reach. Not every such pair is served. */
static void random_pair(const subject *s, int64_t *i, int64_t *distance)
{
    bool anywhere = !(pe_encoding_hooks(s->e) & (PE_HOOK_EMBED | PE_HOOK_ROTATE)), none = true;
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t low = anywhere ? -PE_POSITION_MAX / 4 : s->low[a], high = anywhere ? PE_POSITION_MAX / 4 : s->high[a];
        i[a] = test_random(&randomness) & 1 ? wide_position(low, high) : test_range(&randomness, low, high);
        distance[a] = test_range(&randomness, 0, clamp(s->high[a] / 3, 0, 50));
        none = none && !distance[a];
    }
    distance[test_range(&randomness, 0, s->axes - 1)] += none;
}

/* The largest change of any score when both positions move by the same amount. */
static verdict relative(const subject *s)
{
    int64_t size = pair_size(s), C = s->shape.model_dim, W = embed_size(s);
    double *one = doubles(size), *two = doubles(size), *x = doubles(2 * C + W * W), worst = 0;
    for (int64_t n = 0; n < 2 * C + W * W; n++)
        x[n] = test_uniform(&randomness);
    contents c = { s->q, s->k, x, x + C, x + 2 * C };
    int found = 0;
    for (int tries = 0; tries < 5000 && found < 60; tries++) {
        int64_t i[PE_AXES_MAX], j[PE_AXES_MAX], k[PE_AXES_MAX], m[PE_AXES_MAX], distance[PE_AXES_MAX];
        random_pair(s, k, distance);
        random_pair(s, i, distance);
        for (int64_t a = 0; a < s->axes; a++) {
            j[a] = i[a] - distance[a];
            m[a] = k[a] - distance[a];
        }
        if (pair_scores(s, c, i, j, one) || pair_scores(s, c, k, m, two))
            continue;
        found++;
        for (int64_t n = 0; n < size; n++)
            worst = fmax(worst, fabs(one[n] - two[n]) / fmax(1, fabs(one[n])));
    }
    if (found < 20)
        fail_msg("%s: only %d pairs were served", s->spec, found);
    free(one), free(two), free(x);
    return (verdict){ worst < 1e-11 ? HOLDS : FAILS, worst }; /* 64 products, and exp of 87 with xpos */
}

/* f(t, t+d) = f(t, t-d) and f(i, j) = f(j, i), contents equal on both sides: codes alone, q = k, one key for all. */
static verdict symmetric(const subject *s)
{
    int64_t H = s->shape.heads, G = s->shape.kv_heads, D = s->shape.head_dim, size = pair_size(s);
    double *q = doubles(H * D), *score = doubles(3 * size), worst = 0;
    for (int64_t h = 0; h < H; h++)
        memcpy(q + h * D, s->k + h / (H / G) * D, (size_t)D * sizeof *q);
    contents c = { q, s->k, NULL, NULL, NULL };
    int found = 0;
    for (int tries = 0; tries < 5000 && found < 60; tries++) {
        int64_t t[PE_AXES_MAX], back[PE_AXES_MAX], ahead[PE_AXES_MAX], distance[PE_AXES_MAX];
        random_pair(s, t, distance);
        for (int64_t a = 0; a < s->axes; a++) {
            back[a] = t[a] - distance[a];
            ahead[a] = t[a] + distance[a];
        }
        if (pair_scores(s, c, t, back, score) || pair_scores(s, c, t, ahead, score + size) ||
            pair_scores(s, c, ahead, t, score + 2 * size))
            continue;
        found++;
        for (int64_t n = 0; n < 2 * size; n++) /* back against ahead, then ahead against its exchange */
            worst = fmax(worst, fabs(score[n] - score[n + size]) / fmax(1, fabs(score[n])));
    }
    free(q), free(score);
    /* none served: one direction has no score at all */
    return (verdict){ found && worst < 1e-11 ? HOLDS : FAILS, found ? worst : INFINITY };
}

/* ------------------------------------------------ norm, inverse */

static verdict norm_kept(const subject *s)
{
    unsigned hooks = pe_encoding_hooks(s->e);
    int64_t H = s->shape.heads, D = s->shape.head_dim, C = s->shape.model_dim, W = embed_size(s);
    if (!(hooks & (PE_HOOK_EMBED | PE_HOOK_ROTATE)))
        return (verdict){ NO_MEANING, NAN }; /* touches no vector */
    double *x = doubles(C), *y = doubles(W + H * D), worst = 0;
    for (int n = 0; n < 100; n++) {
        int64_t at[PE_AXES_MAX];
        random_position(s, PE_POSITION_MAX, at);
        for (int64_t c = 0; c < C; c++)
            x[c] = test_uniform(&randomness);
        pe_status bad = PE_OK;
        if (W) {
            bad = pe_encoding_embed(s->e, s->w, pe_view_packed(y, PE_F64, 1, 1, W), pe_view_packed(x, PE_F64, 1, 1, C),
                                    positions(s, at, 1), NULL);
            worst = fmax(worst, fabs(sqrt(dot(y, y, W) / dot(x, x, C)) - 1));
        }
        for (int side = PE_QUERY; hooks & PE_HOOK_ROTATE && side <= PE_OUTPUT; side++) {
            turned(s, (pe_side)side, y, s->q, H, at, &bad);
            for (int64_t h = 0; h < H; h++)
                worst = fmax(worst, fabs(sqrt(dot(y + h * D, y + h * D, D) / dot(s->q + h * D, s->q + h * D, D)) - 1));
        }
        if (bad)
            fail_msg("%s: a position inside its range is refused", s->spec);
    }
    free(x), free(y);
    return (verdict){ worst < 1e-13 ? HOLDS : FAILS, worst };
}

static verdict invertible(const subject *s)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    if (!(pe_encoding_hooks(s->e) & PE_HOOK_ROTATE))
        return (verdict){ NO_MEANING, NAN };
    double *y = doubles(H * D), worst = 0;
    for (int n = 0; n < 100; n++) {
        int64_t at[PE_AXES_MAX];
        random_position(s, PE_POSITION_MAX, at);
        for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
            pe_status bad = PE_OK;
            pe_view v = pe_view_packed(y, PE_F64, 1, H, D);
            turned(s, (pe_side)side, y, s->q, H, at, &bad);
            bad = bad ? bad : s->undo(s->e, (pe_side)side, v, v, positions(s, at, 1), NULL);
            for (int64_t d = 0; d < H * D; d++)
                worst = fmax(worst, bad ? INFINITY : fabs(y[d] - s->q[d]));
        }
    }
    free(y);
    return (verdict){ worst < 1e-13 ? HOLDS : FAILS, worst };
}

/* ------------------------------------------------ axes, endless, learned */

/* f(x,y) - f(x',y) - f(x,y') + f(x',y') for every element of the code and any two axes. */
static verdict axes_apart(const subject *s)
{
    if (s->axes < 2)
        return (verdict){ NO_MEANING, NAN };
    double *code = doubles(4 * s->size), worst = 0;
    for (int n = 0; n < 100; n++) {
        int64_t at[4 * PE_AXES_MAX], from[PE_AXES_MAX], to[PE_AXES_MAX], axis = n % s->axes;
        random_position(s, PE_POSITION_MAX, from);
        random_position(s, PE_POSITION_MAX, to);
        for (int corner = 0; corner < 4; corner++)
            for (int64_t a = 0; a < s->axes; a++)
                at[corner * s->axes + a] = (a == axis ? corner & 1 : corner & 2) ? to[a] : from[a];
        codes_at(s, at, 4, code);
        for (int64_t c = 0; c < s->size; c++) {
            double f[4], most = 1;
            for (int i = 0; i < 4; i++)
                most = fmax(most, fabs(f[i] = code[i * s->size + c]));
            worst = fmax(worst, fabs(f[0] - f[1] - f[2] + f[3]) / most);
        }
    }
    free(code);
    return (verdict){ worst < 1e-13 ? HOLDS : FAILS, worst };
}

/* Both ends, every hook, queries and keys apart. */
static verdict endless(const subject *s)
{
    double *score = doubles(pair_size(s));
    int refused = 0;
    for (int n = 0; n < 4; n++) {
        int64_t i[PE_AXES_MAX], j[PE_AXES_MAX];
        for (int64_t a = 0; a < s->axes; a++) {
            i[a] = n & 1 ? PE_POSITION_MAX : -PE_POSITION_MAX;
            j[a] = n & 2 ? PE_POSITION_MAX : -PE_POSITION_MAX;
        }
        refused += pair_scores(s, (contents){ s->q, s->k, NULL, NULL, NULL }, i, j, score) != PE_OK;
    }
    free(score);
    return (verdict){ refused ? FAILS : HOLDS, refused };
}

static verdict learned(const subject *s)
{
    int64_t n = pe_encoding_param_count(s->e);
    return (verdict){ n > 0 ? HOLDS : FAILS, (double)n };
}

/* ------------------------------------------------ rows against their claims */

static verdict (*const predicates[PE_CLAIM_COUNT])(const subject *) = { /* in the order of the claim bits */
    unique, any_length, bounded, linear, relative, norm_kept, axes_apart, symmetric, invertible, endless, learned,
};

/* Where a claim and its measurement differ, and why. `who` is a spec, a row, or "+" for combinations. */
static struct reason {
    const char *who;
    unsigned claim;
    const char *why;
    int used;
} reasons[] = {
    { "none", PE_CLAIM_NORM, "touches no vector, so all keep their length", 0 },
    { "sandwich", PE_CLAIM_UNIQUE,
      "one bounded number (a multiple of it per head): codes come as close as one likes, so samples differ but it does not claim it", 0 },
    { "+", EVERY, "a combination claims what all its parts claim; one part may be enough for the whole", 0 },
};

static bool is_row(const char *name, size_t n)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (strlen(pe_info_at(i)->name) == n && !memcmp(pe_info_at(i)->name, name, n))
            return true;
    return false;
}

static struct reason *reason_for(const char *spec, unsigned claim)
{
    bool many = false;
    for (const char *c = strchr(spec, '+'); c; c = strchr(c + 1, '+'))
        many = many || is_row(c + 1, strcspn(c + 1, ":+"));
    for (int i = 0; i < COUNT(reasons); i++) {
        const char *who = reasons[i].who;
        size_t n = strlen(who);
        bool fits = *who == '+' ? many : !many && !strncmp(who, spec, n) && (!spec[n] || spec[n] == ':');
        if (fits && reasons[i].claim & claim)
            return &reasons[i];
    }
    return NULL;
}

static int said[PE_CLAIM_COUNT][3];
static int wrong;

/* One line of the matrix. Upper case: claimed. Y y holds, . fails, - has no meaning. */
static void hold_to_claims(const char *spec, pe_shape shape)
{
    subject s = subject_new(spec, shape, test_random(&randomness));
    char line[2 * PE_CLAIM_COUNT + 1] = "";
    for (int b = 0; b < PE_CLAIM_COUNT; b++) {
        verdict v = predicates[b](&s);
        bool claims = pe_encoding_claims(s.e) & 1u << b, ok = claims == (v.is == HOLDS);
        struct reason *why = ok ? NULL : reason_for(spec, 1u << b);
        bool listed = why && !(*why->who == '+' && claims); /* a combination that claims must hold */
        said[b][v.is]++;
        if (listed)
            why->used++;
        snprintf(line + 2 * b, 3, "%c ", v.is == HOLDS ? (claims ? 'Y' : 'y') : claims ? '!' : v.is == FAILS ? '.' : '-');
        if (ok || listed)
            continue;
        wrong++;
        print_error("%s (%d heads of %d, model %d) %s %s, but the measurement says %s: %g\n", spec, (int)shape.heads,
                    (int)shape.head_dim, (int)shape.model_dim, claims ? "claims" : "does not claim", pe_claim_name(1u << b),
                    v.is == HOLDS ? "it holds" : v.is == FAILS ? "it fails" : "it has no meaning", v.number);
    }
    printf("%s  %.90s\n", line, spec);
    fflush(stdout);
    subject_free(&s);
}

static void both_shapes(const pe_info *row, const char *spec)
{
    (void)row;
    hold_to_claims(spec, usual_shape);
    pe_shape other = random_shape(spec);
    printf("%*s  %d heads of %d, model %d\n", 2 * PE_CLAIM_COUNT, "", (int)other.heads, (int)other.head_dim,
           (int)other.model_dim);
    hold_to_claims(spec, other);
}

static const char *const more_specs[] = {
    "shaw:on=values",
    "binary:join=concat,width=9",
    "rope:dims=0",
    "rope:softmax=2",
    "rope:sections=32/0",
    "rope:scaling=proportional,turning=0",
    "rope:axes=2,temperature=0.1,floor=64",
    "rope:dims=32,axes=2,split=axial,coords=normalised,extent=14/20,sign=negative",
    "sinusoidal+alibi",
    "rope+t5",
    "learned+kerple",
    "none+rope",
    "rope+sandwich",
    "xpos+kerple",
    "cope+rope",
    "shaw+alibi:form=symmetric",
    "integer+fire",
    "rope:axes=2,split=axial+window",
    "sinusoidal:axes=2+rope",
    "sinusoidal+sinusoidal:theta=100",
    "alibi+kerple",
    "transformer-xl+rope:theta=100+alibi",
};

static void a_row_claims_what_is_measured_and_nothing_else(void **state)
{
    (void)state;
    printf("claims: ");
    for (int b = 0; b < PE_CLAIM_COUNT; b++)
        printf("%s%s", b ? ", " : "", pe_claim_name(1u << b));
    printf("\nY claimed and holds, . fails, - has no meaning; y holds unclaimed, ! claimed all the same (see reasons)\n");
    wrong = 0;
    test_each_example(both_shapes);
    for (int i = 0; i < COUNT(more_specs); i++)
        hold_to_claims(more_specs[i], usual_shape);
    hold_to_claims("wavelet", (pe_shape){ 4, 2, 8, 16 }); /* 8 scales of 8 elements: no shifts */
    for (int i = 0; i < COUNT(reasons); i++) {
        printf("reason: %s, %s: %s (%d times)\n", reasons[i].who,
               reasons[i].claim == EVERY ? "any claim" : pe_claim_name(reasons[i].claim), reasons[i].why, reasons[i].used);
        if (!reasons[i].used)
            fail_msg("the reason for %s is not needed", reasons[i].who);
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------ predicates can say both */

static pe_status axes_one_by_one(const subject *s, const int64_t *at, int64_t n, double *out)
{
    (void)s;
    for (int64_t t = 0; t < n; t++, at += 2, out += 2) {
        out[0] = cos(0.3 * (double)at[0]);
        out[1] = sin(0.2 * (double)at[1]);
    }
    return PE_OK;
}

static pe_status axes_in_one_pair(const subject *s, const int64_t *at, int64_t n, double *out)
{
    (void)s;
    for (int64_t t = 0; t < n; t++, at += 2, out += 2) {
        double angle = 0.3 * (double)at[0] + 0.2 * (double)at[1];
        out[0] = cos(angle);
        out[1] = sin(angle);
    }
    return PE_OK;
}

static void a_pair_turned_by_x_and_y_together_mixes_axes(void **state)
{
    (void)state;
    subject s = { .axes = 2, .size = 2, .low = { 0 }, .high = { 1000, 1000 } };
    s.code = axes_one_by_one;
    assert_int_equal(axes_apart(&s).is, HOLDS);
    s.code = axes_in_one_pair;
    assert_int_equal(axes_apart(&s).is, FAILS);
}

static void the_transpose_is_not_the_inverse(void **state)
{
    (void)state;
    subject s = subject_new("rope:magnitude=1.25", usual_shape, SEED);
    assert_int_equal(invertible(&s).is, HOLDS);
    s.undo = pe_encoding_rotate_back;
    verdict v = invertible(&s);
    said[8][v.is]++;
    assert_int_equal(v.is, FAILS);
    subject_free(&s);
}

static void rows_that_must_lack_a_claim_lack_it(void **state)
{
    static const struct {
        const char *spec;
        unsigned claim;
    } lacks[] = {
        { "normalised", PE_CLAIM_ANY_LENGTH },
        { "rope:scaling=dynamic,factor=2,trained=2048,length=6000", PE_CLAIM_ANY_LENGTH },
        { "rope:dims=4,scaling=longrope,factor=8,trained=1024,length=5000,short=1/1,long=1/8", PE_CLAIM_ANY_LENGTH },
        { "rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14", PE_CLAIM_ANY_LENGTH },
        { "window", PE_CLAIM_AXES },
        { "fire", PE_CLAIM_RELATIVE },
        { "integer", PE_CLAIM_BOUNDED },
        { "learned", PE_CLAIM_ENDLESS },
        { "xpos", PE_CLAIM_NORM },
    };
    (void)state;
    for (int i = 0; i < COUNT(lacks); i++) {
        subject s = subject_new(lacks[i].spec, usual_shape, SEED);
        for (int b = 0; b < PE_CLAIM_COUNT; b++)
            if (lacks[i].claim == 1u << b && predicates[b](&s).is != FAILS)
                fail_msg("%s is measured to hold for %s", pe_claim_name(1u << b), lacks[i].spec);
        assert_false(pe_encoding_claims(s.e) & lacks[i].claim);
        subject_free(&s);
    }
}

static void every_predicate_has_said_yes_and_no(void **state)
{
    (void)state;
    for (int b = 0; b < PE_CLAIM_COUNT; b++) {
        printf("%-11s yes %d, no %d, no meaning %d\n", pe_claim_name(1u << b), said[b][HOLDS], said[b][FAILS], said[b][NO_MEANING]);
        assert_true(said[b][HOLDS] > 0);
        assert_true(said[b][FAILS] > 0);
    }
}

/* ------------------------------------------------ deterministic */

/* Parameters that start where the spec says, whatever the seed. */
static const char *const seedless[] = { "alibi:slopes=learned" };

static void same_bits(const pe_info *row, const char *spec)
{
    (void)row;
    subject a = subject_new(spec, usual_shape, 7), b = subject_new(spec, usual_shape, 7), c = subject_new(spec, usual_shape, 8);
    size_t bytes = (size_t)a.w.count * sizeof(double), n = 24;
    int64_t at[24 * PE_AXES_MAX];
    double *code[3];
    for (size_t i = 0; i < n; i++)
        random_position(&a, PE_POSITION_MAX, at + (int64_t)i * a.axes);
    for (int i = 0; i < 3; i++) {
        code[i] = doubles((int64_t)n * a.size);
        codes_at(i < 2 ? &a : &b, at, (int64_t)n, code[i]);
    }
    bool seeded = a.w.count > 0;
    for (int i = 0; i < COUNT(seedless); i++)
        seeded = seeded && strcmp(spec, seedless[i]);
    if (memcmp(code[0], code[1], n * (size_t)a.size * sizeof(double)))
        fail_msg("%s: the same call twice gives other bits", spec);
    if (memcmp(code[0], code[2], n * (size_t)a.size * sizeof(double)))
        fail_msg("%s: two encodings of one spec differ", spec);
    if (bytes && memcmp(a.w.data, b.w.data, bytes))
        fail_msg("%s: the same seed gives other parameters", spec);
    if (seeded != (bytes && memcmp(a.w.data, c.w.data, bytes)))
        fail_msg("%s: another seed gives %s parameters", spec, seeded ? "the same" : "other");
    assert_string_equal(pe_encoding_spec(a.e), pe_encoding_spec(b.e));
    assert_true(pe_encoding_fingerprint(a.e) == pe_encoding_fingerprint(b.e));
    for (int i = 0; i < 3; i++)
        free(code[i]);
    subject_free(&a), subject_free(&b), subject_free(&c);
}

static void same_call_same_bits(void **state)
{
    (void)state;
    test_each_example(same_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_claims_what_is_measured_and_nothing_else),
        cmocka_unit_test(a_pair_turned_by_x_and_y_together_mixes_axes),
        cmocka_unit_test(the_transpose_is_not_the_inverse),
        cmocka_unit_test(rows_that_must_lack_a_claim_lack_it),
        cmocka_unit_test(every_predicate_has_said_yes_and_no),
        cmocka_unit_test(same_call_same_bits),
    };
    randomness = SEED;
    printf("seed %#" PRIx64 "\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
