/* SPDX-License-Identifier: MIT
 *
 * The door: what a call checks of its arguments on the host, before it enqueues anything. It says what core/door.c says
 * of the same arguments; only numbers in device memory are not looked at. */
#ifndef PE_CUDA_DOOR_H
#define PE_CUDA_DOOR_H

#include "base/try.h"
#include "cuda/cuda.h"

typedef enum cuda_use { CUDA_READS, CUDA_WRITES } cuda_use;

typedef struct cuda_extent { /* of a view; -1: any */
    int64_t batch, tokens, heads, dim;
} cuda_extent;

#define CUDA_TYPE(dtype) (1u << (dtype))
#define CUDA_VECTORS (CUDA_TYPE(PE_F32) | CUDA_TYPE(PE_F16) | CUDA_TYPE(PE_BF16))

/* A view whose type is one of these bits; `need` names them. */
pe_status cuda_check_typed(pe_view *v, const char *name, cuda_extent size, unsigned types, const char *need,
                           cuda_use how, pe_error *err);
/* A view of float32, float16 or bfloat16. */
pe_status cuda_check_view(pe_view *v, const char *name, cuda_extent size, cuda_use how, pe_error *err);
pe_status cuda_check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               pe_error *err);
/* A copy of a struct that begins with its size; what the caller's header did not have is 0. */
pe_status cuda_check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err);

/* Memory of one argument, in bytes: pieces of this width at three nested steps, in any order. */
typedef struct cuda_region {
    const char *name;
    uint64_t at, end;
    int type; /* of a view's elements; -1: no view */
    int64_t width, step[3], count[3];
    cuda_use how;
    unsigned backwards; /* a bit per dimension that is walked backwards */
} cuda_region;

cuda_region cuda_view_region(const char *name, pe_view v, cuda_use how);
cuda_region cuda_positions_region(const char *name, pe_positions p);
cuda_region cuda_array_region(const char *name, const void *data, int64_t count, size_t size, cuda_use how);
bool cuda_regions_overlap(const cuda_region *a, const cuda_region *b);
/* Nothing that is written overlaps anything else; in_place: two views may be the same. */
pe_status cuda_check_memory(const cuda_region *s, int count, bool in_place, pe_error *err);

#endif
