/* SPDX-License-Identifier: MIT
 *
 * Rotation at the speed of memory: blocks of tokens whose tables stay in the cache, then all their heads. */
#include "core/pool.h"
#include "core/rotation.h"

#include <string.h>

#define PIECE 256                  /* tokens of one job, at most, */
#define PIECE_LEAST 16             /* and at least */
#define PIECE_ELEMENTS (1 << 17)   /* of one job: some microseconds */
#define BLOCK 1280                 /* cosines of a block that is made here: 20 tokens of 64 pairs */
#define ROOM (2 * PE_HEAD_DIM_MAX) /* floats for a row on its way */

/* What a piece has on the stack: one block for all ways, so that none of it is there twice. */
typedef union stage {
    struct {
        _Alignas(64) float c[BLOCK], s[BLOCK], room[ROOM];
        _Alignas(64) double base[PE_HEAD_DIM_MAX];
    } f32;
    struct {
        double c[PE_HEAD_DIM_MAX / 2], s[PE_HEAD_DIM_MAX / 2], out[PE_HEAD_DIM_MAX];
    } f64;
} stage;
_Static_assert(offsetof(stage, f32.room) <= offsetof(stage, f64.out),
               "frequencies that are trained pass from one to the other");

typedef struct table_rows {
    const float *c, *s; /* (tokens, stride) */
    int64_t stride;
} table_rows;

static char *element_at(pe_view v, int64_t token, int64_t head)
{
    return (char *)v.data + (token * v.token_stride + head * v.head_stride) * (int64_t)pe_dtype_size(v.dtype);
}

/* ------------------------------------------------ float64, and two types */

static void token_f64(const rotation_job *j, int64_t t, const double *c, const double *s, double gain, double *out)
{
    const part *p = j->p;
    const lane *to = j->mode.negate ? p->from : p->to, *from = j->mode.negate ? p->to : p->from;
    for (int64_t h = 0; h < j->x.heads; h++) {
        rotate_f64_c(out, (const double *)(void *)element_at(j->x, t, h), to, from, c, s, p->pairs, p->rest, p->rests,
                     gain);
        memcpy(element_at(j->y, t, h), out, (size_t)j->x.dim * sizeof *out);
    }
}

/* float32 arithmetic: cos and sin are rounded once, products are rounded, the store rounds once. */
static void token_f32(const rotation_job *j, int64_t t, const float *c, const float *s, float gain, float room[ROOM])
{
    float *in = room, *out = room + PE_HEAD_DIM_MAX;
    const part *p = j->p;
    const lane *to = j->mode.negate ? p->from : p->to, *from = j->mode.negate ? p->to : p->from;
    for (int64_t h = 0; h < j->x.heads; h++) {
        vec vx = row_vec(j->x, t, h), vy = row_vec(j->y, t, h);
        for (int64_t d = 0; d < j->x.dim; d++)
            in[d] = (float)vec_get(vx, d);
        rotate_f32_c(out, in, to, from, c, s, p->pairs, p->rest, p->rests, gain);
        for (int64_t d = 0; d < j->x.dim; d++)
            num_store(vy.data, vy.type, vy.at + d, out[d]);
    }
}

static const int64_t *position_of_token(const rotation_job *j, int64_t t, int64_t at[PE_AXES_MAX])
{
    position(j->at, t, at);
    at[0] -= j->shift;
    return at;
}

static const spot *find_spot(const rotation_job *j, int64_t t, spot *o)
{
    spot_find(o, j->at, t);
    o->at[0] -= j->shift;
    if (o->between)
        o->real[0] -= (double)j->shift;
    return o;
}

static double gain_of(const rotation_job *j, const int64_t *at)
{
    double gain = gain_at(j->p, j->side, at);
    return j->mode.reciprocal ? 1 / gain : gain;
}

/* ------------------------------------------------ one type, by kernels */

/* Runs of `rows` rows from token t and head h on, each `near` elements after the last. */
static void job_rotate_rows(const rotation_job *j, int64_t t, int64_t h, int64_t rows, bool tokens, table_rows table)
{
    const rotation_plan *q = j->p->plan;
    int back = j->mode.negate;
    char *y = element_at(j->y, t, h), *x = element_at(j->x, t, h);
    int64_t y_stride = tokens ? j->y.token_stride : j->y.head_stride;
    int64_t x_stride = tokens ? j->x.token_stride : j->x.head_stride;
    for (int i = 0; i < q->runs[back]; i++)
        j->k->rotate[j->x.dtype](y, y_stride, x, x_stride, rows, &q->run[back][i], table.c, table.s,
                                 tokens ? table.stride : 0);
}

