/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C, SIGTERM and SIGHUP during long work: the first is noted, so that what is at hand is finished tidily; the
 * second ends the process at once, with the cursor to be seen again.
 */
#ifndef POSENC_CLI_SIGNALS_H
#define POSENC_CLI_SIGNALS_H

#include <signal.h>

const volatile sig_atomic_t *signals_watch(void); /* not 0: stop */
void signals_leave(void);                         /* they are obeyed again */

#endif
