/* SPDX-License-Identifier: MIT
 *
 * Races: contenders by turns, the best turn of each. */
#include "bench.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

/* A turn lasts this long at least; a race goes on for its budget, but for the least number of turns. */
typedef struct pace {
    double turn, budget;
    int least, most;
} pace;
static const pace usual = { 0.005, 0.12, 6, 40 }, quick = { 0.0002, 0.001, 1, 2 };
#define LONG_CALL 1.0 /* seconds: calls this long are timed twice and no more */

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_calls(const contender *c)
{
    double start = bench_now();
    for (int i = 0; i < c->calls; i++)
        c->run(c->arg);
    return (bench_now() - start) / c->calls;
}

static void take_turn(contender *c)
{
    double t = time_calls(c);
    if (!c->turns++ || t < c->best)
        c->best = t;
}

/* The first call warms caches and pages and does not count. */
static void warm(contender *c, double turn)
{
    c->calls = 1;
    c->turns = 0;
    c->run(c->arg);
    double t = time_calls(c);
    c->calls = t < turn ? (int)(turn / (t > 1e-9 ? t : 1e-9)) + 1 : 1;
}

void race(const bench *b, contender *c, int count)
{
    pace p = b->quick ? quick : usual;
    for (int i = 0; i < count; i++)
        warm(&c[i], p.turn);
    double start = bench_now(), longest = 0;
    for (int turn = 0; turn < p.most; turn++) {
        if (turn >= p.least && bench_now() - start > p.budget * count)
            break;
        if (turn >= 2 && longest > LONG_CALL)
            break;
        for (int i = 0; i < count; i++) {
            take_turn(&c[i]);
            longest = c[i].best > longest ? c[i].best : longest;
        }
    }
}

void say(const bench *b, const char *format, ...)
{
    va_list args;
    bool terminal = isatty(STDERR_FILENO);
    (void)b;
    fputs(terminal ? "\r\033[K" : "", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
}

int thread_counts(const bench *b)
{
    return b->pool ? 2 : 1;
}

int threads_at(const bench *b, int index)
{
    return index ? b->threads : 1;
}

const pe_pool *pool_at(const bench *b, int index)
{
    return index ? b->pool : NULL;
}
