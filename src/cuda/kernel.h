/* SPDX-License-Identifier: MIT */
#ifndef PE_CUDA_KERNEL_H
#define PE_CUDA_KERNEL_H

#include "cuda/driver.h"

/* The kernels of a device. The strings are copied; NULL: as pe_cuda_options says. */
pe_status kernel_table_new(struct kernel_table **out, const char *cache, const char *compiler, pe_error *err);
void kernel_table_free(const pe_cuda *gpu, struct kernel_table *table); /* NULL is fine */

#endif
