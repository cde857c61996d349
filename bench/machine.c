/* SPDX-License-Identifier: MIT
 *
 * Which machine, compiler and day the numbers are of. */
#include "bench.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char *compiler(void)
{
#if defined __clang__
    return "clang " __clang_version__;
#elif defined __GNUC__
    return "gcc " __VERSION__;
#else
    return "unknown compiler";
#endif
}

static double load(void)
{
    double minute = -1;
    FILE *f = fopen("/proc/loadavg", "r");
    if (f && fscanf(f, "%lf", &minute) != 1)
        minute = -1;
    if (f)
        fclose(f);
    return minute;
}

machine machine_now(void)
{
    machine m = { 0 };
    struct utsname u;
    time_t now = time(NULL);
    struct tm day;
    io_cpu_name(m.cpu, sizeof m.cpu);
    if (!uname(&u))
        snprintf(m.system, sizeof m.system, "%.40s %.40s", u.sysname, u.machine);
    snprintf(m.compiler, sizeof m.compiler, "%s", compiler());
    if (gmtime_r(&now, &day))
        strftime(m.date, sizeof m.date, "%Y-%m-%d", &day);
    for (int r = 0; r < rung_count(); r++) {
        size_t used = strlen(m.rungs);
        snprintf(m.rungs + used, sizeof m.rungs - used, "%s%s", r ? ", " : "", rung_name(r));
    }
    m.load = load();
    m.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    m.memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return m;
}
