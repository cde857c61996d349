/* SPDX-License-Identifier: MIT
 *
 * Runs windows through the model and measures their loss in bits. */
#include "lab/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_TOKENS 4096 /* a batch has as many windows as fit */

typedef struct sums { /* nats and how many, by part of the window */
    double bin[LAB_BINS], all, last;
    int64_t bins[LAB_BINS], asked, lasts, right;
} sums;

typedef struct work {
    eval *e;
    model *m;
    eval_go_on *go_on;
    void *with;
    double done, total; /* work */
    int32_t *token, *target;
    real *loss;
    uint8_t *right;
    bool stopped;
} work;

/* Where window n of this length begins: windows tile each block from its end. */
static int64_t window_start(const eval *e, int64_t length, int64_t n)
{
    int64_t each = e->block / length, block = n / each, back = n % each;
    return (block + 1) * e->block - (back + 1) * length;
}

/* Multiplications of a window, about: each weight once a token, each pair of positions twice. */
static double work_of(const model *m, int64_t length)
{
    const model_config *c = model_settings(m);
    double n = (double)length;
    return n * ((double)model_count(m) + n * (double)(c->layers * c->heads * c->head_dim));
}

/* ---------------------------------------------------------------- one batch */

static void count(sums *s, const work *w, int64_t length, int64_t sequences)
{
    for (int64_t n = 0; n < sequences * length; n++) {
        int64_t at = n % length, bin = at * LAB_BINS / length;
        double nats = (double)w->loss[n];
        s->all += nats;
        s->asked++;
        s->bin[bin] += nats;
        s->bins[bin]++;
        s->right += w->right[n];
        if (lab_in_last_quarter(at, length)) {
            s->last += nats;
            s->lasts++;
        }
    }
}

static pe_status run_batch(work *w, sums *s, int64_t length, int64_t first, int64_t sequences, pe_error *err)
{
    size_t bytes = (size_t)length * sizeof *w->token;
    for (int64_t n = 0; n < sequences; n++) {
        const int32_t *from = w->e->ask.token + window_start(w->e, length, first + n);
        memcpy(w->token + n * length, from, bytes);
        memcpy(w->target + n * length, from + 1, bytes);
    }
    model_batch b = { .token = w->token,
                      .target = w->target,
                      .at = pe_positions_run(1, length, 0),
                      .sequences = sequences,
                      .length = length };
    pe_status status = model_losses(w->m, &b, w->loss, w->right, err);
    if (status == PE_OK)
        count(s, w, length, sequences);
    return status;
}

/* ---------------------------------------------------------------- one method at one length */

static void set_line(lab_test_line *l, const sums *s)
{
    const double bit = log(2);
    l->bits = s->all / (double)s->asked / bit;
    l->last_quarter = s->last / (double)s->lasts / bit;
    for (int n = 0; n < LAB_BINS; n++)
        l->by_position[n] = s->bins[n] ? s->bin[n] / (double)s->bins[n] / bit : NAN;
    l->asked_all = s->asked;
    l->right_all = s->right;
    if (!isfinite(l->bits))
        snprintf(l->cannot, sizeof l->cannot, "the loss is not finite");
}

/* False in *whole: it was stopped. */
static pe_status measure_cell(work *w, lab_test_line *l, int method, int length, bool *whole, pe_error *err)
{
    sums s = { 0 };
    int64_t n = w->e->ask.length[length], windows = eval_windows(w->e, n);
    int64_t batch = BATCH_TOKENS / n < 1 ? 1 : BATCH_TOKENS / n;
    double start = io_seconds();
    pe_status status = model_use(w->m, w->e->cell[method][length].spec, err);
    *whole = true;
    for (int64_t first = 0, k; *whole && status == PE_OK && first < windows; first += k) {
        k = windows - first < batch ? windows - first : batch;
        status = run_batch(w, &s, n, first, k, err);
        w->done += (double)k * work_of(w->m, n);
        *whole = !w->go_on || w->go_on(w->with, w->e, method, length, w->done / w->total);
    }
    l->windows = windows;
    l->seconds = io_seconds() - start;
    if (status == PE_ERR_POSITION && err) {
        snprintf(l->cannot, sizeof l->cannot, "%s", err->text);
        status = PE_OK;
    } else if (status == PE_OK && *whole)
        set_line(l, &s);
    return status;
}

