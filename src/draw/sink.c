/* SPDX-License-Identifier: MIT
 *
 * Bytes that grow. */
#include "draw/deflate.h"

#include "io/checked.h"

#include <stdlib.h>
#include <string.h>

void sink_put(byte_sink *s, const void *bytes, size_t size)
{
    size_t need, room;
    if (s->failed || !io_add(&need, s->size, size)) {
        s->failed = true;
        return;
    }
    if (need > s->room) {
        uint8_t *more = io_mul(&room, need, 2) && io_add(&room, room, 64) ? realloc(s->at, room) : NULL;
        if (!more) {
            s->failed = true;
            return;
        }
        s->at = more;
        s->room = room;
    }
    memcpy(s->at + s->size, bytes, size);
    s->size = need;
}

void sink_byte(byte_sink *s, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    sink_put(s, &b, 1);
}

void sink_big32(byte_sink *s, uint32_t n)
{
    uint8_t b[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
    sink_put(s, b, 4);
}
