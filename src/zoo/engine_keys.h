/* SPDX-License-Identifier: MIT
 *
 * How engines spell the keys of a spec: the rows of engines.c, for engine_*.c and extend_patch.c. */
#ifndef POSENC_ZOO_ENGINE_KEYS_H
#define POSENC_ZOO_ENGINE_KEYS_H

#include "zoo/engines.h"

#define HF "transformers|vllm|sglang"
#define LC "llama.cpp"

typedef enum zoo_form {
    FORM_NUMBER,    /* as it is                                                              */
    FORM_TYPE,      /* the engine's word for the scaling                                      */
    FORM_SHARE,     /* elements as a share of the head                                        */
    FORM_YES,       /* true, but for "no"                                                    */
    FORM_NO,        /* false                                                                 */
    FORM_LIST,      /* a/b/c as an array                                                     */
    FORM_EQUAL,     /* as many equal sections as there are axes                               */
    FORM_MAGNITUDE, /* what cos and sin are multiplied by                                     */
    FORM_RATIO,     /* the same, over what the scaling says by itself                          */
    FORM_BASE       /* the base that gives these frequencies                                  */
} zoo_form;

typedef struct zoo_spelling {
    const char *engines; /* "vllm|sglang"                                                      */
    const char *when;    /* on the spec                                                        */
    const char *key;     /* of the spec                                                        */
    const char *name;    /* in the JSON; an option "--x"; a key of the file "x=int:"              */
    zoo_form form;
} zoo_spelling;

const zoo_spelling *zoo_spelling_at(int index); /* NULL past the end */

/* Whether a row has a say on this spec. */
bool zoo_spelling_speaks(const zoo_spelling *s, const zoo_engine *engine, const char *spec);
bool zoo_spelling_is_of(const zoo_spelling *s, const zoo_engine *engine); /* the engine has the name at all */
const char *zoo_type_word(const zoo_engine *engine, const char *spec); /* "yarn"; NULL: it has none for the scaling */

#endif
