/* SPDX-License-Identifier: MIT
 *
 * A device and its memory for tests (needs: cuda): a GPU, or where the program defines EMULATED the driver and compiler
 * of emulated_cuda.c. A block on the host and one on the device have the same things at the same places. Whatever no
 * test has written is 0xFF, a NaN of every type, so that a read or a write beside an array shows. Include it after
 * test.h. */
#ifndef TESTS_GPU_MEMORY_H
#define TESTS_GPU_MEMORY_H

#include <dlfcn.h>
#include <unistd.h>

#include "cuda/driver.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer) || defined __SANITIZE_THREAD__
enum { WRITES_UNSEEN = true };
#else
enum { WRITES_UNSEEN = false };
#endif

enum { ARENA_ROOM = 64 << 20, ARENA_GAP = 256 };

#ifdef EMULATED /* a thinner walk where each specialisation takes time to compile; none uses the matrix units */
static const bool emulated = true;
#else
static const bool emulated = false;
#endif
static pe_cuda *gpu;
static struct {
    char *host, *after; /* before a call, and after it */
    device_pointer device, work;
    size_t used, work_bytes;
    int (*copy_back)(void *to, device_pointer from, size_t bytes);
} arena;

static inline void arena_reset(void)
{
    memset(arena.host, 0xFF, arena.used);
    arena.used = ARENA_GAP;
}

static inline device_pointer device_take(size_t bytes)
{
    device_pointer p = 0;
    assert_ok(driver_enter(gpu, &err));
    if (gpu->driver.memory_new(&p, bytes))
        p = 0;
    driver_leave(gpu);
    return p;
}

static inline void device_write(device_pointer to, const void *from, size_t bytes)
{
    assert_ok(driver_enter(gpu, &err));
    int code = bytes ? gpu->driver.memory_copy(to, from, bytes) : 0;
    driver_leave(gpu);
    assert_int_equal(code, 0);
}

/* After all work on the default stream. */
static inline void device_read(void *to, device_pointer from, size_t bytes)
{
    assert_ok(driver_enter(gpu, &err));
    int code = bytes ? arena.copy_back(to, from, bytes) : 0;
    driver_leave(gpu);
    if (code)
        fail_msg("cuMemcpyDtoH: error %d of the driver", code);
}

static inline void device_poison(device_pointer p, size_t bytes)
{
    assert_ok(driver_enter(gpu, &err));
    int code = bytes ? gpu->driver.memory_set(p, 0xFF, bytes, NULL) : 0;
    driver_leave(gpu);
    assert_int_equal(code, 0);
}

static inline void arena_open(void)
{
    void *address = dlsym(gpu->driver.library, "cuMemcpyDtoH_v2");
    assert_non_null(address);
    memcpy(&arena.copy_back, &address, sizeof arena.copy_back);
    arena.host = malloc(ARENA_ROOM);
    arena.after = malloc(ARENA_ROOM);
    arena.device = device_take(ARENA_ROOM);
    assert_true(arena.host && arena.after && arena.device);
    arena.used = ARENA_ROOM;
    arena_reset();
}

/* Why kernels cannot be C++ here; NULL: they can. */
static inline const char *emulation_lacks(void)
{
    char command[1000], path[] = "/tmp/posenc-probe-XXXXXX";
    const char *compiler = getenv("CXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(
        command, sizeof command,
        "printf '#include <ucontext.h>\\nvoid *x = (void *)makecontext;' | %s -shared -fPIC -o %s -x c++ - 2>/dev/null",
        compiler ? compiler : "c++", path);
    void *library = system(command) ? NULL : dlopen(path, RTLD_NOW);
    remove(path);
    if (library)
        dlclose(library);
    return WRITES_UNSEEN ? "the sanitizer of this build does not see what kernels as C++ write"
           : !library    ? "there is no C++ compiler (CXX or c++) whose libraries this program can load"
                         : NULL;
}

/* Opens the device and the arena, once; or skips the test. */
static inline void case_ready(void)
{
    char path[1000];
    const char *build = getenv("POSENC_BUILD"), *lacks = emulated && !gpu ? emulation_lacks() : NULL;
    snprintf(path, sizeof path, "%s/tests/libemulated_cuda.so", build ? build : "build");
    if (lacks)
        test_skip(lacks);
    if (!gpu && emulated)
        assert_ok(pe_cuda_new(&gpu, &PE_MAKE(pe_cuda_options, .cache = "", .driver = path, .compiler = path), &err));
    else if (!gpu && pe_cuda_new(&gpu, NULL, &err))
        test_skip(err.text);
    if (!arena.host)
        arena_open();
}

AROUND(after_all)
{
    if (!gpu)
        return;
    cuda_release(gpu, arena.device);
    cuda_release(gpu, arena.work);
    free(arena.host);
    free(arena.after);
    pe_cuda_free(gpu);
}

/* Zeros, with a gap before and after. */
static inline void *arena_take(int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size;
    char *p = arena.host + arena.used;
    arena.used += (bytes + ARENA_GAP - 1) / ARENA_GAP * ARENA_GAP + ARENA_GAP;
    assert_true(arena.used <= ARENA_ROOM);
    memset(p, 0, bytes);
    return p;
}

/* Where a thing of the arena is on the device; NULL stays NULL. */
static inline void *arena_there(const void *p)
{
    void *there;
    uintptr_t address = p ? (uintptr_t)(arena.device + (uint64_t)((const char *)p - arena.host)) : 0;
    memcpy(&there, &address, sizeof there);
    return there;
}

/* Work memory of this size, poisoned, with a gap after it. */
static inline void *work_take(size_t bytes)
{
    void *work;
    if (bytes + ARENA_GAP > arena.work_bytes) {
        cuda_release(gpu, arena.work);
        arena.work_bytes = 2 * bytes + (1 << 20);
        arena.work = device_take(arena.work_bytes);
        assert_true(arena.work);
    }
    device_poison(arena.work, bytes + ARENA_GAP);
    uintptr_t address = (uintptr_t)arena.work;
    memcpy(&work, &address, sizeof work);
    return work;
}

static inline void work_check(size_t bytes)
{
    unsigned char gap[ARENA_GAP];
    device_read(gap, arena.work + bytes, sizeof gap);
    for (int i = 0; i < ARENA_GAP; i++)
        assert_int_equal(gap[i], 0xFF);
}

#endif
