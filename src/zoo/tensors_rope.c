/* SPDX-License-Identifier: MIT
 *
 * Rotations of a bare .safetensors. Where inv_freq is stored, f_i = theta^(-2i/d) / s gives theta and s back. */
#include "zoo/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct series {
    double theta, factor;
} series;

/* What storing and computing in this type loses. */
static double precision(io_type type)
{
    return type == IO_BF16 ? 0x1p-8 : type == IO_F16 ? 0x1p-10 : 0x1p-21;
}

static bool reproduces(const series *s, const double *f, int64_t n, io_type type)
{
    double floor = type == IO_F16 ? 0x1p-24 : 0; /* float16 has steps there */
    for (int64_t i = 0; i < n; i++) {
        double x = pow(s->theta, -(double)i / (double)n) / s->factor;
        if (!(fabs(f[i] - x) <= precision(type) * x + floor))
            return false;
    }
    return true;
}

/* x to so many digits: bases and factors are round numbers. */
static double rounded(double x, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return strtod(text, NULL);
}

static bool fit(series *out, const double *f, int64_t n, io_type type)
{
    if (n < 2 || !(f[0] > 0) || !(f[n - 1] > 0))
        return false;
    /* The step from the widest span that is not lost in rounding. */
    double theta = pow(f[0] / f[n - 1], (double)n / (double)(n - 1));
    for (int digits = 1; digits <= 9; digits++) {
        *out = (series){ rounded(theta, digits), rounded(1 / f[0], digits) };
        if (out->theta >= 1 && reproduces(out, f, n, type))
            return true;
    }
    return false;
}

/* The stored frequencies, read now where the file was opened by its header. */
static pe_status load_freqs(zoo_tensors *t, double **out)
{
    io_tensor own = *t->freqs;
    uint8_t *bytes = NULL;
    if (own.size > (size_t)PE_HEAD_DIM_MAX * sizeof(double))
        return io_fail(t->b->err, PE_ERR_RANGE, "%s: %s has %zu bytes; needs at most %d numbers", t->b->model.path,
                       own.name, own.size, PE_HEAD_DIM_MAX);
    if (!own.bytes) {
        own.bytes = bytes = zoo_alloc(t->b, own.size, 1);
        if (!bytes)
            return PE_ERR_NOMEM;
        ZOO_TRY(io_tensor_read(bytes, t->st, t->freqs, 0, own.size, t->b->err));
    }
    return io_tensor_to_f64(out, &own, t->b->err);
}

static pe_status put_stored(zoo_tensors *t)
{
    series s;
    double *f;
    ZOO_TRY(load_freqs(t, &f));
    bool found = fit(&s, f, t->freqs->count, t->freqs->type);
    free(f);
    if (!found)
        return io_fail(t->b->err, PE_ERR_FORMAT,
                       "%s: %s is no power of a base: how it was scaled is in config.json "
                       "only",
                       t->b->model.path, t->freqs->name);
    zoo_spec_real(t->spec, "theta", t->b->options->theta > 0 ? t->b->options->theta : s.theta);
    if (s.factor == 1)
        return PE_OK;
    zoo_spec_word(t->spec, "scaling", "linear");
    zoo_spec_real(t->spec, "factor", s.factor);
    return PE_OK;
}

static pe_status put_theta(zoo_tensors *t)
{
    if (t->freqs)
        return put_stored(t);
    if (!(t->b->options->theta > 0))
        ZOO_TRY(
            zoo_unknown(t->b, "", "--theta N", "10000", "no tensor holds the base of the rotation, if there is one"));
    zoo_spec_real(t->spec, "theta", t->b->options->theta > 0 ? t->b->options->theta : 10000);
    return PE_OK;
}

static pe_status put_pairs(zoo_tensors *t)
{
    const char *pairs = t->b->options->pairs;
    if (!pairs)
        ZOO_TRY(zoo_unknown(t->b, "", "--pairs half|adjacent", "half", "how pairs lie is in no tensor"));
    zoo_spec_word(t->spec, "pairs", pairs ? pairs : "half");
    return PE_OK;
}

static pe_status settle_shape(zoo_tensors *t, pe_shape *out)
{
    int64_t head = t->b->options->head_dim, turned = t->freqs ? 2 * t->freqs->count : 128;
    char guess[40];
    snprintf(guess, sizeof guess, "%lld", (long long)turned);
    if (!head)
        ZOO_TRY(zoo_unknown(t->b, "", "--head-dim N", guess, "the width of a head is in no tensor"));
    head = head ? head : turned;
    int64_t q = t->q ? t->q->shape[0] : head, k = t->k ? t->k->shape[0] : q;
    if (head < 1 || q % head || k % head)
        return io_fail(t->b->err, PE_ERR_FORMAT,
                       "%s: the projections have %lld and %lld rows; heads of %lld do not "
                       "divide them",
                       t->b->model.path, (long long)q, (long long)k, (long long)head);
    *out = (pe_shape){ q / head, k / head, head, t->q ? t->q->shape[1] : 0 };
    if (t->freqs && turned != head)
        zoo_spec_int(t->spec, "dims", turned);
    return PE_OK;
}

pe_status zoo_add_stored_rope(zoo_tensors *t)
{
    pe_shape shape;
    zoo_part *p;
    if (t->freqs && t->freqs->count > PE_HEAD_DIM_MAX / 2)
        return io_fail(t->b->err, PE_ERR_FORMAT, "%s: %s holds %lld frequencies; needs %d at most", t->b->model.path,
                       t->freqs->name, (long long)t->freqs->count, PE_HEAD_DIM_MAX / 2);
    zoo_spec_start(t->spec, "rope");
    ZOO_TRY(settle_shape(t, &shape));
    ZOO_TRY(put_theta(t));
    ZOO_TRY(put_pairs(t));
    ZOO_TRY(zoo_add_part(t->b, &p, "", "", t->layers ? t->layers : 1));
    p->trained = t->b->options->trained;
    for (int64_t n = 0; n < p->layers; n++)
        ZOO_TRY(zoo_set_layer(t->b, p, n, t->spec->text, shape, "", 0));
    return zoo_note_add(t->b, ZOO_WARNING, "", "",
                        "layers are taken to be alike: which have a window or do not turn is in "
                        "config.json only");
}
