/* SPDX-License-Identifier: MIT
 *
 * A GGUF file as a model: its keys, its architecture's row, its layers. */
#include "zoo/gguf.h"

#include <string.h>

#define NAME_MAX_LENGTH 100 /* zoo_gguf.key holds this and the longest suffix */

static pe_status check_type(zoo_builder *b, const io_gguf *g)
{
    const char *type = "model";
    ZOO_TRY(io_gguf_string(&type, g, "general.type", IO_OPTIONAL, b->err));
    if (strcmp(type, "adapter") && strcmp(type, "imatrix"))
        return PE_OK;
    return io_fail(b->err, PE_ERR_FORMAT,
                   "%s: general.type is %s: it says nothing about positions; give the model's "
                   "file",
                   b->model.path, type);
}

static pe_status check_split(zoo_builder *b, const io_gguf *g)
{
    int64_t part = 0;
    io_gguf_value v;
    ZOO_TRY(io_gguf_int(&part, g, "split.no", IO_OPTIONAL, (io_int_range){ 0, 65535 }, b->err));
    if (part == 0 || io_gguf_find(&v, g, "general.architecture"))
        return PE_OK;
    return io_fail(b->err, PE_ERR_FORMAT, "%s: is part %lld of several; the first one has the keys", b->model.path,
                   (long long)part + 1);
}

static pe_status find_arch(zoo_gguf *m)
{
    const zoo_options *o = m->b->options;
    ZOO_TRY(io_gguf_string(&m->prefix, m->g, "general.architecture", IO_REQUIRED, m->b->err));
    if (strlen(m->prefix) > NAME_MAX_LENGTH)
        return io_fail(m->b->err, PE_ERR_FORMAT, "%s: general.architecture is longer than %d characters",
                       m->b->model.path, NAME_MAX_LENGTH);
    const char *name = o->type ? o->type : m->prefix;
    m->row = zoo_arch_find(name);
    m->arch = m->row ? *m->row : (zoo_arch){ .name = name };
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
    ZOO_TRY(gguf_read_factors(m));
    ZOO_TRY(gguf_mark_layers(m));
    ZOO_TRY(zoo_add_part(m->b, &p, "", m->prefix, m->layers));
    p->trained = m->trained;
    p->served = m->served;
    ZOO_TRY(gguf_put_layers(m, p));
    if (m->found && !m->b->options->trained && p->trained == p->served) /* no key says it; the factors do */
        p->trained = m->found;
    return PE_OK;
}

pe_status zoo_read_gguf(zoo_builder *b, const io_gguf *g)
{
    ZOO_TRY(check_type(b, g));
    ZOO_TRY(check_split(b, g));
    zoo_gguf *m = zoo_alloc(b, 1, sizeof *m);
    if (!m)
        return PE_ERR_NOMEM;
    *m = (zoo_gguf){ .b = b, .g = g };
    m->spec = zoo_alloc(b, 1, sizeof *m->spec);
    if (!m->spec)
        return PE_ERR_NOMEM;
    ZOO_TRY(find_arch(m));
    if (m->arch.rule == zoo_rule_clip) /* it has none of the keys */
        return zoo_rule_clip(m);
    ZOO_TRY(settle_unknown(m));
    ZOO_TRY(gguf_read_keys(m));
    if (m->arch.rule)
        ZOO_TRY(m->arch.rule(m));
    ZOO_TRY(m->arch.flags & ARCH_T5 ? gguf_add_t5(m) : add_part(m));
    return gguf_note_unread(m);
}
