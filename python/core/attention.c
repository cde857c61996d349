/* SPDX-License-Identifier: MIT
 *
 * Attention, its scores and its gradients. float64 goes to the definition (pe_reference_*), everything else to the
 * fused kernels. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- plans: kept between calls */

/* Tables for the parameters that the plan has a copy of. Shared by the calls that use it: the last one to let go frees
 * it. */
struct kept_plan {
    kept_plan *next; /* used less recently */
    pe_plan *plan;
    int64_t behind, ahead;
    int users;
    pe_params params; /* a copy of those that the plan was made with */
};

#define PLAN_DISTANCE_MAX (INT64_C(1) << 17)
/* All plans of an encoding together, so that layers with parameters of their own have one each: distances and
 * parameters. */
#define PLANS_KEPT 32
#define PLANS_SIZE_MAX (4 * PLAN_DISTANCE_MAX)

static void plan_free(kept_plan *p)
{
    if (!p)
        return;
    pe_plan_free(p->plan);
    free(p->params.data);
    free(p);
}

/* Plans that the encoding keeps no longer; those that calls still use are freed by the last of them. */
void plans_drop(kept_plan *p)
{
    while (p) {
        kept_plan *next = p->next;
        if (--p->users == 0)
            plan_free(p);
        p = next;
    }
}

static size_t params_bytes(pe_params p)
{
    return (size_t)p.count * (p.dtype == PE_F64 ? 8 : p.dtype == PE_F32 ? 4 : 2);
}

static bool plan_fits(const kept_plan *p, pe_params params, int64_t behind, int64_t ahead)
{
    return p->behind >= behind && p->ahead >= ahead && p->params.count == params.count &&
           p->params.dtype == params.dtype &&
           (!params.count || !memcmp(p->params.data, params.data, params_bytes(params)));
}

/* NULL: the call works without, too, and says what is wrong with the parameters. */
static kept_plan *plan_make(encoding_object *self, pe_params params, int64_t behind, int64_t ahead)
{
    kept_plan *p = calloc(1, sizeof *p);
    int64_t size = 256;
    while (size < behind || size < ahead)
        size *= 2;
    if (!p)
        return NULL;
    p->behind = size;
    p->ahead = ahead ? size : 0;
    p->users = 1;
    p->params = (pe_params){ malloc(params_bytes(params) + 1), params.dtype, params.count };
    if (p->params.data && params.count)
        memcpy(p->params.data, params.data, params_bytes(params));
    pe_run run = PE_MAKE(pe_run, .params = p->params);
    if (p->params.data && !pe_plan_new(&p->plan, self->e, p->behind, p->ahead, &run, NULL))
        return p;
    plan_free(p);
    return NULL;
}

/* With the lock: a plan of the list moves to its front. */
static kept_plan *plan_find(encoding_object *self, pe_params params, int64_t behind, int64_t ahead)
{
    kept_plan **at = &self->plans;
    while (*at && !plan_fits(*at, params, behind, ahead))
        at = &(*at)->next;
    kept_plan *found = *at;
    if (!found)
        return NULL;
    *at = found->next;
    found->next = self->plans;
    self->plans = found;
    found->users++;
    return found;
}

static int64_t plan_size(const kept_plan *p)
{
    return p->behind + p->ahead + p->params.count;
}

/* With the lock: a new plan at the front of the list. The end of a list that became too long is cut off and returned.
 */
static kept_plan *plan_keep(encoding_object *self, kept_plan *made)
{
    kept_plan **end = &made->next;
    int64_t size = plan_size(made);
    int count = 1;
    made->users++;
    made->next = self->plans;
    self->plans = made;
    while (*end && ++count <= PLANS_KEPT && (size += plan_size(*end)) <= PLANS_SIZE_MAX)
        end = &(*end)->next;
    kept_plan *rest = *end;
    *end = NULL;
    return rest;
}

