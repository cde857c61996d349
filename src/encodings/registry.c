/* SPDX-License-Identifier: MIT
 *
 * The only list there is. */
#include "core/spec.h"

#define ROWS(X)                                                                                                        \
    X(none)                                                                                                            \
    X(integer)                                                                                                         \
    X(normalised)                                                                                                      \
    X(binary)                                                                                                          \
    X(sinusoidal)                                                                                                      \
    X(learned)                                                                                                         \
    X(hierarchical)                                                                                                    \
    X(rope)                                                                                                            \
    X(xpos)                                                                                                            \
    X(fope) X(pope) X(shaw) X(transformer_xl) X(xlnet) X(deberta) X(cope) X(wavelet) X(alibi) X(t5) X(kerple) X(fire)  \
        X(sandwich) X(window) X(forget) X(inkling)

#define DECLARE(name) extern const row pe_row_##name;
#define POINT(name) &pe_row_##name,

ROWS(DECLARE)
const row *const pe_rows[] = { ROWS(POINT) };
const int pe_row_count = COUNT_OF(pe_rows);
_Static_assert(COUNT_OF(pe_rows) <= ROWS_MAX, "raise ROWS_MAX in core/spec.h");
