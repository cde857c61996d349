/* SPDX-License-Identifier: MIT
 *
 * Which layer is of which kind, which has a window, and which does not turn. A config lists kinds (layer_types), or
 * gives a period, or says nothing and the model's code has a pattern (facts). */
#include "zoo/hf.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    char letter;
    const char *kind;
} letters[] = {
    { 's', "sliding_attention" },
    { 'f', "full_attention" },
    { 'l', "linear_attention" },
    { 'c', "chunked_attention" },
    { 'm', "mamba" },
    { 'r', "recurrent" },
    { 'v', "conv" },
    { 'h', "hybrid" },
    { 'C', "compressed_sparse_attention" },
    { 'H', "heavily_compressed_attention" },
    { 'M', "mamba" }, /* Nemotron-H: "M-M*" */
    { '*', "full_attention" },
    { '-', "mlp" },
    { 'E', "moe" },
};

/* Layers of these kinds have no attention, so nothing that looks at positions. */
static const char *const no_attention[] = {
    "linear_attention", "linear", "mamba", "mamba2", "recurrent", "conv", "short_conv", "moe", "mlp", "gated_delta_net"
};

static bool attends(const char *kind)
{
    for (size_t n = 0; n < sizeof no_attention / sizeof *no_attention; n++)
        if (!strcmp(kind, no_attention[n]))
            return false;
    return true;
}

/* Layer n by the pattern. A period p in the config stretches it: all but one of p layers are of the pattern's common
 * kind, and the odd one keeps its end. */
static const char *pattern_kind(const hf_layers *l, int64_t n)
{
    const char *first = strchr(l->kinds, '>'), *kinds = first ? first + 1 : l->kinds;
    size_t length = strlen(kinds);
    int64_t period = n < l->first ? l->first_period : l->period;
    n = n < l->first ? n : n - l->first;
    char letter = first && n < first - l->kinds ? l->kinds[n] : kinds[(size_t)n % length];
    if (period > 0) {
        bool odd_first = kinds[0] == 'f' && length > 1;
        int64_t place = n % period;
        letter = place == (odd_first ? 0 : period - 1) ? 'f' : kinds[odd_first ? 1 : 0];
    }
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].kind;
    return "";
}

#define WINDOW "sliding_window|sliding_window_size|attention_window_size|attention_chunk_size|local_attention"

static bool is_centred(const hf_part *h)
{
    io_node at;
    if (!io_json_get(&at, h->config, "use_bidirectional_attention"))
        return h->fact->centred || (hf_has(h, "local_attention") && !hf_has(h, "sliding_window"));
    const char *word = io_json_kind_of(&at) == IO_JSON_STRING ? at.json + 1 : "";
    return io_json_kind_of(&at) == IO_JSON_TRUE || !strcmp(word, "all");
}

/* Which layers a window is for: the sliding ones, where there are kinds; else all from max_window_layers on, if
 * use_sliding_window does not say no. */
static pe_status start_windows(hf_layers *l, hf_part *h)
{
    io_node node;
    bool use = true;
    bool said = io_json_get(&node, h->config, "sliding_window");
    bool null = said && io_json_kind_of(&node) == IO_JSON_NULL;
    int by_default = h->fact->use_window;
    ZOO_TRY(hf_flag(h, &use, "use_sliding_window", by_default ? by_default > 0 : !hf_has(h, "max_window_layers")));
    if (!null && use && (!said || io_json_kind_of(&node) != IO_JSON_ARRAY))
        ZOO_TRY(hf_int(h, &l->window, h->fact->window_key ? h->fact->window_key : WINDOW, h->fact->window));
    /* ModernBERT and EmbeddingGemma look half of it back and half ahead; ModernBERT's decoder only back. */
    if (l->window && is_centred(h))
        l->window = l->window / 2 + (strcmp(h->fact->type, "modernbert-decoder") != 0);
    if (l->window && (h->fact->window_from || hf_has(h, "max_window_layers")))
        ZOO_TRY(hf_int(h, &l->first_windowed, "max_window_layers", h->fact->window_from));
    l->any_window = l->window > 0;
    return PE_OK;
}

/* Nemotron-H: a letter for each layer. */
static pe_status hybrid_pattern(hf_layers *l, hf_part *h, const io_node *node)
{
    ZOO_TRY(io_json_string(&l->kinds, node, NULL, IO_REQUIRED, h->b->err));
    if ((int64_t)strlen(l->kinds) == h->layers && strspn(l->kinds, "M*-E") == strlen(l->kinds))
        return PE_OK;
    return io_fail(h->b->err, PE_ERR_FORMAT,
                   "%s: hybrid_override_pattern is %.80s; needs %" PRId64 " letters, of M, *, - and E",
                   h->b->model.path, l->kinds, h->layers);
}

