/* SPDX-License-Identifier: MIT
 *
 * A layer's rotation as a spec. rope_freqs.weight and rope_factors_{short,long}.weight hold a divisor for each pair's
 * frequency: as many as are a formula become that formula, for the spec should say what was meant; others are written
 * as they are. Factors on cos and sin: src/llama-context.cpp divides YaRN's own out of attn_factor, and ggml_rope_yarn
 * multiplies it back in. */
#include "zoo/gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS_OFF 1e20 /* gemma4 divides by 1e30 what is not to rotate */
#define CLOSE 1e-5     /* converters compute in float32 */

/* ---------------------------------------------------------------- reading */

static pe_status check(zoo_gguf *m, const io_gguf_tensor *t, const float *x)
{
    if (t->count > GGUF_PAIRS_MAX)
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s holds %lld numbers; needs %d at most, one per pair", t->name,
                        (long long)t->count, GGUF_PAIRS_MAX);
    for (int64_t i = 0; i < t->count; i++)
        if (!isfinite(x[i]) || x[i] <= 0)
            return zoo_fail(m->b, PE_ERR_FORMAT, "%s holds %s at %lld; needs numbers above 0", t->name,
                            zoo_number((double)x[i]).text, (long long)i);
    return PE_OK;
}

static pe_status read_one(zoo_gguf *m, float **out, const char *name)
{
    io_gguf_tensor t;
    float *x;
    if (!io_gguf_tensor_find(&t, m->g, name))
        return PE_OK;
    TRY(io_gguf_tensor_read_f32(&x, m->g, &t, m->b->err));
    pe_status s = check(m, &t, x);
    if (s == PE_OK) {
        *out = zoo_alloc(m->b, GGUF_PAIRS_MAX, sizeof **out);
        s = *out ? PE_OK : PE_ERR_NOMEM;
    }
    for (int64_t i = 0; s == PE_OK && i < GGUF_PAIRS_MAX; i++)
        (*out)[i] = i < t.count ? x[i] : 1;
    if (s == PE_OK && (!m->freq_count || t.count < m->freq_count))
        m->freq_count = t.count;
    free(x);
    return s;
}

/* One alone of short and long: the other divides by 1. */
static pe_status fill_missing(zoo_gguf *m)
{
    float **missing = m->freqs ? &m->long_freqs : &m->freqs;
    if ((m->freqs == NULL) == (m->long_freqs == NULL))
        return PE_OK;
    *missing = zoo_alloc(m->b, GGUF_PAIRS_MAX, sizeof **missing);
    for (int64_t i = 0; *missing && i < GGUF_PAIRS_MAX; i++)
        (*missing)[i] = 1;
    return *missing ? PE_OK : PE_ERR_NOMEM;
}

pe_status gguf_read_factors(zoo_gguf *m)
{
    bool by_length = (m->arch.flags & ARCH_LONG_ANY) || (m->longrope && (m->arch.flags & ARCH_LONG));
    if (!by_length)
        return m->arch.flags & ARCH_FREQS ? read_one(m, &m->freqs, "rope_freqs.weight") : PE_OK;
    TRY(read_one(m, &m->freqs, "rope_factors_short.weight"));
    TRY(read_one(m, &m->long_freqs, "rope_factors_long.weight"));
    return fill_missing(m);
}

/* ---------------------------------------------------------------- formulas */

static bool all_one(const float *x, int64_t pairs)
{
    for (int64_t i = 0; x && i < pairs; i++)
        if (x[i] != 1)
            return false;
    return true;
}

/* p-RoPE: the first pairs rotate, the others do not. */
static bool put_proportional(zoo_gguf *m, int64_t pairs)
{
    int64_t rotated = 0;
    while (rotated < pairs && m->freqs[rotated] == 1)
        rotated++;
    for (int64_t i = rotated; i < pairs; i++)
        if (m->freqs[i] < PAIRS_OFF)
            return false;
    zoo_spec_word(m->spec, "scaling", "proportional");
    zoo_spec_real(m->spec, "turning", (double)rotated / (double)pairs);
    return true;
}

static double llama3_divisor(double turns, double factor, double low, double high)
{
    if (turns < low)
        return factor;
    if (turns > high)
        return 1;
    double mix = (turns - low) / (high - low);
    return 1 / ((1 - mix) / factor + mix);
}

