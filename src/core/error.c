/* SPDX-License-Identifier: MIT */
#include "core/row.h"

const char *pe_status_name(pe_status s)
{
    static const char *const name[] = {
        "PE_OK",        "PE_ERR_NULL",     "PE_ERR_SPEC",     "PE_ERR_SHAPE",  "PE_ERR_RANGE",
        "PE_ERR_DTYPE", "PE_ERR_POSITION", "PE_ERR_OVERFLOW", "PE_ERR_ALIGN",  "PE_ERR_ALIAS",
        "PE_ERR_NOMEM", "PE_ERR_UNSUITED", "PE_ERR_IO",       "PE_ERR_FORMAT", "PE_ERR_DEVICE", "PE_ERR_PEER",
    };
    return (unsigned)s < (unsigned)COUNT_OF(name) ? name[s] : "unknown status";
}
