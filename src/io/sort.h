/* SPDX-License-Identifier: MIT
 *
 * Heapsort, because a hostile file chooses the input: n log n at worst and no memory. (glibc's qsort allocates a copy,
 * and becomes quadratic where it cannot.)
 */
#ifndef POSENC_IO_SORT_H
#define POSENC_IO_SORT_H

#include <stddef.h>

void io_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
