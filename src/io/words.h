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

#include <stdbool.h>

typedef enum language { ENGLISH = 0, CHINESE, LANGUAGE_COUNT } language;

typedef struct words {
    const char *en, *zh; /* UTF-8; zh NULL: the English stands for both (names, formulas) */
} words;

const char *say(words w, language l);

/* Sentences that are made elsewhere in English (an encoding's summary, a warning about a model's file) have their
 * Chinese in one table, io/chinese.c, by the English itself; "{}" stands for a part that is filled in, which is looked
 * up too. A sentence that has no Chinese keeps its English behind WORDS_MARK, so that it is seen. */
#define WORDS_MARK "[en] "
typedef struct words_text {
    char text[3000];
} words_text;
words_text words_translate(const char *english, language l);
bool words_known(const char *english); /* it has Chinese, or needs none: names, numbers, formulas */
/* What LC_ALL, LC_MESSAGES or LANG ask for, the first that is set; English where that is none of ours. */
language language_of_environment(void);

#endif