/* Methods with the same spec at a length are one computation. */
static const lab_test_line *same_before(const eval *e, int method, int length)
{
    for (int m = 0; m < method; m++)
        if (e->cell[m][length].spec && !strcmp(e->cell[m][length].spec, e->cell[method][length].spec))
            return eval_line(e, m, length);
    return NULL;
}

static pe_status fill_cell(work *w, int method, int length, pe_error *err)
{
    eval *e = w->e;
    const eval_cell *c = &e->cell[method][length];
    lab_test_line l = { .bits = NAN, .last_quarter = NAN };
    int64_t n = e->ask.length[length];
    bool whole = true;
    for (int i = 0; i < LAB_BINS; i++)
        l.by_position[i] = NAN;
    pe_status s = PE_OK;
    const lab_test_line *same = c->spec ? same_before(e, method, length) : NULL;
    if (same)
        l = *same;
    else if (n > e->longest)
        snprintf(l.cannot, sizeof l.cannot, "the text has %" PRId64 " tokens; %" PRId64 " are needed", e->ask.tokens,
                 n + 1);
    else if (!c->spec)
        snprintf(l.cannot, sizeof l.cannot, "%s", c->cannot);
    else
        s = measure_cell(w, &l, method, length, &whole, err);
    l.entry = method;
    l.length = n;
    if (c->spec && (size_t)snprintf(l.spec, sizeof l.spec, "%s", c->spec) >= sizeof l.spec)
        io_end_with_dots(l.spec, sizeof l.spec);
    w->stopped = !whole;
    return s == PE_OK && whole ? lab_keep_test(&e->results, &l, err) : s;
}

/* ---------------------------------------------------------------- all of them */

static double work_in_all(const eval *e, const model *m)
{
    double total = 0;
    for (int n = 0; n < e->ask.lengths; n++)
        for (int k = 0; k < e->ask.methods; k++) {
            bool first = e->cell[k][n].spec != NULL;
            for (int j = 0; first && j < k; j++)
                first = !e->cell[j][n].spec || strcmp(e->cell[j][n].spec, e->cell[k][n].spec) != 0;
            total += first ? (double)eval_windows(e, e->ask.length[n]) * work_of(m, e->ask.length[n]) : 0;
        }
    return total;
}

static pe_status get_room(work *w, pe_error *err)
{
    const eval *e = w->e;
    size_t room = (size_t)(e->longest > BATCH_TOKENS ? e->longest : BATCH_TOKENS);
    w->token = calloc(room, sizeof *w->token);
    w->target = calloc(room, sizeof *w->target);
    w->loss = calloc(room, sizeof *w->loss);
    w->right = calloc(room, sizeof *w->right);
    if (!w->token || !w->target || !w->loss || !w->right)
        return io_fail(err, PE_ERR_NOMEM, "no memory for windows of %zu tokens", room);
    return PE_OK;
}

/* If one loss is not finite, the method is at fault; if none is finite, the model is. */
static pe_status check_finite(const eval *e, pe_error *err)
{
    bool asked = false;
    for (int n = 0; n < e->results.tests; n++) {
        if (!*e->results.test[n].cannot)
            return PE_OK;
        asked |= e->results.test[n].asked_all > 0;
    }
    return asked ? io_fail(err, PE_ERR_RANGE, "%s: the logits are not finite; needs a model of finite weights",
                           e->ask.path)
                 : PE_OK;
}

/* Length by length, so that the methods of a length can be compared as soon as it is done. */
pe_status eval_measure(eval *e, model *m, eval_go_on *go_on, void *with, pe_error *err)
{
    work w = { .e = e, .m = m, .go_on = go_on, .with = with, .total = work_in_all(e, m) };
    pe_error own;
    pe_error *why = err ? err : &own; /* a length that an encoding cannot serve is an answer */
    pe_status s = get_room(&w, why);
    for (int n = 0; s == PE_OK && n < e->ask.lengths; n++)
        for (int k = 0; s == PE_OK && !w.stopped && k < e->ask.methods; k++)
            s = fill_cell(&w, k, n, why);
    free(w.token);
    free(w.target);
    free(w.loss);
    free(w.right);
    return s == PE_OK ? check_finite(e, why) : s;
}

const lab_test_line *eval_line(const eval *e, int method, int length)
{
    return lab_find_test(&e->results, method, 0, e->ask.length[length]);
}
