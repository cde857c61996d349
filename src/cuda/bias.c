/* SPDX-License-Identifier: MIT
 *
 * Biases by distance on the device. Biases of one stage and one kind of distance are one piece: a table, or measures,
 * shares and knots. What has no parameters is computed here by the host's plan and uploaded once; what has is computed
 * on the device by the rows' own functions (bias.cu) in each call. */
#include "cuda/cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "cuda/bias_args.h"
#include "cuda/recipes.h"

enum { PAD = 512, WORKERS_MAX = 64, ALIGNMENT = 256 };
#define DISTANCES_MAX (INT64_C(1) << 31)
#define LEDGER_MAX (INT64_C(32) << 20) /* bytes; fewer workers where parameters are many */

enum {
    FILL,
    BACK,
    SUM,
    MEASURE,
    SORT,
    LINES,
    KNOTS_BACK,
    KERNELS
}; /* knots have those from SUM on, tables the first */
enum { TABLE_KERNELS = SUM + 1, KNOTS_KERNELS = KERNELS - SUM };
static const char *const sources[] = { "bias_args.h", "bias.cu", NULL };
static const kernel_source bias_kernel[] = {
    [FILL] = { "bias_fill", sources, true },        [BACK] = { "bias_back", sources, true },
    [SUM] = { "bias_sum", sources, true },          [MEASURE] = { "knots_measure", sources, true },
    [SORT] = { "knots_sort", sources, true },       [LINES] = { "knots_fill", sources, true },
    [KNOTS_BACK] = { "knots_back", sources, true },
};

_Static_assert(sizeof(bias_fill_args) <= 4096 && sizeof(knots_back_args) <= 4096, "what a kernel can take");

typedef struct piece {
    const pe_lowered_bias *part[BIAS_PARTS]; /* that have parameters */
    char *program[BIAS_PARTS];               /* the defines of each alone */
    int parts;
    const pe_lowered_bias *fixed[BIAS_PARTS];
    int fixeds;
    char *defines;        /* of all that have parameters */
    device_pointer table; /* where none has parameters */
    device_pointer base;  /* (H, row) what those without parameters add */
    bias_piece form;
} piece;

struct bias_data {
    piece piece[BIAS_PIECES_MAX];
    int pieces;
    int64_t heads;
    bool unsuited; /* a part has parameters, and no functions for the device */
};

/* ------------------------------------------------ making */

static bool joins(const piece *p, const pe_lowered_bias *b)
{
    return b->knots < 0 && !p->form.knots && p->form.stage == b->stage &&
           !memcmp(p->form.weight, b->by->weight, sizeof p->form.weight);
}

static void piece_add(struct bias_data *data, const pe_lowered_bias *b)
{
    int n = 0;
    while (n < data->pieces && !joins(&data->piece[n], b))
        n++;
    piece *p = &data->piece[n];
    bias_piece *f = &p->form;
    if (n == data->pieces) {
        data->pieces++;
        *f = (bias_piece){ .stage = b->stage, .knots = b->knots >= 0, .low = b->by->low, .high = b->by->high };
        memcpy(f->weight, b->by->weight, sizeof f->weight);
    }
    f->low = b->by->low < f->low ? b->by->low : f->low;
    f->high = b->by->high > f->high ? b->by->high : f->high;
    if (b->params)
        p->part[p->parts++] = b;
    else
        p->fixed[p->fixeds++] = b;
    data->unsuited = data->unsuited || (b->params ? !b->device : b->knots >= 0);
}

static pe_status piece_size(piece *p, const pe_cuda_plan *plan, pe_error *err)
{
    bias_piece *f = &p->form;
    const pe_lowered_bias *knots = f->knots && p->parts ? p->part[0] : NULL;
    f->count = f->high - f->low + 1;
    if (f->count > DISTANCES_MAX)
        return pe_fail(err, PE_ERR_RANGE, "a bias table of %" PRId64 " distances; a GPU's plan holds 2^31 at most",
                       f->count);
    f->zero = PAD + f->high;
    f->row = (f->count + 2 * PAD + 3) / 4 * 4;
    f->learned = p->parts > 0;
    f->knot_count = knots ? knots->knots : 0;
    f->shares = knots ? plan->behind + 1 : 0;
    f->gradient = f->row + (knots ? (f->shares + 3) / 4 * 4 + 4 * (f->knot_count + 1) : 0);
    return PE_OK;
}

