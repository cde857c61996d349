/* SPDX-License-Identifier: MIT
 *
 * Frequencies: how far each pair (or dimension of a code) gets within a length (wavelengths), and a few of them as
 * hands that turn (turns). */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 2048
#define HANDS 12
#define HANDS_MAX 512
#define DIALS 6
#define SAMPLES 64 /* positions that a frequency of a code is taken from */

static const double two_pi = 6.283185307179586;

/* ---------------------------------------------------------------- wavelengths */

/* Along the axis that runs; pairs of another axis do not turn. */
static pe_status pair_waves(double **out, int64_t *count, const show_subject *s, const show_request *r, pe_error *err)
{
    pe_pair *pair;
    SHOW_TRY(show_pairs(&pair, count, s, err));
    pe_status status = show_memory(out, *count, 1, err);
    for (int64_t i = 0; !status && i < *count; i++) {
        bool turns = pair[i].axis == r->axis && pair[i].frequency != 0;
        (*out)[i] = turns ? two_pi / fabs(pair[i].frequency) : NAN;
    }
    free(pair);
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

typedef struct waves {
    const double *length; /* (count); NaN: does not turn */
    int64_t count;
    bool pairs;
} waves;

static int within(const waves *w, double length)
{
    int n = 0;
    for (int64_t i = 0; i < w->count; i++)
        n += w->length[i] <= length;
    return n;
}

static void caption_waves(figure *f, const waves *w, int64_t length, const show_subject *s, const show_request *r)
{
    double longest = 0;
    int turning = within(w, INFINITY), full = within(w, (double)length);
    for (int64_t i = 0; i < w->count; i++)
        longest = fmax(longest, w->length[i]);
    if (s->trained)
        show_caption(f, NULL, r,
                     (words){ "%d of %d come full circle within %" PRId64
                              " positions; %d do not within the trained %" PRId64
                              " and meet new angles beyond it. The longest wave is %.0f positions.",
                              "%d 个（共 %d 个）在 %" PRId64 " 个位置内转满一圈；有 %d 个在训练长度 %" PRId64
                              " 内转不满，超出后会遇到没见过的角度。最长的波长为 %.0f 个位置。" },
                     full, turning, length, turning - within(w, (double)s->trained), s->trained, longest);
    else
        show_caption(f, NULL, r,
                     (words){ "%d of %d come full circle within %" PRId64
                              " positions; the longest wave is %.0f positions.",
                              "%d 个（共 %d 个）在 %" PRId64 " 个位置内转满一圈；最长的波长为 %.0f 个位置。" },
                     full, turning, length, longest);
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
    show_title(f, &show_view_wavelengths, s, r, w->pairs ? PE_HOOK_ROTATE : PE_HOOK_EMBED);
    show_say(f, &f->x_label, r, w->pairs ? (words){ "pair", "对" } : (words){ "dimension", "维度" });
    show_say(f, &f->y_label, r, (words){ "positions per turn", "每转一圈的位置数" });
    f->y_log = true;
    caption_waves(f, w, length, s, r);
    return PE_OK;
}

static pe_status make_one(show_sheet *to, bool pairs, const show_subject *s, const show_request *r, pe_error *err)
{
    double *length = NULL;
    waves w = { .pairs = pairs };
    if (r->axis < 0 || r->axis >= s->axes)
        return io_fail(err, PE_ERR_RANGE, "axis is %" PRId64 "; there are %" PRId64 ", counted from 0", r->axis,
                       s->axes);
    SHOW_TRY((pairs ? pair_waves : show_code_waves)(&length, &w.count, s, r, err));
    w.length = length;
    pe_status status = draw_waves(to, &w, s, r, err);
    free(length);
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

/* ---------------------------------------------------------------- turns */

static pe_status draw_dials(show_sheet *to, const show_path *p, const double *turn, int64_t pairs,
                            const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX], n = p->where.tokens;
    int picked;
    SHOW_TRY(show_pick(pick, &picked, r, pairs, DIALS, true, "pair", err));
    SHOW_TRY(show_figure(&f, to, FIGURE_DIALS, s, err));
    for (int i = 0; i < picked; i++) {
        char name[80];
        snprintf(name, sizeof name, say((words){ "pair %d", "第 %d 对" }, r->language), (int)pick[i]);
        double *y = figure_line(f, name, NULL, (int)n);
        for (int64_t t = 0; y && t < n; t++) {
            f->series[f->series_count - 1].x[t] = turn[t * pairs + pick[i]];
            y[t] = turn[(n + t) * pairs + pick[i]];
        }
    }
    show_title(f, &show_view_turns, s, r, PE_HOOK_ROTATE);
    show_caption(f, p, r,
                 (words){ "Where each pair points at positions %" PRId64 " to %" PRId64 ": one hand per position.",
                          "位置 %" PRId64 " 至 %" PRId64 " 时每一对的指向：每个位置一根指针。" },
                 r->start, r->start + p->length - 1);
    return PE_OK;
}

static pe_status make_turns(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *turn = NULL;
    int64_t pairs;
    SHOW_TRY(path_new(&path, s, r, HANDS, HANDS_MAX, err));
    pe_status status = show_turns(&turn, &pairs, s, path.where, err);
    if (!status)
        status = draw_dials(to, &path, turn, pairs, s, r, err);
    free(turn);
    path_free(&path);
    return status;
}

const show_view show_view_turns = {
    .name = "turns",
    .title = { "Pairs that turn", "旋转的对" },
    .about = { "A dial per pair with a hand per position: fast pairs go round, slow ones hardly leave their place.",
               "每对一个表盘，每个位置一根指针：快的对转很多圈，慢的几乎不动。" },
    .hooks = PE_HOOK_ROTATE,
    .asks = "length|start|axis|pairs",
    .make = make_turns,
};
