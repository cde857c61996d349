/* SPDX-License-Identifier: MIT
 *
 * EMBED(name, "file"): the bytes of a file, and a zero after them, as name .. name_end. The assembler takes the file in
 * as it is; CMake says where it lies (-I) and compiles again when it changes. */
#ifndef PE_CUDA_EMBED_H
#define PE_CUDA_EMBED_H

#if defined __APPLE__
#define EMBED_SYMBOL(name) "_" #name
#define EMBED_SECTION ".section __TEXT,__const\n"
#define EMBED_BACK ".text\n"
#define EMBED_HIDDEN ".private_extern "
#else
#define EMBED_SYMBOL(name) #name
#define EMBED_SECTION ".pushsection .rodata.posenc_cuda,\"a\",%progbits\n"
#define EMBED_BACK ".popsection\n"
#define EMBED_HIDDEN ".hidden "
#endif

/* clang-format off */
#define EMBED(name, file)                                                                                              \
    __asm__(EMBED_SECTION                                                                                              \
            ".globl " EMBED_SYMBOL(name) "\n"                                                                          \
            EMBED_HIDDEN EMBED_SYMBOL(name) "\n"                                                                       \
            ".globl " EMBED_SYMBOL(name##_end) "\n"                                                                    \
            EMBED_HIDDEN EMBED_SYMBOL(name##_end) "\n"                                                                 \
            ".balign 16\n"                                                                                             \
            EMBED_SYMBOL(name) ":\n"                                                                                   \
            ".incbin \"" file "\"\n"                                                                                   \
            EMBED_SYMBOL(name##_end) ":\n"                                                                             \
            ".byte 0\n"                                                                                                \
            EMBED_BACK);                                                                                               \
    extern const char name[], name##_end[]
/* clang-format on */

#endif
