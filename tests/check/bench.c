/* SPDX-License-Identifier: MIT
 *
 * The same calls, timed: best of many short batches, every rung side by side, beside a memcpy of as many bytes. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

#define BATCHES 40
#define BATCH_SECONDS 100e-6

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is timed: a kernel's call, or a memcpy of half the bytes, which reads and writes them. */
typedef struct timed {
    const kernel *kernel; /* NULL: memcpy */
    const kernels *with;
    const problem *p;
    void *at[BUFFERS_MAX];
    double bytes;
} timed;

static double seconds(const timed *t, int64_t calls)
{
    double start = now();
    for (int64_t i = 0; i < calls; i++)
        if (t->kernel)
            t->kernel->call(t->with, t->p, t->at);
        else
            memcpy(t->at[0], t->at[1], (size_t)(t->bytes / 2));
    return now() - start;
}

/* Seconds of one call. */
static double best(const timed *t)
{
    int64_t calls = 1;
    double least = seconds(t, 1);
    while (seconds(t, calls) < BATCH_SECONDS && calls < INT64_C(1) << 30)
        calls *= 2;
    for (int i = 0; i < BATCHES; i++)
        least = fmin(least, seconds(t, calls) / (double)calls);
    return least;
}

static double bytes_of(const problem *p)
{
    double bytes = 0;
    for (int i = 0; i < p->buffers; i++) {
        const buffer *b = &p->buffer[i];
        bytes += (double)dtype_bytes(b->type, b->rows * b->cols) * (b->out + b->read);
    }
    return bytes;
}

static double elements_of(const problem *p)
{
    double most = p->elements;
    for (int i = 0; p->elements == 0 && i < p->buffers; i++)
        most = fmax(most, (double)(p->buffer[i].rows * p->buffer[i].cols));
    return most;
}

static const char *const type_names[] = { "f32", "f16", "bf16", "f64", "q8_0", "q4_0" };

static void print_one(const options *o, const kernel *k, const problem *p, const rung *r, double s, double copy,
                      double scalar, bool comma)
{
    double bytes = bytes_of(p), elements = elements_of(p), flops = p->flops / s * 1e-9, share = copy / s;
    if (o->json)
        printf("%s\n  {\"kernel\": \"%s\", \"type\": \"%s\", \"rung\": \"%s\", \"elements\": %.0f, \"bytes\": %.0f, "
               "\"seconds\": %.3e, "
               "\"gb_per_s\": %.3f, \"gflop_per_s\": %.3f, \"of_memcpy\": %.4f, \"of_scalar\": %.3f}",
               comma ? "," : "", k->name, type_names[p->type], r->name, elements, bytes, s, bytes / s * 1e-9, flops,
               share, scalar / s);
    else {
        char speed[32] = "-";
        if (p->flops > 0)
            snprintf(speed, sizeof speed, "%.2f", flops);
        printf("%-11s %-5s %-8s %9.3f %9.2f %8.0f%% %9s %8.1fx\n", k->name, type_names[p->type], r->name,
               s / elements * 1e9, bytes / s * 1e-9, 100 * share, speed, scalar / s);
    }
}

static void bench_type(const kernel *k, pe_dtype type, const rung *rungs, int count, const options *o, bool first)
{
    static problem p;
    double scalar = 0;
    memset(&p, 0, sizeof p);
    draw_case(&p, o->seed, 0);
    p.bench = o->size;
    p.type = type;
    k->make(&p);
    timed copy = { .p = &p, .bytes = bytes_of(&p) };
    void *block = malloc((size_t)copy.bytes + 1);
    if (!block)
        exit(2);
    memset(block, 0, (size_t)copy.bytes);
    copy.at[0] = block;
    copy.at[1] = (char *)block + (size_t)(copy.bytes / 2);
    double copied = best(&copy);
    for (int i = 0; i < count; i++) {
        timed t = { .kernel = k, .with = &rungs[i].kernels, .p = &p };
        for (int b = 0; b < p.buffers; b++)
            t.at[b] = p.buffer[b].data;
        double s = best(&t);
        scalar = i ? scalar : s;
        print_one(o, k, &p, &rungs[i], s, copied, scalar, !(first && i == 0));
    }
    free(block);
}

void bench_kernel(const kernel *k, const rung *rungs, int count, const options *o, bool first)
{
    if (first && !o->json)
        printf("%-11s %-5s %-8s %9s %9s %9s %9s %9s\n", "kernel", "type", "rung", "ns/elem", "GB/s", "of memcpy",
               "GFLOP/s", "of scalar");
    for (pe_dtype type = PE_F32; type <= k->last; type++)
        if (type != PE_F64)
            bench_type(k, type, rungs, count, o, first && type == PE_F32);
}
