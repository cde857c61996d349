/* SPDX-License-Identifier: MIT
 *
 * An encoding with its parameters: opened, its codes, how far it reaches; findings that are counted row by row. */
#include "prove/measure.h"
#include "zoo/look.h"
#include "zoo/spec_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- an encoding with its parameters, and its codes */

pe_status measure_open(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err)
{
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    *m = (measure_encoding){ 0 };
    TRY(pe_encoding_new(&m->e, spec, shape, err));
    m->shape = pe_encoding_shape(m->e);
    m->w = (pe_params){ .dtype = PE_F64, .count = pe_encoding_param_count(m->e) };
    m->w.data = measure_memory(m->w.count, 1, err);
    pe_status s = m->w.data ? pe_encoding_init(m->e, m->w, g->seed, err) : PE_ERR_NOMEM;
    if (s)
        measure_close(m);
    return s;
}

void measure_close(measure_encoding *m)
{
    pe_encoding_free(m->e);
    free(m->w.data);
    *m = (measure_encoding){ 0 };
}

int64_t measure_width(const measure_encoding *m)
{
    return pe_embed_width(m->e, m->shape.model_dim);
}

pe_status measure_added(const measure_encoding *m, int64_t width, pe_error *err)
{
    if (measure_width(m) != width)
        return io_fail(err, PE_ERR_UNSUITED, "%s makes %lld numbers of %lld; needs a code that is added to the word",
                       pe_encoding_spec(m->e), (long long)measure_width(m), (long long)width);
    return PE_OK;
}

pe_status measure_codes(double *out, const measure_encoding *m, int64_t first, int64_t n, pe_error *err)
{
    int64_t width = measure_width(m), axes = pe_encoding_axes(m->e);
    if (!(pe_encoding_hooks(m->e) & PE_HOOK_EMBED))
        return io_fail(err, PE_ERR_UNSUITED, "%s adds no code to a word; needs one that does, such as sinusoidal",
                       pe_encoding_spec(m->e));
    for (int64_t t = 0; t < n; t++) {
        int64_t at[PE_AXES_MAX] = { 0 };
        at[axes - 1] = first + t;
        pe_view y = pe_view_of(out + t * width, PE_F64, 1, 1, 1, width);
        pe_view x = pe_view_of(NULL, PE_F64, 1, 1, 1, m->shape.model_dim);
        TRY(pe_embed(m->e, y, x, pe_positions_of(at, PE_I64, 1, 1, axes), &PE_MAKE(pe_run, .params = m->w), err));
    }
    return PE_OK;
}

pe_status measure_code_table(double **code, int64_t *width, const char *spec, const prove_given *g, int64_t n,
                             pe_error *err)
{
    measure_encoding m;
    *code = NULL;
    TRY(measure_open(&m, spec, g, err));
    *width = measure_width(&m);
    *code = measure_memory(n, *width, err);
    pe_status status = *code ? measure_codes(*code, &m, 0, n, err) : PE_ERR_NOMEM;
    measure_close(&m);
    if (status) {
        free(*code);
        *code = NULL;
    }
    return status;
}

/* The row of the registry that a spec of one part names; NULL: none. */
static const pe_info *measure_row(const char *spec)
{
    size_t n = strcspn(spec, ":");
    for (int i = 0; i < pe_info_count(); i++)
        if (strlen(pe_info_at(i)->name) == n && !memcmp(pe_info_at(i)->name, spec, n))
            return pe_info_at(i);
    return NULL;
}

/* A spec with tables that reach as far as a claim looks, where the spec leaves that open. */

/* Whether the keys of a spec of one part have this one. */
static bool has_key(const char *spec, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = strpbrk(spec, ":,"); at; at = strpbrk(at + 1, ":,"))
        if (!strncmp(at + 1, key, n) && at[1 + n] == '=')
            return true;
    return false;
}

/* Appends key=reach; false: no room. */
static bool append_reach(char *spec, size_t cap, const char *key, int64_t reach)
{
    size_t used = strlen(spec);
    int n = snprintf(spec + used, cap - used, "%c%s=%lld", strchr(spec, ':') ? ',' : ':', key, (long long)reach);
    return n > 0 && (size_t)n < cap - used;
}

bool measure_fit(char *out, size_t cap, const char *spec, int64_t reach)
{
    const pe_info *row = strchr(spec, '+') ? NULL : measure_row(spec);
    const char *keys[] = { row ? row->key_length : NULL, row ? row->key_ahead : NULL, row ? row->key_trained : NULL };
    bool fitted = false, room = strlen(spec) < cap;
    snprintf(out, cap, "%s", spec);
    for (size_t n = 0; n < sizeof keys / sizeof *keys && room; n++)
        if (keys[n] && !has_key(spec, keys[n])) {
            room = append_reach(out, cap, keys[n], reach);
            fitted = true;
        }
    return fitted && room;
}

/* ---------------------------------------------------------------- a spec with one key changed */

char *measure_with_key(const char *spec, int index, const char *key, const char *value)
{
    char *part = zoo_spec_part(spec, index), *out = NULL;
    const pe_key *k = part ? zoo_spec_key(part, key) : NULL;
    bool meant = k && zoo_spec_means(part, k);
    if (part && (!meant || zoo_spec_put(&part, key, value)))
        out = zoo_spec_with_part(spec, index, part);
    free(part);
    return out;
}

pe_status measure_open_head(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err)
{
    prove_given one = *g;
    one.heads = 1;
    one.model_dim = g->head_dim;
    if (g->head_dim < 1 || g->head_dim > MEASURE_HEAD_MAX)
        return io_fail(err, PE_ERR_SHAPE, "head_dim is %lld; needs 1 to %d", (long long)g->head_dim, MEASURE_HEAD_MAX);
    return measure_open(m, spec, &one, err);
}

