/* SPDX-License-Identifier: MIT */
#include "cuda/recipes.h"

#include <stddef.h>

/* A line per operation, which has its list in its own file. */
recipe_list *const kernel_recipes[] = {
    rotate_recipes, bias_recipes, attend_recipes, attend_back_recipes, NULL,
};
