/* SPDX-License-Identifier: MIT
 *
 * The tables of io/words.h's words_translate, a file each: English as it is printed, and its Chinese. In both "{}"
 * stands for a part that is filled in; in the Chinese "{2}" stands for the second part of the English, where the order
 * is another. A part may be a sentence of a table itself. */
#ifndef POSENC_CHINESE_H
#define POSENC_CHINESE_H

#include "io/words.h"

/* Each ends with { NULL, NULL }. */
extern const words chinese_registry[]; /* posenc list: rows, keys, tensors, ideas, hooks, claims */
extern const words chinese_verbs[];    /* labels and sentences of list, dogs, table, bias, report and race */
extern const words chinese_models[];   /* explain and extend */
extern const words chinese_help[];     /* the help of every verb */
extern const words chinese_tools[];    /* doctor, check, convert, diff, notes */

/* The table with this number; NULL past the end. */
const words *chinese_table(int index);

#endif
