/* SPDX-License-Identifier: MIT
 *
 * Attention with ALiBi on an NVIDIA GPU, and the same on the CPU to compare. Device memory comes from the driver, which is
 * opened here as posenc_cuda does it; a program that has CUDA's headers calls cudaMalloc and cudaMemcpy instead.
 * An argument names another driver (libcuda) and run-time compiler (libnvrtc). */
#include <dlfcn.h>
#include <math.h>
#include <posenc_cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 8, KV_HEADS = 2, DIM = 64, TOKENS = 500, Q = TOKENS * HEADS * DIM, K = TOKENS * KV_HEADS * DIM };
static float q[Q], k[K], v[K], out[Q], back[Q];

/* Of the driver: device memory. Its primary context is current once pe_cuda_new has opened it. */
static struct {
    int (*retain)(void **context, int device), (*use)(void *context);
    int (*take)(void **p, size_t bytes), (*give)(void *p);
    int (*up)(void *to, const void *from, size_t bytes), (*down)(void *to, const void *from, size_t bytes);
} cuda;

static int find(void *library, const char *name, void *to)
{
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(to, &address, sizeof address);
    return !address;
}

static int open_memory(const char *driver)
{
    void *library = dlopen(driver, RTLD_NOW), *context;
    if (find(library, "cuDevicePrimaryCtxRetain", &cuda.retain) || find(library, "cuCtxSetCurrent", &cuda.use) ||
        find(library, "cuMemAlloc_v2", &cuda.take) || find(library, "cuMemFree_v2", &cuda.give) ||
        find(library, "cuMemcpyHtoD_v2", &cuda.up) || find(library, "cuMemcpyDtoH_v2", &cuda.down))
        return 1;
    return cuda.retain(&context, 0) || cuda.use(context);
}

/* The problem, with its vectors wherever they are. */
static pe_attention problem(void *to, void *queries, void *keys, void *values)
{
    pe_attention a = PE_MAKE(pe_attention, .mask = { .causal = true });
    a.q = pe_view_of(queries, PE_F32, 1, TOKENS, HEADS, DIM);
    a.k = pe_view_of(keys, PE_F32, 1, TOKENS, KV_HEADS, DIM);
    a.v = pe_view_of(values, PE_F32, 1, TOKENS, KV_HEADS, DIM);
    a.out = pe_view_of(to, PE_F32, 1, TOKENS, HEADS, DIM);
    a.q_at = a.k_at = pe_positions_run(1, TOKENS, 0);
    return a;
}

static pe_status on_cpu(const pe_encoding *e, pe_error *err)
{
    pe_attention a = problem(out, q, k, v);
    pe_run run = PE_MAKE(pe_run, .work = NULL);
    pe_status s = pe_attention_work(e, &a, &run, &run.work_bytes, err);
    run.work = malloc(run.work_bytes);
    if (!s)
        s = pe_attention_forward(e, &a, &run, err);
    free(run.work);
    return s;
}

static pe_status on_gpu(pe_cuda *gpu, const pe_encoding *e, pe_error *err)
{
    void *p[5] = { NULL };
    pe_run run = PE_MAKE(pe_run, .work = NULL);
    pe_cuda_plan *plan;
    pe_status s = pe_cuda_plan_new(&plan, gpu, e, TOKENS, 0, err); /* keys up to TOKENS positions before their query */
    int failed = cuda.take(&p[0], sizeof q) || cuda.take(&p[1], sizeof k) || cuda.take(&p[2], sizeof v) ||
                 cuda.take(&p[3], sizeof out) || cuda.up(p[0], q, sizeof q) || cuda.up(p[1], k, sizeof k) ||
                 cuda.up(p[2], v, sizeof v);
    pe_attention a = problem(p[3], p[0], p[1], p[2]);
    if (!s)
        s = pe_cuda_attention_work(plan, &a, &run.work_bytes, err);
    if (run.work_bytes)
        failed = failed || cuda.take(&p[4], run.work_bytes);
    run.work = p[4];
    if (!s && !failed)
        s = pe_cuda_attention_forward(plan, &a, &run, NULL, err); /* NULL: the default stream */
    if (!s && (failed || cuda.down(back, p[3], sizeof back)))
        snprintf(err->text, sizeof err->text, "device memory failed");
    for (int i = 0; i < 5; i++)
        if (p[i])
            cuda.give(p[i]);
    pe_cuda_plan_free(plan);
    return s;
}

static int compare(pe_cuda *gpu, const pe_encoding *e, pe_error *err)
{
    double most = 0;
    for (int i = 0; i < Q; i++)
        q[i] = (float)sin(i);
    for (int i = 0; i < K; i++) {
        k[i] = (float)cos(3 * i);
        v[i] = (float)sin(7 * i);
    }
    if (on_cpu(e, err) || on_gpu(gpu, e, err))
        return 1;
    for (int i = 0; i < Q; i++)
        most = fmax(most, fabs(back[i] - out[i]));
    printf("GPU and CPU differ by %.1e at most\n", most);
    return !(most < 1e-5); /* float32 and exp2 of the device */
}

int main(int argc, char **argv)
{
    pe_error err = { PE_OK, "" };
    pe_cuda *gpu;
    pe_encoding *e = NULL;
    pe_cuda_options options = PE_MAKE(pe_cuda_options, .driver = argc > 1 ? argv[1] : "libcuda.so.1",
                                      .compiler = argc > 1 ? argv[1] : NULL);
    if (pe_cuda_new(&gpu, &options, &err)) {
        fprintf(stderr, "no GPU: %s\n", err.text);
        return 77;
    }
    int failed = open_memory(options.driver) ||
                 pe_encoding_new(&e, "alibi", (pe_shape){ HEADS, KV_HEADS, DIM, 0 }, &err) || compare(gpu, e, &err);
    if (failed)
        fprintf(stderr, "failed: %s\n", err.text);
    pe_encoding_free(e);
    pe_cuda_free(gpu);
    return failed;
}
