/* SPDX-License-Identifier: MIT
 *
 * The door of both libraries: what a public function checks of its arguments before it does anything, without reading
 * memory that they point to, which may be a GPU's. core/door.h has the checks that read it. */
#ifndef PE_BASE_DOOR_H
#define PE_BASE_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/try.h"
#include "posenc.h"

/* ------------------------------------------------ door.c: views, positions, structs */

typedef enum use { READS, WRITES } use;

typedef struct extent { /* of a view; -1: any */
    int64_t batch, tokens, heads, dim;
} extent;

/* Types that an argument may have, and how a sentence says so: "needs PE_BOOL". */
typedef struct dtypes {
    unsigned bits;
    const char *needs;
} dtypes;
#define TYPE_BIT(t) (1u << (t))
bool dtype_among(pe_dtype t, const dtypes *types);
size_t dtype_align(pe_dtype t);

pe_status check_typed(pe_view *v, const char *name, extent size, const dtypes *types, use how, pe_error *err);
/* Positions, but for those in memory. */
pe_status check_positions_outside(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                                  pe_error *err);
static inline int64_t position_bytes(pe_positions p)
{
    return p.dtype == PE_I32 ? 4 : 8;
}
/* A copy of a struct that begins with its size; what the caller's header did not have is 0. */
pe_status check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err);
#define CHECK_STRUCT(type, out, given, name) TRY(check_struct(out, sizeof(type), given, name, err))
pe_status check_pointer(const void *p, size_t align, const char *name, pe_error *err); /* not NULL, and aligned */
#define CHECK_POINTER(type, p, name) TRY(check_pointer(p, _Alignof(type), name, err))

/* Memory to work in; where: after "bytes", "" or " of device memory"; asked: the function that says how much. */
pe_status check_work(const pe_run *run, size_t needed, const char *where, const char *asked, pe_error *err);

/* ------------------------------------------------ region.c: memory */

/* Memory of one argument, in bytes: pieces of this width at three nested steps, in any order. */
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

/* ------------------------------------------------ door_rotate.c: q and k of a rotation, caches */

pe_status check_side(pe_side side, pe_side last, pe_error *err); /* last: PE_KEY or PE_OUTPUT */

/* q or k, as the call gave it. */
typedef struct qk_side {
    const char *name, *out_name, *table_name;
    pe_side side;
    pe_view x, y;
    pe_table table;
} qk_side;

/* alike: queries and keys rotate by the same numbers, so that k may use q's table; one_table: it does. */
pe_status qk_open(qk_side sides[2], const pe_rotation *r, bool alike, const char *spec, bool *one_table, pe_error *err);
/* Its views; a side without data becomes empty, one without an output is in place. */
pe_status qk_check_side(qk_side *s, int64_t head_dim, const dtypes *types, pe_error *err);
/* Its table of cos and sin, but for the rows in memory; pairs -1: the encoding does not rotate. */
pe_status qk_check_table(qk_side *s, int64_t heads, int64_t pairs, const dtypes *types, pe_error *err);
/* An output may be its own input and nothing else. */
pe_status qk_check_apart(const qk_side sides[2], pe_positions at, region params, pe_error *err);

/* The keys of a cache, and how many positions go with them; head_dim -1: the encoding does not rotate. */
pe_status check_cache(pe_view *k, int64_t head_dim, const char *spec, const dtypes *types, const pe_pages *pages,
                      pe_positions at, int64_t *batch, int64_t *tokens, pe_error *err);
/* A table of pages with room for so many tokens, but for its entries. */
pe_status check_page_table(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, pe_error *err);

/* ------------------------------------------------ door_attend.c: an attention problem */

/* Sequences that are packed, but for the offsets. */
pe_status check_packed(const pe_lengths *l, const char *name, pe_view v, pe_error *err);
pe_status check_as_many(int64_t queries, int64_t keys, pe_error *err); /* sequences of both */
/* keep and additive; size: sequences, queries, heads and keys. */
pe_status check_mask(pe_attention *a, extent size, const dtypes *keep, const dtypes *additive, pe_error *err);
/* What is given as `name` needs sequences in a padded view. */
pe_status check_padded(const pe_attention *a, const char *name, pe_error *err);

#endif
