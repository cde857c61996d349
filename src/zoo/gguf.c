/* SPDX-License-Identifier: MIT
 *
 * A GGUF file as a model: its keys, its architecture's row, its layers. */
#include "zoo/gguf.h"
#include "zoo/spec_read.h"

#include <string.h>

#define NAME_MAX_LENGTH 100 /* zoo_gguf.key holds this and the longest suffix */

/* ---------------------------------------------------------------- which layers have a window or rotate */

static pe_status read_window(zoo_gguf *m)
{
    bool fixed = m->window != 0; /* by a rule */
    if (!(m->arch.flags & ARCH_SWA) || fixed)
        return PE_OK;
    m->window = m->arch.window;
    bool may_lack = m->window || (m->arch.flags & ARCH_SWA_IF);
    TRY(gguf_int(m, &m->window, "attention.sliding_window", may_lack ? IO_OPTIONAL : IO_REQUIRED, INT32_MAX));
    if (!m->window && (m->arch.flags & ARCH_SWA_IF))
        m->arch.flags &= ~(unsigned)(ARCH_SWA | ARCH_NOPE_FULL);
    return PE_OK;
}

/* llama.cpp's set_swa_pattern: of period layers one has no window; 0: all have one, 1: none. */
static void mark_period(zoo_gguf *m, int64_t period)
{
    int64_t without = m->arch.flags & ARCH_SWA_FIRST ? 0 : period - 1;
    for (int64_t n = 0; n < m->layers; n++)
        m->layer[n].window = period == 0 || n % period != without;
}

static pe_status mark_each(zoo_gguf *m)
{
    int64_t *windows = zoo_alloc(m->b, (size_t)m->blocks, sizeof *windows);
    if (!windows)
        return PE_ERR_NOMEM;
    TRY(gguf_each(m, windows, m->blocks, "attention.sliding_window_pattern", IO_REQUIRED, NULL));
    for (int64_t n = 0; n < m->blocks; n++)
        m->layer[n].window = windows[n] != 0;
    return PE_OK;
}

static pe_status mark_windows(zoo_gguf *m)
{
    io_gguf_value v;
    int64_t period = m->arch.period;
    bool there = io_gguf_find(&v, m->g, gguf_key(m, "attention.sliding_window_pattern")), each = there && v.array;
    if (period == ARCH_EVERY) {
        mark_period(m, 0);
        return PE_OK;
    }
    if ((m->arch.flags & ARCH_SWA_ARRAY) && (each || !there || period == 0))
        return mark_each(m);
    if (each)
        TRY(zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                         "%s is an array, which llama.cpp does not read for this architecture; it takes a period "
                         "of %lld",
                         m->key, (long long)period));
    else
        TRY(gguf_int(m, &period, "attention.sliding_window_pattern", IO_OPTIONAL, INT32_MAX));
    mark_period(m, period);
    return PE_OK;
}

static pe_status mark_recurrent(zoo_gguf *m)
{
    int64_t interval = m->arch.interval;
    int64_t *recurs = zoo_alloc(m->b, (size_t)m->blocks, sizeof *recurs);
    bool found;
    if (!recurs)
        return PE_ERR_NOMEM;
    TRY(gguf_each(m, recurs, m->blocks, "attention.recurrent_layers", IO_OPTIONAL, &found));
    TRY(gguf_int(m, &interval, "full_attention_interval", IO_OPTIONAL, INT32_MAX));
    if (interval < 1)
        return zoo_fail(m->b, PE_ERR_RANGE, "%s is 0; needs 1 or more", m->key);
    for (int64_t n = 0; n < m->layers; n++)
        m->layer[n].recurs = found ? recurs[n] != 0 : (n + 1) % interval != 0;
    return PE_OK;
}

static void mark_unrotated(zoo_gguf *m)
{
    for (int64_t n = 0; n < m->layers; n++) {
        gguf_layer *l = &m->layer[n];
        if (m->nope && (m->nope_first ? n % m->nope == 0 : (n + 1) % m->nope == 0))
            l->rotates = false;
        if ((m->arch.flags & ARCH_NOPE_FULL) && !l->window && n >= m->lead)
            l->rotates = false;
        l->rotates = l->rotates && m->arch.layout != LAYOUT_NONE;
    }
}

