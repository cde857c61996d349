/* SPDX-License-Identifier: MIT
 *
 * posenc doctor: what this build and this machine offer, why a path is off, and whether the numbers are right. */
#if defined __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#endif
#include "cli/cli.h"

#include "model/gemm.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined __GLIBC__
#include <gnu/libc-version.h>
#endif
#if defined __linux__ && defined __aarch64__
#include <sys/auxv.h>
#define HWCAP_NEON (1UL << 1) /* ASIMD in the kernel's words */
#define HWCAP_SVE_BIT (1UL << 22)
#endif

#if defined POSENC_CUDA
#include "posenc_cuda.h"
#endif

static const cli_option options[] = { CLI_OPTIONS_RESULT };
static const cli_example examples[] = {
    { "posenc doctor", "CPU, kernels, threads, memory, libraries, GPU; a self-test, exit code 1 if it fails" },
    { "posenc doctor --json", "the same as data" },
};

/* ---------------------------------------------------------------- facts */

static void open_facts(result *out, const char *group)
{
    result_open(out, RESULT_RECORD, group, group);
}

/* how: "yes|no", for people. A reason stands beside the flag: "avx2": false, "avx2 why": "not built". */
static void add_flag(result *out, const char *name, bool on, const char *how, const char *why)
{
    char key[64], word[20];
    cli_item(how, !on, word, sizeof word);
    result_flag(out, name, name, on);
    result_shown(out, "%s%s%s", word, *why ? ": " : "", why);
    if (!*why)
        return;
    snprintf(key, sizeof key, "%s why", name);
    result_text(out, key, NULL, why);
}

/* The beginning of a file as text; false: cannot be read. */
static bool read_text(char *out, size_t cap, const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, cap - 1, f) : 0;
    out[n] = 0;
    if (f)
        fclose(f);
    return n > 0;
}

/* As setlocale would take it from the environment. */
static const char *locale_name(void)
{
    static const char *const names[] = { "LC_ALL", "LC_NUMERIC", "LANG" };
    for (int i = 0; i < CLI_COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return "C";
}

static void add_tool(result *out)
{
    const char *term = getenv("TERM");
    open_facts(out, "posenc");
    result_text(out, "version", "version", pe_version());
    result_int(out, "encodings", "encodings", pe_info_count());
    result_say(out, "locale", "locale", "%s; numbers have a decimal point in every locale", locale_name());
    result_say(out, "terminal", "terminal", "%s%s%s", isatty(STDOUT_FILENO) ? "yes" : "no",
               term && *term ? ", TERM=" : "", term && *term ? term : "");
    result_close(out);
}

/* ---------------------------------------------------------------- CPU and kernels */

typedef struct feature {
    const char *name;
    bool present;
} feature;

#define FEATURES_MAX 9

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

static int cpu_features(feature out[FEATURES_MAX])
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
        { "avx512bf16", kernel_says(" avx512_bf16") },
        { "amx", kernel_says(" amx_tile") },
    };
    memcpy(out, all, sizeof all);
    return CLI_COUNT(all);
}
#elif defined __aarch64__
#define ARCHITECTURE "aarch64"

static int cpu_features(feature out[FEATURES_MAX])
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

static int cpu_features(feature out[FEATURES_MAX])
{
    (void)out;
    return 0;
}
#endif

static void add_cpu(result *out)
{
    feature f[FEATURES_MAX];
    int count = cpu_features(f);
    open_facts(out, "cpu");
    result_text(out, "architecture", "architecture", ARCHITECTURE);
    for (int i = 0; i < count; i++)
        add_flag(out, f[i].name, f[i].present, "yes|no", "");
    result_close(out);
}

/* By asking an encoding for each of them. */
static void add_kernels(result *out)
{
    pe_encoding *e;
    pe_error err;
    open_facts(out, "kernels");
    bool made = !pe_encoding_new(&e, pe_info_at(0)->name, (pe_shape){ .heads = 8, .head_dim = 64 }, &err);
    result_text(out, "used", "used", made ? pe_encoding_kernels(e) : err.text);
    for (int i = 0; made && pe_kernels_name(i); i++) {
        bool on = !pe_encoding_set_kernels(e, pe_kernels_name(i), &err);
        err.text[strcspn(err.text, ";")] = 0; /* why; what follows is for programs */
        add_flag(out, pe_kernels_name(i), on, "on|off", err.text);
    }
    pe_encoding_free(e);
    result_close(out);
}

/* ---------------------------------------------------------------- threads and memory */

