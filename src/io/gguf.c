/* SPDX-License-Identifier: MIT
 *
 * Opens a GGUF file: reads as much of its beginning as the metadata takes, and checks all of it. See gguf.h.
 */
#include "checked.h"
#include "file.h"
#include "gguf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PIECE                                                                                                    \
    ((size_t)1 << 20) /* the metadata of most models without a tokenizer; else twice as much, and so on */

static pe_status check_version(uint32_t version, const io_gguf_cursor *c)
{
    if (version == 2 || version == 3)
        return PE_OK;
    if ((version & 0xFFFF) == 0 && version != 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: is a big-endian GGUF file; needs a little-endian one", c->name);
    return io_fail(c->err, PE_ERR_FORMAT, "%s: is GGUF version %lu%s; needs 2 or 3", c->name, (unsigned long)version,
                   version == 1 ? ", which no program reads any more" : "");
}

static pe_status read_metadata(io_gguf *g, io_gguf_cursor *c)
{
    const uint8_t *magic;
    uint64_t tensors = 0, keys = 0;
    pe_status s = io_gguf_take(&magic, c, 4, "the first four bytes");
    if (s != PE_OK)
        return s;
    if (memcmp(magic, "GGUF", 4) != 0)
        return io_fail(c->err, PE_ERR_FORMAT, "%s: is not a GGUF file: it does not begin with GGUF", c->name);
    s = io_gguf_take_u32(&g->version, c, "the version");
    if (s == PE_OK)
        s = check_version(g->version, c);
    if (s == PE_OK)
        s = io_gguf_take_u64(&tensors, c, "the number of tensors");
    if (s == PE_OK)
        s = io_gguf_take_u64(&keys, c, "the number of keys");
    if (s == PE_OK)
        s = io_gguf_keys(g, c, keys);
    return s == PE_OK ? io_gguf_tensors(g, c, tensors) : s;
}

static pe_status make(io_gguf **out, const char *name, pe_error *err)
{
    size_t length, bytes;
    bool fits = io_add(&length, strlen(name), 1) && io_add(&bytes, length, sizeof **out);
    *out = fits ? calloc(1, bytes) : NULL;
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory", name);
    memcpy((*out)->name, name, length);
    return PE_OK;
}

/* As io_gguf_parse. *more is 0, or the bytes of the file that have to be in memory for a better answer. */
static pe_status parse(io_gguf **out, io_bytes *file, int64_t file_size, size_t *more, pe_error *err)
{
    *more = 0;
    pe_status s = make(out, file->name, err);
    if (s != PE_OK) {
        io_bytes_free(file);
        return s;
    }
    io_gguf *g = *out;
    g->file = *file;
    g->file.name = g->name;
    g->file_size = file_size;
    *file = (io_bytes){ 0 };
    io_gguf_cursor c = { g->file.data, 0, g->file.size, file_size, 0, g->name, err };
    s = read_metadata(g, &c);
    *more = c.more;
    if (s != PE_OK) {
        io_gguf_free(g);
        *out = NULL;
    }
    return s;
}

pe_status io_gguf_parse(io_gguf **out, io_bytes *file, uint64_t file_size, pe_error *err)
{
    *out = NULL;
    size_t more = 0, have = file->size;
    const char *name = file->name;
    if (file_size > INT64_MAX || file_size < have) {
        io_bytes_free(file);
        return io_fail(err, PE_ERR_RANGE, "%s: %zu bytes of a file of %llu; needs at most all of 2^63 - 1", name, have,
                       (unsigned long long)file_size);
    }
    pe_status s = parse(out, file, (int64_t)file_size, &more, err);
    return more ? io_fail(err, s, "%s: needs %zu bytes of the file in memory; there are %zu", name, more, have) : s;
}

/* Ends, for each round reads at least twice as much as the one before. Nothing is kept between them: parsing has moved
 * the strings, and two pieces at a time would be more memory. */
static pe_status open_pieces(io_gguf **out, int fd, int64_t file_size, const char *path, pe_error *err)
{
    size_t piece = FIRST_PIECE, more;
    pe_status s;
    do {
        io_bytes file = { .name = path };
        file.size = (int64_t)piece < file_size ? piece : (size_t)file_size;
        file.data = malloc(file.size ? file.size : 1);
        s = file.data ? io_read_at(file.data, file.size, 0, fd, path, err)
                      : io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", path, file.size);
        if (s != PE_OK) {
            io_bytes_free(&file);
            return s;
        }
        s = parse(out, &file, file_size, &more, err);
        piece = more > 2 * piece ? more : 2 * piece; /* not past 2 IO_CAP_GGUF: more is not past it */
    } while (more);
    return s;
}

pe_status io_gguf_open(io_gguf **out, const char *path, pe_error *err)
{
    int fd;
    int64_t size;
    *out = NULL;
    pe_status s = io_open_file(&fd, &size, path, err);
    if (s != PE_OK)
        return s;
    s = open_pieces(out, fd, size, path, err);
    close(fd);
    return s;
}

void io_gguf_free(io_gguf *g)
{
    if (!g)
        return;
    free(g->keys);
    free(g->tensors);
    io_bytes_free(&g->file);
    free(g);
}

int io_gguf_version(const io_gguf *g)
{
    return (int)g->version;
}

int64_t io_gguf_alignment(const io_gguf *g)
{
    return g->alignment;
}
