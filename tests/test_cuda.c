/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: cuda threads
 *
 * The GPU library without a GPU, with a driver and a compiler that keep count (gpu/fake_cuda.c, gpu/fake_nvrtc.c): every
 * failure is a status and a sentence and leaves nothing behind; kernels are compiled once; the cache survives what befalls
 * files. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, utimes */
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "cuda/bundle.h"
#include "gpu/fake_case.h"

enum { THREADS = 8, PROCESSES = 6, HEAD = 64, CODE = 400 };

static const char *const lost_sources[] = { "lost.cu", NULL };
static const kernel_source exactly = { "exactly", no_sources, true }, lost = { "lost", lost_sources, false };

/* A device that makes the kernel, and how many compilations that took. */
static int compilations(const char *defines)
{
    kernel k;
    int before = compiler_side->compiles;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, defines, &k, &err));
    assert_int_equal(k.registers, 40);
    pe_cuda_free(gpu);
    return compiler_side->compiles - before;
}

/* ---------------------------------------------------------------- what is missing */

TEST(a_machine_without_a_driver_says_so)
{
    pe_cuda *gpu = (pe_cuda *)&err;
    pe_cuda_options o = options();
    pe_cuda_facts f = PE_MAKE(pe_cuda_facts, .driver = 5);
    o.driver = "/nowhere/libcuda.so.1";
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_DEVICE, "/nowhere/libcuda.so.1");
    assert_null(gpu);
    assert_int_equal(pe_cuda_new(&gpu, &o, NULL), PE_ERR_DEVICE);
    pe_cuda_look(&f, &o);
    assert_non_null(strstr(f.missing, "no NVIDIA driver"));
    assert_int_equal(f.driver, 0);
    assert_int_equal(f.compiler, 13020);
    assert_string_equal(f.device, "");
    assert_string_equal(f.cache, cache);
    pe_cuda_free(NULL);
}

TEST(a_driver_that_is_too_old_says_what_it_lacks)
{
    pe_cuda *gpu;
    pe_cuda_options o = options();
    o.driver = compiler_path; /* a library with none of the driver's functions */
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_DEVICE, "has no cuInit; needs NVIDIA's driver 525 or newer");
    gpu_side->devices = 0;
    o.driver = driver_path;
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_DEVICE, "CUDA_ERROR_NO_DEVICE (100, words of the driver); needs");
}

TEST(a_look_tells_the_device_and_the_compiler)
{
    pe_cuda_options o = options();
    pe_cuda_facts f = PE_MAKE(pe_cuda_facts, .driver = 5);
    o.device = 1;
    pe_cuda_look(&f, &o);
    assert_string_equal(f.device, "Fake GPU 1");
    assert_int_equal(f.capability, 90);
    assert_int_equal(f.driver, 13000);
    assert_int_equal(f.processors, 132);
    assert_true(f.memory == (int64_t)140 << 30);
    assert_string_equal(f.missing, "");
    o.compiler = "/nowhere/libnvrtc.so";
    pe_cuda_look(&f, &o);
    assert_int_equal(f.compiler, 0);
    assert_non_null(strstr(f.missing, "/nowhere/libnvrtc.so"));
    assert_non_null(strstr(f.missing, "POSENC_NVRTC"));
    pe_cuda_look(NULL, NULL);
}

TEST(an_older_program_has_shorter_structs)
{
    struct {
        size_t size;
        int device;
    } o = { sizeof o, 1 };
    struct {
        size_t size;
        char device[100];
        int capability, guard;
    } f = { offsetof(pe_cuda_facts, capability) + sizeof(int), "", 0, 12345 };
    pe_cuda_facts *facts = (pe_cuda_facts *)(void *)&f;
    pe_cuda_look(facts, (const pe_cuda_options *)(const void *)&o); /* no driver here, or another one: no crash */
    assert_int_equal(f.guard, 12345);
    o.size = 3;
    pe_cuda *gpu;
    assert_refused(pe_cuda_new(&gpu, (const pe_cuda_options *)(const void *)&o, &err), PE_ERR_SHAPE, "size is 3");
    assert_refused(pe_cuda_new(NULL, NULL, &err), PE_ERR_NULL, "out is NULL");
}

