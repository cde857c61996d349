/* SPDX-License-Identifier: MIT
 *
 * The views of frequencies: how far each pair, or dimension of a code, gets within a length (wavelengths), and pairs as
 * dials with a hand per position (turns). */
#include "show/views.h"

#include "io/io.h"
#include "zoo/spec_read.h"
#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- wavelengths */

#define LENGTH 2048
#define SAMPLES 64 /* positions that a frequency of a code is taken from */

static const double two_pi = 6.283185307179586;

typedef struct waves {
    double *length;  /* (count); NaN: does not rotate */
    double *trained; /* (count), of pairs: before what was changed for longer contexts */
    int64_t count;
    int64_t unrotated; /* completed no turn in training */
    double leaves;     /* the first position with an angle that one of them never had in training */
    bool pairs, scaled;
} waves;

static void waves_put_pair(waves *w, int64_t i, const pe_pair *at, const pe_pair *born, const show_subject *s,
                           const show_request *r)
{
    zoo_turns t;
    zoo_turns_measure(&t, at, born, s->trained, 0);
    bool rotates = at->axis == r->axis && isfinite(t.wavelength); /* pairs of another axis do not rotate */
    w->length[i] = rotates ? t.wavelength : NAN;
    w->trained[i] = rotates ? t.trained : NAN;
    w->scaled |= rotates && t.divisor != 1;
    if (!rotates || !s->trained || !zoo_turns_unturned(&t))
        return;
    w->unrotated++;
    w->leaves = fmin(w->leaves, t.leaves);
}

/* The frequencies in training are those of the same spec without its scaling. */
static pe_status waves_born_pairs(pe_pair *out, int64_t count, const show_subject *s, pe_error *err)
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

/* A trained pair rotates by every axis, each by a frequency of its own. */
static pe_pair waves_trained_pair(pe_pair p, double frequency, const show_request *r)
{
    p.axis = r->axis;
    p.frequency = frequency;
    for (int i = 0; i < 3; i++)
        p.turns[i] = i ? 0 : frequency / two_pi;
    return p;
}

static pe_status waves_of_pairs(waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    pe_pair *at, *born;
    TRY(show_pairs(&at, &w->count, s, err));
    TRY(show_pairs(&born, &w->count, s, err));
    TRY(waves_born_pairs(born, w->count, s, err));
    TRY(show_head(s, r, err));
    for (int64_t i = 0; s->given && zoo_trained_rotation(s->e) && i < w->count; i++)
        at[i] = born[i] = waves_trained_pair(at[i], zoo_trained_frequency(s->e, s->params, r->head, r->axis, i), r);
    w->leaves = INFINITY;
    TRY(show_memory(&w->length, s, w->count, 1, err));
    TRY(show_memory(&w->trained, s, w->count, 1, err));
    for (int64_t i = 0; i < w->count; i++)
        waves_put_pair(w, i, &at[i], &born[i], s, r);
    return PE_OK;
}

/* Each dimension of a sinusoidal code satisfies c(t+1) + c(t-1) = 2 cos(w) c(t); finds w by least squares. */
static double wave_of_dimension(const double *code, int64_t width, int64_t column)
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
    double *code;
    few.length = SAMPLES;
    TRY(path_new(&path, s, &few, SAMPLES, SAMPLES, err));
    TRY(show_codes(&code, count, s, path.where, err));
    TRY(show_memory(out, s, *count, 1, err));
    for (int64_t i = 0; i < *count; i++)
        (*out)[i] = wave_of_dimension(code, *count, i);
    return PE_OK;
}

static pe_status waves_of_codes(waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    TRY(show_code_waves(&w->length, &w->count, s, r, err));
    for (int64_t i = 0; i < w->count; i++)
        w->unrotated += s->trained && w->length[i] > (double)s->trained;
    w->leaves = w->unrotated ? (double)s->trained : INFINITY;
    return PE_OK;
}

/* Wavelengths grow along the dimensions; where they fall, the cosines begin after all sines. */
static bool wave_begins_anew(const double *wave, int64_t i)
{
    return wave && i > 0 && wave[i] < 0.5 * wave[i - 1];
}

void show_put_broken(figure *f, const char *name, const double *y, const double *wave, int64_t count)
{
    int64_t points = count, at = 0;
    for (int64_t i = 0; i < count; i++)
        points += wave_begins_anew(wave, i);
    double *to = figure_add_series(f, name, NULL, (int)points);
    for (int64_t i = 0; to && i < count; i++) {
        double *x = f->series[f->series_count - 1].x;
        if (wave_begins_anew(wave, i)) {
            x[at] = (double)i - 0.5;
            to[at++] = NAN;
        }
        x[at] = (double)i;
        to[at++] = y[i];
    }
}

