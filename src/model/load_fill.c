/* SPDX-License-Identifier: MIT
 *
 * Tensors of the files into the model's memory, by the table of places. */
#include "model/load_hf.h"

#include <stdio.h>
#include <string.h>

#define NAME_LENGTH 200

static const place output = { "output", "lm_head", VOCAB, WIDTH, NEVER, false };

static int64_t size_in(const model_config *c, size_of what)
{
    switch (what) {
    case VOCAB: return c->vocab;
    case WIDTH: return c->width;
    case QUERIES: return c->heads * c->head_dim;
    case KEYS: return c->kv_heads * c->head_dim;
    case FUSED: return (c->heads + 2 * c->kv_heads) * c->head_dim;
    case HIDDEN: return c->hidden;
    default: return 1;
    }
}

/* before + pattern with % as the layer + after */
static void spell(char out[NAME_LENGTH], const char *before, const char *pattern, int64_t layer, const char *after)
{
    const char *mark = strchr(pattern, '%');
    if (mark)
        snprintf(out, NAME_LENGTH, "%s%.*s%lld%s%s", before, (int)(mark - pattern), pattern, (long long)layer, mark + 1,
                 after);
    else
        snprintf(out, NAME_LENGTH, "%s%s%s", before, pattern, after);
}

/* ---------------------------------------------------------------- in the files */

typedef struct found {
    const io_safetensors *file;
    const io_tensor *tensor; /* NULL: in none of them */
} found;

static found find(const model_shards *from, const char *name)
{
    char whole[400];
    snprintf(whole, sizeof whole, "%s%s", from->prefix ? from->prefix : "", name);
    for (int n = 0; n < from->count; n++) {
        const io_tensor *t = io_safetensors_find(from->file[n], whole);
        if (t)
            return (found){ from->file[n], t };
    }
    return (found){ NULL, NULL };
}

static pe_status check(const loading *l, const char *name, const io_tensor *t, int64_t rows, int64_t columns, int rank)
{
    if (!t)
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the tensor %s is in none of the %d files", l->name, name,
                       l->from->count);
    if (t->type != IO_F32 && t->type != IO_F16 && t->type != IO_BF16)
        return io_fail(l->err, PE_ERR_DTYPE, "%s: %s is %s; needs F32, F16 or BF16", l->name, name,
                       io_type_name(t->type));
    if (t->rank == rank && t->shape[0] == rows && (rank < 2 || t->shape[1] == columns))
        return PE_OK;
    if (rank < 2)
        return io_fail(l->err, PE_ERR_SHAPE, "%s: %s has %d axes and %lld elements; the config says (%lld)", l->name,
                       name, t->rank, (long long)t->count, (long long)rows);
    return io_fail(l->err, PE_ERR_SHAPE,
                   "%s: %s has %d axes, the first of %lld, and %lld elements; the config says (%lld, %lld)", l->name,
                   name, t->rank, (long long)(t->rank ? t->shape[0] : 1), (long long)t->count, (long long)rows,
                   (long long)columns);
}

/* ---------------------------------------------------------------- into the model */

static pe_status read_elements(const loading *l, real *to, found f, int64_t first, int64_t count)
{
    size_t size = io_type_size(f.tensor->type);
    for (int64_t done = 0, n; done < count; done += n) {
        n = count - done < MODEL_LOAD_PIECE ? count - done : MODEL_LOAD_PIECE;
        LOAD_TRY(io_tensor_read(l->piece, f.file, f.tensor, (size_t)(first + done) * size, (size_t)n * size, l->err));
        LOAD_TRY(model_load_convert(to + done, l->piece, f.tensor->type, n, l->err));
    }
    return PE_OK;
}

/* Blocks of D rows in the order h0q h0k h0v h1q ... become q of all heads, k of all, v of all. */
static pe_status read_by_head(const loading *l, real *to, found f, int64_t columns)
{
    int64_t block = l->c.head_dim * columns;
    for (int64_t n = 0; n < 3 * l->c.heads; n++)
        LOAD_TRY(read_elements(l, to + (n % 3 * l->c.heads + n / 3) * block, f, n * block, block));
    return PE_OK;
}

static pe_status load_one(const loading *l, const place *p, int64_t first, int64_t layer, const char *prefix,
                          bool is_bias)
{
    char from[NAME_LENGTH], to[NAME_LENGTH];
    int64_t rows = size_in(&l->c, p->rows), columns = is_bias ? 1 : size_in(&l->c, p->columns);
    spell(from, prefix, p->from, layer, is_bias ? ".bias" : ".weight");
    found f = find(l->from, from);
    LOAD_TRY(check(l, from, f.tensor, rows, columns, is_bias || p->columns == ONE ? 1 : 2));
    if (!l->m)
        return PE_OK;
    spell(to, "", p->to, layer, is_bias ? ".bias" : "");
    real *at = model_load_target(l->m, to);
    if (!at)
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the model has no place %s for %s", l->name, to, from);
    at += first * columns;
    return p->by_head ? read_by_head(l, at, f, columns) : read_elements(l, at, f, 0, rows * columns);
}

static pe_status load_place(const loading *l, const place *p, int64_t layer, const char *prefix)
{
    int64_t first = 0;
    for (const place *q = p; q > l->a->place && !strcmp(q[-1].to, p->to); q--)
        first += size_in(&l->c, q[-1].rows);
    LOAD_TRY(load_one(l, p, first, layer, prefix, false));
    return l->bias[p->bias] ? load_one(l, p, first, layer, prefix, true) : PE_OK;
}

static const char *prefix_of(const loading *l)
{
    char name[NAME_LENGTH];
    spell(name, l->a->prefix, l->a->embed, 0, "");
    return find(l->from, name).tensor ? l->a->prefix : find(l->from, l->a->embed).tensor ? "" : l->a->prefix;
}

pe_status load_places(loading *l)
{
    const char *prefix = prefix_of(l);
    const place *end = l->a->place + l->a->places;
    for (const place *p = l->a->place; p < end; p++)
        for (int64_t n = 0; n < (strchr(p->to, '%') ? l->c.layers : 1); n++)
            LOAD_TRY(load_place(l, p, n, prefix));
    return l->c.untied ? load_one(l, &output, 0, 0, "", false) : PE_OK;
}
