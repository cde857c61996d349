/* SPDX-License-Identifier: MIT
 *
 * The readers of weight files. Each puts parts and notes into b, whose model.path names the file; zoo_finish follows.
 */
#ifndef POSENC_ZOO_READ_H
#define POSENC_ZOO_READ_H

#include "zoo/build.h"

/* What llama.cpp computes from this file, which is what a GGUF means. A float32 of the file stands for the shortest
 * decimal that rounds to it, the number that was written: 0.707, not 0.7070000171661377. */
pe_status zoo_read_gguf(zoo_builder *b, const io_gguf *g);
pe_status zoo_read_llama2c(zoo_builder *b, const io_llama2c *h);
pe_status zoo_read_posenc(zoo_builder *b, const io_safetensors *st);
/* What names, shapes and stored frequencies say, where there is no config.json. */
pe_status zoo_read_tensors(zoo_builder *b, const io_safetensors *st);

/* The shortest decimal that rounds to x in float32. */
double zoo_written(float x);

#endif