/* A plan for these parameters and distances, made where there is none; NULL: too far for one, or nothing to keep. */
static kept_plan *plan_borrow(encoding_object *self, pe_params params, int64_t behind, int64_t ahead)
{
    bool terms = pe_encoding_hooks(self->e) & (PE_HOOK_BIAS | PE_HOOK_CONTENT | PE_HOOK_VALUE);
    if (!terms || params.dtype > PE_F64 || behind > PLAN_DISTANCE_MAX || ahead > PLAN_DISTANCE_MAX)
        return NULL;
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    kept_plan *found = plan_find(self, params, behind, ahead);
    PyThread_release_lock(self->lock);
    if (found || !(found = plan_make(self, params, behind, ahead)))
        return found;
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    plans_drop(plan_keep(self, found));
    PyThread_release_lock(self->lock);
    return found;
}

static void plan_return(encoding_object *self, kept_plan *p)
{
    if (!p)
        return;
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    bool last = --p->users == 0;
    PyThread_release_lock(self->lock);
    if (last)
        plan_free(p);
}

/* ---------------------------------------------------------------- work memory: kept between calls */

static void *work_borrow(encoding_object *self, size_t bytes)
{
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    void *work = self->work;
    size_t have = self->work_bytes;
    self->work = NULL;
    self->work_bytes = 0;
    PyThread_release_lock(self->lock);
    if (work && have >= bytes && have / 4 <= bytes + (1 << 20))
        return work;
    free(work);
    return malloc(bytes ? bytes : 8);
}

static void work_return(encoding_object *self, void *work, size_t bytes)
{
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    void *old = self->work;
    self->work = work;
    self->work_bytes = bytes;
    PyThread_release_lock(self->lock);
    free(old);
}

/* ---------------------------------------------------------------- reading a call */

enum {
    A_Q,
    A_K,
    A_V,
    A_Q_POSITIONS,
    A_K_POSITIONS,
    A_CAUSAL,
    A_ALIGN,
    A_WINDOW,
    A_FIRST_KEYS,
    A_KEEP,
    A_MASK,
    A_KEYS_BEFORE,
    A_KEYS_AFTER,
    A_Q_LENGTHS,
    A_K_LENGTHS,
    A_Q_OFFSETS,
    A_K_OFFSETS,
    A_PADDING,
    A_PAGES,
    A_KEYS,
    A_KV_DTYPE,
    A_SINKS,
    A_CAP,
    A_SCALE,
    A_ROTATED,
    A_Q_GATES,
    A_K_GATES,
    A_RELATIVE,
    A_PARAMS,
    A_LAYOUT,
    A_EXACT,
    A_OUT,
    A_LSE,
    A_SCORES,
    A_PROBABILITIES,
    A_Q_START,
    A_BEHIND,
    A_AHEAD,
    A_WORK,
    A_STREAM,
    A_COUNT
};
#define ATTENTION_NAMES                                                                                                \
    "q", "k", "v", "q_positions", "k_positions", "causal", "align", "window", "first_keys", "keep", "mask",            \
        "keys_before", "keys_after", "q_lengths", "k_lengths", "q_offsets", "k_offsets", "padding", "page_table",      \
        "keys", "kv_dtype", "sinks", "soft_cap", "scale", "rotated", "q_gates", "k_gates", "relative", "params",       \
        "layout", "exact", "out", "lse", "scores", "probabilities", "q_start", "behind", "ahead", "work", "stream"
static arguments forward_arguments = { "attention", 3, 3, { ATTENTION_NAMES }, { 0 } };

enum {
    D_DOUT = A_COUNT,
    D_DMASK,
    D_DPARAMS,
    D_DSINKS,
    D_DQ,
    D_DK,
    D_DV,
    D_DQ_GATES,
    D_DK_GATES,
    D_DRELATIVE,
    D_PIECE,
    D_ACCUMULATE
};
static arguments backward_arguments = { "attention_backward",
                                        3,
                                        3,
                                        { ATTENTION_NAMES, "dout", "dmask", "dparams", "dsinks", "dq", "dk", "dv",
                                          "dq_gates", "dk_gates", "drelative", "piece", "accumulate" },
                                        { 0 } };

