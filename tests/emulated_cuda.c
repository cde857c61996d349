/* SPDX-License-Identifier: MIT
 *
 * A driver and a run-time compiler in one library, for tests without a GPU: kernels become C++ (emulated_kernel.h),
 * compiled by the machine's compiler (CXX or c++) and run on the CPU. Device memory is memory of the host. The device
 * is an Ampere, so that no kernel has Hopper's instructions. Code is the path of a shared library. It runs in the
 * project's root. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/* ---------------------------------------------------------------- the compiler */

static char folder[] = "/tmp/posenc-emulated-XXXXXX";
static int programs;

typedef struct program {
    char *text, code[100], log[200];
} program;

__attribute__((destructor)) static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (programs && system(command))
        fprintf(stderr, "left: %s\n", folder);
}

API int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

API const char *nvrtcGetErrorString(int code);
const char *nvrtcGetErrorString(int code)
{
    return code ? "the C++ compiler failed" : "";
}

API int nvrtcCreateProgram(void **out, const char *text, const char *name, int headers, const char *const *texts,
                           const char *const *names);
int nvrtcCreateProgram(void **out, const char *text, const char *name, int headers, const char *const *texts,
                       const char *const *names)
{
    (void)name, (void)headers, (void)texts, (void)names; /* the files lie in src/cuda */
    program *p = calloc(1, sizeof *p);
    p->text = strdup(text);
    *out = p;
    return 0;
}

API int nvrtcDestroyProgram(void **p);
int nvrtcDestroyProgram(void **p)
{
    free(((program *)*p)->text);
    free(*p);
    return 0;
}

/* What only the device's assembler knows, in C++; and before each kernel, what launches it. */
static const char edits[] =
    "s/^extern .C. __global__ void .*[ )]\\([a-z_0-9]*\\)(const \\(__grid_constant__ \\)*\\([a-z_]*\\) [a-z]*)/"
    "EMULATED_ENTRY(\\1, \\3) &/; "
    "s/extern __shared__/extern/; s/__shared__/static/; "
    "s/asm(\"{.reg .f16.*/x = float_of_f16(h);/; "
    "s/asm(\"cvt.rn.f16x2.*/r = f16_pair(low, high);/; "
    "s/asm(\"cvt.rn.bf16x2.*/r = bf16_pair(low, high);/; s/asm(\"ex2.*/y = exp2f(x);/";

API int nvrtcCompileProgram(void *given, int count, const char *const *options);
int nvrtcCompileProgram(void *given, int count, const char *const *options)
{
    (void)count, (void)options;
    program *p = given;
    char path[100], command[1500];
    const char *compiler = getenv("CXX");
    if (!programs++ && !mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/%d.cu", folder, programs);
    snprintf(p->code, sizeof p->code, "%s/%d.so", folder, programs);
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "#include \"emulated_kernel.h\"\n%s\n", p->text);
    fclose(f);
    snprintf(
        command, sizeof command,
        "sed '%s' %s >%s.cpp && %s -O1 -w -ffp-contract=off -shared -fPIC -Isrc -Isrc/cuda -Iinclude -Itests -o %s "
        "%s.cpp",
        edits, path, path, compiler ? compiler : "c++", p->code, path);
    snprintf(p->log, sizeof p->log, "error: the C++ compiler, whose words are above");
    return system(command) ? 1 : 0;
}

API int nvrtcGetCUBINSize(void *p, size_t *out);
int nvrtcGetCUBINSize(void *p, size_t *out)
{
    *out = sizeof((program *)p)->code;
    return 0;
}

API int nvrtcGetCUBIN(void *p, char *out);
int nvrtcGetCUBIN(void *p, char *out)
{
    memcpy(out, ((program *)p)->code, sizeof((program *)p)->code);
    return 0;
}

API int nvrtcGetProgramLogSize(void *p, size_t *out);
int nvrtcGetProgramLogSize(void *p, size_t *out)
{
    *out = strlen(((program *)p)->log) + 1;
    return 0;
}

