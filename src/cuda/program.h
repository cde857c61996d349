/* SPDX-License-Identifier: MIT
 *
 * The program of a kernel: its whole text, its options, and the hash that names both. */
#ifndef PE_CUDA_PROGRAM_H
#define PE_CUDA_PROGRAM_H

#include "cuda/cuda.h"
#include "cuda/hash.h"

#define PROGRAM_OPTIONS_MAX 8
#define PROGRAM_HEADERS_MAX 32

typedef struct kernel_program {
    char *text; /* malloc'ed */
    const char *options[PROGRAM_OPTIONS_MAX];
    int options_count;
    const char *header_names[PROGRAM_HEADERS_MAX], *headers[PROGRAM_HEADERS_MAX]; /* what #include finds */
    int headers_count;
    hash128 hash; /* of all of this; not of the architecture */
} kernel_program;

pe_status program_new(kernel_program *out, const kernel_source *source, const char *defines, pe_error *err);
void program_free(kernel_program *p); /* a zeroed one is fine */

/* "sm_90a": kernels for 9.0 use instructions that are its own. */
void program_architecture(char out[16], int capability);

#endif
