/* SPDX-License-Identifier: MIT
 *
 * Which reader: by what a file begins with, not by its name. */
#include "io/checked.h"
#include "zoo/build.h"
#include "zoo/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef pe_status reader(zoo_model **out, const char *path, const zoo_options *options, pe_error *err);

/* ---------------------------------------------------------------- one reader per format */

static pe_status open_config(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_node root;
    TRY(io_json_load(&root, path, err));
    pe_status s = zoo_read_node(out, path, &root, options, err);
    io_json_free(&root);
    return s;
}

static pe_status open_gguf(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_gguf *g;
    TRY(io_gguf_open(&g, path, err));
    zoo_builder *b = zoo_begin(path, "GGUF", options, err);
    pe_status s = b ? zoo_finish(out, b, zoo_read_gguf(b, g)) : PE_ERR_NOMEM;
    io_gguf_free(g);
    return s;
}

/* The header holds sizes only; what llama2.c's run.c does with positions is one thing for all files. */
pe_status zoo_read_llama2c(zoo_builder *b, const io_llama2c *h)
{
    zoo_part *p;
    zoo_spec *spec = b->spec;
    pe_shape shape = { h->heads, h->kv_heads, h->head_size, h->dim };
    zoo_spec_start(spec, "rope");
    zoo_spec_real(spec, "theta", b->options->theta > 0 ? b->options->theta : 10000);
    zoo_spec_word(spec, "pairs", b->options->pairs ? b->options->pairs : "adjacent");
    TRY(zoo_add_part(b, &p, "", "llama2.c", h->layers));
    p->trained = b->options->trained ? b->options->trained : h->seq_len;
    p->served = h->seq_len;
    for (int64_t n = 0; n < h->layers; n++)
        TRY(zoo_set_layer(b, p, n, spec->text, shape, "", 0));
    if (b->options->theta > 0 || b->options->pairs)
        return PE_OK;
    return zoo_note_add(b, ZOO_FACT, "", "llama2.c run.c",
                        "the header holds sizes only; llama2.c rotates adjacent pairs by a base of 10000");
}

static pe_status open_llama2c(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    io_llama2c h;
    TRY(io_llama2c_open(&h, path, err));
    zoo_builder *b = zoo_begin(path, "llama2.c", options, err);
    return b ? zoo_finish(out, b, zoo_read_llama2c(b, &h)) : PE_ERR_NOMEM;
}

/* The first length bytes of path, and name after them: malloc'ed, NULL where there is no memory. */
static char *join_path(const char *path, size_t length, const char *name)
{
    size_t rest, size;
    char *out = io_add(&rest, strlen(name), 1) && io_add(&size, length, rest) ? malloc(size) : NULL;
    if (!out)
        return NULL;
    memcpy(out, path, length);
    memcpy(out + length, name, rest);
    return out;
}

static pe_status no_memory(const char *path, pe_error *err)
{
    return io_fail(err, PE_ERR_NOMEM, "%s: no memory for a name", path);
}

/* What posenc trained: all layers are alike, and the spec is in the file. */
pe_status zoo_read_posenc(zoo_builder *b, const io_safetensors *st)
{
    io_model h;
    zoo_part *p;
    if (b->options->theta > 0 || b->options->pairs || b->options->type || b->options->head_dim)
        return zoo_fail(b, PE_ERR_SPEC,
                        "this file says its spec; theta, pairs, type and head-dim cannot be overridden");
    TRY(io_model_read(&h, st, b->model.path, b->err));
    TRY(zoo_add_part(b, &p, "", "posenc", h.layers));
    p->trained = b->options->trained ? b->options->trained : h.trained;
    for (int64_t n = 0; n < h.layers; n++)
        TRY(zoo_set_layer(b, p, n, h.spec, (pe_shape){ h.heads, h.kv_heads, h.head_dim, h.width }, "", 0));
    return PE_OK;
}

static pe_status read_tensors(zoo_model **out, const char *path, const io_safetensors *st, const zoo_options *options,
                              pe_error *err)
{
    bool ours = io_is_model(st);
    zoo_builder *b = zoo_begin(path, ours ? "posenc" : "safetensors", options, err);
    if (!b)
        return PE_ERR_NOMEM;
    return zoo_finish(out, b, ours ? zoo_read_posenc(b, st) : zoo_read_tensors(b, st));
}

/* A model of ours says all itself; of others, tensors alone say little, and a config.json beside them says all. */
static pe_status open_tensors(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    struct stat st;
    io_safetensors *tensors;
    const char *slash = strrchr(path, '/');
    char *config = join_path(path, slash ? (size_t)(slash + 1 - path) : 0, "config.json");
    if (!config)
        return no_memory(path, err);
    bool there = stat(config, &st) == 0 && S_ISREG(st.st_mode);
    pe_status s = io_safetensors_open(&tensors, path, there ? NULL : err);
    if (there && (s || !io_is_model(tensors)))
        s = open_config(out, config, options, err);
    else if (s == PE_OK)
        s = read_tensors(out, path, tensors, options, err);
    free(config);
    io_safetensors_free(tensors);
    return s;
}

