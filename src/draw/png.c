/* SPDX-License-Identifier: MIT
 *
 * PNG (ISO/IEC 15948): chunks with their check, rows with their filter. */
#include "draw/png.h"

#include "io/checked.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- chunks */

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t table[256], crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

/* The check is of the name and the bytes. */
static void put_chunk(byte_sink *out, const char *name, const uint8_t *bytes, size_t size)
{
    size_t start = out->size + 4;
    if (size > 0x7FFFFFFF)
        out->failed = true;
    sink_big32(out, (uint32_t)size);
    sink_put(out, name, 4);
    if (size)
        sink_put(out, bytes, size);
    if (!out->failed)
        sink_big32(out, crc_of(out->at + start, out->size - start));
}

static void put_header(byte_sink *out, int width, int height, int colour_type)
{
    static const uint8_t signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n' };
    byte_sink head = { 0 };
    sink_put(out, signature, sizeof signature);
    sink_big32(&head, (uint32_t)width);
    sink_big32(&head, (uint32_t)height);
    sink_byte(&head, 8); /* bits of a sample */
    sink_byte(&head, (unsigned)colour_type);
    sink_put(&head, "\0\0\0", 3); /* deflate, the five filters, no interlace */
    out->failed = out->failed || head.failed;
    put_chunk(out, "IHDR", head.at, head.size);
    free(head.at);
}

/* ---------------------------------------------------------------- filters */

/* What the filter expects at i, of the byte to the left, above, and above left. */
static int expected(int filter, int left, int above, int corner)
{
    int p = left + above - corner, a = abs(p - left), b = abs(p - above), c = abs(p - corner);
    switch (filter) {
    case 1: return left;
    case 2: return above;
    case 3: return (left + above) / 2;
    case 4: return a <= b && a <= c ? left : b <= c ? above : corner;
    default: return 0;
    }
}

/* The row as differences to what is expected, and the sum of their sizes: a small one packs well. */
static long filter_row(uint8_t *out, int filter, const uint8_t *row, const uint8_t *above, size_t size, size_t pixel)
{
    long sum = 0;
    for (size_t i = 0; i < size; i++) {
        int left = i >= pixel ? row[i - pixel] : 0, up = above ? above[i] : 0;
        int corner = above && i >= pixel ? above[i - pixel] : 0;
        out[i] = (uint8_t)(row[i] - expected(filter, left, up, corner));
        sum += out[i] < 128 ? out[i] : 256 - out[i];
    }
    return sum;
}

/* out: 1 + size bytes. room: size bytes. */
static void best_row(uint8_t *out, uint8_t *room, const uint8_t *row, const uint8_t *above, size_t size, size_t pixel)
{
    long least = filter_row(out + 1, 0, row, above, size, pixel);
    out[0] = 0;
    for (int filter = 1; filter < 5 && least > 0; filter++) {
        long sum = filter_row(room, filter, row, above, size, pixel);
        if (sum >= least)
            continue;
        least = sum;
        out[0] = (uint8_t)filter;
        memcpy(out + 1, room, size);
    }
}

/* Rows of size bytes, with a filter each where a pixel is a colour. */
static void put_rows(byte_sink *out, const uint8_t *bytes, size_t size, int rows, size_t pixel)
{
    size_t all, line;
    bool fits = io_add(&line, size, 1) && io_mul(&all, line, (size_t)rows);
    uint8_t *made = fits ? malloc(all) : NULL, *room = malloc(size);
    byte_sink packed = { 0 };
    for (size_t r = 0; made && room && r < (size_t)rows; r++) {
        const uint8_t *row = bytes + r * size;
        made[r * line] = 0;
        if (pixel > 1)
            best_row(made + r * line, room, row, r ? row - size : NULL, size, pixel);
        else
            memcpy(made + r * line + 1, row, size);
    }
    if (made && room) {
        zlib_pack(&packed, made, all);
        put_chunk(out, "IDAT", packed.at, packed.size);
    }
    out->failed = out->failed || packed.failed || !made || !room;
    free(packed.at);
    free(made);
    free(room);
}

/* ---------------------------------------------------------------- files */

void png_pixels(byte_sink *out, const uint8_t *rgb, int width, int height)
{
    put_header(out, width, height, 2);
    put_rows(out, rgb, 3 * (size_t)width, height, 3);
    put_chunk(out, "IEND", NULL, 0);
}

void png_cells(byte_sink *out, const uint8_t *heat, int columns, int rows)
{
    uint8_t palette[256][3] = { { 0 } }, alpha[256];
    memset(alpha, 255, sizeof alpha);
    alpha[DRAW_NOTHING] = 0;
    for (int i = 0; i < DRAW_LEVELS; i++) {
        draw_rgb c = ink_heat(INK_HEAT + i);
        memcpy(palette[i], (uint8_t[3]){ c.r, c.g, c.b }, 3);
    }
    put_header(out, columns, rows, 3);
    put_chunk(out, "PLTE", palette[0], sizeof palette);
    put_chunk(out, "tRNS", alpha, sizeof alpha);
    put_rows(out, heat, (size_t)columns, rows, 1);
    put_chunk(out, "IEND", NULL, 0);
}
