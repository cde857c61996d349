/* SPDX-License-Identifier: MIT */
#include "cuda/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/library.h"

#define FUNCTION(field, name)                                                                                          \
    {                                                                                                                  \
        name, offsetof(cuda_compiler, field), false                                                                    \
    }
static const library_function functions[] = {
    FUNCTION(get_version, "nvrtcVersion"),
    FUNCTION(error_text, "nvrtcGetErrorString"),
    FUNCTION(program_new, "nvrtcCreateProgram"),
    FUNCTION(program_free, "nvrtcDestroyProgram"),
    FUNCTION(compile, "nvrtcCompileProgram"),
    FUNCTION(cubin_size, "nvrtcGetCUBINSize"),
    FUNCTION(cubin, "nvrtcGetCUBIN"),
    FUNCTION(log_size, "nvrtcGetProgramLogSize"),
    FUNCTION(log, "nvrtcGetProgramLog"),
    { NULL, 0, false },
};

static const char *const usual[] = {
    "libnvrtc.so",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.12",
    NULL,
};

/* ---------------------------------------------------------------- the library */

static pe_status open_one(cuda_compiler *c, const char *path, pe_error *err)
{
    char why[160];
    const char *lacks;
    int major = 0, minor = 0;
    void *library = library_open(path, functions, c, &lacks, why, sizeof why);
    if (lacks)
        return pe_fail(err, PE_ERR_DEVICE, "%.150s has no %s; needs CUDA's nvrtc 12 or newer", path, lacks);
    if (!library)
        return pe_fail(err, PE_ERR_DEVICE, "%s", why);
    int code = c->get_version(&major, &minor);
    if (code) {
        library_close(library);
        return pe_fail(err, PE_ERR_DEVICE, "%.150s: nvrtcVersion failed (%d)", path, code);
    }
    c->library = library;
    c->version = 1000 * major + 10 * minor;
    return pe_pass(err);
}

pe_status compiler_open(cuda_compiler *c, const char *path, pe_error *err)
{
    const char *named = path ? path : getenv("POSENC_NVRTC");
    *c = (cuda_compiler){ 0 };
    if (named && *named)
        return open_one(c, named, err);
    for (int i = 0; usual[i]; i++)
        if (!open_one(c, usual[i], err))
            return PE_OK;
    return pe_fail(err, PE_ERR_DEVICE, "libnvrtc is not there");
}

void compiler_close(cuda_compiler *c)
{
    library_close(c->library);
    *c = (cuda_compiler){ 0 };
}

/* ---------------------------------------------------------------- a program */

static char *log_of(const cuda_compiler *c, void *program)
{
    size_t bytes = 0;
    if (c->log_size(program, &bytes))
        bytes = 0;
    char *log = malloc(bytes + 1);
    if (!log)
        return NULL;
    if (!bytes || c->log(program, log))
        bytes = 0;
    log[bytes] = 0;
    return log;
}

/* The first line that has an error in it; else the first. */
static int error_line(const char *log, const char **out)
{
    const char *at = strstr(log, "error");
    while (at && at > log && at[-1] != '\n')
        at--;
    *out = at ? at : log;
    return (int)strcspn(*out, "\n"); /* fits: it is cut to a sentence */
}

static pe_status compile_failed(const cuda_compiler *c, int code, const char *entry, const char *log, pe_error *err)
{
    const char *line = "";
    int length = log ? error_line(log, &line) : 0;
    return pe_fail(err, PE_ERR_DEVICE, "kernel %.40s: nvrtc %d.%d: %.40s: %.*s", entry, c->version / 1000,
                   c->version % 1000 / 10, c->error_text(code), length < 180 ? length : 180, line);
}

static pe_status take_cubin(const cuda_compiler *c, void *program, const char *entry, blob *cubin, pe_error *err)
{
    size_t bytes = 0;
    int code = c->cubin_size(program, &bytes);
    if (code || !bytes)
        return pe_fail(err, PE_ERR_DEVICE, "kernel %.40s: nvrtc made no code (%d); needs CUDA's nvrtc 12 or newer",
                       entry, code);
    cubin->data = malloc(bytes);
    if (!cubin->data)
        return pe_fail(err, PE_ERR_NOMEM, "kernel %.40s: no memory for %zu bytes of code", entry, bytes);
    cubin->bytes = bytes;
    code = c->cubin(program, (char *)cubin->data);
    if (!code)
        return pe_pass(err);
    free(cubin->data);
    *cubin = (blob){ 0 };
    return pe_fail(err, PE_ERR_DEVICE, "kernel %.40s: nvrtcGetCUBIN: %.100s", entry, c->error_text(code));
}

pe_status compiler_build(const cuda_compiler *c, const kernel_program *p, const char *entry, int capability,
                         blob *cubin, char **log, pe_error *err)
{
    char architecture[16], target[40];
    const char *options[PROGRAM_OPTIONS_MAX + 1];
    void *program = NULL;
    *cubin = (blob){ 0 };
    if (log)
        *log = NULL;
    program_architecture(architecture, capability);
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    memcpy(options, p->options, sizeof p->options);
    options[p->options_count] = target;
    int code = c->program_new(&program, p->text, entry, p->headers_count, p->headers, p->header_names);
    if (code)
        return pe_fail(err, PE_ERR_DEVICE, "kernel %.40s: nvrtcCreateProgram: %.100s", entry, c->error_text(code));
    code = c->compile(program, p->options_count + 1, options);
    char *said = log_of(c, program);
    pe_status s = code ? compile_failed(c, code, entry, said, err) : take_cubin(c, program, entry, cubin, err);
    c->program_free(&program);
    if (log)
        *log = said;
    else
        free(said);
    return s;
}
