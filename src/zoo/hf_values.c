/* SPDX-License-Identifier: MIT
 *
 * Values under their many names, and the sizes that every family needs. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MOST (INT64_C(1) << 36) /* sizes and lengths of a config */

/* ---------------------------------------------------------------- keys */

/* item n of "a|b|c"; false past the end */
static bool hf_item(const char *list, int n, char out[64])
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
    for (int n = 0; hf_item(keys, n, key); n++) {
        io_node node;
        double x = 0;
        if (!io_json_get(&node, h->config, key) || io_json_kind_of(&node) == IO_JSON_NULL)
            continue;
        if (*out->key && io_json_kind_of(&node) != IO_JSON_INT && io_json_kind_of(&node) != IO_JSON_REAL)
            continue; /* an alias that means something else here */
        TRY(io_json_real(&x, &node, NULL, IO_REQUIRED, h->b->err));
        if (*out->key && x != out->value)
            TRY(zoo_note_add(h->b, ZOO_WARNING, key, h->source, "%s is %s and %s is %s; %s counts", out->key,
                             zoo_number(out->value).text, key, zoo_number(x).text, out->key));
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
    hf_item(keys, 0, out);
    return out;
}

pe_status hf_real(hf_part *h, double *out, const char *keys, double fallback)
{
    pick p;
    char key[64];
    TRY(pick_number(h, &p, keys));
    if (*p.key)
        *out = p.value;
    else if (fallback != 0) {
        *out = fallback;
        return zoo_note_add(h->b, ZOO_FACT, first_key(keys, key), h->source,
                            "%s is not in the config; %s's default is %s", first_key(keys, key), h->fact->type,
                            zoo_number(fallback).text);
    }
    return PE_OK;
}

pe_status hf_int(hf_part *h, int64_t *out, const char *keys, int64_t fallback)
{
    double x = NAN;
    char key[64];
    TRY(hf_real(h, &x, keys, (double)fallback));
    if (isnan(x))
        return PE_OK;
    if (x != floor(x) || x < 0 || x > (double)SIZE_MOST)
        return zoo_fail(h->b, PE_ERR_RANGE, "%s is %s; needs a whole number from 0 to 2^36", first_key(keys, key),
                        zoo_number(x).text);
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
    TRY(io_json_int(&number, &at, NULL, IO_REQUIRED, IO_ANY_INT, h->b->err)); /* Llama 4: 4 stands for true */
    *out = number != 0;
    return PE_OK;
}

pe_status hf_word(hf_part *h, const char **out, const char *keys)
{
    char key[64];
    for (int n = 0; hf_item(keys, n, key); n++)
        if (hf_has(h, key))
            return io_json_string(out, h->config, key, IO_REQUIRED, h->b->err);
    return PE_OK;
}

/* ---------------------------------------------------------------- shape */

static pe_status missing(hf_part *h, const char *keys, const char *option)
{
    char key[64];
    for (int n = 0; hf_item(keys, n, key); n++)
        if (hf_has(h, key))
            return zoo_fail(h->b, PE_ERR_RANGE, "%s is 0; needs 1 or more", key);
    return zoo_fail(h->b, PE_ERR_FORMAT, "%s is missing, and %s has no default for it%s%s", first_key(keys, key),
                    h->fact->type, option ? "; pass " : "", option ? option : "");
}

/* Width of a head: nope + rope (MLA), its own key, or hidden / heads. */
static pe_status measure_head(hf_part *h)
{
    const zoo_fact *f = h->fact;
    int64_t rope = 0, nope = 0, head = 0, times = (int64_t)zoo_fact_number(f, "head_dim_times");
    if (f->rope_dim) {
        TRY(hf_int(h, &rope, "qk_rope_head_dim", f->rope_dim));
        if (f->nope_dim)
            TRY(hf_int(h, &nope, "qk_nope_head_dim", f->nope_dim));
    }
    if (nope)
        head = nope + rope;
    else if (times && h->shape.heads)
        head = times * h->shape.model_dim / h->shape.heads;
    else
        TRY(hf_int(h, &head, HF_HEAD_DIM, f->head_dim));
    if (!head && h->shape.model_dim && h->shape.heads) {
        head = h->shape.model_dim / h->shape.heads;
        if (h->shape.model_dim % h->shape.heads)
            TRY(zoo_note_add(h->b, ZOO_WARNING, "hidden_size", "",
                             "hidden_size %" PRId64 " is no multiple of %" PRId64 " heads; heads are %" PRId64 " wide",
                             h->shape.model_dim, h->shape.heads, head));
    }
    if (h->b->options->head_dim)
        head = h->b->options->head_dim;
    if (!head)
        return missing(h, HF_HEAD_DIM, "--head-dim N");
    if (head > PE_HEAD_DIM_MAX)
        return zoo_fail(h->b, PE_ERR_RANGE, "heads are %" PRId64 " wide; needs 1 to %d", head, PE_HEAD_DIM_MAX);
    h->shape.head_dim = head;
    return PE_OK;
}

