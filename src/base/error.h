/* SPDX-License-Identifier: MIT
 *
 * An error is written where the caller gave room for one. */
#ifndef PE_BASE_ERROR_H
#define PE_BASE_ERROR_H

#include "base/text.h"
#include "posenc.h"

PRINTF(3, 4) pe_status pe_fail(pe_error *err, pe_status s, const char *format, ...); /* returns s */
pe_status pe_pass(pe_error *err);                                                    /* PE_OK, and err says so */

#endif
