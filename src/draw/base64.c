/* SPDX-License-Identifier: MIT */
#include "draw/list.h"

#include "io/checked.h"

bool draw_base64_size(size_t *out, size_t size)
{
    return io_add(out, size, 2) && io_mul(out, *out / 3, 4);
}

/* RFC 4648, with padding. */
size_t draw_base64(char *out, const void *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *b = bytes;
    char *at = out;
    for (size_t i = 0; i < size; i += 3, at += 4) {
        size_t left = size - i;
        unsigned n = (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0);
        at[0] = digit[n >> 18];
        at[1] = digit[n >> 12 & 63];
        at[2] = left > 1 ? digit[n >> 6 & 63] : '=';
        at[3] = left > 2 ? digit[n & 63] : '=';
    }
    return (size_t)(at - out);
}
