/* SPDX-License-Identifier: MIT */
#include "zoo/build.h"

#include "base/text.h"
#include "io/checked.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct zoo_block {
    zoo_block *next;
    max_align_t data[];
};

/* ---------------------------------------------------------------- memory */

void *zoo_alloc(zoo_builder *b, size_t count, size_t size)
{
    size_t bytes;
    zoo_block *block = NULL;
    if (io_mul(&bytes, count, size) && io_add(&bytes, bytes, sizeof *block))
        block = calloc(1, bytes);
    if (!block) {
        zoo_fail(b, PE_ERR_NOMEM, "no memory");
        return NULL;
    }
    block->next = b->blocks;
    b->blocks = block;
    return block->data;
}

static const char *vtext(zoo_builder *b, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = zoo_alloc(b, (size_t)(n < 0 ? 0 : n) + 1, 1);
    if (text)
        vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, list);
    return text;
}

const char *zoo_text(zoo_builder *b, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *text = vtext(b, format, list);
    va_end(list);
    return text;
}

static void free_blocks(zoo_block *block)
{
    while (block) {
        zoo_block *next = block->next;
        free(block);
        block = next;
    }
}

void zoo_free(zoo_model *m)
{
    zoo_builder *b = (zoo_builder *)m;
    if (b)
        free_blocks(b->blocks);
    free(b);
}

/* ---------------------------------------------------------------- the model */

zoo_builder *zoo_begin(const char *path, const char *format, const zoo_options *options, pe_error *err)
{
    static const zoo_options none = { 0 };
    zoo_builder *b = calloc(1, sizeof *b);
    if (!b) {
        io_fail(err, PE_ERR_NOMEM, "%s: no memory", path);
        return NULL;
    }
    *b = (zoo_builder){ .model.path = path, .options = options ? options : &none, .err = err };
    b->model.path = zoo_text(b, "%s", path);
    b->model.format = format;
    b->model.part = zoo_alloc(b, ZOO_PARTS_MAX, sizeof *b->model.part);
    b->model.note = zoo_alloc(b, ZOO_NOTES_MAX, sizeof *b->model.note);
    b->spec = zoo_alloc(b, 1, sizeof *b->spec);
    if (b->model.path && b->model.part && b->model.note && b->spec)
        return b;
    zoo_free(&b->model);
    return NULL;
}

pe_status zoo_finish(zoo_model **out, zoo_builder *b, pe_status s)
{
    *out = NULL;
    if (s == PE_OK && b->model.parts == 0)
        s = zoo_fail(b, PE_ERR_FORMAT, "says nothing about positions");
    for (int p = 0; s == PE_OK && p < b->model.parts; p++)
        for (int64_t n = 0; s == PE_OK && n < b->model.part[p].layers; n++)
            if (b->model.part[p].layer[n].group < 0)
                s = zoo_fail(b, PE_ERR_FORMAT, "nothing says what layer %lld does", (long long)n);
    if (s != PE_OK) {
        zoo_free(&b->model);
        return s;
    }
    b->options = NULL; /* the caller's */
    b->err = NULL;
    *out = &b->model;
    return PE_OK;
}

zoo_mark zoo_mark_here(const zoo_builder *b)
{
    return (zoo_mark){ b->blocks, b->model.parts, b->model.notes };
}

void zoo_undo(zoo_builder *b, zoo_mark mark)
{
    while (b->blocks != mark.blocks) {
        zoo_block *next = b->blocks->next;
        free(b->blocks);
        b->blocks = next;
    }
    b->model.parts = mark.parts;
    b->model.notes = mark.notes;
}

pe_status zoo_add_part(zoo_builder *b, zoo_part **out, const char *name, const char *type, int64_t layers)
{
    const char *path = b->model.path;
    if (layers < 1 || layers > ZOO_LAYERS_MAX)
        return io_fail(b->err, PE_ERR_RANGE, "%s: has %lld layers; needs 1 to %d", path, (long long)layers,
                       ZOO_LAYERS_MAX);
    if (b->model.parts == ZOO_PARTS_MAX)
        return io_fail(b->err, PE_ERR_FORMAT, "%s: has more than %d parts", path, ZOO_PARTS_MAX);
    zoo_part *p = &b->model.part[b->model.parts];
    *p = (zoo_part){ .name = zoo_text(b, "%s", name), .type = zoo_text(b, "%s", type), .layers = layers };
    p->layer = zoo_alloc(b, (size_t)layers, sizeof *p->layer);
    p->group = zoo_alloc(b, ZOO_GROUPS_MAX, sizeof *p->group);
    if (!p->name || !p->type || !p->layer || !p->group)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < layers; n++)
        p->layer[n] = (zoo_layer){ .group = -1, .kind = "" };
    b->model.parts++;
    *out = p;
    return PE_OK;
}

