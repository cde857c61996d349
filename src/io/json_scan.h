/* SPDX-License-Identifier: MIT */
#ifndef POSENC_IO_JSON_SCAN_H
#define POSENC_IO_JSON_SCAN_H

#include "io.h"

/* Looks over a text before the real parser does, for what that parser has no limit on. */
pe_status io_json_scan(const char *name, const char *text, size_t size, pe_error *err);

#endif
