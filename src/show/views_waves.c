/* SPDX-License-Identifier: MIT
 *
 * Frequencies: how far each pair (or dimension of a code) gets within a length. */
#include "show/views.h"

#include "io/io.h"
#include "zoo/spec_read.h"
#include "zoo/turns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 2048
#define SAMPLES 64 /* positions that a frequency of a code is taken from */

static const double two_pi = 6.283185307179586;

typedef struct waves {
    double *length;  /* (count); NaN: does not turn */
    double *trained; /* (count), of pairs: before what was changed for longer contexts */
    int64_t count;
    int64_t unturned; /* have not made a whole turn in training */
    double leaves;    /* the first position with an angle that one of them never had in training */
    bool pairs, scaled;
} waves;

static void waves_free(waves *w)
{
    free(w->length);
    free(w->trained);
}

static pe_status waves_new(waves *w, int64_t count, pe_error *err)
{
    w->count = count;
    w->leaves = INFINITY;
    SHOW_TRY(show_memory(&w->length, count, 1, err));
    return show_memory(&w->trained, count, 1, err);
}

static void put_pair(waves *w, int64_t i, const pe_pair *at, const pe_pair *born, const show_subject *s,
                     const show_request *r)
{
    zoo_turns t;
    zoo_turns_measure(&t, at, born, s->trained, 0);
    bool turns = at->axis == r->axis && isfinite(t.wavelength); /* pairs of another axis do not turn */
    w->length[i] = turns ? t.wavelength : NAN;
    w->trained[i] = turns ? t.trained : NAN;
    w->scaled |= turns && t.divisor != 1;
    if (!turns || !s->trained || !zoo_turns_unturned(&t))
        return;
    w->unturned++;
    w->leaves = fmin(w->leaves, t.leaves);
}

