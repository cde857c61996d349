/* SPDX-License-Identifier: MIT
 *
 * One case: the same problem to the definition and to the variant, and what may differ. */
#include "check.h"

#include <float.h>
#include <inttypes.h>

typedef struct verdict {
    const kernel *kernel;
    const problem *p;
    report *out;
} verdict;

static bool wrong(const verdict *v, const buffer *b, int64_t i, int64_t j, double got, double should, double within)
{
    char bound[60] = "to the bit";
    if (within >= 0)
        snprintf(bound, sizeof bound, "within %.3g (off by %.3g)", within, fabs(got - should));
    snprintf(v->out->text, sizeof v->out->text,
             "%s[%" PRId64 "][%" PRId64 "] of (%" PRId64 ", %" PRId64 ") is %.9g (%a), should be %.9g (%a) %s", b->name,
             i, j, b->rows, b->cols, got, got, should, should, bound);
    return false;
}

/* NaN equals NaN, whatever its payload and sign. */
static bool same_bits(const verdict *v, const buffer *b, int64_t i, int64_t j)
{
    int64_t at = i * b->stride + j;
    size_t size = pe_dtype_size(b->type);
    double got = num_load(b->data, b->type, at), should = num_load(b->want, b->type, at);
    if (isnan(got) && isnan(should))
        return true;
    if (memcmp((char *)b->data + (size_t)at * size, (char *)b->want + (size_t)at * size, size))
        return wrong(v, b, i, j, got, should, -1);
    return true;
}

/* A block of row i from element j on, bytes for bytes. */
static bool same_block(const verdict *v, const buffer *b, int64_t i, int64_t j)
{
    size_t at = (size_t)dtype_bytes(b->type, i * b->stride + j), bytes = (size_t)block_bytes(b->type);
    const unsigned char *got = (const unsigned char *)b->data + at, *should = (const unsigned char *)b->want + at;
    for (size_t n = 0; n < bytes; n++)
        if (got[n] != should[n]) {
            snprintf(v->out->text, sizeof v->out->text,
                     "%s: byte %zu of the block at [%" PRId64 "][%" PRId64 "] of (%" PRId64 ", %" PRId64
                     ") is 0x%02x, should be 0x%02x",
                     b->name, n, i, j, b->rows, b->cols, got[n], should[n]);
            return false;
        }
    return true;
}

/* Where finite terms are so large that a partial sum may overflow, any outcome is right. */
static bool near(const verdict *v, const buffer *b, int64_t i, int64_t j)
{
    double got = num_load(b->data, b->type, i * b->stride + j);
    double should = b->truth[i * b->cols + j], size = b->size[i * b->cols + j];
    double within = (v->kernel->k + v->kernel->k_term * b->terms) * (EPS * size + v->kernel->least);
    if (isnan(should))
        return isnan(got) || wrong(v, b, i, j, got, should, 0);
    if (size > FLT_MAX)
        return true;
    if (isinf(should))
        return got == should || wrong(v, b, i, j, got, should, 0);
    if (within > 0 && fabs(got - should) / within > v->out->worst)
        v->out->worst = fabs(got - should) / within;
    return fabs(got - should) <= within || wrong(v, b, i, j, got, should, within);
}

static bool rows_are_right(const verdict *v, const buffer *b)
{
    bool blocks = block_kind(b->type);
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j += blocks ? BLOCK_WIDTH : 1)
            if (!(blocks     ? same_block(v, b, i, j)
                  : b->truth ? near(v, b, i, j)
                             : same_bits(v, b, i, j)))
                return false;
    return true;
}

static bool gaps_are_untouched(const verdict *v, const buffer *b)
{
    size_t size = pe_dtype_size(b->type), gap = (size_t)(b->stride - b->cols) * size;
    for (int64_t i = 0; i + 1 < b->rows && b->cols > 0; i++) {
        size_t at = (size_t)(i * b->stride + b->cols) * size;
        if (memcmp((char *)b->data + at, (char *)b->was + at, gap)) {
            snprintf(v->out->text, sizeof v->out->text,
                     "%s: memory after row %" PRId64 " of (%" PRId64 ", %" PRId64 ") was written", b->name, i, b->rows,
                     b->cols);
            return false;
        }
    }
    return true;
}

static bool buffer_is_right(const verdict *v, int index)
{
    const buffer *b = &v->p->buffer[index];
    if (guard_touched(v->p, index)) {
        snprintf(v->out->text, sizeof v->out->text,
                 "%s: memory before or after its (%" PRId64 ", %" PRId64 ") was written", b->name, b->rows, b->cols);
        return false;
    }
    if (!b->out && b->bytes && memcmp(b->data, b->was, b->bytes)) {
        snprintf(v->out->text, sizeof v->out->text, "%s is an input and was written", b->name);
        return false;
    }
    return !b->out || (gaps_are_untouched(v, b) && (v->p->free[index] || rows_are_right(v, b)));
}

/* ---------------------------------------------------------------- a case */

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (!to)
        exit(2);
    memcpy(to, from, bytes);
    return to;
}

static void seal(problem *p, bool bounded)
{
    for (int i = 0; i < p->buffers; i++) {
        buffer *b = &p->buffer[i];
        size_t elements = (size_t)(b->rows * b->cols);
        b->was = copy(b->data, b->bytes);
        b->want = copy(b->data, b->bytes);
        if (bounded && b->out) {
            b->truth = calloc(2 * elements + 1, sizeof *b->truth);
            if (!b->truth)
                exit(2);
            b->size = b->truth + elements;
        }
    }
}

static void free_buffers(problem *p)
{
    for (int i = 0; i < p->buffers; i++) {
        free(p->buffer[i].was);
        free(p->buffer[i].want);
        free(p->buffer[i].truth);
    }
}

static bool check_case(const kernel *k, const kernels *definition, const kernels *variant, problem *p, report *out)
{
    void *data[BUFFERS_MAX], *want[BUFFERS_MAX];
    bool right = true;
    k->make(p);
    seal(p, k->k + k->k_term > 0);
    for (int i = 0; i < p->buffers; i++) {
        data[i] = p->buffer[i].data;
        want[i] = p->buffer[i].want;
    }
    k->call(definition, p, want);
    if (k->truth)
        k->truth(p);
    k->call(variant, p, data);
    for (int i = 0; i < p->buffers && right; i++)
        right = buffer_is_right(&(verdict){ k, p, out }, i);
    free_buffers(p);
    return right;
}

/* The same cases for each kernel and rung, however many others run. */
bool check_kernel(const kernel *k, const rung *r, const options *o, report *out)
{
    kernels definition;
    ladder_fill(&definition, 0);
    int64_t from = o->only >= 0 ? o->only : 0, to = o->only >= 0 ? o->only + 1 : o->runs;
    for (int64_t number = from; number < to; number++) {
        problem p = { 0 };
        draw_case(&p, o->seed, number);
        out->at = number;
        guard_says(k, r, o->seed, number);
        if (!check_case(k, &definition, &r->kernels, &p, out))
            return false;
    }
    return true;
}
