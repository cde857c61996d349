/* SPDX-License-Identifier: MIT
 *
 * From file to file, a few MiB at a time: a permutation stays within a head, so whole heads are read, permuted and
 * written. The new file appears in one step, or not at all.
 */
#include "checked.h"
#include "pairs.h"
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)4 << 20)
#define PIECE_MAX ((size_t)256 << 20) /* a head: 576 rows of 7168 float32 are 16 MiB */

typedef struct stream {
    const io_file *in;
    io_writer *out;
    const io_watch *watch;
    uint64_t done, total;
    uint8_t *from, *to; /* room bytes each */
    size_t room;
    size_t *source; /* of each row of a head */
    size_t source_room;
    pe_error *err;
} stream;

static pe_status convert_put(stream *s, const void *data, size_t size)
{
    pe_status bad = io_writer_put(s->out, (io_span){ data, size }, s->err);
    s->done += size;
    if (bad == PE_OK && s->watch && !s->watch->tick(s->watch->context, s->done, s->total))
        bad = io_fail(s->err, PE_ERR_IO, "interrupted; nothing was written");
    return bad;
}

static pe_status copy(stream *s, uint64_t at, uint64_t size)
{
    pe_status bad = PE_OK;
    while (bad == PE_OK && size > 0) {
        size_t n = size < s->room ? (size_t)size : s->room;
        bad = io_file_read(s->from, s->in, at, n, s->err);
        if (bad == PE_OK)
            bad = convert_put(s, s->from, n);
        at += n;
        size -= n;
    }
    return bad;
}

/* ---------------------------------------------------------------- the permutation */

/* Which row of a head comes to row: half's i and i + n/2 are adjacent's 2i and 2i + 1. */
static int64_t source_row(const io_pairs_map *m, int64_t row)
{
    int64_t i = row - m->first, half = m->dims / 2;
    if (i < 0 || i >= m->dims)
        return row;
    if (m->to == IO_PAIRS_HALF)
        return m->first + (i < half ? 2 * i : 2 * (i - half) + 1);
    return m->first + i / 2 + (i % 2 ? half : 0);
}

/* A size that the compiler knows is one load and one store. */
static void gather(uint8_t *to, const uint8_t *from, const size_t *source, size_t rows, size_t size)
{
    if (size == 2)
        for (size_t r = 0; r < rows; r++)
            memcpy(to + 2 * r, from + 2 * source[r], 2);
    else if (size == 4)
        for (size_t r = 0; r < rows; r++)
            memcpy(to + 4 * r, from + 4 * source[r], 4);
    else
        for (size_t r = 0; r < rows; r++)
            memcpy(to + size * r, from + size * source[r], size);
}

/* Room for at least one head, and its table. */
static pe_status prepare(stream *s, const io_pairs_map *m, size_t head, const char *name)
{
    size_t bytes, rows = (size_t)m->head_dim; /* at most 65536 */
    if (head > PIECE_MAX)
        return io_fail(s->err, PE_ERR_RANGE, "%s: a head has %zu bytes; at most %zu are taken", name, head, PIECE_MAX);
    if (head > s->room) {
        free(s->from);
        free(s->to);
        s->from = malloc(head);
        s->to = malloc(head);
        s->room = head;
    }
    if (rows > s->source_room) {
        free(s->source);
        s->source = io_mul(&bytes, rows, sizeof *s->source) ? malloc(bytes) : NULL;
        s->source_room = rows;
    }
    if (!s->from || !s->to || !s->source)
        return io_fail(s->err, PE_ERR_NOMEM, "%s: no memory for a head of %zu bytes", name, head);
    for (size_t r = 0; r < rows; r++)
        s->source[r] = (size_t)source_row(m, (int64_t)r);
    return PE_OK;
}

