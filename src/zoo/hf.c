/* SPDX-License-Identifier: MIT */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MOST (INT64_C(1) << 36) /* sizes and lengths of a config */

/* ---------------------------------------------------------------- keys */

/* Item n of "a|b|c" into out; false past the end. */
static bool item(const char *list, int n, char out[64])
{
    for (; n > 0 && list; n--) {
        list = strchr(list, '|');
        if (list)
            list++;
    }
    if (!list || !*list)
        return false;
    snprintf(out, 64, "%.*s", (int)strcspn(list, "|"), list);
    return true;
}

bool hf_has(const hf_part *h, const char *key)
{
    io_node n;
    return io_json_get(&n, h->config, key) && io_json_kind_of(&n) != IO_JSON_NULL;
}

/* Numbers of several keys that should be one. */
typedef struct pick {
    double value;
    char key[64]; /* "": none was there */
} pick;

static pe_status pick_number(hf_part *h, pick *out, const char *keys)
{
    char key[64];
    *out = (pick){ 0 };
    for (int n = 0; item(keys, n, key); n++) {
        io_node node;
        double x = 0;
        if (!io_json_get(&node, h->config, key) || io_json_kind_of(&node) == IO_JSON_NULL)
            continue;
        if (*out->key && io_json_kind_of(&node) != IO_JSON_INT && io_json_kind_of(&node) != IO_JSON_REAL)
            continue; /* an alias that means something else here */
        ZOO_TRY(io_json_real(&x, &node, NULL, IO_REQUIRED, h->b->err));
        if (*out->key && x != out->value)
            ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, key, h->source, "%s is %g and %s is %g; %s counts", out->key,
                                 out->value, key, x, out->key));
        if (!*out->key) {
            out->value = x;
            snprintf(out->key, sizeof out->key, "%s", key);
        }
    }
    return PE_OK;
}

/* "a" of "a|b|c" */
static const char *first_key(const char *keys, char out[64])
{
    item(keys, 0, out);
    return out;
}

pe_status hf_real(hf_part *h, double *out, const char *keys, double fallback)
{
    pick p;
    char key[64];
    ZOO_TRY(pick_number(h, &p, keys));
    if (*p.key)
        *out = p.value;
    else if (fallback != 0) {
        *out = fallback;
        return zoo_note_add(h->b, ZOO_FACT, first_key(keys, key), h->source,
                            "%s is not in the config; %s's default is %g", first_key(keys, key), h->fact->type,
                            fallback);
    }
    return PE_OK;
}

pe_status hf_int(hf_part *h, int64_t *out, const char *keys, int64_t fallback)
{
    double x = NAN;
    char key[64];
    ZOO_TRY(hf_real(h, &x, keys, (double)fallback));
    if (isnan(x))
        return PE_OK;
    if (x != floor(x) || x < 0 || x > (double)SIZE_MOST)
        return io_fail(h->b->err, PE_ERR_RANGE, "%s: %s is %g; needs a whole number from 0 to 2^36", h->b->model.path,
                       first_key(keys, key), x);
    *out = (int64_t)x;
    return PE_OK;
}

pe_status hf_flag(hf_part *h, bool *out, const char *key, bool fallback)
{
    io_node at;
    int64_t number = 0;
    *out = fallback;
    if (!io_json_get(&at, h->config, key) || io_json_kind_of(&at) != IO_JSON_INT)
        return io_json_bool(out, h->config, key, IO_OPTIONAL, h->b->err);
    ZOO_TRY(io_json_int(&number, &at, NULL, IO_REQUIRED, IO_ANY_INT, h->b->err)); /* Llama 4: 4 stands for true */
    *out = number != 0;
    return PE_OK;
}

pe_status hf_word(hf_part *h, const char **out, const char *keys)
{
    char key[64];
    for (int n = 0; item(keys, n, key); n++)
        if (hf_has(h, key))
            return io_json_string(out, h->config, key, IO_REQUIRED, h->b->err);
    return PE_OK;
}

/* ---------------------------------------------------------------- shape */

static pe_status missing(hf_part *h, const char *keys, const char *option)
{
    char key[64];
    return io_fail(h->b->err, PE_ERR_FORMAT, "%s: %s is missing, and %s has no default for it%s%s", h->b->model.path,
                   first_key(keys, key), h->fact->type, option ? "; pass " : "", option ? option : "");
}