/* ---------------------------------------------------------------- which */

static size_t white_space(const uint8_t *head, size_t size)
{
    size_t n = 0;
    while (n < size && head[n] && strchr(" \t\r\n", head[n]))
        n++;
    return n;
}

/* JSON starts with a brace, after white space. So do safetensors after their length, of which the last four bytes are
 * 0:
 * {"rope":{ is no length. */
static reader *reader_of(const uint8_t *head, size_t size, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (size >= 4 && !memcmp(head, "GGUF", 4))
        return open_gguf;
    if (size > 8 && !memcmp(head + 4, "\0\0\0", 4) && head[8] == '{')
        return open_tensors;
    size_t n = white_space(head, size);
    if (n < size && head[n] == '{')
        return open_config;
    return dot && !strcmp(dot, ".bin") ? open_llama2c : NULL;
}

static const char *const advice[][2] = {
    { "PK\003\004", "is a zip archive (a PyTorch checkpoint?); give the config.json beside it" },
    { "\x80\x02", "is a pickle, which is never read; give the config.json beside it" },
    { "\x93NUMPY", "is an array; posenc check and posenc convert take those" },
    { "[", "is a JSON array; config.json is an object" },
    { "version https://git-lfs", "is a pointer of Git LFS, not the file; git lfs pull brings it" },
    { "\xEF\xBB\xBF", "begins with a byte order mark, which JSON does not have; take it out" },
    { "\xFF\xFE", "is UTF-16; JSON is UTF-8" },
    { "\xFE\xFF", "is UTF-16; JSON is UTF-8" },
};

/* No reader takes it: why, if that can be seen. */
static pe_status refuse_file(const uint8_t *head, size_t size, const char *path, pe_error *err)
{
    size_t skip = white_space(head, size);
    if (size == 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: is empty", path);
    if (skip == size)
        return io_fail(err, PE_ERR_FORMAT, "%s: begins with nothing but white space", path);
    for (size_t n = 0; n < sizeof advice / sizeof *advice; n++)
        if (size - skip >= strlen(advice[n][0]) && !memcmp(head + skip, advice[n][0], strlen(advice[n][0])))
            return io_fail(err, PE_ERR_FORMAT, "%s: %s", path, advice[n][1]);
    return io_fail(err, PE_ERR_FORMAT, "%s: is none of config.json, GGUF, safetensors, llama2.c .bin", path);
}

static pe_status open_file(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    uint8_t head[64];
    io_file f;
    TRY(io_file_open(&f, path, err));
    size_t size = f.size < sizeof head ? (size_t)f.size : sizeof head;
    pe_status s = io_file_read(head, &f, 0, size, err);
    io_file_close(&f);
    TRY(s);
    reader *read = size ? reader_of(head, size, path) : NULL;
    return read ? read(out, path, options, err) : refuse_file(head, size, path, err);
}

/* The names that end in .gguf: how many, and the last of them, malloc'ed, in found. */
static int find_gguf(char **found, DIR *folder)
{
    int count = 0;
    *found = NULL;
    for (struct dirent *e; (e = readdir(folder));) {
        size_t length = strlen(e->d_name);
        if (length <= 5 || strcmp(e->d_name + length - 5, ".gguf") != 0)
            continue;
        free(*found);
        *found = join_path("/", 1, e->d_name);
        count++;
    }
    return count;
}

static pe_status open_gguf_in(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    char *name;
    DIR *folder = opendir(path);
    if (!folder)
        return io_fail(err, PE_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    int count = find_gguf(&name, folder);
    closedir(folder);
    char *file = name ? join_path(path, strlen(path), name) : NULL;
    free(name);
    pe_status s = count == 0  ? io_fail(err, PE_ERR_FORMAT,
                                        "%s: is a folder that holds neither config.json nor a .gguf; name a model's "
                                         "file, or its folder",
                                        path)
                  : count > 1 ? io_fail(err, PE_ERR_FORMAT, "%s: holds %d .gguf; name one file", path, count)
                  : !file     ? no_memory(path, err)
                              : open_file(out, file, options, err);
    free(file);
    return s;
}

/* A folder's config.json, or its one GGUF. */
static pe_status open_folder(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    struct stat st;
    char *config = join_path(path, strlen(path), "/config.json");
    if (!config)
        return no_memory(path, err);
    bool there = lstat(config, &st) == 0; /* a link to nothing is there: opening it says so */
    pe_status s = there ? open_file(out, config, options, err) : open_gguf_in(out, path, options, err);
    free(config);
    return s;
}

pe_status zoo_open(zoo_model **out, const char *path, const zoo_options *options, pe_error *err)
{
    struct stat st;
    *out = NULL;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? open_folder(out, path, options, err) : open_file(out, path, options, err);
}
