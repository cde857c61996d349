/* SPDX-License-Identifier: MIT
 *
 * A device for tests of src/cuda (needs: cuda): the fake driver and the fake compiler, and a cache folder, which is empty
 * when a test begins. When it ends, nothing of a device may be left. Include it last; it needs _DEFAULT_SOURCE. */
#ifndef TESTS_GPU_FAKE_CASE_H
#define TESTS_GPU_FAKE_CASE_H

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include "cuda/cache.h"
#include "cuda/driver.h"
#include "gpu/fake_cuda.h"
#include "test.h"

static char driver_path[1000], compiler_path[1000], folder[] = "/tmp/posenc-cuda-XXXXXX", cache[100];
static fake *gpu_side, *compiler_side;
/* A kernel whose text is its defines. */
static const char *const no_sources[] = { NULL };
static const kernel_source plain = { "plain", no_sources, false };

static inline fake *state_of(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    fake_get *get = NULL;
    assert_non_null(library);
    void *address = dlsym(library, "fake_state");
    memcpy(&get, &address, sizeof get);
    return get();
}

static inline void empty_cache(void)
{
    char path[512];
    DIR *d = opendir(cache);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%s", cache, e->d_name) < (int)sizeof path)
            unlink(path);
    if (d)
        closedir(d);
    rmdir(cache);
}

AROUND(before_all)
{
    const char *build = getenv("POSENC_BUILD");
    snprintf(driver_path, sizeof driver_path, "%s/tests/libfake_cuda.so", build ? build : "build");
    snprintf(compiler_path, sizeof compiler_path, "%s/tests/libfake_nvrtc.so", build ? build : "build");
    gpu_side = state_of(driver_path);
    compiler_side = state_of(compiler_path);
    assert_non_null(mkdtemp(folder));
    snprintf(cache, sizeof cache, "%s/a/b", folder);
}

static inline void reset(fake *f)
{
    *f = (fake){ .lock = f->lock,
                 .devices = 2,
                 .major = 9,
                 .shared = 232448,
                 .version_major = 13,
                 .version_minor = 2,
                 .log = "ptxas info: nothing\n" };
}

AROUND(before_each)
{
    reset(gpu_side);
    reset(compiler_side);
    empty_cache();
}

/* Nothing of a device is left; else says what. */
static inline bool balanced(const char *after)
{
    const fake *g = gpu_side;
    bool well = !g->retained && !g->memory && !g->modules && !g->depth && !g->wrong && !compiler_side->programs;
    if (!well)
        fprintf(stderr,
                "after %s: %d contexts retained, %d allocations, %d modules, %d contexts pushed, %d wrong calls, %d "
                "programs; needs 0 of each\n",
                after, g->retained, g->memory, g->modules, g->depth, g->wrong, compiler_side->programs);
    return well;
}

/* A test that failed may leave something. */
AROUND(after_each)
{
    if (!balanced("the test"))
        exit(1); /* tests/portable has no failure outside a test */
}

AROUND(after_all)
{
    char command[200];
    empty_cache();
    snprintf(command, sizeof command, "%s/a", folder);
    rmdir(command);
    rmdir(folder);
}

static inline pe_cuda_options options(void)
{
    return PE_MAKE(pe_cuda_options, .cache = cache, .compiler = compiler_path, .driver = driver_path);
}

static inline pe_cuda *device(void)
{
    pe_cuda *gpu;
    pe_cuda_options o = options();
    assert_ok(pe_cuda_new(&gpu, &o, &err));
    return gpu;
}

/* A bit of everything; the first failure. */
static inline pe_status scenario(const pe_encoding *e)
{
    pe_cuda *gpu;
    pe_cuda_plan *plan = NULL;
    kernel k;
    device_pointer p = 0;
    uint64_t arg = 1, numbers[4] = { 1, 2, 3, 4 };
    pe_cuda_options o = options();
    pe_status s = pe_cuda_new(&gpu, &o, &err);
    if (s) {
        assert_null(gpu);
        return s;
    }
    s = cuda_kernel(gpu, &plain, "#define A 1\n", &k, &err);
    if (!s)
        s = cuda_upload(gpu, &p, numbers, sizeof numbers, &err);
    if (!s)
        s = cuda_clear(gpu, p, sizeof numbers, NULL, &err);
    if (!s)
        s = cuda_launch(gpu, &k, (grid){ .x = 1, .y = 1, .z = 1, .threads = 32 }, NULL, &arg, &err);
    if (!s)
        s = cuda_launch(gpu, &k, (grid){ .x = 1, .y = 1, .z = 1, .threads = 32, .together = true }, NULL, &arg, &err);
    if (!s)
        s = pe_cuda_plan_new(&plan, gpu, e, 16, 0, &err);
    pe_cuda_plan_free(plan);
    cuda_release(gpu, p);
    pe_cuda_free(gpu);
    return s;
}

#endif
