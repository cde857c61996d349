/* SPDX-License-Identifier: MIT */
#include "base/try.h"
#include "cuda/driver.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cuda/library.h"

/* CUDA's numbers. */
enum {
    OUT_OF_MEMORY = 2,
    STUB_LIBRARY = 34,
    NO_DEVICE = 100,
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    UNSUPPORTED_PTX = 222,
    INVALID_SOURCE = 300,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    SYSTEM_NOT_READY = 802,
    DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED = 804,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    DEVICE_THREADS = 1, /* attributes of a device */
    DEVICE_PROCESSORS = 16,
    DEVICE_MAJOR = 75,
    DEVICE_MINOR = 76,
    DEVICE_SHARED = 97,  /* of a block that asks for it */
    FUNCTION_SHARED = 1, /* attributes of a function */
    FUNCTION_LOCAL = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_SHARED_LIMIT = 8,
    MAP_F16 = 6, /* of a tensor map */
    MAP_BF16 = 9,
    MAP_SWIZZLE_128 = 3,
    MAP_PROMOTE_256 = 3,
    MAP_RANK_MAX = 5,
};

#define FUNCTION(field, name)                                                                                          \
    {                                                                                                                  \
        name, offsetof(cuda_driver, field), false                                                                      \
    }
static const library_function functions[] = {
    FUNCTION(init, "cuInit"),
    FUNCTION(version, "cuDriverGetVersion"),
    FUNCTION(device_count, "cuDeviceGetCount"),
    FUNCTION(device_get, "cuDeviceGet"),
    FUNCTION(device_name, "cuDeviceGetName"),
    FUNCTION(device_memory, "cuDeviceTotalMem_v2"),
    FUNCTION(device_attribute, "cuDeviceGetAttribute"),
    FUNCTION(context_retain, "cuDevicePrimaryCtxRetain"),
    FUNCTION(context_release, "cuDevicePrimaryCtxRelease_v2"),
    FUNCTION(context_push, "cuCtxPushCurrent_v2"),
    FUNCTION(context_pop, "cuCtxPopCurrent_v2"),
    FUNCTION(memory_new, "cuMemAlloc_v2"),
    FUNCTION(memory_free, "cuMemFree_v2"),
    FUNCTION(memory_copy, "cuMemcpyHtoD_v2"),
    FUNCTION(memory_set, "cuMemsetD8Async"),
    FUNCTION(stream_wait, "cuStreamSynchronize"),
    FUNCTION(module_load, "cuModuleLoadData"),
    FUNCTION(module_free, "cuModuleUnload"),
    FUNCTION(module_function, "cuModuleGetFunction"),
    FUNCTION(function_get, "cuFuncGetAttribute"),
    FUNCTION(function_set, "cuFuncSetAttribute"),
    FUNCTION(launch, "cuLaunchKernel"),
    FUNCTION(launch_together, "cuLaunchCooperativeKernel"),
    FUNCTION(error_name, "cuGetErrorName"),
    FUNCTION(error_text, "cuGetErrorString"),
    { "cuTensorMapEncodeTiled", offsetof(cuda_driver, tensor_map), true },
    { NULL, 0, false },
};

/* ---------------------------------------------------------------- errors */

