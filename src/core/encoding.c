/* SPDX-License-Identifier: MIT
 *
 * Making an encoding: parts from the spec, then what they add up to. */
#include "core/contract.h"
#include "core/door.h"
#include "core/spec.h"
#include "core/rotation.h"
#include "core/waves.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SPEC_MAX 65536

static pe_status check_shape(pe_shape *s, pe_error *err)
{
    if (s->heads < 1 || s->heads > 65536)
        return pe_fail(err, PE_ERR_SHAPE, "heads is %" PRId64 "; needs 1 to 65536", s->heads);
    if (!s->kv_heads)
        s->kv_heads = s->heads;
    if (s->kv_heads < 1 || s->kv_heads > s->heads || s->heads % s->kv_heads)
        return pe_fail(err, PE_ERR_SHAPE, "kv_heads is %" PRId64 "; needs a divisor of heads, %" PRId64, s->kv_heads,
                       s->heads);
    if (s->head_dim < 1 || s->head_dim > PE_HEAD_DIM_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "head_dim is %" PRId64 "; needs 1 to %d", s->head_dim, PE_HEAD_DIM_MAX);
    if (!s->model_dim)
        s->model_dim = s->heads * s->head_dim;
    if (s->model_dim < 1 || s->model_dim > INT64_C(1) << 24)
        return pe_fail(err, PE_ERR_SHAPE, "model_dim is %" PRId64 "; needs 1 to 2^24", s->model_dim);
    return PE_OK;
}

void *part_alloc(part *p, int64_t count, size_t size, pe_error *err)
{
    p->state = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p->state)
        pe_fail(err, PE_ERR_NOMEM, "%s: no memory for %" PRId64 " x %zu bytes", p->row->info.name, count, size);
    return p->state;
}

pe_status part_tensor(part *p, tensor t, pe_error *err)
{
    t.count = 1;
    for (int i = 0; i < t.rank; i++)
        if (!checked_mul(&t.count, t.count, t.shape[i]) || t.count > INT64_C(1) << 56)
            return pe_fail(err, PE_ERR_OVERFLOW, "%s: %s is too large for 64-bit sizes", p->row->info.name, t.name);
    if (p->tensors == TENSORS_MAX)
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: more than %d tensors", p->row->info.name, TENSORS_MAX);
    p->tensor[p->tensors++] = t;
    return PE_OK;
}

pe_status part_fail(const part *p, pe_error *err, int key, const char *why)
{
    const pe_key *k = &p->row->keys[key];
    if (k->kind == PE_KEY_INT || k->kind == PE_KEY_REAL)
        return pe_fail(err, PE_ERR_RANGE, "%s: %s is %s; %s", p->row->info.name, k->name,
                       text_show(p->value[key].num).text, why);
    return pe_fail(err, PE_ERR_RANGE, "%s: %s %s", p->row->info.name, k->name, why);
}

pe_status part_make(part *p, const row *r, value *values, pe_shape shape, const kernels *k, pe_error *err)
{
    *p = (part){ .row = r,
                 .value = values,
                 .shape = shape,
                 .hooks = r->info.hooks,
                 .claims = r->info.claims,
                 .axes = 1,
                 .scale_factor = 1,
                 .stage = PE_AFTER_SCALE,
                 .width = shape.model_dim };
    TRY(r->init ? r->init(p, err) : PE_OK);
    TRY(part_contract(p, err));
    if (p->waves.count)
        TRY(part_waves(p, k, err));
    return r->rotate ? part_plan(p, k, err) : PE_OK;
}

void part_free(part *p)
{
    free(p->state);
    free(p->plan);
    free(p->waves.plan);
}

static pe_status add_part(pe_encoding *e, const char **cursor, pe_error *err)
{
    if (e->parts == PARTS_MAX)
        return pe_fail(err, PE_ERR_SPEC, "a combination has at most %d parts", PARTS_MAX);
    part *p = &e->part[e->parts];
    value *values = NULL;
    pe_status s = spec_read(cursor, &p->row, &values, err);
    p->value = values;
    e->parts += p->row != NULL; /* now pe_encoding_free knows it */
    return s ? s : part_make(p, p->row, values, e->shape, &e->kernels, err);
}

/* Parts must agree: one softmax scale, one rotation, one count of keys; and no content term beside a rotation that
 * attention may shift. */
static pe_status check_parts(const pe_encoding *e, pe_error *err)
{
    const part *rotating = NULL, *scales = NULL, *carries = NULL, *inputs = NULL, *gates = NULL;
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        const char *name = p->row->info.name;
        if (p->scale != 0 && scales && p->scale != scales->scale)
            return pe_fail(err, PE_ERR_SPEC, "%s and %s need different softmax scales, so they cannot be combined",
                           scales->row->info.name, name);
        if (p->row->rotate && rotating)
            return pe_fail(err, PE_ERR_SPEC, "%s and %s both rotate; one rotation per encoding",
                           rotating->row->info.name, name);
        if (p->count.on && carries)
            return pe_fail(err, PE_ERR_SPEC, "%s and %s both count keys; one such term per encoding",
                           carries->row->info.name, name);
        for (int t = 0; t < p->terms; t++)
            if (p->term[t].input && inputs && inputs != p)
                return pe_fail(err, PE_ERR_SPEC, "%s and %s both take a vector with each query; one per encoding",
                               inputs->row->info.name, name);
            else if (p->term[t].input)
                inputs = p;
        if (p->gates && gates)
            return pe_fail(err, PE_ERR_SPEC, "%s and %s both take gates; one per encoding", gates->row->info.name,
                           name);
        gates = p->gates ? p : gates;
        rotating = p->row->rotate ? p : rotating;
        scales = p->scale != 0 ? p : scales;
        carries = p->count.on ? p : carries;
    }
    if (rotating && rotating->recentres && e->hooks & PE_HOOK_CONTENT)
        return pe_fail(err, PE_ERR_SPEC,
                       "%s scales queries and keys by positions that attention may shift; a term that looks "
                       "at them would change with it: combine it with a bias",
                       rotating->row->info.name);
    return PE_OK;
}

