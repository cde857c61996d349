/* SPDX-License-Identifier: MIT */
#ifndef POSENC_CLI_CONVERT_H
#define POSENC_CLI_CONVERT_H

#include "cli/job.h"
#include "io/pairs.h"

/* A conversion that is planned: weights, or one array. */
typedef struct convert_job {
    const cli_args *args;
    const char *in, *out; /* out NULL: --dry-run */
    int from, to;         /* layouts, as the options count them; -1: not known */
    io_pairs_facts facts;
    io_file file;
    io_safetensors *st; /* NULL: an array */
    io_pairs_plan plan;
    io_array array; /* without data */
    uint64_t begin; /* of its elements */
    io_pairs_map map;
} convert_job;

/* The name of a layout, as the options count them: "half"; "" past the last. */
typedef struct convert_layout {
    char name[32];
} convert_layout;
convert_layout convert_layout_at(int choice);

/* heads, widths and, if it is not given, --from, where a config.json beside the weights says them; refuses where it
 * says that the pairs lie in neither layout (convert_config.c). */
cli_exit convert_from_config(convert_job *j);
/* What was done, or would be: for people, or as JSON (convert_report.c). */
void convert_report(const convert_job *j);
/* Tensors whose names look as if they belonged to attention: "a, b, c". */
void convert_similar(char *out, size_t cap, const io_safetensors *st);

#endif
