/* SPDX-License-Identifier: MIT */
#include "model/file.h"

#include "io/checked.h"
#include "model/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE ".scale"
#define LARGEST 127
#define NAME_ROOM (MODEL_NAME_MAX + sizeof SCALE)

/* ---------------------------------------------------------------- out */

/* What is written for one tensor of the model. */
typedef struct part {
    const model_tensor *from;
    char scale_name[NAME_ROOM];
    float *scale; /* (rows); NULL: all of it is F32 */
    void *data;   /* (rows, columns) int8_t, or float */
} part;

/* Positions stay as they are: a table is what is looked at. */
static bool is_rounded(const model_tensor *t, int bits)
{
    return bits == 8 && t->rank == 2 && !t->position;
}

static void round_row(int8_t *to, float *scale, const real *from, int64_t columns)
{
    real most = 0;
    for (int64_t n = 0; n < columns; n++)
        most = from[n] > most ? from[n] : -from[n] > most ? -from[n] : most;
    *scale = (float)(most / LARGEST);
    for (int64_t n = 0; n < columns; n++) {
        double whole = *scale > 0 ? round((double)from[n] / (double)*scale) : 0;
        to[n] = (int8_t)fmax(fmin(whole, LARGEST), -LARGEST);
    }
}

static bool part_fill(part *p, const model *m, int bits)
{
    const model_tensor *t = p->from;
    const real *from = m->weights + t->offset;
    bool rounded = is_rounded(t, bits);
    size_t count = (size_t)t->count;
    snprintf(p->scale_name, sizeof p->scale_name, "%s" SCALE, t->name);
    p->data = calloc(count ? count : 1, rounded ? 1 : sizeof(float));
    p->scale = rounded ? calloc((size_t)t->shape[0], sizeof *p->scale) : NULL;
    if (!p->data || (rounded && !p->scale))
        return false;
    for (int64_t r = 0; rounded && r < t->shape[0]; r++)
        round_row((int8_t *)p->data + r * t->shape[1], &p->scale[r], from + r * t->shape[1], t->shape[1]);
    for (int64_t n = 0; !rounded && n < t->count; n++)
        ((float *)p->data)[n] = (float)from[n];
    return true;
}

/* Its one or two tensors, for io_safetensors_save. */
static size_t part_list(io_tensor *to, const part *p)
{
    const model_tensor *t = p->from;
    to[0] = (io_tensor){ .name = t->name, .bytes = p->data, .type = p->scale ? IO_I8 : IO_F32, .rank = t->rank };
    memcpy(to[0].shape, t->shape, sizeof t->shape);
    if (!p->scale)
        return 1;
    to[1] = (io_tensor){ .name = p->scale_name, .bytes = (const uint8_t *)p->scale, .type = IO_F32, .rank = 1 };
    to[1].shape[0] = t->shape[0];
    return 2;
}

static pe_status save_parts(const char *path, model *m, part *parts, io_tensor *list, const io_model *about, int bits,
                            pe_error *err)
{
    char text[IO_MODEL_PAIRS][IO_MODEL_TEXT];
    io_pair meta[IO_MODEL_PAIRS];
    size_t count = 0;
    for (int n = 0; n < m->tensors; n++) {
        parts[n].from = &m->tensor[n];
        if (!part_fill(&parts[n], m, bits))
            return io_fail(err, PE_ERR_NOMEM, "%s: no memory for %s", path, m->tensor[n].name);
        count += part_list(list + count, &parts[n]);
    }
    io_model_write(meta, text, about);
    return io_safetensors_save(path, list, count, meta, IO_MODEL_PAIRS, err);
}