/* What all parts claim, less what their meeting spoils. */
static void join_claims(pe_encoding *e)
{
    int added = 0;
    bool rotating = false;
    e->claims = ~0u;
    for (int i = 0; i < e->parts; i++) {
        e->claims &= e->part[i].claims;
        added += e->part[i].row->embed && !e->part[i].concat;
        rotating = rotating || e->part[i].pairs;
    }
    if (e->param_count)
        e->claims |= PE_CLAIM_LEARNED;
    if (rotating && e->hooks & PE_HOOK_CONTENT) /* a rotated vector meets a table that was not rotated */
        e->claims &= ~PE_CLAIM_RELATIVE;
    if (added > 1) /* codes added to each other cannot be told apart again */
        e->claims &= ~(PE_CLAIM_LINEAR | PE_CLAIM_SYMMETRIC);
}

static pe_status join_parts(pe_encoding *e, pe_error *err)
{
    e->scale = 1 / sqrt((double)e->shape.head_dim);
    for (int i = 0; i < e->parts; i++) {
        part *p = &e->part[i];
        if (p->scale != 0)
            e->scale = p->scale;
        e->axes = p->axes > e->axes ? p->axes : e->axes;
        e->hooks |= p->hooks;
        for (int t = 0; t < p->terms; t++)
            e->relative = p->term[t].input ? p->term[t].input : e->relative;
        for (int t = 0; t < p->tensors; t++) {
            p->tensor[t].offset = e->param_count;
            if (!checked_add(&e->param_count, e->param_count, p->tensor[t].count))
                return pe_fail(err, PE_ERR_OVERFLOW, "the parameters do not fit 64-bit sizes");
        }
    }
    for (int i = 0; i < e->parts; i++)
        e->scale *= e->part[i].scale_factor;
    join_claims(e);
    return check_parts(e, err);
}

static size_t print_all(const pe_encoding *e, char *out, size_t cap)
{
    size_t used = 0;
    for (int i = 0; i < e->parts; i++) {
        if (i && used + 1 < cap)
            out[used] = '+';
        used += i > 0;
        used += spec_print(used < cap ? out + used : NULL, used < cap ? cap - used : 0, &e->part[i]);
    }
    return used;
}

/* FNV-1a over the text and the shape. */
static uint64_t fingerprint(const pe_encoding *e)
{
    char shape[100];
    uint64_t hash = 0xcbf29ce484222325u;
    snprintf(shape, sizeof shape, "@%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, e->shape.heads, e->shape.kv_heads,
             e->shape.head_dim, e->shape.model_dim);
    for (const char *c = e->text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    for (const char *c = shape; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

static pe_status build_encoding(pe_encoding *e, const char *spec, pe_error *err)
{
    const char *cursor = spec;
    TRY(add_part(e, &cursor, err));
    while (*cursor == '+') {
        cursor++;
        TRY(add_part(e, &cursor, err));
    }
    TRY(join_parts(e, err));
    params_tell(e);
    size_t n = print_all(e, NULL, 0) + 1;
    e->text = malloc(n);
    if (!e->text)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for the canonical spec");
    print_all(e, e->text, n);
    e->fingerprint = fingerprint(e);
    return pe_pass(err);
}

pe_status pe_encoding_new(pe_encoding **out, const char *spec, pe_shape shape, pe_error *err)
{
    CHECK_POINTER(pe_encoding *, out, "out, the address of a pe_encoding pointer,");
    *out = NULL;
    if (!spec)
        return pe_fail(err, PE_ERR_NULL, "spec is NULL; needs a text such as \"rope:theta=10000\"");
    if (memchr(spec, 0, SPEC_MAX) == NULL)
        return pe_fail(err, PE_ERR_SPEC, "spec is longer than %d letters", SPEC_MAX);
    TRY(check_shape(&shape, err));
    if (!exact_arithmetic())
        return pe_fail(err, PE_ERR_UNSUITED,
                       "this build of posenc does not compute as written; compile its files with "
                       "-ffp-contract=off -fno-fast-math");
    pe_encoding *e = calloc(1, sizeof *e);
    if (!e)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for an encoding");
    e->shape = shape;
    ladder_fill(&e->kernels, ladder_rungs());
    pe_status s = build_encoding(e, spec, err);
    if (s) {
        pe_encoding_free(e);
        return s;
    }
    *out = e;
    return PE_OK;
}

void pe_encoding_free(pe_encoding *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->parts; i++) {
        spec_free(e->part[i].row, e->part[i].value);
        part_free(&e->part[i]);
    }
    free(e->text);
    free(e);
}

const char *pe_encoding_spec(const pe_encoding *e)
{
    return e ? e->text : "";
}

uint64_t pe_encoding_fingerprint(const pe_encoding *e)
{
    return e ? e->fingerprint : 0;
}

pe_shape pe_encoding_shape(const pe_encoding *e)
{
    return e ? e->shape : (pe_shape){ 0 };
}

int64_t pe_encoding_axes(const pe_encoding *e)
{
    return e ? e->axes : 0;
}

double pe_encoding_scale(const pe_encoding *e)
{
    return e ? e->scale : 0;
}

unsigned pe_encoding_hooks(const pe_encoding *e)
{
    return e ? e->hooks : 0;
}

unsigned pe_encoding_claims(const pe_encoding *e)
{
    return e ? e->claims : 0;
}
