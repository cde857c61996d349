/* SPDX-License-Identifier: MIT
 *
 * What load_hf.c (names, config) and load_fill.c (tensors) share. */
#ifndef POSENC_MODEL_LOAD_HF_H
#define POSENC_MODEL_LOAD_HF_H

#include "model/load.h"

#define LOAD_TRY(call)                                                                                                 \
    do {                                                                                                               \
        pe_status load_status = (call);                                                                                \
        if (load_status)                                                                                               \
            return load_status;                                                                                        \
    } while (0)
#define LOAD_SIZE_MAX (INT64_C(1) << 28)
#define LOAD_SIZE ((io_int_range){ 1, LOAD_SIZE_MAX })

typedef enum size_of { ONE = 0, VOCAB, WIDTH, QUERIES, KEYS, FUSED, HIDDEN } size_of;
typedef enum biased { NEVER = 0, ALWAYS, ATTENTION, MLP } biased;

/* `from`, (rows, columns), fills rows of `to`, below what the row before it filled of the same `to`. % is the layer;
 * names go without .weight. */
typedef struct place {
    const char *to, *from;
    size_of rows, columns; /* columns ONE: a vector */
    biased bias;
    bool by_head; /* rows are (H, 3, D), ours (3, H, D) */
} place;

typedef struct architecture {
    const char *type;
    const char *prefix; /* of all but the output; files of the bare model are without */
    const char *embed;  /* the tensor that tells which */
    const place *place;
    int places;
    bool tied; /* unless the config says otherwise */
} architecture;

typedef struct loading {
    const architecture *a;
    const model_shards *from;
    const char *name; /* the model's, for messages */
    model_config c;
    bool bias[4]; /* by `biased` */
    model *m;     /* NULL: shapes are checked, nothing is read */
    uint8_t *piece;
    pe_error *err;
} loading;

/* Every tensor's shape and type, before memory is asked for; then, with l->m, its elements. */
pe_status load_places(loading *l);

#endif
