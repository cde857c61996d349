/* SPDX-License-Identifier: MIT
 *
 * posenc_zoo: what a model's files say about positions, as specs. Untrusted input in, canonical specs out.
 *
 *     zoo_model *m;
 *     zoo_open(&m, "config.json", &(zoo_options){ 0 }, &err);       config.json | .gguf | .safetensors | llama2.c .bin
 *     const zoo_part *text = &m->part[0];                           the part that speaks comes first
 *     text->layer[3].group                                          layer 3's encoding, by index
 *     text->group[0].spec                                           "rope:theta=500000,scaling=llama3,..."
 *     zoo_free(m);
 *
 * What a config does not say, such as the pair layout, is what a model's code does: facts.c holds that by model_type,
 * with its source. What neither says is an error that names the option to pass; with options.lenient it is a guess, and
 * a note says so.
 */
#ifndef POSENC_ZOO_H
#define POSENC_ZOO_H

#include "io/io.h"

/* ---------------------------------------------------------------- what is found */

typedef enum zoo_level {
    ZOO_FACT = 0, /* where a value comes from that is not in the file: "rope_theta is absent; LlamaConfig's 10000" */
    ZOO_WARNING,  /* keys that disagree; keys that an engine is known to ignore                                   */
    ZOO_GUESS     /* only with options.lenient                                                                    */
} zoo_level;

typedef struct zoo_note {
    zoo_level level;
    const char *key;  /* the key it is about, or ""                                  */
    const char *text; /* one sentence                                                */
    const char *ref;  /* where it was read: "transformers models/llama", or ""       */
} zoo_note;

/* Layers of one part that do the same thing share a group. */
typedef struct zoo_group {
    const char *spec;  /* canonical; "none": nothing about positions enters these layers                         */
    pe_shape shape;    /* heads, kv_heads, head_dim (MLA: nope + rope), model_dim                                 */
    int64_t layers;    /* how many                                                                               */
    const char *asked; /* the reader's own text, before it was made canonical                                   */
    pe_shape asked_shape;
} zoo_group;

typedef struct zoo_layer {
    int group;
    const char *kind; /* "full_attention", "sliding_attention", "linear_attention" ...; "" where there is one kind */
    int64_t window;   /* keys less than this many places away; 0: no window                                     */
} zoo_layer;

typedef struct zoo_part {
    const char *name; /* "text", "vision", "audio", "encoder", "decoder"; "" where there is one part             */
    const char *type; /* its model_type or general.architecture                                                */
    zoo_group *group;
    int groups;
    zoo_layer *layer;
    int64_t layers;
    int64_t trained; /* length it was trained at; 0: not said                                                    */
    int64_t served;  /* length it is offered at; 0: not said                                                     */
} zoo_part;

typedef struct zoo_model {
    const char *path;
    const char *format; /* "config.json", "GGUF", "safetensors", "llama2.c", "posenc"                            */
    zoo_part *part;     /* the language model first, or the only one                                             */
    int parts;
    zoo_note *note;
    int notes;
} zoo_model;

/* ---------------------------------------------------------------- what may be said beside the file */

typedef struct zoo_options {
    bool lenient;       /* guess, and say so                                                                */
    const char *pairs;  /* "half", "adjacent", "adjacent-half": overrides facts.c; NULL: as there              */
    const char *type;   /* takes the file for this model_type; NULL: what the file says                       */
    double theta;       /* 0: as the file says                                                              */
    int64_t head_dim;   /* 0: as the file says                                                              */
    int64_t trained;    /* 0: as the file says                                                              */
    const char *rotary; /* asks for the rotary class alone, of layers of this kind ("": any): one layer, and rules by
                           which some layers do not rotate are left aside; NULL: the model as it is */
    int64_t length;     /* sequence at hand, for dynamic and longrope; 0: up to the trained length            */
} zoo_options;

/* A file, or a folder that holds config.json or one .gguf. */
pe_status zoo_open(zoo_model **out, const char *path, const zoo_options *options, pe_error *err);
/* From text in memory: tests, fuzzers. name stands for the path. */
pe_status zoo_read_config(zoo_model **out, const char *name, const char *json, size_t size, const zoo_options *options,
                          pe_error *err);
pe_status zoo_read_node(zoo_model **out, const char *name, const io_node *config, const zoo_options *options,
                        pe_error *err);
void zoo_free(zoo_model *m); /* NULL is fine */

#endif