/* Width of a head: nope + rope (MLA), its own key, or hidden / heads. */
static pe_status measure_head(hf_part *h)
{
    const zoo_fact *f = h->fact;
    int64_t rope = 0, nope = 0, head = 0;
    if (f->rope_dim) {
        ZOO_TRY(hf_int(h, &rope, "qk_rope_head_dim", f->rope_dim));
        if (f->nope_dim)
            ZOO_TRY(hf_int(h, &nope, "qk_nope_head_dim", f->nope_dim));
    }
    if (nope)
        head = nope + rope;
    else
        ZOO_TRY(hf_int(h, &head, HF_HEAD_DIM, f->head_dim));
    if (!head && h->shape.model_dim && h->shape.heads) {
        head = h->shape.model_dim / h->shape.heads;
        if (h->shape.model_dim % h->shape.heads)
            ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "hidden_size", "",
                                 "hidden_size %" PRId64 " is no multiple of %" PRId64 " heads; heads are %" PRId64
                                 " wide",
                                 h->shape.model_dim, h->shape.heads, head));
    }
    if (h->b->options->head_dim)
        head = h->b->options->head_dim;
    if (!head)
        return missing(h, HF_HEAD_DIM, "--head-dim N");
    if (head > PE_HEAD_DIM_MAX)
        return io_fail(h->b->err, PE_ERR_RANGE, "%s: heads are %" PRId64 " wide; needs 1 to %d", h->b->model.path, head,
                       PE_HEAD_DIM_MAX);
    h->shape.head_dim = head;
    return PE_OK;
}

/* The library wants heads that the key/value heads divide. */
static pe_status measure_heads(hf_part *h)
{
    const zoo_fact *f = h->fact;
    int64_t heads = 0, kv = 0;
    ZOO_TRY(hf_int(h, &heads, h->heads_keys ? h->heads_keys : HF_HEADS, f->heads));
    if (!heads)
        return missing(h, HF_HEADS, NULL);
    ZOO_TRY(
        hf_int(h, &kv, HF_KV_HEADS, f->kv_heads && f->kv_heads <= heads && heads % f->kv_heads == 0 ? f->kv_heads : 0));
    if (h->kv_heads)
        kv = h->kv_heads;
    if (heads > 65536 || kv > heads || (kv && heads % kv))
        return io_fail(h->b->err, PE_ERR_SHAPE,
                       "%s: has %" PRId64 " heads and %" PRId64
                       " key heads; needs at most 65536, and key heads that divide the heads",
                       h->b->model.path, heads, kv);
    h->shape.heads = heads;
    h->shape.kv_heads = kv;
    return PE_OK;
}

/* Some configs only list their layers. */
static pe_status measure_layers(hf_part *h)
{
    static const char *const lists[] = { "layer_types", "layers_block_type" };
    io_node list = { 0 };
    ZOO_TRY(hf_int(h, &h->layers, h->layers_keys ? h->layers_keys : HF_LAYERS, h->layers ? 0 : h->fact->layers));
    for (size_t n = 0; !h->layers && n < sizeof lists / sizeof *lists; n++)
        if (io_json_get(&list, h->config, lists[n]))
            h->layers = (int64_t)io_json_size(&list);
    return h->layers ? PE_OK : missing(h, HF_LAYERS, NULL);
}

pe_status hf_measure(hf_part *h)
{
    const zoo_fact *f = h->fact;
    ZOO_TRY(hf_int(h, &h->shape.model_dim, f->hidden_key ? f->hidden_key : HF_HIDDEN, f->hidden));
    if (h->shape.model_dim > INT64_C(1) << 30)
        return io_fail(h->b->err, PE_ERR_RANGE, "%s: hidden_size is %" PRId64 "; needs 2^30 at most", h->b->model.path,
                       h->shape.model_dim);
    ZOO_TRY(measure_heads(h));
    ZOO_TRY(measure_head(h));
    h->layers = h->b->options->rotary ? 1 : 0;
    ZOO_TRY(measure_layers(h));
    ZOO_TRY(hf_int(h, &h->length, h->length_keys ? h->length_keys : HF_LENGTH, f->length));
    ZOO_TRY(zoo_add_part(h->b, &h->part, h->name, f->type, h->b->options->rotary ? 1 : h->layers));
    h->part->trained = h->part->served = h->length;
    if (h->b->options->trained)
        h->part->trained = h->b->options->trained;
    return PE_OK;
}

pe_status hf_all_layers(hf_part *h, const char *spec)
{
    hf_layers layers;
    ZOO_TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        ZOO_TRY(hf_layers_next(&layers, h, &l));
        ZOO_TRY(zoo_set_layer(h->b, h->part, n, l.attends ? spec : "none", h->shape, l.kind, l.window));
    }
    return PE_OK;
}

