/* SPDX-License-Identifier: MIT
 *
 * Between the files of the GGUF reader: gguf_keys.c reads, the rules of arch.c correct, gguf.c says what each layer is
 * and, with gguf_rope.c, writes its spec. */
#ifndef POSENC_ZOO_GGUF_H
#define POSENC_ZOO_GGUF_H

#include "zoo/arch.h"
#include "zoo/read.h"

#define GGUF_REF "llama.cpp b21e4de"
#define GGUF_PAIRS_MAX (PE_HEAD_DIM_MAX / 2)

typedef struct gguf_layer {
    int64_t heads, kv_heads; /* 0: no attention */
    bool window;             /* it has one                                    */
    bool recurs;             /* linear attention or a state: no positions     */
    bool rotates;
    bool other_base; /* deepseek4: attention.compress_rope_freq_base  */
} gguf_layer;

/* How the layers with or without a window rotate. */
typedef struct gguf_rotation {
    double theta;
    double factor; /* 1: none; llama.cpp's freq_scale is 1/factor */
    int64_t head_dim, dims;
} gguf_rotation;

typedef struct zoo_gguf {
    zoo_builder *b;
    const io_gguf *g;
    zoo_arch row;       /* name NULL: unknown */
    zoo_arch arch;      /* the row; a rule may change it */
    const char *prefix; /* of the keys */
    char key[256];      /* the last one asked for */

    int64_t blocks, layers; /* all, and without those that predict further tokens */
    int64_t model_dim, served, trained;
    int64_t found;     /* the trained length that rope_freqs tells; 0: none */
    gguf_layer *layer; /* blocks of them */

    gguf_rotation full, swa;
    int64_t window;
    int64_t sections[4];
    double magnitude; /* rope.scaling.attn_factor */
    double yarn;      /* ext_factor: 0 none, 1 YaRN */
    double beta_fast, beta_slow;
    double log_mul; /* mscale_all_dim; 0: none */
    double mscale;
    double temperature; /* 0: none */
    int64_t floor, shift;
    bool temperature_unrotated; /* only in layers that do not rotate */
    int nope;                   /* period of the layers that do not rotate, above 0 */
    bool nope_first;            /* the first of a period; else the last */
    int64_t lead;               /* so many layers rotate all the same */
    bool longrope;              /* rope.scaling.type */
    double alibi;               /* 0: none */
    double alpha;               /* 0: none */
    double other_theta;
    const char *turn;          /* spec's: "qkvo"; NULL: as usual */
    float *freqs, *long_freqs; /* divisors of the frequencies, and past the trained length; NULL: none */
    int64_t freq_count;
    zoo_spec *spec;
    const char *done[8]; /* specs of layers, by window, rotates and other_base: making one may cost milliseconds */
} zoo_gguf;

/* ---------------------------------------------------------------- gguf_keys.c: ARCHITECTURE.suffix */

const char *gguf_key(zoo_gguf *m, const char *suffix);
bool gguf_has(zoo_gguf *m, const char *suffix);
/* Absent and optional: *out stays. */
pe_status gguf_int(zoo_gguf *m, int64_t *out, const char *suffix, io_need need, int64_t max);
pe_status gguf_real(zoo_gguf *m, double *out, const char *suffix, io_need need);
/* One for each of count layers; a single number counts for all. *found: the key is there. */
pe_status gguf_each(zoo_gguf *m, int64_t *out, int64_t count, const char *suffix, io_need need, bool *found);

/* ---------------------------------------------------------------- the others */

pe_status gguf_read_keys(zoo_gguf *m);                     /* gguf_keys.c */
pe_status gguf_read_factors(zoo_gguf *m);                  /* gguf_rope.c: the tensors that divide frequencies */
pe_status gguf_put_rope(zoo_gguf *m, const gguf_layer *l); /* gguf_rope.c */

#endif
