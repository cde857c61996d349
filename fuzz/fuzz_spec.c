/* SPDX-License-Identifier: MIT
 * max_len: 1024
 *
 * The spec grammar: any text makes an encoding or a sentence; a canonical text reads back as itself. */
#include "harness.h"

#include <string.h>

/* A number costs at most 25 characters when printed and 8 bytes when kept; 280 powers of ten when read. */
static const harness_bound bound = { 64, 1 << 20, 30, 0.05 };

static const pe_shape shapes[] = { { 8, 8, 64, 512 }, { 4, 2, 16, 0 }, { 1, 0, 6, 0 } };

static void check(const char *spec, pe_shape shape)
{
    pe_encoding *e, *again;
    pe_error err = { 0 };
    pe_status s = pe_encoding_new(&e, spec, shape, &err);
    if ((s != PE_OK) != (e == NULL) || s != err.status || (s && !*err.text) || !memchr(err.text, 0, sizeof err.text))
        harness_fail("'%s': status %d, sentence '%.200s'", spec, (int)s, err.text);
    if (s)
        return;
    const char *text = pe_encoding_spec(e);
    if (pe_encoding_new(&again, text, shape, &err))
        harness_fail("'%s' becomes '%s', which is refused: %s", spec, text, err.text);
    if (strcmp(pe_encoding_spec(again), text) || pe_encoding_fingerprint(again) != pe_encoding_fingerprint(e))
        harness_fail("'%s' becomes '%s', which becomes '%s'", spec, text, pe_encoding_spec(again));
    pe_encoding_free(again);
    pe_encoding_free(e);
}

static void work(const uint8_t *data, size_t size)
{
    io_bytes text = harness_bytes(data, size);
    check((const char *)text.data, shapes[size % (sizeof shapes / sizeof *shapes)]); /* one is enough, and faster */
    io_bytes_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&bound, work, data, size);
}
