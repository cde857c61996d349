/* SPDX-License-Identifier: MIT
 *
 * Counts memory by one of two ways: AddressSanitizer's hooks, which see every allocation of the process; or, without
 * it, ld's --wrap=malloc and so on (HARNESS_WRAP), which see those of our own objects. */
#include "harness.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const harness_bound harness_reader = { 4, 1 << 20, 1, 0.05 };

#if defined HARNESS_WRAP
#define HARNESS_SLOWER 1.0
#else
#define HARNESS_SLOWER 6.0
#endif

static bool counting;
static _Atomic int64_t live, peak; /* bytes since the run began, of all threads */
static FILE *heard;                /* the stderr of the start */

static void count(int64_t bytes)
{
    if (!counting)
        return;
    int64_t now = atomic_fetch_add(&live, bytes) + bytes, most = peak;
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
}

#if defined HARNESS_WRAP

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static void *counted(void *p)
{
    count(p ? (int64_t)malloc_usable_size(p) : 0);
    return p;
}

void *__wrap_malloc(size_t n)
{
    return counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return counted(__real_calloc(n, size));
}

/* Both blocks count for a moment, as they do where the contents are moved. */
void *__wrap_realloc(void *p, size_t n)
{
    int64_t old = p ? (int64_t)malloc_usable_size(p) : 0;
    void *q = counted(__real_realloc(p, n));
    if (q || !n)
        count(-old);
    return q;
}

void __wrap_free(void *p)
{
    count(p ? -(int64_t)malloc_usable_size(p) : 0);
    __real_free(p);
}

static void start_hooks(void)
{
}

#else

size_t __sanitizer_get_allocated_size(const volatile void *p);
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t n)
{
    (void)p;
    count((int64_t)n);
}

static void on_free(const volatile void *p)
{
    if (counting && p)
        count(-(int64_t)__sanitizer_get_allocated_size(p));
}

static void start_hooks(void)
{
    static bool started;
    if (!started && !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        abort();
    started = true;
}

#endif

void harness_fail(const char *format, ...)
{
    FILE *to = heard ? heard : stderr;
    va_list list;
    counting = false;
    va_start(list, format);
    fputs("HARNESS: ", to);
    vfprintf(to, format, list);
    fputs("\n", to);
    fflush(to);
    va_end(list);
    abort();
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int harness_run(const harness_bound *b, void (*work)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
    int64_t heap = (int64_t)(b->heap_per_byte * size + b->heap_base);
    double limit = HARNESS_SLOWER * (b->seconds_base + b->seconds_per_mib * (double)size * 0x1p-20);
    start_hooks();
    live = peak = 0;
    counting = true;
    double start = cpu_seconds();
    work(data, size);
    double took = cpu_seconds() - start;
    counting = false;
    if (peak > heap)
        harness_fail("%zu bytes of input took %lld bytes of heap; the bound is %lld", size, (long long)peak,
                     (long long)heap);
    if (live > 0)
        harness_fail("%lld bytes were not freed", (long long)live);
    if (took > limit && getenv("POSENC_TEST_CLOCK"))
        harness_fail("%zu bytes of input took %.3f s of CPU; the bound is %.3f s", size, took, limit);
    return 0;
}

io_bytes harness_bytes(const uint8_t *data, size_t size)
{
    io_bytes b = { malloc(size + 1), size, "input" };
    if (!b.data)
        harness_fail("no memory for %zu bytes", size);
    if (size)
        memcpy(b.data, data, size);
    b.data[size] = 0;
    return b;
}

#if defined __GLIBC__

/* The streams are exchanged, not the descriptors: libFuzzer kept its pointer, sanitizers write to descriptor 2. Their
 * buffer is there before anything is counted. */
static bool exchange_streams(void)
{
    static char buffer[1 << 16];
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return false;
    setvbuf(nowhere, buffer, _IOFBF, sizeof buffer);
    heard = stderr;
    stdout = stderr = nowhere;
    return true;
}

#else

/* Where streams are constants (musl) there is neither fuzzer nor sanitizer to be heard: they are opened elsewhere. */
static bool exchange_streams(void)
{
    int kept = dup(2);
    heard = kept >= 0 ? fdopen(kept, "w") : NULL;
    return heard && freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr);
}

#endif

void harness_be_quiet(void)
{
    if (!heard && !exchange_streams())
        harness_fail("no /dev/null");
}