/* size bytes from at on, which are m's rows: whole heads, some of which (v) are only copied. */
static pe_status permute_heads(stream *s, uint64_t at, uint64_t size, const io_pairs_map *m, const char *name)
{
    uint64_t row_bytes = m->rows ? size / (uint64_t)m->rows : 0;
    uint64_t wide = row_bytes * (uint64_t)m->head_dim; /* the rows are whole heads, so this is at most size */
    if (!wide)
        return PE_OK;
    if (size % wide)
        return io_fail(s->err, PE_ERR_SHAPE, "%s: its rows are not whole heads", name);
    size_t head = wide > SIZE_MAX ? SIZE_MAX : (size_t)wide;
    pe_status bad = prepare(s, m, head, name);
    int64_t row = 0;
    while (bad == PE_OK && size > 0) {
        size_t heads = s->room / head;
        if (heads > size / head)
            heads = (size_t)(size / head);
        bad = io_file_read(s->from, s->in, at, heads * head, s->err);
        for (size_t h = 0; bad == PE_OK && h < heads; h++, row += m->head_dim)
            if (row % m->block < m->rotated)
                gather(s->to + h * head, s->from + h * head, s->source, (size_t)m->head_dim, (size_t)row_bytes);
            else
                memcpy(s->to + h * head, s->from + h * head, head);
        if (bad == PE_OK)
            bad = convert_put(s, s->to, heads * head);
        at += heads * head;
        size -= heads * head;
    }
    return bad;
}

/* ---------------------------------------------------------------- files */

static pe_status start_stream(stream *s, const char *path)
{
    s->room = PIECE;
    s->from = malloc(PIECE);
    s->to = malloc(PIECE);
    if (!s->from || !s->to)
        return io_fail(s->err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", path, 2 * PIECE);
    return io_writer_open(&s->out, path, s->err);
}

static pe_status finish_stream(stream *s, pe_status bad)
{
    if (bad == PE_OK)
        bad = io_writer_commit(s->out, s->err);
    else
        io_writer_abort(s->out);
    free(s->from);
    free(s->to);
    free(s->source);
    return bad;
}

pe_status io_pairs_convert(const char *path, const io_safetensors *st, const io_pairs_plan *plan, const io_watch *w,
                           pe_error *err)
{
    io_bytes head;
    stream s = { .in = &st->source, .watch = w, .total = st->source.size, .err = err };
    if (st->source.fd < 0)
        return io_fail(err, PE_ERR_NULL, "the file is loaded; needs one from io_safetensors_open");
    pe_status bad = io_safetensors_head(&head, st, IO_PAIRS_KEY, io_pairs_name(plan->to), err);
    if (bad == PE_OK)
        bad = start_stream(&s, path);
    if (bad == PE_OK)
        bad = convert_put(&s, head.data, head.size);
    io_bytes_free(&head);
    for (size_t i = 0; bad == PE_OK && i < plan->count; i++) {
        const io_tensor *t = plan->item[i].tensor;
        const io_pairs_map *m = &plan->item[i].map;
        bad = m->rows ? permute_heads(&s, t->offset, t->size, m, t->name) : copy(&s, t->offset, t->size);
    }
    return finish_stream(&s, bad);
}

pe_status io_pairs_convert_array(const char *path, const io_file *in, const io_array *a, uint64_t begin,
                                 const io_pairs_map *map, const io_watch *w, pe_error *err)
{
    stream s = { .in = in, .watch = w, .total = in->size, .err = err };
    pe_status bad = start_stream(&s, path);
    if (bad == PE_OK)
        bad = copy(&s, 0, begin);
    if (bad == PE_OK)
        bad = permute_heads(&s, begin, (uint64_t)a->count * io_type_size(a->type), map, in->name);
    return finish_stream(&s, bad);
}

pe_status io_copy_file(const char *path, const io_file *in, const io_watch *w, pe_error *err)
{
    stream s = { .in = in, .watch = w, .total = in->size, .err = err };
    pe_status bad = start_stream(&s, path);
    if (bad == PE_OK)
        bad = copy(&s, 0, in->size);
    return finish_stream(&s, bad);
}
