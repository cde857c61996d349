/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 5 s; needs: cuda; sanitize: no
 *
 * The GPU library on a GPU, without any operation: facts, a kernel that is compiled, cached and launched, memory, a tensor
 * map, the caller's context. Skipped where there is no driver, device or compiler. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "test.h"

static const char text[] = "struct probe_args { float *out; long count; float factor; };\n"
                           "extern \"C\" __global__ void probe(const probe_args a)\n"
                           "{\n"
                           "    extern __shared__ float shared[];\n"
                           "    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
                           "    shared[threadIdx.x + TAIL] = a.factor;\n"
                           "    __syncthreads();\n"
                           "    if (i < a.count) a.out[i] = shared[threadIdx.x + TAIL] * i + SHIFT;\n"
                           "}\n";
static const char *const no_sources[] = { NULL };
static const kernel_source probe = { "probe", no_sources, true };
typedef struct probe_args {
    device_pointer out;
    int64_t count;
    float factor;
} probe_args;

static char folder[] = "/tmp/posenc-gpu-XXXXXX";

static pe_cuda *device_or_skip(void)
{
    pe_cuda *gpu = NULL;
    pe_cuda_facts f = PE_MAKE(pe_cuda_facts, .driver = 0);
    pe_cuda_options o = PE_MAKE(pe_cuda_options, .cache = folder);
    pe_cuda_look(&f, &o);
    if (*f.missing)
        test_skip(f.missing);
    assert_ok(pe_cuda_new(&gpu, &o, &err));
    return gpu;
}

AROUND(before_all)
{
    assert_non_null(mkdtemp(folder));
}

AROUND(after_all)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        printf("%s stays\n", folder);
}

static void *address_of(const pe_cuda *gpu, const char *name)
{
    void *f = dlsym(gpu->driver.library, name);
    assert_non_null(f);
    return f;
}

/* On the default stream, so the kernel is over. */
static void download(const pe_cuda *gpu, void *to, device_pointer from, size_t bytes)
{
    int (*copy)(void *, device_pointer, size_t);
    void *address = address_of(gpu, "cuMemcpyDtoH_v2");
    memcpy(&copy, &address, sizeof copy);
    assert_ok(driver_enter(gpu, &err));
    assert_int_equal(copy(to, from, bytes), 0);
    driver_leave(gpu);
}

static void *current_context(const pe_cuda *gpu)
{
    int (*get)(void **);
    void *context = NULL, *address = address_of(gpu, "cuCtxGetCurrent");
    memcpy(&get, &address, sizeof get);
    assert_int_equal(get(&context), 0);
    return context;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* shift, and floats of dynamic shared memory before those that are used */
static void kernel_of(pe_cuda *gpu, int shift, int tail, kernel *out)
{
    char defines[2000];
    snprintf(defines, sizeof defines, "#define SHIFT %d\n#define TAIL %d\n%s", shift, tail, text);
    assert_ok(cuda_kernel(gpu, &probe, defines, out, &err));
}

TEST(a_kernel_is_compiled_and_writes_what_it_should)
{
    enum { N = 100000, THREADS = 256 };
    static float numbers[N];
    pe_cuda *gpu = device_or_skip();
    printf("%s, capability %d, %d multiprocessors\n", gpu->facts.name, cuda_capability(gpu), cuda_processors(gpu));
    const int tails[] = { 0, (gpu->facts.shared / 4) - THREADS }; /* all the shared memory that a block may have */
    for (int i = 0; i < COUNT(tails); i++) {
        kernel k;
        device_pointer p;
        memset(numbers, 0xff, sizeof numbers);
        kernel_of(gpu, 3 + i, tails[i], &k);
        assert_int_equal(k.spilled, 0);
        assert_ok(cuda_upload(gpu, &p, numbers, sizeof numbers, &err));
        const probe_args a = { p, N - 1, 0.5f };
        const grid g = { (N + THREADS - 1) / THREADS, 1, 1, THREADS, (size_t)(tails[i] + THREADS) * 4, false };
        assert_ok(cuda_launch(gpu, &k, g, NULL, &a, &err));
        download(gpu, numbers, p, sizeof numbers);
        for (int n = 0; n < N - 1; n++)
            assert_true(numbers[n] == 0.5f * (float)n + (float)(3 + i));
        assert_true(isnan(numbers[N - 1]));
        assert_ok(cuda_clear(gpu, p, sizeof numbers, NULL, &err));
        download(gpu, numbers, p, sizeof numbers);
        assert_true(numbers[0] == 0 && numbers[N - 1] == 0);
        cuda_release(gpu, p);
    }
    pe_cuda_free(gpu);
}

TEST(a_later_start_takes_the_kernel_from_the_cache)
{
    kernel k;
    pe_cuda *gpu = device_or_skip();
    kernel_of(gpu, 9, 0, &k);
    pe_cuda_free(gpu);
    double start = seconds();
    gpu = device_or_skip();
    double made = seconds();
    kernel_of(gpu, 9, 0, &k);
    printf("device %.1f ms, kernel %.1f ms\n", 1e3 * (made - start), 1e3 * (seconds() - made));
    pe_cuda_free(gpu);
}

TEST(the_callers_context_stays)
{
    kernel k;
    pe_cuda *gpu = device_or_skip();
    void *before = current_context(gpu);
    device_pointer p;
    kernel_of(gpu, 1, 0, &k);
    assert_ok(cuda_upload(gpu, &p, text, sizeof text, &err));
    cuda_release(gpu, p);
    assert_ptr_equal(current_context(gpu), before);
    pe_cuda_free(gpu);
}

TEST(memory_that_there_is_not_is_told)
{
    pe_cuda *gpu = device_or_skip();
    device_pointer p;
    assert_refused(cuda_upload(gpu, &p, text, (size_t)1 << 50, &err), PE_ERR_DEVICE, "CUDA_ERROR_OUT_OF_MEMORY");
    puts(err.text);
    pe_cuda_free(gpu);
}

TEST(a_tensor_map_is_made_on_hopper)
{
    _Alignas(64) unsigned char map[128] = { 0 };
    static const uint64_t size[] = { 128, 1000, 4 }, stride[] = { 256, 256000 };
    static const uint32_t box[] = { 64, 128, 1 }, wide[] = { 128, 128, 1 };
    pe_cuda *gpu = device_or_skip();
    device_pointer p = 0;
    void *zeros = take(4 * 1000 * 128, 2);
    assert_ok(cuda_upload(gpu, &p, zeros, 4 * 1000 * 256, &err));
    bool hopper = cuda_capability(gpu) >= 90;
    assert_int_equal(cuda_tensor_map(gpu, map, true, 3, p, size, stride, box), hopper);
    assert_false(cuda_tensor_map(gpu, map, true, 3, p, size, stride, wide)); /* more than the 128 bytes of a swizzle */
    cuda_release(gpu, p);
    pe_cuda_free(gpu);
}
