/* SPDX-License-Identifier: MIT
 *
 * What a single architecture does that no flag says. Source: llama.cpp b21e4de, src/models/ARCHITECTURE.cpp. */
#include "zoo/gguf.h"

#include <stdio.h>

pe_status zoo_rule_baichuan(zoo_gguf *m)
{
    if (m->layers == 32)
        return PE_OK;
    m->arch.layout = LAYOUT_NONE;
    m->alibi = m->layers == 40 ? 8 : 0;
    if (m->layers == 40)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, "block_count", GGUF_REF,
                        "llama.cpp knows Baichuan with 32 layers, which turn, and 40, with ALiBi; with %lld it does "
                        "neither",
                        (long long)m->layers);
}

pe_status zoo_rule_clip(zoo_gguf *m)
{
    return io_fail(m->b->err, PE_ERR_FORMAT,
                   "%s: is the image or sound part of a model, whose positions are not in "
                   "its keys; give the file of the language model",
                   m->b->model.path);
}

pe_status zoo_rule_cohere2moe(zoo_gguf *m)
{
    return gguf_int(m, &m->lead, "leading_dense_block_count", IO_OPTIONAL, INT32_MAX);
}

static pe_status temperature(zoo_gguf *m)
{
    ZOO_TRY(gguf_real(m, &m->temperature, "attention.temperature_scale", IO_OPTIONAL));
    return gguf_int(m, &m->floor, "attention.temperature_length", IO_OPTIONAL, INT32_MAX);
}

pe_status zoo_rule_deepseek2(zoo_gguf *m)
{
    if (m->log_mul != 0)
        m->mscale = m->log_mul; /* DeepSeek-V2 and V3 have both alike, and only one is in the file */
    return temperature(m);
}

pe_status zoo_rule_mistral4(zoo_gguf *m)
{
    return temperature(m);
}

pe_status zoo_rule_deepseek2_ocr(zoo_gguf *m)
{
    m->yarn = 0;
    m->full.factor = m->magnitude = 1;
    m->full.dims = m->full.head_dim;
    return PE_OK;
}

/* Keys, values and the output turn; no factor is left on cos and sin. */
static void turn_as_deepseek4(zoo_gguf *m)
{
    m->turn = "qkvo";
    m->magnitude = m->mscale = m->log_mul = 1;
}

/* Layers that compress have a base of their own, and only they are scaled. */
pe_status zoo_rule_deepseek4(zoo_gguf *m)
{
    io_gguf_list ratios;
    io_gguf_tensor t;
    char name[64];
    turn_as_deepseek4(m);
    snprintf(name, sizeof name, "blk.%lld.nextn.eh_proj.weight", (long long)m->layers);
    if (!io_gguf_tensor_find(&t, m->g, name))
        m->layers = m->blocks;
    ZOO_TRY(gguf_real(m, &m->other_theta, "attention.compress_rope_freq_base", IO_REQUIRED));
    ZOO_TRY(io_gguf_array(&ratios, m->g, gguf_key(m, "attention.compress_ratios"), IO_REQUIRED, m->b->err));
    if (ratios.count < (size_t)m->blocks)
        return io_fail(m->b->err, PE_ERR_FORMAT, "%s: %s holds %zu numbers; needs %lld, one per layer",
                       m->b->model.path, m->key, ratios.count, (long long)m->blocks);
    for (int64_t n = 0; n < m->blocks; n++) {
        int64_t ratio;
        ZOO_TRY(io_gguf_list_int(&ratio, &ratios, (size_t)n, (io_int_range){ 0, INT32_MAX }, m->b->err));
        m->layer[n].other_base = ratio != 0;
    }
    return PE_OK;
}

pe_status zoo_rule_dflash(zoo_gguf *m)
{
    int64_t count = 0;
    ZOO_TRY(gguf_int(m, &count, "hyper_connection.count", IO_OPTIONAL, INT32_MAX));
    if (!count)
        return PE_OK;
    turn_as_deepseek4(m); /* a draft of DeepSeek-V4: none of its layers compresses */
    m->arch.layout = LAYOUT_ADJACENT;
    m->arch.flags = ARCH_TRAILING | ARCH_SWA | ARCH_SWA_SAME;
    m->arch.period = ARCH_EVERY;
    m->yarn = 0;
    m->full.factor = m->swa.factor = 1;
    return PE_OK;
}

pe_status zoo_rule_exaone4(zoo_gguf *m)
{
    if (m->layers != 64) /* only the 32B has windows */
        return PE_OK;
    m->arch.flags |= ARCH_SWA | ARCH_SWA_SAME | ARCH_NOPE_FULL;
    m->arch.period = 4;
    m->arch.window = 4096;
    m->swa = m->full;
    return PE_OK;
}

pe_status zoo_rule_granite_swa(zoo_gguf *m)
{
    int64_t *turns = zoo_alloc(m->b, (size_t)m->blocks, sizeof *turns);
    bool found;
    if (!turns)
        return PE_ERR_NOMEM;
    ZOO_TRY(gguf_each(m, turns, m->blocks, "attention.rope_pattern", IO_OPTIONAL, &found));
    for (int64_t n = 0; found && n < m->blocks; n++)
        m->layer[n].turns = turns[n] != 0;
    return PE_OK;
}

pe_status zoo_rule_grok(zoo_gguf *m)
{
    double yarn = -1, factor = 1;
    if (!gguf_has(m, "rope.scaling.yarn_beta_fast"))
        m->beta_fast = 8;
    ZOO_TRY(gguf_real(m, &yarn, "rope.scaling.yarn_ext_factor", IO_OPTIONAL));
    ZOO_TRY(gguf_real(m, &factor, "rope.scaling.yarn_attn_factor", IO_OPTIONAL));
    if (yarn >= 0)
        m->yarn = yarn;
    if (m->yarn == 0) /* with YaRN its own factor replaces this one */
        m->magnitude *= factor;
    return PE_OK;
}

pe_status zoo_rule_llama4(zoo_gguf *m)
{
    int64_t window = 1;
    ZOO_TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (window) {
        m->window = 8192; /* whatever the file says */
        m->temperature = 0.1;
        m->temperature_still = true;
        m->floor = 8192;
        m->shift = 1;
        return PE_OK;
    }
    m->arch.flags &= ~(unsigned)(ARCH_SWA | ARCH_NOPE_4TH);
    m->nope = (int)m->layers;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is 0: llama.cpp then turns every layer but the last");
}

pe_status zoo_rule_mistral3(zoo_gguf *m)
{
    ZOO_TRY(gguf_real(m, &m->log_mul, "rope.scaling.yarn_log_multiplier", IO_OPTIONAL)); /* not a tenth of it */
    ZOO_TRY(gguf_real(m, &m->temperature, "attention.temperature_scale", IO_OPTIONAL));
    m->floor = m->trained;
    return PE_OK;
}

pe_status zoo_rule_phi3(zoo_gguf *m)
{
    int64_t window = 0;
    ZOO_TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (!window)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is %lld; llama.cpp has Phi's windows switched off",
                        (long long)window);
}

pe_status zoo_rule_plamo(zoo_gguf *m)
{
    m->full.dims = m->full.head_dim; /* rope.dimension_count is not asked */
    return PE_OK;
}

pe_status zoo_rule_smallthinker(zoo_gguf *m)
{
    int64_t window = 0;
    ZOO_TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (window) {
        m->window = 4096; /* whatever the file says */
        m->nope = 4;
        m->nope_first = true;
    }
    return PE_OK;
}

pe_status zoo_rule_step35(zoo_gguf *m)
{
    m->full.dims /= 2;
    return PE_OK;
}
