/* SPDX-License-Identifier: MIT
 *
 * A plan: tables by distance, made once for all distances that calls will have. It holds two shells of a fused problem,
 * as many queries and as few queries want their tables; a call whose distances lie inside takes them over. */
#include "attention/fused.h"

#include <inttypes.h>
#include <string.h>

struct pe_plan {
    const pe_encoding *e;
    int64_t behind, ahead;
    pe_params params; /* its own copy */
    fused shell[2];   /* for many queries, and for few */
    void *memory;
    bool before; /* some term comes before the scale */
};

/* One query that sees every distance. */
static void shell_open(fused *f, const pe_plan *plan, const pe_pool *pool, bool few)
{
    const pe_encoding *e = plan->e;
    *f = (fused){ .p = { .e = e, .w = plan->params, .pool = pool, .scale = e->scale, .Tq = 1 } };
    f->p.Tk = plan->behind + plan->ahead + 1;
    f->p.a.v.dim = e->shape.head_dim;
    f->p.a.q_at = pe_positions_run(1, 1, plan->behind);
    f->p.a.k_at = pe_positions_run(1, f->p.Tk, 0);
    f->p.a.q_at.axes = f->p.a.k_at.axes = e->axes;
    fused_shape(f);
    f->direct = few;
    walks_find(f);
    lines_find(f);
    lookups_find(f);
    f->count = NULL; /* what counts keys looks its table up by count */
    f->count_columns = 0;
}

/* Whether a term's table can be made for every distance: places of their own have distances that nobody knows yet. */
static bool usable(const walk *w, const fused *f)
{
    bool all = !w->p && !w->scattered;
    for (int n = 0; n < f->lines; n++)
        all = all && !(f->line[n].w == w && f->line[n].p->row->reaches);
    return all;
}

static void shell_drop(fused *f)
{
    for (int n = 0; n < f->walks; n++)
        if (!usable(&f->walk[n], f)) {
            f->walk[n].scattered = true; /* no call can take it over */
            f->walk[n].total = 0;
            f->walk[n].bands = 0;
        }
    for (int n = 0; n < f->lookups; n++)
        f->lookup[n].odd = f->lookup[n].odd || f->lookup[n].w->scattered;
}

static bool shell_cut(fused *f, char *memory, int64_t *used)
{
    lines_cut(f, memory, used);
    lookups_cut(f, memory, used);
    return *used >= 0;
}

static pe_status check_plan(const pe_encoding *e, int64_t behind, int64_t ahead, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    if (behind < 0 || behind > PE_POSITION_MAX / 4 || ahead < 0 || ahead > PE_POSITION_MAX / 4)
        return pe_fail(err, PE_ERR_RANGE, "behind is %" PRId64 " and ahead %" PRId64 "; need 0 to 2^34", behind, ahead);
    return PE_OK;
}

static pe_status plan_allocate(pe_plan *plan, pe_error *err)
{
    int64_t used = 0;
    for (int i = 0; i < 2; i++) {
        shell_open(&plan->shell[i], plan, NULL, i == 1);
        shell_drop(&plan->shell[i]);
        if (!shell_cut(&plan->shell[i], NULL, &used))
            return pe_fail(err, PE_ERR_OVERFLOW, "a plan for %" PRId64 " and %" PRId64 " does not fit 64-bit sizes",
                           plan->behind, plan->ahead);
    }
    plan->params.data = calloc(1, (size_t)dtype_bytes(plan->params.dtype, plan->params.count) + 8);
    plan->memory = used < PTRDIFF_MAX - 64 ? malloc((size_t)used + 64) : NULL;
    if (!plan->params.data || !plan->memory)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a plan of %" PRId64 " bytes", used);
    return PE_OK;
}

