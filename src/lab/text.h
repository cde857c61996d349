/* SPDX-License-Identifier: MIT
 *
 * The text of a file, as a race trains on it and an eval measures it.
 */
#ifndef POSENC_LAB_TEXT_H
#define POSENC_LAB_TEXT_H

#include "io/io.h"

/* In place: what stands between Project Gutenberg's marks, or all of it; no byte order mark; lines end in LF; no blank
 * lines at either end. PE_ERR_FORMAT where nothing is left: the bytes are freed. */
pe_status text_clean(io_bytes *b, pe_error *err);

#endif
