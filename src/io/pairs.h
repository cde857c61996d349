/* SPDX-License-Identifier: MIT
 *
 * Weights and K caches from one layout of RoPE's pairs to another. Pair i of a head's n rotated elements is
 *     half      [ccss]  elements i and i + n/2      (transformers' rotate_half)
 *     adjacent  [cscs]  elements 2i and 2i + 1      (Meta's Llama, GPT-J)
 * so that the way from one to the other is a permutation of the rows of q and k: no number changes, only its place.
 *
 *     io_safetensors_open(&st, in, &err);
 *     io_pairs_plan_new(&plan, st, &facts, &err);       // which tensors, which rows: nothing is written yet
 *     io_pairs_convert(out, st, &plan, NULL, &err);     // a few MiB at a time, all or nothing
 */
#ifndef POSENC_IO_PAIRS_H
#define POSENC_IO_PAIRS_H

#include "io.h"

#define IO_PAIRS_KEY "posenc.pairs" /* in __metadata__: the layout that a file was converted to */

typedef enum io_pairs { IO_PAIRS_HALF = 0, IO_PAIRS_ADJACENT } io_pairs;
const char *io_pairs_name(io_pairs p);

/* How q, k and v share one tensor. */
typedef enum io_fused {
    IO_FUSED_UNSAID = 0,
    IO_FUSED_QKV,      /* [all q | all k | all v]                                   */
    IO_FUSED_PER_HEAD, /* [q k v] for each head                                     */
    IO_FUSED_GROUPED,  /* [the q of a group, its k, its v] for each key head        */
    IO_FUSED_STRANGE   /* of the table of names only: an order that is none of these */
} io_fused;

/* What weights do not say. 0: not known. */
typedef struct io_pairs_facts {
    io_pairs from, to;
    int64_t heads, kv_heads; /* kv_heads 0: as many as heads                                        */
    int64_t head_dim;        /* 0: from the rows of q and heads                                     */
    int64_t dims;            /* how many elements of a head are rotated; 0: all                     */
    bool trailing;           /* the last dims of them, not the first                                */
    io_fused fused;          /* UNSAID: by the tensor's name, where that tells                      */
    const char *tensors;     /* a glob for names; NULL: the names known, without those of towers    */
    bool again;              /* even if __metadata__ says that this was done                        */
} io_pairs_facts;

/* Rows in blocks of heads; the first rows of each block, of q and k, are permuted within their head. */
typedef struct io_pairs_map {
    int64_t rows; /* 0: the tensor stays as it is */
    int64_t block, rotated;
    int64_t head_dim, first, dims; /* of a head: rows first to first + dims */
    io_pairs to;
} io_pairs_map;

typedef struct io_pairs_item {
    const io_tensor *tensor;
    io_pairs_map map;
    const char *role; /* "q", "k norm"; "": none */
    bool left;        /* alone, though by its name it may be a q or k: one that is not known */
} io_pairs_item;

typedef struct io_pairs_plan {
    io_pairs_item *item; /* all tensors, as they lie in the file */
    size_t count, rotated, left;
    const char *passed_over; /* a q or k projection of a tower that was left alone; NULL: there is none */
    io_pairs to;
} io_pairs_plan;

/* PE_ERR_SPEC: a fact is missing or cannot be. PE_ERR_SHAPE, PE_ERR_FORMAT: the file does not fit the facts.
 * A file without q and k makes a plan with rotated 0. */
pe_status io_pairs_plan_new(io_pairs_plan *out, const io_safetensors *st, const io_pairs_facts *f, pe_error *err);
void io_pairs_plan_free(io_pairs_plan *p);

/* For an array (..., D) of rotated or unrotated heads; D may be several heads of f->head_dim. */
pe_status io_pairs_map_array(io_pairs_map *out, const io_array *a, const io_pairs_facts *f, pe_error *err);

/* Told after each piece; false: stop, leaving nothing behind. */
typedef struct io_watch {
    bool (*tick)(void *context, uint64_t done, uint64_t total);
    void *context;
} io_watch;

pe_status io_pairs_convert(const char *path, const io_safetensors *st, const io_pairs_plan *plan, const io_watch *w,
                           pe_error *err);
/* begin: where its elements start. The bytes before are copied. */
pe_status io_pairs_convert_array(const char *path, const io_file *in, const io_array *a, uint64_t begin,
                                 const io_pairs_map *map, const io_watch *w, pe_error *err);
/* Byte for byte. */
pe_status io_copy_file(const char *path, const io_file *in, const io_watch *w, pe_error *err);

/* ---------------------------------------------------------------- names (pairs_names.c) */

typedef enum io_role {
    IO_ROLE_Q,
    IO_ROLE_K,
    IO_ROLE_FUSED,
    IO_ROLE_Q_NORM,
    IO_ROLE_K_NORM,
    IO_ROLE_MLA_Q,
    IO_ROLE_MLA_K
} io_role;

typedef struct io_pairs_stem {
    const char *stem;   /* the last parts of the name before .weight */
    const char *within; /* what else the name has to contain; NULL: nothing */
    io_role role;
    io_fused fused;
} io_pairs_stem;

/* What a layer keeps beside its weight: rows of the same order, something else, or something unknown. */
typedef enum io_part { IO_PART_TURN, IO_PART_LEAVE, IO_PART_REFUSE } io_part;

/* The row for a tensor's name and what follows its stem ("weight", "lora_B.weight"); NULL: not a q or k. */
const io_pairs_stem *io_pairs_find(const char *name, const char **rest);
/* The name is unknown and looks like a q or k of attention. */
bool io_pairs_resembles(const char *name);
bool io_pairs_in_tower(const char *name); /* of a vision or audio tower, or another attention with its own positions */

#endif
