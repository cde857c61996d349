/* SPDX-License-Identifier: MIT
 *
 * Trained models from their folder, and looking into them. */
#include "prove/trained.h"

#include "io/sort.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END ".safetensors"
#define TEXT_MOST ((size_t)1 << 20)

/* ---------------------------------------------------------------- the folder */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const trained_model *)a)->name, ((const trained_model *)b)->name);
}

/* Whether it ends in .safetensors: then what stands before that. */
static bool model_name(char out[80], const char *file)
{
    size_t size = strlen(file), end = strlen(END);
    if (size <= end || size - end >= 80 || strcmp(file + size - end, END) != 0)
        return false;
    snprintf(out, 80, "%.*s", (int)(size - end), file); /* fits: below 80 */
    return true;
}

static pe_status list_models(prove_models *p, const char *folder, pe_error *err)
{
    char name[80];
    DIR *d = opendir(folder);
    if (!d)
        return io_fail(err, PE_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    for (struct dirent *e = readdir(d); e && p->count < TRAINED_MAX; e = readdir(d))
        if (model_name(name, e->d_name))
            memcpy(p->one[p->count++].name, name, sizeof name);
    closedir(d);
    io_sort(p->one, (size_t)p->count, sizeof *p->one, by_name);
    return p->count ? PE_OK : io_fail(err, PE_ERR_IO, "%s: holds no %s file", folder, END);
}

/* All are alike but for their encoding. */
static pe_status open_models(prove_models *p, const char *folder, pe_error *err)
{
    char path[1200];
    for (int n = 0; n < p->count; n++) {
        io_model about;
        if ((size_t)snprintf(path, sizeof path, "%s/%s" END, folder, p->one[n].name) >= sizeof path)
            return io_fail(err, PE_ERR_RANGE, "%s: the name is too long", folder);
        TRY(model_open_file(&p->one[n].m, &about, path, NULL, err));
        const model_config *c = model_settings(p->one[n].m), *first = model_settings(p->one[0].m);
        if (!c->causal || c->vocab != MODEL_FILE_BYTES || c->width != first->width || c->layers != first->layers ||
            c->heads != first->heads || (n && about.trained != p->length) || about.trained > (1 << 12))
            return io_fail(err, PE_ERR_SHAPE,
                           "%s: differs from %s in more than its encoding; needs models of one race on text", path,
                           p->one[0].name);
        p->length = about.trained;
    }
    return PE_OK;
}

/* text.txt: what the models are asked about. */
static pe_status read_text(prove_models *p, const char *folder, pe_error *err)
{
    char path[1200];
    io_bytes file;
    snprintf(path, sizeof path, "%s/text.txt", folder);
    TRY(io_read_file(&file, path, TEXT_MOST, err));
    p->bytes = (int64_t)file.size;
    p->text = calloc(file.size + 1, sizeof *p->text);
    for (size_t n = 0; p->text && n < file.size; n++)
        p->text[n] = file.data[n];
    io_bytes_free(&file);
    if (!p->text)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for it", path);
    return p->bytes > p->length ? PE_OK
                                : io_fail(err, PE_ERR_SHAPE, "%s: has %lld bytes; needs more than %lld", path,
                                          (long long)p->bytes, (long long)p->length);
}

void prove_models_say(char *out, size_t room, const prove_models *p, language l)
{
    const model_config *c = p ? model_settings(p->one[0].m) : NULL;
    *out = 0;
    if (c)
        snprintf(out, room,
                 l == CHINESE ? "模型：%lld 层，宽 %lld，%lld 头，训练长度 %lld 字节。"
                              : "Models: %lld layers, width %lld, %lld heads, trained at %lld bytes.",
                 (long long)c->layers, (long long)c->width, (long long)c->heads, (long long)p->length);
}

pe_status prove_models_open(prove_models **out, const char *folder, pe_error *err)
{
    prove_models *p = calloc(1, sizeof *p);
    *out = NULL;
    pe_status s = p ? list_models(p, folder, err) : io_fail(err, PE_ERR_NOMEM, "%s: no memory", folder);
    s = s ? s : open_models(p, folder, err);
    s = s ? s : read_text(p, folder, err);
    if (s == PE_OK)
        *out = p;
    else
        prove_models_free(p);
    return s;
}

void prove_models_free(prove_models *p)
{
    for (int n = 0; p && n < p->count; n++)
        model_free(p->one[n].m);
    if (p)
        free(p->text);
    free(p);
}

/* ---------------------------------------------------------------- one encoding, one window */

pe_status trained_find(trained_group *out, const prove_given *g, const char *name, pe_error *err)
{
    size_t size = strlen(name);
    *out = (trained_group){ .name = name, .from = g->models };
    if (!g->models)
        return io_fail(err, PE_ERR_UNSUITED,
                       "is measured on trained models, which are not here; give their folder with --models FOLDER "
                       "(models/ of posenc's sources, or what posenc report RUN --models wrote)");
    for (int more = 0; more < 2 && !out->count; more++)
        for (int n = 0; n < g->models->count && out->count < TRAINED_SEEDS; n++) {
            const char *spec = pe_encoding_spec(model_encoding(g->models->one[n].m));
            if (!strncmp(spec, name, size) && (!spec[size] || (more && strchr(":,", spec[size]))))
                out->one[out->count++] = &g->models->one[n];
        }
    return out->count ? PE_OK
                      : io_fail(err, PE_ERR_UNSUITED, "there is no trained model of %s among those of --models", name);
}

pe_status trained_first(trained_model *out, const trained_model *t, uint64_t seed, pe_error *err)
{
    *out = *t;
    TRY(model_new(&out->m, model_settings(t->m), pe_encoding_spec(model_encoding(t->m)), NULL, err));
    model_init(out->m, seed);
    return PE_OK;
}

const int32_t *trained_window(const prove_models *from, int n, int of)
{
    int64_t last = from->bytes - from->length;
    return from->text + (of > 1 ? last / (of - 1) * n : 0);
}

pe_status trained_look_new(trained_look *out, const prove_models *from, const model *m, unsigned parts, pe_error *err)
{
    const model_config *c = model_settings(m);
    int64_t T = from->length, maps = c->layers * T * c->heads * T;
    *out = (trained_look){ T, c->width, c->layers, c->heads, c->head_dim, (c->heads + 2 * c->kv_heads) * c->head_dim,
                           { NULL, NULL, NULL, NULL } };
    const struct {
        real **to;
        unsigned part;
        int64_t count;
    } rooms[] = { { &out->in.stream, LOOK_STREAM, (c->layers + 1) * T * c->width },
                  { &out->in.qkv, LOOK_QKV, c->layers * T * out->wide },
                  { &out->in.scores, LOOK_SCORES, maps },
                  { &out->in.probabilities, LOOK_SHARES, maps } };
    bool whole = true;
    for (size_t n = 0; n < sizeof rooms / sizeof *rooms; n++)
        if (parts & rooms[n].part)
            whole = (*rooms[n].to = calloc((size_t)rooms[n].count, sizeof(real))) != NULL && whole;
    if (whole)
        return PE_OK;
    trained_look_free(out);
    return io_fail(err, PE_ERR_NOMEM, "no memory to look into a trained model");
}

void trained_look_free(trained_look *l)
{
    free(l->in.stream), free(l->in.qkv), free(l->in.scores), free(l->in.probabilities);
    *l = (trained_look){ 0 };
}

/* The code is what enters the first layer less the word's row: also of a row that is trained. */
pe_status trained_codes(double *code, double *word, const trained_model *t, const prove_models *from, pe_error *err)
{
    const model_config *c = model_settings(t->m);
    const model_tensor *embed = model_tensor_find(t->m, "embed");
    trained_look l;
    const int32_t *text = trained_window(from, 0, 1);
    if (embed->shape[1] != c->width)
        return io_fail(err, PE_ERR_UNSUITED, "%s puts its code beside the word; needs one that adds it", t->name);
    for (int64_t n = 0; n < embed->count; n++)
        word[n] = (double)model_weights(t->m)[embed->offset + n] * c->embed_scale;
    TRY(trained_look_new(&l, from, t->m, LOOK_STREAM, err));
    pe_status s = model_look(t->m, &l.in, text, l.tokens, err);
    for (int64_t n = 0; s == PE_OK && n < l.tokens * l.width; n++)
        code[n] = (double)l.in.stream[n] - word[text[n / l.width] * l.width + n % l.width];
    trained_look_free(&l);
    return s;
}