/* "#define PARTS 2", then each part's text, which is one line. */
static char *defines_new(const pe_lowered_bias *const *part, int parts)
{
    size_t bytes = 100;
    for (int n = 0; n < parts; n++)
        bytes += strlen(part[n]->device) + 20;
    char *text = malloc(bytes);
    if (!text)
        return NULL;
    int used = snprintf(text, bytes, "%s#define PARTS %d\n", part[0]->knots >= 0 ? "#define KNOTS 1\n" : "", parts);
    for (int n = 0; n < parts; n++)
        used += snprintf(text + used, bytes - (size_t)used, "#define PART_%d %s\n", n, part[n]->device);
    return text;
}

static pe_status piece_defines(piece *p, pe_error *err)
{
    for (int n = 0; n < p->parts; n++)
        if (!(p->program[n] = defines_new(&p->part[n], 1)))
            return pe_fail(err, PE_ERR_NOMEM, "no memory for the text of a bias");
    if (p->parts && !(p->defines = defines_new(p->part, p->parts)))
        return pe_fail(err, PE_ERR_NOMEM, "no memory for the text of a bias");
    return PE_OK;
}

/* ------------------------------------------------ what is built into the library */

/* The defines of a spec's bias, which are the same for every shape; NULL: it has no parameters. */
static char *defines_of(const char *spec)
{
    pe_encoding *e = NULL;
    pe_plan *plan = NULL;
    char *text = NULL;
    pe_shape shape = { .heads = 1, .kv_heads = 1, .head_dim = 64, .model_dim = 64 };
    void *params = NULL;
    if (!pe_encoding_new(&e, spec, shape, NULL))
        params = calloc((size_t)pe_encoding_param_count(e) + 1, sizeof(float));
    pe_params w = { params, PE_F32, pe_encoding_param_count(e) };
    if (params && w.count && !pe_encoding_init(e, w, 0, NULL) &&
        !pe_plan_new(&plan, e, 0, 0, &PE_MAKE(pe_run, .params = w), NULL)) {
        const pe_lowered *form = pe_plan_lowered(plan);
        if (form->biases && form->bias[0]->device)
            text = defines_new(form->bias, 1);
    }
    pe_plan_free(plan);
    pe_encoding_free(e);
    free(params);
    return text;
}

/* Of a row, its first example with parameters. */
static char *defines_of_row(const pe_info *row)
{
    char *text = NULL;
    for (int n = 0; !text && row->hooks & PE_HOOK_BIAS && n < row->example_count; n++)
        text = defines_of(row->examples[n]);
    return text;
}

bool bias_recipes(int index, int capability, kernel_recipe *out)
{
    (void)capability;
    for (int i = 0; i < pe_info_count(); i++) {
        char *text = defines_of_row(pe_info_at(i));
        if (!text)
            continue;
        bool knots = strstr(text, "#define KNOTS"), fits = strlen(text) < sizeof out->defines;
        int all = knots ? KNOTS_KERNELS : TABLE_KERNELS;
        bool found = index < all;
        if (found) {
            out->source = &bias_kernel[index + (knots ? SUM : FILL)];
            out->registers = 64;
            out->shared = 20 * 1024;
            memcpy(out->defines, fits ? text : "", fits ? strlen(text) + 1 : 1);
        }
        free(text);
        if (found)
            return fits;
        index -= all;
    }
    return false;
}

/* ------------------------------------------------ tables of what has no parameters */