pe_status model_save(const char *path, model *m, const io_model *about, int bits, pe_error *err)
{
    const model_config *c = &m->c;
    io_model whole = *about;
    if (c->norm != MODEL_RMS || c->mlp != MODEL_SWIGLU || c->biases || c->embed_norm || c->untied)
        return io_fail(err, PE_ERR_UNSUITED, "%s: a model that posenc has not trained is not written", path);
    if (bits != 8 && bits != 32)
        return io_fail(err, PE_ERR_RANGE, "%s: weights of %d bits; needs 8 or 32", path, bits);
    if (model_broken(m))
        return io_fail(err, PE_ERR_RANGE, "%s: %s is not finite; needs a model that was trained to its end", path,
                       model_broken(m));
    whole.spec = pe_encoding_spec(m->at.e);
    whole.vocab = c->vocab, whole.layers = c->layers, whole.width = c->width, whole.heads = c->heads;
    whole.kv_heads = c->kv_heads, whole.head_dim = c->head_dim, whole.hidden = c->hidden, whole.causal = c->causal;
    whole.embed_scale = c->embed_scale;
    part *parts = calloc((size_t)m->tensors, sizeof *parts);
    io_tensor *list = calloc(2 * (size_t)m->tensors, sizeof *list);
    pe_status s = parts && list ? save_parts(path, m, parts, list, &whole, bits, err)
                                : io_fail(err, PE_ERR_NOMEM, "%s: no memory for the names of its tensors", path);
    for (int n = 0; parts && n < m->tensors; n++) {
        free(parts[n].data);
        free(parts[n].scale);
    }
    free(parts);
    free(list);
    return s;
}

/* ---------------------------------------------------------------- in */

typedef struct reading {
    const io_safetensors *st;
    const char *name;
    io_model about;
    const pe_pool *pool;
    model *m;
    int64_t numbers; /* in the file */
    pe_error *err;
} reading;

/* Numbers that an encoding's blocks may have, computed from those of the file (a projection, a table that every layer
 * has a copy of). */
#define BLOCKS_LEAST 16384
#define BLOCKS_EACH 8 /* for each number of the file */

/* *sum += a b c; false: past int64 */
static bool add_product(int64_t *sum, int64_t a, int64_t b, int64_t c)
{
    int64_t v;
    return io_mul_i64(&v, a, b) && io_mul_i64(&v, v, c) && io_add_i64(sum, *sum, v);
}

static bool encoding_fits(const reading *r, const pe_encoding *e)
{
    int64_t in_file = 0, blocks = 0;
    bool fits = add_product(&blocks, pe_encoding_param_count(e), r->about.layers, 1);
    for (int n = 0; fits && n < pe_encoding_tensor_count(e); n++) {
        const pe_tensor *t = pe_encoding_tensor(e, n);
        fits = add_product(&in_file, t->projected ? 0 : t->count, t->hooks & SCORE_HOOKS ? r->about.layers : 1, 1);
    }
    return fits && in_file <= r->numbers && blocks <= BLOCKS_LEAST + BLOCKS_EACH * r->numbers;
}

/* Whether the sizes it says are those of a file as large as this. */
static bool sizes_fit(const reading *r, const pe_encoding *e)
{
    const io_model *a = &r->about;
    int64_t all = 0;
    int64_t code = pe_encoding_hooks(e) & PE_HOOK_EMBED ? pe_embed_width(e, a->width) - a->width : 0;
    return code >= 0 && code < a->width && add_product(&all, a->vocab, a->width - code, 1) &&
           add_product(&all, a->layers, a->width, 2 + a->head_dim * (2 * a->heads + 2 * a->kv_heads)) &&
           add_product(&all, a->layers, a->width, 3 * a->hidden) && all <= r->numbers && encoding_fits(r, e);
}

static pe_status check_sizes(reading *r)
{
    const io_model *a = &r->about;
    pe_encoding *e;
    for (size_t n = 0; n < io_safetensors_count(r->st); n++)
        r->numbers += io_safetensors_at(r->st, n)->count; /* all lie in the file */
    if (a->layers > r->numbers || a->heads > r->numbers)
        return io_fail(r->err, PE_ERR_FORMAT, "%s: %" PRId64 " layers of %" PRId64 " heads in a file of %" PRId64
                       " numbers", r->name, a->layers, a->heads, r->numbers);
    TRY(pe_encoding_new(&e, a->spec, (pe_shape){ a->heads, a->kv_heads, a->head_dim, a->width }, r->err));
    bool fits = sizes_fit(r, e);
    pe_encoding_free(e);
    return fits ? PE_OK
                : io_fail(r->err, PE_ERR_SHAPE,
                          "%s: has %" PRId64 " numbers, which is less than its metadata says the model has", r->name,
                          r->numbers);
}

