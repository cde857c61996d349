/* SPDX-License-Identifier: MIT
 *
 * What this CPU has, and the table of kernels filled accordingly. */
#include "kernels/exact.h"

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/ladder.h"

#if LADDER_X86
#include <cpuid.h>

/* Half floats; not every compiler's __builtin_cpu_supports knows them. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/* In rising order; a rung includes those of its kind below it. */
static const struct {
    const char *name;
    unsigned rungs;
} ladder[] = {
    { "scalar", 0 },
    { "avx2", RUNG_AVX2 },
    { "avx512", RUNG_AVX2 | RUNG_AVX512 },
    { "neon", RUNG_NEON },
};
#define COUNT (int)(sizeof ladder / sizeof *ladder)

unsigned ladder_rungs(void)
{
#if LADDER_X86
    unsigned rungs = 0;
    __builtin_cpu_init(); /* asks the CPU, and whether the system saves the registers */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        rungs |= RUNG_AVX2;
    if (rungs && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        rungs |= RUNG_AVX512;
    return rungs;
#elif LADDER_NEON
    return RUNG_NEON; /* every 64-bit ARM has it */
#else
    return 0;
#endif
}

void ladder_fill(kernels *k, unsigned rungs)
{
    memset(k, 0, sizeof *k);
    for (int i = 0; i < COUNT; i++)
        if ((ladder[i].rungs & rungs) == ladder[i].rungs)
            k->name = ladder[i].name;
    attend_kernels(k, rungs);
    rotate_kernels(k, rungs);
    turn_kernels(k, rungs);
}

unsigned ladder_named(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(ladder[i].name, name))
            return ladder[i].rungs;
    return ~0u;
}

const char *ladder_name(int index)
{
    return index >= 0 && index < COUNT ? ladder[index].name : NULL;
}
