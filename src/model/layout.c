/* SPDX-License-Identifier: MIT
 *
 * The model's tensors: their list, in the order of the memory; their first values, which follow from the seed and each
 * tensor's name, so that models which differ in their encoding alone start alike. */
#include "base/random.h"
#include "io/io.h"
#include "model/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- first values */

uint64_t name_seed(const char *name, uint64_t seed)
{
    uint64_t h = seed ^ 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcmp(text + n - k, end);
}

/* Rows keep the size of what they read; what is added to the residual stream starts smaller the more layers add to it.
 */
static double deviation(const model *m, const model_tensor *t)
{
    double s = 1 / sqrt((double)t->shape[1]);
    bool adds = ends_with(t->name, ".out") || ends_with(t->name, ".down");
    return adds ? s / sqrt(2 * (double)m->c.layers) : s;
}

void init_tensor(model *m, const model_tensor *t, uint64_t seed)
{
    real *w = m->weights + t->offset;
    uint64_t own = name_seed(t->name, seed);
    double size = t->rank > 1 ? deviation(m, t) : 0, flat = ends_with(t->name, ".bias") ? 0 : 1;
    for (int64_t n = 0; n < t->count; n++)
        w[n] = (real)(t->rank > 1 ? size * random_normal(own, (uint64_t)n) : flat);
}

void model_scale_queries(model *m, double factor)
{
    for (int64_t l = 0; fabs(factor - 1) > 1e-9 && l < m->c.layers; l++) {
        real *w = m->weights + m->layer[l].qkv.weight;
        for (int64_t i = 0; i < m->c.heads * m->c.head_dim * m->c.width; i++)
            w[i] *= (real)factor;
    }
}

/* Scores start alike whatever an encoding multiplies them by: a row with a scale of its own (T5's is 1) has its queries
 * made smaller instead, as its authors do. */
static void fit_queries(model *m)
{
    model_scale_queries(m, 1 / (pe_encoding_scale(m->at.e) * sqrt((double)m->c.head_dim)));
}

void model_init(model *m, uint64_t seed)
{
    for (int i = 0; i < m->tensors; i++)
        if (!m->tensor[i].position)
            init_tensor(m, &m->tensor[i], seed);
    fit_queries(m);
    position_init(m, seed);
    inputs_init(m, seed);
}

/* Which tensors a model has: one list, by name, in one block. */

#define SIZE_MAX_ELEMENTS (INT64_C(1) << 36)

/* ---------------------------------------------------------------- settings */

static void fill_defaults(model_config *c)
{
    if (!c->kv_heads)
        c->kv_heads = c->heads;
    if (!c->head_dim && c->heads > 0)
        c->head_dim = c->width / c->heads;
    if (!c->hidden)
        c->hidden = (c->width * 8 / 3 + 15) / 16 * 16;
    if (c->eps == 0)
        c->eps = 1e-5;
    if (c->embed_scale == 0)
        c->embed_scale = 1;
}

static pe_status check_settings(const model_config *c, pe_error *err)
{
    const struct {
        const char *name;
        int64_t value, most;
    } field[] = { { "vocab", c->vocab, 1 << 24 },     { "layers", c->layers, 4096 },
                  { "width", c->width, 1 << 20 },     { "heads", c->heads, 65536 },
                  { "kv_heads", c->kv_heads, 65536 }, { "head_dim", c->head_dim, PE_HEAD_DIM_MAX },
                  { "hidden", c->hidden, 1 << 22 } };
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++)
        if (field[i].value < 1 || field[i].value > field[i].most)
            return io_fail(err, PE_ERR_SHAPE, "the model's %s is %" PRId64 "; needs 1 to %" PRId64, field[i].name,
                           field[i].value, field[i].most);
    if (c->heads % c->kv_heads)
        return io_fail(err, PE_ERR_SHAPE, "the model's kv_heads is %" PRId64 "; needs a divisor of heads, %" PRId64,
                       c->kv_heads, c->heads);
    return PE_OK;
}

/* ---------------------------------------------------------------- the list */

