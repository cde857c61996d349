/* SPDX-License-Identifier: MIT
 *
 * Models that add a table to the embedding, a penalty to the scores, or nothing: one spec for all layers. The row's
 * spec= is that spec. "A|B": A where the row's only_if holds, else B; of a model with two stacks, the decoder's and the
 * encoder's. A learned table gets its rows here: as many as the length says, and those that an offset skips. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number n of "A|B" into out. */
static void cut_spec(const char *specs, int n, char out[160])
{
    const char *bar = strchr(specs, '|');
    if (n > 0 && bar)
        specs = bar + 1;
    snprintf(out, 160, "%.*s", (int)strcspn(specs, "|"), specs);
}

pe_status hf_read_spec(hf_part *h, const char *specs, int n)
{
    char spec[160];
    TRY(hf_measure(h));
    cut_spec(specs, n, spec);
    const char *offset = strstr(spec, "offset=");
    if (strncmp(spec, "learned", strlen("learned")))
        return hf_all_layers(h, "%s", spec);
    if (!h->length)
        return zoo_fail(h->b, PE_ERR_FORMAT,
                        "max_position_embeddings is missing: nothing says how many rows the table has");
    return hf_all_layers(h, "%s%crows=%" PRId64, spec, strchr(spec, ':') ? ',' : ':',
                         h->length + (offset ? atoi(offset + strlen("offset=")) : 0));
}

pe_status hf_spec(hf_part *h)
{
    bool on;
    TRY(hf_is_on(h, &on));
    return hf_read_spec(h, on || strchr(h->fact->spec, '|') ? h->fact->spec : "none", !on);
}

/* ---------------------------------------------------------------- two stacks in one config */

const char *hf_first_there(hf_part *h, const char *keys)
{
    char key[64];
    for (const char *at = keys, *bar; at; at = bar ? bar + 1 : NULL) {
        bar = strchr(at, '|');
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
        if (hf_has(h, key))
            return zoo_text(h->b, "%s", key);
    }
    return zoo_text(h->b, "%.*s", (int)strcspn(keys, "|"), keys);
}

static const struct {
    const char *name, *heads, *layers, *length;
} stacks[] = {
    { "decoder", "decoder_attention_heads|num_decoder_attention_heads|num_attention_heads|num_heads",
      "decoder_layers|num_decoder_layers|num_hidden_layers",
      "max_target_positions|max_decoder_position_embeddings|max_position_embeddings|n_positions" },
    { "encoder", "encoder_attention_heads|num_encoder_attention_heads|num_attention_heads|num_heads",
      "encoder_layers|num_encoder_layers|num_layers|num_hidden_layers",
      "max_source_positions|max_encoder_position_embeddings|max_position_embeddings|n_positions" },
};