TEST(a_device_that_is_not_there_is_out_of_range)
{
    pe_cuda *gpu;
    pe_cuda_options o = options();
    o.device = 2;
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_RANGE, "device is 2; needs 0 to 1");
    o.device = -1;
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_RANGE, "device is -1");
}

TEST(without_a_compiler_the_cache_is_enough_and_else_a_sentence_says_what_to_do)
{
    kernel k;
    pe_cuda *gpu;
    pe_cuda_options o = options();
    o.compiler = "/nowhere/libnvrtc.so";
    assert_ok(pe_cuda_new(&gpu, &o, &err));
    assert_refused(cuda_kernel(gpu, &plain, "", &k, &err), PE_ERR_DEVICE,
                   "the kernel plain for sm_90a is not built in, and its compiler cannot be used (");
    assert_non_null(strstr(err.text, "install CUDA's nvrtc (PyPI: nvidia-cuda-nvrtc), or name its file in POSENC_NVRTC"));
    assert_int_equal(compilations(""), 1);
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err)); /* written meanwhile by another */
    pe_cuda_free(gpu);
}

TEST(the_environment_is_read_where_the_options_leave_it)
{
    char at[CACHE_FOLDER_ROOM], all[3 * CACHE_FOLDER_ROOM];
    setenv("HOME", "/home/me", 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("POSENC_CUDA_CACHE");
    cache_folder(at, NULL);
    assert_string_equal(at, "/home/me/.cache/posenc/cuda");
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    cache_folder(at, NULL);
    assert_string_equal(at, "/home/me/.cache/posenc/cuda");
    setenv("XDG_CACHE_HOME", "/caches", 1);
    cache_folder(at, NULL);
    assert_string_equal(at, "/caches/posenc/cuda");
    setenv("POSENC_CUDA_CACHE", "/own", 1);
    cache_folder(at, NULL);
    assert_string_equal(at, "/own");
    cache_folder(at, "/given");
    assert_string_equal(at, "/given");
    cache_folder(at, "");
    assert_string_equal(at, "");
    memset(all, 'x', sizeof all - 1);
    all[sizeof all - 1] = 0;
    cache_folder(at, all); /* longer than any folder: none */
    assert_string_equal(at, "");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("POSENC_CUDA_CACHE");
    setenv("POSENC_NVRTC", compiler_path, 1);
    pe_cuda_facts f = PE_MAKE(pe_cuda_facts, .driver = 0);
    pe_cuda_options o = options();
    o.compiler = NULL;
    pe_cuda_look(&f, &o);
    assert_int_equal(f.compiler, 13020);
    unsetenv("POSENC_NVRTC");
}

/* ---------------------------------------------------------------- failures */

/* Each call of the function fails in turn, until one run has no failure. */
static void fails_everywhere(fake *side, const char *function, int code, const char *words, bool silent)
{
    bool over = false;
    for (int at = 1; !over; at++) {
        int mark = taken();
        reset(gpu_side);
        reset(compiler_side);
        empty_cache();
        snprintf(side->fail, sizeof side->fail, "%s", function);
        side->fail_at = at;
        side->code = code;
        forget_error();
        pe_status s = scenario(encoding_of("rope+t5", (pe_shape){ .heads = 2, .head_dim = 8 }));
        over = !side->failed;
        if (at == 1 && over)
            fail_msg("%s is never called", function);
        if (!over && !silent && (s != PE_ERR_DEVICE || err.status != s || !strstr(err.text, words)))
            fail_msg("call %d of %s fails: %s: '%s'; needs PE_ERR_DEVICE and '%s'", at, function, pe_status_name(s),
                     err.text, words);
        if (silent || over)
            assert_ok(s);
        assert_true(balanced(function));
        give_back_to(mark);
    }
}

TEST(every_failure_of_the_driver_is_a_status_and_a_sentence)
{
    static const char *const told[] = { "cuInit",
                                        "cuDriverGetVersion",
                                        "cuDeviceGetCount",
                                        "cuDeviceGet",
                                        "cuDeviceGetName",
                                        "cuDeviceTotalMem_v2",
                                        "cuDeviceGetAttribute",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuMemAlloc_v2",
                                        "cuMemcpyHtoD_v2",
                                        "cuMemsetD8Async",
                                        "cuStreamSynchronize",
                                        "cuModuleLoadData",
                                        "cuModuleGetFunction",
                                        "cuFuncGetAttribute",
                                        "cuFuncSetAttribute",
                                        "cuLaunchKernel",
                                        "cuLaunchCooperativeKernel" };
    for (int i = 0; i < COUNT(told); i++)
        fails_everywhere(gpu_side, told[i], 719, "CUDA_ERROR_FAKE (719, words of the driver)", false);
    /* Giving back cannot fail; a driver that is gone at the end of a process says that it did. */
    static const char *const silent[] = { "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2", "cuModuleUnload",
                                          "cuCtxPopCurrent_v2" };
    for (int i = 0; i < COUNT(silent); i++)
        fails_everywhere(gpu_side, silent[i], 4, "", true);
}

/* The memory that it can no longer give back is lost with the context. */
TEST(a_context_that_cannot_be_entered_is_told)
{
    pe_cuda *gpu = device();
    device_pointer p = 7;
    kernel k;
    snprintf(gpu_side->fail, sizeof gpu_side->fail, "cuCtxPushCurrent_v2");
    gpu_side->code = 201;
    assert_refused(cuda_upload(gpu, &p, "x", 1, &err), PE_ERR_DEVICE, "cuCtxPushCurrent: CUDA_ERROR_FAKE (201");
    assert_true(p == 0);
    assert_refused(cuda_kernel(gpu, &plain, "", &k, &err), PE_ERR_DEVICE, "cuCtxPushCurrent");
    pe_cuda_free(gpu);
}

TEST(every_failure_of_the_compiler_is_a_status_and_a_sentence)
{
    static const char *const told[] = { "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetCUBINSize",
                                        "nvrtcGetCUBIN" };
    for (int i = 0; i < COUNT(told); i++)
        fails_everywhere(compiler_side, told[i], 6, "kernel plain: nvrtc", false);
    fails_everywhere(compiler_side, "nvrtcVersion", 6, "nvrtcVersion failed (6)", false);
    static const char *const silent[] = { "nvrtcDestroyProgram", "nvrtcGetProgramLogSize", "nvrtcGetProgramLog" };
    for (int i = 0; i < COUNT(silent); i++)
        fails_everywhere(compiler_side, silent[i], 6, "", true);
}

TEST(a_compile_error_is_the_first_line_with_an_error)
{
    kernel k;
    pe_cuda *gpu = device();
    snprintf(compiler_side->fail, sizeof compiler_side->fail, "nvrtcCompileProgram");
    compiler_side->code = 6;
    compiler_side->log = "a.cu(1): warning: x\na.cu(3): error: no such name\n   y\na.cu(4): error: another\n";
    assert_says(cuda_kernel(gpu, &plain, "", &k, &err), PE_ERR_DEVICE,
                "kernel plain: nvrtc 13.2: NVRTC_ERROR_FAKE: a.cu(3): error: no such name");
    assert_refused(cuda_kernel(gpu, &lost, "", &k, &err), PE_ERR_DEVICE, "its source lost.cu is not part of this library");
    compiler_side->fail[0] = 0;
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err)); /* a failure is not kept */
    pe_cuda_free(gpu);
}

