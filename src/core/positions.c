/* SPDX-License-Identifier: MIT
 *
 * Position builders: the arrays that people get wrong. */
#include "core/door.h"
#include "core/place.h"

#include <inttypes.h>

static pe_status check_array(const int64_t *at, const char *name, int64_t tokens, pe_error *err)
{
    if (tokens < 0 || tokens > PTRDIFF_MAX / 8)
        return pe_fail(err, tokens < 0 ? PE_ERR_SHAPE : PE_ERR_OVERFLOW, "tokens is %" PRId64 "; needs 0 to 2^60",
                       tokens);
    if (tokens && !at)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL; needs %" PRId64 " int64", name, tokens);
    if ((uintptr_t)at % _Alignof(int64_t))
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

pe_status pe_positions_packed(int64_t *at, const int64_t *offset, int64_t sequences, pe_error *err)
{
    if (sequences < 0 || sequences > PTRDIFF_MAX / 16)
        return pe_fail(err, PE_ERR_SHAPE, "sequences is %" PRId64 "; needs 0 to 2^59", sequences);
    CHECK_POINTER(int64_t, offset, "offset");
    for (int64_t s = 0; s < sequences; s++)
        if (offset[0] || offset[s + 1] < offset[s])
            return pe_fail(err, PE_ERR_SHAPE,
                           "offset %" PRId64 " is %" PRId64 " and the next %" PRId64 "; needs to rise from 0", s,
                           offset[s], offset[s + 1]);
    int64_t tokens = sequences ? offset[sequences] : 0;
    TRY(check_array(at, "at", tokens, err));
    CHECK_MEMORY(false, array_region("at", at, tokens, sizeof *at, WRITES),
                 array_region("offset", offset, sequences + 1, sizeof *offset, READS));
    for (int64_t s = 0; s < sequences; s++)
        for (int64_t t = offset[s]; t < offset[s + 1]; t++)
            at[t] = t - offset[s];
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
