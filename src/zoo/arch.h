/* SPDX-License-Identifier: MIT
 *
 * What llama.cpp's code does with positions, by general.architecture: none of it is in a GGUF file. */
#ifndef POSENC_ZOO_ARCH_H
#define POSENC_ZOO_ARCH_H

#include "zoo/build.h"

typedef enum arch_layout {
    LAYOUT_UNKNOWN = 0,
    LAYOUT_NONE,     /* nothing rotates                                       */
    LAYOUT_ADJACENT, /* LLAMA_ROPE_TYPE_NORM                                */
    LAYOUT_HALF,     /* NEOX                                                */
    LAYOUT_MROPE,    /* half, axes in chunks                                */
    LAYOUT_IMROPE    /* half, axes interleaved                               */
} arch_layout;

enum {
    /* instead of a rotation, or before it */
    ARCH_LEARNED = 1 << 0,   /* position_embd.weight                                                          */
    ARCH_ALIBI = 1 << 1,     /* slopes to 2^-8                */
    ARCH_ALIBI_KEY = 1 << 2, /* only where attention.max_alibi_bias is above 0                                */
    ARCH_T5 = 1 << 3,
    ARCH_ENCODER = 1 << 28, /* T5 without its decoder */

    /* which elements rotate, by how much */
    ARCH_MROPE_IF = 1 << 4,   /* MROPE where rope.dimension_sections says so                                   */
    ARCH_FREQS = 1 << 5,      /* rope_freqs.weight divides the frequencies                                     */
    ARCH_LONG = 1 << 6,       /* rope_factors_*.weight do, where rope.scaling.type is longrope                 */
    ARCH_LONG_ANY = 1 << 7,   /* they always do                                                                */
    ARCH_FREQS_FULL = 1 << 8, /* only in layers without a window                                              */
    ARCH_TRAILING = 1 << 9,   /* the end of a head rotates                                                       */
    ARCH_MLA = 1 << 10,       /* attention.key_length_mla is the width of a head                               */
    ARCH_SOFTMAX = 1 << 11,   /* YaRN's factor enters the softmax scale, squared                               */
    ARCH_LOG_MUL = 1 << 12,   /* rope.scaling.yarn_log_multiplier is read, ten times as large                  */
    ARCH_BETAS = 1 << 13,     /* rope.scaling.yarn_beta_fast and _slow are read                                */
    ARCH_ALPHA = 1 << 14,     /* rope.scaling.alpha is read                                                    */

    /* which layers rotate */
    ARCH_NOPE_4TH = 1 << 15,  /* every fourth does not                                                        */
    ARCH_NOPE_FULL = 1 << 16, /* those without a window do not                                                */
    ARCH_FINETUNED = 1 << 17, /* none where rope.scaling.finetuned is false                                   */

    /* windows */
    ARCH_SWA = 1 << 18,         /* some layers have one                                                         */
    ARCH_SWA_IF = 1 << 19,      /* where attention.sliding_window is above 0                                    */
    ARCH_SWA_ARRAY = 1 << 20,   /* attention.sliding_window_pattern may be one per layer                        */
    ARCH_SWA_FIRST = 1 << 21,   /* the first of a period has none; else the last                                */
    ARCH_SWA_CENTRED = 1 << 22, /* half of it on each side                                                    */
    ARCH_SWA_CHUNKED = 1 << 23,
    ARCH_SWA_BASE = 1 << 24,  /* the base is that of all layers unless rope.freq_base_swa is given; else 10000 */
    ARCH_SWA_SCALE = 1 << 25, /* scaled as all layers; else not                                               */
    ARCH_SWA_SAME = 1 << 26,  /* base and scaling of all layers, whatever the keys say                        */
    ARCH_SWA_PLAIN = 1 << 27, /* no scaling, no factor on cos and sin                                         */
};

#define ARCH_SWA_LIKE (ARCH_SWA | ARCH_SWA_BASE | ARCH_SWA_SCALE)
#define ARCH_EVERY (-1) /* as a period: all layers have a window */

struct zoo_gguf;

typedef struct zoo_arch {
    const char *name;
    arch_layout layout;
    unsigned flags;
    int period;                           /* of the layers without a window; 0: the file has to say          */
    int window;                           /* where the file says none                                         */
    int interval;                         /* above 0: only every so many layers attend, the others recur      */
    pe_status (*rule)(struct zoo_gguf *); /* what no flag says; after the keys are read, before the layers    */
} zoo_arch;

bool zoo_arch_find(zoo_arch *out, const char *name); /* false: unknown */

/* Rules that others ask for by name. */
pe_status zoo_rule_clip(struct zoo_gguf *m);
pe_status zoo_rule_phi3(struct zoo_gguf *m);

#endif
