/* SPDX-License-Identifier: MIT
 *
 * What every fuzz target shares. A target is one file, fuzz/fuzz_NAME.c, with a folder of seeds, fuzz/corpus/NAME/ (and
 * perhaps fuzz/dict/NAME.dict); nothing else names it. It defines
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
 *     {
 *         return harness_run(&harness_reader, work, data, size);
 *     }
 *
 * and is linked with libFuzzer (make fuzz) or with replay.c (make test). A comment near its top may say
 *     max_len: 4096
 */
#ifndef POSENC_HARNESS_H
#define POSENC_HARNESS_H

#include "io/io.h"

/* What one input of n bytes may cost. */
typedef struct harness_bound {
    size_t heap_per_byte, heap_base;      /* at its peak */
    /* Of CPU, and held to only where POSENC_TEST_CLOCK is set, as make fuzz does: tests depend on no machine's speed.
     * Sanitizers get HARNESS_SLOWER times as much. */
    double seconds_per_mib, seconds_base;
} harness_bound;

/* The promise of every reader of files: 4n + 1 MiB, 1 s per MiB; and 50 ms for whatever the machine does meanwhile. */
extern const harness_bound harness_reader;

/* work(data, size), with its heap and time held to the bound and everything freed at its end; aborts where it is not.
 */
int harness_run(const harness_bound *b, void (*work)(const uint8_t *, size_t), const uint8_t *data, size_t size);

/* Says what is wrong with the property under test, and aborts. */
void harness_fail(const char *format, ...) IO_PRINTF(1, 2);

/* The input as a file that was read: a copy with a 0 behind it, the caller's to free. */
io_bytes harness_bytes(const uint8_t *data, size_t size);

/* stdout and stderr of the code under test go nowhere; the harness, the fuzzer and sanitizers are still heard. */
void harness_be_quiet(void);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
