/* SPDX-License-Identifier: MIT
 *
 * What no config says: a row for each model_type, read in the code of the model. */
#ifndef POSENC_ZOO_FACTS_H
#define POSENC_ZOO_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers are the defaults of the model's config class, for configs that leave them out; 0: none, the config must say.
 */
typedef struct zoo_fact {
    const char *type;             /* model_type */
    const char *at;               /* folder of the source, where it is not the type's own name */
    const char *family;           /* what reads the config (hf.c); NULL: "rope" */
    const char *pairs;            /* NULL: half */
    const char *keys;             /* spec keys that its code adds, whatever the config says; of a family that does not
                                     rotate: its specs (hf_still.c) */
    const char *dict;             /* rope_parameters of a config that has none, as JSON; NULL: {} */
    const char *sections, *split; /* M-RoPE, where the config does not say */
    const char *kinds; /* layer by layer, over and over: s sliding, f full, l linear, c chunked, m mamba ...; "f>sf":
                          the first layers are those before > */
    const char
        *listed; /* "attn_layer_indices=mamba": the key that lists the layers with attention, and what others are */
    const char *still;  /* kinds that do not turn: "full_attention" */
    const char *labels; /* "main|compress": names in rope_parameters of sliding and of other layers */
    const char *theta_key, *local_key, *width_key; /* which key gives the base, that of sliding layers, how many turn */
    const char *scale_key;  /* which gives the factor of a linear scaling, where there is no rope_scaling */
    const char *hidden_key; /* which gives the width, where hidden_size is another's */
    const char *window_key; /* which gives the window, where it is none of the usual ones */
    const char
        *only_if;      /* it turns, or is as its first spec says, only where the config says so: "use_mem_rope" is true,
                          "!use_learned_position_embeddings" is false, "position_embedding_type=rope" */
    const char *parts; /* a model of models: "text_config=llama|vision_config=clip_vision_model" */
    double theta, local; /* base; base of sliding layers (-1: the same base, but never scaled) */
    double fraction, local_fraction;
    int hidden, heads, kv_heads, head_dim, full_head_dim, rope_dim, nope_dim, layers, length, window;
    int head_times;    /* heads are so many times hidden / heads wide, whatever other keys say */
    int interval;      /* no_rope_layer_interval */
    int use_window;    /* use_sliding_window: 1 true, -1 false; 0: true unless max_window_layers is there */
    int window_from;   /* max_window_layers */
    int prefix;        /* prefix_dense_sliding_window_pattern */
    int width;         /* of width_key; of patch_size */
    int image;         /* image_size */
    int extra;         /* rows of a table of patches that are no patch; pad_token_id, where positions start behind it */
    bool partial;      /* reads partial_rotary_factor */
    bool warm;         /* layers that do not turn warm their queries up by the position (attn_temperature_tuning) */
    bool mscale;       /* softmax scale times g(factor, mscale_all_dim)^2 */
    bool windowed;     /* still only where sliding_window is set */
    bool width_unread; /* engines read width_key, transformers does not */
    bool centred;      /* the window is half back, half ahead */
    bool fixed_theta;  /* its code reads neither a base nor a scaling */
    bool local_scaled; /* one dict of parameters is that of both kinds of layers, but for the base */
} zoo_fact;

const zoo_fact *zoo_fact_find(const char *type); /* NULL: unknown */
/* The i-th row of all tables, for suggestions and tests; NULL past the end. */
const zoo_fact *zoo_fact_at(size_t i);
/* Where a row was read: "transformers 5.17.0 models/llama" */
const char *zoo_fact_source(char out[120], const zoo_fact *f);

#endif
