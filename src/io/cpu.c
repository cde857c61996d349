/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void io_cpu_name(char *out, size_t cap)
{
    char line[256], *at;
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(out, cap, "unknown CPU");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "model name", 10) || !(at = strchr(line, ':')))
            continue;
        at[strcspn(at, "\n")] = 0;
        snprintf(out, cap, "%s", at + 1 + (at[1] == ' '));
        break;
    }
    if (f)
        fclose(f);
}

double io_seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
