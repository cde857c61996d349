/* SPDX-License-Identifier: MIT
 *
 * One line that is written over on a terminal; a plain line every few seconds elsewhere. */
#include "cli/eval.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define EVERY 0.2 /* seconds, on a terminal */
#define PLAIN 5.0

static double seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

eval_progress eval_progress_start(void)
{
    double now = seconds();
    bool terminal = isatty(STDERR_FILENO);
    return (eval_progress){ .start = now, .next = now + (terminal ? EVERY : PLAIN), .terminal = terminal };
}
