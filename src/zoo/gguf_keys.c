/* SPDX-License-Identifier: MIT
 *
 * Values of ARCHITECTURE.suffix, and the keys every architecture has, with llama.cpp's defaults (src/llama-model.cpp,
 * load_hparams). */
#include "zoo/gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one value */

double zoo_written(float x)
{
    char text[40];
    for (int digits = 1; digits <= 9 && isfinite(x); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            return strtod(text, NULL);
    }
    return (double)x;
}

const char *gguf_key(zoo_gguf *m, const char *suffix)
{
    snprintf(m->key, sizeof m->key, "%s.%s", m->prefix, suffix);
    return m->key;
}

bool gguf_has(zoo_gguf *m, const char *suffix)
{
    io_gguf_value v;
    return io_gguf_find(&v, m->g, gguf_key(m, suffix));
}

pe_status gguf_int(zoo_gguf *m, int64_t *out, const char *suffix, io_need need, int64_t max)
{
    return io_gguf_int(out, m->g, gguf_key(m, suffix), need, (io_int_range){ 0, max }, m->b->err);
}

pe_status gguf_real(zoo_gguf *m, double *out, const char *suffix, io_need need)
{
    io_gguf_value v;
    double x = *out;
    TRY(io_gguf_real(&x, m->g, gguf_key(m, suffix), need, m->b->err));
    if (io_gguf_find(&v, m->g, m->key))
        *out = v.type == IO_GGUF_F32 ? zoo_written((float)x) : x;
    return PE_OK;
}

/* ---------------------------------------------------------------- one for each layer */

/* a number or a bool */
static pe_status gguf_element(zoo_gguf *m, int64_t *out, const io_gguf_value *v, size_t index)
{
    if (v->type != IO_GGUF_BOOL)
        return io_gguf_list_int(out, v, index, (io_int_range){ 0, INT32_MAX }, m->b->err);
    bool yes;
    TRY(io_gguf_list_bool(&yes, v, index, m->b->err));
    *out = yes;
    return PE_OK;
}

pe_status gguf_each(zoo_gguf *m, int64_t *out, int64_t count, const char *suffix, io_need need, bool *found)
{
    io_gguf_value v;
    bool there = io_gguf_find(&v, m->g, gguf_key(m, suffix));
    if (found)
        *found = there;
    if (!there && need == IO_REQUIRED)
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s is missing", m->key);
    if (there && v.array && v.count != (size_t)count && (v.count != (size_t)m->layers || m->layers > count))
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s holds %zu values; needs %lld, one per layer", m->key, v.count,
                        (long long)count);
    for (int64_t i = 0; there && i < count; i++)
        if (!v.array || i < (int64_t)v.count)
            TRY(gguf_element(m, &out[i], &v, v.array ? (size_t)i : 0));
    return PE_OK;
}

/* ---------------------------------------------------------------- the keys */

#define LENGTH_MAX (INT64_C(1) << 36) /* the library's own bound on positions */
#define WIDTH_MAX 65536

static pe_status read_sizes(zoo_gguf *m)
{
    TRY(gguf_int(m, &m->blocks, "block_count", IO_REQUIRED, ZOO_LAYERS_MAX));
    if (m->blocks < 1)
        return zoo_fail(m->b, PE_ERR_RANGE, "%s is 0; needs 1 to %d", m->key, ZOO_LAYERS_MAX);
    int64_t further = 0;
    TRY(gguf_int(m, &further, "nextn_predict_layers", IO_OPTIONAL, ZOO_LAYERS_MAX));
    m->layers = further < m->blocks ? m->blocks - further : m->blocks; /* gemma4-assistant: all are such */
    if (further && further < m->blocks)
        TRY(zoo_note_add(m->b, ZOO_FACT, m->key, GGUF_REF,
                         "the last %lld of %lld blocks predict further tokens; "
                         "left out",
                         (long long)further, (long long)m->blocks));
    TRY(gguf_int(m, &m->model_dim, "embedding_length", IO_REQUIRED, INT32_MAX));
    TRY(gguf_int(m, &m->served, "context_length", IO_REQUIRED, LENGTH_MAX));
    m->trained = m->served;
    TRY(gguf_int(m, &m->trained, "rope.scaling.original_context_length", IO_OPTIONAL, LENGTH_MAX));
    if (!m->trained)
        m->trained = m->served;
    if (m->b->options->trained)
        m->trained = m->b->options->trained;
    return PE_OK;
}

