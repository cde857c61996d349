/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "checked.h"
#include "json_text.h"

#include <math.h>

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
size_t io_json_numeral(const char *at, const char *end, bool *real)
{
    const char *first = at, *digits = at + (at < end && *at == '-');
    at = digits < end && *digits == '0' ? digits + 1 : pass_digits(digits, end);
    bool well = at > digits;
    *real = false;
    if (well && at < end && *at == '.') {
        digits = at + 1;
        at = pass_digits(digits, end);
        *real = true;
        well = at > digits;
    }
    if (well && at < end && (*at == 'e' || *at == 'E')) {
        digits = at + 1;
        digits += digits < end && (*digits == '+' || *digits == '-');
        at = pass_digits(digits, end);
        *real = true;
        well = at > digits;
    }
    return well ? (size_t)(at - first) : 0;
}

bool io_json_whole(int64_t *out, const char *at, size_t size)
{
    bool negative = *at == '-';
    *out = 0;
    for (size_t i = negative; i < size; i++) {
        int64_t digit = at[i] - '0';
        if (!io_mul_i64(out, *out, 10) || !io_add_i64(out, *out, negative ? -digit : digit))
            return false;
    }
    return true;
}

_Static_assert(IO_JSON_NUMBER_MAX <= TEXT_DIGITS_MAX, "every numeral can be converted");

bool io_json_double(double *out, const char *at, size_t size)
{
    if (!text_number(at, size, out))
        return false;
    *out = *at == '-' ? -fabs(*out) : *out; /* -0.0 keeps its sign */
    return true;
}
