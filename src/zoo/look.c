/* SPDX-License-Identifier: MIT */
#include "zoo/look.h"

#include "io/checked.h"
#include "io/io.h"

#include <stdlib.h>

pe_status zoo_look(const pe_encoding *e, pe_attention a, pe_params w, pe_error *err)
{
    size_t work = 0, bytes = 0, all = 0;
    int64_t count = 0;
    a.v = a.v.data ? a.v : a.k;
    const int64_t shape[] = { a.q.batch, a.q.tokens, a.q.heads, a.v.dim };
    pe_status status = pe_reference_work(e, &a, &work, err);
    if (status)
        return status;
    bool fits = (a.out.data || io_shape_count(&count, shape, 4)) && io_byte_count(&bytes, count, sizeof(double)) &&
                io_add(&all, bytes, work);
    char *memory = fits ? malloc(all ? all : 1) : NULL;
    if (!memory)
        return io_fail(err, PE_ERR_NOMEM, "no memory for attention");
    if (!a.out.data)
        a.out = pe_view_of(memory, PE_F64, a.q.batch, a.q.tokens, a.q.heads, a.v.dim);
    status =
        pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = w, .work = memory + bytes, .work_bytes = work), err);
    free(memory);
    return status;
}

pe_status zoo_look_terms(const pe_encoding *e, const pe_tile *tile, pe_params w, double scale, pe_error *err)
{
    double *score = tile->score.data;
    pe_status status = PE_OK;
    for (int stage = PE_BEFORE_SCALE; !status && stage <= PE_AFTER_SCALE; stage++) {
        status = pe_encoding_content(e, (pe_stage)stage, w, tile, err);
        status = status ? status : pe_encoding_bias(e, (pe_stage)stage, w, tile, err);
        for (int64_t i = 0; stage == PE_BEFORE_SCALE && i < tile->score.tokens * tile->score.heads * tile->score.dim;
             i++)
            score[i] *= scale;
    }
    return status;
}

const char *zoo_look_plain(void)
{
    int n = 0;
    while (n + 1 < pe_info_count() && pe_info_at(n)->hooks)
        n++;
    return pe_info_at(n)->name;
}
