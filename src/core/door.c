/* SPDX-License-Identifier: MIT
 *
 * The checks at the door: once per call, before anything is written. */
#include "core/door.h"
#include "core/encoding.h"
#include "core/place.h"
#include "core/pool.h"

#include <inttypes.h>
#include <string.h>

const dtypes types_float = { TYPE_BIT(PE_F32) | TYPE_BIT(PE_F16) | TYPE_BIT(PE_BF16) | TYPE_BIT(PE_F64),
                             "needs PE_F32, PE_F16, PE_BF16 or PE_F64" };
const dtypes types_cache = { TYPE_BIT(PE_F32) | TYPE_BIT(PE_F16) | TYPE_BIT(PE_BF16) | TYPE_BIT(PE_F64) |
                                 TYPE_BIT(PE_Q8_0) | TYPE_BIT(PE_Q4_0),
                             "needs PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0 or PE_Q4_0" };
const dtypes types_bool = { TYPE_BIT(PE_BOOL), "needs PE_BOOL" };
static const dtypes types_gradient = { TYPE_BIT(PE_F32) | TYPE_BIT(PE_F64), "needs PE_F32 or PE_F64" };

pe_status check_view(pe_view *v, const char *name, extent size, use how, pe_error *err)
{
    return check_typed(v, name, size, &types_float, how, err);
}

pe_status check_run(pe_run *out, const pe_run *given, pe_error *err)
{
    *out = (pe_run){ .size = sizeof *out };
    if (!given)
        return PE_OK;
    CHECK_STRUCT(pe_run, out, given, "the run");
    return check_pool(out->pool, err);
}

/* One of float64, before start and step are added to it. */
static pe_status check_real(double x, const char *name, int64_t token, bool fractions, pe_error *err)
{
    if (fabs(x) <= 2 * (double)PE_POSITION_MAX && (fractions || x == floor(x)))
        return PE_OK;
    return pe_fail(err, PE_ERR_POSITION, "%s: position of token %" PRId64 " is %s; needs %s-2^36 to 2^36", name, token,
                   text_show(x).text, fractions ? "" : "a whole number, ");
}

static pe_status check_whole(int64_t x, int64_t most, const char *name, int64_t token, pe_error *err)
{
    if (x <= most && x >= -most)
        return PE_OK;
    return pe_fail(err, PE_ERR_POSITION, "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name,
                   token, x);
}

/* Every coordinate in memory is within bounds, and whole where fractions are not taken. */
static pe_status check_coordinates(const pe_positions *p, const char *name, bool fractions, pe_error *err)
{
    int64_t rows = p->token_stride ? p->tokens : p->tokens > 1 ? 2 : p->tokens; /* of a run both ends tell */
    int64_t batch = p->batch_stride ? p->batch : 1;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t a = 0; a < p->axes; a++) {
                int64_t t = rows == 2 && r ? p->tokens - 1 : r, i = t * p->token_stride + a * p->axis_stride;
                pe_positions one = positions_at(*p, b);
                if (p->dtype == PE_F64) {
                    double all[PE_AXES_MAX];
                    TRY(check_real(((const double *)one.data)[i], name, t, fractions, err));
                    position_real(one, t, all);
                    if (fractions && !(fabs(all[a]) <= (double)PE_POSITION_MAX))
                        return pe_fail(err, PE_ERR_POSITION,
                                       "%s: position of token %" PRId64 " is %s; needs -2^36 to 2^36", name, t,
                                       text_show(all[a]).text);
                    if (fractions)
                        continue;
                } else if (p->dtype == PE_I64)
                    TRY(check_whole(((const int64_t *)one.data)[i], 2 * PE_POSITION_MAX, name, t, err));
                TRY(check_whole(coordinate(one, t, a), PE_POSITION_MAX, name, t, err));
            }
    return PE_OK;
}

pe_status check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes, pe_error *err)
{
    return check_positions_real(p, name, batch, tokens, axes, false, err);
}

pe_status check_positions_real(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               bool fractions, pe_error *err)
{
    TRY(check_positions_outside(p, name, batch, tokens, axes, err));
    return p->data && p->tokens && p->batch ? check_coordinates(p, name, fractions, err) : PE_OK;
}

pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err)
{
    const dtypes *types = written ? &types_gradient : &types_float;
    if (!dtype_among(w.dtype, types))
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; %s", name, (int)w.dtype, types->needs);
    if (w.count != count)
        return pe_fail(err, PE_ERR_SHAPE, "%s: count is %" PRId64 "; needs %" PRId64 ", %s", name, w.count, count, why);
    if (count && !w.data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, count);
    size_t align = dtype_align(w.dtype);
    if ((uintptr_t)w.data % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, align);
    return PE_OK;
}

static const char of_encoding[] = "as pe_encoding_param_count says";

pe_status check_params(const pe_encoding *e, pe_params w, pe_error *err)
{
    TRY(check_block(w, "params", e->param_count, of_encoding, false, err));
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->check_params)
            TRY(e->part[i].row->check_params(&e->part[i], w, err));
    return PE_OK;
}

pe_status check_grads(const pe_encoding *e, pe_params dw, pe_error *err)
{
    return dw.data ? check_block(dw, "dparams", e->param_count, of_encoding, true, err) : PE_OK;
}
