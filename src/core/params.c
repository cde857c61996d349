/* SPDX-License-Identifier: MIT
 *
 * Learned parameters: what they are, how they start, and the projection that makes relative tables. */
#include "core/core.h"

#include "core/random.h"

#include <inttypes.h>
#include <stdio.h>

int64_t pe_encoding_param_count(const pe_encoding *e)
{
    return e ? e->param_count : 0;
}

int pe_encoding_tensor_count(const pe_encoding *e)
{
    int count = 0;
    for (int i = 0; e && i < e->parts; i++)
        count += e->part[i].tensors;
    return count;
}

pe_status pe_encoding_tensor(const pe_encoding *e, int index, pe_tensor *out, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    CHECK_POINTER(pe_tensor, out, "out");
    int left = index;
    for (int i = 0; index >= 0 && i < e->parts; i++) {
        const part *p = &e->part[i];
        if (left >= p->tensors) {
            left -= p->tensors;
            continue;
        }
        const tensor *t = &p->tensor[left];
        bool bounded = t->min < t->max;
        *out = (pe_tensor){ .rank = t->rank,
                            .offset = t->offset,
                            .count = t->count,
                            .about = t->about,
                            .hooks = p->hooks,
                            .projected = t->projected,
                            .min = bounded ? t->min : -INFINITY,
                            .max = bounded ? t->max : INFINITY };
        for (int d = 0; d < t->rank; d++)
            out->shape[d] = t->shape[d];
        int before = 0; /* parts of the same row: the second's tensors are t5-2.table */
        for (int n = 0; n < i; n++)
            before += e->part[n].row == p->row;
        if (before)
            snprintf(out->name, sizeof out->name, "%s-%d.%s", p->row->info.name, before + 1, t->name);
        else if (e->parts > 1)
            snprintf(out->name, sizeof out->name, "%s.%s", p->row->info.name, t->name);
        else
            snprintf(out->name, sizeof out->name, "%s", t->name);
        return pe_pass(err);
    }
    return pe_fail(err, PE_ERR_RANGE, "index is %d; needs 0 to %d", index, pe_encoding_tensor_count(e) - 1);
}

static double first_value(const part *p, int t, int64_t i, uint64_t seed)
{
    const tensor *x = &p->tensor[t];
    uint64_t n = (uint64_t)(x->offset + i);
    switch (x->fill) {
    case FILL_NORMAL: return x->a * random_normal(seed, n);
    case FILL_UNIFORM: return x->a + (x->b - x->a) * random_uniform(seed, n * 12);
    case FILL_CONSTANT: return x->a;
    default: return p->row->fill(p, t, i);
    }
}

pe_status pe_encoding_init(const pe_encoding *e, pe_params w, uint64_t seed, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_block(w, "params", e->param_count, "as pe_encoding_param_count says", false, err));
    for (int i = 0; i < e->parts; i++)
        for (int t = 0; t < e->part[i].tensors; t++)
            for (int64_t n = 0; n < e->part[i].tensor[t].count; n++)
                num_store(w.data, w.dtype, e->part[i].tensor[t].offset + n, first_value(&e->part[i], t, n, seed));
    return pe_pass(err);
}

static pe_status check_project(int64_t rows, int64_t heads, int64_t head_dim, int64_t model_dim, pe_error *err)
{
    int64_t size;
    if (rows < 0 || heads < 1 || head_dim < 1 || model_dim < 1)
        return pe_fail(err, PE_ERR_SHAPE,
                       "rows %" PRId64 ", heads %" PRId64 ", head_dim %" PRId64 ", model_dim %" PRId64
                       "; need 0, 1, 1 and 1 or more",
                       rows, heads, head_dim, model_dim);
    if (!checked_mul(&size, heads, head_dim) || !checked_mul(&size, size, model_dim > rows ? model_dim : rows) ||
        size > PTRDIFF_MAX / 4 || !checked_mul(&size, rows, model_dim) || size > PTRDIFF_MAX / 4)
        return pe_fail(err, PE_ERR_OVERFLOW, "rows, heads, head_dim and model_dim span more than memory can hold");
    return PE_OK;
}

static pe_status check_floats(const float *x, const char *name, bool needed, pe_error *err)
{
    if (!x && needed)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL", name);
    if ((uintptr_t)x % sizeof(float))
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to its 4-byte elements", name);
    return PE_OK;
}

pe_status pe_project(float *out, const float *table, const float *weight, const float *bias, int64_t rows,
                     int64_t heads, int64_t head_dim, int64_t model_dim, pe_error *err)
{
    TRY(check_project(rows, heads, head_dim, model_dim, err));
    TRY(check_floats(out, "out", rows > 0, err));
    TRY(check_floats(table, "table", rows > 0, err));
    TRY(check_floats(weight, "weight", rows > 0, err));
    TRY(check_floats(bias, "bias", false, err));
    int64_t width = heads * head_dim;
    CHECK_MEMORY(false, array_region("out", out, rows * width, sizeof *out, WRITES),
                 array_region("table", table, rows * model_dim, sizeof *table, READS),
                 array_region("weight", weight, width * model_dim, sizeof *weight, READS),
                 array_region("bias", bias, width, sizeof *bias, READS));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t n = 0; n < width; n++) {
            double sum = bias ? bias[n] : 0;
            for (int64_t c = 0; c < model_dim; c++)
                sum += (double)table[r * model_dim + c] * weight[n * model_dim + c];
            out[r * width + n] = (float)sum;
        }
    return pe_pass(err);
}

pe_status pe_project_back(float *dtable, float *dweight, float *dbias, const float *dout, const float *table,
                          const float *weight, int64_t rows, int64_t heads, int64_t head_dim, int64_t model_dim,
                          pe_error *err)
{
    TRY(check_project(rows, heads, head_dim, model_dim, err));
    TRY(check_floats(dout, "dout", rows > 0, err));
    TRY(check_floats(table, "table", rows > 0 && dweight, err));
    TRY(check_floats(weight, "weight", rows > 0 && dtable, err));
    TRY(check_floats(dtable, "dtable", false, err));
    TRY(check_floats(dweight, "dweight", false, err));
    TRY(check_floats(dbias, "dbias", false, err));
    int64_t width = heads * head_dim;
    CHECK_MEMORY(false, array_region("dtable", dtable, rows * model_dim, sizeof *dtable, WRITES),
                 array_region("dweight", dweight, width * model_dim, sizeof *dweight, WRITES),
                 array_region("dbias", dbias, width, sizeof *dbias, WRITES),
                 array_region("dout", dout, rows * width, sizeof *dout, READS),
                 array_region("table", table, rows * model_dim, sizeof *table, READS),
                 array_region("weight", weight, width * model_dim, sizeof *weight, READS));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t n = 0; n < width; n++) {
            float g = dout[r * width + n];
            if (dbias)
                dbias[n] += g;
            for (int64_t c = 0; c < model_dim; c++) {
                if (dtable)
                    dtable[r * model_dim + c] += g * weight[n * model_dim + c];
                if (dweight)
                    dweight[n * model_dim + c] += g * table[r * model_dim + c];
            }
        }
    return pe_pass(err);
}
