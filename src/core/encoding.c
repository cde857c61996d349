/* SPDX-License-Identifier: MIT
 *
 * Making an encoding: parts from the spec, then what they add up to. */
#include "core/contract.h"
#include "core/door.h"
#include "core/rotation.h"
#include "core/spec.h"
#include "core/waves.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SPEC_MAX 65536

/* ---------------------------------------------------------------- the plan of a rotation */

/* From a row's pairs and lanes to what loops want: runs of pairs that lie regularly, spans of pairs that rotate by the
 * same coordinate, ranges of elements that do not rotate. */

#define ALIGN 64

/* Whether b follows a in steps of 1, or of 2 where each pair is adjacent. */
static bool follows(lane a, lane b, int64_t by)
{
    return b.x == a.x + by && b.y == a.y + by && (by == 1 || a.y == a.x + 1);
}

static int64_t step_of(const lane *l, int64_t left)
{
    return left > 1 && follows(l[0], l[1], 2) ? 2 : 1;
}

/* Longest runs first to last; out NULL: only their number. */
static int find_runs(pair_run *out, const lane *from, const lane *to, int64_t pairs)
{
    int runs = 0;
    for (int64_t n = 0; n < pairs; runs++) {
        pair_run r = { n, 1, from[n], to[n], step_of(from + n, pairs - n), step_of(to + n, pairs - n) };
        while (n + r.count < pairs && follows(from[n + r.count - 1], from[n + r.count], r.from_step) &&
               follows(to[n + r.count - 1], to[n + r.count], r.to_step))
            r.count++;
        if (r.count == 1)
            r.from_step = r.to_step = 1;
        if (out)
            out[runs] = r;
        n += r.count;
    }
    return runs;
}

static int find_rest(rest_range *out, const int64_t *rest, int64_t rests)
{
    int ranges = 0;
    for (int64_t n = 0; n < rests; ranges++) {
        rest_range r = { rest[n], 1 };
        while (n + r.count < rests && rest[n + r.count] == r.first + r.count)
            r.count++;
        if (out)
            out[ranges] = r;
        n += r.count;
    }
    return ranges;
}

static bool same_steps(const pair *a, const pair *b)
{
    return a->axis == b->axis && a->multiplier == b->multiplier && a->shift == b->shift &&
           (a->frequency.part[0] == 0) == (b->frequency.part[0] == 0);
}

static int find_spans(rotation_span *out, const pair *pairs, int64_t count)
{
    int spans = 0;
    for (int64_t n = 0; n < count; spans++) {
        const pair *a = &pairs[n];
        rotation_span s = { n, 1, a->axis, a->multiplier, a->shift, a->frequency.part[0] == 0 };
        while (n + s.count < count && same_steps(a, &pairs[n + s.count]))
            s.count++;
        if (out)
            out[spans] = s;
        n += s.count;
    }
    return spans;
}

/* One block: the struct, then its arrays, the numbers last, on a boundary of vectors. */
static rotation_plan *allocate(const part *p, int runs, int back, int rests, int spans, bool exact)
{
    size_t P = (size_t)p->pairs, steps = STEPS_MAX;
    while (steps > 1 && steps * P * 2 * sizeof(double) > STEP_BYTES)
        steps /= 2;
    size_t doubles = exact ? P * (3 + (spans ? 2 * steps : 0)) : 0;
    size_t bytes = sizeof(rotation_plan) + (size_t)(runs + back) * sizeof(pair_run) +
                   (size_t)rests * sizeof(rest_range) + (size_t)spans * sizeof(rotation_span);
    rotation_plan *q = calloc(1, bytes + ALIGN + doubles * sizeof(double));
    if (!q)
        return NULL;
    pair_run *r = (pair_run *)(q + 1);
    double *number = (double *)(((uintptr_t)q + bytes + ALIGN - 1) / ALIGN * ALIGN);
    *q = (rotation_plan){ .run = { r, r + runs },
                          .runs = { runs, back },
                          .rest = (rest_range *)(r + runs + back),
                          .rests = rests,
                          .span = (rotation_span *)((rest_range *)(r + runs + back) + rests),
                          .spans = spans,
                          .steps = (int64_t)steps,
                          .step = number,
                          .frequency = exact ? number + doubles - 3 * P : NULL };
    return q;
}

