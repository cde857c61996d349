/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 60 s; needs: cuda threads
 *
 * Rotation on a GPU has the bits of the CPU (gpu/rotate_case.h). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <time.h>

#include "gpu/rotate_case.h"

/* ------------------------------------------------ for people: how fast q and k rotate, beside a copy of as many bytes
 */

typedef struct speed_case {
    const pe_cuda_plan *plan; /* NULL: the copy */
    pe_rotation r;
    device_pointer to, from;
    size_t bytes;
} speed_case;

static void speed_once(const speed_case *c)
{
    int (*copy)(device_pointer, device_pointer, size_t, void *);
    void *address = dlsym(gpu->driver.library, "cuMemcpyDtoDAsync_v2");
    memcpy(&copy, &address, sizeof copy);
    if (c->plan)
        assert_ok(pe_cuda_rotate_qk(c->plan, &c->r, NULL, NULL, &err));
    else
        assert_int_equal(copy(c->to, c->from, c->bytes, NULL), 0);
}

/* Of a call, the best of five rounds of 20. */
static double speed_seconds(const speed_case *c)
{
    double best = 1e9;
    char one;
    assert_ok(driver_enter(gpu, &err));
    speed_once(c);
    for (int round = 0; round < 5; round++) {
        struct timespec a, b;
        device_read(&one, c->from, 1);
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < 20; i++)
            speed_once(c);
        device_read(&one, c->from, 1);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double s = ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec)) / 20;
        best = s < best ? s : best;
    }
    driver_leave(gpu);
    return best;
}

static pe_view speed_view(device_pointer p, int64_t n, int64_t heads)
{
    return pe_view_of((void *)(uintptr_t)p, PE_BF16, 1, n, heads, 128);
}

static void speed_print(speed_case c, const char *spec, int64_t n)
{
    uint64_t k = (uint64_t)n * 32 * 256; /* after q */
    double copy = speed_seconds(&c);
    pe_encoding *e = encoding_of(spec, (pe_shape){ .heads = 32, .kv_heads = 8, .head_dim = 128 });
    pe_cuda_plan *plan = plan_of(e);
    c.plan = plan;
    c.r = PE_MAKE(pe_rotation, .q = speed_view(c.from, n, 32), .k = speed_view(c.from + k, n, 8),
                  .at = pe_positions_run(1, n, 0));
    double in_place = speed_seconds(&c);
    c.r.q_out = speed_view(c.to, n, 32);
    c.r.k_out = speed_view(c.to + k, n, 8);
    double apart = speed_seconds(&c);
    pe_cuda_plan_free(plan);
    printf(
        "%-26s %6d tokens: copy %7.1f us, %5.2f TB/s; in place %7.1f us, %5.1f %% of copy; apart %7.1f us, %5.1f %%\n",
        spec, (int)n, 1e6 * copy, 2e-12 * (double)c.bytes / copy, 1e6 * in_place, 100 * copy / in_place, 1e6 * apart,
        100 * copy / apart);
}

TEST(costs_are_printed)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent", "rope:pairs=adjacent-half", "rope:dims=64",
                                         "xpos" };
    case_ready();
    for (int64_t n = 512; n <= 65536; n = n == 512 ? 4096 : 16 * n) {
        speed_case c = { .bytes = (size_t)n * 40 * 256 };
        c.to = device_take(c.bytes);
        c.from = device_take(c.bytes);
        assert_true(c.to && c.from);
        for (int i = 0; i < COUNT(specs) - (n > 4096); i++ /* xpos goes no farther */)
            speed_print(c, specs[i], n);
        cuda_release(gpu, c.to);
        cuda_release(gpu, c.from);
    }
}
