/* SPDX-License-Identifier: MIT
 *
 * How much of an encoding survives rounding. What an encoding makes of a position is its code: the vector that it adds,
 * cos and sin of its turns, what it adds to scores. The signal is the step of the code from one position to the next,
 * the noise what the code loses by being stored in few bits (with its parameters, where it has some): below 0 dB
 * neighbours can no longer be told apart. */
#include "prove/measures.h"

#include "kernels/exact.h"

#include "kernels/block.h"
#include "kernels/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = BLOCK_WIDTH, RUNS = 32, PLACES = RUN * RUNS }; /* runs of neighbours, evenly spread up to the length */
#define PARAMETERS_MAX (1 << 20)                            /* rows with larger tables are left out at that length */
#define LEAST (-60.0)                                       /* dB: nothing left, or not a number any more */
#define MOST 200.0                                          /* dB: no error at all */
#define NEAR 4096                                           /* positions of the first ranking */

typedef void round_fn(double x[BLOCK_WIDTH]);

static void round_each(double *x, pe_dtype type)
{
    uint16_t stored;
    for (int i = 0; i < BLOCK_WIDTH; i++) {
        num_store(&stored, type, 0, x[i]);
        x[i] = num_load(&stored, type, 0);
    }
}

static void round_bf16(double *x)
{
    round_each(x, PE_BF16);
}

static void round_f16(double *x)
{
    round_each(x, PE_F16);
}

static void round_block(double *x, pe_block kind)
{
    float f[BLOCK_WIDTH];
    unsigned char block[64];
    for (int i = 0; i < BLOCK_WIDTH; i++)
        f[i] = (float)x[i];
    block_store(block, f, kind);
    block_load(f, block, kind);
    for (int i = 0; i < BLOCK_WIDTH; i++)
        x[i] = (double)f[i];
}

static void round_q8(double *x)
{
    round_block(x, PE_BLOCK_Q8_0);
}

static void round_q4(double *x)
{
    round_block(x, PE_BLOCK_Q4_0);
}

/* n numbers, block by block; the last is filled up with zeros. */
static void round_all(double *x, int64_t n, round_fn *round)
{
    for (int64_t from = 0; from < n; from += BLOCK_WIDTH) {
        size_t count = (size_t)(n - from < BLOCK_WIDTH ? n - from : BLOCK_WIDTH);
        double block[BLOCK_WIDTH] = { 0 };
        memcpy(block, x + from, count * sizeof *x);
        round(block);
        memcpy(x + from, block, count * sizeof *x);
    }
}

/* ------------------------------------------------ codes */

typedef struct codes {
    measure_encoding m;
    int64_t length, axes;
    int64_t *at;          /* (PLACES, axes) */
    double *q, *k;        /* (1, H, D), (PLACES, H, D) */
    double *exact, *kept; /* (size), as they are and as they are kept */
    int64_t step, size;   /* from an element to the same of the next place; numbers in all */
} codes;

static void codes_close(codes *c)
{
    measure_close(&c->m);
    free(c->at), free(c->q), free(c->k), free(c->exact), free(c->kept);
}

/* Place n of all; terms that count keys get neighbours only. */
static int64_t place_of(const codes *c, int64_t n)
{
    int64_t apart = pe_encoding_carries(c->m.e) ? RUN : (c->length - RUN) / (RUNS - 1);
    return n / RUN * apart + n % RUN;
}

static void place_all(const codes *c)
{
    int64_t side = 1;
    while (side * side < c->length)
        side++;
    for (int64_t n = 0; n < PLACES; n++) {
        int64_t t = place_of(c, n);
        c->at[n * c->axes + c->axes - 1] = c->axes > 1 ? t % side : t;
        if (c->axes > 1)
            c->at[n * c->axes + c->axes - 2] = t / side;
    }
}