static pe_status read_heads(zoo_gguf *m)
{
    int64_t *heads = zoo_alloc(m->b, (size_t)m->blocks, 2 * sizeof *heads), *kv = heads ? heads + m->blocks : NULL;
    m->layer = zoo_alloc(m->b, (size_t)m->blocks, sizeof *m->layer);
    if (!heads || !m->layer)
        return PE_ERR_NOMEM;
    TRY(gguf_each(m, heads, m->blocks, "attention.head_count", IO_OPTIONAL, NULL));
    for (int64_t n = 0; n < m->blocks; n++)
        kv[n] = heads[n]; /* unless it says otherwise */
    TRY(gguf_each(m, kv, m->blocks, "attention.head_count_kv", IO_OPTIONAL, NULL));
    for (int64_t n = 0; n < m->blocks; n++)
        m->layer[n] = (gguf_layer){ .heads = heads[n], .kv_heads = kv[n], .rotates = true };
    return PE_OK;
}

/* llama.cpp takes the width from the first layer's heads; where that has none, from the first that has. */
static int64_t default_width(const zoo_gguf *m)
{
    for (int64_t n = 0; n < m->blocks; n++)
        if (m->layer[n].heads > 0)
            return m->model_dim / m->layer[n].heads;
    return 0;
}

static pe_status read_widths(zoo_gguf *m)
{
    m->full.head_dim = default_width(m);
    TRY(gguf_int(m, &m->full.head_dim, "attention.key_length", IO_OPTIONAL, WIDTH_MAX));
    if (m->full.head_dim > PE_HEAD_DIM_MAX && !m->b->options->head_dim)
        return zoo_fail(m->b, PE_ERR_RANGE, "heads are %lld wide; needs 1 to %d", (long long)m->full.head_dim,
                        PE_HEAD_DIM_MAX);
    m->full.dims = m->full.head_dim;
    TRY(gguf_int(m, &m->full.dims, "rope.dimension_count", IO_OPTIONAL, WIDTH_MAX));
    m->swa = m->full;
    TRY(gguf_int(m, &m->swa.head_dim, "attention.key_length_swa", IO_OPTIONAL, WIDTH_MAX));
    TRY(gguf_int(m, &m->swa.dims, "rope.dimension_count_swa", IO_OPTIONAL, WIDTH_MAX));
    if (m->arch.flags & ARCH_MLA) { /* key_length is that of the absorbed form, kv_lora_rank + rope */
        TRY(gguf_int(m, &m->full.head_dim, "attention.key_length_mla", IO_OPTIONAL, WIDTH_MAX));
        m->swa.head_dim = m->full.head_dim;
        TRY(gguf_int(m, &m->swa.head_dim, "attention.key_length_mla_swa", IO_OPTIONAL, WIDTH_MAX));
    }
    if (m->b->options->head_dim)
        m->full.head_dim = m->swa.head_dim = m->b->options->head_dim;
    return PE_OK;
}

static pe_status read_base(zoo_gguf *m)
{
    m->full.theta = 10000;
    TRY(gguf_real(m, &m->full.theta, "rope.freq_base", IO_OPTIONAL));
    if (m->arch.layout > LAYOUT_NONE && !gguf_has(m, "rope.freq_base"))
        TRY(zoo_note_add(m->b, ZOO_FACT, m->key, GGUF_REF, "%s is absent; llama.cpp's 10000", m->key));
    if (m->b->options->theta > 0)
        m->full.theta = m->b->options->theta;
    m->swa.theta = m->arch.flags & (ARCH_SWA_BASE | ARCH_SWA_SAME) ? m->full.theta : 10000;
    if (!(m->arch.flags & ARCH_SWA_SAME))
        TRY(gguf_real(m, &m->swa.theta, "rope.freq_base_swa", IO_OPTIONAL));
    return PE_OK;
}