/* Everything that one call holds. */
typedef struct attending {
    array held[D_ACCUMULATE + 1]; /* by argument */
    array positions[2], starts;
    pe_attention a;
    pe_run run;
    layout order;
    bool exact;
    void *stream; /* of a GPU, as reach */
    gpu_reach reach;
} attending;

static void attending_free(attending *c)
{
    for (int i = 0; i <= D_ACCUMULATE; i++)
        array_free(&c->held[i]);
    array_free(&c->positions[0]);
    array_free(&c->positions[1]);
    array_free(&c->starts);
}

static int read_view(attending *c, pe_view *out, PyObject **v, int at, const char *name)
{
    if (!v[at])
        return 0;
    return array_get(&c->held[at], v[at], name) || view_of(out, &c->held[at], c->order, name);
}

static int read_scores(attending *c, pe_view *out, PyObject **v, int at, const char *name)
{
    if (!v[at])
        return 0;
    return array_get(&c->held[at], v[at], name) || view_of_scores(out, &c->held[at], name);
}

static int read_numbers(attending *c, pe_view *out, PyObject **v, int at, const char *name)
{
    if (!v[at])
        return 0;
    return array_get(&c->held[at], v[at], name) || view_of_numbers(out, &c->held[at], c->order, name);
}

static int read_whole(attending *c, const int64_t **out, PyObject **v, int at, const char *name, int64_t count)
{
    if (!v[at])
        return 0;
    array *a = &c->held[at];
    if (array_get_as(a, v[at], name, PE_I64))
        return -1;
    if (a->ndim != 1 || (count >= 0 && a->shape[0] != count))
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions, the first of %lld; needs one, of %lld", name, a->ndim,
                      a->ndim ? (long long)a->shape[0] : 1, (long long)count);
    *out = a->data;
    return 0;
}

static int read_lengths(attending *c, pe_lengths *out, PyObject **v, int length, int offset, bool left, int64_t batch,
                        const char *side)
{
    char name[20];
    PyOS_snprintf(name, sizeof name, "%s_lengths", side);
    out->padded_left = left;
    if (read_whole(c, &out->length, v, length, name, batch))
        return -1;
    PyOS_snprintf(name, sizeof name, "%s_offsets", side);
    if (read_whole(c, &out->offset, v, offset, name, -1))
        return -1;
    if (out->offset && c->held[offset].shape[0] < 1)
        return refuse(PE_ERR_SHAPE, "%s is empty; needs the number of sequences plus one", name);
    out->sequences = out->offset ? c->held[offset].shape[0] - 1 : 0;
    return 0;
}

static int read_blocks(attending *c, PyObject **v)
{
    if (!v[A_KV_DTYPE])
        return 0;
    const char *type = PyUnicode_Check(v[A_KV_DTYPE]) ? PyUnicode_AsUTF8AndSize(v[A_KV_DTYPE], NULL) : "";
    return !type || view_of_blocks(&c->a.k, &c->held[A_K], type, "k") ||
           view_of_blocks(&c->a.v, &c->held[A_V], type, "v");
}

static int read_pages(attending *c, PyObject **v, int64_t *keys)
{
    array *a = &c->held[A_PAGES];
    *keys = c->a.k.tokens;
    if (!v[A_PAGES])
        return 0;
    if (array_get_as(a, v[A_PAGES], "page_table", PE_I32))
        return -1;
    if (a->ndim != 2 || a->shape[0] != c->a.q.batch)
        return refuse(PE_ERR_SHAPE, "page_table has %d dimensions; needs (batch, columns) for %lld sequences", a->ndim,
                      (long long)c->a.q.batch);
    c->a.pages = (pe_pages){ a->data, a->shape[1] };
    *keys = a->shape[1] * c->a.k.tokens;
    return read_int(keys, v[A_KEYS], "keys");
}

