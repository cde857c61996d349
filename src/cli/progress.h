/* SPDX-License-Identifier: MIT
 *
 * A long job on a terminal: how far it is, how long it will take, and whether someone pressed Ctrl-C.
 *
 *     progress p = progress_start("model.safetensors");
 *     while (work left)
 *         if (!progress_step(&p, done, total))
 *             give up, tidily;
 *     progress_end(&p);
 */
#ifndef POSENC_CLI_PROGRESS_H
#define POSENC_CLI_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *what;
    const volatile sig_atomic_t *stop;
    bool terminal, shown;
    double start, next; /* seconds */
} progress;

/* From here on Ctrl-C, SIGTERM and SIGHUP are noted rather than obeyed, so that no half of a file stays behind; the
 * second one ends the process at once (signals.h). */
progress progress_start(const char *what);
/* Bytes. Jobs of 256 MiB or less say nothing. False: stop. */
bool progress_step(progress *p, uint64_t done, uint64_t total);
void progress_end(progress *p); /* the line goes; signals are obeyed again */

#endif
