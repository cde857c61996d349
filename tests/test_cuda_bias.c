/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 30 s; sanitize: no
 *
 * The tables and gradients of biases on the GPU are the definition's: the rows' functions as text and the kernels of
 * src/cuda/bias.cu, compiled as C++ at run time and run on the CPU, thread by thread (cuda_shim.h). */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, strdup */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cuda/bias.c"
#include "bias_case.h"

/* ------------------------------------------------ memory */

struct pe_cuda {
    char folder[40];
};
static pe_cuda gpu;

static pe_cuda *case_gpu(void)
{
    return &gpu;
}

static device_pointer case_memory(size_t bytes)
{
    char *p = take((int64_t)bytes + 256, 1);
    memset(p, 0xFF, bytes + 256);
    return ((uintptr_t)p + 255) / 256 * 256;
}

static void case_up(device_pointer to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
}

static void case_down(void *to, device_pointer from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
}

pe_status cuda_upload(pe_cuda *g, device_pointer *out, const void *host, size_t bytes, pe_error *e)
{
    (void)g, (void)e;
    *out = case_memory(bytes);
    case_up(*out, host, bytes);
    return PE_OK;
}

void cuda_release(pe_cuda *g, device_pointer p)
{
    (void)g, (void)p;
}

pe_status cuda_clear(pe_cuda *g, device_pointer p, size_t bytes, void *stream, pe_error *e)
{
    (void)g, (void)stream, (void)e;
    memset((void *)(uintptr_t)p, 0, bytes);
    return PE_OK;
}

pe_status cuda_fail(pe_error *e, pe_status s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (e) {
        e->status = s;
        vsnprintf(e->text, sizeof e->text, format, list);
    }
    va_end(list);
    return s;
}

/* ------------------------------------------------ kernels */

enum { PROGRAMS_MAX = 64 };
static struct program {
    char *defines;
    void *library;
} program[PROGRAMS_MAX];
static int programs;

static void program_write(const char *path, const char *defines)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#include \"tests/cuda_shim.h\"\n%s\n#include \"src/cuda/bias_args.h\"\n#include \"src/cuda/bias.cu\"\n",
            defines);
    fprintf(f, "%s",
            strstr(defines, "#define KNOTS")
                ? "typedef bias_knots_args knots_measure_args, knots_sort_args, knots_fill_args;\n"
                  "SHIM_ENTRY(knots_measure)\nSHIM_ENTRY(knots_sort)\nSHIM_ENTRY(knots_fill)\n"
                : "SHIM_ENTRY(bias_fill)\nSHIM_ENTRY(bias_back)\nSHIM_ENTRY(bias_sum)\n");
    fclose(f);
}

static void *program_build(const char *defines)
{
    char source[100], library[100], command[500];
    const char *compiler = getenv("CXX");
    for (int n = 0; n < programs; n++)
        if (!strcmp(program[n].defines, defines))
            return program[n].library;
    assert_true(programs < PROGRAMS_MAX);
    snprintf(source, sizeof source, "%s/%d.cpp", gpu.folder, programs);
    snprintf(library, sizeof library, "%s/%d.so", gpu.folder, programs);
    program_write(source, defines);
    snprintf(command, sizeof command, "%s -std=c++17 -O1 -w -ffp-contract=off -I. -shared -fPIC -o %s %s",
             compiler ? compiler : "c++", library, source);
    if (system(command))
        fail_msg("failed: %s", command);
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        fail_msg("%s", dlerror());
    program[programs++] = (struct program){ strdup(defines), loaded };
    return loaded;
}

static void (*shim_run)(void (*)(const void *), const void *, int64_t, int);

pe_status cuda_kernel(pe_cuda *g, const kernel_source *source, const char *defines, kernel *out, pe_error *e)
{
    char name[60];
    void *library = program_build(defines);
    (void)g, (void)e;
    snprintf(name, sizeof name, "shim_%s", source->entry);
    *out = (kernel){ .function = dlsym(library, name) };
    *(void **)&shim_run = dlsym(library, "shim_run");
    assert_true(out->function && shim_run);
    return PE_OK;
}

pe_status cuda_launch(pe_cuda *g, const kernel *k, grid at, void *stream, const void *args, pe_error *e)
{
    void (*entry)(const void *);
    (void)g, (void)stream, (void)e;
    *(void **)&entry = k->function;
    assert_true(at.y == 1 && at.z == 1);
    shim_run(entry, args, at.x, at.threads);
    return PE_OK;
}

static void case_ready(void)
{
    const char *compiler = getenv("CXX");
    char command[200];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compiler ? compiler : "c++");
    if (!gpu.folder[0]) {
        strcpy(gpu.folder, "/tmp/posenc-bias-XXXXXX");
        assert_non_null(mkdtemp(gpu.folder));
    }
    if (sizeof(void *) != 8 || system(command))
        test_skip("there is no C++ compiler (CXX or c++) that makes programs for this machine");
}

AROUND(after_all)
{
    char command[100];
    for (int n = 0; n < programs; n++) {
        dlclose(program[n].library);
        free(program[n].defines);
    }
    snprintf(command, sizeof command, "rm -rf %s", gpu.folder);
    if (gpu.folder[0] && system(command))
        print_message("left: %s\n", gpu.folder);
}
