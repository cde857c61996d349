/* SPDX-License-Identifier: MIT
 *
 * A trained model at one length: bits per byte, where in the window, and what was recalled from how far. */
#include "lab/race.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 8192 /* tokens at a time: what keeps memory small at any length */

typedef struct tally {
    double sum[LAB_BINS], quarter;
    int64_t count[LAB_BINS], quarters;
} tally;

static void add_window(tally *t, lab_test_line *out, const lab_batch *b, int64_t row, const real *loss,
                       const uint8_t *right)
{
    for (int64_t i = 0; i < b->length; i++) {
        int64_t n = row * b->length + i;
        if (b->target[n] < 0)
            continue;
        int bin = (int)(i * LAB_BINS / b->length);
        t->sum[bin] += (double)loss[n];
        t->count[bin]++;
        out->asked_all++;
        out->right_all += right[n];
        if (lab_in_last_quarter(i, b->length)) {
            t->quarter += (double)loss[n];
            t->quarters++;
        }
        if (b->distance[n] > 0) {
            int k = 0;
            while (k < LAB_DISTANCES - 1 && b->distance[n] >> (k + 1))
                k++;
            out->asked[k]++;
            out->right[k] += right[n];
        }
    }
}

/* Nats of so many targets, in bits of one. */
static double bits(double nats, int64_t count)
{
    return count ? nats / (double)count / log(2) : NAN;
}

static void finish_line(lab_test_line *out, const tally *t)
{
    double all = 0;
    for (int i = 0; i < LAB_BINS; i++) {
        all += t->sum[i];
        out->by_position[i] = bits(t->sum[i], t->count[i]);
    }
    out->bits = bits(all, out->asked_all);
    out->last_quarter = bits(t->quarter, t->quarters);
}

int64_t race_windows(const race *r, int64_t length)
{
    int64_t wanted = r->results.setup.test_tokens / length, there = lab_data_windows(r->data, length);
    wanted = wanted < 1 ? 1 : wanted;
    return wanted < there ? wanted : there;
}

typedef struct room {
    lab_batch batch;
    real *loss;
    uint8_t *right;
} room;

static pe_status room_new(room *out, const race *r, int64_t sequences, int64_t length, pe_error *err)
{
    *out = (room){ 0 };
    TRY(lab_batch_new(&out->batch, r->data, LAB_TEST, sequences, length, err));
    size_t count = (size_t)sequences * (size_t)length; /* which lab_batch_new found to fit */
    out->loss = calloc(count, sizeof *out->loss);
    out->right = calloc(count, 1);
    return out->loss && out->right ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory to test at this length");
}

static void room_free(room *o)
{
    lab_batch_free(&o->batch);
    free(o->loss);
    free(o->right);
}

static void show_windows(race *r, screen_now *at, int64_t windows, int64_t length, double begin)
{
    double took = io_seconds() - begin;
    at->done += windows;
    at->tokens_per_second = took > 0 ? (double)(at->done * length) / took : 0;
    r->worked += race_work(&r->results.setup, windows * length, length);
    screen_show(r->screen, r, at);
}

static pe_status all_windows(lab_test_line *out, bool *done, race *r, model *m, room *o, screen_now *at, pe_error *err)
{
    tally t = { 0 };
    double begin = io_seconds();
    int64_t most = o->batch.sequences;
    for (int64_t first = 0; first < out->windows; first += most) {
        if (race_asked_to_stop(r))
            return PE_OK;
        o->batch.sequences = out->windows - first < most ? out->windows - first : most;
        lab_data_test(r->data, &o->batch, first);
        model_batch b = race_batch(m, &o->batch);
        TRY(model_losses(m, &b, o->loss, o->right, err));
        for (int64_t row = 0; row < o->batch.sequences; row++)
            add_window(&t, out, &o->batch, row, o->loss, o->right);
        show_windows(r, at, o->batch.sequences, out->length, begin);
    }
    finish_line(out, &t);
    out->seconds = io_seconds() - begin;
    *done = true;
    return PE_OK;
}

/* What the library says an encoding cannot do is a result; what the data or the machine cannot is a failure. */
static bool is_result(pe_status s)
{
    return s == PE_ERR_POSITION || s == PE_ERR_SHAPE || s == PE_ERR_UNSUITED;
}

static lab_test_line new_line(const race *r, screen_now at)
{
    const lab_setup *s = &r->results.setup;
    lab_test_line l = { .entry = at.entry, .seed = r->training[at.training].seed, .length = s->test[at.test] };
    finish_line(&l, &(tally){ 0 }); /* nothing measured: no number */
    return l;
}

static pe_status measure_line(lab_test_line *out, bool *done, race *r, model *m, screen_now *at, pe_error *err)
{
    room o;
    int64_t sequences = ROWS / out->length < 1 ? 1 : ROWS / out->length;
    pe_status status = room_new(&o, r, sequences < out->windows ? sequences : out->windows, out->length, err);
    if (!status)
        status = model_use(m, out->spec, err);
    if (!status)
        status = all_windows(out, done, r, m, &o, at, err);
    room_free(&o);
    return status;
}

pe_status race_test(lab_test_line *out, bool *done, race *r, model *m, screen_now at, pe_error *err)
{
    pe_error why = { 0 };
    char spec[400];
    *done = false;
    *out = new_line(r, at);
    if (!race_spec_at(spec, &r->results.setup, at.entry, out->length))
        return io_fail(err, PE_ERR_NOMEM, "no memory for the spec of %s", r->results.setup.entry[at.entry].name);
    snprintf(out->spec, sizeof out->spec, "%s", spec);
    out->windows = at.of = race_windows(r, out->length);
    at.loss = NAN;
    pe_status status = measure_line(out, done, r, m, &at, &why);
    if (!is_result(status))
        return status ? io_fail(err, status, "%s", why.text) : PE_OK;
    *out = new_line(r, at);
    snprintf(out->spec, sizeof out->spec, "%s", spec);
    snprintf(out->cannot, sizeof out->cannot, "%s", why.text);
    *done = true;
    return PE_OK;
}
