/* SPDX-License-Identifier: MIT
 *
 * Position builders: the arrays that people get wrong. */
#include "core/core.h"

#include <inttypes.h>

static pe_status check_array(const int64_t *at, const char *name, int64_t tokens, pe_error *err)
{
    if (tokens < 0 || tokens > PTRDIFF_MAX / 8)
        return pe_fail(err, tokens < 0 ? PE_ERR_SHAPE : PE_ERR_OVERFLOW, "tokens is %" PRId64 "; needs 0 to 2^60",
                       tokens);
    if (tokens && !at)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL; needs %" PRId64 " int64", name, tokens);
    if ((uintptr_t)at % sizeof(int64_t))
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to its 8-byte elements", name);
    return PE_OK;
}

static pe_status check_start(int64_t start, int64_t last, pe_error *err)
{
    if (start < -PE_POSITION_MAX || start > PE_POSITION_MAX || last > PE_POSITION_MAX - start)
        return pe_fail(err, PE_ERR_POSITION, "start is %" PRId64 "; positions need to stay within -2^36 to 2^36",
                       start);
    return PE_OK;
}

pe_status pe_positions_offset(int64_t *at, int64_t tokens, int64_t start, pe_error *err)
{
    TRY(check_array(at, "at", tokens, err));
    TRY(check_start(start, tokens ? tokens - 1 : 0, err));
    for (int64_t t = 0; t < tokens; t++)
        at[t] = start + t;
    return pe_pass(err);
}

pe_status pe_positions_masked(int64_t *at, const uint8_t *used, int64_t tokens, int64_t start, pe_error *err)
{
    TRY(check_array(at, "at", tokens, err));
    TRY(check_start(start, tokens ? tokens - 1 : 0, err));
    if (tokens && !used)
        return pe_fail(err, PE_ERR_NULL, "used is NULL; needs %" PRId64 " bytes, 1 for a real token", tokens);
    CHECK_MEMORY(false, array_region("at", at, tokens, sizeof *at, WRITES),
                 array_region("used", used, tokens, 1, READS));
    int64_t next = start;
    for (int64_t t = 0; t < tokens; t++)
        at[t] = used[t] ? next++ : start;
    return pe_pass(err);
}

pe_status pe_positions_packed(int64_t *at, int64_t *segment, int64_t tokens, const int64_t *lengths, int64_t sequences,
                              pe_error *err)
{
    int64_t sum = 0;
    TRY(check_array(at, "at", tokens, err));
    TRY(check_array(segment, "segment", 0, err));
    if (sequences < 0 || sequences > PTRDIFF_MAX / 8)
        return pe_fail(err, PE_ERR_SHAPE, "sequences is %" PRId64 "; needs 0 to 2^60", sequences);
    if (sequences && !lengths)
        return pe_fail(err, PE_ERR_NULL, "lengths is NULL; needs %" PRId64 " int64", sequences);
    if ((uintptr_t)lengths % sizeof(int64_t))
        return pe_fail(err, PE_ERR_ALIGN, "lengths is not aligned to its 8-byte elements");
    CHECK_MEMORY(false, array_region("at", at, tokens, sizeof *at, WRITES),
                 array_region("segment", segment, tokens, sizeof *segment, WRITES),
                 array_region("lengths", lengths, sequences, sizeof *lengths, READS));
    for (int64_t s = 0; s < sequences; s++)
        if (lengths[s] < 0 || !checked_add(&sum, sum, lengths[s]) || sum > tokens)
            return pe_fail(err, PE_ERR_SHAPE,
                           "length %" PRId64 " is %" PRId64 "; the lengths must add up to tokens, %" PRId64, s,
                           lengths[s], tokens);
    if (sum != tokens)
        return pe_fail(err, PE_ERR_SHAPE, "the lengths add up to %" PRId64 "; tokens is %" PRId64, sum, tokens);
    for (int64_t s = 0, t = 0; s < sequences; s++)
        for (int64_t n = 0; n < lengths[s]; n++, t++) {
            at[t] = n;
            if (segment)
                segment[t] = s;
        }
    return pe_pass(err);
}

pe_status pe_positions_grid(int64_t *at, int64_t t, int64_t h, int64_t w, int64_t start, pe_error *err)
{
    int64_t count;
    if (!checked_mul(&count, t, h) || !checked_mul(&count, count, w) || !checked_mul(&count, count, 3))
        return pe_fail(err, PE_ERR_SHAPE,
                       "t, h, w are %" PRId64 ", %" PRId64 ", %" PRId64 "; need 0 or more, their product within 2^60",
                       t, h, w);
    TRY(check_array(at, "at", count, err));
    int64_t longest = t > h ? t : h;
    longest = longest > w ? longest : w;
    TRY(check_start(start, count ? longest - 1 : 0, err));
    for (int64_t n = 0; n < count / 3; n++) {
        at[3 * n] = start + n / (h * w);
        at[3 * n + 1] = start + n / w % h;
        at[3 * n + 2] = start + n % w;
    }
    return pe_pass(err);
}
