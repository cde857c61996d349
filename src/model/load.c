/* SPDX-License-Identifier: MIT
 *
 * Trained models from their files: a llama2.c .bin, or a Hugging Face folder. */
#include "base/try.h"
#include "model/file.h"
#include "model/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Weights of a llama2.c .bin: float32, one matrix after the other, each for all layers, in the order of
 * export.py. The size of the file is what its header implies (io_llama2c_open). */

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

static pe_status make_model(model **out, const io_llama2c *h, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    const zoo_group *group = NULL;
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

static pe_status model_load_llama2c(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    io_llama2c h;
    reading r = { 0 };
    *out = NULL;
    pe_status s = io_llama2c_open(&h, zoo->path, err);
    if (s == PE_OK && h.version == 2)
        s = io_fail(err, PE_ERR_FORMAT, "%s: is llama2.c version 2, weights of 8 bits; needs version 0 or 1",
                    zoo->path);
    if (s == PE_OK)
        s = make_model(&r.m, &h, zoo, pool, err);
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

/* A Hugging Face folder: config.json, and model.safetensors or the shards that model.safetensors.index.json
 * names. */

#define ONE_FILE "model.safetensors"
#define INDEX "model.safetensors.index.json"

typedef struct folder {
    const char *config; /* its path: what stands before its name is the folder */
    model_shards shards;
    io_safetensors *open[MODEL_SHARDS_MAX]; /* the same, to be freed */
    const char *shard[MODEL_SHARDS_MAX];    /* names, in the index */
    pe_error *err;
} folder;

static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int before = slash ? (int)(slash + 1 - path) : 0;
    size_t room = strlen(path) + strlen(name) + 1;
    char *out = malloc(room);
    if (out)
        snprintf(out, room, "%.*s%s", before, path, name);
    return out;
}

static pe_status open_shard(folder *f, const char *name)
{
    char *path = beside(f->config, name);
    int n = f->shards.count;
    pe_status s = path ? io_safetensors_open(&f->open[n], path, f->err)
                       : io_fail(f->err, PE_ERR_NOMEM, "%s: no memory", f->config);
    f->shards.file[n] = f->open[n];
    f->shards.count += s == PE_OK;
    free(path);
    return s;
}

/* A name of the index is a file of this folder, and nothing else. */
static pe_status add_shard(folder *f, const char *name, const char *index)
{
    for (int n = 0; n < f->shards.count; n++)
        if (!strcmp(f->shard[n], name))
            return PE_OK;
    if (!*name || *name == '.' || strchr(name, '/') || strchr(name, '\\'))
        return io_fail(f->err, PE_ERR_FORMAT, "%s: names a shard \"%.60s\"; needs the name of a file beside it", index,
                       name);
    if (f->shards.count == MODEL_SHARDS_MAX)
        return io_fail(f->err, PE_ERR_FORMAT, "%s: names more than %d shards", index, MODEL_SHARDS_MAX);
    f->shard[f->shards.count] = name;
    return open_shard(f, name);
}

static pe_status open_shards(folder *f, const io_node *index)
{
    io_node map;
    const char *name;
    TRY(io_json_object(&map, index, "weight_map", IO_REQUIRED, f->err));
    for (io_node one = { 0 }; io_json_next(&one, &map);) {
        TRY(io_json_string(&name, &one, NULL, IO_REQUIRED, f->err));
        TRY(add_shard(f, name, index->key));
    }
    return PE_OK;
}

static bool is_there(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0;
}

static pe_status load_from(model **out, folder *f, const zoo_model *zoo, const pe_pool *pool)
{
    io_node config;
    TRY(io_json_load(&config, f->config, f->err));
    pe_status s = model_load_hf(out, &config, zoo, &f->shards, pool, f->err);
    io_json_free(&config);
    return s;
}

static pe_status model_load_folder(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    folder *f = calloc(1, sizeof *f);
    char *one = beside(zoo->path, ONE_FILE), *list = beside(zoo->path, INDEX);
    io_node index = { 0 };
    *out = NULL;
    pe_status s = f && one && list ? PE_OK : io_fail(err, PE_ERR_NOMEM, "%s: no memory", zoo->path);
    if (s == PE_OK) {
        f->config = zoo->path;
        f->err = err;
        if (is_there(one))
            s = open_shard(f, ONE_FILE);
        else if (is_there(list))
            s = (s = io_json_load(&index, list, err)) ? s : open_shards(f, &index);
        else
            s = io_fail(err, PE_ERR_IO, "%s: there is neither %s nor %s beside it", zoo->path, ONE_FILE, INDEX);
    }
    if (s == PE_OK)
        s = load_from(out, f, zoo, pool);
    for (int n = 0; f && n < f->shards.count; n++)
        io_safetensors_free(f->open[n]);
    io_json_free(&index);
    free(list);
    free(one);
    free(f);
    return s;
}

/* ---------------------------------------------------------------- which loader, and what they share */

pe_status model_load(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    *out = NULL;
    if (!strcmp(zoo->format, "llama2.c"))
        return model_load_llama2c(out, zoo, pool, err);
    if (!strcmp(zoo->format, "config.json"))
        return model_load_folder(out, zoo, pool, err);
    if (!strcmp(zoo->format, "posenc"))
        return model_open_file(out, NULL, zoo->path, pool, err);
    return io_fail(err, PE_ERR_FORMAT,
                   "%s: weights of %s files are not read; needs a model of posenc report --models, a llama2.c "
                   ".bin, or a folder with config.json and model.safetensors",
                   zoo->path, zoo->format);
}

pe_status model_load_group(const zoo_group **group, const zoo_model *zoo, pe_error *err)
{
    const zoo_part *part = &zoo->part[0];
    if (part->groups != 1)
        return io_fail(err, PE_ERR_FORMAT,
                       "%s: its layers have %d encodings; one for all layers is what can be evaluated", zoo->path,
                       part->groups);
    for (int64_t n = 0; n < part->layers; n++)
        if (part->layer[n].window)
            return io_fail(err, PE_ERR_FORMAT,
                           "%s: layer %lld sees a window of %lld keys; layers that see everything are what can be "
                           "evaluated",
                           zoo->path, (long long)n, (long long)part->layer[n].window);
    *group = &part->group[0];
    return PE_OK;
}

real *model_load_target(model *m, const char *name)
{
    const model_tensor *t = model_tensor_find(m, name);
    return t ? model_weights(m) + t->offset : NULL;
}

pe_status model_load_convert(real *to, const void *bytes, io_type type, int64_t count, pe_error *err)
{
    union {
        const void *from;
        void *to;
    } data = { .from = bytes }; /* an io_array may point anywhere; it is only read */
    io_array a = { .data = data.to, .type = type, .rank = 1, .shape = { count }, .count = count };
    float *copy;
    pe_status s = io_array_to_f32(&copy, &a, err);
    for (int64_t n = 0; s == PE_OK && n < count; n++)
        to[n] = (real)copy[n];
    free(copy);
    return s;
}
