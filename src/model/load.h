/* SPDX-License-Identifier: MIT
 *
 * Trained models from their files: posenc's own (model/file.h), llama2.c .bin (versions 0 and 1), and Hugging Face
 * folders of the Llama and BLOOM architectures: config.json with model.safetensors or model.safetensors.index.json and
 * its shards; F32, F16 or BF16. The encoding is what zoo_open says of the same files. Files are untrusted: every shape is held against the config
 * before memory is asked for.
 *
 *     zoo_open(&zoo, path, &(zoo_options){ 0 }, &err);
 *     model_load(&m, zoo, pool, &err);
 */
#ifndef POSENC_MODEL_LOAD_H
#define POSENC_MODEL_LOAD_H

#include "model/model.h"
#include "zoo/zoo.h"

/* zoo may be freed afterwards. */
pe_status model_load(model **out, const zoo_model *zoo, const pe_pool *pool, pe_error *err);

/* ---------------------------------------------------------------- in parts */

#define MODEL_SHARDS_MAX 512

/* Tensors of one or several open files; a name is looked up as prefix + name. */
typedef struct model_shards {
    const io_safetensors *file[MODEL_SHARDS_MAX];
    int count;
    const char *prefix; /* NULL: none */
} model_shards;

/* A Hugging Face model whose config and tensors are at hand. */
pe_status model_load_hf(model **out, const io_node *config, const zoo_model *zoo, const model_shards *from,
                        const pe_pool *pool, pe_error *err);

/* What every layer has to share for this model: one spec, no window. *group: of the part that speaks. */
pe_status model_load_group(const zoo_group **group, const zoo_model *zoo, pe_error *err);
/* Where elements go: the tensor of this name; it has been made by model_new, so that it is there. */
real *model_load_target(model *m, const char *name);
/* Elements of a file's type, at most MODEL_LOAD_PIECE of them, as ours. */
#define MODEL_LOAD_PIECE ((int64_t)1 << 16)
pe_status model_load_convert(real *to, const void *bytes, io_type type, int64_t count, pe_error *err);

#endif