/* Without positions keys count from 0 and queries are the last of the keys: those of each sequence, where k_lengths is
 * given and the padding is not on the left. */
static int read_attention_positions(attending *c, PyObject **v, int64_t axes, int64_t keys)
{
    static const char *const names[] = { "q_positions", "k_positions" };
    pe_attention *a = &c->a;
    PyObject *numbers[2] = { v[A_Q_POSITIONS], v[A_K_POSITIONS] };
    pe_positions *out[2] = { &a->q_at, &a->k_at };
    int64_t batch[2] = { a->q.batch, v[A_PAGES] ? a->q.batch : a->k.batch }, tokens[2] = { a->q.tokens, keys };
    bool ragged = !numbers[0] && a->k_lengths.length && !a->k_lengths.padded_left && !a->q_lengths.length;
    for (int i = 1; i >= 0; i--) {
        bool is_array = numbers[i] && (PyObject_HasAttrString(numbers[i], "__len__"));
        bool scalar = numbers[i] && !(is_array && PySequence_Size(numbers[i]) >= 0);
        PyErr_Clear();
        PyObject *start = scalar ? numbers[i] : i ? NULL : v[A_Q_START];
        if (positions_of(out[i], &c->positions[i], scalar ? NULL : numbers[i], start, names[i], batch[i], tokens[i],
                         axes, i ? 0 : keys - tokens[0]))
            return -1;
    }
    if (!ragged || c->a.q_lengths.offset || v[A_Q_START])
        return 0;
    if (c->held[A_K_LENGTHS].device)
        return refuse(PE_ERR_POSITION, "k_lengths lies on a GPU, where queries are the last of so many keys; needs "
                                       "q_start=k_lengths - queries, or q_positions");
    array like = { 0 };
    if (array_new(&c->starts, &like, PE_I64, 1, &batch[0]))
        return -1;
    int64_t *start = c->starts.data;
    for (int64_t b = 0; b < batch[0]; b++)
        start[b] = a->k_lengths.length[b] - tokens[0];
    a->q_at = (pe_positions){ start, PE_I64, batch[0], tokens[0], axes, 1, 0, 0, 0, 1 };
    return 0;
}

static int read_mask(attending *c, PyObject **v)
{
    static const char *const aligns[] = { "end", "start", "position", NULL };
    pe_mask *m = &c->a.mask;
    int align = PE_ALIGN_END;
    if (read_flag(&m->causal, v[A_CAUSAL]) || read_choice(&align, v[A_ALIGN], "align", aligns) ||
        read_int(&m->window, v[A_WINDOW], "window") || read_int(&m->first_keys, v[A_FIRST_KEYS], "first_keys") ||
        read_int(&m->keys_before, v[A_KEYS_BEFORE], "keys_before") ||
        read_int(&m->keys_after, v[A_KEYS_AFTER], "keys_after") || read_scores(c, &m->keep, v, A_KEEP, "keep") ||
        read_scores(c, &m->additive, v, A_MASK, "mask"))
        return -1;
    m->align = (pe_align)align;
    if (m->additive.data && m->additive.dtype == PE_BOOL) { /* as PyTorch has them: what is true is seen */
        if (m->keep.data)
            return refuse(PE_ERR_DTYPE, "mask and keep are both bool; needs one of them, or a mask of floats");
        m->keep = m->additive;
        m->additive = (pe_view){ 0 };
    }
    return 0;
}