/* The group of this process, "/a/b", in the one tree of version 2. */
static bool control_group(char out[256])
{
    char text[4096], *at;
    if (!read_text(text, sizeof text, "/proc/self/cgroup") || !(at = strstr(text, "0::/")))
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
    if (older && read_text(text, sizeof text, older))
        visit(text, least);
    if (!control_group(group))
        return;
    for (bool more = true; more;) {
        char *slash = strrchr(group, '/');
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
        if (read_text(text, sizeof text, path))
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
    if (!read_text(both, 32, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
        return;
    size_t n = strlen(both);
    if (read_text(both + n, sizeof both - n, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
        cpu_limit(both, least);
}

static void memory_limit(const char *text, double *least)
{
    char *end;
    double bytes = strtod(text, &end);
    if (end != text && bytes > 0 && bytes < *least)
        *least = bytes;
}

static void add_threads(result *out)
{
    double limit = 1e9;
    open_facts(out, "threads");
    result_text(out, "used", "used", "race and eval: the CPUs allowed, or --threads; other verbs: 1");
#if defined _SC_NPROCESSORS_ONLN
    result_int(out, "CPUs online", "CPUs online", sysconf(_SC_NPROCESSORS_ONLN));
#endif
#if defined __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        result_int(out, "CPUs allowed", "CPUs allowed", CPU_COUNT(&set));
#endif
    older_cpu_limit(&limit);
    each_limit("cpu.max", NULL, cpu_limit, &limit);
    if (limit < 1e9)
        result_say(out, "control group", "control group", "%.4g CPUs", limit);
    else
        result_text(out, "control group", "control group", "no limit");
    result_close(out);
}

static int64_t available_kib(void)
{
    char text[4096], *at;
    if (!read_text(text, sizeof text, "/proc/meminfo") || !(at = strstr(text, "MemAvailable:")))
        return -1;
    return strtoll(at + strlen("MemAvailable:"), NULL, 10);
}

static void add_memory(result *out)
{
    double limit = 0x1p60;
    int64_t kib = available_kib();
    open_facts(out, "memory");
    if (kib >= 0) {
        result_int(out, "available", "available", kib >> 10);
        result_unit(out, "MiB");
    }
    each_limit("memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", memory_limit, &limit);
    if (limit < 0x1p60)
        result_say(out, "control group", "control group", "%.0f MiB", limit * 0x1p-20);
    else
        result_text(out, "control group", "control group", "no limit");
    result_int(out, "page", "page", sysconf(_SC_PAGESIZE));
    result_unit(out, "bytes");
    result_close(out);
}

/* ---------------------------------------------------------------- libraries and devices, by their files */

/* In the folders the loader would search: LD_LIBRARY_PATH, then the usual ones. */
static bool find_library(char out[400], const char *file)
{
    char all[4096];
    const char *own = getenv("LD_LIBRARY_PATH");
    struct utsname u = { .machine = "" };
    uname(&u);
    snprintf(all, sizeof all, "%.3000s:/lib:/usr/lib:/lib64:/usr/lib64:/usr/local/lib:/usr/lib/%.60s-linux-gnu",
             own ? own : "", u.machine);
    for (const char *at = all; *at; at += strcspn(at, ":"), at += *at == ':') {
        int length = (int)strcspn(at, ":");
        if (length && snprintf(out, 400, "%.*s/%s", length, at, file) < 400 && !access(out, R_OK))
            return true;
    }
    return false;
}

static void add_libraries(result *out)
{
    char path[400];
    bool cuda = find_library(path, "libcuda.so.1");
    open_facts(out, "libraries");
#if defined __GLIBC__
    result_say(out, "libc", "libc", "glibc %s", gnu_get_libc_version());
#else
    result_text(out, "libc", "libc", "not glibc");
#endif
    result_text(out, "libm", "libm", "linked; the cos, sin and powers of encodings are computed without it");
    result_say(out, "matrix products", "matrix products", "race and eval: %s",
               gemm_missing() ? gemm_missing() : gemm_name());
    add_flag(out, "cuda driver", cuda, "found|not found", cuda ? path : "no libcuda.so.1");
    result_close(out);
}

/* What the GPU library finds when it opens CUDA's libraries. */
#if defined POSENC_CUDA
static void add_cuda(result *out)
{
    pe_cuda_facts f = PE_MAKE(pe_cuda_facts, .driver = 0);
    pe_cuda_look(&f, NULL);
    if (*f.device) {
        result_say(out, "device", "device", "%s, capability %d.%d", f.device, f.capability / 10, f.capability % 10);
        result_int(out, "multiprocessors", "multiprocessors", f.processors);
        result_int(out, "device memory", "device memory", f.memory >> 20);
        result_unit(out, "MiB");
    }
    if (f.driver)
        result_say(out, "driver", "driver", "CUDA %d.%d", f.driver / 1000, f.driver % 1000 / 10);
    if (f.compiler)
        result_say(out, "compiler", "compiler", "nvrtc %d.%d", f.compiler / 1000, f.compiler % 1000 / 10);
    else
        result_text(out, "compiler", "compiler", "no libnvrtc");
    result_int(out, "built-in kernels", "built-in kernels", f.built_in);
    result_text(out, "compiled kernels", "compiled kernels",
                *f.cache ? f.cache : "no folder: compiled in each process");
    add_flag(out, "cuda path", *f.device && (f.compiler || f.built_in), "on|off", f.missing);
}
#else
static void add_cuda(result *out)
{
    add_flag(out, "cuda path", false, "on|off", "this build has no GPU library; build with POSENC_CUDA=ON");
}
#endif

static void add_gpu(result *out)
{
    char version[512];
    bool device = !access("/dev/nvidia0", F_OK), driver = read_text(version, 160, "/proc/driver/nvidia/version");
    version[strcspn(version, "\n")] = 0;
    open_facts(out, "gpu");
    add_flag(out, "nvidia device", device, "yes|no", device ? "/dev/nvidia0" : "no /dev/nvidia0");
    add_flag(out, "nvidia kernel module", driver, "yes|no", driver ? version : "no /proc/driver/nvidia/version");
    add_cuda(out);
    result_close(out);
}

/* ---------------------------------------------------------------- the self-test */

/* A few numbers that only a build which computes as written gets right. Values by MPFR-grade arithmetic (500 bits).
 * Rotary tables at one position: the spec, a pair, cos and sin as correctly rounded floats. */
static const struct known {
    const char *name, *spec;
    int64_t head_dim, pair, at;
    double cosine, sine;
} known[] = {
    { "cos and sin of 1", "rope", 64, 0, 1, 0x1.14a280fb5068cp-1, 0x1.aed548f090ceep-1 },
    { "last position, 2^36", "rope:theta=500000", 128, 40, INT64_C(1) << 36, -0x1.fa701667bbf6cp-1,
      0x1.2d0ea03cda049p-3 },
    { "near a quarter turn", "rope", 64, 25, INT64_C(55798549571), -0x1.c4c855922be5bp-43, -1 },
    { "2^-59 from a quarter turn", "rope:theta=10248", 96, 33, INT64_C(61815418783), 0x1.d4bac5193f8cdp-60, 1 },
};

static pe_encoding *make_encoding(const char *spec, int64_t head_dim, pe_error *err)
{
    pe_encoding *e;
    pe_encoding_new(&e, spec, (pe_shape){ .heads = 1, .head_dim = head_dim }, err);
    return e;
}

static bool table_is(const struct known *k, pe_error *err)
{
    float cosine[PE_HEAD_DIM_MAX], sine[PE_HEAD_DIM_MAX];
    pe_encoding *e = make_encoding(k->spec, k->head_dim, err);
    if (!e)
        return false;
    int64_t pairs = pe_encoding_pair_count(e);
    pe_status s =
        pe_rotate_table(e, PE_QUERY, pe_view_of(cosine, PE_F32, 1, 1, 1, pairs),
                        pe_view_of(sine, PE_F32, 1, 1, 1, pairs), pe_positions_of(&k->at, PE_I64, 1, 1, 1), NULL, err);
    pe_encoding_free(e);
    return !s && cosine[k->pair] == (float)k->cosine && sine[k->pair] == (float)k->sine;
}

/* In double: a rotation and its inverse each round to 2^-51. */
static bool comes_back(pe_error *err)
{
    enum { WIDTH = 64 };
    double x[WIDTH], y[WIDTH], worst = 0;
    int64_t at = INT64_C(55798549571);
    pe_positions where = pe_positions_of(&at, PE_I64, 1, 1, 1);
    pe_encoding *e = make_encoding("rope", WIDTH, err);
    for (int d = 0; d < WIDTH; d++)
        x[d] = (d * 37 % 64 - 31.5) / 32;
    pe_view vx = pe_view_of(x, PE_F64, 1, 1, 1, WIDTH), vy = pe_view_of(y, PE_F64, 1, 1, 1, WIDTH);
    pe_status s = e ? pe_rotate(e, PE_QUERY, vy, vx, where, NULL, err) : PE_ERR_NOMEM;
    if (!s)
        s = pe_unrotate(e, PE_QUERY, vy, vy, where, NULL, err);
    for (int d = 0; !s && d < WIDTH; d++)
        worst = fmax(worst, fabs(y[d] - x[d]));
    pe_encoding_free(e);
    return !s && worst < 0x1p-49;
}

static bool add_self_test(result *out)
{
    bool well = true;
    open_facts(out, "self-test");
    for (int i = 0; i <= CLI_COUNT(known); i++) {
        pe_error err = { 0 };
        bool last = i == CLI_COUNT(known), right = last ? comes_back(&err) : table_is(&known[i], &err);
        const char *why = err.status ? err.text : "a wrong value; build without fast-math flags";
        add_flag(out, last ? "unrotate undoes rotate" : known[i].name, right, "right|WRONG", right ? "" : why);
        well = well && right;
    }
    result_close(out);
    return well;
}

/* ---------------------------------------------------------------- the verb */

static cli_exit doctor_verb(const cli_args *a, result *out)
{
    result_title(out, 0, "posenc doctor");
    result_text(out, "verb", NULL, "doctor");
    add_tool(out);
    add_cpu(out);
    add_kernels(out);
    add_threads(out);
    add_memory(out);
    add_libraries(out);
    add_gpu(out);
    bool well = add_self_test(out);
    result_flag(out, "well", NULL, well);
    return well ? CLI_OK : cli_fail(a, CLI_NO, "the self-test fails: do not trust this build");
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "show what this build and this machine support, and run a self-test",
    .operands = "",
    CLI_TABLES(options, examples),
    .run = doctor_verb,
};
