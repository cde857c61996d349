/* SPDX-License-Identifier: MIT */
#include "cli/signals.h"
#include "cli/cli.h"

#include <unistd.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t stop, terminal;

static void note(int number)
{
    static const char cursor[] = "\033[?25h\n";
    if (stop) {
        if (terminal && write(STDERR_FILENO, cursor, sizeof cursor - 1) < 0)
            stop = 2; /* nothing to be done about it */
        signal(number, SIG_DFL);
        raise(number);
    }
    stop = 1;
}

/* One that is ignored, as under nohup, stays ignored. */
static void set(void (*action)(int))
{
    for (int i = 0; i < CLI_COUNT(signals); i++) {
        struct sigaction now, wanted = { .sa_handler = action, .sa_flags = SA_RESTART };
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
            sigaction(signals[i], &wanted, NULL);
    }
}

const volatile sig_atomic_t *signals_watch(void)
{
    stop = 0;
    terminal = isatty(STDERR_FILENO);
    set(note);
    return &stop;
}

void signals_leave(void)
{
    set(SIG_DFL);
}
