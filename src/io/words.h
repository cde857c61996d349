/* SPDX-License-Identifier: MIT
 *
 * Words in the languages posenc speaks, side by side where they are used: a sentence cannot be changed in one of them
 * and forgotten in the other.
 *
 *     words w = { "distance", "距离" };
 *     puts(say(w, language));
 */
#ifndef POSENC_WORDS_H
#define POSENC_WORDS_H

typedef enum language { ENGLISH = 0, CHINESE, LANGUAGE_COUNT } language;

typedef struct words {
    const char *en, *zh; /* UTF-8; zh NULL: the English stands for both (names, formulas) */
} words;

const char *say(words w, language l);
/* What LC_ALL, LC_MESSAGES or LANG ask for, the first that is set; English where that is none of ours. */
language language_of_environment(void);

#endif