TEST(the_usual_errors_say_what_to_do)
{
    static const struct {
        int code;
        const char *advice;
    } usual[] = { { 2, "CUDA_ERROR_OUT_OF_MEMORY (2, words of the driver); free device memory" },
                  { 34, "stub" },
                  { 100, "needs an NVIDIA GPU" },
                  { 222, "install a newer driver or an older nvrtc" },
                  { 803, "restart the machine" } };
    pe_cuda *gpu;
    pe_cuda_options o = options();
    snprintf(gpu_side->fail, sizeof gpu_side->fail, "cuInit");
    for (int i = 0; i < COUNT(usual); i++) {
        gpu_side->code = usual[i].code;
        assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_DEVICE, usual[i].advice);
    }
    /* A driver that does not know its own code. */
    snprintf(gpu_side->fail, sizeof gpu_side->fail, "cuGetErrorName");
    gpu_side->code = 1;
    gpu_side->devices = 0;
    assert_refused(pe_cuda_new(&gpu, &o, &err), PE_ERR_DEVICE, "an error unknown to this driver (100, words of the driver)");
}

/* ---------------------------------------------------------------- programs and launches */

TEST(a_program_is_its_defines_and_options)
{
    kernel k;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, "#define A 1\n", &k, &err));
    assert_string_equal(compiler_side->text, "#line 1 \"defines\"\n#define A 1\n\n");
    assert_string_equal(compiler_side->options, " -std=c++17 -default-device --ptxas-options=-v --gpu-architecture=sm_90a");
    assert_ok(cuda_kernel(gpu, &exactly, "#define A 1\n", &k, &err));
    assert_string_equal(compiler_side->options, " -std=c++17 -default-device --ptxas-options=-v -fmad=false --gpu-architecture=sm_90a");
    assert_ok(cuda_kernel(gpu, &plain, "#define A 2\n", &k, &err));
    assert_int_equal(compiler_side->compiles, 3);
    assert_ok(cuda_kernel(gpu, &plain, "#define A 1\n", &k, &err));
    assert_int_equal(compiler_side->compiles, 3);
    assert_int_equal(k.shared, 1024);
    assert_int_equal(k.spilled, 8);
    pe_cuda_free(gpu);
    gpu_side->major = 12;
    gpu_side->minor = 1;
    assert_int_equal(compilations("#define A 1\n"), 1);
    assert_non_null(strstr(compiler_side->options, "--gpu-architecture=sm_121"));
}