static bool is_llama3(const zoo_gguf *m, const gguf_rotation *t, double factor, double trained)
{
    for (int64_t i = 0; i < t->dims / 2; i++) {
        double turns = trained * pow(t->theta, -2 * (double)i / (double)t->dims) / (2 * 3.14159265358979323846);
        double divisor = llama3_divisor(turns, factor, 1, 4);
        if (fabs((double)m->freqs[i] - divisor) > CLOSE * divisor)
            return false;
    }
    return true;
}

/* The factor is the divisor of the slowest pair. Llama's low and high, 1 and 4, and the lengths there are. */
static bool put_llama3(zoo_gguf *m, const gguf_rotation *t)
{
    const int64_t lengths[] = { 8192, m->trained, 4096, 16384, 32768, 65536, 131072 };
    double factor = zoo_written(m->freqs[t->dims / 2 - 1]);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (!is_llama3(m, t, factor, (double)lengths[i]))
            continue;
        zoo_spec_word(m->spec, "scaling", "llama3");
        zoo_spec_real(m->spec, "factor", factor);
        zoo_spec_int(m->spec, "trained", lengths[i]);
        m->found = lengths[i];
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- divisors */

/* What YaRN multiplies pair i's frequency by, as ggml does: ggml_rope_yarn_corr_dims rounds the ends outwards. */
static double yarn_mix(const zoo_gguf *m, const gguf_rotation *t, double yarn, int64_t pair)
{
    double d = (double)t->dims, slow = 1 / t->factor, log_theta = log(t->theta);
    if (yarn == 0)
        return slow;
    double low = floor(d * log((double)m->trained / (m->beta_fast * 2 * 3.14159265358979323846)) / (2 * log_theta));
    double high = ceil(d * log((double)m->trained / (m->beta_slow * 2 * 3.14159265358979323846)) / (2 * log_theta));
    low = fmax(0, low);
    high = fmin(d - 1, high);
    double y = ((double)pair - low) / fmax(0.001, high - low), ramp = yarn * (1 - fmin(1, fmax(0, y)));
    return slow * (1 - ramp) + ramp;
}

static void put_list(zoo_gguf *m, const char *key, const float *x, const gguf_rotation *t, double yarn)
{
    double list[GGUF_PAIRS_MAX];
    for (int64_t i = 0; i < t->dims / 2; i++) {
        double by = t->factor == 1 ? 1 : yarn_mix(m, t, yarn, i);
        list[i] = (x ? zoo_written(x[i]) : 1) / by;
    }
    zoo_spec_list(m->spec, key, list, (size_t)(t->dims / 2));
}

/* A scaling that divides pair n's frequency by freqs[n], and all as t and yarn say beside that; freqs may be NULL.
 * *given: the spec's magnitude has to be written, whatever it is. */
static pe_status put_factors(zoo_gguf *m, const gguf_rotation *t, double yarn, bool freqs, bool *given)
{
    int64_t pairs = t->dims / 2;
    const float *near = freqs ? m->freqs : NULL, *far = freqs && m->long_freqs ? m->long_freqs : near;
    bool scaled = t->factor != 1;
    *given = false;
    if (pairs < 1 || pairs > GGUF_PAIRS_MAX || (freqs && pairs > m->freq_count))
        return zoo_fail(m->b, PE_ERR_FORMAT, "%lld factors for %lld pairs; needs one for each",
                        (long long)m->freq_count, (long long)pairs);
    if (!scaled && all_one(near, pairs) && all_one(far, pairs))
        return PE_OK;
    if (!scaled && near == far && (put_proportional(m, pairs) || put_llama3(m, t)))
        return PE_OK;
    *given = true;
    zoo_spec_word(m->spec, "scaling", "longrope");
    zoo_spec_int(m->spec, "trained", m->trained);
    if (m->b->options->length)
        zoo_spec_int(m->spec, "length", m->b->options->length);
    put_list(m, "short", near, t, yarn);
    put_list(m, "long", far, t, yarn);
    if (near == far)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_FACT, "rope_factors_long.weight", GGUF_REF,
                        "llama.cpp takes the long factors where it is started with a context above %lld, whatever the "
                        "length of a sequence",
                        (long long)m->trained);
}

/* ---------------------------------------------------------------- factors on cos and sin */

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
        TRY(put_factors(m, t, yarn, freqs, &given));
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
        TRY(put_sections(m, t.dims / 2));
    TRY(put_scaling(m, l, &t, plain));
    if (m->arch.flags & ARCH_SOFTMAX)
        put_softmax(m);
    if (m->temperature != 0 && !m->temperature_unrotated)
        put_temperature(m);
    if (m->turn)
        zoo_spec_word(m->spec, "turn", m->turn);
    return PE_OK;
}
