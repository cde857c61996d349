/* SPDX-License-Identifier: MIT
 *
 * The kernels that are worth building into the library, and the limits that tests hold them to. */
#ifndef PE_CUDA_RECIPES_H
#define PE_CUDA_RECIPES_H

#include "cuda/cuda.h"

typedef struct kernel_recipe {
    const kernel_source *source;
    char defines[4000]; /* as the operation writes them for cuda_kernel: the same text, or it is not found */
    int registers;      /* of a thread, at most */
    int shared;         /* static bytes of a block, at most */
    int spilled;        /* local bytes of a thread, at most */
} kernel_recipe;

/* Writes recipe number `index` of an operation for a device of this capability; false: there are no more. */
typedef bool recipe_list(int index, int capability, kernel_recipe *out);

recipe_list rotate_recipes, bias_recipes, attend_recipes, attend_back_recipes; /* in the file of each operation */

extern recipe_list *const kernel_recipes[]; /* ends with NULL */

#endif
