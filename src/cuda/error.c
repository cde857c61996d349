/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "cuda/cuda.h"

static bool usable(const pe_error *err)
{
    return err && (uintptr_t)err % _Alignof(pe_error) == 0;
}

pe_status cuda_fail(pe_error *err, pe_status s, const char *format, ...)
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

pe_status cuda_pass(pe_error *err)
{
    if (usable(err)) {
        err->status = PE_OK;
        err->text[0] = 0;
    }
    return PE_OK;
}