static const struct advice {
    int code;
    const char *text;
} advice[] = {
    { OUT_OF_MEMORY, "; free device memory, or ask for less" },
    { STUB_LIBRARY, "; this libcuda is the stub that programs are linked with: put the driver's before it" },
    { NO_DEVICE, "; needs an NVIDIA GPU that this process may use (CUDA_VISIBLE_DEVICES, a container's --gpus)" },
    { INVALID_IMAGE, "; the kernel was compiled for something else: remove the cache folder" },
    { NO_BINARY_FOR_GPU,
      "; the kernel was compiled for another architecture: install CUDA's nvrtc, which compiles it" },
    { UNSUPPORTED_PTX, "; the compiler is newer than the driver: install a newer driver or an older nvrtc" },
    { INVALID_SOURCE, "; the kernel was compiled for something else: remove the cache folder" },
    { ILLEGAL_ADDRESS, "; an earlier kernel of this process used memory that is not its own: the process must end" },
    { LAUNCH_OUT_OF_RESOURCES, "; the kernel needs more registers or threads than this device has" },
    { SYSTEM_NOT_READY, "; the system's GPU services are not running: start nvidia-fabricmanager" },
    { DRIVER_MISMATCH, "; the driver's kernel module and libcuda differ in version: restart the machine" },
    { COMPAT_NOT_SUPPORTED,
      "; this libcuda does not support the GPU: remove CUDA's compat folder from the loader's path" },
    { CAPTURE_UNSUPPORTED, "; make the call once before the capture, which loads its kernels" },
    { CAPTURE_INVALIDATED, "; make the call once before the capture, which loads its kernels" },
};

static const char *advice_of(int code)
{
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == code)
            return advice[i].text;
    return "";
}

pe_status driver_fail(const cuda_driver *d, int code, pe_error *err, const char *format, ...)
{
    const char *name = NULL, *text = NULL;
    char what[100];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (d->error_name(code, &name) || !name)
        name = "an error unknown to this driver";
    if (d->error_text(code, &text) || !text)
        text = "no text";
    return pe_fail(err, PE_ERR_DEVICE, "%s: %.50s (%d, %.60s)%s", what, name, code, text, advice_of(code));
}

/* ---------------------------------------------------------------- the driver and its devices */

pe_status driver_open(cuda_driver *d, int *version, const char *path, pe_error *err)
{
    char why[160];
    const char *lacks, *name = path ? path : "libcuda.so.1";
    *version = 0;
    *d = (cuda_driver){ 0 };
    void *library = library_open(name, functions, d, &lacks, why, sizeof why);
    if (lacks)
        return pe_fail(err, PE_ERR_DEVICE, "%.150s has no %s; needs NVIDIA's driver 525 or newer", name, lacks);
    if (!library)
        return pe_fail(err, PE_ERR_DEVICE,
                       "no NVIDIA driver: %s; install the driver, or start the container with its GPUs", why);
    d->library = library;
    int code = d->init(0);
    pe_status s = code ? driver_fail(d, code, err, "cuInit") : PE_OK;
    if (!s && (code = d->version(version)) != 0)
        s = driver_fail(d, code, err, "cuDriverGetVersion");
    if (s)
        driver_close(d);
    return s ? s : pe_pass(err);
}

void driver_close(cuda_driver *d)
{
    library_close(d->library);
    d->library = NULL;
}

static pe_status device_number(const cuda_driver *d, int number, int *device, pe_error *err)
{
    int count = 0, code = d->device_count(&count);
    if (code || !count)
        return driver_fail(d, code ? code : NO_DEVICE, err, "cuDeviceGetCount");
    if (number < 0 || number >= count)
        return pe_fail(err, PE_ERR_RANGE, "device is %d; needs 0 to %d, one of the devices of this process", number,
                       count - 1);
    code = d->device_get(device, number);
    return code ? driver_fail(d, code, err, "cuDeviceGet of device %d", number) : pe_pass(err);
}

pe_status driver_device(const cuda_driver *d, int number, int *device, device_facts *facts, pe_error *err)
{
    int major = 0, minor = 0;
    *facts = (device_facts){ 0 };
    TRY(device_number(d, number, device, err));
    const struct {
        int *to, which;
    } wanted[] = {
        { &major, DEVICE_MAJOR },
        { &minor, DEVICE_MINOR },
        { &facts->processors, DEVICE_PROCESSORS },
        { &facts->threads, DEVICE_THREADS },
        { &facts->shared, DEVICE_SHARED },
    };
    int code = d->device_name(facts->name, sizeof facts->name, *device);
    if (!code)
        code = d->device_memory(&facts->memory, *device);
    for (size_t i = 0; !code && i < sizeof wanted / sizeof *wanted; i++)
        code = d->device_attribute(wanted[i].to, wanted[i].which, *device);
    if (code)
        return driver_fail(d, code, err, "facts of device %d", number);
    facts->name[sizeof facts->name - 1] = 0;
    facts->capability = 10 * major + minor;
    return pe_pass(err);
}