TEST(kernels_of_one_program_share_its_code)
{
    const kernel_source second = { "second", no_sources, false };
    kernel k;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
    assert_ok(cuda_kernel(gpu, &second, "", &k, &err));
    assert_int_equal(compiler_side->compiles, 1);
    assert_int_equal(gpu_side->loads, 1);
    assert_int_equal(gpu_side->limits, 2);
    pe_cuda_free(gpu);
}

TEST(a_launch_passes_its_grid_and_its_argument)
{
    kernel k;
    uint64_t arg = 0x1234567890;
    int stream;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
    assert_int_equal(gpu_side->limit, 232448 - 1024);
    for (int i = 0; i < 3; i++)
        assert_ok(cuda_launch(gpu, &k, (grid){ 1 << 30, 3, 2, 384, 200000, false }, &stream, &arg, &err));
    assert_int_equal(gpu_side->limits, 1);
    assert_int_equal(gpu_side->launches, 3);
    assert_int_equal(gpu_side->grid[0], 1 << 30);
    assert_int_equal(gpu_side->grid[1], 3);
    assert_int_equal(gpu_side->grid[2], 2);
    assert_int_equal(gpu_side->threads, 384);
    assert_int_equal(gpu_side->dynamic, 200000);
    assert_ptr_equal(gpu_side->stream, &stream);
    assert_true(gpu_side->arg == arg);
    pe_cuda_free(gpu);
}

TEST(a_launch_that_a_device_cannot_do_is_refused)
{
    kernel k;
    uint64_t arg = 0;
    pe_cuda *gpu = device();
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
    assert_refused(cuda_launch(gpu, &k, (grid){ INT64_C(1) << 31, 1, 1, 32, 0, false }, NULL, &arg, &err), PE_ERR_SHAPE,
                   "2147483648 x 1 x 1 blocks");
    assert_refused(cuda_launch(gpu, &k, (grid){ 1, 65536, 1, 32, 0, false }, NULL, &arg, &err), PE_ERR_SHAPE, "split the call");
    assert_refused(cuda_launch(gpu, &k, (grid){ 1, 1, -1, 32, 0, false }, NULL, &arg, &err), PE_ERR_SHAPE, "1 x 1 x -1");
    assert_refused(cuda_launch(gpu, &k, (grid){ 1, 1, 1, 1025, 0, false }, NULL, &arg, &err), PE_ERR_DEVICE, "1025 threads");
    assert_refused(cuda_launch(gpu, &k, (grid){ 1, 1, 1, 32, 232448, false }, NULL, &arg, &err), PE_ERR_DEVICE,
                   "233472 bytes of shared memory per block; the device has 232448");
    assert_refused(cuda_launch(gpu, &k, (grid){ 1, 1, 1, 32, SIZE_MAX, false }, NULL, &arg, &err), PE_ERR_DEVICE, "shared memory");
    assert_ok(cuda_launch(gpu, &k, (grid){ 1, 0, 1, 32, 0, false }, NULL, &arg, &err)); /* nothing to do */
    assert_int_equal(gpu_side->launches, 0);
    pe_cuda_free(gpu);
}

