/* SPDX-License-Identifier: MIT
 *
 * The table of verbs: a verb is one file and one row; help.c has help and man. */
#include "cli/cli.h"

/* clang-format off */
#define VERBS(X) \
    X(list) X(show) X(walk) X(prove) X(explore) X(table) X(apply) X(bias) X(explain) X(diff) X(check) X(convert) X(extend) \
    X(race) X(eval) X(report) X(dogs) X(doctor) X(completion) X(man) X(help)
/* clang-format on */

#define DECLARE(name) extern const cli_verb cli_verb_##name;
#define POINT(name) &cli_verb_##name,

VERBS(DECLARE)
const cli_verb *const cli_verbs[] = { VERBS(POINT) };
const int cli_verb_count = CLI_COUNT(cli_verbs);
