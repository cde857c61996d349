/* SPDX-License-Identifier: MIT
 *
 * Encoders and encoder-decoders of the BERT and T5 lines: tables whose rows start behind the padding token, and
 * biases or vectors by distance. */
#include "zoo/hf.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- BERT */

/* The table of RoBERTa and its kin has rows for the padding token and those before it, which no position uses. */
static pe_status add_learned(hf_part *h, const char *more)
{
    int64_t pad = (int64_t)zoo_fact_number(h->fact, "pad_token");
    const char *width = zoo_fact_word(h->fact, "embedding_key");
    if (!h->length)
        return zoo_fail(h->b, PE_ERR_FORMAT, "max_position_embeddings is missing");
    if (width) /* ALBERT: the embedding is narrower than the layers */
        TRY(hf_int(h, &h->shape.model_dim, width, (int64_t)zoo_fact_number(h->fact, "embedding")));
    if (!pad)
        return hf_all_layers(h, "learned:rows=%" PRId64 "%s", h->length, more);
    TRY(hf_int(h, &pad, "pad_token_id", pad));
    if (pad + 1 >= h->length)
        return zoo_fail(h->b, PE_ERR_RANGE,
                        "pad_token_id is %" PRId64 "; needs less than the %" PRId64 " rows of the table, which "
                        "positions use from behind it",
                        pad, h->length);
    h->part->trained = h->part->served = h->length - pad - 1;
    return hf_all_layers(h, "learned:rows=%" PRId64 ",offset=%" PRId64 "%s", h->length, pad + 1, more);
}

static pe_status add_shaw(hf_part *h)
{
    TRY(zoo_note_add(h->b, ZOO_FACT, "position_embedding_type", h->source,
                     "relative_key: rows of the table are in the reverse order of shaw's"));
    return hf_all_layers(h, "shaw:left=%" PRId64 ",right=%" PRId64 ",on=keys", h->length - 1, h->length - 1);
}

pe_status hf_bert(hf_part *h)
{
    const char *how = "absolute";
    TRY(hf_word(h, &how, "position_embedding_type"));
    if (!strcmp(how, "rotary")) /* Jina's RoBERTa (vLLM models/config.py: JinaRobertaModelConfig) */
        return hf_rope(h);
    TRY(hf_measure(h));
    if (!strcmp(how, "absolute"))
        return add_learned(h, "");
    if (!strcmp(how, "relative_key") && h->length)
        return add_shaw(h);
    if (!strcmp(how, "alibi")) /* JinaBERT calls itself bert */
        return hf_all_layers(h, "alibi:form=symmetric");
    return zoo_fail(h->b, PE_ERR_UNSUITED,
                    "position_embedding_type is %.40s; specs can say absolute, relative_key, alibi and rotary", how);
}

/* Wav2Vec2-BERT. */
pe_status hf_shaw(hf_part *h)
{
    const char *how = "relative_key";
    int64_t left = 64, right = 8;
    TRY(hf_measure(h));
    TRY(hf_word(h, &how, "position_embeddings_type"));
    TRY(hf_int(h, &left, "left_max_position_embeddings", left));
    TRY(hf_int(h, &right, "right_max_position_embeddings", right));
    if (strcmp(how, "relative_key"))
        return zoo_fail(h->b, PE_ERR_UNSUITED, "position_embeddings_type is %.40s; specs can say relative_key", how);
    return hf_all_layers(h, "shaw:left=%" PRId64 ",right=%" PRId64 ",on=keys", left, right);
}

/* Conformers with Transformer-XL's scores, to both sides. */
pe_status hf_conformer(hf_part *h)
{
    const char *how = "relative";
    TRY(hf_measure(h));
    TRY(hf_word(h, &how, "position_embeddings_type"));
    if (strcmp(how, "relative") || h->length < 1)
        return zoo_fail(h->b, PE_ERR_UNSUITED, "position_embeddings_type is %.40s, length %" PRId64
                        "; specs can say relative, and a length of 1 or more", how, h->length);
    return hf_all_layers(h, "transformer-xl:back=%" PRId64 ",ahead=%" PRId64, h->length - 1, h->length - 1);
}

pe_status hf_mpnet(hf_part *h)
{
    int64_t buckets = 32;
    TRY(hf_measure(h));
    TRY(hf_int(h, &buckets, "relative_attention_num_buckets", 32));
    char more[60];
    snprintf(more, sizeof more, "+t5:scale=sqrt,buckets=%" PRId64, buckets);
    return add_learned(h, more);
}

/* ---------------------------------------------------------------- T5 */

