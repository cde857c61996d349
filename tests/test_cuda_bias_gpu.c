/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 10 s; needs: cuda threads
 *
 * The cases of test_cuda_bias on a GPU. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <dlfcn.h>
#include <time.h>

#include "cuda/driver.h"
#include "bias_case.h"

static pe_cuda *gpu;
static device_pointer memory[4096];
static int memories;
static int (*copy_back)(void *to, device_pointer from, size_t bytes);

static pe_cuda *case_gpu(void)
{
    return gpu;
}

static device_pointer case_memory(size_t bytes)
{
    void *filled = malloc(bytes + 1);
    assert_true(filled && memories < COUNT(memory));
    memset(filled, 0xFF, bytes + 1);
    assert_ok(cuda_upload(gpu, &memory[memories], filled, bytes + 1, &err));
    free(filled);
    return memory[memories++];
}

static void case_up(device_pointer to, const void *from, size_t bytes)
{
    assert_ok(driver_enter(gpu, &err));
    int code = bytes ? gpu->driver.memory_copy(to, from, bytes) : 0;
    driver_leave(gpu);
    assert_int_equal(code, 0);
}

/* After all work before it: both are on the default stream. */
static void case_down(void *to, device_pointer from, size_t bytes)
{
    assert_ok(driver_enter(gpu, &err));
    int code = copy_back(to, from, bytes);
    driver_leave(gpu);
    assert_int_equal(code, 0);
}

static void case_ready(void)
{
    if (!gpu && pe_cuda_new(&gpu, NULL, &err))
        test_skip(err.text);
    void *address = dlsym(gpu->driver.library, "cuMemcpyDtoH_v2");
    assert_non_null(address);
    memcpy(&copy_back, &address, sizeof copy_back);
}

AROUND(after_each)
{
    while (memories)
        cuda_release(gpu, memory[--memories]);
}

AROUND(after_all)
{
    pe_cuda_free(gpu);
}

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
    params = case_params(PE_F32, start, count, &host);
    dparams = case_params(PE_F32, start, count, &dhost);
    assert_ok(pe_cuda_plan_new(&plan, gpu, e, 8191, 0, &err));
    device_pointer work = case_memory(bias_work(plan)), back_work = case_memory(bias_back_work(plan, LEDGERS));
    for (int n = 0; n < 2; n++) { /* the first loads kernels */
        fill = seconds();
        for (int i = 0; i < CALLS; i++)
            assert_ok(bias_fill(plan, params, work, NULL, &piece, &err));
        case_down(start, work, 4);
        fill = seconds() - fill;
    }
    device_pointer dtable = case_memory((size_t)(LEDGERS * 16 * piece.row) * sizeof(float));
    for (int n = 0; n < 2 && !piece.knots; n++) {
        back = seconds();
        for (int i = 0; i < CALLS; i++)
            assert_ok(bias_back(plan, params, dparams, &dtable, LEDGERS, back_work, NULL, &err));
        case_down(start, work, 4);
        back = seconds() - back;
    }
    printf("%-24s 16 heads, 8192 distances: tables %6.1f us, gradients of %d slots %6.1f us\n", spec,
           fill / CALLS * 1e6, LEDGERS, back / CALLS * 1e6);
    pe_cuda_plan_free(plan);
}

TEST(costs_are_printed)
{
    static const char *const specs[] = { "alibi:slopes=learned", "t5", "kerple", "kerple:form=power", "fire" };
    case_ready();
    for (int n = 0; n < COUNT(specs); n++)
        print_cost(specs[n]);
}
