/* SPDX-License-Identifier: MIT */
#include "cli/diff_model.h"

#include "zoo/build.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- where to look */

static int64_t longest(const diff_model *d)
{
    const int64_t length[] = { d->part_a->served, d->part_b->served, d->part_a->trained, d->part_b->trained };
    int64_t most = 0;
    for (int i = 0; i < CLI_COUNT(length); i++)
        most = length[i] > most ? length[i] : most;
    return most > PE_POSITION_MAX ? PE_POSITION_MAX : most;
}

/* Near, far, and the last position that is served. */
static void choose_positions(diff_model *d)
{
    static const int64_t usual[] = { 1, 100, 4096, 32768, 131072, 1048576 };
    int64_t end = longest(d);
    for (int i = 0; i < CLI_COUNT(usual); i++)
        if (usual[i] < end || (!end && i < 4))
            d->at[d->ats++] = usual[i];
    if (end > 1 && (!d->ats || d->at[d->ats - 1] != end - 1))
        d->at[d->ats++] = end - 1;
}

/* ---------------------------------------------------------------- layers */

static diff_class *find(diff_model *d, const zoo_layer *a, const zoo_layer *b)
{
    for (int i = 0; i < d->classes; i++) {
        diff_class *c = &d->class[i];
        if (c->a == a->group && c->b == b->group && c->window_a == a->window && c->window_b == b->window)
            return c;
    }
    return NULL;
}

static pe_status add(diff_model *d, const zoo_layer *a, const zoo_layer *b, diff_class **out, pe_error *err)
{
    if (d->classes == DIFF_CLASSES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "the layers differ in more than %d ways", DIFF_CLASSES_MAX);
    diff_class *c = *out = &d->class[d->classes++];
    *c = (diff_class){ .a = a->group, .b = b->group, .window_a = a->window, .window_b = b->window };
    c->in = calloc((size_t)d->layers, sizeof *c->in);
    if (!c->in)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the layers");
    for (const diff_class *k = d->class; k < c && !c->again; k++)
        if (k->a == c->a && k->b == c->b) {
            c->result = k->result;
            c->again = true;
        }
    if (c->again)
        return PE_OK;
    return diff_groups(&c->result, &d->part_a->group[c->a], &d->part_b->group[c->b], d->at, d->ats, err);
}

pe_status diff_models(diff_model *d, pe_error *err)
{
    d->part_a = &d->a->part[0];
    d->part_b = &d->b->part[0];
    d->layers = d->part_a->layers < d->part_b->layers ? d->part_a->layers : d->part_b->layers;
    d->class = calloc(DIFF_CLASSES_MAX, sizeof *d->class);
    if (!d->class)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the layers");
    if (!d->ats)
        choose_positions(d);
    for (int64_t n = 0; n < d->layers; n++) {
        const zoo_layer *a = &d->part_a->layer[n], *b = &d->part_b->layer[n];
        diff_class *c = find(d, a, b);
        if (!c)
            ZOO_TRY(add(d, a, b, &c, err));
        c->in[n] = true;
    }
    return PE_OK;
}

void diff_clear(diff_model *d)
{
    for (int i = 0; i < d->classes; i++)
        free(d->class[i].in);
    free(d->class);
    d->class = NULL;
    d->classes = 0;
}

bool diff_models_same(const diff_model *d)
{
    bool same = d->part_a->layers == d->part_b->layers;
    for (int i = 0; i < d->classes; i++)
        same = same && diff_same(&d->class[i].result) && d->class[i].window_a == d->class[i].window_b;
    return same;
}

bool diff_models_cache(const diff_model *d)
{
    for (int i = 0; i < d->classes; i++)
        if (d->class[i].result.cache)
            return true;
    return false;
}

bool diff_models_layout(const diff_model *d)
{
    for (int i = 0; i < d->classes; i++)
        if (d->class[i].result.layout)
            return true;
    return false;
}
