/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels on disk: a file each, named by the hash of its program, the architecture and the compiler's version.
 */
#ifndef PE_CUDA_CACHE_H
#define PE_CUDA_CACHE_H

#include "cuda/compiler.h"

#define CACHE_FOLDER_ROOM 1024

typedef struct cache_key {
    hash128 program;
    int capability;
    int compiler; /* version; 0: any */
} cache_key;

/* The folder by the options' word for it and the environment; "": none. */
void cache_folder(char out[CACHE_FOLDER_ROOM], const char *given);
/* False: not there, or not what was written. out->data is malloc'ed. */
bool cache_read(const char *folder, cache_key key, blob *out);
/* Tries; a folder that cannot be written is no error. */
void cache_write(const char *folder, cache_key key, blob code);

#endif
