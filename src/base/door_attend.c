/* SPDX-License-Identifier: MIT */
#include "base/door.h"

#include <inttypes.h>

pe_status check_packed(const pe_lengths *l, const char *name, pe_view v, pe_error *err)
{
    if (l->length)
        return pe_fail(err, PE_ERR_UNSUITED, "%s has length and offset; needs one of them, or none", name);
    if (l->sequences < 0 || l->sequences > PE_POSITION_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "%s: sequences is %" PRId64 "; needs 0 to 2^36", name, l->sequences);
    if (v.batch != 1)
        return pe_fail(err, PE_ERR_SHAPE, "%s: sequences that are packed lie in a view of batch 1; it is %" PRId64,
                       name, v.batch);
    return PE_OK;
}

pe_status check_as_many(int64_t queries, int64_t keys, pe_error *err)
{
    if (keys != queries)
        return pe_fail(err, PE_ERR_SHAPE,
                       "there are %" PRId64 " sequences of queries and %" PRId64 " of keys; needs as many of both",
                       queries, keys);
    return PE_OK;
}

pe_status check_padded(const pe_attention *a, const char *name, pe_error *err)
{
    if (a->q_lengths.offset || a->k_lengths.offset)
        return pe_fail(err, PE_ERR_UNSUITED, "%s is given and sequences are packed; give them in a padded view", name);
    return PE_OK;
}

static pe_status check_mask_view(const pe_attention *a, pe_view *v, const char *name, extent size, const dtypes *types,
                                 pe_error *err)
{
    if (!v->data)
        return PE_OK;
    TRY(check_padded(a, name, err));
    TRY(check_typed(v, name, (extent){ -1, -1, -1, size.dim }, types, READS, err));
    const struct {
        const char *what;
        int64_t is, all;
    } sizes[] = { { "batch", v->batch, size.batch },
                  { "tokens", v->tokens, size.tokens },
                  { "heads", v->heads, size.heads } };
    for (int i = 0; i < 3; i++)
        if (sizes[i].is != 1 && sizes[i].is != sizes[i].all)
            return pe_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs 1 or %" PRId64, name, sizes[i].what,
                           sizes[i].is, sizes[i].all);
    return PE_OK;
}

pe_status check_mask(pe_attention *a, extent size, const dtypes *keep, const dtypes *additive, pe_error *err)
{
    pe_mask *m = &a->mask;
    const struct {
        const char *name;
        int64_t is;
        bool position;
    } number[] = { { "keys_before", m->keys_before, true },
                   { "keys_after", m->keys_after, true },
                   { "window", m->window, false },
                   { "first_keys", m->first_keys, false } };
    for (int i = 0; i < 4; i++)
        if (number[i].is < 0 || (number[i].position && number[i].is > PE_POSITION_MAX))
            return pe_fail(err, PE_ERR_RANGE, "mask: %s is %" PRId64 "; needs 0 (none) %s", number[i].name,
                           number[i].is, number[i].position ? "to 2^36" : "or more");
    if ((int)m->align < PE_ALIGN_END || m->align > PE_ALIGN_POSITION)
        return pe_fail(err, PE_ERR_RANGE, "mask: align is %d; needs PE_ALIGN_END, PE_ALIGN_START or PE_ALIGN_POSITION",
                       (int)m->align);
    TRY(check_mask_view(a, &m->keep, "mask.keep", size, keep, err));
    return check_mask_view(a, &m->additive, "mask.additive", size, additive, err);
}
