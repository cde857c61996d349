/* SPDX-License-Identifier: MIT
 *
 * What a test sees and sets of the fake driver and the fake compiler: shared libraries with CUDA's functions that keep
 * count and fail when told. */
#ifndef TESTS_GPU_FAKE_CUDA_H
#define TESTS_GPU_FAKE_CUDA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* One of each library. */
typedef struct fake {
    pthread_mutex_t lock;
    char fail[64]; /* the function that fails; "": none */
    int fail_at;   /* which of its calls, from 1 on; 0: all */
    int code;      /* what it returns */
    int failing;   /* calls of it so far */
    int failed;    /* how many of them failed */
    /* the driver */
    int devices, major, minor, shared;
    int retained, memory, modules; /* what is alive */
    int depth;                     /* contexts pushed and not popped, over all threads */
    int wrong;                     /* calls without the right context, frees of what is not alive */
    int refuse;                    /* so many images are refused */
    int loads, launches, limits;   /* calls */
    unsigned grid[3], threads, dynamic;
    void *stream, *function;
    uint64_t arg; /* the first bytes of the kernel's argument */
    int limit, swizzle, type;
    char image[200]; /* the last one loaded */
    /* the compiler */
    int version_major, version_minor;
    int programs, compiles;
    int delay; /* microseconds of a compilation */
    const char *log;
    char options[300], text[4000];
} fake;

/* Both libraries have it. */
typedef fake *fake_get(void);

#endif
