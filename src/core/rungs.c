/* SPDX-License-Identifier: MIT
 *
 * Which rung of kernels an encoding stands on. */
#include "core/door.h"
#include "core/encoding.h"

#include <stdio.h>

const char *pe_kernels_name(int index)
{
    return ladder_name(index);
}

const char *pe_encoding_kernels(const pe_encoding *e)
{
    return e ? e->kernels.name : "";
}

/* Room for "scalar, avx2, avx512 or neon": all there are. */
#define RUNG_TEXT 64

static const char *list_rungs(char out[RUNG_TEXT])
{
    int used = 0;
    for (int i = 0; ladder_name(i) && used < RUNG_TEXT; i++)
        used += snprintf(out + used, (size_t)(RUNG_TEXT - used), "%s%s",
                         i == 0               ? ""
                         : ladder_name(i + 1) ? ", "
                                              : " or ",
                         ladder_name(i));
    return out;
}

pe_status pe_encoding_set_kernels(pe_encoding *e, const char *name, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    char all[RUNG_TEXT];
    if (!name)
        return pe_fail(err, PE_ERR_NULL, "the kernels' name is NULL; needs %s", list_rungs(all));
    unsigned rungs = ladder_named(name);
    if (rungs == ~0u)
        return pe_fail(err, PE_ERR_SPEC, "there are no kernels '%.40s'; needs %s", name, list_rungs(all));
    if (rungs & ~ladder_built())
        return pe_fail(err, PE_ERR_UNSUITED, "this build has no %s kernels; a new encoding uses the fastest it has",
                       name);
    if (rungs & ~ladder_rungs())
        return pe_fail(err, PE_ERR_UNSUITED, "this CPU does not have %s; a new encoding uses the fastest it has", name);
    ladder_fill(&e->kernels, rungs);
    return pe_pass(err);
}
