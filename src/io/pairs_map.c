/* SPDX-License-Identifier: MIT
 *
 * One tensor or array: where its heads are and which of their rows are permuted, from its shape and the facts.
 */
#include "checked.h"
#include "pairs_plan.h"

#define HEAD_MAX 65536 /* rows of a head */

const char *io_pairs_name(io_pairs p)
{
    return p == IO_PAIRS_HALF ? "half" : "adjacent";
}

/* ---------------------------------------------------------------- maps */

pe_status io_pairs_map_heads(io_pairs_map *m, const io_pairs_facts *f, pe_error *err)
{
    m->dims = f->dims ? f->dims : m->head_dim;
    m->first = f->trailing ? m->head_dim - m->dims : 0;
    m->to = f->to;
    if (f->from == f->to)
        return io_fail(err, PE_ERR_SPEC, "from %s to %s there is nothing to do", io_pairs_name(f->from),
                       io_pairs_name(f->to));
    if (m->head_dim < 1 || m->head_dim > HEAD_MAX)
        return io_fail(err, PE_ERR_SHAPE, "a head has %lld elements; needs 1 to %d", (long long)m->head_dim, HEAD_MAX);
    if (m->dims < 2 || m->dims % 2 || m->dims > m->head_dim)
        return io_fail(err, f->dims ? PE_ERR_SPEC : PE_ERR_SHAPE,
                       "%lld elements of a head of %lld are rotated; needs an even number from 2 to that",
                       (long long)m->dims, (long long)m->head_dim);
    return PE_OK;
}

pe_status io_pairs_map_array(io_pairs_map *out, const io_array *a, const io_pairs_facts *f, pe_error *err)
{
    int64_t width = a->rank ? a->shape[a->rank - 1] : 0;
    *out = (io_pairs_map){ 0 };
    if (!a->rank || (f->head_dim && width % f->head_dim))
        return io_fail(err, PE_ERR_SHAPE, "the last axis has %lld elements; needs heads of %lld", (long long)width,
                       (long long)f->head_dim);
    out->rows = a->count;
    out->head_dim = out->block = out->turned = f->head_dim ? f->head_dim : width;
    return io_pairs_map_heads(out, f, err);
}

/* ---------------------------------------------------------------- one tensor */

static bool is_float(io_type t)
{
    return t == IO_F32 || t == IO_F64 || t == IO_F16 || t == IO_BF16 || t == IO_F8_E4M3 || t == IO_F8_E5M2;
}

pe_status io_plan_refuse_quantised(const io_planner *p, const io_tensor *t)
{
    return io_fail(p->err, PE_ERR_FORMAT,
                   "%s (%s) belongs to a quantised layer, or one of an unknown kind; convert the model before it is "
                   "quantised",
                   t->name, io_type_name(t->type));
}

int64_t io_plan_kv_heads(const io_planner *p)
{
    return p->f.kv_heads ? p->f.kv_heads : p->f.heads;
}

pe_status io_plan_fused(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_fused *out)
{
    *out = row->fused == IO_FUSED_STRANGE || !p->f.fused ? row->fused : p->f.fused;
    if (*out == IO_FUSED_STRANGE)
        return io_fail(p->err, PE_ERR_FORMAT,
                       "%s is of CodeGen, which mixes q, v and k in four parts; that order is not "
                       "supported",
                       t->name);
    if (*out == IO_FUSED_UNSAID)
        return io_fail(p->err, PE_ERR_SPEC,
                       "%s holds q, k and v, and models of this name differ in their order; give --fused qkv "
                       "[all q|all k|all v], per-head [q k v] (GPT-NeoX) or grouped [q.. k v] (Falcon 40B)",
                       t->name);
    if (!p->f.heads)
        return io_fail(p->err, PE_ERR_SPEC, "%s holds q, k and v; give --heads, and --kv-heads where they differ",
                       t->name);
    if (*out == IO_FUSED_PER_HEAD && io_plan_kv_heads(p) != p->f.heads)
        return io_fail(p->err, PE_ERR_SPEC,
                       "%s: [q k v] for each head needs as many key heads as heads; --kv-heads is "
                       "%lld",
                       t->name, (long long)io_plan_kv_heads(p));
    if (*out == IO_FUSED_GROUPED && p->f.heads % io_plan_kv_heads(p))
        return io_fail(p->err, PE_ERR_SPEC, "%s: %lld heads do not make %lld equal groups", t->name,
                       (long long)p->f.heads, (long long)io_plan_kv_heads(p));
    return PE_OK;
}

