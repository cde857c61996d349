/* SPDX-License-Identifier: MIT
 *
 * The driver API, as far as it is used, and a device of it. Types are CUDA's own in plain C: handles are void *,
 * results and enums int. */
#ifndef PE_CUDA_DRIVER_H
#define PE_CUDA_DRIVER_H

#include <pthread.h>

#include "cuda/cuda.h"

typedef struct cuda_driver {
    void *library;
    int (*init)(unsigned flags);
    int (*version)(int *out);
    int (*device_count)(int *out);
    int (*device_get)(int *out, int number);
    int (*device_name)(char *out, int room, int device);
    int (*device_memory)(size_t *out, int device);
    int (*device_attribute)(int *out, int which, int device);
    int (*context_retain)(void **out, int device);
    int (*context_release)(int device);
    int (*context_push)(void *context);
    int (*context_pop)(void **out);
    int (*memory_new)(device_pointer *out, size_t bytes);
    int (*memory_free)(device_pointer p);
    int (*memory_copy)(device_pointer to, const void *from, size_t bytes);
    int (*memory_set)(device_pointer to, unsigned char value, size_t bytes, void *stream);
    int (*stream_wait)(void *stream);
    int (*module_load)(void **out, const void *image);
    int (*module_free)(void *module);
    int (*module_function)(void **out, void *module, const char *name);
    int (*function_get)(int *out, int which, void *function);
    int (*function_set)(void *function, int which, int value);
    int (*launch)(void *function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y,
                  unsigned threads_z, unsigned shared, void *stream, void **args, void **extra);
    int (*launch_together)(void *function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y,
                           unsigned threads_z, unsigned shared, void *stream, void **args);
    int (*error_name)(int code, const char **out);
    int (*error_text)(int code, const char **out);
    int (*tensor_map)(void *map, int type, unsigned rank, void *data, const uint64_t *size, const uint64_t *stride,
                      const uint32_t *box, const uint32_t *step, int interleave, int swizzle, int promotion,
                      int fill); /* NULL before CUDA 12 */
} cuda_driver;

typedef struct device_facts {
    char name[100];
    int capability, processors, threads; /* 90 is 9.0; multiprocessors; of a block, at most */
    int shared;                          /* bytes of a block, at most */
    size_t memory;
} device_facts;

struct kernel_table; /* kernel.c's */
struct bundle_head;  /* bundle.h's */

struct pe_cuda {
    cuda_driver driver;
    int version; /* of the driver */
    int device;  /* CUdevice */
    void *context;
    device_facts facts;
    const struct bundle_head *bundle; /* kernels that are built in */
    struct kernel_table *kernels;
};

/* Opens it and starts it. On failure d->library is NULL. */
pe_status driver_open(cuda_driver *d, int *version, const char *path, pe_error *err);
void driver_close(cuda_driver *d);
/* The device of this number, and what it is. */
pe_status driver_device(const cuda_driver *d, int number, int *device, device_facts *facts, pe_error *err);

/* PE_ERR_DEVICE: what was done, CUDA's name and words for the code, what to do about it. */
#if defined __GNUC__
__attribute__((format(printf, 4, 5)))
#endif
pe_status
driver_fail(const cuda_driver *d, int code, pe_error *err, const char *format, ...);

/* Between the two the device's context is the thread's current one; leave gives back the one before. */
pe_status driver_enter(const pe_cuda *gpu, pe_error *err);
void driver_leave(const pe_cuda *gpu);

/* Loads an image, for a kernel of this name. *refused: the driver cannot run it, which another compiler may cure. */
pe_status driver_load(const pe_cuda *gpu, const void *image, const char *entry, void **module, bool *refused,
                      pe_error *err);
/* A kernel of a module. */
pe_status driver_function(const pe_cuda *gpu, void *module, const char *entry, kernel *out, pe_error *err);
void driver_unload(const pe_cuda *gpu, void *module);

#endif
