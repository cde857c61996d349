/* SPDX-License-Identifier: MIT
 *
 * How much of an encoding survives rounding. What an encoding makes of a position is its code: the vector that it adds,
 * cos and sin of its turns, what it adds to scores. The signal is the step of the code from one position to the next,
 * the noise what the code loses by being stored in few bits (with its parameters, where it has some): below 0 dB
 * neighbours can no longer be told apart. */
#include "prove/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PARAMETERS_MAX (1 << 20) /* rows with larger tables are left out at that length */
#define NEAR 4096                /* positions of the first ranking */

/* ------------------------------------------------ signal and noise */

/* What is left: the step against the noise in dB, INFINITY where there is none; or what overflowed, of all. */
typedef struct left {
    double db, overflow;
} left;

static left ratio(const codes *c)
{
    double signal = 0, noise = 0, steps = 0, none = 0;
    bool lines = c->step == 1; /* (H, PLACES) */
    for (int64_t n = 0; n < c->size; n++) {
        int64_t place = lines ? n % PLACES : n / c->step;
        double off = c->kept[n] - c->exact[n];
        none += !isfinite(off);
        noise += off * off / (double)c->size;
        if (place % RUN == RUN - 1)
            continue;
        double step = c->exact[n + c->step] - c->exact[n];
        signal += step * step;
        steps++;
    }
    if (none > 0)
        return (left){ .db = -INFINITY, .overflow = none / (double)c->size };
    return (left){ .db = noise > 0 ? 10 * log10(signal / steps / noise) : INFINITY };
}

/* Blocks do not reach from one tensor into the next. */
static void round_parameters(measure_encoding *m, round_fn *round)
{
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(m->e, n);
        round_all((double *)m->w.data + t->offset, t->count, round);
    }
}

static pe_status weigh(left *is, codes *c, round_fn *round, pe_error *err)
{
    PROVE_TRY(codes_make(c->exact, c, err));
    round_parameters(&c->m, round);
    pe_status status = codes_make(c->kept, c, err);
    if (status == PE_ERR_RANGE || status == PE_ERR_POSITION) { /* parameters that are none any more */
        *is = (left){ .db = -INFINITY, .overflow = 1 };
        return PE_OK;
    }
    PROVE_TRY(status);
    round_all(c->kept, c->size, round);
    *is = ratio(c);
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
    left is;
} place_in;

typedef struct ranking {
    place_in row[64];
    int count, lost, left_out;
    int64_t length;
    round_fn *round;
} ranking;

static pe_status weigh_at(left *is, const char *spec, const prove_given *g, const ranking *r, pe_error *err)
{
    codes c;
    pe_status status = codes_open(&c, spec, g, r->length, err);
    status = status ? status : weigh(is, &c, r->round, err);
    codes_close(&c);
    return status;
}

static void enter(ranking *r, const char *spec, left is)
{
    int n = r->count < 63 ? r->count++ : 63;
    for (; n > 0 && r->row[n - 1].is.db < is.db; n--)
        r->row[n] = r->row[n - 1];
    snprintf(r->row[n].spec, sizeof r->row[n].spec, "%.79s", spec);
    r->row[n].is = is;
    r->lost += is.db <= 0;
}

/* By its defaults; where those do not reach that far, with the key that makes them. */
static pe_status rank_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    ranking *r = with;
    left is;
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    PROVE_TRY(pe_encoding_new(&e, spec, shape, err));
    unsigned hooks = pe_encoding_hooks(e);
    pe_encoding_free(e);
    if (!hooks)
        return PE_OK;
    measure_text far = measure_reaching(spec, g, r->length);
    if (parameters(far.is, g) > PARAMETERS_MAX) {
        r->left_out++;
        return PE_OK;
    }
    PROVE_TRY(weigh_at(&is, far.is, g, r, err));
    enter(r, spec, is);
    return PE_OK;
}

static void add_row(prove_finding *out, const char *of, left is)
{
    if (is.overflow > 0)
        prove_add(out, (words){ "numbers that overflow", "溢出的数" }, of, 100 * is.overflow, "%");
    else if (isinf(is.db))
        prove_add(out, (words){ "exact: rounding error", "精确表示：舍入误差" }, of, 0, "");
    else
        prove_add(out, (words){ "step against rounding", "相邻步长与舍入误差之比" }, of, is.db, "dB");
}

static void add_ranking(prove_finding *out, const ranking *r)
{
    char of[128];
    for (int n = 0; n < r->count; n++) {
        snprintf(of, sizeof of, "%.70s, n = %lld", r->row[n].spec, (long long)r->length);
        add_row(out, of, r->row[n].is);
    }
    if (r->left_out)
        prove_add(out, (words){ "left out: tables of more than 2^20 numbers", "未测：表超过 2^20 个数的编码" },
                  measure_named("n = ", (double)r->length).is, r->left_out, "");
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
    prove_add(out, (words){ "rows at a length whose steps are lost", "步长被舍入淹没的（编码，长度）组数" },
              measure_named("/ ", all).is, lost, "");
    add_ranking(out, &r[0]);
    add_ranking(out, &r[1]);
    free(r);
    if (!status && !all)
        return io_fail(err, PE_ERR_UNSUITED, "%s makes nothing of a position; needs an encoding that does",
                       g->spec[0] ? g->spec[0] : "the registry");
    prove_verdict v = !lost ? PROVE_HOLDS : lost == all ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Wherever measured, the step from a position to the next is larger than the rounding.",
          "在所有测过的情形中，从一个位置到下一个位置的步长都大于舍入误差。" },
        { "Wherever measured, rounding is larger than the step from a position to the next.",
          "在所有测过的情形中，舍入误差都大于相邻位置之间的步长。" },
        { "On the step between neighbours against the rounding of the value: rounding is a share of the value (of the "
          "largest of its block), so small steps of large values are lost, of numbers that grow as of bounded ones.",
          "取决于相邻位置的步长与数值舍入误差之比：舍入误差与数值（或所在块的最大值）成正比，数值大而步长小就会丢失，"
          "不论数值是增长的还是有界的。" },
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
