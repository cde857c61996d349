/* SPDX-License-Identifier: MIT
 *
 * The heap as a test sees it (needs: wrap): how much is live, the most there was, and an allocation that fails. */
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
    long fail; /* > 0: this many allocations from now, one fails */
    long made; /* allocations that were asked for */
    size_t live, peak;
} heap;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);

static bool heap_fails(void)
{
    heap.made++;
    return heap.fail > 0 && --heap.fail == 0;
}

static void *heap_counted(void *p)
{
    heap.live += malloc_usable_size(p);
    heap.peak = heap.live > heap.peak ? heap.live : heap.peak;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return heap_fails() ? NULL : heap_counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return heap_fails() ? NULL : heap_counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (heap_fails())
        return NULL;
    size_t before = malloc_usable_size(p);
    void *q = __real_realloc(p, size);
    if (q)
        heap.live -= before;
    return q ? heap_counted(q) : NULL;
}

void __wrap_free(void *p)
{
    heap.live -= malloc_usable_size(p);
    __real_free(p);
}

#endif