/* Granite stores in rope.scaling.finetuned whether it rotates. */
static pe_status mark_finetuned(zoo_gguf *m)
{
    bool rotates = true;
    TRY(io_gguf_bool(&rotates, m->g, gguf_key(m, "rope.scaling.finetuned"), IO_OPTIONAL, m->b->err));
    if (!rotates)
        m->arch.layout = LAYOUT_NONE;
    return PE_OK;
}

static pe_status gguf_mark_layers(zoo_gguf *m)
{
    if (m->arch.flags & ARCH_FINETUNED)
        TRY(mark_finetuned(m));
    TRY(read_window(m));
    if (m->arch.flags & ARCH_SWA)
        TRY(mark_windows(m));
    if (m->arch.interval)
        TRY(mark_recurrent(m));
    if (m->arch.flags & ARCH_NOPE_4TH)
        m->nope = 4;
    mark_unrotated(m);
    return PE_OK;
}

/* ---------------------------------------------------------------- what is added to the embedding */

/* llama.cpp wants as many rows as context_length says; the table itself is asked where it is in this file. */
static pe_status learned_rows(zoo_gguf *m, int64_t *rows)
{
    io_gguf_tensor t;
    bool there = io_gguf_tensor_find(&t, m->g, "position_embd.weight");
    bool may_lack = m->arch.flags & ARCH_ALIBI_KEY; /* mpt has one or the other */
    *rows = there ? t.shape[1] : may_lack ? 0 : m->served;
    if (there && t.shape[1] != m->served)
        return zoo_note_add(m->b, ZOO_WARNING, "position_embd.weight", GGUF_REF,
                            "position_embd.weight has %lld rows, context_length is %lld; llama.cpp refuses that",
                            (long long)t.shape[1], (long long)m->served);
    return PE_OK;
}

/* ---------------------------------------------------------------- ALiBi */

static pe_status read_alibi(zoo_gguf *m)
{
    if (m->arch.flags & ARCH_ALIBI)
        m->alibi = 8;
    if (m->arch.flags & ARCH_ALIBI_KEY)
        TRY(gguf_real(m, &m->alibi, "attention.max_alibi_bias", IO_OPTIONAL));
    return PE_OK;
}

/* ggml's slopes are Press's for every model. MPT orders those of heads that are no power of two in another way. */
static pe_status put_alibi(zoo_gguf *m, const gguf_layer *l)
{
    bool causal = true, power = l->heads > 0 && (l->heads & (l->heads - 1)) == 0;
    TRY(io_gguf_bool(&causal, m->g, gguf_key(m, "attention.causal"), IO_OPTIONAL, m->b->err));
    zoo_spec_start(m->spec, "alibi");
    zoo_spec_real(m->spec, "max", m->alibi);
    if (!causal)
        zoo_spec_word(m->spec, "form", "symmetric");
    if (power || !(m->arch.flags & ARCH_LEARNED))
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, "attention.max_alibi_bias", GGUF_REF,
                        "%lld heads are no power of two: ggml's slopes are then not those MPT was trained with",
                        (long long)l->heads);
}

/* ---------------------------------------------------------------- a layer */

static const char *unrotated_text(zoo_gguf *m, int64_t rows, bool alibi)
{
    if (rows && alibi)
        return zoo_text(m->b, "learned:rows=%lld+%s", (long long)rows, m->spec->text);
    if (rows)
        return zoo_text(m->b, "learned:rows=%lld", (long long)rows);
    return alibi ? m->spec->text : "none";
}

static const char *kind_of(const zoo_gguf *m, const gguf_layer *l, bool mixed)
{
    if (l->recurs || !l->kv_heads)
        return "linear_attention";
    if (l->window)
        return m->arch.flags & ARCH_SWA_CHUNKED ? "chunked_attention" : "sliding_attention";
    return mixed ? "full_attention" : "";
}

static pe_shape shape_of(const zoo_gguf *m, const gguf_layer *l)
{
    bool mla = m->arch.flags & ARCH_MLA; /* the absorbed form has one key head, the model as many as heads */
    if (l->recurs || !l->heads || !l->kv_heads)
        return (pe_shape){ .heads = 1, .kv_heads = 1, .head_dim = 1, .model_dim = m->model_dim };
    return (pe_shape){ .heads = l->heads,
                       .kv_heads = mla ? l->heads : l->kv_heads,
                       .head_dim = l->window ? m->swa.head_dim : m->full.head_dim,
                       .model_dim = m->model_dim };
}