static pe_status codes_open(codes *c, const char *spec, const prove_given *g, int64_t length, pe_error *err)
{
    *c = (codes){ .length = length };
    PROVE_TRY(measure_open(&c->m, spec, g, err));
    int64_t H = g->heads, D = g->head_dim, P = pe_encoding_pair_count(c->m.e);
    bool adds = pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED;
    c->axes = pe_encoding_axes(c->m.e);
    c->step = adds ? measure_width(&c->m) : P ? 2 * P : 1;
    c->size = adds || P ? PLACES * c->step : H * PLACES;
    c->at = calloc((size_t)(PLACES * c->axes), sizeof *c->at);
    c->q = measure_memory(H, D, err);
    c->k = measure_memory(PLACES, H * D, err);
    c->exact = measure_memory(c->size, 1, err);
    c->kept = measure_memory(c->size, 1, err);
    if (!c->at || !c->q || !c->k || !c->exact || !c->kept)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the codes of %d places", PLACES);
    measure_normals(c->q, H * D, 1, g->seed);
    for (int64_t n = 0; n < PLACES * H * D; n++)
        c->k[n] = c->q[n % (H * D)] / 2;
    place_all(c);
    return PE_OK;
}

static pe_positions places(const codes *c)
{
    return (pe_positions){ .at = c->at, .tokens = PLACES, .axes = c->axes };
}

/* out (H, PLACES): what the query behind all places adds to its scores. */
static pe_status score_codes(double *out, const codes *c, pe_error *err)
{
    int64_t H = c->m.shape.heads, D = c->m.shape.head_dim, last[PE_AXES_MAX];
    memcpy(last, c->at + (PLACES - 1) * c->axes, (size_t)c->axes * sizeof *last);
    pe_tile t = { .score = { .data = out, .dtype = PE_F64, .tokens = 1, .heads = H, .dim = PLACES },
                  .q = pe_view_packed(c->q, PE_F64, 1, H, D),
                  .k = pe_view_packed(c->k, PE_F64, PLACES, H, D),
                  .q_at = { .at = last, .tokens = 1, .axes = c->axes },
                  .k_at = places(c) };
    memset(out, 0, (size_t)c->size * sizeof *out);
    for (int stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
        PROVE_TRY(pe_encoding_content(c->m.e, (pe_stage)stage, c->m.w, &t, err));
        PROVE_TRY(pe_encoding_bias(c->m.e, (pe_stage)stage, c->m.w, &t, err));
    }
    return PE_OK;
}

static pe_status make(double *out, const codes *c, pe_error *err)
{
    int64_t P = pe_encoding_pair_count(c->m.e);
    if (pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED) {
        pe_view y = pe_view_packed(out, PE_F64, PLACES, 1, c->step);
        pe_view x = { .dtype = PE_F64, .tokens = PLACES, .heads = 1, .dim = c->m.shape.model_dim };
        return pe_encoding_embed(c->m.e, c->m.w, y, x, places(c), err);
    }
    if (!P)
        return score_codes(out, c, err);
    pe_view cosine = { out, PE_F64, PLACES, 1, P, 2 * P, P }, sine = { out + P, PE_F64, PLACES, 1, P, 2 * P, P };
    return pe_encoding_table(c->m.e, PE_KEY, cosine, sine, places(c), err);
}

/* ------------------------------------------------ signal and noise */

static double ratio(const codes *c)
{
    double signal = 0, noise = 0, steps = 0;
    bool lines = c->step == 1; /* (H, PLACES) */
    for (int64_t n = 0; n < c->size; n++) {
        int64_t place = lines ? n % PLACES : n / c->step;
        double off = c->kept[n] - c->exact[n];
        noise += off * off / (double)c->size;
        if (place % RUN == RUN - 1)
            continue;
        double step = c->exact[n + c->step] - c->exact[n];
        signal += step * step;
        steps++;
    }
    if (!(noise < INFINITY))
        return LEAST;
    double db = noise > 0 ? 10 * log10(signal / steps / noise) : MOST;
    return fmin(fmax(db, LEAST), MOST);
}

/* Blocks do not reach from one tensor into the next. */
static pe_status round_parameters(measure_encoding *m, round_fn *round, pe_error *err)
{
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        pe_tensor t;
        PROVE_TRY(pe_encoding_tensor(m->e, n, &t, err));
        round_all((double *)m->w.data + t.offset, t.count, round);
    }
    return PE_OK;
}

static pe_status weigh(double *db, codes *c, round_fn *round, pe_error *err)
{
    PROVE_TRY(make(c->exact, c, err));
    PROVE_TRY(round_parameters(&c->m, round, err));
    pe_status status = make(c->kept, c, err);
    if (status == PE_ERR_RANGE || status == PE_ERR_POSITION) { /* parameters that are none any more */
        *db = LEAST;
        return PE_OK;
    }
    PROVE_TRY(status);
    round_all(c->kept, c->size, round);
    *db = ratio(c);
    return PE_OK;
}