static void waves_put_level(figure *f, const char *name, double value, int64_t last)
{
    double x[2] = { 0, (double)last }, *y = figure_add_series(f, name, x, 2);
    if (y)
        y[0] = y[1] = value;
    if (f->series_count)
        f->series[f->series_count - 1].dashed = true;
}

static int waves_within(const waves *w, double length)
{
    int n = 0;
    for (int64_t i = 0; i < w->count; i++)
        n += w->length[i] <= length;
    return n;
}

/* Tells how many did not complete a turn in training, and from where on they meet new angles. */
static void waves_tell_training(char *out, size_t room, const waves *w, const show_subject *s, const show_request *r)
{
    out[0] = 0;
    if (w->unrotated)
        snprintf(out, room,
                 say((words){ " In training, over %" PRId64 " positions%s, %" PRId64
                              " completed no turn: they see new angles from position %.0f on.",
                              "训练时（%" PRId64 " 个位置%s）有 %" PRId64
                              " 个没有转满一圈：从位置 %.0f 起会遇到没见过的角度。" },
                     r->language),
                 s->trained, w->scaled ? say((words){ " and before the scaling", "，缩放之前" }, r->language) : "",
                 w->unrotated, w->leaves);
    else if (s->trained && waves_within(w, INFINITY))
        snprintf(out, room,
                 say((words){ " In training, over %" PRId64 " positions, all of them did.",
                              "训练时（%" PRId64 " 个位置）全部转满过一圈。" },
                     r->language),
                 s->trained);
}

static void waves_caption(figure *f, const waves *w, int64_t length, const show_subject *s, const show_request *r)
{
    char training[400];
    double longest = 0;
    for (int64_t i = 0; i < w->count; i++)
        longest = fmax(longest, w->length[i]);
    waves_tell_training(training, sizeof training, w, s, r);
    show_caption(f, NULL, r,
                 (words){ "%d of %d complete a turn within %" PRId64
                          " positions; the longest wavelength is %.0f positions.%s",
                          "%d 个（共 %d 个）在 %" PRId64 " 个位置内转满一圈；最长的波长为 %.0f 个位置。%s" },
                 waves_within(w, (double)length), waves_within(w, INFINITY), length, longest, training);
}

/* Frequencies that training changes are drawn as given, or as they start. */
static void waves_title(figure *f, const waves *w, const show_subject *s, const show_request *r)
{
    show_title(f, &show_view_wavelengths, s, r, w->pairs ? PE_HOOK_ROTATE : PE_HOOK_EMBED);
    if (w->pairs && zoo_trained_rotation(s->e))
        figure_text(f, &f->title, "%s%s", f->title ? f->title : "",
                    say(s->given ? (words){ ", of the given parameters", "（给出的参数）" } : (words){ ", before training", "（训练之前）" },
                        r->language));
}

static pe_status waves_draw(show_sheet *to, const waves *w, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    char name[80];
    int64_t length = r->length ? r->length : s->trained ? s->trained : LENGTH;
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    show_put_broken(f, say((words){ "wavelength", "波长" }, r->language), w->length, w->length, w->count);
    snprintf(name, sizeof name, say((words){ "length %" PRId64, "长度 %" PRId64 }, r->language), length);
    if (length != s->trained)
        waves_put_level(f, name, (double)length, w->count - 1);
    snprintf(name, sizeof name, say((words){ "trained %" PRId64, "训练长度 %" PRId64 }, r->language), s->trained);
    if (s->trained)
        waves_put_level(f, name, (double)s->trained, w->count - 1);
    if (w->scaled)
        show_put_broken(f, say((words){ "before the scaling", "缩放之前" }, r->language), w->trained, w->trained,
                        w->count);
    waves_title(f, w, s, r);
    show_say(f, &f->x_label, r, w->pairs ? (words){ "pair", "对" } : (words){ "dimension", "维度" });
    show_say(f, &f->y_label, r, (words){ "positions per turn", "每转一圈的位置数" });
    f->y_log = true;
    waves_caption(f, w, length, s, r);
    return PE_OK;
}

