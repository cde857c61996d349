/* SPDX-License-Identifier: MIT
 *
 * Taking pieces of a GGUF file one after the other, none of them past its end.
 */
#include "checked.h"
#include "gguf.h"
#include "scan.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 7 /* of a string that was taken; see gguf.h */

static uint64_t little_endian(const uint8_t *at, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | at[i];
    return v;
}

uint32_t io_gguf_u32(const uint8_t *at)
{
    return (uint32_t)little_endian(at, 4);
}

uint64_t io_gguf_u64(const uint8_t *at)
{
    return little_endian(at, 8);
}

size_t io_gguf_length(const char *text)
{
    return (size_t)little_endian((const uint8_t *)text - LENGTH_BYTES, LENGTH_BYTES);
}

int64_t io_gguf_left(const io_gguf_cursor *c)
{
    return c->file_size - (int64_t)c->at; /* at <= have <= file_size */
}

pe_status io_gguf_take(const uint8_t **out, io_gguf_cursor *c, uint64_t size, const char *what)
{
    size_t end;
    if (size > (uint64_t)io_gguf_left(c))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: ends inside %s: it needs %llu bytes, the file has %lld left",
                       c->name, what, (unsigned long long)size, (long long)io_gguf_left(c));
    if (size > IO_CAP_GGUF || !io_add(&end, c->at, (size_t)size) || end > IO_CAP_GGUF)
        return io_fail(c->err, PE_ERR_RANGE, "%s: has more than %zu bytes of metadata, the most that is read", c->name,
                       IO_CAP_GGUF);
    if (end > c->have) {
        c->more = end;
        return PE_ERR_FORMAT;
    }
    *out = c->base + c->at;
    c->at = end;
    return PE_OK;
}

pe_status io_gguf_take_u32(uint32_t *out, io_gguf_cursor *c, const char *what)
{
    const uint8_t *at;
    pe_status s = io_gguf_take(&at, c, 4, what);
    *out = s == PE_OK ? io_gguf_u32(at) : 0;
    return s;
}

pe_status io_gguf_take_u64(uint64_t *out, io_gguf_cursor *c, const char *what)
{
    const uint8_t *at;
    pe_status s = io_gguf_take(&at, c, 8, what);
    *out = s == PE_OK ? io_gguf_u64(at) : 0;
    return s;
}

pe_status io_gguf_take_string(const char **out, io_gguf_cursor *c, uint64_t max, const char *what)
{
    uint64_t length;
    const uint8_t *text;
    pe_status s = io_gguf_take_u64(&length, c, what);
    if (s != PE_OK)
        return s;
    if (length > max && length <= (uint64_t)io_gguf_left(c))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s has %llu bytes; at most %llu", c->name, what,
                       (unsigned long long)length, (unsigned long long)max);
    s = io_gguf_take(&text, c, length, what);
    if (s != PE_OK)
        return s;
    uint8_t *to = c->base + (text - c->base) - 1; /* the highest byte of the length, which is 0 */
    memmove(to, text, (size_t)length);
    to[length] = 0;
    *out = (const char *)to;
    return PE_OK;
}

/* C0, DEL and C1 (0xC2 0x80..0x9F) are controls. */
static bool is_name(const char *text, const char *end)
{
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = io_utf8_length(text, end);
        if (!length || c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)text[1] < 0xA0))
            return false;
        text += length;
    }
    return true;
}

pe_status io_gguf_take_name(const char **out, io_gguf_cursor *c, uint64_t max, const char *what)
{
    pe_status s = io_gguf_take_string(out, c, max, what);
    if (s != PE_OK)
        return s;
    size_t length = io_gguf_length(*out);
    if (length == 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is empty", c->name, what);
    if (!is_name(*out, *out + length))
        return io_fail(c->err, PE_ERR_FORMAT, "%s: %s is not UTF-8 or holds a control character", c->name, what);
    return PE_OK;
}

pe_status io_gguf_table(const char ***out, io_gguf_cursor *c, uint64_t count, uint64_t min, const char *what)
{
    uint64_t fit = (uint64_t)io_gguf_left(c) / min;
    size_t bytes, need;
    if (count > fit)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: claims %llu %s; its %lld bytes left hold %llu at most", c->name,
                       (unsigned long long)count, what, (long long)io_gguf_left(c), (unsigned long long)fit);
    if (count > IO_CAP_GGUF || !io_mul(&need, (size_t)count, (size_t)min) || !io_add(&need, need, c->at) ||
        !io_mul(&bytes, (size_t)count, sizeof **out))
        return io_fail(c->err, PE_ERR_RANGE, "%s: claims %llu %s; metadata of %zu bytes is the most that is read",
                       c->name, (unsigned long long)count, what, IO_CAP_GGUF);
    if (need > c->have) { /* no table for items that are not in memory yet */
        const uint8_t *all;
        return io_gguf_take(&all, c, need - c->at, what);
    }
    *out = malloc(bytes ? bytes : 1);
    return *out ? PE_OK : io_fail(c->err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", c->name, bytes);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

pe_status io_gguf_sort(const char **texts, size_t count, const io_gguf_cursor *c, const char *what)
{
    io_sort(texts, count, sizeof *texts, by_text);
    for (size_t i = 1; i < count; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            return io_fail(c->err, PE_ERR_FORMAT, "%s: %s %s comes twice", c->name, what, texts[i]);
    return PE_OK;
}

const char *io_gguf_search(const char *const *texts, size_t count, const char *text)
{
    const char *const *found = count ? bsearch(&text, texts, count, sizeof *texts, by_text) : NULL;
    return found ? *found : NULL;
}
