/* SPDX-License-Identifier: MIT
 *
 * What is seen while a race runs: a frame that is drawn over and over in its place, or plain lines. */
#include "lab/screen.h"

#include "io/columns.h"
#include "io/json_out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_EVERY 5. /* seconds */
#define FRAME_EVERY 0.3
#define COLUMNS_MIN 40 /* less has room for nothing but a line */
#define ROWS_MIN 8

struct screen {
    FILE *to;
    bool terminal;
    int lines;   /* of the frame that is to be seen */
    double next; /* of the clock */
};

screen *screen_new(FILE *to)
{
    screen *s = to ? calloc(1, sizeof *s) : NULL;
    const char *term = getenv("TERM");
    if (!s)
        return NULL;
    *s = (screen){ .to = to, .terminal = isatty(fileno(to)) && term && strcmp(term, "dumb") };
    s->next = io_seconds() + (s->terminal ? FRAME_EVERY : PLAIN_EVERY);
    if (s->terminal)
        fputs("\033[?25l", to);
    return s;
}

/* Back to the frame's first line; what is below is gone. */
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

static void put_line(FILE *to, const char *format, va_list list) IO_PRINTF(2, 0);
static void put_line(FILE *to, const char *format, va_list list)
{
    vfprintf(to, format, list);
    putc('\n', to);
    fflush(to);
}

void screen_say(screen *s, const char *format, ...)
{
    va_list list;
    if (!s)
        return;
    rub_out(s);
    va_start(list, format);
    put_line(s->to, format, list);
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
    va_start(list, format);
    put_line(to, format, list);
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

/* Without memory for it there is no frame this time, and that is all. */
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
    s->next = clock + (s->terminal ? FRAME_EVERY : PLAIN_EVERY);
    if (s->terminal) {
        draw_over(s, r, now);
        return;
    }
    frame_line(s->to, r, now);
    fflush(s->to);
}