static pe_status waves_make_one(show_sheet *to, bool pairs, const show_subject *s, const show_request *r, pe_error *err)
{
    waves w = { .pairs = pairs };
    if (r->axis < 0 || r->axis >= s->axes)
        return io_fail(err, PE_ERR_RANGE, "axis is %" PRId64 "; there are %" PRId64 ", counted from 0", r->axis,
                       s->axes);
    TRY(pairs ? waves_of_pairs(&w, s, r, err) : waves_of_codes(&w, s, r, err));
    return waves_draw(to, &w, s, r, err);
}

static pe_status waves_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    if (s->waves)
        TRY(waves_make_one(to, false, s, r, err));
    return s->hooks & PE_HOOK_ROTATE ? waves_make_one(to, true, s, r, err) : PE_OK;
}

static bool waves_fit(const show_subject *s)
{
    return s->hooks & PE_HOOK_ROTATE || s->waves;
}

const show_view show_view_wavelengths = {
    .name = "wavelengths",
    .title = { "Wavelengths", "波长" },
    .about = { "The number of positions each pair, or dimension, needs for a full turn; above the line of a length, it "
               "completes none within that length.",
               "每一对（或每一维）转满一圈需要多少个位置，并与给定长度比较：高于横线的转不满一圈。" },
    .hooks = PE_HOOK_ROTATE | PE_HOOK_EMBED,
    .fits = waves_fit,
    .asks = "length|axis",
    .make = waves_make,
};

/* ---------------------------------------------------------------- turns */

#define HANDS 12
#define HANDS_MAX 64 /* of a dial: more are no longer told apart */
#define DIALS 6

static void dials_caption(figure *f, const show_path *p, const show_request *r)
{
    int64_t last = r->start + p->length - 1;
    if (p->step > 1)
        show_caption(f, NULL, r,
                     (words){ "Where each pair points at %" PRId64 " of the positions %" PRId64 " to %" PRId64
                              ", evenly spread with the first and the last: one hand each.",
                              "每一对的指向：在 %" PRId64 " 个位置各画一根指针，均匀取自位置 %" PRId64 " 至 %" PRId64
                              "，含首尾。" },
                     p->where.tokens, r->start, last);
    else
        show_caption(f, NULL, r,
                     (words){ "The angle of each pair at positions %" PRId64 " to %" PRId64 ", a pointer each.",
                              "位置 %" PRId64 " 至 %" PRId64 " 时每一对的指向：每个位置一根指针。" },
                     r->start, last);
}

static pe_status dials_draw(show_sheet *to, const show_path *p, const double *rotations, int64_t pairs,
                            const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX], n = p->where.tokens;
    int picked;
    TRY(show_pick(pick, &picked, r, pairs, DIALS, true, "pair", err));
    TRY(show_figure(&f, to, FIGURE_DIALS, s, err));
    for (int i = 0; i < picked; i++) {
        char name[80];
        snprintf(name, sizeof name, say((words){ "pair %d", "第 %d 对" }, r->language), (int)pick[i]);
        double *y = figure_add_series(f, name, NULL, (int)n);
        for (int64_t t = 0; y && t < n; t++) {
            f->series[f->series_count - 1].x[t] = rotations[t * pairs + pick[i]];
            y[t] = rotations[(n + t) * pairs + pick[i]];
        }
    }
    show_title(f, &show_view_turns, s, r, PE_HOOK_ROTATE);
    dials_caption(f, p, r);
    return PE_OK;
}

/* Spreads the positions evenly, with the first and the last among them. */
static void dials_spread(show_path *p, const show_request *r)
{
    int64_t n = p->where.tokens;
    for (int64_t i = 1; p->step > 1 && i < n; i++)
        p->at[i * p->where.axes + r->axis] =
            r->start + (int64_t)((double)i / (double)(n - 1) * (double)(p->length - 1) + 0.5);
}

static pe_status dials_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *rotations;
    int64_t pairs;
    TRY(path_new(&path, s, r, HANDS, HANDS_MAX, err));
    dials_spread(&path, r);
    TRY(show_rotations(&rotations, &pairs, s, path.where, err));
    return dials_draw(to, &path, rotations, pairs, s, r, err);
}

const show_view show_view_turns = {
    .name = "turns",
    .title = { "Rotating pairs", "旋转的对" },
    .about = { "One dial per pair, one pointer per position: fast pairs rotate many times, slow pairs hardly.",
               "每对一个表盘，每个位置一根指针：快的对转很多圈，慢的几乎不动。" },
    .hooks = PE_HOOK_ROTATE,
    .asks = "length|start|axis|pairs",
    .make = dials_make,
};
