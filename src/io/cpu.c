/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include <stdio.h>
#include <string.h>

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
