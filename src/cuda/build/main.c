/* SPDX-License-Identifier: MIT
 *
 * posenc-cuda-build LIBNVRTC FILE CAPABILITY...: compiles the recipes for each of the architectures (90 is 9.0) and
 * writes the bundle that becomes part of the library. An architecture for which a recipe does not compile is left out,
 * with a warning; the first one must compile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle.h"
#include "cuda/recipes.h"

typedef struct bundle_list {
    bundle_entry *entry;
    blob *code;
    int count, room;
} bundle_list;

static bool list_add(bundle_list *l, bundle_entry e, blob code)
{
    if (l->count == l->room) {
        l->room = 2 * l->room + 64;
        bundle_entry *entry = realloc(l->entry, (size_t)l->room * sizeof *entry);
        blob *more = realloc(l->code, (size_t)l->room * sizeof *more);
        l->entry = entry ? entry : l->entry;
        l->code = more ? more : l->code;
        if (!entry || !more)
            return false;
    }
    l->entry[l->count] = e;
    l->code[l->count++] = code;
    return true;
}

static void list_cut(bundle_list *l, int count)
{
    while (l->count > count)
        free(l->code[--l->count].data);
}

static pe_status build_one(const cuda_compiler *c, const kernel_recipe *r, int capability, bundle_list *l,
                           pe_error *err)
{
    kernel_program p;
    blob code = { 0 };
    pe_status s = program_new(&p, r->source, r->defines, err);
    for (int i = 0; !s && i < l->count; i++)
        if (hash_same(l->entry[i].program, p.hash) && l->entry[i].capability == (uint32_t)capability) {
            program_free(&p); /* two entries of one program */
            return PE_OK;
        }
    if (!s)
        s = compiler_build(c, &p, r->source->entry, capability, &code, NULL, err);
    bundle_entry e = { p.hash, (uint32_t)capability, (uint32_t)c->version, 0, code.bytes };
    if (!s && !list_add(l, e, code))
        s = pe_fail(err, PE_ERR_NOMEM, "no memory");
    program_free(&p);
    return s;
}

static pe_status build_all(const cuda_compiler *c, int capability, bundle_list *l, pe_error *err)
{
    static kernel_recipe r;
    pe_status s = PE_OK;
    int before = l->count;
    for (recipe_list *const *list = kernel_recipes; !s && *list; list++)
        for (int i = 0; !s && (r = (kernel_recipe){ 0 }, (*list)(i, capability, &r)); i++)
            s = build_one(c, &r, capability, l, err);
    if (s)
        list_cut(l, before);
    return s;
}

static bool write_bundle(const char *path, const bundle_list *l)
{
    static const char zeros[16];
    bundle_head head = { BUNDLE_MAGIC, (uint64_t)l->count, 0 };
    uint64_t at = sizeof head + (uint64_t)l->count * sizeof *l->entry;
    FILE *f = fopen(path, "wb");
    bool well = f && fwrite(&head, sizeof head, 1, f) == 1;
    for (int i = 0; well && i < l->count; i++) {
        l->entry[i].offset = at;
        at += (l->entry[i].bytes + 15) / 16 * 16;
        well = fwrite(&l->entry[i], sizeof *l->entry, 1, f) == 1;
    }
    for (int i = 0; well && i < l->count; i++) {
        size_t bytes = l->code[i].bytes, gap = (16 - bytes % 16) % 16;
        well = fwrite(l->code[i].data, 1, bytes, f) == bytes && fwrite(zeros, 1, gap, f) == gap;
    }
    return f && !fclose(f) && well;
}

int main(int argc, char **argv)
{
    cuda_compiler c = { 0 };
    bundle_list l = { 0 };
    pe_error err = { 0 };
    bool well = argc > 3 && !compiler_open(&c, argv[1], &err);
    if (argc <= 3)
        fprintf(stderr, "usage: posenc-cuda-build LIBNVRTC FILE CAPABILITY...\n");
    for (int i = 3; well && i < argc; i++)
        if (build_all(&c, atoi(argv[i]), &l, &err)) {
            fprintf(stderr, "posenc-cuda-build: no kernels for %s: %s\n", argv[i], err.text);
            well = i > 3;
        }
    if (well && !write_bundle(argv[2], &l)) {
        well = false;
        pe_fail(&err, PE_ERR_IO, "%s: cannot be written", argv[2]);
    }
    if (well)
        printf("%d kernels\n", l.count);
    else if (*err.text)
        fprintf(stderr, "posenc-cuda-build: %s\n", err.text);
    list_cut(&l, 0);
    free(l.entry);
    free(l.code);
    compiler_close(&c);
    return !well;
}