/* A rotation depends on the layer by three bits. */
static pe_status rope_text(zoo_gguf *m, const gguf_layer *l, const char **out)
{
    const char **done = &m->done[l->window + 2 * l->rotates + 4 * l->other_base];
    if (!*done) {
        TRY(gguf_put_rope(m, l));
        if (m->spec->full)
            return zoo_fail(m->b, PE_ERR_FORMAT, "a layer's spec is longer than %d characters", ZOO_SPEC_MAX);
        *done = zoo_text(m->b, "%s", m->spec->text);
    }
    *out = *done;
    return PE_OK;
}

static pe_status put_layer(zoo_gguf *m, zoo_part *p, int64_t n, int64_t rows, bool mixed)
{
    const gguf_layer *l = &m->layer[n];
    const char *text = "none";
    int64_t window = l->window ? m->window : 0;
    if (window && (m->arch.flags & ARCH_SWA_CENTRED))
        window = window / 2 + 1;
    if (l->recurs || !l->heads || !l->kv_heads)
        return zoo_set_layer(m->b, p, n, text, shape_of(m, l), kind_of(m, l, mixed), 0);
    if (m->arch.layout != LAYOUT_NONE) {
        TRY(rope_text(m, l, &text));
    } else {
        if (m->alibi > 0)
            TRY(put_alibi(m, l));
        text = unrotated_text(m, rows, m->alibi > 0);
    }
    if (!text)
        return PE_ERR_NOMEM;
    return zoo_set_layer(m->b, p, n, text, shape_of(m, l), kind_of(m, l, mixed), window);
}

static pe_status gguf_put_layers(zoo_gguf *m, zoo_part *p)
{
    int64_t rows = 0;
    bool mixed = false;
    TRY(read_alibi(m));
    if (m->arch.flags & ARCH_LEARNED)
        TRY(learned_rows(m, &rows));
    for (int64_t n = 0; n < m->layers; n++)
        mixed = mixed || m->layer[n].window || m->layer[n].recurs || !m->layer[n].kv_heads;
    for (int64_t n = 0; n < m->layers; n++)
        TRY(put_layer(m, p, n, rows, mixed));
    return PE_OK;
}

/* ---------------------------------------------------------------- T5 */

static pe_status add_t5_part(zoo_gguf *m, const char *name, int64_t layers, const char *direction)
{
    zoo_part *p;
    int64_t buckets;
    TRY(gguf_int(m, &buckets, "attention.relative_buckets_count", IO_REQUIRED, INT32_MAX));
    zoo_spec_start(m->spec, "t5");
    zoo_spec_int(m->spec, "buckets", buckets);
    zoo_spec_int(m->spec, "max", 128); /* llama_relative_position_bucket knows no other */
    zoo_spec_word(m->spec, "direction", direction);
    TRY(zoo_add_part(m->b, &p, name, m->prefix, layers));
    p->trained = m->trained;
    p->served = m->served;
    for (int64_t n = 0; n < layers; n++)
        TRY(zoo_set_layer(m->b, p, n, m->spec->text, shape_of(m, &m->layer[0]), "", 0));
    return PE_OK;
}

static pe_status gguf_add_t5(zoo_gguf *m)
{
    int64_t layers = m->blocks;
    bool alone = m->arch.flags & ARCH_ENCODER;
    TRY(gguf_int(m, &layers, "decoder_block_count", IO_OPTIONAL, ZOO_LAYERS_MAX));
    if (!alone)
        TRY(add_t5_part(m, "decoder", layers, "causal"));
    return add_t5_part(m, alone ? "" : "encoder", m->blocks, "both");
}

/* ---------------------------------------------------------------- the model */

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

/* With a linear scaling or an ntk one context_length may be the length before it or after it. */
static pe_status settle_trained(zoo_gguf *m, zoo_part *p)
{
    bool unsaid = false;
    if (m->found && !m->b->options->trained && p->trained == p->served) /* no key says it; the factors do */
        p->trained = m->found;
    if (m->b->options->trained || gguf_has(m, "rope.scaling.original_context_length"))
        return PE_OK;
    for (int g = 0; g < p->groups; g++)
        unsaid |= zoo_spec_row(p->group[g].spec) && zoo_spec_meets(p->group[g].spec, "scaling=linear|ntk");
    if (!unsaid)
        return PE_OK;
    p->trained = 0;
    return zoo_note_add(m->b, ZOO_FACT, m->key, GGUF_REF,
                        "no key gives the trained length: with this scaling context_length may be the length before or "
                        "after it; --trained N says it");
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
    return settle_trained(m, p);
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
