/* SPDX-License-Identifier: MIT
 *
 * A plan: an encoding as data, for all distances that calls will have. It is the shell of a fused problem, without
 * tokens; a call whose distances lie inside takes its tables over, and other kernels read them as pe_lowered. */
#include "attention/fused.h"

#include <inttypes.h>
#include <string.h>

struct pe_plan {
    const pe_encoding *e;
    int64_t behind, ahead;
    pe_params params; /* its own copy */
    fused shell;
    void *memory;
    /* as others read it */
    pe_lowered form;
    pe_pair *pair;
    const pe_lowered_bias *bias[PARTS_MAX];
    pe_lowered_level level_form[PARTS_MAX];
    const pe_lowered_level *level[PARTS_MAX];
    const pe_lowered_lookup *lookup[PARTS_MAX * TERMS_MAX];
    pe_lowered_count count;
    float *counts; /* the table of what counts keys */
    pe_lowered_polar polar;
    double *phases;
};

/* One query that sees every distance; where rows ask for a share of each query, one at each position up to it. */
static void shell_open(pe_plan *plan)
{
    const pe_encoding *e = plan->e;
    fused *f = &plan->shell;
    bool shares = false;
    for (int n = 0; n < e->parts; n++)
        shares = shares || e->part[n].row->share;
    *f = (fused){ .p = { .e = e, .w = plan->params, .scale = e->scale, .Tq = shares ? plan->behind + 1 : 1 },
                  .shell = true };
    f->p.Tk = plan->behind + plan->ahead + 1;
    f->p.a.v.dim = e->shape.head_dim;
    f->p.a.q_at = pe_positions_run(1, f->p.Tq, plan->behind + 1 - f->p.Tq);
    f->p.a.k_at = pe_positions_run(1, f->p.Tk, 0);
    f->p.a.q_at.axes = f->p.a.k_at.axes = e->axes;
    fused_shape(f);
    kinds_find(f, NULL);
}

static pe_status check_plan(const pe_encoding *e, int64_t behind, int64_t ahead, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    if (behind < 0 || behind > PE_POSITION_MAX / 4 || ahead < 0 || ahead > PE_POSITION_MAX / 4)
        return pe_fail(err, PE_ERR_RANGE, "behind is %" PRId64 " and ahead %" PRId64 "; need 0 to 2^34", behind, ahead);
    return PE_OK;
}

static const part *counting_part(const pe_encoding *e)
{
    for (int n = 0; n < e->parts; n++)
        if (e->part[n].count.on)
            return &e->part[n];
    return NULL;
}

/* Frequencies that are trained have every axis rotate every pair. */
static int64_t pair_axes(const part *p)
{
    return p->trained && !p->mix.waves ? p->axes : 1;
}

static pe_status plan_allocate(pe_plan *plan, pe_error *err)
{
    const part *rotating = rotating_part(plan->e, PE_QUERY), *counts = counting_part(plan->e);
    const part *polar = polar_part(plan->e);
    int64_t used = 0, pairs = rotating ? rotating->pairs * trained_heads(rotating) * pair_axes(rotating) : 0;
    int64_t counted = counts ? counts->tensor[counts->count.table].count : 0;
    int64_t phases = polar ? polar->tensor[polar->polar.phases].count : 0;
    shell_open(plan);
    kinds_cut(&plan->shell, NULL, &used);
    if (used < 0 || used >= PTRDIFF_MAX - 64)
        return pe_fail(err, PE_ERR_OVERFLOW, "a plan for %" PRId64 " and %" PRId64 " does not fit 64-bit sizes",
                       plan->behind, plan->ahead);
    plan->params.data = calloc(1, (size_t)dtype_bytes(plan->params.dtype, plan->params.count) + 8);
    plan->memory = malloc((size_t)used + 64);
    plan->pair = calloc((size_t)pairs + 1, sizeof *plan->pair);
    plan->counts = calloc((size_t)counted + 1, sizeof *plan->counts);
    plan->phases = calloc((size_t)phases + 1, sizeof *plan->phases);
    if (!plan->params.data || !plan->memory || !plan->pair || !plan->counts || !plan->phases)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a plan of %" PRId64 " bytes", used);
    return PE_OK;
}

/* ------------------------------------------------ as others read it */