pe_status pe_plan_new(pe_plan **out, const pe_encoding *e, int64_t behind, int64_t ahead, const pe_run *given,
                      pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_plan *, out, "out, the address of a pe_plan pointer,");
    TRY(check_run(&run, given, err));
    CHECK_MEMORY(false, array_region("out", out, 1, sizeof(pe_plan *), WRITES),
                 params_region("params", run.params, READS));
    *out = NULL;
    TRY(check_plan(e, behind, ahead, err));
    TRY(check_params(e, run.params, err));
    pe_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a plan");
    plan->e = e;
    plan->behind = behind;
    plan->ahead = ahead;
    plan->params = (pe_params){ NULL, run.params.dtype, run.params.count };
    plan->before = pe_encoding_hooks_at(e, PE_BEFORE_SCALE) != 0;
    pe_status s = plan_allocate(plan, err);
    if (!s)
        s = pe_plan_set_params(plan, given, err);
    if (s) {
        pe_plan_free(plan);
        return s;
    }
    *out = plan;
    return PE_OK;
}

pe_status pe_plan_set_params(pe_plan *plan, const pe_run *given, pe_error *err)
{
    pe_run run;
    int64_t used = 0;
    CHECK_POINTER(pe_plan, plan, "the plan");
    TRY(check_run(&run, given, err));
    TRY(check_params(plan->e, run.params, err));
    if (run.params.dtype != plan->params.dtype)
        return pe_fail(err, PE_ERR_DTYPE, "params: dtype is %d; the plan was made with %d", (int)run.params.dtype,
                       (int)plan->params.dtype);
    if (run.params.count)
        memcpy(plan->params.data, run.params.data, (size_t)dtype_bytes(run.params.dtype, run.params.count));
    char *base = (char *)plan->memory + (64 - (uintptr_t)plan->memory % 64) % 64;
    for (int i = 0; i < 2; i++) {
        fused *f = &plan->shell[i];
        f->p.pool = run.pool;
        f->p.w = plan->params;
        shell_cut(f, base, &used);
        lines_fill(f);
        lookups_fill(f);
        f->p.pool = NULL;
    }
    return pe_pass(err);
}

void pe_plan_free(pe_plan *plan)
{
    if (!plan)
        return;
    free(plan->params.data);
    free(plan->memory);
    free(plan);
}

pe_status plan_check(const pe_plan *plan, const pe_encoding *e, pe_run *run, pe_error *err)
{
    if (!plan)
        return PE_OK;
    TRY(check_pointer(plan, _Alignof(pe_plan), "the plan", err));
    if (plan->e != e)
        return pe_fail(err, PE_ERR_UNSUITED, "the plan was made for %.80s; this call is for %.80s", plan->e->text,
                       e->text);
    run->params = plan->params;
    return PE_OK;
}

/* The distances of a call lie inside those of the plan. */
static bool covers(const walk *plan, const walk *w)
{
    return !plan->scattered && !w->p && plan->low <= w->low && plan->high >= w->high;
}

/* Positions themselves, where a bias is a difference of two of them: keys that count up, from 0 on. */
static bool covers_keys(const fused *shell, const fused *f)
{
    pe_positions k = f->p.a.k_at;
    int64_t first = f->Tk ? coordinate(k, 0, 0) : -1;
    return positions_run(k) && k.step == 1 && first >= 0 && first + f->Tk <= shell->Tk;
}

void plan_use(fused *f, const pe_plan *plan)
{
    if (!plan || f->backward || (plan->before && f->p.scale != plan->shell[0].p.scale))
        return;
    const fused *shell = &plan->shell[f->direct];
    for (int n = 0; n < f->walks; n++)
        if (covers(&shell->walk[n], &f->walk[n])) {
            walk *w = &f->walk[n];
            memcpy(w->band, shell->walk[n].band, sizeof w->band);
            w->bands = shell->walk[n].bands;
            w->total = shell->walk[n].total;
            w->scattered = false;
            w->planned = true;
        }
    for (int n = 0; n < f->lines; n++)
        if (f->line[n].p->absolute ? covers_keys(shell, f) : f->line[n].w->planned)
            f->line[n].plan = &shell->line[n];
    for (int n = 0; n < f->lookups; n++)
        f->lookup[n].plan = f->lookup[n].w->planned ? &shell->lookup[n] : NULL;
}
