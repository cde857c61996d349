/* SPDX-License-Identifier: MIT
 *
 * What is in the file and yet has no effect, or another one than it seems. */
#include "zoo/gguf.h"

typedef struct unread_key {
    const char *suffix;
    unsigned read_by; /* architectures with one of these flags read it */
    bool yarn;        /* it matters with YaRN only */
    double usual;     /* the value that changes nothing */
} unread_key;

static const unread_key reals[] = {
    { "rope.scaling.yarn_beta_fast", ARCH_BETAS, true, 32 },
    { "rope.scaling.yarn_beta_slow", ARCH_BETAS, true, 1 },
    { "rope.scaling.yarn_ext_factor", ARCH_BETAS, true, 1 },
    { "rope.scaling.yarn_attn_factor", 0, true, 1 },
    { "rope.scaling.yarn_log_multiplier", ARCH_LOG_MUL, true, 0 },
    { "rope.scaling.alpha", ARCH_ALPHA, false, 0 },
    { "attention.max_alibi_bias", ARCH_ALIBI | ARCH_ALIBI_KEY, false, 0 },
};

static pe_status note_key(zoo_gguf *m, const unread_key *k)
{
    double x = k->usual;
    bool ruled = m->log_mul != 0 && k->read_by == ARCH_LOG_MUL; /* mistral3 reads it by its rule */
    if ((m->row->flags & k->read_by) || ruled || (k->yarn && m->yarn == 0))
        return PE_OK;
    ZOO_TRY(gguf_real(m, &x, k->suffix, IO_OPTIONAL));
    if (x == k->usual)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF, "%s is %s; llama.cpp does not read it for '%s'", k->suffix,
                        zoo_number(x).text, m->row->name);
}

static pe_status note_window(zoo_gguf *m)
{
    int64_t window = 0;
    if ((m->row->flags | m->arch.flags) & ARCH_SWA || m->row->rule == zoo_rule_phi3)
        return PE_OK;
    ZOO_TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (!window)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is %lld; llama.cpp does not read it for '%s': every layer sees all "
                        "keys",
                        (long long)window, m->row->name);
}

static pe_status note_base(zoo_gguf *m)
{
    double base = m->full.theta;
    if (!(m->arch.flags & ARCH_SWA_SAME))
        return PE_OK;
    ZOO_TRY(gguf_real(m, &base, "rope.freq_base_swa", IO_OPTIONAL));
    if (base == m->full.theta)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "rope.freq_base_swa is %s; llama.cpp turns all layers of '%s' by %s", zoo_number(base).text,
                        m->row->name, zoo_number(m->full.theta).text);
}

static pe_status note_tensor(zoo_gguf *m, const char *name, unsigned read_by)
{
    io_gguf_tensor t;
    if ((m->row->flags & read_by) || !io_gguf_tensor_find(&t, m->g, name))
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, name, GGUF_REF, "%s is there; llama.cpp does not use it for '%s'", name,
                        m->row->name);
}

pe_status gguf_note_unread(zoo_gguf *m)
{
    if (!m->row)
        return PE_OK;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        ZOO_TRY(note_key(m, &reals[i]));
    ZOO_TRY(note_window(m));
    ZOO_TRY(note_base(m));
    ZOO_TRY(note_tensor(m, "rope_freqs.weight", ARCH_FREQS));
    ZOO_TRY(note_tensor(m, "rope_factors_long.weight", ARCH_LONG | ARCH_LONG_ANY));
    if (m->yarn == 0 || m->full.factor == 1)
        return PE_OK;
    return zoo_note_add(
        m->b, ZOO_FACT, "rope.scaling.type", GGUF_REF,
        "llama.cpp rounds the ends of YaRN's ramp to whole pairs; GGUF cannot say truncate false, which "
        "GPT-OSS has in its config");
}
