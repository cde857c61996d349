/* SPDX-License-Identifier: MIT */
#include "io/json_out.h"

/* Whether more bytes can make a character of them. */
static bool begins_character(const char *held, int count)
{
    unsigned char first = (unsigned char)held[0];
    int whole = first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    for (int i = 1; i < count; i++)
        if ((held[i] & 0xC0) != 0x80)
            return false;
    return count < whole;
}

/* What of the held bytes is decided by now. */
static void put_decided(out_pieces *p, bool end)
{
    while (p->count) {
        unsigned code = 0;
        int bytes = out_character(p->held, &code);
        if (!bytes && !end && begins_character(p->held, p->count))
            return;
        if (!bytes || (out_is_order(code) && code != '\n' && code != '\r' && code != '\t'))
            putc('?', p->to);
        else
            fwrite(p->held, 1, (size_t)bytes, p->to);
        bytes = bytes ? bytes : 1;
        p->count -= bytes;
        for (int i = 0; i <= p->count; i++)
            p->held[i] = p->held[i + bytes];
    }
}

void out_piece(out_pieces *p, const void *bytes, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        p->held[p->count++] = ((const char *)bytes)[n];
        p->held[p->count] = 0;
        put_decided(p, false);
    }
}

void out_pieces_end(out_pieces *p)
{
    put_decided(p, true);
}
