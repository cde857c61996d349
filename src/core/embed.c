/* SPDX-License-Identifier: MIT
 *
 * The embed hook: y = x + code, or [x, code]. */
#include "core/core.h"

#include <inttypes.h>

int64_t pe_embed_width(const pe_encoding *e, int64_t x_width)
{
    for (int i = 0; e && i < e->parts; i++)
        if (e->part[i].row->embed && e->part[i].concat && !checked_add(&x_width, x_width, e->part[i].width))
            return -1;
    return x_width < 0 ? -1 : x_width;
}

/* Added codes span the width of x; a part that joins starts where the part before ended. */
static pe_status check_widths(const pe_encoding *e, int64_t x_width, pe_error *err)
{
    if (x_width < 0)
        return pe_fail(err, PE_ERR_SHAPE, "x is %" PRId64 " wide; needs 0 or more, without the codes that join it",
                       x_width);
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        if (p->row->embed && !p->concat && p->width != x_width)
            return pe_fail(err, PE_ERR_SHAPE, "x is %" PRId64 " wide; %s adds a code of %" PRId64 " (model_dim)",
                           x_width, p->row->info.name, p->width);
    }
    return PE_OK;
}

static pe_status check_served(const pe_encoding *e, pe_positions where, pe_error *err)
{
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->embed)
            TRY(check_turning(&e->part[i], PE_QUERY, PE_F64, where, err));
    return PE_OK;
}

#define PIECE 64 /* tokens of one job */

typedef struct embed_call {
    const pe_encoding *e;
    pe_params w;
    pe_view y, x;
    pe_positions where;
    int64_t pieces; /* of a sequence */
} embed_call;

/* One token of one sequence; x.data NULL: of nothing. */
static void embed_token(const embed_call *g, pe_view y, pe_view x, const int64_t *at, int64_t t)
{
    int64_t joined = x.dim;
    vec from = row_vec(x, t, 0), to = row_vec(y, t, 0);
    for (int64_t c = 0; c < x.dim; c++) {
        double sum = x.data ? vec_get(from, c) : 0;
        for (int i = 0; i < g->e->parts; i++)
            if (g->e->part[i].row->embed && !g->e->part[i].concat)
                sum += g->e->part[i].row->embed(&g->e->part[i], g->w, at, c);
        num_store(to.data, to.type, to.at + c, sum);
    }
    for (int i = 0; i < g->e->parts; i++) {
        const part *p = &g->e->part[i];
        for (int64_t c = 0; p->row->embed && p->concat && c < p->width; c++)
            num_store(to.data, to.type, to.at + joined++, p->row->embed(p, g->w, at, c));
    }
}

static void embed_piece(void *arg, int64_t n, int worker)
{
    const embed_call *g = arg;
    pe_view y = view_at(g->y, n / g->pieces), x = view_at(g->x, n / g->pieces);
    pe_positions where = positions_at(g->where, n / g->pieces);
    int64_t first = n % g->pieces * PIECE, end = first + PIECE < y.tokens ? first + PIECE : y.tokens;
    (void)worker;
    for (int64_t t = first; t < end; t++) {
        int64_t at[PE_AXES_MAX];
        embed_token(g, y, x, position(where, t, at), t);
    }
}

pe_status pe_embed(const pe_encoding *e, pe_view y, pe_view x, pe_positions where, const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    bool bare = !x.data;
    if (bare && !x.batch && !x.tokens && !x.dim)
        x.batch = y.batch, x.tokens = y.tokens, x.dim = e->shape.model_dim;
    if (bare)
        x = (pe_view){ NULL, y.dtype, x.batch, x.tokens, 1, x.dim, 0, 0, 0 };
    if (!bare)
        TRY(check_view(&x, "x", (extent){ -1, -1, 1, -1 }, READS, err));
    TRY(check_widths(e, x.dim, err));
    int64_t width = pe_embed_width(e, x.dim);
    if (width < 0)
        return pe_fail(err, PE_ERR_OVERFLOW, "x: dim is %" PRId64 "; with the codes that join it does not fit 64 bits",
                       x.dim);
    TRY(check_view(&y, "y", (extent){ x.batch, x.tokens, 1, width }, WRITES, err));
    TRY(check_positions(&where, "positions", y.batch, y.tokens, e->axes, err));
    TRY(check_params(e, run.params, err));
    CHECK_MEMORY(true, view_region("y", y, WRITES), view_region("x", x, READS), positions_region("positions", where),
                 params_region("params", run.params, READS));
    TRY(check_served(e, where, err));
    embed_call call = { e, run.params, y, x, where, (y.tokens + PIECE - 1) / PIECE };
    if (y.tokens)
        pool_run(run.pool, embed_piece, &call, y.batch * call.pieces);
    return pe_pass(err);
}

/* The gradients of one token, to the parameters and to x. */
static void embed_token_back(const pe_encoding *e, pe_params dw, pe_view dx, pe_view dy, const int64_t *at, int64_t t,
                             int64_t x_dim)
{
    int64_t joined = x_dim;
    vec from = row_vec(dy, t, 0);
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        int64_t first = p->concat ? joined : 0;
        for (int64_t c = 0; p->row->embed && p->row->embed_back && c < p->width; c++)
            p->row->embed_back(p, dw, at, c, vec_get(from, first + c));
        joined += p->row->embed && p->concat ? p->width : 0;
    }
    for (int64_t c = 0; dx.data && c < x_dim; c++)
        num_store(dx.data, dx.dtype, t * dx.token_stride + c, vec_get(from, c));
}

pe_status pe_embed_back(const pe_encoding *e, pe_params dw, pe_view dx, pe_view dy, pe_positions where,
                        const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(check_view(&dy, "dy", (extent){ -1, -1, 1, -1 }, READS, err));
    int64_t x_dim = dy.dim - pe_embed_width(e, 0);
    TRY(check_widths(e, x_dim, err));
    if (dx.data)
        TRY(check_view(&dx, "dx", (extent){ dy.batch, dy.tokens, 1, x_dim }, WRITES, err));
    TRY(check_positions(&where, "positions", dy.batch, dy.tokens, e->axes, err));
    TRY(check_params(e, run.params, err));
    TRY(check_grads(e, dw, err));
    CHECK_MEMORY(true, view_region("dx", dx, WRITES), view_region("dy", dy, READS),
                 positions_region("positions", where), params_region("params", run.params, READS),
                 params_region("dparams", dw, WRITES));
    TRY(check_served(e, where, err));
    for (int64_t b = 0; b < dy.batch; b++)
        for (int64_t t = 0; t < dy.tokens; t++) {
            int64_t at[PE_AXES_MAX];
            position(positions_at(where, b), t, at);
            embed_token_back(e, dw, view_at(dx, b), view_at(dy, b), at, t, x_dim);
        }
    return pe_pass(err);
}
