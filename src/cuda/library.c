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
            return NULL;
        }
        memcpy((char *)table + functions->offset, &address, sizeof address);
    }
    return library;
}

void library_close(void *library)
{
    if (library)
        dlclose(library);
}
