/* SPDX-License-Identifier: MIT */
#include "sort.h"

static void swap(char *a, char *b, size_t size)
{
    while (size-- > 0) {
        char c = *a;
        *a++ = *b;
        *b++ = c;
    }
}

/* Lets the item at i sink in the heap of the first count items. i < count / 2, so no index overflows. */
static void sink(char *items, size_t i, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    while (i < count / 2) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0)
            child++;
        if (compare(items + i * size, items + child * size) >= 0)
            return;
        swap(items + i * size, items + child * size, size);
        i = child;
    }
}

void io_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = count / 2; i-- > 0;)
        sink(items, i, count, size, compare);
    while (count > 1) {
        count--;
        swap(items, (char *)items + count * size, size);
        sink(items, 0, count, size, compare);
    }
}