/* What training had: the same spec without its scaling. */
static pe_status born_pairs(pe_pair *out, int64_t count, const show_subject *s, pe_error *err)
{
    pe_encoding *e = NULL;
    char *spec = zoo_spec_unscaled(s->spec);
    pe_status status =
        spec ? pe_encoding_new(&e, spec, s->shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    if (!status)
        status = pe_encoding_pairs(e, out, count, err);
    pe_encoding_free(e);
    free(spec);
    return status;
}

static pe_status pair_waves(waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    pe_pair *at, *born;
    int64_t count;
    SHOW_TRY(show_pairs(&at, &count, s, err));
    pe_status status = show_pairs(&born, &count, s, err);
    if (!status)
        status = born_pairs(born, count, s, err);
    if (!status)
        status = waves_new(w, count, err);
    for (int64_t i = 0; !status && i < count; i++)
        put_pair(w, i, &at[i], &born[i], s, r);
    free(at);
    free(born);
    return status;
}

/* Of a code that is linear in its sines, each dimension has c(t+1) + c(t-1) = 2 cos(w) c(t): w by least squares. */
static double wave_of(const double *code, int64_t width, int64_t column)
{
    double product = 0, square = 0;
    for (int64_t t = 1; t + 1 < SAMPLES; t++) {
        double c = code[t * width + column],
               bend = code[(t - 1) * width + column] - 2 * c + code[(t + 1) * width + column];
        product -= c * bend; /* 2 (1 - cos w) c c = 4 sin(w/2)^2 c c */
        square += c * c;
    }
    double w = square > 0 && product > 0 ? 2 * asin(fmin(1, sqrt(product / square) / 2)) : 0;
    return w > 1e-9 ? two_pi / w : NAN;
}

pe_status show_code_waves(double **out, int64_t *count, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    show_request few = *r;
    double *code = NULL;
    few.length = SAMPLES;
    SHOW_TRY(path_new(&path, s, &few, SAMPLES, SAMPLES, err));
    pe_status status = show_codes(&code, count, s, path.where, err);
    if (!status)
        status = show_memory(out, *count, 1, err);
    for (int64_t i = 0; !status && i < *count; i++)
        (*out)[i] = wave_of(code, *count, i);
    free(code);
    path_free(&path);
    return status;
}

static pe_status code_waves(waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    SHOW_TRY(show_code_waves(&w->length, &w->count, s, r, err));
    for (int64_t i = 0; i < w->count; i++)
        w->unturned += s->trained && w->length[i] > (double)s->trained;
    w->leaves = w->unturned ? (double)s->trained : INFINITY;
    return PE_OK;
}

/* Wavelengths grow along the dimensions; where they fall, others begin (cosines after all sines). */
static bool begins_anew(const double *wave, int64_t i)
{
    return wave && i > 0 && wave[i] < 0.5 * wave[i - 1];
}

void show_put_broken(figure *f, const char *name, const double *y, const double *wave, int64_t count)
{
    int64_t points = count, at = 0;
    for (int64_t i = 0; i < count; i++)
        points += begins_anew(wave, i);
    double *to = figure_line(f, name, NULL, (int)points);
    for (int64_t i = 0; to && i < count; i++) {
        double *x = f->series[f->series_count - 1].x;
        if (begins_anew(wave, i)) {
            x[at] = (double)i - 0.5;
            to[at++] = NAN;
        }
        x[at] = (double)i;
        to[at++] = y[i];
    }
}

static void level(figure *f, const char *name, double value, int64_t last)
{
    double x[2] = { 0, (double)last }, *y = figure_line(f, name, x, 2);
    if (y)
        y[0] = y[1] = value;
    if (f->series_count)
        f->series[f->series_count - 1].dashed = true;
}

static int within(const waves *w, double length)
{
    int n = 0;
    for (int64_t i = 0; i < w->count; i++)
        n += w->length[i] <= length;
    return n;
}

/* What training has to do with it. */
static void say_training(char *out, size_t room, const waves *w, const show_subject *s, const show_request *r)
{
    out[0] = 0;
    if (w->unturned)
        snprintf(out, room,
                 say((words){ " In training, over %" PRId64 " positions%s, %" PRId64
                              " made no whole turn: they meet new angles from position %.0f on.",
                              "训练时（%" PRId64 " 个位置%s）有 %" PRId64
                              " 个没有转满一圈：从位置 %.0f 起会遇到没见过的角度。" },
                     r->language),
                 s->trained, w->scaled ? say((words){ " and before the scaling", "，缩放之前" }, r->language) : "",
                 w->unturned, w->leaves);
    else if (s->trained && within(w, INFINITY))
        snprintf(out, room,
                 say((words){ " In training, over %" PRId64 " positions, all of them did.",
                              "训练时（%" PRId64 " 个位置）全部转满过一圈。" },
                     r->language),
                 s->trained);
}

static void caption_waves(figure *f, const waves *w, int64_t length, const show_subject *s, const show_request *r)
{
    char training[400];
    double longest = 0;
    for (int64_t i = 0; i < w->count; i++)
        longest = fmax(longest, w->length[i]);
    say_training(training, sizeof training, w, s, r);
    show_caption(f, NULL, r,
                 (words){ "%d of %d come full circle within %" PRId64
                          " positions; the longest wave is %.0f positions.%s",
                          "%d 个（共 %d 个）在 %" PRId64 " 个位置内转满一圈；最长的波长为 %.0f 个位置。%s" },
                 within(w, (double)length), within(w, INFINITY), length, longest, training);
}

static pe_status draw_waves(show_sheet *to, const waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    char name[80];
    int64_t length = r->length ? r->length : s->trained ? s->trained : LENGTH;
    SHOW_TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    show_put_broken(f, say((words){ "wavelength", "波长" }, r->language), w->length, w->length, w->count);
    snprintf(name, sizeof name, say((words){ "length %" PRId64, "长度 %" PRId64 }, r->language), length);
    if (length != s->trained)
        level(f, name, (double)length, w->count - 1);
    snprintf(name, sizeof name, say((words){ "trained %" PRId64, "训练长度 %" PRId64 }, r->language), s->trained);
    if (s->trained)
        level(f, name, (double)s->trained, w->count - 1);
    if (w->scaled)
        show_put_broken(f, say((words){ "before the scaling", "缩放之前" }, r->language), w->trained, w->trained,
                        w->count);
    show_title(f, &show_view_wavelengths, s, r, w->pairs ? PE_HOOK_ROTATE : PE_HOOK_EMBED);
    show_say(f, &f->x_label, r, w->pairs ? (words){ "pair", "对" } : (words){ "dimension", "维度" });
    show_say(f, &f->y_label, r, (words){ "positions per turn", "每转一圈的位置数" });
    f->y_log = true;
    caption_waves(f, w, length, s, r);
    return PE_OK;
}

static pe_status make_one(show_sheet *to, bool pairs, const show_subject *s, const show_request *r, pe_error *err)
{
    waves w = { .pairs = pairs };
    if (r->axis < 0 || r->axis >= s->axes)
        return io_fail(err, PE_ERR_RANGE, "axis is %" PRId64 "; there are %" PRId64 ", counted from 0", r->axis,
                       s->axes);
    pe_status status = (w.pairs ? pair_waves : code_waves)(&w, s, r, err);
    if (!status)
        status = draw_waves(to, &w, s, r, err);
    waves_free(&w);
    return status;
}

static pe_status make_waves(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    if (s->waves)
        SHOW_TRY(make_one(to, false, s, r, err));
    return s->hooks & PE_HOOK_ROTATE ? make_one(to, true, s, r, err) : PE_OK;
}

static bool has_waves(const show_subject *s)
{
    return s->hooks & PE_HOOK_ROTATE || s->waves;
}

const show_view show_view_wavelengths = {
    .name = "wavelengths",
    .title = { "Wavelengths", "波长" },
    .about = { "How many positions each pair, or dimension, takes for a full turn, against a length: what lies above "
               "the "
               "line does not come full circle.",
               "每一对（或每一维）转满一圈需要多少个位置，并与给定长度比较：高于横线的转不满一圈。" },
    .hooks = PE_HOOK_ROTATE | PE_HOOK_EMBED,
    .fits = has_waves,
    .asks = "length|axis",
    .make = make_waves,
};
