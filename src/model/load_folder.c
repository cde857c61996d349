/* SPDX-License-Identifier: MIT
 *
 * A Hugging Face folder: config.json, and model.safetensors or the shards that model.safetensors.index.json names. */
#include "model/load_hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static pe_status no_memory(const folder *f)
{
    return io_fail(f->err, PE_ERR_NOMEM, "%s: no memory", f->config);
}

static pe_status open_shard(folder *f, const char *name)
{
    char *path = beside(f->config, name);
    int n = f->shards.count;
    pe_status s = path ? io_safetensors_open(&f->open[n], path, f->err) : no_memory(f);
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
    LOAD_TRY(io_json_object(&map, index, "weight_map", IO_REQUIRED, f->err));
    for (io_node one = { 0 }; io_json_next(&one, &map);) {
        LOAD_TRY(io_json_string(&name, &one, NULL, IO_REQUIRED, f->err));
        LOAD_TRY(add_shard(f, name, index->key));
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
    LOAD_TRY(io_json_load(&config, f->config, f->err));
    pe_status s = model_load_hf(out, &config, zoo, &f->shards, pool, f->err);
    io_json_free(&config);
    return s;
}

pe_status model_load_folder(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
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
