/* SPDX-License-Identifier: MIT */
#include "cuda/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The run-time compiler has no headers. What the *_args.h need of this one: */
static const char fixed_widths[] = "#pragma once\n"
                                   "typedef signed char int8_t;\n"
                                   "typedef unsigned char uint8_t;\n"
                                   "typedef short int16_t;\n"
                                   "typedef unsigned short uint16_t;\n"
                                   "typedef int int32_t;\n"
                                   "typedef unsigned int uint32_t;\n"
                                   "typedef long int64_t;\n"
                                   "typedef unsigned long uint64_t;\n";

static const char *text_of(const char *name)
{
    for (const cuda_text *t = cuda_texts; t->name; t++)
        if (!strcmp(t->name, name))
            return t->text;
    return NULL;
}

static bool is_header(const char *name)
{
    size_t n = strlen(name);
    return n > 2 && !strcmp(name + n - 2, ".h");
}

static void add_header(kernel_program *p, const char *name, const char *text)
{
    p->header_names[p->headers_count] = name;
    p->headers[p->headers_count++] = text;
    p->hash = hash_text(hash_text(p->hash, name), text);
}

static void add_option(kernel_program *p, const char *option)
{
    p->options[p->options_count++] = option;
    p->hash = hash_text(p->hash, option);
}

/* Errors name the file and its line. */
static size_t add_text(char *to, size_t room, const char *name, const char *text)
{
    int n = snprintf(to, room, "#line 1 \"%s\"\n%s\n", name, text);
    return n > 0 ? (size_t)n : 0;
}

/* Its length; `to` may be NULL. */
static size_t write_text(char *to, size_t room, const kernel_source *source, const char *defines)
{
    size_t n = add_text(to, room, "defines", defines);
    for (const char *const *name = source->sources; *name; name++)
        n += add_text(to ? to + n : NULL, to ? room - n : 0, *name, text_of(*name));
    return n;
}

pe_status program_new(kernel_program *out, const kernel_source *source, const char *defines, pe_error *err)
{
    *out = (kernel_program){ 0 };
    for (const char *const *name = source->sources; *name; name++)
        if (!text_of(*name))
            return pe_fail(err, PE_ERR_DEVICE, "kernel %s: its source %s is not part of this library", source->entry,
                           *name);
    size_t bytes = write_text(NULL, 0, source, defines) + 1;
    out->text = malloc(bytes);
    if (!out->text)
        return pe_fail(err, PE_ERR_NOMEM, "kernel %s: no memory for its text", source->entry);
    write_text(out->text, bytes, source, defines);
    out->hash = hash_text(out->hash, out->text);
    add_option(out, "-std=c++17");
    add_option(out, "-default-device");    /* functions are the device's without saying so */
    add_option(out, "--ptxas-options=-v"); /* registers and spills in the log */
    if (source->exact)
        add_option(out, "-fmad=false");
    add_header(out, "stdint.h", fixed_widths);
    for (const cuda_text *t = cuda_texts; t->name && out->headers_count < PROGRAM_HEADERS_MAX; t++)
        if (is_header(t->name))
            add_header(out, t->name, t->text);
    return pe_pass(err);
}

void program_free(kernel_program *p)
{
    free(p->text);
    *p = (kernel_program){ 0 };
}

void program_architecture(char out[16], int capability)
{
    snprintf(out, 16, "sm_%d%s", capability, capability == 90 ? "a" : "");
}
