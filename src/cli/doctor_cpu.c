/* SPDX-License-Identifier: MIT
 *
 * What the CPU can do, and which kernels of this build use it. */
#include "cli/doctor.h"

#include <string.h>

#if defined __linux__ && defined __aarch64__
#include <sys/auxv.h>
#define HWCAP_NEON (1UL << 1) /* ASIMD in the kernel's words */
#define HWCAP_SVE_BIT (1UL << 22)
#endif

typedef struct feature {
    const char *name;
    bool present;
} feature;

#define FEATURES_MAX 8

#if (defined __x86_64__ || defined __i386__) && defined __GNUC__
#define ARCHITECTURE (sizeof(void *) > 4 ? "x86-64" : "x86")

/* AMX needs the kernel's leave too, so the kernel is asked; compilers of today do not all know the names. */
static bool kernel_says(const char *flag)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = !strncmp(line, "flags", 5) && strstr(line, flag);
    if (f)
        fclose(f);
    return found;
}

static int features(feature out[FEATURES_MAX])
{
    __builtin_cpu_init();
    feature all[] = {
        { "sse2", __builtin_cpu_supports("sse2") },
        { "avx2", __builtin_cpu_supports("avx2") },
        { "fma", __builtin_cpu_supports("fma") },
        { "f16c", kernel_says(" f16c") },
        { "avx512f", __builtin_cpu_supports("avx512f") },
        { "avx512bw", __builtin_cpu_supports("avx512bw") },
        { "avx512vnni", __builtin_cpu_supports("avx512vnni") },
        { "amx", kernel_says(" amx_tile") },
    };
    memcpy(out, all, sizeof all);
    return CLI_COUNT(all);
}
#elif defined __aarch64__
#define ARCHITECTURE "aarch64"

static int features(feature out[FEATURES_MAX])
{
#if defined __linux__
    unsigned long has = getauxval(AT_HWCAP);
    out[0] = (feature){ "neon", has & HWCAP_NEON };
    out[1] = (feature){ "sve", has & HWCAP_SVE_BIT };
    return 2;
#else
    out[0] = (feature){ "neon", true }; /* every 64-bit ARM has it */
    return 1;
#endif
}
#else
#define ARCHITECTURE "other"

static int features(feature out[FEATURES_MAX])
{
    (void)out;
    return 0;
}
#endif

/* By asking an encoding for each of them. */
static void doctor_kernels(doctor_report *r)
{
    pe_encoding *e;
    pe_error err;
    if (pe_encoding_new(&e, pe_info_at(0)->name, (pe_shape){ .heads = 8, .head_dim = 64 }, &err)) {
        doctor_text(r, "used", "%s", err.text);
        return;
    }
    doctor_text(r, "used", "%s", pe_encoding_kernels(e));
    for (int i = 0; pe_kernels_name(i); i++) {
        bool on = !pe_encoding_set_kernels(e, pe_kernels_name(i), &err);
        err.text[strcspn(err.text, ";")] = 0; /* why; what follows is for programs */
        doctor_flag(r, pe_kernels_name(i), on, err.text);
    }
    pe_encoding_free(e);
}

void doctor_cpu(doctor_report *r)
{
    feature f[FEATURES_MAX];
    int count = features(f);
    doctor_group(r, "cpu", "yes", "no");
    doctor_text(r, "architecture", "%s", ARCHITECTURE);
    for (int i = 0; i < count; i++)
        doctor_flag(r, f[i].name, f[i].present, "");
    doctor_group(r, "kernels", "on", "off");
    doctor_kernels(r);
}