static pe_status add_t5(hf_part *h, bool decoder)
{
    int64_t buckets = 32, far = 128, radius = 0;
    const char *key = zoo_fact_word(h->fact, "window_key");
    TRY(hf_measure(h));
    TRY(hf_int(h, &buckets, "relative_attention_num_buckets", 32));
    TRY(hf_int(h, &far, "relative_attention_max_distance", 128));
    if (!decoder && key)
        TRY(hf_int(h, &radius, key, h->fact->window));
    const char *text = zoo_text(h->b, "t5:buckets=%" PRId64 ",max=%" PRId64 ",direction=%s", buckets, far,
                                decoder ? "causal" : "both");
    for (int64_t n = 0; text && n < h->part->layers; n++)
        TRY(zoo_set_layer(h->b, h->part, n, text, h->shape, radius ? "sliding_attention" : "",
                          radius ? radius + 1 : 0));
    return text ? PE_OK : PE_ERR_NOMEM;
}

pe_status hf_t5(hf_part *h)
{
    bool both = true;
    hf_part decoder = *h, encoder = *h;
    const char *only = zoo_fact_word(h->fact, "stack");
    if (!only)
        TRY(hf_flag(h, &both, "is_encoder_decoder", true));
    decoder.name = only ? h->name : "decoder";
    decoder.layers_keys = hf_first_there(h, "num_decoder_layers|num_layers|num_hidden_layers");
    encoder.name = both ? "encoder" : h->name;
    encoder.layers_keys = hf_first_there(h, "num_layers|num_hidden_layers");
    if (!decoder.layers_keys || !encoder.layers_keys)
        return PE_ERR_NOMEM;
    if (both)
        TRY(add_t5(&decoder, true));
    return only ? PE_OK : add_t5(&encoder, false);
}

/* ---------------------------------------------------------------- Inkling */

