/* SPDX-License-Identifier: MIT
 *
 * The encoding's parameters. What is trained are tensors of the model, by name; an encoding wants one block per layer,
 * laid out its own way. Blocks are filled before a pass and their gradients brought back after it, so that another
 * encoding, at another length, can use what was trained. Where a tensor is projected (pe_tensor.projected), what is
 * trained is the weight: block = codes W'. */
#include "model/parts.h"

#include "io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- names */

static void name_of(char out[MODEL_NAME_MAX], const pe_tensor *t, int64_t l)
{
    const char *end = t->projected ? ".weight" : "";
    if (t->hooks & SCORE_HOOKS)
        snprintf(out, MODEL_NAME_MAX, "layer.%" PRId64 ".position.%s%s", l, t->name, end);
    else
        snprintf(out, MODEL_NAME_MAX, "position.%s%s", t->name, end);
}

static const pe_info *row_of(const char *name, size_t length)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (strlen(pe_info_at(i)->name) == length && !strncmp(pe_info_at(i)->name, name, length))
            return pe_info_at(i);
    return NULL;
}

/* In a combination a tensor is called after its row; one that takes over another's is found under that name. */
static const model_tensor *find_tensor(const model *m, pe_tensor t, int64_t l)
{
    char name[MODEL_NAME_MAX];
    name_of(name, &t, l);
    const model_tensor *found = model_tensor_find(m, name);
    const char *dot = strchr(t.name, '.');
    const pe_info *row = dot && !found ? row_of(t.name, (size_t)(dot - t.name)) : NULL;
    if (!row || !row->trained_as)
        return found;
    char old[sizeof t.name];
    memcpy(old, t.name, sizeof old);
    snprintf(t.name, sizeof t.name, "%s%s", row->trained_as, old + (dot - t.name));
    name_of(name, &t, l);
    return model_tensor_find(m, name);
}

/* Layers that have this tensor: all, or the embedding alone. */
static int64_t copies(const model *m, const pe_tensor *t)
{
    return t->hooks & SCORE_HOOKS ? m->c.layers : 1;
}

/* ---------------------------------------------------------------- the list of tensors */

pe_status position_layout(model *m, pe_error *err)
{
    int64_t width = m->c.heads * m->c.head_dim;
    char name[MODEL_NAME_MAX];
    for (int i = 0; i < pe_encoding_tensor_count(m->at.e); i++) {
        const pe_tensor *t = pe_encoding_tensor(m->at.e, i);
        for (int64_t l = 0; l < copies(m, t); l++) {
            name_of(name, t, l);
            model_tensor *added = t->projected ? layout_add_weight(m, name, width, width) : layout_add(m, name, t);
            if (!added)
                return io_fail(err, PE_ERR_NOMEM, "no memory for the encoding's tensors");
            added->position = true;
            added->rate = t->rate;
            added->decay = t->decay;
        }
    }
    return PE_OK;
}

bool model_train(model *m, const char *name, double rate, double decay)
{
    bool found = false;
    for (int i = 0; i < pe_encoding_tensor_count(m->at.e); i++) {
        const pe_tensor *t = pe_encoding_tensor(m->at.e, i);
        for (int64_t l = 0; l < copies(m, t) && !strcmp(t->name, name); l++) {
            model_tensor *own = &m->tensor[find_tensor(m, *t, l) - m->tensor];
            own->rate = rate;
            own->decay = decay;
            found = true;
        }
    }
    return found;
}

void position_init(model *m, uint64_t seed)
{
    char name[MODEL_NAME_MAX];
    for (int64_t l = 0; m->at.count && l < m->at.blocks; l++) {
        pe_params block = position_block(m, m->at.block, l);
        snprintf(name, sizeof name, "layer.%" PRId64 ".position", l);
        pe_encoding_init(m->at.e, block, name_seed(name, seed), NULL);
        for (int i = 0; i < pe_encoding_tensor_count(m->at.e); i++) {
            const pe_tensor *t = pe_encoding_tensor(m->at.e, i);
            const model_tensor *own = find_tensor(m, *t, l);
            if (l >= copies(m, t))
                continue;
            if (t->projected)
                init_tensor(m, own, seed);
            else
                memcpy(m->weights + own->offset, (real *)block.data + t->offset, (size_t)t->count * sizeof(real));
        }
    }
}

/* ---------------------------------------------------------------- the one in use */

static pe_status fits(const model *m, const pe_encoding *e, const pe_tensor *t, const model_tensor *own, pe_error *err)
{
    if (!own)
        return io_fail(err, PE_ERR_UNSUITED, "%s has a learned tensor %s, which the model was not trained with",
                       pe_encoding_spec(e), t->name);
    int64_t width = m->c.heads * m->c.head_dim;
    if (own->count != (t->projected ? width * width : t->count))
        return io_fail(err, PE_ERR_SHAPE, "%s: its %s has %" PRId64 " numbers; the model was trained with %" PRId64,
                       pe_encoding_spec(e), t->name, t->count, own->count);
    return PE_OK;
}

