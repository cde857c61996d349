/* SPDX-License-Identifier: MIT
 *
 * A .safetensors without its config.json: layers by their names, tables by names and shapes. What is in no tensor, such
 * as the pair layout, is asked for. */
#include "zoo/tensors.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- names */

bool zoo_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), e = strlen(end);
    return n >= e && !strcmp(text + n - e, end) && (n == e || text[n - e - 1] == '.');
}

/* The number after "layers." and the like, at the start of a name or after a point; -1: none. */
static int64_t layer_of(const char *name)
{
    static const char *const words[] = { "layers.", "layer.", "h.", "blocks.", "block." };
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            size_t n = strlen(words[i]);
            if (strncmp(at, words[i], n) || at[n] < '0' || at[n] > '9')
                continue;
            char *end;
            long long number = strtoll(at + n, &end, 10);
            if (*end == '.' && number < ZOO_LAYERS_MAX)
                return number;
        }
    return -1;
}

typedef struct known_name {
    const char *end;
    int rank;
    size_t place; /* in zoo_tensors */
    const char *why;
} known_name;

#define PLACE(member) offsetof(zoo_tensors, member)
static const known_name known[] = {
    { "wpe.weight", 2, PLACE(table), NULL },
    { "position_embeddings.weight", 2, PLACE(table), NULL },
    { "position_embedding.weight", 2, PLACE(table), NULL },
    { "embed_positions.weight", 2, PLACE(table), NULL },
    { "SelfAttention.relative_attention_bias.weight", 2, PLACE(bias), NULL },
    { "inv_freq", 1, PLACE(freqs), NULL },
    { "q_proj.weight", 2, PLACE(q), NULL },
    { "SelfAttention.q.weight", 2, PLACE(q), NULL },
    { "k_proj.weight", 2, PLACE(k), NULL },
    { "rel_embeddings.weight", 2, PLACE(strange),
      "is DeBERTa's; whether its rows are buckets or distances is in config.json only" },
    { "encoder.relative_attention_bias.weight", 2, PLACE(strange), "is MPNet's; its heads are in config.json only" },
    { "lora_A.weight", 2, PLACE(strange), "belongs to an adapter, which says nothing about positions" },
    { "lora_A.default.weight", 2, PLACE(strange), "belongs to an adapter, which says nothing about positions" },
    { "lora_down.weight", 2, PLACE(strange), "belongs to an adapter, which says nothing about positions" },
};

static void look_at(zoo_tensors *t, const io_tensor *x)
{
    int64_t layer = layer_of(x->name);
    if (layer >= t->layers)
        t->layers = layer + 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const io_tensor **place = (const io_tensor **)(void *)((char *)t + known[i].place);
        if (*place || x->rank != known[i].rank || x->count < 1 || !zoo_ends_with(x->name, known[i].end))
            continue;
        *place = x;
        if (known[i].why)
            t->why = known[i].why;
    }
}

/* ---------------------------------------------------------------- tables */

static pe_status add_part(zoo_tensors *t, const char *name, int64_t layers, pe_shape shape)
{
    zoo_part *p;
    ZOO_TRY(zoo_add_part(t->b, &p, name, "", layers ? layers : 1));
    p->trained = t->b->options->trained ? t->b->options->trained : t->table ? t->table->shape[0] : 0;
    p->served = t->table ? t->table->shape[0] : 0;
    for (int64_t n = 0; n < p->layers; n++)
        ZOO_TRY(zoo_set_layer(t->b, p, n, t->spec->text, shape, "", 0));
    return PE_OK;
}

static pe_status add_learned(zoo_tensors *t)
{
    int64_t width = t->table->shape[1], head = t->b->options->head_dim;
    bool heads = head > 0 && width % head == 0;
    zoo_spec_start(t->spec, "learned");
    zoo_spec_int(t->spec, "rows", t->table->shape[0]);
    ZOO_TRY(
        zoo_note_add(t->b, ZOO_WARNING, t->table->name, "",
                     "whether positions start at row 0 is in no tensor (OPT and BART: 2; RoBERTa: after its padding "
                     "id); 0 is taken"));
    if (!heads)
        ZOO_TRY(zoo_note_add(t->b, ZOO_FACT, "", "", "how many heads there are is in no tensor; --head-dim says it"));
    return add_part(t, "", t->layers, (pe_shape){ heads ? width / head : 1, 0, heads ? head : 1, width });
}

static pe_status add_t5_part(zoo_tensors *t, const char *name, const char *direction)
{
    int64_t heads = t->bias->shape[1], rows = t->q ? t->q->shape[0] : 0;
    int64_t head = t->b->options->head_dim ? t->b->options->head_dim : rows % heads ? 0 : rows / heads;
    if (!head)
        return io_fail(t->b->err, PE_ERR_FORMAT, "%s: the width of a head is in no tensor; pass --head-dim N",
                       t->b->model.path);
    zoo_spec_start(t->spec, "t5");
    zoo_spec_int(t->spec, "buckets", t->bias->shape[0]);
    zoo_spec_word(t->spec, "direction", direction);
    return add_part(t, name, t->layers, (pe_shape){ heads, 0, head, t->q ? t->q->shape[1] : heads * head });
}

static pe_status add_t5(zoo_tensors *t)
{
    static const char at[] = "block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    char name[100];
    bool two = true;
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s.%s", i ? "encoder" : "decoder", at);
        two = two && io_safetensors_find(t->st, name);
    }
    ZOO_TRY(zoo_note_add(t->b, ZOO_FACT, t->bias->name, "transformers T5Config",
                         "the distance from which all share a bucket is in no tensor; T5's 128"));
    if (two)
        ZOO_TRY(add_t5_part(t, "decoder", "causal"));
    bool decoder = !two && strstr(t->bias->name, "decoder.");
    return add_t5_part(t, two ? "encoder" : "", decoder ? "causal" : "both");
}

pe_status zoo_read_tensors(zoo_builder *b, const io_safetensors *st)
{
    zoo_tensors t = { .b = b, .st = st, .spec = zoo_alloc(b, 1, sizeof *t.spec) };
    if (!t.spec)
        return PE_ERR_NOMEM;
    for (size_t i = 0; i < io_safetensors_count(st); i++)
        look_at(&t, io_safetensors_at(st, i));
    if (t.strange)
        return io_fail(b->err, PE_ERR_FORMAT, "%s: %s %s", b->model.path, t.strange->name, t.why);
    if (t.bias)
        return add_t5(&t);
    if (t.table)
        return add_learned(&t);
    if (t.freqs || t.q)
        return zoo_add_stored_rope(&t);
    return io_fail(b->err, PE_ERR_FORMAT, "%s: its tensors say nothing about positions; give the model's config.json",
                   b->model.path);
}
