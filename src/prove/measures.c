/* SPDX-License-Identifier: MIT */
#include "prove/measures.h"

#include "zoo/look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pe_status measure_open_head(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err)
{
    prove_given one = *g;
    one.heads = 1;
    one.model_dim = g->head_dim;
    if (g->head_dim < 1 || g->head_dim > MEASURE_HEAD_MAX)
        return io_fail(err, PE_ERR_SHAPE, "head_dim is %lld; needs 1 to %d", (long long)g->head_dim, MEASURE_HEAD_MAX);
    return measure_open(m, spec, &one, err);
}

prove_given measure_at_width(const prove_given *g, int64_t width)
{
    prove_given one = *g;
    one.heads = 1;
    one.head_dim = one.model_dim = width;
    return one;
}

measure_text measure_named(const char *before, double n)
{
    measure_text t;
    snprintf(t.is, sizeof t.is, "%s%.9g", before, n);
    return t;
}

/* ------------------------------------------------ how far a spec reaches */

/* The key that makes a row reach further, where it has a meaning without others. */
static const pe_key *reach_key(const pe_info *row)
{
    const char *name = row ? row->key_length ? row->key_length : row->key_trained : NULL;
    for (int n = 0; name && n < row->key_count; n++)
        if (!strcmp(pe_info_key(row, n)->name, name))
            return pe_info_key(row, n)->when ? NULL : pe_info_key(row, n);
    return NULL;
}

/* Whether the last token of a text has a code, and may look at the first. */
static bool serves(const measure_encoding *m, double *room, int64_t length)
{
    int64_t axes = pe_encoding_axes(m->e), H = m->shape.heads, D = m->shape.head_dim;
    int64_t last[PE_AXES_MAX] = { 0 }, first[PE_AXES_MAX] = { 0 };
    measure_place_one(last, length - 1, length, axes);
    pe_positions q = pe_positions_of(last, PE_I64, 1, 1, axes), k = pe_positions_of(first, PE_I64, 1, 1, axes);
    pe_view x = pe_view_of(room, PE_F64, 1, 1, H, D);
    pe_attention a = PE_MAKE(pe_attention, .q = x, .k = x, .q_at = q, .k_at = k);
    bool ok = !pe_embed(m->e, pe_view_of(room + H * D, PE_F64, 1, 1, 1, measure_width(m)),
                        pe_view_of(room + H * D, PE_F64, 1, 1, 1, m->shape.model_dim), q,
                        &PE_MAKE(pe_run, .params = m->w), NULL) ||
              measure_width(m) != m->shape.model_dim;
    pe_status status = ok ? zoo_look(m->e, a, m->w, NULL) : PE_ERR_POSITION;
    return !status || status == PE_ERR_NOMEM; /* without memory, whoever opens it will say so */
}

static bool reaches(const char *spec, const prove_given *g, int64_t length)
{
    measure_encoding m;
    if (measure_open(&m, spec, g, NULL))
        return true; /* whoever opens it will say why not */
    double *room = measure_memory(m.shape.heads * m.shape.head_dim + measure_width(&m), 1, NULL);
    bool ok = !room || serves(&m, room, length);
    free(room);
    measure_close(&m);
    return ok;
}

measure_text measure_reaching(const char *spec, const prove_given *g, int64_t length)
{
    measure_text t;
    const pe_key *k = strchr(spec, ':') || strchr(spec, '+') ? NULL : reach_key(measure_row(spec));
    long long side = (long long)ceil(sqrt((double)length));
    if (!k || reaches(spec, g, length))
        snprintf(t.is, sizeof t.is, "%s", spec);
    else if (k->kind == PE_KEY_LIST && strchr(k->fallback, '/'))
        snprintf(t.is, sizeof t.is, "%s:%s=%lld/%lld", spec, k->name, side, side);
    else
        snprintf(t.is, sizeof t.is, "%s:%s=%lld", spec, k->name, (long long)length);
    return t;
}

void measure_place_one(int64_t *at, int64_t t, int64_t tokens, int64_t axes)
{
    int64_t side = (int64_t)ceil(pow((double)tokens, 1 / (double)axes) - 1e-9);
    for (int64_t a = axes; a-- > 0; t /= side)
        at[a] = axes > 1 ? t % side : t;
}

void measure_place(int64_t *at, int64_t tokens, int64_t axes)
{
    for (int64_t t = 0; t < tokens; t++)
        measure_place_one(at + t * axes, t, tokens, axes);
}

/* ------------------------------------------------ rows that pass */

void measure_count(measure_tally *t, bool good)
{
    if (good)
        t->good++;
    else
        t->bad++;
}

void measure_conclude(const measure_tally *t, words what, const words because[PROVE_VERDICT_COUNT])
{
    prove_verdict v = !t->bad ? PROVE_HOLDS : !t->good ? PROVE_REFUTED : PROVE_DEPENDS;
    if (t->good + t->bad > 1) /* of one row its own number is told */
        measure_add_first(t->out, what, measure_named("/ ", t->good + t->bad).is, t->bad, "");
    prove_say(t->out, v, because[v]);
}

void measure_first(prove_finding *out)
{
    prove_number first = out->number[out->count - 1];
    memmove(out->number + 1, out->number, (size_t)(out->count - 1) * sizeof first);
    out->number[0] = first;
}

void measure_add_first(prove_finding *out, words what, const char *of, double value, const char *unit)
{
    if (out->count == PROVE_NUMBERS_MAX)
        out->count--;
    prove_add(out, what, of, value, unit);
    measure_first(out);
}