/* Every tensor of e is one of the model's. */
static pe_status check_tensors(const model *m, const pe_encoding *e, pe_error *err)
{
    for (int i = 0; i < pe_encoding_tensor_count(e); i++) {
        const pe_tensor *t = pe_encoding_tensor(e, i);
        TRY(fits(m, e, t, find_tensor(m, *t, 0), err));
    }
    return PE_OK;
}

static pe_status make_codes(position *p, pe_error *err)
{
    bool any = false;
    for (int i = 0; i < pe_encoding_tensor_count(p->e); i++)
        any = any || pe_encoding_tensor(p->e, i)->projected;
    if (!any)
        return PE_OK;
    p->codes = malloc((size_t)p->count * sizeof(real));
    if (!p->codes)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the codes of %s", pe_encoding_spec(p->e));
    return pe_encoding_init(p->e, (pe_params){ p->codes, MODEL_TYPE, p->count }, 0, err);
}

static pe_status make_blocks(position *p, const model *m, pe_error *err)
{
    p->count = pe_encoding_param_count(p->e);
    p->blocks = pe_encoding_hooks(p->e) & SCORE_HOOKS ? m->c.layers : 1;
    if (!p->count)
        return PE_OK;
    if (p->count > (INT64_C(1) << 36) / p->blocks)
        return io_fail(err, PE_ERR_OVERFLOW, "%s has %" PRId64 " learned numbers in each layer", pe_encoding_spec(p->e),
                       p->count);
    p->block = calloc((size_t)(p->count * p->blocks), sizeof(real));
    p->dblock = calloc((size_t)(p->count * p->blocks), sizeof(real));
    if (!p->block || !p->dblock)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the parameters of %s", pe_encoding_spec(p->e));
    return make_codes(p, err);
}

static pe_status build_position(position *p, const model *m, const char *spec, pe_error *err)
{
    pe_shape shape = { m->c.heads, m->c.kv_heads, m->c.head_dim, m->c.width };
    TRY(pe_encoding_new(&p->e, spec, shape, err));
    return make_blocks(p, m, err);
}

pe_status position_use(position *out, const model *m, const char *spec, pe_error *err)
{
    *out = (position){ 0 };
    pe_status s = build_position(out, m, spec, err);
    if (s)
        position_free(out);
    return s;
}

void position_free(position *p)
{
    pe_encoding_free(p->e);
    free(p->block);
    free(p->dblock);
    free(p->codes);
    *p = (position){ 0 };
}

pe_status model_use(model *m, const char *spec, pe_error *err)
{
    position next;
    TRY(position_use(&next, m, spec, err));
    pe_status s = check_tensors(m, next.e, err);
    s = s ? s : inputs_fit(m, next.e, err);
    bool joined = pe_encoding_hooks(next.e) & PE_HOOK_EMBED;
    if (!s && m->embed.in + (joined ? pe_embed_width(next.e, m->embed.in) - m->embed.in : 0) != m->c.width)
        s = io_fail(err, PE_ERR_SHAPE, "%s: its code is not as wide as the one the model was trained with", spec);
    if (s) {
        position_free(&next);
        return s;
    }
    if (next.count != m->at.count)
        memory_free(m);
    position_free(&m->at);
    m->at = next;
    return PE_OK;
}

/* ---------------------------------------------------------------- before and after a pass */

typedef void (*tensor_job)(model *m, const pe_tensor *t, const model_tensor *own, int64_t l);

static void each_tensor(model *m, tensor_job job)
{
    for (int i = 0; i < pe_encoding_tensor_count(m->at.e); i++) {
        const pe_tensor *t = pe_encoding_tensor(m->at.e, i);
        for (int64_t l = 0; l < copies(m, t); l++)
            job(m, t, find_tensor(m, *t, l), l);
    }
}

static void fill(model *m, const pe_tensor *t, const model_tensor *own, int64_t l)
{
    real *to = m->at.block + l * m->at.count + t->offset, *from = m->weights + own->offset;
    int64_t width = m->c.heads * m->c.head_dim;
    if (!t->projected)
        memcpy(to, from, (size_t)t->count * sizeof(real));
    else
        gemm_forward((matrix){ to, width }, (matrix){ m->at.codes + t->offset, width }, (matrix){ from, width },
                     t->count / width, width, width, 0);
}

static void scatter(model *m, const pe_tensor *t, const model_tensor *own, int64_t l)
{
    real *from = m->at.dblock + l * m->at.count + t->offset, *to = m->grads + own->offset;
    int64_t width = m->c.heads * m->c.head_dim;
    if (!t->projected)
        memcpy(to, from, (size_t)t->count * sizeof(real));
    else
        gemm_weight((matrix){ to, width }, (matrix){ from, width }, (matrix){ m->at.codes + t->offset, width },
                    t->count / width, width, width, 0);
}

void position_fill(model *m)
{
    each_tensor(m, fill);
}

void position_scatter(model *m)
{
    each_tensor(m, scatter);
}