static bool same_shape(pe_shape a, pe_shape b)
{
    return a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim && a.model_dim == b.model_dim;
}

static int find_group(const zoo_part *p, const char *spec, pe_shape shape)
{
    for (int g = 0; g < p->groups; g++)
        if (same_shape(p->group[g].shape, shape) && !strcmp(p->group[g].spec, spec))
            return g;
    return -1;
}

static bool too_many(const zoo_part *p, const char *spec)
{
    int lists = 0;
    for (int g = 0; g < p->groups; g++)
        lists += strlen(p->group[g].spec) > ZOO_LONG_SPEC;
    return p->groups == ZOO_GROUPS_MAX || (strlen(spec) > ZOO_LONG_SPEC && lists == ZOO_LONG_MAX);
}

static pe_status add_group(zoo_builder *b, zoo_part *p, const char *spec, pe_shape shape, int *group)
{
    if (too_many(p, spec))
        return zoo_fail(b, PE_ERR_FORMAT, "has more than %d different layers, or %d with lists", ZOO_GROUPS_MAX,
                        ZOO_LONG_MAX);
    const char *text = zoo_text(b, "%s", spec);
    if (!text)
        return PE_ERR_NOMEM;
    *group = p->groups++;
    p->group[*group] = (zoo_group){ .spec = text, .shape = shape };
    return PE_OK;
}

/* The group of this spec, made if it is new. */
static pe_status settle_group(zoo_builder *b, zoo_part *p, const char *spec, pe_shape shape, int *group)
{
    pe_encoding *e;
    pe_error why;
    pe_status s = pe_encoding_new(&e, spec, shape, &why);
    if (s != PE_OK)
        return zoo_fail(b, s == PE_ERR_NOMEM ? s : PE_ERR_FORMAT, "%s", why.text);
    shape = pe_encoding_shape(e);
    *group = find_group(p, pe_encoding_spec(e), shape);
    if (*group < 0)
        s = add_group(b, p, pe_encoding_spec(e), shape, group);
    pe_encoding_free(e);
    return s;
}

/* A group that was asked for by the same text and the same width of a head: how many heads there are does not change
 * the spec, and making an encoding of a wide head costs. */
static int asked_before(const zoo_part *p, const char *spec, pe_shape shape)
{
    bool divides = shape.heads > 0 && shape.kv_heads >= 0 && (!shape.kv_heads || shape.heads % shape.kv_heads == 0);
    for (int g = 0; divides && g < p->groups; g++)
        if (p->group[g].asked_shape.head_dim == shape.head_dim && shape.heads <= p->group[g].shape.heads &&
            p->group[g].asked && !strcmp(p->group[g].asked, spec))
            return g;
    return -1;
}

/* As pe_encoding_shape fills it in. */
static pe_shape full_shape(pe_shape s)
{
    s.kv_heads = s.kv_heads ? s.kv_heads : s.heads;
    s.model_dim = s.model_dim ? s.model_dim : s.heads * s.head_dim;
    return s;
}

/* What the layer before was given is remembered as it was: making an encoding costs, and most layers are alike. */
pe_status zoo_set_layer(zoo_builder *b, zoo_part *p, int64_t layer, const char *spec, pe_shape shape, const char *kind,
                        int64_t window)
{
    int group = -1;
    for (int g = 0; g < p->groups && group < 0; g++)
        if (p->group[g].asked && !strcmp(p->group[g].asked, spec) && same_shape(p->group[g].asked_shape, shape))
            group = g;
    if (group < 0) {
        int like = asked_before(p, spec, shape);
        if (like >= 0)
            TRY(add_group(b, p, p->group[like].spec, full_shape(shape), &group));
        else
            TRY(settle_group(b, p, spec, shape, &group));
        p->group[group].asked = zoo_text(b, "%s", spec);
        p->group[group].asked_shape = shape;
        if (!p->group[group].asked)
            return PE_ERR_NOMEM;
    }
    const char *copy = kind && *kind ? zoo_text(b, "%s", kind) : "";
    if (!copy)
        return PE_ERR_NOMEM;
    p->layer[layer] = (zoo_layer){ .group = group, .kind = copy, .window = window };
    p->group[group].layers++;
    return PE_OK;
}

