/* SPDX-License-Identifier: MIT
 *
 * A race or an eval as a page people want to look at, and as data. Redrawn from results at any time, also of a race
 * that is still running:
 *
 *     report.html       one file, no external request: finding, curves, ranked table, how it was made
 *     extrapolation.svg position.svg recall.svg training.svg     its pictures, those that there is something to draw
 * for results.csv       a line per (entry, seed, length)         results.jsonl       all there is
 */
#ifndef POSENC_LAB_REPORT_H
#define POSENC_LAB_REPORT_H

#include "draw/draw.h"
#include "lab/results.h"

/* PE_ERR_SPEC where one of these files is there, which would be lost. */
pe_status lab_report_lacks(const char *folder, pe_error *err);
/* The folder is there. Each file is replaced in one step, or left as it was. */
pe_status lab_report_write(const char *folder, const lab_results *r, pe_error *err);

/* The curves against length on a screen; nothing where there is nothing to draw yet. */
pe_status lab_report_chart(FILE *to, const lab_results *r, const draw_screen *screen, pe_error *err);

#endif
