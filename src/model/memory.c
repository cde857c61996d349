/* SPDX-License-Identifier: MIT
 *
 * One block for a batch, cut into what the passes use; kept until a larger batch comes. */
#include "model/parts.h"

#include "io/checked.h"
#include "io/io.h"

#include <inttypes.h>
#include <stdlib.h>

/* Cuts pieces off a block, or, where there is none yet, adds up what they take. */
typedef struct cutter {
    real *at;
    int64_t used;
    bool fits;
} cutter;

static void cut_rows(cutter *c, real **out, int64_t rows, int64_t width)
{
    int64_t count = 0;
    c->fits = c->fits && io_mul_i64(&count, rows, width) && io_add_i64(&count, count, 15);
    count = count / 16 * 16;
    *out = c->at ? c->at + c->used : NULL;
    c->fits = c->fits && io_add_i64(&c->used, c->used, count);
}

static void cut_trace(cutter *c, trace *t, const model *m, int64_t rows, bool backward)
{
    const model_config *g = &m->c;
    const layer *l = &m->layer[0];
    if (backward) {
        cut_rows(c, &t->x2, rows, g->width);
        cut_rows(c, &t->y, rows, g->width);
        cut_rows(c, &t->h2, rows, g->width);
        cut_rows(c, &t->size1, rows, 1);
        cut_rows(c, &t->lse, rows, g->heads);
    } else {
        cut_rows(c, &t->x, rows, g->width);
        t->x2 = t->y = t->x;
    }
    cut_rows(c, &t->size2, rows, 1);
    cut_rows(c, &t->h1, rows, g->width);
    if (!backward) {
        t->h2 = t->h1;
        t->size1 = t->size2;
    }
    cut_rows(c, &t->qkv, rows, l->qkv.out);
    cut_rows(c, &t->att, rows, l->out.in);
    cut_rows(c, &t->up, rows, l->up.out);
    cut_rows(c, &t->act, rows, l->down.in);
    cut_rows(c, &t->logits, rows, l->gates.out);
    real *sums; /* pieces are of whole lines of 16 numbers, so doubles are aligned there */
    cut_rows(c, &sums, rows, l->gates.out * (int64_t)(sizeof(double) / sizeof(real)));
    t->gates = (double *)(void *)sums;
    cut_rows(c, &t->relative, rows, l->relative.out);
}

static void cut_slopes(cutter *c, model *m, int64_t rows)
{
    const layer *l = &m->layer[0];
    slopes *d = &m->d;
    real **wide[] = { &d->dy, &d->dx2, &d->dx, &d->dh };
    for (int i = 0; i < 4; i++)
        cut_rows(c, wide[i], rows, m->c.width);
    cut_rows(c, &d->dqkv, rows, l->qkv.out);
    cut_rows(c, &d->datt, rows, l->out.in);
    cut_rows(c, &d->dup, rows, l->up.out);
    cut_rows(c, &d->dact, rows, l->down.in);
    cut_rows(c, &d->dq_gates, rows, l->gates.out);
    cut_rows(c, &d->dk_gates, rows, l->gates.out);
    cut_rows(c, &d->drelative, rows, l->relative.out);
    cut_rows(c, &d->dlogits, rows, m->c.vocab);
    cut_rows(c, &d->dnorm, chunks_of(rows), m->c.width);
}

/* Layers that go backward each keep their own; x of a layer is y of the one before. */
static void cut_all(cutter *c, model *m, int64_t rows, bool backward)
{
    real *x;
    cut_rows(c, &x, backward ? rows : 0, m->c.width);
    for (int64_t l = 0; l < m->c.layers; l++) {
        trace *t = &m->trace[l];
        if (!backward && l) {
            *t = m->trace[0];
            continue;
        }
        cut_trace(c, t, m, rows, backward);
        if (backward)
            t->x = l ? m->trace[l - 1].y : x;
    }
    cut_rows(c, &m->h, rows, m->c.width);
    cut_rows(c, &m->size, rows, 1);
    cut_rows(c, &m->losses, rows, 1);
    cut_rows(c, &m->scratch, (int64_t)m->workers * CHUNK, m->c.vocab);
    if (backward)
        cut_slopes(c, m, rows);
}

void memory_free(model *m)
{
    free(m->memory);
    free(m->trace);
    free(m->work);
    m->memory = NULL;
    m->trace = NULL;
    m->work = NULL;
    m->work_bytes = 0;
    m->rows = 0;
}

static pe_status no_memory(model *m, int64_t rows, pe_error *err)
{
    memory_free(m);
    return io_fail(err, PE_ERR_NOMEM, "no memory for a batch of %" PRId64 " tokens", rows);
}

pe_status memory_for(model *m, const model_batch *b, bool backward, pe_error *err)
{
    int64_t rows = b->sequences * b->length;
    if (m->memory && rows == m->rows && backward == m->backward)
        return PE_OK;
    memory_free(m);
    cutter size = { .fits = true };
    m->trace = calloc((size_t)m->c.layers, sizeof *m->trace);
    if (!m->trace)
        return no_memory(m, rows, err);
    cut_all(&size, m, rows, backward);
    if (!size.fits || (uint64_t)size.used > SIZE_MAX / sizeof(real) - 1)
        return no_memory(m, rows, err);
    m->memory = malloc((size_t)size.used * sizeof(real) + 1);
    if (!m->memory)
        return no_memory(m, rows, err);
    cutter c = { .at = m->memory, .fits = true };
    cut_all(&c, m, rows, backward);
    m->rows = rows;
    m->backward = backward;
    if (backward && !m->grads)
        m->grads = calloc((size_t)m->count, sizeof *m->grads);
    return !backward || m->grads ? PE_OK : no_memory(m, rows, err);
}
