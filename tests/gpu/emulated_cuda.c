/* SPDX-License-Identifier: MIT
 *
 * A driver and a run-time compiler in one library, for tests without a GPU: kernels become C++ (emulated_kernel.h),
 * compiled by the machine's compiler (CXX or c++) and run on the CPU. Device memory is memory of the host. The device
 * is an Ampere, so that no kernel has Hopper's instructions, with three processors, so that blocks have much to do. It
 * runs in the project's root. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* CUDA's header has them */

enum { SHARED_MOST = 166912 }; /* bytes of shared memory */

/* ---------------------------------------------------------------- the compiler */

static char folder[] = "/tmp/posenc-emulated-XXXXXX";
static int programs;

/* What stands for machine code. */
typedef struct made {
    char library[100];
    char variables[500]; /* #defines that are variables of the library */
} made;

typedef struct program {
    char *text;
    made code;
} program;

__attribute__((destructor)) static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (programs && system(command))
        fprintf(stderr, "left: %s\n", folder);
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

const char *nvrtcGetErrorString(int code)
{
    return code ? "the C++ compiler failed" : "";
}

int nvrtcCreateProgram(void **out, const char *text, const char *name, int headers, const char *const *texts,
                       const char *const *names)
{
    (void)name, (void)headers, (void)texts, (void)names; /* the files lie in src/cuda */
    program *p = calloc(1, sizeof *p);
    p->text = strdup(text);
    *out = p;
    return 0;
}

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
/* Of rotation, whose angles the tests see in float64: pair_turn of rotate.cu. */
static const char variable_edits[] =
    "; /^#line 1 .defines/,/^#line 1 .rotate.cu/s/^#define \\([A-Z_]*\\) .*/extern \"C\" { int \\1; }/; "
    "$a extern \"C\" void angle(const rotate_pair *p, double at, double *out) "
    "{ FRACTIONS = 1; rotate_factors t = pair_turn(p, at); out[0] = t.c; out[1] = t.s; }";

/* The alignment of vectors is looked at: a GPU needs it. */
static int compile(const char *arguments)
{
    char command[3000];
    const char *compiler = getenv("CXX");
    snprintf(command, sizeof command,
             "%s -O1 -w -ffp-contract=off -U_FORTIFY_SOURCE -fsanitize=alignment -fsanitize-undefined-trap-on-error "
             "-shared -fPIC -Isrc -Isrc/cuda -Iinclude %s",
             compiler ? compiler : "c++", arguments);
    return system(command) ? 1 : 0;
}

/* The header is compiled once. */
static int begin(void)
{
    char arguments[200];
    if (!mkdtemp(folder))
        return 1;
    snprintf(arguments, sizeof arguments, "-x c++-header tests/gpu/emulated_kernel.h -o %s/kernel.h.gch", folder);
    return compile(arguments);
}

static int build(const char *text, const char *more_edits, made *out)
{
    char command[2000];
    if (!programs++ && begin())
        return 1;
    snprintf(out->library, sizeof out->library, "%s/%d.so", folder, programs);
    snprintf(command, sizeof command, "sed '%s%s' >%s.cpp", edits, more_edits, out->library);
    FILE *f = popen(command, "w");
    if (!f || fputs(text, f) < 0 || pclose(f))
        return 1;
    snprintf(command, sizeof command, "-include %s/kernel.h -o %s %s.cpp", folder, out->library, out->library);
    return compile(command);
}

/* Rotation has hundreds of specialisations, by #defines that C++ can have as variables: they are one library. */
int nvrtcCompileProgram(void *given, int count, const char *const *options)
{
    static made rotation;
    program *p = given;
    (void)count, (void)options;
    const char *rotate = strstr(p->text, "#line 1 \"rotate.cu\"");
    if (!rotate)
        return build(p->text, "", &p->code);
    if (!rotation.library[0] && build(p->text, variable_edits, &rotation))
        return 1;
    p->code = rotation;
    int length = snprintf(p->code.variables, sizeof p->code.variables, "%.*s", (int)(rotate - p->text), p->text);
    return length >= (int)sizeof p->code.variables;
}

int nvrtcGetCUBINSize(void *p, size_t *out)
{
    (void)p;
    *out = sizeof(made);
    return 0;
}

int nvrtcGetCUBIN(void *p, char *out)
{
    memcpy(out, &((program *)p)->code, sizeof(made));
    return 0;
}

static const char compiler_log[] = "error: the C++ compiler, whose words are above";