TEST(memory_is_filled_cleared_and_given_back)
{
    pe_cuda *gpu = device();
    device_pointer p;
    const char text[] = "sixteen bytes...";
    assert_ok(cuda_upload(gpu, &p, text, sizeof text, &err));
    assert_memory_equal((const void *)(uintptr_t)p, text, sizeof text);
    assert_ok(cuda_clear(gpu, p, 3, NULL, &err));
    assert_memory_equal((const void *)(uintptr_t)p, "\0\0\0teen", 7);
    cuda_release(gpu, p);
    cuda_release(gpu, 0);
    assert_ok(cuda_upload(gpu, &p, NULL, 0, &err));
    assert_true(p == 0);
    pe_cuda_free(gpu);
}

TEST(a_tensor_map_is_swizzled_or_refused)
{
    _Alignas(64) char map[128];
    static const uint64_t size[] = { 64, 100, 2 }, stride[] = { 128, 12800 }, odd[] = { 129, 12800 };
    static const uint32_t box[] = { 64, 64, 1 };
    pe_cuda *gpu = device();
    assert_true(cuda_tensor_map(gpu, map, true, 3, 4096, size, stride, box));
    assert_int_equal(gpu_side->swizzle, 3);
    assert_int_equal(gpu_side->type, 9);
    assert_true(cuda_tensor_map(gpu, map, false, 3, 4096, size, stride, box));
    assert_int_equal(gpu_side->type, 6);
    assert_false(cuda_tensor_map(gpu, map, true, 3, 4098, size, stride, box));
    assert_false(cuda_tensor_map(gpu, map, true, 3, 4096, size, odd, box));
    assert_false(cuda_tensor_map(gpu, map, true, 6, 4096, size, stride, box));
    pe_cuda_free(gpu);
}

TEST(a_plan_has_the_lowered_form_with_and_without_parameters)
{
    static const char *const specs[] = { "rope", "alibi", "t5", "kerple", "fire", "none" };
    pe_cuda *gpu = device();
    for (int i = 0; i < COUNT(specs); i++) {
        pe_cuda_plan *plan;
        pe_encoding *e = encoding_of(specs[i], (pe_shape){ .heads = 4, .head_dim = 16 });
        assert_ok(pe_cuda_plan_new(&plan, gpu, e, 64, 3, &err));
        assert_non_null(pe_plan_lowered(plan->host));
        pe_cuda_plan_free(plan);
    }
    pe_cuda_plan *plan;
    pe_encoding *e = encoding_of("rope", (pe_shape){ .heads = 4, .head_dim = 16 });
    assert_refused(pe_cuda_plan_new(&plan, NULL, e, 64, 3, &err), PE_ERR_NULL, "gpu is NULL");
    assert_refused(pe_cuda_plan_new(&plan, gpu, NULL, 64, 3, &err), PE_ERR_NULL, "encoding is NULL");
    assert_int_not_equal(pe_cuda_plan_new(&plan, gpu, e, -1, 3, &err), PE_OK);
    assert_null(plan);
    pe_cuda_plan_free(NULL);
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- kernels that are built in */

TEST(a_built_in_kernel_needs_no_compiler)
{
    static struct {
        bundle_head head;
        bundle_entry entry[3];
        char code[3][16];
    } b = { { BUNDLE_MAGIC, 3, 0 }, { { { 0, 0 }, 80, 0, 0, 16 } }, { "cubin 80", "cubin 90", "cubin 86" } };
    static const struct {
        int major, minor;
        const char *image; /* NULL: none */
    } device_of[] = { { 8, 0, "cubin 80" }, { 8, 6, "cubin 86" }, { 8, 9, "cubin 86" },
                      { 9, 0, "cubin 90" }, { 9, 1, NULL },       { 7, 5, NULL } };
    kernel_program p;
    kernel k;
    pe_cuda_options o = options();
    o.compiler = "/nowhere/libnvrtc.so";
    assert_ok(program_new(&p, &plain, "", &err));
    for (int i = 0; i < 3; i++)
        b.entry[i] = (bundle_entry){ p.hash, (const uint32_t[]){ 80, 90, 86 }[i], 0,
                                     (uint64_t)(b.code[i] - (char *)&b), 16 };
    program_free(&p);
    for (int i = 0; i < COUNT(device_of); i++) {
        pe_cuda *gpu;
        gpu_side->major = device_of[i].major;
        gpu_side->minor = device_of[i].minor;
        assert_ok(pe_cuda_new(&gpu, &o, &err));
        gpu->bundle = &b.head;
        pe_status s = cuda_kernel(gpu, &plain, "", &k, &err);
        if (s != (device_of[i].image ? PE_OK : PE_ERR_DEVICE) || (!s && strcmp(gpu_side->image, device_of[i].image)))
            fail_msg("%d.%d: %s, %s", device_of[i].major, device_of[i].minor, err.text, gpu_side->image);
        assert_int_equal(cuda_kernel(gpu, &exactly, "", &k, &err), PE_ERR_DEVICE); /* another program */
        pe_cuda_free(gpu);
    }
    gpu_side->major = 8; /* refused: as if it were not there */
    gpu_side->minor = 0;
    gpu_side->refuse = 1;
    pe_cuda *gpu = device();
    gpu->bundle = &b.head;
    assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
    assert_int_equal(compiler_side->compiles, 1);
    pe_cuda_free(gpu);
}

/* ---------------------------------------------------------------- the cache */

/* The only file of the cache. */
static void cached_file(char out[600])
{
    DIR *d = opendir(cache);
    int count = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(out, 600, "%s/%s", cache, e->d_name);
            count++;
        }
    closedir(d);
    assert_int_equal(count, 1);
}

