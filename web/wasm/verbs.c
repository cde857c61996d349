/* SPDX-License-Identifier: MIT
 *
 * The verbs the page has: src/cli/verbs.c, less what needs threads, a disk or an hour; and `read`, its own. */
#include "cli/cli.h"

/* clang-format off */
#define VERBS(X) \
    X(list) X(table) X(apply) X(bias) X(show) X(walk) X(prove) X(explain) X(extend) X(help) X(read)
/* clang-format on */

#define DECLARE(name) extern const cli_verb cli_verb_##name;
#define POINT(name) &cli_verb_##name,

VERBS(DECLARE)
const cli_verb *const cli_verbs[] = { VERBS(POINT) };
const int cli_verb_count = CLI_COUNT(cli_verbs);
