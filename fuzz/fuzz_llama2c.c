/* SPDX-License-Identifier: MIT
 * max_len: 512
 *
 * llama2.c headers: sizes that agree with the file's, or an error. The last bytes of the input say how long the file
 * is. */
#include "harness.h"
#include "zoo/read.h"

#include <string.h>

static void work(const uint8_t *data, size_t size)
{
    pe_error err;
    io_llama2c h;
    uint64_t file_size = size;
    zoo_model *m;
    io_bytes file = harness_bytes(data, size);
    if (size > 8 && data[size - 1] == 'L')
        memcpy(&file_size, data + size - 8, 7);
    if (!io_llama2c_parse(&h, file.data, size, file_size, "input", &err)) {
        if (h.layers < 1 || h.heads < 1 || h.dim % h.heads)
            harness_fail("%lld layers, %lld heads of a width of %lld", (long long)h.layers, (long long)h.heads,
                         (long long)h.dim);
        zoo_builder *b = zoo_begin("input", "llama2.c", NULL, &err);
        if (b && !zoo_finish(&m, b, zoo_read_llama2c(b, &h)))
            zoo_free(m);
    }
    io_bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