static int read_attention(encoding_object *self, attending *c, PyObject **v)
{
    static const char *const sides[] = { "right", "left", NULL };
    pe_attention *a = &c->a;
    int left = 0;
    int64_t keys;
    *a = PE_MAKE(pe_attention, .scale = 0);
    c->run = PE_MAKE(pe_run, .params = encoding_params(self));
    if (read_layout(&c->order, v[A_LAYOUT]) || read_choice(&left, v[A_PADDING], "padding", sides) ||
        read_view(c, &a->q, v, A_Q, "q") || read_view(c, &a->k, v, A_K, "k") || read_view(c, &a->v, v, A_V, "v") ||
        read_blocks(c, v) || read_pages(c, v, &keys) ||
        read_lengths(c, &a->q_lengths, v, A_Q_LENGTHS, A_Q_OFFSETS, left, a->q.batch, "q") ||
        read_lengths(c, &a->k_lengths, v, A_K_LENGTHS, A_K_OFFSETS, left, a->q.batch, "k") || read_mask(c, v) ||
        params_of(&a->sinks, &c->held[A_SINKS], v[A_SINKS], "sinks") ||
        params_of(&c->run.params, &c->held[A_PARAMS], v[A_PARAMS], "params") ||
        read_double(&a->soft_cap, v[A_CAP], "soft_cap") || read_double(&a->scale, v[A_SCALE], "scale") ||
        read_flag(&a->rotated, v[A_ROTATED]) || read_numbers(c, &a->q_gates, v, A_Q_GATES, "q_gates") ||
        read_numbers(c, &a->k_gates, v, A_K_GATES, "k_gates") ||
        read_view(c, &a->relative, v, A_RELATIVE, "relative") || read_scores(c, &a->scores, v, A_SCORES, "scores") ||
        read_scores(c, &a->probabilities, v, A_PROBABILITIES, "probabilities") ||
        array_writes(&c->held[A_SCORES], "scores") || array_writes(&c->held[A_PROBABILITIES], "probabilities"))
        return -1;
    c->exact = a->q.dtype == PE_F64;
    return read_flag(&c->exact, v[A_EXACT]) || read_attention_positions(c, v, pe_encoding_axes(self->e), keys);
}

/* ---------------------------------------------------------------- calling the library */

static double attention_size(const pe_attention *a)
{
    return (double)a->q.batch * (double)a->q.tokens * (double)a->q.heads * (double)a->k_at.tokens *
           (double)(a->q.dim + a->v.dim);
}

/* Distances of the call, from positions that are runs; an array is read. False: not known. */
static bool reach_of(const pe_attention *a, int64_t *behind, int64_t *ahead)
{
    const pe_positions *q = &a->q_at, *k = &a->k_at;
    if (q->axes != 1 || !q->step || k->data || !k->step)
        return false;
    int64_t first = q->start, last = q->start + q->tokens - 1;
    const int64_t *start = q->data;
    for (int64_t b = 0; start && b < q->batch; b++) {
        first = b && first < start[b] ? first : start[b];
        last = b && last > start[b] + q->tokens - 1 ? last : start[b] + q->tokens - 1;
    }
    *behind = last - k->start > 0 ? last - k->start : 0;
    *ahead = k->start + k->tokens - 1 - first > 0 ? k->start + k->tokens - 1 - first : 0;
    return true;
}

/* Work memory, threads and, forward, the plan; then the call. */
static pe_status attend(encoding_object *self, attending *c, const pe_attention_grad *g, pe_error *err)
{
    size_t bytes = 0;
    int64_t behind, ahead;
    bool plans = !g && !c->exact && reach_of(&c->a, &behind, &ahead);
    kept_plan *plan = plans ? plan_borrow(self, c->run.params, behind, ahead) : NULL;
    c->run.plan = plan ? plan->plan : NULL;
    c->run.pool = c->exact ? NULL : pool_borrow(attention_size(&c->a));
    pe_status s = c->exact ? pe_reference_work(self->e, &c->a, &bytes, err)
                  : g      ? pe_attention_backward_work(self->e, &c->a, &c->run, &bytes, err)
                           : pe_attention_work(self->e, &c->a, &c->run, &bytes, err);
    if (!s) {
        c->run.work = work_borrow(self, bytes);
        c->run.work_bytes = bytes;
        s = c->run.work ? PE_OK : PE_ERR_NOMEM;
        if (s)
            *err = (pe_error){ PE_ERR_NOMEM, "no memory for attention to work in" };
    }
    if (!s) {
        if (g)
            s = c->exact ? pe_reference_backward(self->e, &c->a, g, &c->run, err)
                         : pe_attention_backward(self->e, &c->a, g, &c->run, err);
        else
            s = c->exact ? pe_reference_forward(self->e, &c->a, &c->run, err)
                         : pe_attention_forward(self->e, &c->a, &c->run, err);
        work_return(self, c->run.work, bytes);
    }
    pool_return(c->run.pool);
    plan_return(self, plan);
    return s;
}

