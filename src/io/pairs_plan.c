/* SPDX-License-Identifier: MIT
 *
 * Which tensors are permuted, and how: decided for the whole file before a byte is written. What cannot be told from
 * names and shapes is asked for, never guessed: weights in the wrong order still make fluent text.
 */
#include "pairs_plan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* *row: what the tensor is. False: it stays as it is. */
static bool is_chosen(io_planner *p, const char *name, const io_pairs_stem **row, const char **rest)
{
    *row = io_pairs_find(name, rest);
    if (p->f.tensors)
        return fnmatch(p->f.tensors, name, 0) == 0;
    if (io_pairs_in_tower(name) && (*row || io_pairs_resembles(name))) {
        p->plan->passed_over = name;
        return false;
    }
    return *row != NULL;
}

static pe_status plan_tensor(io_planner *p, io_pairs_item *item)
{
    const io_pairs_stem *row;
    const char *rest;
    const char *name = item->tensor->name;
    if (!is_chosen(p, name, &row, &rest)) {
        item->left = !row && !p->f.tensors && !io_pairs_in_tower(name) && io_pairs_resembles(name);
        p->plan->left += item->left;
        return PE_OK;
    }
    io_part what = row ? io_pairs_part(row->role, rest) : IO_PART_TURN;
    if (what == IO_PART_REFUSE)
        return io_plan_refuse_quantised(p, item->tensor);
    return what == IO_PART_TURN ? io_plan_map(p, item, row) : PE_OK;
}

/* From the first tensor that holds whole query heads. */
static pe_status find_width(io_planner *p)
{
    for (size_t i = 0; i < p->plan->count && !p->f.head_dim; i++) {
        const io_tensor *t = p->plan->item[i].tensor;
        const io_pairs_stem *row;
        const char *rest;
        io_fused fused;
        bool chosen =
            is_chosen(p, t->name, &row, &rest) && row && t->rank && io_pairs_part(row->role, rest) == IO_PART_TURN;
        bool is_fused = chosen && row->role == IO_ROLE_FUSED;
        if (!chosen || (row->role != IO_ROLE_Q && row->role != IO_ROLE_MLA_Q && !is_fused))
            continue;
        if (!p->f.heads)
            return io_fail(p->err, PE_ERR_SPEC, "%s has %lld rows; give --heads (and --kv-heads), or --head-dim",
                           t->name, (long long)t->shape[0]);
        pe_status s = is_fused ? io_plan_fused(p, t, row, &fused) : PE_OK;
        if (s != PE_OK)
            return s;
        int64_t heads = is_fused ? p->f.heads + 2 * io_plan_kv_heads(p) : p->f.heads;
        if (t->shape[0] < heads || t->shape[0] % heads)
            return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows, which are not %lld equal heads", t->name,
                           (long long)t->shape[0], (long long)heads);
        p->f.head_dim = t->shape[0] / heads;
    }
    return PE_OK;
}

static pe_status check_facts(const io_safetensors *st, const io_pairs_facts *f, pe_error *err)
{
    const int64_t most = INT64_C(1) << 31, value[] = { f->heads, f->kv_heads, f->head_dim, f->dims };
    const char *done = io_safetensors_meta(st, IO_PAIRS_KEY);
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        if (value[i] < 0 || value[i] > most)
            return io_fail(err, PE_ERR_SPEC, "heads, kv-heads, head-dim or dims is %lld; needs 1 to %lld",
                           (long long)value[i], (long long)most);
    if (f->from == f->to)
        return io_fail(err, PE_ERR_SPEC, "from %s to %s there is nothing to do", io_pairs_name(f->from),
                       io_pairs_name(f->to));
    if (done && !f->again && strcmp(done, io_pairs_name(f->from)) != 0)
        return io_fail(err, PE_ERR_FORMAT,
                       "its metadata says " IO_PAIRS_KEY "=%s: it was converted before; --force does it "
                       "again",
                       done);
    return PE_OK;
}

static pe_status list_tensors(io_pairs_plan *plan, const io_safetensors *st, pe_error *err)
{
    const io_tensor **order;
    size_t count = io_safetensors_count(st);
    pe_status s = io_safetensors_order(&order, st, err);
    if (s != PE_OK)
        return s;
    plan->item = calloc(count ? count : 1, sizeof *plan->item);
    for (size_t i = 0; plan->item && i < count; i++)
        plan->item[i] = (io_pairs_item){ .tensor = order[i], .role = "" };
    plan->count = count;
    free(order);
    return plan->item ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a plan of %zu tensors", count);
}

pe_status io_pairs_plan_new(io_pairs_plan *out, const io_safetensors *st, const io_pairs_facts *f, pe_error *err)
{
    io_planner p = { .plan = out, .f = *f, .err = err };
    *out = (io_pairs_plan){ .to = f->to };
    pe_status s = check_facts(st, f, err);
    if (s == PE_OK)
        s = list_tensors(out, st, err);
    if (s == PE_OK)
        s = find_width(&p);
    for (size_t i = 0; s == PE_OK && i < out->count; i++)
        s = plan_tensor(&p, &out->item[i]);
    if (s != PE_OK)
        io_pairs_plan_free(out);
    return s;
}

void io_pairs_plan_free(io_pairs_plan *p)
{
    free(p->item);
    *p = (io_pairs_plan){ 0 };
}