/* The library wants heads that the key/value heads divide. */
static pe_status measure_heads(hf_part *h)
{
    const zoo_fact *f = h->fact;
    int64_t heads = 0, kv = 0;
    TRY(hf_int(h, &heads, h->heads_keys ? h->heads_keys : HF_HEADS, f->heads));
    if (!heads)
        return missing(h, h->heads_keys ? h->heads_keys : HF_HEADS, NULL);
    bool divides = f->kv_heads && f->kv_heads <= heads && heads % f->kv_heads == 0;
    if (h->kv_heads)
        kv = h->kv_heads;
    else
        TRY(hf_int(h, &kv, HF_KV_HEADS, divides ? f->kv_heads : 0));
    if (heads > 65536 || kv > heads || (kv && heads % kv))
        return zoo_fail(h->b, PE_ERR_SHAPE,
                        "has %" PRId64 " heads and %" PRId64
                        " key heads; needs at most 65536, and key heads that divide the heads",
                        heads, kv);
    h->shape.heads = heads;
    h->shape.kv_heads = kv;
    return PE_OK;
}

/* Some configs only list their layers. */
static pe_status measure_layers(hf_part *h)
{
    static const char *const lists[] = { "layer_types", "layers_block_type" };
    io_node list = { 0 };
    TRY(hf_int(h, &h->layers, h->layers_keys ? h->layers_keys : HF_LAYERS, h->layers ? 0 : h->fact->layers));
    for (size_t n = 0; !h->layers && n < sizeof lists / sizeof *lists; n++)
        if (io_json_get(&list, h->config, lists[n]))
            h->layers = (int64_t)io_json_size(&list);
    return h->layers ? PE_OK : missing(h, h->layers_keys ? h->layers_keys : HF_LAYERS, NULL);
}

pe_status hf_measure(hf_part *h)
{
    const zoo_fact *f = h->fact;
    const char *hidden_key = zoo_fact_word(f, "hidden_key"), *length_key = zoo_fact_word(f, "length_key");
    TRY(hf_int(h, &h->shape.model_dim, hidden_key ? hidden_key : HF_HIDDEN, f->hidden));
    if (h->shape.model_dim > INT64_C(1) << 30)
        return zoo_fail(h->b, PE_ERR_RANGE, "hidden_size is %" PRId64 "; needs 2^30 at most", h->shape.model_dim);
    TRY(measure_heads(h));
    TRY(measure_head(h));
    h->layers = h->b->options->rotary ? 1 : 0;
    TRY(measure_layers(h));
    TRY(hf_int(h, &h->length, h->length_keys ? h->length_keys : length_key ? length_key : HF_LENGTH, f->length));
    TRY(zoo_add_part(h->b, &h->part, h->name, f->type, h->b->options->rotary ? 1 : h->layers));
    h->part->trained = h->part->served = h->length;
    if (h->b->options->trained)
        h->part->trained = h->b->options->trained;
    return PE_OK;
}

pe_status hf_all_layers(hf_part *h, const char *format, ...)
{
    char spec[400];
    hf_layers layers;
    va_list list;
    va_start(list, format);
    vsnprintf(spec, sizeof spec, format, list);
    va_end(list);
    TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        pe_shape shape = h->shape;
        TRY(hf_layers_next(&layers, h, &l));
        if (l.kv_heads)
            shape.kv_heads = l.kv_heads;
        TRY(zoo_set_layer(h->b, h->part, n, l.attends ? spec : "none", shape, l.kind, l.window));
    }
    return PE_OK;
}

pe_status hf_is_on(hf_part *h, bool *on)
{
    const char *key = zoo_fact_word(h->fact, "only_if"), *equals = key ? strchr(key, '=') : NULL, *word = "";
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
    TRY(hf_word(h, &word, name));
    *on = !strcmp(word, equals + 1);
    return PE_OK;
}
