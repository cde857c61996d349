/* SPDX-License-Identifier: MIT
 *
 * A layer's rotation as a spec. Factors on cos and sin: src/llama-context.cpp divides YaRN's own out of attn_factor,
 * and ggml_rope_yarn multiplies it back in. */
#include "zoo/gguf.h"

#include <math.h>
#include <stdio.h>

/* g(s, m) = 0.1 m ln s + 1 */
static double gain(double s, double m)
{
    return s <= 1 ? 1 : 0.1 * m * log(s) + 1;
}

/* What YaRN leaves on cos and sin in layers that are scaled as the model is. */
static double yarn_magnitude(const zoo_gguf *m)
{
    double s = m->full.factor;
    return m->log_mul != 0 ? gain(s, m->mscale) / gain(s, m->log_mul) : gain(s, 1);
}

static double magnitude(const zoo_gguf *m, double factor, double yarn)
{
    if (yarn == 0)
        return m->yarn == 0 ? m->magnitude : m->magnitude * yarn_magnitude(m) / (1 + 0.1 * log(m->full.factor));
    if (factor == m->full.factor)
        return m->magnitude * yarn_magnitude(m);
    return m->magnitude * yarn_magnitude(m) / (1 + 0.1 * log(m->full.factor)) * (1 + 0.1 * log(factor));
}

static void put_magnitude(zoo_gguf *m, double x, double usual)
{
    if (fabs(x - usual) > 1e-12 * fabs(usual)) /* rounding is no difference */
        zoo_spec_real(m->spec, "magnitude", x);
}

static void put_yarn(zoo_gguf *m, const gguf_rotation *t)
{
    zoo_spec_word(m->spec, "scaling", "yarn");
    zoo_spec_real(m->spec, "factor", t->factor);
    zoo_spec_int(m->spec, "trained", m->trained);
    zoo_spec_real(m->spec, "beta_fast", m->beta_fast);
    zoo_spec_real(m->spec, "beta_slow", m->beta_slow);
    if (m->log_mul != 0 && m->magnitude == 1 && t->factor == m->full.factor) {
        zoo_spec_real(m->spec, "mscale", m->mscale);
        zoo_spec_real(m->spec, "mscale_all_dim", m->log_mul);
    } else
        put_magnitude(m, magnitude(m, t->factor, m->yarn), gain(t->factor, 1));
}

static void put_linear(zoo_gguf *m, const gguf_rotation *t)
{
    if (t->factor != 1) {
        zoo_spec_word(m->spec, "scaling", "linear");
        zoo_spec_real(m->spec, "factor", t->factor);
    } else if (m->alpha > 0) {
        zoo_spec_word(m->spec, "scaling", "ntk");
        zoo_spec_real(m->spec, "alpha", m->alpha);
    }
}

static pe_status put_scaling(zoo_gguf *m, const gguf_layer *l, const gguf_rotation *t, bool plain)
{
    double yarn = plain ? 0 : m->yarn;
    bool freqs = m->freqs && !(l->window && (m->arch.flags & ARCH_FREQS_FULL));
    bool scaled = t->factor != 1;
    if (!freqs && scaled && yarn == 1) {
        put_yarn(m, t);
        return PE_OK;
    }
    bool given = false;
    if (freqs || (scaled && yarn != 0))
        ZOO_TRY(gguf_put_factors(m, t, yarn, freqs, &given));
    else
        put_linear(m, t);
    double x = plain ? 1 : magnitude(m, t->factor, yarn);
    if (given) /* longrope's would follow from a factor it is not given */
        zoo_spec_real(m->spec, "magnitude", x);
    else
        put_magnitude(m, x, 1);
    return PE_OK;
}

/* llama.cpp's fourth position, which text has at 0, drives what the three axes leave over. */
static pe_status note_left_over(zoo_gguf *m, int64_t pairs)
{
    int left = 0;
    for (int64_t n = 0; n < pairs; n++)
        left += n >= 3 * m->sections[n % 3];
    if (!left || m->arch.layout != LAYOUT_IMROPE)
        return PE_OK;
    return zoo_note_add(
        m->b, ZOO_WARNING, "rope.dimension_sections", GGUF_REF,
        "llama.cpp rotates the %d slowest pairs that no section reaches by a fourth coordinate, 0 in text; "
        "the spec rotates them by the first, as transformers does",
        left);
}

static pe_status put_sections(zoo_gguf *m, int64_t pairs)
{
    double list[4];
    size_t axes = 4;
    for (int i = 0; i < 4; i++)
        list[i] = (double)m->sections[i];
    while (axes > 1 && m->sections[axes - 1] == 0)
        axes--;
    if (axes < 2) /* one axis: all pairs */
        return PE_OK;
    zoo_spec_list(m->spec, "sections", list, axes);
    if (m->arch.layout == LAYOUT_IMROPE)
        zoo_spec_word(m->spec, "split", "interleaved");
    return note_left_over(m, pairs);
}

static void put_temperature(zoo_gguf *m)
{
    zoo_spec_real(m->spec, "temperature", m->temperature);
    zoo_spec_int(m->spec, "floor", m->floor);
    zoo_spec_int(m->spec, "shift", m->shift);
}

/* DeepSeek: the softmax scale is multiplied by (YaRN's factor)^2. */
static void put_softmax(zoo_gguf *m)
{
    double log_factor = log(m->full.factor);
    double before = m->yarn != 0 ? m->magnitude * yarn_magnitude(m) : m->magnitude * (1 + 0.1 * log_factor);
    double all = before * (1 + 0.1 * m->log_mul * log_factor);
    if (all != 1)
        zoo_spec_real(m->spec, "softmax", all * all);
}

static const char *pairs_of(const zoo_gguf *m)
{
    if (m->b->options->pairs)
        return m->b->options->pairs;
    return m->arch.layout == LAYOUT_ADJACENT ? "adjacent" : "half";
}

/* A layer that does not rotate may have a temperature all the same. */
static void put_unrotated(zoo_gguf *m)
{
    bool warm = m->temperature != 0;
    zoo_spec_start(m->spec, warm ? "rope" : "none");
    if (!warm)
        return;
    zoo_spec_int(m->spec, "dims", 0);
    put_temperature(m);
}

pe_status gguf_put_rope(zoo_gguf *m, const gguf_layer *l)
{
    gguf_rotation t = l->window ? m->swa : m->full;
    bool plain = l->window && (m->arch.flags & ARCH_SWA_PLAIN);
    if (m->other_theta > 0) { /* deepseek4 */
        plain = !l->other_base;
        t.theta = l->other_base ? m->other_theta : t.theta;
    }
    if (plain)
        t.factor = 1;
    if (!l->rotates) {
        put_unrotated(m);
        return PE_OK;
    }
    zoo_spec_start(m->spec, "rope");
    zoo_spec_real(m->spec, "theta", t.theta);
    zoo_spec_word(m->spec, "pairs", pairs_of(m));
    zoo_spec_int(m->spec, "dims", t.dims);
    if (m->arch.flags & ARCH_TRAILING)
        zoo_spec_word(m->spec, "range", "trailing");
    if (m->arch.layout == LAYOUT_MROPE || m->arch.layout == LAYOUT_IMROPE)
        ZOO_TRY(put_sections(m, t.dims / 2));
    ZOO_TRY(put_scaling(m, l, &t, plain));
    if (m->arch.flags & ARCH_SOFTMAX)
        put_softmax(m);
    if (m->temperature != 0 && !m->temperature_unrotated)
        put_temperature(m);
    if (m->turn)
        zoo_spec_word(m->spec, "turn", m->turn);
    return PE_OK;
}
