/* SPDX-License-Identifier: MIT
 *
 * The rungs: what this CPU has, and the table of kernels filled accordingly. */
#include "base/exact.h"

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/ladder.h"

static bool has_nothing_more(void)
{
    return true;
}

#if LADDER_X86
#include <cpuid.h>

/* __builtin_cpu_init asks the CPU, and whether the system saves the registers. Not every compiler's
 * __builtin_cpu_supports knows half floats. */
static bool has_avx2(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) &&
           (c & bit_F16C);
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* AMD's family 25 with AVX-512. */
static bool has_zen4(void)
{
    unsigned a, b, c, d;
    return has_avx512() && __builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d) &&
           (a >> 8 & 15) + (a >> 20 & 255) == 25;
}
#endif

#if LADDER_BF16
static bool has_bf16(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512bf16");
}
#endif

/* What a row ends with where this build has code for it: whether this CPU has it, and its families, or NULL. */
#define RUNG(has, rung) has, { attend_##rung, rotate_##rung, turn_##rung }
#define NOT_BUILT NULL, { NULL }
#if LADDER_X86
#define X86(has, rung) RUNG(has, rung)
#define X86_ROTATE(has, rung) has, { NULL, rotate_##rung, NULL }
#else
#define X86(has, rung) NOT_BUILT
#define X86_ROTATE(has, rung) NOT_BUILT
#endif
#if LADDER_BF16
#define X86_ATTEND(has, rung) has, { attend_##rung, NULL, NULL }
#else
#define X86_ATTEND(has, rung) NOT_BUILT
#endif
#if LADDER_NEON
#define ARM(has, rung) RUNG(has, rung)
#else
#define ARM(has, rung) NOT_BUILT
#endif

/* In rising order. */
static const struct {
    const char *name;
    unsigned rungs; /* this one, and those of its kind below it */
    bool (*has)(void);
    kernels_fill *fill[3];
} ladder[] = {
    { "scalar", 0, RUNG(has_nothing_more, c) },
    { "avx2", RUNG_AVX2, X86(has_avx2, avx2) },
    { "avx512", RUNG_AVX2 | RUNG_AVX512, X86(has_avx512, avx512) },
    { "zen4", RUNG_AVX2 | RUNG_AVX512 | RUNG_ZEN4, X86_ROTATE(has_zen4, zen4) },
    { "bf16", RUNG_AVX2 | RUNG_AVX512 | RUNG_BF16, X86_ATTEND(has_bf16, bf16) },
    { "neon", RUNG_NEON, ARM(has_nothing_more, neon) }, /* every 64-bit ARM has it */
};
#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

unsigned ladder_built(void)
{
    unsigned rungs = 0;
    for (int i = 0; i < COUNT(ladder); i++)
        rungs |= ladder[i].has ? ladder[i].rungs : 0;
    return rungs;
}

unsigned ladder_rungs(void)
{
    unsigned rungs = 0;
    for (int i = 0; i < COUNT(ladder); i++)
        rungs |= ladder[i].has && ladder[i].has() ? ladder[i].rungs : 0;
    return rungs;
}

void ladder_fill(kernels *k, unsigned rungs)
{
    memset(k, 0, sizeof *k);
    for (int i = 0; i < COUNT(ladder); i++) {
        if (!ladder[i].has || (ladder[i].rungs & rungs) != ladder[i].rungs)
            continue;
        k->name = ladder[i].name;
        for (int n = 0; n < COUNT(ladder[i].fill); n++)
            if (ladder[i].fill[n])
                ladder[i].fill[n](k);
    }
}

unsigned ladder_named(const char *name)
{
    for (int i = 0; i < COUNT(ladder); i++)
        if (!strcmp(ladder[i].name, name))
            return ladder[i].rungs;
    return ~0u;
}

const char *ladder_name(int index)
{
    return index >= 0 && index < COUNT(ladder) ? ladder[index].name : NULL;
}
