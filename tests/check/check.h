/* SPDX-License-Identifier: MIT
 *
 * check: every kernel of struct kernels, on every rung this CPU has, against its definition; and how fast. A kernel is
 * one row: make draws a problem (sizes, buffers, values), call hands it to a table of kernels, truth computes in
 * float64 where bits may differ. The harness places the buffers between guard pages, calls, judges and times. */
#ifndef CHECK_H
#define CHECK_H

#include "base/exact.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "core/place.h"
#include "kernels/kernels.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define BUFFERS_MAX 8
#define EPS 0x1p-23   /* of float32 */
#define TINY 0x1p-149 /* its least number */
#define NORMAL_MIN 0x1p-126

/* ---------------------------------------------------------------- a problem */

typedef enum place { ENDS_AT_GUARD, BEGINS_AT_GUARD, ANYWHERE, PLACES } place;
typedef enum values { PLAIN, WIDE, CANCELLING, DENORMAL, ZEROS, HUGE_ONES, SPECIAL, ANY_BITS, VALUES } values;

/* Element (i, j) at i * stride + j. What lies between rows is poisoned with NaN and must stay as it is. */
typedef struct buffer {
    const char *name;
    bool out, read; /* read: an input, or an output that is added to */
    pe_dtype type;
    int64_t rows, cols, stride;
    size_t bytes;
    double terms;         /* summed into one element, for the bound */
    void *data;           /* for the variant, between guard pages */
    void *want;           /* for the definition                   */
    void *was;            /* what both held before                */
    double *truth, *size; /* (rows, cols): the value in float64 and its sum|terms|; NULL: the definition's bits */
} buffer;

typedef struct problem {
    uint64_t random;
    place place;
    values values;
    int64_t main_size; /* of the list, by the number of the case */
    int64_t bench;     /* > 0: the size to time, packed, plain values */

    int64_t n, m, d, stride[3];
    float a, b;
    double carry;
    pe_dtype type;
    bool add, flip;
    pair_run run;
    double flops;           /* of one call; 0: bytes are what counts */
    double elements;        /* 0: those of the largest buffer */
    bool free[BUFFERS_MAX]; /* truth: this output is not judged, whatever it holds */
    buffer buffer[BUFFERS_MAX];
    int buffers;
} problem;

/* draw.c; in a bench all sizes are the one to time */
void draw_case(problem *p, uint64_t seed, int64_t number);
uint64_t draw_bits(problem *p);
int64_t draw_range(problem *p, int64_t low, int64_t high); /* both included */
double draw_uniform(problem *p);                           /* -1 .. 1 */
int64_t draw_size(problem *p, int64_t most);               /* of the list, at most this */
int64_t draw_main(problem *p);                             /* this case's size of the list */
int64_t draw_stride(problem *p, int64_t width);            /* width or a little more */
int64_t draw_blocks(const problem *p, int64_t n);          /* n, or of a type in blocks what these hold */
float draw_value(problem *p);                              /* of this case's kind */
float draw_finite(problem *p);
/* Memory for rows; filled with values, or an output that holds nothing yet (poison). */
buffer *draw_in(problem *p, const char *name, pe_dtype type, int64_t rows, int64_t cols, int64_t stride);
buffer *draw_out(problem *p, const char *name, pe_dtype type, int64_t rows, int64_t cols, int64_t stride, bool filled);
void put(buffer *b, int64_t i, int64_t j, double x); /* in blocks: the scale of its block */
double was(const buffer *b, int64_t i, int64_t j);   /* before the call */
/* truth of one element of an output, with the sum of what its terms measure. */
void expect(buffer *b, int64_t i, int64_t j, double truth, double size);

/* ---------------------------------------------------------------- kernels (table.c), a family each check_*.c */

/* Bound: |variant - truth| <= (k + k_term terms) (eps sum|terms| + least). k and k_term of 0: bit for bit. */
typedef struct kernel {
    const char *name;
    size_t offset; /* in struct kernels */
    void (*make)(problem *p);
    void (*call)(const kernels *k, const problem *p, void *const *at); /* at[i]: buffer i */
    void (*truth)(problem *p); /* after the definition; sets what is expected, or free */
    double k, k_term;
    double least; /* what underflow may cost */
    const char *why;
    pe_dtype last; /* timed for each type up to this one, but float64 */
    int more;      /* functions that follow, one per type */
} kernel;

#define KERNELS_FIRST (offsetof(kernels, name) + sizeof(char *)) /* functions begin here, and are all that follows */
extern const kernel table[];
extern const int table_count;

/* ---------------------------------------------------------------- the harness */

typedef struct options {
    const char *kernel, *rung; /* NULL: all */
    uint64_t seed;
    int64_t runs, only; /* cases per kernel and rung; only >= 0: this one case */
    int64_t size;       /* of a bench */
    bool json, bench;
} options;

typedef struct report {
    char text[400]; /* what was wrong; "": nothing */
    int64_t at;     /* the case */
    double worst;   /* the largest error, as a share of what is allowed */
} report;

/* A table of kernels to check: a rung, or the definition with one function broken. */
typedef struct rung {
    char name[60];
    kernels kernels;
} rung;

void guard_signals(void); /* a crash prints what reproduces it and exits with 1 */
void guard_says(const kernel *k, const rung *r, uint64_t seed, int64_t number); /* from now on */
void *guard_take(problem *p, size_t bytes, size_t align);                       /* for the buffer begun last */
bool guard_touched(const problem *p, int buffer);                               /* around it, within the mapping */

/* judge.c */
bool check_kernel(const kernel *k, const rung *r, const options *o, report *out); /* true: as it should be */
void bench_kernel(const kernel *k, const rung *rungs, int count, const options *o, bool first);
int self_test(const options *o);
const char *broken_name(int index); /* NULL past the end */
const char *broken_kernel(int index);
bool break_kernels(const char *name, kernels *k); /* false: no such name */
const kernel *find_kernel(const char *name);      /* NULL: none */
bool find_rung(const char *name, rung *r);        /* of this CPU, or broken:NAME */
void print_failure(const kernel *k, const rung *r, const options *o, const report *found);

#endif