static double lowered_at(const pe_lowered_bias *b, int64_t h, int64_t d)
{
    d = d < b->by->low ? b->by->low : d > b->by->high ? b->by->high : d;
    int64_t entry = b->by->first + b->by->high - d, n = 0;
    while (n < b->segments - 1 && entry >= b->segment[n].first + b->segment[n].count)
        n++;
    const pe_segment *s = &b->segment[n];
    if (s->kind == PE_SEGMENT_TABLE)
        return b->table[h * b->table_row + s->at + entry - s->first];
    double level = b->level[h * b->segments + n], slope = b->slope[h * b->segments + n];
    return s->kind == PE_SEGMENT_LINEAR ? level + slope * (double)d : level;
}

/* Attention adds biases to products, before the scale. */
static double unit_of(const pe_cuda_plan *plan, const bias_piece *f)
{
    return f->stage == PE_AFTER_SCALE ? 1 / pe_encoding_scale(plan->e) : 1;
}

static void host_table(const piece *p, int64_t heads, double factor, float *table)
{
    const bias_piece *f = &p->form;
    for (int64_t h = 0; h < heads; h++)
        for (int64_t e = 0; e < f->row; e++) {
            int64_t d = f->zero - e;
            double x = 0;
            d = d < f->low ? f->low : d > f->high ? f->high : d;
            for (int n = 0; n < p->fixeds; n++)
                x += lowered_at(p->fixed[n], h, d);
            table[h * f->row + e] = (float)(factor * x);
        }
}

/* The whole table and its copy where nothing has parameters; the base of the others where some have. */
static pe_status piece_upload(piece *p, const pe_cuda_plan *plan, int64_t heads, pe_error *err)
{
    if (!p->fixeds)
        return PE_OK;
    size_t entries = (size_t)heads * (size_t)p->form.row, bytes = 2 * entries * sizeof(float);
    float *table = malloc(bytes);
    if (!table)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a bias table of %zu bytes", bytes);
    host_table(p, heads, p->parts ? 1 : unit_of(plan, &p->form), table);
    memcpy(table + entries, table + 1, (entries - 1) * sizeof *table); /* a row's last entry is no distance */
    table[2 * entries - 1] = table[entries - 1];
    pe_status s = p->parts ? cuda_upload(plan->gpu, &p->base, table, bytes / 2, err)
                           : cuda_upload(plan->gpu, &p->table, table, bytes, err);
    free(table);
    return s;
}

pe_status bias_data_new(pe_cuda_plan *plan, pe_error *err)
{
    const pe_lowered *form = pe_plan_lowered(plan->host);
    plan->bias = NULL;
    if (!form->biases)
        return PE_OK;
    struct bias_data *data = plan->bias = calloc(1, sizeof *data);
    if (!data)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for the biases of a plan");
    data->heads = form->shape.heads;
    for (int n = 0; n < form->biases; n++)
        piece_add(data, form->bias[n]);
    for (piece *p = data->piece; !data->unsuited && p < data->piece + data->pieces; p++) {
        TRY(piece_size(p, plan, err));
        TRY(piece_defines(p, err));
        TRY(piece_upload(p, plan, data->heads, err));
    }
    return PE_OK;
}

void bias_data_free(pe_cuda_plan *plan)
{
    struct bias_data *data = plan->bias;
    for (piece *p = data ? data->piece : NULL; data && p < data->piece + data->pieces; p++) {
        cuda_release(plan->gpu, p->table);
        cuda_release(plan->gpu, p->base);
        for (int n = 0; n < p->parts; n++)
            free(p->program[n]);
        free(p->defines);
    }
    free(data);
    plan->bias = NULL;
}

/* ------------------------------------------------ work memory */

