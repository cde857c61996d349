/* SPDX-License-Identifier: MIT */
#include "core/spec.h"

int pe_info_count(void)
{
    return pe_row_count;
}

const pe_info *pe_info_at(int index)
{
    return index >= 0 && index < pe_row_count ? &pe_rows[index]->info : NULL;
}

const pe_key *pe_info_key(const pe_info *info, int index)
{
    for (int i = 0; info && i < pe_row_count; i++)
        if (&pe_rows[i]->info == info)
            return index >= 0 && index < info->key_count ? &pe_rows[i]->keys[index] : NULL;
    return NULL;
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
    static const char *const name[] = { "unique", "any-length", "bounded",    "linear",  "relative", "norm",
                                        "axes",   "symmetric",  "invertible", "endless", "learned" };
    return bit_name(claim, name, COUNT_OF(name));
}

const char *pe_hook_name(unsigned hook)
{
    static const char *const name[] = { "embed", "rotate", "content", "bias", "value" };
    return bit_name(hook, name, COUNT_OF(name));
}

static const struct {
    const char *name, *advice;
} ideas[] = {
    [PE_IDEA_NONE] = { "none",
                       "For layers between others that have an encoding, and as the baseline of a comparison: a "
                       "causal mask alone tells some of the order." },
    [PE_IDEA_ABSOLUTE] = { "absolute",
                           "For encoders, pictures and time steps whose length is known: added once, before "
                           "the first layer; past the trained length quality is lost." },
    [PE_IDEA_ROTATION] = { "rotation", "For language models: positions become angles, and where nothing is learned the "
                                       "attention kernel stays as it is and keys can be moved in the cache; longer "
                                       "contexts usually need a scaling." },
    [PE_IDEA_BIAS] = { "bias", "For sequences longer than those of training: a number by distance, from a formula or "
                               "trained, is added to each score; a table of offsets ends with its window." },
    [PE_IDEA_CONTENT] = { "content", "Where the meaning of a distance depends on the word, as in encoders, translation "
                                     "and music: each query or key meets a vector by distance, which costs more." },
    [PE_IDEA_DATA] = { "data-dependent", "Where the text itself says what is near or to be forgotten, such as the n-th "
                                         "sentence back: what is added to a score is computed from the tokens." },
};

const char *pe_idea_name(pe_idea idea)
{
    return (int)idea >= 0 && (int)idea < COUNT_OF(ideas) ? ideas[idea].name : NULL;
}

const char *pe_idea_advice(pe_idea idea)
{
    return (int)idea >= 0 && (int)idea < COUNT_OF(ideas) ? ideas[idea].advice : NULL;
}

size_t pe_dtype_size(pe_dtype t)
{
    static const size_t size[PE_BOOL + 1] = {
        [PE_F32] = 4, [PE_F16] = 2, [PE_BF16] = 2, [PE_F64] = 8, [PE_I64] = 8, [PE_I32] = 4, [PE_BOOL] = 1
    };
    return (int)t >= 0 && t <= PE_BOOL ? size[t] : 0;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char *pe_version(void)
{
    return TEXT(PE_VERSION_MAJOR) "." TEXT(PE_VERSION_MINOR) "." TEXT(PE_VERSION_PATCH);
}

bool pe_agrees(int major, int minor)
{
    return major == PE_VERSION_MAJOR && (major ? minor <= PE_VERSION_MINOR : minor == PE_VERSION_MINOR);
}

/* Sizes that do not fit together are left for the door of the call to refuse. */
static int64_t product(int64_t a, int64_t b)
{
    int64_t n;
    return checked_mul(&n, a, b) ? n : INT64_MAX;
}

pe_view pe_view_of(void *data, pe_dtype dtype, int64_t batch, int64_t tokens, int64_t heads, int64_t dim)
{
    return (pe_view){ data, dtype, batch, tokens, heads, dim, product(tokens, product(heads, dim)), product(heads, dim),
                      dim };
}

pe_positions pe_positions_of(const void *data, pe_dtype dtype, int64_t batch, int64_t tokens, int64_t axes)
{
    return (pe_positions){ data, dtype, batch, tokens, axes, product(tokens, axes), axes, 1, 0, 0 };
}

pe_positions pe_positions_run(int64_t batch, int64_t tokens, int64_t start)
{
    return (pe_positions){ .dtype = PE_I64, .batch = batch, .tokens = tokens, .start = start, .step = 1 };
}
