/* SPDX-License-Identifier: MIT
 *
 * Buffers, and the three ways over memory that others are measured by: copy, scale in place, read. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/block.h"
#include "base/num.h"
#include "base/random.h"

#define PIECES 4          /* per worker, so that a late one does not hold up the rest */
#define ALONE (256 << 10) /* bytes below which waking threads costs more than they bring */

void *buffer(int64_t bytes)
{
    void *p = NULL;
    size_t size = ((size_t)bytes + 1023) / 1024 * 1024;
    if (posix_memalign(&p, 4096, size)) {
        fprintf(stderr, "posenc-bench: %lld bytes of memory are not to be had; --quick needs less\n", (long long)bytes);
        exit(4);
    }
    memset(p, 0, size);
    return p;
}

/* A pattern of 64 Ki elements over and over: what numbers they are makes no difference to the time, NaN and denormals
 * would. */
void fill(void *data, pe_dtype type, int64_t count, uint64_t seed)
{
    int64_t pattern = count < 65536 ? count : 65536, width = block_kind(type) ? BLOCK_WIDTH : 1;
    for (int64_t i = 0; i < pattern; i += width) {
        float x[BLOCK_WIDTH];
        for (int64_t j = 0; j < width; j++)
            x[j] = (float)(2 * random_uniform(seed, (uint64_t)(i + j)) - 1);
        if (width > 1)
            block_store((char *)data + dtype_bytes(type, i), x, type);
        else
            num_store(data, type, i, (double)x[0]);
    }
    for (int64_t i = pattern; i < count; i += pattern) {
        int64_t n = count - i < pattern ? count - i : pattern;
        memcpy((char *)data + dtype_bytes(type, i), data, (size_t)dtype_bytes(type, n));
    }
}

int64_t memory_left(void)
{
    int64_t kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && !kib && fgets(line, sizeof line, f))
        if (!strncmp(line, "MemAvailable:", 13))
            kib = strtoll(line + 13, NULL, 10);
    if (f)
        fclose(f);
    return kib ? kib << 10 : INT64_C(4) << 30;
}

static bool alone(const memory_job *j)
{
    return !j->pool || (j->bytes < ALONE && j->rounds <= 1);
}

static void once(const memory_job *j, int64_t from, int64_t count)
{
    const yardstick *y = yardstick_at(rung_count() - 1);
    volatile float sink;
    switch (j->kind) {
    case MEMORY_COPY: memcpy(j->to + from, j->from + from, (size_t)count * 4); break;
    case MEMORY_SCALE: y->scale(j->to + from, count); break;
    case MEMORY_READ: sink = y->read(j->from + from, count); (void)sink;
    }
}

static void piece(void *arg, int64_t n, int worker)
{
    const memory_job *j = arg;
    int64_t lines = j->bytes / 256, pieces = alone(j) ? 1 : j->pool->workers * (j->rounds > 1 ? 1 : PIECES);
    int64_t from = lines * n / pieces * 64, to = lines * (n + 1) / pieces * 64;
    (void)worker;
    for (int i = 0; i < (j->rounds > 1 ? j->rounds : 1); i++)
        once(j, from, to - from);
}

void memory_run(void *arg)
{
    const memory_job *j = arg;
    if (alone(j))
        piece(arg, 0, 0);
    else
        j->pool->run(j->pool->self, piece, arg, j->pool->workers * (j->rounds > 1 ? 1 : PIECES));
}
