/* SPDX-License-Identifier: MIT
 *
 * A GPU's memory through the driver, opened at run time. */
#include "gpu/device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*synchronise)(void);
    int (*take)(uint64_t *, size_t);
    int (*give)(uint64_t);
    int (*write)(uint64_t, const void *, size_t);
    int (*read)(void *, uint64_t, size_t);
    int (*copy)(uint64_t, uint64_t, size_t, void *);
} driver;

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s: CUDA error %d\n", what, code);
        abort();
    }
}

static bool driver_open(const char **why)
{
    static const char *const names[] = {
        "cuInit",        "cuDeviceGet",  "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxSynchronize",
        "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2", "cuMemcpyDtoDAsync_v2"
    };
    void **at = (void **)&driver;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    *why = "no libcuda.so.1";
    for (int i = 0; library && i < 10; i++)
        if (!(at[i] = dlsym(library, names[i])))
            return false;
    return library != NULL;
}

pe_cuda *device_open(const char **why)
{
    static pe_error err;
    pe_cuda *gpu;
    int device;
    void *context;
    if (!driver_open(why))
        return NULL;
    *why = "no CUDA device";
    if (driver.init(0) || driver.device(&device, 0))
        return NULL;
    must(driver.retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(driver.set_current(context), "cuCtxSetCurrent");
    *why = err.text;
    return pe_cuda_new(&gpu, NULL, &err) ? NULL : gpu;
}

void device_close(pe_cuda *gpu)
{
    pe_cuda_free(gpu);
}

void *device_take(size_t bytes)
{
    uint64_t p;
    return driver.take(&p, bytes) ? NULL : (void *)(uintptr_t)p;
}

void device_give(void *p)
{
    must(driver.give((uintptr_t)p), "cuMemFree");
}

void device_write(void *to, const void *from, size_t bytes)
{
    must(driver.write((uintptr_t)to, from, bytes), "cuMemcpyHtoD");
}

void device_read(void *to, const void *from, size_t bytes)
{
    must(driver.synchronise(), "cuCtxSynchronize");
    must(driver.read(to, (uintptr_t)from, bytes), "cuMemcpyDtoH");
}

void device_copy(void *to, const void *from, size_t bytes)
{
    must(driver.copy((uintptr_t)to, (uintptr_t)from, bytes, NULL), "cuMemcpyDtoD");
}

bool device_has_libm(void)
{
    return false;
}

bool device_angle(const pe_cuda_plan *plan, int64_t pair, const double *at, double *c, double *s)
{
    (void)plan, (void)pair, (void)at, (void)c, (void)s;
    return false;
}

int device_launches(void)
{
    return -1;
}
