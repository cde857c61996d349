/* SPDX-License-Identifier: MIT
 *
 * An error is written where the caller gave room for one. */
#ifndef PE_BASE_ERROR_H
#define PE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "posenc.h"

static inline bool error_usable(const pe_error *err)
{
    return err && (uintptr_t)err % _Alignof(pe_error) == 0;
}

static inline pe_status error_write(pe_error *err, pe_status s, const char *format, va_list args)
{
    if (error_usable(err)) {
        vsnprintf(err->text, sizeof err->text, format, args);
        err->status = s;
    }
    return s;
}

static inline pe_status error_clear(pe_error *err)
{
    if (error_usable(err)) {
        err->status = PE_OK;
        err->text[0] = 0;
    }
    return PE_OK;
}

#endif