prove_given measure_at_width(const prove_given *g, int64_t width)
{
    prove_given one = *g;
    one.heads = 1;
    one.head_dim = one.model_dim = width;
    return one;
}

int measure_runs(const prove_given *g)
{
    return g->heads && g->head_dim ? PROVE_SEEDS : MEASURE_RUNS;
}

prove_given measure_sized(const prove_given *g, int n)
{
    prove_given one = *g;
    bool wide = n >= PROVE_SEEDS;
    one.heads = g->heads ? g->heads : wide ? 8 : 4;
    one.head_dim = g->head_dim ? g->head_dim : wide ? 64 : 16;
    one.model_dim = g->model_dim ? g->model_dim : one.heads * one.head_dim;
    return one;
}

measure_text measure_named(const char *before, double n)
{
    measure_text t;
    snprintf(t.is, sizeof t.is, "%s%.9g", before, n);
    return t;
}

/* ------------------------------------------------ how far a spec reaches */

/* The key that makes a row reach further, where it has a meaning without others. */
static const pe_key *reach_key(const pe_info *row)
{
    const char *name = row ? row->key_length ? row->key_length : row->key_trained : NULL;
    for (int n = 0; name && n < row->key_count; n++)
        if (!strcmp(pe_info_key(row, n)->name, name))
            return pe_info_key(row, n)->when ? NULL : pe_info_key(row, n);
    return NULL;
}

/* Whether the last token of a text has a code, and may look at the first. */
static bool serves(const measure_encoding *m, double *room, int64_t length)
{
    int64_t axes = pe_encoding_axes(m->e), H = m->shape.heads, D = m->shape.head_dim;
    int64_t last[PE_AXES_MAX] = { 0 }, first[PE_AXES_MAX] = { 0 };
    measure_place_one(last, length - 1, length, axes);
    pe_positions q = pe_positions_of(last, PE_I64, 1, 1, axes), k = pe_positions_of(first, PE_I64, 1, 1, axes);
    pe_view x = pe_view_of(room, PE_F64, 1, 1, H, D);
    pe_attention a = PE_MAKE(pe_attention, .q = x, .k = x, .q_at = q, .k_at = k);
    bool ok = !pe_embed(m->e, pe_view_of(room + H * D, PE_F64, 1, 1, 1, measure_width(m)),
                        pe_view_of(room + H * D, PE_F64, 1, 1, 1, m->shape.model_dim), q,
                        &PE_MAKE(pe_run, .params = m->w), NULL) ||
              measure_width(m) != m->shape.model_dim;
    pe_status status = ok ? zoo_look(m->e, a, m->w, NULL) : PE_ERR_POSITION;
    return !status || status == PE_ERR_NOMEM; /* out of memory: opening it later reports that */
}

static bool reaches(const char *spec, const prove_given *g, int64_t length)
{
    measure_encoding m;
    if (measure_open(&m, spec, g, NULL))
        return true; /* opening it later reports the error */
    double *room = measure_memory(m.shape.heads * m.shape.head_dim + measure_width(&m), 1, NULL);
    bool ok = !room || serves(&m, room, length);
    free(room);
    measure_close(&m);
    return ok;
}

measure_text measure_reaching(const char *spec, const prove_given *g, int64_t length)
{
    measure_text t;
    const pe_key *k = strchr(spec, ':') || strchr(spec, '+') ? NULL : reach_key(measure_row(spec));
    long long side = (long long)ceil(sqrt((double)length));
    if (!k || reaches(spec, g, length))
        snprintf(t.is, sizeof t.is, "%s", spec);
    else if (k->kind == PE_KEY_LIST && strchr(k->fallback, '/'))
        snprintf(t.is, sizeof t.is, "%s:%s=%lld/%lld", spec, k->name, side, side);
    else
        snprintf(t.is, sizeof t.is, "%s:%s=%lld", spec, k->name, (long long)length);
    return t;
}

void measure_place_one(int64_t *at, int64_t t, int64_t tokens, int64_t axes)
{
    int64_t side = (int64_t)ceil(pow((double)tokens, 1 / (double)axes) - 1e-9);
    for (int64_t a = axes; a-- > 0; t /= side)
        at[a] = axes > 1 ? t % side : t;
}

void measure_place(int64_t *at, int64_t tokens, int64_t axes)
{
    for (int64_t t = 0; t < tokens; t++)
        measure_place_one(at + t * axes, t, tokens, axes);
}

/* ------------------------------------------------ rows that pass */

void measure_count(measure_tally *t, bool good)
{
    if (good)
        t->good++;
    else
        t->bad++;
}

bool measure_decides(const measure_tally *level, int levels)
{
    bool decides = true;
    for (int n = 0; n < levels; n++)
        decides = decides && (!level[n].good || !level[n].bad);
    return decides;
}

void measure_conclude(const measure_tally *t, words what, const words because[PROVE_VERDICT_COUNT])
{
    prove_verdict v = !t->bad ? PROVE_HOLDS : !t->good ? PROVE_REFUTED : PROVE_DEPENDS;
    if (t->good + t->bad > 1) /* one row alone is reported with its own number */
        measure_add_first(t->out, what, measure_named("/ ", t->good + t->bad).is, t->bad, "");
    prove_say(t->out, v, because[v]);
}

static void measure_first(prove_finding *out)
{
    prove_number first = out->number[out->count - 1];
    memmove(out->number + 1, out->number, (size_t)(out->count - 1) * sizeof first);
    out->number[0] = first;
}

void measure_add_first(prove_finding *out, words what, const char *of, double value, const char *unit)
{
    if (out->count == PROVE_NUMBERS_MAX)
        out->count--;
    prove_add(out, what, of, value, unit);
    measure_first(out);
}