/* Frequencies part by part, and cos and sin of the first steps. */
static void fill_rotation(const part *p, rotation_plan *q, const kernels *k)
{
    double n[PE_HEAD_DIM_MAX / 2], *first = q->step;
    for (int64_t i = 0; i < p->pairs; i++)
        for (int j = 0; j < 3; j++)
            q->frequency[j * p->pairs + i] = p->pair[i].frequency.part[j];
    for (int64_t r = 0; q->spans && r < q->steps; r++, first += 2 * p->pairs) {
        for (int64_t i = 0; i < p->pairs; i++)
            n[i] = (double)r;
        k->turns(first, first + p->pairs, n, q->frequency, p->pairs, p->pairs);
    }
}

/* for parts that rotate, after init */
static pe_status part_plan(part *p, const kernels *k, pe_error *err)
{
    int runs = find_runs(NULL, p->from, p->to, p->pairs), back = find_runs(NULL, p->to, p->from, p->pairs);
    int rests = find_rest(NULL, p->rest, p->rests),
        spans = p->exact && !p->decay ? find_spans(NULL, p->pair, p->pairs) : 0;
    if (spans > SPANS_MAX || spans * 4 > p->pairs || !(p->magnitude >= 0x1p-40)) /* less leaves the range of floats */
        spans = 0;
    rotation_plan *q = allocate(p, runs, back, rests, spans, p->exact);
    p->plan = q;
    if (!q)
        return pe_fail(err, PE_ERR_NOMEM, "%s: no memory to prepare its rotation", p->row->info.name);
    find_runs(q->run[0], p->from, p->to, p->pairs);
    find_runs(q->run[1], p->to, p->from, p->pairs);
    find_rest(q->rest, p->rest, p->rests);
    if (spans)
        find_spans(q->span, p->pair, p->pairs);
    if (p->exact)
        fill_rotation(p, q, k);
    for (int i = 0; i < runs; i++)
        q->moves = q->moves || memcmp(&q->run[0][i].from, &q->run[0][i].to, sizeof(lane)) != 0 ||
                   q->run[0][i].from_step != q->run[0][i].to_step;
    return PE_OK;
}

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
    return p->hooks & PE_HOOK_ROTATE ? part_plan(p, k, err) : PE_OK;
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

/* Parts must agree: one softmax scale, one rotation, one count of keys; no content term beside a rotation that
 * attention may shift, and neither beside a term that stands for q.k. */
static pe_status check_parts(const pe_encoding *e, pe_error *err)
{
    const part *rotating = NULL, *scales = NULL, *carries = NULL, *inputs = NULL, *gates = NULL, *polar = NULL;
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        const char *name = p->row->info.name;
        if (p->scale != 0 && scales && p->scale != scales->scale)
            return pe_fail(err, PE_ERR_SPEC, "%s and %s need different softmax scales, so they cannot be combined",
                           scales->row->info.name, name);
        if (p->hooks & PE_HOOK_ROTATE && rotating)
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
        rotating = p->hooks & PE_HOOK_ROTATE ? p : rotating;
        scales = p->scale != 0 ? p : scales;
        carries = p->count.on ? p : carries;
        polar = p->polar.on ? p : polar;
    }
    for (int i = 0; polar && i < e->parts; i++)
        if (&e->part[i] != polar && e->part[i].hooks & (PE_HOOK_ROTATE | PE_HOOK_CONTENT))
            return pe_fail(err, PE_ERR_SPEC,
                           "%s has a score of its own in place of q.k, which %s rotates or adds to; combine it with a "
                           "bias or a code",
                           polar->row->info.name, e->part[i].row->info.name);
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