static int64_t parameters(const char *spec, const prove_given *g)
{
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    if (pe_encoding_new(&e, spec, shape, NULL))
        return 0;
    int64_t count = pe_encoding_param_count(e);
    pe_encoding_free(e);
    return count;
}

/* ------------------------------------------------ the ranking */

typedef struct place_in {
    char spec[80];
    double db;
} place_in;

typedef struct ranking {
    place_in row[64];
    int count, lost;
    int64_t length;
    round_fn *round;
} ranking;

static pe_status weigh_at(double *db, const char *spec, const prove_given *g, const ranking *r, pe_error *err)
{
    codes c;
    pe_status status = codes_open(&c, spec, g, r->length, err);
    status = status ? status : weigh(db, &c, r->round, err);
    codes_close(&c);
    return status;
}

static void enter(ranking *r, const char *spec, double db)
{
    int n = r->count < 63 ? r->count++ : 63;
    for (; n > 0 && r->row[n - 1].db < db; n--)
        r->row[n] = r->row[n - 1];
    snprintf(r->row[n].spec, sizeof r->row[n].spec, "%.79s", spec);
    r->row[n].db = db;
    r->lost += db <= 0;
}

/* By its defaults; where those do not reach that far, with the key that makes them. */
static pe_status rank_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    ranking *r = with;
    double db;
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    PROVE_TRY(pe_encoding_new(&e, spec, shape, err));
    unsigned hooks = pe_encoding_hooks(e);
    pe_encoding_free(e);
    if (!hooks)
        return PE_OK;
    pe_status status = weigh_at(&db, spec, g, r, err);
    if (status == PE_ERR_POSITION) {
        measure_text far = measure_reaching(spec, r->length);
        if (parameters(far.is, g) > PARAMETERS_MAX)
            return PE_OK;
        status = weigh_at(&db, far.is, g, r, err);
    }
    PROVE_TRY(status);
    enter(r, spec, db);
    return PE_OK;
}

static void add_ranking(prove_finding *out, const ranking *r)
{
    static const words near = { "step against rounding, up to 4096", "相邻步长与舍入误差之比，4096 以内" };
    static const words far = { "step against rounding, farther", "相邻步长与舍入误差之比，更远处" };
    for (int n = 0; n < r->count; n++)
        prove_add(out, r->length == NEAR ? near : far, r->row[n].spec, r->row[n].db, "dB");
}

/* given: spec (none: every row), heads, head_dim, model_dim, length (the farther ranking). HOLDS: no row loses its
 * steps, REFUTED: all do. */
static pe_status measure_rounding(prove_finding *out, const prove_given *g, round_fn *round, pe_error *err)
{
    ranking *r = calloc(2, sizeof *r);
    if (!r)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a ranking");
    r[0].length = NEAR;
    r[1].length = g->length;
    r[0].round = r[1].round = round;
    pe_status status = measure_each_row(rank_row, &r[0], g, err);
    status = status ? status : measure_each_row(rank_row, &r[1], g, err);
    int lost = r[0].lost + r[1].lost, all = r[0].count + r[1].count;
    prove_add(out, (words){ "rows at a length whose steps are lost", "步长被舍入淹没的（编码, 长度）数" },
              measure_named("of ", all).is, lost, "");
    add_ranking(out, &r[0]);
    add_ranking(out, &r[1]);
    free(r);
    prove_verdict v = !lost ? PROVE_HOLDS : lost == all ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In each row the step from a position to the next is larger than the rounding.",
          "每种编码从一个位置到下一个位置的步长都大于舍入误差。" },
        { "In each row rounding is larger than the step from a position to the next.",
          "每种编码的舍入误差都大于相邻位置之间的步长。" },
        { "On the row and the length: numbers that grow with position lose their last digits, bounded ones keep them.",
          "取决于编码和长度：随位置增大的数会丢掉末位，有界的则保得住。" },
    };
    prove_say(out, v, because[v]);
    return status;
}

#define ROUNDED(name)                                                                                                  \
    pe_status measure_##name(prove_finding *out, const prove_given *g, pe_error *err)                                  \
    {                                                                                                                  \
        return measure_rounding(out, g, round_##name, err);                                                            \
    }

ROUNDED(bf16)
ROUNDED(f16)
ROUNDED(q8)
ROUNDED(q4)
