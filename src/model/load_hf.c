/* SPDX-License-Identifier: MIT
 *
 * Hugging Face weights: which tensors an architecture has, and their elements. */
#include "base/try.h"
#include "model/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_SIZE_MAX (INT64_C(1) << 28)
#define LOAD_SIZE ((io_int_range){ 1, LOAD_SIZE_MAX })

typedef enum size_of { ONE = 0, VOCAB, WIDTH, QUERIES, KEYS, FUSED, HIDDEN } size_of;
typedef enum biased { NEVER = 0, ALWAYS, ATTENTION, MLP } biased;

/* `from`, (rows, columns), fills rows of `to`, below what the row before it filled of the same `to`. % is the layer;
 * names go without .weight. */
typedef struct place {
    const char *to, *from;
    size_of rows, columns; /* columns ONE: a vector */
    biased bias;
    bool by_head; /* rows are (H, 3, D), ours (3, H, D) */
} place;

typedef struct architecture {
    const char *type;
    const char *prefix; /* of all but the output; files of the bare model are without */
    const char *embed;  /* the tensor that tells which */
    const place *place;
    int places;
    bool tied; /* unless the config says otherwise */
} architecture;

typedef struct loading {
    const architecture *a;
    const model_shards *from;
    const char *name; /* the model's, for messages */
    model_config c;
    bool bias[4]; /* by `biased` */
    model *m;     /* NULL: shapes are checked, nothing is read */
    uint8_t *piece;
    pe_error *err;
} loading;

/* Tensors of the files into the model's memory, by the table of places. */

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

static found find_shard(const model_shards *from, const char *name)
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
        TRY(io_tensor_read(l->piece, f.file, f.tensor, (size_t)(first + done) * size, (size_t)n * size, l->err));
        TRY(model_load_convert(to + done, l->piece, f.tensor->type, n, l->err));
    }
    return PE_OK;
}

/* Blocks of D rows in the order h0q h0k h0v h1q ... become q of all heads, k of all, v of all. */
static pe_status read_by_head(const loading *l, real *to, found f, int64_t columns)
{
    int64_t block = l->c.head_dim * columns;
    for (int64_t n = 0; n < 3 * l->c.heads; n++)
        TRY(read_elements(l, to + (n % 3 * l->c.heads + n / 3) * block, f, n * block, block));
    return PE_OK;
}

static pe_status load_one(const loading *l, const place *p, int64_t first, int64_t layer, const char *prefix,
                          bool is_bias)
{
    char from[NAME_LENGTH], to[NAME_LENGTH];
    int64_t rows = size_in(&l->c, p->rows), columns = is_bias ? 1 : size_in(&l->c, p->columns);
    spell(from, prefix, p->from, layer, is_bias ? ".bias" : ".weight");
    found f = find_shard(l->from, from);
    TRY(check(l, from, f.tensor, rows, columns, is_bias || p->columns == ONE ? 1 : 2));
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
    TRY(load_one(l, p, first, layer, prefix, false));
    return l->bias[p->bias] ? load_one(l, p, first, layer, prefix, true) : PE_OK;
}

static const char *prefix_of(const loading *l)
{
    char name[NAME_LENGTH];
    spell(name, l->a->prefix, l->a->embed, 0, "");
    return find_shard(l->from, name).tensor          ? l->a->prefix
           : find_shard(l->from, l->a->embed).tensor ? ""
                                                     : l->a->prefix;
}

/* Every tensor's shape and type, before memory is asked for; then, with l->m, its elements. */
static pe_status load_places(loading *l)
{
    const char *prefix = prefix_of(l);
    const place *end = l->a->place + l->a->places;
    for (const place *p = l->a->place; p < end; p++)
        for (int64_t n = 0; n < (strchr(p->to, '%') ? l->c.layers : 1); n++)
            TRY(load_place(l, p, n, prefix));
    return l->c.untied ? load_one(l, &output, 0, 0, "", false) : PE_OK;
}

/* What the architectures call their weights, and where they go: two tables. */

static const place llama[] = {
    { "embed", "embed_tokens", VOCAB, WIDTH, NEVER, false },
    { "final", "norm", WIDTH, ONE, NEVER, false },
    { "layer.%.norm1", "layers.%.input_layernorm", WIDTH, ONE, NEVER, false },
    { "layer.%.qkv", "layers.%.self_attn.q_proj", QUERIES, WIDTH, ATTENTION, false },
    { "layer.%.qkv", "layers.%.self_attn.k_proj", KEYS, WIDTH, ATTENTION, false },
    { "layer.%.qkv", "layers.%.self_attn.v_proj", KEYS, WIDTH, ATTENTION, false },
    { "layer.%.out", "layers.%.self_attn.o_proj", WIDTH, QUERIES, ATTENTION, false },
    { "layer.%.norm2", "layers.%.post_attention_layernorm", WIDTH, ONE, NEVER, false },
    { "layer.%.up", "layers.%.mlp.gate_proj", HIDDEN, WIDTH, MLP, false },
    { "layer.%.up", "layers.%.mlp.up_proj", HIDDEN, WIDTH, MLP, false },
    { "layer.%.down", "layers.%.mlp.down_proj", WIDTH, HIDDEN, MLP, false },
};
static const place bloom[] = {
    { "embed", "word_embeddings", VOCAB, WIDTH, NEVER, false },
    { "embed_norm", "word_embeddings_layernorm", WIDTH, ONE, ALWAYS, false },
    { "final", "ln_f", WIDTH, ONE, ALWAYS, false },
    { "layer.%.norm1", "h.%.input_layernorm", WIDTH, ONE, ALWAYS, false },
    { "layer.%.qkv", "h.%.self_attention.query_key_value", FUSED, WIDTH, ALWAYS, true },
    { "layer.%.out", "h.%.self_attention.dense", WIDTH, QUERIES, ALWAYS, false },
    { "layer.%.norm2", "h.%.post_attention_layernorm", WIDTH, ONE, ALWAYS, false },
    { "layer.%.up", "h.%.mlp.dense_h_to_4h", HIDDEN, WIDTH, ALWAYS, false },
    { "layer.%.down", "h.%.mlp.dense_4h_to_h", WIDTH, HIDDEN, ALWAYS, false },
};
#define PLACES(list) list, (int)(sizeof(list) / sizeof *(list))
static const architecture known[] = {
    { "llama", "model.", "embed_tokens.weight", PLACES(llama), false },
    { "bloom", "transformer.", "word_embeddings.weight", PLACES(bloom), true },
};
/* ---------------------------------------------------------------- the config */

