/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 10 s; needs: cuda threads
 *
 * Biases by distance on a GPU against the definition (gpu/bias_case.h). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <time.h>

#include "gpu/bias_case.h"

/* ------------------------------------------------ for people: what it costs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_cost(const char *spec)
{
    enum { CALLS = 200, LEDGERS = 32 };
    pe_encoding *e = encoding_of(spec, (pe_shape){ .heads = 16, .kv_heads = 16, .head_dim = 64, .model_dim = 1024 });
    int64_t count = pe_encoding_param_count(e);
    double *start = take(count, sizeof *start), fill = 0, back = 0;
    pe_params host, params, dhost, dparams;
    pe_cuda_plan *plan;
    bias_piece piece;
    assert_ok(pe_encoding_init(e, (pe_params){ start, PE_F64, count }, 7, &err));
    case_ready();
    arena_reset();
    params = case_params(PE_F32, start, count, &host);
    dparams = case_params(PE_F32, start, count, &dhost);
    assert_ok(pe_cuda_plan_new(&plan, gpu, e, 8191, 0, &err));
    device_pointer work = case_memory(bias_work(plan)), back_work = case_memory(bias_back_work(plan, LEDGERS));
    for (int n = 0; n < 2; n++) { /* the first loads kernels */
        fill = seconds();
        for (int i = 0; i < CALLS; i++)
            assert_ok(bias_fill(plan, params, work, NULL, &piece, &err));
        device_read(start, work, 4);
        fill = seconds() - fill;
    }
    bias_gradients g = { .params = params, .dparams = dparams, .filled = work, .slots = LEDGERS };
    g.dtable[0] = case_memory((size_t)(LEDGERS * 16 * piece.gradient) * sizeof(float));
    for (int n = 0; n < 2; n++) {
        back = seconds();
        for (int i = 0; i < CALLS; i++)
            assert_ok(bias_back(plan, &g, back_work, NULL, &err));
        device_read(start, work, 4);
        back = seconds() - back;
    }
    printf("%-24s 16 heads, 8192 distances: tables %6.1f us, gradients of %d slots %6.1f us\n", spec,
           fill / CALLS * 1e6, LEDGERS, back / CALLS * 1e6);
    pe_cuda_plan_free(plan);
}

TEST(costs_are_printed)
{
    static const char *const specs[] = { "alibi:slopes=learned", "t5", "kerple", "kerple:form=power", "fire" };
    for (int n = 0; n < COUNT(specs); n++)
        print_cost(specs[n]);
}