/* In place, where pairs are written elsewhere than they were read: through a copy of some rows. */
static void job_rotate_staged(const rotation_job *j, int64_t t, const float *c, const float *s, float room[ROOM])
{
    char *copy = (char *)room;
    const rotation_plan *q = j->p->plan;
    size_t bytes = (size_t)j->x.dim * pe_dtype_size(j->x.dtype);
    int64_t fit = (int64_t)(ROOM * sizeof *room / bytes), most = fit < 4 ? fit : 4;
    int back = j->mode.negate;
    for (int64_t h = 0; h < j->x.heads; h += most) {
        int64_t rows = j->x.heads - h < most ? j->x.heads - h : most;
        for (int64_t i = 0; i < rows; i++)
            memcpy(copy + (size_t)i * bytes, element_at(j->x, t, h + i), bytes);
        for (int i = 0; i < q->runs[back]; i++)
            j->k->rotate[j->x.dtype](element_at(j->y, t, h), j->y.head_stride, copy, j->x.dim, rows, &q->run[back][i],
                                     c, s, 0);
    }
}

static void scale_range(const rotation_job *j, int64_t t, int64_t h, rest_range r, float gain, float room[ROOM])
{
    size_t size = pe_dtype_size(j->x.dtype), at = (size_t)r.first * size;
    char *y = element_at(j->y, t, h) + at, *x = element_at(j->x, t, h) + at;
    if (gain == 1) {
        if (x != y)
            memcpy(y, x, (size_t)r.count * size);
        return;
    }
    j->k->widen(room, x, j->x.dtype, r.count);
    j->k->scale(room, gain, r.count);
    j->k->narrow(y, j->y.dtype, room, r.count);
}

/* Elements that do not rotate. */
static void scale_rest(const rotation_job *j, int64_t first, int64_t end, float room[ROOM])
{
    const rotation_plan *q = j->p->plan;
    if (!q->rests || (j->x.data == j->y.data && !j->p->gains))
        return;
    for (int64_t t = first; t < end; t++) {
        int64_t at[PE_AXES_MAX];
        float gain = (float)gain_of(j, position_of_token(j, t, at));
        for (int64_t h = 0; h < j->x.heads; h++)
            for (int i = 0; i < q->rests; i++)
                scale_range(j, t, h, q->rest[i], gain, room);
    }
}

static table_rows row_of(table_rows table, int64_t n)
{
    return (table_rows){ table.c + n * table.stride, table.s + n * table.stride, table.stride };
}

/* Memory is walked the way it lies: heads of a token, or tokens of a head. */
static void job_rotate_block(const rotation_job *j, int64_t first, int64_t end, table_rows table, float room[ROOM])
{
    if (j->x.dtype != j->y.dtype) {
        for (int64_t t = first; t < end; t++) {
            int64_t at[PE_AXES_MAX];
            table_rows here = row_of(table, t - first);
            token_f32(j, t, here.c, here.s, (float)gain_of(j, position_of_token(j, t, at)), room);
        }
        return;
    }
    if (j->x.data == j->y.data && j->p->plan->moves)
        for (int64_t t = first; t < end; t++)
            job_rotate_staged(j, t, row_of(table, t - first).c, row_of(table, t - first).s, room);
    else if (j->x.heads == 1 || j->y.token_stride < j->y.head_stride)
        for (int64_t h = 0; h < j->x.heads; h++)
            job_rotate_rows(j, first, h, end - first, true, table);
    else
        for (int64_t t = first; t < end; t++)
            job_rotate_rows(j, t, 0, j->x.heads, false, row_of(table, t - first));
    scale_rest(j, first, end, room);
}

/* ------------------------------------------------ tables of a block */

static int64_t table_row(const rotation_job *j, int64_t t)
{
    return j->table.row ? j->table.row[t] : t;
}

/* Whether the caller's table can be used as it lies. */
static bool in_rows(const rotation_job *j)
{
    return j->table.cosine.data && !j->table.row && j->table.cosine.token_stride == j->table.sine.token_stride;
}

