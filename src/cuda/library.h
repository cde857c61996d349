/* SPDX-License-Identifier: MIT
 *
 * A shared library that is opened at run time, and its functions. */
#ifndef PE_CUDA_LIBRARY_H
#define PE_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library_function {
    const char *name;
    size_t offset; /* of its pointer in the table */
    bool optional; /* NULL in the table where the library does not have it */
} library_function;

/* Opens the library and fills the table, whose functions end with a name NULL. NULL on failure: *why has the loader's
 * words, or *lacks the name of a function that the library does not have. */
void *library_open(const char *path, const library_function *functions, void *table, const char **lacks, char *why,
                   size_t room);
void library_close(void *library); /* NULL is fine */

#endif
