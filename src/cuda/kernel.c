/* SPDX-License-Identifier: MIT */
#include "cuda/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle.h"
#include "cuda/cache.h"

/* Kernels of one program share its module. */
typedef struct loaded {
    hash128 name, program;
    void *module;
    bool shares; /* the module is that of an earlier kernel */
    kernel kernel;
} loaded;

/* `find` guards the list and is held for moments. `make` is held while a kernel is made, so each is made once; kernels
 * that are loaded do not wait for it. */
struct kernel_table {
    pthread_mutex_t find, make;
    loaded *list;
    int count, room;
    char *compiler_path;
    cuda_compiler compiler; /* opened by the first kernel that is not built in */
    char cache[CACHE_FOLDER_ROOM];
};

/* ---------------------------------------------------------------- the table */

pe_status kernel_table_new(struct kernel_table **out, const char *cache, const char *compiler, pe_error *err)
{
    struct kernel_table *t = *out = calloc(1, sizeof *t);
    if (t && compiler)
        t->compiler_path = malloc(strlen(compiler) + 1);
    if (!t || (compiler && !t->compiler_path)) {
        free(t);
        *out = NULL;
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a table of kernels");
    }
    if (compiler)
        memcpy(t->compiler_path, compiler, strlen(compiler) + 1);
    cache_folder(t->cache, cache);
    pthread_mutex_init(&t->find, NULL); /* those of this kind do not fail */
    pthread_mutex_init(&t->make, NULL);
    return pe_pass(err);
}

void kernel_table_free(const pe_cuda *gpu, struct kernel_table *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->count; i++)
        if (!table->list[i].shares)
            driver_unload(gpu, table->list[i].module);
    compiler_close(&table->compiler);
    pthread_mutex_destroy(&table->find);
    pthread_mutex_destroy(&table->make);
    free(table->compiler_path);
    free(table->list);
    free(table);
}

/* Of its sources only the names: their texts do not change while the program runs. */
static hash128 kernel_name(const kernel_source *source, const char *defines)
{
    hash128 h = hash_word((hash128){ 0 }, source->exact);
    h = hash_text(h, source->entry);
    for (const char *const *name = source->sources; *name; name++)
        h = hash_text(h, *name);
    return hash_text(h, defines);
}

static bool table_find(struct kernel_table *t, hash128 name, kernel *out)
{
    bool found = false;
    pthread_mutex_lock(&t->find);
    for (int i = 0; !found && i < t->count; i++) {
        found = hash_same(t->list[i].name, name);
        if (found)
            *out = t->list[i].kernel;
    }
    pthread_mutex_unlock(&t->find);
    return found;
}

/* Room for one more; nothing else adds to the list meanwhile. */
static bool table_grow(struct kernel_table *t)
{
    if (t->count < t->room)
        return true;
    int room = 2 * t->room + 16;
    pthread_mutex_lock(&t->find);
    loaded *list = realloc(t->list, (size_t)room * sizeof *list);
    if (list) {
        t->list = list;
        t->room = room;
    }
    pthread_mutex_unlock(&t->find);
    return list != NULL;
}

static void table_add(struct kernel_table *t, loaded l)
{
    pthread_mutex_lock(&t->find);
    t->list[t->count++] = l;
    pthread_mutex_unlock(&t->find);
}

/* ---------------------------------------------------------------- making one */

typedef struct making {
    pe_cuda *gpu;
    const kernel_source *source;
    const kernel_program *program;
    loaded *out;
    pe_error *err;
} making;

/* PE_OK: loaded. *refused: other code may do. */
static pe_status load_code(const making *m, const void *code, bool *refused)
{
    pe_status s = driver_load(m->gpu, code, m->source->entry, &m->out->module, refused, m->err);
    if (s)
        return s;
    s = driver_function(m->gpu, m->out->module, m->source->entry, &m->out->kernel, m->err);
    if (s)
        driver_unload(m->gpu, m->out->module);
    return s;
}

/* True: it is over, with *s. Code that the driver refuses is as if it were not there. */
static bool load_made(const making *m, const void *code, pe_status *s)
{
    bool refused = false;
    if (!code)
        return false;
    *s = load_code(m, code, &refused);
    return !refused;
}

/* The same, from the module of another kernel of this program. */
static bool load_shared(const making *m, const struct kernel_table *t, pe_status *s)
{
    for (int i = 0; i < t->count; i++)
        if (hash_same(t->list[i].program, m->program->hash)) {
            m->out->module = t->list[i].module;
            m->out->shares = true;
            *s = driver_function(m->gpu, m->out->module, m->source->entry, &m->out->kernel, m->err);
            return true;
        }
    return false;
}

static pe_status no_compiler(const making *m, const pe_error *why)
{
    char architecture[16];
    program_architecture(architecture, cuda_capability(m->gpu));
    return pe_fail(m->err, PE_ERR_DEVICE,
                   "the kernel %.40s for %s is not built in, and its compiler cannot be used (%.90s): install CUDA's "
                   "nvrtc (PyPI: nvidia-cuda-nvrtc), or name its file in POSENC_NVRTC",
                   m->source->entry, architecture, why->text);
}

static pe_status compile_kernel(const making *m, const struct kernel_table *t, cache_key key)
{
    blob code;
    bool refused;
    pe_status s =
        compiler_build(&t->compiler, m->program, m->source->entry, cuda_capability(m->gpu), &code, NULL, m->err);
    if (s)
        return s;
    s = load_code(m, code.data, &refused);
    if (!s)
        cache_write(t->cache, key, code);
    free(code.data);
    return s;
}

static pe_status make_kernel(const making *m, struct kernel_table *t)
{
    int capability = cuda_capability(m->gpu);
    pe_status s = PE_OK;
    pe_error why = { 0 };
    blob code = { 0 };
    if (load_shared(m, t, &s) || load_made(m, bundle_find(m->gpu->bundle, m->program->hash, capability), &s))
        return s;
    if (!t->compiler.library)
        compiler_open(&t->compiler, t->compiler_path, &why);
    cache_key key = { m->program->hash, capability, t->compiler.version };
    cache_read(t->cache, key, &code);
    bool over = load_made(m, code.data, &s);
    free(code.data);
    if (over)
        return s;
    return t->compiler.library ? compile_kernel(m, t, key) : no_compiler(m, &why);
}

/* While `make` is held. */
static pe_status add_kernel(pe_cuda *gpu, const kernel_source *source, const char *defines, hash128 name, kernel *out,
                            pe_error *err)
{
    struct kernel_table *t = gpu->kernels;
    loaded l = { .name = name };
    kernel_program p = { 0 };
    if (table_find(t, name, out)) /* another thread made it meanwhile */
        return pe_pass(err);
    if (!table_grow(t))
        return pe_fail(err, PE_ERR_NOMEM, "kernel %.40s: no memory for the table of kernels", source->entry);
    pe_status s = program_new(&p, source, defines, err);
    l.program = p.hash;
    if (!s)
        s = make_kernel(&(making){ gpu, source, &p, &l, err }, t);
    program_free(&p);
    if (s)
        return s;
    table_add(t, l);
    *out = l.kernel;
    return pe_pass(err);
}

pe_status cuda_kernel(pe_cuda *gpu, const kernel_source *source, const char *defines, kernel *out, pe_error *err)
{
    hash128 name = kernel_name(source, defines);
    if (table_find(gpu->kernels, name, out))
        return pe_pass(err);
    pthread_mutex_lock(&gpu->kernels->make);
    pe_status s = add_kernel(gpu, source, defines, name, out, err);
    pthread_mutex_unlock(&gpu->kernels->make);
    return s;
}
