/* SPDX-License-Identifier: MIT
 *
 * Models that add a table to the embedding, a penalty to the scores, or nothing: one spec for all layers. The row's
 * spec= is that spec. "A|B": A where the row's only_if holds, else B; of a model with two stacks, the decoder's and the
 * encoder's. A learned table gets its rows here: as many as the length says, and those that an offset skips. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
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

/* Number n of specs for all layers; a learned table gets its rows, and those that its offset skips. */
static pe_status set_table(hf_part *h, const char *specs, int n, int64_t rows)
{
    char spec[160], second[32] = "";
    cut_spec(specs, n, spec);
    const char *offset = strstr(spec, "offset=");
    if (strncmp(spec, "learned", strlen("learned")))
        return hf_all_layers(h, "%s", spec);
    if (!rows)
        return zoo_fail(h->b, PE_ERR_FORMAT,
                        "max_position_embeddings is missing: nothing says how many rows the table has");
    rows += offset ? atoi(offset + strlen("offset=")) : 0;
    if (zoo_fact_word(h->fact, "table_axes"))
        snprintf(second, sizeof second, "/%" PRId64, rows);
    return hf_all_layers(h, "%s%crows=%" PRId64 "%s", spec, strchr(spec, ':') ? ',' : ':', rows, second);
}

pe_status hf_read_spec(hf_part *h, const char *specs, int n)
{
    TRY(hf_measure(h));
    return set_table(h, specs, n, h->length);
}

pe_status hf_spec(hf_part *h)
{
    bool on;
    TRY(hf_is_on(h, &on));
    return hf_read_spec(h, on || strchr(h->fact->spec, '|') ? h->fact->spec : "none", !on);
}