static model_tensor *add_tensor(model *m, const char *name, int rank, int64_t rows, int64_t columns)
{
    if (m->tensors == m->room) {
        int room = m->room ? 2 * m->room : 64;
        model_tensor *more = realloc(m->tensor, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        m->tensor = more;
        m->room = room;
    }
    model_tensor *t = &m->tensor[m->tensors++];
    *t = (model_tensor){ .shape = { rows, rank > 1 ? columns : 1, 1 },
                         .rank = rank,
                         .offset = m->count,
                         .count = rows * (rank > 1 ? columns : 1),
                         .rate = 1,
                         .decay = rank > 1,
                         .min = -(double)INFINITY,
                         .max = (double)INFINITY };
    snprintf(t->name, sizeof t->name, "%s", name);
    m->count += (t->count + 15) / 16 * 16; /* tensors start at whole lines of the cache; what lies between stays 0 */
    return t;
}

model_tensor *layout_add(model *m, const char *name, const pe_tensor *of)
{
    int64_t rows = of->shape[0];
    model_tensor *t = add_tensor(m, name, of->rank > 1 ? 2 : 1, rows, rows ? of->count / rows : 0);
    if (!t)
        return NULL;
    t->rank = of->rank;
    for (int d = 0; d < 3; d++)
        t->shape[d] = d < of->rank ? of->shape[d] : 1;
    t->min = of->min;
    t->max = of->max;
    return t;
}

model_tensor *layout_add_weight(model *m, const char *name, int64_t out, int64_t in)
{
    return add_tensor(m, name, 2, out, in);
}

static bool add_norm(model *m, normal *n, const char *name)
{
    char bias[MODEL_NAME_MAX];
    const model_tensor *t = add_tensor(m, name, 1, m->c.width, 1);
    if (!t)
        return false;
    *n = (normal){ t->offset, -1 };
    if (m->c.norm != MODEL_LAYER)
        return true;
    snprintf(bias, sizeof bias, "%s.bias", name);
    t = add_tensor(m, bias, 1, m->c.width, 1);
    n->bias = t ? t->offset : -1;
    return t;
}

static bool add_linear(model *m, linear *l, const char *name, int64_t out, int64_t in)
{
    char bias[MODEL_NAME_MAX];
    const model_tensor *t = add_tensor(m, name, 2, out, in);
    if (!t)
        return false;
    *l = (linear){ t->offset, -1, out, in };
    if (!m->c.biases)
        return true;
    snprintf(bias, sizeof bias, "%s.bias", name);
    t = add_tensor(m, bias, 1, out, 1);
    l->bias = t ? t->offset : -1;
    return t;
}

static bool add_layer(model *m, int64_t n)
{
    const model_config *c = &m->c;
    layer *l = &m->layer[n];
    int64_t heads = (c->heads + 2 * c->kv_heads) * c->head_dim;
    char name[6][64];
    const char *part[6] = { "norm1", "qkv", "out", "norm2", "up", "down" };
    for (int i = 0; i < 6; i++)
        snprintf(name[i], sizeof name[i], "layer.%" PRId64 ".%s", n, part[i]);
    return add_norm(m, &l->norm1, name[0]) && add_linear(m, &l->qkv, name[1], heads, c->width) &&
           add_linear(m, &l->out, name[2], c->width, c->heads * c->head_dim) && add_norm(m, &l->norm2, name[3]) &&
           add_linear(m, &l->up, name[4], c->mlp == MODEL_SWIGLU ? 2 * c->hidden : c->hidden, c->width) &&
           add_linear(m, &l->down, name[5], c->width, c->hidden);
}

/* The embedding leaves room for a code that is joined to it. */
static pe_status embed_width(const model *m, int64_t *width, pe_error *err)
{
    int64_t code = pe_encoding_hooks(m->at.e) & PE_HOOK_EMBED ? pe_embed_width(m->at.e, m->c.width) - m->c.width : 0;
    *width = m->c.width - code;
    if (code < 0 || *width < 1)
        return io_fail(err, PE_ERR_SHAPE, "%s: its code leaves no room in a width of %" PRId64,
                       pe_encoding_spec(m->at.e), m->c.width);
    return PE_OK;
}

static bool too_large(const model_config *c)
{
    double each = (double)c->width * (double)((c->heads * 2 + 2 * c->kv_heads) * c->head_dim + 3 * c->hidden);
    return each * (double)c->layers + 2 * (double)c->vocab * (double)c->width > (double)SIZE_MAX_ELEMENTS;
}

static pe_status list_tensors(model *m, pe_error *err)
{
    int64_t width;
    TRY(embed_width(m, &width, err));
    if (too_large(&m->c))
        return io_fail(err, PE_ERR_OVERFLOW, "the model has more than 2^36 weights");
    m->layer = calloc((size_t)m->c.layers, sizeof *m->layer);
    const model_tensor *embed = add_tensor(m, "embed", 2, m->c.vocab, width);
    if (embed)
        m->embed = (linear){ embed->offset, -1, m->c.vocab, width };
    bool ok = m->layer && embed && (!m->c.embed_norm || add_norm(m, &m->embed_norm, "embed_norm"));
    for (int64_t l = 0; ok && l < m->c.layers; l++)
        ok = add_layer(m, l);
    ok = ok && add_norm(m, &m->final, "final");
    m->output = m->embed;
    if (ok && m->c.untied) {
        const model_tensor *t = add_tensor(m, "output", 2, m->c.vocab, m->c.width);
        ok = t;
        m->output = (linear){ t ? t->offset : -1, -1, m->c.vocab, m->c.width };
    }
    if (ok)
        TRY(inputs_layout(m, err));
    return ok ? position_layout(m, err) : io_fail(err, PE_ERR_NOMEM, "no memory for the model's list of tensors");
}

/* ---------------------------------------------------------------- make, free */

static pe_status build_model(model *m, const char *spec, pe_error *err)
{
    fill_defaults(&m->c);
    TRY(check_settings(&m->c, err));
    TRY(position_use(&m->at, m, spec, err));
    TRY(list_tensors(m, err));
    m->weights = calloc((size_t)m->count, sizeof *m->weights);
    if (!m->weights)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a model of %" PRId64 " weights", m->count);
    return PE_OK;
}

pe_status model_new(model **out, const model_config *c, const char *spec, const pe_pool *pool, pe_error *err)
{
    *out = NULL;
    model *m = calloc(1, sizeof *m);
    if (!m)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a model");
    gemm_start();
    m->c = *c;
    m->pool = pool;
    m->workers = pool ? pool->workers : 1;
    pe_status s = build_model(m, spec, err);
    if (s == PE_OK)
        *out = m;
    else
        model_free(m);
    return s;
}

void model_free(model *m)
{
    if (!m)
        return;
    position_free(&m->at);
    free(m->tensor);
    free(m->layer);
    free(m->weights);
    free(m->grads);
    memory_free(m);
    free(m);
}

/* ---------------------------------------------------------------- looking */

const model_config *model_settings(const model *m)
{
    return &m->c;
}

const pe_encoding *model_encoding(const model *m)
{
    return m->at.e;
}

int model_tensor_count(const model *m)
{
    return m->tensors;
}

const model_tensor *model_tensor_at(const model *m, int index)
{
    return index >= 0 && index < m->tensors ? &m->tensor[index] : NULL;
}

const model_tensor *model_tensor_find(const model *m, const char *name)
{
    for (int i = 0; i < m->tensors; i++)
        if (!strcmp(m->tensor[i].name, name))
            return &m->tensor[i];
    return NULL;
}

static int64_t count_if(const model *m, bool position_only)
{
    int64_t sum = 0;
    for (int i = 0; i < m->tensors; i++)
        sum += !position_only || m->tensor[i].position ? m->tensor[i].count : 0;
    return sum;
}

int64_t model_count(const model *m)
{
    return count_if(m, false);
}

int64_t model_position_count(const model *m)
{
    return count_if(m, true);
}

real *model_weights(model *m)
{
    return m->weights;
}

/* How far from the tokens: the embedding, the layers, what follows them. A layer's position tensors, which come last in
 * the memory, are used between its queries and its output. */
static int64_t depth(const model_tensor *t)
{
    int l, name = 0;
    if (sscanf(t->name, "layer.%d.%n", &l, &name) != 1)
        return strncmp(t->name, "final", 5) && strncmp(t->name, "output", 6) ? 0 : INT64_MAX;
    bool before = !strncmp(t->name + name, "norm1", 5) || !strncmp(t->name + name, "qkv", 3);
    return 3 * ((int64_t)l + 1) + (t->position ? 1 : before ? 0 : 2);
}

/* Of the tensors that are not finite in this block, the nearest to the tokens or the farthest from them. */
static const model_tensor *find_broken(const model *m, const real *block, bool farthest)
{
    const model_tensor *found = NULL;
    for (int i = 0; block && i < m->tensors; i++) {
        const model_tensor *t = &m->tensor[i];
        bool nearer = !found || (farthest ? depth(t) >= depth(found) : depth(t) < depth(found));
        if (nearer && !finite_all(block + t->offset, t->count))
            found = t;
    }
    return found;
}

const char *model_broken(const model *m)
{
    const model_tensor *t = find_broken(m, m->weights, false);
    if (!t)
        t = find_broken(m, m->grads, true);
    return t ? t->name : NULL;
}
