/* SPDX-License-Identifier: MIT */
#include "core/door.h"

#include <stdarg.h>
#include <stdio.h>

static bool usable(const pe_error *err)
{
    return err && (uintptr_t)err % _Alignof(pe_error) == 0;
}

pe_status pe_fail(pe_error *err, pe_status s, const char *format, ...)
{
    if (usable(err)) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        err->status = s;
    }
    return s;
}

pe_status pe_pass(pe_error *err)
{
    if (usable(err)) {
        err->status = PE_OK;
        err->text[0] = 0;
    }
    return PE_OK;
}

const char *pe_status_name(pe_status s)
{
    static const char *const name[] = {
        "PE_OK",        "PE_ERR_NULL",     "PE_ERR_SPEC",     "PE_ERR_SHAPE",  "PE_ERR_RANGE",
        "PE_ERR_DTYPE", "PE_ERR_POSITION", "PE_ERR_OVERFLOW", "PE_ERR_ALIGN",  "PE_ERR_ALIAS",
        "PE_ERR_NOMEM", "PE_ERR_UNSUITED", "PE_ERR_IO",       "PE_ERR_FORMAT", "PE_ERR_DEVICE",
    };
    return (unsigned)s < (unsigned)COUNT_OF(name) ? name[s] : "unknown status";
}