/* From the caller's table, as it lies or, where its rows do not follow each other, copied; else made here. */
static table_rows block_table(table_maker *m, const rotation_job *j, float *c, float *s, int64_t first, int64_t end)
{
    pe_view cosine = j->table.cosine, sine = j->table.sine;
    const float *from_c = cosine.data, *from_s = sine.data;
    int64_t P = j->p->pairs;
    if (in_rows(j))
        return (table_rows){ from_c + first * cosine.token_stride, from_s + first * sine.token_stride,
                             cosine.token_stride };
    for (int64_t t = first; t < end; t++) {
        int64_t n = (t - first) * P;
        spot at;
        if (from_c) {
            memcpy(c + n, from_c + table_row(j, t) * cosine.token_stride, (size_t)P * sizeof *c);
            memcpy(s + n, from_s + table_row(j, t) * sine.token_stride, (size_t)P * sizeof *s);
        } else
            table_row_f32(m, c + n, s + n, find_spot(j, t, &at));
    }
    return (table_rows){ c, s, P };
}

/* Jobs that share the first's table. */
static void jobs_rotate_tokens(const rotation_job *jobs, int count, int64_t first, int64_t end, stage *w)
{
    table_maker m;
    int64_t tokens = in_rows(jobs) || !jobs->p->pairs ? PIECE : BLOCK / jobs->p->pairs;
    table_start(&m, w->f32.base, jobs->k, jobs->p, jobs->side, jobs->mode);
    for (int64_t t = first; t < end; t += tokens) {
        int64_t last = t + tokens < end ? t + tokens : end;
        table_rows table = block_table(&m, jobs, w->f32.c, w->f32.s, t, last);
        for (int i = 0; i < count; i++)
            job_rotate_block(&jobs[i], t, last, table, w->f32.room);
    }
}

static void job_rotate_tokens_f64(const rotation_job *j, int64_t first, int64_t end, stage *w)
{
    pe_view cosine = j->table.cosine, sine = j->table.sine;
    table_maker m;
    table_start(&m, NULL, j->k, j->p, j->side, j->mode);
    for (int64_t t = first; t < end; t++) {
        spot at;
        double gain = gain_of(j, find_spot(j, t, &at)->at);
        const double *row_c = w->f64.c, *row_s = w->f64.s;
        if (cosine.data) {
            row_c = (const double *)cosine.data + table_row(j, t) * cosine.token_stride;
            row_s = (const double *)sine.data + table_row(j, t) * sine.token_stride;
        } else
            table_row_f64(&m, w->f64.c, w->f64.s, &at);
        token_f64(j, t, row_c, row_s, gain, w->f64.out);
    }
}

/* ------------------------------------------------ frequencies that are trained */

/* cos and sin of one token and head, from the caller's table or made here. */
static void trained_table(const rotation_job *j, int64_t t, int64_t head, const spot *at, double *c, double *s)
{
    pe_view cosine = j->table.cosine, sine = j->table.sine;
    if (!cosine.data) {
        trained_row(j->p, j->w, head, j->side, j->mode, at, c, s);
        return;
    }
    for (int64_t n = 0; n < j->p->pairs; n++) {
        c[n] = vec_get(row_vec(cosine, table_row(j, t), head), n);
        s[n] = vec_get(row_vec(sine, table_row(j, t), head), n);
    }
}

/* One head of one token, in the arithmetic of its type. */
static void trained_token(rotation_job one, int64_t t, double gain, stage *w)
{
    const double *c = w->f64.out, *s = w->f64.out + PE_HEAD_DIM_MAX / 2; /* past where float32 has its own */
    if (one.x.dtype == PE_F64) {
        token_f64(&one, t, w->f64.c, w->f64.s, gain, w->f64.out);
        return;
    }
    for (int64_t n = 0; n < one.p->pairs; n++) {
        w->f32.c[n] = (float)c[n];
        w->f32.s[n] = (float)s[n];
    }
    token_f32(&one, t, w->f32.c, w->f32.s, (float)gain, w->f32.room);
}