static void tell_rotation(pe_plan *plan)
{
    const part *p = rotating_part(plan->e, PE_QUERY);
    if (!p)
        return;
    pe_lowered *form = &plan->form;
    form->pairs = p->pairs;
    form->pair_heads = trained_heads(p);
    form->pair_axes = pair_axes(p);
    form->pair = plan->pair;
    form->exact = p->exact || (p->trained && !p->mix.waves);
    form->rotates_value = p->rotates_value;
    form->rotates_output = p->rotates_output;
    form->magnitude = pe_encoding_magnitude(plan->e);
    form->centre = p->centre;
    for (int64_t n = 0; n < form->pair_heads * form->pair_axes; n++) {
        pe_pair *to = plan->pair + n * p->pairs;
        pe_encoding_pairs(plan->e, to, p->pairs, NULL);
        for (int64_t i = 0; p->trained && !p->mix.waves && i < p->pairs; i++) {
            to[i].axis = n % p->axes;
            to[i].frequency = param(p, plan->params, p->frequencies, n * p->pairs + i);
            wide turns = wide_div(wide_from(to[i].frequency), wide_two_pi());
            memcpy(to[i].turns, turns.part, sizeof to[i].turns);
        }
    }
}

static void tell_count(pe_plan *plan)
{
    const part *p = counting_part(plan->e);
    if (!p)
        return;
    const tensor *x = &p->tensor[p->count.table];
    for (int64_t i = 0; i < x->count; i++)
        plan->counts[i] = (float)param(p, plan->params, p->count.table, i);
    plan->count = (pe_lowered_count){ p->stage, p->count.scale, x->shape[1], x->shape[0], x->shape[2], plan->counts };
    plan->form.count = &plan->count;
}

static void tell_polar(pe_plan *plan)
{
    const part *p = polar_part(plan->e);
    if (!p)
        return;
    for (int64_t i = 0; i < p->tensor[p->polar.phases].count; i++)
        plan->phases[i] = param(p, plan->params, p->polar.phases, i);
    plan->polar = (pe_lowered_polar){ p->shape.head_dim, p->polar.frequency, plan->phases };
    plan->form.polar = &plan->polar;
}

static void tell_terms(pe_plan *plan)
{
    pe_lowered *form = &plan->form;
    const fused *f = &plan->shell;
    form->biases = form->levels = form->lookups = 0;
    for (const pe_lowered_bias *b; (b = distance_form(f, form->biases));)
        plan->bias[form->biases++] = b;
    for (const pe_lowered_lookup *l; (l = lookups_form(f, form->lookups));)
        plan->lookup[form->lookups++] = l;
    while (levels_form(f, form->levels, &plan->level_form[form->levels])) {
        plan->level[form->levels] = &plan->level_form[form->levels];
        form->levels++;
    }
    form->bias = plan->bias;
    form->level = plan->level;
    form->lookup = plan->lookup;
}

const pe_lowered *pe_plan_lowered(const pe_plan *plan)
{
    return plan ? &plan->form : NULL;
}

/* ------------------------------------------------ its life */

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
    plan->form = (pe_lowered){ .shape = e->shape, .scale = e->scale, .magnitude = 1, .inputs = pe_encoding_inputs(e) };
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
    if (run.params.dtype != plan->params.dtype)
        return pe_fail(err, PE_ERR_DTYPE, "params: dtype is %d; the plan was made with %d", (int)run.params.dtype,
                       (int)plan->params.dtype);
    TRY(check_params(plan->e, run.params, err));
    if (run.params.count)
        memcpy(plan->params.data, run.params.data, (size_t)dtype_bytes(run.params.dtype, run.params.count));
    fused *f = &plan->shell;
    f->p.pool = run.pool;
    f->p.w = plan->params;
    kinds_cut(f, (char *)plan->memory + (64 - (uintptr_t)plan->memory % 64) % 64, &used);
    kinds_fill(f);
    f->p.pool = NULL;
    tell_rotation(plan);
    tell_count(plan);
    tell_polar(plan);
    tell_terms(plan);
    return pe_pass(err);
}

void pe_plan_free(pe_plan *plan)
{
    if (!plan)
        return;
    free(plan->params.data);
    free(plan->memory);
    free(plan->pair);
    free(plan->counts);
    free(plan->phases);
    free(plan);
}

pe_status plan_check(const pe_plan *plan, const pe_encoding *e, pe_run *run, pe_error *err)
{
    if (!plan)
        return PE_OK;
    TRY(check_pointer(plan, _Alignof(pe_plan), "the plan", err));
    if (plan->e != e)
        return pe_fail(err, PE_ERR_UNSUITED, "the plan was made for %.80s; this call is for %.80s%s", plan->e->text,
                       e->text, strcmp(plan->e->text, e->text) ? "" : ", another encoding though of the same spec");
    run->params = plan->params;
    return PE_OK;
}

const fused *plan_shell(const pe_plan *plan, const fused *f)
{
    return plan && !f->backward ? &plan->shell : NULL;
}
