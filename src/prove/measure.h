/* SPDX-License-Identifier: MIT
 *
 * Tools that measure claims: random contents, codes, one layer of attention with chosen words at chosen places,
 * least squares. Everything is float64; the attention is the library's definition (pe_reference_forward).
 */
#ifndef POSENC_MEASURE_H
#define POSENC_MEASURE_H

#include "base/random.h"
#include "base/try.h"
#include "io/io.h"
#include "prove/prove.h"

/* ---------------------------------------------------------------- numbers (numbers.c) */

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

/* ---------------------------------------------------------------- seeds (numbers.c) */

uint64_t measure_seed(const prove_given *g, int n); /* of run n; the first is g's own */
/* Calls each for so many seeds, MEASURE_RUNS at most, on g's pool: it writes what belongs to n and nothing else. The
 * error is that of the first seed that has one. */
typedef pe_status measure_seed_fn(void *with, int n, uint64_t seed, pe_error *err);
pe_status measure_each_seed(measure_seed_fn *each, void *with, int seeds, const prove_given *g, pe_error *err);

typedef prove_spread measure_spread;
measure_spread measure_spread_of(const double *x, int count); /* MEASURE_RUNS values at most */
/* prove_add of the median, with the least and the most beside it. */
void measure_add_spread(prove_finding *out, words what, const char *of, measure_spread s, const char *unit);
void measure_add_spread_at(prove_finding *out, words what, words of, measure_spread s, const char *unit);
/* The same of so many values, each with a seed of its own. */
void measure_add_values(prove_finding *out, words what, const char *of, const double *x, int count, const char *unit);

/* ---------------------------------------------------------------- least squares (numbers.c) */

/* a (n, n), symmetric and positive: its lower triangle becomes L with L L' = a. */
void measure_cholesky(double *a, int64_t n);
void measure_cholesky_solve(const double *L, int64_t n, double *b, int64_t columns); /* b (n, columns) */

/* The matrix M (out, in) for which M code is nearest to image, over n samples code (n, in), image (n, out): normal
 * equations with a ridge too small to show. *residual: the largest |M code - image|. */
pe_status measure_map(double *M, double *residual, const double *code, int64_t in, const double *image, int64_t out,
                      int64_t n, pe_error *err);
/* Returns the determinant of a (n, n), which becomes triangular. */
double measure_determinant(double *a, int64_t n);
/* How far the (n, n) matrix is from orthogonal: the largest element of M' M - 1. */
double measure_skew(const double *M, int64_t n);

/* ---------------------------------------------------------------- an encoding with its parameters (encoding.c) */

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
pe_status measure_code_table(double **code, int64_t *width, const char *spec, const prove_given *g, int64_t n,
                             pe_error *err);

/* Adds the keys that set the largest position of a row, unless the spec has them; false: there is no such key. */
bool measure_fit(char *out, size_t cap, const char *spec, int64_t reach);
/* The spec with a key of one of its parts set, or as it was where the key has no meaning in that part; malloc'ed, NULL:
 * no memory. */
char *measure_with_key(const char *spec, int part, const char *key, const char *value);

/* ---------------------------------------------------------------- one layer of attention (scene.c) */

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

/* ---------------------------------------------------------------- heads, names and findings (encoding.c) */

#define MEASURE_HEAD_MAX 256
/* One head, as wide as given says, MEASURE_HEAD_MAX at most; the model as wide as the head. */
pe_status measure_open_head(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err);
prove_given measure_at_width(const prove_given *g, int64_t width); /* one head as wide as the model */
/* Where given leaves sizes open: PROVE_SEEDS runs at a small size, then as many at that of the first Transformer. */
#define MEASURE_RUNS (2 * PROVE_SEEDS)
#define MEASURE_SIZES                                                                                                  \
    {                                                                                                                  \
        "Sizes: width 64 with 4 heads, and 512 with 8 (20 seeds each).",                                               \
            "尺寸：宽 64、4 头，宽 512、8 头（各 20 个随机种子）。"                                                    \
    }
int measure_runs(const prove_given *g); /* how many runs that makes */
prove_given measure_sized(const prove_given *g, int n);
typedef struct measure_text {
    char is[96];
} measure_text;
measure_text measure_named(const char *before, double n); /* "d = 512" */
/* The spec as it is where it serves a text of this length, else with the key by which its row says how far it reaches.
 */
measure_text measure_reaching(const char *spec, const prove_given *g, int64_t length);
/* Token t of a text: along a line, or in the rows of the smallest square (cube) that holds the text: at (axes). */
void measure_place_one(int64_t *at, int64_t t, int64_t tokens, int64_t axes);
void measure_place(int64_t *at, int64_t tokens, int64_t axes); /* all of them: at (tokens, axes) */

/* How many of some rows pass, and the verdict: HOLDS all, REFUTED none, DEPENDS some. */
typedef struct measure_tally {
    prove_finding *out;
    int good, bad;
} measure_tally;
void measure_count(measure_tally *t, bool good);
/* Whether what was counted at each of some levels (an encoding, a layer) all passes there, or none of it does: then
 * that is what the verdict depends on. */
bool measure_decides(const measure_tally *level, int levels);
/* The count of those that do not pass goes before all other numbers, as `what`, where there are several. */
void measure_conclude(const measure_tally *t, words what, const words because[PROVE_VERDICT_COUNT]);
/* prove_add that puts the number before all others: the deciding number is computed last and printed first. */
void measure_add_first(prove_finding *out, words what, const char *of, double value, const char *unit);

/* ---------------------------------------------------------------- measures that rows of another file name */

prove_measure_fn measure_orthogonal, measure_tied, measure_concat_cost, measure_adding_loses; /* terms_adding.c */
prove_measure_fn measure_bound_decays, measure_scores_decay, measure_bands;                   /* rope_distance.c */
prove_measure_fn measure_probe_kept, measure_probe_lost, measure_probe_mask;                  /* relative_probe.c */
prove_measure_fn measure_bf16, measure_f16, measure_q8, measure_q4;                           /* precision.c */
prove_measure_fn measure_moved_bf16, measure_moved_f16;
extern const char measure_moved_rule[], measure_moved_rule_zh[]; /* of the claims about 16-bit types */
prove_measure_fn measure_any_kernel, measure_cache_shift, measure_split_keys; /* kernels.c */

#endif
