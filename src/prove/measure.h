/* SPDX-License-Identifier: MIT
 *
 * What claims are measured with: random contents, codes, one layer of attention with chosen words at chosen places,
 * least squares. Everything is float64; the attention is the library's definition (pe_reference_forward).
 */
#ifndef POSENC_MEASURE_H
#define POSENC_MEASURE_H

#include "io/io.h"
#include "prove/prove.h"

#define PROVE_TRY(call)                                                                                                \
    do {                                                                                                               \
        pe_status try_status = (call);                                                                                 \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

/* Differences below this are rounding: sums of some hundred numbers near 1. */
#define MEASURE_ROUNDING 1e-9

/* ---------------------------------------------------------------- numbers (measure.c) */

uint64_t measure_random(uint64_t *state);                                /* SplitMix64 */
double measure_uniform(uint64_t *state);                                 /* -1 .. 1 */
double measure_normal(uint64_t *state);                                  /* mean 0, deviation 1 */
int64_t measure_range(uint64_t *state, int64_t low, int64_t high);       /* both included */
void measure_shuffle(int64_t *order, int64_t n, uint64_t *state);        /* 0 .. n-1 in a random order */
void measure_normals(double *x, int64_t n, double size, uint64_t state); /* of this deviation */
/* (a, b) zeroed numbers; NULL: no memory, which err says. */
double *measure_memory(int64_t a, int64_t b, pe_error *err);
double measure_dot(const double *x, const double *y, int64_t n);
double measure_difference(const double *x, const double *y, int64_t n); /* the largest, absolute */
double measure_largest(const double *x, int64_t n);

/* ---------------------------------------------------------------- least squares (measure_map.c) */

/* The matrix M (out, in) for which M code is nearest to image, over n samples code (n, in), image (n, out): normal
 * equations with a ridge too small to show. *residual: the largest |M code - image|. */
pe_status measure_map(double *M, double *residual, const double *code, int64_t in, const double *image, int64_t out,
                      int64_t n, pe_error *err);
/* a (n, n) becomes its determinant's triangle; returned is the determinant. */
double measure_determinant(double *a, int64_t n);
/* How far the (n, n) matrix is from orthogonal: the largest element of M' M - 1. */
double measure_skew(const double *M, int64_t n);

/* ---------------------------------------------------------------- an encoding with its parameters (measure_open.c) */

typedef struct measure_encoding {
    pe_encoding *e;
    pe_params w; /* float64, as they start by the seed */
    pe_shape shape;
} measure_encoding;

pe_status measure_open(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err);
void measure_close(measure_encoding *m);
/* Codes of positions first .. first + n - 1 (of the last axis, the others 0), without a word: out (n, width), width as
 * measure_width says. PE_ERR_UNSUITED where it adds no code. */
int64_t measure_width(const measure_encoding *m);
/* PE_ERR_UNSUITED where codes are not so wide: those that are put behind a word. */
pe_status measure_added(const measure_encoding *m, int64_t width, pe_error *err);
pe_status measure_codes(double *out, const measure_encoding *m, int64_t first, int64_t n, pe_error *err);
/* The same of a spec, from position 0 on: *code (n, *width), the caller's to free; NULL on failure. */
pe_status measure_line(double **code, int64_t *width, const char *spec, const prove_given *g, int64_t n, pe_error *err);
/* The row of the registry that a spec of one part names; NULL: none. */
const pe_info *measure_row(const char *spec);

/* The spec with the keys by which its row says how far it reaches, where the spec has them not; false: there is none to
 * set (measure_fit.c). */
bool measure_fit(char *out, size_t cap, const char *spec, int64_t reach);
/* The spec with a key of one of its parts set, or as it was where the key has no meaning in that part; malloc'ed, NULL:
 * no memory (measure_spec.c). */
char *measure_with_key(const char *spec, int part, const char *key, const char *value);

/* ---------------------------------------------------------------- one layer of attention (measure_scene.c) */

typedef struct scene {
    measure_encoding m;
    int64_t width;     /* of a word with its code */
    double *weight[3]; /* (width, C) each: W_q, W_k, W_v */
    bool causal;
    uint64_t seed;
} scene;

/* Words are numbers: the same number, the same vector. at NULL: 0, 1, ... */
typedef struct scene_text {
    const int64_t *word, *at; /* (count) */
    int64_t count;
} scene_text;

pe_status scene_open(scene *s, const char *spec, const prove_given *g, pe_error *err);
void scene_close(scene *s); /* zeroed or half-built: fine */
/* out (queries, C), what each query gets from the keys; weights (queries, H, keys), its attention, or NULL. Either may
 * be NULL. PE_ERR_POSITION: this encoding does not serve such a pair (keys ahead of a query, for one). */
pe_status scene_attend(double *out, double *weights, const scene *s, scene_text q, scene_text k, pe_error *err);

/* Calls each with every row of the registry, once, by its defaults; where those do not serve keys ahead of a query and
 * the scene is not causal, by the row's first example that does. Where g names specs: those instead. */
typedef pe_status scene_each(void *with, const char *spec, const prove_given *g, pe_error *err);
pe_status measure_each_row(scene_each *each, void *with, const prove_given *g, pe_error *err);

#endif