pe_status hf_layers_start(hf_layers *l, hf_part *h)
{
    pe_error *err = h->b->err;
    io_node node;
    *l = (hf_layers){ .kinds = h->fact->kinds, .interval = h->fact->interval };
    ZOO_TRY(hf_lists_start(l, h));
    if (hf_has(h, "no_rope_layer_interval"))
        ZOO_TRY(hf_int(h, &l->interval, "no_rope_layer_interval", 0));
    static const char period[] = "sliding_window_pattern|global_attn_every_n_layers|full_attention_interval";
    if (io_json_get(&node, h->config, "sliding_window_pattern") && io_json_kind_of(&node) == IO_JSON_STRING)
        ZOO_TRY(io_json_string(&l->kinds, &node, NULL, IO_REQUIRED, err)); /* EXAONE 4's "LLLG" */
    else if (io_json_get(&node, h->config, "hybrid_override_pattern") && io_json_kind_of(&node) == IO_JSON_STRING)
        ZOO_TRY(hybrid_pattern(l, h, &node));
    else if (l->kinds)
        ZOO_TRY(hf_int(h, &l->period, period, 0));
    if (l->kinds && !*l->kinds)
        l->kinds = NULL;
    return start_windows(l, h);
}

static pe_status kind_of(hf_layers *l, hf_part *h, hf_layer *out)
{
    out->kind = "";
    if (l->types.json)
        return hf_listed_kind(l, h, out);
    if (l->others)
        out->kind = l->listed[out->index] ? "full_attention" : l->others;
    else if (l->kinds && strchr("LG", l->kinds[0]))
        out->kind = l->kinds[(size_t)out->index % strlen(l->kinds)] == 'G' ? "full_attention" : "sliding_attention";
    else if (l->kinds)
        out->kind = pattern_kind(l, out->index);
    return PE_OK;
}

/* no_rope_layers: 1 has rope, 0 has none. */
static pe_status turns_by_list(hf_layers *l, hf_part *h, hf_layer *out)
{
    int64_t on = 1;
    ZOO_TRY(hf_lists_next(h, &l->no_rope, &l->rope, out->index));
    ZOO_TRY(io_json_int(&on, &l->rope, NULL, IO_REQUIRED, (io_int_range){ 0, 1 }, h->b->err));
    out->turns = on != 0;
    return PE_OK;
}

/* Layers of Mllama that look at the picture only: it has no positions there. They are listed in rising order. */
static pe_status crosses(hf_layers *l, hf_part *h, hf_layer *out)
{
    int64_t at = -1;
    if (!l->cross.json)
        return PE_OK;
    ZOO_TRY(io_json_int(&at, &l->cross, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
    if (at != out->index)
        return PE_OK;
    io_json_next(&l->cross, &l->crossing);
    out->kind = "cross_attention";
    out->turns = false;
    return PE_OK;
}

static pe_status turns_of(hf_layers *l, hf_part *h, hf_layer *out)
{
    const zoo_fact *f = h->fact;
    out->turns = true;
    if (f->interval && l->no_rope.json)
        return turns_by_list(l, h, out);
    if (f->interval && l->interval)
        out->turns = (out->index + 1) % l->interval != 0;
    if (f->still && !strcmp(f->still, out->kind) && (!f->windowed || l->any_window))
        out->turns = l->dense[out->index] && l->first_period == 1;
    return PE_OK;
}

/* A base and a share of its own. */
static pe_status own_numbers(hf_layers *l, hf_part *h, hf_layer *out)
{
    h->share = 0;
    if (l->shares.json) {
        ZOO_TRY(hf_lists_next(h, &l->shares, &l->share, out->index));
        ZOO_TRY(io_json_real(&out->share, &l->share, NULL, IO_REQUIRED, h->b->err));
        h->share = out->share;
    }
    if (!l->thetas.json)
        return PE_OK;
    ZOO_TRY(hf_lists_next(h, &l->thetas, &l->theta, out->index));
    ZOO_TRY(io_json_real(&out->theta, &l->theta, NULL, IO_REQUIRED, h->b->err));
    out->turns &= out->theta != 0;
    return PE_OK;
}

pe_status hf_layers_next(hf_layers *l, hf_part *h, hf_layer *out)
{
    *out = (hf_layer){ .index = l->next++ };
    ZOO_TRY(kind_of(l, h, out));
    if (h->b->options->rotary) {
        out->kind = *h->b->options->rotary ? h->b->options->rotary : out->kind;
        out->attends = out->turns = true;
        return PE_OK;
    }
    out->attends = attends(out->kind);
    ZOO_TRY(turns_of(l, h, out));
    ZOO_TRY(own_numbers(l, h, out));
    ZOO_TRY(crosses(l, h, out));
    bool sliding = !*out->kind || strstr(out->kind, "sliding") || strstr(out->kind, "chunked");
    out->window = sliding && out->attends && out->index >= l->first_windowed ? l->window : 0;
    return PE_OK;
}
