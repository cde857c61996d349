/* SPDX-License-Identifier: MIT
 *
 * XXH64. Four lanes take 8 bytes of every 32; what is left at the end, fewer than 32 bytes, goes in by 8, by 4 and one
 * by one. All arithmetic is modulo 2^64.
 */
#include "io.h"

#include <string.h>

#define PRIME1 0x9E3779B185EBCA87u
#define PRIME2 0xC2B2AE3D27D4EB4Fu
#define PRIME3 0x165667B19E3779F9u
#define PRIME4 0x85EBCA77C2B2AE63u
#define PRIME5 0x27D4EB2F165667C5u
#define STRIPE 32

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t take_word(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

static uint64_t mix_lane(uint64_t lane, uint64_t x)
{
    return rotate_left(lane + x * PRIME2, 31) * PRIME1;
}

static void add_stripe(io_hash *h, const uint8_t *at)
{
    for (int i = 0; i < 4; i++)
        h->lane[i] = mix_lane(h->lane[i], take_word(at + 8 * i, 8));
}

io_hash io_hash_start(uint64_t seed)
{
    return (io_hash){ .lane = { seed + PRIME1 + PRIME2, seed + PRIME2, seed, seed - PRIME1 }, .seed = seed };
}

void io_hash_add(io_hash *h, const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t held = h->size % STRIPE, room = STRIPE - held;
    h->size += size;
    if (size >= room && held) {
        memcpy(h->rest + held, at, room);
        add_stripe(h, h->rest);
        at += room;
        size -= room;
        held = 0;
    }
    for (; size >= STRIPE; at += STRIPE, size -= STRIPE)
        add_stripe(h, at);
    if (size)
        memcpy(h->rest + held, at, size);
}

static uint64_t join_lanes(const io_hash *h)
{
    if (h->size < STRIPE)
        return h->seed + PRIME5;
    uint64_t x = rotate_left(h->lane[0], 1) + rotate_left(h->lane[1], 7) + rotate_left(h->lane[2], 12) +
                 rotate_left(h->lane[3], 18);
    for (int i = 0; i < 4; i++)
        x = (x ^ mix_lane(0, h->lane[i])) * PRIME1 + PRIME4;
    return x;
}

uint64_t io_hash_end(const io_hash *h)
{
    const uint8_t *at = h->rest, *end = at + h->size % STRIPE;
    uint64_t x = join_lanes(h) + h->size;
    for (; end - at >= 8; at += 8)
        x = rotate_left(x ^ mix_lane(0, take_word(at, 8)), 27) * PRIME1 + PRIME4;
    if (end - at >= 4) {
        x = rotate_left(x ^ take_word(at, 4) * PRIME1, 23) * PRIME2 + PRIME3;
        at += 4;
    }
    for (; at < end; at++)
        x = rotate_left(x ^ *at * PRIME5, 11) * PRIME1;
    x = (x ^ x >> 33) * PRIME2;
    x = (x ^ x >> 29) * PRIME3;
    return x ^ x >> 32;
}