static pe_status read_factor(zoo_gguf *m)
{
    double factor = 0, old = 0;
    TRY(gguf_real(m, &old, "rope.scale_linear", IO_OPTIONAL));
    bool given = gguf_has(m, "rope.scaling.factor");
    TRY(gguf_real(m, &factor, "rope.scaling.factor", IO_OPTIONAL));
    if (given && old != 0 && old != factor)
        TRY(zoo_note_add(m->b, ZOO_WARNING, "rope.scale_linear", GGUF_REF,
                         "rope.scale_linear is %s and rope.scaling.factor %s; llama.cpp takes the second",
                         zoo_number(old).text, zoo_number(factor).text));
    if (!given)
        factor = old;
    m->full.factor = factor != 0 ? factor : 1;
    m->swa.factor = m->arch.flags & (ARCH_SWA_SCALE | ARCH_SWA_SAME) ? m->full.factor : 1;
    return PE_OK;
}

static pe_status read_scaling(zoo_gguf *m)
{
    const char *type = "linear";
    TRY(read_factor(m));
    TRY(io_gguf_string(&type, m->g, gguf_key(m, "rope.scaling.type"), IO_OPTIONAL, m->b->err));
    m->longrope = !strcmp(type, "longrope");
    m->yarn = !strcmp(type, "yarn");
    bool none = !strcmp(type, "none");
    if (!m->longrope && m->yarn == 0 && !none && strcmp(type, "linear"))
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s is '%.40s'; llama.cpp knows none, linear, yarn and longrope", m->key,
                        type);
    if (none && m->full.factor != 1) {
        TRY(zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                         "rope.scaling.factor is %s but rope.scaling.type none: it is not applied",
                         zoo_number(m->full.factor).text));
        m->full.factor = 1; /* llama.cpp leaves the windowed layers' as it is */
    }
    m->magnitude = m->mscale = 1;
    m->beta_fast = 32;
    m->beta_slow = 1;
    TRY(gguf_real(m, &m->magnitude, "rope.scaling.attn_factor", IO_OPTIONAL));
    if (m->arch.flags & ARCH_BETAS) {
        TRY(gguf_real(m, &m->beta_fast, "rope.scaling.yarn_beta_fast", IO_OPTIONAL));
        TRY(gguf_real(m, &m->beta_slow, "rope.scaling.yarn_beta_slow", IO_OPTIONAL));
    }
    if (m->arch.flags & ARCH_LOG_MUL) {
        TRY(gguf_real(m, &m->log_mul, "rope.scaling.yarn_log_multiplier", IO_OPTIONAL));
        m->log_mul = zoo_written((float)(m->log_mul * 10)); /* converters write a tenth of it */
    }
    if (m->arch.flags & ARCH_ALPHA)
        TRY(gguf_real(m, &m->alpha, "rope.scaling.alpha", IO_OPTIONAL));
    return PE_OK;
}

static pe_status read_sections(zoo_gguf *m)
{
    bool always = m->arch.layout == LAYOUT_MROPE || m->arch.layout == LAYOUT_IMROPE;
    if (!always && !(m->arch.flags & ARCH_MROPE_IF))
        return PE_OK;
    io_gguf_value v;
    bool there = io_gguf_find(&v, m->g, gguf_key(m, "rope.dimension_sections"));
    if (!there && always)
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s is missing", m->key);
    if (there && v.array && v.count != 4)
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s holds %zu numbers; needs 4", m->key, v.count);
    for (size_t i = 0; there && i < 4; i++)
        TRY(gguf_element(m, &m->sections[i], &v, v.array ? i : 0));
    if (!always && m->sections[0] > 0 && m->sections[1] > 0)
        m->arch.layout = LAYOUT_MROPE;
    return PE_OK;
}

pe_status gguf_read_keys(zoo_gguf *m)
{
    TRY(read_sizes(m));
    TRY(read_heads(m));
    TRY(read_widths(m));
    TRY(read_base(m));
    TRY(read_scaling(m));
    return read_sections(m);
}