static pe_status read_llama(loading *l, const io_node *config)
{
    pe_error *err = l->err;
    const char *act = "silu";
    bool attention = false, mlp = false;
    l->c.eps = 1e-6;
    TRY(io_json_int(&l->c.hidden, config, "intermediate_size", IO_REQUIRED, LOAD_SIZE, err));
    TRY(io_json_real(&l->c.eps, config, "rms_norm_eps", IO_OPTIONAL, err));
    TRY(io_json_string(&act, config, "hidden_act", IO_OPTIONAL, err));
    TRY(io_json_bool(&attention, config, "attention_bias", IO_OPTIONAL, err));
    TRY(io_json_bool(&mlp, config, "mlp_bias", IO_OPTIONAL, err));
    if (strcmp(act, "silu"))
        return io_fail(err, PE_ERR_FORMAT, "%s: hidden_act is %s; needs silu", l->name, act);
    l->c.biases = attention || mlp;
    l->bias[ATTENTION] = attention;
    l->bias[MLP] = mlp;
    return PE_OK;
}

static pe_status read_bloom(loading *l, const io_node *config)
{
    bool after = false;
    l->c.norm = MODEL_LAYER;
    l->c.mlp = MODEL_GELU;
    l->c.embed_norm = l->c.biases = true;
    l->c.hidden = 4 * l->c.width;
    l->c.eps = 1e-5;
    TRY(io_json_real(&l->c.eps, config, "layer_norm_epsilon", IO_OPTIONAL, l->err));
    TRY(io_json_bool(&after, config, "apply_residual_connection_post_layernorm", IO_OPTIONAL, l->err));
    if (l->c.kv_heads != l->c.heads)
        return io_fail(l->err, PE_ERR_FORMAT,
                       "%s: has %lld key heads for %lld query heads; needs as many, as BLOOM has", l->name,
                       (long long)l->c.kv_heads, (long long)l->c.heads);
    if (after)
        return io_fail(l->err, PE_ERR_FORMAT,
                       "%s: apply_residual_connection_post_layernorm is true; needs false, which BLOOM's models have",
                       l->name);
    return PE_OK;
}

static pe_status read_config(loading *l, const io_node *config, const zoo_group *group, int64_t layers)
{
    bool tied = l->a->tied;
    pe_shape s = group->shape;
    l->c = (model_config){ .layers = layers,
                           .width = s.model_dim,
                           .heads = s.heads,
                           .kv_heads = s.kv_heads,
                           .head_dim = s.head_dim,
                           .causal = true };
    l->bias[ALWAYS] = true;
    if (s.model_dim < 1 || s.model_dim > LOAD_SIZE_MAX)
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the width of the embedding is not said; needs hidden_size", l->name);
    TRY(io_json_int(&l->c.vocab, config, "vocab_size", IO_REQUIRED, LOAD_SIZE, l->err));
    TRY(io_json_bool(&tied, config, "tie_word_embeddings", IO_OPTIONAL, l->err));
    l->c.untied = !tied;
    TRY(l->a->place == llama ? read_llama(l, config) : read_bloom(l, config));
    if (!(l->c.eps > 0 && l->c.eps < 1))
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the epsilon of its norms is %g; needs a number above 0 and below 1",
                       l->name, l->c.eps);
    return PE_OK;
}

/* ---------------------------------------------------------------- the model */

static pe_status find_architecture(loading *l, const zoo_model *zoo)
{
    const char *type = zoo->part[0].type;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (!strcmp(known[n].type, type)) {
            l->a = &known[n];
            return PE_OK;
        }
    return io_fail(l->err, PE_ERR_FORMAT, "%s: is a %s; needs a model of the llama or bloom architecture", zoo->path,
                   type);
}

static pe_status load(loading *l, const io_node *config, const zoo_model *zoo, const pe_pool *pool)
{
    const zoo_group *group;
    TRY(find_architecture(l, zoo));
    TRY(model_load_group(&group, zoo, l->err));
    TRY(read_config(l, config, group, zoo->part[0].layers));
    TRY(load_places(l));
    TRY(model_new(&l->m, &l->c, group->spec, pool, l->err));
    l->piece = malloc((size_t)MODEL_LOAD_PIECE * sizeof(float));
    return l->piece ? load_places(l) : io_fail(l->err, PE_ERR_NOMEM, "%s: no memory", l->name);
}

pe_status model_load_hf(model **out, const io_node *config, const zoo_model *zoo, const model_shards *from,
                        const pe_pool *pool, pe_error *err)
{
    loading l = { .from = from, .name = zoo->path, .err = err };
    pe_status s = load(&l, config, zoo, pool);
    free(l.piece);
    *out = s == PE_OK ? l.m : NULL;
    if (s != PE_OK)
        model_free(l.m);
    return s;
}