static void job_rotate_trained(const rotation_job *j, int64_t first, int64_t end, stage *w)
{
    for (int64_t t = first; t < end; t++)
        for (int64_t h = 0; h < j->x.heads; h++) {
            spot at;
            rotation_job one = *j;
            double gain = gain_of(j, find_spot(j, t, &at)->at);
            one.x.data = element_at(j->x, 0, h);
            one.y.data = element_at(j->y, 0, h);
            one.x.heads = one.y.heads = 1;
            bool real = j->x.dtype == PE_F64;
            trained_table(j, t, trained_head(j->p, j->heads ? j->heads : j->x.heads, j->head + h), &at,
                          real ? w->f64.c : w->f64.out, real ? w->f64.s : w->f64.out + PE_HEAD_DIM_MAX / 2);
            trained_token(one, t, gain, w);
        }
}

/* ------------------------------------------------ pieces of the whole */

typedef struct rotation_call {
    const rotation_job *jobs;
    int count;
    bool shared;
    int64_t piece; /* tokens of one job of the pool */
} rotation_call;

/* Sequence b of a job. A table is one for all sequences, or has each one's. */
static rotation_job job_at(const rotation_job *j, int64_t b)
{
    rotation_job one = *j;
    one.y = view_at(j->y, b);
    one.x = view_at(j->x, b);
    one.at = positions_at(j->at, b);
    one.table.cosine = view_at(j->table.cosine, j->table.cosine.batch > 1 ? b : 0);
    one.table.sine = view_at(j->table.sine, j->table.sine.batch > 1 ? b : 0);
    if (j->table.row)
        one.table.row += b * j->x.tokens;
    return one;
}

static void rotate_jobs(const rotation_job *jobs, const rotation_call *a, int64_t first, int64_t end, stage *w)
{
    if (a->shared)
        jobs_rotate_tokens(jobs, a->count, first, end, w);
    else
        for (int i = 0; i < a->count; i++)
            if (jobs[i].p->trained)
                job_rotate_trained(&jobs[i], first, end, w);
            else if (jobs[i].x.dtype == PE_F64)
                job_rotate_tokens_f64(&jobs[i], first, end, w);
            else
                jobs_rotate_tokens(&jobs[i], 1, first, end, w);
}

static void rotate_sequence(const rotation_call *a, int64_t b, int64_t first, int64_t end, stage *w)
{
    rotation_job jobs[2];
    for (int i = 0; i < a->count; i++)
        jobs[i] = job_at(&a->jobs[i], b);
    rotate_jobs(jobs, a, first, end, w);
}

/* As many tokens of one sequence as make a piece, or as many short sequences as have so many tokens. */
static int64_t piece_tokens(const rotation_call *a)
{
    int64_t each = 0;
    for (int i = 0; i < a->count; i++)
        each += a->jobs[i].x.heads * a->jobs[i].x.dim;
    int64_t tokens = each ? PIECE_ELEMENTS / each : PIECE;
    return tokens < PIECE_LEAST ? PIECE_LEAST : tokens < PIECE ? tokens : PIECE;
}

static int64_t pieces_of(const rotation_call *a)
{
    return (a->jobs->x.tokens + a->piece - 1) / a->piece;
}

static int64_t sequences_of(const rotation_call *a)
{
    int64_t tokens = a->jobs->x.tokens;
    return tokens < a->piece ? a->piece / tokens : 1;
}

static void rotate_piece(void *arg, int64_t n, int worker)
{
    const rotation_call *a = arg;
    int64_t tokens = a->jobs->x.tokens, batch = a->jobs->x.batch, together = sequences_of(a), pieces = pieces_of(a);
    int64_t b = n / pieces * together, first = n % pieces * a->piece;
    int64_t end = first + a->piece < tokens ? first + a->piece : tokens;
    int64_t last = b + together < batch ? b + together : batch;
    stage w;
    (void)worker;
    if (batch == 1) /* there is nothing to cut */
        rotate_jobs(a->jobs, a, first, end, &w);
    for (; batch > 1 && b < last; b++)
        rotate_sequence(a, b, first, end, &w);
}

void rotate_tokens(const rotation_job *jobs, int count, bool shared, const pe_pool *pool)
{
    if (!count || !jobs->x.tokens)
        return;
    rotation_call call = { jobs, count, shared && jobs->x.dtype != PE_F64, 0 };
    call.piece = piece_tokens(&call);
    int64_t together = sequences_of(&call);
    pool_run(pool, rotate_piece, &call, (jobs->x.batch + together - 1) / together * pieces_of(&call));
}
