/* SPDX-License-Identifier: MIT
 *
 * A plan for a longer context: verb_extend.c makes it and changes config.json, extend_result.c shows it. */
#ifndef POSENC_CLI_EXTEND_H
#define POSENC_CLI_EXTEND_H

#include "result/result.h"
#include "zoo/engines.h"
#include "zoo/extend.h"
#include "zoo/extend_patch.h"

typedef struct extend_job {
    zoo_model *zoo;
    extend_model x;
    extend_plan *plan; /* (extend_method_count) */
    int advised;       /* by the rules */
    int taken;         /* that, or the method asked for */
    char why[400];
    int64_t windowed_changed; /* layers with a window whose rotation the plan changes too */
    io_bytes file;      /* config.json's text */
    const char *config; /* the same, or EXTEND_NO_CONFIG */
} extend_job;

/* engine: settings for this one, and nothing else for people; NULL: everything. all_pairs: people see every pair. */
pe_status extend_result(result *out, const extend_job *j, const char *engine, bool all_pairs, pe_error *err);

#endif