/* Sines whose base, first frequency, size or width is the config's. */
pe_status hf_sines(hf_part *h)
{
    bool on;
    double theta = 10000, first = 1;
    const char *key = zoo_fact_word(h->fact, "theta_key"), *width = zoo_fact_word(h->fact, "embedding_key");
    TRY(hf_is_on(h, &on));
    TRY(hf_measure(h));
    if (!on)
        return hf_all_layers(h, "none");
    if (width)
        TRY(hf_int(h, &h->shape.model_dim, width, (int64_t)zoo_fact_number(h->fact, "embedding")));
    if (key) {
        TRY(hf_real(h, &theta, key, h->fact->theta));
        TRY(hf_real(h, &first, "min_timescale", 0));
    }
    double size = zoo_fact_word(h->fact, "root_scale") ? 1 / sqrt((double)h->shape.model_dim) : 1;
    return hf_all_layers(h, "%s,theta=%s,min_timescale=%s,scale=%s", h->fact->spec, zoo_number(theta).text,
                         zoo_number(first).text, zoo_number(size).text);
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
    const char *only = zoo_fact_word(h->fact, "stack");
    for (int n = 0; n < 2; n++) {
        hf_part one = *h;
        if (only && strcmp(only, stacks[n].name))
            continue;
        one.name = only ? h->name : stacks[n].name;
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

/* What film models take at a time: frames, beside patch_size, or [frames, height, width]. */
static pe_status read_tubelet(hf_part *h, int64_t size[3])
{
    static const io_int_range range = { 1, 1 << 20 };
    io_node at, item;
    if (!io_json_get(&at, h->config, "tubelet_size") || io_json_kind_of(&at) != IO_JSON_ARRAY)
        return zoo_fact_word(h->fact, "tubelet") ? hf_int(h, size, "tubelet_size", size[0]) : PE_OK;
    for (size_t n = 0; n < 3; n++) {
        TRY(io_json_item(&item, &at, n, h->b->err));
        TRY(io_json_int(&size[n], &item, NULL, IO_REQUIRED, range, h->b->err));
    }
    return PE_OK;
}

/* side: how many patches a picture has; deep: how many frames a patch of a film has, NULL: no matter. */
static pe_status count_patches(hf_part *h, int64_t side[2], int64_t *deep)
{
    int64_t image[2], size[3] = { (int64_t)zoo_fact_number(h->fact, "tubelet") }, *patch = size + 1;
    const char *key = zoo_fact_word(h->fact, "image_key");
    key = key ? key : "image_size";
    TRY(read_sides(h, key, (int64_t)zoo_fact_number(h->fact, "image"), image));
    TRY(read_sides(h, "patch_size", (int64_t)zoo_fact_number(h->fact, "patch"), patch));
    TRY(read_tubelet(h, size));
    if (deep)
        *deep = size[0];
    if (!image[0] || !patch[0])
        return zoo_fail(h->b, PE_ERR_FORMAT, "%s is missing: nothing says how many patches there are",
                        image[0] ? "patch_size" : key);
    for (int n = 0; n < 2; n++)
        side[n] = image[n] / patch[n];
    if (!side[0] || !side[1])
        return zoo_fail(h->b, PE_ERR_RANGE, "patch_size is larger than %s", key);
    return PE_OK;
}

/* DINOv3 rotates by the place of a patch's centre in the picture, whatever its size. */
pe_status hf_dinov3(hf_part *h)
{
    int64_t side[2];
    double theta = 100;
    h->length_keys = "num_patches";
    TRY(hf_measure(h));
    TRY(count_patches(h, side, NULL));
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
        TRY(count_patches(h, side, NULL));
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

/* Rows of the table for the class token and its like. */
static pe_status extra_rows(hf_part *h, int64_t *out)
{
    const char *key = zoo_fact_word(h->fact, "extra_rows_key");
    *out = (int64_t)zoo_fact_number(h->fact, "extra_rows");
    return key ? hf_int(h, out, key, *out) : PE_OK;
}

/* Rows for patches from left to right, then down, after those for the class token and its like. */
pe_status hf_patches(hf_part *h)
{
    const char *key = zoo_fact_word(h->fact, "length_key"), *spec = h->fact->spec ? h->fact->spec : "learned|none";
    int64_t side[2], rows = 0, extra;
    bool on;
    TRY(hf_is_on(h, &on));
    h->length_keys = key ? key : "num_patches"; /* of tables that are stretched to the picture */
    TRY(hf_measure(h));
    if (h->length)
        rows = h->length;
    else {
        TRY(count_patches(h, side, NULL));
        TRY(extra_rows(h, &extra));
        rows = side[0] * side[1] + extra;
    }
    h->part->trained = h->part->served = rows;
    return set_table(h, spec, !on, rows);
}

/* Films: patches of tubelet_size frames each. */
pe_status hf_films(hf_part *h)
{
    const int64_t most = 1 << 20;
    int64_t side[2], frames = 0, deep, extra;
    TRY(hf_measure(h));
    TRY(count_patches(h, side, &deep));
    TRY(extra_rows(h, &extra));
    TRY(hf_int(h, &frames, "num_frames", (int64_t)zoo_fact_number(h->fact, "frames")));
    if (deep < 1 || frames < deep || frames > most)
        return zoo_fail(h->b, PE_ERR_RANGE, "num_frames is %" PRId64 "; needs tubelet_size, %" PRId64 ", to %" PRId64,
                        frames, deep, most);
    h->part->trained = h->part->served = frames / deep * side[0] * side[1] + extra;
    return set_table(h, h->fact->spec, 0, h->part->served);
}

/* AST: overlapping patches of a spectrogram, after rows for the class token and the distilled one. */
pe_status hf_spectrogram(hf_part *h)
{
    int64_t patch = 0, bands = 0, frames = 0, band_stride = 0, frame_stride = 0;
    TRY(hf_measure(h));
    TRY(hf_int(h, &patch, "patch_size", 16));
    TRY(hf_int(h, &bands, "num_mel_bins", 128));
    TRY(hf_int(h, &frames, "max_length", 1024));
    TRY(hf_int(h, &band_stride, "frequency_stride", 10));
    TRY(hf_int(h, &frame_stride, "time_stride", 10));
    if (patch < 1 || band_stride < 1 || frame_stride < 1 || bands < patch || frames < patch || bands > 1 << 16 ||
        frames > 1 << 30)
        return zoo_fail(h->b, PE_ERR_RANGE,
                        "patch_size %" PRId64 ", num_mel_bins %" PRId64 " and max_length %" PRId64
                        " with strides %" PRId64 " and %" PRId64 " are no spectrogram of patches",
                        patch, bands, frames, band_stride, frame_stride);
    int64_t rows = ((bands - patch) / band_stride + 1) * ((frames - patch) / frame_stride + 1) + 2;
    h->part->trained = h->part->served = rows;
    return set_table(h, "learned", 0, rows);
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
