/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"
#include "io/io.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define QUIET ((uint64_t)256 << 20)
#define EVERY 0.2 /* seconds */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNALS (sizeof signals / sizeof signals[0])

static volatile sig_atomic_t stopped;

static void note(int number)
{
    (void)number;
    stopped = 1;
}

/* One that is ignored, as under nohup, stays ignored. */
static void set_signals(void (*action)(int))
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction now, wanted = { .sa_handler = action };
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
            sigaction(signals[i], &wanted, NULL);
    }
}

progress progress_start(const char *what)
{
    double now = io_seconds();
    stopped = 0;
    set_signals(note);
    return (progress){ .what = what, .terminal = isatty(STDERR_FILENO), .start = now, .next = now + EVERY };
}

static void show(progress *p, double now, uint64_t done, uint64_t total)
{
    double part = (double)done / (double)total, left = (now - p->start) * (1 - part) / (part > 0 ? part : 1);
    int64_t wait = left < 1e9 ? (int64_t)left + 1 : 0;
    fprintf(stderr, "\r%s: %3.0f %%, %.1f of %.1f GiB, %lld:%02lld left\033[K", p->what, 100 * part,
            (double)done * 0x1p-30, (double)total * 0x1p-30, (long long)(wait / 60), (long long)(wait % 60));
    p->shown = true;
}

bool progress_step(progress *p, uint64_t done, uint64_t total)
{
    double now = p->terminal && total > QUIET && done <= total ? io_seconds() : 0;
    if (now > p->next) {
        show(p, now, done, total);
        p->next = now + EVERY;
    }
    return !stopped;
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    set_signals(SIG_DFL);
}
