/* SPDX-License-Identifier: MIT
 *
 * Views and positions of one sequence, element by element and token by token; cut out of a batch by view_at and
 * positions_at. */
#ifndef PE_PLACE_H
#define PE_PLACE_H

#include "base/exact.h"

#include <math.h>
#include <stdint.h>

#include "base/block.h"
#include "base/door.h"
#include "base/num.h"
#include "posenc.h"

/* A vector of any type: element d at data[at + d]. */
typedef struct vec {
    void *data;
    pe_dtype type;
    int64_t at;
} vec;

static inline double vec_get(vec v, int64_t d)
{
    return num_load(v.data, v.type, v.at + d);
}

static inline void vec_add(vec v, int64_t d, double x)
{
    if (v.data)
        num_add(v.data, v.type, v.at + d, x);
}

static inline vec row_vec(pe_view v, int64_t token, int64_t head)
{
    return (vec){ v.data, v.dtype, token * v.token_stride + head * v.head_stride };
}

static inline pe_view view_at(pe_view v, int64_t sequence)
{
    if (v.data && v.batch > 1)
        v.data = (char *)v.data + dtype_bytes(v.dtype, sequence * v.batch_stride);
    v.batch = 1;
    return v;
}

static inline pe_positions positions_at(pe_positions p, int64_t sequence)
{
    if (p.data && p.batch > 1)
        p.data = (const char *)p.data + sequence * p.batch_stride * position_bytes(p);
    p.batch = 1;
    return p;
}

/* From this token on, so many. */
static inline pe_positions positions_from(pe_positions p, int64_t token, int64_t tokens)
{
    if (p.data)
        p.data = (const char *)p.data + token * p.token_stride * position_bytes(p);
    p.start += token * p.step;
    p.tokens = tokens;
    return p;
}

/* One coordinate; of a fraction its whole part. */
static inline int64_t coordinate(pe_positions p, int64_t token, int64_t axis)
{
    int64_t at = p.start + token * p.step, i = token * p.token_stride + axis * p.axis_stride;
    if (!p.data)
        return at;
    return at + (p.dtype == PE_I64   ? ((const int64_t *)p.data)[i]
                 : p.dtype == PE_I32 ? ((const int32_t *)p.data)[i]
                                     : (int64_t)floor(((const double *)p.data)[i]));
}

/* The coordinates of one token, packed. */
static inline const int64_t *position(pe_positions p, int64_t token, int64_t at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < p.axes; a++)
        at[a] = coordinate(p, token, a);
    return at;
}

/* The same with their fractions; what is added to a fraction is so in float64. */
static inline double coordinate_real(pe_positions p, int64_t token, int64_t axis)
{
    if (!p.data || p.dtype != PE_F64)
        return (double)coordinate(p, token, axis);
    return (double)(p.start + token * p.step) +
           ((const double *)p.data)[token * p.token_stride + axis * p.axis_stride];
}

static inline const double *position_real(pe_positions p, int64_t token, double at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < p.axes; a++)
        at[a] = coordinate_real(p, token, a);
    return at;
}

/* Where a token stands: its coordinates rounded down, and with their fractions where it is between whole positions. */
typedef struct spot {
    int64_t at[PE_AXES_MAX];
    double real[PE_AXES_MAX]; /* only where it is between them, */
    bool between;             /* on some axis */
} spot;

static inline void spot_find(spot *o, pe_positions p, int64_t token)
{
    o->between = false;
    if (!p.data || p.dtype != PE_F64) {
        position(p, token, o->at);
        return;
    }
    position_real(p, token, o->real);
    for (int64_t a = 0; a < p.axes; a++) {
        double x = o->real[a], whole = (double)(int64_t)x;
        o->at[a] = (int64_t)x - (whole > x);
        o->between |= whole != x;
    }
}

static inline double spot_real(const spot *o, int64_t axis)
{
    return o->between ? o->real[axis] : (double)o->at[axis];
}

/* Whether first coordinates count up or down by step and need not be read one by one. */
static inline bool positions_run(pe_positions p)
{
    return !p.data || !p.token_stride;
}

#endif
