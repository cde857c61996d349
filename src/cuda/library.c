/* SPDX-License-Identifier: MIT */
#include "cuda/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* CUDA's libraries have threads and handlers of their own, which must not lose their code: closed ones stay mapped. */
#if defined RTLD_NODELETE
#define HOW (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
#else
#define HOW (RTLD_NOW | RTLD_LOCAL)
#endif

/* The loader keeps the text of an error until it was read, and asked for once more. */
static void forget_errors(void)
{
    while (dlerror())
        ;
}

void *library_open(const char *path, const library_function *functions, void *table, const char **lacks, char *why,
                   size_t room)
{
    void *library = dlopen(path, HOW);
    const char *said = library ? "" : dlerror();
    snprintf(why, room, "%s", said ? said : path);
    *lacks = NULL;
    for (; library && functions->name; functions++) {
        void *address = dlsym(library, functions->name);
        if (!address && !functions->optional) {
            *lacks = functions->name;
            dlclose(library);
            library = NULL;
            break;
        }
        memcpy((char *)table + functions->offset, &address, sizeof address);
    }
    forget_errors();
    return library;
}

void library_close(void *library)
{
    if (library)
        dlclose(library);
}