pe_status hf_seq2seq(hf_part *h)
{
    for (int n = 0; n < 2; n++) {
        hf_part one = *h;
        one.name = stacks[n].name;
        one.heads_keys = hf_first_there(h, stacks[n].heads);
        one.layers_keys = hf_first_there(h, stacks[n].layers);
        one.length_keys = hf_first_there(h, stacks[n].length);
        if (!one.heads_keys || !one.layers_keys || !one.length_keys)
            return PE_ERR_NOMEM;
        TRY(hf_read_spec(&one, h->fact->spec, n));
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- pictures */

/* Height and width: 224, [224, 224] or {"height": 224, "width": 224}. */
static pe_status read_sides(hf_part *h, const char *key, int64_t fallback, int64_t side[2])
{
    static const io_int_range range = { 1, 1 << 20 };
    io_node at, item;
    pe_error *err = h->b->err;
    side[0] = side[1] = fallback;
    if (!io_json_get(&at, h->config, key) || io_json_kind_of(&at) == IO_JSON_NULL)
        return PE_OK;
    bool list = io_json_kind_of(&at) == IO_JSON_ARRAY, dict = io_json_kind_of(&at) == IO_JSON_OBJECT;
    for (size_t n = 0; n < 2; n++) {
        if (list)
            TRY(io_json_item(&item, &at, n, err));
        TRY(io_json_int(&side[n], list ? &item : &at, dict ? (n ? "width" : "height") : NULL, IO_REQUIRED, range, err));
    }
    return PE_OK;
}

static pe_status count_patches(hf_part *h, int64_t side[2])
{
    int64_t image[2], patch[2];
    TRY(read_sides(h, "image_size", (int64_t)zoo_fact_number(h->fact, "image"), image));
    TRY(read_sides(h, "patch_size", (int64_t)zoo_fact_number(h->fact, "patch"), patch));
    if (!image[0] || !patch[0])
        return zoo_fail(h->b, PE_ERR_FORMAT, "%s is missing: nothing says how many patches there are",
                        image[0] ? "patch_size" : "image_size");
    for (int n = 0; n < 2; n++)
        side[n] = image[n] / patch[n];
    if (!side[0] || !side[1])
        return zoo_fail(h->b, PE_ERR_RANGE, "patch_size is larger than image_size");
    return PE_OK;
}

/* DINOv3 rotates by the place of a patch's centre in the picture, whatever its size. */
pe_status hf_dinov3(hf_part *h)
{
    int64_t side[2];
    double theta = 100;
    h->length_keys = "num_patches";
    TRY(hf_measure(h));
    TRY(count_patches(h, side));
    TRY(hf_real(h, &theta, "rope_theta", h->fact->theta));
    h->part->trained = h->part->served = side[0] * side[1];
    return hf_all_layers(h, "rope:theta=%s,axes=2,split=axial,coords=normalised,extent=%" PRId64 "/%" PRId64,
                         zoo_number(theta).text, side[0], side[1]);
}

pe_status hf_tower_table(hf_part *h)
{
    const char *key = zoo_fact_word(h->fact, "table_key");
    bool patches = zoo_fact_word(h->fact, "table_patches");
    int64_t side[2], rows = 0;
    if ((!key && !patches) || h->b->options->rotary)
        return PE_OK;
    if (key)
        TRY(hf_int(h, &rows, key, (int64_t)zoo_fact_number(h->fact, "table_rows")));
    else {
        TRY(count_patches(h, side));
        rows = side[0] * side[1];
    }
    if (zoo_fact_word(h->fact, "table_axes")) {
        h->fact->spec = zoo_text(h->b, "%s+learned:rows=%" PRId64 "/%" PRId64, h->fact->spec, rows, rows);
        return h->fact->spec ? PE_OK : PE_ERR_NOMEM;
    }
    return zoo_note_add(h->b, ZOO_WARNING, key ? key : "image_size", h->source,
                        "it also adds a learned table of %" PRId64 " rows to its patches, stretched to the size of the "
                        "picture, which the spec does not say",
                        rows);
}

/* Rows for patches from left to right, then down, after those for the class token and its like. */
pe_status hf_patches(hf_part *h)
{
    int64_t side[2], rows = 0;
    bool on;
    TRY(hf_is_on(h, &on));
    h->length_keys = "num_patches"; /* SigLIP 2's table, which is stretched to the picture */
    TRY(hf_measure(h));
    if (h->length)
        rows = h->length;
    else {
        TRY(count_patches(h, side));
        rows = side[0] * side[1] + (int64_t)zoo_fact_number(h->fact, "extra_rows");
    }
    h->part->trained = h->part->served = rows;
    return on ? hf_all_layers(h, "learned:rows=%" PRId64, rows) : hf_all_layers(h, "none");
}

/* ---------------------------------------------------------------- no attention */

/* No heads either. */
pe_status hf_recurrent(hf_part *h)
{
    int64_t layers = 0;
    TRY(hf_int(h, &h->shape.model_dim, HF_HIDDEN, h->fact->hidden));
    TRY(hf_int(h, &layers, HF_LAYERS, h->fact->layers));
    TRY(zoo_add_part(h->b, &h->part, h->name, h->fact->type, layers));
    h->shape = (pe_shape){ .heads = 1, .kv_heads = 1, .head_dim = 1, .model_dim = h->shape.model_dim };
    for (int64_t n = 0; n < layers; n++)
        TRY(zoo_set_layer(h->b, h->part, n, "none", h->shape, "recurrent", 0));
    return PE_OK;
}