static int cached_count(void)
{
    DIR *d = opendir(cache);
    int count = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

static size_t read_file(const char *path, char *out, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, room, f);
    fclose(f);
    return n;
}

static void write_file(const char *path, const char *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

TEST(a_kernel_is_compiled_once_for_all_processes_to_come)
{
    char path[600];
    assert_int_equal(compilations("#define A 1\n"), 1);
    assert_int_equal(compilations("#define A 1\n"), 0);
    assert_non_null(strstr(gpu_side->image, "cubin of 13.2"));
    cached_file(path);
    assert_non_null(strstr(path, "-sm_90a-13020.cubin"));
    assert_int_equal(compilations("#define A 2\n"), 1);
    assert_int_equal(cached_count(), 2);
    gpu_side->major = 8; /* another architecture */
    assert_int_equal(compilations("#define A 1\n"), 1);
    compiler_side->version_minor = 3; /* another compiler */
    assert_int_equal(compilations("#define A 1\n"), 1);
    assert_int_equal(compilations("#define A 1\n"), 0);
    assert_int_equal(cached_count(), 4);
}

TEST(a_damaged_file_is_compiled_anew_and_replaced)
{
    char path[600], right[HEAD + CODE + 1], wrong[HEAD + CODE + 1];
    assert_int_equal(compilations(""), 1);
    cached_file(path);
    size_t bytes = read_file(path, right, sizeof right);
    assert_int_equal(bytes, HEAD + CODE);
    for (size_t at = 0; at < bytes; at += at < HEAD ? 1 : 37) { /* one bit */
        memcpy(wrong, right, bytes);
        wrong[at] ^= 4;
        write_file(path, wrong, bytes);
        if (compilations("") != 1)
            fail_msg("a bit of byte %zu is wrong; the file was used", at);
        assert_int_equal(read_file(path, wrong, sizeof wrong), bytes);
        assert_memory_equal(wrong, right, bytes);
    }
    for (size_t cut = 0; cut < bytes; cut += 29) {
        write_file(path, right, cut);
        assert_int_equal(compilations(""), 1);
    }
    right[bytes] = 0;
    write_file(path, right, bytes + 1); /* one byte too many */
    assert_int_equal(compilations(""), 1);
    assert_int_equal(compilations(""), 0);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* in the way: the kernel is compiled each time */
    assert_int_equal(compilations(""), 1);
    rmdir(path);
}

TEST(another_kernels_file_under_this_name_is_not_used)
{
    char first[600], other[HEAD + CODE];
    assert_int_equal(compilations("#define A 2\n"), 1);
    cached_file(first);
    size_t bytes = read_file(first, other, sizeof other);
    empty_cache();
    assert_int_equal(compilations(""), 1);
    cached_file(first);
    write_file(first, other, bytes);
    assert_int_equal(compilations(""), 1);
}

TEST(a_folder_that_cannot_be_written_is_no_error)
{
    static const char *const folders[] = { "", "/proc/posenc/cuda", "/dev/null/x" };
    for (int i = 0; i < COUNT(folders); i++)
        for (int n = 0; n < 2; n++) {
            pe_cuda *gpu;
            kernel k;
            pe_cuda_options o = options();
            o.cache = folders[i];
            int before = compiler_side->compiles;
            assert_ok(pe_cuda_new(&gpu, &o, &err));
            assert_ok(cuda_kernel(gpu, &plain, "", &k, &err));
            pe_cuda_free(gpu);
            assert_int_equal(compiler_side->compiles, before + 1);
        }
}

TEST(code_that_the_driver_refuses_is_compiled_anew)
{
    pe_cuda *gpu;
    kernel k;
    assert_int_equal(compilations(""), 1);
    gpu_side->refuse = 1;
    assert_int_equal(compilations(""), 1);
    assert_int_equal(compilations(""), 0);
    gpu_side->refuse = 2; /* what was just compiled too */
    gpu = device();
    assert_refused(cuda_kernel(gpu, &plain, "", &k, &err), PE_ERR_DEVICE,
                   "kernel plain: cuModuleLoadData: CUDA_ERROR_FAKE (209, words of the driver); the kernel was compiled for");
    pe_cuda_free(gpu);
}

TEST(files_that_are_not_used_go_when_there_are_too_many)
{
    char path[200];
    assert_int_equal(compilations(""), 1);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "%s/%04d.cubin", cache, i);
        write_file(path, "", 0);
        if (i == 500)
            utimes(path, (const struct timeval[2]){ { 1000, 0 }, { 1000, 0 } });
    }
    snprintf(path, sizeof path, "%s/notes.txt", cache);
    write_file(path, "", 0);
    utimes(path, (const struct timeval[2]){ { 10, 0 }, { 10, 0 } });
    assert_int_equal(compilations("#define A 2\n"), 1);
    assert_int_equal(access(path, F_OK), 0); /* somebody's file stays */
    snprintf(path, sizeof path, "%s/0500.cubin", cache);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/0499.cubin", cache);
    assert_int_equal(access(path, F_OK), 0);
}

