/* SPDX-License-Identifier: MIT
 *
 * Which rung of kernels an encoding stands on. */
#include "core/core.h"

const char *pe_encoding_kernels(const pe_encoding *e)
{
    return e ? e->kernels.name : "";
}

pe_status pe_encoding_set_kernels(pe_encoding *e, const char *name, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    if (!name)
        return pe_fail(err, PE_ERR_NULL, "the kernels' name is NULL; needs scalar, avx2, avx512 or neon");
    unsigned rungs = ladder_named(name), has = ladder_rungs();
    if (rungs == ~0u)
        return pe_fail(err, PE_ERR_SPEC, "there are no kernels '%.40s'; needs scalar, avx2, avx512 or neon", name);
    if ((rungs & has) != rungs)
        return pe_fail(err, PE_ERR_UNSUITED, "this CPU does not have %s; pe_encoding_kernels says what it has", name);
    ladder_fill(&e->kernels, rungs);
    return pe_pass(err);
}
