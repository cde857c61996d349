/* SPDX-License-Identifier: MIT
 *
 * Two languages. */
#include "io/words.h"

#include <stdlib.h>
#include <string.h>

const char *say(words w, language l)
{
    return l == CHINESE && w.zh ? w.zh : w.en;
}

language language_of_environment(void)
{
    static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strncmp(value, "zh", 2) ? ENGLISH : CHINESE;
    }
    return ENGLISH;
}
