/* SPDX-License-Identifier: MIT
 *
 * A GGUF file as a model: its keys, its architecture's row, its layers. */
#include "zoo/gguf.h"

#include <string.h>

#define NAME_MAX_LENGTH 100 /* zoo_gguf.key holds this and the longest suffix */

static pe_status check_type(zoo_builder *b, const io_gguf *g)
{
    const char *type = "model";
    TRY(io_gguf_string(&type, g, "general.type", IO_OPTIONAL, b->err));
    if (strcmp(type, "adapter") && strcmp(type, "imatrix"))
        return PE_OK;
    return zoo_fail(b, PE_ERR_FORMAT,
                    "general.type is %s: it says nothing about positions; give the model's "
                    "file",
                    type);
}

static pe_status check_split(zoo_builder *b, const io_gguf *g)
{
    int64_t part = 0;
    io_gguf_value v;
    TRY(io_gguf_int(&part, g, "split.no", IO_OPTIONAL, (io_int_range){ 0, 65535 }, b->err));
    if (part == 0 || io_gguf_find(&v, g, "general.architecture"))
        return PE_OK;
    return zoo_fail(b, PE_ERR_FORMAT, "is part %lld of several; the first one has the keys", (long long)part + 1);
}

static pe_status find_arch(zoo_gguf *m)
{
    const zoo_options *o = m->b->options;
    TRY(io_gguf_string(&m->prefix, m->g, "general.architecture", IO_REQUIRED, m->b->err));
    if (strlen(m->prefix) > NAME_MAX_LENGTH)
        return zoo_fail(m->b, PE_ERR_FORMAT, "general.architecture is longer than %d characters", NAME_MAX_LENGTH);
    const char *name = o->type ? o->type : m->prefix;
    m->arch = zoo_arch_find(&m->row, name) ? m->row : (zoo_arch){ .name = name };
    return PE_OK;
}

/* Of an unknown architecture the keys are read all the same: they are the same for all. */
static pe_status settle_unknown(zoo_gguf *m)
{
    io_gguf_tensor t;
    if (m->arch.layout != LAYOUT_UNKNOWN)
        return PE_OK;
    if (io_gguf_tensor_find(&t, m->g, "position_embd.weight"))
        m->arch.flags |= ARCH_LEARNED;
    if (gguf_has(m, "attention.max_alibi_bias"))
        m->arch.flags |= ARCH_ALIBI_KEY;
    m->arch.layout = LAYOUT_NONE;
    if (m->arch.flags)
        return PE_OK;
    m->arch.layout = LAYOUT_HALF;
    if (m->b->options->pairs)
        return PE_OK;
    return zoo_unknown(m->b, "general.architecture", "--pairs half|adjacent", "half",
                       "nothing is known of the architecture '%s', such as how its pairs lie", m->arch.name);
}

static pe_status add_part(zoo_gguf *m)
{
    zoo_part *p;
    TRY(gguf_read_factors(m));
    TRY(gguf_mark_layers(m));
    TRY(zoo_add_part(m->b, &p, "", m->prefix, m->layers));
    p->trained = m->trained;
    p->served = m->served;
    TRY(gguf_put_layers(m, p));
    if (m->found && !m->b->options->trained && p->trained == p->served) /* no key says it; the factors do */
        p->trained = m->found;
    return PE_OK;
}

/* ---------------------------------------------------------------- what has no effect, or another one than it seems */

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
    if ((m->row.flags & k->read_by) || ruled || (k->yarn && m->yarn == 0))
        return PE_OK;
    TRY(gguf_real(m, &x, k->suffix, IO_OPTIONAL));
    if (x == k->usual)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF, "%s is %s; llama.cpp does not read it for '%s'", k->suffix,
                        zoo_number(x).text, m->row.name);
}

static pe_status note_window(zoo_gguf *m)
{
    int64_t window = 0;
    if ((m->row.flags | m->arch.flags) & ARCH_SWA || m->row.rule == zoo_rule_phi3)
        return PE_OK;
    TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (!window)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is %lld; llama.cpp does not read it for '%s': every layer sees all "
                        "keys",
                        (long long)window, m->row.name);
}

static pe_status note_base(zoo_gguf *m)
{
    double base = m->full.theta;
    if (!(m->arch.flags & ARCH_SWA_SAME))
        return PE_OK;
    TRY(gguf_real(m, &base, "rope.freq_base_swa", IO_OPTIONAL));
    if (base == m->full.theta)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "rope.freq_base_swa is %s; llama.cpp rotates all layers of '%s' by %s", zoo_number(base).text,
                        m->row.name, zoo_number(m->full.theta).text);
}

static pe_status note_tensor(zoo_gguf *m, const char *name, unsigned read_by)
{
    io_gguf_tensor t;
    if ((m->row.flags & read_by) || !io_gguf_tensor_find(&t, m->g, name))
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, name, GGUF_REF, "%s is there; llama.cpp does not use it for '%s'", name,
                        m->row.name);
}

static pe_status note_unread(zoo_gguf *m)
{
    if (!m->row.name)
        return PE_OK;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        TRY(note_key(m, &reals[i]));
    TRY(note_window(m));
    TRY(note_base(m));
    TRY(note_tensor(m, "rope_freqs.weight", ARCH_FREQS));
    TRY(note_tensor(m, "rope_factors_long.weight", ARCH_LONG | ARCH_LONG_ANY));
    if (m->yarn == 0 || m->full.factor == 1)
        return PE_OK;
    return zoo_note_add(
        m->b, ZOO_FACT, "rope.scaling.type", GGUF_REF,
        "llama.cpp rounds the ends of YaRN's ramp to whole pairs; GGUF cannot say truncate false, which "
        "GPT-OSS has in its config");
}

/* ---------------------------------------------------------------- a file */

pe_status zoo_read_gguf(zoo_builder *b, const io_gguf *g)
{
    TRY(check_type(b, g));
    TRY(check_split(b, g));
    zoo_gguf *m = zoo_alloc(b, 1, sizeof *m);
    if (!m)
        return PE_ERR_NOMEM;
    *m = (zoo_gguf){ .b = b, .g = g };
    m->spec = zoo_alloc(b, 1, sizeof *m->spec);
    if (!m->spec)
        return PE_ERR_NOMEM;
    TRY(find_arch(m));
    if (m->arch.rule == zoo_rule_clip) /* it has none of the keys */
        return zoo_rule_clip(m);
    TRY(settle_unknown(m));
    TRY(gguf_read_keys(m));
    if (m->arch.rule)
        TRY(m->arch.rule(m));
    TRY(m->arch.flags & ARCH_T5 ? gguf_add_t5(m) : add_part(m));
    return note_unread(m);
}
