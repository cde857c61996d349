/* SPDX-License-Identifier: MIT
 *
 * rope_freqs.weight and rope_factors_{short,long}.weight: a divisor for each pair's frequency. As many as are a formula
 * become that formula, for the spec should say what was meant; others are written as they are. */
#include "zoo/gguf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    ZOO_TRY(io_gguf_tensor_read_f32(&x, m->g, &t, m->b->err));
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
    ZOO_TRY(read_one(m, &m->freqs, "rope_factors_short.weight"));
    ZOO_TRY(read_one(m, &m->long_freqs, "rope_factors_long.weight"));
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
    int64_t turning = 0;
    while (turning < pairs && m->freqs[turning] == 1)
        turning++;
    for (int64_t i = turning; i < pairs; i++)
        if (m->freqs[i] < PAIRS_OFF)
            return false;
    zoo_spec_word(m->spec, "scaling", "proportional");
    zoo_spec_real(m->spec, "turning", (double)turning / (double)pairs);
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
static double mix(const zoo_gguf *m, const gguf_rotation *t, double yarn, int64_t pair)
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
        double by = t->factor == 1 ? 1 : mix(m, t, yarn, i);
        list[i] = (x ? zoo_written(x[i]) : 1) / by;
    }
    zoo_spec_list(m->spec, key, list, (size_t)(t->dims / 2));
}

pe_status gguf_put_factors(zoo_gguf *m, const gguf_rotation *t, double yarn, bool freqs, bool *given)
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
