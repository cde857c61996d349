/* SPDX-License-Identifier: MIT
 *
 * Libraries and devices, found by looking for their files: nothing is loaded. */
#include "cli/doctor.h"

#include "model/gemm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined __GLIBC__
#include <gnu/libc-version.h>
#endif

#define NO_CUDA_KERNELS "no CUDA kernels in this version"

static bool in_folder(char *out, size_t cap, const char *folder, int length, const char *file)
{
    int n = snprintf(out, cap, "%.*s/%s", length, folder, file);
    return n > 0 && (size_t)n < cap && !access(out, R_OK);
}

/* In the folders the loader would search: LD_LIBRARY_PATH, then the usual ones. */
static bool find_library(char out[400], const char *file)
{
    static const char *const usual[] = { "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib" };
    const char *path = getenv("LD_LIBRARY_PATH");
    struct utsname u;
    char folder[160];
    for (const char *p = path ? path : ""; *p; p += strcspn(p, ":"), p += *p == ':')
        if (strcspn(p, ":") < 300 && in_folder(out, 400, p, (int)strcspn(p, ":"), file))
            return true;
    for (int i = 0; i < CLI_COUNT(usual); i++)
        if (in_folder(out, 400, usual[i], (int)strlen(usual[i]), file))
            return true;
    if (uname(&u))
        return false;
    int n = snprintf(folder, sizeof folder, "/usr/lib/%.60s-linux-gnu", u.machine);
    return in_folder(out, 400, folder, n, file);
}

static void found(doctor_report *r, const char *name, const char *file, const char *use)
{
    char path[400], why[DOCTOR_TEXT];
    bool there = find_library(path, file);
    if (there)
        snprintf(why, sizeof why, "%.100s; %s", path, use);
    else
        snprintf(why, sizeof why, "no %s; %s", file, use);
    doctor_flag(r, name, there, why);
}

void doctor_libraries(doctor_report *r)
{
    doctor_group(r, "libraries", "found", "not found");
#if defined __GLIBC__
    doctor_text(r, "libc", "glibc %s", gnu_get_libc_version());
#else
    doctor_text(r, "libc", "not glibc");
#endif
    doctor_text(r, "libm", "linked; cos, sin and powers of encodings are our own");
    doctor_text(r, "matrix products", "race and eval: %s", gemm_missing() ? gemm_missing() : gemm_name());
    found(r, "cuda driver", "libcuda.so.1", NO_CUDA_KERNELS);
}

void doctor_gpu(doctor_report *r)
{
    char version[512];
    doctor_group(r, "gpu", "yes", "no");
    bool device = !access("/dev/nvidia0", F_OK);
    doctor_flag(r, "nvidia device", device, device ? "/dev/nvidia0" : "no /dev/nvidia0");
    bool driver = doctor_read(version, sizeof version, "/proc/driver/nvidia/version");
    version[strcspn(version, "\n")] = 0;
    doctor_flag(r, "nvidia kernel module", driver, driver ? version : "no /proc/driver/nvidia/version");
    doctor_group(r, "gpu", "on", "off");
    doctor_flag(r, "cuda path", false, NO_CUDA_KERNELS);
}
