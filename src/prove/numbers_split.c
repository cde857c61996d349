/* SPDX-License-Identifier: MIT
 *
 * Keys in pieces: may workers that do not know of each other share them? */
#include "prove/numbers.h"

#include <math.h>
#include <stdlib.h>

#define FLOAT_ROUNDING 1e-5 /* of outputs near 1, in float32 */

typedef struct halves {
    float *x[5];           /* q, k, v, whole, out: (T, H, D) */
    float *part[2], *line; /* (T, H, D) each; (4, T, H): max and sum of either half */
    double *carry;         /* (H, T) */
    void *work;
    size_t bytes;
} halves;

static void halves_free(halves *h)
{
    for (int n = 0; n < 5; n++)
        free(h->x[n]);
    free(h->part[0]), free(h->part[1]), free(h->line), free(h->carry), free(h->work);
}

static pe_status halves_new(halves *h, const trial *t, pe_error *err)
{
    size_t n = (size_t)t->size, lines = (size_t)(4 * t->tokens * t->m.shape.heads);
    double *from[] = { t->q, t->k, t->v };
    bool whole = true;
    for (int i = 0; i < 5; i++)
        whole = (h->x[i] = calloc(n, sizeof(float))) && whole;
    for (int i = 0; i < 2; i++)
        whole = (h->part[i] = calloc(n, sizeof(float))) && whole;
    h->line = calloc(lines, sizeof(float));
    h->carry = calloc(lines, sizeof(double));
    if (!whole || !h->line || !h->carry)
        return io_fail(err, PE_ERR_NOMEM, "no memory for keys in pieces");
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < n; j++)
            h->x[i][j] = (float)from[i][j];
    return PE_OK;
}

/* Attention over keys from .. to-1. */
static pe_attention over(const trial *t, const halves *h, int64_t from, int64_t to)
{
    int64_t T = t->tokens, H = t->m.shape.heads, D = t->m.shape.head_dim, skip = from * H * D;
    return PE_MAKE(pe_attention, .out = pe_view_of(h->x[4], PE_F32, 1, T, H, D),
                   .q = pe_view_of(h->x[0], PE_F32, 1, T, H, D),
                   .k = pe_view_of(h->x[1] + skip, PE_F32, 1, to - from, H, D),
                   .v = pe_view_of(h->x[2] + skip, PE_F32, 1, to - from, H, D), .q_at = trial_places(t),
                   .k_at = pe_positions_of(t->at + from * t->axes, PE_I64, 1, to - from, t->axes),
                   .mask = { .causal = true, .keys_after = T - to });
}

static pe_status need_work(halves *h, const trial *t, pe_attention a, pe_error *err)
{
    PROVE_TRY(pe_attention_work(t->m.e, &a, &PE_MAKE(pe_run, .params = t->m.w), &h->bytes, err));
    free(h->work);
    h->work = malloc(h->bytes ? h->bytes : 1);
    return h->work ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for attention's work");
}

/* Both halves by themselves, neither knowing of the other; then merged. */
static pe_status in_halves(halves *h, const trial *t, pe_error *err)
{
    int64_t T = t->tokens, lines = T * t->m.shape.heads, cut[] = { 0, T / 2, T };
    pe_partial piece[2];
    for (int n = 0; n < 2; n++) {
        pe_attention a = over(t, h, cut[n], cut[n + 1]);
        bool counts = pe_encoding_carries(t->m.e);
        piece[n] = (pe_partial){ h->part[n], h->line + 2 * n * lines, h->line + (2 * n + 1) * lines,
                                 counts ? h->carry + n * lines : NULL };
        PROVE_TRY(need_work(h, t, a, err));
        PROVE_TRY(pe_attention_partial(
            t->m.e, &a, piece[n], &PE_MAKE(pe_run, .params = t->m.w, .work = h->work, .work_bytes = h->bytes), err));
    }
    pe_attention a = over(t, h, 0, T);
    PROVE_TRY(pe_attention_merge(piece[0], piece[1], lines, t->m.shape.head_dim, err));
    return pe_attention_finish(t->m.e, &a, piece[0], NULL, err);
}

static pe_status try_halves(double *apart, const trial *t, halves *h, pe_error *err)
{
    pe_attention a = over(t, h, 0, t->tokens);
    a.out.data = h->x[3];
    PROVE_TRY(need_work(h, t, a, err));
    PROVE_TRY(pe_attention_forward(t->m.e, &a,
                                   &PE_MAKE(pe_run, .params = t->m.w, .work = h->work, .work_bytes = h->bytes), err));
    PROVE_TRY(in_halves(h, t, err));
    for (int64_t n = 0; n < t->size; n++)
        *apart = fmax(*apart, fabs((double)h->x[3][n] - (double)h->x[4][n]));
    return PE_OK;
}

static pe_status try_split(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    trial t;
    halves h = { 0 };
    double apart = 0;
    pe_status status = trial_open(&t, spec, g, err);
    status = status ? status : halves_new(&h, &t, err);
    status = status ? status : try_halves(&apart, &t, &h, err);
    halves_free(&h);
    trial_close(&t);
    PROVE_TRY(status);
    prove_add(((measure_tally *)with)->out,
              (words){ "keys in two halves against all at once", "键分两半计算与一次算完之差" }, spec, apart, "");
    measure_count(with, apart < FLOAT_ROUNDING);
    return PE_OK;
}

/* given: as above. REFUTED where what one half adds depends on the other. */
pe_status measure_split_keys(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Halves that do not know of each other give what all keys give.", "互不知晓的两半合起来与一次算完相同。" },
        { "What one half adds depends on the keys of the other.", "一半所加的项取决于另一半的键。" },
        { "On whether a term counts keys: then tiles go from the right to the left and hand on their sums.",
          "取决于是否对键计数：计数的编码必须从右到左逐块计算并传递累计值。" },
    };
    measure_tally t = { .out = out };
    PROVE_TRY(measure_each_row(try_split, &t, g, err));
    measure_conclude(&t, (words){ "rows whose keys cannot be split", "键不能拆分的编码数" }, because);
    return PE_OK;
}