int nvrtcGetProgramLogSize(void *p, size_t *out)
{
    (void)p;
    *out = sizeof compiler_log;
    return 0;
}

int nvrtcGetProgramLog(void *p, char *out)
{
    (void)p;
    memcpy(out, compiler_log, sizeof compiler_log);
    return 0;
}

/* ---------------------------------------------------------------- the driver */

int cuInit(unsigned flags)
{
    return flags ? 1 : 0;
}

int cuDriverGetVersion(int *out)
{
    *out = 13000;
    return 0;
}

int cuDeviceGetCount(int *out)
{
    *out = 1;
    return 0;
}

int cuDeviceGet(int *out, int number)
{
    *out = number;
    return 0;
}

int cuDeviceGetName(char *out, int room, int device)
{
    snprintf(out, (size_t)room, "emulated %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *out, int device)
{
    *out = (size_t)1 << 30;
    return device;
}

int cuDeviceGetAttribute(int *out, int which, int device)
{
    *out = which == 75 ? 8 : which == 76 ? 0 : which == 16 ? 3 : which == 1 ? 1024 : SHARED_MOST;
    return device;
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
    *out = folder;
    return device;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

int cuCtxPushCurrent_v2(void *context)
{
    return context != folder;
}

int cuCtxPopCurrent_v2(void **out)
{
    *out = folder;
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    return context != folder;
}

/* Memory that is not touched costs nothing. */
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

int cuMemFree_v2(uint64_t p)
{
    char *at = (char *)(uintptr_t)p - 4096;
    size_t all;
    memcpy(&all, at, sizeof all);
    return munmap(at, all);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, value, bytes);
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return 0;
}

typedef struct module module;
typedef struct entry {
    const module *in;
    void (*launch)(unsigned blocks, int threads, const void *args);
} entry;
struct module {
    void *library;
    made code;
    int count;
    entry entry[8];
};

void *emulated_angle; /* a function, once rotation is loaded */

int cuModuleLoadData(module **out, const void *image)
{
    void *library = dlopen(image, RTLD_NOW | RTLD_LOCAL); /* not one of these: a kernel that is built in */
    if (!library)
        return 200;
    *out = calloc(1, sizeof **out);
    (*out)->library = library;
    memcpy(&(*out)->code, image, sizeof(made));
    if (dlsym(library, "angle"))
        emulated_angle = dlsym(library, "angle");
    return 0;
}

int cuModuleUnload(module *m)
{
    int code = dlclose(m->library);
    free(m);
    return code;
}

int cuModuleGetFunction(entry **out, module *m, const char *name)
{
    char symbol[100];
    snprintf(symbol, sizeof symbol, "emulated_%s", name);
    void *address = dlsym(m->library, symbol);
    if (!address || m->count == 8)
        return 500;
    *out = &m->entry[m->count++];
    (*out)->in = m;
    memcpy(&(*out)->launch, &address, sizeof address);
    return 0;
}

int cuFuncGetAttribute(int *out, int which, void *function)
{
    (void)which, (void)function;
    *out = 0;
    return 0;
}

int cuFuncSetAttribute(void *function, int which, int value)
{
    (void)function, (void)which, (void)value;
    return 0;
}

static bool set_variables(const module *m)
{
    char name[40];
    int value, length;
    for (const char *at = m->code.variables; (at = strstr(at, "#define ")); at += length) {
        if (sscanf(at, "#define %39s %d%n", name, &value, &length) != 2 || !dlsym(m->library, name))
            return false;
        memcpy(dlsym(m->library, name), &value, sizeof value);
    }
    return true;
}

int emulated_launches;

int cuLaunchKernel(const entry *f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **args, void **extra)
{
    (void)stream;
    if (y != 1 || z != 1 || ty != 1 || tz != 1 || shared > SHARED_MOST || extra || !set_variables(f->in))
        return 1;
    emulated_launches++;
    f->launch(x, (int)tx, args[0]);
    return 0;
}

int cuLaunchCooperativeKernel(const entry *f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                              unsigned shared, void *stream, void **args)
{
    return cuLaunchKernel(f, x, y, z, tx, ty, tz, shared, stream, args, NULL);
}

int cuGetErrorName(int code, const char **out)
{
    *out = code ? "EMULATED" : "";
    return 0;
}

int cuGetErrorString(int code, const char **out)
{
    *out = code ? "emulated" : "";
    return 0;
}
