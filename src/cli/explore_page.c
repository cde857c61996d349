/* SPDX-License-Identifier: MIT
 *
 * The page inside the tool. The assembler takes the file in as it is; CMake says where it lies (-I) and compiles this
 * again when it changes. */
#include "cli/explore.h"

#if defined __GNUC__ && !defined __wasm__

#if defined __APPLE__
#define SYMBOL(name) "_" #name
#define SECTION ".section __TEXT,__const\n"
#define BACK ".text\n"
#define HIDDEN ".private_extern "
#elif defined _WIN32
#define SYMBOL(name) #name
#define SECTION ".section .rdata,\"dr\"\n"
#define BACK ".text\n"
#define HIDDEN ".globl "
#else
#define SYMBOL(name) #name
#define SECTION ".pushsection .rodata.posenc_page,\"a\",%progbits\n"
#define BACK ".popsection\n"
#define HIDDEN ".hidden "
#endif

/* clang-format off */
__asm__(SECTION
        ".globl " SYMBOL(posenc_page) "\n"
        HIDDEN SYMBOL(posenc_page) "\n"
        ".globl " SYMBOL(posenc_page_end) "\n"
        HIDDEN SYMBOL(posenc_page_end) "\n"
        SYMBOL(posenc_page) ":\n"
        ".incbin \"posenc.html\"\n"
        SYMBOL(posenc_page_end) ":\n"
        ".byte 0\n"
        BACK);
/* clang-format on */

extern const uint8_t posenc_page[], posenc_page_end[];

io_span explore_page(void)
{
    return (io_span){ posenc_page, (size_t)((uintptr_t)posenc_page_end - (uintptr_t)posenc_page) };
}

#else

io_span explore_page(void)
{
    return (io_span){ NULL, 0 };
}

#endif