/* rows have to be count heads; without --heads any number of them. */
static pe_status check_rows(const io_planner *p, const io_tensor *t, int64_t rows, int64_t count)
{
    int64_t wanted, width = p->f.head_dim, found = rows / width;
    if (!p->f.heads && rows > 0 && rows % width == 0)
        return PE_OK;
    if (p->f.heads && io_mul_i64(&wanted, count, width) && rows == wanted)
        return PE_OK;
    if (!p->f.heads)
        return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows; needs a multiple of --head-dim %lld", t->name,
                       (long long)rows, (long long)width);
    return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows; %lld heads of %lld make another number%s", t->name,
                   (long long)rows, (long long)count, (long long)width,
                   rows % width                           ? ""
                   : found < p->f.heads && !p->f.kv_heads ? " (is --kv-heads missing?)"
                                                          : " (are --heads, --kv-heads and --head-dim right?)");
}

static pe_status map_fused(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_pairs_map *m)
{
    io_fused fused;
    int64_t k = io_plan_kv_heads(p), width = p->f.head_dim;
    pe_status s = io_plan_fused(p, t, row, &fused);
    if (s == PE_OK)
        s = check_rows(p, t, m->rows, p->f.heads + 2 * k);
    if (s != PE_OK)
        return s;
    int64_t queries = fused == IO_FUSED_QKV ? p->f.heads : p->f.heads / k, keys = fused == IO_FUSED_QKV ? k : 1;
    m->turned = (queries + keys) * width; /* both at most rows */
    m->block = (queries + 2 * keys) * width;
    return PE_OK;
}

/* The end of each head of q, the end of all rows of k. */
static pe_status map_mla(const io_planner *p, const io_tensor *t, io_role role, io_pairs_map *m)
{
    if (!p->f.dims || !p->f.trailing)
        return io_fail(
            p->err, PE_ERR_SPEC,
            "%s is of MLA, where the end of a head is rotated; give --range trailing and --dims, the model's "
            "qk_rope_head_dim",
            t->name);
    if (role == IO_ROLE_MLA_Q)
        return check_rows(p, t, m->rows, p->f.heads);
    m->head_dim = m->rows;
    return PE_OK;
}

/* A norm of one head for all, or of all heads. */
static pe_status map_norm(const io_planner *p, const io_tensor *t, int64_t count, io_pairs_map *m)
{
    m->rows = m->block = m->turned = t->count;
    return m->rows == p->f.head_dim ? PE_OK : check_rows(p, t, m->rows, count);
}

/* Chosen by --tensors, and of no known name. */
static pe_status map_named(const io_planner *p, const io_tensor *t, const io_pairs_map *m)
{
    int64_t keys = io_plan_kv_heads(p), wanted;
    bool is_key = io_mul_i64(&wanted, keys, p->f.head_dim) && m->rows == wanted;
    return m->rows == p->f.head_dim ? PE_OK : check_rows(p, t, m->rows, is_key ? keys : p->f.heads);
}

static pe_status map_role(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_pairs_map *m)
{
    if (!row)
        return map_named(p, t, m);
    if (row->role == IO_ROLE_FUSED)
        return map_fused(p, t, row, m);
    if (row->role == IO_ROLE_MLA_Q || row->role == IO_ROLE_MLA_K)
        return map_mla(p, t, row->role, m);
    bool query = row->role == IO_ROLE_Q || row->role == IO_ROLE_Q_NORM;
    int64_t count = query ? p->f.heads : io_plan_kv_heads(p);
    if (row->role == IO_ROLE_Q || row->role == IO_ROLE_K)
        return check_rows(p, t, m->rows, count);
    return map_norm(p, t, count, m);
}

pe_status io_plan_map(const io_planner *p, io_pairs_item *item, const io_pairs_stem *row)
{
    const io_tensor *t = item->tensor;
    io_pairs_map m = { .rows = t->rank ? t->shape[0] : 0, .head_dim = p->f.head_dim };
    if (!is_float(t->type))
        return io_plan_refuse_quantised(p, t);
    if (!m.head_dim && (!row || row->role != IO_ROLE_MLA_K))
        return io_fail(p->err, PE_ERR_SPEC, "%s: no q in this file tells how wide a head is; give --head-dim", t->name);
    m.block = m.turned = m.rows;
    pe_status s = map_role(p, t, row, &m);
    if (s == PE_OK)
        s = io_pairs_map_heads(&m, &p->f, p->err);
    if (s != PE_OK)
        return s;
    item->map = m;
    item->role = row ? io_role_name(row->role) : "named";
    p->plan->turned++;
    return PE_OK;
}
