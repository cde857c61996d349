/* SPDX-License-Identifier: MIT
 *
 * pe_cuda: a device. And what there is on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle.h"
#include "cuda/cache.h"
#include "cuda/kernel.h"

/* Those of another version of the header may be shorter or longer. */
static pe_status read_options(pe_cuda_options *out, const pe_cuda_options *given, pe_error *err)
{
    *out = (pe_cuda_options){ 0 };
    if (!given)
        return pe_pass(err);
    if (given->size < sizeof given->size || given->size > 1 << 16)
        return pe_fail(err, PE_ERR_SHAPE, "options: size is %zu; make them with PE_MAKE(pe_cuda_options, ...)",
                       given->size);
    memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    for (size_t i = sizeof *out; i < given->size; i++)
        if (((const char *)given)[i])
            return pe_fail(err, PE_ERR_SHAPE,
                           "options: a field that this library does not know is set; needs a newer one");
    return pe_pass(err);
}

static pe_status open_device(pe_cuda *gpu, const pe_cuda_options *o, pe_error *err)
{
    pe_status s = driver_open(&gpu->driver, &gpu->version, o->driver, err);
    if (!s)
        s = driver_device(&gpu->driver, o->device, &gpu->device, &gpu->facts, err);
    if (s)
        return s;
    int code = gpu->driver.context_retain(&gpu->context, gpu->device);
    if (!code)
        return pe_pass(err);
    gpu->context = NULL;
    return driver_fail(&gpu->driver, code, err, "cuDevicePrimaryCtxRetain of device %d", o->device);
}

pe_status pe_cuda_new(pe_cuda **out, const pe_cuda_options *options, pe_error *err)
{
    pe_cuda_options o;
    if (!out)
        return pe_fail(err, PE_ERR_NULL, "out is NULL; needs a pointer to write to");
    *out = NULL;
    pe_status s = read_options(&o, options, err);
    if (s)
        return s;
    pe_cuda *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a device");
    gpu->bundle = bundle_built_in();
    s = open_device(gpu, &o, err);
    if (!s)
        s = kernel_table_new(&gpu->kernels, o.cache, o.compiler, err);
    if (s) {
        pe_cuda_free(gpu);
        return s;
    }
    *out = gpu;
    return pe_pass(err);
}

void pe_cuda_free(pe_cuda *gpu)
{
    if (!gpu)
        return;
    kernel_table_free(gpu, gpu->kernels);
    if (gpu->context)
        gpu->driver.context_release(gpu->device);
    driver_close(&gpu->driver);
    free(gpu);
}

/* ---------------------------------------------------------------- what there is */

static void look_at_device(pe_cuda_facts *f, const pe_cuda_options *o, pe_error *err)
{
    cuda_driver d;
    device_facts facts;
    int device;
    if (driver_open(&d, &f->driver, o->driver, err))
        return;
    if (!driver_device(&d, o->device, &device, &facts, err)) {
        memcpy(f->device, facts.name, sizeof f->device);
        f->capability = facts.capability;
        f->memory = (int64_t)facts.memory;
        f->processors = facts.processors;
    }
    driver_close(&d);
}

static void look_at_compiler(pe_cuda_facts *f, const pe_cuda_options *o, pe_error *err)
{
    cuda_compiler c;
    if (compiler_open(&c, o->compiler, err))
        return;
    f->compiler = c.version;
    compiler_close(&c);
}

static void say_missing(pe_cuda_facts *f, const pe_error *device, const pe_error *compiler)
{
    const char *what = f->built_in ? "only the built-in kernels can run" : "no kernel can be compiled";
    if (device->status) /* the first thing to cure */
        snprintf(f->missing, sizeof f->missing, "%s", device->text);
    else if (compiler->status)
        snprintf(f->missing, sizeof f->missing,
                 "%s: %.120s; install CUDA's nvrtc (PyPI: nvidia-cuda-nvrtc), or name its file in POSENC_NVRTC", what,
                 compiler->text);
}

void pe_cuda_look(pe_cuda_facts *facts, const pe_cuda_options *options)
{
    pe_cuda_facts f = { 0 };
    pe_cuda_options o;
    pe_error device = { 0 }, compiler = { 0 };
    char folder[CACHE_FOLDER_ROOM];
    if (!facts || facts->size < sizeof facts->size)
        return;
    f.size = facts->size;
    f.built_in = (int)bundle_built_in()->count;
    if (!read_options(&o, options, &device)) {
        look_at_device(&f, &o, &device);
        look_at_compiler(&f, &o, &compiler);
        cache_folder(folder, o.cache);
        snprintf(f.cache, sizeof f.cache, "%.299s", folder);
    }
    say_missing(&f, &device, &compiler);
    memcpy(facts, &f, f.size < sizeof f ? f.size : sizeof f);
}
