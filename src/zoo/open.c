/* SPDX-License-Identifier: MIT
 *
 * Which reader: by what a file begins with, not by its name. */
#include "zoo/build.h"
#include "zoo/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef pe_status reader(zoo_model **out, const char *path, const zoo_options *options, pe_error *err);

/* ---------------------------------------------------------------- one reader per format */

static pe_status open_config(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_node root;
    ZOO_TRY(io_json_load(&root, path, err));
    pe_status s = zoo_read_node(out, path, &root, options, err);
    io_json_free(&root);
    return s;
}

static pe_status open_gguf(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_gguf *g;
    ZOO_TRY(io_gguf_open(&g, path, err));
    zoo_builder *b = zoo_begin(path, "GGUF", options, err);
    pe_status s = b ? zoo_finish(out, b, zoo_read_gguf(b, g)) : PE_ERR_NOMEM;
    io_gguf_free(g);
    return s;
}

static pe_status open_llama2c(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_llama2c h;
    ZOO_TRY(io_llama2c_open(&h, path, err));
    zoo_builder *b = zoo_begin(path, "llama2.c", options, err);
    return b ? zoo_finish(out, b, zoo_read_llama2c(b, &h)) : PE_ERR_NOMEM;
}

/* The folder of path and name: malloc'ed, NULL where there is no memory. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + strlen(name) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s", (int)folder, path, name);
    return out;
}

/* Tensors alone say little; a config.json beside them says all. */
static pe_status open_tensors(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    struct stat st;
    io_safetensors *tensors;
    char *config = beside(path, "config.json");
    if (!config)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory", path);
    bool there = stat(config, &st) == 0 && S_ISREG(st.st_mode);
    pe_status s = there ? open_config(out, config, options, err) : PE_OK;
    free(config);
    if (there)
        return s;
    ZOO_TRY(io_safetensors_open(&tensors, path, err));
    zoo_builder *b = zoo_begin(path, "safetensors", options, err);
    s = b ? zoo_finish(out, b, zoo_read_tensors(b, tensors)) : PE_ERR_NOMEM;
    io_safetensors_free(tensors);
    return s;
}

/* ---------------------------------------------------------------- which */

/* JSON starts with a brace, after white space or the mark of UTF-8 that some editors put there. */
static reader *reader_of(const uint8_t *head, size_t size, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (size >= 4 && !memcmp(head, "GGUF", 4))
        return open_gguf;
    if (size > 8 && head[8] == '{')
        return open_tensors;
    for (size_t n = 0; n < size && strchr(" \t\r\n{", head[n]) && head[n]; n++)
        if (head[n] == '{')
            return open_config;
    return dot && !strcmp(dot, ".bin") ? open_llama2c : NULL;
}

static const char *const advice[][2] = {
    { "PK\003\004", "is a zip archive (a PyTorch checkpoint?); give the config.json beside it" },
    { "\x80\x02", "is a pickle, which is never read; give the config.json beside it" },
    { "\x93NUMPY", "is an array; posenc check and posenc convert take those" },
    { "\xEF\xBB\xBF", "begins with a byte order mark, which JSON does not have; take it out" },
};

static pe_status open_file(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    uint8_t head[64];
    io_file f;
    ZOO_TRY(io_file_open(&f, path, err));
    size_t size = f.size < sizeof head ? (size_t)f.size : sizeof head;
    pe_status s = io_file_read(head, &f, 0, size, err);
    io_file_close(&f);
    ZOO_TRY(s);
    reader *read = reader_of(head, size, path);
    if (read)
        return read(out, path, options, err);
    for (size_t n = 0; n < sizeof advice / sizeof *advice; n++)
        if (size >= strlen(advice[n][0]) && !memcmp(head, advice[n][0], strlen(advice[n][0])))
            return io_fail(err, PE_ERR_FORMAT, "%s: %s", path, advice[n][1]);
    return io_fail(err, PE_ERR_FORMAT, "%s: is none of config.json, GGUF, safetensors, llama2.c .bin", path);
}

/* A folder's config.json, or its one GGUF. */
static pe_status open_folder(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    char found[4096] = "", name[4096];
    struct stat st;
    snprintf(name, sizeof name, "%s/config.json", path);
    if (stat(name, &st) == 0)
        return open_file(out, name, options, err);
    DIR *folder = opendir(path);
    if (!folder)
        return io_fail(err, PE_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    int count = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        size_t length = strlen(e->d_name);
        if (length > 5 && !strcmp(e->d_name + length - 5, ".gguf") && count++ == 0)
            snprintf(found, sizeof found, "%s/%s", path, e->d_name);
    }
    closedir(folder);
    if (count == 1)
        return open_file(out, found, options, err);
    return io_fail(err, PE_ERR_FORMAT, "%s: holds %s; name one file", path,
                   count ? "more than one .gguf" : "neither config.json nor a .gguf");
}

pe_status zoo_open(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    struct stat st;
    *out = NULL;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? open_folder(out, path, options, err) : open_file(out, path, options, err);
}
