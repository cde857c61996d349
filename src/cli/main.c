/* SPDX-License-Identifier: MIT
 *
 * Alone in its file: the tests and the fuzzers have their own. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