int cuda_capability(const pe_cuda *gpu)
{
    return gpu->facts.capability;
}

int cuda_processors(const pe_cuda *gpu)
{
    return gpu->facts.processors;
}

/* ---------------------------------------------------------------- the context */

pe_status driver_enter(const pe_cuda *gpu, pe_error *err)
{
    int code = gpu->driver.context_push(gpu->context);
    return code ? driver_fail(&gpu->driver, code, err, "cuCtxPushCurrent") : PE_OK;
}

void driver_leave(const pe_cuda *gpu)
{
    void *context;
    gpu->driver.context_pop(&context);
}

/* ---------------------------------------------------------------- memory */

pe_status cuda_upload(pe_cuda *gpu, device_pointer *out, const void *host, size_t bytes, pe_error *err)
{
    const cuda_driver *d = &gpu->driver;
    *out = 0;
    if (!bytes)
        return pe_pass(err);
    TRY(driver_enter(gpu, err));
    int code = d->memory_new(out, bytes);
    pe_status s = PE_OK;
    if (code) {
        *out = 0;
        s = driver_fail(d, code, err, "cuMemAlloc of %zu bytes", bytes);
    }
    /* A copy from pageable memory may return before it is over, and other streams do not wait for it. */
    if (!s && ((code = d->memory_copy(*out, host, bytes)) != 0 || (code = d->stream_wait(NULL)) != 0)) {
        s = driver_fail(d, code, err, "cuMemcpyHtoD of %zu bytes", bytes);
        d->memory_free(*out);
        *out = 0;
    }
    driver_leave(gpu);
    return s ? s : pe_pass(err);
}

void cuda_release(pe_cuda *gpu, device_pointer p)
{
    if (!p || driver_enter(gpu, NULL))
        return;
    gpu->driver.memory_free(p);
    driver_leave(gpu);
}

pe_status cuda_clear(pe_cuda *gpu, device_pointer p, size_t bytes, void *stream, pe_error *err)
{
    if (!bytes)
        return pe_pass(err);
    TRY(driver_enter(gpu, err));
    int code = gpu->driver.memory_set(p, 0, bytes, stream);
    driver_leave(gpu);
    return code ? driver_fail(&gpu->driver, code, err, "cuMemsetD8Async of %zu bytes", bytes) : pe_pass(err);
}

bool cuda_tensor_map(const pe_cuda *gpu, void *map, bool bf16, int rank, device_pointer data, const uint64_t *size,
                     const uint64_t *stride, const uint32_t *box)
{
    static const uint32_t step[MAP_RANK_MAX] = { 1, 1, 1, 1, 1 };
    if (!gpu->driver.tensor_map || rank < 1 || rank > MAP_RANK_MAX || data % 16)
        return false;
    for (int i = 0; i < rank - 1; i++)
        if (stride[i] % 16)
            return false;
    void *at;
    uintptr_t address = (uintptr_t)data;
    memcpy(&at, &address, sizeof at);
    if (driver_enter(gpu, NULL))
        return false;
    int code = gpu->driver.tensor_map(map, bf16 ? MAP_BF16 : MAP_F16, (unsigned)rank, at, size, stride, box, step, 0,
                                      MAP_SWIZZLE_128, MAP_PROMOTE_256, 0); /* fill 0: zeros outside */
    driver_leave(gpu);
    return !code;
}

/* ---------------------------------------------------------------- kernels */

/* What its code takes; and it may have all the shared memory of a block that it has not taken itself. */
static int function_facts(const pe_cuda *gpu, kernel *out)
{
    const cuda_driver *d = &gpu->driver;
    int code = d->function_get(&out->registers, FUNCTION_REGISTERS, out->function);
    if (!code)
        code = d->function_get(&out->shared, FUNCTION_SHARED, out->function);
    if (!code)
        code = d->function_get(&out->spilled, FUNCTION_LOCAL, out->function);
    if (!code)
        code = d->function_set(out->function, FUNCTION_SHARED_LIMIT, gpu->facts.shared - out->shared);
    return code;
}

