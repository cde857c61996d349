/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "cuda/cuda.h"

pe_status cuda_fail(pe_error *err, pe_status s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_write(err, s, format, args);
    va_end(args);
    return s;
}

pe_status cuda_pass(pe_error *err)
{
    return error_clear(err);
}
