/* SPDX-License-Identifier: MIT */
#ifndef POSENC_IO_SAFETENSORS_H
#define POSENC_IO_SAFETENSORS_H

#include "io.h"

#define IO_SAFETENSORS_HEADER_CAP 100000000u /* MAX_HEADER_SIZE of the reference */

struct io_safetensors {
    io_bytes file;       /* all of it; of one that is only open, what comes before the data */
    io_file source;      /* fd -1: all of it is loaded */
    char *path;          /* source's name; NULL: none */
    const uint8_t *data; /* what the offsets count from; NULL: only open */
    uint64_t data_at, data_size;
    io_tensor *tensors; /* sorted by name once open */
    size_t count, room;
    io_pair *meta;
    size_t meta_count, meta_room;
};

/* What is written before the data: __metadata__, then tensors as their bytes follow one another. */
typedef struct io_layout {
    const io_pair *meta;
    size_t pairs;
    const io_tensor *const *tensors;
    size_t count;
    uint64_t data_at; /* what the tensors' offsets count from */
} io_layout;

/* Writes size and sum into the head of a file of such data: false where the head has no place for them. */
bool io_safetensors_seal(io_bytes *head, const io_span *data, size_t count);

#endif
