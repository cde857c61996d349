/* SPDX-License-Identifier: MIT */
#include "lab/results.h"

#include "io/io.h"
#include "model/gemm.h"

#include <stdio.h>
#include <time.h>

void lab_set_machine(lab_setup *s)
{
    time_t now = time(NULL);
    struct tm utc;
    snprintf(s->version, sizeof s->version, "%s", pe_version());
    snprintf(s->blas, sizeof s->blas, "%s", gemm_name());
    io_cpu_name(s->cpu, sizeof s->cpu);
    if (gmtime_r(&now, &utc))
        strftime(s->date, sizeof s->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
