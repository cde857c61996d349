/* SPDX-License-Identifier: MIT
 *
 * posenc-bench: what this machine allows, what posenc makes of it on every rung, and what others do, side by side.
 *
 * A topic (rotate.c, attention.c, ...) races contenders and leaves cells; print.c gathers a table's cells into lines
 * and columns, as text or Markdown; json.c writes them as JSON and reads those of peers, which are JSON lines.
 */
#ifndef POSENC_BENCH_H
#define POSENC_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "posenc.h"

#define BENCH_COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define BENCH_RUNGS_MAX 6
#define BENCH_TABLES_MAX 16
#define BENCH_LINE_MAX 96

/* ---------------------------------------------------------------- cells and tables */

typedef enum cell_kind { CELL_OURS = 0, CELL_MAIN, CELL_LIMIT, CELL_SHARE, CELL_PEER, CELL_GOAL } cell_kind;

/* One number: a line (what is done, and how large) and a column (who does it). CELL_MAIN: the column that peers are
 * compared with. Units that begin with 'n', 'u' or 'm' are times: less is better. */
typedef struct cell {
    cell_kind kind;
    const char *table, *line, *who, *unit; /* owned once added */
    const char *text;                      /* stands for the number: a goal; NULL: none */
    int64_t n;                             /* tokens, or keys; 0: the line has none */
    int threads;                           /* 0: does not depend on them */
    double value, seconds;                 /* seconds: the best call's; 0: not timed */
    int best_of;
} cell;

typedef struct table {
    const char *name, *title, *counted; /* counted: what the numbers are numbers of */
    const char *first;                  /* heading of the first column */
    const char *size;                   /* heading of n; NULL: no such column */
} table;

typedef struct machine {
    char cpu[100], system[100], compiler[100], rungs[60], date[40];
    int cpus;
    int64_t memory; /* bytes */
    double load;    /* of the minute before; -1: not known */
} machine;

typedef struct names {
    char *name[16];
    int count;
} names;

typedef struct bench {
    bool quick, full;
    int threads;   /* N of "1 and N threads" */
    pe_pool *pool; /* of N workers; NULL: N is 1 */
    const char *only;
    machine machine; /* as it was at the start */
    cell *cells;
    int count, room;
    bool printed[BENCH_TABLES_MAX];
    bool json, markdown;   /* neither: text */
    names present, absent; /* peers with their versions; those not installed, and how to get them */
} bench;

extern const table bench_tables[];
extern const int bench_table_count;

void cell_add(bench *b, cell c);
void names_add(names *n, const char *text);
void bench_free(bench *b);
void print_machine(const bench *b, FILE *to, const char *command); /* command: what made the tables; NULL: not told */
void tables_done(bench *b); /* prints those that have cells and were not printed yet; all are, when a topic ends */
void print_json(const bench *b, FILE *to);
bool table_used(const bench *b, const table *t);
/* times faster than the peer the main column is, for the peer's line and threads; 0: nothing to compare with */
double cell_ratio(const bench *b, const cell *peer);
bool peers_read(bench *b, const char *path);

/* ---------------------------------------------------------------- timing */

/* Contenders run in turns, so that what disturbs the machine disturbs all of them: each turn calls run often enough to
 * last some milliseconds, and the best turn counts, for noise only adds. */
typedef struct contender {
    void (*run)(void *arg);
    void *arg;
    double best; /* seconds per call */
    int calls;   /* per turn */
    int turns;   /* that best is the best of */
} contender;

double bench_now(void);
void race(const bench *b, contender *c, int count);
void say(const bench *b, const char *format, ...) __attribute__((format(printf, 2, 3))); /* progress, on stderr */

/* The numbers of threads to measure: 1, and N where N is another. */
int thread_counts(const bench *b);
int threads_at(const bench *b, int index);
const pe_pool *pool_at(const bench *b, int index);

/* ---------------------------------------------------------------- memory and what the machine allows */

void *buffer(int64_t bytes); /* aligned to 64, every page touched; ends the program where there is none; free() */
void fill(void *data, pe_dtype type, int64_t count, uint64_t seed); /* uniform in -1 .. 1 */
int64_t memory_left(void);                                          /* bytes that may still be asked for */

typedef enum memory_kind { MEMORY_COPY, MEMORY_SCALE, MEMORY_READ } memory_kind;
typedef struct memory_job {
    memory_kind kind;
    float *to;
    const float *from;
    int64_t bytes; /* of one array */
    const pe_pool *pool;
    int rounds; /* over each piece in one call, where waking threads is not to be measured; 0: one */
} memory_job;
void memory_run(void *job); /* a contender */

/* Compilers that have the vectors of these CPUs. */
#if defined __GNUC__ && defined __x86_64__
#define BENCH_X86 1
#else
#define BENCH_X86 0
#endif
#if defined __GNUC__ && defined __aarch64__
#define BENCH_ARM 1
#else
#define BENCH_ARM 0
#endif

/* Yardsticks of one rung. */
typedef struct yardstick {
    const char *rung;
    int64_t flops; /* per round */
    float (*peak)(int64_t rounds);
    void (*scale)(float *y, int64_t n);
    float (*read)(const float *x, int64_t n);
} yardstick;
extern const yardstick yardstick_scalar, yardstick_avx2, yardstick_avx512, yardstick_neon;
const yardstick *yardstick_at(int rung);             /* the rung's, or of the next below it that has one */
double peak_flops(const bench *b, int thread_index); /* the highest rung's, measured once */

int rung_count(void);
const char *rung_name(int index); /* those this CPU has, in rising order */

/* ---------------------------------------------------------------- encodings */

void must(pe_status s, const pe_error *err, const char *what);             /* ends the program with the sentence */
pe_encoding *encoding(const char *spec, pe_shape shape, const char *rung); /* rung NULL: the highest */

/* ---------------------------------------------------------------- topics */

typedef struct topic {
    const char *name, *about;
    void (*run)(bench *b);
} topic;
extern const topic bench_topics[];
extern const int bench_topic_count;

void bench_limits(bench *b);
void bench_rotate(bench *b);
void bench_table(bench *b);
void bench_embed(bench *b);
void bench_accuracy(bench *b);
void bench_attention(bench *b);
void bench_rungs(bench *b);
void bench_decode(bench *b);
void bench_cache(bench *b);
void bench_length(bench *b);
void bench_train(bench *b);

machine machine_now(void);

#endif
