/* SPDX-License-Identifier: MIT
 *
 * A race or an eval as one tree of results, and its files. Made from results at any time, also of a race that is still
 * running:
 *
 *     report.html       the tree as HTML: finding, charts, ranking, how it was made; one file, no external request
 *     extrapolation.svg position.svg recall.svg training.svg     its charts, if there is data for them
 *     results.csv       a line per (entry, seed, length)         results.jsonl       all there is
 */
#ifndef POSENC_LAB_REPORT_H
#define POSENC_LAB_REPORT_H

#include "lab/results.h"
#include "result/result.h"

/* Adds all of it. r lives as long as the tree: its charts are drawn when they are written. */
void lab_add_report(result *out, const lab_results *r);
/* The ranking alone, while a race runs: text in lines of at most `columns` characters. */
void lab_print_table(FILE *to, const lab_results *r, int columns);

/* PE_ERR_IO where one of these files is there, which would be lost. */
pe_status lab_report_lacks(const char *folder, pe_error *err);
/* The folder is there. Each file is replaced in one step, or left as it was; without a test there is no results.csv. */
pe_status lab_report_write(const char *folder, const lab_results *r, pe_error *err);

#endif
