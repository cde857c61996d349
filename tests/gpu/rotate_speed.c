/* SPDX-License-Identifier: MIT
 *
 * How fast q and k rotate: bfloat16, 32 and 8 heads of 128, beside a copy of as many bytes. Compiled as
 * test_cuda_rotate_gpu.sh compiles the cases, with this file in their place; the best of five rounds of 20 calls. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gpu/device.h"

#define ROUNDS 5
#define CALLS 20

typedef struct speed_case {
    pe_cuda_plan *plan;
    pe_rotation r;
    char *to, *from;
    size_t bytes; /* of q and k */
} speed_case;

static void die(const char *why)
{
    printf("%s\n", why);
    exit(1);
}

static void wait_for_device(const speed_case *c)
{
    char one;
    device_read(&one, c->from, 1);
}

static void copy_once(const speed_case *c)
{
    device_copy(c->to, c->from, c->bytes);
}

static void rotate_once(const speed_case *c)
{
    pe_error err;
    if (pe_cuda_rotate_qk(c->plan, &c->r, NULL, NULL, &err))
        die(err.text);
}

/* Seconds of a call. */
static double measure(const speed_case *c, void (*once)(const speed_case *))
{
    double best = 1e9;
    once(c);
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec a, b;
        wait_for_device(c);
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < CALLS; i++)
            once(c);
        wait_for_device(c);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double s = ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec)) / CALLS;
        best = s < best ? s : best;
    }
    return best;
}

static void speed_line(speed_case *c, const char *spec, int64_t n, bool in_place, double copy)
{
    pe_view q = pe_view_of(c->from, PE_BF16, 1, n, 32, 128), k = pe_view_of(c->from + n * 8192, PE_BF16, 1, n, 8, 128);
    c->r = PE_MAKE(pe_rotation, .q = q, .k = k, .at = pe_positions_run(1, n, 0));
    if (!in_place) {
        c->r.q_out = pe_view_of(c->to, PE_BF16, 1, n, 32, 128);
        c->r.k_out = pe_view_of(c->to + n * 8192, PE_BF16, 1, n, 8, 128);
    }
    double s = measure(c, rotate_once);
    printf("%-28s %6d tokens %-9s %8.1f us %7.2f TB/s %6.1f %% of copy\n", spec, (int)n,
           in_place ? "in place" : "apart", 1e6 * s, 2e-12 * (double)c->bytes / s, 100 * copy / s);
}

int main(void)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent", "rope:pairs=adjacent-half", "rope:dims=64",
                                         "xpos" };
    static const int64_t lengths[] = { 512, 4096, 65536 };
    const char *why;
    pe_error err;
    pe_cuda *gpu = device_open(&why);
    if (!gpu)
        die(why);
    for (int i = 0; i < 3; i++) {
        int64_t n = lengths[i];
        speed_case c = { .bytes = (size_t)n * 40 * 256 };
        c.to = device_take(c.bytes);
        c.from = device_take(c.bytes);
        if (!c.to || !c.from)
            die("no device memory");
        double copy = measure(&c, copy_once);
        printf("%-28s %6d tokens %-9s %8.1f us %7.2f TB/s\n", "copy", (int)n, "", 1e6 * copy,
               2e-12 * (double)c.bytes / copy);
        for (int s = 0; s < 5; s++) {
            pe_encoding *e;
            if (pe_encoding_new(&e, specs[s], (pe_shape){ .heads = 32, .kv_heads = 8, .head_dim = 128 }, &err) ||
                pe_cuda_plan_new(&c.plan, gpu, e, 64, 0, &err))
                die(err.text);
            for (int in_place = 0; in_place < 2 && !(s == 4 && n > 4096); in_place++)
                speed_line(&c, specs[s], n, in_place, copy);
            pe_cuda_plan_free(c.plan);
            pe_encoding_free(e);
        }
        device_give(c.to);
        device_give(c.from);
    }
    device_close(gpu);
    return 0;
}
