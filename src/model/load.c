/* SPDX-License-Identifier: MIT
 *
 * Which loader, and what they share. */
#include "model/load.h"

#include <stdlib.h>
#include <string.h>

pe_status model_load(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err)
{
    *out = NULL;
    if (!strcmp(zoo->format, "llama2.c"))
        return model_load_llama2c(out, zoo, pool, err);
    if (!strcmp(zoo->format, "config.json"))
        return model_load_folder(out, zoo, pool, err);
    return io_fail(err, PE_ERR_FORMAT,
                   "%s: weights of %s files are not read; needs a llama2.c .bin, or a folder with config.json and "
                   "model.safetensors",
                   zoo->path, zoo->format);
}

pe_status model_load_group(const zoo_group **group, const zoo_model *zoo, pe_error *err)
{
    const zoo_part *part = &zoo->part[0];
    if (part->groups != 1)
        return io_fail(err, PE_ERR_FORMAT,
                       "%s: its layers have %d encodings; one for all layers is what can be evaluated", zoo->path,
                       part->groups);
    for (int64_t n = 0; n < part->layers; n++)
        if (part->layer[n].window)
            return io_fail(err, PE_ERR_FORMAT,
                           "%s: layer %lld sees a window of %lld keys; layers that see everything are what can be "
                           "evaluated",
                           zoo->path, (long long)n, (long long)part->layer[n].window);
    *group = &part->group[0];
    return PE_OK;
}

real *model_load_target(model *m, const char *name)
{
    const model_tensor *t = model_tensor_find(m, name);
    return t ? model_weights(m) + t->offset : NULL;
}

pe_status model_load_convert(real *to, const void *bytes, io_type type, int64_t count, pe_error *err)
{
    union {
        const void *from;
        void *to;
    } data = { .from = bytes }; /* an io_array may point anywhere; it is only read */
    io_array a = { .data = data.to, .type = type, .rank = 1, .shape = { count }, .count = count };
    float *copy;
    pe_status s = io_array_to_f32(&copy, &a, err);
    for (int64_t n = 0; s == PE_OK && n < count; n++)
        to[n] = (real)copy[n];
    free(copy);
    return s;
}