/* Without layer_types, local_layer_ids may list the layers with a window (its config class). */
static pe_status local_layers(hf_part *h, bool *given, bool local[ZOO_LAYERS_MAX])
{
    io_node list;
    *given = false;
    if (hf_has(h, "layer_types") || !hf_has(h, "local_layer_ids"))
        return PE_OK;
    TRY(io_json_array(&list, h->config, "local_layer_ids", IO_REQUIRED, h->b->err));
    *given = true;
    for (io_node at = { 0 }; io_json_next(&at, &list);) {
        int64_t n = 0;
        TRY(io_json_int(&n, &at, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
        if (n < ZOO_LAYERS_MAX)
            local[n] = true;
    }
    return PE_OK;
}

/* Sliding layers have a shape of their own, as many distances as the window, and scores that do not grow with the
 * position. Inkling 2 (spec scale=sqrt) has other defaults. */
pe_status hf_inkling(hf_part *h)
{
    bool listed, local[ZOO_LAYERS_MAX] = { false };
    int64_t width = 16, extent = 1024, floor = (int64_t)zoo_fact_number(h->fact, "floor");
    double alpha = 0.1;
    hf_layers layers;
    h->length_keys = "max_position_embeddings|model_max_length";
    TRY(hf_measure(h));
    TRY(hf_int(h, &width, "d_rel", width));
    TRY(hf_int(h, &extent, "rel_extent", extent));
    TRY(hf_int(h, &floor, "log_scaling_n_floor", floor));
    if (floor)
        TRY(hf_real(h, &alpha, "log_scaling_alpha", alpha));
    pe_shape swa = h->shape;
    TRY(hf_int(h, &swa.heads, "swa_num_attention_heads", (int64_t)zoo_fact_number(h->fact, "swa_heads")));
    TRY(hf_int(h, &swa.kv_heads, "swa_num_key_value_heads", (int64_t)zoo_fact_number(h->fact, "swa_kv_heads")));
    TRY(hf_int(h, &swa.head_dim, "swa_head_dim", 128));
    char scaling[80] = "";
    if (floor)
        snprintf(scaling, sizeof scaling, ",floor=%" PRId64 ",alpha=%s", floor, text_show(alpha).text);
    TRY(local_layers(h, &listed, local));
    TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        char spec[160];
        TRY(hf_layers_next(&layers, h, &l));
        bool slides = listed ? local[n] : strstr(l.kind, "sliding") != NULL;
        if (slides && !layers.window)
            return zoo_fail(h->b, PE_ERR_RANGE, "sliding_window_size is 0; layer %" PRId64 " needs 1 or more", n);
        snprintf(spec, sizeof spec, "inkling:distances=%" PRId64 ",width=%" PRId64 "%s%s%s",
                 slides ? layers.window : extent, width, slides ? "" : scaling, h->fact->spec ? "," : "",
                 h->fact->spec ? h->fact->spec : "");
        TRY(zoo_set_layer(h->b, h->part, n, spec, slides ? swa : h->shape, slides ? "hybrid_sliding" : "hybrid",
                          slides ? layers.window : 0));
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- DeBERTa */

/* "p2c|c2p" or ["p2c", "c2p"]. */
static pe_status read_terms(hf_part *h, bool *c2p, bool *p2c)
{
    io_node at;
    const char *word = "";
    *c2p = *p2c = false;
    if (!io_json_get(&at, h->config, "pos_att_type") || io_json_kind_of(&at) == IO_JSON_NULL)
        return PE_OK;
    if (io_json_kind_of(&at) == IO_JSON_STRING) {
        TRY(io_json_string(&word, &at, NULL, IO_REQUIRED, h->b->err));
        *c2p = strstr(word, "c2p");
        *p2c = strstr(word, "p2c");
        return PE_OK;
    }
    TRY(io_json_array(&at, h->config, "pos_att_type", IO_OPTIONAL, h->b->err));
    for (io_node item = { 0 }; io_json_next(&item, &at);) {
        TRY(io_json_string(&word, &item, NULL, IO_REQUIRED, h->b->err));
        *c2p |= !strcmp(word, "c2p");
        *p2c |= !strcmp(word, "p2c");
        if (strcmp(word, "c2p") && strcmp(word, "p2c"))
            return zoo_fail(h->b, PE_ERR_UNSUITED, "pos_att_type has %.20s; specs can say c2p and p2c", word);
    }
    return PE_OK;
}

/* Distances that have a row: max_relative_positions, and where it is not positive, max_position_embeddings. */
static pe_status deberta_span(hf_part *h, int64_t *far, int64_t *buckets)
{
    double span = -1, parts = -1;
    *far = h->length;
    *buckets = 0;
    TRY(hf_real(h, &span, "max_relative_positions", -1));
    TRY(hf_real(h, &parts, "position_buckets", 0));
    if (span >= 1 && span <= 0x1p31)
        *far = (int64_t)span;
    if (parts >= 1 && parts <= 0x1p24 && !strcmp(h->fact->type, "deberta-v2"))
        *buckets = (int64_t)parts;
    return PE_OK;
}

pe_status hf_deberta(hf_part *h)
{
    bool relative, biased, c2p, p2c;
    int64_t far, buckets;
    TRY(hf_measure(h));
    TRY(hf_flag(h, &relative, "relative_attention", false));
    TRY(hf_flag(h, &biased, "position_biased_input", true));
    TRY(read_terms(h, &c2p, &p2c));
    TRY(deberta_span(h, &far, &buckets));
    char table[60] = "";
    if (biased)
        snprintf(table, sizeof table, "learned:rows=%" PRId64, h->length);
    if (!relative || (!c2p && !p2c))
        return hf_all_layers(h, "%s", biased ? table : "none");
    return hf_all_layers(h, "%s%sdeberta:buckets=%" PRId64 ",max=%" PRId64 ",terms=%s", table, biased ? "+" : "",
                         buckets, far,
                         c2p && p2c ? "c2p+p2c"
                         : c2p      ? "c2p"
                                    : "p2c");
}

/* ---------------------------------------------------------------- Transformer-XL and XLNet */

static pe_status refuse_clamp(hf_part *h, int64_t reach)
{
    double clamp = -1;
    TRY(hf_real(h, &clamp, "clamp_len", 0));
    if (clamp > 0 && clamp < (double)reach)
        return zoo_note_add(h->b, ZOO_WARNING, "clamp_len", h->source,
                            "clamp_len is %s: in its code all distances past it are that far; the spec does not say so",
                            zoo_number(clamp).text);
    return PE_OK;
}

pe_status hf_xlnet(hf_part *h)
{
    int64_t memory = 0, length = 512;
    TRY(hf_measure(h));
    TRY(hf_int(h, &memory, "mem_len", 0));
    if (h->length)
        length = h->length;
    else
        TRY(zoo_note_add(h->b, ZOO_FACT, "length", h->source,
                         "no key gives the length of a segment; 512 is what XLNet was trained with"));
    TRY(refuse_clamp(h, memory + length));
    return hf_all_layers(h, "xlnet:length=%" PRId64 ",memory=%" PRId64, length, memory);
}

pe_status hf_transfo_xl(hf_part *h)
{
    int64_t memory = 1600, length = 128, how = 0;
    TRY(hf_measure(h));
    TRY(hf_int(h, &memory, "mem_len", memory));
    TRY(hf_int(h, &length, "tgt_len", length));
    TRY(hf_int(h, &how, "attn_type", 0));
    if (how || memory + length < 1)
        return zoo_fail(h->b, PE_ERR_UNSUITED, "attn_type is %" PRId64 "; needs 0, Transformer-XL's own", how);
    TRY(refuse_clamp(h, memory + length - 1));
    return hf_all_layers(h, "transformer-xl:back=%" PRId64, memory + length - 1);
}
