/* SPDX-License-Identifier: MIT
 *
 * Where the cases of the GPU library run: on a GPU (device_driver.c), or with its kernels as C++ on the CPU
 * (device_emulated.cpp). */
#ifndef TESTS_GPU_DEVICE_H
#define TESTS_GPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "posenc_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

pe_cuda *device_open(const char **why); /* NULL, and why there is none */
void device_close(pe_cuda *gpu);
void *device_take(size_t bytes); /* NULL: no memory */
void device_give(void *p);
void device_write(void *to, const void *from, size_t bytes);
void device_read(void *to, const void *from, size_t bytes); /* after all work */
void device_copy(void *to, const void *from, size_t bytes); /* on the device; enqueued */
bool device_has_libm(void);                                 /* exp and log1p are those of the host */
/* cos and sin of a pair at a position, before they are sized and rounded; false: this device does not tell. */
bool device_angle(const pe_cuda_plan *plan, int64_t pair, const double *at, double *c, double *s);
int device_launches(void); /* so far; -1: unknown */

#ifdef __cplusplus
}
#endif
#endif
