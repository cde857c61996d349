/* SPDX-License-Identifier: MIT
 *
 * A plan for a longer context: as the settings of engines (extend_engine.c), as a changed config.json (extend_write.c)
 * and as a tree of results (extend_result.c). */
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
    io_bytes file;      /* config.json's text */
    const char *config; /* the same, or EXTEND_NO_CONFIG */
} extend_job;

/* What to give an engine. Texts are malloc'ed, and NULL after an error. */
typedef struct extend_setting {
    char *text;   /* keys of config.json, or a command; NULL: the engine cannot be told */
    char *older;  /* for older versions, where that differs */
    char *remark; /* sentences, or "" */
} extend_setting;
pe_status extend_settings(extend_setting *out, const extend_job *j, const zoo_engine *e, pe_error *err);
void extend_setting_free(extend_setting *s);

/* engine: settings for this one, and nothing else for people; NULL: everything. all_pairs: people see every pair. */
pe_status extend_result(result *out, const extend_job *j, const char *engine, bool all_pairs, pe_error *err);

/* The changed config.json, malloc'ed, after it was read back (with the options given) as the plan. */
pe_status extend_changed(char **out, const extend_job *j, const zoo_options *given, pe_error *err);
/* Puts it in the place of the file, which is kept beside it as .bak. replace: an older .bak too. PE_ERR_SPEC: the .bak
 * is in the way; PE_ERR_FORMAT: the file was changed meanwhile. */
pe_status extend_replace(const extend_job *j, io_span text, bool replace, pe_error *err);

#endif
