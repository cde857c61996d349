/* SPDX-License-Identifier: MIT
 *
 * The run-time compiler, libnvrtc. */
#ifndef PE_CUDA_COMPILER_H
#define PE_CUDA_COMPILER_H

#include "cuda/program.h"

typedef struct cuda_compiler {
    void *library;
    int version; /* 13020 is 13.2 */
    int (*get_version)(int *major, int *minor);
    const char *(*error_text)(int code);
    int (*program_new)(void **out, const char *text, const char *name, int headers, const char *const *header_texts,
                       const char *const *header_names);
    int (*program_free)(void **program);
    int (*compile)(void *program, int count, const char *const *options);
    int (*cubin_size)(void *program, size_t *out);
    int (*cubin)(void *program, char *out);
    int (*log_size)(void *program, size_t *out);
    int (*log)(void *program, char *out);
} cuda_compiler;

typedef struct blob {
    unsigned char *data; /* malloc'ed */
    size_t bytes;
} blob;

/* path NULL: POSENC_NVRTC, or where the loader finds it, or CUDA's usual folder. On failure c->library is NULL. */
pe_status compiler_open(cuda_compiler *c, const char *path, pe_error *err);
void compiler_close(cuda_compiler *c); /* a zeroed one is fine */

/* log: the compiler's words, malloc'ed; may be NULL. On failure cubin->data is NULL. */
pe_status compiler_build(const cuda_compiler *c, const kernel_program *p, const char *entry, int capability,
                         blob *cubin, char **log, pe_error *err);

#endif
