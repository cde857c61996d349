/* SPDX-License-Identifier: MIT
 *
 * What engines call the keys of a spec, what they cannot do, and what they are known to do otherwise: one table
 * (engines.c), read in their sources. The commits read: transformers d56c55b, llama.cpp b21e4de, vLLM a014e35, SGLang
 * cce0a12. */
#ifndef POSENC_ZOO_ENGINES_H
#define POSENC_ZOO_ENGINES_H

#include "zoo/zoo.h"

#include <stdio.h>

typedef struct zoo_engine {
    const char *name;
    const char *start;    /* the command, up to the model: "vllm serve MODEL"; NULL: none                     */
    const char *override; /* option that takes the config's JSON; NULL: keys are options of their own          */
    const char *length;   /* option for the served length                                                     */
    const char *longer;   /* environment variable that allows more than the config says; NULL: not needed       */
    bool multiplies;      /* what the config allows is max_position_embeddings times the factor, for some types  */
    bool takes_config;    /* reads config.json                                                                */
    const char *remark;   /* one sentence, or NULL                                                            */
    const char *source;
} zoo_engine;

#define ZOO_ENGINE_NAMES "transformers|vllm|llama.cpp|sglang" /* in the order of zoo_engine_at */

enum { ZOO_TRANSFORMERS, ZOO_VLLM };

const zoo_engine *zoo_engine_at(int index); /* NULL past the end */

/* ---------------------------------------------------------------- known differences */

typedef enum zoo_quirk_kind {
    ZOO_IGNORES, /* a key of the file has no effect                     */
    ZOO_DIFFERS, /* something else is computed                          */
    ZOO_CANNOT   /* no setting says it; only worth saying when asked    */
} zoo_quirk_kind;

typedef struct zoo_quirk {
    const char *engine;
    const char *when; /* on the spec, as zoo_spec_meets reads it                */
    bool mixed;       /* only where layers of one part differ in what they do     */
    zoo_quirk_kind kind;
    const char *text;   /* one sentence, after the engine's name                  */
    const char *source; /* file of that engine, or an issue                       */
} zoo_quirk;

const zoo_quirk *zoo_quirk_at(int index); /* NULL past the end */
/* Whether it concerns this part: some layer meets its condition. */
bool zoo_quirk_applies(const zoo_quirk *q, const zoo_part *part);

/* ---------------------------------------------------------------- settings */

/* Either of the two as a text, malloc'ed. */
pe_status zoo_engine_text(char **out, const zoo_engine *engine, const zoo_model *m, const zoo_part *part, bool command,
                          pe_error *err);
/* Whether it has a word for the part's scaling; false: the file has to carry it, or it cannot be had. */
bool zoo_engine_says(const zoo_engine *engine, const zoo_part *part);
/* Why no key of rope_parameters would count for this part, after the engine's name; NULL: they do. */
const char *zoo_engine_closed(const zoo_engine *engine, const zoo_part *part);
/* The engine's remark as far as it is true of this part, or NULL. */
const char *zoo_engine_remark(const zoo_engine *engine, const zoo_part *part);
/* "range=trailing, sign=negative": keys of the part's first rotating layer that this engine has no setting for, being
 * what the model's code does. "" where there are none. */
void zoo_engine_fixed(char *out, size_t cap, const zoo_engine *engine, const zoo_part *part);

/* The layers the keys speak of: those without a window, where there are such; -1: no layer rotates. */
int zoo_main_group(const zoo_part *part);

#endif
