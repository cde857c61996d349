/* SPDX-License-Identifier: MIT
 *
 * An encoding on a device: its lowered form on the host, and what the operations make of it in device memory. */
#include <stdlib.h>

#include "cuda/cuda.h"

/* Of the lowered form only shapes, and tables without parameters, are used: calls read parameters from device memory. A
 * plan on the host wants some all the same, and gets the initial ones. */
static pe_status plan_lower(pe_cuda_plan *plan, pe_error *err)
{
    int64_t count = pe_encoding_param_count(plan->e);
    pe_params params = { NULL, PE_F32, count };
    pe_status s = PE_OK;
    if (!count)
        return pe_plan_new(&plan->host, plan->e, plan->behind, plan->ahead, NULL, err);
    params.data = calloc((size_t)count, sizeof(float));
    if (!params.data)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for the parameters of a plan");
    s = pe_encoding_init(plan->e, params, 0, err);
    if (!s)
        s = pe_plan_new(&plan->host, plan->e, plan->behind, plan->ahead, &PE_MAKE(pe_run, .params = params), err);
    free(params.data); /* the plan has a copy */
    return s;
}

pe_status pe_cuda_plan_new(pe_cuda_plan **out, pe_cuda *gpu, const pe_encoding *e, int64_t behind, int64_t ahead,
                           pe_error *err)
{
    if (!out)
        return pe_fail(err, PE_ERR_NULL, "out is NULL; needs a pointer to write to");
    *out = NULL;
    if (!gpu || !e)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL; needs one", gpu ? "the encoding" : "gpu");
    pe_cuda_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a plan");
    plan->gpu = gpu;
    plan->e = e;
    plan->behind = behind;
    plan->ahead = ahead;
    pe_status s = plan_lower(plan, err);
    if (!s)
        s = rotation_data_new(plan, err);
    if (!s)
        s = bias_data_new(plan, err);
    if (s) {
        pe_cuda_plan_free(plan);
        return s;
    }
    *out = plan;
    return pe_pass(err);
}

void pe_cuda_plan_free(pe_cuda_plan *plan)
{
    if (!plan)
        return;
    bias_data_free(plan);
    rotation_data_free(plan);
    pe_plan_free(plan->host);
    free(plan);
}
