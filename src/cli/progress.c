/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"
#include "cli/signals.h"
#include "io/io.h"

#include <stdio.h>
#include <unistd.h>

#define QUIET ((uint64_t)256 << 20)
#define EVERY 0.2 /* seconds */

progress progress_start(const char *what)
{
    double now = io_seconds();
    return (progress){
        .what = what, .stop = signals_watch(), .terminal = isatty(STDERR_FILENO), .start = now, .next = now + EVERY
    };
}

static void show_progress(progress *p, double now, uint64_t done, uint64_t total)
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
        show_progress(p, now, done, total);
        p->next = now + EVERY;
    }
    return !*p->stop;
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    signals_leave();
}
