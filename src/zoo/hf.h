/* SPDX-License-Identifier: MIT
 *
 * Hugging Face config.json, of every era. hf.c finds the parts and their facts; a family (hf_rope.c, hf_tables.c, ...)
 * makes specs of one part, layer by layer. */
#ifndef POSENC_ZOO_HF_H
#define POSENC_ZOO_HF_H

#include "zoo/build.h"
#include "zoo/facts.h"

typedef struct hf_part {
    zoo_builder *b;
    const io_node *config; /* of this part */
    zoo_fact *fact;        /* of its type; the family may change it */
    const char *name;      /* "text", ... */
    char source[120];
    zoo_part *part; /* NULL until its layers are counted */
    pe_shape shape;
    int64_t layers;
    int64_t length; /* what max_position_embeddings and its like say; 0: nothing */
    bool guessed;   /* the type is unknown, and options let us guess */
    /* Where a part shares its config with another: its own keys; NULL: the usual ones. */
    const char *heads_keys, *layers_keys, *length_keys;
    int64_t kv_heads; /* what the family found out; 0: as the keys say */
    double share;     /* that of the layer at hand */
} hf_part;

typedef pe_status hf_family(hf_part *h);
hf_family hf_rope;                                                                            /* hf_rope.c */
hf_family hf_spec, hf_sines, hf_seq2seq, hf_recurrent;                                        /* hf_tables.c */
hf_family hf_patches, hf_films, hf_spectrogram, hf_dinov3;                                    /* hf_tables.c */
hf_family hf_t5, hf_deberta, hf_xlnet, hf_transfo_xl, hf_bert, hf_mpnet, hf_shaw, hf_inkling; /* hf_relative.c */
hf_family hf_conformer;                                                                       /* hf_relative.c */
hf_family hf_falcon, hf_mpt, hf_baichuan, hf_chatglm, hf_qwen, hf_roformer, hf_esm;           /* hf_models.c */
hf_family hf_dbrx, hf_mla, hf_nomic, hf_internlm, hf_jais, hf_openelm, hf_gte, hf_fope;       /* hf_models.c */

/* ---------------------------------------------------------------- values (hf_values.c) */

/* The first of keys, "a|b|c", that is there and not null. Keys that say different things get a note. Where none is
 * there: fallback, with a note that says whose default it is; fallback 0: *out is left as it was. */
pe_status hf_int(hf_part *h, int64_t *out, const char *keys, int64_t fallback);
pe_status hf_real(hf_part *h, double *out, const char *keys, double fallback);
pe_status hf_flag(hf_part *h, bool *out, const char *key, bool fallback); /* no note */
pe_status hf_word(hf_part *h, const char **out, const char *keys);        /* no note; *out as it was where absent */
bool hf_has(const hf_part *h, const char *key);                           /* there and not null */

#define HF_HIDDEN "hidden_size|n_embd|d_model|embed_dim|dim|hidden_dim|emb_dim"
#define HF_HEADS                                                                                                       \
    "num_attention_heads|n_head|n_heads|num_heads|encoder_attention_heads|decoder_attention_heads|n_layer_heads|"      \
    "attention_heads"
#define HF_KV_HEADS                                                                                                    \
    "num_key_value_heads|num_kv_heads|n_head_kv|n_kv_heads|multi_query_group_num|num_attention_groups|num_query_"      \
    "groups"
#define HF_HEAD_DIM "head_dim|kv_channels|attention_head_dim|d_kv|d_head|v_channels"
#define HF_LAYERS "num_hidden_layers|n_layer|n_layers|num_layers|depth|encoder_layers|decoder_layers|layers"
#define HF_LENGTH                                                                                                      \
    "max_position_embeddings|n_positions|max_seq_len|seq_length|max_sequence_length|n_ctx|max_seq_length|max_source_"  \
    "positions"

/* Whether the row's only_if holds; true where there is none. */
pe_status hf_is_on(hf_part *h, bool *on);
/* heads, head_dim, layers and length into h, and the part they make. */
pe_status hf_measure(hf_part *h);
/* The same spec, printed, for every layer that attends; kinds and windows as the config says. */
pe_status hf_all_layers(hf_part *h, const char *format, ...) IO_PRINTF(2, 3);

/* ---------------------------------------------------------------- layers (hf_layers.c) */

typedef struct hf_layer {
    int64_t index;
    const char *kind; /* "" where the model has one kind */
    int64_t window;
    double theta;     /* of this layer alone; 0: that of its kind */
    double share;     /* of a head that rotates, of this layer alone; 0: as the keys say */
    int64_t kv_heads; /* of this layer alone; 0: as the keys say */
    bool unscaled;    /* its code ignores the scaling */
    bool rotates;     /* its code rotates */
    bool attends;     /* it has attention at all */
} hf_layer;

typedef struct hf_layers {
    io_node types, no_rope, thetas, shares, crossing, blocks, kv_counts; /* arrays of the config; json NULL: none */
    io_node type, rope, theta, share, cross, block, kv_count;            /* the elements at hand */
    const char *kinds;                                                   /* the row's pattern */
    const char *others; /* kind of layers that a list of the rest leaves out; NULL: none */
    int64_t period, interval, window, first_windowed;
    int64_t first, first_period; /* layers before the pattern starts, and the period among them */
    bool any_window;
    bool listed[ZOO_LAYERS_MAX], dense[ZOO_LAYERS_MAX], scaled[ZOO_LAYERS_MAX];
    bool some_unscaled; /* scaled[] counts */
    int64_t next;
} hf_layers;

pe_status hf_layers_start(hf_layers *l, hf_part *h);
pe_status hf_layers_next(hf_layers *l, hf_part *h, hf_layer *out);

/* ---------------------------------------------------------------- tables (hf_tables.c) */

/* The part, with its keys said in h, and one table for it: spec number n of "A|B", a learned one with its rows. */
pe_status hf_read_spec(hf_part *h, const char *specs, int n);
/* The first of "a|b|c" that is there, else the first: for parts whose keys must not be compared with another part's. */
const char *hf_first_there(hf_part *h, const char *keys);

/* The table that a picture tower adds to its patches beside the rotation, as the row says: into the row's spec, or into
 * a note. */
pe_status hf_tower_table(hf_part *h);

/* ---------------------------------------------------------------- rotation (hf_rope.c, hf_scaling.c) */

/* What rotates one kind of layer. */
typedef struct hf_rotation {
    io_node dict;    /* its own parameters; json NULL: there are none */
    char label[64];  /* of the dict among others; "" */
    const char *how; /* scaling, in our words */
    bool local;      /* a sliding layer of a model with two bases */
    bool unscaled;   /* the dict gives the base alone */
    bool off;        /* null in the config: does not rotate */
    int64_t dims;    /* elements that rotate */
    double factor;   /* of a linear scaling that no dict gives; 0: none */
} hf_rotation;

/* Which scaling the dict names; what it adds to the spec; how long the model was trained, NAN: not said. */
pe_status hf_find_scaling(hf_part *h, hf_rotation *t);
pe_status hf_take_keys(hf_part *h, const hf_rotation *t, zoo_spec *spec);
pe_status hf_scale(hf_part *h, const hf_rotation *t, zoo_spec *spec);
pe_status hf_original_length(hf_part *h, const hf_rotation *t, double *out);

#endif
