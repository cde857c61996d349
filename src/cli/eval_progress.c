/* SPDX-License-Identifier: MIT
 *
 * One line that is written over on a terminal; a plain line every few seconds elsewhere. */
#include "cli/eval.h"

#include <inttypes.h>

#define EVERY 0.2 /* seconds, on a terminal */
#define PLAIN 5.0

eval_progress eval_progress_start(void)
{
    eval_progress p = { .signals = progress_start("eval") };
    p.next = p.signals.start + (p.signals.terminal ? EVERY : PLAIN);
    return p;
}

static void show(eval_progress *p, double now, const eval *e, int method, int length, double part)
{
    double left = (now - p->signals.start) * (1 - part) / (part > 0 ? part : 1);
    int64_t wait = left < 1e9 ? (int64_t)left + 1 : 0;
    fprintf(stderr, "%seval: %3.0f %%, %s at %" PRId64 ", %" PRId64 ":%02" PRId64 " left%s",
            p->signals.terminal ? "\r" : "", 100 * part, e->ask.method[method]->name, e->ask.length[length], wait / 60,
            wait % 60, p->signals.terminal ? "\033[K" : "\n");
    fflush(stderr);
    p->signals.shown = p->signals.terminal;
}

bool eval_progress_step(void *with, const eval *e, int method, int length, double part)
{
    eval_progress *p = with;
    double now = io_seconds();
    if (now > p->next && part < 1) {
        show(p, now, e, method, length, part);
        p->next = now + (p->signals.terminal ? EVERY : PLAIN);
    }
    p->stopped = !progress_step(&p->signals, 0, 0);
    return !p->stopped;
}

void eval_progress_end(eval_progress *p)
{
    progress_end(&p->signals);
}
