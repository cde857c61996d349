/* SPDX-License-Identifier: MIT
 *
 * posenc extend: a plan for a longer context, as a page, as JSON, as settings, as a changed config.json. */
#ifndef POSENC_CLI_EXTEND_H
#define POSENC_CLI_EXTEND_H

#include "cli/job.h"
#include "zoo/engines.h"
#include "zoo/extend.h"
#include "zoo/extend_patch.h"

typedef struct extend_job {
    const cli_args *args;
    zoo_model *zoo;
    extend_model x;
    extend_plan *plan; /* (extend_method_count) */
    int advised;       /* by the rules */
    int taken;         /* that, or --method */
    char why[400];
    io_bytes file;      /* config.json's text */
    const char *config; /* the same, or EXTEND_NO_CONFIG */
} extend_job;

void extend_page(const extend_job *j);
void extend_json(const extend_job *j);

/* What to give an engine. Texts are malloc'ed. */
typedef struct extend_setting {
    char *text;   /* keys of config.json, or a command; NULL: it cannot be said */
    char *older;  /* for older versions, where that differs */
    char *remark; /* sentences, or NULL */
} extend_setting;

bool extend_wants(const extend_job *j, const zoo_engine *e); /* --for names it, or none */
cli_exit extend_settings(extend_setting *out, const extend_job *j, const zoo_engine *e);
void extend_setting_free(extend_setting *s);

/* Changes config.json, or writes the changed text to -o FILE: after reading it back as the plan. */
cli_exit extend_write(const extend_job *j);

#endif
