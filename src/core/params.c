/* SPDX-License-Identifier: MIT
 *
 * Learned parameters: what they are and how they start. */
#include "core/door.h"
#include "core/encoding.h"

#include "base/random.h"

#include <stdio.h>

int64_t pe_encoding_param_count(const pe_encoding *e)
{
    return e ? e->param_count : 0;
}

int pe_encoding_tensor_count(const pe_encoding *e)
{
    int count = 0;
    for (int i = 0; e && i < e->parts; i++)
        count += e->part[i].tensors;
    return count;
}

const pe_tensor *pe_encoding_tensor(const pe_encoding *e, int index)
{
    return e && index >= 0 && index < pe_encoding_tensor_count(e) ? &e->tensor[index] : NULL;
}

/* The second part of a row has t5-2.table. */
static void tensor_name(const pe_encoding *e, int part_at, const char *name, char out[40])
{
    const row *r = e->part[part_at].row;
    int before = 0;
    for (int n = 0; n < part_at; n++)
        before += e->part[n].row == r;
    if (before)
        snprintf(out, 40, "%s-%d.%s", r->info.name, before + 1, name);
    else if (e->parts > 1)
        snprintf(out, 40, "%s.%s", r->info.name, name);
    else
        snprintf(out, 40, "%s", name);
}

void params_tell(pe_encoding *e)
{
    pe_tensor *out = e->tensor;
    for (int i = 0; i < e->parts; i++)
        for (int n = 0; n < e->part[i].tensors; n++, out++) {
            const tensor *t = &e->part[i].tensor[n];
            bool bounded = t->min < t->max;
            *out = (pe_tensor){ .rank = t->rank,
                                .offset = t->offset,
                                .count = t->count,
                                .about = t->about,
                                .hooks = e->part[i].hooks & ~(e->part[i].trained ? 0u : PE_HOOK_ROTATE),
                                .projected = t->projected,
                                .min = bounded ? t->min : -INFINITY,
                                .max = bounded ? t->max : INFINITY,
                                .rate = t->rate > 0 ? t->rate : 1,
                                .decay = t->decay };
            for (int d = 0; d < t->rank; d++)
                out->shape[d] = t->shape[d];
            tensor_name(e, i, t->name, out->name);
        }
}

double params_first(const part *p, int t, int64_t i, uint64_t seed)
{
    const tensor *x = &p->tensor[t];
    uint64_t n = (uint64_t)(x->offset + i);
    switch (x->fill) {
    case FILL_NORMAL: return x->a * random_normal(seed, n);
    case FILL_UNIFORM: return x->a + (x->b - x->a) * random_uniform(seed, n * 12);
    case FILL_CONSTANT: return x->a;
    default: return p->row->fill(p, t, i) + (x->a != 0 ? x->a * random_normal(seed, n) : 0);
    }
}

pe_status pe_encoding_init(const pe_encoding *e, pe_params w, uint64_t seed, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_block(w, "params", e->param_count, "as pe_encoding_param_count says", false, err));
    for (int i = 0; i < e->parts; i++)
        for (int t = 0; t < e->part[i].tensors; t++)
            for (int64_t n = 0; n < e->part[i].tensor[t].count; n++)
                num_store(w.data, w.dtype, e->part[i].tensor[t].offset + n, params_first(&e->part[i], t, n, seed));
    return pe_pass(err);
}
