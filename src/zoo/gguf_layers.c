/* SPDX-License-Identifier: MIT
 *
 * Which layers have a window, which rotate, which do not attend at all. */
#include "zoo/gguf.h"

static pe_status read_window(zoo_gguf *m)
{
    bool fixed = m->window != 0; /* by a rule */
    if (!(m->arch.flags & ARCH_SWA) || fixed)
        return PE_OK;
    m->window = m->arch.window;
    bool may_lack = m->window || (m->arch.flags & ARCH_SWA_IF);
    ZOO_TRY(gguf_int(m, &m->window, "attention.sliding_window", may_lack ? IO_OPTIONAL : IO_REQUIRED, INT32_MAX));
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
    ZOO_TRY(gguf_each(m, windows, m->blocks, "attention.sliding_window_pattern", IO_REQUIRED, NULL));
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
        ZOO_TRY(zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                             "%s is an array, which llama.cpp does not read for this architecture; it takes a period "
                             "of %lld",
                             m->key, (long long)period));
    else
        ZOO_TRY(gguf_int(m, &period, "attention.sliding_window_pattern", IO_OPTIONAL, INT32_MAX));
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
    ZOO_TRY(gguf_each(m, recurs, m->blocks, "attention.recurrent_layers", IO_OPTIONAL, &found));
    ZOO_TRY(gguf_int(m, &interval, "full_attention_interval", IO_OPTIONAL, INT32_MAX));
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
    bool turns = true;
    ZOO_TRY(io_gguf_bool(&turns, m->g, gguf_key(m, "rope.scaling.finetuned"), IO_OPTIONAL, m->b->err));
    if (!turns)
        m->arch.layout = LAYOUT_NONE;
    return PE_OK;
}

pe_status gguf_mark_layers(zoo_gguf *m)
{
    if (m->arch.flags & ARCH_FINETUNED)
        ZOO_TRY(mark_finetuned(m));
    ZOO_TRY(read_window(m));
    if (m->arch.flags & ARCH_SWA)
        ZOO_TRY(mark_windows(m));
    if (m->arch.interval)
        ZOO_TRY(mark_recurrent(m));
    if (m->arch.flags & ARCH_NOPE_4TH)
        m->nope = 4;
    mark_unrotated(m);
    return PE_OK;
}