/* ---------------------------------------------------------------- at the same time */

typedef struct together {
    pe_cuda *gpu;
    pthread_barrier_t start;
} together;

static void *ask(void *arg)
{
    together *t = arg;
    kernel k = { 0 };
    pthread_barrier_wait(&t->start);
    for (int i = 0; i < 20; i++) {
        char defines[40];
        snprintf(defines, sizeof defines, "#define A %d\n", i % 5);
        if (cuda_kernel(t->gpu, &plain, defines, &k, NULL))
            return NULL;
    }
    return k.function;
}

TEST(threads_that_ask_for_one_kernel_compile_it_once)
{
    together t = { .gpu = device() };
    pthread_t thread[THREADS];
    void *function[THREADS];
    compiler_side->delay = 3000;
    assert_int_equal(pthread_barrier_init(&t.start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &t), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], &function[i]);
    pthread_barrier_destroy(&t.start);
    for (int i = 0; i < THREADS; i++)
        assert_true(function[i] && function[i] == function[0]);
    assert_int_equal(compiler_side->compiles, 5);
    assert_int_equal(gpu_side->modules, 5);
    pe_cuda_free(t.gpu);
}

TEST(processes_that_write_one_file_at_once_leave_a_whole_one)
{
    char path[600];
    pid_t child[PROCESSES];
    for (int round = 0; round < 10; round++) {
        empty_cache();
        for (int i = 0; i < PROCESSES; i++) {
            child[i] = fork();
            if (!child[i]) {
                pe_cuda *gpu;
                kernel k;
                pe_cuda_options o = options();
                _exit(pe_cuda_new(&gpu, &o, &err) || cuda_kernel(gpu, &plain, "", &k, &err));
            }
            assert_true(child[i] > 0);
        }
        for (int i = 0; i < PROCESSES; i++) {
            int code = 1;
            assert_int_equal(waitpid(child[i], &code, 0), child[i]);
            assert_int_equal(code, 0);
        }
        cached_file(path); /* one, and nothing beside it */
        assert_int_equal(compilations(""), 0);
    }
}
