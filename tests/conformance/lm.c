/* SPDX-License-Identifier: MIT
 *
 * relative_attention: whole tiny language models, from config and weights to logits, as posenc eval loads them. */
#include "conformance.h"
#include "model/load.h"

#include <stdio.h>

/* The case has no config, but its numbers. */
static pe_status bloom_config(golden *c, char *out, size_t room)
{
    int64_t heads = 0, head_dim = 0, layers = 0, vocab = 0;
    double eps = 1e-5;
    TRY(golden_size(c, "heads", IO_REQUIRED, &heads));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &head_dim));
    TRY(golden_size(c, "layers", IO_REQUIRED, &layers));
    TRY(golden_size(c, "vocab", IO_REQUIRED, &vocab));
    TRY(io_json_real(&eps, &c->meta, "layer_norm_epsilon", IO_OPTIONAL, &c->err));
    snprintf(out, room,
             "{\"model_type\":\"bloom\",\"hidden_size\":%" PRId64 ",\"n_head\":%" PRId64 ",\"n_layer\":%" PRId64
             ",\"vocab_size\":%" PRId64 ",\"layer_norm_epsilon\":%.17g}",
             heads * head_dim, heads, layers, vocab, eps);
    return PE_OK;
}

static pe_status compare_logits(golden *c, model *m)
{
    golden_tensor ids, logits;
    int64_t vocab = model_settings(m)->vocab;
    TRY(golden_whole(c, "ids", &ids));
    TRY(golden_fits(c, "ids", &ids, 1, -1, -1, -1));
    TRY(golden_real(c, "logits", &logits));
    TRY(golden_fits(c, "logits", &logits, 2, ids.count, vocab, -1));
    int32_t *token = golden_alloc(c, ids.count, sizeof *token);
    real *got = golden_alloc(c, logits.count, sizeof *got);
    if (!token || !got)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < ids.count; n++) {
        if (ids.whole[n] < 0 || ids.whole[n] >= vocab)
            return golden_fail(c, "ids: element %" PRId64 " is %" PRId64 "; needs 0 to %" PRId64, n, ids.whole[n],
                               vocab - 1);
        token[n] = (int32_t)ids.whole[n];
    }
    for (int64_t n = 0; n < ids.count; n++)
        TRY(model_logits(m, got + n * vocab, token, n + 1, &c->err));
    double tolerance = TOL_LOGIT * golden_largest(&logits);
    for (int64_t n = 0; n < logits.count; n++)
        golden_compare(c, (double)got[n], (double)logits.real[n], tolerance,
                       "the logit of token %" PRId64 " after token %" PRId64, n % vocab, n / vocab);
    return PE_OK;
}

static pe_status run_model(golden *c, const io_node *config)
{
    zoo_model *zoo;
    model *m;
    char prefix[200];
    /* Names in the file are those of the case, after its own. */
    snprintf(prefix, sizeof prefix, "%s/", c->name);
    model_shards from = { .file = { c->data }, .count = 1, .prefix = prefix };
    TRY(zoo_read_node(&zoo, c->name, config, &(zoo_options){ 0 }, &c->err));
    pe_status s = model_load_hf(&m, config, zoo, &from, NULL, &c->err);
    zoo_free(zoo);
    if (s)
        return s;
    s = compare_logits(c, m);
    model_free(m);
    return s;
}

pe_status run_language_model(golden *c)
{
    char text[400];
    io_node config;
    if (golden_kind(&c->meta, "config") == IO_JSON_OBJECT) {
        TRY(io_json_object(&config, &c->meta, "config", IO_REQUIRED, &c->err));
        return run_model(c, &config);
    }
    TRY(bloom_config(c, text, sizeof text));
    TRY(io_json_parse(&config, c->name, text, strlen(text), &c->err));
    pe_status s = run_model(c, &config);
    io_json_free(&config);
    return s;
}