static device_pointer work_take(device_pointer work, size_t *used, int64_t count, size_t size)
{
    size_t at = *used;
    *used = (at + (size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return work + at;
}

typedef struct scratch {
    device_pointer extreme, sorted;
    int64_t extremes;
} scratch;

static int64_t blocks_for(int64_t count)
{
    return (count + BIAS_THREADS - 1) / BIAS_THREADS;
}

/* Where a piece's numbers are, once filled. */
static bias_piece piece_lay(const piece *p, int64_t heads, device_pointer work, size_t *used, scratch *s)
{
    bias_piece f = p->form;
    f.table = p->table;
    if (!f.learned)
        return f;
    f.table = work_take(work, used, 2 * (f.knots ? 1 : heads) * f.row, sizeof(float));
    if (!f.knots)
        return f;
    int64_t lines = heads * (f.knot_count + 1), shares = blocks_for(f.shares);
    s->extremes = shares < BIAS_EXTREMES ? shares : BIAS_EXTREMES;
    f.slope = work_take(work, used, lines, sizeof(float));
    f.level = work_take(work, used, lines, sizeof(float));
    f.knot = work_take(work, used, f.knot_count, sizeof(float));
    f.share = work_take(work, used, f.shares, sizeof(float));
    s->extreme = work_take(work, used, 2 * s->extremes, sizeof(double));
    s->sorted = work_take(work, used, f.knot_count, sizeof(double));
    return f;
}

int bias_pieces(const pe_cuda_plan *plan)
{
    return plan->bias ? plan->bias->pieces : 0;
}

size_t bias_lay(const pe_cuda_plan *plan, device_pointer work, bias_piece *out)
{
    size_t used = 0;
    scratch s;
    for (int n = 0; n < bias_pieces(plan); n++)
        out[n] = piece_lay(&plan->bias->piece[n], plan->bias->heads, work, &used, &s);
    return used;
}

size_t bias_work(const pe_cuda_plan *plan)
{
    bias_piece form[BIAS_PIECES_MAX];
    return bias_lay(plan, 0, form);
}

/* ------------------------------------------------ filling */

static bias_part part_of(const pe_lowered_bias *b)
{
    bias_part p = { 0 };
    const double *from = b->numbers, *end = b->numbers + b->number_count;
    p.shape.heads = (int64_t)*from++;
    p.tensors = (int64_t)*from++;
    for (int64_t t = 0; t < p.tensors; t++, from += 5) {
        for (int i = 0; i < 3; i++)
            p.tensor[t].shape[i] = (int64_t)from[i];
        p.tensor[t].offset = (int64_t)from[3];
        p.tensor[t].count = (int64_t)from[4];
    }
    for (int i = 0; from < end; i++)
        p.value[i] = *from++;
    return p;
}

static pe_status run_kernel(const pe_cuda_plan *plan, int which, const char *defines, int64_t blocks, const void *args,
                            void *stream, pe_error *err)
{
    kernel k;
    TRY(cuda_kernel(plan->gpu, &bias_kernel[which], defines, &k, err));
    return cuda_launch(plan->gpu, &k, (grid){ .x = blocks, .y = 1, .z = 1, .threads = BIAS_THREADS }, stream, args,
                       err);
}

static pe_status check_block(const pe_cuda_plan *plan, pe_params w, const char *name, bias_block *out, pe_error *err)
{
    int64_t count = pe_encoding_param_count(plan->e);
    if (!w.data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; the bias has parameters", name);
    if (w.dtype != PE_F32 && w.dtype != PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; the GPU takes PE_F32 (0) or PE_F64 (%d)", name,
                       (int)w.dtype, (int)PE_F64);
    if (w.count != count)
        return pe_fail(err, PE_ERR_SHAPE, "%s: count is %" PRId64 "; the encoding has %" PRId64, name, w.count, count);
    *out = (bias_block){ (uint64_t)(uintptr_t)w.data, w.dtype == PE_F64 };
    return PE_OK;
}

pe_status bias_check_able(const pe_cuda_plan *plan, pe_error *err)
{
    if (plan->bias && plan->bias->unsuited)
        return pe_fail(err, PE_ERR_UNSUITED, "%.100s: a bias has no functions for the GPU (core/row.h: ON_DEVICE)",
                       pe_encoding_spec(plan->e));
    return PE_OK;
}

static bias_knots_args knots_args(const pe_cuda_plan *plan, const piece *p, const bias_piece *f, const scratch *s,
                                  bias_block w)
{
    return (bias_knots_args){ .params = w,
                              .part = part_of(p->part[0]),
                              .table = f->table,
                              .share = f->share,
                              .extreme = s->extreme,
                              .sorted = s->sorted,
                              .knot = f->knot,
                              .slope = f->slope,
                              .level = f->level,
                              .heads = plan->bias->heads,
                              .row = f->row,
                              .zero = f->zero,
                              .low = f->low,
                              .high = f->high,
                              .shares = f->shares,
                              .extremes = s->extremes,
                              .knots = f->knot_count,
                              .factor = unit_of(plan, f) };
}

static pe_status fill_knots(const pe_cuda_plan *plan, const piece *p, const bias_piece *f, const scratch *s,
                            bias_block w, void *stream, pe_error *err)
{
    bias_knots_args a = knots_args(plan, p, f, s, w);
    int64_t blocks = blocks_for(f->row), lines = plan->bias->heads * (f->knot_count + 1);
    blocks = blocks > s->extremes ? blocks : s->extremes;
    TRY(run_kernel(plan, MEASURE, p->defines, blocks, &a, stream, err));
    if (f->knot_count)
        TRY(run_kernel(plan, SORT, p->defines, blocks_for(f->knot_count), &a, stream, err));
    return run_kernel(plan, LINES, p->defines, blocks_for(lines), &a, stream, err);
}

static pe_status fill_table(const pe_cuda_plan *plan, const piece *p, const bias_piece *f, bias_block w, void *stream,
                            pe_error *err)
{
    bias_fill_args a = { .params = w,
                         .base = p->base,
                         .table = f->table,
                         .heads = plan->bias->heads,
                         .row = f->row,
                         .zero = f->zero,
                         .low = f->low,
                         .high = f->high,
                         .factor = unit_of(plan, f) };
    for (int n = 0; n < p->parts; n++)
        a.part[n] = part_of(p->part[n]);
    return run_kernel(plan, FILL, p->defines, a.heads * blocks_for(a.row), &a, stream, err);
}

pe_status bias_fill(const pe_cuda_plan *plan, pe_params params, device_pointer work, void *stream, bias_piece *out,
                    pe_error *err)
{
    size_t used = 0;
    if (!plan->bias)
        return PE_OK;
    TRY(bias_check_able(plan, err));
    for (int n = 0; n < plan->bias->pieces; n++) {
        const piece *p = &plan->bias->piece[n];
        scratch s;
        bias_block w;
        out[n] = piece_lay(p, plan->bias->heads, work, &used, &s);
        if (!p->parts)
            continue;
        TRY(check_block(plan, params, "params", &w, err));
        TRY(out[n].knots ? fill_knots(plan, p, &out[n], &s, w, stream, err)
                         : fill_table(plan, p, &out[n], w, stream, err));
    }
    return PE_OK;
}

/* ------------------------------------------------ gradients */

/* Workers each have some of `count` things, in tiles, and a line of the ledger for a part's parameters. */
static int64_t workers_for(int64_t count, int64_t tile, int64_t params, int64_t *chunk)
{
    int64_t tiles = (count + tile - 1) / tile, most = LEDGER_MAX / (int64_t)sizeof(double) / params;
    most = most < 1 ? 1 : most > WORKERS_MAX ? WORKERS_MAX : most;
    *chunk = (tiles + most - 1) / most * tile;
    return (count + *chunk - 1) / *chunk;
}

/* How the gradients of a part with knots are shared; all workers. */
static int64_t share_knots(const pe_cuda_plan *plan, const piece *p, knots_back_args *a)
{
    const bias_piece *f = &p->form;
    int64_t params = p->part[0]->params;
    a->line.count = plan->bias->heads * (f->knot_count + 1);
    a->distance.count = f->count;
    a->share.count = f->shares;
    a->line.workers = workers_for(a->line.count, 1, params, &a->line.chunk);
    a->distance.workers = workers_for(f->count, BIAS_THREADS, params, &a->distance.chunk);
    a->share.workers = workers_for(f->shares, BIAS_THREADS, params, &a->share.chunk);
    return a->line.workers + a->distance.workers + a->share.workers;
}

static int64_t part_workers(const pe_cuda_plan *plan, const piece *p, int i, int64_t *chunk)
{
    knots_back_args a;
    return p->form.knots ? share_knots(plan, p, &a)
                         : workers_for(p->form.count, BIAS_THREADS, p->part[i]->params, chunk);
}

size_t bias_back_work(const pe_cuda_plan *plan, int64_t slots)
{
    (void)slots;     /* they are added up on the way */
    size_t most = 0; /* parts follow each other on the stream, and use the same memory */
    for (int n = 0; n < bias_pieces(plan); n++) {
        const piece *p = &plan->bias->piece[n];
        for (int i = 0; i < p->parts; i++) {
            size_t used = 0;
            int64_t chunk;
            work_take(0, &used, part_workers(plan, p, i, &chunk) * p->part[i]->params, sizeof(double));
            most = used > most ? used : most;
        }
    }
    return most;
}

/* A part's gradients: `which` leaves them in the ledger, from which they are added to the parameters'. */
static pe_status part_back(const pe_cuda_plan *plan, const piece *p, int i, int which, int64_t blocks, const void *args,
                           bias_sum_args s, void *stream, pe_error *err)
{
    TRY(cuda_clear(plan->gpu, s.ledger, (size_t)(s.workers * s.count) * sizeof(double), stream, err));
    TRY(run_kernel(plan, which, p->program[i], blocks, args, stream, err));
    return run_kernel(plan, SUM, p->program[i], blocks_for(s.count), &s, stream, err);
}

static pe_status table_back(const pe_cuda_plan *plan, const piece *p, int i, device_pointer dtable, int64_t slots,
                            bias_block w, bias_sum_args s, void *stream, pe_error *err)
{
    bias_back_args a = { .params = w,
                         .part = part_of(p->part[i]),
                         .dtable = dtable,
                         .ledger = s.ledger,
                         .slots = slots,
                         .heads = plan->bias->heads,
                         .row = p->form.row,
                         .zero = p->form.zero,
                         .low = p->form.low,
                         .high = p->form.high,
                         .first = s.first,
                         .count = s.count };
    s.workers = part_workers(plan, p, i, &a.chunk);
    return part_back(plan, p, i, BACK, a.heads * s.workers, &a, s, stream, err);
}

static pe_status knots_back(const pe_cuda_plan *plan, const piece *p, bias_knots_args form, device_pointer dtable,
                            int64_t slots, bias_sum_args s, void *stream, pe_error *err)
{
    knots_back_args a = { .form = form,
                          .dtable = dtable,
                          .ledger = s.ledger,
                          .slots = slots,
                          .gradient = p->form.gradient,
                          .first = s.first,
                          .count = s.count };
    s.workers = share_knots(plan, p, &a);
    return part_back(plan, p, 0, KNOTS_BACK, s.workers, &a, s, stream, err);
}

pe_status bias_back(const pe_cuda_plan *plan, const bias_gradients *g, device_pointer work, void *stream, pe_error *err)
{
    size_t used = 0;
    if (!plan->bias || !g->dparams.data)
        return PE_OK;
    TRY(bias_check_able(plan, err));
    for (int n = 0; n < plan->bias->pieces; n++) {
        const piece *p = &plan->bias->piece[n];
        scratch s;
        bias_block w, dw;
        bias_piece form = piece_lay(p, plan->bias->heads, g->filled, &used, &s);
        if (!p->parts)
            continue;
        TRY(check_block(plan, g->params, "params", &w, err));
        TRY(check_block(plan, g->dparams, "dparams", &dw, err));
        for (int i = 0; i < p->parts; i++) {
            bias_sum_args sum = { dw, work, 0, p->part[i]->params_first, p->part[i]->params };
            TRY(form.knots
                    ? knots_back(plan, p, knots_args(plan, p, &form, &s, w), g->dtable[n], g->slots, sum, stream, err)
                    : table_back(plan, p, i, g->dtable[n], g->slots, w, sum, stream, err));
        }
    }
    return PE_OK;
}
