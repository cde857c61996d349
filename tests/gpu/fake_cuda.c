/* SPDX-License-Identifier: MIT
 *
 * A driver without a device (fake_cuda.h). Device memory is memory of the host. */
#include "gpu/fake_state.h"

static int context; /* its address is the primary context */
static _Thread_local int depth;

/* begin, for calls that need the context. */
static int inside(const char *name)
{
    if (!depth)
        add(&f.wrong, 1);
    return begin(name);
}

API int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    BEGIN(begin);
    return 0;
}

API int cuDriverGetVersion(int *out);
int cuDriverGetVersion(int *out)
{
    BEGIN(begin);
    *out = 13000;
    return 0;
}

API int cuDeviceGetCount(int *out);
int cuDeviceGetCount(int *out)
{
    BEGIN(begin);
    *out = f.devices;
    return 0;
}

API int cuDeviceGet(int *out, int number);
int cuDeviceGet(int *out, int number)
{
    BEGIN(begin);
    *out = 70 + number;
    return 0;
}

API int cuDeviceGetName(char *out, int room, int device);
int cuDeviceGetName(char *out, int room, int device)
{
    BEGIN(begin);
    snprintf(out, (size_t)room, "Fake GPU %d", device - 70);
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *out, int device);
int cuDeviceTotalMem_v2(size_t *out, int device)
{
    (void)device;
    BEGIN(begin);
    *out = (size_t)140 << 30;
    return 0;
}

API int cuDeviceGetAttribute(int *out, int which, int device);
int cuDeviceGetAttribute(int *out, int which, int device)
{
    (void)device;
    BEGIN(begin);
    *out = which == 75 ? f.major : which == 76 ? f.minor : which == 16 ? 132 : which == 1 ? 1024 : f.shared;
    return 0;
}

API int cuDevicePrimaryCtxRetain(void **out, int device);
int cuDevicePrimaryCtxRetain(void **out, int device)
{
    (void)device;
    BEGIN(begin);
    add(&f.retained, 1);
    *out = &context;
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    add(&f.retained, -1);
    BEGIN(begin);
    return 0;
}

API int cuCtxPushCurrent_v2(void *which);
int cuCtxPushCurrent_v2(void *which)
{
    BEGIN(begin);
    if (which != &context)
        add(&f.wrong, 1);
    add(&f.depth, 1);
    depth++;
    return 0;
}

API int cuCtxPopCurrent_v2(void **out);
int cuCtxPopCurrent_v2(void **out)
{
    if (!depth)
        add(&f.wrong, 1);
    add(&f.depth, -1);
    depth--;
    *out = &context;
    BEGIN(begin);
    return 0;
}

API int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    BEGIN(inside);
    void *p = malloc(bytes);
    *out = (uint64_t)(uintptr_t)p;
    add(&f.memory, 1);
    return p ? 0 : 2;
}

API int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p)
{
    free((void *)(uintptr_t)p);
    add(&f.memory, -1);
    BEGIN(inside);
    return 0;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    BEGIN(inside);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    BEGIN(inside);
    memset((void *)(uintptr_t)to, value, bytes);
    f.stream = stream;
    return 0;
}

API int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    (void)stream;
    BEGIN(inside);
    return 0;
}

API int cuModuleLoadData(void **out, const void *image);
int cuModuleLoadData(void **out, const void *image)
{
    BEGIN(inside);
    add(&f.loads, 1);
    pthread_mutex_lock(&f.lock);
    int refused = f.refuse > 0;
    f.refuse -= refused;
    snprintf(f.image, sizeof f.image, "%s", (const char *)image);
    pthread_mutex_unlock(&f.lock);
    if (refused || strncmp(image, "cubin ", 6))
        return 209;
    add(&f.modules, 1);
    *out = malloc(1);
    return *out ? 0 : 2;
}

API int cuModuleUnload(void *module);
int cuModuleUnload(void *module)
{
    free(module);
    add(&f.modules, -1);
    BEGIN(inside);
    return 0;
}

API int cuModuleGetFunction(void **out, void *module, const char *name);
int cuModuleGetFunction(void **out, void *module, const char *name)
{
    (void)name;
    BEGIN(inside);
    *out = module;
    return 0;
}

API int cuFuncGetAttribute(int *out, int which, void *function);
int cuFuncGetAttribute(int *out, int which, void *function)
{
    (void)function;
    BEGIN(inside);
    *out = which == 4 ? 40 : which == 1 ? 1024 : 8; /* registers, shared, local */
    return 0;
}

API int cuFuncSetAttribute(void *function, int which, int value);
int cuFuncSetAttribute(void *function, int which, int value)
{
    (void)function;
    BEGIN(inside);
    add(&f.limits, 1);
    if (which == 8)
        f.limit = value;
    return 0;
}

static void launched(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned shared, void *stream,
                     void **args)
{
    add(&f.launches, 1);
    f.grid[0] = x;
    f.grid[1] = y;
    f.grid[2] = z;
    f.threads = threads;
    f.dynamic = shared;
    f.stream = stream;
    f.function = function;
    memcpy(&f.arg, args[0], sizeof f.arg);
}

API int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                       unsigned shared, void *stream, void **args, void **extra);
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **args, void **extra)
{
    BEGIN(inside);
    launched(function, x, y, z, tx * ty * tz, shared, stream, args);
    return extra ? 1 : 0;
}

API int cuLaunchCooperativeKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
                                  unsigned tz, unsigned shared, void *stream, void **args);
int cuLaunchCooperativeKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                              unsigned shared, void *stream, void **args)
{
    BEGIN(inside);
    launched(function, x, y, z, tx * ty * tz, shared, stream, args);
    return 0;
}

API int cuGetErrorName(int code, const char **out);
int cuGetErrorName(int code, const char **out)
{
    BEGIN(begin);
    *out = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE";
    return 0;
}

API int cuGetErrorString(int code, const char **out);
int cuGetErrorString(int code, const char **out)
{
    (void)code;
    BEGIN(begin);
    *out = "words of the driver";
    return 0;
}

API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *data, const uint64_t *size,
                               const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
                               int swizzle, int promotion, int fill);
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *data, const uint64_t *size, const uint64_t *stride,
                           const uint32_t *box, const uint32_t *step, int interleave, int swizzle, int promotion,
                           int fill)
{
    (void)data, (void)stride, (void)promotion;
    BEGIN(begin);
    f.swizzle = swizzle;
    f.type = type;
    memset(map, 1, 128);
    for (unsigned i = 0; i < rank; i++)
        if (step[i] != 1 || box[i] > 256 || !size[i])
            return 1;
    return interleave || fill;
}
