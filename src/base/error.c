/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static bool error_usable(const pe_error *err)
{
    return err && (uintptr_t)err % _Alignof(pe_error) == 0;
}

pe_status pe_fail(pe_error *err, pe_status s, const char *format, ...)
{
    va_list args;
    if (!error_usable(err))
        return s;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = s;
    return s;
}

pe_status pe_pass(pe_error *err)
{
    if (error_usable(err)) {
        err->status = PE_OK;
        err->text[0] = 0;
    }
    return PE_OK;
}