/* ---------------------------------------------------------------- calling the GPU library */

/* Every array of the call lies where q does. */
static int check_places(const attending *c, const arguments *names)
{
    const array *q = &c->held[A_Q];
    for (int i = 0; i <= D_ACCUMULATE; i++)
        if (c->held[i].object && c->held[i].device != q->device)
            return arrays_together((named_array[]){ { q, "q" }, { &c->held[i], names->names[i] } }, 2);
    return arrays_together(
        (named_array[]){ { q, "q" }, { &c->positions[0], "q_positions" }, { &c->positions[1], "k_positions" } }, 3);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Keys may lie behind their query by as much as the last query is far, on which a bias may depend, too. Of causal
 * queries none has keys ahead of it, where queries and keys are numbered as the mask counts them. */
static gpu_reach reach_of_runs(const pe_attention *a)
{
    int64_t first = a->q_at.start, last = first + a->q.tokens - 1, apart = first - a->k_at.start;
    bool padded = a->q_lengths.length || a->k_lengths.length || a->q_lengths.offset || a->k_lengths.offset;
    bool same = a->q_lengths.length == a->k_lengths.length && a->q_lengths.offset == a->k_lengths.offset &&
                a->q.tokens == a->k.tokens;
    int64_t counted = a->mask.align == PE_ALIGN_POSITION ? apart
                      : a->mask.align == PE_ALIGN_START  ? -a->mask.keys_before
                                                         : a->k.tokens + a->mask.keys_after - a->q.tokens;
    bool none_ahead = a->mask.causal && apart >= counted && (!padded || same);
    return (gpu_reach){ larger(0, larger(last, last - a->k_at.start)),
                        none_ahead ? 0 : larger(0, a->k_at.start + a->k_at.tokens - 1 - first) };
}

static int read_reach(encoding_object *self, attending *c, PyObject **v)
{
    bool runs = !c->a.q_at.data && !c->a.k_at.data;
    if (!(pe_encoding_hooks(self->e) & PE_HOOK_BIAS))
        return 0;
    if (!runs && !(v[A_BEHIND] && v[A_AHEAD]))
        return refuse(PE_ERR_POSITION,
                      "positions are an array on a GPU and %.100s has a bias by distance; needs behind "
                      "and ahead, the largest distances",
                      pe_encoding_spec(self->e));
    c->reach = runs ? reach_of_runs(&c->a) : (gpu_reach){ 0, 0 };
    return read_int(&c->reach.behind, v[A_BEHIND], "behind") || read_int(&c->reach.ahead, v[A_AHEAD], "ahead");
}

/* What only a call on a GPU has. */
static int read_gpu(encoding_object *self, attending *c, PyObject **v)
{
    if (c->exact && v[A_EXACT])
        return refuse(PE_ERR_UNSUITED, "exact=True is computed by the CPU; needs arrays of the CPU");
    if (!v[A_PARAMS] && self->param_count)
        return refuse(PE_ERR_NULL,
                      "the arrays are on a GPU and params is not given; needs the learned parameters of "
                      "%.100s there, float32",
                      pe_encoding_spec(self->e));
    if (!v[A_PARAMS])
        c->run.params = (pe_params){ 0 };
    return array_stream(&c->stream, &c->held[A_Q], v[A_STREAM]) || read_reach(self, c, v);
}

/* Memory to work in comes from the library of the tensors, whose allocator knows streams and graphs. */
static int make_work(attending *c, PyObject *given, size_t bytes)
{
    array *work = &c->held[A_WORK];
    int64_t size = (int64_t)bytes;
    if (!bytes)
        return 0;
    if (given ? array_get_out(work, given, "work") : array_new(work, &c->held[A_Q], DTYPE_U8, 1, &size))
        return -1;
    if (work->dtype != DTYPE_U8 || work->ndim != 1 || work->shape[0] < size || work->device != c->held[A_Q].device)
        return refuse(PE_ERR_SHAPE, "work is %s of %lld elements; needs uint8 of %lld on the device of q",
                      dtype_name(work->dtype), work->ndim ? (long long)work->shape[0] : 1, (long long)size);
    c->run.work = work->data;
    c->run.work_bytes = bytes;
    return 0;
}

static int attend_on_gpu(encoding_object *self, attending *c, const pe_attention_grad *g, PyObject **v)
{
    int device = c->held[A_Q].device - 1;
    size_t bytes = 0;
    pe_error err = { 0 };
    pe_status failed;
    if (read_gpu(self, c, v))
        return -1;
    WITHOUT_LOCK(failed = gpu_attention_work(self, device, c->reach, &c->a, g, &bytes, &err));
    if (failed)
        return raise_error(&err), -1;
    if (make_work(c, v[A_WORK], bytes))
        return -1;
    WITHOUT_LOCK(failed = gpu_attention(self, device, c->reach, &c->a, g, &c->run, c->stream, &err));
    return failed ? (raise_error(&err), -1) : 0;
}

/* Where the arrays are. */
static int attend_there(encoding_object *self, attending *c, const pe_attention_grad *g, PyObject **v)
{
    pe_error err = { 0 };
    pe_status failed;
    if (check_places(c, g ? &backward_arguments : &forward_arguments))
        return -1;
    if (c->held[A_Q].device)
        return attend_on_gpu(self, c, g, v);
    WITHOUT_LOCK(failed = attend(self, c, g, &err));
    return failed ? (raise_error(&err), -1) : 0;
}

/* ---------------------------------------------------------------- forward */

/* out, and lse where it is wanted: True makes a new one, an array is written to. */
static int make_outputs(attending *c, PyObject **v, bool *wants_lse)
{
    array *out = &c->held[A_OUT], *lse = &c->held[A_LSE], *q = &c->held[A_Q];
    pe_view like = c->a.q;
    int64_t shape[4];
    like.dim = c->a.v.dim;
    if (v[A_OUT] ? array_get_out(out, v[A_OUT], "out")
                 : (view_shape(shape, &like, c->order, q->ndim), array_new(out, q, q->dtype, q->ndim, shape)))
        return -1;
    if (view_of(&c->a.out, out, c->order, "out"))
        return -1;
    bool made = v[A_LSE] && PyBool_Check(v[A_LSE]);
    *wants_lse = v[A_LSE] && v[A_LSE] != Py_False;
    if (!*wants_lse)
        return 0;
    if (made && q->ndim == 2)
        return refuse(PE_ERR_SHAPE, "lse needs q with heads: (tokens, heads, dim) or (batch, tokens, heads, dim)");
    if (made ? (view_shape(shape, &like, c->order, q->ndim),
                array_new(lse, q, q->dtype == PE_F64 ? PE_F64 : PE_F32, q->ndim - 1, shape))
             : array_get_out(lse, v[A_LSE], "lse"))
        return -1;
    return view_of_numbers(&c->a.lse, lse, c->order, "lse");
}

PyObject *encoding_attention(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    attending c = { 0 };
    bool wants_lse = false;
    if (arguments_read(&forward_arguments, v, args, count, names))
        return NULL;
    if (!read_attention(self, &c, v) && !make_outputs(&c, v, &wants_lse) && !attend_there(self, &c, NULL, v)) {
        if (v[A_OUT])
            Py_INCREF(out = v[A_OUT]);
        else
            out = array_take(&c.held[A_OUT]);
        PyObject *lse = wants_lse && PyBool_Check(v[A_LSE]) ? array_take(&c.held[A_LSE]) : NULL;
        if (lse) {
            PyObject *both = PyTuple_Pack(2, out, lse);
            Py_DECREF(out);
            Py_DECREF(lse);
            out = both;
        }
    }
    attending_free(&c);
    return out;
}

/* ---------------------------------------------------------------- backward */

/* A gradient: True makes a new array like `of`, an array is written to, None is not wanted. */
static int make_gradient(attending *c, pe_view *out, PyObject **v, int at, int of, const char *name)
{
    array *a = &c->held[at], *like = &c->held[of];
    bool numbers = of == A_Q_GATES || of == A_K_GATES;
    if (!v[at] || v[at] == Py_False)
        return 0;
    if (v[at] == Py_True ? array_new(a, like, like->dtype, like->ndim, like->shape) : array_get_out(a, v[at], name))
        return -1;
    return numbers ? view_of_numbers(out, a, c->order, name) : view_of(out, a, c->order, name);
}

static int read_gradients(attending *c, pe_attention_grad *g, PyObject **v)
{
    *g = PE_MAKE(pe_attention_grad, .accumulate = false);
    if (!v[D_DOUT] || !v[A_OUT] || !v[A_LSE])
        return refuse(PE_ERR_NULL, "attention_backward needs dout, and out and lse of attention(..., lse=True)");
    return read_view(c, &c->a.out, v, A_OUT, "out") || read_numbers(c, &c->a.lse, v, A_LSE, "lse") ||
           read_view(c, &g->dout, v, D_DOUT, "dout") || read_scores(c, &g->dadditive, v, D_DMASK, "dmask") ||
           array_writes(&c->held[D_DMASK], "dmask") ||
           params_of(&g->dparams, &c->held[D_DPARAMS], v[D_DPARAMS], "dparams") ||
           params_of(&g->dsinks, &c->held[D_DSINKS], v[D_DSINKS], "dsinks") ||
           array_writes(&c->held[D_DPARAMS], "dparams") || array_writes(&c->held[D_DSINKS], "dsinks") ||
           make_gradient(c, &g->dq, v, D_DQ, A_Q, "dq") || make_gradient(c, &g->dk, v, D_DK, A_K, "dk") ||
           make_gradient(c, &g->dv, v, D_DV, A_V, "dv") ||
           make_gradient(c, &g->dq_gates, v, D_DQ_GATES, A_Q_GATES, "dq_gates") ||
           make_gradient(c, &g->dk_gates, v, D_DK_GATES, A_K_GATES, "dk_gates") ||
           make_gradient(c, &g->drelative, v, D_DRELATIVE, A_RELATIVE, "drelative") ||
           read_flag(&g->piece, v[D_PIECE]) || read_flag(&g->accumulate, v[D_ACCUMULATE]);
}

PyObject *encoding_attention_backward(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const int results[] = { D_DQ, D_DK, D_DV, D_DQ_GATES, D_DK_GATES, D_DRELATIVE };
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    attending c = { 0 };
    pe_attention_grad g;
    if (arguments_read(&backward_arguments, v, args, count, names))
        return NULL;
    if (!v[D_DQ] && !v[D_DK] && !v[D_DV])
        v[D_DQ] = v[D_DK] = v[D_DV] = Py_True;
    if (!read_attention(self, &c, v) && !read_gradients(&c, &g, v) && !attend_there(self, &c, &g, v)) {
        out = PyTuple_New(6);
        for (int i = 0; out && i < 6; i++) {
            int at = results[i];
            PyObject *grad = !v[at] || v[at] == Py_False ? Py_None : v[at];
            if (v[at] == Py_True)
                grad = array_take(&c.held[at]);
            else
                Py_INCREF(grad);
            PyTuple_SetItem(out, i, grad);
        }
    }
    attending_free(&c);
    return out;
}

int attention_init(void)
{
    return arguments_init(&forward_arguments) || arguments_init(&backward_arguments);
}