/* A tensor of this name and type, of the shape of `like` (rank of its axes, 1: its rows alone). */
static pe_status find(const io_tensor **out, const reading *r, const char *name, io_type type, const model_tensor *like,
                      int rank)
{
    const io_tensor *t = io_safetensors_find(r->st, name);
    if (!t)
        return io_fail(r->err, PE_ERR_FORMAT, "%s: has no tensor %s", r->name, name);
    if (t->type != type)
        return io_fail(r->err, PE_ERR_DTYPE, "%s: %s is %s; needs %s", r->name, name, io_type_name(t->type),
                       io_type_name(type));
    bool same = t->rank == rank;
    for (int d = 0; same && d < rank; d++)
        same = t->shape[d] == like->shape[d];
    *out = t;
    return same ? PE_OK
                : io_fail(r->err, PE_ERR_SHAPE, "%s: %s has another shape than its metadata says", r->name, name);
}

static float load_float(const uint8_t *at)
{
    uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static pe_status take_rounded(const reading *r, const model_tensor *to, real *w, size_t *used)
{
    char name[NAME_ROOM];
    const io_tensor *whole = NULL, *scale = NULL;
    snprintf(name, sizeof name, "%s" SCALE, to->name);
    TRY(find(&whole, r, to->name, IO_I8, to, 2));
    TRY(find(&scale, r, name, IO_F32, to, 1));
    for (int64_t n = 0; n < to->count; n++) {
        int value = whole->bytes[n] < 128 ? whole->bytes[n] : whole->bytes[n] - 256;
        w[n] = (real)load_float(scale->bytes + n / to->shape[1] * 4) * (real)value;
    }
    *used += 2;
    return PE_OK;
}

static pe_status take_floats(const reading *r, const model_tensor *to, real *w, size_t *used)
{
    const io_tensor *t = NULL;
    TRY(find(&t, r, to->name, IO_F32, to, to->rank));
    for (int64_t n = 0; n < to->count; n++)
        w[n] = (real)load_float(t->bytes + 4 * n);
    *used += 1;
    return PE_OK;
}

static pe_status take_all(reading *r)
{
    size_t used = 0, there = io_safetensors_count(r->st);
    for (int n = 0; n < r->m->tensors; n++) {
        const model_tensor *to = &r->m->tensor[n];
        const io_tensor *t = io_safetensors_find(r->st, to->name);
        real *w = r->m->weights + to->offset;
        bool rounded = t && t->type == IO_I8 && is_rounded(to, 8);
        TRY(rounded ? take_rounded(r, to, w, &used) : take_floats(r, to, w, &used));
    }
    if (used != there)
        return io_fail(r->err, PE_ERR_FORMAT, "%s: has %zu tensors; its model has %zu", r->name, there, used);
    const char *broken = model_broken(r->m);
    return broken ? io_fail(r->err, PE_ERR_RANGE, "%s: a number of %s is not finite", r->name, broken) : PE_OK;
}

static pe_status read_model(reading *r)
{
    TRY(io_model_read(&r->about, r->st, r->name, r->err));
    TRY(check_sizes(r));
    const io_model *a = &r->about;
    model_config c = { .vocab = a->vocab,       .layers = a->layers,     .width = a->width,
                       .heads = a->heads,       .kv_heads = a->kv_heads, .head_dim = a->head_dim,
                       .hidden = a->hidden,     .causal = a->causal,     .embed_scale = a->embed_scale };
    TRY(model_new(&r->m, &c, a->spec, r->pool, r->err));
    return take_all(r);
}

pe_status model_parse(model **out, io_model *about, io_bytes *file, const pe_pool *pool, pe_error *err)
{
    reading r = { .name = file->name ? file->name : "model", .pool = pool, .err = err };
    io_safetensors *st = NULL;
    *out = NULL;
    pe_status s = io_safetensors_check_seal(file, err);
    if (s == PE_OK)
        s = io_safetensors_parse(&st, file, err);
    else
        io_bytes_free(file);
    r.st = st;
    s = s ? s : read_model(&r);
    io_safetensors_free(st);
    if (s) {
        model_free(r.m);
        return s;
    }
    *out = r.m;
    if (about) {
        *about = r.about;
        about->spec = pe_encoding_spec(model_encoding(r.m));
        about->data = NULL;
    }
    return PE_OK;
}

#define FILE_MOST ((size_t)1 << 30)

pe_status model_open_file(model **out, io_model *about, const char *path, const pe_pool *pool, pe_error *err)
{
    io_bytes file;
    *out = NULL;
    TRY(io_read_file(&file, path, FILE_MOST, err));
    return model_parse(out, about, &file, pool, err);
}
