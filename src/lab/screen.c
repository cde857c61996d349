/* SPDX-License-Identifier: MIT
 *
 * What is seen while a race runs: a frame that is drawn over and over in its place, plain lines, or JSON lines. */
#include "draw/draw.h"
#include "io/columns.h"
#include "io/json_out.h"
#include "lab/race.h"
#include "lab/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a frame shows: how far, how fast, the table as it fills in, the losses. */

#define CHART_ROWS_MIN 7
#define CHART_ROWS 14
#define CHART_POINTS 160 /* of a line: as many as a wide terminal has dots */

/* By the work that is left and the pace so far; NAN while there is none. */
static double seconds_left(const race *r)
{
    double took = io_seconds() - r->begin, done = r->worked - r->worked_before, left = r->work - r->worked;
    return done > 0 && left >= 0 ? took / done * left : (double)NAN;
}

/* ", 2:31 left"; "" while it is not known. */
static void time_left(char *out, size_t cap, const race *r)
{
    double seconds = seconds_left(r);
    *out = 0;
    if (seconds < 36000)
        snprintf(out, cap, ", %d:%02d left", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < 1e8)
        snprintf(out, cap, ", %.0f hours left", seconds / 3600);
}

/* "rope, seed 1 (1 of 3), step 120 of 400, 2:31 left, 3.333 bits, 12300 tokens/s" */
static void frame_line(FILE *to, const race *r, const screen_now *n)
{
    const lab_setup *s = &r->results.setup;
    char left[40];
    time_left(left, sizeof left, r);
    fprintf(to, "%s", s->entry[n->entry].name);
    if (s->seeds > 1)
        fprintf(to, ", seed %" PRIu64 " (%d of %d)", r->training[n->training].seed,
                1 + n->training / (r->trainings / s->seeds), s->seeds);
    if (n->test >= 0)
        fprintf(to, ", test at %" PRId64 ": window %" PRId64 " of %" PRId64, s->test[n->test], n->done, n->of);
    else
        fprintf(to, ", step %" PRId64 " of %" PRId64, n->done, n->of);
    fputs(left, to);
    if (isfinite(n->loss))
        fprintf(to, ", %.3f bits", n->loss / log(2));
    if (r->asked.shared)
        fprintf(to, ", %d of %d trainings are done", r->done, r->trainings);
    fprintf(to, ", %.0f tokens/s\n", n->tokens_per_second);
}