void zoo_same_layer(zoo_part *p, int64_t layer, int64_t from, int64_t window)
{
    p->layer[layer] = p->layer[from];
    p->layer[layer].window = window;
    p->group[p->layer[from].group].layers++;
}

/* ---------------------------------------------------------------- notes */

static pe_status vnote(zoo_builder *b, zoo_level level, const char *key, const char *ref, const char *format,
                       va_list list)
{
    zoo_model *m = &b->model;
    char text[600];
    vsnprintf(text, sizeof text, format, list);
    for (int i = 0; i < m->notes; i++)
        if (!strcmp(m->note[i].text, text))
            return PE_OK;
    if (m->notes == ZOO_NOTES_MAX)
        return PE_OK;
    zoo_note n = { level, zoo_text(b, "%s", key ? key : ""), zoo_text(b, "%s", text),
                   zoo_text(b, "%s", ref ? ref : "") };
    if (!n.key || !n.text || !n.ref)
        return PE_ERR_NOMEM;
    m->note[m->notes++] = n;
    return PE_OK;
}

pe_status zoo_note_add(zoo_builder *b, zoo_level level, const char *key, const char *ref, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pe_status s = vnote(b, level, key, ref, format, list);
    va_end(list);
    return s;
}

pe_status zoo_fail(zoo_builder *b, pe_status status, const char *format, ...)
{
    char what[sizeof(pe_error)];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return io_fail(b->err, status, "%s: %s", b->model.path, what);
}

pe_status zoo_unknown(zoo_builder *b, const char *key, const char *option, const char *guess, const char *format, ...)
{
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (b->options->lenient)
        return zoo_note_add(b, ZOO_GUESS, key, "", "%s; assumed: %s", what, guess);
    return zoo_fail(b, PE_ERR_FORMAT, "%s; pass %s, or --lenient to assume %s", what, option, guess);
}

/* ---------------------------------------------------------------- spec text, key by key */

static void spec_put(zoo_spec *s, const char *format, ...) IO_PRINTF(2, 3);
static void spec_put(zoo_spec *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, list);
    va_end(list);
    s->full |= n < 0 || (size_t)n >= sizeof s->text - s->used;
    s->used = s->full ? sizeof s->text - 1 : s->used + (size_t)n;
}

static void spec_key(zoo_spec *s, const char *key)
{
    spec_put(s, "%c%s=", strchr(s->text, ':') ? ',' : ':', key);
}

zoo_figure zoo_number(double x)
{
    zoo_figure out;
    text_print(out.text, sizeof out.text, x);
    return out;
}

void zoo_spec_start(zoo_spec *s, const char *name)
{
    s->used = 0;
    s->full = false;
    spec_put(s, "%s", name);
}

void zoo_spec_word(zoo_spec *s, const char *key, const char *x)
{
    spec_key(s, key);
    spec_put(s, "%s", x);
}

void zoo_spec_real(zoo_spec *s, const char *key, double x)
{
    char text[40];
    if (isnan(x))
        return;
    text_print(text, sizeof text, x);
    zoo_spec_word(s, key, text);
}

void zoo_spec_int(zoo_spec *s, const char *key, int64_t x)
{
    spec_key(s, key);
    spec_put(s, "%" PRId64, x);
}

void zoo_spec_raw(zoo_spec *s, const char *keys)
{
    if (keys && *keys)
        spec_put(s, "%c%s", strchr(s->text, ':') ? ',' : ':', keys);
}

void zoo_spec_list(zoo_spec *s, const char *key, const double *x, size_t count)
{
    char text[40];
    spec_key(s, key);
    for (size_t i = 0; i < count; i++) {
        text_print(text, sizeof text, x[i]);
        spec_put(s, "%s%s", i ? "/" : "", text);
    }
}
