/* SPDX-License-Identifier: MIT */
#include "zoo/rotation.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

const pe_tensor *zoo_trained_rotation(const pe_encoding *e)
{
    const pe_tensor *t;
    int i = 0;
    while ((t = pe_encoding_tensor(e, i)) && !(t->hooks & PE_HOOK_ROTATE))
        i++;
    return t;
}

double zoo_trained_frequency(const pe_encoding *e, pe_params w, int64_t head, int64_t axis, int64_t pair)
{
    const pe_tensor *t = zoo_trained_rotation(e);
    int64_t set = head * t->shape[0] / pe_encoding_shape(e).heads;
    return ((const double *)w.data)[t->offset + (set * t->shape[1] + axis) * t->shape[2] + pair];
}

int64_t zoo_rotating_heads(const pe_encoding *e)
{
    const pe_tensor *t = zoo_trained_rotation(e);
    return t ? t->shape[0] : 1;
}

/* Copies the one head of `one` into, or out of, this head of `all`. */
static void move_head(pe_view one, pe_view all, int64_t head, bool into)
{
    for (int64_t t = 0; t < one.tokens; t++) {
        double *a = (double *)one.data + t * one.token_stride;
        double *b = (double *)all.data + t * all.token_stride + head * all.head_stride;
        for (int64_t d = 0; d < one.dim; d++)
            *(into ? &b[d] : &a[d]) = into ? a[d] : b[d];
    }
}

/* a and b: cosine and sine of a table, or y and x. The library wants every head that rotates in its own way. */
static pe_status rotate_one(bool table, pe_view a, pe_view b, const pe_encoding *e, pe_params w, int64_t head,
                            pe_side side, pe_positions at, pe_error *err)
{
    pe_run run = PE_MAKE(pe_run, .params = w);
    pe_shape s = pe_encoding_shape(e);
    int64_t heads = zoo_rotating_heads(e), key = head / (s.heads / s.kv_heads), n = a.tokens, count;
    size_t bytes = 0;
    if (heads == 1)
        return table ? pe_rotate_table(e, side, a, b, at, &run, err) : pe_rotate(e, side, a, b, at, &run, err);
    bool fits =
        io_shape_count(&count, (int64_t[]){ 2, n, heads, a.dim }, 4) && io_byte_count(&bytes, count, sizeof(double));
    double *room = fits ? calloc(1, bytes ? bytes : 1) : NULL;
    if (!room)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a rotation of every head");
    pe_view all[2] = { pe_view_of(room, PE_F64, 1, n, heads, a.dim),
                       pe_view_of(room + count / 2, PE_F64, 1, n, heads, a.dim) };
    if (!table)
        move_head(b, all[1], key, true);
    pe_status status = table ? pe_rotate_table(e, side, all[0], all[1], at, &run, err)
                             : pe_rotate(e, side, all[0], all[1], at, &run, err);
    if (!status)
        move_head(a, all[0], key, false);
    if (!status && table)
        move_head(b, all[1], key, false);
    free(room);
    return status;
}

pe_status zoo_rotate_table(pe_view cosine, pe_view sine, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                           pe_positions at, pe_error *err)
{
    return rotate_one(true, cosine, sine, e, w, head, side, at, err);
}

pe_status zoo_rotate_head(pe_view y, pe_view x, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                          pe_positions at, pe_error *err)
{
    return rotate_one(false, y, x, e, w, head, side, at, err);
}

/* ---------------------------------------------------------------- turns */

/* A pair this close to its trained frequency is as trained: what rounding leaves. */
#define AS_TRAINED 1e-9

static double wavelength(const pe_pair *p)
{
    return p->turns[0] == 0 ? (double)INFINITY : 1 / fabs(p->turns[0]);
}

void zoo_turns_measure(zoo_turns *p, const pe_pair *at, const pe_pair *born, int64_t trained, int64_t window)
{
    bool windowed = window > 0 && window <= trained;      /* distances stay what they were */
    double reach = (double)(windowed ? window : trained); /* distances seen in training are below it */
    *p = (zoo_turns){ .at = *at, .wavelength = wavelength(at), .trained = wavelength(born) };
    p->divisor = isfinite(p->trained) ? p->wavelength / p->trained : 1;
    if (fabs(p->divisor - 1) < AS_TRAINED)
        p->divisor = 1;
    p->turns = trained > 0 ? reach / p->trained : (double)NAN;
    bool all_seen = !isfinite(p->trained) || p->turns >= 1 || (windowed && p->divisor >= 1);
    p->leaves = all_seen ? (double)INFINITY : ceil(reach * p->divisor * (1 - AS_TRAINED));
    if (trained <= 0)
        p->leaves = (double)NAN;
}

bool zoo_turns_unturned(const zoo_turns *p)
{
    return isfinite(p->trained) && p->turns < 1;
}
