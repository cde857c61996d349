/* SPDX-License-Identifier: MIT
 *
 * The door: what a public function checks of its arguments, once, before it loops without failing. */
#ifndef PE_DOOR_H
#define PE_DOOR_H

#include "base/door.h"
#include "core/row.h"

/* A view of float32, float16, bfloat16 or float64. */
pe_status check_view(pe_view *v, const char *name, extent size, use how, pe_error *err);
extern const dtypes types_float, types_cache, types_bool;
/* What an encoding takes of the caller beside its vectors, and its gradient, whose data may be NULL. */
pe_status check_input(pe_view *v, const char *name, bool taken, extent size, pe_error *err);
pe_status check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                          pe_error *err);
/* The same where fractions are taken, or not. */
pe_status check_positions_real(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               bool fractions, pe_error *err);
/* Entries of a table of pages that these tokens use, or so many of each sequence where length is given. */
pe_status check_pages(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, const int64_t *length,
                      pe_error *err);
/* What a call was given beside its arguments; NULL: nothing. */
pe_status check_run(pe_run *out, const pe_run *given, pe_error *err);
pe_status check_params(const pe_encoding *e, pe_params w, pe_error *err);
pe_status check_grads(const pe_encoding *e, pe_params dw, pe_error *err);
pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err);
#define CHECK_MEMORY(in_place, ...)                                                                                    \
    TRY(check_memory((region[]){ __VA_ARGS__ }, COUNT_OF(((region[]){ __VA_ARGS__ })), in_place, err))

#endif
