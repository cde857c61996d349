/* SPDX-License-Identifier: MIT
 *
 * Threads and memory: what there is, and what this process may have of it (affinity, control groups). */
#if defined __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#endif
#include "cli/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool doctor_read(char *out, size_t cap, const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, cap - 1, f) : 0;
    out[n] = 0;
    if (f)
        fclose(f);
    return n > 0;
}

/* The group of this process, "/a/b", in the one tree of version 2. */
static bool control_group(char out[256])
{
    char text[4096], *at;
    if (!doctor_read(text, sizeof text, "/proc/self/cgroup") || !(at = strstr(text, "0::/")))
        return false;
    at += 3;
    at[strcspn(at, "\n")] = 0;
    return snprintf(out, 256, "%s", at) < 256;
}

/* Limits are set on any group from this one up: calls visit for each that has the file. */
static void each_limit(const char *file, const char *older, void (*visit)(const char *text, double *least),
                       double *least)
{
    char group[256], path[400], text[128];
    if (older && doctor_read(text, sizeof text, older))
        visit(text, least);
    if (!control_group(group))
        return;
    for (bool more = true; more;) {
        char *slash = strrchr(group, '/');
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
        if (doctor_read(text, sizeof text, path))
            visit(text, least);
        more = slash != NULL;
        if (slash)
            *slash = 0;
    }
}

/* "200000 100000": microseconds of CPU per so many of time; or "max 100000". */
static void cpu_limit(const char *text, double *least)
{
    char *end;
    double quota = strtod(text, &end), period = strtod(end, NULL);
    if (end != text && quota > 0 && period > 0 && quota / period < *least)
        *least = quota / period;
}

/* Version 1 has the two numbers in two files. */
static void older_cpu_limit(double *least)
{
    char both[64];
    if (!doctor_read(both, 32, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
        return;
    size_t n = strlen(both);
    if (doctor_read(both + n, sizeof both - n, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
        cpu_limit(both, least);
}

static void memory_limit(const char *text, double *least)
{
    char *end;
    double bytes = strtod(text, &end);
    if (end != text && bytes > 0 && bytes < *least)
        *least = bytes;
}

static void threads(doctor_report *r)
{
    double limit = 1e9;
    doctor_group(r, "threads", "yes", "no");
    doctor_text(r, "used", "race and eval: the CPUs allowed, or --threads; other verbs: 1");
#if defined _SC_NPROCESSORS_ONLN
    doctor_int(r, "CPUs online", sysconf(_SC_NPROCESSORS_ONLN), "");
#endif
#if defined __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        doctor_int(r, "CPUs allowed", CPU_COUNT(&set), "");
#endif
    older_cpu_limit(&limit);
    each_limit("cpu.max", NULL, cpu_limit, &limit);
    if (limit < 1e9)
        doctor_text(r, "control group", "%.4g CPUs", limit);
    else
        doctor_text(r, "control group", "no limit");
}

static int64_t available_kib(void)
{
    char text[4096], *at;
    if (!doctor_read(text, sizeof text, "/proc/meminfo") || !(at = strstr(text, "MemAvailable:")))
        return -1;
    return strtoll(at + strlen("MemAvailable:"), NULL, 10);
}

static void memory(doctor_report *r)
{
    double limit = 0x1p60;
    int64_t kib = available_kib();
    doctor_group(r, "memory", "yes", "no");
    if (kib >= 0)
        doctor_int(r, "available", kib >> 10, "MiB");
    each_limit("memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", memory_limit, &limit);
    if (limit < 0x1p60)
        doctor_text(r, "control group", "%.0f MiB", limit * 0x1p-20);
    else
        doctor_text(r, "control group", "no limit");
    doctor_int(r, "page", sysconf(_SC_PAGESIZE), "bytes");
}

void doctor_machine(doctor_report *r)
{
    threads(r);
    memory(r);
}
