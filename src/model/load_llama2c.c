/* SPDX-License-Identifier: MIT
 *
 * Weights of a llama2.c .bin: float32, one matrix after the other, each for all layers, in the order of export.py. The
 * size of the file is what its header implies (io_llama2c_open). */
#include "model/load.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* One kind of tensor: rows of `name` from row `first` on; %d: in each layer. */
typedef struct section {
    const char *name; /* NULL: left out */
    int64_t first, rows, columns;
} section;

typedef struct reading {
    model *m;
    io_file file;
    uint64_t at; /* byte */
    int64_t layers;
    uint8_t *piece;
} reading;

static pe_status read_floats(reading *r, real *to, int64_t count, pe_error *err)
{
    pe_status s = PE_OK;
    for (int64_t done = 0, n; s == PE_OK && done < count; done += n) {
        n = count - done < MODEL_LOAD_PIECE ? count - done : MODEL_LOAD_PIECE;
        s = io_file_read(r->piece, &r->file, r->at, (size_t)n * sizeof(float), err);
        if (s == PE_OK)
            s = model_load_convert(to + done, r->piece, IO_F32, n, err);
        r->at += (uint64_t)n * sizeof(float);
    }
    return s;
}

static pe_status read_section(reading *r, const section *c, pe_error *err)
{
    char name[80];
    int64_t count = c->rows * c->columns, times = c->name && strchr(c->name, '%') ? r->layers : 1;
    if (!c->name) {
        r->at += (uint64_t)count * sizeof(float);
        return PE_OK;
    }
    const char *mark = strchr(c->name, '%');
    pe_status s = PE_OK;
    for (int64_t n = 0; s == PE_OK && n < times; n++) {
        if (mark)
            snprintf(name, sizeof name, "%.*s%lld%s", (int)(mark - c->name), c->name, (long long)n, mark + 1);
        else
            snprintf(name, sizeof name, "%s", c->name);
        s = read_floats(r, model_load_target(r->m, name) + c->first * c->columns, count, err);
    }
    return s;
}

static pe_status read_sections(reading *r, const io_llama2c *h, pe_error *err)
{
    int64_t c = h->dim, f = h->hidden_dim, k = h->kv_heads * h->head_size;
    const section embed = { "embed", 0, h->vocab_size, c }, final = { "final", 0, 1, c };
    const section norm1 = { "layer.%.norm1", 0, 1, c }, norm2 = { "layer.%.norm2", 0, 1, c };
    const section wq = { "layer.%.qkv", 0, c, c }, wk = { "layer.%.qkv", c, k, c };
    const section wv = { "layer.%.qkv", c + k, k, c }, wo = { "layer.%.out", 0, c, c };
    const section w1 = { "layer.%.up", 0, f, c }, w2 = { "layer.%.down", 0, c, f }, w3 = { "layer.%.up", f, f, c };
    const section tables = { NULL, 0, h->seq_len, h->head_size }; /* cos and sin, which we make ourselves */
    const section output = { h->shared_classifier ? NULL : "output", 0, h->shared_classifier ? 0 : h->vocab_size, c };
    const section version0[] = { embed, norm1, wq, wk, wv, wo, norm2, w1, w2, w3, final, tables, output };
    const section version1[] = { norm1, norm2, final, embed, wq, wk, wv, wo, w1, w2, w3, output };
    const section *list = h->version ? version1 : version0;
    size_t count = h->version ? sizeof version1 / sizeof *version1 : sizeof version0 / sizeof *version0;
    pe_status s = PE_OK;
    for (size_t n = 0; s == PE_OK && n < count; n++)
        s = read_section(r, &list[n], err);
    return s;
}

static pe_status make(model **out, const io_llama2c *h, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    const zoo_group *group;
    model_config c = { .vocab = h->vocab_size,
                       .layers = h->layers,
                       .width = h->dim,
                       .heads = h->heads,
                       .kv_heads = h->kv_heads,
                       .head_dim = h->head_size,
                       .hidden = h->hidden_dim,
                       .causal = true,
                       .untied = !h->shared_classifier,
                       .eps = 1e-5 };
    pe_status s = model_load_group(&group, zoo, err);
    return s == PE_OK ? model_new(out, &c, group->spec, pool, err) : s;
}

pe_status model_load_llama2c(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    io_llama2c h;
    reading r = { 0 };
    *out = NULL;
    pe_status s = io_llama2c_open(&h, zoo->path, err);
    if (s == PE_OK && h.version == 2)
        s = io_fail(err, PE_ERR_FORMAT, "%s: is llama2.c version 2, weights of 8 bits; needs version 0 or 1",
                    zoo->path);
    if (s == PE_OK)
        s = make(&r.m, &h, zoo, pool, err);
    if (s == PE_OK)
        s = io_file_open(&r.file, zoo->path, err);
    if (s == PE_OK) {
        r.at = h.version ? 256 : 28;
        r.layers = h.layers;
        r.piece = malloc((size_t)MODEL_LOAD_PIECE * sizeof(float));
        s = r.piece ? read_sections(&r, &h, err) : io_fail(err, PE_ERR_NOMEM, "%s: no memory", zoo->path);
        io_file_close(&r.file);
    }
    free(r.piece);
    if (s == PE_OK)
        *out = r.m;
    else
        model_free(r.m);
    return s;
}
