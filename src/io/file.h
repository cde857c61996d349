/* SPDX-License-Identifier: MIT */
#ifndef POSENC_IO_FILE_H
#define POSENC_IO_FILE_H

#include "io.h"

/* A regular file to read, and how long it is. The caller closes *fd, after a success only. */
pe_status io_open_file(int *fd, int64_t *size, const char *path, pe_error *err);
/* size bytes from offset on, all of them. */
pe_status io_read_at(void *to, size_t size, int64_t offset, int fd, const char *path, pe_error *err);

#endif