pe_status hf_is_on(hf_part *h, bool *on)
{
    const char *key = h->fact->only_if, *equals = key ? strchr(key, '=') : NULL, *word = "";
    char name[64];
    *on = true;
    if (!key || h->b->options->rotary)
        return PE_OK;
    if (*key == '!') {
        pe_status s = hf_flag(h, on, key + 1, true);
        *on = !*on;
        return s;
    }
    if (!equals)
        return hf_flag(h, on, key, false);
    snprintf(name, sizeof name, "%.*s", (int)(equals - key), key);
    ZOO_TRY(hf_word(h, &word, name));
    *on = !strcmp(word, equals + 1);
    return PE_OK;
}

/* ---------------------------------------------------------------- families */

static const struct {
    const char *name;
    hf_family *read;
} families[] = {
    { "rope", hf_rope },
    { "still", hf_still },
    { "patches", hf_patches },
    { "seq2seq", hf_seq2seq },
    { "beyond", hf_beyond },
    { "t5", hf_t5 },
    { "deberta", hf_deberta },
    { "xlnet", hf_xlnet },
    { "transfo-xl", hf_transfo_xl },
    { "bert", hf_bert },
    { "mpnet", hf_mpnet },
    { "falcon", hf_falcon },
    { "mpt", hf_mpt },
    { "baichuan", hf_baichuan },
    { "chatglm", hf_chatglm },
    { "qwen", hf_qwen },
    { "roformer", hf_roformer },
    { "esm", hf_esm },
    { "recurrent", hf_recurrent },
    { "dinov3", hf_dinov3 },
    { "shaw", hf_shaw },
    { "dbrx", hf_dbrx },
    { "mla", hf_mla },
    { "nomic", hf_nomic },
    { "internlm", hf_internlm },
    { "jais", hf_jais },
    { "openelm", hf_openelm },
};

static pe_status read_family(hf_part *h)
{
    const char *name = h->fact->family ? h->fact->family : "rope";
    for (size_t n = 0; n < sizeof families / sizeof *families; n++)
        if (!strcmp(families[n].name, name))
            return families[n].read(h);
    return io_fail(h->b->err, PE_ERR_UNSUITED, "%s: no reader for %s", h->b->model.path, name);
}

/* ---------------------------------------------------------------- parts */

/* The row of this type. An unknown one is an error, unless options say what it cannot. */
static pe_status find_fact(hf_part *h, const char *type)
{
    static const zoo_fact guess = { .type = "unknown", .partial = true };
    const zoo_options *o = h->b->options;
    h->fact = zoo_fact_find(type);
    if (h->fact) {
        zoo_fact_source(h->source, h->fact);
        return PE_OK;
    }
    h->fact = &guess;
    h->guessed = true;
    if (o->pairs)
        return zoo_note_add(h->b, ZOO_FACT, "model_type", "", "model_type %.60s is unknown; pairs=%s as you say", type,
                            o->pairs);
    return zoo_unknown(h->b, "model_type", "--pairs half (or adjacent), or --type llama and the like", "pairs=half",
                       "model_type %.60s is unknown, and no config says how pairs lie", type);
}

static pe_status read_one(zoo_builder *b, const io_node *config, const char *name, const char *type)
{
    hf_part h = { .b = b, .config = config, .name = name };
    ZOO_TRY(find_fact(&h, type));
    ZOO_TRY(hf_check_keys(&h));
    return read_family(&h);
}

static const char *part_name(const char *key, char out[64])
{
    snprintf(out, 64, "%s", key);
    char *tail = strstr(out, "_config");
    if (tail)
        *tail = 0;
    if (!strcmp(out, "llm") || !strcmp(out, "language") || !strcmp(out, "lm"))
        return "text";
    return out;
}

/* Older configs of such models have the keys of the part that speaks at the top. */
static bool is_flat(const io_node *config)
{
    static const char *const keys[] = { "num_hidden_layers", "hidden_size", "n_layer" };
    io_node at;
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++)
        if (io_json_get(&at, config, keys[n]) && io_json_kind_of(&at) == IO_JSON_INT)
            return true;
    return false;
}

/* A part beside the first that cannot be read is left out, with a note: people ask for the language model. */
static pe_status read_aside(zoo_builder *b, const io_node *sub, const char *key, const char *name, const char *type)
{
    int parts = b->model.parts;
    pe_error why = { 0 }, *err = b->err;
    if (!zoo_fact_find(type))
        return zoo_note_add(b, ZOO_FACT, key, "", "%s (%.60s) is not read", key, type);
    b->err = &why;
    pe_status s = zoo_hf_read(b, sub, name, type);
    b->err = err;
    if (s == PE_ERR_NOMEM)
        return io_fail(err, s, "%s", why.text);
    if (s == PE_OK)
        return s;
    b->model.parts = parts;
    return zoo_note_add(b, ZOO_WARNING, key, "", "%s is not read: %s", key, why.text);
}

