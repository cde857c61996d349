/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LAB_SUMMARY_H
#define POSENC_LAB_SUMMARY_H

#include "io/json_out.h"
#include "lab/results.h"

/* Members of the object that is open: kind, steps, trainings, entries (best first, each with its lengths), finding. */
void lab_write_summary(json_out *j, const lab_results *r);

#endif
