/* SPDX-License-Identifier: MIT
 *
 * Stands in for functions that the header has and the library not yet; the library's own come first. */
#include "bench.h"

__attribute__((weak)) pe_status pe_attention_backward_work(const pe_encoding *e, const pe_attention *a, size_t *bytes,
                                                           pe_error *err)
{
    return pe_reference_work(e, a, bytes, err);
}

__attribute__((weak)) pe_status pe_attention_backward(const pe_encoding *e, pe_params params, const pe_attention *a,
                                                      const pe_attention_grad *g, void *work, size_t bytes,
                                                      pe_error *err)
{
    return pe_reference_backward(e, params, a, g, work, bytes, err);
}
