/* SPDX-License-Identifier: MIT
 * max_len: 1024
 *
 * llama2.c tokenizers: tokens that lie in the file, or an error; and a text that they cut into no more pieces than it
 * has bytes. */
#include "harness.h"
#include "model/tokens.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const tokens *t, const uint8_t *text, size_t text_size)
{
    pe_error err;
    int32_t *token;
    int64_t count;
    size_t size;
    if (tokens_encode(&token, &count, t, text, text_size, &err))
        return;
    if (count < 1 || (size_t)count > text_size + 2)
        harness_fail("%zu bytes are %lld tokens", text_size, (long long)count);
    for (int64_t n = 1; n < count; n++) {
        if (token[n] < 0 || token[n] >= tokens_count(t))
            harness_fail("token %lld is %d of %lld", (long long)n, token[n], (long long)tokens_count(t));
        const uint8_t *piece = tokens_piece(&size, t, token[n - 1], token[n]);
        uint8_t sum = 0;
        for (size_t i = 0; i < size; i++)
            sum = (uint8_t)(sum + piece[i]); /* all of it can be read */
        (void)sum;
    }
    free(token);
}

static void work(const uint8_t *data, size_t size)
{
    static const char text[] = "abc ab cab aa bca";
    pe_error err;
    tokens *t;
    io_bytes file = harness_bytes(data, size);
    file.name = "input";
    if (tokens_parse(&t, &file, &err))
        return;
    check_text(t, (const uint8_t *)text, sizeof text - 1);
    check_text(t, data, size < 64 ? size : 64);
    tokens_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