/* 0 .. 1: how much of the work is done. */
static double part_done(const race *r)
{
    double part = r->work > 0 ? r->worked / r->work : 0;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static void bar(FILE *to, const race *r, const draw_screen *place)
{
    double part = part_done(r);
    int width = place->columns < 70 ? place->columns - 10 : 60;
    for (int i = 0; i < width; i++)
        fputs(i < part * width ? (place->glyphs == GLYPHS_ASCII ? "#" : "\u2588")
                               : (place->glyphs == GLYPHS_ASCII ? "." : "\u2591"),
              to);
    fprintf(to, " %3.0f %%\n", 100 * part);
}

/* What frame_line and bar say, for a program; what is not known is null. */
static void json_line(FILE *to, const race *r, const screen_now *n)
{
    const lab_setup *s = &r->results.setup;
    json_out j = out_start_line(to);
    out_open(&j, NULL, '{');
    out_real(&j, "part", part_done(r));
    out_real(&j, "seconds_left", seconds_left(r));
    out_text(&j, "name", s->entry[n->entry].name);
    out_int(&j, "seed", (int64_t)r->training[n->training].seed);
    out_text(&j, "doing", n->test >= 0 ? "test" : "train");
    out_int(&j, "length", n->test >= 0 ? s->test[n->test] : s->train_length);
    out_int(&j, "done", n->done);
    out_int(&j, "of", n->of);
    out_real(&j, "bits", n->loss / log(2));
    out_real(&j, "tokens_per_second", n->tokens_per_second);
    if (r->asked.shared) {
        out_int(&j, "trainings", r->trainings);
        out_int(&j, "trainings_done", r->done);
        out_text(&j, "others", r->others);
    }
    out_close(&j, '}');
}

static void thin(chart_series *out, double *x, double *y, const lab_run *run)
{
    int points = run->trains < CHART_POINTS ? run->trains : CHART_POINTS;
    for (int i = 0; i < points; i++) { /* the mean of its part of the lines */
        int from = (int)((int64_t)i * run->trains / points), to = (int)((int64_t)(i + 1) * run->trains / points);
        x[i] = (double)run->train[to - 1].step;
        y[i] = 0;
        for (int k = from; k < to; k++)
            y[i] += run->train[k].loss / log(2) / (to - from);
    }
    out->x = x;
    out->y = y;
    out->count = points;
}

/* Of the seed that is being trained. */
static int series(chart_series *out, double *room, const race *r, uint64_t seed)
{
    int count = 0;
    for (int i = 0; i < r->trainings; i++) {
        const lab_run *run = &r->results.run[i];
        if (run->seed != seed || run->trains < 2)
            continue;
        double *x = room + 2 * CHART_POINTS * count;
        out[count] = (chart_series){ .name = r->results.setup.entry[run->entry].name, .ink = INK_SERIES + run->entry };
        thin(&out[count++], x, x + CHART_POINTS, run);
    }
    return count;
}

static void losses(FILE *to, const race *r, uint64_t seed, draw_screen place)
{
    chart_series *s = calloc(LAB_ENTRIES_MAX, sizeof *s);
    double *room = calloc((size_t)LAB_ENTRIES_MAX * CHART_POINTS, 2 * sizeof *room);
    int count = s && room ? series(s, room, r, seed) : 0;
    if (count)
        chart_terminal(to,
                       &(chart){ .title = "",
                                 .x_label = "step",
                                 .y_label = "bits per byte in training",
                                 .series = s,
                                 .series_count = count },
                       &place, NULL);
    free(room);
    free(s);
}

/* A bar, that line, the table so far and the losses of this seed's trainings, as the place has room. */
static void frame_all(FILE *to, const race *r, const screen_now *n, const draw_screen *place)
{
    int used = r->results.setup.entries + 10; /* with a caption of two lines */
    draw_screen rest = *place;
    rest.columns = place->columns > 100 ? 100 : place->columns - 1;
    rest.rows = place->rows - used < CHART_ROWS ? place->rows - used : CHART_ROWS;
    bar(to, r, place);
    frame_line(to, r, n);
    putc('\n', to);
    lab_print_table(to, &r->results, rest.columns);
    if (rest.rows >= CHART_ROWS_MIN) {
        putc('\n', to);
        losses(to, r, r->training[n->training].seed, rest);
    }
}

/* What is seen while a race runs: a frame that is drawn over and over in its place, plain lines, or JSON lines. */

#define PLAIN_EVERY 5. /* seconds */
#define FRAME_EVERY 0.3
#define COLUMNS_MIN 40 /* less has room for nothing but a line */
#define ROWS_MIN 8

struct screen {
    FILE *to;
    bool json, terminal;
    language language;
    int lines;   /* of the frame that is to be seen */
    double next; /* of the clock */
};

static double screen_pause(const screen *s)
{
    return s->json || s->terminal ? FRAME_EVERY : PLAIN_EVERY;
}

screen *screen_new(FILE *to, bool json, language l)
{
    screen *s = to ? calloc(1, sizeof *s) : NULL;
    const char *term = getenv("TERM");
    if (!s)
        return NULL;
    *s = (screen){ .to = to, .json = json, .language = l, .terminal = !json && isatty(fileno(to)) && term && strcmp(term, "dumb") };
    s->next = json ? 0 : io_seconds() + screen_pause(s); /* a program is told at once */
    if (s->terminal)
        fputs("\033[?25l", to);
    return s;
}

/* Moves the cursor back to the frame's first line and clears everything below. */
static void rub_out(screen *s)
{
    if (s->lines > 0)
        fprintf(s->to, "\033[%dA", s->lines);
    if (s->terminal)
        fputs("\r\033[J", s->to);
    s->lines = 0;
}

void screen_free(screen *s)
{
    if (!s)
        return;
    rub_out(s);
    if (s->terminal)
        fputs("\033[?25h", s->to);
    fflush(s->to);
    free(s);
}

static void put_line(FILE *to, language l, const char *format, va_list list) IO_PRINTF(3, 0);
static void put_line(FILE *to, language l, const char *format, va_list list)
{
    char text[sizeof(words_text) / 2];
    int length = vsnprintf(text, sizeof text, format, list);
    if (length >= (int)sizeof text)
        io_end_with_dots(text, sizeof text);
    fprintf(to, "%s\n", words_translate(text, l).text);
    fflush(to);
}

void screen_say(screen *s, const char *format, ...)
{
    va_list list;
    if (!s)
        return;
    rub_out(s);
    va_start(list, format);
    put_line(s->to, s->language, format, list);
    va_end(list);
}

void race_warn(const race *r, const char *format, ...)
{
    va_list list;
    FILE *to = r->screen ? r->screen->to : r->asked.warn;
    if (!to)
        return;
    if (r->screen)
        rub_out(r->screen);
    fputs("posenc race: ", to);
    va_start(list, format);
    put_line(to, r->results.language, format, list);
    va_end(list);
}

/* Bytes of an order to the terminal, "\033[38;2;1;2;3m"; 0: none stands here. */
static int order_size(const char *text)
{
    if (text[0] != '\033' || text[1] != '[')
        return 0;
    int n = 2 + (int)strspn(text + 2, "0123456789;"); /* fits: a colour */
    return text[n] ? n + 1 : n;
}

/* At most `columns` columns of a line: one that wraps would make two, and the frame would not be found again. */
static void put_clipped(FILE *to, const char *line, int columns)
{
    unsigned code;
    while (*line && *line != '\n') {
        int n = order_size(line);
        if (n) {
            fprintf(to, "%.*s", n, line);
            line += n;
            continue;
        }
        n = out_character(line, &code);
        columns -= n ? columns_of_code(code) : 1;
        if (columns >= 0 && n)
            fprintf(to, "%.*s", n, line);
        line += n ? n : 1;
    }
}

static void put_frame(screen *s, const char *text, const draw_screen *place)
{
    if (s->lines > 0)
        fprintf(s->to, "\033[%dA", s->lines);
    putc('\r', s->to);
    s->lines = 0;
    for (const char *line = text; *line && s->lines < place->rows - 1; s->lines++) {
        put_clipped(s->to, line, place->columns - 1);
        fputs("\033[0m\033[K\n", s->to);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    fputs("\033[J", s->to);
    fflush(s->to);
}

/* Without memory this frame is skipped. */
static void draw_over(screen *s, const race *r, const screen_now *now)
{
    draw_screen place = draw_screen_of(s->to);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return;
    if (place.columns < COLUMNS_MIN || place.rows < ROWS_MIN)
        frame_line(to, r, now);
    else
        frame_all(to, r, now, &place);
    if (!fclose(to))
        put_frame(s, text, &place);
    free(text);
}

void screen_show(screen *s, const race *r, const screen_now *now)
{
    double clock = io_seconds();
    if (!s || clock < s->next || !(r->work > 0))
        return;
    s->next = clock + screen_pause(s);
    if (s->terminal) {
        draw_over(s, r, now);
        return;
    }
    if (s->json)
        json_line(s->to, r, now);
    else
        frame_line(s->to, r, now);
    fflush(s->to);
}