static bool image_refused(int code)
{
    return code == INVALID_IMAGE || code == NO_BINARY_FOR_GPU || code == UNSUPPORTED_PTX || code == INVALID_SOURCE;
}

pe_status driver_load(const pe_cuda *gpu, const void *image, const char *entry, void **module, bool *refused,
                      pe_error *err)
{
    *module = NULL;
    *refused = false;
    TRY(driver_enter(gpu, err));
    int code = gpu->driver.module_load(module, image);
    driver_leave(gpu);
    if (!code)
        return pe_pass(err);
    *module = NULL;
    *refused = image_refused(code);
    return driver_fail(&gpu->driver, code, err, "kernel %.40s: cuModuleLoadData", entry);
}

pe_status driver_function(const pe_cuda *gpu, void *module, const char *entry, kernel *out, pe_error *err)
{
    const char *step = "cuModuleGetFunction";
    *out = (kernel){ 0 };
    TRY(driver_enter(gpu, err));
    int code = gpu->driver.module_function(&out->function, module, entry);
    if (!code) {
        step = "attributes";
        code = function_facts(gpu, out);
    }
    driver_leave(gpu);
    return code ? driver_fail(&gpu->driver, code, err, "kernel %.40s: %s", entry, step) : pe_pass(err);
}

void driver_unload(const pe_cuda *gpu, void *module)
{
    if (driver_enter(gpu, NULL))
        return;
    gpu->driver.module_free(module);
    driver_leave(gpu);
}

/* CUDA's limits of a grid. */
static pe_status check_grid(const pe_cuda *gpu, const kernel *k, grid g, pe_error *err)
{
    if (g.x < 0 || g.x > INT32_MAX || g.y < 0 || g.y > UINT16_MAX || g.z < 0 || g.z > UINT16_MAX)
        return pe_fail(err, PE_ERR_SHAPE,
                       "a launch has %" PRId64 " x %" PRId64 " x %" PRId64
                       " blocks; the device takes 2147483647 x 65535 x 65535: split the call",
                       g.x, g.y, g.z);
    if (g.threads < 1 || g.threads > gpu->facts.threads)
        return pe_fail(err, PE_ERR_DEVICE, "a launch has %d threads per block; the device takes 1 to %d", g.threads,
                       gpu->facts.threads);
    if (g.shared > (size_t)gpu->facts.shared || (int)g.shared > gpu->facts.shared - k->shared)
        return pe_fail(err, PE_ERR_DEVICE, "a launch needs %zu bytes of shared memory per block; the device has %d",
                       g.shared + (size_t)k->shared, gpu->facts.shared);
    return PE_OK;
}

pe_status cuda_launch(pe_cuda *gpu, const kernel *k, grid g, void *stream, const void *args, pe_error *err)
{
    TRY(check_grid(gpu, k, g, err));
    if (!g.x || !g.y || !g.z) /* nothing to do, which CUDA takes for an error */
        return pe_pass(err);
    void *arg;
    memcpy(&arg, &args, sizeof arg); /* the driver does not write there */
    TRY(driver_enter(gpu, err));
    unsigned x = (unsigned)g.x, y = (unsigned)g.y, z = (unsigned)g.z, threads = (unsigned)g.threads;
    unsigned shared = (unsigned)g.shared;
    int code = g.together ? gpu->driver.launch_together(k->function, x, y, z, threads, 1, 1, shared, stream, &arg)
                          : gpu->driver.launch(k->function, x, y, z, threads, 1, 1, shared, stream, &arg, NULL);
    driver_leave(gpu);
    return code ? driver_fail(&gpu->driver, code, err, g.together ? "cuLaunchCooperativeKernel" : "cuLaunchKernel")
                : pe_pass(err);
}
