/* SPDX-License-Identifier: MIT */
#include "prove/prove.h"
#include "io/io.h"
pe_status prove_properties(property_found out[PE_CLAIM_COUNT], const char *spec, pe_shape shape, pe_error *err)
{
    (void)out; (void)spec; (void)shape;
    return io_fail(err, PE_ERR_UNSUITED, "not yet");
}
words prove_property_words(unsigned claim) { (void)claim; return (words){"",""}; }
