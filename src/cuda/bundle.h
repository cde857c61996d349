/* SPDX-License-Identifier: MIT
 *
 * Kernels that are part of the library, compiled when it was built: one file of a head, entries, and their code.
 *
 *     [magic 16][count 8] [unused 8] [entry 40] * count [code, each at a multiple of 16] */
#ifndef PE_CUDA_BUNDLE_H
#define PE_CUDA_BUNDLE_H

#include "cuda/compiler.h"

#define BUNDLE_MAGIC "posenc bundle 1\n" /* 16 bytes, no zero */

typedef struct bundle_head {
    char magic[16];
    uint64_t count;
    uint64_t unused;
} bundle_head;

typedef struct bundle_entry {
    hash128 program;
    uint32_t capability, compiler;
    uint64_t offset, bytes; /* from the beginning of the file */
} bundle_entry;

extern const bundle_head cuda_bundle; /* build/full.c or build/empty.c */

/* That of this library; it may be empty. */
const bundle_head *bundle_built_in(void);
/* The code of a program that this device runs, inside the bundle; NULL: none. */
const void *bundle_find(const bundle_head *bundle, hash128 program, int capability);

#endif
