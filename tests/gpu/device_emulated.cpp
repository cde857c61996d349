// SPDX-License-Identifier: MIT
//
// The GPU library without a GPU: its checks and launches as they are, its kernel as C++, its memory the host's.
#include "gpu/device.h"
#include "gpu/emulate_cuda.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/mman.h>

extern "C" {
#include "cuda/rotation.h"
}

static int X_TYPE, Y_TYPE, WIDTH, X_NEXT, Y_NEXT, WORK, DECAYS, GAINS, FRACTIONS, MOVES, THREADS;
#define SHARED_MOST (227 * 1024)
extern "C" {
alignas(16) float4 rotate_memory[SHARED_MOST / sizeof(float4)];
}
#include "cuda/rotate.cu"

static const struct {
    const char *name;
    int *value;
} settings[] = { { "X_TYPE", &X_TYPE },       { "Y_TYPE", &Y_TYPE }, { "WIDTH", &WIDTH },    { "X_NEXT", &X_NEXT },
                 { "Y_NEXT", &Y_NEXT },       { "WORK", &WORK },     { "DECAYS", &DECAYS },  { "GAINS", &GAINS },
                 { "FRACTIONS", &FRACTIONS }, { "MOVES", &MOVES },   { "THREADS", &THREADS } };

struct pe_cuda {
    std::vector<std::string> variants;
    int launches;
};
static pe_cuda device;
static rotate_args now;

extern "C" {

pe_status cuda_fail(pe_error *err, pe_status s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (err) {
        vsnprintf(err->text, sizeof err->text, format, args);
        err->status = s;
    }
    va_end(args);
    return s;
}

pe_status cuda_pass(pe_error *err)
{
    if (err)
        *err = pe_error{ PE_OK, "" };
    return PE_OK;
}

pe_status cuda_kernel(pe_cuda *gpu, const kernel_source *, const char *defines, kernel *out, pe_error *err)
{
    gpu->variants.push_back(defines);
    *out = kernel{ (void *)gpu->variants.size(), 0, 0, 0 };
    return cuda_pass(err);
}

static void rotate_now()
{
    rotate(now);
}

pe_status cuda_launch(pe_cuda *gpu, const kernel *k, grid g, void *, const void *args, pe_error *err)
{
    const std::string &text = gpu->variants[(size_t)k->function - 1];
    for (const auto &s : settings) {
        size_t at = text.find(std::string("#define ") + s.name + " ");
        if (at == std::string::npos)
            abort();
        *s.value = atoi(text.c_str() + at + 9 + strlen(s.name));
    }
    if (THREADS != g.threads || g.shared > SHARED_MOST || g.y != 1 || g.z != 1)
        abort();
    memcpy(&now, args, sizeof now);
    for (int64_t b = 0; b < g.x; b++) {
        memset(rotate_memory, 0xff, sizeof rotate_memory); /* a block finds nothing there */
        emulate_block((unsigned)b, g.threads, rotate_now);
    }
    gpu->launches++;
    return cuda_pass(err);
}

pe_status cuda_upload(pe_cuda *, device_pointer *out, const void *host, size_t bytes, pe_error *err)
{
    void *p = malloc(bytes);
    memcpy(p, host, bytes);
    *out = (device_pointer)p;
    return cuda_pass(err);
}

void cuda_release(pe_cuda *, device_pointer p)
{
    free((void *)p);
}

int cuda_processors(const pe_cuda *)
{
    return 3; /* few, so that blocks have several tokens */
}

pe_status pe_cuda_plan_new(pe_cuda_plan **out, pe_cuda *gpu, const pe_encoding *e, int64_t behind, int64_t ahead,
                           pe_error *err)
{
    pe_cuda_plan *plan = (pe_cuda_plan *)calloc(1, sizeof *plan);
    std::vector<float> values((size_t)pe_encoding_param_count(e) + 1);
    pe_run run = { sizeof run, { values.data(), PE_F32, pe_encoding_param_count(e) }, NULL, NULL, NULL, 0 };
    pe_status s = pe_encoding_init(e, run.params, 0, err);
    plan->gpu = gpu;
    plan->e = e;
    plan->behind = behind;
    plan->ahead = ahead;
    if (!s)
        s = pe_plan_new(&plan->host, e, behind, ahead, &run, err);
    if (!s)
        s = rotation_data_new(plan, err);
    if (s) {
        pe_cuda_plan_free(plan);
        plan = NULL;
    }
    *out = plan;
    return s;
}

void pe_cuda_plan_free(pe_cuda_plan *plan)
{
    if (plan)
        rotation_data_free(plan);
    if (plan)
        pe_plan_free(plan->host);
    free(plan);
}

pe_cuda *device_open(const char **why)
{
    *why = "";
    return &device;
}

void device_close(pe_cuda *)
{
}

/* Memory that is not touched costs nothing. */
void *device_take(size_t bytes)
{
    size_t all = bytes + 4096;
    char *p = (char *)mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    memcpy(p, &all, sizeof all);
    return p + 4096;
}

void device_give(void *p)
{
    size_t all;
    memcpy(&all, (char *)p - 4096, sizeof all);
    munmap((char *)p - 4096, all);
}

void device_write(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void device_read(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void device_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

bool device_has_libm(void)
{
    return true;
}

bool device_angle(const pe_cuda_plan *plan, int64_t pair, const double *at, double *c, double *s)
{
    const rotate_pair *p = (const rotate_pair *)plan->rotation->pair + pair;
    FRACTIONS = 1;
    rotate_factors turn = pair_turn(p, at[p->axis]);
    *c = turn.c;
    *s = turn.s;
    return true;
}

int device_launches(void)
{
    return device.launches;
}
}