/* "text_config=llama": the part's own model_type counts where it has one. */
static pe_status read_part(zoo_builder *b, const io_node *config, const char *entry, int nth)
{
    char key[64], name[64];
    const char *equals = strchr(entry, '='), *type;
    io_node sub;
    snprintf(key, sizeof key, "%.*s", (int)(equals ? equals - entry : 0), entry);
    type = equals ? equals + 1 : "";
    ZOO_TRY(io_json_object(&sub, config, key, IO_OPTIONAL, b->err));
    if (!sub.json && nth > 0)
        return PE_OK;
    if (!sub.json && is_flat(config))
        return zoo_hf_read(b, config, part_name(key, name), type);
    if (!sub.json)
        return io_fail(b->err, PE_ERR_FORMAT, "%s: %s is missing", b->model.path, key);
    const char *whole = "", *own = "";
    ZOO_TRY(io_json_string(&whole, config, "model_type", IO_OPTIONAL, b->err));
    ZOO_TRY(io_json_string(&own, &sub, "model_type", IO_OPTIONAL, b->err));
    if (*own && strcmp(own, whole)) /* the first Qwen2-VL called its picture part by its own name */
        type = own;
    return nth > 0 ? read_aside(b, &sub, key, part_name(key, name), type)
                   : zoo_hf_read(b, &sub, part_name(key, name), type);
}

static pe_status read_parts(zoo_builder *b, const io_node *config, const char *list)
{
    char entry[64];
    for (int n = 0; item(list, n, entry); n++)
        ZOO_TRY(read_part(b, config, entry, n));
    return PE_OK;
}

/* A config whose language model is nested, of a type that has no row: the usual names. */
static const char *nested_text(const io_node *config)
{
    static const char *const keys[][2] = { { "text_config", "text_config=" },
                                           { "llm_config", "llm_config=" },
                                           { "language_config", "language_config=" },
                                           { "thinker_config", "thinker_config=" } };
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++) {
        io_node sub;
        if (io_json_get(&sub, config, keys[n][0]) && io_json_kind_of(&sub) == IO_JSON_OBJECT)
            return keys[n][1];
    }
    return NULL;
}

pe_status zoo_hf_read(zoo_builder *b, const io_node *config, const char *name, const char *type)
{
    const zoo_fact *f = zoo_fact_find(type);
    const char *nested = f ? f->parts : nested_text(config);
    if (b->depth > 4)
        return io_fail(b->err, PE_ERR_FORMAT, "%s: configs in configs, five deep", b->model.path);
    b->depth++;
    pe_status s = nested ? read_parts(b, config, nested) : read_one(b, config, name, type);
    b->depth--;
    return s;
}

/* The model_type of a config: as the options say, its own, or what an old config shows in other ways. */
static pe_status type_of(zoo_builder *b, const io_node *config, const char **out)
{
    io_node list, name;
    *out = b->options->type;
    if (*out)
        return PE_OK;
    ZOO_TRY(io_json_string(out, config, "model_type", IO_OPTIONAL, b->err));
    if (*out)
        return PE_OK;
    ZOO_TRY(io_json_array(&list, config, "architectures", IO_OPTIONAL, b->err));
    name = (io_node){ 0 };
    if (list.json && io_json_next(&name, &list) && io_json_kind_of(&name) == IO_JSON_STRING) {
        ZOO_TRY(io_json_string(out, &name, NULL, IO_REQUIRED, b->err));
        if (zoo_fact_find(*out))
            return PE_OK;
    }
    *out = "";
    return zoo_unknown(b, "model_type", "--type llama (or what it is)", "what its keys say", "model_type is missing");
}

pe_status zoo_read_node(zoo_model **out, const char *name, const io_node *config, const zoo_options *options,
                        pe_error *err)
{
    const char *type;
    *out = NULL;
    zoo_builder *b = zoo_begin(name, "config.json", options, err);
    if (!b)
        return PE_ERR_NOMEM;
    pe_status s = type_of(b, config, &type);
    return zoo_finish(out, b, s == PE_OK ? zoo_hf_read(b, config, "", type) : s);
}

pe_status zoo_read_config(zoo_model **out, const char *name, const char *json, size_t size, const zoo_options *options,
                          pe_error *err)
{
    io_node root;
    *out = NULL;
    ZOO_TRY(io_json_parse(&root, name, json, size, err));
    pe_status s = zoo_read_node(out, name, &root, options, err);
    io_json_free(&root);
    return s;
}
