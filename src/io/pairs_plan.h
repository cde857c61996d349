/* SPDX-License-Identifier: MIT */
#ifndef POSENC_IO_PAIRS_PLAN_H
#define POSENC_IO_PAIRS_PLAN_H

#include "pairs.h"

typedef struct io_planner {
    io_pairs_plan *plan;
    io_pairs_facts f; /* head_dim becomes known on the way */
    pe_error *err;
} io_planner;

int64_t io_plan_kv_heads(const io_planner *p);
/* How a tensor of q, k and v is laid out: said, or known by its name. */
pe_status io_plan_fused(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_fused *out);
/* Fills the item's map. row NULL: chosen by --tensors, and of no known name. */
pe_status io_plan_map(const io_planner *p, io_pairs_item *item, const io_pairs_stem *row);
pe_status io_plan_refuse_quantised(const io_planner *p, const io_tensor *t);

#endif