API int nvrtcGetProgramLog(void *p, char *out);
int nvrtcGetProgramLog(void *p, char *out)
{
    memcpy(out, ((program *)p)->log, strlen(((program *)p)->log) + 1);
    return 0;
}

/* ---------------------------------------------------------------- the driver */

API int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    return flags ? 1 : 0;
}

API int cuDriverGetVersion(int *out);
int cuDriverGetVersion(int *out)
{
    *out = 13000;
    return 0;
}

API int cuDeviceGetCount(int *out);
int cuDeviceGetCount(int *out)
{
    *out = 1;
    return 0;
}

API int cuDeviceGet(int *out, int number);
int cuDeviceGet(int *out, int number)
{
    *out = number;
    return 0;
}

API int cuDeviceGetName(char *out, int room, int device);
int cuDeviceGetName(char *out, int room, int device)
{
    snprintf(out, (size_t)room, "emulated %d", device);
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *out, int device);
int cuDeviceTotalMem_v2(size_t *out, int device)
{
    *out = (size_t)1 << 30;
    return device;
}

API int cuDeviceGetAttribute(int *out, int which, int device);
int cuDeviceGetAttribute(int *out, int which, int device)
{
    *out = which == 75 ? 8 : which == 76 ? 0 : which == 16 ? 3 : which == 1 ? 1024 : 166912;
    return device;
}

API int cuDevicePrimaryCtxRetain(void **out, int device);
int cuDevicePrimaryCtxRetain(void **out, int device)
{
    *out = folder;
    return device;
}

API int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

API int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    return context != folder;
}

API int cuCtxPopCurrent_v2(void **out);
int cuCtxPopCurrent_v2(void **out)
{
    *out = folder;
    return 0;
}

API int cuCtxSetCurrent(void *context);
int cuCtxSetCurrent(void *context)
{
    return context != folder;
}

/* Memory that is not touched costs nothing. */
API int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    size_t all = bytes + 4096;
    char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return 2;
    memcpy(p, &all, sizeof all);
    *out = (uintptr_t)p + 4096;
    return 0;
}

API int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p)
{
    char *at = (char *)(uintptr_t)p - 4096;
    size_t all;
    memcpy(&all, at, sizeof all);
    return munmap(at, all);
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, value, bytes);
    return 0;
}

API int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return 0;
}

API int cuModuleLoadData(void **out, const void *image);
int cuModuleLoadData(void **out, const void *image)
{
    *out = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    return *out ? 0 : 200;
}

API int cuModuleUnload(void *module);
int cuModuleUnload(void *module)
{
    return dlclose(module);
}

API int cuModuleGetFunction(void **out, void *module, const char *name);
int cuModuleGetFunction(void **out, void *module, const char *name)
{
    char symbol[100];
    snprintf(symbol, sizeof symbol, "emulated_%s", name);
    *out = dlsym(module, symbol);
    return *out ? 0 : 500;
}

API int cuFuncGetAttribute(int *out, int which, void *function);
int cuFuncGetAttribute(int *out, int which, void *function)
{
    (void)which, (void)function;
    *out = 0;
    return 0;
}

API int cuFuncSetAttribute(void *function, int which, int value);
int cuFuncSetAttribute(void *function, int which, int value)
{
    (void)function, (void)which, (void)value;
    return 0;
}

API int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                       unsigned shared, void *stream, void **args, void **extra);
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **args, void **extra)
{
    void (*launch)(unsigned blocks, int threads, const void *arg);
    (void)stream;
    if (y != 1 || z != 1 || ty != 1 || tz != 1 || shared > 166912 || extra)
        return 1;
    memcpy(&launch, &function, sizeof launch);
    launch(x, (int)tx, args[0]);
    return 0;
}

API int cuGetErrorName(int code, const char **out);
int cuGetErrorName(int code, const char **out)
{
    *out = code ? "EMULATED" : "";
    return 0;
}

API int cuGetErrorString(int code, const char **out);
int cuGetErrorString(int code, const char **out)
{
    *out = code ? "emulated" : "";
    return 0;
}
