/* SPDX-License-Identifier: MIT */
#include "core/core.h"

int pe_info_count(void)
{
    return pe_row_count;
}

const pe_info *pe_info_at(int index)
{
    return index >= 0 && index < pe_row_count ? &pe_rows[index]->info : NULL;
}

static const char *bit_name(unsigned bit, const char *const *name, int count)
{
    for (int i = 0; i < count; i++)
        if (bit == 1u << i)
            return name[i];
    return NULL;
}

const char *pe_claim_name(unsigned claim)
{
    static const char *const name[PE_CLAIM_COUNT] = { "unique",     "any-length", "bounded", "linear",
                                                      "relative",   "norm",       "axes",    "symmetric",
                                                      "invertible", "endless",    "learned" };
    return bit_name(claim, name, COUNT_OF(name));
}

const char *pe_hook_name(unsigned hook)
{
    static const char *const name[] = { "embed", "rotate", "content", "bias", "value" };
    return bit_name(hook, name, COUNT_OF(name));
}

size_t pe_dtype_size(pe_dtype t)
{
    static const size_t size[PE_DTYPE_COUNT] = { 4, 2, 2, 8 };
    return (int)t >= 0 && t < PE_DTYPE_COUNT ? size[t] : 0;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char *pe_version(void)
{
    return TEXT(PE_VERSION_MAJOR) "." TEXT(PE_VERSION_MINOR) "." TEXT(PE_VERSION_PATCH);
}

pe_view pe_view_packed(void *data, pe_dtype dtype, int64_t tokens, int64_t heads, int64_t dim)
{
    return (pe_view){ data, dtype, tokens, heads, dim, 0, 0 };
}
