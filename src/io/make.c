/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>

pe_status io_make_file(const char *folder, const char *name, io_make *make, const void *with, pe_error *err)
{
    char path[4200], *text = NULL;
    size_t size = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return io_fail(err, PE_ERR_RANGE, "%.60s...: the folder's name is too long", folder);
    FILE *to = open_memstream(&text, &size);
    pe_status s = to ? make(to, with, err) : PE_OK;
    bool whole = to && !ferror(to);
    whole = to && !fclose(to) && whole;
    if (s == PE_OK)
        s = whole ? io_write_file(path, &(io_span){ text, size }, 1, err)
                  : io_fail(err, PE_ERR_NOMEM, "%s: no memory for it", path);
    free(text);
    return s;
}
