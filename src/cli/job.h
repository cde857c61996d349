/* SPDX-License-Identifier: MIT
 *
 * What table, apply and bias share: an encoding, its parameters, positions, an array in, an array out. */
#ifndef POSENC_CLI_JOB_H
#define POSENC_CLI_JOB_H

#include "cli/array.h"

#define CLI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        cli_exit try_code = (call);                                                                                    \
        if (try_code)                                                                                                  \
            return try_code;                                                                                           \
    } while (0)

typedef struct cli_job {
    const cli_args *args;
    result *tree; /* of the verb */
    pe_encoding *e;
    pe_params params;
    pe_positions at, k_at; /* of one sequence; k_at empty: not used */
    io_array in, out;
    int64_t rest;   /* rows after those of out, which are counted and no more: only the first are printed */
    pe_dtype dtype; /* of in and out */
    unsigned hook;  /* the one at work */
} cli_job;

cli_exit job_run(const cli_args *a, result *out, cli_exit (*work)(cli_job *j)); /* on a new job, then frees it */

pe_shape job_shape(const cli_args *a);             /* from --heads and its neighbours */
cli_exit job_encoding(cli_job *j, pe_shape shape); /* from the first operand */
cli_exit job_params(cli_job *j);                   /* from --params or --seed */
/* Those of --params as float64, the caller's to free; count 0 without it. */
cli_exit job_given_params(const cli_args *a, pe_params *out);
/* What was made of a spec and of them failed. */
cli_exit job_fail_given(const cli_args *a, const pe_error *err);
cli_exit job_hook(cli_job *j);                     /* embed or rotate, from the spec and --hook */
/* The file of an option ("pos"), as messages name it; NULL: not given. - is stdin. */
const char *job_file(const cli_args *a, const char *option);
cli_exit job_load(const cli_job *j, io_array *out, const char *option, unsigned flags);
/* From the file of an option ("pos"), or start, start + 1, ... tokens -1: as many as -n or the file says. With
 * job_hook before it, positions may be fractions. */
cli_exit job_positions(cli_job *j, pe_positions *out, const char *option, int64_t tokens);
/* The same from --pos, which may also have (batch, tokens) and (batch, tokens, axes). */
cli_exit job_positions_of(cli_job *j, int64_t batch, int64_t tokens);
/* Where the encoding takes inputs per token (a gate, a vector): on stderr, which ones the tool makes. */
void job_note_alike(const cli_args *a, const pe_encoding *e);
/* A call of the library failed on this job's data: whose fault, and the sentence. */
cli_exit job_fail(const cli_job *j, const pe_error *err);

/* Writes the array to the file of -o. Fills the tree: fields adds the verb's own values; without a file, preview adds
 * the first numbers, and the tree has all of them. */
cli_exit job_finish(cli_job *j, void (*fields)(const cli_job *), void (*preview)(const cli_job *));

#endif
