/* SPDX-License-Identifier: MIT
 *
 * The door: what a public function checks of its arguments, once, before it loops without failing. */
#ifndef PE_DOOR_H
#define PE_DOOR_H

#include "core/row.h"

pe_status pe_pass(pe_error *err); /* PE_OK, and err says so */

typedef enum use { READS, WRITES } use;

typedef struct extent { /* of a view; -1: any */
    int64_t batch, tokens, heads, dim;
} extent;

/* A view of float32, float16, bfloat16 or float64. */
pe_status check_view(pe_view *v, const char *name, extent size, use how, pe_error *err);
pe_status check_typed(pe_view *v, const char *name, extent size, unsigned types, use how, pe_error *err);
#define TYPE_BIT(t) (1u << (t))
#define TYPES_FLOAT (TYPE_BIT(PE_F32) | TYPE_BIT(PE_F16) | TYPE_BIT(PE_BF16) | TYPE_BIT(PE_F64))
#define TYPES_CACHE (TYPES_FLOAT | TYPE_BIT(PE_Q8_0) | TYPE_BIT(PE_Q4_0))
/* What an encoding takes of the caller beside its vectors, and its gradient, whose data may be NULL. */
pe_status check_input(pe_view *v, const char *name, bool taken, extent size, pe_error *err);
pe_status check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                          pe_error *err);
/* The same where fractions are taken, or not. */
pe_status check_positions_real(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               bool fractions, pe_error *err);
/* A copy of a struct that begins with its size; what the caller's header did not have is 0. */
pe_status check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err);
#define CHECK_STRUCT(type, out, given, name) TRY(check_struct(out, sizeof(type), given, name, err))
/* Entries of a table of pages that these tokens use, or so many of each sequence where length is given. */
pe_status check_pages(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, const int64_t *length,
                      pe_error *err);
/* What a call was given beside its arguments; NULL: nothing. */
pe_status check_run(pe_run *out, const pe_run *given, pe_error *err);
pe_status check_params(const pe_encoding *e, pe_params w, pe_error *err);
pe_status check_grads(const pe_encoding *e, pe_params dw, pe_error *err);
pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err);
pe_status check_pointer(const void *p, size_t align, const char *name, pe_error *err); /* not NULL, and aligned */
#define CHECK_POINTER(type, p, name) TRY(check_pointer(p, _Alignof(type), name, err))
bool checked_add(int64_t *out, int64_t a, int64_t b);

/* Memory of one argument, in bytes: pieces of this width at three nested steps, in any order (core/memory.c). */
typedef struct region {
    const char *name;
    uint64_t at, end;
    int type; /* of a view's elements; -1: no view */
    int64_t width, step[3], count[3];
    use how;
    unsigned backwards; /* a bit per dimension that is walked backwards */
} region;

region view_region(const char *name, pe_view v, use how);
region positions_region(const char *name, pe_positions p);
region params_region(const char *name, pe_params w, use how);
region array_region(const char *name, const void *data, int64_t count, size_t size, use how);
bool regions_overlap(const region *a, const region *b);
/* Nothing that is written overlaps anything else; in_place: two views may be the same. */
pe_status check_memory(const region *s, int count, bool in_place, pe_error *err);
#define CHECK_MEMORY(in_place, ...)                                                                                    \
    TRY(check_memory((region[]){ __VA_ARGS__ }, COUNT_OF(((region[]){ __VA_ARGS__ })), in_place, err))

#endif
