/* SPDX-License-Identifier: MIT
 *
 * A model that posenc trained, in one file: a sealed .safetensors. Its metadata is io_model (io.h); its tensors are the
 * model's by their names. With 8 bits a matrix of weights is whole numbers from -127 to 127, I8, and NAME.scale, F32,
 * has a number for each row that they are multiplied by; norms and what belongs to positions stay F32, as all does with
 * 32 bits. The file is untrusted: no more memory is asked for than its own size justifies.
 *
 *     model_save("rope.safetensors", m, &about, 8, &err);
 *     model_parse(&m, &about, &bytes, pool, &err);     bytes in memory in, a model out: no file, no thread
 *     model_logits(m, logits, token, n, &err);         the next token; tokens are bytes of text
 *     model_look(m, token, n, &inside, &err);          attention of each layer and head
 *     model_losses(m, &batch, losses, right, &err);    by position
 *     model_use(m, "rope:scaling=yarn,...", &err);     another encoding over the same weights
 */
#ifndef POSENC_MODEL_FILE_H
#define POSENC_MODEL_FILE_H

#include "io/io.h"
#include "model/model.h"

#define MODEL_FILE_BYTES 256 /* of a vocabulary: tokens are bytes of text */

/* bits: 8 or 32. Of `about` the trained length, steps, seed, data; the rest is the model's own. A model that posenc
 * cannot train, or whose weights are not finite, is refused. */
pe_status model_save(const char *path, model *m, const io_model *about, int bits, pe_error *err);
/* Takes file->data over, whatever comes of it: *file is empty afterwards. about, or NULL: its header without data; spec
 * lives as long as the model. */
pe_status model_parse(model **out, io_model *about, io_bytes *file, const pe_pool *pool, pe_error *err);
/* The same of a file. */
pe_status model_open_file(model **out, io_model *about, const char *path, const pe_pool *pool, pe_error *err);

#endif
