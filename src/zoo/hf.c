/* SPDX-License-Identifier: MIT
 *
 * From a config to its parts, and from a part to the family that reads it. */
#include "zoo/hf.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- families */

static const struct {
    const char *name;
    hf_family *read;
} families[] = {
    { "rope", hf_rope },
    { "spec", hf_spec },
    { "patches", hf_patches },
    { "seq2seq", hf_seq2seq },
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
    { "gte", hf_gte },
};

static pe_status read_family(hf_part *h)
{
    for (size_t n = 0; n < sizeof families / sizeof *families; n++)
        if (!strcmp(families[n].name, h->fact->family))
            return families[n].read(h);
    return zoo_fail(h->b, PE_ERR_UNSUITED, "no reader for %s", h->fact->family);
}

/* ---------------------------------------------------------------- parts */

/* The row of this type. An unknown one is an error, unless options say what it cannot. */
static pe_status find_fact(hf_part *h, const char *type)
{
    static const zoo_row guess = { "unknown", "rope", "rotary_fraction=1" };
    const zoo_row *row = zoo_row_find(type);
    const zoo_options *o = h->b->options;
    const char *reason = row ? NULL : zoo_unread_reason(type);
    if (reason)
        return zoo_fail(h->b, PE_ERR_UNSUITED, "model_type %s is known, but %s", type, reason);
    h->fact = zoo_alloc(h->b, 1, sizeof *h->fact);
    if (!h->fact)
        return PE_ERR_NOMEM;
    ZOO_TRY(zoo_fact_read(h->fact, row ? row : &guess, h->b->err));
    if (row) {
        zoo_row_source(h->source, row);
        return PE_OK;
    }
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
    zoo_mark mark = zoo_mark_here(b);
    pe_error why = { 0 }, *err = b->err;
    const char *reason = zoo_unread_reason(type);
    if (!zoo_row_find(type))
        return zoo_note_add(b, ZOO_FACT, key, "", "%s (%.60s) is not read%s%s", key, type, reason ? ": " : "",
                            reason ? reason : "");
    b->err = &why;
    pe_status s = zoo_hf_read(b, sub, name, type);
    b->err = err;
    if (s == PE_ERR_NOMEM)
        return io_fail(err, s, "%s", why.text);
    if (s == PE_OK)
        return s;
    zoo_undo(b, mark);
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
        return zoo_fail(b, PE_ERR_FORMAT, "%s is missing", key);
    const char *whole = "", *own = "";
    ZOO_TRY(io_json_string(&whole, config, "model_type", IO_OPTIONAL, b->err));
    ZOO_TRY(io_json_string(&own, &sub, "model_type", IO_OPTIONAL, b->err));
    if (*own && strcmp(own, whole)) /* the first Qwen2-VL called its picture part by its own name */
        type = own;
    return nth > 0 ? read_aside(b, &sub, key, part_name(key, name), type)
                   : zoo_hf_read(b, &sub, part_name(key, name), type);
}

/* list: the words of the row, or one of those below. */
static pe_status read_parts(zoo_builder *b, const io_node *config, const char *list)
{
    int n = 0;
    for (; *list && strncmp(list, "source=", strlen("source=")); list += strspn(list, " ")) {
        char entry[64];
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(list, " "), list);
        list += strcspn(list, " ");
        if (strncmp(entry, "folder=", strlen("folder=")))
            ZOO_TRY(read_part(b, config, entry, n++));
    }
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
    const zoo_row *row = zoo_row_find(type);
    const char *nested = row && !strcmp(row->family, "parts") ? row->words : NULL;
    if (!row && !zoo_unread_reason(type))
        nested = nested_text(config);
    if (b->depth > 4)
        return zoo_fail(b, PE_ERR_FORMAT, "configs in configs, five deep");
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
        if (zoo_row_find(*out))
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
